package verify

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// anybody is a reach within which everyone may leave, whatever becomes of them.
const anybody = -1

// moves reports whether running pod p by itself, once it has left its node, would fit on another
// one as things stand, or once those are gone there whom it may evict and who move within one less.
func (w *world) moves(p *pod, within int) bool {
	if within != 0 && (w.o.NoCascade || w.effective(p.Pod).Policy == priority.Never) {
		within = 0
	}
	key := fmt.Sprint(within, p.Namespace, "/", p.Name)
	fits, known := w.moved[key]
	if !known {
		fits = within > 0 && w.moves(p, within-1) || w.fitsElsewhere(p, within)
		w.moved[key] = fits
	}
	return fits
}

func (w *world) fitsElsewhere(p *pod, within int) bool {
	alone := *p.Pod
	alone.Node, alone.Priority, alone.Group = "", &p.priority, ""
	q, err := newQuestion(w.Snapshot, w.o, &preemption.Preemptor{Pods: []cluster.Pod{alone}})
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
		if within != 0 {
			for _, u := range q.evictable(n) {
				stays := func(p *pod) bool { return !w.moves(p, within-1) }
				if u != q.unitOf(self) && (within == anybody || !slices.ContainsFunc(u.pods, stays)) {
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
