package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// quotaCase is a random tree of queues that are mostly full, and workload "in",
// which waits.
type quotaCase struct {
	snapshot *cluster.Snapshot
	options  preemption.Options
}

// drawQuota makes a case of rapid's bits, for shrinking and fuzzing.
func drawQuota(t *rapid.T) quotaCase {
	return makeQuota(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
}

// seededQuota makes a case of a seed. Its choices are spread more evenly than
// rapid's, so that more cases have victims.
func seededQuota(seed uint64) quotaCase { return makeQuota(rand.New(rand.NewPCG(seed, 1)).IntN) }

// quotaMaker takes choices, numbers from 0 to n-1, from somewhere.
type quotaMaker struct{ choose func(n int) int }

func (m quotaMaker) within(low, high int) int { return low + m.choose(high-low+1) }

// one is true one time in n.
func (m quotaMaker) one(n int) bool { return m.choose(n) == n-1 }

func pickOf[T any](m quotaMaker, choices ...T) T { return choices[m.choose(len(choices))] }

// makeQuota makes small trees, small amounts and few priorities and times, so that
// limits bind and ties are common.
func makeQuota(choose func(n int) int) quotaCase {
	m := quotaMaker{choose}
	s := &cluster.Snapshot{Time: time.Unix(1000, 0).UTC()}
	flavors := []string{"f1", "f2"}[:m.within(1, 2)]
	for i, f := range flavors {
		s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: f, NodeLabels: map[string]string{"pool": fmt.Sprint(i)}})
	}
	resources := []string{"cpu", "mem", cluster.Pods}[:pickOf(m, 1, 1, 1, 2, 2, 3)]
	cohorts := []string{"co0"}
	for i := range m.within(0, 4) {
		c := cluster.Cohort{Name: fmt.Sprintf("co%d", i), Weight: m.weight()}
		if i > 0 && !m.one(6) {
			c.Parent = pickOf(m, cohorts...)
		}
		if m.one(3) {
			c.Groups = m.groups(flavors, resources, c.Parent != "", false)
		}
		cohorts = append(cohorts, c.Name)
		s.Cohorts = append(s.Cohorts, c)
	}
	for i := range m.within(1, 5) {
		name, cohort := fmt.Sprintf("q%d", i), pickOf(m, cohorts...)
		if m.one(8) {
			cohort = ""
		}
		s.ClusterQueues = append(s.ClusterQueues, m.queue(name, cohort, flavors, resources))
		for k := range 2 {
			q := cluster.LocalQueue{Namespace: "ns", Name: fmt.Sprintf("lq%d-%d", i, k), ClusterQueue: name}
			if usage := int64(m.within(0, 3)); usage > 0 {
				q.Usage = &usage
			}
			s.LocalQueues = append(s.LocalQueues, q)
		}
	}
	for i := range m.within(2, 16) {
		s.Workloads = append(s.Workloads, m.running(i, s))
	}
	s.Workloads = append(s.Workloads, m.pending(s, resources))
	fair := pickOf(m, nil, nil, &preemption.FairSharing{},
		&preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}},
		&preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}})
	return quotaCase{s, preemption.Options{Quota: preemption.QuotaOptions{FairSharing: fair}}}
}

func (m quotaMaker) weight() *cluster.Weight {
	w := pickOf(m, cluster.OneWeight, cluster.OneWeight, 0, cluster.OneWeight/2, 3*cluster.OneWeight)
	return &w
}

// groups gives every resource a group of its own, or all of them one.
func (m quotaMaker) groups(flavors, resources []string, limits, isQueue bool) []cluster.ResourceGroup {
	quotas := func(flavor string, resources ...string) cluster.FlavorQuotas {
		fq := cluster.FlavorQuotas{Flavor: flavor}
		for _, r := range resources {
			q := cluster.ResourceQuota{Resource: r, Nominal: pickOf[int64](m, 0, 1, 2, 3, 4, 5, 6, 8)}
			if limits && m.one(4) {
				b := int64(m.within(0, 4))
				q.Borrowing = &b
			}
			if limits && m.one(4) {
				l := int64(m.within(0, int(q.Nominal)))
				if !isQueue {
					l = int64(m.within(0, 8))
				}
				q.Lending = &l
			}
			fq.Resources = append(fq.Resources, q)
		}
		return fq
	}
	if m.one(3) && len(flavors) >= len(resources) {
		var groups []cluster.ResourceGroup
		for i, r := range resources {
			groups = append(groups, cluster.ResourceGroup{Flavors: []cluster.FlavorQuotas{quotas(flavors[i], r)}})
		}
		return groups
	}
	var group cluster.ResourceGroup
	for _, f := range flavors {
		group.Flavors = append(group.Flavors, quotas(f, resources...))
	}
	return []cluster.ResourceGroup{group}
}

func (m quotaMaker) queue(name, cohort string, flavors, resources []string) cluster.ClusterQueue {
	q := cluster.ClusterQueue{
		Name: name, Cohort: cohort, Weight: m.weight(), Groups: m.groups(flavors, resources, cohort != "", true),
		FairLocalQueues: m.one(6), Stopped: m.one(30),
	}
	q.Preemption = cluster.QueuePreemption{
		WithinClusterQueue: pickOf(m, cluster.LowerPriority, cluster.LowerPriority, cluster.LowerOrNewerEqualPriority,
			cluster.LowerOrNewerEqualPriority, cluster.QueueNever),
		ReclaimWithinCohort: pickOf(m, cluster.AnyPriority, cluster.AnyPriority, cluster.AnyPriority, cluster.LowerPriority,
			cluster.LowerPriority, cluster.QueueNever, cluster.ReclaimFromAny, cluster.ReclaimFromLowerPriority),
		Order: pickOf(m, nil, nil, nil, []cluster.VictimOrder{cluster.ByLongestRuntime},
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
		WhenCanBorrow:  pickOf(m, "", cluster.TryNextFlavor),
		WhenCanPreempt: pickOf(m, "", cluster.StopSearch),
	}
	if q.Fungibility.WhenCanBorrow == cluster.TryNextFlavor && q.Fungibility.WhenCanPreempt == "" {
		q.Fungibility.Preference = pickOf(m, "", cluster.BorrowingOverPreemption, cluster.PreemptionOverBorrowing)
	}
	return q
}

func (m quotaMaker) times(w *cluster.Workload) {
	w.Created = time.Unix(int64(m.within(0, 3)), 0).UTC()
	w.UID = pickOf(m, "", "a", "b", "c")
	w.Boost = pickOf[int32](m, 0, 0, 0, 1)
}

// running makes a workload that holds quota of some queue.
func (m quotaMaker) running(i int, s *cluster.Snapshot) cluster.Workload {
	k := m.choose(len(s.ClusterQueues))
	q := &s.ClusterQueues[k]
	w := cluster.Workload{
		Namespace: "ns", Name: fmt.Sprintf("w%02d", i), Queue: fmt.Sprintf("lq%d-%d", k, m.choose(2)),
		Priority: int32(m.within(-1, 3)), Evicted: m.one(8),
		Admission: &cluster.Admission{ClusterQueue: q.Name},
	}
	m.times(&w)
	if at := m.within(0, 3); at > 0 {
		w.Admission.Reserved = time.Unix(int64(at), 0).UTC()
	}
	set := cluster.PodSet{Name: "main", Count: int32(m.within(1, 2)), Requests: cluster.Resources{}, Flavors: map[string]string{}}
	for _, g := range q.Groups {
		f := pickOf(m, g.Flavors...)
		for _, r := range f.Resources {
			if r.Resource == cluster.Pods {
				set.Flavors[cluster.Pods] = f.Flavor
			} else if !m.one(5) {
				set.Requests[r.Resource] = pickOf[int64](m, 1, 1, 2, 2, 3, 0)
				set.Flavors[r.Resource] = f.Flavor
			}
		}
	}
	w.PodSets = []cluster.PodSet{set}
	return w
}

func (m quotaMaker) pending(s *cluster.Snapshot, resources []string) cluster.Workload {
	w := cluster.Workload{
		Namespace: "ns", Name: "in", Queue: fmt.Sprintf("lq%d-0", m.choose(len(s.ClusterQueues))), Priority: int32(m.within(0, 4)),
	}
	m.times(&w)
	for i := range pickOf(m, 1, 1, 1, 1, 2, 2, 3) {
		set := cluster.PodSet{Name: fmt.Sprintf("set%d", i), Count: pickOf[int32](m, 1, 1, 1, 1, 2, 3, 0), Requests: cluster.Resources{}}
		if set.Count > 0 && m.one(4) {
			least := int32(m.within(1, int(set.Count)))
			set.MinCount = &least
		}
		if m.one(4) {
			set.Group = "g"
		}
		if m.one(6) {
			set.NodeSelector = map[string]string{"pool": fmt.Sprint(m.choose(2)), "disk": "ssd"}
		}
		for _, r := range resources {
			if r != cluster.Pods && !m.one(6) {
				set.Requests[r] = pickOf[int64](m, 1, 2, 3, 4, 5, 0)
			}
		}
		if m.one(20) {
			set.Requests["disk"] = int64(m.choose(2))
		}
		w.PodSets = append(w.PodSets, set)
	}
	return w
}
