package onepod

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// Filter looks for a node where the pod fits as things are: the nominated one first, then
// the one that is preferred, or the first by name. It notes why the others do not fit.
func (s *Search) Filter() cluster.NodeID {
	s.needStatus()
	if n := s.Nominated(); n != cluster.NoNode {
		s.Trial.Reset(n)
		if s.Trial.Fits().OK() {
			return n
		}
	}
	if s.bare() { // too cheap to share
		return s.fitting(chunk{0, cluster.NodeID(s.q.Index.NumNodes())})
	}
	return s.filterAll()
}

// Fitting yields the nodes where the pod fits as things are, in order of name, each with whether it is as
// good as the one that Filter has chosen: the nominated one is better than any other.
func (s *Search) Fitting(chosen cluster.NodeID) iter.Seq2[cluster.NodeID, bool] {
	return func(yield func(cluster.NodeID, bool) bool) {
		likes := s.Liking(&Candidate{Node: chosen})
		for n := range s.q.Index.Nodes() {
			best := n == chosen || chosen != s.Nominated() && s.Liking(&Candidate{Node: n}) == likes
			if s.look(n).OK() && !yield(n, best) {
				return
			}
		}
	}
}

// filterAll is fitting for all nodes, by several workers. Where the first will do, nodes after
// it are not counted, whoever has looked at them.
func (s *Search) filterAll() cluster.NodeID {
	type part struct {
		fits   cluster.NodeID
		checks int
	}
	all, chunks := s.share(), chunks(s.q)
	parts := make([]part, len(chunks))
	var end atomic.Int64 // the first chunk that need not be looked at
	end.Store(int64(len(parts)))
	looks := s.Checks()
	ranges.Take(len(chunks), len(all), func(i, k int) {
		if int64(k) >= end.Load() {
			return
		}
		w := all[i]
		before := w.Checks()
		parts[k].fits = w.fitting(chunks[k])
		if parts[k].checks = w.Checks() - before; parts[k].fits == cluster.NoNode || s.q.Prefers() {
			return
		}
		for old := end.Load(); int64(k) < old && !end.CompareAndSwap(old, int64(k)+1); old = end.Load() {
		}
	})
	for _, w := range all {
		w.looks, w.Trial.Checks = 0, 0
	}
	s.looks = looks
	best := cluster.NoNode
	for _, p := range parts[:end.Load()] {
		s.looks += p.checks
		best = s.rather(best, p.fits)
	}
	return best
}

// rather is the one of two nodes, where the pod fits as things are, that is preferred; either
// may be NoNode.
func (s *Search) rather(a, b cluster.NodeID) cluster.NodeID {
	if a == cluster.NoNode || b != cluster.NoNode && s.prefers(&Candidate{Node: b}, &Candidate{Node: a}) {
		return b
	}
	return a
}

// prefers reports whether the pod rather goes to a than to b, which is as good otherwise.
func (s *Search) prefers(a, b *Candidate) bool {
	if likesA, likesB := s.Liking(a), s.Liking(b); likesA != likesB {
		return likesA > likesB
	}
	return a.Node < b.Node
}

// Liking is how much the pod prefers c among equals.
func (s *Search) Liking(c *Candidate) int64 {
	return s.q.Liking(s.Member, c.Node, c.Victims, c.Parts)
}

// fitting returns the node where the pod fits as things are that is preferred among some,
// else the first of them, or NoNode. Nodes that lack room are only counted before one where it fits: nobody asks why then.
func (s *Search) fitting(nodes chunk) cluster.NodeID {
	best, lacking := cluster.NoNode, 0
	quick := s.found == nil && s.bare() && !s.Sweeps() && !s.q.Prefers()
	for n := range s.q.Index.NodesBetween(nodes.from, nodes.to) {
		if quick && !s.hasRoom(n) {
			lacking++
			continue
		}
		s.Status[n] = s.look(n)
		if s.found != nil {
			s.found[n] = s.looked(n, s.Status[n])
		}
		if !s.Status[n].OK() {
			continue
		}
		if best = s.rather(best, n); !s.q.Prefers() {
			break
		}
	}
	if best != cluster.NoNode || lacking == 0 {
		s.looks += lacking
		return best
	}
	for n := range s.q.Index.NodesBetween(nodes.from, nodes.to) {
		if !s.hasRoom(n) {
			s.Status[n] = s.look(n)
		}
	}
	return best
}

// hasRoom reports whether node n has all that the pod requests, in a quarter of the time that it takes to say what it lacks.
func (s *Search) hasRoom(n cluster.NodeID) bool {
	free := s.q.Index.Free(n)
	for r, v := range s.Member.Request() {
		if v > 0 && v > free[r] {
			return false
		}
	}
	return true
}

// statuses are columns of *[]domain.Reason, of any planner.
var statuses sync.Pool

// needStatus makes room for the status of each node.
func (s *Search) needStatus() {
	t := s.Tools
	if t.status == nil {
		t.status, _ = statuses.Get().(*[]domain.Reason)
	}
	if nodes := s.q.Index.NumNodes(); t.status == nil || cap(*t.status) < nodes {
		column := make([]domain.Reason, nodes)
		t.status = &column
	}
	s.Status = (*t.status)[:s.q.Index.NumNodes()]
	if s.q.Index.CountNodes() < len(s.Status) {
		clear(s.Status) // nobody looks at holes
	}
}

// bare reports whether resources and what is said of nodes alone decide where the pod fits as things are.
func (s *Search) bare() bool {
	return len(s.q.States) == 0 && s.traits&(ask.TraitPorts|ask.TraitUnknown) == 0
}

// look says whether the pod fits on node n as things are.
func (s *Search) look(n cluster.NodeID) domain.Reason {
	s.q.GoOn()
	sweeps := s.Sweeps()
	if !sweeps && !s.bare() || len(s.q.Index.Nominees(n)) > 0 {
		s.Trial.Reset(n)
		return s.Trial.Fits()
	}
	if !sweeps { // a trial counts those that it may not go to
		s.looks++
	}
	if !s.q.Index.Open(n) || !s.Member.Anywhere() {
		if why := s.Member.Static(s.q.Index.Node(n)); !why.OK() {
			return why
		}
	}
	if sweeps {
		s.looks++
	}
	if why := s.Member.Resources(s.q.Index.Free(n), s.q.Index.Allocatable(n)); !why.OK() || len(s.q.States) == 0 {
		return why
	}
	s.Trial.Settle(n)
	return s.Trial.Constrained()
}
