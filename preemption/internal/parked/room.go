package parked

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// rooms is what the nodes that have changed could offer.
type rooms struct {
	ix    *cluster.Index
	units [2]func() *victims.Units
	kinds [2][]room // for lone pods and for groups; formed when first asked
	nodes []cluster.NodeID
}

// room is one node's.
type room struct {
	node  cluster.NodeID
	rungs []rung
}

// rung is what is free once every unit up to a level has left, lowest level first. The first
// rung is what is free as things stand.
type rung struct {
	level int64
	free  []int64
}

func newRooms(ix *cluster.Index, c *Changes, lone, grouped func() *victims.Units) *rooms {
	r := &rooms{ix: ix, units: [2]func() *victims.Units{lone, grouped}}
	for _, n := range slices.Sorted(maps.Keys(c.nodes)) {
		if int(n) < ix.NumNodes() && ix.IsNode(n) { // the numbers of those that have gone may be beyond the last
			r.nodes = append(r.nodes, n)
		}
	}
	return r
}

// take reports whether one of the nodes could take a pod of e.
func (r *rooms) take(e *Entry) bool {
	kind := 0
	if e.Grouped {
		kind = 1
	}
	if r.kinds[kind] == nil && len(r.nodes) > 0 {
		units := r.units[kind]()
		for _, n := range r.nodes {
			r.kinds[kind] = append(r.kinds[kind], room{n, r.rungs(units, n)})
		}
	}
	below := int64(math.MinInt64) // nobody leaves
	if e.Evicts {
		below = int64(e.Priority)
	}
	for i := range r.kinds[kind] {
		if r.kinds[kind][i].takes(r.ix, e, below) {
			return true
		}
	}
	return false
}

// takes reports whether a pod of e has room once every unit below a level has left.
func (r *room) takes(ix *cluster.Index, e *Entry, below int64) bool {
	i, _ := slices.BinarySearchFunc(r.rungs[1:], below, func(r rung, below int64) int { return cmp.Compare(r.level, below) })
	free, allocatable := r.rungs[i].free, ix.Allocatable(r.node)
	for _, m := range e.Shapes {
		if why := m.Resources(free, allocatable); why.OK() && m.Static(ix.Node(r.node)).OK() {
			return true
		}
	}
	return false
}

// rungs are those of node n.
func (r *rooms) rungs(us *victims.Units, n cluster.NodeID) []rung {
	list := []rung{{math.MinInt64, slices.Clone(r.ix.Free(n))}}
	on := slices.Clone(us.On(n))
	slices.SortFunc(on, func(a, b victims.UnitID) int { return cmp.Compare(us.Unit(a).Level, us.Unit(b).Level) })
	for i, u := range on {
		unit := us.Unit(u)
		if i == 0 || int64(unit.Level) != list[len(list)-1].level {
			list = append(list, rung{int64(unit.Level), slices.Clone(list[len(list)-1].free)})
		}
		free := list[len(list)-1].free
		for _, p := range unit.Pods {
			if r.ix.NodeOf(p) == n {
				for at, v := range r.ix.Request(p)[:len(free)] {
					free[at] += v
				}
			}
		}
	}
	return list
}
