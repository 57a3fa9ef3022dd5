package relation

import (
	"encoding/json"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Relation is a constraint that looks at other pods. It follows them as they come and
// go; its answer depends on who is where alone. Members are told by their number.
type Relation interface {
	Move(p *cluster.Pod, at *cluster.Node, by int) // a pod of the snapshot comes (+1) or goes (-1)
	Place(m int, at *cluster.Node, by int)
	Misfit(m int, at *cluster.Node) (check domain.Check, never bool) // the empty Check: it fits
	Monotone() bool                                                  // whoever goes, a fit stays a fit

	// InWay are the members that have a place and that p may be in the way of, once it is back on n, and
	// whatever the order of members. Asked where Monotone.
	InWay(p *cluster.Pod, n *cluster.Node) []int
}

// Question is what relations read.
type Question struct {
	Snapshot  *cluster.Snapshot
	Lists     *suits.Lists // of the nodes of the snapshot
	Hooks     *preemption.Hooks
	Spaces    map[string]map[string]string // labels of the namespaces
	Members   []*cluster.Pod
	Running   iter.Seq2[*cluster.Pod, *cluster.Node]
	Index     *Index                             // of Running, for a lone pod; nil: there is none
	Repelling bool                               // a running pod has anti-affinity
	Old       bool                               // as v1.36 reads them
	Group     bool                               // the preemptor is a group
	Placed    func(m int) *cluster.Node          // where a member is; nil: nowhere
	Staying   func(*cluster.Node) []*cluster.Pod // who runs there and is not gone
}

// Of returns the constraints that have a say, in upstream's order, then the user's own.
func Of(q *Question) (list []Relation) {
	for _, build := range []func(*Question) Relation{newTokens, newDevices, newSpread, newAffinity} {
		if r := build(q); r != nil {
			list = append(list, r)
		}
	}
	if q.Hooks != nil && len(q.Hooks.Constraints) > 0 {
		list = append(list, ownConstraints(q)...)
	}
	return list
}

// Called is deferred where a hook is called: what it panics with goes on as the error that names it.
func Called(hook string) {
	if e := recover(); e != nil {
		err, _ := e.(error)
		panic(&preemption.HookError{Hook: hook, Value: "panic: " + fmt.Sprint(e), Err: err, Stack: debug.Stack()})
	}
}

// own is a constraint of the user's, asked through its public interface.
type own struct {
	state domain.State
	ix    *cluster.Index
}

// ownConstraints prepares the user's constraints. One that can't be prepared has no say:
// the question would have been refused.
func ownConstraints(q *Question) (list []Relation) {
	ix, err := cluster.NewIndex(q.Snapshot)
	if err != nil {
		return nil
	}
	defer Called("Constraints")
	for _, c := range q.Hooks.Constraints {
		if state, err := c.Prepare(ix, slices.Clone(q.Members)); err == nil && state != nil {
			list = append(list, &own{state, ix})
		}
	}
	return list
}

func (c *own) Monotone() bool {
	defer Called("Constraints")
	return c.state.Scope().Monotone
}

// InWay is not asked: members may have to be looked at in their order.
func (c *own) InWay(*cluster.Pod, *cluster.Node) []int { return nil }

// Ordered reports whether r may look at the order of members: it is the user's.
func Ordered(r Relation) bool { _, is := r.(*own); return is }

func (c *own) Move(p *cluster.Pod, n *cluster.Node, by int) {
	defer Called("Constraints")
	id, at := c.ix.PodByName(p.Namespace, p.Name), c.ix.NodeByName(n.Name)
	if by < 0 {
		c.state.Remove(id, at)
	} else {
		c.state.Return(id, at)
	}
}

func (c *own) Place(m int, n *cluster.Node, by int) {
	defer Called("Constraints")
	if at := c.ix.NodeByName(n.Name); by > 0 {
		c.state.Place(domain.MemberID(m), at)
	} else {
		c.state.Unplace(domain.MemberID(m), at)
	}
}

func (c *own) Misfit(m int, n *cluster.Node) (check domain.Check, never bool) {
	defer Called("Constraints")
	r := c.state.Fits(domain.MemberID(m), c.ix.NodeByName(n.Name))
	return r.Check, r.Unresolvable
}

// AsText is equal for values that are written alike.
func AsText(v any) string {
	text, _ := json.Marshal(v) // plain structs
	return string(text)
}

// reads adds the keys of the labels that s reads.
func reads(keys map[string]bool, s *disruption.Selector) {
	if s == nil {
		return
	}
	for key := range s.MatchLabels {
		keys[key] = true
	}
	for _, r := range s.MatchExpressions {
		keys[r.Key] = true
	}
}
