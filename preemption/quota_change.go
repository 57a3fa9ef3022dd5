package preemption

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// The methods of this file change the quota part of the live model. A change of a
// workload costs the depth of the tree for every flavor-resource that it uses, and
// the logarithm of the workloads; a change of anything else compiles the quota part
// anew. What is set is copied one level deep: its slices and maps must not be
// changed afterwards. What cannot be read is refused with a [*cluster.FieldError] and
// changes nothing.

// SetWorkload adds w or replaces the workload of its namespace and name. One that is
// admitted gives up what [Planner.Apply] held for it.
func (pl *Planner) SetWorkload(w Workload) error {
	return pl.changeQuota(func(m *quotaModel) error { return m.set(&w) })
}

// RemoveWorkload takes a workload away and frees its quota.
func (pl *Planner) RemoveWorkload(namespace, name string) error {
	return pl.changeQuota(func(m *quotaModel) error {
		ok := m.drop(namespace, name)
		m.live.release(namespace, name)
		return missing(ok, cluster.KindWorkload, namespace, name)
	})
}

// Release forgets what [Planner.Apply] holds for a workload that is not admitted.
// Its victims stay evicted.
func (pl *Planner) Release(namespace, name string) error {
	return pl.changeQuota(func(m *quotaModel) error {
		return missing(m.live.release(namespace, name), cluster.KindWorkload, namespace, name)
	})
}

// SetClusterQueue adds q or replaces the ClusterQueue of its name.
func (pl *Planner) SetClusterQueue(q ClusterQueue) error {
	return pl.rebuildQuota(func(l *liveQuota) error { l.queues.ReplaceOrInsert(&q); return nil })
}

// RemoveClusterQueue takes a ClusterQueue away; its workloads are left out.
func (pl *Planner) RemoveClusterQueue(name string) error {
	return pl.rebuildQuota(func(l *liveQuota) error {
		_, ok := l.queues.Delete(&ClusterQueue{Name: name})
		return missing(ok, cluster.KindClusterQueue, "", name)
	})
}

// SetCohort adds c or replaces the Cohort of its name.
func (pl *Planner) SetCohort(c Cohort) error {
	return pl.rebuildQuota(func(l *liveQuota) error { l.cohorts.ReplaceOrInsert(&c); return nil })
}

// RemoveCohort takes a Cohort away; it exists without quota as long as it is named.
func (pl *Planner) RemoveCohort(name string) error {
	return pl.rebuildQuota(func(l *liveQuota) error {
		_, ok := l.cohorts.Delete(&Cohort{Name: name})
		return missing(ok, cluster.KindCohort, "", name)
	})
}

// SetLocalQueue adds q or replaces the LocalQueue of its namespace and name.
func (pl *Planner) SetLocalQueue(q LocalQueue) error {
	return pl.rebuildQuota(func(l *liveQuota) error { l.locals.ReplaceOrInsert(&q); return nil })
}

// RemoveLocalQueue takes a LocalQueue away.
func (pl *Planner) RemoveLocalQueue(namespace, name string) error {
	return pl.rebuildQuota(func(l *liveQuota) error {
		_, ok := l.locals.Delete(&LocalQueue{Namespace: namespace, Name: name})
		return missing(ok, cluster.KindLocalQueue, namespace, name)
	})
}

// SetResourceFlavor adds f or replaces the ResourceFlavor of its name.
func (pl *Planner) SetResourceFlavor(f ResourceFlavor) error {
	return pl.rebuildQuota(func(l *liveQuota) error { l.flavors.ReplaceOrInsert(&f); return nil })
}

// RemoveResourceFlavor takes a ResourceFlavor away; queues that name it are inactive.
func (pl *Planner) RemoveResourceFlavor(name string) error {
	return pl.rebuildQuota(func(l *liveQuota) error {
		_, ok := l.flavors.Delete(&ResourceFlavor{Name: name})
		return missing(ok, cluster.KindResourceFlavor, "", name)
	})
}

// changeQuota runs f on the live model, which is this planner's own.
func (pl *Planner) changeQuota(f func(m *quotaModel) error) error {
	pl.gate.RLock()
	defer pl.gate.RUnlock()
	pl.mu.Lock()
	defer pl.mu.Unlock()
	defer pl.show()
	return pl.editQuota(f)
}

// editQuota is changeQuota for a caller that holds mu, and shows what came of it together
// with the rest of its change. No question reads it before that.
func (pl *Planner) editQuota(f func(m *quotaModel) error) error {
	if pl.quotaShared || !exclude(&pl.quota.mu) {
		pl.quota, pl.quotaShared = pl.quota.clone(), false
		pl.quota.mu.Lock()
	}
	pl.quotaHeld = true
	m := pl.quota
	m.open(pl.first)
	m.version++
	err := f(m)
	pl.heed(m)
	return err
}

// heed is called after m has changed: where warnings are errors, the next question has to
// give them.
func (pl *Planner) heed(m *quotaModel) {
	if pl.options.Strict && len(m.warnings()) > 0 {
		pl.model, pl.ready = pl.open(), nil
	}
}

// rebuildQuota changes something other than a workload: f works on a copy, which is
// compiled anew.
func (pl *Planner) rebuildQuota(f func(l *liveQuota) error) error {
	pl.gate.RLock()
	defer pl.gate.RUnlock()
	pl.mu.Lock()
	defer pl.mu.Unlock()
	before := pl.quota.clone()
	before.open(pl.first)
	if err := f(before.live); err != nil {
		return err
	}
	objects := before.live.objects()
	objects.Time = nanosTime(before.now)
	m, err := newQuotaModelOf(objects, pl.options.Quota)
	if err != nil {
		return err
	}
	m.live = before.live
	m.live.fill(m.ix, objects.Workloads)
	for i := range m.live.holds {
		m.live.holds[i].compile(m.ix)
	}
	pl.quota, pl.quotaShared = m, false
	pl.heed(m)
	pl.show()
	return nil
}

// set adds or replaces a workload.
func (m *quotaModel) set(w *Workload) error {
	if err := w.Validate(); err != nil {
		return err
	}
	j := &quotaJob{w: w}
	if w.Admission != nil {
		var err error
		if j.r, j.warnings, err = m.ix.Reserve(w, m.now); err != nil {
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
		m.noteUsage(j.r)
		for _, rs := range m.sorted {
			rs.Insert(j.r)
		}
		m.live.release(w.Namespace, w.Name)
	}
	return nil
}

// noteUsage is called when r came or went.
func (m *quotaModel) noteUsage(r *cluster.Reservation) {
	for _, u := range r.Usage {
		m.noteOveruse(r.Queue, u.Column)
	}
}

// affords refuses a workload with which the sum of usage would overflow.
func (m *quotaModel) affords(j *quotaJob) error {
	if j.r == nil {
		return nil
	}
	var errs []error
	for _, u := range j.r.Usage {
		if m.live.total[u.Column] > cluster.MaxUsage-u.Amount {
			errs = append(errs, workloadError(j.w, "PodSets", fmt.Sprintf("%d %s", u.Amount, m.ix.ResourceName(u.Column)),
				"so little that all workloads together use at most 2^62-1"))
		}
	}
	return join(errs)
}

// drop takes a workload away, and reports whether it was there.
func (m *quotaModel) drop(namespace, name string) bool {
	j := m.live.take(namespace, name)
	if j == nil {
		return false
	}
	if j.r != nil {
		m.usage.Remove(j.r.Queue, j.r.Usage)
		m.noteUsage(j.r)
		for _, rs := range m.sorted {
			rs.Delete(j.r)
		}
	}
	return true
}

// setTime moves the time, as [cluster.Nanos]. The logarithm of the workloads for each
// that does not say since when it holds quota: that is since then.
func (m *quotaModel) setTime(now int64) {
	m.now = now
	var undated []*quotaJob
	m.live.undated.Ascend(func(j *quotaJob) bool { undated = append(undated, j); return true })
	for _, j := range undated {
		r := *j.r
		r.Reserved = now
		m.live.take(j.w.Namespace, j.w.Name)
		m.live.put(&quotaJob{j.w, &r, j.warnings})
		for _, rs := range m.sorted {
			rs.Delete(j.r)
			rs.Insert(&r)
		}
	}
}

// nanosTime is the moment that cluster.Nanos turned into now.
func nanosTime(now int64) time.Time {
	if now == cluster.Nanos(time.Time{}) {
		return time.Time{}
	}
	return time.Unix(0, now).UTC()
}
