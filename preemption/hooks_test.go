package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
