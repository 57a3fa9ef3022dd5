package verifyquota

import (
	"maps"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// answer is a result that is read.
type answer struct {
	*found.List
	*book
	*ask
	o       *preemption.Options
	r       *preemption.Result
	tenants []*tenant
	request map[key]int64 // what the preemptor takes, by flavor
	scarce  map[key]bool  // of which there is not enough until the victims are gone
	gone    []*tenant     // the victims who use quota
	leaves  map[*tenant]bool
}

// Answer adds to l what is not true of the quota in r as the answer for p in s under o.
// It is asked about who needs quota: workloads, and pods and groups of a queue.
func Answer(l *found.List, s *preemption.Snapshot, o preemption.Options, p *preemption.Preemptor, r *preemption.Result) {
	b := newBook(s)
	ask := b.newAsk(p)
	if ask == nil {
		return
	}
	a := &answer{List: l, book: b, ask: ask, o: &o, r: r, tenants: b.tenants()}
	if r.Proof != nil && a.workload != nil && !a.provable() {
		a.Add(found.Proof, "nobody asked for one, or none can be given")
	}
	if !a.readVerdict() {
		return
	}
	a.occupy()
	if !a.readFlavors() || !a.findVictims() {
		return
	}
	a.readVictims()
	a.readFit()
	if a.workload != nil {
		a.readLeast()
		a.readProof()
	}
}

// readVerdict reports whether there is a place in the quota to be read.
func (a *answer) readVerdict() bool {
	refused := a.refused()
	switch a.r.Verdict {
	case preemption.Fits, preemption.Feasible, preemption.Waiting:
		if a.r.Verdict == preemption.Waiting && a.workload == nil {
			return false // of pods it may be for those who leave their nodes
		}
		if refused != "" {
			a.Add(found.Verdict, "%s: it is admitted to nothing", refused)
			return false
		}
	case preemption.NotEligible:
		if a.workload != nil && refused == "" && !a.waits() {
			a.Add(found.Verdict, "its queue admits, and it has waited long enough")
		}
		return false
	case preemption.Infeasible:
		if refused == "" && a.workload != nil {
			a.occupy()
			a.readInfeasible()
		}
		return false
	default:
		return false
	}
	if a.r.Quota == nil || a.r.Quota.ClusterQueue != a.queue.name {
		a.Add(found.Quota, "its queue is %s", a.queue.name)
		return false
	}
	return true
}

// refused says why the queue admits nothing; empty if it does.
func (a *answer) refused() string {
	namespace := ""
	if a.workload != nil {
		namespace = a.workload.Namespace
	} else {
		namespace = a.pods[0].Namespace
	}
	switch l := a.locals[cluster.PodKey{Namespace: namespace, Name: a.local}]; {
	case l == nil:
		return "there is no LocalQueue " + a.local
	case a.queue == nil:
		return "there is no ClusterQueue " + l.ClusterQueue + " with a root"
	case l.Stopped:
		return "its LocalQueue is stopped"
	case a.inactive(a.queue.queue):
		return "its ClusterQueue is inactive"
	}
	return ""
}

// waits: it has not waited long enough to evict others.
func (a *answer) waits() bool {
	wait, now := a.queue.queue.Preemption.WaitSeconds, a.snapshot.Time
	created := a.workload.Created
	return wait > 0 && !created.IsZero() && !now.IsZero() && now.Sub(created) < time.Duration(min(wait, 1<<33))*time.Second
}

// occupy lets everybody use their quota, but who is nominated for the preemptor itself; and
// those for whom it is held what they were given, in place of those who leave for them.
func (a *answer) occupy() {
	for _, t := range a.tenants {
		if t.nominated && slices.ContainsFunc(a.pods, func(p *cluster.Pod) bool { return slices.Contains(t.pods, p) }) {
			continue
		}
		t.use(1)
	}
	a.count(1)
}

// count counts what earlier answers hold, or with -1 takes that back.
func (a *answer) count(sign int64) {
	leaves := map[*tenant]bool{}
	own := func(h cluster.QuotaHold) bool {
		return a.workload != nil && h.Namespace == a.workload.Namespace && h.Name == a.workload.Name
	}
	evicts := func(h cluster.QuotaHold) bool { return len(h.Workloads)+len(h.Pods) > 0 }
	first := slices.ContainsFunc(a.snapshot.QuotaHolds, func(h cluster.QuotaHold) bool { return own(h) && evicts(h) })
	for _, h := range a.snapshot.QuotaHolds {
		if own(h) || first && !evicts(h) {
			continue
		}
		if queue := a.queues[h.ClusterQueue]; queue != nil {
			for _, held := range h.Amounts {
				if k := (key{held.Flavor, held.Resource}); a.known[k] {
					queue.use(k, sign*held.Amount)
				}
			}
		}
		for _, t := range a.tenants {
			if t.evicted && !leaves[t] && t.leavesFor(&h) {
				leaves[t] = true
				t.use(-sign)
			}
		}
	}
	a.leaves = leaves
}

// leavesFor: t was told to leave for the workload that h is held for.
func (t *tenant) leavesFor(h *cluster.QuotaHold) bool {
	if t.kind == cluster.KindWorkload {
		return slices.Contains(h.Workloads, cluster.PodKey{Namespace: t.namespace, Name: t.name})
	}
	return slices.ContainsFunc(t.pods, func(p *cluster.Pod) bool {
		return slices.Contains(h.Pods, cluster.PodKey{Namespace: p.Namespace, Name: p.Name})
	})
}

func (t *tenant) use(sign int64) {
	for k, v := range t.usage {
		t.queue.use(k, sign*v)
	}
}

// fits: all of request can be had as things are.
func (a *answer) fits(request map[key]int64) bool {
	for k, v := range request {
		if v > a.queue.free(k) {
			return false
		}
	}
	return true
}

// within: nothing of request needs more than the queue's own.
func (a *answer) within(request map[key]int64) bool {
	for k, v := range request {
		if v > 0 && a.queue.borrows(k, v) {
			return false
		}
	}
	return true
}

// readFit: with the victims gone the preemptor has its quota, and not with one of them
// back; without victims it needs nobody to go.
func (a *answer) readFit() {
	if a.r.Verdict != preemption.Feasible {
		fits := a.fits(a.request)
		a.count(-1)
		now := a.fits(a.request)
		a.count(1)
		switch fitsNow := a.r.Verdict == preemption.Fits; {
		case !fits:
			a.Add(found.Quota, "it does not fit the quota of %s as things are", a.queue.name)
		case now != fitsNow:
			a.Add(found.Quota, "it fits the quota of %s before the victims of others have left: %t", a.queue.name, now)
		}
		return
	}
	for _, t := range a.gone {
		if a.leaves[t] {
			a.About(found.Eligible, t.kind, t.namespace, t.name, "it leaves for somebody else already")
		}
	}
	if a.workload != nil && a.fits(a.request) {
		a.Add(found.Minimal, "it fits the quota of %s without preemption", a.queue.name)
	}
	for _, t := range a.gone {
		t.use(-1)
	}
	if !a.fits(a.request) {
		a.Add(found.Quota, "it does not fit the quota of %s once the victims are gone", a.queue.name)
		return
	}
	narrow := a.o.Quota.FairSharing == nil && a.within(a.request) // it may be a search that does without borrowing
	for _, t := range a.gone {
		if a.workload == nil {
			break // somebody may have to go for the place
		}
		t.use(1)
		if a.fits(a.request) && (!narrow || a.within(a.request)) {
			a.About(found.Minimal, t.kind, t.namespace, t.name, "the preemptor fits its quota with this one back")
		}
		t.use(-1)
	}
	a.readBorrowing()
}

// readBorrowing: a queue with a policy of KEP-83 takes from others only what is its own.
func (a *answer) readBorrowing() {
	p := &a.queue.queue.Preemption
	if p.ReclaimWithinCohort != cluster.ReclaimFromLowerPriority && p.ReclaimWithinCohort != cluster.ReclaimFromAny {
		return
	}
	for k, v := range a.request {
		others := slices.ContainsFunc(a.gone, func(t *tenant) bool { return t.queue != a.queue && t.usage[k] > 0 })
		if others && a.scarce[k] && v > a.queue.own[k].Nominal {
			a.Add(found.Quota, "%s owns %d %s in flavor %s, and others go for %d", a.queue.name, a.queue.own[k].Nominal, k.resource, k.flavor, v)
		}
	}
}

// readInfeasible: no choice of one flavor for each group gives every pod what it wants. A
// queue that stops looking at the first flavor that evictions would give, or would rather have that
// one than borrow, may miss one.
func (a *answer) readInfeasible() {
	if f := a.queue.queue.Fungibility; f.WhenCanPreempt == cluster.StopSearch || f.Preference == cluster.PreemptionOverBorrowing {
		return
	}
	every := func(flavor string) bool {
		for i := range a.workload.PodSets {
			if !a.suits(i, flavor) || a.workload.PodSets[i].NodeAffinity != nil {
				return false
			}
		}
		return true
	}
	total := map[string]int64{}
	for _, want := range a.wants(nil) {
		for r, v := range want {
			total[r] = plus(total[r], v)
		}
	}
	request := map[key]int64{}
	for _, r := range slices.Sorted(maps.Keys(total)) {
		g := a.groupOf(r)
		if g == nil && total[r] > 0 {
			return
		}
		if g == nil {
			continue
		}
		flavor := slices.IndexFunc(g.Flavors, func(f cluster.FlavorQuotas) bool {
			for _, q := range f.Resources {
				if v, asks := total[q.Resource]; asks && v > a.queue.free(key{f.Flavor, q.Resource}) {
					return false
				}
			}
			return every(f.Flavor)
		})
		if flavor < 0 {
			return
		}
		request[key{g.Flavors[flavor].Flavor, r}] = total[r]
	}
	a.Add(found.Infeasible, "it fits the quota of %s without preemption", a.queue.name)
}
