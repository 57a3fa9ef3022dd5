package preemption_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
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
	require.Empty(t, gocmp.Diff(want, got)) // to the last empty list
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

// TestWhatIsRememberedFollowsBudgetsAndClasses: a shape of pod that was asked about before is
// told what budgets allow now.
func TestWhatIsRememberedFollowsBudgetsAndClasses(t *testing.T) {
	s := twoNodes()
	s.Pods = append(s.Pods, preemption.Pod{Name: "promised", NominatedNode: "n1", Class: "k", Requests: cpus(4000)})
	s.PriorityClasses = []priority.Class{{Name: "k"}}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	h := &history{Planner: pl}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "p", Priority: prio(1000), Requests: preemption.Resources{cluster.CPU: 4000}}}}
	compiled := pl.Compiled()
	for _, allowed := range []int32{1, 0, 2, 0} {
		b := twoNodes().Budgets[0]
		b.Allowed = allowed
		require.NoError(t, pl.SetBudget(b))
		for i := range int32(6) {
			require.NoError(t, pl.SetPriorityClass(priority.Class{Name: "k", Value: i / 3 * 2000}))
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

// TestOddChangesAreAnsweredAsByAFreshPlanner: where groups come to stand beneath themselves, or what is set together makes no sense.
func TestOddChangesAreAnsweredAsByAFreshPlanner(t *testing.T) {
	composite := func(name, parent string) preemption.CompositePodGroup {
		return preemption.CompositePodGroup{Namespace: "ns", Name: name, Parent: parent, Mode: disruption.All}
	}
	for name, change := range map[string]func(pl *preemption.Planner) error{
		"a group is its own parent":         func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("a", "a")) },
		"a new group is its own parent":     func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("c", "c")) },
		"a group is beneath its child":      func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("a", "b")) },
		"a new group is beneath its child":  func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("top", "b")) },
		"a class rises above a pod's level": func(pl *preemption.Planner) error { return pl.SetPriorityClass(priority.Class{Name: "k", Value: 9}) },
		"pods of a node ask for too much":   func(pl *preemption.Planner) error { return pl.SetNode(preemption.Node{Name: "late"}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := twoNodes()
			s.CompositePodGroups = []preemption.CompositePodGroup{composite("a", "top"), composite("b", "a")}
			s.PodGroups = []preemption.PodGroup{{Namespace: "ns", Name: "g", Parent: "b", Priority: prio(1)}}
			s.Pods[0].Group = "g"
			s.PriorityClasses = []priority.Class{{Name: "k", Value: 3}}
			for i := range 2 {
				s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("large", i), Node: "late", Requests: preemption.Resources{cluster.CPU: math.MaxInt64}})
			}
			s.Pods = append(s.Pods, preemption.Pod{Name: "led", Class: "k", PreemptionPriority: prio(4)})
			pl, err := preemption.NewPlanner(s, preemption.Options{})
			require.NoError(t, err)
			_, err = pl.Preempt(web)
			require.NoError(t, err)
			changed := change(pl)
			want, wanted := preemption.Preempt(web, pl.Snapshot())
			got, err := pl.Preempt(web)
			require.Equal(t, fmt.Sprint(wanted), fmt.Sprint(err), changed)
			require.Equal(t, asJSON(t, want), asJSON(t, got))
		})
	}
}

// seen is everything that a View tells.
type seen struct {
	Time                            time.Time
	Nodes                           []preemption.Node
	Pods, Pending, Terminating      []preemption.Pod
	On, Nominated                   map[string][]preemption.Pod
	Free                            map[string]preemption.Resources
	Groups                          []preemption.PodGroup
	Members                         map[string][]preemption.Pod
	Priorities                      map[preemption.PodRef]int32
	Wholes                          map[preemption.PodRef]preemption.Preemptor
	Of                              map[preemption.PodRef][]preemption.PodRef // the pods of the whole
	Budgets                         []preemption.Budget
	NoPod, NoNode, NoGroup, Nowhere bool
}

func gather[T any](list iter.Seq[*T]) (out []T) {
	for v := range list {
		out = append(out, *v)
	}
	return out
}

// look is what the planner's View tells of those whom s names.
func look(pl *preemption.Planner, s *preemption.Snapshot) (out seen, err error) {
	err = pl.View(func(v preemption.View) {
		out = seen{
			Time: v.Time(), Nodes: gather(v.Nodes()), Pods: gather(v.Pods()), Pending: gather(v.Pending()), Terminating: gather(v.Terminating()),
			On: map[string][]preemption.Pod{}, Nominated: map[string][]preemption.Pod{}, Free: map[string]preemption.Resources{},
			NoPod: v.Pod(preemption.PodRef{Name: "nobody"}) == nil, NoNode: v.Node("nowhere") == nil && v.Free("nowhere") == nil,
			Members: map[string][]preemption.Pod{}, Priorities: map[preemption.PodRef]int32{}, Budgets: gather(v.Budgets()),
			Wholes: map[preemption.PodRef]preemption.Preemptor{}, Of: map[preemption.PodRef][]preemption.PodRef{},
			NoGroup: v.PodGroup("", "nobody") == nil && v.Members("", "nobody") != nil && v.Priority(preemption.PodRef{Name: "nobody"}) == 0, Nowhere: len(gather(v.PodsOn("nowhere")))+len(gather(v.NominatedTo("nowhere"))) == 0,
		}
		for _, n := range s.Nodes {
			out.On[n.Name], out.Nominated[n.Name], out.Free[n.Name] = gather(v.PodsOn(n.Name)), gather(v.NominatedTo(n.Name)), v.Free(n.Name)
		}
		for _, g := range s.PodGroups {
			out.Groups = append(out.Groups, *v.PodGroup(g.Namespace, g.Name))
			out.Members[g.Namespace+"/"+g.Name] = gather(v.Members(g.Namespace, g.Name))
		}
		for i, n := range out.Nodes {
			out.Nodes[i] = *v.Node(n.Name)
		}
		for i, p := range out.Pods {
			ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
			out.Pods[i], out.Priorities[ref], out.Wholes[ref] = *v.Pod(ref), v.Priority(ref), v.Whole(ref)
			for member := range v.PodsOf(out.Wholes[ref]) {
				out.Of[ref] = append(out.Of[ref], preemption.PodRef{Namespace: member.Namespace, Name: member.Name})
			}
		}
	})
	return out, err
}

// wholeOf is whom to ask about for p to run, under rules that know composite groups or do not.
func wholeOf(s *preemption.Snapshot, p *preemption.Pod, composites bool) preemption.Preemptor {
	of := preemption.Preemptor{Kind: preemption.KindPod, Namespace: p.Namespace, Name: p.Name}
	i := slices.IndexFunc(s.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == p.Namespace && g.Name == p.Group })
	if i < 0 {
		return of
	}
	of.Kind, of.Name = preemption.KindPodGroup, p.Group
	parent := s.PodGroups[i].Parent
	for range cluster.MaxTreeDepth - 1 {
		i := slices.IndexFunc(s.CompositePodGroups, func(g preemption.CompositePodGroup) bool { return g.Namespace == p.Namespace && g.Name == parent })
		if i < 0 || !composites || onCycle(s, p.Namespace, parent) {
			break
		}
		of.Kind, of.Name, parent = preemption.KindCompositePodGroup, parent, s.CompositePodGroups[i].Parent
	}
	return of
}

// onCycle reports whether a composite group is above itself.
func onCycle(s *preemption.Snapshot, namespace, name string) bool {
	at := name
	for range len(s.CompositePodGroups) {
		i := slices.IndexFunc(s.CompositePodGroups, func(g preemption.CompositePodGroup) bool { return g.Namespace == namespace && g.Name == at })
		if i < 0 {
			return false
		}
		if at = s.CompositePodGroups[i].Parent; at == name {
			return true
		}
	}
	return false
}

// read is what look has to tell, read from a snapshot.
func read(s *preemption.Snapshot, composites bool) seen {
	out := seen{
		Time: s.Time, Nodes: append([]preemption.Node(nil), s.Nodes...), Pods: append([]preemption.Pod(nil), s.Pods...),
		Groups: append([]preemption.PodGroup(nil), s.PodGroups...), Budgets: append([]preemption.Budget(nil), s.Budgets...),
		Members: map[string][]preemption.Pod{}, Priorities: map[preemption.PodRef]int32{},
		Wholes: map[preemption.PodRef]preemption.Preemptor{}, Of: map[preemption.PodRef][]preemption.PodRef{}, NoPod: true, NoNode: true, NoGroup: true, Nowhere: true,
	}
	slices.SortFunc(out.Nodes, func(a, b preemption.Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(out.Pods, func(a, b preemption.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out.On, out.Nominated, out.Free = map[string][]preemption.Pod{}, map[string][]preemption.Pod{}, map[string]preemption.Resources{}
	for _, n := range out.Nodes {
		free := maps.Clone(n.Allocatable)
		if free == nil {
			free = preemption.Resources{}
		}
		var on, nominated []preemption.Pod
		for _, p := range out.Pods {
			switch {
			case p.Node == n.Name:
				on = append(on, p)
				for name, amount := range p.Requests {
					if free[name] -= amount; free[name] == 0 && n.Allocatable[name] == 0 {
						if _, offered := n.Allocatable[name]; !offered {
							delete(free, name)
						}
					}
				}
				if _, counted := n.Allocatable[cluster.Pods]; counted {
					free[cluster.Pods]--
				}
			case p.Node == "" && p.NominatedNode == n.Name:
				nominated = append(nominated, p)
			}
		}
		out.On[n.Name], out.Nominated[n.Name], out.Free[n.Name] = on, nominated, free
	}
	for _, g := range out.Groups {
		var members []preemption.Pod
		for _, p := range out.Pods {
			if p.Namespace == g.Namespace && p.Group == g.Name {
				members = append(members, p)
			}
		}
		out.Members[g.Namespace+"/"+g.Name] = members
	}
	defer func() {
		for ref, of := range out.Wholes {
			for _, p := range out.Pods {
				if other := (preemption.PodRef{Namespace: p.Namespace, Name: p.Name}); reflect.DeepEqual(out.Wholes[other], of) {
					out.Of[ref] = append(out.Of[ref], other)
				}
			}
		}
	}()
	classes, err := priority.NewClasses(s.PriorityClasses)
	if err != nil {
		panic(err)
	}
	for _, p := range out.Pods {
		resolved, _ := classes.Resolve(priority.Spec{Class: p.Class, Priority: p.Priority, Policy: p.Policy}) // an unknown class: what it has
		ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
		out.Priorities[ref], out.Wholes[ref] = resolved.Priority, wholeOf(s, &p, composites)
		if p.Node == "" {
			out.Pending = append(out.Pending, p)
		}
		if p.Terminating {
			out.Terminating = append(out.Terminating, p)
		}
	}
	return out
}

// View shows one moment, also to a reader who changes the planner while he looks, and
// while others do.
func TestViewShowsOneMoment(t *testing.T) {
	pod := preemption.Pod{Name: "p", Requests: preemption.Resources{cluster.CPU: 1}}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 2}}}, Pods: []preemption.Pod{pod},
	}, preemption.Options{})
	require.NoError(t, err)
	ref := preemption.PodRef{Name: "p"}
	require.NoError(t, pl.View(func(v preemption.View) {
		require.NoError(t, pl.Bind(ref, "n1"))
		require.Len(t, gather(v.Pending()), 1, "as it was when the look began")
		require.NoError(t, pl.View(func(v preemption.View) {
			require.Equal(t, preemption.Resources{cluster.CPU: 1}, v.Free("n1"))
			require.Len(t, gather(v.PodsOn("n1")), 1)
		}))
	}))

	var changes sync.WaitGroup
	changes.Go(func() {
		for range 200 {
			_ = errors.Join(pl.Remove(ref), pl.SetPod(pod), pl.Bind(ref, "n1")) // each moment has the pod on n1, pending, or not at all
		}
	})
	for range 200 {
		require.NoError(t, pl.View(func(v preemption.View) {
			on, used := len(gather(v.PodsOn("n1"))), 2-v.Free("n1")[cluster.CPU]
			require.EqualValues(t, on, used)
			require.Equal(t, len(gather(v.Pods())), on+len(gather(v.Pending())))
		}))
	}
	changes.Wait()
}

func ExamplePlanner_View() {
	two := preemption.Resources{cluster.CPU: 2000}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4000}}},
		Pods:  []preemption.Pod{{Name: "batch", Node: "n1", Requests: two}, {Name: "web", Requests: two}},
	}, preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = planner.View(func(v preemption.View) {
		for pod := range v.Pending() {
			fmt.Println(pod.Name, "waits;", v.Free("n1")[cluster.CPU], "milli-CPU of n1 are free")
		}
		for pod := range v.PodsOn("n1") {
			fmt.Println(pod.Name, "runs on n1")
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// web waits; 2000 milli-CPU of n1 are free
	// batch runs on n1
}

// TestForksOfWhatCannotBeFollowed are independent: of a planner that refuses what is odd until nothing is.
func TestForksOfWhatCannotBeFollowed(t *testing.T) {
	pl, err := preemption.NewPlanner(twoNodes(), preemption.Options{Strict: true})
	require.NoError(t, err)
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "lost", Node: "none"}))
	_, err = pl.Preempt(web)
	require.Error(t, err)
	before := pl.Snapshot()
	f := pl.Fork()
	require.NoError(t, f.SetPod(preemption.Pod{Name: "new"}))
	require.NoError(t, f.Remove(preemption.PodRef{Name: "lost"}))
	require.Equal(t, before, pl.Snapshot())
	_, err = f.Preempt(web)
	require.NoError(t, err)
}
