package disruption_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

func expression(key string, o disruption.Operator, values ...string) disruption.Requirement {
	return disruption.Requirement{Key: key, Operator: o, Values: values}
}

func expressions(rs ...disruption.Requirement) *disruption.Selector {
	return &disruption.Selector{MatchExpressions: rs}
}

func TestMatches(t *testing.T) {
	type labels = map[string]string
	for _, tt := range []struct {
		name     string
		selector *disruption.Selector
		labels   labels
		want     bool
	}{
		{"a nil selector holds for no labels", nil, labels{"app": "web"}, false},
		{"an empty selector holds for any labels", &disruption.Selector{}, labels{"app": "web"}, true},
		{"an empty selector holds without labels", &disruption.Selector{}, nil, true},
		{"a label with the value", &disruption.Selector{MatchLabels: labels{"app": "web"}}, labels{"app": "web", "x": "y"}, true},
		{"a label with another value", &disruption.Selector{MatchLabels: labels{"app": "web"}}, labels{"app": "db"}, false},
		{"an absent label", &disruption.Selector{MatchLabels: labels{"app": "web"}}, nil, false},
		{"an empty value is not an absent label", &disruption.Selector{MatchLabels: labels{"app": ""}}, labels{"x": ""}, false},
		{"an empty value equals an empty value", &disruption.Selector{MatchLabels: labels{"app": ""}}, labels{"app": ""}, true},
		{"In holds for a value of the list", expressions(expression("app", disruption.In, "web", "db", "db")), labels{"app": "db"}, true},
		{"In holds for no other value", expressions(expression("app", disruption.In, "web", "db")), labels{"app": "c"}, false},
		{"In fails where the label is absent", expressions(expression("app", disruption.In, "web")), nil, false},
		{"NotIn holds for another value", expressions(expression("app", disruption.NotIn, "web", "db")), labels{"app": "c"}, true},
		{"NotIn fails for a value of the list", expressions(expression("app", disruption.NotIn, "web", "db")), labels{"app": "web"}, false},
		{"NotIn holds where the label is absent", expressions(expression("app", disruption.NotIn, "web")), nil, true},
		{"Exists holds for an empty value", expressions(expression("app", disruption.Exists)), labels{"app": ""}, true},
		{"Exists fails where the label is absent", expressions(expression("app", disruption.Exists)), nil, false},
		{"DoesNotExist holds where the label is absent", expressions(expression("app", disruption.DoesNotExist)), nil, true},
		{"DoesNotExist fails for an empty value", expressions(expression("app", disruption.DoesNotExist)), labels{"app": ""}, false},
		{
			"labels and expressions must all hold",
			&disruption.Selector{
				MatchLabels:      labels{"app": "web"},
				MatchExpressions: []disruption.Requirement{expression("tier", disruption.In, "front")},
			},
			labels{"app": "web", "tier": "back"}, false,
		},
		{"a contradiction holds nowhere", expressions(expression("a", disruption.In, "1"), expression("a", disruption.NotIn, "1")), labels{"a": "1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := tt.selector.Compile()
			require.NoError(t, err)
			require.Equal(t, tt.want, m.Matches(tt.labels))
		})
	}
}

func TestEmptyTellsEverythingFromNothing(t *testing.T) {
	for _, tt := range []struct {
		name     string
		selector *disruption.Selector
		want     bool
	}{
		{"nil selects nothing and is not empty", nil, false},
		{"no requirement at all is empty", &disruption.Selector{}, true},
		{"a requirement is not empty", onApp, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := tt.selector.Compile()
			require.NoError(t, err)
			require.Equal(t, tt.want, m.Empty())
		})
	}
	require.False(t, (*disruption.Matcher)(nil).Matches(app), "a nil Matcher matches nothing")
	require.False(t, (*disruption.Matcher)(nil).Empty())
	require.False(t, new(disruption.Matcher).Matches(app), "the zero Matcher matches nothing")
}

func TestBadSelectors(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, tt := range []struct {
		name     string
		selector *disruption.Selector
		want     []string // fields at fault, in order
	}{
		{"In without a value", expressions(expression("a", disruption.In)), []string{"matchExpressions[0].values"}},
		{"NotIn without a value", expressions(expression("a", disruption.NotIn)), []string{"matchExpressions[0].values"}},
		{"Exists with a value", expressions(expression("a", disruption.Exists, "x")), []string{"matchExpressions[0].values"}},
		{"DoesNotExist with a value", expressions(expression("a", disruption.DoesNotExist, "x")), []string{"matchExpressions[0].values"}},
		{"an unknown operator", expressions(expression("a", "Gt", "1")), []string{"matchExpressions[0].operator"}},
		{"an operator in the wrong case", expressions(expression("a", "in", "1")), []string{"matchExpressions[0].operator"}},
		{"an empty operator", expressions(expression("a", "")), []string{"matchExpressions[0].operator"}},
		{"an empty key", expressions(expression("", disruption.Exists)), []string{"matchExpressions[0].key"}},
		{"a key with two slashes", expressions(expression("a/b/c", disruption.Exists)), []string{"matchExpressions[0].key"}},
		{"a value that is too long", expressions(expression("a", disruption.In, "x", long)), []string{"matchExpressions[0].values[1]"}},
		{"a label with a bad key", &disruption.Selector{MatchLabels: map[string]string{"-a": "x"}}, []string{`matchLabels["-a"].key`}},
		{"a label with a bad value", &disruption.Selector{MatchLabels: map[string]string{"a": "x "}}, []string{`matchLabels["a"].values[0]`}},
		{
			"all that is wrong, labels first and in order of key",
			&disruption.Selector{
				MatchLabels:      map[string]string{"b": "?", "a": "?"},
				MatchExpressions: []disruption.Requirement{expression("ok", disruption.Exists), expression("!", "?", long)},
			},
			[]string{
				`matchLabels["a"].values[0]`, `matchLabels["b"].values[0]`,
				"matchExpressions[1].key", "matchExpressions[1].operator", "matchExpressions[1].values[0]",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := tt.selector.Compile()
			require.ErrorIs(t, err, disruption.ErrSelector)
			require.False(t, m.Matches(nil), "a selector that cannot be read matches nothing")
			var fields []string
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				var at *disruption.SelectorError
				require.ErrorAs(t, e, &at)
				fields = append(fields, at.Field)
			}
			if diff := cmp.Diff(tt.want, fields); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectorsThatAreWrittenAlike(t *testing.T) {
	in := func(key string, o disruption.Operator, values ...string) *disruption.Selector {
		return &disruption.Selector{
			MatchLabels:      map[string]string{"app": "web"},
			MatchExpressions: []disruption.Requirement{{Key: key, Operator: o, Values: values}},
		}
	}
	all := []*disruption.Selector{
		nil, {}, onApp, {MatchLabels: map[string]string{"app": "db"}}, in("tier", disruption.In, "a"),
		in("tier", disruption.In, "b"), in("tier", disruption.NotIn, "a"), in("zone", disruption.In, "a"), in("tier", disruption.In, "a", "b"),
		{MatchExpressions: in("tier", disruption.In, "a").MatchExpressions},
	}
	for i, s := range all {
		for j, other := range all {
			require.Equal(t, i == j, s.Equal(other), "%+v, %+v", s, other)
		}
	}
	require.True(t, in("tier", disruption.In, "a").Equal(in("tier", disruption.In, "a")))
}

func TestSelectorErrorNamesWhatIsWrong(t *testing.T) {
	_, err := expressions(expression("tier", disruption.In)).Compile()
	require.EqualError(t, err, `disruption: selector: matchExpressions[0].values of {"tier" In []}: `+
		`[] is not at least one value, as In and NotIn need`)
	for n, values := range map[int]string{1: `"0"`, 10: `"0" "1" "2" "3" "4" "5" "6" "7" "8" "9"`, 11: `"0" "1" "2" "3" "4" "5" "6" "7" "8" "9" and 1 more`} {
		many := expression("tier", disruption.Exists)
		for i := range n {
			many.Values = append(many.Values, fmt.Sprint(i))
		}
		_, err := expressions(many).Compile()
		require.ErrorContains(t, err, `of {"tier" Exists [`+values+`]}: `)
	}
	var at *disruption.SelectorError
	require.ErrorAs(t, err, &at)
	want := &disruption.SelectorError{
		Field: "matchExpressions[0].values", Key: "tier", Operator: disruption.In, Value: "[]",
		Want: "at least one value, as In and NotIn need",
	}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompileKeepsNothingOfTheSelector(t *testing.T) {
	s := &disruption.Selector{
		MatchLabels:      map[string]string{"app": "web"},
		MatchExpressions: []disruption.Requirement{expression("tier", disruption.In, "b", "a")},
	}
	m, err := s.Compile()
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, s.MatchExpressions[0].Values, "the input is unchanged")
	s.MatchLabels["app"] = "db"
	s.MatchExpressions[0].Values[0], s.MatchExpressions[0].Operator = "c", disruption.DoesNotExist
	require.True(t, m.Matches(map[string]string{"app": "web", "tier": "b"}))
}

// plainMatch is what a selector means, a requirement at a time.
func plainMatch(s *disruption.Selector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	for k, v := range s.MatchLabels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		value, present := labels[r.Key]
		ok := false
		switch r.Operator {
		case disruption.In:
			ok = present && slices.Contains(r.Values, value)
		case disruption.NotIn:
			ok = !present || !slices.Contains(r.Values, value)
		case disruption.Exists:
			ok = present
		case disruption.DoesNotExist:
			ok = !present
		}
		if !ok {
			return false
		}
	}
	return true
}

func matchesAsItMeans(t *rapid.T) {
	s := drawSelector(t)
	labels := drawLabels(t)
	m, err := s.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Matches(labels), plainMatch(s, labels); got != want {
		t.Fatalf("%+v on %v: got %v, want %v", s, labels, got, want)
	}
}

func TestMatchesAsItMeans(t *testing.T) { rapid.Check(t, matchesAsItMeans) }
func FuzzMatchesAsItMeans(f *testing.F) { f.Fuzz(rapid.MakeFuzz(matchesAsItMeans)) }

// Whatever JSON says, Compile either explains what is wrong or gives a Matcher
// that means the same as the selector and as its copy through JSON.
func FuzzSelectorJSON(f *testing.F) {
	for _, seed := range []string{
		`null`, `{}`, `{"matchLabels":{"app":"web"}}`,
		`{"matchExpressions":[{"key":"app","operator":"NotIn","values":["web","db"]},{"key":"x","operator":"Exists"}]}`,
		`{"matchExpressions":[{"key":"","operator":"Gt"}]}`,
	} {
		f.Add([]byte(seed), "app", "web")
	}
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		var s *disruption.Selector
		if json.Unmarshal(data, &s) != nil {
			return
		}
		labels := map[string]string{key: value}
		m, err := s.Compile()
		if err != nil {
			var at *disruption.SelectorError
			if !errors.As(err, &at) || !errors.Is(err, disruption.ErrSelector) || m.Matches(labels) {
				t.Fatalf("%s: untyped error or a match: %v", data, err)
			}
			return
		}
		if got, want := m.Matches(labels), plainMatch(s, labels); got != want {
			t.Fatalf("%s on %v: got %v, want %v", data, labels, got, want)
		}
		out, err := json.Marshal(s)
		require.NoError(t, err)
		var again *disruption.Selector
		require.NoError(t, json.Unmarshal(out, &again))
		copied, err := again.Compile()
		require.NoError(t, err)
		require.Equal(t, m, copied)
	})
}

func TestMatchesAllocatesNothing(t *testing.T) {
	m, err := (&disruption.Selector{
		MatchLabels:      map[string]string{"app": "web"},
		MatchExpressions: []disruption.Requirement{expression("tier", disruption.In, "a", "b"), expression("x", disruption.DoesNotExist)},
	}).Compile()
	require.NoError(t, err)
	labels := map[string]string{"app": "web", "tier": "b"}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if !m.Matches(labels) {
			t.Fatal("does not match")
		}
	}))
}

// validMeansThatItCompiles: selectors with and without something wrong.
func validMeansThatItCompiles(t *rapid.T) {
	s := drawSelector(t)
	if s != nil {
		if rapid.IntRange(0, 3).Draw(t, "bad label") == 0 {
			s.MatchLabels = map[string]string{
				rapid.SampledFrom([]string{"a", "-", "", "x/y", "X/y"}).Draw(t, "key"): rapid.SampledFrom([]string{"1", "", "-"}).Draw(t, "value"),
			}
		}
		for i := range s.MatchExpressions {
			r := &s.MatchExpressions[i]
			switch rapid.IntRange(0, 7).Draw(t, "change") {
			case 0:
				r.Key = rapid.SampledFrom([]string{"-", "", "x/y"}).Draw(t, "key")
			case 1:
				r.Operator = rapid.SampledFrom([]disruption.Operator{"", "Like", disruption.In, disruption.Exists}).Draw(t, "operator")
			case 2:
				r.Values = rapid.SliceOfN(rapid.SampledFrom([]string{"1", "-"}), 0, 2).Draw(t, "values")
			}
		}
	}
	_, err := s.Compile()
	require.Equal(t, err == nil, s.Valid())
}

func TestValidMeansThatItCompiles(t *testing.T) { rapid.Check(t, validMeansThatItCompiles) }

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
