package verifyquota

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// findVictims finds the victims who use quota; it reports whether all are there.
func (a *answer) findVictims() bool {
	users := map[[3]string]*tenant{} // who has not gone yet
	for _, t := range a.tenants {
		if !t.nominated {
			users[[3]string{string(t.kind), t.namespace, t.name}] = t
		}
	}
	for i := range a.r.Victims {
		v := &a.r.Victims[i]
		if v.Quota == nil {
			if a.workload != nil {
				a.About(found.Quota, v.Kind, v.Namespace, v.Name, "goes for a workload, and uses no quota")
			}
			continue // in the way of a pod
		}
		name := [3]string{string(v.Kind), v.Namespace, v.Name}
		t := users[name]
		if t == nil {
			a.About(found.Quota, v.Kind, v.Namespace, v.Name, "uses no quota, or goes twice")
			return false
		}
		delete(users, name)
		a.gone = append(a.gone, t)
		a.readTold(v, t)
	}
	if a.workload != nil && a.r.Verdict == preemption.Feasible && len(a.gone) == 0 {
		a.Add(found.Form, "nobody goes, and it is said to need that")
	}
	return true
}

// readTold: what is told of a victim is so.
func (a *answer) readTold(v *preemption.Victim, t *tenant) {
	told := *v.Quota
	t.reason = told.Reason
	if told.ClusterQueue != t.queue.name || told.Priority != t.priority || told.Evicted != t.evicted {
		a.About(found.Quota, v.Kind, v.Namespace, v.Name, "of %s, priority %d, evicted %t: told are %s, %d, %t",
			t.queue.name, t.priority, t.evicted, told.ClusterQueue, told.Priority, told.Evicted)
	}
	if (t.queue == a.queue) != (told.Reason == preemption.InClusterQueue) {
		a.About(found.Reason, v.Kind, v.Namespace, v.Name, "%s, of %s", told.Reason, t.queue.name)
	}
	listed := map[cluster.PodKey]bool{}
	for _, p := range v.Pods {
		listed[cluster.PodKey{Namespace: p.Namespace, Name: p.Name}] = true
	}
	other := func(p *cluster.Pod) bool { return !listed[cluster.PodKey{Namespace: p.Namespace, Name: p.Name}] }
	if len(v.Pods) != len(t.pods) || slices.ContainsFunc(t.pods, other) {
		a.About(found.Whole, v.Kind, v.Namespace, v.Name, "it lists %d pods, which are not the %d that hold its quota", len(v.Pods), len(t.pods))
	}
	fair := a.o.Quota.FairSharing != nil
	if told.Reason == preemption.InCohortFairSharing && !fair || told.Reason == preemption.InCohortReclaimWhileBorrowing && fair {
		a.About(found.Reason, v.Kind, v.Namespace, v.Name, "%s, with fair sharing: %t", told.Reason, fair)
	}
}

// readVictims: the rules of the queue let each of them go.
func (a *answer) readVictims() {
	for i, t := range a.gone {
		if why := a.spared(t); why != "" {
			a.About(found.Eligible, t.kind, t.namespace, t.name, "%s", why)
		}
		if t.queue != a.queue && a.borrowed(t.queue) && !slices.ContainsFunc(a.gone[:i], func(o *tenant) bool { return o.queue == t.queue }) {
			a.readQueue(t.queue)
		}
	}
	if a.o.Quota.FairSharing == nil {
		a.readCohorts()
	}
}

// readCohorts: as its queues, a cohort beside the preemptor's queue gives up what it has borrowed.
func (a *answer) readCohorts() {
	var others []*tenant
	for _, t := range a.gone {
		if t.queue != a.queue {
			others = append(others, t)
			t.use(-1)
		}
	}
	around := map[*holder]bool{} // the preemptor's queue
	for h := a.queue; h != nil; h = h.parent {
		around[h] = true
	}
	borrows := map[*holder]bool{} // until the last of those who go beneath it
	for _, t := range others {
		t.use(1)
		for h := t.queue; h != nil && !around[h] && a.borrowed(h); h = h.parent {
			borrows[h] = true
		}
		t.use(-1)
	}
	told := map[*holder]bool{}
	for _, t := range others {
		for h := t.queue.parent; h != nil && !around[h]; h = h.parent {
			if !borrows[h] && !told[h] {
				told[h] = true
				a.Add(found.Quota, "cohort %s goes below what is its own, and has to give up more", h.name)
			}
		}
	}
	for _, t := range others {
		t.use(1)
	}
}

// spared says why t may not go; empty if it may.
func (a *answer) spared(t *tenant) string {
	rules := &a.queue.queue.Preemption
	switch {
	case t.partial:
		return "others go with it who hold other quota, or none"
	case t.queue.root() != a.queue.root():
		return "it is of another tree of queues"
	case a.inactive(t.queue.queue):
		return "its queue is inactive"
	case !a.usesScarce(t):
		return "it uses nothing of what is short"
	case t.queue == a.queue:
		if !a.allows(rules.WithinClusterQueue, t) {
			return "withinClusterQueue keeps it"
		}
		return ""
	case !a.allows(rules.ReclaimWithinCohort, t):
		return "reclaimWithinCohort keeps it"
	case !a.borrowed(t.queue):
		return "its queue is within its nominal quota of what is short"
	}
	if b := rules.BorrowWithinCohort; t.reason == preemption.InCohortReclaimWhileBorrowing {
		if b == nil || t.priority >= a.ask.priority || b.MaxPriority != nil && t.priority > int64(*b.MaxPriority) {
			return "borrowWithinCohort keeps it"
		}
	}
	return ""
}

// allows: a policy lets the preemptor evict t.
func (a *answer) allows(policy cluster.QueuePolicy, t *tenant) bool {
	switch policy {
	case cluster.AnyPriority, cluster.ReclaimFromAny:
		return true
	case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
		return t.priority < a.ask.priority
	case cluster.LowerOrNewerEqualPriority:
		return t.priority < a.ask.priority || t.priority == a.ask.priority && t.ordered > a.ask.ordered
	}
	return false
}

// contested: of k there is not enough, or for pods there may be no place.
func (a *answer) contested(k key) bool {
	_, asked := a.request[k]
	return asked && (a.scarce[k] || a.workload == nil)
}

func (a *answer) usesScarce(t *tenant) bool {
	for k := range t.usage {
		if a.contested(k) {
			return true
		}
	}
	return false
}

// borrowed: queue h uses more of what is short than is its own.
func (a *answer) borrowed(h *holder) bool {
	for k := range a.request {
		if a.contested(k) && h.borrows(k, 0) {
			return true
		}
	}
	return false
}

// borrowsAny: queue h uses more of something than is its own, of which its share is made.
func (a *answer) borrowsAny(h *holder) bool {
	for k := range a.known {
		if h.borrows(k, 0) {
			return true
		}
	}
	return false
}

// readQueue: a queue gives up what it has borrowed, and the last one to go may take it
// below what is its own. So one of its victims is the last: without the others it
// borrows still.
func (a *answer) readQueue(h *holder) {
	var of []*tenant
	for _, t := range a.gone {
		if t.queue == h {
			of = append(of, t)
			t.use(-1)
		}
	}
	last := false
	for _, t := range of {
		t.use(1)
		last = last || a.borrowed(h) || a.o.Quota.FairSharing != nil && a.borrowsAny(h)
		t.use(-1)
	}
	for _, t := range of {
		t.use(1)
	}
	if !last {
		a.Add(found.Quota, "%s goes below what is its own, and has to give up more", h.name)
	}
}
