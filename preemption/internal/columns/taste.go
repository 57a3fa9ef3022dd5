package columns

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Taste is which of several nodes that are as good a pod prefers. nil: the first in order.
type Taste struct {
	Prefer domain.Preference
	Member *domain.Member
	Index  *cluster.Index

	free []int64 // buffer of likes
}

// likes is how much the pod likes node n once the units on some positions have left; more is
// better.
func (t *Taste) likes(l *NodeColumns, n cluster.NodeID, out []victims.Position) int64 {
	if t.Prefer == domain.FirstByName {
		return 0
	}
	free := t.Index.Free(n)
	if len(out) > 0 {
		t.free = append(t.free[:0], free...)
		free = t.free
		for _, position := range out {
			for _, p := range l.us.Unit(l.Unit(n, position)).Pods {
				if t.Index.NodeOf(p) != n {
					continue
				}
				for r, v := range t.Index.Request(p)[:len(free)] {
					free[r] += v
				}
			}
		}
	}
	return t.Prefer.Of(t.Member, free, t.Index.Allocatable(n))
}
