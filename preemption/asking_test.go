//go:build !race

// The race detector empties pools at random.

package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gocmp "github.com/google/go-cmp/cmp"
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

// patient is a context that is over once it was looked at so often.
type patient struct {
	context.Context
	left  atomic.Int64
	asked atomic.Int64
}

func waits(looks int64) *patient {
	p := &patient{Context: context.Background()}
	p.left.Store(looks)
	return p
}

func (p *patient) Done() <-chan struct{} { return make(chan struct{}) }

func (p *patient) Err() error {
	p.asked.Add(1)
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// stoppedAnywhere: a question that is stopped, at whatever step, says so, leaves nothing
// behind, and holds no lock; one that is not has the answer that it has without a context.
// It returns at how many steps it was.
func stoppedAnywhere(t fatal, o preemption.Options, q gen.Question) (stops int) {
	ok := func(err error) {
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	if err != nil {
		return 0
	}
	ok(pl.Tune(3, 2, 500))
	want, err := pl.Preempt(q.Preemptor)
	if err != nil {
		return 0
	}
	all := waits(1 << 40)
	r, err := pl.PreemptContext(all, q.Preemptor)
	ok(err)
	if diff := gocmp.Diff(want, r); diff != "" {
		t.Fatalf("with a context (-without +with):\n%s", diff)
	}
	steps := all.asked.Load()
	list := []int64{0, 1, 2, 3, steps / 4, steps / 2, steps * 3 / 4, steps - 1}
	for k := max(steps/2, steps-32); r.Nearest != nil && k < steps; k++ { // while it is asked what would help
		list = append(list, k)
	}
	for _, k := range list {
		if k < 0 || k >= steps {
			continue
		}
		r, err := pl.PreemptContext(waits(k), q.Preemptor)
		if r != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at step %d of %d: %v, %v", k, steps, r, err)
		}
		stops++
		if _, err := pl.WhyNotContext(waits(k), q.Preemptor, preemption.NodeTarget(q.Snapshot.Nodes[0].Name)); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("why not, stopped at step %d: %v", k, err)
		}
		if _, err := pl.DecideContext(waits(k), q.Preemptor); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("decided, stopped at step %d: %v", k, err)
		}
		again, err := pl.Preempt(q.Preemptor)
		ok(err)
		if diff := gocmp.Diff(want, again); diff != "" {
			t.Fatalf("after a stop at step %d of %d (-before +after):\n%s", k, steps, diff)
		}
		ok(pl.SetPod(preemption.Pod{Namespace: "late", Name: "late", Node: "nowhere"}))
		ok(pl.Remove(preemption.PodRef{Namespace: "late", Name: "late"}))
	}
	return stops
}

func TestAQuestionCanBeStopped(t *testing.T) {
	t.Parallel()
	pods, gangs := 0, 0
	for seed := range seeds(200) {
		o := seededOptions(seed)
		o.Cost.Objective = seed%4 == 0
		pods += stoppedAnywhere(&named{t, seed}, o, gen.Random(seed, gen.Everything()))
		g := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Groups: true, Budgets: true}, Topology: seed%2 == 0, Composite: seed%3 == 0})
		if o := gangOptionsBySeed(seed); asksSomething(g) {
			if seed%3 == 0 {
				o.Limits.Pods = 1
			}
			gangs += stoppedAnywhere(&named{t, seed}, o, sound(o, g))
		}
	}
	require.Greater(t, pods, int(seeds(800)))
	require.Greater(t, gangs, int(seeds(800)))
}

// TestAStoppedQuestionIsNotAsked: nothing is compiled for it.
func TestAStoppedQuestionIsNotAsked(t *testing.T) {
	over, stop := context.WithCancel(context.Background())
	stop()
	_, err := preemption.Options{}.PreemptContext(over, asking(1), &preemption.Snapshot{Nodes: []preemption.Node{{Name: "bad"}, {Name: "bad"}}})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "preemption: the question was stopped")
	late, stop := context.WithTimeout(context.Background(), -time.Second)
	defer stop()
	pl, err := preemption.NewPlanner(three(1, 2, 3), preemption.Options{})
	require.NoError(t, err)
	for range 4 { // also where it would be decided at once
		_, err = pl.DecideContext(late, asking(1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = pl.Decide(asking(1))
		require.NoError(t, err)
	}
	var none context.Context // never done
	_, err = pl.PreemptContext(none, asking(1))
	require.NoError(t, err)
}

// watcher keeps what it is told. Its clock goes on by a second with each look.
type watcher struct {
	mu   sync.Mutex
	now  time.Time
	seen []preemption.Observation
}

func (w *watcher) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Second)
	return w.now
}

func (w *watcher) Answered(o preemption.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

func TestAnObserverIsToldOfEachQuestion(t *testing.T) {
	w := &watcher{}
	o := preemption.Options{Hooks: &preemption.Hooks{Observer: w}}
	s := three(8, 7, 4)
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	var verdicts []preemption.Verdict
	for _, cores := range []int64{2, 5, 9} {
		r, err := pl.Preempt(asking(cores))
		require.NoError(t, err)
		require.False(t, r.Stats.Hooks, "it has no say")
		verdicts = append(verdicts, r.Verdict)
	}
	_, err = pl.Decide(asking(5))
	require.NoError(t, err)
	_, err = pl.WhyNot(asking(5), preemption.NodeTarget("n1"))
	require.NoError(t, err)
	over, stop := context.WithCancel(context.Background())
	stop()
	_, err = pl.PreemptContext(over, asking(5))
	require.Error(t, err)
	_, err = o.Preempt(asking(5), s)
	require.NoError(t, err)

	require.Equal(t, []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.Infeasible}, verdicts)
	var told []string
	for _, x := range w.seen {
		told = append(told, fmt.Sprint(x.Call, " ", x.Kind, " ", x.Verdict, " ", x.Victims, " ", x.Err != nil, " ", x.Phases))
	}
	require.Equal(t, []string{
		"Preempt Pod fits without preemption 0 false [1s 1s 1s 1s]",
		"Preempt Pod feasible 1 false [1s 1s 1s 1s]",
		"Preempt Pod infeasible 0 false [1s 1s 1s 1s]",
		"Decide Pod feasible 1 false [1s 1s 1s 0s]",
		"WhyNot Pod  0 false [1s 1s 0s 1s]",
		"Preempt Pod  0 true [0s 0s 0s 1s]",
		"Preempt Pod feasible 1 false [1s 1s 1s 1s]",
	}, told)
	require.Equal(t, "search", preemption.PhaseSearch.String())
	require.Equal(t, "Phase(9)", preemption.Phase(9).String())
}

// TestAnObserverChangesNoAnswer, nor closes a road to one.
func TestAnObserverChangesNoAnswer(t *testing.T) {
	for seed := range seeds(300) {
		o, q := seededOptions(seed), gen.Random(seed, gen.Everything())
		want, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || o.Hooks != nil {
			continue
		}
		w := &watcher{}
		o.Hooks = &preemption.Hooks{Observer: w}
		got, err := o.Preempt(q.Preemptor, &q.Snapshot)
		require.NoError(t, err)
		require.Empty(t, gocmp.Diff(want, got))
		require.Len(t, w.seen, 1)
		require.Equal(t, want.Verdict, w.seen[0].Verdict)
	}
}

// A question that would take longer than anybody waits.
func ExamplePlanner_PreemptContext() {
	planner := shop(task("batch", "n1", 0, 4), task("cron", "n2", 0, 4), task("web", "", 10, 2))
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	answer, err := planner.PreemptContext(ctx, askAbout("web"))
	must(err)
	fmt.Println(answer.Message)

	stop()
	_, err = planner.PreemptContext(ctx, askAbout("web"))
	fmt.Println(err, errors.Is(err, context.Canceled))
	// Output:
	// fits on n1 once 1 pod is evicted
	// preemption: the question was stopped: context canceled true
}

// logged writes a line for each question.
type logged struct{ *slog.Logger }

func (logged) Now() time.Time { return time.Now() }

func (l logged) Answered(o preemption.Observation) {
	took := time.Duration(0)
	for _, d := range o.Phases {
		took += d
	}
	if o.Err != nil {
		l.Warn(o.Call, "kind", o.Kind, "took", took, "err", o.Err)
		return
	}
	l.Info(o.Call, "kind", o.Kind, "took", took, "verdict", o.Verdict, "victims", o.Victims)
}

// Every question in the log.
func ExampleObserver() {
	forget := func(_ []string, a slog.Attr) slog.Attr { // what differs from run to run
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: forget}))
	snapshot := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("web", "", 10, 2)).Snapshot()
	planner, err := preemption.NewPlanner(snapshot, preemption.Options{Hooks: &preemption.Hooks{Observer: logged{logger}}})
	must(err)
	_, err = planner.Preempt(askAbout("web"))
	must(err)
	_, err = planner.Decide(askAbout("nobody"))
	fmt.Println(err != nil)
	// Output:
	// level=INFO msg=Preempt kind=Pod verdict=feasible victims=1
	// level=WARN msg=Decide kind=Pod err="cluster: Preemptor \"nobody\": Name: \"nobody\" is not a pod of the snapshot"
	// true
}

// metrics counts as kube-scheduler's metrics of the same names do.
type metrics struct {
	now      func() time.Time // time.Now
	mu       sync.Mutex
	attempts int
	victims  []int // of each answer that evicts somebody
	spent    map[string]time.Duration
	counts   map[string]int
}

func (m *metrics) Now() time.Time { return m.now() }

func (m *metrics) Answered(o preemption.Observation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o.Err != nil || o.Verdict == "" || o.Verdict == preemption.Fits {
		return
	}
	m.attempts++
	if o.Verdict == preemption.Feasible {
		m.victims = append(m.victims, o.Victims)
	}
	for point, d := range map[string]time.Duration{
		"PreFilter": o.Phases[preemption.PhasePrepare], "PostFilter": o.Phases[preemption.PhaseSearch] + o.Phases[preemption.PhaseTell],
	} {
		m.spent[point] += d
		m.counts[point]++
	}
}

// text is what Prometheus reads.
func (m *metrics) text() {
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Println("# TYPE scheduler_preemption_attempts_total counter")
	fmt.Println("scheduler_preemption_attempts_total", m.attempts)
	fmt.Println("# TYPE scheduler_preemption_victims histogram")
	sum := 0
	for _, n := range m.victims {
		sum += n
	}
	for _, most := range []int{1, 2, 4, 8, 16, 32, 64} {
		within := len(slices.DeleteFunc(slices.Clone(m.victims), func(n int) bool { return n > most }))
		fmt.Printf("scheduler_preemption_victims_bucket{le=\"%d\"} %d\n", most, within)
	}
	fmt.Printf("scheduler_preemption_victims_bucket{le=\"+Inf\"} %d\n", len(m.victims))
	fmt.Println("scheduler_preemption_victims_sum", sum)
	fmt.Println("scheduler_preemption_victims_count", len(m.victims))
	fmt.Println("# TYPE scheduler_framework_extension_point_duration_seconds summary")
	for _, point := range slices.Sorted(maps.Keys(m.counts)) {
		fmt.Printf("scheduler_framework_extension_point_duration_seconds_sum{extension_point=%q} %g\n", point, m.spent[point].Seconds())
		fmt.Printf("scheduler_framework_extension_point_duration_seconds_count{extension_point=%q} %d\n", point, m.counts[point])
	}
}

// Upstream's metrics, as text for Prometheus.
func ExampleObserver_prometheus() {
	clock := time.Time{} // so that the output is always the same
	ticks := func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	m := &metrics{now: ticks, spent: map[string]time.Duration{}, counts: map[string]int{}}
	snapshot := shop(task("batch-1", "n1", 0, 2), task("batch-2", "n1", 0, 2), task("db", "n2", 50, 4), task("web", "", 10, 3)).Snapshot()
	planner, err := preemption.NewPlanner(snapshot, preemption.Options{Hooks: &preemption.Hooks{Observer: m}})
	must(err)
	for range 3 {
		_, err = planner.Preempt(askAbout("web"))
		must(err)
	}
	m.text()
	// Output:
	// # TYPE scheduler_preemption_attempts_total counter
	// scheduler_preemption_attempts_total 3
	// # TYPE scheduler_preemption_victims histogram
	// scheduler_preemption_victims_bucket{le="1"} 0
	// scheduler_preemption_victims_bucket{le="2"} 3
	// scheduler_preemption_victims_bucket{le="4"} 3
	// scheduler_preemption_victims_bucket{le="8"} 3
	// scheduler_preemption_victims_bucket{le="16"} 3
	// scheduler_preemption_victims_bucket{le="32"} 3
	// scheduler_preemption_victims_bucket{le="64"} 3
	// scheduler_preemption_victims_bucket{le="+Inf"} 3
	// scheduler_preemption_victims_sum 6
	// scheduler_preemption_victims_count 3
	// # TYPE scheduler_framework_extension_point_duration_seconds summary
	// scheduler_framework_extension_point_duration_seconds_sum{extension_point="PostFilter"} 0.006
	// scheduler_framework_extension_point_duration_seconds_count{extension_point="PostFilter"} 3
	// scheduler_framework_extension_point_duration_seconds_sum{extension_point="PreFilter"} 0.003
	// scheduler_framework_extension_point_duration_seconds_count{extension_point="PreFilter"} 3
}

// TestEqualsOfAPodThatRanAreItsOwn: a pod that ran before is not decided about as one of its
// shape that did not.
func TestEqualsOfAPodThatRanAreItsOwn(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	cpu := preemption.Resources{cluster.CPU: 1000}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  now,
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu}},
		Pods:  []preemption.Pod{{Namespace: "default", Name: "runs", Node: "n1", Requests: cpu, Started: now.Add(-2 * time.Minute)}},
	}, preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}})
	require.NoError(t, err)
	never := preemption.Pod{Namespace: "default", Name: "asks", Requests: cpu}
	before := never
	before.RanSeconds = 3600
	for range 2 {
		require.Equal(t, preemption.Feasible, decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{never}}).Verdict)
		require.Equal(t, preemption.Infeasible, decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{before}}).Verdict)
	}
}

// TestAPodThatIsRefusedIsNotDecidedAtOnce: what a shape does not say of a pod given inline may
// be an error.
func TestAPodThatIsRefusedIsNotDecidedAtOnce(t *testing.T) {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes:           []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1000}}},
		PriorityClasses: []preemption.PriorityClass{{Name: "high", Value: 1}},
	}, preemption.Options{Rules: preemption.KEP5710Alpha, Strict: true})
	require.NoError(t, err)
	prio, lower := int32(1000), int32(0)
	pod := preemption.Pod{Namespace: "default", Name: "asks", Priority: &prio}
	decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{pod}})
	contradicted := pod
	contradicted.Class = "high"
	_, err = pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{contradicted}})
	require.Error(t, err)
	pod.PreemptionPriority = &lower
	_, err = pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{pod}})
	require.Error(t, err)
}

// decidesAlike: a decision is its result in short, whatever was asked before.
func decidesAlike(t fatal, pl *preemption.Planner, p preemption.Preemptor, rules ...preemption.Rules) preemption.Decision {
	r, err := pl.Preempt(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := preemption.Decision{Verdict: r.Verdict, Domain: r.Domain, Violations: r.Violations, Needs: neededBeside(pl.Snapshot(), p, slices.Contains(rules, preemption.Kubernetes136))}
	warned := 0
	for _, w := range r.Warnings {
		if n, more, _ := strings.Cut(strings.TrimPrefix(w.Text, "the group needs "), " more pod"); strings.Contains(more, " beside it: ask for ") {
			warned, _ = strconv.Atoi(n)
		}
	}
	if warned != want.Needs {
		t.Fatalf("its group needs %d more pods: %v", want.Needs, r.Warnings)
	}
	for i, v := range r.Victims {
		want.Pods += len(v.Pods)
		if i == 0 {
			want.Highest = v.Pods[0].Priority
		}
	}
	for i := range 3 { // the first time, with what the first left, at once
		have, err := pl.Decide(p)
		if err != nil || have != want {
			t.Fatalf("Decide %d: %+v, %v, want %+v", i, have, err, want)
		}
	}
	return want
}

// neededBeside counts, for a pod that is asked about by itself, how many more of its group
// have to run, and of other groups for those above to run; the old rules know none above.
func neededBeside(s *preemption.Snapshot, p preemption.Preemptor, old bool) int {
	var pod preemption.Pod
	switch {
	case p.Group != nil || p.Name != "" && p.Kind != preemption.KindPod:
		return 0
	case p.Name == "":
		pod = p.Pods[0]
	default:
		pod = s.Pods[slices.IndexFunc(s.Pods, func(x preemption.Pod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })]
	}
	at := slices.IndexFunc(s.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == pod.Namespace && g.Name == pod.Group })
	if at < 0 {
		return 0
	}
	needs := max(missingPods(s, s.PodGroups[at])-1, 0)
	child, parent := "PodGroup "+pod.Group, s.PodGroups[at].Parent
	for range s.CompositePodGroups { // each once: a cycle has no groups above
		i := slices.IndexFunc(s.CompositePodGroups, func(c cluster.CompositePodGroup) bool { return c.Namespace == pod.Namespace && c.Name == parent })
		if old || i < 0 {
			break
		}
		needs += missingGroups(s, s.CompositePodGroups[i], child)
		child, parent = "CompositePodGroup "+parent, s.CompositePodGroups[i].Parent
	}
	return needs
}

func missingPods(s *preemption.Snapshot, g preemption.PodGroup) int {
	missing := 1
	if g.MinCount != nil {
		missing = int(*g.MinCount)
	}
	for _, x := range s.Pods {
		if x.Namespace == g.Namespace && x.Group == g.Name && x.Node != "" {
			missing--
		}
	}
	return max(missing, 0)
}

// missingGroups is how many pods c misses in its child groups but for one, which will run.
func missingGroups(s *preemption.Snapshot, c cluster.CompositePodGroup, one string) (sum int) {
	var missing []int
	runs := 0
	add := func(name string, n func() int) {
		if name == one {
			runs = 1
		} else {
			missing = append(missing, n())
		}
	}
	for _, g := range s.PodGroups {
		if g.Namespace == c.Namespace && g.Parent == c.Name {
			add("PodGroup "+g.Name, func() int { return missingPods(s, g) })
		}
	}
	for _, g := range s.CompositePodGroups {
		if g.Namespace == c.Namespace && g.Parent == c.Name {
			add("CompositePodGroup "+g.Name, func() int { return missingGroups(s, g, "") })
		}
	}
	slices.Sort(missing)
	most := len(missing)
	if c.MinGroupCount != nil {
		most = min(most, max(int(*c.MinGroupCount)-runs, 0))
	}
	for _, n := range missing[:most] {
		sum += n
	}
	return sum
}

func TestDecideIsTheResultInShort(t *testing.T) {
	t.Parallel()
	verdicts := map[preemption.Verdict]int{}
	for seed := range uint64(60) {
		q := gen.Crowd(seed)
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Feasible], 10)
	require.Greater(t, verdicts[preemption.Infeasible], 2)
	require.Greater(t, verdicts[preemption.Fits], 2)
	for seed := range uint64(300) {
		q := gen.Random(seed, gen.Everything())
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{Rules: preemption.Kubernetes136})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor, preemption.Kubernetes136).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Waiting]+verdicts[preemption.NotEligible], 2)
}

// TestDecideSaysWhatThePodOfAGangNeeds: of each pending pod of gangs, as its result does.
func TestDecideSaysWhatThePodOfAGangNeeds(t *testing.T) {
	needs := map[preemption.Verdict]int{}
	for seed := range uint64(200) { // with -short too: fewer meet too few
		q := gen.RandomGang(seed, gen.EverythingForGangs())
		o := preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		for _, p := range q.Snapshot.Pods {
			if p.Node == "" && p.Group != "" {
				if d := decidesAlike(&named{t, seed}, pl, preemption.Preemptor{Kind: preemption.KindPod, Namespace: p.Namespace, Name: p.Name}, o.Rules); d.Needs > 0 {
					needs[d.Verdict]++
				}
			}
		}
	}
	for _, v := range []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.NotEligible} {
		require.Greater(t, needs[v], 10, v)
	}
}

// TestDecideCountsVictimsThatAreFree: who costs nothing is in no score, and goes all the same.
func TestDecideCountsVictimsThatAreFree(t *testing.T) {
	free := 0
	for seed := range seeds(300) {
		o := preemption.Options{BrokenGroupsFree: true}
		gang := sound(o, gen.RandomGang(seed, gen.EverythingForGangs()))
		if !asksSomething(gang) || len(gang.Snapshot.Nodes) == 0 {
			continue
		}
		requests := maps.Clone(gang.Snapshot.Nodes[0].Allocatable)
		delete(requests, cluster.Pods)
		pod := preemption.Preemptor{Pods: []preemption.Pod{{Name: "large", Priority: prio(1000), Requests: requests}}}
		for _, p := range []preemption.Preemptor{gang.Preemptor, pod} {
			pl, err := preemption.NewPlanner(&gang.Snapshot, o)
			require.NoError(t, err)
			d := decidesAlike(&named{t, seed}, pl, p)
			if r := ask(&named{t, seed}, o, gen.Question{Snapshot: gang.Snapshot, Preemptor: p}); d.Pods > 0 && r.Score[3].Value < int64(d.Pods) {
				free++
			}
		}
	}
	require.Positive(t, free)
}

// TestDecideComplainsAsPreemptDoes: about a pod of a shape that is known.
func TestDecideComplainsAsPreemptDoes(t *testing.T) {
	snap, p := gen.Fleet(20, 10, 1, gen.Uniform), gen.FleetPod(1)
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	decidesAlike(t, pl, p)
	for name, spoil := range map[string]func(pod *preemption.Pod){
		"no name":         func(pod *preemption.Pod) { pod.Name = "" },
		"below zero":      func(pod *preemption.Pod) { pod.Requests = preemption.Resources{cluster.CPU: -1} },
		"counts as pods":  func(pod *preemption.Pod) { pod.Requests = preemption.Resources{cluster.Pods: 1} },
		"no resource":     func(pod *preemption.Pod) { pod.Requests = preemption.Resources{"": 1} },
		"policy":          func(pod *preemption.Pod) { pod.Policy = "Sometimes" },
		"toleration":      func(pod *preemption.Pod) { pod.Tolerations = []cluster.Toleration{{Operator: "Maybe"}} },
		"port":            func(pod *preemption.Pod) { pod.Ports = []cluster.HostPort{{Port: -1}} },
		"token":           func(pod *preemption.Pod) { pod.Tokens = []string{""} },
		"device":          func(pod *preemption.Pod) { pod.Devices = []cluster.DeviceRequest{{}} },
		"ran before":      func(pod *preemption.Pod) { pod.RanSeconds = -1 },
		"no such class":   func(pod *preemption.Pod) { pod.Class = "none" },
		"it runs already": func(pod *preemption.Pod) { pod.Namespace, pod.Name = snap.Pods[0].Namespace, snap.Pods[0].Name },
	} {
		bad := p.Pods[0]
		spoil(&bad)
		q := preemption.Preemptor{Pods: []preemption.Pod{bad}}
		_, want := pl.Preempt(q)
		_, err := pl.Decide(q)
		require.Error(t, want, name)
		require.Equal(t, want, err, name)
	}
}
