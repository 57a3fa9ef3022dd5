package naivequota

import (
	"cmp"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Question is what a workload asks, flavors chosen.
type Question struct {
	W         *cluster.Workload
	Queue     *Node
	Request   Amounts // none of them 0
	Contested map[FR]bool
}

// Target is a victim and the ground on which it goes.
type Target struct {
	*Admitted
	Reason string
}

func effective(w *cluster.Workload) int64 { return int64(w.Priority) + int64(w.Boost) }

// age is the time that counts for the age of w; an unknown one is the newest.
func age(w *cluster.Workload) time.Time {
	t := w.Created
	if !w.Requeued.IsZero() {
		t = w.Requeued
	}
	if t.IsZero() {
		t = time.Unix(1<<40, 0)
	}
	return t
}

func allowed(policy cluster.QueuePolicy, p, c *cluster.Workload) bool {
	switch policy {
	case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
		return effective(p) > effective(c)
	case cluster.LowerOrNewerEqualPriority:
		return effective(p) > effective(c) || effective(p) == effective(c) && age(p).Before(age(c))
	case cluster.AnyPriority, cluster.ReclaimFromAny:
		return true
	}
	return false
}

func (a *Admitted) usesAny(frs map[FR]bool) bool {
	for fr := range a.Usage {
		if frs[fr] {
			return true
		}
	}
	return false
}

// candidates lists the workloads in queue n that q may evict under policy.
func (w *World) candidates(n *Node, q *Question, policy cluster.QueuePolicy) []*Admitted {
	var list []*Admitted
	if n.Queue.Stopped {
		return nil
	}
	for a := range w.In {
		if a.Queue == n && a.usesAny(q.Contested) && allowed(policy, q.W, a.W) {
			list = append(list, a)
		}
	}
	return list
}

// order sorts as the rules of q's queue say.
func (w *World) order(q *Question, list []*Admitted) {
	slices.SortFunc(list, func(a, b *Admitted) int { return w.compare(q, a, b, true) })
}

// compare is the order in which workloads go; local says whether usage of local
// queues counts.
func (w *World) compare(q *Question, a, b *Admitted, local bool) int {
	first := func(yes, no bool) int {
		switch {
		case yes == no:
			return 0
		case yes:
			return -1
		}
		return 1
	}
	if c := first(a.W.Evicted, b.W.Evicted); c != 0 {
		return c
	}
	if c := first(a.Queue != q.Queue, b.Queue != q.Queue); c != 0 {
		return c
	}
	if local && a.Queue == b.Queue && a.Queue.Queue.FairLocalQueues {
		x, y := w.localUsage(a), w.localUsage(b)
		if c := first(x != nil, y != nil); c != 0 {
			return c
		}
		if x != nil && *x != *y {
			return cmp.Compare(*y, *x)
		}
	}
	by := q.Queue.Queue.Preemption.Order
	if len(by) == 0 {
		by = []cluster.VictimOrder{cluster.ByLowestPriority, cluster.ByLowestRuntime}
	}
	for _, by := range by {
		c := 0
		switch by {
		case cluster.ByLowestPriority:
			c = cmp.Compare(effective(a.W), effective(b.W))
		case cluster.ByLowestRuntime:
			c = w.reserved(b).Compare(w.reserved(a))
		case cluster.ByLongestRuntime:
			c = w.reserved(a).Compare(w.reserved(b))
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.W.UID, b.W.UID), cmp.Compare(a.W.Namespace, b.W.Namespace), cmp.Compare(a.W.Name, b.W.Name))
}

func (w *World) localUsage(a *Admitted) *int64 {
	for i := range w.Snapshot.LocalQueues {
		if q := &w.Snapshot.LocalQueues[i]; q.Namespace == a.W.Namespace && q.Name == a.W.Queue {
			return q.Usage
		}
	}
	return nil
}

func (w *World) reserved(a *Admitted) time.Time {
	if t := a.W.Admission.Reserved; !t.IsZero() {
		return t
	}
	if w.Snapshot.Time.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return w.Snapshot.Time
}

// Fits tells whether the request fits with who holds quota at the moment.
func (w *World) Fits(q *Question, borrow bool) bool {
	for fr, v := range q.Request {
		if !borrow && w.Borrows(q.Queue, fr, v) || v > w.Available(q.Queue, fr) {
			return false
		}
	}
	return true
}

// fillBack gives back who can stay, from the last but one to the first.
func (w *World) fillBack(q *Question, targets []Target, borrow bool) []Target {
	for i := len(targets) - 2; i >= 0; i-- {
		w.In[targets[i].Admitted] = true
		if w.Fits(q, borrow) {
			targets[i] = targets[len(targets)-1]
			targets = targets[:len(targets)-1]
		} else {
			delete(w.In, targets[i].Admitted)
		}
	}
	w.restore(targets)
	return targets
}

func (w *World) restore(targets []Target) {
	for _, t := range targets {
		w.In[t.Admitted] = true
	}
}

// Allowed lists every set of those who may go one after the other, without fair sharing, so that
// q fits in the end; none if more than most may go in some attempt, and then ok is false. It looks
// at every order in which they may.
func (w *World) Allowed(q *Question, most int) (sets [][]Target, ok bool) {
	own, hierarchical, priority := w.kinds(q)
	for _, borrow := range w.attempts(q, hierarchical, priority) {
		list := w.sequence(q, hierarchical, mayGo(priority, borrow), own)
		if len(list) > most {
			return nil, false
		}
		reached := make([]bool, 1<<len(list))
		reached[0] = true
		for set, may := range reached {
			if !may {
				continue
			}
			var gone []Target
			for i, c := range list {
				if set>>i&1 == 1 {
					delete(w.In, c.Admitted)
					gone = append(gone, Target{c.Admitted, c.reason()})
				}
			}
			if w.Fits(q, borrow) {
				sets = append(sets, gone)
			}
			for i, c := range list {
				if set>>i&1 == 0 && (c.kind == "own" || !w.satisfied(c, q)) {
					reached[set|1<<i] = true
				}
			}
			w.restore(gone)
		}
	}
	return sets, true
}
