package counting

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/columns"
)

// nodeCost is a node with what the first member there costs.
type nodeCost struct {
	cost columns.Cost
	at   int32
}

func (c *nodeCost) compare(o *nodeCost) int {
	if d := c.cost.Compare(o.cost); d != 0 {
		return d
	}
	return cmp.Compare(c.at, o.at)
}

func (c *nodeCost) offer() domain.SeatOffer {
	return domain.SeatOffer{Price: c.cost.Price(), At: c.at, K: 1}
}

// findCheapest finds the nodes on which a first member costs least, at least so many
// if there are. Without budgets the columns settle for most nodes that they are not
// among them: somebody more important has to go there than on so many others.
func (t *attempt) findCheapest(wanted int) {
	column, exact := t.Columns.Levels().Column(t.Priority)
	if !t.harmful {
		lowest := sort.Search(column, func(c int) bool { return t.roomsIn(c, wanted) })
		column, exact = lowest, exact || lowest < column
	}
	t.costs = t.costs[:0]
	for i := range t.parts {
		s := &t.parts[i]
		set := s.room
		if exact {
			set = s.block.Fit(t.seats.One(), column, set)
		}
		for ; set != 0; set &= set - 1 {
			t.costs = append(t.costs, nodeCost{at: s.position(bits.TrailingZeros64(set))})
		}
	}
	for _, at := range t.odd {
		t.costs = append(t.costs, nodeCost{at: at})
	}
	t.priceFirsts()
	if len(t.costs) > wanted {
		selectLeast(t.costs, wanted, (*nodeCost).compare)
	}
	t.cheapest = t.costs[:min(wanted, len(t.costs))]
	slices.SortFunc(t.cheapest, func(a, b nodeCost) int { return a.compare(&b) })
}

// inQuestion are the nodes to which one of k members may go, as far as prices tell: see least.
func (t *attempt) inQuestion(k int) []nodeCost {
	switch {
	case t.harmful:
		return t.costs
	case k == 1 || k >= len(t.costs) || t.costs[k-1].cost == columns.Cost{}: // nobody looks further
		return t.costs[:min(k, len(t.costs))]
	}
	dearest, end := t.costs[k-1].cost, k
	for i := k; i < len(t.costs); i++ {
		if t.costs[i].cost == dearest {
			t.costs[i], t.costs[end] = t.costs[end], t.costs[i]
			end++
		}
	}
	return t.costs[:end]
}

// priceFirsts prices the first member on every node of costs. Many in the only domain
// are shared out among goroutines.
func (t *attempt) priceFirsts() {
	t.firsts = zeroed(t.firsts, len(t.slots))
	price := func(tools *tools, list []nodeCost) {
		for i := range list {
			c := &list[i]
			c.cost = tools.seats.Cost(t.node(c.at), 1)
			t.firsts[c.at] = c.cost
		}
	}
	if len(t.costs) < parallelCosts || t.domains > 1 { // domains are shared out themselves
		price(t.tools, t.costs)
		return
	}
	const parts = 8
	t.share(parts, true, func(tools *tools, i int) {
		tools.seats.Charge(t.harms)
		price(tools, t.costs[len(t.costs)*i/parts:len(t.costs)*(i+1)/parts])
	})
}

// cost is what has to go on a node for k members.
func (t *attempt) cost(at, k int32) columns.Cost {
	if k == 1 && len(t.firsts) > 0 && t.firsts[at] != (columns.Cost{}) {
		return t.firsts[at]
	}
	return t.seats.Cost(t.node(at), int64(k))
}

// roomsIn reports whether on at least wanted nodes there is room for a member in a
// column.
func (t *attempt) roomsIn(column, wanted int) bool {
	for i := range t.parts {
		s := &t.parts[i]
		if wanted -= bits.OnesCount64(s.block.Fit(t.seats.One(), column, s.room)); wanted <= 0 {
			return true
		}
	}
	return false
}

// selectLeast puts the k least of list first, in no order. O(len) on average; where
// that does not go well, it sorts.
func selectLeast[T any](list []T, k int, compare func(a, b *T) int) {
	for rounds := 2 * bits.Len(uint(len(list))); len(list) > 1 && k > 0 && k < len(list); rounds-- {
		if rounds == 0 {
			slices.SortFunc(list, func(a, b T) int { return compare(&a, &b) })
			return
		}
		last := len(list) - 1
		a, b, c := 0, len(list)/2, last // their median divides
		if compare(&list[a], &list[b]) > 0 {
			a, b = b, a
		}
		if compare(&list[b], &list[c]) > 0 {
			if b = c; compare(&list[a], &list[b]) > 0 {
				b = a
			}
		}
		pivot := list[b]
		i, j := 0, last
		for i <= j {
			for compare(&list[i], &pivot) < 0 {
				i++
			}
			for compare(&list[j], &pivot) > 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j+1:
			list = list[:j+1]
		case k >= i:
			list, k = list[i:], k-i
		default:
			return
		}
	}
}
