package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// moves reports whether running pod p by itself, once it has left its node, would fit on another
// one as things stand.
func (w *world) moves(p *pod) bool {
	mover := *p.Pod
	mover.Node, mover.Priority, mover.Group = "", &p.priority, ""
	q, err := newQuestion(w.Snapshot, w.o, &preemption.Preemptor{Pods: []cluster.Pod{mover}})
	if err != nil {
		return false
	}
	scene := newScene(q)
	scene.leave(q.podNamed(p.Namespace, p.Name, p.Node))
	return slices.ContainsFunc(q.all(), func(n *node) bool {
		return n.Name != p.Node && len(scene.misfits(q.members[0], n)) == 0
	})
}
