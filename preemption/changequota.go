package preemption

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
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
	return pl.changeQuota(func(m *workload.Model) error { return m.Set(&w) })
}

// RemoveWorkload takes a workload away and frees its quota.
func (pl *Planner) RemoveWorkload(namespace, name string) error {
	return pl.changeQuota(func(m *workload.Model) error {
		return missing(m.Remove(namespace, name), cluster.KindWorkload, namespace, name)
	})
}

// Release forgets what [Planner.Apply] holds for a workload that is not admitted.
// Its victims stay evicted.
func (pl *Planner) Release(namespace, name string) error {
	return pl.changeQuota(func(m *workload.Model) error {
		return missing(m.Release(namespace, name), cluster.KindWorkload, namespace, name)
	})
}

// SetClusterQueue adds q or replaces the ClusterQueue of its name.
func (pl *Planner) SetClusterQueue(q ClusterQueue) error {
	return pl.rebuildQuota(func(o *workload.Objects) error { o.Queues.ReplaceOrInsert(&q); return nil })
}

// RemoveClusterQueue takes a ClusterQueue away; its workloads are left out.
func (pl *Planner) RemoveClusterQueue(name string) error {
	return pl.rebuildQuota(func(o *workload.Objects) error {
		_, ok := o.Queues.Delete(&ClusterQueue{Name: name})
		return missing(ok, cluster.KindClusterQueue, "", name)
	})
}

// SetCohort adds c or replaces the Cohort of its name.
func (pl *Planner) SetCohort(c Cohort) error {
	return pl.rebuildQuota(func(o *workload.Objects) error { o.Cohorts.ReplaceOrInsert(&c); return nil })
}

// RemoveCohort takes a Cohort away; it exists without quota as long as it is named.
func (pl *Planner) RemoveCohort(name string) error {
	return pl.rebuildQuota(func(o *workload.Objects) error {
		_, ok := o.Cohorts.Delete(&Cohort{Name: name})
		return missing(ok, cluster.KindCohort, "", name)
	})
}

// SetLocalQueue adds q or replaces the LocalQueue of its namespace and name.
func (pl *Planner) SetLocalQueue(q LocalQueue) error {
	return pl.rebuildQuota(func(o *workload.Objects) error { o.Locals.ReplaceOrInsert(&q); return nil })
}

// RemoveLocalQueue takes a LocalQueue away.
func (pl *Planner) RemoveLocalQueue(namespace, name string) error {
	return pl.rebuildQuota(func(o *workload.Objects) error {
		_, ok := o.Locals.Delete(&LocalQueue{Namespace: namespace, Name: name})
		return missing(ok, cluster.KindLocalQueue, namespace, name)
	})
}

// SetResourceFlavor adds f or replaces the ResourceFlavor of its name.
func (pl *Planner) SetResourceFlavor(f ResourceFlavor) error {
	return pl.rebuildQuota(func(o *workload.Objects) error { o.Flavors.ReplaceOrInsert(&f); return nil })
}

// RemoveResourceFlavor takes a ResourceFlavor away; queues that name it are inactive.
func (pl *Planner) RemoveResourceFlavor(name string) error {
	return pl.rebuildQuota(func(o *workload.Objects) error {
		_, ok := o.Flavors.Delete(&ResourceFlavor{Name: name})
		return missing(ok, cluster.KindResourceFlavor, "", name)
	})
}

// changeQuota runs f on the live model, which is this planner's own.
func (pl *Planner) changeQuota(f func(m *workload.Model) error) error {
	pl.gate.RLock()
	defer pl.gate.RUnlock()
	pl.mu.Lock()
	defer pl.mu.Unlock()
	defer pl.show()
	return pl.editQuota(f)
}

// editQuota is changeQuota for a caller that holds mu, and shows what came of it together
// with the rest of its change. No question reads it before that. Where pods hold quota, and a
// question has asked about them, f runs twice; see [workload.Queued.Follow].
func (pl *Planner) editQuota(f func(m *workload.Model) error) error {
	pl.changed()
	idle := pl.quota.Idle()
	queued := &workload.Queued{} // of which nobody knows
	if !pl.quotaHeld && (pl.quotaShared || idle || !exclude(&pl.quota.Mu)) {
		pl.quota, pl.quotaShared = pl.quota.Clone(), false
		pl.quota.Mu.Lock()
	} else if c := pl.held.Ready; c != nil {
		queued = &c.Queued
	}
	pl.quotaHeld = true
	err := queued.Follow(pl.quota, pl.held.First, func(m *workload.Model) error {
		if idle {
			m.SetTime(cluster.Nanos(pl.held.Time()))
		}
		return f(m)
	})
	pl.heed(pl.quota)
	return err
}

// heed is called after m has changed: where warnings are errors, the next question has to
// give them.
func (pl *Planner) heed(m *workload.Model) {
	if pl.options.Strict && len(m.Warnings()) > 0 {
		pl.held.Open()
	}
}

// rebuildQuota changes something other than a workload: f works on a copy, which is
// compiled anew.
func (pl *Planner) rebuildQuota(f func(o *workload.Objects) error) error {
	pl.gate.RLock()
	defer pl.gate.RUnlock()
	pl.mu.Lock()
	defer pl.mu.Unlock()
	m, err := pl.quota.Rebuilt(pl.held.First, cluster.Nanos(pl.held.Time()), f)
	if err != nil {
		return err
	}
	pl.changed()
	pl.quota, pl.quotaShared = m, false
	pl.heed(m)
	pl.show()
	return nil
}
