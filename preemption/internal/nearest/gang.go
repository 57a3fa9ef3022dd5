package nearest

import (
	"math"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// Otherwise tells at what priority a gang would get in, or with how many pods fewer at least,
// whichever is less of a change; nil if neither is enough, or none was found before asked comes to too many. in says
// whether it gets in with a change made, with more of it, too, if it does with less, or whether it is proved that it
// does not, and adds to asked how often that asked about a member on a node. If it is unproved, less of the same may do, too.
func Otherwise(q *ask.Question, asked *int, in func(Change) (in, proved bool)) (best []Change, unproved bool) {
	doubts := map[Kind]bool{}
	best = otherwise(q, func(c Change) bool {
		if *asked > mostAsked {
			doubts[c.Kind] = true
			return false
		}
		in, proved := in(c)
		doubts[c.Kind] = doubts[c.Kind] || !in && !proved
		return in
	})
	if best == nil {
		return nil, false
	}
	return best, doubts[best[0].Kind]
}

// otherwise is Otherwise where in may deny what would do.
func otherwise(q *ask.Question, in func(Change) bool) []Change {
	var best []Change
	size := int64(math.MaxInt64)
	priorities := raises(q)
	raised := func(to int32) Change {
		return Change{Kind: Priority, Node: cluster.NoNode, Amount: int64(to)}
	}
	if i, ok := firstIn(len(priorities), func(i int) bool { return in(raised(priorities[i])) }); ok {
		best, size = []Change{raised(priorities[i])}, min(int64(priorities[i])-int64(q.Priority), million)
	}
	if len(q.Tree.Children) > 0 {
		return best
	}
	need := int64(q.Tree.Need())
	fewer := func(i int) Change { return Change{Kind: MinCount, Node: cluster.NoNode, Amount: int64(i) + 1} }
	most := min(need-1, (checked.Mul(size, need)-1)/million) // as a smaller change than best
	if i, ok := firstIn(int(most), func(i int) bool { return in(fewer(i)) }); ok {
		best = []Change{fewer(i)}
	}
	return best
}

// firstIn is the first of n for which in is so, as it is for all that follow.
func firstIn(n int, in func(int) bool) (first int, ok bool) {
	if n <= 0 || !in(n-1) {
		return 0, false
	}
	return sort.Search(n-1, in), true
}

// raises lists the priorities worth trying, ascending: those at which somebody who is in the way may go, and what opens a guard.
func raises(q *ask.Question) (list []int32) {
	for u := range victims.UnitID(q.Units.Len()) {
		if q.Units.Exists(u) && !q.Own(q.Units.Unit(u)) {
			list = openings(list, q, u)
		}
	}
	for n := range q.Index.Nodes() {
		for _, p := range q.Index.Nominees(n) {
			list = above(list, q, q.Index.Priority(p))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// openings appends the priorities from which on unit u may go.
func openings(dst []int32, q *ask.Question, u victims.UnitID) []int32 {
	level := q.Units.Unit(u).Level
	if q.Protections != nil {
		if at, ok := q.Protections.Opens(u, q.Priority); ok {
			dst = append(dst, at)
		}
		if level > q.Priority && q.Protections.ReadsHistory() { // it may go for its equals
			dst = append(dst, level)
		}
	}
	return above(dst, q, level)
}

// above appends the priority just above level, if that is in the preemptor's way.
func above(dst []int32, q *ask.Question, level int32) []int32 {
	if level >= q.Priority && level < math.MaxInt32 {
		dst = append(dst, level+1)
	}
	return dst
}
