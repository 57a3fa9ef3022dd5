package columns

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Likings tell how much a pod prefers nodes that are as good otherwise: more is better. They
// are all 0 by [domain.FirstByName].
type Likings struct {
	Prefer domain.Preference
	Member *domain.Member
	Index  *cluster.Index

	node cluster.NodeID
	free []int64 // on node
}

// On turns to node n, with everybody in place.
func (l *Likings) On(n cluster.NodeID) {
	if l.Prefer != domain.FirstByName {
		l.node, l.free = n, append(l.free[:0], l.Index.Free(n)...)
	}
}

// Leave lets those of pods leave that are on the node.
func (l *Likings) Leave(pods []cluster.PodID) {
	if l.Prefer == domain.FirstByName {
		return
	}
	for _, p := range pods {
		if l.Index.NodeOf(p) == l.node {
			for r, v := range l.Index.Request(p)[:len(l.free)] {
				l.free[r] += v
			}
		}
	}
}

// Liking is that of the node as it is now.
func (l *Likings) Liking() int64 {
	if l.Prefer == domain.FirstByName {
		return 0
	}
	return l.Prefer.Of(l.Member, l.free, l.Index.Allocatable(l.node))
}

// without is the liking of node n of c once the units on some positions have left.
func (l *Likings) without(c *NodeColumns, n cluster.NodeID, out []victims.Position) int64 {
	l.On(n)
	for _, position := range out {
		l.Leave(c.us.Unit(c.Unit(n, position)).Pods)
	}
	return l.Liking()
}
