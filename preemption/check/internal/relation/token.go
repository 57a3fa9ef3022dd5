package relation

import (
	"iter"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tokens are the exclusive things that one pod at a time holds, on whatever node.
type tokens struct {
	number  map[string]int  // of each that a member asks for
	held    []int           // by number: how many hold it
	wanted  [][]int         // by number: who asks for it
	listed  map[names][]int // of many names: their numbers
	holders []*cluster.Pod  // of those that a lone pod asks for, some, if parts are kept; nil: nobody
	q       *Question
}

// keepers are how many running pods hold a token, and some of them.
type keepers struct {
	count int
	some  two
}

// names are a list of some.
type names struct {
	first *string
	len   int
}

// manyNames is of how many names it is remembered which numbers they have.
const manyNames = 64

// newTokens returns nil where tokens have no say.
func newTokens(q *Question) Relation {
	t, held := &tokens{number: map[string]int{}, listed: map[names][]int{}, q: q}, false
	for m := range q.Members {
		for _, name := range q.Members[m].Tokens {
			i, known := t.number[name]
			if !known {
				i = len(t.held)
				t.number[name], t.held, t.wanted = i, append(t.held, 0), append(t.wanted, nil)
			}
			t.wanted[i] = append(t.wanted[i], m)
		}
	}
	if len(t.number) == 0 {
		return nil
	}
	for name, i := range t.number {
		if !q.keeps() {
			break
		}
		k := keep(q.Kept, "token "+name, func() (k keepers, size int) {
			for p := range once([][]standing{q.Index.tokens[name]}) {
				k = keepers{k.count + 1, k.some.and(p)}
			}
			return k, 1
		})
		t.held[i], t.holders = k.count, append(t.holders, k.some[:]...)
	}
	if !q.keeps() {
		running := q.Running
		if q.Index != nil {
			running = q.Index.holding(slices.Collect(maps.Keys(t.number)))
		}
		for p := range running {
			if len(p.Tokens) > 0 {
				t.bump(p.Tokens, +1)
			}
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
	for _, i := range t.numbers(names) {
		t.held[i] += by
	}
}

// numbers are those of the tokens of a pod that a member asks for, each once.
func (t *tokens) numbers(of []string) (list []int) {
	if len(of) >= manyNames && t.listed[names{&of[0], len(of)}] != nil {
		return t.listed[names{&of[0], len(of)}]
	}
	for _, name := range of {
		if i, asked := t.number[name]; asked {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(of) >= manyNames {
		t.listed[names{&of[0], len(of)}] = append([]int{}, list...)
	}
	return list
}

func (t *tokens) Monotone() bool                               { return true }
func (t *tokens) Move(p *cluster.Pod, _ *cluster.Node, by int) { t.bump(p.Tokens, by) }
func (t *tokens) Place(m int, _ *cluster.Node, by int)         { t.bump(t.q.Members[m].Tokens, by) }

func (t *tokens) InWay(p *cluster.Pod, _ *cluster.Node) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, name := range p.Tokens {
			i, asked := t.number[name]
			if !asked {
				continue
			}
			for _, m := range t.wanted[i] {
				if t.q.Placed(m) != nil && !yield(m) {
					return
				}
			}
		}
	}
}

func (t *tokens) Misfit(m int, _ *cluster.Node) (check domain.Check, never bool) {
	for _, i := range t.numbers(t.q.Members[m].Tokens) {
		if t.held[i] > 0 {
			check = domain.CheckToken
		}
	}
	return check, false
}
