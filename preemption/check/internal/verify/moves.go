package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// moves reports whether running pod p by itself, once it has left its node, would fit on another
// one as things stand, or with evicting, once those are gone there whom it may evict.
func (w *world) moves(p *pod, evicting bool) bool {
	mover := *p.Pod
	mover.Node, mover.Priority, mover.Group = "", &p.priority, ""
	q, err := newQuestion(w.Snapshot, w.o, &preemption.Preemptor{Pods: []cluster.Pod{mover}})
	if err != nil {
		return false
	}
	q.rules = w.rules // it meets the units that the preemptor does
	scene := newScene(q)
	self := q.podNamed(p.Namespace, p.Name, p.Node)
	scene.leave(self)
	return slices.ContainsFunc(q.all(), func(n *node) bool {
		if n.Name == p.Node {
			return false
		}
		var out []*pod
		if evicting {
			for _, u := range q.evictable(n) {
				if u != q.unitOf(self) {
					out = append(out, u.pods...)
				}
			}
		}
		scene.leave(out...)
		fits := len(scene.misfits(q.members[0], n)) == 0
		scene.comeBack(out...)
		return fits
	})
}

// preemptsInTurn reports whether p would evict others to have a place elsewhere, and may.
func (w *world) preemptsInTurn(p *pod) bool {
	return !w.o.NoCascade && w.effective(p.Pod).Policy != priority.Never && !w.moves(p, false) && w.moves(p, true)
}
