package preemption_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// workersDoNotMatter: nodes that are shared out among several searches give what one
// search gives, to the last count; in chunks of another size, all but the count of
// checks. It returns the answer, nil if the question can't be asked.
func workersDoNotMatter(t fatal, o preemption.Options, q gen.Question) *preemption.Result {
	t.Helper()
	whole, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return nil
	}
	one, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, 1, 2)
	if err != nil {
		t.Fatalf("in chunks: %v", err)
	}
	for _, goroutines := range []int{2, 5} {
		several, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, goroutines, 2)
		if err != nil {
			t.Fatalf("%d goroutines: %v", goroutines, err)
		}
		if diff := cmp.Diff(one, several); diff != "" {
			t.Fatalf("(-one goroutine +%d):\n%s", goroutines, diff)
		}
	}
	one.Stats.Trials, whole.Stats.Trials = 0, 0
	if diff := cmp.Diff(whole, one); diff != "" {
		t.Fatalf("(-at once +in chunks):\n%s", diff)
	}
	return one
}

func TestWorkersDoNotMatter(t *testing.T) {
	profile := gen.Everything()
	profile.Guards, profile.MaxNodes, profile.MaxPods = true, 12, 60
	seen, refused := map[preemption.Verdict]int{}, 0
	for seed := range uint64(300) {
		o := seededOptions(seed)
		o.Cost.Objective = seed%4 == 0
		if r := workersDoNotMatter(&named{t, seed}, o, gen.Random(seed, profile)); r != nil {
			seen[r.Verdict]++
		} else {
			refused++
		}
	}
	for _, v := range []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.Infeasible} {
		require.Greater(t, seen[v], 20, v)
	}
	require.Less(t, refused, 100, "questions that can't be asked")
}

// workersWithConstraints is the same where pods have terms about each other.
func workersWithConstraints(t *rapid.T) {
	q := gen.Draw(gen.Profile{MaxNodes: 9, MaxPods: 30, Budgets: true, Nominations: true}).Draw(t, "question")
	tie(t, &q)
	o := preemption.Options{
		Rules:      rapid.SampledFrom([]preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}).Draw(t, "rules"),
		Candidates: rapid.Bool().Draw(t, "candidates"),
	}
	if workersDoNotMatter(t, o, q) == nil {
		t.Fatalf("the question can't be asked")
	}
}

func TestWorkersDoNotMatterToConstraints(t *testing.T) { rapid.Check(t, workersWithConstraints) }
func FuzzWorkersDoNotMatterToConstraints(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(workersWithConstraints))
}

// TestALargeClusterByManyIsByOne: constraints that prepare at once, and workers of their
// own accord, give what one goroutine gives.
func TestALargeClusterByManyIsByOne(t *testing.T) {
	snap := gen.Fleet(2100, 3, 1, gen.Uniform)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{"host": snap.Nodes[i].Name, "zone": string(rune('a' + i%7))}
	}
	for i := range snap.Pods {
		if i%5 == 0 {
			snap.Pods[i].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-01"}}}}
		}
	}
	p := gen.FleetPod(1)
	p.Pods[0].Labels = map[string]string{"app": "app-01"}
	p.Pods[0].Spread = []cluster.Spread{{MaxSkew: 3, TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-01"}}}}
	p.Pods[0].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-02"}}}}
	many, err := preemption.Preempt(p, &snap)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, many.Verdict)
	one, err := preemption.Options{Hooks: &preemption.Hooks{}}.Preempt(p, &snap) // hooks are asked by one goroutine
	require.NoError(t, err)
	one.Stats.Hooks = false
	require.Empty(t, cmp.Diff(one, many))
}

// TestWhoMovesAtOnceDependsOnTheNode: on the first nodes run four groups of 100 that go as a whole, on one far behind a fifth, where only a search keeps
// within the limit: it takes one pod there, whoever gives back a group takes 101. Whether it may begin does not depend on who looked at the first.
func TestWhoMovesAtOnceDependsOnTheNode(t *testing.T) {
	const nodes, helps = 2048, 1650
	low, high, higher := int32(1), int32(5), int32(100)
	app := map[string]string{"app": "web"}
	s := &preemption.Snapshot{}
	add := func(name, group string, node int, cpu int64, priority *int32) {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: name, Group: group, Node: s.Nodes[node].Name, Labels: app, Priority: priority, Requests: preemption.Resources{cluster.CPU: cpu},
		})
	}
	for n := range nodes {
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: fmt.Sprintf("n%04d", n), Labels: map[string]string{"zone": "a"}, Allocatable: preemption.Resources{cluster.CPU: 6},
		})
		switch {
		case n == helps:
			add("high", "", n, 4, &high)
			add("low", "", n, 1, &low)
		case n >= 100:
			add(fmt.Sprint("stays", n), "", n, 5, &higher)
		default:
			add(fmt.Sprint("stays", n), "", n, 2, &higher)
		}
	}
	for g := range 5 {
		name, first := fmt.Sprint("group", g), 0
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: name, Mode: disruption.All, Priority: &low})
		if g == 4 {
			first = 1600
		}
		for i := range 100 {
			add(fmt.Sprint(name, "-", i), name, first+i, 1, &low)
		}
	}
	preemptor := preemption.Preemptor{Pods: []preemption.Pod{{
		Name: "web", Labels: app, Priority: prio(10), Requests: preemption.Resources{cluster.CPU: 2},
		Spread: []cluster.Spread{{MaxSkew: 10_000, TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: app}}},
	}}}
	o := preemption.Options{Limits: preemption.Limits{Pods: 2}}
	for _, goroutines := range []int{1, 2, 8} {
		r, err := o.PreemptInChunks(preemptor, s, goroutines, 50)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, "%d goroutines: %s", goroutines, r.Message)
		require.Len(t, r.Victims, 1)
		require.Equal(t, "high", r.Victims[0].Name)
		require.Empty(t, check.Verify(s, o, preemptor, r))
	}
}
