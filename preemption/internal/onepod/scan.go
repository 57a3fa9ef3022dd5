package onepod

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
)

// scans reports whether all nodes are looked at at once, by columns.
func (s *Search) scans() bool { return ask.ByScan.Leads(s.traits) && !s.Each && !s.Unbounded }

// scanAll is the whole road by columns. Nodes of which these don't tell everything
// are looked at one by one, as in exhaust.
func (s *Search) scanAll() Plan {
	n, warm := s.scanFits()
	if n != cluster.NoNode {
		return Plan{Verdict: ask.Fits, Node: n}
	}
	nominated := s.Nominated()
	if nominated != cluster.NoNode {
		s.Status[nominated] = s.look(nominated)
	}
	if p, refused := s.refuse(); refused {
		return p
	}
	if !warm {
		s.stood, _ = s.scan.Pick(s.q.Priority)
	}
	s.lookAtShort()
	s.pick()
	return s.end()
}

// scanFits is filter by columns; warm says that the ranking of the pod's shape told.
func (s *Search) scanFits() (n cluster.NodeID, warm bool) {
	nominated := s.Nominated()
	if nominated != cluster.NoNode || s.q.Columns.Levels().NumOdd() > 0 || len(s.q.States) > 0 {
		s.needStatus()
	}
	if n := nominated; n != cluster.NoNode {
		s.Trial.Reset(n)
		if s.Status[n] = s.Trial.Fits(); s.Status[n].OK() {
			return n, false
		}
	}
	s.listOdd()
	s.scan.Fits, s.stood = cluster.NoNode, cluster.NoNode
	if warm = s.remember(); !warm {
		s.bar()
		s.scan.Likings, s.scan.Keep = nil, nil
		if len(s.q.States) > 0 {
			s.scan.Keep = s.foresee
		}
		if s.q.Prefers() {
			s.scan.Likings = &columns.Likings{Prefer: s.q.Prefer, Member: s.Member, Index: s.q.Index}
		}
		s.scan.Run(s.q.Priority, s.barred)
		slices.Sort(s.odd)
		s.noteLooks()
	}
	s.looks += 2*s.q.Index.CountNodes() - len(s.odd) // once as things are, once with everybody gone
	best := s.scan.Fits
	for _, n := range s.odd {
		if best != cluster.NoNode && n > best && !s.q.Prefers() {
			break
		}
		if s.Status[n] = s.look(n); s.Status[n].OK() {
			best = s.rather(best, n)
		}
	}
	if best != cluster.NoNode && !s.q.Prefers() {
		s.looks -= s.shortAfter(best)
	}
	return best, warm
}

// foresee leaves those of some nodes where the constraints let the pod in whoever leaves. Of the others
// it counts those where they do not, and lists those where they do once all have left, or where that depends on who does.
func (s *Search) foresee(block int, helps, room uint64) (kept uint64) {
	for set := helps; set != 0; set &= set - 1 {
		bit := set & -set
		n := nodeAt(block, bits.TrailingZeros64(set))
		why, sure := s.Trial.Foresee(n, false)
		if !s.q.Columns.Plain(n) || !sure && room&bit != 0 {
			s.odd = append(s.odd, n)
			continue
		}
		freed := false
		if !sure {
			if first, _ := s.q.Columns.Positions(n, s.q.Priority); first == 0 {
				why, sure = s.Trial.Foresee(n, true)
				freed = sure && why == nil
			}
		}
		switch {
		case freed:
			s.freed = append(s.freed, n)
		case !sure:
			s.depends = append(s.depends, n)
		case why == nil:
			kept |= bit
		default:
			s.keepOff(n, why, room&bit != 0)
		}
	}
	return kept
}

// keptOff are the nodes that the constraints keep the pod off for a reason, whoever leaves.
type keptOff struct {
	why           *domain.Reason
	nodes, pruned int
	hopeless      bool // whatever is evicted anywhere
}

// keepOff counts node n among them, unless nobody may leave it.
func (s *Search) keepOff(n cluster.NodeID, why *domain.Reason, room bool) {
	pruned := room && why.Unresolvable
	if room && !pruned {
		if first, end := s.q.Columns.Positions(n, s.q.Priority); first == end {
			s.scan.Nobody++
			return
		}
	}
	i := slices.IndexFunc(s.keptOff, func(k keptOff) bool { return k.why == why })
	if i < 0 {
		i = len(s.keptOff)
		s.keptOff = append(s.keptOff, keptOff{why: why, hopeless: why.Unresolvable && ask.Hopeless(s.q.States, n)}) // there as elsewhere
	}
	s.keptOff[i].nodes++
	if pruned {
		s.keptOff[i].pruned++
	} else if s.Runner.Doubtful && !s.keptOff[i].hopeless {
		s.doubtful = append(s.doubtful, n)
	}
}

// FitsSomewhere reports whether the pod fits as things are.
func (s *Search) FitsSomewhere() bool {
	if !s.scans() {
		return s.Filter() != cluster.NoNode
	}
	n, _ := s.scanFits()
	return n != cluster.NoNode
}

// bar finds the plain nodes where the pod must not go, whoever is evicted.
func (s *Search) bar() {
	anywhere := s.Member.Anywhere()
	for i, b := range s.q.Columns.Levels().Blocks() {
		var barred uint64
		look := b.Plain
		if anywhere {
			look &^= b.Open
		}
		for ; look != 0; look &= look - 1 {
			bit := bits.TrailingZeros64(look)
			if why := s.Member.Static(s.q.Index.Node(nodeAt(i, bit))); !why.OK() {
				barred |= 1 << bit
				s.count(why, 1)
			}
		}
		s.barred[i] = barred
	}
}

// listOdd lists the nodes of which the columns don't tell everything, but for those of which they tell that there is no room.
func (s *Search) listOdd() {
	anywhere := s.Member.Anywhere()
	for i, b := range s.q.Columns.Levels().Blocks() {
		if s.short[i] = 0; anywhere {
			s.short[i] = s.Sweep.Short(b)
		}
		for odd := b.Odd &^ s.short[i]; odd != 0; odd &= odd - 1 {
			s.odd = append(s.odd, nodeAt(i, bits.TrailingZeros64(odd)))
		}
	}
}

// shortAfter counts those after node n.
func (s *Search) shortAfter(n cluster.NodeID) (nodes int) {
	within := ^uint64(0) << (n % columns.BlockSize)
	for _, short := range s.short[n/columns.BlockSize:] {
		nodes += bits.OnesCount64(short & within)
		within = ^uint64(0)
	}
	return nodes
}

// lookAtShort lists them, too, with what they lack.
func (s *Search) lookAtShort() {
	for i, short := range s.short {
		for ; short != 0; short &= short - 1 {
			n := nodeAt(i, bits.TrailingZeros64(short))
			s.Status[n] = s.Member.Resources(s.q.Index.Free(n), s.q.Index.Allocatable(n))
			s.odd = append(s.odd, n)
		}
	}
	slices.Sort(s.odd)
}

// remember answers for the plain nodes from what is known of the pod's shape; false
// if it is new, or too much to be a key.
func (s *Search) remember() bool {
	if len(s.q.States) > 0 {
		return false
	}
	key, ok := ask.ShapeKey(s.key[:0], s.Member.Pod, s.Member.Request(), s.q.Priority, s.q.Limits, s.q.Shows(s.traits))
	s.key = key
	if !ok {
		return false
	}
	known, warm := s.shapes.of(key, s.q.Index.NumNodes())
	if !warm {
		s.cold = known
		return false
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.ranking == nil {
		known.ranking = columns.NewShapeRanking(s.lasting(), s.q.Priority, s.q.Prefer)
	}
	if known.ranking.Behind(s.q.Columns) {
		known.follow(s.Sweep, s.q.Index)
	}
	n, fits := known.ranking.Best()
	if fits {
		s.scan.Fits = n
	} else {
		s.stood = n
	}
	known.ranking.Counts(s.scan)
	for i, check := range domain.StaticChecks {
		s.count(domain.Reason{Check: check, Unresolvable: true}, known.ranking.Barred(i))
	}
	return true
}

// lasting is the pod for a ranking, which outlives the question: what was given inline
// is the caller's, who may change it by then.
func (s *Search) lasting() *domain.Member {
	if s.Member.ID != cluster.NoPod {
		return s.Member
	}
	pod := *s.Member.Pod
	pod.NodeSelector, pod.Tolerations = maps.Clone(pod.NodeSelector), slices.Clone(pod.Tolerations)
	if s.q.Filter != nil {
		pod.Labels, pod.Annotations, pod.Requests = maps.Clone(pod.Labels), maps.Clone(pod.Annotations), maps.Clone(pod.Requests)
	}
	return s.q.NewMember(&pod, cluster.NoPod)
}

// noteLooks notes at how many nodes the scan has looked.
func (s *Search) noteLooks() {
	switch {
	case s.cold == nil:
	case s.scan.Fits == cluster.NoNode || !s.Member.Anywhere():
		s.shapes.looked(s.cold, s.q.Index.NumNodes())
	default:
		s.shapes.looked(s.cold, int(s.scan.Fits)+1)
	}
}

// nodeAt is the node at a bit of a block.
func nodeAt(block, bit int) cluster.NodeID { return cluster.NodeID(block*columns.BlockSize + bit) }

// pick takes the best of the plain nodes, and evaluates the odd ones.
func (s *Search) pick() {
	s.Stats.Evaluated = s.scan.Helped
	for _, r := range s.rejected { // so far those where it must not go
		s.Stats.Pruned += r.Nodes
	}
	if n := s.stood; n != cluster.NoNode {
		first, end := s.q.Columns.Positions(n, s.q.Priority)
		s.consider(s.sweepPositions(n, first, end, nil))
	}
	for r := range cluster.ResourceID(s.q.Index.NumResources()) {
		s.count(domain.Reason{Check: domain.CheckResource, Resource: r}, s.scan.Short[r]+s.scan.TooSmall[r])
		s.Stats.Pruned += s.scan.TooSmall[r]
	}
	s.count(domain.Reason{Check: ask.NoVictims}, s.scan.Nobody)
	for _, k := range s.keptOff {
		s.count(*k.why, k.nodes)
		s.Stats.Pruned += k.pruned
	}
	for _, n := range s.odd {
		s.pickOdd(n)
	}
	for _, n := range s.depends {
		s.Status[n] = domain.Reason{} // there is no room as things are
		s.pickOdd(n)
	}
	for _, n := range s.freed {
		if s.Runner.Repeat || s.mayBeat(n) && !s.hopelesslyWorse(n, 0) {
			s.Status[n] = domain.Reason{}
			s.pickOdd(n)
		} else {
			s.Stats.Evaluated++
		}
	}
	for _, n := range s.doubtful {
		if touched, _ := s.Trial.Touched(n); touched && s.proves() {
			s.try(n)
		}
	}
}

// pickOdd evaluates node n.
func (s *Search) pickOdd(n cluster.NodeID) {
	if s.Status[n].Unresolvable {
		s.prune(n)
	} else {
		c, why := s.try(n)
		if s.Status[n] = why; why.OK() && c.Victims != nil {
			s.consider(c)
		}
	}
	s.count(s.Status[n], 1)
}

// count counts nodes that are rejected for a reason.
func (s *Search) count(why domain.Reason, nodes int) {
	if nodes == 0 || why.OK() {
		return
	}
	alike := ask.Alike(why)
	if i := slices.IndexFunc(s.rejected, func(r Rejected) bool { return r.Why == alike }); i >= 0 {
		s.rejected[i].Nodes += nodes
		return
	}
	s.rejected = append(s.rejected, Rejected{alike, nodes})
}

// Rejected counts nodes by why preemption does not help there.
type Rejected struct {
	Why   domain.Reason // without what differs from node to node
	Nodes int
}

// Rejected lists why preemption does not help where it does not.
func (s *Search) Rejected() []Rejected {
	if s.scans() {
		return s.rejected
	}
	s.rejected = s.rejected[:0]
	for _, why := range s.Status {
		s.count(why, 1)
	}
	return s.rejected
}
