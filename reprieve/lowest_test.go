package reprieve_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

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
