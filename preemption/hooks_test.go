package preemption_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestHooksThatSayWhatTheDefaultsSay: order, comparison and cost through the exported
// defaults come to the answers without hooks, for pods and gangs.
func TestHooksThatSayWhatTheDefaultsSay(t *testing.T) {
	t.Parallel()
	hooked := func(o preemption.Options) *preemption.Hooks {
		var ranking victims.Ranking
		if at := o.Cost.Criterion; at > 0 || o.Cost.Objective {
			ranking = slices.Insert(slices.Clone(victims.Criteria[:]), max(at-1, 0), victims.CriterionCost)
		}
		h := &preemption.Hooks{Order: victims.Upstream{}, Compare: ranking}
		if !o.Cost.Tariff.Free() {
			h.Cost = victims.Tariff{Tariff: o.Cost.Tariff}
		}
		return h
	}
	compare := func(t fatal, o preemption.Options, q gen.Question) bool {
		o.Candidates = true
		plain := ask(t, o, q)
		o.Hooks = hooked(o)
		same := ask(t, o, q)
		if !same.Stats.Hooks {
			t.Fatalf("the result does not say that hooks were set")
		}
		plain.Stats, same.Stats = preemption.Stats{}, preemption.Stats{}
		if diff := cmp.Diff(plain, same); diff != "" {
			t.Fatalf("(-plain +hooked):\n%s", diff)
		}
		return plain.Verdict == preemption.Feasible
	}
	pods, gangs := 0, 0
	for seed := range seeds(1000) {
		q := gen.Random(seed, gen.Everything())
		if compare(&named{t, seed}, seededOptions(seed), q) {
			pods++
		}
		g := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 14, Groups: true, Budgets: true}})
		if o := (preemption.Options{}); asksSomething(g) && compare(&named{t, seed}, o, sound(o, g)) {
			gangs++
		}
	}
	require.Greater(t, pods, int(seeds(200)))
	require.Greater(t, gangs, int(seeds(200)))
}

// byName keeps units whose first pod's name starts with keep.
type byName struct{ keep string }

func (o byName) Compare(us *victims.Units, a, b victims.UnitID) int {
	x, y := o.kept(us, a), o.kept(us, b)
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

func (o byName) kept(us *victims.Units, u victims.UnitID) bool {
	return strings.HasPrefix(us.Index().Pod(us.Unit(u).Pods[0]).Name, o.keep)
}

// fewestPods compares domains by nothing but the number of victims.
type fewestPods struct{}

func (fewestPods) Compare(a, b victims.Score) int { return a.Pods - b.Pods }

// byLength prices a unit by the length of its pods' names.
type byLength struct{}

func (byLength) Price(ix *cluster.Index, _ cluster.GroupID, pods []cluster.PodID) int64 {
	sum := int64(0)
	for _, p := range pods {
		sum += int64(len(ix.Pod(p).Name))
	}
	return sum
}

// Hooks replace the order of importance, the comparison of domains and the price of
// an eviction by one's own.
func ExampleHooks() {
	pod := func(name, node string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{cluster.CPU: cpu}}
	}
	snapshot := preemption.Snapshot{
		Nodes: []cluster.Node{
			{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 2}}, {Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 2}},
		},
		Pods: []preemption.Pod{
			pod("batch-1", "n1", 1, 1), pod("web", "n1", 5, 1),
			pod("old", "n2", 3, 2),
			pod("new", "", 10, 1),
		},
	}
	ask := func(o preemption.Options) {
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "new"}, &snapshot)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s\n", r.Message, r.Victims[0].Name)
	}
	ask(preemption.Options{})
	ask(preemption.Options{Hooks: &preemption.Hooks{Order: byName{keep: "batch"}}})
	ask(preemption.Options{Hooks: &preemption.Hooks{Compare: fewestPods{}, Order: byName{keep: "batch"}}})
	ask(preemption.Options{Hooks: &preemption.Hooks{Cost: byLength{}}, Cost: preemption.CostOptions{Criterion: 1}})
	// Output:
	// fits on n1 once 1 pod is evicted: batch-1
	// fits on n2 once 1 pod is evicted: old
	// fits on n1 once 1 pod is evicted: web
	// fits on n2 once 1 pod is evicted: old
}

// caller is a constraint that calls the planner from within a question.
type caller struct{ call func() }

func (c *caller) Name() domain.Check { return "caller" }

func (c *caller) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	if call := c.call; call != nil {
		c.call = nil
		call()
	}
	return nil, nil
}

// TestHooksThatCallThePlannerDoNotStopIt: the question goes on about the cluster as it was when
// it began, and what was called is done.
func TestHooksThatCallThePlannerDoNotStopIt(t *testing.T) {
	web := preemption.Preemptor{Kind: preemption.KindPod, Namespace: "ns", Name: "web"}
	for name, call := range map[string]func(pl *preemption.Planner){
		"a change": func(pl *preemption.Planner) {
			require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "low"}))
		},
		"a question": func(pl *preemption.Planner) {
			_, err := pl.Preempt(web)
			require.NoError(t, err)
		},
		"a snapshot": func(pl *preemption.Planner) { require.NotEmpty(t, pl.Snapshot().Pods) },
		"a fork": func(pl *preemption.Planner) {
			require.NoError(t, pl.Fork().Remove(preemption.PodRef{Namespace: "ns", Name: "low"}))
		},
	} {
		first, _ := planned(t)
		hook := &caller{}
		pl, err := preemption.NewPlanner(first.Snapshot(), preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{hook}}})
		require.NoError(t, err)
		hook.call = func() { call(pl) }
		r, err := pl.Preempt(web)
		require.NoError(t, err, name)
		require.Equal(t, preemption.Feasible, r.Verdict, name)
		r, err = pl.Preempt(web)
		require.NoError(t, err, name)
		want := preemption.Feasible
		if name == "a change" {
			want = preemption.Fits
		}
		require.Equal(t, want, r.Verdict, name)
	}
}

type placing func(t *domain.GangTrial, d *domain.Domain, members []domain.MemberID) int

func (f placing) Place(t *domain.GangTrial, d *domain.Domain, _ domain.Offers, members []domain.MemberID, _ int) int {
	return f(t, d, members)
}

type splitting [][]cluster.NodeID

func (s splitting) Split(dst []domain.Domain, _ *cluster.Index) []domain.Domain {
	for i, nodes := range s {
		dst = append(dst, domain.Domain{Name: fmt.Sprint("d", i), Nodes: nodes})
	}
	return dst
}

// fitting is a constraint, and its state, that says of every node what it is told to.
type fitting func() domain.Reason

func (fitting) Name() domain.Check { return "told" }
func (f fitting) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	return f, nil
}
func (fitting) Remove(cluster.PodID, cluster.NodeID)                 {}
func (fitting) Return(cluster.PodID, cluster.NodeID)                 {}
func (fitting) Place(domain.MemberID, cluster.NodeID)                {}
func (fitting) Unplace(domain.MemberID, cluster.NodeID)              {}
func (f fitting) Fits(domain.MemberID, cluster.NodeID) domain.Reason { return f() }
func (f fitting) Clone() domain.State                                { return f }
func (fitting) Scope() domain.Scope                                  { return domain.Scope{} }

// brokenHooks asks about a pod and a gang, by every kind of question.
func brokenHooks(t *testing.T, hooks *preemption.Hooks, check func(ask func() error)) {
	high, most := int32(9), int32(2)
	s := &preemption.Snapshot{}
	for i := range 3 {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: preemption.Resources{"cpu": 2}})
		s.Pods = append(s.Pods, preemption.Pod{Name: "v" + node, Node: node, Requests: preemption.Resources{"cpu": 2}})
	}
	pod := preemption.Pod{Name: "x", Priority: &high, Requests: preemption.Resources{"cpu": 2}}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", MinCount: &most, Priority: &high}}
	for i := range 2 {
		member := pod
		member.Name = fmt.Sprint("m", i)
		gang.Pods = append(gang.Pods, member)
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{Hooks: hooks})
	require.NoError(t, err)
	for _, p := range []preemption.Preemptor{gang, {Pods: []preemption.Pod{pod}}} {
		check(func() error { _, err := pl.Preempt(p); return err })
		check(func() error { _, err := pl.Decide(p); return err })
		check(func() error { _, err := pl.WhyNot(p, preemption.NodeTarget("n1")); return err })
		require.NoError(t, pl.SetPod(preemption.Pod{Name: "late", Node: "n0"}), "no lock is held")
		require.NoError(t, pl.Remove(preemption.PodRef{Name: "late"}))
		if hooks.Constraints == nil {
			break // the others are for gangs
		}
	}
}

func TestHooksThatBreakTheirContractAreNamed(t *testing.T) {
	reason := func(r domain.Reason) *preemption.Hooks {
		return &preemption.Hooks{Constraints: []domain.Constraint{fitting(func() domain.Reason { return r })}}
	}
	for want, hooks := range map[string]*preemption.Hooks{
		"Splitter: node -1 in domain \"d0\" is not from 0 to 2":       {Splitter: splitting{{-1, 0}}},
		"Splitter: node 9 in domain \"d1\" is not from 0 to 2":        {Splitter: splitting{{0}, {1, 9}}},
		"Splitter: node 1 in domain \"d0\" is not above 1":            {Splitter: splitting{{1, 1}}},
		"Splitter: node 1 in domain \"d1\" is not in one domain only": {Splitter: splitting{{0, 1}, {1, 2}}},
		"Placer: 9 is not 0, as many as it placed":                    {Placer: placing(func(*domain.GangTrial, *domain.Domain, []domain.MemberID) int { return 9 })},
		"Placer: node -1 is not from 0 to 2":                          {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Place(m[0], -1); return 1 })},
		"Placer: member 7 is not from 0 to 1":                         {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Place(7, 0); return 1 })},
		"Placer: Unplace of nobody is not after a Place":              {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Unplace(); return 0 })},
		"Placer: member 0, placed on n0 already is not a member": {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int {
			t.Place(0, 0)
			t.Place(0, 1)
			return 2
		})},
		"Constraints: a reason with resource 99 is not from 0 to 1":    reason(domain.Reason{Check: domain.CheckResource, Resource: 99}),
		"Constraints: a reason with resource -5 is not from 0 to 1":    reason(domain.Reason{Check: domain.CheckResource, Resource: -5}),
		"Constraints: a reason with port 3 is not the position of one": reason(domain.Reason{Check: domain.CheckPorts, Port: 3}),
	} {
		t.Run(want, func(t *testing.T) {
			brokenHooks(t, hooks, func(ask func() error) {
				err := ask()
				var broken *preemption.HookError
				require.ErrorAs(t, err, &broken)
				require.ErrorContains(t, err, "preemption: Options.Hooks."+want)
			})
		})
	}
}

// keeper is a placer that keeps the trial that it is given.
type keeper struct {
	domain.Placer
	kept **domain.GangTrial
}

func (k keeper) Place(t *domain.GangTrial, d *domain.Domain, offers domain.Offers, members []domain.MemberID, most int) int {
	*k.kept = t
	return k.Placer.Place(t, d, offers, members, most)
}

// TestWhatAHookKeepsIsNotReused: the trial that a placer was given still tells what is free once the question is answered.
func TestWhatAHookKeepsIsNotReused(t *testing.T) {
	var kept *domain.GangTrial
	q := gen.RandomGang(3, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 16}})
	ask(t, preemption.Options{Hooks: &preemption.Hooks{Placer: keeper{domain.Pack{}, &kept}}}, q)
	require.NotNil(t, kept)
	require.NotPanics(t, func() { kept.Free(0) })
}

// bomb is what every hook below calls, each time that it is called. Its calls are counted,
// and where it is armed the one of a number goes off.
type bomb struct {
	mu    sync.Mutex
	calls int
	at    int // 0: it is not armed
	goOff func()
}

func (b *bomb) tick() {
	b.mu.Lock()
	b.calls++
	off := b.calls == b.at
	b.mu.Unlock()
	if off {
		b.goOff()
	}
}

// arm lets the call go off that is that number from now on.
func (b *bomb) arm(at int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls, b.at = 0, at
}

// bombConstraint is a constraint one of whose methods ticks. It says nothing against
// anybody, but where Hopeless is to be asked.
type bombConstraint struct {
	*bomb
	only string // the method
}

func (c bombConstraint) tick(method string) {
	if c.only == method {
		c.bomb.tick()
	}
}

func (c bombConstraint) Name() domain.Check { c.tick("Name"); return "bomb" }
func (c bombConstraint) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.tick("Prepare")
	return c, nil
}
func (c bombConstraint) Remove(cluster.PodID, cluster.NodeID)    { c.tick("Remove") }
func (c bombConstraint) Return(cluster.PodID, cluster.NodeID)    { c.tick("Return") }
func (c bombConstraint) Place(domain.MemberID, cluster.NodeID)   { c.tick("Place") }
func (c bombConstraint) Unplace(domain.MemberID, cluster.NodeID) { c.tick("Unplace") }
func (c bombConstraint) Clone() domain.State                     { c.tick("Clone"); return c }
func (c bombConstraint) Scope() domain.Scope {
	c.tick("Scope")
	return domain.Scope{}
}
func (c bombConstraint) Touches(cluster.NodeID) bool { c.tick("Touches"); return true }
func (c bombConstraint) OrderMatters() bool          { c.tick("OrderMatters"); return true }
func (c bombConstraint) TouchesPod(cluster.PodID, cluster.NodeID) bool {
	c.tick("TouchesPod")
	return true
}
func (c bombConstraint) Fits(_ domain.MemberID, n cluster.NodeID) domain.Reason {
	c.tick("Fits")
	if c.only == "Hopeless" && n == 3 {
		return domain.Reason{Check: "bomb"}
	}
	return domain.Reason{}
}
func (c bombConstraint) Hopeless(domain.MemberID, cluster.NodeID) domain.Reason {
	c.tick("Hopeless")
	return domain.Reason{}
}

type (
	bombPlacer     struct{ *bomb }
	bombEligible   struct{ *bomb }
	bombOrder      struct{ *bomb }
	bombComparison struct{ *bomb }
	bombCost       struct{ *bomb }
	bombSplitter   struct{ *bomb }
	bombObserver   struct{ *bomb }
)

func (b bombPlacer) Place(t *domain.GangTrial, d *domain.Domain, offers domain.Offers, members []domain.MemberID, most int) int {
	n := domain.Pack{}.Place(t, d, offers, members, most)
	b.tick() // with some members placed
	return n
}

func (b bombEligible) Kept(us *victims.Units, u victims.UnitID, p victims.Claim) victims.Kept {
	b.tick()
	return victims.LowerPriority{}.Kept(us, u, p)
}

func (b bombOrder) Compare(us *victims.Units, x, y victims.UnitID) int {
	b.tick()
	return victims.Upstream{}.Compare(us, x, y)
}

func (b bombComparison) Compare(x, y victims.Score) int { b.tick(); return x.Compare(y) }

func (b bombCost) Price(_ *cluster.Index, _ cluster.GroupID, pods []cluster.PodID) int64 {
	b.tick()
	return int64(len(pods))
}

func (b bombSplitter) Split(dst []domain.Domain, ix *cluster.Index) []domain.Domain {
	b.tick()
	return domain.WholeCluster{}.Split(dst, ix)
}

func (b bombObserver) Now() time.Time                  { b.tick(); return time.Unix(0, 0) }
func (b bombObserver) Answered(preemption.Observation) { b.tick() }

// bombs is every hook, by its field and what of it ticks.
func bombs(b *bomb) map[string]*preemption.Hooks {
	list := map[string]*preemption.Hooks{
		"Filter":   {Filter: func(*preemption.Pod, *preemption.Node) bool { b.tick(); return true }},
		"Placer":   {Placer: bombPlacer{b}},
		"Eligible": {Eligible: bombEligible{b}},
		"Order":    {Order: bombOrder{b}},
		"Compare":  {Compare: bombComparison{b}},
		"Prefer":   {Prefer: func(*cluster.Index, *preemption.Pod, cluster.NodeID) int64 { b.tick(); return 0 }},
		"Cost":     {Cost: bombCost{b}},
		"Splitter": {Splitter: bombSplitter{b}},
		"Observer": {Observer: bombObserver{b}},
	}
	for _, method := range []string{"Prepare", "Remove", "Return", "Place", "Unplace", "Fits", "Scope", "Hopeless", "Touches", "TouchesPod"} {
		list["Constraints "+method] = &preemption.Hooks{Constraints: []domain.Constraint{bombConstraint{b, method}}}
	}
	list["Constraints of a Colocation"] = &preemption.Hooks{Constraints: []domain.Constraint{domain.Colocation{
		Check: "bomb", Monotone: true, Allows: func(*preemption.Pod, *preemption.Node, []*preemption.Pod) bool { b.tick(); return true },
	}}}
	for _, h := range list {
		counting.Store(h, nil)
	}
	return list
}

// bombWorld is full: pods of two priorities, a gang that runs, one that waits, and a pod.
func bombWorld() *preemption.Snapshot {
	low, middle, high, two := int32(1), int32(2), int32(9), int32(2)
	s := &preemption.Snapshot{
		Time: time.Unix(1000, 0),
		PodGroups: []preemption.PodGroup{
			{Namespace: "ns", Name: "g", MinCount: &two, Priority: &high}, {Namespace: "ns", Name: "old", MinCount: &two, Priority: &low, Mode: "All"},
		},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues:   []preemption.ClusterQueue{{Name: "research", Groups: gpus(16)}},
		LocalQueues:     []preemption.LocalQueue{{Namespace: "ns", Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{{
			Namespace: "ns", Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 16, Requests: preemption.Resources{"gpu": 1}}},
		}},
	}
	pod := func(name, node, group string, priority *int32, cpu int64) {
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "ns", Name: name, Node: node, Group: group, Priority: priority, Requests: preemption.Resources{"cpu": cpu}})
	}
	for i := range 4 {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: preemption.Resources{"cpu": 4}})
		pod("low"+node, node, "", &low, 1)
		pod("other"+node, node, "", &middle, 1)
		pod("twin"+node, node, "", &middle, 1)
		pod("member"+node, node, "old", &low, 1)
	}
	for i := range 3 {
		pod(fmt.Sprint("g", i), "", "g", &high, 2)
	}
	pod("x", "", "", &high, 2)
	pod("y", "", "", &high, 2)
	return s
}

var (
	askedPod  = preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "x"}
	askedTwin = preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "y"}
	askedGang = preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "ns", Name: "g"}
)

// bombMethods is every method that may call a hook. plan is an answer about the pod.
var bombMethods = map[string]func(pl *preemption.Planner, o preemption.Options, plan *preemption.Result) (any, error){
	"NewPlanner": func(_ *preemption.Planner, o preemption.Options, _ *preemption.Result) (any, error) {
		pl, err := preemption.NewPlanner(bombWorld(), o)
		if pl == nil {
			return nil, err
		}
		return nil, err
	},
	"Options.Preempt": func(_ *preemption.Planner, o preemption.Options, _ *preemption.Result) (any, error) {
		return none(o.Preempt(askedGang, bombWorld()))
	},
	"Preempt pod": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return none(pl.Preempt(askedPod))
	},
	"Preempt gang": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return none(pl.Preempt(askedGang))
	},
	"PreemptAll": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		list, err := pl.PreemptAll([]preemption.Preemptor{askedGang, askedPod, askedTwin})
		if list == nil {
			return nil, err
		}
		return list, err
	},
	"Decide pod": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noDecision(pl.Decide(askedPod))
	},
	"Decide gang": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noDecision(pl.Decide(askedGang))
	},
	"Park": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noDecision(pl.Park(askedPod))
	},
	"WhyNot node": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noWhy(pl.WhyNot(askedPod, preemption.NodeTarget("n3")))
	},
	"WhyNot unit": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noWhy(pl.WhyNot(askedGang, preemption.UnitTarget("ns/othern1")))
	},
	"Gather": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		g := pl.Gather()
		for _, name := range []string{"g0", "g1"} {
			r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: name})
			if err != nil {
				return none(r, err)
			}
		}
		return none(g.Plan())
	},
	"Cycle": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		list, err := pl.Cycle([]preemption.Preemptor{{Kind: preemption.KindWorkload, Namespace: "ns", Name: "paper"}})
		if list == nil {
			return nil, err
		}
		return list, err
	},
	"StillValid": func(pl *preemption.Planner, _ preemption.Options, plan *preemption.Result) (any, error) {
		v, err := pl.StillValid(plan)
		if v == (preemption.Validity{}) {
			return nil, err
		}
		return v, err
	},
	"Apply": func(pl *preemption.Planner, _ preemption.Options, plan *preemption.Result) (any, error) {
		return nil, pl.Apply(plan)
	},
	"Evict": func(pl *preemption.Planner, _ preemption.Options, plan *preemption.Result) (any, error) {
		return nil, pl.Evict(plan)
	},
	"SetPod": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.SetPod(preemption.Pod{Namespace: "ns", Name: "late", Node: "n0", Requests: preemption.Resources{"cpu": 1}})
	},
	"Remove": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "membern2"})
	},
	"Requeue": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.Requeue(preemption.PodRef{Namespace: "ns", Name: "membern2"})
	},
	"SetTime": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.SetTime(time.Unix(2000, 0))
	},
	"SetNode": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.SetNode(cluster.Node{Name: "n9", Allocatable: preemption.Resources{"cpu": 4}})
	},
	"RemoveNodeAndPods": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		_, err := pl.RemoveNodeAndPods("n1")
		return nil, err
	},
	"RemovePodGroup": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.RemovePodGroup("ns", "old")
	},
}

func none(r *preemption.Result, err error) (any, error) {
	if r == nil {
		return nil, err
	}
	return r, err
}

func noWhy(why *preemption.Why, err error) (any, error) {
	if why == nil {
		return nil, err
	}
	return why, err
}

func noDecision(d preemption.Decision, err error) (any, error) {
	if d == (preemption.Decision{}) {
		return nil, err
	}
	return d, err
}

// inWords is everything that a planner says of itself.
func inWords(t *testing.T, pl *preemption.Planner, answer any) string {
	t.Helper()
	all := []any{answer, pl.Snapshot()}
	for _, p := range []preemption.Preemptor{askedPod, askedGang} {
		r, err := none(pl.Preempt(p))
		all = append(all, r, fmt.Sprint(err))
	}
	b, err := json.Marshal(all)
	require.NoError(t, err)
	return string(b)
}

// TestHooksThatPanicAreNamed: whatever hook panics, in whatever method and at whatever call, the
// method comes to an error that names it, nothing has changed, and the next time it comes to
// what it comes to where nobody panics.
func TestHooksThatPanicAreNamed(t *testing.T) {
	cause := errors.New(strings.Repeat("boom ", 1000))
	for name := range bombs(&bomb{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			field, _, _ := strings.Cut(name, " ")
			methods := 0
			for method, call := range bombMethods {
				b := &bomb{goOff: func() { panic(cause) }}
				o := preemption.Options{Hooks: bombs(b)[name]}
				fresh := func() *preemption.Planner {
					b.arm(0)
					pl, err := preemption.NewPlanner(bombWorld(), o)
					require.NoError(t, err)
					return pl
				}
				before := inWords(t, fresh(), nil)
				pl := fresh()
				plan, err := pl.Fork().Preempt(askedPod)
				require.NoError(t, err)
				require.Equal(t, preemption.Feasible, plan.Verdict)
				b.arm(0)
				answer, err := call(pl, o, plan)
				require.NoError(t, err, method)
				calls := b.calls
				after := inWords(t, pl, answer)
				if calls > 0 {
					methods++
				}
				for _, at := range []int{1, 2, calls / 2, calls} {
					if at < 1 || at > calls {
						continue
					}
					where := fmt.Sprintf("%s, call %d of %d", method, at, calls)
					pl := fresh()
					b.arm(at)
					nothing, err := call(pl, o, plan)
					var hook *preemption.HookError
					require.ErrorAs(t, err, &hook, where)
					require.Equal(t, field, hook.Hook, where)
					require.ErrorIs(t, err, cause, where)
					require.Contains(t, err.Error(), "preemption: Options.Hooks."+field+": panic: boom boom", where)
					require.Less(t, len(hook.Error()), 300, where)
					require.Contains(t, string(hook.Stack), "bomb).tick", where)
					require.Nil(t, nothing, where)
					b.arm(0)
					require.Equal(t, before, inWords(t, pl, nil), where)
					answer, err := call(pl, o, plan)
					require.NoError(t, err, where)
					require.Equal(t, after, inWords(t, pl, answer), where)
				}
			}
			require.Positive(t, methods, "nobody calls it")
			t.Logf("called by %d methods", methods)
		})
	}
}

// chance is a hook of each kind that answers by chance.
type chance struct {
	victims.Upstream
	die func(sides int) int
}

func (c chance) Kept(us *victims.Units, u victims.UnitID, p victims.Claim) victims.Kept {
	if c.die(4) == 0 {
		return victims.Kept{Rule: victims.KeptPriority}
	}
	return victims.LowerPriority{}.Kept(us, u, p)
}

func (c chance) Compare(*victims.Units, victims.UnitID, victims.UnitID) int { return c.die(3) - 1 }

func (c chance) Price(*cluster.Index, cluster.GroupID, []cluster.PodID) int64 { return int64(c.die(4)) }

// TestHooksThatAnswerByChance: hooks that break their contract from call to call come to an answer or to an error, and the planner
// is as it was.
func TestHooksThatAnswerByChance(t *testing.T) {
	answers := 0
	for seed := range seeds(1000) {
		var mu sync.Mutex
		r := rand.New(rand.NewPCG(seed, 1))
		c := chance{die: func(sides int) int { mu.Lock(); defer mu.Unlock(); return r.IntN(sides) }}
		yes := func() bool { return c.die(3) > 0 }
		lone, gang := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 16}), gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 16}})
		for i, h := range []preemption.Hooks{
			{Filter: func(*preemption.Pod, *preemption.Node) bool { return yes() }},
			{Constraints: []domain.Constraint{fitting(func() domain.Reason {
				if yes() {
					return domain.Reason{}
				}
				return domain.Reason{Check: "told"}
			})}},
			{Constraints: []domain.Constraint{domain.Colocation{Check: "told", Allows: func(*preemption.Pod, *preemption.Node, []*preemption.Pod) bool { return yes() }}}},
			{Eligible: c}, {Order: c}, {Cost: c},
		} {
			o := []preemption.Options{{}, {Search: preemption.Exact}, {Rules: preemption.Kubernetes136, Limits: preemption.Limits{Pods: 2}}, {LowestLevel: true, Explain: true}}[(int(seed)+i)%4]
			o.Hooks = &h
			counting.Store(&h, nil)
			for _, q := range []gen.Question{lone, gang} {
				require.NotPanics(t, func() {
					pl, err := preemption.NewPlanner(&q.Snapshot, o)
					require.NoError(t, err)
					r, err := pl.Preempt(q.Preemptor)
					if err == nil && r.Verdict.IsPlan() {
						answers++
					}
				}, "seed %d, hook %d", seed, i)
			}
		}
	}
	require.Greater(t, answers, 100)
}

// TestPanicsOfHooksInWords: whatever a hook panics with is told as far as it can be.
func TestPanicsOfHooksInWords(t *testing.T) {
	for want, value := range map[string]any{
		"boom": "boom", "7": 7, "1s": time.Second, "a []int": []int{1}, "a *int": new(int), "a map[string]int": map[string]int{},
		"panic called with nil argument": nil,
	} {
		o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(*preemption.Pod, *preemption.Node) bool { panic(value) }}}
		_, err := o.Preempt(askedPod, bombWorld())
		require.EqualError(t, err, "preemption: Options.Hooks.Filter: panic: "+want)
	}
}

// TestPanicsInParallel: a filter that is asked by several goroutines at once is named by
// the first of the nodes that it panics about.
func TestPanicsInParallel(t *testing.T) {
	s := &preemption.Snapshot{}
	for i := range 20_000 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%05d", i), Allocatable: preemption.Resources{"cpu": 1}})
	}
	high := int32(9)
	x := preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Priority: &high, Requests: preemption.Resources{"cpu": 2}}}}
	from := "n"
	o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(_ *preemption.Pod, n *preemption.Node) bool {
		if n.Name >= from {
			panic(n.Name)
		}
		return true
	}}}
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	for _, from = range []string{"n00000", "n03000", "n17000", "n19999"} {
		for range 3 {
			_, err := pl.Fork().Preempt(x)
			require.EqualError(t, err, "preemption: Options.Hooks.Filter: panic: "+from)
		}
	}
	from = "o"
	r, err := pl.Preempt(x)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
}

// TestHooksMayExit: a goroutine that a hook ends, as a failing test does, ends, and holds nothing.
func TestHooksMayExit(t *testing.T) {
	for name := range bombs(&bomb{}) {
		for _, method := range []string{"Preempt pod", "Preempt gang", "Remove"} {
			b := &bomb{goOff: runtime.Goexit}
			o := preemption.Options{Hooks: bombs(b)[name]}
			pl, err := preemption.NewPlanner(bombWorld(), o)
			require.NoError(t, err)
			before := inWords(t, pl.Fork(), nil)
			b.arm(1)
			returned, done := false, make(chan bool)
			go func() {
				defer close(done)
				_, _ = bombMethods[method](pl, o, nil)
				returned = true
			}()
			<-done
			exited := b.calls >= 1
			require.Equal(t, exited, !returned, "%s of %s", method, name)
			b.arm(0)
			if exited {
				after := inWords(t, pl, nil)
				require.Equal(t, before, after, "%s of %s", method, name)
			}
		}
	}
}

// TestTheHighestOfAnOrderOfOnesOwn: a score has the priority of the first victim, which is not the highest one in such an order: no
// proof rests on it.
func TestTheHighestOfAnOrderOfOnesOwn(t *testing.T) {
	node := func(name string) preemption.Node {
		return preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": 4}}
	}
	pod := func(name, node string, level int32, cpu int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &level, Requests: preemption.Resources{"cpu": cpu}}
	}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{node("n0"), node("n1")},
		Pods:  []preemption.Pod{pod("a", "n0", 0, 2), pod("b", "n0", 2, 2), pod("c", "n1", 1, 4), pod("in", "", 5, 4)},
	}
	o := preemption.Options{Search: preemption.Exact, Hooks: &preemption.Hooks{Order: byName{keep: "a"}}}
	r, err := o.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}, s)
	require.NoError(t, err)
	require.False(t, r.Optimal)
	require.Equal(t, "n0", r.Domain)
	require.Equal(t, int64(0), r.Score[1].Value)
}
