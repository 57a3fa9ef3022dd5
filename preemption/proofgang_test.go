package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

// provableGang draws a question about a gang, a tree of groups, or one whose placement is given, and options that ask for a proof.
func provableGang(seed uint64) (preemption.Options, gen.Question) {
	r := rand.New(rand.NewPCG(seed, 17))
	kind := seed / 25 % 4
	q := gen.RandomGang(seed, gen.GangProfile{
		Profile:  gen.Profile{MaxNodes: 1 + int(seed%5), MaxPods: 12, Budgets: seed%6 < 4, Groups: seed/5%5 < 3, Ports: seed%7 == 0, Nominations: seed%4 == 0, Placement: seed%8 == 3, Odd: seed%8 == 3},
		Topology: seed%4 == 1, MaxMembers: 4, Composite: kind%2 == 1, Running: seed%11 == 5, Wishes: seed%8 == 1,
	})
	if seed/5%5 == 2 {
		elasticGroups(seed, &q)
	}
	priced(seed, &q)
	o := preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}, Proof: true}
	if seed%3 > 0 {
		o.Objective = slices.DeleteFunc(objective(r), func(c preemption.CriterionName) bool {
			return c.InUse() || seed%3 == 1 && slices.Contains(beyondProof, c)
		})
	}
	if seed%6 == 1 {
		o.Objective = append([]preemption.CriterionName{preemption.CriterionOverruns}, slices.DeleteFunc(o.Objective, func(c preemption.CriterionName) bool {
			return c == preemption.CriterionOverruns
		})...)
	}
	o.Rules = []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed/2%2]
	o.Search = []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact, preemption.Exact}[seed/4%4]
	o.Members = []preemption.Members{preemption.MinCount, preemption.AllThatFit}[seed%2]
	if q.Preemptor.Kind == preemption.KindCompositePodGroup {
		o.Rules = preemption.Kubernetes137 // which knows such
	}
	switch seed / 100 % 8 {
	case 2:
		o.HardBudgets.All = true
	case 5:
		*[]*int64{&o.Limits.Victims, &o.Limits.Pods, &o.Limits.Cost}[r.IntN(3)] = 1 + r.Int64N(6)
		o.Limits.OnlyMoves = r.IntN(3) == 0
	}
	if q = sound(o, q); kind >= 2 {
		q.Preemptor.Placement = placementOf(o, q, seed)
	}
	return o, q
}

// placementOf is where the gang would go, or anywhere.
func placementOf(o preemption.Options, q gen.Question, seed uint64) map[string]string {
	places := map[string]string{}
	o.Search, o.Proof, o.Members = preemption.Greedy, false, preemption.AllThatFit
	r, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err == nil && seed%3 > 0 {
		for _, n := range r.Nominations {
			places[n.Pod.Namespace+"/"+n.Pod.Name] = n.Node
		}
	}
	if g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot); err == nil && len(places) == 0 {
		return gen.RandomPlacement(seed, g.Members, nodeNames(q))
	}
	return places
}

// TestProofsOfGangsAreBelowBruteForce: no set of victims that makes room for as many members has less than what
// is proved. Verify reads every answer, the proof with it, and needs all of that. Most is shown of what is found, and of what can't be.
func TestProofsOfGangsAreBelowBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(6000) {
		o, q := provableGang(seed)
		r := ask(&named{t, seed}, o, q)
		if p := check.Verify(&q.Snapshot, o, q.Preemptor, r); len(p) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, p, toJSON(t, r.Proof))
		}
		switch {
		case r.Verdict != preemption.Feasible && r.Verdict != preemption.Infeasible:
			require.Nil(t, r.Proof)
			continue
		case r.Proof == nil && (q.Preemptor.Placement != nil || o.HardBudgets.All || o.Limits != preemption.Limits{}): // it may not be one, or not be for lack of room
			seen[string(r.Verdict)+" within bounds, nothing shown"]++
			continue
		case r.Proof == nil:
			seen[string(r.Verdict)+", nothing shown"]++
			continue
		case r.Verdict == preemption.Infeasible:
			seen["helpless proved"]++
			continue
		}
		seen["proved"]++
		about := "gang"
		if q.Preemptor.Kind == preemption.KindCompositePodGroup {
			about = "tree"
		}
		if q.Preemptor.Placement != nil {
			about = "given"
		}
		seen[about]++
		nothingIsInVain(t, o, q, r, seed)
		for _, n := range r.Proof.Nodes {
			seen["nodes"] += len(n.Nodes)
			seen["steps"] += len(n.Steps)
		}
		proved := said(r.Proof.Bound)
		if slices.Compare(proved, said(r.Score)[:len(proved)]) == 0 {
			seen["equal"]++
			seen[about+" equal"]++
		}
		for _, c := range r.Proof.Bound {
			if c.Value > 0 && slices.Contains([]string{"violations", "overruns"}, c.Name) || c.Name == "earliest start" {
				seen[c.Name]++
			}
		}
		if least, few := leastOfGang(t, o, q); few {
			seen["counted"]++
			require.LessOrEqual(t, slices.Compare(proved, least), 0, "seed %d: nothing is proved to have less than %v of %v, and something has %v", seed, proved, o.Objective, least)
		}
	}
	t.Log(seen)
	for _, what := range []string{"helpless proved", "proved", "nodes", "steps", "equal", "counted", "given equal", "tree equal", "violations", "overruns", "earliest start"} {
		require.Greater(t, seen[what], int(seeds(20)), what)
	}
	require.Greater(t, 100*seen["equal"], 65*seen["proved"])
	require.Greater(t, seen["helpless proved"], 5*seen["infeasible, nothing shown"])
}

// TestProofsOfGangsKnowWhoMayBeTheFirstVictim: a pod below its group's priority, on a node that no member may use, makes the
// highest priority less where it goes needlessly, so that no more is proved.
func TestProofsOfGangsKnowWhoMayBeTheFirstVictim(t *testing.T) {
	low, mid, high, one := int32(0), int32(2), int32(3), int32(1)
	needless := task("needless", "n2", low, 3)
	needless.Group = "grown"
	member := task("m", "", high+1, 4)
	member.Group, member.NodeSelector = "gang", map[string]string{"zone": "a"}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &one, Priority: member.Priority}, Pods: []preemption.Pod{member}}
	o := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionHighest}, Search: preemption.Exact, Proof: true}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 7000}, Labels: map[string]string{"zone": "a"}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 5000}, Labels: map[string]string{"zone": "b"}},
		},
		Pods:      []preemption.Pod{task("stays", "n1", mid, 3), task("goes", "n1", mid, 2), needless},
		PodGroups: []preemption.PodGroup{{Name: "grown", Basic: true, Priority: &high}},
	}
	for grown, bound := range map[int32]int64{low: 2, high: 0} {
		s.PodGroups[0].Priority = &grown
		r, err := o.Preempt(gang, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Empty(t, check.Verify(s, o, gang, r))
		require.Equal(t, []preemption.Criterion{{Name: "highest priority", Value: bound}}, r.Proof.Bound)
	}
}

// nothingIsInVain: without any one of its steps a proof does not hold.
func nothingIsInVain(t *testing.T, o preemption.Options, q gen.Question, r *preemption.Result, seed uint64) {
	t.Helper()
	for i := range r.Proof.Nodes {
		n := &r.Proof.Nodes[i]
		steps := n.Steps
		for k := range steps {
			n.Steps = slices.Delete(slices.Clone(steps), k, k+1)
			require.NotEmpty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d: step %d of %v says nothing", seed, k, n.Nodes)
		}
		n.Steps = steps
	}
}

// leastOfGang is the least that a set of victims has that makes room for as many members, and of which elastic
// groups go whole, or that the exact search finds; few is false where there are too many sets.
func leastOfGang(t *testing.T, o preemption.Options, q gen.Question) (least []int64, few bool) {
	t.Helper()
	least = exactly(t, o, q)
	q = wholeGroups(q)
	g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	fates := fatesIn(t, o, &q)
	found := false
	see := func(p naive.Plan) {
		c := naive.Candidate{Victims: p.Victims, Violations: p.Violations, Overruns: p.Overruns, Score: p.Score}
		if !withinBounds(o, c, fates) {
			return
		}
		found = true
		if v := values(o.Objective, c, fates, nil); least == nil || slices.Compare(v, least) < 0 {
			least = v
		}
	}
	if q.Preemptor.Placement != nil {
		nodes := nodeNames(q)
		if len(g.Potential(nodes)) > 10 {
			return nil, false
		}
		if places := inPlaces(q.Preemptor.Placement); g.Enough(places) && g.Together(places) {
			g.SetsAt(places, nodes, see)
		}
		return least, true
	}
	plain := o
	plain.Search, plain.Proof = preemption.Greedy, false
	seats := len(ask(&named{t, 0}, plain, q).Nominations)
	if o.Members == preemption.MinCount { // others come along where that costs nothing
		seats = 1
	}
	for _, round := range g.Rounds() {
		for _, region := range round {
			if len(g.Potential(region.Nodes)) > 8 {
				return nil, false
			}
			g.Sets(region.Nodes, seats, see)
		}
		if found {
			break
		}
	}
	return least, true
}

// Of the three members two would cost the one pod of n1, and each on n2 a pod or more. At a price of a pod for each, n1 is spared
// one: so three members cost 3 - 1 pods, and that is 2. On n2, where four cores are missing for two members, and b, c and d free 1, 1 and 2, all three have to
// go. Take their count once, a pod once, and at most one pod: 3 is more than 1*1 + 3 x max(0, 1-1), which is 1. So one pod is not enough.
func ExampleOptions_proofOfGang() {
	ten, hundred := int32(10), int32(100)
	task := func(name, node string, cores int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &ten, Requests: preemption.Resources{"cpu": cores}}
	}
	snapshot := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4}},
		},
		Pods: []preemption.Pod{
			task("a", "n1", 4),
			task("b", "n2", 1), task("c", "n2", 1), task("d", "n2", 2),
		},
		PodGroups: []preemption.PodGroup{{Name: "train", Priority: &hundred}},
	}
	for _, name := range []string{"t0", "t1", "t2"} {
		snapshot.Pods = append(snapshot.Pods, preemption.Pod{Name: name, Group: "train", Priority: &hundred, Requests: preemption.Resources{"cpu": 2}})
	}
	options := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods}, Search: preemption.Exact, Proof: true}
	train := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"}
	result, err := options.Preempt(train, snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Message)
	fmt.Println("proved to be at least", result.Proof.Bound)
	for _, n := range result.Proof.Nodes {
		fmt.Println(n.Nodes, "price", n.Price, "times", n.Times, "spare", n.Spare)
		for _, s := range n.Steps {
			fmt.Println("  from", s.Members, "members on:", s.Cases[0].Count, s.Cases[0].Criteria)
		}
	}
	fmt.Println("problems:", check.Verify(snapshot, options, train, result))
	// Output:
	// all 3 pods of train fit in the cluster once 2 pods are evicted
	// proved to be at least [{pods 2}]
	// [n1] price 1 times 1 spare 1
	//   from 1 members on: 1 map[pods:1]
	// [n2] price 1 times 1 spare 0
	//   from 1 members on: 1 map[pods:1]
	//   from 2 members on: 1 map[pods:1]
	// problems: []
}
