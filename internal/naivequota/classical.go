package naivequota

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

type classical struct {
	*Admitted
	kind string // "own", "H", "NB" or "BW"
	lca  *Node
}

// Classical is the search without fair sharing.
func (w *World) Classical(q *Question) []Target {
	own, hierarchical, priority := w.kinds(q)
	for _, borrow := range w.attempts(q, hierarchical, priority) {
		if targets := w.attempt(q, w.sequence(q, hierarchical, mayGo(priority, borrow), own), borrow); targets != nil {
			return targets
		}
	}
	return nil
}

// mayGo leaves out who may not go where the preemptor borrows.
func mayGo(priority []classical, borrow bool) []classical {
	return slices.DeleteFunc(slices.Clone(priority), func(c classical) bool { return borrow && c.kind == "NB" })
}

// kinds lists who may go.
func (w *World) kinds(q *Question) (own, hierarchical, priority []classical) {
	p := q.Queue.Queue.Preemption
	bwc := p.BorrowWithinCohort
	for _, a := range w.candidates(q.Queue, q, p.WithinClusterQueue) {
		own = append(own, classical{a, "own", nil})
	}
	if q.Queue.Parent != nil {
		adv, rest := w.fitInQuota(q.Queue, q.Request)
		for anc, from := q.Queue.Parent, q.Queue; anc != nil; anc, from = anc.Parent, anc {
			for _, n := range w.walk(anc, from, q) {
				for _, a := range w.candidates(n, q, p.ReclaimWithinCohort) {
					switch {
					case adv:
						hierarchical = append(hierarchical, classical{a, "H", anc})
					case bwc == nil || effective(a.W) >= effective(q.W) || bwc.MaxPriority != nil && effective(a.W) > int64(*bwc.MaxPriority):
						priority = append(priority, classical{a, "NB", anc})
					default:
						priority = append(priority, classical{a, "BW", anc})
					}
				}
			}
			var ok bool
			ok, rest = w.fitInQuota(anc, rest)
			adv = adv || ok
		}
	}
	return own, hierarchical, priority
}

// attempts lists whether the preemptor may borrow, attempt by attempt.
func (w *World) attempts(q *Question, hierarchical, priority []classical) []bool {
	p := q.Queue.Queue.Preemption
	bwc := p.BorrowWithinCohort
	kep83 := p.ReclaimWithinCohort == cluster.ReclaimFromAny || p.ReclaimWithinCohort == cluster.ReclaimFromLowerPriority
	under := true
	for fr := range q.Contested {
		under = under && w.Used(q.Queue, fr) < q.Queue.Quotas[fr].Nominal
	}
	switch {
	case kep83:
		return []bool{false}
	case len(hierarchical)+len(priority) == 0, bwc == nil && !under:
		return []bool{true}
	case bwc == nil && len(hierarchical) == 0:
		return []bool{false, true}
	}
	return []bool{true, false}
}

// sequence puts evicted ones first, and there and then: hierarchical, priority, own.
func (w *World) sequence(q *Question, lists ...[]classical) []classical {
	var all []classical
	for _, evicted := range []bool{true, false} {
		for _, list := range lists {
			byWorkload := map[*Admitted]classical{}
			var part []*Admitted
			for _, c := range list {
				if c.W.Evicted == evicted {
					byWorkload[c.Admitted] = c
					part = append(part, c.Admitted)
				}
			}
			w.orderAcross(q, part)
			for _, a := range part {
				all = append(all, byWorkload[a])
			}
		}
	}
	return all
}

// orderAcross sorts workloads of several queues. With usage of local queues, which
// compares workloads of one queue only, the queues are sorted one by one and merged
// by their heads.
func (w *World) orderAcross(q *Question, list []*Admitted) {
	queues := map[*Node][]*Admitted{}
	for _, a := range list {
		queues[a.Queue] = append(queues[a.Queue], a)
	}
	for _, l := range queues {
		w.order(q, l)
	}
	for i := range list {
		var best *Node
		for n, l := range queues {
			if len(l) > 0 && (best == nil || w.compare(q, l[0], queues[best][0], false) < 0) {
				best = n
			}
		}
		list[i] = queues[best][0]
		queues[best] = queues[best][1:]
	}
}

// fitInQuota tells whether n's own quota takes r, and what n would need from above.
func (w *World) fitInQuota(n *Node, r Amounts) (bool, Amounts) {
	ok, rest := true, maps.Clone(r)
	for fr, v := range r {
		ok = ok && !w.Borrows(n, fr, v)
		rest[fr] = max(0, v-max(0, n.Guaranteed(fr)-w.Used(n, fr)))
	}
	return ok, rest
}

// walk lists the queues below anc, not below except, that borrow all the way up.
func (w *World) walk(anc, except *Node, q *Question) []*Node {
	var list []*Node
	for _, c := range anc.Children {
		switch {
		case c == except || w.Within(c, q.Contested):
		case c.Queue != nil:
			list = append(list, c)
		default:
			list = append(list, w.walk(c, except, q)...)
		}
	}
	return list
}

func (w *World) attempt(q *Question, sequence []classical, borrow bool) []Target {
	var targets []Target
	for _, c := range sequence {
		if c.kind != "own" && w.satisfied(c, q) {
			continue
		}
		delete(w.In, c.Admitted)
		targets = append(targets, Target{c.Admitted, c.reason()})
		if w.Fits(q, borrow) {
			return w.fillBack(q, targets, borrow)
		}
	}
	w.restore(targets)
	return nil
}

func (c classical) reason() string {
	return map[string]string{
		"own": "InClusterQueue", "H": "InCohortReclamation", "NB": "InCohortReclamation", "BW": "InCohortReclaimWhileBorrowing",
	}[c.kind]
}

func (w *World) satisfied(c classical, q *Question) bool {
	for n := c.Queue; n != c.lca; n = n.Parent {
		if w.Within(n, q.Contested) {
			return true
		}
	}
	return false
}
