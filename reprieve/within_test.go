package reprieve_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// A bound on how many go, or a price: what the greedy way finds, and what is asked for.
func TestWithinBounds(t *testing.T) {
	const two = "nodes n1 cpu=4\npods small1@n1 prio=1 cpu=1 small2@n1 prio=1 cpu=1 big@n1 prio=9 cpu=2\npreempt web cpu=2"
	each := func(n int64) reprieve.Cap {
		return reprieve.Cap{Room: n, Weight: func(victims.UnitID) int64 { return 1 }}
	}
	for _, c := range []struct {
		name  string
		text  string
		caps  []reprieve.Cap
		price map[string]int64 // by name of the pod
		want  string
		proof reprieve.Proof
	}{
		{"without a bound, as ever", two, nil, nil, "small1 small2", reprieve.Found},
		{"two may go", two, []reprieve.Cap{each(2)}, nil, "small1 small2", reprieve.Found},
		{"only one may: the more important one goes", two, []reprieve.Cap{each(1)}, nil, "big", reprieve.Found},
		{"nobody may", two, []reprieve.Cap{each(0)}, nil, "", reprieve.Refuted},
		{"the cheapest", two, nil, map[string]int64{"small1": 3, "small2": 3, "big": 5}, "big", reprieve.Found},
		{"of equal prices, the first that differs stays", two, nil, map[string]int64{"small1": 3, "small2": 3, "big": 6}, "small1 small2", reprieve.Found},
		{"the cheapest within the bound", two, []reprieve.Cap{each(1)}, map[string]int64{"small1": 1, "small2": 1, "big": 100}, "big", reprieve.Found},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, c.text)
			w := reprieve.Within{Choice: reprieve.Choice{Caps: c.caps, Monotone: true, Steps: math.MaxInt}}
			w.Keeps = func(out []victims.UnitID) bool {
				return !slices.ContainsFunc(c.caps, func(bound reprieve.Cap) bool { return int64(len(out)) > bound.Room })
			}
			if c.price != nil {
				w.Price = func(u victims.UnitID) int64 { return c.price[s.ix.Pod(s.units.Unit(u).Pods[0]).Name] }
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

// Out of steps, a greedy set within the bounds will do.
func TestWithinFallsBackToTheGreedySet(t *testing.T) {
	s := read(t, "nodes n1 cpu=4\npods small1@n1 prio=1 cpu=1 small2@n1 prio=1 cpu=1 big@n1 prio=9 cpu=2\npreempt web cpu=2")
	w := reprieve.Within{Choice: reprieve.Choice{Monotone: true, Price: func(victims.UnitID) int64 { return 1 }}}
	w.Keeps = func([]victims.UnitID) bool { return true }
	trial := struct{ domain.Trial }{s.onNode()} // which tells nothing in numbers: with them no step is needed
	out, proof, _ := s.runner.RunWithin(trial, s.potential(100), w)
	require.Equal(t, reprieve.FoundSome, proof)
	require.Equal(t, "small1 small2; violations 0", s.outcome(out))
	require.True(t, trial.Fits().OK())
}

// Brute force over all sets of units: a set that is found keeps within the caps and costs
// least; where none is, there is none. What the greedy way finds is taken if nothing else
// is asked for.
func TestWithinIsBruteForce(t *testing.T) {
	greedy, searched, refuted := 0, 0, 0
	grounds(t, 1200, func(seed uint64, g *ground) {
		w := reprieve.Within{Choice: g.choice, Keeps: g.within}
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
		if g.choice.Price == nil && g.within(plain) {
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

// Members of an elastic unit are decided on one by one: no set of them that goes on, or
// goes whole, is within the bound and cheaper.
func TestMembersWithinBoundsAreBruteForce(t *testing.T) {
	parts, refuted := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		snap := elastic(r)
		ix, err := cluster.NewIndex(&snap)
		require.NoError(t, err)
		units := victims.NewUnits(ix, victims.Units137)
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
			Price: func(victims.UnitID) int64 { return sum(all) }, PricePart: func(_ victims.UnitID, pods []cluster.PodID) int64 { return sum(pods) },
			Monotone: true, Steps: math.MaxInt,
		}}
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
		out, proof, why := runner.RunWithin(trial, []victims.UnitID{0}, w)
		require.True(t, why.OK())
		if least < 0 {
			require.Equal(t, reprieve.Refuted, proof, "seed %d", seed)
			refuted++
			continue
		}
		require.Equal(t, reprieve.Found, proof, "seed %d", seed)
		require.True(t, trial.Fits().OK(), "seed %d", seed)
		var gone []cluster.PodID
		if len(out.Victims) > 0 {
			gone = runner.Parts().Of(units, 0)
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
