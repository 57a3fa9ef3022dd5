package reprieve_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Everybody leaves, then who can come back does: the most important first. The pod
// that wants in needs the room of two.
func Example() {
	pod := func(name string, priority int32) cluster.Pod {
		return cluster.Pod{Name: name, Node: "n1", Priority: &priority, Requests: cluster.Resources{cluster.CPU: 1000}}
	}
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 3000}}},
		Pods:  []cluster.Pod{pod("minor", 1), pod("major", 30), pod("middle", 20)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	web := &cluster.Pod{Name: "web", Requests: cluster.Resources{cluster.CPU: 2000}}
	trial := domain.NewNodeTrial(ix, domain.NewMember(ix, web, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod})
	n1 := ix.NodeByName("n1")
	trial.Reset(n1)

	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	out, _ := runner.Run(trial, units.Potential(n1, 1000))
	for _, u := range out.Victims {
		fmt.Println(ix.Pod(units.Unit(u).Pods[0]).Name, "goes")
	}
	// Output:
	// middle goes
	// minor goes
}

func TestMain(m *testing.M) { gen.Tests(m) }

// ground is one node of a random cluster with all its units out, and a preemptor
// that fits there then.
type ground struct {
	ix      *cluster.Index
	units   *victims.Units
	budgets *victims.Budgets
	runner  *reprieve.Runner
	trial   *domain.NodeTrial
	order   []victims.UnitID // in which they would be given back
	choice  reprieve.Choice
}

// grounds calls yield with nodes of random clusters that have at most ten units,
// under random caps and, every other time, prices.
func grounds(t *testing.T, seeds uint64, yield func(seed uint64, g *ground)) {
	t.Helper()
	for seed := range seeds {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 24, Budgets: true, Groups: true})
		ix, err := cluster.NewIndex(&q.Snapshot)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 1))
		g := &ground{ix: ix, units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), budgets: victims.NewBudgets(ix, disruption.Rule137)}
		g.runner = reprieve.NewRunner(g.units, g.budgets)
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 500 * (1 + r.Int64N(8)), cluster.Memory: 1 << 30 * r.Int64N(4)}}
		g.trial = domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: math.MaxInt32})
		for n := range cluster.NodeID(ix.NumNodes()) {
			g.order = slices.Clone(g.units.Potential(n, 1000))
			if len(g.order) == 0 || len(g.order) > 10 {
				continue
			}
			g.trial.Reset(n)
			for _, u := range g.order {
				g.runner.Remove(g.trial, u)
			}
			if !g.trial.Fits().OK() {
				continue
			}
			g.choose(r)
			yield(seed, g)
		}
	}
}

// choose draws caps and prices.
func (g *ground) choose(r *rand.Rand) {
	g.choice = reprieve.Choice{Monotone: true, Steps: math.MaxInt}
	for b := range cluster.BudgetID(g.ix.NumBudgets()) {
		if r.IntN(3) > 0 {
			g.choice.Caps = append(g.choice.Caps, reprieve.Cap{
				Room:   int64(max(0, g.ix.Budget(b).Allowed)),
				Weight: func(u victims.UnitID) int64 { return g.charges(u, b) },
			})
		}
	}
	if r.IntN(3) == 0 {
		g.choice.Caps = append(g.choice.Caps, reprieve.Cap{Room: int64(r.IntN(4)), Weight: func(victims.UnitID) int64 { return 1 }})
	}
	if r.IntN(2) == 0 {
		prices, unit := make([]int64, g.units.Len()), int64(1+9*r.IntN(2)) // of which all are multiples
		for u := range prices {
			prices[u] = unit * int64(r.IntN(5))
			if r.IntN(20) == 0 {
				prices[u] = math.MaxInt64
			}
		}
		g.choice.Price = func(u victims.UnitID) int64 { return prices[u] }
	}
	if r.IntN(2) == 0 {
		g.choice.Instead = g.instead
	}
}

func (g *ground) charges(u victims.UnitID, b cluster.BudgetID) int64 {
	sum := int64(0)
	for _, p := range g.units.Unit(u).Pods {
		if slices.Contains(g.budgets.Of(p), b) {
			sum++
		}
	}
	return sum
}

// instead compares units of one pod each, which hold no ports and nothing else that
// matters to the preemptor.
func (g *ground) instead(a, b victims.UnitID) bool {
	x, y := g.units.Unit(a), g.units.Unit(b)
	if len(x.Pods) > 1 || len(y.Pods) > 1 {
		return false
	}
	for r, v := range g.ix.Request(x.Pods[0]) {
		if g.ix.Request(y.Pods[0])[r] < v {
			return false
		}
	}
	return true
}

// bruteForce looks at every set: the cheapest of those that will do, and among
// these the one that keeps the first unit in which they differ.
func (g *ground) bruteForce() (best []victims.UnitID, found bool) {
	bestPrice := int64(0)
	for set := range 1 << len(g.order) { // bit i: the i-th from the end is out; so smaller numbers keep earlier units
		var out []victims.UnitID
		price := int64(0)
		for i, u := range g.order {
			if set>>(len(g.order)-1-i)&1 == 1 {
				out = append(out, u)
				if g.choice.Price != nil {
					price = checked.Add(price, g.choice.Price(u))
				}
			}
		}
		for _, c := range g.choice.Caps {
			price = checked.Add(price, c.Fine*max(g.sum(out, c)-c.Room, 0))
		}
		if found && price >= bestPrice || !g.within(out) || !g.fitsWithout(out) {
			continue
		}
		best, bestPrice, found = out, price, true
	}
	return best, found
}

func (g *ground) within(out []victims.UnitID) bool {
	return !slices.ContainsFunc(g.choice.Caps, func(c reprieve.Cap) bool { return c.Fine == 0 && g.sum(out, c) > c.Room })
}

// sum is what those who are out add to a cap.
func (g *ground) sum(out []victims.UnitID, c reprieve.Cap) (sum int64) {
	for _, u := range out {
		sum += c.Weight(u)
	}
	return sum
}

func (g *ground) fitsWithout(out []victims.UnitID) bool {
	g.put(out, g.runner.Return)
	defer g.put(out, g.runner.Remove)
	return g.trial.Fits().OK()
}

// put moves everybody who is not in out.
func (g *ground) put(out []victims.UnitID, do func(domain.Trial, victims.UnitID)) {
	for _, u := range g.order {
		if !slices.Contains(out, u) {
			do(g.trial, u)
		}
	}
}

func TestChooseIsBruteForce(t *testing.T) {
	numFound, numRefuted, priced := 0, 0, 0
	grounds(t, 6000, func(seed uint64, g *ground) {
		for i := range g.choice.Caps {
			g.choice.Caps[i].Fine = max(0, int64(seed)%8+int64(i)-5)
		}
		want, found := g.bruteForce()
		got, proof := g.runner.Choose(g.trial, g.choice, g.order, math.MaxInt64)
		require.Equal(t, want, got, "seed %d", seed)
		if !found {
			require.Equal(t, reprieve.Refuted, proof, "seed %d", seed)
			numRefuted++
			return
		}
		require.Equal(t, reprieve.Found, proof, "seed %d", seed)
		require.True(t, g.trial.Fits().OK(), "seed %d: the others are back, and it fits", seed)
		g.put(got, g.runner.Remove)
		numFound++
		if g.choice.Price != nil {
			priced++
		}
	})
	require.Greater(t, numFound, 1000)
	require.Greater(t, numRefuted, 500)
	require.Greater(t, priced, 500)
}

// Without caps and prices the wanted set is what giving back comes to.
func TestChooseComesToGivingBack(t *testing.T) {
	asked := 0
	grounds(t, 2000, func(seed uint64, g *ground) {
		g.choice = reprieve.Choice{Monotone: true, Steps: math.MaxInt}
		want := slices.Clone(g.runner.GiveBack(g.trial, nil, g.order).Victims)
		g.put(want, g.runner.Remove)
		got, proof := g.runner.Choose(g.trial, g.choice, g.order, math.MaxInt64)
		require.Equal(t, reprieve.Found, proof)
		require.ElementsMatch(t, want, got, "seed %d", seed)
		g.put(got, g.runner.Remove)
		asked++
	})
	require.Greater(t, asked, 500)
}

var long = flag.Int("long", 0, "above 0: try several times as many clusters")

// A search that runs out of steps says so; what it found until then will do.
func TestChooseGivesUp(t *testing.T) {
	gaveUp, some, part := 0, 0, 5
	if *long > 0 {
		part = 1
	}
	grounds(t, uint64(20_000/part), func(seed uint64, g *ground) {
		g.choice.Steps = int(seed % 3)
		got, proof := g.runner.Choose(g.trial, g.choice, g.order, math.MaxInt64)
		switch proof {
		case reprieve.Exhausted:
			require.Nil(t, got)
			gaveUp++
		case reprieve.FoundSome:
			require.True(t, g.within(got))
			some++
		case reprieve.Refuted:
			_, found := g.bruteForce()
			require.False(t, found, "seed %d", seed)
		}
		if got != nil || proof == reprieve.Found {
			require.True(t, g.trial.Fits().OK())
			g.put(got, g.runner.Remove)
		}
	})
	require.Greater(t, gaveUp, 50/part)
	require.Greater(t, some, 10/part)
}

// counted is a trial that counts what it is asked to do.
type counted struct {
	*domain.NodeTrial
	done int
}

func (c *counted) Remove(p cluster.PodID) { c.done++; c.NodeTrial.Remove(p) }
func (c *counted) Return(p cluster.PodID) { c.done++; c.NodeTrial.Return(p) }
func (c *counted) Fits() domain.Reason    { c.done++; return c.NodeTrial.Fits() }

// What is done for a step is bounded, however many units there are and however often
// some get stuck.
func TestChooseDoesNoMoreThanItsSteps(t *testing.T) {
	const pods = 300
	r := rand.New(rand.NewPCG(1, 2))
	s := cluster.Snapshot{Nodes: []cluster.Node{{Name: "n"}}}
	sum := int64(0)
	for range pods {
		cpu := 2 * (1000 + r.Int64N(1000)) // even, and an odd amount is missing: hardly to be refuted
		sum += cpu
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", len(s.Pods)), Node: "n", Requests: cluster.Resources{cluster.CPU: cpu}})
	}
	s.Nodes[0].Allocatable = cluster.Resources{cluster.CPU: sum}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(us, victims.NewBudgets(ix, disruption.Rule137))
	asked := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: sum/4 | 1}}
	trial := &counted{NodeTrial: domain.NewNodeTrial(ix, domain.NewMember(ix, &asked, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod})}
	trial.Reset(0)
	order := slices.Clone(us.Potential(0, 1000))
	for _, u := range order {
		runner.Remove(trial, u)
	}
	column, _ := ix.Column(cluster.CPU)
	cpu := func(u victims.UnitID) int64 { return ix.Request(us.Unit(u).Pods[0])[column] }
	even := func(u victims.UnitID) int64 { return int64(us.Unit(u).Pods[0] % 2) }
	price := func(u victims.UnitID) int64 { // one is odd, or what is even would be all there is to refute
		if us.Unit(u).Pods[0] == 0 {
			return cpu(u) + 1
		}
		return cpu(u)
	}
	choice := reprieve.Choice{Monotone: true, Price: price, Caps: []reprieve.Cap{{Room: 20, Weight: even}}}
	for _, choice.Steps = range []int{10, 100, 1000, 10_000} {
		before := runner.Decided
		trial.done = 0
		list, proof := runner.Choose(trial, choice, order, math.MaxInt64)
		require.NotContains(t, []reprieve.Proof{reprieve.Found, reprieve.Refuted}, proof)
		require.LessOrEqual(t, runner.Decided-before, choice.Steps+3*pods)
		require.GreaterOrEqual(t, runner.Decided-before, choice.Steps/2)
		require.LessOrEqual(t, trial.done, 64*3*choice.Steps+3*pods)
		for _, u := range order {
			if proof == reprieve.FoundSome && !slices.Contains(list, u) {
				runner.Remove(trial, u)
			}
		}
	}
	choice.Caps, choice.Steps = slices.Repeat(choice.Caps, 440), 8000 // of which it takes 512 to begin
	before := runner.Decided
	runner.Choose(trial, choice, order, math.MaxInt64)
	require.Equal(t, 8292, runner.Decided-before)
}

// A cap of the largest int64 bounds nothing: sums saturate there.
func TestChooseWithinTheLargestCap(t *testing.T) {
	grounds(t, 200, func(seed uint64, g *ground) {
		g.choice = reprieve.Choice{Monotone: true, Steps: math.MaxInt}
		want, _ := g.bruteForce()
		g.choice.Caps = []reprieve.Cap{{Room: math.MaxInt64, Weight: func(victims.UnitID) int64 { return math.MaxInt64 }}}
		got, proof := g.runner.Choose(g.trial, g.choice, g.order, math.MaxInt64)
		require.Equal(t, reprieve.Found, proof, "seed %d", seed)
		require.Equal(t, want, got, "seed %d", seed)
		g.put(got, g.runner.Remove)
	})
}

// TestNumbersAreEnough: where what is missing, in numbers, decides, the trial is not asked.
func TestNumbersAreEnough(t *testing.T) {
	asked := 0
	grounds(t, 300, func(seed uint64, g *ground) {
		g.choice.Monotone = seed%2 == 0
		want, found := g.bruteForce()
		got, _ := g.runner.Choose(&silent{NodeTrial: g.trial, t: t}, g.choice, g.order, math.MaxInt64)
		require.Equal(t, want, got, "seed %d", seed)
		if found {
			g.put(got, g.runner.Remove)
			asked++
		}
	})
	require.Greater(t, asked, 100)
}

// silent is a trial that nobody may ask.
type silent struct {
	*domain.NodeTrial
	t *testing.T
}

func (s *silent) Fits() domain.Reason {
	require.Fail(s.t, "it is asked")
	return domain.Reason{}
}

// TestWhetherThereIsASet: who only asks whether there is one is told as who asks for the wanted one, and where steps run out nothing else.
func TestWhetherThereIsASet(t *testing.T) {
	seen := map[reprieve.Proof]int{}
	plots(t, 4000, func(seed uint64, r *rand.Rand, p *plot) {
		if len(p.within.Caps) != 1 || !p.within.Monotone {
			return
		}
		choose := func(what domain.Trial, whether bool, steps int) reprieve.Proof {
			defer p.restart()
			p.runner = reprieve.NewRunner(p.units, p.budgets)
			for _, u := range p.potential {
				p.runner.Remove(what, u)
			}
			c := p.within.Choice
			c.Whether, c.Steps = whether, steps
			list, proof := p.runner.Choose(what, c, p.potential, math.MaxInt64)
			if proof == reprieve.Found || proof == reprieve.FoundSome {
				require.True(t, p.keeps(list, p.runner.Parts()) && what.Fits().OK(), "seed %d", seed)
			}
			return proof
		}
		told := &bounded{watched: p.trial, guess: r.IntN(2) == 0}
		want := choose(struct{ domain.Trial }{p.trial}, false, math.MaxInt) // which tells nothing in numbers
		require.Equal(t, want, choose(told, true, math.MaxInt), "seed %d", seed)
		steps := r.IntN(9)
		few := choose(told, true, steps)
		require.True(t, few == want || few == reprieve.Exhausted || few == reprieve.FoundSome && want == reprieve.Found, "seed %d: %v, not %v", seed, few, want)
		if best := choose(told, false, 8*steps); few >= reprieve.Found {
			require.GreaterOrEqual(t, best, reprieve.Found, "seed %d: who asks for the wanted one, with more steps, gets any", seed)
		}
		seen[few]++
		seen[want]++
	})
	for proof := reprieve.Refuted; proof <= reprieve.Found; proof++ {
		require.Greater(t, seen[proof], 20, "%v", proof)
	}
}

// elastic is a random group of mode SurplusFirst, or a tree of groups under one,
// beside a preemptor on node n0.
func elastic(r *rand.Rand) cluster.Snapshot {
	s := cluster.Snapshot{Nodes: []cluster.Node{
		{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 8, cluster.Memory: 8}},
		{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 100, cluster.Memory: 100}},
	}}
	groups := 1
	if r.IntN(2) == 0 {
		groups = 2 + r.IntN(2)
		job := cluster.CompositePodGroup{Name: "job", Mode: disruption.SurplusFirst}
		if r.IntN(3) > 0 {
			least := int32(1 + r.IntN(groups))
			job.MinGroupCount = &least
		}
		s.CompositePodGroups = append(s.CompositePodGroups, job)
	}
	for g := range groups {
		size := 1 + r.IntN(9/groups)
		least := int32(1 + r.IntN(size+1))
		group := cluster.PodGroup{Name: fmt.Sprintf("g%d", g), Mode: disruption.SurplusFirst, MinCount: &least}
		if groups > 1 {
			group.Parent = "job"
			group.Mode = []disruption.Mode{disruption.SurplusFirst, disruption.All, disruption.Single}[r.IntN(3)]
		}
		if r.IntN(2) == 0 {
			group.Leader = fmt.Sprintf("p%d-%d", g, r.IntN(size))
		}
		s.PodGroups = append(s.PodGroups, group)
		for i := range size {
			priority := int32(r.IntN(2))
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprintf("p%d-%d", g, i), UID: fmt.Sprint(r.IntN(3)), Group: group.Name, Priority: &priority,
				Node: []string{"n0", "n0", "n1"}[r.IntN(3)], Terminating: r.IntN(12) == 0,
				Requests: cluster.Resources{cluster.CPU: int64(1 + r.IntN(2)), cluster.Memory: int64(r.IntN(3))},
			})
		}
	}
	return s
}

// useful says whether what stays of the groups is of use, in the words of the rules.
func useful(s *cluster.Snapshot, stays func(string) bool) bool {
	alive, gone, whole, anybody := 0, 0, true, false
	for _, g := range s.PodGroups {
		running, staying, leaderStays := 0, 0, true
		for _, p := range s.Pods {
			if p.Group != g.Name || p.Terminating {
				continue
			}
			running++
			if stays(p.Name) {
				staying++
			} else if p.Name == g.Leader {
				leaderStays = false
			}
		}
		switch {
		case running == 0:
			gone++
		case staying == running:
			alive++
		case staying == 0:
			whole = false
		case g.Mode == disruption.All || !leaderStays || staying < int(*g.MinCount):
			return false
		default:
			alive++
			whole = false
		}
		anybody = anybody || staying > 0
	}
	if !anybody || whole || len(s.CompositePodGroups) == 0 {
		return anybody
	}
	if m := s.CompositePodGroups[0].MinGroupCount; m != nil {
		return alive >= int(*m)
	}
	return alive == len(s.PodGroups)-gone
}

// TestMembersElsewhereReturnAtOnce: of a large group the search is about those who
// are in the way.
func TestMembersElsewhereReturnAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	least := int32(400)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 1000}}, {Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 1_000_000}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least}},
	}
	free := int64(1000)
	for i := range 500 {
		pod := cluster.Pod{Name: fmt.Sprint(i), Group: "g", Node: "n1", Requests: cluster.Resources{cluster.CPU: int64(1 + i)}}
		if i%30 == 0 {
			pod.Node, pod.Requests[cluster.CPU] = "n0", int64(20+r.IntN(60))
			free -= pod.Requests[cluster.CPU]
		}
		s.Pods = append(s.Pods, pod)
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	for need := free + 1; need <= free+120; need += 7 {
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: need}}
		trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
		trial.Reset(0)
		_, why := runner.Run(trial, []victims.UnitID{0})
		require.True(t, why.OK())
		var requests []int64
		for _, p := range ix.PodsOn(0) {
			requests = append(requests, ix.Pod(p).Requests[cluster.CPU])
		}
		slices.Sort(requests)
		slices.Reverse(requests)
		want, sum := 0, int64(0)
		for sum < need-free {
			sum += requests[want]
			want++
		}
		require.Len(t, runner.Parts().Of(units, 0), want, "room for %d more", need-free)
	}
}

// Members elsewhere, of groups beneath another one, stay together or go with all of their group: no step is taken for each of them.
func TestMembersElsewhereOfNestedGroupsStayTogether(t *testing.T) {
	s := cluster.Snapshot{
		Nodes:              []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 4}}, {Name: "n1"}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "job", Mode: disruption.SurplusFirst}},
		PodGroups:          []cluster.PodGroup{{Name: "a", Parent: "job"}, {Name: "b", Parent: "job"}},
	}
	for i := range 600 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Group: "ab"[i%2 : i%2+1], Node: fmt.Sprint("n", min(i/4, 1)), Requests: cluster.Resources{cluster.CPU: 1}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 3}}
	trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
	trial.Reset(0)
	runner.Steps = 40
	_, why := runner.Run(trial, []victims.UnitID{0})
	require.True(t, why.OK())
	require.Len(t, runner.Parts().Of(units, 0), 3)
	require.False(t, runner.Cut)
}

// TestSharedStepsAreUsedAsTheyAreTaken: what the first search leaves is enough for the second, which finds whom the first one in order keeps out.
func TestSharedStepsAreUsedAsTheyAreTaken(t *testing.T) {
	s := read(t, "nodes n1\ngroup g mode=SurplusFirst min=1 prio=5 g0@n1 g1@n1 cpu=1 g2@n1 cpu=2\ngroup h mode=SurplusFirst min=1 prio=4 h0@n1 h1@n1 cpu=1 h2@n1 cpu=2\npreempt web")
	s.runner.Steps = 20
	s.runner.Share(16)
	out, why := s.runner.Run(newWorld(s.ix, func(here func(...string) bool) bool {
		return !here("g0", "g1") && !here("g0", "g2") && !here("g2", "g1", "g0") && !here("h0", "h1") && !here("h0", "h2")
	}), s.potential(100))
	require.True(t, why.OK())
	require.Equal(t, "g0 h0; violations 0", s.outcome(out))
}

// TestTheRestOfAGroupElsewhereStaysOut: where one of group a has no room on n0, and a does not go on without him.
func TestTheRestOfAGroupElsewhereStaysOut(t *testing.T) {
	one, all := int32(1), int32(3)
	s := cluster.Snapshot{
		Nodes:              []cluster.Node{{Name: "n0"}, {Name: "n1"}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "job", Mode: disruption.SurplusFirst, MinGroupCount: &one}},
		PodGroups:          []cluster.PodGroup{{Name: "a", Parent: "job", MinCount: &all}, {Name: "b", Parent: "job"}},
	}
	for i, node := range []string{"n0", "n1", "n1", "n1", "n1"} {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Group: "ab"[i/3 : i/3+1], Node: node})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	runner := reprieve.NewRunner(victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137))
	trial := local{newWorld(ix, func(here func(...string) bool) bool { return !here("0") })}
	_, why := runner.Run(trial, []victims.UnitID{0})
	require.True(t, why.OK())
	require.Equal(t, map[string]bool{"0": false, "1": false, "2": false, "3": true, "4": true}, trial.here)
}

// local is a world in which those on the first node matter.
type local struct{ *world }

func (l local) Matters(p cluster.PodID) bool { return l.ix.NodeOf(p) == 0 }

// TestTheLargestSetOfMembersReturns: of an elastic group that cannot return whole,
// brute force over all sets of members finds no larger one that goes on, and of the
// largest the one that keeps the member that goes later. Where steps run out before it is found, that is told.
func TestTheLargestSetOfMembersReturns(t *testing.T) {
	part, whole, none, cut := 0, 0, 0, 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := elastic(r)
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
		require.Equal(t, 1, units.Len(), "seed %d", seed)
		runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: int64(2 + r.IntN(7)), cluster.Memory: int64(r.IntN(9))}}
		trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
		trial.Reset(0)
		members := units.Members(0)
		var want []cluster.PodID // who returns
		for set := range 1 << len(members) {
			var back []cluster.PodID
			for i, p := range members {
				if set>>(len(members)-1-i)&1 == 0 { // smaller numbers keep those that go later
					back = append(back, p)
				}
			}
			if len(back) <= len(want) || len(back) < len(members) && !useful(&s, func(name string) bool { return slices.Contains(back, ix.PodByName("", name)) }) {
				continue
			}
			if fitsBeside(trial, members, back) {
				want = back
			}
		}
		returns := func(runner *reprieve.Runner) (got []cluster.PodID) {
			trial.Reset(0)
			out, why := runner.Run(trial, []victims.UnitID{0})
			require.True(t, why.OK(), "seed %d: alone it fits", seed)
			for _, p := range members {
				if len(out.Victims) == 0 || !slices.Contains(runner.Parts().Of(units, 0), p) {
					got = append(got, p)
				}
			}
			return got
		}
		got := returns(runner)
		require.Equal(t, want, got, "seed %d", seed)
		require.False(t, runner.Cut, "seed %d", seed)
		near := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		near.Here = func(u victims.UnitID) (here []cluster.PodID) {
			for _, p := range units.Unit(u).Pods {
				if ix.NodeOf(p) == 0 {
					here = append(here, p)
				}
			}
			return here
		}
		require.Equal(t, want, returns(near), "seed %d", seed)
		hasty := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		hasty.Steps = 1
		if !slices.Equal(returns(hasty), want) {
			require.True(t, hasty.Cut, "seed %d", seed)
			cut++
		}
		switch len(got) {
		case 0:
			none++
		case len(members):
			whole++
		default:
			part++
		}
	}
	for _, n := range []int{part, whole, none} {
		require.Greater(t, n, 300)
	}
	require.Greater(t, cut, 30)
}

// fitsBeside reports whether the preemptor fits with only back of the members in
// place.
func fitsBeside(t *domain.NodeTrial, members, back []cluster.PodID) bool {
	for _, p := range members {
		if !slices.Contains(back, p) {
			t.Remove(p)
		}
	}
	ok := t.Fits().OK()
	for _, p := range members {
		if !slices.Contains(back, p) {
			t.Return(p)
		}
	}
	return ok
}

// However few steps a search has, each member is tried once: those that fit return.
func TestMembersReturnOneByOneWithoutSteps(t *testing.T) {
	one := int32(1)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 6}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &one}},
	}
	for i := range 3 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Group: "g", Node: "n0", Requests: cluster.Resources{cluster.CPU: 2}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	runner.Steps = 1
	pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 2}}
	trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
	trial.Reset(0)
	_, why := runner.Run(trial, []victims.UnitID{0})
	require.True(t, why.OK())
	require.Len(t, runner.Parts().Of(units, 0), 1)
}

// Of members that are alike it does not matter which of them return: where none of the many sets
// of them will do, few are looked at. Any difference, and where more room may hurt or constraints
// look on, each of them counts.
func TestMembersThatAreAlikeAreTriedOnce(t *testing.T) {
	const members = 10
	for _, c := range []struct {
		name        string
		set         func(i int, p *cluster.Pod)
		doubtful    bool
		constrained bool
		leader      string
		few         bool
	}{
		{name: "all are alike", few: true},
		{name: "but for the leader", leader: "p3", few: true},
		{name: "of two nodes", set: func(i int, p *cluster.Pod) { p.Node = fmt.Sprint("n", i%2) }, few: true},
		{name: "of two sizes", set: func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] += int64(i % 2) }, few: true},
		{name: "of two ports", set: func(i int, p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: int32(80 + i%2), Protocol: "TCP"}} }, few: true},
		{name: "some go anyway", set: func(i int, p *cluster.Pod) { p.Terminating = i%2 == 0 }, few: true},
		{name: "each of another size", set: func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] += int64(i) }},
		{name: "each of another port", set: func(i int, p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: int32(80 + i)}} }},
		{name: "more room may hurt", doubtful: true},
		{name: "constraints look on", constrained: true},
	} {
		least := int32(members - 1)
		s := cluster.Snapshot{
			Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 1000}}, {Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 1000}}},
			PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least, Leader: c.leader}},
		}
		for i := range members {
			p := cluster.Pod{Name: fmt.Sprint("p", i), Group: "g", Node: "n0", Requests: cluster.Resources{cluster.CPU: 100}}
			if c.set != nil {
				c.set(i, &p)
			}
			s.Pods = append(s.Pods, p)
		}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
		runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		runner.Doubtful, runner.Constrained = c.doubtful, c.constrained
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 700}}
		trial := &counted{NodeTrial: domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})}
		trial.Reset(0)
		out, why := runner.Run(struct{ domain.Trial }{trial}, []victims.UnitID{0})
		require.True(t, why.OK())
		require.Len(t, out.Victims, 1, c.name)
		require.Empty(t, runner.Parts(), c.name)
		require.Equal(t, c.few, trial.done < 300, "%s: %d", c.name, trial.done)
	}
}

// looks is a Doubter for whom so many members are looked at.
type looks int

func (l looks) Doubt() int { return int(l) }

// TestMembersThatAreLookedAtAreSteps: where to look at all members of a gang is as much as a search may take, one set is looked at.
func TestMembersThatAreLookedAtAreSteps(t *testing.T) {
	least := int32(1)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 10}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least}},
	}
	for i := range 10 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Group: "g", Node: "n", Requests: cluster.Resources{cluster.CPU: 1}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	for members, cut := range map[looks]bool{0: false, 64 * 1000: true} {
		runner := reprieve.NewRunner(victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137))
		runner.Doubtful, runner.Steps = true, 3000
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 7}}
		trial := &counted{NodeTrial: domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})}
		trial.Reset(0)
		runner.Run(struct {
			domain.Trial
			domain.Doubter
		}{trial, members}, []victims.UnitID{0})
		require.Equal(t, cut, runner.Cut, "%d members: %d", members, trial.done)
	}
}

// TestAPartIsChargedInTheOrderOfItsUnit: whom of a unit a budget covers first decides how many of its pods violate one, so
// that the order in which a part is listed must not.
func TestAPartIsChargedInTheOrderOfItsUnit(t *testing.T) {
	least, zero := int32(1), int32(0)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 8}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least, Priority: &zero}},
	}
	for i, of := range [][]string{{"a", "b"}, {"a"}, {"b"}, nil} {
		p := cluster.Pod{Name: fmt.Sprint("p", i), Group: "g", Node: "n0", Priority: &zero, Labels: map[string]string{}, Requests: cluster.Resources{cluster.CPU: 2}}
		for _, budget := range of {
			p.Labels[budget] = "yes"
		}
		s.Pods = append(s.Pods, p)
	}
	for _, name := range []string{"a", "b"} {
		s.Budgets = append(s.Budgets, disruption.Budget{Name: name, Allowed: 1, Selector: &disruption.Selector{MatchLabels: map[string]string{name: "yes"}}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	charged := runner.Charge([]victims.UnitID{0})
	require.Len(t, charged, 1)
	part := slices.Clone(units.Unit(0).Pods[:3])
	want := runner.ViolationsOfPods(charged[0], part)
	require.Equal(t, 2, want) // one of p1 under a, one of p2 under b, after p0 under both
	for range 6 {
		part[0], part[1] = part[1], part[0]
		require.Equal(t, want, runner.ViolationsOfPods(charged[0], part), "%v", part)
		part[1], part[2] = part[2], part[1]
		require.Equal(t, want, runner.ViolationsOfPods(charged[0], part), "%v", part)
	}
}

// cheapest looks for the set that costs least, beginning with what giving back comes to if
// that is within the caps. The preemptor fits with all of potential gone, or there is none.
func cheapest(r *reprieve.Runner, trial *domain.NodeTrial, potential []victims.UnitID, w reprieve.Within, price func(victims.UnitID, []cluster.PodID) int64) reprieve.Least {
	var from reprieve.Least
	trial.Reset(trial.Node())
	if out, why := r.Run(trial, potential); !why.OK() {
		return reprieve.Least{}
	} else if w.Keeps(out.Victims) {
		from = reprieve.Least{Victims: append([]victims.UnitID{}, out.Victims...), Parts: maps.Clone(r.Parts())}
	}
	trial.Reset(trial.Node())
	aims := func([]reprieve.Charged) []reprieve.Aim { return []reprieve.Aim{{Sum: price}} }
	return r.RunLeast(trial, potential, from, w, aims, nil)
}

// The cheapest set; where none is cheaper than the greedy one, that.
func TestLeast(t *testing.T) {
	const two = "nodes n1 cpu=4\npods small1@n1 prio=1 cpu=1 small2@n1 prio=1 cpu=1 big@n1 prio=9 cpu=2\npreempt web cpu=2"
	for _, c := range []struct {
		name  string
		most  int // that may go
		steps int
		price map[string]int64 // by name of the pod
		want  string
		proof reprieve.Proof
		bound int64
	}{
		{"the cheapest", 3, 0, map[string]int64{"small1": 3, "small2": 3, "big": 5}, "big", reprieve.Found, 5},
		{"of equal prices, the greedy set", 3, 0, map[string]int64{"small1": 3, "small2": 3, "big": 6}, "small1 small2", reprieve.Found, 6},
		{"the cheapest within the bound", 1, 0, map[string]int64{"small1": 1, "small2": 1, "big": 100}, "big", reprieve.Found, 100},
		{"nobody may", 0, 100, map[string]int64{"big": 1}, "", reprieve.Refuted, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, two)
			s.runner.Observe = nil
			each := reprieve.Cap{Room: int64(c.most), Weight: func(victims.UnitID) int64 { return 1 }}
			w := reprieve.Within{Choice: reprieve.Choice{Caps: []reprieve.Cap{each}, Monotone: true, Steps: 100}, AimSteps: c.steps}
			w.Keeps = func(out []victims.UnitID) bool { return len(out) <= c.most }
			cost := func(_ victims.UnitID, pods []cluster.PodID) int64 { return c.price[s.ix.Pod(pods[0]).Name] }
			l := cheapest(s.runner, s.onNode(), slices.Clone(s.potential(100)), w, cost)
			require.Equal(t, c.want, s.spell(l.Victims))
			require.Equal(t, c.proof, l.Proof)
			if l.Victims != nil {
				require.Equal(t, []int64{c.bound}, l.Bound)
			}
		})
	}
}

// Out of steps, the set to begin with will do, and is not called the least.
func TestLeastFallsBackToTheGreedySet(t *testing.T) {
	s := read(t, "nodes n1 cpu=4\npods small1@n1 prio=1 cpu=1 small2@n1 prio=1 cpu=1 big@n1 prio=9 cpu=2\npreempt web cpu=2")
	s.runner.Observe = nil
	potential := slices.Clone(s.potential(100))
	w := reprieve.Within{Choice: reprieve.Choice{Monotone: true}}
	trial := struct{ domain.Trial }{s.onNode()} // which tells nothing in numbers: with them no step is needed
	greedy, _ := s.runner.Run(trial, potential)
	from := reprieve.Least{Victims: slices.Clone(greedy.Victims)}
	for _, u := range potential {
		if !slices.Contains(from.Victims, u) {
			s.runner.Remove(trial, u)
		}
	}
	one := func(victims.UnitID, []cluster.PodID) int64 { return 1 }
	l := s.runner.Least(trial, nil, potential, from, w, []reprieve.Aim{{Sum: one}}, nil)
	require.Equal(t, reprieve.FoundSome, l.Proof)
	require.Equal(t, "small1 small2", s.spell(l.Victims))
	require.True(t, trial.Fits().OK())
}

// Brute force over all sets of units: what is found keeps within the caps and costs least,
// nobody of it goes in vain, and it is the greedy set if that costs no more; where none is
// found, there is none.
func TestLeastIsBruteForce(t *testing.T) {
	greedy, searched, refuted := 0, 0, 0
	grounds(t, 2400, func(seed uint64, g *ground) {
		if g.choice.Price == nil {
			return
		}
		want, found := g.bruteForce()
		price := func(out []victims.UnitID) (sum int64) {
			for _, u := range out {
				sum = checked.Add(sum, g.choice.Price(u))
			}
			return sum
		}
		cost := func(u victims.UnitID, _ []cluster.PodID) int64 { return g.choice.Price(u) }
		plain := slices.Clone(g.runner.GiveBack(g.trial, nil, g.order).Victims)
		g.put(plain, g.runner.Remove)
		w := reprieve.Within{Choice: g.choice, Keeps: g.within, AimSteps: math.MaxInt}
		w.Price = nil
		var from reprieve.Least
		if g.within(plain) {
			from.Victims = append([]victims.UnitID{}, plain...)
		}
		l := g.runner.Least(g.trial, nil, g.order, from, w, []reprieve.Aim{{Sum: cost}}, nil)
		if !found {
			require.Equal(t, reprieve.Refuted, l.Proof, "seed %d", seed)
			require.Nil(t, l.Victims)
			refuted++
			return
		}
		require.Equal(t, reprieve.Found, l.Proof, "seed %d", seed)
		require.True(t, g.trial.Fits().OK(), "seed %d", seed)
		require.True(t, g.within(l.Victims), "seed %d", seed)
		require.Equal(t, price(want), price(l.Victims), "seed %d", seed)
		require.Equal(t, []int64{price(want)}, l.Bound, "seed %d", seed)
		g.put(l.Victims, g.runner.Remove)
		for i := range l.Victims {
			require.False(t, g.fitsWithout(slices.Delete(slices.Clone(l.Victims), i, i+1)), "seed %d", seed)
		}
		if g.within(plain) && price(plain) == price(want) {
			require.ElementsMatch(t, plain, l.Victims, "seed %d", seed)
			greedy++
		} else {
			searched++
		}
	})
	for _, n := range []int{greedy, searched, refuted} {
		require.Greater(t, n, 100)
	}
}

// Members of an elastic unit are decided on one by one: no set of them that goes on, or
// goes whole, is within the bound and cheaper.
func TestMembersOfTheLeastAreBruteForce(t *testing.T) {
	parts, refuted := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		snap := elastic(r)
		ix, err := cluster.NewIndex(&snap)
		require.NoError(t, err)
		units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
		runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		prices := make([]int64, ix.NumPods())
		for p := range prices {
			prices[p] = int64(r.IntN(4))
		}
		sum := func(pods []cluster.PodID) (price int64) {
			for _, p := range pods {
				price = checked.Add(price, prices[p])
			}
			return price
		}
		room, all := int64(r.IntN(7)), units.Unit(0).Pods
		w := reprieve.Within{Choice: reprieve.Choice{
			Caps: []reprieve.Cap{{
				Room: room, Weight: func(victims.UnitID) int64 { return int64(len(all)) },
				Part: func(_ victims.UnitID, pods []cluster.PodID) int64 { return int64(len(pods)) },
			}},
			Monotone: true, Steps: math.MaxInt,
		}, AimSteps: math.MaxInt}
		w.Keeps = func(out []victims.UnitID) bool {
			return len(out) == 0 || int64(len(runner.Parts().Of(units, 0))) <= room
		}
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: int64(2 + r.IntN(7)), cluster.Memory: int64(r.IntN(9))}}
		trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
		trial.Reset(0)
		least := int64(-1)
		for set := range 1 << len(all) {
			var out, back []cluster.PodID
			for i, p := range all {
				if set>>i&1 == 1 {
					out = append(out, p)
				} else {
					back = append(back, p)
				}
			}
			goesOn := len(out) == 0 || len(back) == 0 || useful(&snap, func(name string) bool { return slices.Contains(back, ix.PodByName("", name)) })
			if int64(len(out)) <= room && goesOn && fitsBeside(trial, all, back) && (least < 0 || sum(out) < least) {
				least = sum(out)
			}
		}
		l := cheapest(runner, trial, []victims.UnitID{0}, w, func(_ victims.UnitID, pods []cluster.PodID) int64 { return sum(pods) })
		if least < 0 {
			require.Equal(t, reprieve.Refuted, l.Proof, "seed %d", seed)
			refuted++
			continue
		}
		require.Equal(t, reprieve.Found, l.Proof, "seed %d", seed)
		require.True(t, trial.Fits().OK(), "seed %d", seed)
		var gone []cluster.PodID
		if len(l.Victims) > 0 {
			gone = l.Parts.Of(units, 0)
		}
		require.Equal(t, least, sum(gone), "seed %d", seed)
		require.LessOrEqual(t, int64(len(gone)), room, "seed %d", seed)
		if len(gone) > 0 && len(gone) < len(all) {
			parts++
		}
	}
	require.Greater(t, parts, 100)
	require.Greater(t, refuted, 100)
}

// KEP-5710, early text: first whoever a budget protects, then the lowest priority such
// that nobody above it goes, a new place, and then the rest.
func TestLowestLevel(t *testing.T) {
	anyOf := func(names ...string) func(func(...string) bool) bool { // it fits if one of these is gone
		return func(here func(...string) bool) bool { return !here(names...) }
	}
	for _, c := range []struct {
		name, pods    string
		rule          func(func(...string) bool) bool
		want, bounded string
	}{
		{
			"the lowest that is enough", "low@n1 prio=1 mid@n1 prio=5 high@n1 prio=9",
			anyOf("low", "mid"), "low; violations 0", "level 1",
		},
		{
			"the next lower one is not", "low@n1 prio=1 mid@n1 prio=5 high@n1 prio=9",
			anyOf("mid", "high"), "mid; violations 0", "level 5, not 1: pod affinity",
		},
		{
			"everybody of one level counts", "a@n1 prio=5 b@n1 prio=5 high@n1 prio=9",
			func(here func(...string) bool) bool { return !here("a") && !here("b") || !here("high") }, "a b; violations 0", "level 5",
		},
		{
			"budgets come first: the protected one is back, and another has to go for it", "low@n1 prio=1 labels=app=web mid@n1 prio=5",
			anyOf("low", "mid"), "mid; violations 0", "level 5",
		},
		{
			"nobody has to go", "low@n1 prio=1",
			func(func(...string) bool) bool { return true }, "; violations 0", "level 1",
		},
		{
			"a violation that cannot be helped bounds the level like any other", "low@n1 prio=1 labels=app=web high@n1 prio=9",
			func(here func(...string) bool) bool { return !here("low") }, "low; violations 1", "level 1",
		},
	} {
		for _, monotone := range []bool{true, false} {
			s := read(t, "budget p allowed=0 select=app=web\nnodes n1\npods "+c.pods+"\npreempt web")
			w := newWorld(s.ix, c.rule)
			bounded, placed := "", 0
			out, why := s.runner.RunLowest(w, reprieve.Lowest{
				Level: func(u victims.UnitID) int32 { return s.units.Unit(u).Level },
				Place: w.Fits, Monotone: monotone,
				Placed: func() { placed++ },
				Bounded: func(level, next int32, lower bool, why domain.Reason) {
					if bounded = fmt.Sprintf("level %d", level); lower {
						bounded += fmt.Sprintf(", not %d: %s", next, why.Check)
					}
				},
			}, s.potential(100))
			require.True(t, why.OK())
			require.Equal(t, c.want, s.outcome(out), c.name)
			require.Equal(t, c.bounded, bounded, c.name)
			require.Equal(t, 1, placed)
			require.True(t, w.Fits().OK())
		}
	}
}

func TestLowestLevelWithoutAPlace(t *testing.T) {
	s := read(t, "nodes n1\npods a@n1 prio=1\npreempt web")
	w := newWorld(s.ix, func(func(...string) bool) bool { return false })
	out, why := s.runner.RunLowest(w, reprieve.Lowest{Level: func(victims.UnitID) int32 { return 0 }, Place: w.Fits}, s.potential(100))
	require.Equal(t, domain.CheckAffinity, why.Check)
	require.Empty(t, out.Victims)
	require.False(t, w.here["a"])
}

// Where more room may hurt, every level is tried from the lowest up; halving would miss
// the one that is enough.
func TestLevelsAreTriedFromTheLowestUp(t *testing.T) {
	s := read(t, "nodes n1\npods a@n1 prio=1 b@n1 prio=2 c@n1 prio=3 d@n1 prio=4\npreempt web")
	rule := func(here func(...string) bool) bool { // a alone, or all
		return !here("a") && (here("b", "c", "d") || !here("b") && !here("c") && !here("d"))
	}
	for monotone, want := range map[bool]int32{false: 1, true: 40} {
		w := newWorld(s.ix, rule)
		s.runner.RunLowest(w, reprieve.Lowest{
			Level: func(u victims.UnitID) int32 { return s.units.Unit(u).Level * min(want, 10) }, Place: w.Fits, Monotone: monotone,
			Bounded: func(level, _ int32, _ bool, _ domain.Reason) { require.Equal(t, want, level) },
		}, s.potential(100))
	}
}

// Brute force: no lower level is enough, and above it nobody goes.
func TestNoLowerLevelIsEnough(t *testing.T) {
	several := 0
	grounds(t, 1500, func(seed uint64, g *ground) {
		level := func(u victims.UnitID) int32 { return g.units.Unit(u).Level }
		at := int32(0)
		lowest := func() []victims.UnitID {
			return slices.Clone(g.runner.GiveBackLowest(g.trial, reprieve.Lowest{
				Level: level, Place: g.trial.Fits, Monotone: seed%2 == 0,
				Bounded: func(found, _ int32, _ bool, _ domain.Reason) { at = found },
			}, nil, g.order).Victims)
		}
		out := lowest()
		require.True(t, g.trial.Fits().OK(), "seed %d", seed)
		for _, u := range out {
			require.LessOrEqual(t, level(u), at, "seed %d", seed)
		}
		g.put(out, g.runner.Remove)
		for u := range maps.Clone(g.runner.Parts()) {
			g.runner.Remove(g.trial, u)
		}
		require.Equal(t, out, lowest(), "seed %d", seed)
		g.put(out, g.runner.Remove)
		atMost := func(bound int32) (list []victims.UnitID) {
			for _, u := range g.order {
				if level(u) <= bound {
					list = append(list, u)
				}
			}
			return list
		}
		require.True(t, g.fitsWithout(atMost(at)), "seed %d", seed)
		lower := atMost(at - 1)
		if len(lower) > 0 {
			require.False(t, g.fitsWithout(lower), "seed %d", seed)
			several++
		}
	})
	require.Greater(t, several, 100)
}

// A bound on how many go: what the greedy way finds, and what is asked for.
func TestWithinBounds(t *testing.T) {
	const two = "nodes n1 cpu=4\npods small1@n1 prio=1 cpu=1 small2@n1 prio=1 cpu=1 big@n1 prio=9 cpu=2\npreempt web cpu=2"
	each := func(n int64) reprieve.Cap {
		return reprieve.Cap{Room: n, Weight: func(victims.UnitID) int64 { return 1 }}
	}
	for _, c := range []struct {
		name  string
		text  string
		caps  []reprieve.Cap
		want  string
		proof reprieve.Proof
	}{
		{"without a bound, as ever", two, nil, "small1 small2", reprieve.Found},
		{"two may go", two, []reprieve.Cap{each(2)}, "small1 small2", reprieve.Found},
		{"only one may: the more important one goes", two, []reprieve.Cap{each(1)}, "big", reprieve.Found},
		{"nobody may", two, []reprieve.Cap{each(0)}, "", reprieve.Refuted},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, c.text)
			w := reprieve.Within{Choice: reprieve.Choice{Caps: c.caps, Monotone: true, Steps: math.MaxInt}}
			w.Keeps = func(out []victims.UnitID) bool {
				return !slices.ContainsFunc(c.caps, func(bound reprieve.Cap) bool { return int64(len(out)) > bound.Room })
			}
			out, proof, why := s.runner.RunWithin(s.onNode(), s.potential(100), w)
			require.True(t, why.OK())
			require.Equal(t, c.want, s.spell(out.Victims))
			require.Equal(t, c.proof, proof)
			if proof == reprieve.Found {
				require.Len(t, s.attempts, 3, "each is told of once")
			}
		})
	}
	s := read(t, "nodes n1 cpu=1\npods a@n1 prio=1\npreempt web cpu=2")
	_, proof, why := s.runner.RunWithin(s.onNode(), s.potential(100), reprieve.Within{})
	require.Equal(t, reprieve.Refuted, proof)
	require.Equal(t, domain.CheckResource, why.Check)
}

// Of a unit of which a part goes, no more members go than have to, where that is within the bounds
// as well.
func TestFewerMembersGo(t *testing.T) {
	const text = "nodes n1 cpu=5\ngroup g mode=SurplusFirst min=1 prio=9 a@n1 prio=9 cpu=2 start=t1 b@n1 prio=9 cpu=1 start=t2 c@n1 prio=9 cpu=1 start=t3\n" +
		"pods s@n1 prio=1 cpu=1\npreempt web cpu=2"
	for want, dear := range map[string]string{"a": "", "b+c": "a"} {
		s := read(t, text)
		cost := func(pods []cluster.PodID) (sum int64) {
			for _, p := range pods {
				if sum++; s.ix.Pod(p).Name == dear {
					sum += 5
				}
			}
			return sum
		}
		one := reprieve.Cap{Room: 1, Once: true, Weight: func(victims.UnitID) int64 { return 1 }, Part: func(victims.UnitID, []cluster.PodID) int64 { return 1 }}
		cheap := reprieve.Cap{
			Room: 2, Weight: func(u victims.UnitID) int64 { return cost(s.units.Unit(u).Pods) },
			Part: func(_ victims.UnitID, pods []cluster.PodID) int64 { return cost(pods) },
		}
		w := reprieve.Within{Choice: reprieve.Choice{Caps: []reprieve.Cap{one, cheap}, Monotone: true, Steps: math.MaxInt}}
		w.Keeps = func(out []victims.UnitID) bool {
			sum := int64(0)
			for _, u := range out {
				sum += cost(s.runner.Parts().Of(s.units, u))
			}
			return len(out) <= 1 && sum <= 2
		}
		trial := s.onNode()
		out, proof, why := s.runner.RunWithin(trial, s.potential(100), w)
		require.True(t, why.OK())
		require.Equal(t, reprieve.Found, proof)
		require.Equal(t, want, s.spell(out.Victims))
		require.True(t, trial.Fits().OK())
	}
}

// Brute force over all sets of units: a set that is found keeps within the caps, and it is the
// first in order; where none is, there is none. What the greedy way finds is taken if it is
// within them.
func TestWithinIsBruteForce(t *testing.T) {
	greedy, searched, refuted := 0, 0, 0
	grounds(t, 4000, func(seed uint64, g *ground) {
		w := reprieve.Within{Choice: g.choice, Keeps: g.within}
		g.choice.Price, w.Price = nil, nil
		want, found := g.bruteForce()
		plain := slices.Clone(g.runner.GiveBack(g.trial, nil, g.order).Victims)
		g.put(plain, g.runner.Remove)
		out, proof := g.runner.GiveBackWithin(g.trial, nil, g.order, w)
		got := slices.Clone(out.Victims)
		if !found {
			require.Equal(t, reprieve.Refuted, proof, "seed %d", seed)
			require.Empty(t, got)
			refuted++
			return
		}
		require.Equal(t, reprieve.Found, proof, "seed %d", seed)
		require.True(t, g.trial.Fits().OK(), "seed %d", seed)
		require.True(t, g.within(got), "seed %d", seed)
		if g.within(plain) {
			require.ElementsMatch(t, plain, got, "seed %d", seed)
			greedy++
		} else {
			require.ElementsMatch(t, want, got, "seed %d", seed)
			searched++
		}
		g.put(got, g.runner.Remove)
	})
	for _, n := range []int{greedy, searched, refuted} {
		require.Greater(t, n, 100)
	}
}

// small is a small cluster in the notation of package scenario, its units and budgets
// under the newest rules, and the pods that want in.
type small struct {
	ix       *cluster.Index
	units    *victims.Units
	budgets  *victims.Budgets
	runner   *reprieve.Runner
	asks     []cluster.Pod
	attempts []string // to return a unit, in turn: "a back", "b! stays" if it violates a budget
}

func read(t *testing.T, text string) *small {
	t.Helper()
	q, err := scenario.Parse("small", "# A small cluster.\n"+text)
	require.NoError(t, err)
	s := &small{}
	for _, p := range q.Preemptors {
		s.asks = append(s.asks, p.Pods...)
	}
	s.ix, err = cluster.NewIndex(&q.Snapshot)
	require.NoError(t, err)
	s.units, s.budgets = victims.NewUnits(s.ix, victims.Units137, victims.Worth{}), victims.NewBudgets(s.ix, disruption.Rule137)
	s.runner = reprieve.NewRunner(s.units, s.budgets)
	s.runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
		mark, what := "", "back"
		if violates {
			mark = "!"
		}
		if !why.OK() {
			what = "stays"
		}
		s.attempts = append(s.attempts, s.spell([]victims.UnitID{u})+mark+" "+what)
	}
	return s
}

// onNode is the what-if of the first pod that asks, on node n1.
func (s *small) onNode() *domain.NodeTrial {
	t := domain.NewNodeTrial(s.ix, domain.NewMember(s.ix, &s.asks[0], cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: math.MaxInt32})
	t.Reset(s.ix.NodeByName("n1"))
	return t
}

// potential are the units with a pod on node n1 below a priority.
func (s *small) potential(below int32) []victims.UnitID {
	return slices.Clone(s.units.Potential(s.ix.NodeByName("n1"), below))
}

// spell names units by the pods of theirs that are out: "a t0+t1" is pod a, then t0 and t1.
func (s *small) spell(list []victims.UnitID) string {
	var units []string
	for _, u := range list {
		var pods []string
		for _, p := range s.runner.Parts().Of(s.units, u) {
			pods = append(pods, s.ix.Pod(p).Name)
		}
		units = append(units, strings.Join(pods, "+"))
	}
	return strings.Join(units, " ")
}

func (s *small) outcome(out reprieve.Outcome) string {
	return fmt.Sprintf("%s; violations %d", s.spell(out.Victims), out.Violations)
}

// world is a what-if by a rule that need not be monotone: it is told who is in place.
type world struct {
	ix   *cluster.Index
	here map[string]bool
	rule func(here func(...string) bool) bool
	asks int
}

func newWorld(ix *cluster.Index, rule func(here func(...string) bool) bool) *world {
	w := &world{ix: ix, here: map[string]bool{}, rule: rule}
	for p := range ix.Pods() {
		w.here[ix.Pod(p).Name] = true
	}
	return w
}

func (w *world) Remove(p cluster.PodID) { w.here[w.ix.Pod(p).Name] = false }
func (w *world) Return(p cluster.PodID) { w.here[w.ix.Pod(p).Name] = true }

func (w *world) Fits() domain.Reason {
	w.asks++
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !w.here[name] })
	}
	if w.rule(all) {
		return domain.Reason{}
	}
	return domain.Reason{Check: domain.CheckAffinity}
}
