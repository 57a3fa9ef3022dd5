package preemption

import (
	"sync"
	"sync/atomic"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// filter looks for a node where the pod fits as things are: the nominated one
// first, then in order of name. It notes why the others do not fit.
func (s *podSearch) filter() cluster.NodeID {
	s.needStatus()
	if n := s.nominated(); n != cluster.NoNode {
		s.trial.Reset(n)
		if s.trial.Fits().OK() {
			return n
		}
	}
	if s.sweep != nil && len(s.states) == 0 { // too cheap to share
		return s.fitting(chunk{0, cluster.NodeID(s.ix.NumNodes())})
	}
	return s.filterAll()
}

// filterAll is fitting for all nodes, by a crew. Nodes after the first where the pod
// fits are not counted, whoever has looked at them.
func (s *podSearch) filterAll() cluster.NodeID {
	type part struct {
		fits   cluster.NodeID
		checks int
	}
	crew, chunks := s.recruit(), s.chunks()
	parts := make([]part, len(chunks))
	var end atomic.Int64 // the first chunk that need not be looked at
	end.Store(int64(len(parts)))
	looks := s.checks()
	ranges.Take(len(chunks), len(crew), func(i, k int) {
		if int64(k) >= end.Load() {
			return
		}
		w := crew[i]
		before := w.checks()
		parts[k].fits = w.fitting(chunks[k])
		if parts[k].checks = w.checks() - before; parts[k].fits == cluster.NoNode {
			return
		}
		for old := end.Load(); int64(k) < old && !end.CompareAndSwap(old, int64(k)+1); old = end.Load() {
		}
	})
	for _, w := range crew {
		w.looks, w.trial.Checks = 0, 0
	}
	s.looks = looks
	for _, p := range parts[:end.Load()] {
		if s.looks += p.checks; p.fits != cluster.NoNode {
			return p.fits
		}
	}
	return cluster.NoNode
}

// fitting returns the first of some nodes where the pod fits as things are, or NoNode.
func (s *podSearch) fitting(nodes chunk) cluster.NodeID {
	for n := nodes.from; n < nodes.to; n++ {
		if s.status[n] = s.look(n); s.status[n].OK() {
			return n
		}
	}
	return cluster.NoNode
}

// statuses are columns of *[]domain.Reason, of any planner.
var statuses sync.Pool

// needStatus makes room for the status of each node.
func (s *podSearch) needStatus() {
	t := s.borrowed
	if t.status == nil {
		t.status, _ = statuses.Get().(*[]domain.Reason)
	}
	if nodes := s.ix.NumNodes(); t.status == nil || cap(*t.status) < nodes {
		column := make([]domain.Reason, nodes)
		t.status = &column
	}
	s.status = (*t.status)[:s.ix.NumNodes()]
}

// look says whether the pod fits on node n as things are.
func (s *podSearch) look(n cluster.NodeID) domain.Reason {
	if s.sweep == nil || len(s.ix.Nominees(n)) > 0 {
		s.trial.Reset(n)
		return s.trial.Fits()
	}
	if !s.ix.Open(n) || !s.member.Anywhere() {
		if why := s.member.Static(s.ix.Node(n)); !why.OK() {
			return why
		}
	}
	s.looks++
	if why := s.member.Resources(s.ix.Free(n), s.ix.Allocatable(n)); !why.OK() || len(s.states) == 0 {
		return why
	}
	s.trial.Settle(n)
	return s.trial.Constrained()
}
