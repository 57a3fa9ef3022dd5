package preemption_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// equalPods are so many pods that nothing tells apart, and the snapshot with them.
func equalPods(r *rand.Rand, s preemption.Snapshot, n int) (preemption.Snapshot, []preemption.Pod) {
	high, cpu := int32(100*(1+r.IntN(3))), 500*int64(1+r.IntN(5))
	var pods []preemption.Pod
	for i := range n {
		pods = append(pods, preemption.Pod{
			Namespace: "default", Name: fmt.Sprintf("burst-%d", i), Priority: &high,
			Requests: preemption.Resources{cluster.CPU: cpu, cluster.Memory: 1},
		})
	}
	s.Pods = append(slices.Clone(s.Pods), pods...)
	return s, pods
}

func asked(pods []preemption.Pod) (list []preemption.Preemptor) {
	for _, p := range pods {
		list = append(list, preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name})
	}
	return list
}

// TestPreemptAllIsBruteForce: of equal pods as many get a place as there can be room for, and no
// set of victims that makes room for as many disrupts less.
func TestPreemptAllIsBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(3000) {
		r := rand.New(rand.NewPCG(seed, 6))
		q := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 9, Budgets: seed%3 == 0, Nominations: seed%4 == 0})
		q.Snapshot.Pods = slices.DeleteFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Name == "web" })
		priced(seed, &q)
		snapshot, pods := equalPods(r, q.Snapshot, 2+r.IntN(3))
		o := preemption.Options{Objective: objective(r), Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}, Search: preemption.Exact}
		o.Objective = slices.DeleteFunc(o.Objective, func(c preemption.CriterionName) bool {
			switch c { // those that fit take places beforehand
			case preemption.CriterionStranded, preemption.CriterionCascade, preemption.CriterionLevels:
				return true
			}
			return false
		})
		pl, err := preemption.NewPlanner(&snapshot, o)
		require.NoError(t, err)
		results, err := pl.PreemptAll(asked(pods))
		require.NoError(t, err, "seed %d", seed)

		g, err := naive.NewGang(gangOptions(o), preemption.Preemptor{
			Kind: cluster.KindPodGroup, Pods: pods, Group: &preemption.PodGroup{Namespace: "default", Name: "g", Priority: pods[0].Priority},
		}, &q.Snapshot)
		require.NoError(t, err)
		var nodes []string
		for _, n := range q.Snapshot.Nodes {
			nodes = append(nodes, n.Name)
		}
		potential := g.Potential(nodes)
		if len(potential) > 8 {
			continue
		}
		most, free := g.MostSeated(nodes, naive.Gone(potential)), g.MostSeated(nodes, nil)
		placed, about := 0, 0
		for _, r := range results {
			about += max(1, len(r.Preemptor.Gathered))
			switch placed += len(r.Nominations); r.Verdict {
			case preemption.Fits:
				require.Equal(t, free, placed, "seed %d: those that fit come first, all of them", seed)
				seen["fit"]++
			case preemption.Infeasible:
				seen["infeasible"]++
			case preemption.Feasible:
				if len(r.Preemptor.Gathered) == 0 { // a lone pod's: see TestExactIsBruteForce
					require.Equal(t, 1, min(len(pods)-free, most-free), "seed %d", seed)
					break
				}
				var least []int64
				fates := fatesIn(t, o, &q)
				g.Sets(nodes, most, func(p naive.Plan) {
					c := naive.Candidate{Victims: p.Victims, Violations: p.Violations, Overruns: p.Overruns, Score: p.Score}
					if v := values(o.Objective, c, fates, nil); least == nil || slices.Compare(v, least) < 0 {
						least = v
					}
				})
				score, bound := said(r.Score), said(r.Bound)
				require.LessOrEqual(t, slices.Compare(bound, least), 0, "seed %d: at least %v, of %v there are %v", seed, bound, o.Objective, least)
				require.GreaterOrEqual(t, slices.Compare(score, least), 0, "seed %d: better than the best, %v", seed, least)
				if r.Optimal {
					require.Equal(t, least, score, "seed %d: %v", seed, o.Objective)
					seen["optimal"]++
				} else {
					seen["not proved"]++
				}
			}
		}
		require.Equal(t, most, placed, "seed %d", seed)
		require.Equal(t, len(pods), about, "seed %d: each in one answer", seed)
	}
	t.Log(seen)
	n := int(seeds(3000))
	require.Greater(t, seen["optimal"], n/10)
	require.Greater(t, seen["fit"], n/20)
	require.Greater(t, seen["infeasible"], n/20)
}

// TestPreemptAllInTurn: the more important come first, each preemptor is in one answer, and the
// answers can be carried out in turn; the planner is as before.
func TestPreemptAllInTurn(t *testing.T) {
	t.Parallel()
	together, mixed, verified := 0, 0, 0
	for seed := range seeds(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Budgets: true, Groups: true, Nominations: true}, MaxMembers: 3})
		q.Snapshot.Pods = slices.DeleteFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Node == "" && p.Group == "" })
		snapshot, pods := equalPods(r, q.Snapshot, 1+r.IntN(3))
		low := int32(-5)
		odd := preemption.Pod{Namespace: "default", Name: "odd", Priority: &low, Requests: preemption.Resources{cluster.CPU: 100}}
		snapshot.Pods = append(snapshot.Pods, odd)
		list := append(asked([]preemption.Pod{odd}), asked(pods)...)
		if asksSomething(q) {
			list = append(list, q.Preemptor)
		}
		pl, err := preemption.NewPlanner(&snapshot, preemption.Options{})
		require.NoError(t, err)
		before := pl.Snapshot()
		results, err := pl.PreemptAll(list)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, before, pl.Snapshot(), "seed %d", seed)

		carried, err := cascade.New(pl, cascade.Options{Returns: func(*preemption.Pod) bool { return false }})
		require.NoError(t, err)
		about := map[string]int{}
		for _, r := range results {
			a := r.Preemptor
			if len(a.Gathered) > 0 {
				require.Empty(t, check.Verify(pl.Snapshot(), preemption.Options{}, preemption.Preemptor{}, r), "seed %d", seed)
				for name, bad := range tampered(t, r) {
					require.NotEmpty(t, check.Verify(pl.Snapshot(), preemption.Options{}, preemption.Preemptor{}, bad), "seed %d: %s", seed, name)
				}
				verified++
			}
			for _, ref := range a.Gathered {
				about[string(a.Kind)+" "+ref.Name]++
			}
			if together += len(a.Gathered); len(a.Gathered) == 0 {
				about[string(a.Kind)+" "+a.Name]++
			}
			if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
				continue
			}
			require.NoError(t, carried.Add(r), "seed %d: %s", seed, r.Message)
		}
		require.Len(t, about, len(list), "seed %d", seed)
		for who, n := range about {
			require.Equal(t, 1, n, "seed %d: %s", seed, who)
		}
		require.Equal(t, "odd", results[len(results)-1].Preemptor.Name, "seed %d: the least important", seed)
		if len(results) > 2 {
			mixed++
		}
	}
	require.Positive(t, together)
	require.Positive(t, mixed)
	require.Positive(t, verified)
}

// tampered are answers about several pods that are not true, where r is.
func tampered(t require.TestingT, r *preemption.Result) map[string]*preemption.Result {
	list := map[string]*preemption.Result{}
	change := func(name string, f func(r *preemption.Result)) {
		data, err := json.Marshal(r)
		require.NoError(t, err)
		var c preemption.Result
		require.NoError(t, json.Unmarshal(data, &c))
		f(&c)
		list[name] = &c
	}
	change("somebody else is gathered", func(r *preemption.Result) { r.Preemptor.Gathered[0].Name = "nobody" })
	change("somebody is gathered twice", func(r *preemption.Result) {
		r.Preemptor.Gathered = append(r.Preemptor.Gathered, r.Preemptor.Gathered[0])
	})
	if r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits {
		change("somebody has no place", func(r *preemption.Result) { r.Nominations = r.Nominations[1:] })
		change("somebody has another place", func(r *preemption.Result) { r.Nominations[0].Node = "nowhere" })
	}
	if r.Verdict == preemption.Feasible {
		change("a victim stays", func(r *preemption.Result) { r.Victims = r.Victims[1:] })
		change("the score", func(r *preemption.Result) { r.Score[len(r.Score)-1].Value++ })
		change("somebody's nomination is withdrawn", func(r *preemption.Result) { r.Cleared = append(r.Cleared, r.Nominations[0].Pod) })
		change("nobody has to go", func(r *preemption.Result) { r.Verdict = preemption.Fits })
	}
	return list
}

// One who is placed does not go for another of the same call, though equals may take from
// each other.
func TestPreemptAllKeepsWhomItPlaces(t *testing.T) {
	t.Parallel()
	two, now := int32(2), time.Unix(1_000, 0)
	s := preemption.Snapshot{
		Time:  now,
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1_000, cluster.Pods: 10}}},
		Pods: []preemption.Pod{
			{Name: "first", Priority: &two, Started: now.Add(-time.Hour), Requests: preemption.Resources{cluster.CPU: 600}},
			{Name: "second", Priority: &two, Requests: preemption.Resources{cluster.CPU: 800}},
		},
	}
	o := preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}}
	pl, err := preemption.NewPlanner(&s, o)
	require.NoError(t, err)
	results, err := pl.PreemptAll(asked(s.Pods))
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.Equal(t, preemption.Fits, results[0].Verdict)
	require.Equal(t, preemption.Infeasible, results[1].Verdict)

	require.NoError(t, pl.Evict(results[0]))
	require.NoError(t, pl.Bind(preemption.PodRef{Name: "first"}, "n1"))
	r, err := pl.Preempt(asked(s.Pods)[1])
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, "in another call it may")

	o.Hooks = &preemption.Hooks{Eligible: anybody{}}
	pl, err = preemption.NewPlanner(&s, o)
	require.NoError(t, err)
	results, err = pl.PreemptAll(asked(s.Pods))
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, results[1].Verdict, "whatever hooks say")
}

// TestWhoIsRepelledByANomineeIsAskedInTurn: what a nominated pod says of others counts for a lone pod beside others alone, so that equal pods
// that it repels are not planned together. They were placed where the plan could not be applied.
func TestWhoIsRepelledByANomineeIsAskedInTurn(t *testing.T) {
	three := int32(3)
	repels := func(key string) []cluster.AffinityTerm {
		return []cluster.AffinityTerm{{TopologyKey: key, Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}}}
	}
	s := preemption.Snapshot{Pods: []preemption.Pod{
		{Name: "nominee", NominatedNode: "n0", Priority: &three, AntiAffinity: repels("host")}, {Name: "victim", Node: "n1", AntiAffinity: repels("zone")}, {Name: "last"},
	}}
	for i := range 2 {
		name := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Labels: map[string]string{"host": name, "zone": "z"}, Allocatable: preemption.Resources{cluster.CPU: 6}})
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("w", i), Priority: &three, Labels: map[string]string{"app": "web"}, Requests: preemption.Resources{cluster.CPU: 3}})
	}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	results, err := pl.PreemptAll(asked(s.Pods[2:]))
	require.NoError(t, err)
	require.Len(t, results, 3)
	require.Equal(t, []preemption.Nomination{{Pod: preemption.PodRef{Name: "w0"}, Node: "n1"}}, results[0].Nominations)
	require.NoError(t, pl.Apply(results[0]))
}

// anybody may be evicted.
type anybody struct{}

func (anybody) Kept(*victims.Units, victims.UnitID, victims.Claim) victims.Kept {
	return victims.Kept{}
}

// TestPreemptAllOfAnything: under any options, in any cluster, the answers can be carried out in turn
// and each preemptor is in one; the same list in another order names the same overlaps.
func TestPreemptAllOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.AnyProfile(t)
		p.Devices, p.Queues = false, false
		m, q := gen.NewMaker(t, p)
		o := genopts.Any().Draw(t, "options")
		o.Strict, o.Hooks = false, nil
		o.LowestLevel = rapid.Bool().Draw(t, "lowest")
		s, pods := equalPods(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), q.Snapshot, 1+m.N(4))
		pl, err := preemption.NewPlanner(&s, o)
		if err != nil {
			return // rules and cluster don't go together
		}
		list := append(asked(pods), q.Preemptor)
		results, err := pl.PreemptAll(list)
		if err != nil { // the cluster or the preemptor can't be read
			slices.Reverse(list)
			_, again := pl.PreemptAll(list)
			require.Error(t, again)
			return
		}
		about, evicted, placed := 0, false, false
		for _, r := range results {
			// What is evicted counts for budgets, which nobody tells the planner here, and who was placed
			// before may not be evicted for others of the call.
			if len(r.Preemptor.Gathered) > 0 && !evicted && !placed {
				require.Empty(t, check.Verify(pl.Snapshot(), o, preemption.Preemptor{}, r))
			}
			evicted = evicted || len(r.Victims) > 0
			if about += max(1, len(r.Preemptor.Gathered)); r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
				continue
			}
			require.NoError(t, leave(pl, r))
			for _, n := range r.Nominations {
				require.NoError(t, pl.Bind(n.Pod, n.Node))
				placed = true
			}
		}
		require.Equal(t, len(list), about)
	})
}

func TestPreemptAllBadInput(t *testing.T) {
	t.Parallel()
	s, pods := equalPods(rand.New(rand.NewPCG(1, 1)), preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1"}}}, 2)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	list := asked(pods)
	_, err = pl.PreemptAll([]preemption.Preemptor{
		list[0], list[1], list[0], {Kind: cluster.KindPod, Name: "nobody"}, {Kind: cluster.KindWorkload, Name: "w"}, {Kind: "?"},
	})
	require.ErrorContains(t, err, "a pod of one preemptor alone")
	require.ErrorContains(t, err, "nobody")
	require.ErrorContains(t, err, "Cycle is about workloads")
	var field *cluster.FieldError
	require.ErrorAs(t, err, &field)

	one := int32(1)
	s.PodGroups = []preemption.PodGroup{{Namespace: "default", Name: "gang", MinCount: &one}}
	s.Pods[0].Group = "gang"
	pl, err = preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	both := []preemption.Preemptor{{Kind: cluster.KindPodGroup, Namespace: "default", Name: "gang"}, list[0]}
	for range 2 {
		_, err = pl.PreemptAll(both)
		require.ErrorContains(t, err, "a pod of one preemptor alone")
		slices.Reverse(both)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = pl.PreemptAllContext(ctx, list)
	require.ErrorIs(t, err, context.Canceled)
	results, err := pl.PreemptAll(nil)
	require.NoError(t, err)
	require.Empty(t, results)
}
