package verify

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// relationsOf returns the constraints that have a say, in upstream's order, then the
// user's own.
func relationsOf(q *question) (list []relation) {
	for _, build := range []func(*question) relation{newTokens, newDevices, newSpread, newAffinity} {
		if r := build(q); r != nil {
			list = append(list, r)
		}
	}
	if h := q.o.Hooks; h != nil && len(h.Constraints) > 0 {
		list = append(list, ownConstraints(q)...)
	}
	return list
}

// called is deferred where a hook is called: what it panics with goes on as the error that names it.
func called(hook string) {
	if e := recover(); e != nil {
		err, _ := e.(error)
		panic(&preemption.HookError{Hook: hook, Value: "panic: " + fmt.Sprint(e), Err: err, Stack: debug.Stack()})
	}
}

// own is a constraint of the user's, asked through its public interface.
type own struct {
	state  domain.State
	ix     *cluster.Index
	number []domain.MemberID
}

// ownConstraints prepares the user's constraints. One that can't be prepared has no say:
// the question would have been refused.
func ownConstraints(q *question) (list []relation) {
	ix, err := cluster.NewIndex(q.Snapshot)
	if err != nil {
		return nil
	}
	numbers, pods := make([]domain.MemberID, len(q.members)), make([]*cluster.Pod, len(q.members))
	for i, m := range q.members {
		numbers[i], pods[i] = domain.MemberID(i), m.Pod
	}
	defer called("Constraints")
	for _, c := range q.o.Hooks.Constraints {
		if state, err := c.Prepare(ix, pods); err == nil && state != nil {
			list = append(list, &own{state, ix, numbers})
		}
	}
	return list
}

func (c *own) monotone() bool {
	defer called("Constraints")
	return c.state.Scope().Monotone
}

func (c *own) move(p *cluster.Pod, n *node, by int) {
	defer called("Constraints")
	id, at := c.ix.PodByName(p.Namespace, p.Name), c.ix.NodeByName(n.Name)
	if by < 0 {
		c.state.Remove(id, at)
	} else {
		c.state.Return(id, at)
	}
}

func (c *own) place(m *member, n *node, by int) {
	defer called("Constraints")
	if at := c.ix.NodeByName(n.Name); by > 0 {
		c.state.Place(c.number[m.number], at)
	} else {
		c.state.Unplace(c.number[m.number], at)
	}
}

func (c *own) misfit(m *member, n *node) (check domain.Check, never bool) {
	defer called("Constraints")
	r := c.state.Fits(c.number[m.number], c.ix.NodeByName(n.Name))
	return r.Check, r.Unresolvable
}

// asText is equal for values that are written alike.
func asText(v any) string {
	text, _ := json.Marshal(v) // plain structs
	return string(text)
}
