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
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// history is a planner that lives through random changes.
type history struct {
	*preemption.Planner
	options preemption.Options
	last    *preemption.Result
	before  []byte // of a fork that is put aside: its snapshot then
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

// maker makes changes.
type maker struct {
	*rapid.T
	preemptor preemption.Preemptor
	groups    []preemption.PodGroup // those at first
}

func (m *maker) n(n int) int { return rapid.IntRange(0, n-1).Draw(m.T, "") }

func (m *maker) chance(percent int) bool { return m.n(100) < percent }

func one[T any](m *maker, list []T) (v T) {
	if len(list) == 0 {
		return v
	}
	return list[m.n(len(list))]
}

// question is about a pending pod or a group of s, or that which s was made for.
func (m *maker) question(s *preemption.Snapshot) preemption.Preemptor {
	switch m.n(4) {
	case 0:
		if g := one(m, s.PodGroups); g.Name != "" {
			return preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name}
		}
	case 1:
		p := one(m, s.Pods)
		return preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}
	}
	return m.preemptor
}

// pod is a pod of s with something changed, or a new one that looks like it.
func (m *maker) pod(s *preemption.Snapshot) preemption.Pod {
	p := one(m, s.Pods)
	if p.Name == "" || m.chance(50) {
		p.Name = fmt.Sprintf("%c-new-%d", "amz"[m.n(3)], m.n(4))
	}
	for range 1 + m.n(2) {
		switch m.n(14) {
		case 0:
			p.Requests = one(m, s.Pods).Requests
		case 1, 2:
			p.Node = one(m, s.Nodes).Name
		case 3:
			p.Node, p.NominatedNode = "", one(m, s.Nodes).Name
		case 4:
			p.Priority = one(m, s.Pods).Priority
		case 5:
			p.Labels = one(m, s.Pods).Labels
		case 6:
			p.Group, p.Namespace = one(m, s.Pods).Group, one(m, s.Pods).Namespace
			if m.chance(20) {
				p.Group = "new"
			}
		case 7:
			p.Terminating, p.Preempted = m.chance(50), m.chance(50)
		case 8:
			p.Started = one(m, s.Pods).Started
		case 9:
			p.UID = one(m, s.Pods).UID
		case 10:
			p.AntiAffinity = m.terms(s)
		case 11:
			if m.chance(25) {
				m.oddity(s, &p)
			}
		case 12:
			p.Devices = m.devices()
		case 13:
			p.Tokens = m.tokens()
		}
	}
	return p
}

// devices are requests for what nodes may have, or not.
func (m *maker) devices() []cluster.DeviceRequest {
	r := cluster.DeviceRequest{Resource: gpu}
	switch m.n(6) {
	case 0:
		return nil
	case 1:
		r.Count = 1 + int32(m.n(2))
	case 2:
		r.Count, r.Assigned = 1, []int32{int32(m.n(3))}
	case 3:
		r.Fraction, r.Assigned = 3, []int32{int32(m.n(3))}
	default:
		r.Fraction = 2 + int64(m.n(4))
	}
	return []cluster.DeviceRequest{r, {Resource: gpu, Fraction: 3}}[:1+m.n(5)/4]
}

func (m *maker) tokens() []string { return []string{"licence", "lock", "licence"}[m.n(3):][:m.n(2)] }

// equip gives the cluster devices, and tokens.
func (m *maker) equip(s *preemption.Snapshot) {
	for i := range s.Nodes {
		if m.chance(80) {
			s.Nodes[i].Devices = map[string]cluster.DevicePool{gpu: {Count: 1 + int32(m.n(3)), Capacity: 6}}
		}
	}
	equip := func(pods []preemption.Pod, percent int) {
		for i := range pods {
			if m.chance(percent) {
				pods[i].Devices = m.devices()
			}
			if m.chance(percent / 3) {
				pods[i].Tokens = m.tokens()
			}
		}
	}
	equip(s.Pods, 40)
	equip(m.preemptor.Pods, 80)
}

// oddity changes p in a way that may need a new compile.
func (m *maker) oddity(s *preemption.Snapshot, p *preemption.Pod) {
	switch m.n(5) {
	case 0:
		p.Node = "gone"
	case 1:
		p.Requests = preemption.Resources{"example.com/rare": int64(m.n(3))}
	case 2:
		p.Class = one(m, s.PriorityClasses).Name
	case 3:
		p.Guard = &cluster.Guard{Standby: true}
	case 4:
		p.AntiAffinity = nil
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: p.Labels}}}
	}
}

// prepare gives the cluster zones, a group that goes as a whole, and pods that keep
// away from others.
func (m *maker) prepare(s *preemption.Snapshot) {
	for i := range s.Nodes {
		labels := map[string]string{"zone": fmt.Sprint(i % 2)}
		for k, v := range s.Nodes[i].Labels {
			labels[k] = v
		}
		s.Nodes[i].Labels = labels
	}
	if len(s.Pods) == 0 {
		return
	}
	namespace := s.Pods[0].Namespace
	s.PodGroups = append(s.PodGroups, preemption.PodGroup{
		Namespace: namespace, Name: "whole", Mode: disruption.All, MinCount: new(int32(m.n(3) + 1)), Priority: s.Pods[0].Priority,
	})
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Namespace == namespace && p.Group == "" && m.chance(30) {
			p.Group = "whole"
		}
		if m.chance(10) {
			p.AntiAffinity = m.terms(s)
		}
	}
	for i := range m.preemptor.Pods {
		if m.chance(30) {
			m.preemptor.Pods[i].AntiAffinity = m.terms(s)
		}
	}
}

func (m *maker) terms(s *preemption.Snapshot) []cluster.AffinityTerm {
	term := cluster.AffinityTerm{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: one(m, s.Pods).Labels}}
	return []cluster.AffinityTerm{term, term}[:1+m.n(2)]
}

// group is a group of s, a former one or a new one, with something changed.
func (m *maker) group(s *preemption.Snapshot) preemption.PodGroup {
	g := one(m, append(s.PodGroups, m.groups...))
	g.Mode = disruption.Mode([]string{"", "Single", "All", "SurplusFirst"}[m.n(4)])
	switch m.n(6) {
	case 0:
		g.Priority = one(m, s.Pods).Priority
	case 1:
		g.MinCount, g.Basic = new(int32(m.n(3)+1)), false
	case 2:
		g.Namespace, g.Name = one(m, s.Pods).Namespace, "new"
	case 3:
		g.Class = one(m, append(s.PriorityClasses, preemption.PriorityClass{Name: "unknown"})).Name
	case 4:
		g.Leader = one(m, s.Pods).Name
	}
	return g
}

// change makes one change; those that are refused change nothing.
func (m *maker) change(h *history) {
	s := h.Snapshot()
	p := one(m, s.Pods)
	ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
	switch m.n(26) {
	default:
		_ = h.SetPod(m.pod(s))
	case 0, 1, 2, 3:
		_ = h.Remove(ref)
	case 4, 5:
		_ = h.Bind(ref, one(m, s.Nodes).Name)
	case 6, 7:
		node := one(m, s.Nodes)
		node.Allocatable = one(m, s.Nodes).Allocatable
		node.Unschedulable = m.chance(20)
		if m.chance(20) {
			node.Labels = one(m, s.Nodes).Labels
		}
		_ = h.SetNode(node)
	case 8:
		_ = h.RemoveNode(one(m, s.Nodes).Name)
	case 9, 10:
		b := one(m, s.Budgets)
		b.Allowed = int32(m.n(3))
		if m.chance(30) {
			b.Selector = &disruption.Selector{MatchLabels: p.Labels}
		}
		if m.chance(20) {
			b.Namespace, b.Name = p.Namespace, "new"
		}
		_ = h.SetBudget(b)
	case 11:
		b := one(m, s.Budgets)
		_ = h.RemoveBudget(b.Namespace, b.Name)
	case 12:
		_ = h.SetPodGroup(m.group(s))
	case 13:
		g := one(m, s.PodGroups)
		_ = h.RemovePodGroup(g.Namespace, g.Name)
	case 14:
		h.SetTime(s.Time.Add(time.Duration(m.n(1000)) * time.Second))
	case 15, 16:
		_ = h.Apply(h.last)
	case 17, 18, 19:
		_ = h.Evict(h.last)
	case 20:
		_ = h.SetPodGroup(m.group(s))
	}
}

func optionsOf(m *maker) preemption.Options {
	o := preemption.Options{Candidates: m.chance(30), Explain: m.chance(30)}
	o.Rules = []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha}[m.n(3)]
	switch m.n(8) {
	case 0:
		o.Strict = true
	case 1:
		o.HardBudgets.All = true
	case 2:
		o.Limits.Window = preemption.Window{Seconds: 600, Victims: 3}
	}
	return o
}

// historiesAgree is what a live planner has to keep, whatever happens to it.
func historiesAgree(t *rapid.T) {
	m := &maker{T: t}
	q := gen.Question{}
	if m.chance(50) {
		q = gen.RandomGang(rapid.Uint64().Draw(t, "seed"), gen.EverythingForGangs())
	} else {
		q = gen.Random(rapid.Uint64().Draw(t, "seed"), gen.Everything())
	}
	m.preemptor = q.Preemptor
	if m.chance(80) {
		m.prepare(&q.Snapshot)
	}
	if m.chance(40) {
		m.equip(&q.Snapshot)
	}
	m.groups = q.Snapshot.PodGroups
	options := optionsOf(m)
	pl, err := preemption.NewPlanner(&q.Snapshot, options)
	if err != nil {
		return
	}
	h := &history{Planner: pl, options: options}
	h.ask(t, m.preemptor)
	var forks []*history
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		if m.chance(20) {
			fork := &history{Planner: h.Fork(), options: options, last: h.last}
			if m.chance(50) {
				h, fork = fork, h
			}
			fork.before = []byte(asJSON(t, fork.Snapshot()))
			forks = append(forks, fork)
		}
		m.change(h)
		if m.chance(70) {
			h.ask(t, m.question(h.Snapshot()))
		}
	}
	h.ask(t, m.preemptor)
	for _, fork := range forks {
		require.Equal(t, string(fork.before), asJSON(t, fork.Snapshot()))
		fork.ask(t, m.question(fork.Snapshot()))
		m.change(fork)
		fork.ask(t, m.preemptor)
	}
	h.ask(t, m.preemptor)
}

func TestHistoriesAgreeWithAFreshCompile(t *testing.T) { rapid.Check(t, historiesAgree) }

func FuzzHistoriesAgreeWithAFreshCompile(f *testing.F) { f.Fuzz(rapid.MakeFuzz(historiesAgree)) }

// TestQuestionsMayBeAskedDuringChanges is for the race detector.
func TestQuestionsMayBeAskedDuringChanges(t *testing.T) {
	s := gen.Fleet(30, 10, 1, gen.Uniform)
	s.Budgets = []preemption.Budget{{Namespace: s.Pods[0].Namespace, Name: "b", Selector: &disruption.Selector{}}}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	p := gen.FleetPod(1)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 30 {
				_, err := pl.Preempt(p)
				require.NoError(t, err)
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
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	h, compiled := &history{Planner: pl}, pl.Compiled()
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
