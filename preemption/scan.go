package preemption

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
)

// scans reports whether all nodes are looked at at once, by columns.
func (s *podSearch) scans() bool { return byScan.leads(s.traits) && !s.each && !s.unbounded }

// scanAll is the whole road by columns. Nodes of which these don't tell everything
// are looked at one by one, as in exhaust.
func (s *podSearch) scanAll() *Result {
	n, warm := s.scanFits()
	if n != cluster.NoNode {
		return s.fits(n)
	}
	nominated := s.nominated()
	if nominated != cluster.NoNode {
		s.status[nominated] = s.look(nominated)
	}
	if r := s.refuse(); r != nil {
		return r
	}
	if !warm {
		s.stood, _ = s.scan.Pick(s.priority)
	}
	s.pick()
	s.trial.Restore()
	if s.best.node == cluster.NoNode {
		return s.infeasible()
	}
	return s.feasible()
}

// scanFits is filter by columns; warm says that the standing of the pod's shape told.
func (s *podSearch) scanFits() (n cluster.NodeID, warm bool) {
	nominated := s.nominated()
	if nominated != cluster.NoNode || s.ladder.Levels().NumOdd() > 0 {
		s.needStatus()
	}
	if n := nominated; n != cluster.NoNode {
		s.trial.Reset(n)
		if s.status[n] = s.trial.Fits(); s.status[n].OK() {
			return n, false
		}
	}
	s.listOdd()
	s.scan.Fits, s.stood = cluster.NoNode, cluster.NoNode
	if warm = s.remember(); !warm {
		s.bar()
		s.scan.Run(s.priority, s.borrowed.barred)
		s.noteLooks()
	}
	s.looks += 2*s.ix.NumNodes() - len(s.odd) // once as things are, once with everybody gone
	for _, n := range s.odd {
		if s.scan.Fits != cluster.NoNode && n > s.scan.Fits {
			break
		}
		if s.status[n] = s.look(n); s.status[n].OK() {
			return n, warm
		}
	}
	return s.scan.Fits, warm
}

// fitsSomewhere reports whether the pod fits as things are.
func (s *podSearch) fitsSomewhere() bool {
	if !s.scans() {
		return s.filter() != cluster.NoNode
	}
	n, _ := s.scanFits()
	return n != cluster.NoNode
}

// bar finds the plain nodes where the pod must not go, whoever is evicted.
func (s *podSearch) bar() {
	anywhere := s.member.Anywhere()
	for i, b := range s.ladder.Levels().Blocks() {
		var barred uint64
		look := b.Plain
		if anywhere {
			look &^= b.Open
		}
		for ; look != 0; look &= look - 1 {
			bit := bits.TrailingZeros64(look)
			if why := s.member.Static(s.ix.Node(nodeAt(i, bit))); !why.OK() {
				barred |= 1 << bit
				s.count(why, 1)
			}
		}
		s.borrowed.barred[i] = barred
	}
}

// listOdd lists the nodes of which the columns don't tell everything.
func (s *podSearch) listOdd() {
	for i, b := range s.ladder.Levels().Blocks() {
		for odd := b.Odd; odd != 0; odd &= odd - 1 {
			s.odd = append(s.odd, nodeAt(i, bits.TrailingZeros64(odd)))
		}
	}
}

// remember answers for the plain nodes from what is known of the pod's shape; false
// if it is new, or too much to be a key.
func (s *podSearch) remember() bool {
	key, ok := shapeKey(s.borrowed.key[:0], s.member.Pod, s.member.Request(), s.priority)
	s.borrowed.key = key
	if !ok {
		return false
	}
	known, warm := s.shapes.of(key, s.ix.NumNodes())
	if !warm {
		s.cold = known
		return false
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.standing == nil {
		known.standing = columns.NewStanding(s.lasting(), s.priority)
	}
	if known.standing.Behind(s.ladder) {
		known.own().Update(s.sweep, s.ix)
	}
	n, fits := known.standing.Best()
	if fits {
		s.scan.Fits = n
	} else {
		s.stood = n
	}
	known.standing.Counts(s.scan)
	for i, check := range domain.StaticChecks {
		s.count(domain.Reason{Check: check, Unresolvable: true}, known.standing.Barred(i))
	}
	return true
}

// lasting is the pod for a standing, which outlives the question: what was given inline
// is the caller's, who may change it by then.
func (s *podSearch) lasting() *domain.Member {
	if s.member.ID != cluster.NoPod {
		return s.member
	}
	pod := *s.member.Pod
	pod.NodeSelector, pod.Tolerations = maps.Clone(pod.NodeSelector), slices.Clone(pod.Tolerations)
	return domain.NewMember(s.ix, &pod, cluster.NoPod)
}

// noteLooks notes at how many nodes the scan has looked.
func (s *podSearch) noteLooks() {
	switch {
	case s.cold == nil:
	case s.scan.Fits == cluster.NoNode || !s.member.Anywhere():
		s.shapes.looked(s.cold, s.ix.NumNodes())
	default:
		s.shapes.looked(s.cold, int(s.scan.Fits)+1)
	}
}

// nodeAt is the node at a bit of a block.
func nodeAt(block, bit int) cluster.NodeID { return cluster.NodeID(block*columns.BlockSize + bit) }

// pick takes the best of the plain nodes, and evaluates the odd ones.
func (s *podSearch) pick() {
	s.stats.Evaluated = s.scan.Helped
	for _, r := range s.rejected { // so far those where it must not go
		s.stats.Pruned += r.nodes
	}
	if n := s.stood; n != cluster.NoNode {
		first, end := s.ladder.Rungs(n, s.priority)
		s.consider(s.sweepRungs(n, first, end, nil))
	}
	for r := range cluster.ResourceID(s.ix.NumResources()) {
		s.count(domain.Reason{Check: domain.CheckResource, Resource: r}, s.scan.Short[r]+s.scan.TooSmall[r])
		s.stats.Pruned += s.scan.TooSmall[r]
	}
	s.count(domain.Reason{Check: noVictims}, s.scan.Nobody)
	for _, n := range s.odd {
		if s.status[n].Unresolvable {
			s.stats.Pruned++
		} else {
			c, why := s.evaluate(n)
			if s.status[n] = why; why.OK() && c.victims != nil {
				s.consider(c)
			}
		}
		s.count(s.status[n], 1)
	}
}

// count counts nodes that are rejected for a reason.
func (s *podSearch) count(why domain.Reason, nodes int) {
	if nodes == 0 || why.OK() {
		return
	}
	alike := domain.Reason{Check: why.Check, Resource: why.Resource, Detail: why.Detail}
	if i := slices.IndexFunc(s.rejected, func(r rejected) bool { return r.why == alike }); i >= 0 {
		s.rejected[i].nodes += nodes
		return
	}
	s.rejected = append(s.rejected, rejected{alike, nodes})
}

// rejected counts nodes by why preemption does not help there.
type rejected struct {
	why   domain.Reason
	nodes int
}

// rejections says why preemption does not help where it does not.
func (s *podSearch) rejections() []Rejection {
	if !s.scans() {
		return s.countRejections(s.status)
	}
	alike := map[domain.Reason]int{}
	for _, r := range s.rejected {
		alike[r.why] += r.nodes
	}
	return s.sayRejections(alike)
}
