package onepod

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Stakes are what is at stake on node n at least, and what roughly is, if that is known.
func (s *Search) Stakes(n cluster.NodeID) (least, rough []int64, ok bool) {
	units := s.q.Evictable(n)
	rough, ok = s.roughly(nil, n, units)
	return slices.Collect(s.ground(n, units).atLeast()), rough, ok
}
