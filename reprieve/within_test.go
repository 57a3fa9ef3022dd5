package reprieve_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/scenario"
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
