package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

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
