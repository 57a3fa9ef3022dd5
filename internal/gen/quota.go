package gen

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// quota makes the objects of quota: small trees, small amounts and few priorities and
// times, so that limits bind and ties are common.
type quota struct {
	Source
	unit               int64 // of amounts
	namespace          string
	flavors, resources []string
}

// within is a number from low to high.
func (m quota) within(low, high int) int { return low + m.Source(high-low+1) }

// one is true one time in n.
func (m quota) one(n int) bool { return m.Source(n) == n-1 }

// newQuota chooses the flavors and resources of a tree.
func newQuota(src Source, unit int64, namespace string, resources ...string) quota {
	m := quota{Source: src, unit: unit, namespace: namespace}
	m.flavors = []string{"f1", "f2"}[:m.within(1, 2)]
	m.resources = resources[:Pick(m.Source, 1, 1, 1, 2, 2, 3)]
	return m
}

// Quota is a question about quota: a random tree of queues that are mostly full, and workload ns/in, which waits.
func Quota(src Source) Question {
	m := newQuota(src, 1, "ns", "cpu", "mem", cluster.Pods)
	s := cluster.Snapshot{Time: time.Unix(1000, 0).UTC()}
	m.tree(&s, 4, 5)
	for i := range m.within(2, 16) {
		s.Workloads = append(s.Workloads, m.running(fmt.Sprintf("w%02d", i), &s))
	}
	s.Workloads = append(s.Workloads, m.pending("in", &s))
	return Question{Snapshot: s, Preemptor: cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "in"}}
}

// tree adds flavors, cohorts and queues to s.
func (m quota) tree(s *cluster.Snapshot, cohorts, queues int) {
	for i := range m.flavors {
		s.ResourceFlavors = append(s.ResourceFlavors, m.flavor(i))
	}
	names := []string{"co0"}
	for i := range m.within(0, cohorts) {
		c := m.cohort(i, names)
		names = append(names, c.Name)
		s.Cohorts = append(s.Cohorts, c)
	}
	for i := range m.within(1, queues) {
		name, cohort := fmt.Sprintf("q%d", i), Pick(m.Source, names...)
		if m.one(8) {
			cohort = ""
		}
		s.ClusterQueues = append(s.ClusterQueues, m.queue(name, cohort))
		for k := range 2 {
			s.LocalQueues = append(s.LocalQueues, m.local(i, k))
		}
	}
}

func (m quota) flavor(i int) cluster.ResourceFlavor {
	return cluster.ResourceFlavor{Name: m.flavors[i], NodeLabels: map[string]string{"pool": fmt.Sprint(i)}}
}

// cohort is cohort i, perhaps below one of the others.
func (m quota) cohort(i int, others []string) cluster.Cohort {
	c := cluster.Cohort{Name: fmt.Sprintf("co%d", i), Weight: m.weight()}
	if i > 0 && !m.one(6) {
		c.Parent = Pick(m.Source, others...)
	}
	if m.one(3) {
		c.Groups = m.groups(c.Parent != "", false)
	}
	return c
}

// local is way k into ClusterQueue i.
func (m quota) local(i, k int) cluster.LocalQueue {
	q := cluster.LocalQueue{Namespace: m.namespace, Name: fmt.Sprintf("lq%d-%d", i, k), ClusterQueue: fmt.Sprintf("q%d", i)}
	if usage := int64(m.within(0, 3)); usage > 0 {
		q.Usage = &usage
	}
	return q
}

func (m quota) weight() *cluster.Weight {
	w := Pick(m.Source, cluster.OneWeight, cluster.OneWeight, 0, cluster.OneWeight/2, 3*cluster.OneWeight)
	return &w
}

// groups gives every resource a group of its own, or all of them one.
func (m quota) groups(limits, isQueue bool) []cluster.ResourceGroup {
	quotas := func(flavor string, resources ...string) cluster.FlavorQuotas {
		fq := cluster.FlavorQuotas{Flavor: flavor}
		for _, r := range resources {
			q := cluster.ResourceQuota{Resource: r, Nominal: m.unit * Pick[int64](m.Source, 0, 1, 2, 3, 4, 5, 6, 8)}
			if limits && m.one(4) {
				b := m.unit * int64(m.within(0, 4))
				q.Borrowing = &b
			}
			if limits && m.one(4) {
				l := m.unit * int64(m.within(0, int(q.Nominal/m.unit)))
				if !isQueue {
					l = m.unit * int64(m.within(0, 8))
				}
				q.Lending = &l
			}
			fq.Resources = append(fq.Resources, q)
		}
		return fq
	}
	if m.one(3) && len(m.flavors) >= len(m.resources) {
		var groups []cluster.ResourceGroup
		for i, r := range m.resources {
			groups = append(groups, cluster.ResourceGroup{Flavors: []cluster.FlavorQuotas{quotas(m.flavors[i], r)}})
		}
		return groups
	}
	var group cluster.ResourceGroup
	for _, f := range m.flavors {
		group.Flavors = append(group.Flavors, quotas(f, m.resources...))
	}
	return []cluster.ResourceGroup{group}
}

func (m quota) queue(name, cohort string) cluster.ClusterQueue {
	q := cluster.ClusterQueue{
		Name: name, Cohort: cohort, Weight: m.weight(), Groups: m.groups(cohort != "", true),
		FairLocalQueues: m.one(6), Stopped: m.one(30),
	}
	q.Preemption = cluster.QueuePreemption{
		WithinClusterQueue: Pick(m.Source, cluster.LowerPriority, cluster.LowerPriority, cluster.LowerOrNewerEqualPriority,
			cluster.LowerOrNewerEqualPriority, cluster.QueueNever),
		ReclaimWithinCohort: Pick(m.Source, cluster.AnyPriority, cluster.AnyPriority, cluster.AnyPriority, cluster.LowerPriority,
			cluster.LowerPriority, cluster.QueueNever, cluster.ReclaimFromAny, cluster.ReclaimFromLowerPriority),
		Order: Pick(m.Source, nil, nil, nil, []cluster.VictimOrder{cluster.ByLongestRuntime},
			[]cluster.VictimOrder{cluster.ByLowestRuntime, cluster.ByLowestPriority},
			[]cluster.VictimOrder{cluster.ByLowestPriority, cluster.ByLongestRuntime}),
	}
	switch q.Preemption.ReclaimWithinCohort {
	case cluster.AnyPriority, cluster.LowerPriority:
		if m.one(2) {
			q.Preemption.BorrowWithinCohort = &cluster.BorrowWithinCohort{}
			if m.one(2) {
				most := int32(m.within(-1, 2))
				q.Preemption.BorrowWithinCohort.MaxPriority = &most
			}
		}
	}
	q.Fungibility = cluster.Fungibility{
		WhenCanBorrow:  Pick(m.Source, "", cluster.TryNextFlavor),
		WhenCanPreempt: Pick(m.Source, "", cluster.StopSearch),
	}
	if q.Fungibility.WhenCanBorrow == cluster.TryNextFlavor && q.Fungibility.WhenCanPreempt == "" {
		q.Fungibility.Preference = Pick(m.Source, "", cluster.BorrowingOverPreemption, cluster.PreemptionOverBorrowing)
	}
	return q
}

func (m quota) times(w *cluster.Workload) {
	w.Created = time.Unix(int64(m.within(0, 3)), 0).UTC()
	w.UID = Pick(m.Source, "", "a", "b", "c")
	w.Boost = Pick[int32](m.Source, 0, 0, 0, 1)
}

// running makes a workload that holds quota of some queue.
func (m quota) running(name string, s *cluster.Snapshot) cluster.Workload {
	k := m.Source(len(s.ClusterQueues))
	q := &s.ClusterQueues[k]
	w := cluster.Workload{
		Namespace: m.namespace, Name: name, Queue: fmt.Sprintf("lq%d-%d", k, m.Source(2)),
		Priority: int32(m.within(-1, 3)), Evicted: m.one(8),
		Admission: &cluster.Admission{ClusterQueue: q.Name},
	}
	m.times(&w)
	if at := m.within(0, 3); at > 0 {
		w.Admission.Reserved = time.Unix(int64(at), 0).UTC()
	}
	set := cluster.PodSet{Name: "main", Count: int32(m.within(1, 2)), Requests: cluster.Resources{}, Flavors: map[string]string{}}
	for _, g := range q.Groups {
		f := Pick(m.Source, g.Flavors...)
		for _, r := range f.Resources {
			if r.Resource == cluster.Pods {
				set.Flavors[cluster.Pods] = f.Flavor
			} else if !m.one(5) {
				set.Requests[r.Resource] = m.unit * Pick[int64](m.Source, 1, 1, 2, 2, 3, 0)
				set.Flavors[r.Resource] = f.Flavor
			}
		}
	}
	w.PodSets = []cluster.PodSet{set}
	return w
}

func (m quota) pending(name string, s *cluster.Snapshot) cluster.Workload {
	w := cluster.Workload{
		Namespace: m.namespace, Name: name, Queue: fmt.Sprintf("lq%d-0", m.Source(len(s.ClusterQueues))), Priority: int32(m.within(0, 4)),
	}
	m.times(&w)
	for i := range Pick(m.Source, 1, 1, 1, 1, 2, 2, 3) {
		set := cluster.PodSet{Name: fmt.Sprintf("set%d", i), Count: Pick[int32](m.Source, 1, 1, 1, 1, 2, 3, 0), Requests: cluster.Resources{}}
		if set.Count > 0 && m.one(4) {
			least := int32(m.within(1, int(set.Count)))
			set.MinCount = &least
		}
		if m.one(4) {
			set.Group = "g"
		}
		if m.one(6) {
			set.NodeSelector = map[string]string{"pool": fmt.Sprint(m.Source(2)), "disk": "ssd"}
		}
		for _, r := range m.resources {
			if r != cluster.Pods && !m.one(6) {
				set.Requests[r] = m.unit * Pick[int64](m.Source, 1, 2, 3, 4, 5, 0)
			}
		}
		if m.one(20) {
			set.Requests["disk"] = int64(m.Source(2))
		}
		w.PodSets = append(w.PodSets, set)
	}
	return w
}
