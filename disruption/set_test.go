package disruption_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

// The filed form agrees with asking every budget, and is ascending.
func coveringAsksEveryBudget(t *rapid.T) {
	budgets, rule := drawBudgets(t), drawRule(t)
	namespace := rapid.SampledFrom([]string{"", "shop", "other"}).Draw(t, "pod's namespace")
	name := rapid.SampledFrom([]string{"p", "q", "x"}).Draw(t, "pod")
	labels := drawLabels(t)

	set, err := disruption.NewSet(budgets)
	if err != nil {
		t.Fatal(err)
	}
	want := []disruption.BudgetID{99} // what dst holds already stays
	for i := range budgets {
		m, err := budgets[i].Selector.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if rule.Covers(&budgets[i], m, namespace, name, labels) {
			want = append(want, disruption.BudgetID(i))
		}
	}
	got := set.Covering([]disruption.BudgetID{99}, rule, namespace, name, labels)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-every budget +set):\n%s", diff)
	}
}

func TestCoveringAsksEveryBudget(t *testing.T) { rapid.Check(t, coveringAsksEveryBudget) }
func FuzzCoveringAsksEveryBudget(f *testing.F) { f.Fuzz(rapid.MakeFuzz(coveringAsksEveryBudget)) }

func TestBudgetThatCannotBeReadCoversNothing(t *testing.T) {
	bad := &disruption.Selector{MatchLabels: map[string]string{"app": "no such value!"}}
	set, err := disruption.NewSet([]disruption.Budget{budget("bad", 1, bad), budget("good", 2, onApp)})
	require.ErrorIs(t, err, disruption.ErrSelector)
	var at *disruption.BudgetError
	require.ErrorAs(t, err, &at)
	require.Equal(t, "shop/bad", at.Namespace+"/"+at.Name)
	require.ErrorContains(t, err, `disruption: budget "shop/bad": disruption: selector: matchLabels["app"].values[0]`)

	require.Equal(t, 2, set.Len())
	require.Equal(t, []int32{1, 2}, set.Allowed())
	require.Equal(t, []disruption.BudgetID{1}, set.Covering(nil, disruption.Rule137, "shop", "w", app))
}

func TestWhatIsDisruptedIsListedOnce(t *testing.T) {
	set, err := disruption.NewSet([]disruption.Budget{
		budget("a", 1, onApp, "p", "p", "q"), budget("b", 2, onApp, "q"), budget("c", 3, onApp, "p", "x", "p"),
	})
	require.NoError(t, err)
	for name, want := range map[string][]disruption.BudgetID{"p": {0, 2}, "q": {0, 1}, "x": {2}, "y": nil} {
		require.Equal(t, want, set.Disrupted("shop", name), name)
		require.Empty(t, set.Disrupted("other", name))
	}
}

func TestBudgetsThatAskForAKeyAlone(t *testing.T) {
	set, err := disruption.NewSet([]disruption.Budget{budget("tiers", 1, &disruption.Selector{
		MatchExpressions: []disruption.Requirement{{Key: "tier", Operator: disruption.Exists}},
	})})
	require.NoError(t, err)
	require.Equal(t, []disruption.BudgetID{0}, set.Covering(nil, disruption.Rule137, "shop", "p", map[string]string{"tier": "any"}))
	require.Empty(t, set.Covering(nil, disruption.Rule137, "shop", "p", app))
}

func TestAnotherNumberIsAllowedInACopy(t *testing.T) {
	set, err := disruption.NewSet([]disruption.Budget{budget("a", 1, onApp), budget("b", 2, onApp)})
	require.NoError(t, err)
	other := set.WithAllowed(1, 7)
	require.Equal(t, []int32{1, 7}, other.Allowed())
	require.Equal(t, []int32{1, 2}, set.Allowed())
	require.Equal(t, []disruption.BudgetID{0, 1}, other.Covering(nil, disruption.Rule137, "shop", "p", app))
}

func TestZeroSetHasNoBudgets(t *testing.T) {
	var set disruption.Set
	require.Zero(t, set.Len())
	require.Empty(t, set.Allowed())
	require.Empty(t, set.Covering(nil, disruption.Rule137, "shop", "w", app))
}

func TestCompareOrdersByNamespaceThenName(t *testing.T) {
	budgets := []disruption.Budget{{Namespace: "b", Name: "a"}, {Namespace: "a", Name: "b"}, {Namespace: "a", Name: "a"}, {Name: "z"}}
	slices.SortFunc(budgets, disruption.Budget.Compare)
	want := []disruption.Budget{{Name: "z"}, {Namespace: "a", Name: "a"}, {Namespace: "a", Name: "b"}, {Namespace: "b", Name: "a"}}
	if diff := cmp.Diff(want, budgets); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestModesAndOperators(t *testing.T) {
	for mode, want := range map[disruption.Mode]bool{"": true, "Single": true, "All": true, "all": false, "PodGroup": false} {
		require.Equal(t, want, mode.Valid(), "mode %q", mode)
	}
	for mode, want := range map[disruption.Mode]bool{"": false, "Single": false, "All": true, "SurplusFirst": true} {
		require.True(t, mode.Valid())
		require.Equal(t, want, mode.Whole(), "mode %q", mode)
	}
	for o, want := range map[disruption.Operator]bool{"In": true, "NotIn": true, "Exists": true, "DoesNotExist": true, "": false, "Gt": false} {
		require.Equal(t, want, o.Valid(), "operator %q", o)
	}
}

// A budget is filed under the label that fewest others ask for, so that pods meet few that
// miss them.
func TestBudgetsAreFiledUnderTheRarestLabel(t *testing.T) {
	var budgets []disruption.Budget
	for i := range 1_000 {
		both := map[string]string{"app": "a", "of": fmt.Sprint(i)}
		budgets = append(budgets, budget(fmt.Sprint(i), 1, &disruption.Selector{MatchLabels: both}))
	}
	crowd := func() string {
		set, err := disruption.NewSet(budgets)
		require.NoError(t, err)
		require.Equal(t, len(budgets), set.Largest())
		namespace, label, n := set.Crowded()
		return fmt.Sprint(namespace, " ", label, " ", n)
	}
	require.Equal(t, "shop of=0 1", crowd())
	several := disruption.Requirement{Key: "of", Operator: disruption.In, Values: []string{"7", "7", "8"}}
	budgets = append(budgets, budget("in", 1, &disruption.Selector{MatchExpressions: []disruption.Requirement{several}}))
	require.Equal(t, "shop of=7 2", crowd())
	for i := range 3 {
		present := disruption.Requirement{Key: "tier", Operator: disruption.Exists}
		budgets = append(budgets, budget(fmt.Sprint("e", i), 1, &disruption.Selector{MatchExpressions: []disruption.Requirement{present}}))
	}
	require.Equal(t, "shop tier 3", crowd())
	for i := range 4 {
		absent := disruption.Requirement{Key: fmt.Sprint("x", i), Operator: disruption.DoesNotExist}
		budgets = append(budgets, budget(fmt.Sprint("n", i), 1, &disruption.Selector{MatchExpressions: []disruption.Requirement{absent}}))
	}
	require.Equal(t, "shop  4", crowd())
	for i := range 5 {
		budgets = append(budgets, budget(fmt.Sprint("nothing", i), 1, nil))
	}
	require.Equal(t, "shop  4", crowd(), "a selector that selects nothing is compared with no pod")

	absent := disruption.Requirement{Key: "canary", Operator: disruption.DoesNotExist}
	tier := disruption.Requirement{Key: "tier", Operator: disruption.Exists}
	budgets = []disruption.Budget{
		budget("a", 1, &disruption.Selector{MatchExpressions: []disruption.Requirement{absent, tier}}),
		budget("b", 1, &disruption.Selector{MatchExpressions: []disruption.Requirement{tier, tier, absent}}),
	}
	require.Equal(t, "shop tier 2", crowd(), "one label that is asked for is enough, wherever it stands")
}

// One namespace, a budget for each application, ten pods of each.
func BenchmarkCovering(b *testing.B) {
	for _, numBudgets := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("budgets=%d", numBudgets), func(b *testing.B) {
			var budgets []disruption.Budget
			var labels []map[string]string
			for i := range numBudgets {
				labels = append(labels, map[string]string{
					"app.kubernetes.io/name": fmt.Sprintf("app-%d", i), "app.kubernetes.io/part-of": "shop", "tier": "backend",
				})
				budgets = append(budgets, budget(fmt.Sprintf("app-%d", i), 1, &disruption.Selector{MatchLabels: labels[i]}))
			}
			set, err := disruption.NewSet(budgets)
			require.NoError(b, err)
			var dst []disruption.BudgetID
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				dst = set.Covering(dst[:0], disruption.Rule137, "shop", "pod", labels[i%numBudgets])
			}
		})
	}
}
