package victims_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// scoreOf is the score of the units of these pods, most important first.
func scoreOf(t *testing.T, us *victims.Units, violations int, pods ...string) victims.Score {
	t.Helper()
	var list []victims.UnitID
	for _, name := range pods {
		list = append(list, unit(t, us, name))
	}
	return us.Score(us.Sorted(list), violations)
}

// Which of two lists of victims disrupts less: the criteria in turn, each read from pods.
// Source: kube-scheduler v1.36, choice among candidates, and its own test of that.
func TestTheLesserDisruption(t *testing.T) {
	const text = "nodes n1\n" +
		"pods veryhigh@n1 prio=10000 start=t0 high@n1 prio=1000 start=t1 high2@n1 prio=1000 start=t2 mid@n1 prio=100 start=t3 mid2@n1 prio=100 start=t4" +
		" mid3@n1 prio=100 start=t6 ninetynine@n1 prio=99 start=t9 low@n1 start=t5 low2@n1 start=t5 neg@n1 prio=-100 start=t7 neg2@n1 prio=-100 start=t7 new@n1 prio=100\n" +
		"group above prio=50 above0@n1 prio=1000 start=t1\ngroup whole mode=All prio=50 w0@n1 prio=100 start=t5 w1@n2 prio=7 start=t1"
	us := small(t, text)
	for _, c := range []struct {
		name               string
		better, worse      []string
		violations, theirs int
		differ             string // the criterion that decides; empty: they tie
	}{
		{name: "fewer violations come first", better: []string{"veryhigh", "high"}, worse: []string{"neg"}, theirs: 1, differ: "violations"},
		{name: "the most important victim", better: []string{"mid", "mid2", "mid3", "low"}, worse: []string{"high"}, differ: "highest priority"},
		{name: "the most important again, whatever the sum", better: []string{"low", "low2"}, worse: []string{"mid", "low"}, differ: "highest priority"},
		{name: "the sum where the highest is equal", better: []string{"mid", "low"}, worse: []string{"mid2", "ninetynine"}, differ: "sum of priorities"},
		{name: "each is raised by 2^31: negative ones make it larger", better: []string{"mid", "ninetynine"}, worse: []string{"mid2", "neg", "neg2"}, differ: "sum of priorities"},
		{name: "one zero beats two", better: []string{"low"}, worse: []string{"low", "low2"}, differ: "sum of priorities"},
		{name: "the later of the earliest starts", better: []string{"mid2"}, worse: []string{"mid"}, differ: "earliest start"},
		{name: "among the most important alone", better: []string{"mid2", "veryhigh"}, worse: []string{"mid2", "veryhigh"}},
		{name: "of those that began together at t3 and t6, t3 counts", better: []string{"mid2", "mid3"}, worse: []string{"mid", "mid3"}, differ: "earliest start"},
		{name: "what has not started counts as started now", better: []string{"new"}, worse: []string{"mid3"}, differ: "earliest start"},
		{name: "nobody beats somebody", better: nil, worse: []string{"neg"}, differ: "highest priority"},
		{name: "a pod's own priority counts, not its group's", better: []string{"mid"}, worse: []string{"above0"}, differ: "highest priority"},
		{name: "a unit counts once for each of its pods, elsewhere too", better: []string{"mid"}, worse: []string{"w0"}, differ: "sum of priorities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := scoreOf(t, us, c.violations, c.better...), scoreOf(t, us, c.theirs, c.worse...)
			if c.differ == "" {
				require.Zero(t, a.Compare(b))
				return
			}
			require.Negative(t, a.Compare(b))
			require.Positive(t, b.Compare(a))
			x, y := victims.Ranking{}.Values(a), victims.Ranking{}.Values(b)
			at := slices.Index(victims.Criteria[:], victims.Criterion(c.differ))
			require.Equal(t, x[:at], y[:at], "what comes before %s ties", c.differ)
			require.Less(t, x[at], y[at])
		})
	}
}

// TestScoresCompareByOneNumberAfterTheOther: each decides only where those before it tie; the others have no say.
func TestScoresCompareByOneNumberAfterTheOther(t *testing.T) {
	numbers := []func(s *victims.Score, v int){
		func(s *victims.Score, v int) { s.Violations = v },
		func(s *victims.Score, v int) { s.Highest = int32(v) },
		func(s *victims.Score, v int) { s.Sum = int64(v) },
		func(s *victims.Score, v int) { s.Pods = v },
		func(s *victims.Score, v int) { s.Started = -int64(v) }, // later is better
	}
	for i, decisive := range numbers {
		for v := range 3 { // of those before, which tie
			var a, b victims.Score
			for _, set := range numbers[:i] {
				set(&a, v)
				set(&b, v)
			}
			decisive(&a, 1)
			decisive(&b, 2)
			for _, set := range numbers[i+1:] {
				set(&a, 9)
				set(&b, 0)
			}
			b.Units, b.Cost, b.Asked = 5, -5, map[victims.Criterion]int64{victims.CriterionOverruns: -5}
			require.Negative(t, a.Compare(b), "number %d", i)
			require.Positive(t, b.Compare(a), "number %d", i)
			require.Zero(t, a.Compare(a))
		}
	}
}

func TestScoreOfAUnitOnTwoNodes(t *testing.T) {
	us := small(t, "nodes n1\ngroup w mode=All prio=50 w0@n1 prio=7 start=t5 w1@n2 prio=7 start=t1\npods a@n1 prio=-2147483648 start=t0")
	s := scoreOf(t, us, 3, "a", "w0")
	require.Equal(t, victims.Score{Violations: 3, Highest: 7, Sum: 2 * (1<<31 + 7), Pods: 3, Units: 2, Started: us.Unit(unit(t, us, "w1")).Started}, s)
	require.Equal(t, victims.Score{Highest: math.MinInt32, Started: math.MaxInt64}, us.Score(nil, 0))
	earliest := victims.Score{Started: math.MinInt64}
	require.Equal(t, int64(math.MaxInt64), earliest.Value(victims.CriterionStarted), "the earliest of all is turned around, too")

	loss := us.Loss(unit(t, us, "w0"))
	require.Equal(t, victims.Loss{Price: domain.Price{Highest: 7, Sum: 2 * (1<<31 + 7), Pods: 2}, Started: s.Started}, loss, "the same of one unit")

	asked := 0
	known := func(u victims.UnitID) *victims.Loss {
		asked++
		return map[victims.UnitID]*victims.Loss{unit(t, us, "w0"): &loss}[u]
	}
	list := []victims.UnitID{unit(t, us, "a"), unit(t, us, "w0")}
	require.Equal(t, us.Score(list, 3), us.ScoreKnown(list, nil, 3, known), "what is known is not read")
	require.Equal(t, 2, asked)
}

// The loss of a unit is dated by its most important pods.
func TestLossIsDatedByTheMostImportant(t *testing.T) {
	us := small(t, "nodes n1\ngroup w mode=All w0@n1 prio=7 start=t5 w1@n1 prio=3 start=t1 w2@n1 prio=7 start=t4 w3@n1 prio=7 start=t6")
	ix := us.Index()
	require.Equal(t, ix.Started(ix.PodByName("default", "w2")), us.Loss(0).Started)
	require.Equal(t, us.Loss(0).Started, us.Score([]victims.UnitID{0}, 0).Started)
}

// A cost may be a criterion at any place.
func TestTheCostAmongTheCriteria(t *testing.T) {
	a, b := victims.Score{Violations: 1, Highest: 5, Sum: 9, Pods: 2, Started: 4, Cost: 3}, victims.Score{Violations: 1, Highest: 5, Sum: 9, Pods: 2, Started: 4, Cost: 4}
	require.Zero(t, victims.Ranking{}.Compare(a, b), "unless asked for, it does not count")
	for at := 1; at <= 6; at++ {
		r := victims.Ranking(slices.Insert(slices.Clone(victims.Criteria[:]), at-1, victims.CriterionCost))
		require.Negative(t, r.Compare(a, b), "at %d", at)
		require.Positive(t, r.Compare(b, a), "at %d", at)
		require.Equal(t, victims.CriterionCost, r.Criteria()[at-1])
		require.Equal(t, a.Cost, r.Values(a)[at-1])
		require.Len(t, r.Criteria(), 6)
		for i, worsen := range []func(*victims.Score){
			func(s *victims.Score) { s.Violations++ }, func(s *victims.Score) { s.Highest++ }, func(s *victims.Score) { s.Sum++ },
			func(s *victims.Score) { s.Pods++ }, func(s *victims.Score) { s.Started-- },
		} {
			c := a
			worsen(&c)
			want := -1 // a worse criterion before the cost decides against c, though b costs more
			if i+1 < at {
				want = 1
			}
			require.Equal(t, want, r.Compare(c, b), "cost at %d, against %s", at, victims.Criteria[i])
			require.Equal(t, want, slices.Compare(r.Values(c), r.Values(b)), "its numbers say the same")
		}
	}
	require.Equal(t, victims.Criteria[:], victims.Ranking{}.Criteria())
	require.Len(t, victims.Ranking{}.Values(a), 5)
	r := victims.Ranking{victims.CriterionOverruns, victims.CriterionUnits}
	require.Zero(t, r.Compare(a, b), "nothing else counts")
	b.Units, a.Asked = 1, map[victims.Criterion]int64{victims.CriterionOverruns: 1}
	require.Positive(t, r.Compare(a, b))
}

// Overruns are a function of the victims alone: every budget is charged for every pod.
func TestOverruns(t *testing.T) {
	us := small(t, "nodes n1\nbudget one allowed=1 select=app=web\nbudget debt allowed=-5 select=tier=db\n"+
		"pods a@n1 labels=app=web b@n1 labels=app=web,tier=db c@n1 labels=app=web d@n1")
	budgets := victims.NewBudgets(us.Index(), disruption.Rule137)
	l := budgets.NewLedger()
	for _, c := range []struct {
		pods []string
		want int64
	}{{nil, 0}, {[]string{"a"}, 0}, {[]string{"a", "c"}, 1}, {[]string{"b"}, 1}, {[]string{"c", "b", "a", "d"}, 3}} {
		var list []victims.UnitID
		for _, name := range c.pods {
			list = append(list, unit(t, us, name))
		}
		require.Equal(t, c.want, budgets.Overruns(us, list, nil, l), "%v", c.pods)
	}
	none := small(t, "nodes n1\npods a@n1")
	require.Zero(t, victims.NewBudgets(none.Index(), disruption.Rule137).Overruns(none, []victims.UnitID{0}, nil, nil))
}

// What each unit adds to the violations, charged from the most important to the least:
// the strong use the budget up. Source: kube-scheduler, partition by budgets, of each
// generation; KEP-5710 (beta), "PDB reprieval"; the cases are those of upstream's test.
func TestWhatUnitsChargeToBudgets(t *testing.T) {
	const web = "a@n1 prio=3 labels=app=web b@n1 prio=2 labels=app=web c@n1 prio=1 labels=app=web"
	const pair = "group g mode=All prio=5 g0@n1 labels=app=web uid=1 g1@n1 labels=app=web uid=2\n"
	for _, c := range []struct {
		name, cluster              string
		pods136, groups136, newest string // unit and violations, in order of importance
	}{
		{"no budget", "pods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"another namespace's", "budget other/p allowed=0 select=app=web\npods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"it covers the most important", "budget p allowed=1 select=app=web\npods " + web, "a:0 b:1 c:1", "a:0 b:1 c:1", "a:0 b:1 c:1"},
		{"spent", "budget p allowed=0 select=app=web\npods " + web, "a:1 b:1 c:1", "a:1 b:1 c:1", "a:1 b:1 c:1"},
		{"a nil selector covers nobody", "budget p allowed=0\npods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"the empty selector (kubernetes #141785)", "budget p allowed=0 select=*\npods a@n1 b@n1 labels=app=web", "a:0 b:0", "a:0 b:0", "a:1 b:1"},
		{"a pod without labels", "budget p allowed=0 select=app:DoesNotExist\npods a@n1", "a:0", "a:0", "a:1"},
		{"those under way are paid for", "budget p allowed=0 select=app=web disrupted=b\npods " + web, "a:1 b:0 c:1", "a:1 b:0 c:1", "a:1 b:0 c:1"},
		{
			"two budgets, the first spent: does the second pay, too?",
			"budget p1 allowed=0 select=app=web\nbudget p2 allowed=1 select=app=web,tier=db\nbudget p3 allowed=1 select=tier=db\n" +
				"pods a@n1 prio=3 labels=app=web,tier=db b@n1 prio=2 labels=tier=db",
			"a:1 b:1", "a:1 b:0", "a:1 b:0",
		},
		{
			"in the order of their names",
			"budget q allowed=0 select=app=web\nbudget p allowed=1 select=tier=db\n" +
				"pods a@n1 prio=3 labels=app=web,tier=db b@n1 prio=2 labels=tier=db",
			"a:1 b:1", "a:1 b:1", "a:1 b:1",
		},
		{"a unit within", "budget p allowed=2 select=app=web\n" + pair, "g0:0 g1:0", "g0+g1:0", "g0+g1:0"},
		{"a unit of two, one allowed", "budget p allowed=1 select=app=web\n" + pair, "g0:0 g1:1", "g0+g1:1", "g0+g1:1"},
		{"a unit of two, none allowed: units or pods are counted", "budget p allowed=0 select=app=web\n" + pair, "g0:1 g1:1", "g0+g1:1", "g0+g1:2"},
		{
			"does charging a unit end at its first violating pod?",
			"budget p allowed=0 select=app=web\nbudget q allowed=1 select=app:Exists\n" +
				"group g mode=All prio=5 g0@n1 prio=5 labels=app=web uid=1 g1@n1 prio=5 labels=app=db uid=2\npods h@n1 prio=1 labels=app=db",
			"g0:1 g1:1 h:1", "g0+g1:1 h:0", "g0+g1:1 h:1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := index(t, "nodes n1\n"+c.cluster)
			for _, generation := range []struct {
				units   victims.UnitRule
				budgets disruption.Rule
				want    string
			}{
				{victims.Pods136, disruption.PodRule136, c.pods136},
				{victims.Groups136, disruption.GroupRule136, c.groups136},
				{victims.Units137, disruption.Rule137, c.newest},
			} {
				us, b := victims.NewUnits(ix, generation.units, victims.Worth{}), victims.NewBudgets(ix, generation.budgets)
				l := b.NewLedger()
				var got []string
				for _, u := range us.On(0) {
					got = append(got, fmt.Sprintf("%s:%d", spell(us, []victims.UnitID{u}), b.Charge(l, us.Unit(u))))
				}
				require.Equal(t, generation.want, strings.Join(got, " "))
				require.Equal(t, ix.NumBudgets() == 0, b.None())
			}
		})
	}
}

// Budgets follow the pods of their index, and what they allow.
func TestBudgetsFollow(t *testing.T) {
	ix := index(t, "nodes n1\nbudget p allowed=0 select=app=web\nbudget q allowed=0 select=tier=db\npods a@n1 labels=app=web")
	b := victims.NewBudgets(ix, disruption.Rule137)
	fork := b.Fork()
	c := ix.SetPod(&cluster.Pod{Namespace: "default", Name: "c", Node: "n1", Labels: map[string]string{"app": "web", "tier": "db"}}, cluster.NoPod)
	d := ix.SetPod(&cluster.Pod{Namespace: "default", Name: "d", Node: "n1"}, cluster.NoPod)
	for _, p := range []cluster.PodID{c, d} {
		b.Set(ix, p)
	}
	require.Equal(t, []cluster.BudgetID{0, 1}, b.Of(c))
	require.Empty(t, b.Of(d))
	require.Equal(t, []cluster.BudgetID{0}, fork.Of(0))
	ix.SetPod(&cluster.Pod{Namespace: "default", Name: "a", Node: "n1", Labels: map[string]string{"tier": "db"}}, 0)
	b.Set(ix, 0)
	require.Equal(t, []cluster.BudgetID{1}, b.Of(0))
	require.Equal(t, []cluster.BudgetID{0}, fork.Of(0), "the fork knows nothing of it")
	next := *ix.Budget(0)
	next.Allowed = 7
	ix.SetAllowed(0, &next)
	b.Follow(ix)
	require.Equal(t, int64(7), b.NewLedger().Left(0))
}

// Budgets that follow pods as they come and change cover whom those would that are listed anew; a
// fork goes its own way.
func TestBudgetsFollowPods(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		ix := index(t, "nodes n1\nbudget a allowed=1 select=app=web\nbudget b allowed=1 select=tier=x\nbudget c allowed=1 select=app=web,tier=x disrupted=p3")
		b := victims.NewBudgets(ix, disruption.Rule137)
		set := func(ix *cluster.Index, b *victims.Budgets) {
			p := cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", r.IntN(12)), Node: "n1", Labels: map[string]string{}}
			if r.IntN(2) == 0 {
				p.Labels["app"] = "web"
			}
			if r.IntN(2) == 0 {
				p.Labels["tier"] = "x"
			}
			old := ix.PodByName(p.Namespace, p.Name)
			require.True(t, ix.MaySetPod(&p, old))
			b.Set(ix, ix.SetPod(&p, old))
		}
		same := func(ix *cluster.Index, b *victims.Budgets) {
			fresh := victims.NewBudgets(ix, disruption.Rule137)
			for p := range ix.Pods() {
				require.Equal(t, fresh.Of(p), b.Of(p), "seed %d", seed)
			}
		}
		for range r.IntN(6) {
			set(ix, b)
		}
		other, forked := ix.Fork(), b.Fork()
		for range 8 {
			set(ix, b)
			set(other, forked)
			same(ix, b)
			same(other, forked)
		}
	}
	none := victims.NewBudgets(index(t, "nodes n1\npods a@n1"), disruption.Rule137)
	none.Set(index(t, "nodes n1\npods a@n1"), 0)
	require.True(t, none.None())
}

// Where a namespace has many budgets, who is covered is found out by label set: each pod is
// covered by those that cover it by itself.
func TestManyBudgetsCoverByLabelSet(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 600 {
		labels := map[string]string{"app": fmt.Sprint(i % 7), "of": fmt.Sprint(i % 50)}
		s.Pods = append(s.Pods, cluster.Pod{Namespace: "shop", Name: fmt.Sprint("p", i), Labels: labels})
		asks := map[string]string{"of": fmt.Sprint(i % 60)}
		if i%3 == 0 {
			asks["app"] = fmt.Sprint(i % 7)
		}
		b := disruption.Budget{Namespace: "shop", Name: fmt.Sprint("b", i), Selector: &disruption.Selector{MatchLabels: asks}}
		if i%5 == 0 {
			b.Disrupted = []string{fmt.Sprint("p", i), "p0", "p0"}
		}
		s.Budgets = append(s.Budgets, b)
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	budgets, covered := victims.NewBudgets(ix, disruption.Rule137), 0
	for p := range ix.Pods() {
		pod := ix.Pod(p)
		want := ix.BudgetSet().Covering(nil, disruption.Rule137, pod.Namespace, pod.Name, pod.Labels)
		require.ElementsMatch(t, want, budgets.Of(p))
		covered += len(want)
	}
	require.Greater(t, covered, 600)
}
