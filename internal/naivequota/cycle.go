package naivequota

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Head is a workload that takes part in a cycle, with what it takes if it is alone.
type Head struct {
	W       *cluster.Workload
	Queue   *Node // nil: it admits nobody
	Request Amounts
	level   int
}

// LineUp puts pending workloads in the order of a cycle without shares: who borrows from less
// far up goes first, then who is more important, older, or of the lesser name.
func (w *World) LineUp(jobs []*cluster.Workload, o Options) []*Head {
	var heads []*Head
	for _, job := range jobs {
		heads = append(heads, w.head(job, o))
	}
	slices.SortFunc(heads, func(a, b *Head) int { return cmp.Or(a.level-b.level, a.compare(b)) })
	return heads
}

func (w *World) head(job *cluster.Workload, o Options) *Head {
	h := &Head{W: job, Request: Amounts{}}
	for _, local := range w.Snapshot.LocalQueues {
		if local.Namespace == job.Namespace && local.Name == job.Queue {
			h.Queue = w.Queues[local.ClusterQueue]
		}
	}
	if h.Queue.Queue.Stopped {
		h.Queue = nil
		return h
	}
	var counts []int32
	for _, set := range job.PodSets {
		counts = append(counts, set.Count)
	}
	list, _ := w.assign(job, h.Queue, counts, o)
	for _, t := range list {
		h.Request[t.fr] += t.amount
		h.level = max(h.level, t.level)
	}
	return h
}

func (h *Head) compare(o *Head) int {
	age := func(w *cluster.Workload) int64 {
		if !w.Requeued.IsZero() {
			return w.Requeued.UnixNano()
		}
		return w.Created.UnixNano()
	}
	return cmp.Or(int(o.W.Priority+o.W.Boost)-int(h.W.Priority+h.W.Boost), cmp.Compare(age(h.W), age(o.W)),
		strings.Compare(h.W.Namespace, o.W.Namespace), strings.Compare(h.W.Name, o.W.Name))
}

// Next is who of heads goes next by shares: one that no queue admits, or the winner of the
// first tree that has one.
func (w *World) Next(heads []*Head) *Head {
	for _, h := range heads {
		if h.Queue == nil {
			return h
		}
	}
	roots := map[string]*Node{}
	for _, h := range heads {
		roots[h.Queue.Root().Name] = h.Queue.Root()
	}
	return w.winner(Sorted(roots)[0], heads)
}

// winner is the head that goes first below n: of a queue the first by importance, age and name; of
// a cohort one that stays within its nominal quota, then the one whose side would have the lowest share.
func (w *World) winner(n *Node, heads []*Head) (best *Head) {
	for _, h := range heads {
		if h.Queue == n && (best == nil || h.compare(best) < 0) {
			best = h
		}
	}
	for _, c := range n.Children {
		h := w.winner(c, heads)
		if h == nil {
			continue
		}
		if best == nil || w.goesBefore(n, h, best) {
			best = h
		}
	}
	return best
}

func (w *World) goesBefore(cohort *Node, a, b *Head) bool {
	x, borrows := w.with(cohort, a)
	y, others := w.with(cohort, b)
	if borrows != others {
		return others
	}
	return cmp.Or(x.Compare(y), a.compare(b)) < 0
}

// with is the share of h's side of cohort with h running, and whether its queue would borrow.
func (w *World) with(cohort *Node, h *Head) (s Share, borrows bool) {
	w.Extra[h.Queue] = h.Request
	defer delete(w.Extra, h.Queue)
	for fr, v := range h.Request {
		borrows = borrows || v > 0 && w.Borrows(h.Queue, fr, 0)
	}
	side := h.Queue
	for side.Parent != cohort {
		side = side.Parent
	}
	return w.ShareOf(side), borrows
}
