package victims

import (
	"math"
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Ladder lays the units of each node out in columns, most important first, with
// running sums of what they ask for: how much room is left with the first i units of
// a node in place is one row, whoever asks. A Rung is a position in it. Immutable,
// safe for concurrent use.
//
// Only nodes whose units are single pods are laid out: see [Ladder.Plain].
type Ladder struct {
	us *Units
	r  int // numbers in a row

	from     []int32 // by node: its first rung; one more entry at the end
	level    []int32 // by rung: what the unit is eligible by
	own      []int32 // by rung: the priority of the pod itself, which scores
	started  []int64 // by rung
	request  []int64 // by rung: a row
	room     []int64 // rows, one more than rungs for each node: what is free with the first i units in place
	plain    []bool  // by node
	budgeted []bool  // by node: some unit is covered by a budget
}

// Rung is the position of a unit in a Ladder.
type Rung int32

// NewLadder lays out us; b says which pods budgets cover.
func NewLadder(us *Units, b *Budgets) *Ladder {
	ix := us.ix
	r, nodes := ix.NumResources(), ix.NumNodes()
	l := &Ladder{us: us, r: r, from: make([]int32, nodes+1), plain: make([]bool, nodes), budgeted: make([]bool, nodes)}
	rungs := 0
	for n := range nodes {
		rungs += len(us.on[n])
	}
	l.level, l.own = make([]int32, rungs), make([]int32, rungs)
	l.started, l.request = make([]int64, rungs), make([]int64, rungs*r)
	l.room = make([]int64, (rungs+nodes)*r)
	at := 0
	for n := range cluster.NodeID(nodes) {
		l.from[n] = int32(at)
		l.plain[n] = !us.rule.PreemptionPriority && us.by.Order == nil
		l.climb(n, at, b)
		at += len(us.on[n])
	}
	l.from[nodes] = int32(at)
	return l
}

// climb lays out node n from rung at on.
func (l *Ladder) climb(n cluster.NodeID, at int, b *Budgets) {
	ix := l.us.ix
	row := l.room[(at+int(n))*l.r:][:l.r]
	copy(row, ix.Free(n))
	for _, p := range ix.PodsOn(n) {
		for c, v := range ix.Request(p) {
			row[c] += v
		}
	}
	for i, u := range l.us.on[n] {
		unit := &l.us.units[u]
		p := unit.Pods[0]
		if len(unit.Pods) > 1 {
			l.plain[n] = false
		}
		l.level[at+i], l.own[at+i], l.started[at+i] = unit.Level, ix.Priority(p), unit.Started
		request := l.request[(at+i)*l.r:][:l.r]
		copy(request, ix.Request(p))
		next := l.room[(at+int(n)+i+1)*l.r:][:l.r]
		for c := range next {
			next[c] = row[c] - request[c]
		}
		row = next
		l.budgeted[n] = l.budgeted[n] || len(b.Of(p)) > 0
	}
}

// Plain reports whether every unit on node n is a single pod, and levels order as
// importance does: only then do the rungs of n say everything.
func (l *Ladder) Plain(n cluster.NodeID) bool { return l.plain[n] }

// Budgeted reports whether a budget covers a pod on node n.
func (l *Ladder) Budgeted(n cluster.NodeID) bool { return l.budgeted[n] }

// Rungs returns the rungs of the units on node n whose level is below that given:
// from first to end, not included, most important first.
func (l *Ladder) Rungs(n cluster.NodeID, below int32) (first, end Rung) {
	lo, hi := l.from[n], l.from[n+1]
	levels := l.level[lo:hi]
	i := sort.Search(len(levels), func(i int) bool { return levels[i] < below })
	return Rung(lo) + Rung(i), Rung(hi)
}

// Unit returns the unit on a rung of node n.
func (l *Ladder) Unit(n cluster.NodeID, rung Rung) UnitID { return l.us.on[n][int32(rung)-l.from[n]] }

// Room returns the row of what is free on node n with the units before rung in
// place and the others gone. It belongs to l.
func (l *Ladder) Room(n cluster.NodeID, rung Rung) []int64 {
	return l.room[(int(rung)+int(n))*l.r:][:l.r]
}

// Request returns the row of what the unit on a rung asks for. It belongs to l.
func (l *Ladder) Request(rung Rung) []int64 { return l.request[int(rung)*l.r:][:l.r] }

// Own returns the priority of the pod on a rung itself, whatever its group's.
func (l *Ladder) Own(rung Rung) int32 { return l.own[rung] }

// Score is the score of units on rungs, in ascending order; see [Units.Score].
func (l *Ladder) Score(rungs []Rung, violations int) Score {
	s := Score{Violations: violations, Highest: math.MinInt32, Started: math.MaxInt64}
	if len(rungs) == 0 {
		return s
	}
	s.Highest, s.Pods = l.own[rungs[0]], len(rungs)
	highest := int32(math.MinInt32)
	for _, g := range rungs {
		own := l.own[g]
		s.Sum += int64(own) + 1<<31
		if own > highest {
			highest, s.Started = own, l.started[g]
		} else if own == highest {
			s.Started = min(s.Started, l.started[g])
		}
	}
	return s
}
