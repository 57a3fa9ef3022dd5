//go:build !race

// The race detector empties pools at random.

package preemption_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// heap is what is in use, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryOfAPod bounds what an index holds for each pod beyond the snapshot, 102
// bytes with 4 columns when this was written, and a planner, which has units and their
// columns beside it: 191. A further column takes 8 bytes of the index and up to 8 of the
// columns. The bounds leave a third of room.
func TestMemoryOfAPod(t *testing.T) {
	s := gen.Fleet(1000, 30, 1, gen.Uniform)
	pods := uint64(len(s.Pods))
	before := heap()
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	index := (heap() - before) / pods
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	planner := (heap()-before)/pods - index
	t.Logf("%d columns: index %d bytes a pod, planner %d", ix.NumResources(), index, planner)
	require.Less(t, index, uint64(140))
	require.Less(t, planner, uint64(260))

	before = heap()
	forks := make([]*preemption.Planner, 20)
	for i := range forks {
		forks[i] = pl.Fork()
		require.NoError(t, forks[i].Remove(preemption.PodRef{Namespace: s.Pods[i].Namespace, Name: s.Pods[i].Name}))
	}
	fork := (heap() - before) / uint64(len(forks))
	t.Logf("a fork that removes a pod: %d bytes", fork)
	require.Less(t, fork, planner*pods/10, "a fork holds what it has changed")
	runtime.KeepAlive(ix)
	runtime.KeepAlive(pl)
	runtime.KeepAlive(forks)
}

// TestMemoryOfAResource bounds what a planner holds more for each pod when nodes and pods
// name one resource more: 11 bytes when this was written.
func TestMemoryOfAResource(t *testing.T) {
	const more = 8
	held := func(resources int) uint64 {
		s := gen.Fleet(1000, 30, 1, gen.Uniform)
		for r := range resources {
			name := fmt.Sprint("example.com/r", r)
			for i := range s.Nodes {
				s.Nodes[i].Allocatable[name] = 1000
			}
			for i := range s.Pods {
				s.Pods[i].Requests[name] = int64(i % 30)
			}
		}
		before := heap()
		pl, err := preemption.NewPlanner(&s, preemption.Options{})
		require.NoError(t, err)
		bytes := heap() - before
		runtime.KeepAlive(pl)
		return bytes / uint64(len(s.Pods))
	}
	resource := (held(more) - held(0)) / more
	t.Logf("%d bytes a pod and resource", resource)
	require.Less(t, resource, uint64(22))
}

// TestUpdatesAllocateLittle: a pod that is replaced costs itself and the lists of its
// node.
func TestUpdatesAllocateLittle(t *testing.T) {
	s := gen.Fleet(100, 30, 1, gen.Uniform)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	i := 0
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		i++
		_ = pl.SetPod(s.Pods[i])
	}), 8.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		i++
		ref := preemption.PodRef{Namespace: s.Pods[i].Namespace, Name: s.Pods[i].Name}
		_ = pl.Remove(ref)
		_ = pl.SetPod(s.Pods[i])
	}), 12.0)
}

// TestMoreResourcesThanLanes: with more resources than 16 bits number, the one that is
// short is still told.
func TestMoreResourcesThanLanes(t *testing.T) {
	offers := preemption.Resources{}
	for i := range 40_000 {
		offers[fmt.Sprintf("r%05d", i)] = 10
	}
	s := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: offers}},
		Pods:  []preemption.Pod{{Name: "low", Node: "n", Priority: prio(1), Requests: preemption.Resources{"r39990": 8}}},
	}
	ask := func(amount int64) *preemption.Result {
		p := preemption.Pod{Name: "p", Priority: prio(10), Requests: preemption.Resources{"r39990": amount}}
		r, err := preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{p}}, s)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, preemption.Feasible, ask(10).Verdict)
	require.Equal(t, []preemption.Rejection{{Reason: "not enough r39990", Domains: 1}}, ask(11).Rejected)
}

// growing is a planner of one node that offers what is given, and has been asked once.
func growing(t *testing.T, offers preemption.Resources, pods ...preemption.Pod) *history {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: offers}}, Pods: pods}, preemption.Options{})
	require.NoError(t, err)
	h := &history{Planner: pl}
	h.ask(t, asks(1))
	return h
}

// asks is a preemptor of priority 10.
func asks(cpuMilli int64) preemption.Preemptor {
	return preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: prio(10), Requests: preemption.Resources{cluster.CPU: cpuMilli}}}}
}

func lesser(name string, priority int32, cpuMilli int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: "n1", Priority: prio(priority), Requests: preemption.Resources{cluster.CPU: cpuMilli}}
}

// TestNodesGrow: whatever a node offered when the cluster was compiled, it offers what it
// was set to, and no more than that.
func TestNodesGrow(t *testing.T) {
	t.Parallel()
	for before := int64(1); before <= 16; before++ {
		for after := before; after <= 33; after++ {
			h := growing(t, preemption.Resources{cluster.CPU: before}, lesser("a", 0, 1))
			require.NoError(t, h.SetNode(cluster.Node{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: after}}))
			for ask := after; ask <= after+3; ask++ {
				h.ask(t, asks(ask))
			}
		}
	}
}

// TestNodesGrowInPods is the same for the number of pods, which packed room counts too.
func TestNodesGrowInPods(t *testing.T) {
	t.Parallel()
	for before := int64(0); before <= 9; before++ {
		for _, after := range []int64{before, before + 1, before + 3, 7, 8, 15, -1} {
			for k := int64(1); k <= 6; k++ {
				h := growing(t, preemption.Resources{cluster.CPU: 8, cluster.Pods: before})
				require.NoError(t, h.SetPod(lesser("large", 0, 8-k)))
				for i := range k {
					require.NoError(t, h.SetPod(lesser(fmt.Sprint("small-", i), 5, 1)))
				}
				h.ask(t, asks(3))
				offers := preemption.Resources{cluster.CPU: 8, cluster.Pods: after}
				if after < 0 { // as many as there are
					delete(offers, cluster.Pods)
				}
				require.NoError(t, h.SetNode(cluster.Node{Name: "n1", Allocatable: offers}))
				h.ask(t, asks(3))
				h.ask(t, asks(8))
			}
		}
	}
}

// TestANodeThatComesBackIsLaidOut: the columns were made while there was no node, and pods
// that ran there asked for more than any.
func TestANodeThatComesBackIsLaidOut(t *testing.T) {
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n", Allocatable: cpus(2000)}},
		Pods:  []preemption.Pod{{Name: "a", Node: "n", Requests: cpus(500)}, {Name: "b", Node: "n", Requests: cpus(500)}},
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	require.NoError(t, pl.RemoveNode("n"))
	require.NoError(t, pl.SetBudget(preemption.Budget{Name: "b", Selector: &preemption.Selector{MatchLabels: map[string]string{"a": "b"}}}))
	ask := preemption.Preemptor{Pods: []preemption.Pod{frontend(1500)}}
	_, err = pl.Preempt(ask) // makes the columns anew
	require.NoError(t, err)
	require.NoError(t, pl.SetNode(s.Nodes[0]))
	live, err := pl.Preempt(ask)
	require.NoError(t, err)
	fresh, err := preemption.Options{}.Preempt(ask, pl.Snapshot())
	require.NoError(t, err)
	require.Equal(t, fresh, live)
}

// idle are rules that are set and have nothing to say.
var idle = map[string]func(*preemption.Options){
	"limits without end": func(o *preemption.Options) {
		o.Limits = preemption.Limits{Victims: math.MaxInt64, Pods: math.MaxInt64, Window: preemption.Window{Seconds: 60, Victims: math.MaxInt64, Pods: math.MaxInt64}}
	},
	"a budget that is not there": func(o *preemption.Options) { o.HardBudgets.Names = []string{"none/such"} },
	"a price that counts nowhere": func(o *preemption.Options) {
		o.Cost.Tariff = disruption.Tariff{Fixed: 3, Pods: 5, Work: map[string]disruption.Rate{"cpu": {Price: 7}}}
	},
	"a label that nobody has": func(o *preemption.Options) {
		o.Guards.Protect = &disruption.Selector{MatchLabels: map[string]string{"nobody": "has"}}
	},
	"a cool-down without evictions": func(o *preemption.Options) {
		o.Guards.Cooldown = victims.Cooldown{Evictions: 1, Seconds: math.MaxInt64}
	},
	"equals after all time":          func(o *preemption.Options) { o.Guards.EqualAfterSeconds = math.MaxInt64 },
	"no cascade, and nobody evicted": func(o *preemption.Options) { o.NoCascade = true },
	"apart, and nothing said":        func(o *preemption.Options) { o.PreemptionPriority.Apart = true },
	"tolerations off, and none":      func(o *preemption.Options) { o.Guards.Toleration = priority.TolerationOff },
}

// TestRulesThatSayNothingChangeNothing: the road through each rule comes to the
// answers of the plain road, for pods and gangs.
func TestRulesThatSayNothingChangeNothing(t *testing.T) {
	for name, set := range idle {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compared := 0
			for seed := range seeds(250) {
				o := preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136}[seed%2], Candidates: true}
				pod := gen.Random(seed, gen.Profile{Groups: true, Budgets: true, Ports: true})
				gang := sound(o, gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 14, Groups: true, Budgets: true}}))
				for _, q := range []gen.Question{pod, gang} {
					if !asksSomething(q) {
						continue
					}
					ruled := o
					set(&ruled)
					plain, got := ask(&named{t, seed}, o, q), ask(&named{t, seed}, ruled, q)
					if diff := cmp.Diff(bare(plain), bare(got)); diff != "" {
						t.Fatalf("seed %d (-plain +ruled):\n%s", seed, diff)
					}
					if plain.Verdict == preemption.Feasible {
						compared++
					}
				}
			}
			require.Greater(t, compared, int(seeds(100)))
		})
	}
}

// bare is what was decided, without prices, reasons, warnings and the effort.
func bare(r *preemption.Result) *preemption.Result {
	r.Stats, r.Cost, r.Warnings, r.Nearest, r.Rejected, r.Kept = preemption.Stats{}, 0, nil, nil, nil, nil
	for i := range r.Victims {
		r.Victims[i].Cost = 0
	}
	for i := range r.Candidates {
		for k := range r.Candidates[i].Victims {
			r.Candidates[i].Victims[k].Cost = 0
		}
	}
	return r
}

// remembered are options under which what was found on each node is remembered.
var remembered = map[string]preemption.Options{
	"guaranteed":   {Guards: preemption.Guards{GuaranteedSeconds: 60}},
	"equals":       {Guards: preemption.Guards{EqualAfterSeconds: 60}},
	"criterion":    {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}, Criterion: 1}},
	"importance":   {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}, Importance: true}},
	"objective":    {Objective: []preemption.CriterionName{victims.CriterionPods, victims.CriterionOverruns}},
	"movable":      {PreferMovable: true},
	"apart":        {PreemptionPriority: preemption.PreemptionPriority{Apart: true}},
	"lowest level": {LowestLevel: true},
	"hard budgets": {HardBudgets: preemption.HardBudgets{All: true}},
	"limits":       {Limits: preemption.Limits{Pods: 3}},
	"filter":       {Guards: preemption.Guards{GuaranteedSeconds: 60}, Hooks: &preemption.Hooks{Filter: func(*preemption.Pod, *preemption.Node) bool { return true }}},
	"colocation":   {Hooks: &preemption.Hooks{Constraints: []domain.Constraint{crowded{}.rule()}}},
	"exact":        {Search: preemption.Exact, Limits: preemption.Limits{Pods: 3}},
	"all told":     {Guards: preemption.Guards{GuaranteedSeconds: 60}, Candidates: true, Explain: true, Prefer: preemption.LeastAllocated},
}

// crowded is a rule about pods of one template: at most three of them share a node.
type crowded struct{}

func (crowded) rule() domain.Colocation {
	return domain.Colocation{Check: "crowded", Monotone: true, Allows: func(p *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
		alike := 0
		for _, o := range others {
			if o.Labels["app"] == p.Labels["app"] {
				alike++
			}
		}
		return alike < 3
	}}
}

// TestDecideAgainUnderOptionsAllocatesNothing: it is a lookup of what was remembered, and
// what another road comes to.
func TestDecideAgainUnderOptionsAllocatesNothing(t *testing.T) {
	for name, o := range remembered {
		t.Run(name, func(t *testing.T) {
			snap := gen.Fleet(100, 30, 1, gen.Uniform)
			pl, err := preemption.NewPlanner(&snap, o)
			require.NoError(t, err)
			p := gen.FleetPod(1)
			p.Pods[0].Ports = []cluster.HostPort{{Port: 80}}
			decidesAlike(t, pl, p)
			require.Zero(t, testing.AllocsPerRun(100, func() {
				if d, err := pl.Decide(p); err != nil || d.Verdict != preemption.Feasible {
					t.Fatal(d, err)
				}
			}))
		})
	}
}

// TestDecideAgainAllocatesNothing: a shape that was asked about before, by name or
// inline.
func TestDecideAgainAllocatesNothing(t *testing.T) {
	snap := gen.Fleet(100, 30, 1, gen.Uniform)
	p := gen.FleetPod(1)
	snap.Pods = append(snap.Pods, p.Pods[0])
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	named := preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Pods[0].Namespace, Name: p.Pods[0].Name}
	p.Pods[0].Name = "another"
	for _, p := range []preemption.Preemptor{named, p} {
		decidesAlike(t, pl, p)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if d, err := pl.Decide(p); err != nil || d.Verdict != preemption.Feasible {
				t.Fatal(d, err)
			}
		}))
	}
}

// TestWhoAsksForNoProofPaysForNone: an answer that is told again takes no more memory in 400 nodes than in 50,
// whether evictions help or not, as it did before there were proofs; a proof is looked for in every node.
func TestWhoAsksForNoProofPaysForNone(t *testing.T) {
	preemption.Answered(nil) // who looks over the answers allocates
	defer preemption.Answered(verified)
	for _, of := range []struct {
		verdict preemption.Verdict
		times   int64 // as large as a pod of the fleet
		most    float64
	}{{preemption.Feasible, 1, 26}, {preemption.Infeasible, 40, 38}} {
		for _, nodes := range []int{50, 400} {
			allocs := func(o preemption.Options) float64 {
				snap := gen.Fleet(nodes, 30, 1, gen.Uniform)
				p := gen.FleetPod(1)
				for name := range p.Pods[0].Requests {
					p.Pods[0].Requests[name] *= of.times
				}
				pl, err := preemption.NewPlanner(&snap, o)
				require.NoError(t, err)
				require.NoError(t, pl.Tune(1, 512, 0))
				return testing.AllocsPerRun(20, func() {
					if r, err := pl.Preempt(p); err != nil || r.Verdict != of.verdict || o.Proof != (r.Proof != nil) {
						t.Fatal(r, err)
					}
				})
			}
			require.LessOrEqual(t, allocs(preemption.Options{}), of.most, "%s in %d nodes", of.verdict, nodes)
			require.Greater(t, allocs(preemption.Options{Proof: true}), of.most, "%s in %d nodes", of.verdict, nodes)
		}
	}
}

// TestAQuotaVictimCostsNoAllocation: with ten times the victims a few buffers more are
// read, and nothing is allocated for each.
func TestAQuotaVictimCostsNoAllocation(t *testing.T) {
	preemption.Answered(nil) // who looks over the answers allocates
	defer preemption.Answered(verified)
	for _, l := range []quotaLayout{
		{name: "classical-own", own: true}, {name: "classical-reclaim"},
		{name: "fair-own", own: true, fair: true}, {name: "fair-nominal", fair: true}, {name: "fair-borrowing", fair: true, weight: 20},
	} {
		allocs := func(victims int64) float64 {
			l.victims = victims
			s, o := quotaFleet(l, 2000)
			pl, err := preemption.NewPlanner(s, o)
			require.NoError(t, err)
			return testing.AllocsPerRun(20, func() {
				r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"})
				require.NoError(t, err)
				require.Len(t, r.Victims, int(victims))
			})
		}
		require.Less(t, allocs(500)-allocs(50), 60.0, l.name)
	}
}
