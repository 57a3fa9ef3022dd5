package preemption_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
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
		if r.IntN(3) == 0 { // its pods are one workload, whoever names the queue
			group.Mode = disruption.All
			queue := queueOf()
			for i := range s.Pods {
				if s.Pods[i].Group == group.Name {
					s.Pods[i].Queue = queue
				}
			}
		}
		s.PodGroups = append(s.PodGroups, group)
	}
	if r.IntN(3) == 0 { // both go together, and may be one workload
		s.CompositePodGroups = []cluster.CompositePodGroup{{Name: "t", Mode: disruption.All, Priority: s.PodGroups[0].Priority}}
		s.PodGroups[0].Parent, s.PodGroups[1].Parent = "t", "t"
		if r.IntN(2) == 0 {
			s.PodGroups[0].Queue, s.PodGroups[1].Queue = "q0", "q0"
		}
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

// group is the pod group of p; nil: it is of none.
func (c *queuedCase) group(p *cluster.Pod) *cluster.PodGroup {
	if i := slices.IndexFunc(c.snapshot.PodGroups, func(g cluster.PodGroup) bool { return g.Name == p.Group }); i >= 0 {
		return &c.snapshot.PodGroups[i]
	}
	return nil
}

// queue is the one that p names, or its group does.
func (c *queuedCase) queue(p *cluster.Pod) string {
	if g := c.group(p); g != nil && g.Queue != "" {
		return g.Queue
	}
	return p.Queue
}

// goWith lists, for the tree of p and for its group, the pods that go with p as they are of mode All, by name.
func (c *queuedCase) goWith(p *cluster.Pod) (names []string, pods [][]*cluster.Pod) {
	with := func(name string, is func(g *cluster.PodGroup) bool) {
		var all []*cluster.Pod
		for i := range c.snapshot.Pods {
			if o := &c.snapshot.Pods[i]; o.Node != "" && c.group(o) != nil && is(c.group(o)) {
				all = append(all, o)
			}
		}
		names, pods = append(names, name), append(pods, all)
	}
	if g := c.group(p); g != nil && g.Parent != "" {
		with(g.Parent, func(o *cluster.PodGroup) bool { return o.Parent == g.Parent })
	}
	if g := c.group(p); g != nil && g.Mode == disruption.All {
		with(g.Name, func(o *cluster.PodGroup) bool { return o == g })
	}
	return names, pods
}

// holder is who holds the quota of p, a pod that runs.
func (c *queuedCase) holder(p *cluster.Pod) (name string, priority int32) {
	names, pods := c.goWith(p)
	for i := range names {
		if slices.ContainsFunc(pods[i], func(o *cluster.Pod) bool { return c.queue(o) != c.queue(p) }) {
			continue
		}
		if t := c.snapshot.CompositePodGroups; len(t) > 0 && names[i] == t[0].Name {
			return names[i], *t[0].Priority
		}
		return names[i], *c.group(p).Priority
	}
	if g := c.group(p); g != nil && g.Queue != "" {
		return g.Name, *g.Priority
	}
	return p.Name, *orZero(p.Priority)
}

// quotaOfPods describes the same cluster to the twin: the pods that hold quota as
// workloads, those of a group with a queue, or that go together and name one, as one.
func (c *queuedCase) quotaOfPods() *naivequota.World {
	s := *c.snapshot
	s.Workloads = slices.Clone(s.Workloads)
	at := map[string]int{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if c.queue(p) == "" || p.Node == "" {
			continue
		}
		name, prio := c.holder(p)
		set := cluster.PodSet{Name: p.Name, Count: 1, Requests: p.Requests, Flavors: map[string]string{"cpu": "f"}}
		if i, ok := at[name]; ok {
			s.Workloads[i].PodSets = append(s.Workloads[i].PodSets, set)
			continue
		}
		at[name] = len(s.Workloads)
		s.Workloads = append(s.Workloads, cluster.Workload{
			Name: name, Priority: prio, Admission: &cluster.Admission{ClusterQueue: c.queue(p)}, PodSets: []cluster.PodSet{set},
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
		gone := map[string]bool{}
		for _, v := range r.Victims {
			for _, p := range v.Pods {
				gone[p.Name] = true
			}
		}
		for i := range c.snapshot.Pods {
			_, with := c.goWith(&c.snapshot.Pods[i])
			for _, pods := range with {
				left := slices.DeleteFunc(pods, func(p *cluster.Pod) bool { return gone[p.Name] })
				require.True(t, !gone[c.snapshot.Pods[i].Name] || len(left) == 0, "who goes with %s stays", c.snapshot.Pods[i].Name)
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

// TestWhoGoesAsAWholeLosesQuotaAsAWhole: pods of what goes as a whole, a group or a tree of groups, are one workload where all of them name one
// queue, and else nobody takes quota from some of them alone.
func TestWhoGoesAsAWholeLosesQuotaAsAWhole(t *testing.T) {
	one, low, high := int32(1), int32(1), int32(9)
	in := cluster.Pod{Name: "in", Queue: "q0", Priority: &high, Requests: cluster.Resources{"cpu": 4}}
	for _, tree := range []bool{false, true} {
		for second, victims := range map[string]int{"q0": 2, "q1": 0, "": 0} {
			s := cluster.Snapshot{ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}}}
			for i, queue := range []string{"q0", second} {
				q, n := fmt.Sprint("q", i), fmt.Sprint("n", i)
				s.Nodes = append(s.Nodes, cluster.Node{Name: n, Allocatable: cluster.Resources{"cpu": 4}})
				p := cluster.Pod{Name: "p" + n, Node: n, Group: "all", Queue: queue, Priority: &low, Requests: cluster.Resources{"cpu": 4}}
				if tree {
					p.Group += n
				}
				if tree || i == 0 {
					s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: p.Group, Mode: disruption.All, MinCount: &one, Priority: &low, Parent: "tree"})
				}
				s.Pods = append(s.Pods, p)
				s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: q, ClusterQueue: q})
				s.ClusterQueues = append(s.ClusterQueues, cluster.ClusterQueue{
					Name: q, Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
					Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 8}}}}}},
				})
			}
			if tree {
				s.CompositePodGroups = []cluster.CompositePodGroup{{Name: "tree", Mode: disruption.All, Priority: &low}}
			}
			whole := cluster.Workload{Name: "in", Queue: "q0", Priority: high, PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{"cpu": 8}}}}
			for _, p := range []preemption.Preemptor{{Pods: []cluster.Pod{in}}, {Kind: cluster.KindWorkload, Workload: &whole}} {
				for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha} {
					if rules == preemption.Kubernetes136 && second == "" {
						continue // by them a pod without a queue goes by itself
					}
					o := preemption.Options{Rules: rules}
					r, err := o.Preempt(p, &s)
					require.NoError(t, err)
					require.Empty(t, check.Verify(&s, o, p, r))
					require.Equal(t, victims > 0, r.Verdict == preemption.Feasible, "tree %t, %q: %s", tree, second, r.Message)
					pl, err := preemption.NewPlanner(&s, o)
					require.NoError(t, err)
					if victims == 0 {
						if rules != preemption.Kubernetes136 && p.Workload == nil {
							why, err := pl.WhyNot(p, preemption.UnitTarget(map[bool]string{false: "all", true: "tree"}[tree]))
							require.NoError(t, err)
							require.Contains(t, why.Text, "pods that go with it hold other quota, or none")
						}
						continue
					}
					require.Len(t, r.Victims, 1)
					require.Len(t, r.Victims[0].Pods, victims)
					part := *r
					part.Victims = []preemption.Victim{r.Victims[0]}
					part.Victims[0].Pods = r.Victims[0].Pods[:1]
					require.NotEmpty(t, check.Verify(&s, o, p, &part))
					for _, change := range []func() error{ // a planner follows who comes, goes again, and goes with whom
						func() error {
							return pl.SetPod(cluster.Pod{Name: "third", Node: "n0", Group: s.PodGroups[0].Name, Priority: &low})
						},
						func() error { return pl.Remove(preemption.PodRef{Name: "third"}) },
						func() error {
							return pl.SetPodGroup(cluster.PodGroup{Name: s.PodGroups[0].Name, MinCount: &one, Priority: &low, Parent: "tree"})
						},
						func() error {
							return pl.SetCompositePodGroup(cluster.CompositePodGroup{Name: "tree", Priority: &low})
						},
					} {
						require.NoError(t, change())
						got, err := pl.Preempt(p)
						require.NoError(t, err)
						want, err := o.Preempt(p, pl.Snapshot())
						require.NoError(t, err)
						require.Equal(t, want.Victims, got.Victims)
						require.Empty(t, check.Verify(pl.Snapshot(), o, p, got))
					}
				}
			}
		}
	}
}

// TestWorkloadsMeetTreesOfGroups: answers about whole workloads hold, with what is proved of them, beside groups and trees of groups, also of
// more levels than are read.
func TestWorkloadsMeetTreesOfGroups(t *testing.T) {
	told := map[preemption.Verdict]int{}
	for seed := range seeds(10000) {
		c := seededQueued(seed)
		r := rand.New(rand.NewPCG(seed, 4))
		low := int32(r.IntN(4))
		for i := range 7 { // a chain, or several
			t := cluster.CompositePodGroup{Name: fmt.Sprint("t", i), Priority: &low, Mode: []disruption.Mode{disruption.Single, disruption.All}[r.IntN(2)]}
			if i > 0 && r.IntN(5) > 0 {
				t.Parent = fmt.Sprint("t", i-1)
			}
			c.snapshot.CompositePodGroups = append(c.snapshot.CompositePodGroups, t)
		}
		for i := range c.snapshot.PodGroups {
			c.snapshot.PodGroups[i].Parent = fmt.Sprint("t", r.IntN(7))
		}
		for i := range c.snapshot.Pods {
			if p := &c.snapshot.Pods[i]; p.Node != "" && r.IntN(2) == 0 {
				p.Group = fmt.Sprint("g", r.IntN(2))
			}
		}
		w := cluster.Workload{
			Name: "whole", Queue: fmt.Sprint("q", r.IntN(2)), Priority: int32(2 + r.IntN(4)),
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{"cpu": 1 + int64(r.IntN(5))}}},
		}
		if r.IntN(4) > 0 {
			c.options.Search, c.options.Proof, c.options.Quota.FairSharing = preemption.Exact, true, nil
		}
		p := preemption.Preemptor{Kind: cluster.KindWorkload, Workload: &w}
		got, err := c.options.Preempt(p, c.snapshot)
		require.NoError(t, err)
		require.Empty(t, check.Verify(c.snapshot, c.options, p, got), "seed %d", seed)
		told[got.Verdict]++
	}
	require.Greater(t, told[preemption.Feasible], int(seeds(300)))
	require.Greater(t, told[preemption.Infeasible], int(seeds(500)))
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

// TestAGangOfAQueueGoesWhereMoreOfItHavePlaces: as long as they disrupt as little there, unless as few members count as it needs.
func TestAGangOfAQueueGoesWhereMoreOfItHavePlaces(t *testing.T) {
	cpu := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: n} }
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Labels: map[string]string{"rack": "a"}, Allocatable: cpu(1)}, {Name: "n2", Labels: map[string]string{"rack": "b"}, Allocatable: cpu(2)},
		},
		PodGroups:       []preemption.PodGroup{{Name: "gang", MinCount: prio(1), Priority: prio(5), Queue: "l", Topology: []cluster.TopologyConstraint{{Key: "rack"}}}},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "q", Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority}, Groups: []preemption.ResourceGroup{{
				Flavors: []preemption.FlavorQuotas{{Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: cluster.CPU, Nominal: 2}}}},
			}},
		}},
		LocalQueues: []preemption.LocalQueue{{Name: "l", ClusterQueue: "q"}},
	}
	for _, name := range []string{"m1", "m2"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: name, Group: "gang", Requests: cpu(1)})
	}
	for _, want := range []preemption.Verdict{preemption.Fits, preemption.Feasible} {
		for members, domain := range map[preemption.Members]string{preemption.AllThatFit: "rack=b", preemption.MinCount: "rack=a"} {
			r, err := preemption.Options{Members: members}.Preempt(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "gang"}, s)
			require.NoError(t, err)
			require.Equal(t, want, r.Verdict, r.Message)
			require.Equal(t, domain, r.Domain)
		}
		s.Workloads = []preemption.Workload{{Name: "old", Admission: &preemption.Admission{ClusterQueue: "q"}, PodSets: []preemption.PodSet{{
			Name: "main", Count: 1, Requests: cpu(2), Flavors: map[string]string{cluster.CPU: "f"},
		}}}}
	}
}

// Members that are unlike are seated anew for each workload that leaves or comes back, more often than
// TestUnlikeMembersFitInPart as many as can, with and without a queue: the largest is not first where it is in the way of two.
func TestUnlikeMembersFitInPart(t *testing.T) {
	for name, x := range map[string]struct {
		queue   string
		members preemption.Members
		places  preemption.Placement
		want    int
	}{
		"plain": {"", "", "", 2}, "spread": {"", "", preemption.PlaceSpread, 2}, "as few as it needs": {"", preemption.MinCount, "", 1},
		"of a queue": {"q", "", "", 2}, "packed, of a queue": {"q", "", preemption.PlacePack, 2},
	} {
		t.Run(name, func(t *testing.T) {
			one := int32(1)
			s := preemption.Snapshot{
				Nodes:           []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4}}, {Name: "n2", Allocatable: preemption.Resources{"cpu": 1}}},
				PodGroups:       []preemption.PodGroup{{Namespace: "ns", Name: "g", MinCount: &one, Priority: prio(5), Queue: x.queue}},
				ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}}, LocalQueues: []preemption.LocalQueue{{Namespace: "ns", Name: "q", ClusterQueue: "q"}},
				ClusterQueues: []preemption.ClusterQueue{{Name: "q", Groups: []cluster.ResourceGroup{{
					Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 9}}}},
				}}}},
			}
			for i, cpu := range []int64{3, 2, 2} {
				s.Pods = append(s.Pods, preemption.Pod{
					Namespace: "ns", Name: fmt.Sprint("m", i), Group: "g", Priority: prio(5), Queue: x.queue, Requests: preemption.Resources{"cpu": cpu},
				})
			}
			o := preemption.Options{Members: x.members, Placement: x.places}
			p := preemption.Preemptor{Kind: preemption.KindPodGroup, Namespace: "ns", Name: "g"}
			r, err := o.Preempt(p, &s)
			require.NoError(t, err)
			require.Equal(t, preemption.Fits, r.Verdict, r.Message)
			require.Len(t, r.Nominations, x.want)
			require.Empty(t, check.Verify(&s, o, p, r))
		})
	}
}

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

// quotaCase is a random tree of queues that are mostly full, and workload ns/in,
// which waits.
type quotaCase struct {
	snapshot *cluster.Snapshot
	options  preemption.Options
}

func seededQuota(seed uint64) quotaCase {
	q, o := genopts.RandomQuota(seed)
	return quotaCase{&q.Snapshot, o}
}

func drawQuota(t *rapid.T) quotaCase {
	q, o := genopts.DrawQuota(t)
	return quotaCase{&q.Snapshot, o}
}

// eachQuota calls check with random questions that were answered with victims.
func eachQuota(t *testing.T, seeds uint64, check func(t *testing.T, c quotaCase, r *preemption.Result)) {
	t.Helper()
	answered := 0
	for seed := range seeds {
		c := seededQuota(seed)
		if r := askQuota(t, c); len(r.Victims) > 0 {
			answered++
			check(t, c, r)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	require.Greater(t, answered, 50)
}

// asksQuota is what the preemptor of r asks for, by the twin.
func asksQuota(w *naivequota.World, r *preemption.Result) *naivequota.Question {
	q := &naivequota.Question{
		Queue: w.Queues[r.Quota.ClusterQueue], Request: naivequota.Amounts{}, Contested: map[naivequota.FR]bool{},
	}
	for _, f := range r.Quota.Flavors {
		fr := naivequota.FR{Flavor: f.Flavor, Resource: f.Resource}
		if f.Amount > 0 {
			q.Request[fr] += f.Amount
		}
		if f.Contested {
			q.Contested[fr] = true
		}
	}
	return q
}

// world is the twin's view of a case with the victims gone, and what the preemptor asks.
func world(c quotaCase, r *preemption.Result) (w *naivequota.World, q *naivequota.Question, out map[string]*naivequota.Admitted) {
	w = naivequota.NewWorld(c.snapshot)
	q = asksQuota(w, r)
	out = map[string]*naivequota.Admitted{}
	for a := range w.In {
		if slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool { return v.Name == a.W.Name }) {
			out[a.W.Name] = a
		}
	}
	for _, a := range out {
		delete(w.In, a)
	}
	return w, q, out
}

func TestWorkloadFitsOnceTheVictimsAreGone(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w, q, out := world(c, r)
		require.Len(t, out, len(r.Victims))
		require.True(t, w.Fits(q, true))
	})
}

// A victim alone back would leave the preemptor short of something, or have it
// borrow what it may not.
func TestNoVictimCouldStay(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w, q, out := world(c, r)
		for _, v := range r.Victims {
			require.Positive(t, v.Reason.Missing, v.Name)
			w.In[out[v.Name]] = true
			if w.Fits(q, true) { // then it is borrowing that it may not
				require.False(t, w.Fits(q, false), v.Name)
				require.True(t, w.Borrows(q.Queue, fr(v), q.Request[fr(v)]))
			}
			delete(w.In, out[v.Name])
		}
	})
}

func fr(v preemption.Victim) naivequota.FR {
	var flavor string
	if _, err := fmt.Sscanf(v.Reason.Detail, "flavor %2s", &flavor); err != nil {
		panic(err)
	}
	return naivequota.FR{Flavor: flavor, Resource: v.Reason.Resource}
}

// The last one taken from another queue found it above nominal.
func TestOtherQueuesGiveOnlyWhatTheyBorrow(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w, q, out := world(c, r)
		queues := map[*naivequota.Node]bool{}
		for _, a := range out {
			queues[a.Queue] = a.Queue != q.Queue
		}
		for n, other := range queues {
			if !other {
				continue
			}
			contested := q.Contested
			if c.options.Quota.FairSharing != nil {
				contested = n.Knows()
			}
			found := false
			for _, a := range out {
				w.In[a] = true
				found = found || a.Queue == n && !w.Within(n, contested)
				delete(w.In, a)
			}
			require.True(t, found, n.Name)
		}
	})
}

func TestPoliciesMeanWhatTheySay(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w := naivequota.NewWorld(c.snapshot)
		p := w.Queues[r.Quota.ClusterQueue].Queue.Preemption
		in := &c.snapshot.Workloads[len(c.snapshot.Workloads)-1]
		priority := int64(in.Priority) + int64(in.Boost)
		for _, v := range r.Victims {
			policy := p.ReclaimWithinCohort
			if v.Quota.ClusterQueue == r.Quota.ClusterQueue {
				policy = p.WithinClusterQueue
				require.Equal(t, preemption.InClusterQueue, v.Quota.Reason)
			}
			switch policy {
			case cluster.AnyPriority, cluster.ReclaimFromAny:
			case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
				require.Less(t, v.Quota.Priority, priority)
			case cluster.LowerOrNewerEqualPriority:
				require.LessOrEqual(t, v.Quota.Priority, priority)
			default:
				t.Errorf("%s went although the policy is %q", v.Name, policy)
			}
			if v.Quota.Reason == preemption.InCohortReclaimWhileBorrowing {
				require.NotNil(t, p.BorrowWithinCohort)
				require.Less(t, v.Quota.Priority, priority)
			}
		}
	})
}

// The order of the snapshot's slices, and a way through JSON, change no answer;
// the question is left as it was.
func TestQuotaAnswerIsAFunctionOfTheQuestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawQuota(t)
		before, err := json.Marshal(c.snapshot)
		require.NoError(t, err)
		want := askQuota(t, c)
		after, err := json.Marshal(c.snapshot)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the snapshot changed")

		shuffled := quotaCase{new(cluster.Snapshot), c.options}
		require.NoError(t, json.Unmarshal(before, shuffled.snapshot))
		s, r := shuffled.snapshot, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		r.Shuffle(len(s.Workloads), func(i, j int) { s.Workloads[i], s.Workloads[j] = s.Workloads[j], s.Workloads[i] })
		r.Shuffle(len(s.ClusterQueues), func(i, j int) { s.ClusterQueues[i], s.ClusterQueues[j] = s.ClusterQueues[j], s.ClusterQueues[i] })
		r.Shuffle(len(s.Cohorts), func(i, j int) { s.Cohorts[i], s.Cohorts[j] = s.Cohorts[j], s.Cohorts[i] })
		r.Shuffle(len(s.LocalQueues), func(i, j int) { s.LocalQueues[i], s.LocalQueues[j] = s.LocalQueues[j], s.LocalQueues[i] })
		slices.Reverse(s.ResourceFlavors)
		if diff := cmp.Diff(want, askQuota(t, shuffled)); diff != "" {
			t.Fatalf("(-given +shuffled)\n%s", diff)
		}
	})
}

// One queue without cohort is a node: the same jobs as pods on a node that offers
// the quota give the same victims.
func TestOneQueueIsANode(t *testing.T) {
	feasible := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		resources := []string{"cpu", "memory"}[:rapid.IntRange(1, 2).Draw(t, "resources")]
		node := cluster.Node{Name: "n", Allocatable: cluster.Resources{}}
		quotas := cluster.FlavorQuotas{Flavor: "f"}
		for _, r := range resources {
			node.Allocatable[r] = int64(rapid.IntRange(4, 12).Draw(t, "quota"))
			quotas.Resources = append(quotas.Resources, cluster.ResourceQuota{Resource: r, Nominal: node.Allocatable[r]})
		}
		s := &cluster.Snapshot{
			Time:            time.Unix(10_000, 0),
			Nodes:           []cluster.Node{node},
			ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
			ClusterQueues: []cluster.ClusterQueue{{
				Name: "q", Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{quotas}}},
				Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			}},
			LocalQueues: []cluster.LocalQueue{{Name: "lq", ClusterQueue: "q"}},
		}
		job := func(name string, priority int32, started int64) {
			set := cluster.PodSet{Name: "main", Count: 1, Requests: cluster.Resources{}, Flavors: map[string]string{}}
			for _, r := range resources {
				set.Requests[r], set.Flavors[r] = int64(rapid.IntRange(0, 4).Draw(t, "request")), "f"
			}
			pod := cluster.Pod{Name: name, Requests: set.Requests, Priority: &priority}
			w := cluster.Workload{Name: name, Queue: "lq", Priority: priority, PodSets: []cluster.PodSet{set}}
			if started > 0 {
				pod.Node, pod.Started = "n", time.Unix(started, 0)
				w.Admission = &cluster.Admission{ClusterQueue: "q", Reserved: time.Unix(started, 0)}
			} else {
				w.PodSets[0].Flavors = nil
			}
			s.Pods, s.Workloads = append(s.Pods, pod), append(s.Workloads, w)
		}
		for i := range rapid.IntRange(0, 8).Draw(t, "jobs") {
			job(fmt.Sprint("w", i), int32(rapid.IntRange(0, 3).Draw(t, "priority")), int64(i+1))
		}
		job("in", int32(rapid.IntRange(1, 4).Draw(t, "priority")), 0)

		pods, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}, s)
		require.NoError(t, err)
		jobs, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}, s)
		require.NoError(t, err)
		require.Equal(t, pods.Verdict, jobs.Verdict)
		require.Equal(t, names(pods), names(jobs))
		if len(jobs.Victims) > 0 {
			feasible++
		}
	}, &feasible)
}

func names(r *preemption.Result) []string {
	var list []string
	for _, v := range r.Victims {
		list = append(list, v.Name)
	}
	slices.Sort(list)
	return list
}

// TestQuotaAnswersAsItsTwin: status, flavors, borrowing, victims, grounds and
// counts are those of the plain twin, which shares no decision with the library.
func TestQuotaAnswersAsItsTwin(t *testing.T) {
	rapid.Check(t, quotaAnswersAsItsTwin)
	for seed := range uint64(*quotaSeeds) {
		if diff := quotaDisagreement(t, seededQuota(seed)); diff != "" {
			t.Fatalf("seed %d: (-twin +library)\n%s", seed, diff)
		}
	}
}

var quotaSeeds = flag.Int("quota-seeds", 1000, "how many random quota questions are compared with the twin")

func FuzzQuotaAnswersAsItsTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(quotaAnswersAsItsTwin)) }

func quotaAnswersAsItsTwin(t *rapid.T) {
	if diff := quotaDisagreement(t, drawQuota(t)); diff != "" {
		t.Fatalf("(-twin +library)\n%s", diff)
	}
}

// failer is a test or one of rapid's.
type failer interface{ Fatal(args ...any) }

func quotaDisagreement(t failer, c quotaCase) string {
	got := askQuota(t, c)
	if got.Verdict == preemption.NotEligible {
		return "" // its queue is stopped, which the twin does not look at
	}
	return cmp.Diff(askTwin(c), quotaAnswer(got))
}

var quotaPreemptor = preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "in"}

func askQuota(t failer, c quotaCase) *preemption.Result {
	r, err := c.options.Preempt(quotaPreemptor, c.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func askTwin(c quotaCase) naivequota.Answer {
	return naivequota.Ask(c.snapshot, "ns", "in", twinOptions(c))
}

func twinOptions(c quotaCase) naivequota.Options {
	o := naivequota.Options{}
	if fair := c.options.Quota.FairSharing; fair != nil {
		o.Fair = true
		for _, s := range fair.Strategies {
			o.Strategies = append(o.Strategies, map[preemption.FairStrategy]string{
				preemption.LessThanOrEqualToFinalShare: "a", preemption.LessThanInitialShare: "b",
			}[s])
		}
	}
	return o
}

// quotaAnswer puts a result into the twin's form.
func quotaAnswer(r *preemption.Result) naivequota.Answer {
	a := naivequota.Answer{Flavors: map[string]string{}, Victims: map[string]string{}}
	a.Status = map[preemption.Verdict]string{
		preemption.Fits: "fits", preemption.Feasible: "preempt", preemption.Infeasible: "unschedulable",
	}[r.Verdict]
	a.Borrowing, a.Counts = r.Quota.Borrowing, r.Quota.Counts
	for _, f := range r.Quota.Flavors {
		a.Flavors[f.PodSet+"/"+f.Resource] = f.Flavor
	}
	for _, v := range r.Victims {
		a.Victims[v.Namespace+"/"+v.Name] = string(v.Quota.Reason)
	}
	return a
}

// workloadCriteria are the criteria that tell workloads apart.
var workloadCriteria = []victims.Criterion{
	victims.CriterionHighest, victims.CriterionSum, victims.CriterionPods, victims.CriterionUnits, victims.CriterionCost, victims.CriterionStarted,
	victims.CriterionLevels, victims.CriterionGroups,
}

// leastQuota is a random question about quota, of workloads and queues of more sizes, for the
// least disruption by random criteria.
func leastQuota(seed uint64, search preemption.Search) quotaCase {
	q, o := genopts.RandomQuota(seed)
	c, r := quotaCase{&q.Snapshot, o}, rand.New(rand.NewPCG(seed, 7))
	genopts.Enlarge(c.snapshot, r)
	c.options.Search = search
	c.options.Cost.Tariff = disruption.Tariff{Pods: 3, Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 500}}}
	for _, k := range r.Perm(len(workloadCriteria))[:r.IntN(4)] {
		if name := workloadCriteria[k]; name != victims.CriterionStarted || slices.Contains(c.options.Objective, victims.CriterionHighest) {
			c.options.Objective = append(c.options.Objective, name)
		}
	}
	return c
}

// numbersOf are those of a score; nil: nobody goes.
func numbersOf(score []preemption.Criterion) (list []int64) {
	for _, c := range score {
		list = append(list, c.Value)
	}
	return list
}

// leastAllowed is the least that any set comes to of those that the rules of the queue allow in the
// flavors of r, by the numbers of workloads as the page says; nil: there is none. ok is false if
// they are too many.
func leastAllowed(c quotaCase, r *preemption.Result) (best []int64, ok bool) {
	w := naivequota.NewWorld(c.snapshot)
	q := asksQuota(w, r)
	q.W = &c.snapshot.Workloads[len(c.snapshot.Workloads)-1]
	sets, ok := w.Allowed(q, 9)
	for _, set := range sets {
		list := make([]int64, len(r.Score))
		for i, name := range r.Score {
			list[i] = valueOf(c, name.Name, set)
		}
		if best == nil || slices.Compare(list, best) < 0 {
			best = list
		}
	}
	return best, ok
}

// valueOf is what some workloads come to by one criterion.
func valueOf(c quotaCase, name string, set []naivequota.Target) int64 {
	sum, highest, started := int64(0), int64(math.MinInt32), int64(math.MaxInt64)
	for _, v := range set {
		if v.W.Evicted {
			continue
		}
		priority := int64(v.W.Priority) + int64(v.W.Boost)
		reserved := v.W.Admission.Reserved
		if reserved.IsZero() {
			reserved = c.snapshot.Time
		}
		switch name {
		case "sum of priorities":
			sum += priority + 1<<31
		case "pods", "units":
			sum++
		case "cost":
			seconds := int64(c.snapshot.Time.Sub(reserved) / time.Second)
			sum += 3 * int64(v.W.PodSets[0].Count)
			for fr, amount := range v.Usage {
				if fr.Resource == "cpu" {
					sum += amount * seconds / 500
				}
			}
		case fmt.Sprint("pods of priority ", priority):
			sum++
		}
		if priority > highest {
			highest, started = priority, reserved.UnixNano()
		} else if priority == highest {
			started = min(started, reserved.UnixNano())
		}
	}
	switch name {
	case "highest priority":
		return highest
	case "earliest start":
		return -started
	}
	return sum
}

// Of all sets of workloads that the rules of the queue allow, in whatever order they go, the one
// that disrupts least goes, and is said to; never more than the queue's own pass takes, nor with
// less of a search. Every answer is verified, see verified_test.go.
func TestTheLeastOfWorkloadsGoes(t *testing.T) {
	found, better, fair, fairer := 0, 0, 0, 0
	for seed := range seeds(13_000) {
		c := leastQuota(seed, preemption.Exact)
		exact := askQuota(t, c)
		if len(exact.Victims) == 0 {
			continue
		}
		c.options.Search = preemption.Improved
		improved := askQuota(t, c)
		if len(improved.Victims) > 0 {
			require.LessOrEqual(t, slices.Compare(numbersOf(exact.Score), numbersOf(improved.Score)), 0, "seed %d", seed)
		}
		own := ownPass(t, c, exact)
		if own != nil {
			require.NotEmpty(t, improved.Victims, "seed %d", seed)
			require.LessOrEqual(t, slices.Compare(numbersOf(improved.Score), own), 0, "seed %d", seed)
			if slices.Compare(numbersOf(exact.Score), own) < 0 {
				better++
			}
		}
		if c.options.Quota.FairSharing != nil {
			require.False(t, exact.Optimal)
			require.Nil(t, exact.Bound)
			if fair++; own != nil && slices.Compare(numbersOf(exact.Score), own) < 0 {
				fairer++
			}
			continue
		}
		best, few := leastAllowed(c, exact)
		if !few {
			continue
		}
		c.options.Search, c.options.SearchSteps = preemption.Exact, 1+int(seed%7)
		cut := askQuota(t, c)
		require.LessOrEqual(t, slices.Compare(numbersOf(cut.Bound), best), 0, "seed %d", seed)
		require.True(t, len(cut.Victims) == 0 || slices.Compare(numbersOf(cut.Score), best) >= 0 && (own == nil || slices.Compare(numbersOf(cut.Score), own) <= 0), "seed %d", seed)
		require.True(t, exact.Optimal, "seed %d", seed)
		require.Equal(t, best, numbersOf(exact.Score), "seed %d: %v", seed, c.options.Objective)
		require.LessOrEqual(t, slices.Compare(numbersOf(improved.Bound), best), 0, "seed %d", seed)
		found++
	}
	require.Greater(t, found, int(seeds(200)))
	require.Greater(t, better, int(seeds(50)))
	require.Greater(t, fair, int(seeds(400)))
	require.Greater(t, fairer, int(seeds(20)))
}

// The order of the snapshot's slices changes nothing about the least.
func TestTheLeastOfWorkloadsIsAFunctionOfTheQuestion(t *testing.T) {
	several := 0
	for seed := range seeds(2000) {
		c := leastQuota(seed, preemption.Exact)
		c.options.SearchSteps, c.options.Proof = int(seed%5), true
		r := askQuota(t, c)
		if len(r.Victims) < 2 {
			continue
		}
		several++
		other := quotaCase{&preemption.Snapshot{}, c.options}
		*other.snapshot = *c.snapshot
		s, random := other.snapshot, rand.New(rand.NewPCG(seed, 8))
		s.Workloads, s.ClusterQueues, s.Cohorts = slices.Clone(s.Workloads), slices.Clone(s.ClusterQueues), slices.Clone(s.Cohorts)
		random.Shuffle(len(s.Workloads), func(i, j int) { s.Workloads[i], s.Workloads[j] = s.Workloads[j], s.Workloads[i] })
		random.Shuffle(len(s.ClusterQueues), func(i, j int) { s.ClusterQueues[i], s.ClusterQueues[j] = s.ClusterQueues[j], s.ClusterQueues[i] })
		random.Shuffle(len(s.Cohorts), func(i, j int) { s.Cohorts[i], s.Cohorts[j] = s.Cohorts[j], s.Cohorts[i] })
		require.Empty(t, cmp.Diff(r, askQuota(t, other)), "seed %d", seed)
	}
	require.Greater(t, several, int(seeds(20)))
}

// ownPass is the score of whom the queue's own pass takes, by the criteria of r; nil if it takes
// nobody, or takes fewer pods.
func ownPass(t *testing.T, c quotaCase, r *preemption.Result) (list []int64) {
	c.options.Search, c.options.Objective = "", nil
	own := askQuota(t, c)
	if len(own.Victims) == 0 || !slices.Equal(own.Quota.Counts, r.Quota.Counts) {
		return nil
	}
	w := naivequota.NewWorld(c.snapshot)
	var set []naivequota.Target
	for a := range w.In {
		if slices.ContainsFunc(own.Victims, func(v preemption.Victim) bool { return v.Name == a.W.Name }) {
			set = append(set, naivequota.Target{Admitted: a})
		}
	}
	for _, name := range r.Score {
		list = append(list, valueOf(c, name.Name, set))
	}
	return list
}

// Of a pod or group that needs quota and a place, the search takes no worse victims than the
// queue's own pass, now and then better ones, and some within a limit that those would go
// beyond. Every answer is verified.
func TestTheSearchOfQueuedPodsIsNoWorse(t *testing.T) {
	asked, better, opened := 0, 0, 0
	for seed := range seeds(8000) {
		c := seededQueued(seed)
		c.options.Objective = [][]preemption.CriterionName{nil, {victims.CriterionUnits}, {victims.CriterionPods, victims.CriterionUnits}}[seed%3]
		if seed%4 == 0 {
			c.options.Limits.Pods = 1 + int64(seed/4%2)
		}
		own, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		c.options.Search = []preemption.Search{preemption.Improved, preemption.Exact}[seed%2]
		got, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		require.False(t, got.Optimal)
		require.Empty(t, got.Bound)
		if own.Verdict != preemption.Feasible {
			if got.Verdict == preemption.Feasible {
				require.Equal(t, preemption.Infeasible, own.Verdict)
				require.NotZero(t, c.options.Limits)
				opened++
			} else {
				require.Equal(t, own.Verdict, got.Verdict, "seed %d", seed)
			}
			continue
		}
		require.Equal(t, preemption.Feasible, got.Verdict, "seed %d", seed)
		require.LessOrEqual(t, slices.Compare(numbersOf(got.Score), numbersOf(own.Score)), 0, "seed %d", seed)
		asked++
		if slices.Compare(numbersOf(got.Score), numbersOf(own.Score)) < 0 {
			better++
			require.Positive(t, got.Stats.Searched)
		}
	}
	t.Log(asked, better, opened)
	require.Greater(t, asked, int(seeds(1000)))
	require.Greater(t, better, int(seeds(50)))
	require.Positive(t, opened)
}

// uneven is a queue of eight GPUs that are all taken: by one workload of four and two of two, which
// began later, of equal priority. "in" asks for four.
func uneven() *preemption.Snapshot {
	holds := func(name string, n int32, hour int) preemption.Workload {
		return preemption.Workload{
			Name: name, Admission: &preemption.Admission{ClusterQueue: "research", Reserved: time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)},
			PodSets: []preemption.PodSet{{Name: "main", Count: n, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	return &preemption.Snapshot{
		Time:            time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC),
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues:   []preemption.ClusterQueue{{Name: "research", Groups: gpus(8), Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority}}},
		LocalQueues:     []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			holds("one", 4, 8), holds("two", 2, 9), holds("three", 2, 10),
			{Name: "in", Queue: "lab", Priority: 5, PodSets: []preemption.PodSet{{Name: "main", Count: 4, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
}

// The trace, why not somebody else, and the warnings say what the search has come to.
func TestWhatTheSearchForWorkloadsSays(t *testing.T) {
	in := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	o := preemption.Options{Search: preemption.Exact, Explain: true, Objective: []preemption.CriterionName{preemption.CriterionUnits}}
	pl, err := preemption.NewPlanner(uneven(), o)
	require.NoError(t, err)
	r, err := pl.Preempt(in)
	require.NoError(t, err)
	require.Len(t, r.Victims, 1)
	require.Equal(t, "one", r.Victims[0].Name)
	require.Equal(t, []preemption.Criterion{{Name: "units", Value: 1}}, r.Bound)
	require.Equal(t, 1, r.Stats.Searched)
	steps := r.Trace[0].Steps
	require.Equal(t, "1 workload is evicted instead, whose going disrupts less", steps[len(steps)-1].Text)
	for name, text := range map[string]string{
		"one": "one is a victim", "two": "two may stay: the preemptor fits once others have gone, and no less disruption was found",
	} {
		why, err := pl.WhyNot(in, preemption.UnitTarget(name))
		require.NoError(t, err)
		require.Equal(t, text, why.Text)
	}
	validity, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, preemption.Keep, validity.Advice)

	o.Objective = append(o.Objective, preemption.CriterionNodes, preemption.CriterionDomains+"rack", preemption.CriterionDevices)
	r, err = o.Preempt(in, uneven())
	require.NoError(t, err)
	require.Len(t, r.Warnings, 3)
	require.Equal(t, "nodes in use", r.Warnings[0].Value)
	require.Equal(t, "domains in use by rack", r.Warnings[1].Value)
	require.Equal(t, "devices in use", r.Warnings[2].Value)
	o.Strict = true
	_, err = o.Preempt(in, uneven())
	require.Error(t, err)

	o = preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"gpu": {Price: 1, Per: 3600}}}, Objective: true}}
	r, err = o.Preempt(in, uneven())
	require.NoError(t, err)
	require.Empty(t, r.Warnings, "the cost counts")
	require.Len(t, r.Victims, 2, "they have worked less")
	require.EqualValues(t, 2*3+2*2, r.Cost)
	require.True(t, r.Optimal)
}

// A job of pods counts as its pods, and what they cost is theirs; pods of a group as one group.
func TestTheLeastOfJobsCountsTheirPods(t *testing.T) {
	s := uneven()
	s.Nodes = []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"gpu": 4}}}
	for i := range 2 {
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Group: "two", Node: "n", Requests: preemption.Resources{"gpu": 1}, Started: s.Time})
	}
	s.PodGroups = []preemption.PodGroup{{Name: "two", Queue: "lab"}}
	s.Workloads = slices.Delete(s.Workloads, 1, 2)
	s.Workloads[2].PodSets[0].Count = 2
	for name, x := range map[string]struct {
		objective []preemption.CriterionName
		victim    string
		score     int64
	}{
		"fewest pods":    {[]preemption.CriterionName{preemption.CriterionPods}, "three", 1},
		"no group":       {[]preemption.CriterionName{preemption.CriterionGroups}, "three", 0},
		"the least work": {[]preemption.CriterionName{preemption.CriterionCost}, "two", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := preemption.Options{Search: preemption.Exact, Objective: x.objective}
			o.Cost.Tariff.Work = map[string]disruption.Rate{"gpu": {Price: 1}}
			r, err := o.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}, s)
			require.NoError(t, err)
			require.Len(t, r.Victims, 1)
			require.Equal(t, x.victim, r.Victims[0].Name)
			require.Equal(t, x.score, r.Score[0].Value)
			require.True(t, r.Optimal)
		})
	}
}

// mostUnits is the opposite of an objective.
type mostUnits struct{}

func (mostUnits) Compare(a, b victims.Score) int { return b.Units - a.Units }

// Where a hook compares, it decides, and nothing is proved.
func TestAHookComparesWorkloads(t *testing.T) {
	s := uneven()
	s.Workloads[0].Admission.Reserved = s.Time // the youngest, and the pass takes it
	in := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	r, err := preemption.Preempt(in, s)
	require.NoError(t, err)
	require.Len(t, r.Victims, 1)
	r, err = preemption.Options{Search: preemption.Exact, Hooks: &preemption.Hooks{Compare: mostUnits{}}}.Preempt(in, s)
	require.NoError(t, err)
	require.Len(t, r.Victims, 2)
	require.False(t, r.Optimal)
	require.Nil(t, r.Bound)
}

// quotaLayout says whose workloads fill a flat cohort of twenty queues.
type quotaLayout struct {
	name    string
	own     bool // all of them in the preemptor's queue, which owns all; else in the 19 others, which own nothing
	fair    bool
	weight  int64 // of the preemptor's queue; 0: it owns what it asks for
	victims int64
}

// quotaFleet makes 20 queues in a cohort that numWorkloads jobs of one cpu fill,
// of random priority from 0 to 9, and a job that takes the place of some of them.
func quotaFleet(l quotaLayout, numWorkloads int) (*cluster.Snapshot, preemption.Options) {
	r := rand.New(rand.NewPCG(1, 1))
	total := int64(numWorkloads) * 1000
	s := &cluster.Snapshot{Time: time.Unix(1_000_000, 0), ResourceFlavors: []cluster.ResourceFlavor{{Name: "default"}}}
	groups := func(cpu int64) []cluster.ResourceGroup {
		return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "default", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: cpu}},
		}}}}
	}
	for i := range 20 {
		q := cluster.ClusterQueue{Name: fmt.Sprintf("q%02d", i), Cohort: "co", Groups: groups(0)}
		if i == 0 {
			q.Preemption = cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority}
			q.Groups = groups(total)
			if l.weight > 0 {
				w := cluster.Weight(l.weight) * cluster.OneWeight
				q.Weight, q.Groups = &w, groups(0)
			}
		}
		s.ClusterQueues = append(s.ClusterQueues, q)
	}
	if l.weight > 0 {
		s.Cohorts = []cluster.Cohort{{Name: "co", Groups: groups(total)}}
	}
	s.LocalQueues = []cluster.LocalQueue{{Name: "lq", ClusterQueue: "q00"}}
	for i := range numWorkloads {
		queue := "q00"
		if !l.own {
			queue = fmt.Sprintf("q%02d", 1+i%19)
		}
		s.Workloads = append(s.Workloads, cluster.Workload{
			Name: fmt.Sprintf("w%06d", i), UID: fmt.Sprintf("%08x", r.Uint32()), Priority: int32(r.IntN(10)),
			Admission: &cluster.Admission{ClusterQueue: queue, Reserved: time.Unix(int64(r.IntN(1_000_000)), 0)},
			PodSets: []cluster.PodSet{{
				Name: "main", Count: 1, Requests: cluster.Resources{"cpu": 1000}, Flavors: map[string]string{"cpu": "default"},
			}},
		})
	}
	s.Workloads = append(s.Workloads, cluster.Workload{Name: "in", Queue: "lq", Priority: 10, PodSets: []cluster.PodSet{{
		Name: "main", Count: 1, Requests: cluster.Resources{"cpu": l.victims * 1000},
	}}})
	o := preemption.Options{}
	if l.fair {
		o.Quota.FairSharing = &preemption.FairSharing{}
	}
	return s, o
}

// BenchmarkQuotaHopeless asks where nobody may go: nobody of lower priority, or
// nobody of equal priority that is newer.
func BenchmarkQuotaHopeless(b *testing.B) {
	for _, policy := range []cluster.QueuePolicy{cluster.LowerPriority, cluster.LowerOrNewerEqualPriority} {
		for _, numWorkloads := range []int{1000, 100_000} {
			if testing.Short() && numWorkloads > 1000 {
				continue
			}
			b.Run(fmt.Sprintf("policy=%s/workloads=%d", policy, numWorkloads), func(b *testing.B) {
				s, o := quotaFleet(quotaLayout{own: true, victims: 1}, numWorkloads)
				s.ClusterQueues[0].Preemption = cluster.QueuePreemption{WithinClusterQueue: policy}
				for i := range s.Workloads {
					s.Workloads[i].Priority, s.Workloads[i].Created = 5, time.Unix(int64(i), 0)
				}
				pl, err := preemption.NewPlanner(s, o)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}); err != nil || r.Verdict != preemption.Infeasible {
						b.Fatal(r, err)
					}
				}
			})
		}
	}
}

// BenchmarkQuotaChange replaces one workload of many.
func BenchmarkQuotaChange(b *testing.B) {
	for _, numWorkloads := range []int{1000, 100_000} {
		if testing.Short() && numWorkloads > 1000 {
			continue
		}
		b.Run(fmt.Sprintf("workloads=%d", numWorkloads), func(b *testing.B) {
			s, o := quotaFleet(quotaLayout{}, numWorkloads)
			pl, err := preemption.NewPlanner(s, o)
			if err != nil {
				b.Fatal(err)
			}
			if err := pl.SetWorkload(s.Workloads[0]); err != nil { // the first change makes the model live
				b.Fatal(err)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				w := s.Workloads[i%numWorkloads]
				w.Evicted = !w.Evicted
				if err := pl.SetWorkload(w); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkQuota(b *testing.B) {
	for _, l := range []quotaLayout{
		{name: "classical-own", own: true},
		{name: "classical-reclaim"},
		{name: "fair-own", own: true, fair: true},
		{name: "fair-nominal", fair: true},
		{name: "fair-borrowing", fair: true, weight: 20},
	} {
		for _, numWorkloads := range []int{1000, 10_000, 100_000} {
			for _, l.victims = range []int64{1, 50, 500} {
				if testing.Short() && (numWorkloads > 1000 || l.victims > 50) {
					continue
				}
				b.Run(fmt.Sprintf("%s/workloads=%d/victims=%d", l.name, numWorkloads, l.victims), func(b *testing.B) {
					s, o := quotaFleet(l, numWorkloads)
					pl, err := preemption.NewPlanner(s, o)
					if err != nil {
						b.Fatal(err)
					}
					in := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
					victims := 0
					b.ReportAllocs()
					for b.Loop() {
						r, err := pl.Preempt(in)
						if err != nil {
							b.Fatal(err)
						}
						victims += len(r.Victims)
					}
					b.ReportMetric(float64(victims)/float64(b.N), "victims/op")
				})
			}
		}
	}
}

// BenchmarkQuotaAndNodes asks for quota and a place: nodes of 8 cpu full of pods of 1
// cpu of 20 queues, of which one reclaims what it owns.
func BenchmarkQuotaAndNodes(b *testing.B) {
	for _, numNodes := range []int{100, 1000} {
		if testing.Short() && numNodes > 100 {
			continue
		}
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", numNodes, 8*numNodes), func(b *testing.B) {
			s, o := quotaFleet(quotaLayout{victims: 1}, 8*numNodes)
			s.Workloads = nil
			r := rand.New(rand.NewPCG(1, 1))
			for i := 1; i < 20; i++ {
				name := fmt.Sprintf("q%02d", i)
				s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: name, ClusterQueue: name})
			}
			for n := range numNodes {
				node := fmt.Sprintf("n%04d", n)
				s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cluster.Resources{"cpu": 8000}})
				for i := range 8 {
					prio := int32(r.IntN(10))
					s.Pods = append(s.Pods, cluster.Pod{
						Name: fmt.Sprintf("p%04d-%d", n, i), Node: node, Queue: fmt.Sprintf("q%02d", 1+r.IntN(19)), Priority: &prio,
						Started: time.Unix(int64(r.IntN(1_000_000)), 0), Requests: cluster.Resources{"cpu": 1000},
					})
				}
			}
			in := cluster.Pod{Name: "in", Queue: "lq", Requests: cluster.Resources{"cpu": 2000}}
			s.Pods = append(s.Pods, in)
			pl, err := preemption.NewPlanner(s, o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}); err != nil || len(r.Victims) != 2 {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkLeastQuota: workloads of 1 to 16 CPUs and ten priorities, of one queue, or of 19 that have borrowed
// from the one that asks for 64, with and without fair sharing.
func BenchmarkLeastQuota(b *testing.B) {
	for _, of := range []struct {
		queues int
		fair   *preemption.FairSharing
	}{{1, nil}, {20, nil}, {20, &preemption.FairSharing{}}} {
		for _, n := range []int{300, 3000} {
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
				b.Run(fmt.Sprintf("queues=%d/fair=%t/workloads=%d/search=%s", of.queues, of.fair != nil, n, search), func(b *testing.B) {
					var planners []*preemption.Planner
					for seed := range uint64(5) {
						options := preemption.Options{Search: search, Objective: []preemption.CriterionName{preemption.CriterionUnits, preemption.CriterionSum}}
						options.Quota.FairSharing = of.fair
						pl, err := preemption.NewPlanner(unevenQuota(seed, of.queues, n), options)
						require.NoError(b, err)
						planners = append(planners, pl)
					}
					b.ReportAllocs()
					asked, victims, optimal := 0, 0, 0
					for b.Loop() {
						for _, pl := range planners {
							r, err := pl.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"})
							require.NoError(b, err)
							asked, victims = asked+1, victims+len(r.Victims)
							if r.Optimal {
								optimal++
							}
						}
					}
					b.ReportMetric(float64(victims)/float64(asked), "victims/question")
					b.ReportMetric(100*float64(optimal)/float64(asked), "%proved")
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(asked), "us/question")
				})
			}
		}
	}
}

// unevenQuota is a snapshot of those workloads, and workload "in".
func unevenQuota(seed uint64, queues, n int) *preemption.Snapshot {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}}, LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "q0"}},
	}
	used := make([]int64, queues)
	for i := range n {
		v, q := int64(1)<<r.IntN(5), 0
		if queues > 1 {
			q = 1 + i%(queues-1)
		}
		used[q] += v
		s.Workloads = append(s.Workloads, preemption.Workload{
			Name: fmt.Sprintf("w%04d", i), Priority: int32(r.IntN(10)),
			Admission: &preemption.Admission{ClusterQueue: fmt.Sprint("q", q), Reserved: time.Unix(r.Int64N(1000), 0)},
			PodSets:   []preemption.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": v}, Flavors: map[string]string{"cpu": "f"}}},
		})
	}
	borrowed := int64(0)
	for q := queues - 1; q >= 0; q-- {
		nominal, cohort := used[q], ""
		if queues > 1 {
			cohort = "all"
			nominal = used[q] * 2 / 3
			borrowed += used[q] - nominal
		}
		if q == 0 {
			nominal += borrowed
		}
		queue := preemption.ClusterQueue{
			Name: fmt.Sprint("q", q), Cohort: cohort, Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
			Groups: []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{
				Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: "cpu", Nominal: nominal}},
			}}}},
		}
		if queues > 1 {
			queue.Preemption.ReclaimWithinCohort = preemption.AnyPriority
		}
		s.ClusterQueues = append(s.ClusterQueues, queue)
	}
	s.Workloads = append(s.Workloads, preemption.Workload{
		Name: "in", Queue: "lq", Priority: 100, PodSets: []preemption.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 64}}},
	})
	return s
}
