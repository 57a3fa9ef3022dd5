package preemption_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
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
		if diff := gocmp.Diff(plain, same); diff != "" {
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

// TestASearchOfFewStepsIsNotRepeated: a filter that says yes changes nothing where limits are searched for with few steps: who is told of is
// whom the search has found, which would have fewer steps a second time.
func TestASearchOfFewStepsIsNotRepeated(t *testing.T) {
	feasible := 0
	for seed := range seeds(2000) {
		seed += 600 // of some 700 one in which it matters
		r, high := rand.New(rand.NewPCG(seed, 2)), int32(9)
		s := preemption.Snapshot{Pods: []preemption.Pod{{Name: "in", Priority: &high, Requests: preemption.Resources{"cpu": 17, "memory": 26}}}}
		for n := range 5 {
			node := cluster.Node{Name: fmt.Sprint("n", n), Allocatable: preemption.Resources{}}
			for i := range 9 + r.IntN(8) {
				asks, low := preemption.Resources{"cpu": 2 + r.Int64N(8), "memory": 1 + r.Int64N(8)}, r.Int32N(3)
				s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", n, "-", i), Node: node.Name, Priority: &low, Requests: asks})
				node.Allocatable["cpu"], node.Allocatable["memory"] = node.Allocatable["cpu"]+asks["cpu"], node.Allocatable["memory"]+asks["memory"]
			}
			s.Nodes = append(s.Nodes, node)
		}
		q := gen.Question{Snapshot: s, Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}}
		o := preemption.Options{Candidates: true, Limits: preemption.Limits{Pods: 4}, SearchSteps: 1 + int(seed%12)}
		plain := ask(t, o, q)
		o.Hooks = &preemption.Hooks{Filter: func(*preemption.Pod, *preemption.Node) bool { return true }}
		same := ask(t, o, q)
		plain.Stats, same.Stats = preemption.Stats{}, preemption.Stats{}
		require.Empty(t, gocmp.Diff(plain, same), "seed %d", seed)
		feasible += len(plain.Victims)
	}
	require.Positive(t, feasible)
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
		"Placer: placing m0 on n2 is not placing on nodes of domain d0": {
			Splitter: splitting{{0, 1}, {2}},
			Placer:   placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Place(m[0], 2); return 1 }),
		},
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

// TestPlacersKeepToWhatTheyAreGiven: to the members of one group of a tree, as many as are asked for, beside those who have places.
func TestPlacersKeepToWhatTheyAreGiven(t *testing.T) {
	s := &preemption.Snapshot{
		Nodes:              []cluster.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 2}}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "tree", Priority: prio(9)}},
	}
	for i, g := range []string{"a", "a", "b", "b"} {
		if i%2 == 0 {
			s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: g, Parent: "tree", MinCount: prio(1), Priority: prio(9)})
		}
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint(g, i), Group: g, Requests: preemption.Resources{"cpu": 1}},
			preemption.Pod{Name: fmt.Sprint("v", i), Node: "n", Requests: preemption.Resources{"cpu": 1}})
	}
	for want, place := range map[string]placing{
		"taking off members that were placed before is not placing others beside them": func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int {
			t.UnplaceTo(0)
			t.Place(m[0], 0)
			return 1
		},
		"placing b2 is not placing the members that were given": func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Place(2, 0); return 1 },
		"2 is not at most 1, as it was asked": func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int {
			t.Place(m[0], 0)
			t.Place(m[1], 0)
			return 2
		},
		"0 is not 1, as many as it placed": func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Place(m[0], 0); return 0 },
	} {
		o := preemption.Options{Members: preemption.MinCount, Hooks: &preemption.Hooks{Placer: place}}
		_, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Name: "tree"}, s)
		require.EqualError(t, err, "preemption: Options.Hooks.Placer: "+want)
	}
}

// TestSplittersKnowWhichNodesAreThere: a number that no node has any more is no node of a domain.
func TestSplittersKnowWhichNodesAreThere(t *testing.T) {
	s := &preemption.Snapshot{Nodes: []cluster.Node{{Name: "n0"}, {Name: "n1"}}}
	pl, err := preemption.NewPlanner(s, preemption.Options{Hooks: &preemption.Hooks{Splitter: splitting{{0, 1}}}})
	require.NoError(t, err)
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "g"}, Pods: []preemption.Pod{{Name: "p"}}}
	_, err = pl.Preempt(gang)
	require.NoError(t, err)
	require.NoError(t, pl.RemoveNode("n1"))
	_, err = pl.Preempt(gang)
	require.ErrorContains(t, err, `Options.Hooks.Splitter: node 1 in domain "d0" is not a node; see cluster.Index.IsNode`)
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

// likeSelector is a filter that says of annotations what a node selector of the same keys and
// values would.
func likeSelector(p *preemption.Pod, n *preemption.Node) bool {
	for k, v := range p.Annotations {
		if n.Labels[k] != v {
			return false
		}
	}
	return true
}

// filters are options with that filter.
func filters(o preemption.Options) preemption.Options {
	o.Hooks = &preemption.Hooks{Filter: likeSelector}
	return o
}

// selecting returns p with a node selector for its pending pods, and with annotations that
// say as much to likeSelector.
func selecting(p preemption.Preemptor, s *preemption.Snapshot, zone string) (bySelector, byFilter preemption.Preemptor, other *preemption.Snapshot) {
	labels := map[string]string{"zone": zone}
	change := func(pods []preemption.Pod, f func(pod *preemption.Pod)) []preemption.Pod {
		list := append([]preemption.Pod{}, pods...)
		for i := range list {
			if list[i].NodeSelector = nil; list[i].Node == "" {
				f(&list[i])
			}
		}
		return list
	}
	selects := func(pod *preemption.Pod) { pod.NodeSelector = labels }
	annotate := func(pod *preemption.Pod) { pod.Annotations = labels }
	bySelector, byFilter = p, p
	bySelector.Pods, byFilter.Pods = change(p.Pods, selects), change(p.Pods, annotate)
	filtered := *s
	filtered.Pods, s.Pods = change(s.Pods, annotate), change(s.Pods, selects)
	return bySelector, byFilter, &filtered
}

// asSelected is r as text, where a filter is not told from a selector; what would help, and what it cost, differs.
func asSelected(t fatal, r *preemption.Result) string {
	c := *r
	c.Nearest, c.Preemptor, c.Stats = nil, preemption.Asked{}, preemption.Stats{Exact: r.Stats.Exact}
	c.Rejected = nil
	for _, x := range r.Rejected { // by what names neither, which may be one of the two for either of two reasons
		x.Reason = strings.ReplaceAll(x.Reason, string(domain.CheckFilter), string(domain.CheckNodeAffinity))
		if at := slices.IndexFunc(c.Rejected, func(y preemption.Rejection) bool { return y.Reason == x.Reason }); at >= 0 {
			c.Rejected[at].Domains += x.Domains
		} else {
			c.Rejected = append(c.Rejected, x)
		}
	}
	slices.SortFunc(c.Rejected, func(a, b preemption.Rejection) int {
		return cmp.Or(strings.Compare(a.Reason, b.Reason), a.Domains-b.Domains)
	})
	c.Unplaced = nil            // by kind, and a filter may tell members apart that a selector can't
	if len(r.Nominations) > 1 { // likewise: which of them goes where may differ
		c.Nominations = nil
	}
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, word := range []string{string(domain.CheckFilter), string(domain.CheckNodeAffinity)} {
		text = []byte(strings.ReplaceAll(string(text), `"`+word+`"`, `"selected"`))
		text = []byte(strings.ReplaceAll(string(text), ": "+word, ": selected"))
	}
	return string(text)
}

// TestAFilterSaysWhatASelectorSays: by every road, of pods and gangs, with constraints and
// without.
func TestAFilterSaysWhatASelectorSays(t *testing.T) {
	t.Parallel()
	feasible, refused := 0, 0
	compare := func(t fatal, o preemption.Options, p preemption.Preemptor, s preemption.Snapshot) {
		if o.PreferMovable || o.Hooks != nil {
			return // that reads selectors of victims, too
		}
		bySelector, byFilter, filtered := selecting(p, &s, "a")
		want, err := o.Preempt(bySelector, &s)
		got, err2 := filters(o).Preempt(byFilter, filtered)
		if err != nil || err2 != nil {
			if (err == nil) != (err2 == nil) {
				t.Fatalf("%v, with a filter %v", err, err2)
			}
			return
		}
		if diff := gocmp.Diff(asSelected(t, want), asSelected(t, got)); diff != "" {
			t.Fatalf("(-selector +filter):\n%s", diff)
		}
		pl, err := preemption.NewPlanner(filtered, filters(o))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for range 4 { // until the shape is known
			d, err := pl.Decide(byFilter)
			if err != nil || d.Verdict != got.Verdict || d.Domain != got.Domain {
				t.Fatalf("decided %+v, %v instead of %s on %s", d, err, got.Verdict, got.Domain)
			}
		}
		switch {
		case got.Verdict == preemption.Feasible:
			feasible++
		case strings.Contains(asSelected(t, got), `"selected"`):
			refused++
		}
	}
	for seed := range seeds(800) {
		q := gen.Random(seed, gen.Everything())
		compare(&named{t, seed}, seededOptions(seed), q.Preemptor, q.Snapshot)
		g := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Groups: true, Budgets: true}})
		for i := range g.Snapshot.Nodes {
			if g.Snapshot.Nodes[i].Labels == nil && i%3 > 0 {
				g.Snapshot.Nodes[i].Labels = map[string]string{"zone": "a"}
			}
		}
		compare(&named{t, seed}, preemption.Options{}, g.Preemptor, g.Snapshot)
	}
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied, gen.Budgeted, gen.Equal} {
		s := gen.Fleet(130, 8, 3, shape)
		for i := range s.Nodes {
			s.Nodes[i].Labels = map[string]string{"zone": string("ab"[i%2])}
		}
		for i := range seeds(30) {
			compare(&named{t, i}, preemption.Options{}, gen.FleetPod(i), s)
		}
	}
	require.Greater(t, feasible, int(seeds(150)))
	require.Greater(t, refused, int(seeds(50)))
}

// fillField gives a field of a pod a value, where it is known which is one.
func fillField(v reflect.Value) bool {
	switch x := v.Addr().Interface().(type) {
	case *string:
		*x = "other"
	case *map[string]string:
		*x = map[string]string{"k": "v"}
	case *preemption.Resources:
		*x = preemption.Resources{"memory": 1}
	case *[]cluster.Toleration:
		*x = []cluster.Toleration{{Key: "k", Operator: cluster.TolerationExists}}
	case *[]cluster.DeviceRequest:
		*x = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}
	case **cluster.NodeAffinity:
		*x = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{{Key: "k", Operator: cluster.NodeExists}}}}}
	default:
		return false
	}
	return true
}

// TestNothingIsRememberedForPodsThatAFilterCanTell: a planner that knows the shape of a pod
// does not answer so for one that differs in what the filter is shown.
func TestNothingIsRememberedForPodsThatAFilterCanTell(t *testing.T) {
	typ, shown := reflect.TypeFor[preemption.Pod](), 0
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		other := frontend(1)
		if other.Labels = nil; !fillField(reflect.ValueOf(&other).Elem().Field(i)) {
			require.True(t, reflect.ValueOf(domain.FilterView(&other)).Elem().Field(i).IsZero(), "%s is shown: say here what it may be", name)
			continue
		}
		if reflect.ValueOf(domain.FilterView(&other)).Elem().Field(i).IsZero() {
			continue
		}
		shown++
		first := reflect.ValueOf(*domain.FilterView(&preemption.Pod{Requests: cpus(1)})).Field(i).Interface()
		o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(p *preemption.Pod, _ *preemption.Node) bool {
			return reflect.DeepEqual(first, reflect.ValueOf(*p).Field(i).Interface())
		}}}
		s := three(4, 2, 6)
		for n := range s.Nodes {
			s.Nodes[n].Name += "-" + name
			s.Nodes[n].Labels = map[string]string{"k": "v"}
			s.Nodes[n].Allocatable["memory"] = 1
			s.Nodes[n].Devices = map[string]cluster.DevicePool{"gpu": {Count: 4, Capacity: 1}}
		}
		s.Nodes[0].Name = "other"
		s.PodGroups = []preemption.PodGroup{{Name: "other"}, {Namespace: "ns", Name: "other"}}
		s.PriorityClasses = []preemption.PriorityClass{{Name: "other"}}
		s.Pods = nil
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		plain := frontend(1)
		plain.Labels, plain.Namespace = nil, ""
		if name != "Namespace" {
			other.Namespace = ""
		}
		plain.Class = ""
		for range 4 {
			d, err := pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{plain}})
			require.NoError(t, err)
			require.Equal(t, preemption.Fits, d.Verdict, name)
		}
		d, err := pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{other}})
		if name == "Queue" {
			require.Error(t, err, "there is no such queue")
			continue
		}
		require.NoError(t, err, name)
		require.NotEqual(t, preemption.Fits, d.Verdict, name)
	}
	require.Equal(t, 12, shown)
}

// TestAFilterIsAskedOncePerNode: about a shape that is known, only about nodes that were set
// anew.
func TestAFilterIsAskedOncePerNode(t *testing.T) {
	asked := map[string]int{}
	o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
		asked[n.Name]++
		return n.Labels["open"] != "no" && p.Name == "" && p.Labels["app"] == "web"
	}}}
	s := three(4, 2, 6)
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	ask := func(i int) string {
		pod := frontend(2)
		pod.Name, pod.UID, pod.Labels = fmt.Sprint("web-", i), fmt.Sprint(i), map[string]string{"app": "web"}
		d, err := pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{pod}})
		require.NoError(t, err)
		return d.Domain
	}
	for i := range 4 {
		require.Equal(t, "n1", ask(i))
	}
	clear(asked)
	require.Equal(t, "n1", ask(5))
	require.Empty(t, asked, "another pod of the template")

	closed := s.Nodes[0]
	closed.Labels = map[string]string{"open": "no"}
	require.NoError(t, pl.SetNode(closed))
	require.Equal(t, "n2", ask(6))
	require.Equal(t, map[string]int{"n1": 1}, asked)

	why, err := pl.WhyNot(preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Labels: map[string]string{"app": "web"}, Requests: cpus(1)}}}, preemption.NodeTarget("n1"))
	require.NoError(t, err)
	require.Equal(t, "it does not fit as things are: n1: filter", why.Text)
	require.Equal(t, domain.CheckFilter, why.Reason.Check)

	r, err := pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Requests: cpus(1)}}})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, []preemption.Rejection{{Reason: "filter", Domains: 3}}, r.Rejected)
	require.Nil(t, r.Nearest, "nothing that can be relaxed would let it in")
}

// TestAFilterThatPanicsLeavesThePlannerUsable also where a shape was known.
func TestAFilterThatPanicsLeavesThePlannerUsable(t *testing.T) {
	panics := false
	s := three(8, 8, 8)
	pl, err := preemption.NewPlanner(s, preemption.Options{Hooks: &preemption.Hooks{Filter: func(_ *preemption.Pod, n *preemption.Node) bool {
		if panics && n.Name == "n2" {
			panic("boom")
		}
		return n.Name == "n3"
	}}})
	require.NoError(t, err)
	for _, ask := range []func() error{
		func() error { _, err := pl.Decide(asking(2)); return err },
		func() error { _, err := pl.Preempt(asking(2)); return err },
	} {
		for range 4 {
			require.NoError(t, ask())
		}
		for i := range s.Nodes { // and now each is looked at again
			require.NoError(t, pl.SetNode(s.Nodes[i]))
		}
		panics = true
		require.EqualError(t, ask(), "preemption: Options.Hooks.Filter: panic: boom")
		panics = false
		require.NoError(t, ask())
		d, err := pl.Decide(asking(2))
		require.NoError(t, err)
		require.Equal(t, "n3", d.Domain)
		require.NoError(t, pl.SetPod(preemption.Pod{Name: "late", Node: "n1"}), "no lock is held")
	}
}

// A filter of one line: pods without the label stay off the nodes of a team.
func ExampleHooks_filter() {
	options := preemption.Options{Hooks: &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
		return n.Labels["team"] == "" || n.Labels["team"] == p.Labels["team"]
	}}}
	snapshot := &preemption.Snapshot{Nodes: []preemption.Node{
		{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}, Labels: map[string]string{"team": "vision"}},
		{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
	}}
	planner, err := preemption.NewPlanner(snapshot, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, team := range []string{"vision", "speech"} {
		pod := preemption.Pod{Name: "train", Labels: map[string]string{"team": team}, Requests: preemption.Resources{"cpu": 1000}}
		answer, err := planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{pod}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(team+":", answer.Message)
	}
	// Output:
	// vision: fits on n1 without preemption
	// speech: fits on n2 without preemption
}

// three nodes of 8 cores, on which so many are in use by pods of priority 0.
func three(used ...int64) *preemption.Snapshot {
	s := &preemption.Snapshot{}
	for i, n := range used {
		name := fmt.Sprint("n", i+1)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: cpus(8)})
		for k := range n {
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint(name, "-", k), Node: name, Requests: cpus(1)})
		}
	}
	return s
}

func asking(cores int64) preemption.Preemptor {
	pod := frontend(cores)
	return preemption.Preemptor{Pods: []preemption.Pod{pod}}
}

func TestWhichNodeIsPreferred(t *testing.T) {
	byNumber := &preemption.Hooks{Prefer: func(_ *cluster.Index, _ *preemption.Pod, n cluster.NodeID) int64 { return int64(n) }}
	for name, c := range map[string]struct {
		options preemption.Options
		used    []int64
		cores   int64
		want    string
	}{
		"first by name":               {preemption.Options{}, []int64{4, 2, 6}, 2, "n1"},
		"most room":                   {preemption.Options{Prefer: preemption.LeastAllocated}, []int64{4, 2, 6}, 2, "n2"},
		"least room":                  {preemption.Options{Prefer: preemption.MostAllocated}, []int64{4, 2, 6}, 2, "n3"},
		"a hook":                      {preemption.Options{Hooks: byNumber}, []int64{2, 2, 2}, 2, "n3"},
		"of those where it fits":      {preemption.Options{Prefer: preemption.MostAllocated}, []int64{4, 2, 7}, 2, "n1"},
		"equals go by name":           {preemption.Options{Prefer: preemption.LeastAllocated}, []int64{4, 2, 2}, 2, "n2"},
		"the least disruption first":  {preemption.Options{Prefer: preemption.LeastAllocated}, []int64{8, 7, 8}, 2, "n2"},
		"victims that tie, by a hook": {preemption.Options{Hooks: byNumber}, []int64{8, 8, 8}, 2, "n3"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.options.Preempt(asking(c.cores), three(c.used...))
			require.NoError(t, err)
			require.Equal(t, c.want, r.Domain)
		})
	}
}

// TestWhyNotInWords: of a node that is as good, of a unit whose first pod is on a node that nobody knows, and of a node that
// the second member may not use.
func TestWhyNotInWords(t *testing.T) {
	byNumber := &preemption.Hooks{Prefer: func(_ *cluster.Index, _ *preemption.Pod, n cluster.NodeID) int64 { return int64(n) }}
	whole := three(1, 0)
	whole.PodGroups = []preemption.PodGroup{{Name: "whole", Mode: "All", Priority: prio(3)}}
	whole.Nodes[0].Allocatable, whole.Nodes[1].Allocatable = cpus(1), cpus(1)
	for i, node := range []string{"nowhere", "n2"} {
		whole.Pods = append(whole.Pods, preemption.Pod{Name: fmt.Sprint("w", i), Node: node, Group: "whole", Priority: prio(3), Requests: cpus(1)})
	}
	gang := asking(1)
	gang.Group = &preemption.PodGroup{Name: "gang", MinCount: prio(2), Priority: gang.Pods[0].Priority}
	gang.Pods = append(gang.Pods, gang.Pods[0])
	gang.Pods[1].Name, gang.Pods[1].RequiredNode = "zeta", "n1"
	for _, c := range []struct {
		snapshot *preemption.Snapshot
		hooks    *preemption.Hooks
		asks     preemption.Preemptor
		target   preemption.Target
		want     string
	}{
		{three(8, 8, 8), nil, asking(2), preemption.NodeTarget("n2"), "n2 is as good as n1, whose name comes first"},
		{three(8, 8, 8), byNumber, asking(2), preemption.NodeTarget("n1"), "n1 is as good as n3, which is preferred"},
		{whole, nil, asking(1), preemption.UnitTarget("whole"), "evictions on n2 help, but highest priority: 3 against 0 on n1"},
		{three(7, 8, 8), nil, gang, preemption.NodeTarget("n2"), "zeta does not fit: n2: node name n1"},
	} {
		pl, err := preemption.NewPlanner(c.snapshot, preemption.Options{Hooks: c.hooks})
		require.NoError(t, err)
		why, err := pl.WhyNot(c.asks, c.target)
		require.NoError(t, err)
		require.Equal(t, c.want, why.Text)
	}
}

// TestWhatIsPreferredAmongEqualVictims: of nodes where as much is disrupted, the one of
// which more, or less, is left once the victims have gone.
func TestWhatIsPreferredAmongEqualVictims(t *testing.T) {
	s := &preemption.Snapshot{}
	for i, cores := range []int64{2, 3, 2} { // four pods of so many
		name := fmt.Sprint("n", i+1)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: cpus(4 * cores)})
		for k := range 4 {
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint(name, "-", k), Node: name, Requests: cpus(cores)})
		}
	}
	for prefer, want := range map[preemption.Preference]string{"": "n1", preemption.LeastAllocated: "n2", preemption.MostAllocated: "n1"} {
		for _, candidates := range []bool{false, true} {
			r, err := preemption.Options{Prefer: prefer, Candidates: candidates}.Preempt(asking(2), s)
			require.NoError(t, err)
			require.Len(t, r.Victims, 1)
			require.Equal(t, want, r.Domain)
		}
		pl, err := preemption.NewPlanner(s, preemption.Options{Prefer: prefer})
		require.NoError(t, err)
		for range 3 { // until the shape is known
			d, err := pl.Decide(asking(2))
			require.NoError(t, err)
			require.Equal(t, want, d.Domain)
		}
	}
}

// TestEveryRoadPrefersTheSame: a planner that is asked again and again, which ranks the
// nodes, and one question, which scans or tries them.
func TestEveryRoadPrefersTheSame(t *testing.T) {
	t.Parallel()
	elsewhere := 0
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied, gen.Budgeted, gen.Equal} {
		for _, prefer := range []preemption.Preference{preemption.LeastAllocated, preemption.MostAllocated} {
			o := preemption.Options{Prefer: prefer}
			snap := gen.Fleet(130, 8, 3, shape)
			for i := 0; i < len(snap.Nodes); i += 3 { // room for some
				snap.Nodes[i].Allocatable[cluster.CPU] += int64(1000 + i*100)
				snap.Nodes[i].Allocatable[cluster.Memory] += int64(1000+i*100) << 20
			}
			pl, err := preemption.NewPlanner(&snap, o)
			require.NoError(t, err)
			for i := range seeds(60) + 10 {
				p := gen.FleetPod(i % 5)
				p.Pods[0].Requests["cpu"] /= int64(1 + i%7)
				tried, err := preemption.Options{Prefer: prefer, Candidates: true}.Preempt(p, &snap)
				require.NoError(t, err)
				once, err := o.Preempt(p, &snap)
				require.NoError(t, err)
				again, err := pl.Decide(p)
				require.NoError(t, err)
				require.Equal(t, tried.Domain, once.Domain)
				require.Equal(t, tried.Domain, again.Domain)
				if plain, err := (preemption.Options{}).Preempt(p, &snap); err == nil && plain.Domain != once.Domain {
					elsewhere++
				}
			}
		}
	}
	require.Positive(t, elsewhere, "the preference has a say")
}

// Pods spread over the nodes, or keep nodes free for large ones.
func ExampleOptions_prefer() {
	for _, prefer := range []preemption.Preference{"", preemption.LeastAllocated, preemption.MostAllocated} {
		r, err := preemption.Options{Prefer: prefer}.Preempt(asking(2), three(4, 2, 6))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q: %s\n", prefer, r.Domain)
	}
	// Output:
	// "": n1
	// "LeastAllocated": n2
	// "MostAllocated": n3
}

// TestAPodThatNeedsQuotaPrefersToo: of the nodes that take it.
func TestAPodThatNeedsQuotaPrefersToo(t *testing.T) {
	s := three(4, 2, 6)
	s.ResourceFlavors = []preemption.ResourceFlavor{{Name: "f"}}
	s.ClusterQueues = []preemption.ClusterQueue{{Name: "q", Groups: []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{
		Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: cluster.CPU, Nominal: 100}},
	}}}}}}
	s.LocalQueues = []preemption.LocalQueue{{Name: "lq", ClusterQueue: "q"}}
	web := frontend(2)
	web.Queue = "lq"
	byNumber := &preemption.Hooks{Prefer: func(_ *cluster.Index, _ *preemption.Pod, n cluster.NodeID) int64 { return int64(n) }}
	for want, o := range map[string]preemption.Options{
		"n1": {}, "n2": {Prefer: preemption.LeastAllocated}, "n3": {Prefer: preemption.MostAllocated},
	} {
		r, err := o.Preempt(preemption.Preemptor{Pods: []preemption.Pod{web}}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Fits, r.Verdict)
		require.Equal(t, want, r.Nominations[0].Node)
	}
	for _, verdict := range []preemption.Verdict{preemption.Fits, preemption.Feasible} {
		r, err := preemption.Options{Hooks: byNumber}.Preempt(preemption.Preemptor{Pods: []preemption.Pod{web}}, s)
		require.NoError(t, err)
		require.Equal(t, verdict, r.Verdict)
		require.Equal(t, "n3", r.Nominations[0].Node)
		s.Nodes, s.Pods = three(8, 8, 8).Nodes, three(8, 8, 8).Pods // then somebody has to go, wherever it is
	}
	s.ClusterQueues[0].Preemption.WithinClusterQueue = cluster.LowerPriority
	s.Pods[0].Queue, s.Pods[0].Labels = "lq", map[string]string{"app": "kept"}
	keep := preemption.Guards{Protect: &preemption.Selector{MatchLabels: s.Pods[0].Labels}}
	for want, target := range map[string]preemption.Target{
		"n1 is as good as n3, which is preferred":         preemption.NodeTarget("n1"),
		"n1-0 may not go: a guard keeps it":               preemption.UnitTarget("n1-0"),
		"n2-0 may stay: the preemptor fits in n3 with it": preemption.UnitTarget("n2-0"),
	} {
		pl, err := preemption.NewPlanner(s, preemption.Options{Hooks: byNumber, Guards: keep})
		require.NoError(t, err)
		why, err := pl.WhyNot(preemption.Preemptor{Pods: []preemption.Pod{web}}, target)
		require.NoError(t, err)
		require.Equal(t, want, why.Text)
	}
}
