package workload

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/byname"
)

// Objects are the objects of a live model by name. They are immutable: a change replaces
// one. The trees are cloned lazily, so that a fork is cheap.
type Objects struct {
	Flavors *btree.BTreeG[*cluster.ResourceFlavor]
	Queues  *btree.BTreeG[*cluster.ClusterQueue]
	Cohorts *btree.BTreeG[*cluster.Cohort]
	Locals  *btree.BTreeG[*cluster.LocalQueue]
	jobs    *btree.BTreeG[*job]

	odd     *btree.BTreeG[*job] // the jobs with warnings
	undated *btree.BTreeG[*job] // those that hold quota since the time of the model, as they don't say
	total   []int64             // by column: what all jobs use; see cluster.MaxUsage
}

// job is a workload, compiled if it holds quota.
type job struct {
	w        *cluster.Workload
	r        *quota.Reservation // nil: it holds none that counts
	warnings []cluster.Warning
}

func beforeJob(a, b *job) bool {
	return byname.Before(a.w.Namespace, a.w.Name, b.w.Namespace, b.w.Name)
}

// Open makes the model ready for a change. It was made of first.
func (m *Model) Open(first *cluster.Snapshot) {
	m.version++
	if m.live != nil {
		return
	}
	l := &Objects{
		Flavors: byname.Tree(byname.Pointers(first.ResourceFlavors), func(a, b *cluster.ResourceFlavor) bool { return a.Name < b.Name }),
		Queues:  byname.Tree(byname.Pointers(first.ClusterQueues), func(a, b *cluster.ClusterQueue) bool { return a.Name < b.Name }),
		Cohorts: byname.Tree(byname.Pointers(first.Cohorts), func(a, b *cluster.Cohort) bool { return a.Name < b.Name }),
		Locals:  byname.Tree(byname.Pointers(first.LocalQueues), func(a, b *cluster.LocalQueue) bool { return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name) }),
	}
	l.fill(m.Index, byname.Pointers(first.Workloads))
	m.live = l
}

// fill compiles the jobs anew for an index of the same objects.
func (l *Objects) fill(ix *quota.Index, workloads []*cluster.Workload) {
	l.jobs, l.odd, l.undated = byname.New(beforeJob), byname.New(beforeJob), byname.New(beforeJob)
	l.total = make([]int64, ix.NumColumns())
	reserved := make(map[*cluster.Workload]*quota.Reservation, len(ix.Reservations()))
	for _, r := range ix.Reservations() {
		reserved[r.Workload] = r
	}
	odd := map[Name][]cluster.Warning{}
	for _, w := range ix.Warnings() {
		if w.Kind == cluster.KindWorkload {
			ref := Name{w.Namespace, w.Name}
			odd[ref] = append(odd[ref], w)
		}
	}
	for _, w := range workloads {
		l.put(&job{w, reserved[w], odd[Name{w.Namespace, w.Name}]})
	}
}

// put adds j, of whose name there is no job.
func (l *Objects) put(j *job) {
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
func (l *Objects) take(namespace, name string) *job {
	j, ok := l.jobs.Delete(&job{w: &cluster.Workload{Namespace: namespace, Name: name}})
	if !ok {
		return nil
	}
	l.odd.Delete(j)
	l.undated.Delete(j)
	l.count(j.r, -1)
	return j
}

func (l *Objects) count(r *quota.Reservation, sign int64) {
	if r != nil {
		for _, u := range r.Usage {
			l.total[u.Column] += sign * u.Amount
		}
	}
}

// Idle reports whether there is no quota to speak of. An idle model is not changed in
// place, but cloned for it: questions read it without its lock. It does not follow the time.
func (m *Model) Idle() bool {
	return m.Index.NumQueues() == 0 && len(m.holds) == 0 && (m.live == nil || m.live.jobs.Len() == 0)
}

// Clone returns an independent copy without pods. It may run beside questions.
func (m *Model) Clone() *Model {
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	m.cloning.Lock()
	defer m.cloning.Unlock()
	c := &Model{
		Rules: m.Rules, Index: m.Index, Tree: m.Tree, now: m.now, usage: m.usage.Clone(), orderOf: m.orderOf,
		over: maps.Clone(m.over), holds: slices.Clone(m.holds),
	}
	for _, rs := range m.sorted {
		c.sorted = append(c.sorted, rs.Clone())
	}
	c.idle = make([]sync.Pool, len(c.sorted))
	if l := m.live; l != nil {
		c.live = &Objects{
			l.Flavors.Clone(), l.Queues.Clone(), l.Cohorts.Clone(), l.Locals.Clone(), l.jobs.Clone(),
			l.odd.Clone(), l.undated.Clone(), slices.Clone(l.total),
		}
	}
	return c
}

// job returns the workload of that name, nil if there is none.
func (l *Objects) job(namespace, name string) *job {
	j, _ := l.jobs.Get(&job{w: &cluster.Workload{Namespace: namespace, Name: name}})
	return j
}

// warnings lists what is odd, in the order of an index.
func (l *Objects) warnings(ix *quota.Index) []cluster.Warning {
	var list []cluster.Warning
	for _, w := range ix.Warnings() {
		if w.Kind != cluster.KindWorkload {
			list = append(list, w)
		}
	}
	l.odd.Ascend(func(j *job) bool { list = append(list, j.warnings...); return true })
	return list
}

// objects lists everything that is left of a model, workloads last.
func (l *Objects) objects() cluster.QuotaObjects {
	o := cluster.QuotaObjects{
		ResourceFlavors: byname.All(l.Flavors), ClusterQueues: byname.All(l.Queues), Cohorts: byname.All(l.Cohorts), LocalQueues: byname.All(l.Locals),
	}
	l.jobs.Ascend(func(j *job) bool { o.Workloads = append(o.Workloads, j.w); return true })
	return o
}

// AddTo adds copies of the quota objects to s.
func (m *Model) AddTo(s, first *cluster.Snapshot) {
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	if m.live == nil {
		c := &Model{Index: m.Index, holds: m.holds}
		c.Open(first)
		m = c
	}
	l := m.live
	s.ResourceFlavors, s.ClusterQueues, s.Cohorts, s.LocalQueues = byname.Values(l.Flavors), byname.Values(l.Queues), byname.Values(l.Cohorts), byname.Values(l.Locals)
	for _, h := range m.holds {
		s.QuotaHolds = append(s.QuotaHolds, *h.QuotaHold)
	}
	s.Workloads = make([]cluster.Workload, 0, l.jobs.Len())
	l.jobs.Ascend(func(j *job) bool { s.Workloads = append(s.Workloads, *j.w); return true })
}
