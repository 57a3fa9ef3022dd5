package allot

import (
	"cmp"
	"iter"
	"slices"

	"github.com/preempt-go/preempt/internal/heaps"
)

// Places are where seats are to be had. No seats cost nothing, and more never cost less; no
// number of a price is below zero.
type Places interface {
	Len() int            // how many places
	Seats(place int) int // at most; above zero

	// Price is what so many seats of a place cost, from 1 to Seats; where it is not known
	// yet, they cost that at least.
	Price(place, seats int) (p Price, known bool)

	Learn(list []Part) // finds prices out that are not known
	Hull(place int) *Hull
	Most() Price // number by number, all seats of all places cost no more
}

// Hull are the corners of the lower hull of a place's prices, from that of no seats. Solve finds all out after Learn, otherwise those
// that are missing at the end, and leaves out those of more seats than there are: it is to be emptied where prices change otherwise.
// Solve never writes to the array of one, so that copies may share it.
type Hull []Corner

// Corner is what so many seats cost.
type Corner struct {
	Seats int
	Price Price
}

// Part is what one place gives.
type Part struct{ Place, Seats int }

// Answer is what Solve came to.
type Answer struct {
	Parts  []Part // in order of the places; nil if there are too few seats, or prices are too large
	Bound  Price  // no allotment costs less
	Proved bool   // Parts cost Bound
	None   bool   // there are too few seats
}

// Solve allots so many seats, above zero, at the least price. Where that would take too long,
// or prices are too large for int64, it is not proved. It ends once it is clear that they cost
// more than atMost, with the Bound that says so and no Parts; nil: whatever they cost.
//
// O(rounds x (places x seats + seats log places)), and up to some million steps where many
// places cost about as much; rounds are few where what is not known is bounded well.
func Solve(places Places, seats int, atMost *Price) Answer {
	s := &solver{Places: places, seats: seats, at: make([]int, places.Len())}
	if most := s.Most(); !most.fit(int64(seats)) {
		return Answer{}
	}
	for i := range s.at {
		s.turn(i)
	}
	for {
		if !s.relax() {
			return Answer{None: true}
		}
		if bound := s.bound(); atMost != nil && bound.Compare(atMost) > 0 {
			return Answer{Bound: bound}
		}
		if s.learn(s.parts(), s.further) {
			continue
		}
		if s.rest == 0 {
			return Answer{Parts: s.parts(), Bound: s.base, Proved: true}
		}
		a, came := s.complete()
		if !s.learn(a.Parts, slices.Values(came)) {
			return a
		}
	}
}

// solver is one call of Solve.
type solver struct {
	Places
	seats int
	queue []step
	hull  Hull // of turn, reused

	learned int   // prices so far
	at      []int // by place: seats that it gives in the relaxed answer
	base    Price // of them
	rest    int   // seats that are missing, fewer than the next step has
	next    step  // of which a fraction is taken
}

// step is from the corner of a place before this one.
type step struct {
	place, corner int
	seats         int64
	price         Price
}

// perSeat compares what a seat costs.
func (s *step) perSeat(o *step) int {
	for j, v := range s.price {
		if c := cmp.Compare(v*o.seats, o.price[j]*s.seats); c != 0 {
			return c
		}
	}
	return 0
}

func (s *step) compare(o *step) int { return cmp.Or(s.perSeat(o), cmp.Compare(s.place, o.place)) }

func (s *solver) price(place, seats int) Price {
	if seats == 0 {
		return Price{}
	}
	p, _ := s.Price(place, seats)
	return p
}

func (s *solver) step(place, corner int) step {
	h := *s.Hull(place)
	return h[corner-1].step(&h[corner], place, corner)
}

func (c *Corner) step(to *Corner, place, corner int) step {
	return step{place, corner, int64(to.Seats - c.Seats), to.Price.minus(c.Price)}
}

// turn finds the corners of a place, between which a seat costs more and more.
func (s *solver) turn(place int) {
	h, most := s.Hull(place), min(s.Seats(place), s.seats)
	for len(*h) > 0 && (*h)[len(*h)-1].Seats > most {
		*h = (*h)[:len(*h)-1]
	}
	if len(*h) > 0 && (*h)[len(*h)-1].Seats == most {
		return
	}
	if s.hull = append(s.hull[:0], *h...); len(s.hull) == 0 {
		s.hull = append(s.hull, Corner{})
	}
	for k := s.hull[len(s.hull)-1].Seats + 1; k <= most; k++ {
		to := Corner{k, s.price(place, k)}
		for n := len(s.hull) - 1; n > 0; n-- {
			before, last := s.hull[n-1].step(&s.hull[n], place, n), s.hull[n].step(&to, place, n+1)
			if before.perSeat(&last) < 0 {
				break
			}
			s.hull = s.hull[:n]
		}
		s.hull = append(s.hull, to)
	}
	*h = slices.Clone(s.hull)
}

// relax takes the cheapest steps, the last in part. It reports whether there are enough.
func (s *solver) relax() bool {
	clear(s.at)
	s.base, s.rest, s.queue = Price{}, s.seats, s.queue[:0]
	for i := range s.at {
		if len(*s.Hull(i)) > 1 {
			s.queue = append(s.queue, s.step(i, 1))
		}
	}
	heaps.Init(s.queue, (*step).compare)
	for s.rest > 0 {
		if len(s.queue) == 0 {
			return false
		}
		s.next = s.queue[0]
		seats := int(s.next.seats)
		if seats > s.rest {
			return true
		}
		s.at[s.next.place], s.rest, s.base = s.at[s.next.place]+seats, s.rest-seats, s.base.Add(s.next.price)
		s.drop()
	}
	return true
}

// bound is what seats cost at least, by the relaxed answer.
func (s *solver) bound() Price {
	n := max(s.next.seats, 1) // so many parts has a number
	return s.base.times(n).Add(s.next.price.times(int64(s.rest))).perSeat(n)
}

// drop takes the cheapest step off the queue, and puts the next one of its place on it.
func (s *solver) drop() {
	if i, next := s.queue[0].place, s.queue[0].corner+1; next < len(*s.Hull(i)) {
		s.queue[0] = s.step(i, next)
		heaps.Down(s.queue, 0, (*step).compare)
	} else {
		s.queue = heaps.Pop(s.queue, (*step).compare)
	}
}

// parts are those of the relaxed answer.
func (s *solver) parts() (list []Part) {
	for i, k := range s.at {
		if k > 0 {
			list = append(list, Part{i, k})
		}
	}
	return list
}

// further lists the steps that come next.
func (s *solver) further(yield func(Part) bool) {
	for len(s.queue) > 0 && yield(Part{s.queue[0].place, (*s.Hull(s.queue[0].place))[s.queue[0].corner].Seats}) {
		s.drop()
	}
}

// learn finds the prices of list out, and reports whether some were not known. Then it finds
// out about a few of further, too, so that there are not many rounds.
func (s *solver) learn(list []Part, further iter.Seq[Part]) bool {
	known := func(p Part) bool {
		_, known := s.Price(p.Place, p.Seats)
		return known
	}
	if list = slices.DeleteFunc(slices.Clone(list), known); len(list) == 0 {
		return false
	}
	most := len(list) + s.learned/ahead
	for p := range further {
		if len(list) == most {
			break
		}
		if !known(p) && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	s.learned += len(list)
	s.Learn(list)
	for _, p := range list {
		*s.Hull(p.Place) = nil
		s.turn(p.Place)
	}
	return true
}

// ahead says how many prices are found out beyond those that are needed: one for so many that are
// known already.
const ahead = 4
