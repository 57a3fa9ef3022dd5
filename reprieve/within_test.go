package reprieve_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

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
