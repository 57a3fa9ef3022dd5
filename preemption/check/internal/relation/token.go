package relation

import (
	"iter"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tokens are the exclusive things that one pod at a time holds, on whatever node.
type tokens struct {
	held   map[string]int   // how many hold each that a member asks for
	wanted map[string][]int // who asks for it
	q      *Question
}

// NewTokens returns nil where tokens have no say.
func NewTokens(q *Question) Relation {
	t, held := &tokens{map[string]int{}, map[string][]int{}, q}, false
	for m := range q.Members {
		for _, name := range q.Members[m].Tokens {
			t.wanted[name] = append(t.wanted[name], m)
		}
	}
	if len(t.wanted) == 0 {
		return nil
	}
	for p := range q.Running {
		if len(p.Tokens) > 0 {
			t.bump(p.Tokens, +1)
		}
	}
	for _, holders := range t.held {
		held = held || holders > 0
	}
	if len(q.Members) == 1 && !held { // who is only nominated is not looked at then, as upstream
		return nil
	}
	return t
}

// bump counts a holder, once for each token that it names.
func (t *tokens) bump(names []string, by int) {
	seen := map[string]bool{}
	for _, name := range names {
		if t.wanted[name] != nil && !seen[name] {
			seen[name] = true
			t.held[name] += by
		}
	}
}

func (t *tokens) Monotone() bool                               { return true }
func (t *tokens) Move(p *cluster.Pod, _ *cluster.Node, by int) { t.bump(p.Tokens, by) }
func (t *tokens) Place(m int, _ *cluster.Node, by int)         { t.bump(t.q.Members[m].Tokens, by) }

func (t *tokens) InWay(p *cluster.Pod, _ *cluster.Node) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, name := range p.Tokens {
			for _, m := range t.wanted[name] {
				if t.q.Placed(m) != nil && !yield(m) {
					return
				}
			}
		}
	}
}

func (t *tokens) Misfit(m int, _ *cluster.Node) (check domain.Check, never bool) {
	for _, name := range t.q.Members[m].Tokens {
		if t.held[name] > 0 {
			check = domain.CheckToken
		}
	}
	return check, false
}
