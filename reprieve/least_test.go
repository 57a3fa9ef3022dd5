package reprieve_test

import (
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
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

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
