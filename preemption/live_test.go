package preemption_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// history is a planner that changes.
type history struct {
	*preemption.Planner
	options preemption.Options // its own
	last    *preemption.Result
}

func asJSON(t require.TestingT, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// ask compares the answer of the planner with that of a fresh compile of its snapshot.
func (h *history) ask(t require.TestingT, p preemption.Preemptor) {
	want, wantErr := h.options.Preempt(p, h.Snapshot())
	got, err := h.Planner.Preempt(p)
	require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err))
	require.Empty(t, cmp.Diff(want, got)) // to the last empty list
	short, err2 := h.Decide(p)
	require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
	if err == nil {
		require.Equal(t, got.Verdict, short.Verdict)
		require.Equal(t, got.Domain, short.Domain)
		require.Equal(t, got.Violations, short.Violations)
		h.last = got
	}
}

// TestQuestionsMayBeAskedDuringChanges is for the race detector.
func TestQuestionsMayBeAskedDuringChanges(t *testing.T) {
	s := gen.Fleet(30, 10, 1, gen.Uniform)
	s.Budgets = []preemption.Budget{{Namespace: s.Pods[0].Namespace, Name: "b", Selector: &disruption.Selector{}}}
	s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: s.Pods[0].Namespace, Name: "whole", Mode: disruption.All})
	for i := range s.Pods {
		if s.Pods[i].Namespace == s.Pods[0].Namespace && i%3 == 0 {
			s.Pods[i].Group, s.Pods[i].Priority = "whole", new(int32)
		}
	}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	p := gen.FleetPod(1)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 30 {
				_, err := pl.Preempt(p)
				require.NoError(t, err)
				require.NoError(t, pl.View(func(v preemption.View) {
					for pod := range v.Pods() {
						_ = v.Priority(preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name})
					}
				}))
				fork := pl.Fork()
				r, err := fork.Preempt(p)
				require.NoError(t, err)
				_ = fork.Evict(r)
			}
		})
	}
	wg.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			pod := s.Pods[random.IntN(len(s.Pods))]
			switch random.IntN(4) {
			case 0:
				_ = pl.Remove(preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name})
			case 1:
				b := s.Budgets[0]
				b.Allowed = int32(random.IntN(3))
				require.NoError(t, pl.SetBudget(b))
			default:
				require.NoError(t, pl.SetPod(pod))
			}
		}
	})
	wg.Wait()
	h := &history{Planner: pl}
	h.ask(t, p)
}

// TestChangesOfPodsAreFollowed: no question compiles the cluster anew.
func TestChangesOfPodsAreFollowed(t *testing.T) {
	s := gen.Fleet(30, 10, 1, gen.Uniform)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	p := gen.FleetPod(1)
	compiled := pl.Compiled()
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	for _, pod := range slices.Clone(s.Pods[:40]) {
		require.NoError(t, pl.Remove(preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name}))
		pod.Name += "-again"
		require.NoError(t, pl.SetPod(pod))
		pod.Name += "-pending"
		pod.Node = ""
		require.NoError(t, pl.SetPod(pod))
	}
	require.NoError(t, pl.SetBudget(preemption.Budget{Namespace: s.Pods[0].Namespace, Name: "b", Selector: &disruption.Selector{}}))
	node := s.Nodes[3]
	node.Unschedulable = true
	require.NoError(t, pl.SetNode(node))
	r, err = pl.Preempt(p)
	require.NoError(t, err)
	require.NoError(t, pl.Apply(r))
	(&history{Planner: pl}).ask(t, preemption.Preemptor{Kind: cluster.KindPod, Namespace: r.Preemptor.Namespace, Name: r.Preemptor.Name})
	require.Same(t, compiled, pl.Compiled())
}

// TestChangesOfNodesAreFollowed: no question compiles the cluster anew.
func TestChangesOfNodesAreFollowed(t *testing.T) {
	t.Parallel()
	s := gen.Fleet(100, 10, 1, gen.Uniform)
	gpu := cluster.Node{Name: "node-000001-gpu", Allocatable: preemption.Resources{"gpu": 8}, Devices: map[string]cluster.DevicePool{"device": {Count: 4, Capacity: 1}}}
	s.Nodes = append(s.Nodes, gpu)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	h, compiled := &history{Planner: pl}, pl.Compiled()
	p := gen.FleetPod(1)
	h.ask(t, p)
	for i, n := range slices.Clone(s.Nodes[:80]) {
		require.NoError(t, pl.RemoveNode(n.Name))
		h.ask(t, p)
		n.Name = []string{"a", "node-000050-", "z"}[i%3] + n.Name
		require.NoError(t, pl.SetNode(n))
		h.ask(t, p)
		if n.Name = s.Nodes[i].Name; i%2 == 0 { // and its pods are there
			n.Allocatable, n.Devices = preemption.Resources{cluster.CPU: 64_000, "gpu": 1}, gpu.Devices
			require.NoError(t, pl.SetNode(n))
			h.ask(t, p)
		}
	}
	require.Same(t, compiled, pl.Compiled())
}

// TestGroupsThatGoWholeAreFollowed: their pods come and go on several nodes.
func TestGroupsThatGoWholeAreFollowed(t *testing.T) {
	member := func(name, node string) preemption.Pod {
		return preemption.Pod{Namespace: "ns", Name: name, Group: "whole", Node: node, Requests: preemption.Resources{cluster.CPU: 1000}}
	}
	s := preemption.Snapshot{
		PodGroups: []preemption.PodGroup{{Namespace: "ns", Name: "whole", Mode: disruption.All, MinCount: prio(1), Priority: prio(0)}},
		Pods:      []preemption.Pod{member("b", "n1"), member("d", "n2")},
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Allocatable: preemption.Resources{cluster.CPU: 2000}})
	}
	s.Pods = append(s.Pods, preemption.Pod{Namespace: "ns", Name: "top", Node: "n3", Priority: prio(9000), Requests: preemption.Resources{cluster.CPU: 2000}})
	h := &history{options: preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}}}
	pl, err := preemption.NewPlanner(&s, h.options)
	require.NoError(t, err)
	h.Planner = pl
	compiled := pl.Compiled()
	web := preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "web", Priority: prio(100), Requests: preemption.Resources{cluster.CPU: 2000}}}}
	pods := func(want ...string) {
		t.Helper()
		h.ask(t, web)
		var got []string
		for _, v := range h.last.Victims {
			for _, p := range v.Pods {
				got = append(got, p.Name)
			}
		}
		require.Equal(t, want, got)
	}
	pods("b", "d")
	require.NoError(t, pl.SetPod(member("a", "n2")))
	pods("a", "b", "d")
	require.NoError(t, pl.SetPod(member("c", "n1")))
	group := s.PodGroups[0]
	group.Mode = disruption.Single
	require.NoError(t, pl.SetPodGroup(group))
	pods("b", "c")
	require.NoError(t, pl.RemovePodGroup("ns", "whole"))
	require.Error(t, pl.RemovePodGroup("ns", "whole"))
	pods("b", "c")
	require.NoError(t, pl.SetPodGroup(s.PodGroups[0]))
	pods("a", "b", "c", "d")
	require.NoError(t, pl.SetCompositePodGroup(cluster.CompositePodGroup{Namespace: "ns", Name: "above", Mode: disruption.All}))
	group = s.PodGroups[0]
	group.Parent = "above"
	require.NoError(t, pl.SetPodGroup(group))
	for fixed := range int64(3) { // what nobody is in costs, too
		require.NoError(t, pl.SetPodGroup(preemption.PodGroup{Namespace: "ns", Name: "empty", Parent: "above", Cost: &cluster.Cost{Fixed: 3 - fixed}}))
		pods("a", "b", "c", "d")
	}
	require.NoError(t, pl.RemovePodGroup("ns", "empty"))
	pods("a", "b", "c", "d")
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "a"}))
	pods("b", "c", "d")
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "b"}))
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "c"}))
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "d"}))
	pods()
	require.Same(t, compiled, pl.Compiled())
}

// TestALeaderThatLeavesIsMissed: the answer warns of it.
func TestALeaderThatLeavesIsMissed(t *testing.T) {
	s := preemption.Snapshot{
		PodGroups: []preemption.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: prio(1), Leader: "a"}},
		Pods:      []preemption.Pod{{Name: "a", Group: "g", Node: "n1"}, {Name: "b", Group: "g", Node: "n1"}},
		Nodes:     []cluster.Node{{Name: "n1"}},
	}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	h, web := &history{Planner: pl}, preemption.Preemptor{Pods: []preemption.Pod{{Name: "web"}}}
	h.ask(t, web)
	require.Empty(t, h.last.Warnings)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "a"}))
	h.ask(t, web)
	require.Len(t, h.last.Warnings, 1)
	require.NoError(t, pl.SetPod(s.Pods[0]))
	h.ask(t, web)
	require.Empty(t, h.last.Warnings)
}

// TestDevicesAreFollowed: pods that hold some come and go, and keep their node.
func TestDevicesAreFollowed(t *testing.T) {
	half := []cluster.DeviceRequest{{Resource: gpu, Fraction: 5}}
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Devices: map[string]cluster.DevicePool{gpu: {Count: 1, Capacity: 10}}}}}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	h, compiled := &history{Planner: pl}, pl.Compiled()
	web := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: prio(100), Devices: half, Tokens: []string{"lock"}}}}
	for _, step := range []struct {
		change func() error
		want   preemption.Verdict
	}{
		{func() error { return pl.SetPod(preemption.Pod{Name: "a", Node: "n1", Devices: half}) }, preemption.Fits},
		{func() error { return pl.SetPod(preemption.Pod{Name: "b", Node: "n1", Devices: half}) }, preemption.Feasible},
		{func() error { return pl.Remove(preemption.PodRef{Name: "a"}) }, preemption.Fits},
		{func() error { return pl.SetPod(preemption.Pod{Name: "a", Node: "n1", Tokens: []string{"lock"}}) }, preemption.Feasible},
		{func() error { n := s.Nodes[0]; n.Unschedulable = true; return pl.SetNode(n) }, preemption.Infeasible},
	} {
		require.NoError(t, step.change())
		h.ask(t, web)
		require.Equal(t, step.want, h.last.Verdict)
	}
	require.Same(t, compiled, pl.Compiled())
}

// TestWhatIsRememberedFollowsBudgets: a shape of pod that was asked about before is
// told what budgets allow now.
func TestWhatIsRememberedFollowsBudgets(t *testing.T) {
	pl, err := preemption.NewPlanner(twoNodes(), preemption.Options{})
	require.NoError(t, err)
	h := &history{Planner: pl}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "p", Priority: prio(1000), Requests: preemption.Resources{cluster.CPU: 4000}}}}
	compiled := pl.Compiled()
	for _, allowed := range []int32{1, 0, 2, 0} {
		b := twoNodes().Budgets[0]
		b.Allowed = allowed
		require.NoError(t, pl.SetBudget(b))
		for range 3 {
			h.ask(t, p)
		}
	}
	require.Same(t, compiled, pl.Compiled())
}

// TestChangesAreFollowedUnderEveryOption: nor does a question compile anew where units are
// kept, ordered or priced, and time moves on.
func TestChangesAreFollowedUnderEveryOption(t *testing.T) {
	long := int64(3600)
	for name, o := range map[string]preemption.Options{
		"guards":     {Guards: victims.Guards{GuaranteedSeconds: 3600 * 900, Cooldown: victims.Cooldown{Evictions: 1, Seconds: 7200}}},
		"toleration": {Guards: victims.Guards{Toleration: priority.TolerationDesign}},
		"movable":    {PreferMovable: true},
		"prices":     {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1, Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}, Importance: true}},
		"apart":      {PreemptionPriority: preemption.PreemptionPriority{Apart: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gen.Fleet(20, 6, 1, gen.Uniform)
			pl, err := preemption.NewPlanner(&s, o)
			require.NoError(t, err)
			h, compiled, p := &history{Planner: pl, options: o}, pl.Compiled(), gen.FleetPod(1)
			for i := range 12 {
				pod := s.Pods[6*i] // one of each node
				node := pod.Node
				ref := preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name}
				require.NoError(t, pl.Remove(ref))
				pod.Class, pod.Started, pod.Node = []string{"", "gone"}[i%2], time.Time{}, ""
				pod.Guard = &cluster.Guard{GuaranteedSeconds: &long, Milestones: []cluster.Milestone{{Seconds: 10, Value: 50}}}
				pod.Evictions = []time.Time{s.Time}
				require.NoError(t, pl.SetPod(pod))
				require.NoError(t, pl.Bind(ref, node))
				h.ask(t, p)
				require.NoError(t, pl.SetTime(s.Time.Add(time.Duration(i*i)*time.Minute)))
				h.ask(t, p)
			}
			node := s.Nodes[3]
			node.Taints = []cluster.Taint{{Key: "full", Effect: cluster.NoSchedule}}
			require.NoError(t, pl.SetNode(node))
			h.ask(t, p)
			require.Same(t, compiled, pl.Compiled())
		})
	}
}

// TestBindBeginsNow: a pod starts when it is bound, unless somebody has said otherwise.
func TestBindBeginsNow(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, model := range []time.Time{{}, now} {
		pl, err := preemption.NewPlanner(&preemption.Snapshot{
			Time: model, Nodes: []cluster.Node{{Name: "n1"}}, Pods: []preemption.Pod{{Name: "a"}, {Name: "b", Started: now.Add(-time.Hour)}},
		}, preemption.Options{})
		require.NoError(t, err)
		require.NoError(t, pl.Bind(preemption.PodRef{Name: "a"}, "n1"))
		require.NoError(t, pl.Bind(preemption.PodRef{Name: "b"}, "n1"))
		got := pl.Snapshot().Pods
		require.Equal(t, model, got[0].Started)
		require.Equal(t, now.Add(-time.Hour), got[1].Started)
	}
}
