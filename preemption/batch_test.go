package preemption_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

	four, token := int32(4), []string{"t"}
	held := preemption.Snapshot{Nodes: []preemption.Node{{Name: "n0", Allocatable: preemption.Resources{cluster.CPU: 3}}, {Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1}}}}
	for i, p := range []preemption.Pod{
		{Name: "victim", Node: "n1"}, {Name: "low", NominatedNode: "n0", Priority: &three}, {Name: "nominee", NominatedNode: "n0", Priority: &four, Tokens: token},
		{Name: "w0", Priority: &four, Tokens: token}, {Name: "w1", Priority: &four, Tokens: token}, {Name: "w2", Priority: &four, Tokens: token},
	} {
		p.Requests = preemption.Resources{cluster.CPU: 1 + int64(i%3/2)}
		held.Pods = append(held.Pods, p)
	}
	pl, err = preemption.NewPlanner(&held, preemption.Options{})
	require.NoError(t, err)
	results, err = pl.PreemptAll(asked(held.Pods[3:]))
	require.NoError(t, err, "nor those whose token it holds")
	require.NotEmpty(t, results)
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

// gathered is a cluster of nodes with cpu cores and a device each, what runs there, and who
// asks, one after the other.
type gathered struct {
	cpu     []int64
	pods    []preemption.Pod
	asks    []preemption.Pod
	budgets []preemption.Budget
	options preemption.Options
}

func (g gathered) snapshot() *preemption.Snapshot {
	s := &preemption.Snapshot{Budgets: g.budgets}
	for i, cpu := range g.cpu {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: fmt.Sprintf("n%d", i+1), Allocatable: preemption.Resources{cluster.CPU: cpu, cluster.Memory: 3},
			Devices: map[string]cluster.DevicePool{gpu: {Count: 1, Capacity: 1000}},
		})
	}
	s.Pods = append(append(s.Pods, g.pods...), g.asks...)
	return s
}

func cores(name, node string, priority int32, cpu int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: node, Priority: prio(priority), Requests: preemption.Resources{cluster.CPU: cpu}}
}

func TestAGatheringsPlanIsApplied(t *testing.T) {
	token, device, memory := cores("z1", "", 10, 2), cores("z1", "", 10, 2), cores("z2", "", 10, 3)
	token.Tokens = []string{"t"}
	device.Devices = []cluster.DeviceRequest{{Resource: gpu, Count: 1}}
	memory.Requests[cluster.Memory] = 3
	low, z2 := []preemption.Pod{cores("low", "n1", 0, 1)}, cores("z2", "", 10, 2)
	everyPod := []preemption.Budget{{Name: "every", Selector: &preemption.Selector{}, Allowed: 1}}
	two := []preemption.Pod{cores("low", "n1", 0, 1), cores("more", "n2", 0, 1)}
	for name, c := range map[string]struct {
		gathered
		fails string // the reason, of the last pod; empty: the plan is applied
		never bool   // the last pod has no place
	}{
		"a token":  {gathered: gathered{cpu: []int64{4}, pods: low, asks: []preemption.Pod{token, z2}}},
		"a device": {gathered: gathered{cpu: []int64{4}, pods: low, asks: []preemption.Pod{device, z2}}},
		"one who would fit if they were arranged otherwise": {gathered: gathered{
			cpu: []int64{6, 3}, pods: []preemption.Pod{cores("low", "n1", 0, 3)}, asks: []preemption.Pod{cores("z1", "", 10, 2), memory},
		}},
		"an earlier one in the way": {
			gathered: gathered{cpu: []int64{3}, asks: []preemption.Pod{cores("z1", "", 10, 3), cores("z2", "", 11, 2)}},
			fails:    "preemption: a pod of the gang has no place: nobody is to be evicted: z2: it evicts z1, which was planned before it",
		},
		"a hard budget": {never: true, gathered: gathered{
			cpu: []int64{1, 1}, pods: two, asks: []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
			budgets: everyPod, options: preemption.Options{HardBudgets: preemption.HardBudgets{All: true}},
		}},
		"a limit": {never: true, gathered: gathered{
			cpu: []int64{1, 1}, pods: two, asks: []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
			options: preemption.Options{Limits: preemption.Limits{Pods: 1}},
		}},
		"a limit of a window": {never: true, gathered: gathered{
			cpu: []int64{1, 1}, pods: two, asks: []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
			options: preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 9, Victims: 1}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := preemption.NewPlanner(c.snapshot(), c.options)
			require.NoError(t, err)
			g := pl.Gather()
			for i, pod := range c.asks {
				r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: pod.Name})
				if last := i == len(c.asks)-1; last && c.fails != "" {
					require.EqualError(t, err, c.fails)
					require.ErrorIs(t, err, preemption.ErrGangFailed)
				} else {
					require.NoError(t, err)
					require.Equal(t, last && c.never, r.Verdict == preemption.Infeasible, r.Message)
				}
			}
			plan, err := g.Plan()
			if c.never || c.fails != "" {
				require.ErrorIs(t, err, preemption.ErrGangFailed)
				return
			}
			require.NoError(t, err)
			advice(t, pl, plan, preemption.Keep)
			require.NoError(t, pl.Apply(plan))
			advice(t, pl, plan, preemption.Keep)
			for _, n := range plan.Nominations {
				for _, v := range plan.Victims {
					if v.Pods[0].Node == n.Node {
						_ = pl.Remove(v.Pods[0].PodRef)
					}
				}
				require.NoError(t, pl.Bind(n.Pod, n.Node))
			}
			advice(t, pl, plan, preemption.Cancel)
		})
	}
}

// TestBudgetsAreChargedPodByPod: what the second pod overruns is what the first has left.
func TestBudgetsAreChargedPodByPod(t *testing.T) {
	c := gathered{
		cpu: []int64{1, 1}, pods: []preemption.Pod{cores("low", "n1", 0, 1), cores("more", "n2", 0, 1)},
		asks:    []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
		budgets: []preemption.Budget{{Name: "every", Selector: &preemption.Selector{}, Allowed: 1}},
	}
	pl, err := preemption.NewPlanner(c.snapshot(), preemption.Options{})
	require.NoError(t, err)
	g := pl.Gather()
	for i, pod := range c.asks {
		r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: pod.Name})
		require.NoError(t, err)
		require.Equal(t, i, r.Violations)
	}
	plan, err := g.Plan()
	require.NoError(t, err)
	require.Equal(t, 1, plan.Violations)
	require.Equal(t, int64(1), plan.Overruns)
	require.Equal(t, []preemption.BudgetRoom{{Name: "every", Allowed: 1}}, plan.Budgets)
	require.NoError(t, pl.Apply(plan))
}

func TestPodsThatNeedQuotaAreNotGathered(t *testing.T) {
	s := podsQuota(t).Snapshot()
	s.Pods = append(s.Pods, preemption.Pod{Name: "next", Queue: "l", Priority: prio(1), Requests: preemption.Resources{"cpu": 1}})
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	g := pl.Gather()
	_, err = g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "next"})
	require.EqualError(t, err, `cluster: Pod "next": Queue: set is not empty: pods that need quota are not gathered`)
}

// TestEveryPlanOfAGatheringIsApplied: of random pods in random clusters, under bounds.
func TestEveryPlanOfAGatheringIsApplied(t *testing.T) {
	applied, broken := 0, 0
	for seed := range seeds(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		q, o := gen.RandomGang(seed, gen.EverythingForGangs()), preemption.Options{}
		switch r.IntN(4) {
		case 0:
			o.HardBudgets.All = true
		case 1:
			o.Limits.Pods = int64(1 + r.IntN(4))
		case 2:
			o.Rules = preemption.Kubernetes136
		}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		for i, p := range q.Preemptor.Pods {
			p.Group = ""
			if r.IntN(3) == 0 {
				p.Priority = prio(int32(r.IntN(2000)))
			}
			if err := pl.SetPod(p); err != nil {
				t.Fatal(err)
			}
			q.Preemptor.Pods[i] = p
		}
		before := asJSON(t, pl.Snapshot())
		g := pl.Gather()
		for _, p := range q.Preemptor.Pods {
			if _, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}); err != nil {
				require.ErrorIs(t, err, preemption.ErrGangFailed)
				broken++
				break
			}
		}
		require.Equal(t, before, asJSON(t, pl.Snapshot()))
		plan, err := g.Plan()
		if err != nil || len(plan.Nominations) == 0 {
			continue
		}
		require.NoError(t, pl.Apply(plan), "seed %d", seed)
		require.NoError(t, pl.Evict(plan), "seed %d", seed)
		for _, n := range plan.Nominations {
			require.NoError(t, pl.Bind(n.Pod, n.Node))
		}
		applied++
		if most := o.Limits.Pods; most > 0 {
			pods := int64(0)
			for _, v := range plan.Victims {
				pods += int64(len(v.Pods))
			}
			require.LessOrEqual(t, pods, most)
		}
		if o.HardBudgets.All {
			require.Zero(t, plan.Overruns)
		}
	}
	t.Log(applied, "applied,", broken, "broken off")
	require.Positive(t, applied)
}

// TestPlansOfAGatheringShareNothing: whoever changes one finds the next as it was.
func TestPlansOfAGatheringShareNothing(t *testing.T) {
	pl, r := planned(t)
	g := pl.Gather()
	_, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"})
	require.NoError(t, err)
	first, err := g.Plan()
	require.NoError(t, err)
	want := asJSON(t, first)
	require.NotEmpty(t, first.Victims)
	first.Victims[0].Pods[0].Name, first.Nominations[0].Node, first.Preemptor.Gathered[0].Name = "other", "other", "other"
	again, err := g.Plan()
	require.NoError(t, err)
	require.Equal(t, want, asJSON(t, again))
	require.NoError(t, pl.Apply(r))
}

// TestAPodOfAGangAskedAlone: whoever asks about one pod of a gang is told what the gang needs
// beside it, or refused under Strict; who gathers its pods is not.
func TestAPodOfAGangAskedAlone(t *testing.T) {
	four := int32(4)
	farm := func(running int, change func(*preemption.Snapshot)) *preemption.Snapshot {
		s := &preemption.Snapshot{
			Nodes:     []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 9}}},
			PodGroups: []preemption.PodGroup{{Namespace: "ns", Name: "train", MinCount: &four}},
		}
		for i := range 5 {
			p := preemption.Pod{Namespace: "ns", Name: fmt.Sprint("t", i), Group: "train", Requests: preemption.Resources{"cpu": 1}}
			if i >= 5-running {
				p.Node = "n"
			}
			s.Pods = append(s.Pods, p)
		}
		if change != nil {
			change(s)
		}
		return s
	}
	byName := preemption.Preemptor{Kind: preemption.KindPod, Namespace: "ns", Name: "t0"}
	inline := preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "new", Group: "train"}}}
	for name, c := range map[string]struct {
		s     *preemption.Snapshot
		asks  preemption.Preemptor
		needs int
	}{
		"nobody runs":       {farm(0, nil), byName, 3},
		"one runs":          {farm(1, nil), byName, 2},
		"two run":           {farm(2, nil), byName, 1},
		"three run":         {farm(3, nil), byName, 0},
		"all others run":    {farm(4, nil), byName, 0},
		"inline":            {farm(2, nil), inline, 1},
		"the group":         {farm(0, nil), preemption.Preemptor{Kind: preemption.KindPodGroup, Namespace: "ns", Name: "train"}, 0},
		"a basic group":     {farm(0, func(s *preemption.Snapshot) { s.PodGroups[0].MinCount, s.PodGroups[0].Basic = nil, true }), byName, 0},
		"in no group":       {farm(0, func(s *preemption.Snapshot) { s.Pods[0].Group = "" }), byName, 0},
		"it finds no place": {farm(1, func(s *preemption.Snapshot) { s.Nodes[0].Unschedulable = true }), byName, 2},
		"the group is queued": {farm(1, func(s *preemption.Snapshot) {
			s.PodGroups[0].Queue, s.LocalQueues = "q", []preemption.LocalQueue{{Namespace: "ns", Name: "q", ClusterQueue: "q"}}
			s.ClusterQueues = []preemption.ClusterQueue{{Name: "q"}}
		}), byName, 2},
	} {
		for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137, preemption.KEP5710Alpha} {
			pl, err := preemption.NewPlanner(c.s, preemption.Options{Rules: rules})
			require.NoError(t, err, name)
			require.Equal(t, c.needs, decidesAlike(t, pl, c.asks, rules).Needs, "%s, %s", name, rules)
			strict, err := preemption.NewPlanner(c.s, preemption.Options{Rules: rules, Strict: true})
			require.NoError(t, err, name)
			_, err = strict.Preempt(c.asks)
			_, err2 := strict.Decide(c.asks)
			require.Equal(t, err, err2, name)
			if c.needs == 0 {
				require.NoError(t, err, name)
				continue
			}
			r, err3 := pl.Preempt(c.asks)
			require.NoError(t, err3)
			w := r.Warnings[len(r.Warnings)-1]
			require.Equal(t, preemption.KindPod, w.Kind, name)
			var field *cluster.FieldError
			require.ErrorAs(t, err, &field, name)
			require.Equal(t, cluster.FieldError{
				Kind: "Pod", Namespace: "ns", Name: w.Name, Field: "Group", Value: "train", Want: "accepted under Strict (" + w.Text + ")",
			}, *field, name)
		}
	}
	for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137} {
		pl, err := preemption.NewPlanner(farm(1, nil), preemption.Options{Rules: rules, Strict: true})
		require.NoError(t, err)
		g := pl.Gather()
		for i := range 3 {
			r, err := g.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Namespace: "ns", Name: fmt.Sprint("t", i)})
			require.NoError(t, err)
			require.Empty(t, r.Warnings)
		}
		plan, err := g.Plan()
		require.NoError(t, err)
		v, err := pl.StillValid(plan)
		require.NoError(t, err)
		require.Equal(t, preemption.Keep, v.Advice, v.Reason)
		require.NoError(t, pl.Apply(plan))
	}
}

// TestWhatIsAnsweredInlineCanBeApplied: what a cluster may not have is refused when it is asked about, not when it is
// to come, or after that.
func TestWhatIsAnsweredInlineCanBeApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.AnyProfile(t)
		p.Queues, p.Extremes, p.Guards, p.Odd = false, false, true, true // extremes: sums beyond an int64 are seen once pods are nominated
		m, q := gen.NewMaker(t, p)
		o := genopts.Any().Draw(t, "options")
		o.Hooks, o.Sampling = nil, nil
		o.PreemptionPriority.MaxLead = int32(m.N(2000))
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		if err != nil {
			t.SkipNow()
		}
		for range 10 {
			asked := m.Preemptor()
			asked.Placement = nil
			if len(asked.Pods) == 0 {
				continue
			}
			fork := pl.Fork()
			r, err := fork.Preempt(asked)
			if err != nil || r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
				continue
			}
			t.Logf("options %v, snapshot %v, asked %v", told{o}, told{q.Snapshot}, told{asked})
			require.NoError(t, fork.Apply(r))
			_, err = fork.StillValid(r)
			require.NoError(t, err)
		}
	})
}

func TestWhatAClusterMayNotHaveIsRefusedInline(t *testing.T) {
	lead, two := prio(30), int32(2)
	pod := func(name string, guard *cluster.Guard) preemption.Pod {
		return preemption.Pod{Namespace: "ns", Name: name, Priority: prio(10), Guard: guard}
	}
	climbs := &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 5, Value: 16}}}
	bounded := preemption.Options{PreemptionPriority: preemption.PreemptionPriority{MaxLead: 5}}
	for name, c := range map[string]struct {
		options preemption.Options
		asked   preemption.Preemptor
		want    string
	}{
		"a milestone": {
			bounded, preemption.Preemptor{Pods: []preemption.Pod{pod("p", climbs)}},
			`cluster: Pod "ns/p": Guard.Milestones[0].Value: 16 is not at most 5 above the priority 10`,
		},
		"a group's lead": {
			bounded, preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Priority: prio(10), PreemptionPriority: lead}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": PreemptionPriority: 30 is not at most 5 above the priority 10`,
		},
		"less than the priority": {
			preemption.Options{}, preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: prio(10), PreemptionPriority: prio(9)}}},
			`cluster: Pod "p": PreemptionPriority: 9 is not >= the priority 10`,
		},
		"all of a basic group": {
			preemption.Options{Rules: preemption.KEP5710Alpha},
			preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Mode: preemption.All}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": Mode: All is not Single: the group is basic`,
		},
		"odd, under Strict": {
			preemption.Options{Strict: true},
			preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Priority: prio(10), MinCount: &two}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": MinCount: 2 is not accepted under Strict (the group has 1 pods)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := preemption.NewPlanner(twoNodes(), c.options)
			require.NoError(t, err)
			_, err1 := pl.Preempt(c.asked)
			_, err2 := pl.Decide(c.asked)
			_, err3 := pl.PreemptAll([]preemption.Preemptor{c.asked})
			_, err4 := pl.WhyNot(c.asked, preemption.NodeTarget("n1"))
			_, err5 := pl.Park(c.asked)
			for _, err := range []error{err1, err2, err3, err4, err5} {
				require.ErrorContains(t, err, c.want)
				var field *cluster.FieldError
				require.ErrorAs(t, err, &field)
			}
		})
	}
}

// TestAGivenPlacementGoesWithTheAnswer: what a named group was asked about is asked again, not where
// else it might go; also of an answer from JSON, and once a member runs.
func TestAGivenPlacementGoesWithTheAnswer(t *testing.T) {
	zero, high := int32(0), int32(1000)
	for _, namespace := range []string{"", "default"} {
		ref := func(name string) preemption.PodRef { return preemption.PodRef{Namespace: namespace, Name: name} }
		s := &preemption.Snapshot{
			Nodes:     []preemption.Node{{Name: "n0", Allocatable: cpus(2)}, {Name: "n1", Allocatable: cpus(2)}},
			PodGroups: []preemption.PodGroup{{Namespace: namespace, Name: "gang", Basic: true, Priority: &high}},
		}
		for _, name := range []string{"v0", "v1"} {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: namespace, Name: name, Node: "n0", Priority: &zero, Requests: cpus(1)})
		}
		asks := preemption.Preemptor{Kind: preemption.KindPodGroup, Namespace: namespace, Name: "gang", Placement: map[string]string{}}
		for _, name := range []string{"m0", "m1"} {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: namespace, Name: name, Group: "gang", Priority: &high, Requests: cpus(1)})
			asks.Placement[strings.TrimPrefix(namespace+"/"+name, "/")] = "n0"
		}
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		r, err := pl.Preempt(asks)
		require.NoError(t, err)
		require.Len(t, r.Victims, 2)
		text, err := json.Marshal(r)
		require.NoError(t, err)
		read := &preemption.Result{}
		require.NoError(t, json.Unmarshal(text, read))
		for _, r := range []*preemption.Result{r, read} {
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Keep, v.Advice, "%s", v.Reason)
			fork := pl.Fork()
			require.NoError(t, fork.Apply(r))
			for _, name := range []string{"v0", "v1"} {
				require.NoError(t, fork.Remove(ref(name)))
			}
			require.NoError(t, fork.Bind(ref("m0"), "n0"))
			v, err = fork.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Cancel, v.Advice)
			require.Equal(t, "it fits without evicting anybody", v.Reason)
		}
	}
}
