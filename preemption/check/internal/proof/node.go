package proof

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption"
)

// Node is a node, who may be evicted from it, and what counts; or an attempt of a queue.
type Node struct {
	Bound []preemption.Criterion // what nobody is to have less than
	Need  map[string]int64       // what is missing of resources as things are; 0: nothing
	Items []Item

	// Room says how much victims may take of a budget, and whether that is hard or for overruns alone, or
	// of a limit; ok is false where there is none that adds up.
	Room func(of Kind, name string) (room int64, hard, ok bool)

	byName  map[name]int
	charges func(it *Item) int64 // of a gang, what counts of an item where a step is about overruns
}

// Kind is what a name is of.
type Kind int

// The kinds.
const (
	Resource Kind = iota
	Criterion
	Budget
	Limit
	Charges // of a budget, as a criterion of a gang: on one node of a unit
)

// Item goes or stays: a unit, or a pod of an elastic one.
type Item struct {
	Pods    []preemption.PodRef // any of them stands for it; or its own name, of a workload
	Whole   bool                // it is a workload whose pods are not known
	Must    bool                // it goes in any case
	Highest int64               // victims with it have at least so much of the highest priority,
	Started int64               // of the earliest start if it has that,
	Overrun int64               // and of overruns

	// Adds is what it frees of a resource, or adds to something else at least; not below zero.
	Adds func(of Kind, name string) int64

	known  map[key]int64
	state  state
	barred bool // it is left out: victims with it have too much
}

type key struct {
	of   Kind
	name string
}

// state is what is known of an item in a case.
type state int8

const (
	open state = iota
	goes
	stays
)

func (it *Item) adds(of Kind, name string) int64 {
	v, known := it.known[key{of, name}]
	if !known {
		if it.known == nil {
			it.known = map[key]int64{}
		}
		v = it.Adds(of, name)
		it.known[key{of, name}] = v
	}
	return v
}

// The criteria that are no sums.
const (
	highest  = "highest priority"
	started  = "earliest start"
	overruns = "overruns"
)

// leastOf is what nobody has of a criterion.
func leastOf(name string) int64 {
	switch name {
	case highest:
		return math.MinInt32
	case started:
		return -math.MaxInt64
	}
	return 0
}

// beyond: victims with an item have more than most of criterion k, if they have no more than the
// bound of those before it.
func (n *Node) beyond(it *Item, k int, most int64) bool {
	switch name := n.Bound[k].Name; name {
	case highest:
		return it.Highest > most
	case started:
		top := slices.IndexFunc(n.Bound[:k], func(c preemption.Criterion) bool { return c.Name == highest })
		return top >= 0 && it.Highest == n.Bound[top].Value && it.Started > most
	case overruns:
		return it.Overrun > most
	default:
		return it.adds(Criterion, name) > most
	}
}

// bars: victims with an item have too much of a criterion before k, or of k by the worst of them, of which most is allowed.
func (n *Node) bars(it *Item, k int, most int64) bool {
	for before := range k {
		if n.beyond(it, before, n.Bound[before].Value) {
			return true
		}
	}
	return k != none && (n.Bound[k].Name == highest || n.Bound[k].Name == started) && n.beyond(it, k, most)
}

// none is no criterion: there are to be no victims at all.
const none = -1

// Shows is what is wrong with steps; empty: they show that nobody has less than the bound, or where
// that is empty that no victims make room.
func (n *Node) Shows(steps []preemption.ProofStep) string {
	if len(n.Bound) == 0 {
		if len(steps) != 1 || steps[0].Criterion != "" {
			return "it is not shown that nobody's eviction helps"
		}
		return n.follow(&steps[0], none, 0)
	}
	for k, c := range n.Bound {
		if len(steps) == 0 || steps[0].Criterion != c.Name {
			if c.Value > leastOf(c.Name) {
				return "nothing is shown of " + c.Name
			}
			continue
		}
		if n.follow(&steps[0], k, c.Value) == "" {
			return "" // no victims there are as good
		}
		if c.Value > leastOf(c.Name) {
			if text := n.follow(&steps[0], k, minus(c.Value, 1)); text != "" {
				return text
			}
		}
		steps = steps[1:]
	}
	if len(steps) > 0 {
		return fmt.Sprintf("a step is about %q, which is not what comes next", steps[0].Criterion)
	}
	return ""
}

// name is that of a pod, or of a workload.
type name struct {
	preemption.PodRef
	whole bool
}

// itemOf is the item that a pod stands for, or a workload's name.
func (n *Node) itemOf(of name) (it *Item, known bool) {
	if n.byName == nil {
		n.byName = map[name]int{}
		for i := range n.Items {
			for _, p := range n.Items[i].Pods {
				n.byName[name{p, n.Items[i].Whole}] = i
			}
		}
	}
	i, known := n.byName[of]
	if !known {
		return nil, false
	}
	return &n.Items[i], true
}

// going adds up what those add who go in this case.
func (n *Node) going(adds func(it *Item) int64) (sum int64) {
	for i := range n.Items {
		if it := &n.Items[i]; it.state == goes {
			sum = plus(sum, adds(it))
		}
	}
	return sum
}

// plus and times are a+b and a*b, at most the largest int64. None is below zero.
func plus(a, b int64) int64 { return min(a, math.MaxInt64-b) + b }

func times(a, b int64) int64 {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low < math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}

// minus is a-b where b is not below zero, at least the least int64 but one.
func minus(a, b int64) int64 { return max(a, b-math.MaxInt64) - b }
