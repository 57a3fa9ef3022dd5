package victims

import (
	"cmp"
	"encoding/json"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Worth says what a unit is worth beyond what the rules look at. The zero Worth adds
// nothing.
type Worth struct {
	// Cost prices units. nil: everything is free.
	Cost Cost

	// ByCost makes the dearer of two units of equal priority more important.
	ByCost bool

	// ByPlace makes a unit with a pod that can run on no other node more important
	// than one of equal priority whose pods can; it comes before ByCost.
	ByPlace bool

	// Order decides about importance before all else. nil: priority does.
	Order Order
}

// Order is a part of the order of importance.
type Order interface {
	// Compare is below zero if a is more worth keeping than b, and zero where it
	// leaves the decision to the rules. It must be a strict weak order.
	Compare(us *Units, a, b UnitID) int
}

// Upstream is the default Order: priority, what [Worth] adds, then the keys of the
// rules. See [Units.Compare].
type Upstream struct{}

// Compare compares as upstream does.
func (Upstream) Compare(us *Units, a, b UnitID) int { return us.compare(a, b) }

// NewPricedUnits is [NewUnits] with what w adds.
func NewPricedUnits(ix *cluster.Index, rule UnitRule, w Worth) *Units {
	us := formUnits(ix, rule)
	us.by = w
	if w.Cost != nil {
		us.cost = make([]int64, us.Len())
		for u := range us.cost {
			unit := us.Unit(UnitID(u))
			us.cost[u] = w.Cost.Price(ix, unit.Group, unit.Pods)
		}
	}
	if w.ByPlace || w.ByCost {
		us.inside = make([]uint64, us.Len())
		places := places{ix: ix, of: map[string][]cluster.NodeID{}}
		for u := range us.inside {
			if w.ByPlace && !places.movable(us.Unit(UnitID(u))) {
				us.inside[u] |= 1 << 63
			}
			if w.ByCost && us.cost != nil {
				us.inside[u] |= uint64(us.cost[u])
			}
		}
	}
	us.listByNode()
	return us
}

// Cost is the price of unit u, 0 if units have none.
func (us *Units) Cost(u UnitID) int64 {
	if us.cost == nil {
		return 0
	}
	return us.cost[u]
}

// Priced reports whether units have prices.
func (us *Units) Priced() bool { return us.cost != nil }

// Ranking is the default [Comparison].
type Ranking struct {
	// CostAt is the place of the cost among the criteria: 1 for the first, up to one
	// more than there are others. 0: the cost does not count.
	CostAt int
}

// Comparison says which of two scores disrupts less.
type Comparison interface {
	// Compare is below zero if a disrupts less than b, zero if they tie. It must be a
	// strict weak order.
	Compare(a, b Score) int
}

// CriterionCost is the name of the cost as a criterion.
const CriterionCost = "cost"

// Compare compares criterion by criterion.
func (r Ranking) Compare(a, b Score) int {
	switch r.CostAt {
	case 0:
		return a.Compare(b)
	case 1:
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), a.Compare(b))
	}
	x, y := a.Values(), b.Values()
	for i := range x {
		if i+1 == r.CostAt && a.Cost != b.Cost {
			return cmp.Compare(a.Cost, b.Cost)
		}
		if x[i] != y[i] {
			return cmp.Compare(x[i], y[i])
		}
	}
	return cmp.Compare(a.Cost, b.Cost)
}

// Criteria names the numbers of a score in the order in which they are compared.
func (r Ranking) Criteria() []string {
	list := Criteria[:]
	if r.CostAt == 0 {
		return list
	}
	at := r.CostAt - 1
	return append(append(append([]string(nil), list[:at]...), CriterionCost), list[at:]...)
}

// Values returns the numbers of s in the order of Criteria, smaller is better.
func (r Ranking) Values(s Score) []int64 {
	all := s.Values()
	if r.CostAt == 0 {
		return all[:]
	}
	at := r.CostAt - 1
	return append(append(append([]int64(nil), all[:at]...), s.Cost), all[at:]...)
}

// places finds out where pods can run, once for those that ask for the same.
type places struct {
	ix *cluster.Index
	of map[string][]cluster.NodeID // the first two nodes
}

// movable reports whether every pod of a unit can run on another node: one that its
// node selector and required node affinity let it go to, without a taint that it
// does not tolerate. Room, cordons and what it prefers are not looked at.
//
// Source: kubernetes #141227.
func (pl *places) movable(unit *Unit) bool {
	for _, p := range unit.Pods {
		if !pl.hasOther(pl.ix.Pod(p), pl.ix.NodeOf(p)) {
			return false
		}
	}
	return true
}

func (pl *places) hasOther(pod *cluster.Pod, at cluster.NodeID) bool {
	if pod.RequiredNode != "" && at != cluster.NoNode && pod.RequiredNode == pl.ix.Node(at).Name {
		return false
	}
	key := ""
	if len(pod.NodeSelector) > 0 || pod.NodeAffinity != nil || len(pod.Tolerations) > 0 {
		text, err := json.Marshal([]any{pod.NodeSelector, pod.NodeAffinity, pod.Tolerations})
		if err != nil {
			panic("victims: a pod that cannot be written: " + err.Error())
		}
		key = string(text)
	}
	nodes, known := pl.of[key]
	if !known {
		for n := range cluster.NodeID(pl.ix.NumNodes()) {
			node := pl.ix.Node(n)
			if len(nodes) < 2 && domain.MatchesNode(pod, node) && domain.Untolerated(pod, node) == nil {
				nodes = append(nodes, n)
			}
		}
		pl.of[key] = nodes
	}
	return len(nodes) > 1 || len(nodes) == 1 && nodes[0] != at
}
