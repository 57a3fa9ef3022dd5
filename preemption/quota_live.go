package preemption

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// liveQuota holds the objects of quota of a planner by name. Objects are immutable:
// a change replaces one. The trees are cloned lazily, so that a fork is cheap.
type liveQuota struct {
	flavors *btree.BTreeG[*ResourceFlavor]
	queues  *btree.BTreeG[*ClusterQueue]
	cohorts *btree.BTreeG[*Cohort]
	locals  *btree.BTreeG[*LocalQueue]
	jobs    *btree.BTreeG[*quotaJob]

	odd     *btree.BTreeG[*quotaJob] // the jobs with warnings
	undated *btree.BTreeG[*quotaJob] // those that hold quota since the time of the model, as they don't say
	holds   []quotaHold              // in order of name
	total   []int64                  // by column: what all jobs use; see cluster.MaxUsage
}

// quotaJob is a workload, compiled if it holds quota.
type quotaJob struct {
	w        *Workload
	r        *cluster.Reservation // nil: it holds none that counts
	warnings []cluster.Warning
}

// quotaHold is what an applied answer keeps for a workload that is not admitted yet.
type quotaHold struct {
	namespace, name string // of the workload
	queue           string
	flavors         []FlavorChoice
	victims         []PodRef // the workloads that leave for it
	pods            []PodRef // likewise the pods

	id    cluster.QuotaID // queue and flavors, compiled; NoQuota: not there any more
	usage []cluster.ColumnAmount
}

func beforeJob(a, b *quotaJob) bool { return before(a.w.Namespace, a.w.Name, b.w.Namespace, b.w.Name) }

// open makes the model live.
func (m *quotaModel) open(first *Snapshot) {
	if m.live != nil {
		return
	}
	l := &liveQuota{
		flavors: tree(pointersTo(first.ResourceFlavors), func(a, b *ResourceFlavor) bool { return a.Name < b.Name }),
		queues:  tree(pointersTo(first.ClusterQueues), func(a, b *ClusterQueue) bool { return a.Name < b.Name }),
		cohorts: tree(pointersTo(first.Cohorts), func(a, b *Cohort) bool { return a.Name < b.Name }),
		locals:  tree(pointersTo(first.LocalQueues), func(a, b *LocalQueue) bool { return before(a.Namespace, a.Name, b.Namespace, b.Name) }),
	}
	l.fill(m.ix, pointersTo(first.Workloads))
	m.live = l
}

func pointersTo[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// fill compiles the jobs anew for an index of the same objects.
func (l *liveQuota) fill(ix *cluster.QuotaIndex, workloads []*Workload) {
	l.jobs, l.odd, l.undated = btree.NewG(degree, beforeJob), btree.NewG(degree, beforeJob), btree.NewG(degree, beforeJob)
	l.total = make([]int64, ix.NumColumns())
	reserved := make(map[*Workload]*cluster.Reservation, len(ix.Reservations()))
	for _, r := range ix.Reservations() {
		reserved[r.Workload] = r
	}
	odd := map[PodRef][]cluster.Warning{}
	for _, w := range ix.Warnings() {
		if w.Kind == cluster.KindWorkload {
			ref := PodRef{w.Namespace, w.Name}
			odd[ref] = append(odd[ref], w)
		}
	}
	for _, w := range workloads {
		l.put(&quotaJob{w, reserved[w], odd[PodRef{w.Namespace, w.Name}]})
	}
}

// put adds j, of whose name there is no job.
func (l *liveQuota) put(j *quotaJob) {
	l.jobs.ReplaceOrInsert(j)
	if len(j.warnings) > 0 {
		l.odd.ReplaceOrInsert(j)
	}
	if j.r != nil && j.w.Admission.Reserved.IsZero() {
		l.undated.ReplaceOrInsert(j)
	}
	l.count(j.r, +1)
}

// take removes the job of that name and returns it, nil if there is none.
func (l *liveQuota) take(namespace, name string) *quotaJob {
	j, ok := l.jobs.Delete(&quotaJob{w: &Workload{Namespace: namespace, Name: name}})
	if !ok {
		return nil
	}
	l.odd.Delete(j)
	l.undated.Delete(j)
	l.count(j.r, -1)
	return j
}

func (l *liveQuota) count(r *cluster.Reservation, sign int64) {
	if r != nil {
		for _, u := range r.Usage {
			l.total[u.Column] += sign * u.Amount
		}
	}
}

// clone returns an independent copy. It may run beside questions.
func (m *quotaModel) clone() *quotaModel {
	m.mu.RLock()
	defer m.mu.RUnlock()
	m.cloning.Lock()
	defer m.cloning.Unlock()
	c := &quotaModel{
		options: m.options, now: m.now, ix: m.ix, tree: m.tree, usage: m.usage.Clone(), orderOf: m.orderOf,
		over: maps.Clone(m.over),
	}
	for _, rs := range m.sorted {
		c.sorted = append(c.sorted, rs.Clone())
	}
	c.idle = make([]sync.Pool, len(c.sorted))
	if l := m.live; l != nil {
		c.live = &liveQuota{
			l.flavors.Clone(), l.queues.Clone(), l.cohorts.Clone(), l.locals.Clone(), l.jobs.Clone(),
			l.odd.Clone(), l.undated.Clone(), slices.Clone(l.holds), slices.Clone(l.total),
		}
	}
	return c
}

// job returns the workload of that name, nil if there is none.
func (l *liveQuota) job(namespace, name string) *quotaJob {
	j, _ := l.jobs.Get(&quotaJob{w: &Workload{Namespace: namespace, Name: name}})
	return j
}

// warnings lists what is odd, in the order of an index.
func (l *liveQuota) warnings(ix *cluster.QuotaIndex) []cluster.Warning {
	var list []cluster.Warning
	for _, w := range ix.Warnings() {
		if w.Kind != cluster.KindWorkload {
			list = append(list, w)
		}
	}
	l.odd.Ascend(func(j *quotaJob) bool { list = append(list, j.warnings...); return true })
	return list
}

// account adds to usage what earlier answers hold back for workloads other than w,
// takes away what their victims still use, and returns those victims.
func (m *quotaModel) account(usage *quota.Usage, w *Workload) map[*cluster.Reservation]bool {
	gone := map[*cluster.Reservation]bool{}
	leaves := func(r *cluster.Reservation) {
		if r != nil && r.Evicted && !gone[r] {
			gone[r] = true
			usage.Remove(r.Queue, r.Usage)
		}
	}
	for i := range m.live.holds {
		h := &m.live.holds[i]
		if h.namespace == w.Namespace && h.name == w.Name {
			continue
		}
		if h.id != cluster.NoQuota {
			usage.Add(h.id, h.usage)
		}
		for _, v := range h.victims {
			leaves(m.reservationOf(v.Namespace, v.Name))
		}
		if m.pods == nil {
			continue
		}
		for _, ref := range h.pods {
			leaves(m.pods.holds[m.pods.c.ix.PodByName(ref.Namespace, ref.Name)])
		}
	}
	return gone
}

// hold keeps h in place of what was held for its workload.
func (l *liveQuota) hold(ix *cluster.QuotaIndex, h quotaHold) {
	h.compile(ix)
	i, found := l.held(h.namespace, h.name)
	l.holds = slices.Clone(l.holds)
	if found {
		l.holds[i] = h
	} else {
		l.holds = slices.Insert(l.holds, i, h)
	}
}

// release forgets what is held for a workload, and reports whether there was anything.
func (l *liveQuota) release(namespace, name string) bool {
	i, found := l.held(namespace, name)
	if found {
		l.holds = slices.Delete(slices.Clone(l.holds), i, i+1)
	}
	return found
}

func (l *liveQuota) held(namespace, name string) (int, bool) {
	return slices.BinarySearchFunc(l.holds, PodRef{namespace, name}, func(h quotaHold, ref PodRef) int {
		switch {
		case before(h.namespace, h.name, ref.Namespace, ref.Name):
			return -1
		case h.namespace == ref.Namespace && h.name == ref.Name:
			return 0
		}
		return 1
	})
}

// compile looks up the names of h.
func (h *quotaHold) compile(ix *cluster.QuotaIndex) {
	sums := map[cluster.ColumnID]int64{}
	for _, f := range h.flavors {
		if c := ix.Column(f.Flavor, f.Resource); c != cluster.NoColumn {
			sums[c] = quota.Add(sums[c], f.Amount)
		}
	}
	h.id, h.usage = ix.QueueByName(h.queue), nil
	for c := range cluster.ColumnID(ix.NumColumns()) {
		if sums[c] > 0 {
			h.usage = append(h.usage, cluster.ColumnAmount{Column: c, Amount: sums[c]})
		}
	}
}

// objects lists everything that is left of a model, workloads last.
func (l *liveQuota) objects() cluster.QuotaObjects {
	o := cluster.QuotaObjects{
		ResourceFlavors: all(l.flavors), ClusterQueues: all(l.queues), Cohorts: all(l.cohorts), LocalQueues: all(l.locals),
	}
	l.jobs.Ascend(func(j *quotaJob) bool { o.Workloads = append(o.Workloads, j.w); return true })
	return o
}

// addTo adds copies of the quota objects to s.
func (m *quotaModel) addTo(s, first *Snapshot) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.live == nil {
		c := &quotaModel{ix: m.ix}
		c.open(first)
		m = c
	}
	l := m.live
	s.ResourceFlavors, s.ClusterQueues, s.Cohorts, s.LocalQueues = values(l.flavors), values(l.queues), values(l.cohorts), values(l.locals)
	s.Workloads = make([]Workload, 0, l.jobs.Len())
	l.jobs.Ascend(func(j *quotaJob) bool { s.Workloads = append(s.Workloads, *j.w); return true })
}
