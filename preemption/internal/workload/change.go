package workload

import (
	"strconv"
	"time"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rebuilt returns a copy of m, which was made of first, at a time, as [cluster.Nanos], with
// other objects: f changes them, and the copy is compiled anew. An error of f is returned.
func (m *Model) Rebuilt(first *cluster.Snapshot, now int64, f func(o *Objects) error) (*Model, error) {
	before := m.Clone()
	before.Open(first)
	before.SetTime(now)
	if err := f(before.live); err != nil {
		return nil, err
	}
	objects := before.live.objects()
	objects.Time = momentOf(before.now)
	for _, h := range before.holds {
		objects.QuotaHolds = append(objects.QuotaHolds, h.QuotaHold)
	}
	after, err := New(objects, m.Rules)
	if err != nil {
		return nil, err
	}
	after.live = before.live
	after.live.fill(after.Index, objects.Workloads)
	return after, nil
}

// Remove takes a workload away, with what is held for it, and reports whether it was
// there. The model is open.
func (m *Model) Remove(namespace, name string) bool {
	ok := m.drop(namespace, name)
	m.Release(namespace, name)
	return ok
}

// Admit gives w quota of that queue: counts pods of each set, nil for all, in the flavors
// of choices. The model is open.
func (m *Model) Admit(w *cluster.Workload, queue string, choices []Choice, counts []int32) error {
	out := *w
	out.Admission = &cluster.Admission{ClusterQueue: queue, Reserved: momentOf(m.now)}
	out.Evicted = false
	out.PodSets = make([]cluster.PodSet, len(w.PodSets))
	for i, set := range w.PodSets {
		if counts != nil {
			set.Count, set.MinCount = counts[i], nil
		}
		set.Flavors, set.Usage = map[string]string{}, cluster.Resources{}
		for _, c := range choices {
			if c.Set == set.Name {
				set.Flavors[c.Resource], set.Usage[c.Resource] = c.Flavor, c.Amount
			}
		}
		out.PodSets[i] = set
	}
	return m.Set(&out)
}

// Evict lets a workload leave: it is on its way out, or with gone back in its queue. One
// that holds no quota has left. The model is open.
func (m *Model) Evict(namespace, name string, gone bool) error {
	j := m.live.job(namespace, name)
	if j == nil || j.r == nil {
		return nil
	}
	out := *j.w
	out.Evicted = !gone
	if gone {
		out.Admission = nil
	}
	return m.Set(&out)
}

// Set adds or replaces a workload. One that is admitted gives up what is held for it. The
// model is open.
func (m *Model) Set(w *cluster.Workload) error {
	if err := w.Validate(); err != nil {
		return err
	}
	j := &job{w: w}
	if w.Admission != nil {
		var err error
		if j.r, j.warnings, err = m.Index.Reserve(w, m.now); err != nil {
			return err
		}
	}
	before := m.live.job(w.Namespace, w.Name)
	if before != nil {
		m.live.count(before.r, -1)
	}
	if err := m.affords(j); err != nil {
		if before != nil {
			m.live.count(before.r, +1)
		}
		return err
	}
	if before != nil {
		m.live.count(before.r, +1)
		m.drop(w.Namespace, w.Name)
	}
	m.live.put(j)
	if j.r != nil {
		m.usage.Add(j.r.Queue, j.r.Usage)
		m.keepUsage(j.r, true)
		m.noteUsage(j.r)
		for _, rs := range m.sorted {
			rs.Insert(j.r)
		}
	}
	if w.Admission != nil { // whether or not it holds what counts
		m.Release(w.Namespace, w.Name)
	}
	return nil
}

// noteUsage is called when r came or went.
func (m *Model) noteUsage(r *quota.Reservation) {
	for _, u := range r.Usage {
		m.noteOveruse(r.Queue, u.Column)
	}
}

// affords refuses a workload with which the sum of usage would overflow.
func (m *Model) affords(j *job) error {
	if j.r == nil {
		return nil
	}
	var errs []error
	for _, u := range j.r.Usage {
		if m.live.total[u.Column] > cluster.MaxUsage-u.Amount {
			errs = append(errs, problems.Workload(j.w, "PodSets", strconv.FormatInt(u.Amount, 10)+" "+m.Index.ResourceName(u.Column),
				"so little that all workloads together use at most 2^62-1"))
		}
	}
	return problems.Join(errs)
}

// drop takes a workload away, and reports whether it was there.
func (m *Model) drop(namespace, name string) bool {
	j := m.live.take(namespace, name)
	if j == nil {
		return false
	}
	if j.r != nil {
		m.usage.Remove(j.r.Queue, j.r.Usage)
		m.keepUsage(j.r, false)
		m.noteUsage(j.r)
		for _, rs := range m.sorted {
			rs.Delete(j.r)
		}
	}
	return true
}

// SetTime moves the time, as [cluster.Nanos]. The logarithm of the workloads for each
// that does not say since when it holds quota: that is since then.
// The model is open.
func (m *Model) SetTime(now int64) {
	m.now, m.kept = now, nil
	var undated []*job
	m.live.undated.Ascend(func(j *job) bool { undated = append(undated, j); return true })
	for _, j := range undated {
		r := *j.r
		r.Reserved = now
		m.live.take(j.w.Namespace, j.w.Name)
		m.live.put(&job{j.w, &r, j.warnings})
		for _, rs := range m.sorted {
			rs.Delete(j.r)
			rs.Insert(&r)
		}
	}
}

// momentOf is the moment that cluster.Nanos turned into now.
func momentOf(now int64) time.Time {
	if now == cluster.Nanos(time.Time{}) {
		return time.Time{}
	}
	return time.Unix(0, now).UTC()
}
