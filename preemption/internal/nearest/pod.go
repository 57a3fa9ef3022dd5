package nearest

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/victims"
)

// relaxed is one way to let the preemptor in on one node.
type relaxed struct {
	node    cluster.NodeID
	changes []Change
	below   int32           // who is below that priority may go
	misfit  bool            // constraints stand in the way even so, as far as they are known
	seen    map[Change]bool // changes, where they are many
	size    int64           // sum of what each asks for, in millionths of the preemptor's request; a step of the priority is one, at most a million, a yes-or-no a million
}

// Pod finds out what would have to change for a lone pod, of which a search has found that
// no evictions help.
type Pod struct {
	q      *ask.Question
	search *onepod.Search
	rule   noderules.Rule // of its pod
	again  func([]Change) (*Pod, func())
	admits func(n cluster.NodeID, list []Change) bool

	Unproved bool // less than what Nearest tells may help, too

	near  ask.Near
	node  [1]cluster.NodeID // where near is
	trial onepod.Trial      // of ways
	cuts  []int32           // buffer of cutoffs
	room  []int64           // buffer of fillRoom
}

// NewPod returns what finds that out for the question q of search. again asks anew, once
// changes are made: it returns a search that was not run yet and what closes it, or nil.
// admits reports whether the user's filter, if there is one, lets the pod onto a node then.
func NewPod(q *ask.Question, search *onepod.Search, again func([]Change) (*Pod, func()), admits func(n cluster.NodeID, list []Change) bool) *Pod {
	s := &Pod{q: q, search: search, rule: noderules.NewTable(q.Index).Rule(search.Member.Pod), again: again, admits: admits, near: ask.NearOf(q, 1)}
	s.trial.Ask(q, domain.Nominees{Self: search.Member.ID})
	return s
}

// Nearest returns a node and what would have to change for the pod to get in there; no
// changes if none is known.
func (s *Pod) Nearest() (cluster.NodeID, []Change) {
	if s.q.Hard != nil || s.q.Limits != nil {
		return s.bounded()
	}
	return s.nearest()
}

// with runs the search anew with changes made, and reports whether the pod gets in, and
// where; or whether it is proved that it does not.
func (s *Pod) with(list []Change) (at cluster.NodeID, in, proved bool) {
	again, end := s.again(list)
	if again == nil {
		return cluster.NoNode, false, false
	}
	defer end()
	p := again.search.Run()
	if p.Verdict != ask.Feasible && p.Verdict != ask.Fits {
		return cluster.NoNode, false, again.search.Stats.Exact
	}
	return s.here(again, p.Node), true, true
}

// here is node n of the changed cluster in that of s: they number nodes by themselves.
func (s *Pod) here(again *Pod, n cluster.NodeID) cluster.NodeID {
	return s.q.Index.NodeByName(again.q.Index.Node(n).Name)
}

// nearest returns the node where the fewest things would have to change, the smallest
// in sum among equals, then the least raise of the priority, then the first by name;
// nil if nothing of what can be relaxed would do anywhere. All changes together let the preemptor in, and
// since no other way has fewer, no part of them does.
//
// Where constraints count nodes by what the preemptor asks of them, a change may alter
// what they say: the nearest ways are tried, and the first that does is taken,
// without what of it is not needed.
func (s *Pod) nearest() (cluster.NodeID, []Change) {
	for _, way := range s.ways() {
		list := sorted(way.changes)
		if !s.changesConstraints(list) {
			return way.node, list
		}
		at := cluster.NoNode
		l := least{left: mostAsks, present: s.q.Priority, ask: func(list []Change) ([]Change, bool, bool) {
			n, in, proved := s.with(list)
			if in {
				at = n
			}
			return list, in, proved
		}}
		list, ok := l.smallest(list)
		if s.Unproved = s.Unproved || l.unproved; ok {
			return at, sorted(list)
		}
	}
	return cluster.NoNode, nil
}

// changesConstraints reports whether a constraint may answer otherwise once these
// changes are made.
func (s *Pod) changesConstraints(list []Change) bool {
	if len(s.q.States) == 0 {
		return false
	}
	if len(s.q.OwnConstraints) > 0 {
		return true
	}
	return slices.ContainsFunc(list, func(r Change) bool {
		switch r.Kind {
		case Taint, Cordon, Selector, NodeName:
			return true
		}
		return false
	})
}

// mostWays is how many ways are tried where constraints decide.
const mostWays = 16

// ways lists the nearest ways, the nearest first: where constraints decide the first
// few, those last at which they stand in the way as things are; none where that takes too much.
func (s *Pod) ways() []relaxed {
	var list []relaxed
	most, constrained := 1, len(s.q.States) > 0
	if constrained {
		most = mostWays
	}
	var worst *relaxed // of the list, once it is full
	var fixed relaxed
	pruner := s.newPruner()
	if constrained {
		pruner = nil
	}
	for n := pruner.next(0); int(n) < s.q.Index.NumNodes(); n = pruner.next(n + 1) {
		if !s.q.Index.IsNode(n) {
			continue
		}
		if s.near.Spent() {
			return nil
		}
		fixed = s.relaxNode(n)
		if !s.promises(n, &fixed, s.q.Priority, true, worst) {
			continue
		}
		for _, below := range s.cutoffs(n) {
			if !s.promises(n, &fixed, below, false, worst) {
				continue
			}
			r := s.way(n, fixed, below, true)
			if !r.misfit && s.waits(&r, below) {
				r = s.way(n, fixed, below, false)
			}
			if r.misfit && !s.changesConstraints(r.changes) || worst != nil && r.compare(worst) >= 0 || s.filtered(n, r.changes) {
				continue
			}
			i, _ := slices.BinarySearchFunc(list, &r, func(x relaxed, r *relaxed) int { return cmp.Or(x.compare(r), -1) })
			if list = slices.Insert(list, i, r); len(list) >= most {
				list = list[:most]
				worst = &list[most-1]
				pruner.beat(worst)
			}
		}
	}
	return list
}

// filtered reports whether the user's filter keeps the pod from node n once changes are made.
func (s *Pod) filtered(n cluster.NodeID, list []Change) bool {
	return s.q.Filter != nil && !s.admits(n, list)
}

// promises reports whether the way into node n that needs fixed, and everybody below
// a priority gone, may be better than best; with anyPriority, whether one of any
// priority may. It looks at resources alone, and says yes where it can't tell.
func (s *Pod) promises(n cluster.NodeID, fixed *relaxed, below int32, anyPriority bool, best *relaxed) bool {
	if best == nil || best.misfit || !s.search.Sweeps() || !s.q.Columns.Plain(n) || len(s.q.Index.Nominees(n)) > 0 || s.search.Nominated() != cluster.NoNode {
		return true
	}
	count, size := len(fixed.changes), fixed.size
	if !anyPriority && below > s.q.Priority {
		count, size = count+1, checked.Add(size, s.raise(below))
	}
	most := below
	if anyPriority {
		most = math.MaxInt32 // nobody in place is the most that any priority gives
	}
	s.fillRoom(n, most)
	for r, asked := range s.search.Member.Request() {
		if asked > 0 && asked > s.room[r] {
			count++
			size = checked.Add(size, millionths(asked-max(s.room[r], asked-math.MaxInt64), asked))
		}
	}
	switch {
	case anyPriority, count != len(best.changes):
		return count <= len(best.changes)
	}
	return size < best.size || size == best.size && below < best.below
}

// fillRoom sets room to what is free on node n, which is plain, with everybody below a
// priority gone, of each resource that the pod asks for; or to a little more.
func (s *Pod) fillRoom(n cluster.NodeID, below int32) {
	b, i := s.q.Columns.Levels().Blocks()[n/columns.BlockSize], int(n)%columns.BlockSize
	if b.Plain>>i&1 == 0 {
		first, _ := s.q.Columns.Positions(n, below)
		s.room = s.q.Columns.Room(s.room[:0], n, first)
		return
	}
	s.room = slices.Grow(s.room[:0], s.q.Index.NumResources())[:s.q.Index.NumResources()]
	c, _ := s.q.Columns.Levels().Column(below)
	for r, asked := range s.search.Member.Request() {
		if asked > 0 {
			s.room[r] = b.FreeAtMost(s.q.Columns.Lanes(), c, i, cluster.ResourceID(r))
		}
	}
}

// waits reports whether the preemptor, with r made, would wait for victims that
// are terminating on its nominated node: it evicts nobody then.
func (s *Pod) waits(r *relaxed, below int32) bool {
	n := s.search.Nominated()
	if n == cluster.NoNode || !s.search.Terminating(n, s.at(below)) {
		return false
	}
	if n == r.node {
		return true
	}
	pod, node := s.search.Member.Pod, s.q.Index.Node(n)
	switch {
	case s.search.Member.Cordoned(node), s.rule.Untolerated(node) != nil:
		return false
	case pod.RequiredNode != "" && pod.RequiredNode != node.Name && !r.has(NodeName, pod.RequiredNode):
		return false
	case !s.rule.Matches(node) && !r.has(Selector, ""), s.filtered(n, r.changes):
		return false
	}
	trial := domain.NewNodeTrial(s.q.Index, s.search.Member, s.q.States, domain.Nominees{Self: s.search.Member.ID, Priority: below})
	trial.Reset(n)
	for _, port := range trial.PortsTaken(func(cluster.PodID) bool { return false }) {
		if !r.has(Port, ports.Name(port)) {
			return true
		}
	}
	return !s.search.Member.Resources(s.q.Index.Free(n), s.q.Index.Allocatable(n)).Unresolvable
}

func (r *relaxed) has(kind Kind, name string) bool {
	return slices.ContainsFunc(r.changes, func(x Change) bool { return x.Kind == kind && x.Name == name })
}

func (r *relaxed) compare(o *relaxed) int {
	if r.misfit != o.misfit {
		if o.misfit {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(len(r.changes), len(o.changes)), cmp.Compare(r.size, o.size), cmp.Compare(r.below, o.below))
}

func (r *relaxed) add(x Change, size int64) {
	if r.knows(x) {
		return // a taint or port that stands twice
	}
	r.changes = append(r.changes, x)
	r.size = checked.Add(r.size, size)
}

// knows reports whether x is among the changes.
func (r *relaxed) knows(x Change) bool {
	const few = 16
	if len(r.changes) < few {
		return slices.Contains(r.changes, x)
	}
	if r.seen == nil {
		r.seen = map[Change]bool{}
		for _, x := range r.changes {
			r.seen[x] = true
		}
	}
	before := r.seen[x]
	r.seen[x] = true
	return before
}

const million = 1_000_000

// raise is the size of a higher priority: a millionth for each step, at most as much as
// the whole request.
func (s *Pod) raise(to int32) int64 { return min(int64(to)-int64(s.q.Priority), million) }

// relaxNode lists what about node n alone keeps the preemptor away.
func (s *Pod) relaxNode(n cluster.NodeID) relaxed {
	r := relaxed{node: n}
	pod, node := s.search.Member.Pod, s.q.Index.Node(n)
	for _, t := range s.rule.AllUntolerated(node) {
		if t.Key == cluster.TaintUnschedulable && node.Unschedulable {
			continue // goes with the cordon
		}
		r.add(Change{Kind: Taint, Node: n, Name: t.String()}, million)
	}
	if s.search.Member.Cordoned(node) {
		r.add(Change{Kind: Cordon, Node: n}, million)
	}
	if pod.RequiredNode != "" && pod.RequiredNode != node.Name {
		r.add(Change{Kind: NodeName, Node: cluster.NoNode, Name: pod.RequiredNode}, million)
	}
	if !s.rule.Matches(node) {
		r.add(Change{Kind: Selector, Node: cluster.NoNode}, million)
	}
	for _, name := range s.search.Member.Unknown() {
		r.add(Change{Kind: Resource, Node: n, Name: name, Amount: pod.Requests[name]}, million)
	}
	return r
}

// cutoffs lists the priorities worth trying on node n: the preemptor's, and those at which units and nominated pods there are
// not in its way any more, ascending.
func (s *Pod) cutoffs(n cluster.NodeID) []int32 {
	list := append(s.cuts[:0], s.q.Priority)
	for _, u := range s.q.Units.On(n) {
		list = openings(list, s.q, u)
	}
	for _, p := range s.q.Index.Nominees(n) {
		if p != s.search.Member.ID {
			list = above(list, s.q, s.q.Index.Priority(p))
		}
	}
	s.cuts = list
	slices.Sort(list)
	return slices.Compact(list)
}

// at is the preemptor's claim if it had that priority.
func (s *Pod) at(priority int32) victims.Claim {
	c := s.q.Claim
	c.Priority = priority
	return c
}

// way adds to fixed what is still missing on node n with everybody below a
// priority gone or, without evict, in place.
func (s *Pod) way(n cluster.NodeID, fixed relaxed, below int32, evict bool) relaxed {
	s.q.GoOn()
	r := relaxed{node: n, below: below, changes: slices.Clone(fixed.changes), size: fixed.size}
	if below > s.q.Priority {
		r.add(Change{Kind: Priority, Node: cluster.NoNode, Amount: int64(below)}, s.raise(below))
	}
	trial := &s.trial
	trial.AskAgain(domain.Nominees{Self: s.search.Member.ID, Priority: below})
	trial.Reset(n)
	potential := s.q.EvictableFor(n, s.at(below))
	if !evict {
		potential = nil
	}
	s.node[0] = n
	s.near.To(s.node[:])
	for _, u := range potential {
		trial.RemoveUnit(u, s.near.Moving(u))
	}
	for _, short := range trial.Shortages() {
		asked := s.search.Member.Request()[short.Resource]
		r.add(Change{
			Kind: Resource, Node: n, Name: s.q.Index.Resource(short.Resource), Amount: short.Missing,
		}, millionths(short.Missing, asked))
	}
	gone := func(p cluster.PodID) bool {
		u, runs := s.q.Units.UnitOf(p)
		return evict && runs && s.q.May(u, s.at(below))
	}
	for _, port := range trial.PortsTaken(gone) {
		r.add(Change{Kind: Port, Node: cluster.NoNode, Name: ports.Name(port)}, million)
	}
	r.misfit = !trial.Constraints().OK()
	trial.Restore()
	return r
}

// millionths is a/b in millionths, rounded up, saturating. b is positive.
func millionths(a, b int64) int64 {
	q, rest := checked.MulDiv(a, million, b)
	if rest {
		q = checked.Add(q, 1)
	}
	return q
}
