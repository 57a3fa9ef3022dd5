package verify

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tokens are the exclusive things that one pod at a time holds, on whatever node.
type tokens map[string]int // how many hold each that a member asks for

func newTokens(q *question) relation {
	t, held := tokens{}, false
	for _, m := range q.members {
		for _, name := range m.Tokens {
			t[name] = 0
		}
	}
	if len(t) == 0 {
		return nil
	}
	for p := range q.running() {
		if len(p.Tokens) > 0 {
			t.bump(p.Tokens, +1)
		}
	}
	for _, holders := range t {
		held = held || holders > 0
	}
	if len(q.members) == 1 && !held { // who is only nominated is not looked at then, as upstream
		return nil
	}
	return t
}

// bump counts a holder, once for each token that it names.
func (t tokens) bump(names []string, by int) {
	seen := map[string]bool{}
	for _, name := range names {
		if _, wanted := t[name]; wanted && !seen[name] {
			seen[name] = true
			t[name] += by
		}
	}
}

func (t tokens) monotone() bool                       { return true }
func (t tokens) move(p *cluster.Pod, _ *node, by int) { t.bump(p.Tokens, by) }
func (t tokens) place(m *member, _ *node, by int)     { t.bump(m.Tokens, by) }

func (t tokens) misfit(m *member, _ *node) (check domain.Check, never bool) {
	for _, name := range m.Tokens {
		if t[name] > 0 {
			check = domain.CheckToken
		}
	}
	return check, false
}
