package victims_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

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
