package reprieve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// One pod of priority 100 on one node: everybody below leaves, then who can comes back.
// Source: kube-scheduler, victims on a node; KEP-5710 (beta), "Preemption algorithm".
func TestReprieveOnANode(t *testing.T) {
	for _, c := range []struct{ name, text, attempts, want string }{
		{
			"the most important come back first",
			"nodes n1 cpu=4\npods low@n1 prio=1 cpu=1 mid@n1 prio=5 cpu=2 high@n1 prio=9 cpu=1\npreempt web cpu=2",
			"high back, mid stays, low back", "mid; violations 0",
		},
		{
			"whom the preemptor does not reach is no part of it",
			"nodes n1 cpu=3\npods above@n1 prio=100 cpu=1 low@n1 prio=99 cpu=2\npreempt web cpu=1",
			"low stays", "low; violations 0",
		},
		{
			"a low small one is enough",
			"nodes n1 cpu=3\npods big@n1 prio=50 cpu=2 small@n1 prio=10 cpu=1\npreempt web cpu=1",
			"big back, small stays", "small; violations 0",
		},
		{
			"or of no use, and stays",
			"nodes n1 cpu=3\npods big@n1 prio=50 cpu=2 small@n1 prio=10 cpu=1\npreempt web cpu=2",
			"big stays, small back", "big; violations 0",
		},
		{
			"of equals, the later started goes",
			"nodes n1 cpu=2\npods young@n1 cpu=1 start=t9 old@n1 cpu=1 start=t1\npreempt web cpu=1",
			"old back, young stays", "young; violations 0",
		},
		{
			"the budget goes to the strong, so the strong dies",
			"nodes n1 cpu=3\nbudget p allowed=1 select=app=web\npods a@n1 prio=50 cpu=1 labels=app=web b@n1 prio=40 cpu=1 labels=app=web c@n1 prio=30 cpu=1 labels=app=web\npreempt web cpu=1",
			"b! back, c! back, a stays", "a; violations 0",
		},
		{
			"a spent budget outweighs priority",
			"nodes n1 cpu=3\nbudget p allowed=0 select=app=web\npods low1@n1 prio=1 cpu=1 labels=app=web low2@n1 prio=2 cpu=1 labels=app=web mid@n1 prio=50 cpu=1\npreempt web cpu=1",
			"low2! back, low1! back, mid stays", "mid; violations 0",
		},
		{
			"if it must be, it is violated: only those that stay out count",
			"nodes n1 cpu=2\nbudget p allowed=1 select=app=web\npods a@n1 prio=50 cpu=1 labels=app=web b@n1 prio=40 cpu=1 labels=app=web\npreempt web cpu=2",
			"b! stays, a stays", "a b; violations 1",
		},
		{
			"whose eviction is under way costs nothing",
			"nodes n1 cpu=2\nbudget p allowed=0 select=app=web disrupted=a\npods a@n1 prio=50 cpu=1 labels=app=web b@n1 prio=40 cpu=1 labels=app=web\npreempt web cpu=2",
			"b! stays, a stays", "a b; violations 1",
		},
		{
			"victims of both lists are in order of importance again",
			"nodes n1 cpu=2\nbudget p allowed=0 select=app=web\npods low@n1 prio=1 cpu=1 labels=app=web mid@n1 prio=50 cpu=1\npreempt web cpu=2",
			"low! stays, mid stays", "mid low; violations 1",
		},
		{
			"a unit of mode All goes whole, where a pod would do",
			"nodes n1 cpu=2\ngroup g mode=All g0@n1 cpu=1 g1@n1 cpu=1\npreempt web cpu=1",
			"g0+g1 stays", "g0+g1; violations 0",
		},
		{
			"with its pods elsewhere, whose budgets count",
			"nodes n1 cpu=1 n2 cpu=1\nbudget p allowed=0 select=app=web\ngroup g mode=All g0@n1 cpu=1 g1@n2 cpu=1 labels=app=web\npreempt web cpu=1",
			"g0+g1! stays", "g0+g1; violations 1",
		},
		{
			"each of its pods that violates a budget is counted",
			"nodes n1 cpu=1\nbudget p allowed=1 select=app=web\ngroup g mode=All g0@n1 cpu=1 labels=app=web g1@gone labels=app=web g2@gone labels=app=web\npreempt web cpu=1",
			"g0+g1+g2! stays", "g0+g1+g2; violations 2",
		},
		{
			"it returns whole if its part here is not in the way",
			"nodes n1 cpu=2 n2 cpu=1\ngroup g mode=All prio=9 g0@n1 cpu=1 g1@n2 cpu=1\npods a@n1 prio=1 cpu=1\npreempt web cpu=1",
			"g0+g1 back, a stays", "a; violations 0",
		},
		{
			"pods of a Single group go one by one",
			"nodes n1 cpu=2\ngroup g g0@n1 cpu=1 start=t1 g1@n1 cpu=1 start=t2\npreempt web cpu=1",
			"g0 back, g1 stays", "g1; violations 0",
		},
		{
			"of SurplusFirst, those beyond minCount go first, the youngest of them",
			"nodes n1 cpu=3\ngroup g mode=SurplusFirst min=2 g0@n1 cpu=1 start=t1 g1@n1 cpu=1 start=t3 g2@n1 cpu=1 start=t2\npreempt web cpu=1",
			"g0+g1+g2 stays", "g1; violations 0",
		},
		{
			"one more, and all of it",
			"nodes n1 cpu=3\ngroup g mode=SurplusFirst min=2 g0@n1 cpu=1 g1@n1 cpu=1 g2@n1 cpu=1\npreempt web cpu=2",
			"g0+g1+g2 stays", "g0+g1+g2; violations 0",
		},
		{
			"its leader goes last",
			"nodes n1 cpu=3\ngroup g mode=SurplusFirst min=1 leader=g2 g0@n1 cpu=1 start=t1 g1@n1 cpu=1 start=t2 g2@n1 cpu=1 start=t9\npreempt web cpu=2",
			"g0+g1+g2 stays", "g0+g1; violations 0",
		},
		{
			"the part that goes is what budgets count",
			"nodes n1 cpu=3\nbudget p allowed=0 select=app=web\ngroup g mode=SurplusFirst min=1 g0@n1 cpu=1 start=t1 labels=app=web g1@n1 cpu=1 start=t2 labels=app=web g2@n1 cpu=1 start=t3 labels=app=web\npreempt web cpu=1",
			"g0+g1+g2! stays", "g2; violations 1",
		},
		{
			"only who holds the port is in the way",
			"nodes n1 cpu=9\npods a@n1 prio=9 ports=80 b@n1 prio=1 cpu=9\npreempt web ports=80",
			"a stays, b back", "a; violations 0",
		},
		{
			"nobody, if there is room",
			"nodes n1 cpu=9\npods a@n1 cpu=1\npreempt web cpu=1",
			"a back", "; violations 0",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, c.text)
			trial := s.onNode()
			out, why := s.runner.Run(trial, s.potential(100))
			require.True(t, why.OK())
			require.Equal(t, c.want, s.outcome(out))
			require.True(t, trial.Fits().OK(), "the victims are out, and it fits")
			s.runner.Forget()
			require.Equal(t, c.attempts, strings.Join(s.attempts, ", "))
		})
	}
}

func TestNoPlaceEvenWithoutAnybody(t *testing.T) {
	s := read(t, "nodes n1 cpu=4\npods a@n1 prio=1 cpu=1 above@n1 prio=100 cpu=2\npreempt web cpu=3")
	out, why := s.runner.Run(s.onNode(), s.potential(100))
	require.Empty(t, out.Victims)
	require.Equal(t, domain.CheckResource, why.Check)
	require.Equal(t, int64(1000), why.Missing)
	require.Empty(t, s.attempts)
}

// An elastic group that is taken as a whole goes as one.
func TestElasticTakenAsAWhole(t *testing.T) {
	s := read(t, "nodes n1 cpu=3\ngroup g mode=SurplusFirst min=1 g0@n1 cpu=1 g1@n1 cpu=1 g2@n1 cpu=1\npreempt web cpu=1")
	s.runner.Whole = true
	out, _ := s.runner.Run(s.onNode(), s.potential(100))
	require.Equal(t, "g0+g1+g2; violations 0", s.outcome(out))
	require.Empty(t, s.runner.Parts())
}

// In the words of the KEP: charge in order of importance, try those that violate first,
// then the rest, and whoever leaves room stays. Nobody of those left could come back: the
// victims are irreducible, though not fewest.
func TestReprieveIsTheKEPsAndIrreducible(t *testing.T) {
	some := 0
	grounds(t, 1000, func(seed uint64, g *ground) {
		var first, then []victims.UnitID
		count := map[victims.UnitID]int{}
		ledger := g.budgets.NewLedger()
		for _, u := range g.order {
			if count[u] = g.budgets.Charge(ledger, g.units.Unit(u)); count[u] > 0 {
				first = append(first, u)
			} else {
				then = append(then, u)
			}
		}
		var want []victims.UnitID
		out := slices.Clone(g.order)
		violations := 0
		for _, u := range slices.Concat(first, then) {
			without := slices.DeleteFunc(slices.Clone(out), func(v victims.UnitID) bool { return u == v })
			if g.fitsWithout(without) {
				out = without
				continue
			}
			want = append(want, u)
			violations += count[u]
		}
		slices.SortFunc(want, g.units.Compare)
		for _, u := range g.order {
			g.runner.Return(g.trial, u)
		}
		got, why := g.runner.Run(g.trial, g.order)
		require.True(t, why.OK())
		require.True(t, slices.Equal(want, got.Victims), "seed %d: %v, not %v", seed, got.Victims, want)
		require.Equal(t, violations, got.Violations, "seed %d", seed)
		if seed%2 == 0 { // by halves it comes to the same
			for _, u := range got.Victims {
				g.runner.Return(g.trial, u)
			}
			g.runner.Enough = func() int { return 1 }
			got, _ = g.runner.Run(g.trial, g.order)
			require.True(t, slices.Equal(want, got.Victims), "seed %d: %v, not %v", seed, got.Victims, want)
			require.Equal(t, violations, got.Violations, "seed %d", seed)
			g.runner.Enough = nil
		}
		for _, u := range slices.Clone(got.Victims) {
			g.runner.Return(g.trial, u)
			require.False(t, g.trial.Fits().OK(), "seed %d: %d could come back", seed, u)
			g.runner.Remove(g.trial, u)
			some++
		}
		g.put(want, g.runner.Remove)
	})
	require.Greater(t, some, 500)
}

// Where more room may hurt, who could not come back at first may later: passes are made
// until one changes nothing.
func TestFurtherPassesWhereConstraintsAreNotMonotone(t *testing.T) {
	const text = "budget p allowed=0 select=app=web\nnodes n1\npods a@n1 prio=9 labels=app=web b@n1 prio=5 c@n1 prio=3 d@n1 prio=1\npreempt web"
	rule := func(here func(...string) bool) bool { // a needs b, b needs c, and d is in the way
		return !here("d") && (!here("a") || here("b")) && (!here("b") || here("c"))
	}
	for _, c := range []struct {
		repeat         bool
		kind           func(victims.UnitID) int
		attempts, want string
	}{
		{true, func(victims.UnitID) int { return 0 }, "a! stays, b stays, c stays, d stays, a! stays, b stays, c stays, d stays", "a b c d; violations 1"},
		{true, func(u victims.UnitID) int { return int(u) }, "a! stays, b stays, c back, d stays, a! stays, b back, d stays, a! back, d stays, d stays", "d; violations 0"},
		{false, nil, "a! stays, b stays, c back, d stays", "a b d; violations 1"},
		{true, nil, "a! stays, b stays, c back, d stays, a! stays, b back, d stays, a! back, d stays, d stays", "d; violations 0"},
	} {
		s := read(t, text)
		s.runner.Repeat, s.runner.Kind = c.repeat, c.kind
		out, why := s.runner.Run(newWorld(s.ix, rule), s.potential(100))
		require.True(t, why.OK())
		require.Equal(t, c.want, s.outcome(out))
		require.Equal(t, c.attempts, strings.Join(s.attempts, ", "))
	}
}

// TestHalvesHaveAnEnd: of many who are in the way nobody is told to have come back.
func TestHalvesHaveAnEnd(t *testing.T) {
	text := "nodes n1\npods"
	for i := range 200 {
		text += fmt.Sprintf(" p%03d@n1 prio=1", i)
	}
	s := read(t, text+"\npreempt web")
	tries, asked := 0, 0
	s.runner.Enough = func() int { tries++; return 1 + tries/48 }
	out, why := s.runner.Run(newWorld(s.ix, func(here func(...string) bool) bool {
		asked++
		for i := range 200 {
			if here(fmt.Sprintf("p%03d", i)) {
				return false
			}
		}
		return true
	}), s.potential(100))
	require.True(t, why.OK())
	require.Len(t, out.Victims, 200)
	require.Len(t, s.attempts, 200)
	require.NotContains(t, strings.Join(s.attempts, ", "), "back")
	require.Less(t, asked, 60)
}

// gang is the what-if of all pods that ask, with everybody below priority 100 gone. need
// is how many have to be seated; they are, on the first node that has room.
func (s *small) gang(t *testing.T, need int) (*domain.GangTrial, []victims.UnitID) {
	t.Helper()
	var members []*domain.Member
	for i := range s.asks {
		members = append(members, domain.NewMember(s.ix, &s.asks[i], cluster.NoPod))
	}
	trial := domain.NewGangTrial(s.ix, members, nil, func(cluster.PodID) bool { return false })
	trial.Need = func(t *domain.GangTrial) bool {
		seated := 0
		for m := range domain.MemberID(t.Members()) {
			for n := range s.ix.Nodes() {
				if t.CanPlace(m, n).OK() {
					t.Place(m, n)
					seated++
					break
				}
			}
		}
		return seated >= need
	}
	var potential []victims.UnitID
	for u := range victims.UnitID(s.units.Len()) {
		if s.units.Unit(u).Priority < 100 {
			potential = append(potential, u)
			s.runner.Remove(trial, u)
		}
	}
	require.True(t, trial.Need(trial), "the gang has a place without them")
	return trial, s.units.Sorted(potential)
}

// Since v1.37 a gang stays where it was placed while everybody was gone; in v1.36 it was
// scheduled anew with each unit that came back, and was content with minCount.
func TestGangsInPlaceAndMoving(t *testing.T) {
	ask := func(members int) string { return strings.Repeat("\npreempt m cpu=1", members) }
	for _, c := range []struct {
		name, text      string
		need            int
		inPlace, moving string
	}{
		{
			"the placement is fixed, though there is room elsewhere",
			"nodes n1 cpu=2 n2 cpu=2\npods low1@n1 prio=1 cpu=1 low2@n1 prio=1 cpu=1 other@n2 prio=1 cpu=1" + ask(2), 2,
			"low1 low2; violations 0", "other; violations 0",
		},
		{
			"as many as fit, or minCount",
			"nodes n1 cpu=3\npods low1@n1 prio=1 cpu=1 low2@n1 prio=2 cpu=1 low3@n1 prio=3 cpu=1" + ask(4), 2,
			"low3 low2 low1; violations 0", "low2 low1; violations 0",
		},
		{
			"whoever is on a node without members comes back",
			"nodes n1 cpu=4 n2 cpu=1\npods high@n2 prio=1 cpu=1 low@n1 prio=5 cpu=3" + ask(2), 2,
			"low; violations 0", "high; violations 0",
		},
		{
			"a unit on two nodes goes whole for either",
			"nodes n1 cpu=1 n2 cpu=9\ngroup all mode=All prio=5 w0@n1 cpu=1 w1@n2 cpu=1" + ask(3), 3,
			"w0+w1; violations 0", "; violations 0",
		},
		{
			"whom a budget protects is tried first by a gang, too",
			"nodes n1 cpu=3\nbudget p allowed=0 select=app=web\npods a@n1 prio=9 cpu=1 b@n1 prio=1 cpu=1 labels=app=web c@n1 prio=2 cpu=1" + ask(2), 2,
			"a c; violations 0", "a c; violations 0",
		},
	} {
		for mobile, want := range map[bool]string{false: c.inPlace, true: c.moving} {
			s := read(t, c.text)
			trial, potential := s.gang(t, c.need)
			trial.Mobile = mobile
			charged := s.runner.Charge(potential)
			rest := slices.DeleteFunc(slices.Clone(potential), func(u victims.UnitID) bool {
				return slices.ContainsFunc(charged, func(c reprieve.Charged) bool { return c.Unit == u })
			})
			require.Equal(t, want, s.outcome(s.runner.GiveBack(trial, slices.Clone(charged), rest)), "%s; moving: %v", c.name, mobile)
			require.GreaterOrEqual(t, len(trial.Placed()), c.need)
		}
	}
}

// TestOneMorePass: over who stayed out, and no more than one; what violates a budget and comes
// back violates it no longer.
func TestOneMorePass(t *testing.T) {
	s := read(t, "budget p allowed=0 select=app=web\nnodes n1\npods a@n1 prio=9 labels=app=web b@n1 prio=5 c@n1 prio=3 d@n1 prio=1\npreempt web")
	w := newWorld(s.ix, func(here func(...string) bool) bool { // a needs b, b needs c, and d is in the way
		return !here("d") && (!here("a") || here("b")) && (!here("b") || here("c"))
	})
	violating := s.runner.Charge(s.potential(100))
	out, why := s.runner.Run(w, s.potential(100))
	require.True(t, why.OK())
	for _, want := range []string{"a b d; violations 1", "a d; violations 1", "d; violations 0", "d; violations 0"} {
		require.Equal(t, want, s.outcome(out))
		out = s.runner.GiveBackMore(w, violating, out)
	}
}
