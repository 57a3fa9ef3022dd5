package share

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/allot"
	"github.com/preempt-go/preempt/internal/checked"
)

// Place is where seats may be.
type Place struct {
	Items []int     // that stand there, each once
	Ask   []int64   // by resource: what a seat asks for, above zero
	Free  []int64   // by resource: what is free with all items there; may be below zero
	Frees [][]int64 // by resource, of each of Items; not below zero
}

// place is a Place with what seats there cost.
type place struct {
	Place
	shares []int64   // by position among Items: of its price
	goes   []bool    // by position: in the allotment
	shut   bool      // no seat is there
	ways   [][][]int // by seats: the least sets of positions that open so many; nil: too many, or not found
	cost   []int64   // by seats: at least
	way    [][]int   // by seats: the positions that go for it, perhaps in part
	room   []int64   // by resource: what is free as noted last
	order  [][]int   // by resource; see cheapest
}

// In a place with more items, or with more least sets of them, prices are bounded by one
// resource at a time, where a part of an item goes at a part of its price. So they are where
// all places with fewer items have more sets than mostSets, for all numbers of seats.
var mostItems = 12

const (
	mostWays = 256
	mostSets = 1 << 23
)

// newPlace counts the seats that can be opened, at most so many.
func newPlace(from Place, most int) place {
	p := place{Place: from, shares: make([]int64, len(from.Items)), goes: make([]bool, len(from.Items)), room: make([]int64, len(from.Free)), order: make([][]int, len(from.Free))}
	for r, v := range from.Free {
		for _, frees := range from.Frees[r] {
			v = checked.Add(v, frees)
		}
		most = int(min(int64(most), max(v, 0)/from.Ask[r]))
	}
	p.cost, p.way = make([]int64, most), make([][]int, most)
	return p
}

// findWays finds the ways to open seats. It returns sums, a buffer.
func (p *place) findWays(sums []int64) []int64 {
	sums = p.freed(sums[:0])
	for k := range p.cost {
		way := p.least(k+1, sums)
		if way == nil {
			p.ways = nil
			break
		}
		p.ways = append(p.ways, way)
	}
	return sums
}

// freed appends what each set of positions frees, by resource.
func (p *place) freed(sums []int64) []int64 {
	for r := range p.Ask {
		sums = append(sums, 0)
		sets := len(sums) - 1 // of this resource begin there
		for _, frees := range p.Frees[r] {
			for _, v := range sums[sets:] {
				sums = append(sums, checked.Add(v, frees))
			}
		}
	}
	return sums
}

// missing is how much of resource r k seats miss.
func (p *place) missing(k, r int) int64 {
	return checked.Sub(checked.Mul(int64(k), p.Ask[r]), p.Free[r])
}

// least lists the sets of positions that open k seats and of which none can be spared, with sums of all sets; nil if
// they are too many.
func (p *place) least(k int, sums []int64) (ways [][]int) {
	sets, missing := 1<<len(p.Items), make([]int64, len(p.Ask))
	for r := range missing {
		missing[r] = p.missing(k, r)
	}
	opens := func(set int) bool {
		for r, v := range missing {
			if sums[r*sets+set] < v {
				return false
			}
		}
		return true
	}
next:
	for set := range sets {
		if !opens(set) {
			continue
		}
		way := []int{}
		for rest := set; rest != 0; rest &= rest - 1 {
			at := bits.TrailingZeros(uint(rest))
			if opens(set &^ (1 << at)) {
				continue next
			}
			way = append(way, at)
		}
		if len(ways) == mostWays {
			return nil
		}
		ways = append(ways, way)
	}
	return ways
}

// open notes what is free with a set of items gone, and returns how many seats that makes.
func (p *place) open(set []bool) int {
	seats := int64(len(p.cost))
	for r := range p.room {
		p.room[r] = p.free(r, set)
		seats = min(seats, max(p.room[r], 0)/p.Ask[r])
	}
	return int(seats)
}

// free is what is free of resource r with a set of items gone.
func (p *place) free(r int, set []bool) int64 {
	v := p.Free[r]
	for k, item := range p.Items {
		if set[item] {
			v = checked.Add(v, p.Frees[r][k])
		}
	}
	return v
}

// back is how many seats are open once the item in position k is back, which set has no longer. It is noted if it stays.
func (p *place) back(k int, set []bool, stays bool) int {
	seats := int64(len(p.cost))
	for r, v := range p.room {
		if v < math.MaxInt64 {
			v -= p.Frees[r][k]
		} else { // which the sum may be beyond
			v = p.free(r, set)
		}
		if stays {
			p.room[r] = v
		}
		seats = min(seats, max(v, 0)/p.Ask[r])
	}
	return int(seats)
}

// price finds what seats cost where nobody goes who is barred.
func (p *place) price(barred []bool) {
	for r := range p.order {
		p.order[r] = p.order[r][:0]
	}
	for k := range p.cost {
		if p.shut {
			p.cost[k], p.way[k] = math.MaxInt64, nil
			continue
		}
		if p.ways == nil {
			p.cost[k], p.way[k] = p.byParts(k+1, barred)
			continue
		}
		p.cost[k], p.way[k] = math.MaxInt64, nil
		for _, way := range p.ways[k] {
			if sum := p.sum(way, barred); sum < p.cost[k] {
				p.cost[k], p.way[k] = sum, way
			}
		}
	}
}

// sum adds up the shares of positions; [math.MaxInt64] if one of them is barred.
func (p *place) sum(way []int, barred []bool) (sum int64) {
	for _, i := range way {
		if barred[p.Items[i]] {
			return math.MaxInt64
		}
		sum += p.shares[i]
	}
	return sum
}

// byParts bounds what k seats cost by that resource which makes them dearest, and lists who goes
// for any of them.
func (p *place) byParts(k int, barred []bool) (cost int64, way []int) {
	for r := range p.Ask {
		missing := p.missing(k, r)
		if missing <= 0 {
			continue
		}
		order := p.cheapest(r, barred)
		price, taken := int64(0), 0
		for ; missing > 0 && taken < len(order); taken++ {
			i := order[taken]
			if v := p.Frees[r][i]; v <= missing {
				price += p.shares[i]
				missing -= v
				continue
			}
			part, _ := checked.MulDiv(p.shares[i], missing, p.Frees[r][i])
			price, missing = price+part, 0
		}
		if missing > 0 {
			return math.MaxInt64, nil
		}
		cost, way = max(cost, price), append(way, order[:taken]...)
	}
	return cost, way
}

// cheapest lists those who may go and free some of resource r, who are cheapest for that first. It is found once for all seats.
func (p *place) cheapest(r int, barred []bool) []int {
	order := p.order[r]
	if len(order) > 0 {
		return order
	}
	for i, v := range p.Frees[r] {
		if v > 0 && !barred[p.Items[i]] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return checked.CompareProducts(p.shares[a], p.Frees[r][b], p.shares[b], p.Frees[r][a])
	})
	p.order[r] = order
	return order
}

// allotment finds the cheapest allotment of seats to places.
type allotment struct {
	places []place
	seats  int
	large  bool    // number by number it takes too long
	costs  []int64 // by number of seats
	taken  [][]int // by place and number of seats up to it: how many of them are there
}

// find notes who goes, and returns what that costs at least; [math.MaxInt64]: there is no room.
func (a *allotment) find(barred []bool) int64 {
	room := 0
	for i := range a.places {
		a.places[i].price(barred)
		room += a.places[i].seats()
	}
	if room < a.seats {
		return math.MaxInt64
	}
	if a.large {
		if found := allot.Solve(curves{a.places, make([]allot.Hull, len(a.places))}, a.seats, nil); found.Parts != nil {
			for i := range a.places {
				a.places[i].give(0)
			}
			for _, part := range found.Parts {
				a.places[part.Place].give(part.Seats)
			}
			return found.Bound[0]
		}
	}
	return a.plain()
}

// plain is find, number by number of seats. O(places x seats x seats of a place).
func (a *allotment) plain() int64 {
	if a.taken == nil {
		a.costs = make([]int64, a.seats+1)
		for range a.places {
			a.taken = append(a.taken, make([]int, a.seats+1))
		}
	}
	for j := range a.costs {
		a.costs[j] = math.MaxInt64
	}
	a.costs[0] = 0
	for i := range a.places {
		p := &a.places[i]
		for j := a.seats; j >= 0; j-- {
			a.taken[i][j] = 0
			for k, cost := range p.cost[:min(j, len(p.cost))] {
				before := a.costs[j-k-1]
				if cost < math.MaxInt64 && before < math.MaxInt64 && before+cost < a.costs[j] {
					a.costs[j], a.taken[i][j] = before+cost, k+1
				}
			}
		}
	}
	for i, j := len(a.places)-1, a.seats; i >= 0; i-- {
		k := a.taken[i][j]
		a.places[i].give(k)
		j -= k
	}
	return a.costs[a.seats]
}

// seats is how many there may be.
func (p *place) seats() int {
	n, _ := slices.BinarySearch(p.cost, math.MaxInt64)
	return n
}

// give notes who goes for so many seats.
func (p *place) give(seats int) {
	clear(p.goes)
	if seats > 0 {
		for _, at := range p.way[seats-1] {
			p.goes[at] = true
		}
	}
}

// curves are what seats of places cost.
type curves struct {
	places []place
	hulls  []allot.Hull
}

func (c curves) Len() int                           { return len(c.places) }
func (c curves) Seats(i int) int                    { return c.places[i].seats() }
func (c curves) Price(i, k int) (allot.Price, bool) { return allot.Price{c.places[i].cost[k-1]}, true }
func (c curves) Learn([]allot.Part)                 {}
func (c curves) Hull(i int) *allot.Hull             { return &c.hulls[i] }

func (c curves) Most() (p allot.Price) {
	for i := range c.places {
		if n := c.Seats(i); n > 0 {
			p[0] += c.places[i].cost[n-1]
		}
	}
	return p
}
