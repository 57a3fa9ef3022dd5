package preemption

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// relaxed is one way to let the preemptor in on one node.
type relaxed struct {
	node        cluster.NodeID
	relaxations []Relaxation
	below       int32 // who is below that priority may go
	misfit      bool  // constraints stand in the way even so, as far as they are known
	size        int64 // sum of what each asks for, in millionths of the preemptor's request; a yes-or-no counts as 1
}

// nearest returns the node where the fewest things would have to change, the smallest
// in sum among equals, then the least raise of the priority, then the first by name;
// nil if nothing of what can be relaxed would do anywhere. All relaxations together let the preemptor in, and
// since no other way has fewer, no part of them does.
//
// Where constraints count nodes by what the preemptor asks of them, a relaxation may
// change what they say: the nearest ways are tried, and the first that does is taken,
// without what of it is not needed.
func (s *podAnswer) nearest() *Nearest {
	for _, way := range s.ways() {
		list := sortedRelaxations(way.relaxations)
		if !s.changesConstraints(list) {
			return &Nearest{Domain: s.Index.Node(way.node).Name, Relaxations: list}
		}
		at := ""
		l := least{left: mostAsks, present: s.Priority, ask: s.asking(&at)}
		if list, ok := l.smallest(list); ok {
			return &Nearest{at, sortedRelaxations(list)}
		}
	}
	return nil
}

// changesConstraints reports whether a constraint may answer otherwise once these
// relaxations are made.
func (s *podAnswer) changesConstraints(list []Relaxation) bool {
	if len(s.States) == 0 {
		return false
	}
	if s.OwnConstraints {
		return true
	}
	return slices.ContainsFunc(list, func(r Relaxation) bool {
		switch r.Kind {
		case RelaxTaint, RelaxCordon, RelaxSelector, RelaxNodeName:
			return true
		}
		return false
	})
}

// mostWays is how many ways are tried where constraints decide.
const mostWays = 16

// ways lists the nearest ways, the nearest first: where constraints decide the first
// few, those last at which they stand in the way as things are.
func (s *podAnswer) ways() []relaxed {
	var list []relaxed
	most, constrained := 1, len(s.States) > 0
	if constrained {
		most = mostWays
	}
	var worst *relaxed // of the list, once it is full
	var fixed relaxed
	hopes := s.newHopes()
	if constrained {
		hopes = nil
	}
	for n := hopes.next(0); int(n) < s.Index.NumNodes(); n = hopes.next(n + 1) {
		fixed = s.relaxNode(n)
		if !s.promises(n, &fixed, s.Priority, true, worst) {
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
			if r.misfit && !s.changesConstraints(r.relaxations) || worst != nil && r.compare(worst) >= 0 {
				continue
			}
			i, _ := slices.BinarySearchFunc(list, &r, func(x relaxed, r *relaxed) int { return cmp.Or(x.compare(r), -1) })
			if list = slices.Insert(list, i, r); len(list) >= most {
				list = list[:most]
				worst = &list[most-1]
				hopes.beat(worst)
			}
		}
	}
	return list
}

// promises reports whether the way into node n that needs fixed, and everybody below
// a priority gone, may be better than best; with anyPriority, whether one of any
// priority may. It looks at resources alone, and says yes where it can't tell.
func (s *podAnswer) promises(n cluster.NodeID, fixed *relaxed, below int32, anyPriority bool, best *relaxed) bool {
	if best == nil || best.misfit || !s.Sweeps() || !s.Columns.Plain(n) || len(s.Index.Nominees(n)) > 0 || s.Nominated() != cluster.NoNode {
		return true
	}
	count, size := len(fixed.relaxations), fixed.size
	if !anyPriority && below > s.Priority {
		count, size = count+1, size+million
	}
	most := below
	if anyPriority {
		most = math.MaxInt32 // nobody in place is the most that any priority gives
	}
	s.fillRoom(n, most)
	for r, asked := range s.Member.Request() {
		if asked > 0 && asked > s.room[r] {
			count++
			size += millionths(asked-max(s.room[r], asked-math.MaxInt64), asked)
		}
	}
	switch {
	case anyPriority, count != len(best.relaxations):
		return count <= len(best.relaxations)
	}
	return size < best.size || size < 0 || size == best.size && below < best.below
}

// fillRoom sets room to what is free on node n, which is plain, with everybody below a
// priority gone, of each resource that the pod asks for; or to a little more.
func (s *podAnswer) fillRoom(n cluster.NodeID, below int32) {
	b, i := s.Columns.Levels().Blocks()[n/columns.BlockSize], int(n)%columns.BlockSize
	if b.Plain>>i&1 == 0 {
		first, _ := s.Columns.Rungs(n, below)
		s.room = s.Columns.Room(s.room[:0], n, first)
		return
	}
	s.room = slices.Grow(s.room[:0], s.Index.NumResources())[:s.Index.NumResources()]
	c, _ := s.Columns.Levels().Column(below)
	for r, asked := range s.Member.Request() {
		if asked > 0 {
			s.room[r] = b.FreeAtMost(s.Columns.Lanes(), c, i, cluster.ResourceID(r))
		}
	}
}

// waits reports whether the preemptor, with r made, would wait for victims that
// are terminating on its nominated node: it evicts nobody then.
func (s *podAnswer) waits(r *relaxed, below int32) bool {
	n := s.Nominated()
	if n == cluster.NoNode || !s.Terminating(n, s.at(below)) {
		return false
	}
	if n == r.node {
		return true
	}
	pod, node := s.Member.Pod, s.Index.Node(n)
	switch {
	case s.Member.Cordoned(node), domain.Untolerated(pod, node) != nil:
		return false
	case pod.RequiredNode != "" && pod.RequiredNode != node.Name && !r.has(RelaxNodeName, pod.RequiredNode):
		return false
	case !domain.MatchesNode(pod, node) && !r.has(RelaxSelector, ""):
		return false
	}
	trial := domain.NewNodeTrial(s.Index, s.Member, s.States, domain.Nominees{Self: s.Member.ID, Priority: below})
	trial.Reset(n)
	for _, port := range trial.PortsTaken(func(cluster.PodID) bool { return false }) {
		if !r.has(RelaxPort, domain.PortName(port)) {
			return true
		}
	}
	return !s.Member.Resources(s.Index.Free(n), s.Index.Allocatable(n)).Unresolvable
}

func (r *relaxed) has(kind RelaxationKind, name string) bool {
	return slices.ContainsFunc(r.relaxations, func(x Relaxation) bool { return x.Kind == kind && x.Name == name })
}

func (r *relaxed) compare(o *relaxed) int {
	if r.misfit != o.misfit {
		if o.misfit {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(len(r.relaxations), len(o.relaxations)), cmp.Compare(r.size, o.size), cmp.Compare(r.below, o.below))
}

func (r *relaxed) add(x Relaxation, size int64) {
	if slices.Contains(r.relaxations, x) {
		return // a taint or port that stands twice
	}
	r.relaxations = append(r.relaxations, x)
	if r.size += size; r.size < 0 {
		r.size = math.MaxInt64
	}
}

const million = 1_000_000

// relaxNode lists what about node n alone keeps the preemptor away.
func (s *podAnswer) relaxNode(n cluster.NodeID) relaxed {
	r := relaxed{node: n}
	pod, node := s.Member.Pod, s.Index.Node(n)
	for _, t := range domain.AllUntolerated(pod, node) {
		if t.Key == cluster.TaintUnschedulable && node.Unschedulable {
			continue // goes with the cordon
		}
		r.add(Relaxation{Kind: RelaxTaint, Node: node.Name, Name: t.String()}, million)
	}
	if s.Member.Cordoned(node) {
		r.add(Relaxation{Kind: RelaxCordon, Node: node.Name}, million)
	}
	if pod.RequiredNode != "" && pod.RequiredNode != node.Name {
		r.add(Relaxation{Kind: RelaxNodeName, Name: pod.RequiredNode}, million)
	}
	if !domain.MatchesNode(pod, node) {
		r.add(Relaxation{Kind: RelaxSelector}, million)
	}
	for _, name := range s.Member.Unknown() {
		r.add(Relaxation{Kind: RelaxResource, Node: node.Name, Name: name, Amount: pod.Requests[name]}, million)
	}
	return r
}

// cutoffs lists the priorities worth trying on node n: the preemptor's, and just
// above each unit and each nominated pod that stands in its way, ascending.
func (s *podAnswer) cutoffs(n cluster.NodeID) []int32 {
	list := append(s.cuts[:0], s.Priority)
	defer func() { s.cuts = list }()
	above := func(p int32) {
		if p >= s.Priority && p < math.MaxInt32 {
			list = append(list, p+1)
		}
	}
	for _, u := range s.Units.On(n) {
		above(s.Units.Unit(u).Level)
		if s.Protections != nil {
			if at, ok := s.Protections.Opens(u, s.Priority); ok {
				list = append(list, at)
			}
		}
	}
	for _, p := range s.Index.Nominees(n) {
		if p != s.Member.ID {
			above(s.Index.Priority(p))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// at is the preemptor's claim if it had that priority.
func (s *podAnswer) at(priority int32) victims.Claim {
	c := s.Claim
	c.Priority = priority
	return c
}

// way adds to fixed what is still missing on node n with everybody below a
// priority gone or, without evict, in place.
func (s *podAnswer) way(n cluster.NodeID, fixed relaxed, below int32, evict bool) relaxed {
	r := relaxed{node: n, below: below, relaxations: slices.Clone(fixed.relaxations), size: fixed.size}
	if below > s.Priority {
		r.add(Relaxation{Kind: RelaxPriority, Amount: int64(below)}, million)
	}
	nominees := domain.Nominees{Self: s.Member.ID, Priority: below}
	trial := domain.NewNodeTrial(s.Index, s.Member, s.States, nominees)
	trial.Reset(n)
	potential := s.EvictableFor(n, s.at(below))
	if !evict {
		potential = nil
	}
	for _, u := range potential {
		for _, p := range s.Units.Unit(u).Pods {
			trial.Remove(p)
		}
	}
	for _, short := range trial.Shortages() {
		asked := s.Member.Request()[short.Resource]
		r.add(Relaxation{
			Kind: RelaxResource, Node: s.Index.Node(n).Name, Name: s.Index.Resource(short.Resource), Amount: short.Missing,
		}, millionths(short.Missing, asked))
	}
	gone := func(p cluster.PodID) bool {
		u, runs := s.Units.UnitOf(p)
		return evict && runs && s.May(u, s.at(below))
	}
	for _, port := range trial.PortsTaken(gone) {
		r.add(Relaxation{Kind: RelaxPort, Name: domain.PortName(port)}, million)
	}
	r.misfit = !trial.Constraints().OK()
	trial.Reset(n)
	return r
}

// millionths is a/b in millionths, rounded up, saturating. b is positive.
func millionths(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), million)
	if hi >= uint64(b) {
		return math.MaxInt64
	}
	q, rest := bits.Div64(hi, lo, uint64(b))
	if rest > 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}
