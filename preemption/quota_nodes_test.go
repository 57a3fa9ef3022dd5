package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// queuedCase is a random cluster in which pods hold quota, or do not, and pod or
// group "in", which needs quota and a place.
type queuedCase struct {
	snapshot  *cluster.Snapshot
	preemptor preemption.Preemptor
	options   preemption.Options
}

// seededQueued makes a case: one flavor of cpu on every node, two or three queues in
// a cohort, pods of which some hold quota, and at times a workload without pods.
func seededQueued(seed uint64) queuedCase {
	r := rand.New(rand.NewPCG(seed, 3))
	pick := func(n int) int64 { return int64(r.IntN(n)) }
	s := &cluster.Snapshot{ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}}}
	numNodes, numQueues := 1+r.IntN(3), 2+r.IntN(2)
	for n := range numNodes {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: fmt.Sprint("n", n), Allocatable: cluster.Resources{"cpu": 4 + pick(5)}, Labels: map[string]string{"zone": fmt.Sprint(n % 2)},
		})
	}
	for q := range numQueues {
		name := fmt.Sprint("q", q)
		s.ClusterQueues = append(s.ClusterQueues, cluster.ClusterQueue{
			Name: name, Cohort: "co",
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: pick(9)}},
			}}}},
			Preemption: cluster.QueuePreemption{
				WithinClusterQueue:  []cluster.QueuePolicy{cluster.LowerPriority, cluster.LowerPriority, cluster.LowerOrNewerEqualPriority, cluster.QueueNever}[pick(4)],
				ReclaimWithinCohort: []cluster.QueuePolicy{cluster.AnyPriority, cluster.LowerPriority, cluster.QueueNever, cluster.ReclaimFromAny, cluster.ReclaimFromLowerPriority}[pick(5)],
			},
		})
		s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: name, ClusterQueue: name})
	}
	queueOf := func() string { return fmt.Sprint("q", r.IntN(numQueues)) }
	free := make([]int64, numNodes)
	for n := range free {
		free[n] = s.Nodes[n].Allocatable["cpu"]
	}
	for i := range 3 + r.IntN(8) {
		n, cpu, prio := r.IntN(numNodes), 1+pick(3), int32(pick(4))
		if free[n] < cpu && r.IntN(10) > 0 {
			continue
		}
		free[n] -= cpu
		pod := cluster.Pod{Name: fmt.Sprintf("p%02d", i), Node: s.Nodes[n].Name, Requests: cluster.Resources{"cpu": cpu}, Priority: &prio}
		if r.IntN(3) > 0 {
			pod.Queue = queueOf()
		}
		if r.IntN(5) == 0 {
			pod.Group = fmt.Sprint("g", r.IntN(2))
		}
		s.Pods = append(s.Pods, pod)
	}
	for g := range 2 {
		group := cluster.PodGroup{Name: fmt.Sprint("g", g)}
		prio := int32(pick(4))
		group.Priority = &prio
		if r.IntN(2) == 0 {
			group.Queue = queueOf()
		}
		s.PodGroups = append(s.PodGroups, group)
	}
	if r.IntN(4) == 0 {
		s.Workloads = append(s.Workloads, cluster.Workload{
			Name: "remote", Priority: int32(pick(4)), Admission: &cluster.Admission{ClusterQueue: queueOf()},
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{"cpu": 1 + pick(3)}, Flavors: map[string]string{"cpu": "f"}}},
		})
	}
	c := queuedCase{snapshot: s, preemptor: preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}}
	prio := int32(pick(5))
	if r.IntN(3) > 0 {
		s.Pods = append(s.Pods, cluster.Pod{Name: "in", Queue: queueOf(), Priority: &prio, Requests: cluster.Resources{"cpu": 1 + pick(4)}})
	} else {
		least := int32(2)
		group := cluster.PodGroup{Name: "in", Queue: queueOf(), Priority: &prio, MinCount: &least}
		if r.IntN(2) == 0 {
			group.Topology = []cluster.TopologyConstraint{{Key: "zone"}}
		}
		s.PodGroups = append(s.PodGroups, group)
		for i := range 2 {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("in", i), Group: "in", Requests: cluster.Resources{"cpu": 1 + pick(2)}})
		}
		c.preemptor.Kind = cluster.KindPodGroup
	}
	if r.IntN(3) == 0 {
		c.options.Quota.FairSharing = &preemption.FairSharing{}
	}
	return c
}

// quotaOfPods describes the same cluster to the twin: the pods that hold quota as
// workloads, those of a group with a queue as one.
func (c *queuedCase) quotaOfPods() *naivequota.World {
	s := *c.snapshot
	s.Workloads = slices.Clone(s.Workloads)
	groups := map[string]int{}
	for _, p := range s.Pods {
		queue, name, prio := p.Queue, p.Name, *orZero(p.Priority)
		for _, g := range s.PodGroups {
			if g.Name == p.Group && g.Queue != "" {
				queue, name, prio = g.Queue, g.Name, *g.Priority
			}
		}
		if queue == "" || p.Node == "" {
			continue
		}
		set := cluster.PodSet{Name: p.Name, Count: 1, Requests: p.Requests, Flavors: map[string]string{"cpu": "f"}}
		if i, ok := groups[name]; ok {
			s.Workloads[i].PodSets = append(s.Workloads[i].PodSets, set)
			continue
		}
		groups[name] = len(s.Workloads)
		s.Workloads = append(s.Workloads, cluster.Workload{
			Name: name, Priority: prio, Admission: &cluster.Admission{ClusterQueue: queue}, PodSets: []cluster.PodSet{set},
		})
	}
	return naivequota.NewWorld(&s)
}

func orZero(p *int32) *int32 {
	if p == nil {
		return new(int32)
	}
	return p
}

// eachQueued calls check with random cases that were answered with victims, and with
// quota and nodes once those are gone.
func eachQueued(t *testing.T, check func(t *testing.T, c *queuedCase, r *preemption.Result)) {
	everyQueued(t, func(t *testing.T, c *queuedCase, r *preemption.Result) {
		if r.Verdict == preemption.Feasible {
			check(t, c, r)
		}
	})
}

// everyQueued calls check with random cases, however they were answered.
func everyQueued(t *testing.T, check func(t *testing.T, c *queuedCase, r *preemption.Result)) {
	answered := map[preemption.Verdict]int{}
	for seed := range seeds(1500) {
		c := seededQueued(seed)
		r, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		answered[r.Verdict]++
		check(t, &c, r)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	require.Greater(t, answered[preemption.Feasible], int(seeds(100)))
	require.Greater(t, answered[preemption.Infeasible], int(seeds(100)))
	require.Greater(t, answered[preemption.Fits], int(seeds(100)))
}

func TestQueuedPreemptorFitsQuotaAndNodes(t *testing.T) {
	eachQueued(t, func(t *testing.T, c *queuedCase, r *preemption.Result) {
		w := c.quotaOfPods()
		gone := map[string]bool{}
		for _, v := range r.Victims {
			gone[v.Name] = true
			for _, p := range v.Pods {
				gone[p.Name] = true
			}
		}
		for a := range w.In {
			if gone[a.W.Name] {
				delete(w.In, a)
			}
		}
		q := &naivequota.Question{Queue: w.Queues[r.Quota.ClusterQueue], Request: naivequota.Amounts{}}
		for _, f := range r.Quota.Flavors {
			q.Request[naivequota.FR{Flavor: f.Flavor, Resource: f.Resource}] += f.Amount
		}
		require.True(t, w.Fits(q, true), "quota")

		free, before := map[string]int64{}, map[string]int64{}
		for _, n := range c.snapshot.Nodes {
			free[n.Name], before[n.Name] = n.Allocatable["cpu"], n.Allocatable["cpu"]
		}
		at := map[string]string{}
		for _, n := range r.Nominations {
			at[n.Pod.Name] = n.Node
		}
		for _, p := range c.snapshot.Pods {
			before[p.Node] -= p.Requests["cpu"]
			switch {
			case at[p.Name] != "":
				free[at[p.Name]] -= p.Requests["cpu"]
			case !gone[p.Name]:
				free[p.Node] -= p.Requests["cpu"]
			}
		}
		for _, n := range c.snapshot.Nodes {
			require.GreaterOrEqual(t, free[n.Name], min(0, before[n.Name]), "overuse of %s grew", n.Name)
		}
	})
}

func TestQueuedVictimsAreTheRulesToTake(t *testing.T) {
	eachQueued(t, func(t *testing.T, c *queuedCase, r *preemption.Result) {
		w := c.quotaOfPods()
		own := w.Queues[r.Quota.ClusterQueue]
		priority := int32(0)
		for _, p := range c.snapshot.Pods {
			if p.Name == "in" {
				priority = *p.Priority
			}
		}
		for _, g := range c.snapshot.PodGroups {
			if g.Name == "in" {
				priority = *g.Priority
			}
		}
		for _, v := range r.Victims {
			require.NotEmpty(t, v.Reason.Check, "%s could stay", v.Name)
			if v.Quota == nil {
				require.Less(t, v.Priority, priority, "the node rule")
				continue
			}
			n := w.Queues[v.Quota.ClusterQueue]
			policy := own.Queue.Preemption.WithinClusterQueue
			if n != own {
				policy = own.Queue.Preemption.ReclaimWithinCohort
				require.False(t, w.Within(n, map[naivequota.FR]bool{{Flavor: "f", Resource: "cpu"}: true}), "%s is within its quota", n.Name)
			}
			switch policy {
			case cluster.AnyPriority, cluster.ReclaimFromAny:
			case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
				require.Less(t, v.Quota.Priority, int64(priority))
			case cluster.LowerOrNewerEqualPriority:
				require.LessOrEqual(t, v.Quota.Priority, int64(priority))
			default:
				t.Errorf("%s went although the policy is %q", v.Name, policy)
			}
		}
	})
}

// A pod without a queue takes nobody's quota, whatever the priorities.
func TestUnqueuedPreemptorsSpareQueuedPods(t *testing.T) {
	for seed := range uint64(500) {
		c := seededQueued(seed)
		prio := int32(100)
		p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "stranger", Priority: &prio, Requests: cluster.Resources{"cpu": 4}}}}
		r, err := preemption.Preempt(p, c.snapshot)
		require.NoError(t, err)
		w := c.quotaOfPods()
		for _, v := range r.Victims {
			for _, pod := range v.Pods {
				for a := range w.In {
					for _, set := range a.W.PodSets {
						require.NotEqual(t, set.Name, pod.Name, "seed %d", seed)
					}
				}
			}
		}
	}
}

// Queues that evict each other in turn, one by reclaim and one by node priority,
// would never come to rest: the second is refused.
func TestTwoQueuesDoNotEvictEachOtherInTurn(t *testing.T) {
	high, low := int32(9), int32(0)
	groups := func(cpu int64) []cluster.ResourceGroup {
		return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: cpu}}}}}}
	}
	reclaim := cluster.QueuePreemption{ReclaimWithinCohort: cluster.AnyPriority, WithinClusterQueue: cluster.LowerPriority}
	pl, err := preemption.NewPlanner(&cluster.Snapshot{
		Nodes:           []cluster.Node{{Name: "n", Allocatable: cluster.Resources{"cpu": 4}}},
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []cluster.ClusterQueue{
			{Name: "owner", Cohort: "co", Groups: groups(4), Preemption: reclaim},
			{Name: "borrower", Cohort: "co", Groups: groups(0), Preemption: reclaim},
		},
		LocalQueues: []cluster.LocalQueue{{Name: "owner", ClusterQueue: "owner"}, {Name: "borrower", ClusterQueue: "borrower"}},
		Pods: []cluster.Pod{
			{Name: "important", Node: "n", Queue: "borrower", Priority: &high, Requests: cluster.Resources{"cpu": 4}},
			{Name: "modest", Queue: "owner", Priority: &low, Requests: cluster.Resources{"cpu": 4}},
		},
	}, preemption.Options{})
	require.NoError(t, err)
	r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "modest"})
	require.NoError(t, err)
	require.Equal(t, []string{"important"}, names(r), "the owner reclaims")
	advice(t, pl, r, preemption.Keep)
	require.NoError(t, pl.Evict(r))
	require.NoError(t, pl.Bind(preemption.PodRef{Name: "modest"}, "n"))

	require.NoError(t, pl.SetPod(cluster.Pod{Name: "important", Queue: "borrower", Priority: &high, Requests: cluster.Resources{"cpu": 4}}))
	r, err = pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "important"})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, preemption.LackQuota, r.Quota.Lack)
}

func TestQueuedAnswersIgnoreTheOrderOfTheSnapshot(t *testing.T) {
	for seed := range uint64(500) {
		c, d := seededQueued(seed), seededQueued(seed)
		slices.Reverse(d.snapshot.Pods)
		slices.Reverse(d.snapshot.Nodes)
		slices.Reverse(d.snapshot.ClusterQueues)
		slices.Reverse(d.snapshot.PodGroups)
		want, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		got, err := d.options.Preempt(d.preemptor, d.snapshot)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, got), "seed %d", seed)
	}
}

func TestQueuedPreemptorsKeepWithinLimits(t *testing.T) {
	refused := 0
	for seed := range uint64(800) {
		c := seededQueued(seed)
		free, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		c.options.Limits.Victims = 1
		r, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		require.LessOrEqual(t, len(r.Victims), 1, "seed %d", seed)
		if len(free.Victims) > 1 && r.Verdict == preemption.Infeasible {
			refused++
		}
	}
	require.Positive(t, refused)
}

// TestABrokenGangIsFreeWhereQuotaIsNeeded: what is left of it costs nothing, as without quota.
func TestABrokenGangIsFreeWhereQuotaIsNeeded(t *testing.T) {
	two := preemption.Resources{"cpu": 2}
	s := &preemption.Snapshot{
		Nodes:           []cluster.Node{{Name: "n1", Allocatable: two}, {Name: "n2", Allocatable: two}},
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name:       "q",
			Groups:     []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 4}}}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "l", ClusterQueue: "q"}},
		PodGroups:   []preemption.PodGroup{{Name: "gang", MinCount: prio(2), Priority: prio(2)}},
		Pods: []preemption.Pod{
			{Name: "in", Queue: "l", Priority: prio(9), Requests: two},
			{Name: "batch", Node: "n1", Queue: "l", Priority: prio(1), Requests: two},
			{Name: "member", Node: "n2", Queue: "l", Priority: prio(2), Group: "gang", Requests: two}, // the other one is gone
		},
	}
	for free, want := range map[bool]string{false: "batch", true: "member"} {
		r, err := preemption.Options{BrokenGroupsFree: free}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}, s)
		require.NoError(t, err)
		require.Equal(t, []string{want}, names(r), "%t", free)
	}
}

// Two who may only move have one room between them: another choice of workloads may be missed, and so it is not said
// that no evictions help. With a room for each, both are told where.
func TestWhatIsNotProvedOfAQueueIsNotSaid(t *testing.T) {
	two, four := preemption.Resources{"cpu": 2}, preemption.Resources{"cpu": 4}
	s := &preemption.Snapshot{
		Nodes:           []cluster.Node{{Name: "n1", Allocatable: four, Labels: map[string]string{"disk": "fast"}}, {Name: "n2", Allocatable: two}},
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name:       "q",
			Groups:     []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 8}}}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "l", ClusterQueue: "q"}},
		Pods: []preemption.Pod{
			{Name: "in", Queue: "l", Priority: prio(9), Requests: four, NodeSelector: map[string]string{"disk": "fast"}},
			{Name: "a", Node: "n1", Queue: "l", Priority: prio(1), Requests: two},
			{Name: "b", Node: "n1", Queue: "l", Priority: prio(1), Requests: two},
		},
	}
	o, in := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}, preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}
	r, err := o.Preempt(in, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, "no evictions were found that help; that none do is not proved", r.Message)
	require.False(t, r.Stats.Exact)

	s.Nodes = append(s.Nodes, cluster.Node{Name: "n3", Allocatable: two})
	r, err = o.Preempt(in, s)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, names(r))
	require.Len(t, r.Moves, 2)
	require.Empty(t, check.Verify(s, o, in, r))
}

// Members that are unlike are seated anew for each workload that leaves or comes back, more often than
// a gang that needs no quota is: still all have a place.
func TestUnlikeMembersOfAQueueAreSeatedAsOftenAsItTakes(t *testing.T) {
	const nodes, members = 150, 64
	s := &cluster.Snapshot{
		Time: time.Unix(1_000_000, 0), ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "q", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{
				{Resource: "gpu", Nominal: 4 * nodes}, {Resource: "cpu", Nominal: 1000 * nodes},
			}}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "q", ClusterQueue: "q"}},
	}
	for i := range nodes {
		n := fmt.Sprintf("n%03d", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: n, Allocatable: cluster.Resources{"gpu": 4, "cpu": 1000}})
		for k := range 4 {
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprint(n, "-", k), Node: n, Queue: "q", Started: time.Unix(int64(i*7919+k*104729)%100_003, 0), Requests: cluster.Resources{"gpu": 1},
			})
		}
	}
	all, prio := int32(members), int32(10)
	p := preemption.Preemptor{Group: &cluster.PodGroup{Name: "g", Queue: "q", MinCount: &all, Priority: &prio}}
	for i := range members {
		p.Pods = append(p.Pods, cluster.Pod{Name: fmt.Sprint("m", i), Group: "g", Queue: "q", Priority: &prio, Requests: cluster.Resources{"gpu": 4, "cpu": 500 + int64(i)}})
	}
	r, err := preemption.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Len(t, r.Nominations, members)
	require.Len(t, r.Victims, 4*members)
}
