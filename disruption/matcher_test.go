package disruption_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

// Three pods may have to leave, and their budget allows one of them to. The most
// important one uses the allowance up, so the other two violate.
func Example() {
	budgets := []disruption.Budget{{
		Namespace: "shop", Name: "web", Allowed: 1,
		Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "web"}},
	}}
	slices.SortFunc(budgets, disruption.Budget.Compare)
	set, err := disruption.NewSet(budgets)
	if err != nil {
		fmt.Println(err)
		return
	}
	ledger := disruption.NewLedger(set.Allowed())

	rule := disruption.Rule137
	for _, pod := range []string{"web-0", "web-1", "web-2"} { // most important first
		covering := set.Covering(nil, rule, "shop", pod, map[string]string{"app": "web"})
		fmt.Println(pod, "violates:", ledger.Charge(rule, covering))
	}
	fmt.Println("overruns:", ledger.Overruns())
	// Output:
	// web-0 violates: false
	// web-1 violates: true
	// web-2 violates: true
	// overruns: 2
}

// A selector is checked where it is compiled; every fault is named.
func ExampleSelector_Compile() {
	s := &disruption.Selector{MatchExpressions: []disruption.Requirement{
		{Key: "tier", Operator: disruption.NotIn, Values: []string{"front"}},
	}}
	m, err := s.Compile()
	fmt.Println(m.Matches(map[string]string{"tier": "back"}), m.Matches(nil), err)

	s.MatchExpressions[0].Values = nil
	_, err = s.Compile()
	fmt.Println(err)
	// Output:
	// true true <nil>
	// disruption: selector: matchExpressions[0].values of {"tier" NotIn []}: [] is not at least one value, as In and NotIn need
}

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

// TestALongSelectorIsAllItsRequirements: two of one key, one of another, and others that hold without their labels.
func TestALongSelectorIsAllItsRequirements(t *testing.T) {
	pairs := []disruption.Requirement{
		expression("a", disruption.In, "1", "2"), expression("a", disruption.In, "2", "3"), expression("a", disruption.NotIn, "3"),
		expression("a", disruption.NotIn, "1", "2"), expression("a", disruption.Exists), expression("a", disruption.DoesNotExist),
	}
	for i := range pairs {
		for j := range pairs {
			for _, n := range []int{0, 3, 4, 20} {
				list := []disruption.Requirement{pairs[i], expression("b", disruption.Exists)}
				for k := range n {
					list = append(list, expression(fmt.Sprint("n", k), disruption.NotIn, "1"))
				}
				s := expressions(append(list, pairs[j])...)
				m, err := s.Compile()
				require.NoError(t, err)
				for v := range 64 {
					have := map[string]string{}
					for at, key := range []string{"a", "b", "n2"} {
						if value := v >> (2 * at) & 3; value > 0 {
							have[key] = fmt.Sprint(value)
						}
					}
					require.Equal(t, plainMatch(s, have), m.Matches(have), "%v of %v", have, s)
				}
			}
		}
	}
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

// pod is a pod of a test unit.
type pod struct {
	namespace, name string
	labels          map[string]string
}

var (
	app     = map[string]string{"app": "web"}
	onApp   = &disruption.Selector{MatchLabels: app}
	noLabel = &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.DoesNotExist}}}
)

func budget(name string, allowed int32, selector *disruption.Selector, disrupted ...string) disruption.Budget {
	return disruption.Budget{Namespace: "shop", Name: name, Selector: selector, Allowed: allowed, Disrupted: disrupted}
}

func web(name string) pod { return pod{"shop", name, app} }

// split charges the units, most important first, and returns the violations that
// each of them adds and what the budgets have left.
func split(t *testing.T, r disruption.Rule, budgets []disruption.Budget, units ...[]pod) (violations []int, left []int64) {
	t.Helper()
	set, err := disruption.NewSet(budgets)
	require.NoError(t, err)
	ledger := disruption.NewLedger(set.Allowed())
	for _, unit := range units {
		violations = append(violations, ledger.ChargeUnit(r, len(unit), func(i int) []disruption.BudgetID {
			return set.Covering(nil, r, unit[i].namespace, unit[i].name, unit[i].labels)
		}))
	}
	for b := range set.Len() {
		left = append(left, ledger.Left(disruption.BudgetID(b)))
	}
	return violations, left
}

// Every row of the three generations: what each of them answers to one question.
func TestGenerationsOfTheRule(t *testing.T) {
	type answer struct {
		Violations []int
		Left       []int64
	}
	bare := []pod{{namespace: "shop", name: "bare"}}
	for _, tt := range []struct {
		name    string
		budgets []disruption.Budget
		units   [][]pod

		pod136, group136, both137 answer
	}{
		{
			name:     "a pod without labels is matched in v1.37 only",
			budgets:  []disruption.Budget{budget("b", 0, noLabel)},
			units:    [][]pod{bare},
			pod136:   answer{[]int{0}, []int64{0}},
			group136: answer{[]int{0}, []int64{0}},
			both137:  answer{[]int{1}, []int64{-1}},
		},
		{
			name:     "an empty selector covers every pod in v1.37, none before",
			budgets:  []disruption.Budget{budget("b", 0, &disruption.Selector{})},
			units:    [][]pod{{web("w1")}, {web("w2")}},
			pod136:   answer{[]int{0, 0}, []int64{0}},
			group136: answer{[]int{0, 0}, []int64{0}},
			both137:  answer{[]int{1, 1}, []int64{-2}},
		},
		{
			name:     "an empty selector covers a pod without labels in v1.37",
			budgets:  []disruption.Budget{budget("b", 0, &disruption.Selector{})},
			units:    [][]pod{bare},
			pod136:   answer{[]int{0}, []int64{0}},
			group136: answer{[]int{0}, []int64{0}},
			both137:  answer{[]int{1}, []int64{-1}},
		},
		{
			name:     "a nil selector covers nothing ever",
			budgets:  []disruption.Budget{budget("b", 0, nil)},
			units:    [][]pod{{web("w")}, bare},
			pod136:   answer{[]int{0, 0}, []int64{0}},
			group136: answer{[]int{0, 0}, []int64{0}},
			both137:  answer{[]int{0, 0}, []int64{0}},
		},
		{
			name: "two budgets on a pod are both charged by the pod rule, the others stop at the first below zero",
			budgets: []disruption.Budget{
				budget("p1", 0, &disruption.Selector{MatchLabels: map[string]string{"x": "x"}}),
				budget("p2", 1, onApp),
			},
			units:    [][]pod{{{"shop", "x", map[string]string{"app": "web", "x": "x"}}}, {web("y")}},
			pod136:   answer{[]int{1, 1}, []int64{-1, -1}},
			group136: answer{[]int{1, 0}, []int64{-1, 0}},
			both137:  answer{[]int{1, 0}, []int64{-1, 0}},
		},
		{
			name: "with the spent budget last the first one is charged by every rule",
			budgets: []disruption.Budget{
				budget("p1", 1, onApp),
				budget("p2", 0, &disruption.Selector{MatchLabels: map[string]string{"x": "x"}}),
			},
			units:    [][]pod{{{"shop", "x", map[string]string{"app": "web", "x": "x"}}}, {web("y")}},
			pod136:   answer{[]int{1, 1}, []int64{-1, -1}},
			group136: answer{[]int{1, 1}, []int64{-1, -1}},
			both137:  answer{[]int{1, 1}, []int64{-1, -1}},
		},
		{
			name:     "the group rule of v1.36 stops at the first violating pod of a unit and counts units",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("g1"), web("g2"), web("g3"), web("g4")}, {web("h")}},
			pod136:   answer{[]int{3, 1}, []int64{-4}},
			group136: answer{[]int{1, 1}, []int64{-2}},
			both137:  answer{[]int{3, 1}, []int64{-4}},
		},
		{
			name:     "a disrupted pod is passed over: no charge and no violation",
			budgets:  []disruption.Budget{budget("b", 0, onApp, "gone")},
			units:    [][]pod{{web("gone")}, {web("w")}},
			pod136:   answer{[]int{0, 1}, []int64{-1}},
			group136: answer{[]int{0, 1}, []int64{-1}},
			both137:  answer{[]int{0, 1}, []int64{-1}},
		},
		{
			name:     "a budget below zero is violated by the first pod and goes further down",
			budgets:  []disruption.Budget{budget("b", -3, onApp)},
			units:    [][]pod{{web("w")}},
			pod136:   answer{[]int{1}, []int64{-4}},
			group136: answer{[]int{1}, []int64{-4}},
			both137:  answer{[]int{1}, []int64{-4}},
		},
		{
			name:     "the lowest allowance of all does not wrap",
			budgets:  []disruption.Budget{budget("b", -1<<31, onApp)},
			units:    [][]pod{{web("w")}, {web("v")}},
			pod136:   answer{[]int{1, 1}, []int64{-1<<31 - 2}},
			group136: answer{[]int{1, 1}, []int64{-1<<31 - 2}},
			both137:  answer{[]int{1, 1}, []int64{-1<<31 - 2}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, c := range []struct {
				generation string
				rule       disruption.Rule
				want       answer
			}{
				{"PodRule136", disruption.PodRule136, tt.pod136},
				{"GroupRule136", disruption.GroupRule136, tt.group136},
				{"Rule137", disruption.Rule137, tt.both137},
			} {
				var got answer
				got.Violations, got.Left = split(t, c.rule, tt.budgets, tt.units...)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.generation, diff)
				}
			}
		})
	}
}

// Upstream's own scenarios, TestFilterVictimsWithPDBViolation.
func TestFilterVictimsWithPDBViolation(t *testing.T) {
	for _, tt := range []struct {
		name     string
		budgets  []disruption.Budget
		units    [][]pod
		group136 []int
		both137  []int
	}{
		{
			name:     "no budget, no violation",
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "a budget of another namespace does not match",
			budgets:  []disruption.Budget{{Namespace: "other", Name: "b", Selector: onApp}},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "one allowed, one victim",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "none allowed, the victim violates",
			budgets:  []disruption.Budget{budget("b", 0, onApp)},
			units:    [][]pod{{web("a")}},
			group136: []int{1}, both137: []int{1},
		},
		{
			name:     "a group of two with one allowed violates",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("a"), web("b")}},
			group136: []int{1}, both137: []int{1},
		},
		{
			name:     "a group of two with two allowed",
			budgets:  []disruption.Budget{budget("b", 2, onApp)},
			units:    [][]pod{{web("a"), web("b")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "two units with one allowed: the second violates",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("a")}, {web("b")}},
			group136: []int{0, 1}, both137: []int{0, 1},
		},
		{
			name:     "a pod among the disrupted ones does not violate",
			budgets:  []disruption.Budget{budget("b", 0, onApp, "a")},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "an empty selector does not violate, since v1.37 it does",
			budgets:  []disruption.Budget{budget("b", 0, &disruption.Selector{})},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{1},
		},
		{
			name:     "two budgets, the second without allowance",
			budgets:  []disruption.Budget{budget("b1", 1, onApp), budget("b2", 0, onApp)},
			units:    [][]pod{{web("a")}},
			group136: []int{1}, both137: []int{1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := split(t, disruption.GroupRule136, tt.budgets, tt.units...)
			if diff := cmp.Diff(tt.group136, got); diff != "" {
				t.Errorf("GroupRule136 (-want +got):\n%s", diff)
			}
			got, _ = split(t, disruption.Rule137, tt.budgets, tt.units...)
			if diff := cmp.Diff(tt.both137, got); diff != "" {
				t.Errorf("Rule137 (-want +got):\n%s", diff)
			}
		})
	}
}

// The generators draw from few keys, values and names, so that things collide.

func drawLabels(t *rapid.T) map[string]string {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"", "1", "2"}), 0, 3).Draw(t, "labels")
}

func drawSelector(t *rapid.T) *disruption.Selector {
	if rapid.IntRange(0, 9).Draw(t, "nil") == 0 {
		return nil
	}
	s := &disruption.Selector{}
	if rapid.Bool().Draw(t, "match labels") {
		s.MatchLabels = drawLabels(t)
	}
	for range rapid.IntRange(0, 2).Draw(t, "expressions") {
		r := disruption.Requirement{
			Key:      rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"),
			Operator: rapid.SampledFrom([]disruption.Operator{disruption.In, disruption.NotIn, disruption.Exists, disruption.DoesNotExist}).Draw(t, "operator"),
		}
		if r.Operator == disruption.In || r.Operator == disruption.NotIn {
			r.Values = rapid.SliceOfN(rapid.SampledFrom([]string{"", "1", "2", "3"}), 1, 3).Draw(t, "values")
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	return s
}

func drawBudgets(t *rapid.T) []disruption.Budget {
	budgets := make([]disruption.Budget, rapid.IntRange(0, 6).Draw(t, "budgets"))
	for i := range budgets {
		budgets[i] = disruption.Budget{
			Namespace: rapid.SampledFrom([]string{"", "shop"}).Draw(t, "namespace"),
			Selector:  drawSelector(t),
			Disrupted: rapid.SliceOfN(rapid.SampledFrom([]string{"p", "q", "r"}), 0, 2).Draw(t, "disrupted"),
		}
	}
	return budgets
}

// drawRule draws any combination, not only upstream's three.
func drawRule(t *rapid.T) disruption.Rule {
	return disruption.Rule{
		EmptySelectorCoversAll: rapid.Bool().Draw(t, "empty selector covers all"),
		UnlabelledCovered:      rapid.Bool().Draw(t, "unlabelled covered"),
		StopAtFirst:            rapid.Bool().Draw(t, "stop at first"),
		WholeUnit:              rapid.Bool().Draw(t, "whole unit"),
		CountPods:              rapid.Bool().Draw(t, "count pods"),
	}
}

const numLedgerBudgets = 4

func drawAllowed(t *rapid.T) []int32 {
	return rapid.SliceOfN(rapid.Int32Range(-2, 3), numLedgerBudgets, numLedgerBudgets).Draw(t, "allowed")
}

// drawPods draws, for each of some pods, the budgets that cover it, ascending.
func drawPods(t *rapid.T) [][]disruption.BudgetID {
	pods := make([][]disruption.BudgetID, rapid.IntRange(0, 6).Draw(t, "pods"))
	for i := range pods {
		for b := range numLedgerBudgets {
			if rapid.Bool().Draw(t, "covered") {
				pods[i] = append(pods[i], disruption.BudgetID(b))
			}
		}
	}
	return pods
}

func curve(t require.TestingT, first int64, points ...disruption.Milestone) disruption.Curve {
	c, err := disruption.NewCurve(first, points)
	require.NoError(t, err)
	return c
}

func TestCurve(t *testing.T) {
	kep := curve(t, 0, disruption.Milestone{Seconds: 60, Value: 100}, disruption.Milestone{Seconds: 600})
	for seconds, want := range map[int64]int64{
		math.MinInt64: 0, -1: 0, 0: 0, 1: 1, 30: 50, 59: 98, 60: 100, 61: 99, 330: 50, 599: 0, 600: 0, math.MaxInt64: 0,
	} {
		require.Equal(t, want, kep.At(seconds), "KEP-83's curve after %d seconds", seconds)
	}
	raised := curve(t, 7, disruption.Milestone{Seconds: 10, Value: 17})
	require.Equal(t, []int64{7, 7, 12, 17, 17}, []int64{raised.At(-5), raised.At(0), raised.At(5), raised.At(10), raised.At(11)})
	fromZero := curve(t, 7, disruption.Milestone{Seconds: 0, Value: 3}, disruption.Milestone{Seconds: 2, Value: -4})
	require.Equal(t, []int64{3, 3, -1, -4}, []int64{fromZero.At(-1), fromZero.At(0), fromZero.At(1), fromZero.At(2)}, "rounded down, below zero too")
	require.Equal(t, int64(9), curve(t, 9).At(1000), "without milestones it stays where it begins")
	require.Zero(t, disruption.Curve{}.At(5))

	wide := curve(t, math.MinInt64, disruption.Milestone{Seconds: math.MaxInt64, Value: math.MaxInt64})
	require.Equal(t, int64(math.MinInt64), wide.At(0))
	require.Equal(t, int64(math.MaxInt64), wide.At(math.MaxInt64))
	require.Equal(t, int64(-2), wide.At(math.MaxInt64/2), "half-way between -2 and -1")
}

// TestUntilTheNextValue: a curve tells how long it stays as it is.
func TestUntilTheNextValue(t *testing.T) {
	level := curve(t, 5, disruption.Milestone{Seconds: 1, Value: 100}, disruption.Milestone{Seconds: 600, Value: 100}, disruption.Milestone{Seconds: 700})
	require.Equal(t, int64(5), level.At(0), "it begins where it is said to, and not with the first milestone")
	for seconds, want := range map[int64]int64{
		math.MinInt64: 1, -1: 1, 0: 1, 1: 600, 2: 600, 599: 600, 600: 601, 601: 602, 699: 700, 700: math.MaxInt64, 701: math.MaxInt64,
	} {
		require.Equal(t, want, level.Until(seconds), "after %d seconds", seconds)
	}
	require.Equal(t, int64(math.MaxInt64), disruption.Curve{}.Until(0))
}

func TestMilestonesOutOfOrder(t *testing.T) {
	_, err := disruption.NewCurve(0, []disruption.Milestone{{Seconds: -1}, {Seconds: 5}, {Seconds: 5}, {Seconds: 4}})
	require.ErrorIs(t, err, disruption.ErrMilestone)
	require.EqualError(t, err, "disruption: milestones[0].seconds: -1 is not >= 0\n"+
		"disruption: milestones[2].seconds: 5 is not above those of the milestone before, 5\n"+
		"disruption: milestones[3].seconds: 4 is not above those of the milestone before, 5")
	_, err = disruption.NewCurve(0, []disruption.Milestone{{Seconds: 5}, {Seconds: 5}})
	require.EqualError(t, err, "disruption: milestones[1].seconds: 5 is not above those of the milestone before, 5")
}

// curveIsExact compares with arithmetic without bounds.
func curveIsExact(t *rapid.T) {
	first := rapid.Int64().Draw(t, "first")
	seconds := rapid.SliceOfNDistinct(rapid.Int64Range(1, math.MaxInt64), 1, 4, rapid.ID).Draw(t, "seconds")
	points := []disruption.Milestone{}
	for _, s := range seconds {
		points = append(points, disruption.Milestone{Seconds: s, Value: rapid.Int64().Draw(t, "value")})
	}
	for i := range points {
		for j := range i {
			if points[i].Seconds < points[j].Seconds {
				points[i], points[j] = points[j], points[i]
			}
		}
	}
	at := rapid.Int64().Draw(t, "at")
	want := first
	last := disruption.Milestone{Value: first}
	for _, p := range points {
		switch {
		case at >= p.Seconds:
			want = p.Value
		case at > last.Seconds:
			rise := new(big.Int).Sub(big.NewInt(p.Value), big.NewInt(last.Value))
			rise.Mul(rise, big.NewInt(at-last.Seconds))
			rise.Div(rise, big.NewInt(p.Seconds-last.Seconds)) // Euclidean: rounds down, as the divisor is positive
			want = rise.Add(rise, big.NewInt(last.Value)).Int64()
		}
		if at < p.Seconds {
			break
		}
		last = p
	}
	c := curve(t, first, points...)
	require.Equal(t, want, c.At(at))
	until := c.Until(at)
	if until == math.MaxInt64 {
		require.Equal(t, want, c.At(until))
		return
	}
	require.Greater(t, until, at)
	require.Equal(t, want, c.At(rapid.Int64Range(at, until-1).Draw(t, "before")), "until %d", until)
}
func TestCurveIsExact(t *testing.T) { rapid.Check(t, curveIsExact) }
func FuzzCurveIsExact(f *testing.F) { f.Fuzz(rapid.MakeFuzz(curveIsExact)) }

// The curve of KEP-83: cheap at first, dear after a minute, cheap again once there
// is a checkpoint.
func ExampleCurve_At() {
	c, err := disruption.NewCurve(0, []disruption.Milestone{{Seconds: 60, Value: 100}, {Seconds: 600, Value: 0}})
	if err != nil {
		panic(err)
	}
	for _, seconds := range []int64{0, 30, 60, 330, 600} {
		fmt.Println(seconds, c.At(seconds))
	}
	// Output:
	// 0 0
	// 30 50
	// 60 100
	// 330 50
	// 600 0
}

func TestTariff(t *testing.T) {
	tariff := disruption.Tariff{Fixed: 1, Milestones: 2, Restart: 3, Pods: 4}
	require.NoError(t, tariff.Validate())
	require.Equal(t, int64(10+2*20+3*30+4*40), tariff.Price(disruption.Loss{Fixed: 10, Curve: 20, RestartSeconds: 30, Pods: 40}))
	require.Equal(t, int64(math.MaxInt64), tariff.Price(disruption.Loss{Fixed: math.MaxInt64, Curve: math.MaxInt64}))
	require.True(t, disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {}}}.Free())
	require.False(t, disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1}}}.Free())
	require.False(t, tariff.Free())
	require.True(t, disruption.Tariff{}.Free())
	for _, one := range []disruption.Tariff{{Fixed: 1}, {Milestones: 1}, {Restart: 1}, {Pods: 1}} {
		require.False(t, one.Free(), "%+v", one)
	}

	bad := disruption.Tariff{Fixed: -1, Milestones: -4, Restart: -5, Pods: -6, Work: map[string]disruption.Rate{"b": {Price: -2}, "a": {Per: -3}}}
	require.EqualError(t, bad.Validate(), "disruption: tariff: fixed: -1 is not >= 0\n"+
		"disruption: tariff: milestones: -4 is not >= 0\ndisruption: tariff: restart: -5 is not >= 0\ndisruption: tariff: pods: -6 is not >= 0\n"+
		"disruption: tariff: work[a].per: -3 is not >= 0\ndisruption: tariff: work[b].price: -2 is not >= 0")
}

// pricesAreExact compares with arithmetic without bounds.
func pricesAreExact(t *rapid.T) {
	draw := func(name string) int64 { return rapid.Int64Range(0, math.MaxInt64).Draw(t, name) }
	priceIsExact(t, draw("a"), draw("b"), draw("price"), draw("per"))
}

func priceIsExact(t require.TestingT, a, b, price, per int64) {
	clamp := func(x *big.Int) int64 {
		if !x.IsInt64() {
			return math.MaxInt64
		}
		return x.Int64()
	}
	product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	work := new(big.Int).Mul(product, big.NewInt(price))
	work.Div(work, big.NewInt(max(per, 1)))
	require.Equal(t, clamp(work), disruption.Rate{Price: price, Per: per}.Of(a, b))
}

// TestPricesAreExactAtTheEnds: products of 192 bits whose parts carry, or are as large as what divides them.
func TestPricesAreExactAtTheEnds(t *testing.T) {
	for _, tt := range []struct{ a, b, price, per int64 }{
		{1 << 62, 28, 1, 7}, // 7 and 64 bits of zeroes, by 7
		{1 << 62, 28, 1, 8},
		{math.MaxInt64, 0x6666666666666668, 5, 1},              // just above 2^128: the lower parts carry into the highest
		{math.MaxInt64, 0x6666666666666668, 5, math.MaxInt64},  // which is then 1, and so is the next one
		{math.MaxInt64, 0x6666666666666668, 10, math.MaxInt64}, // where there is 1 already
		{1 << 62, 1 << 62, 32, math.MaxInt64},                  // 2 and 128 bits of zeroes
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 2, 3, 6},
		{math.MaxInt64, 2, 3, 0},
	} {
		priceIsExact(t, tt.a, tt.b, tt.price, tt.per)
	}
}

func TestPricesAreExact(t *testing.T) { rapid.Check(t, pricesAreExact) }
func FuzzPricesAreExact(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pricesAreExact)) }

type ids = []disruption.BudgetID

func left(l *disruption.Ledger) []int64 {
	out := make([]int64, l.Len())
	for b := range out {
		out[b] = l.Left(disruption.BudgetID(b))
	}
	return out
}

func widen(allowed []int32) []int64 {
	out := make([]int64, len(allowed))
	for i, n := range allowed {
		out[i] = int64(n)
	}
	return out
}

// plainCharge is the rule on a plain slice: one unit's violations.
func plainCharge(left []int64, r disruption.Rule, unit [][]disruption.BudgetID) int {
	violating := 0
	for _, pod := range unit {
		violates := false
		for _, b := range pod {
			left[b]--
			if left[b] < 0 {
				violates = true
				if r.StopAtFirst {
					break
				}
			}
		}
		if violates {
			violating++
			if !r.WholeUnit {
				break
			}
		}
	}
	if violating > 0 && !r.CountPods {
		return 1
	}
	return violating
}

func ledgerFollowsTheRule(t *rapid.T) {
	allowed, rule := drawAllowed(t), drawRule(t)
	ledger, plain := disruption.NewLedger(allowed), widen(allowed)
	for range rapid.IntRange(0, 4).Draw(t, "units") {
		unit := drawPods(t)
		want := plainCharge(plain, rule, unit)
		got := ledger.ChargeUnit(rule, len(unit), func(i int) ids { return unit[i] })
		if got != want {
			t.Fatalf("%v of %v: %d violations, want %d", unit, plain, got, want)
		}
		if diff := cmp.Diff(plain, left(ledger)); diff != "" {
			t.Fatalf("left (-plain +ledger):\n%s", diff)
		}
	}
	ledger.Reset()
	if diff := cmp.Diff(widen(allowed), left(ledger)); diff != "" {
		t.Fatalf("Reset left a trace (-allowed +left):\n%s", diff)
	}
	if n := ledger.Overruns(); n != 0 {
		t.Fatalf("overruns %d after Reset", n)
	}
}

func TestLedgerFollowsTheRule(t *testing.T) { rapid.Check(t, ledgerFollowsTheRule) }
func FuzzLedgerFollowsTheRule(f *testing.F) { f.Fuzz(rapid.MakeFuzz(ledgerFollowsTheRule)) }

func TestRefundIsTheInverseOfChargeAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed, pods := drawAllowed(t), drawPods(t)
		ledger := disruption.NewLedger(allowed)
		ledger.Charge(drawRule(t), ids{0, 2}) // not from the start only
		before, overruns := left(ledger), ledger.Overruns()
		for _, pod := range pods {
			violates := ledger.ChargeAll(pod)
			below := slices.ContainsFunc(pod, func(b disruption.BudgetID) bool { return ledger.Left(b) < 0 })
			if violates != below {
				t.Fatalf("charging %v says violates=%v, left %v", pod, violates, left(ledger))
			}
		}
		order := rapid.Permutation(pods).Draw(t, "return order")
		for _, pod := range order {
			ledger.Refund(pod)
		}
		if diff := cmp.Diff(before, left(ledger)); diff != "" {
			t.Fatalf("(-before +after):\n%s", diff)
		}
		if got := ledger.Overruns(); got != overruns {
			t.Fatalf("overruns %d, before %d", got, overruns)
		}
	})
}

func TestOverrunsAreAFunctionOfTheVictims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed, victims := drawAllowed(t), drawPods(t)
		var want int64
		for b, n := range allowed {
			charged := 0
			for _, pod := range victims {
				if slices.Contains(pod, disruption.BudgetID(b)) {
					charged++
				}
			}
			want += max(0, int64(charged)-max(0, int64(n)))
		}
		ledger := disruption.NewLedger(allowed)
		for _, pod := range rapid.Permutation(victims).Draw(t, "order") {
			ledger.ChargeAll(pod)
		}
		if got := ledger.Overruns(); got != want {
			t.Fatalf("overruns %d, want %d", got, want)
		}
	})
}

func TestOverruns(t *testing.T) {
	for _, tt := range []struct {
		name    string
		allowed []int32
		victims [][]disruption.BudgetID
		want    int64
	}{
		{"nobody leaves", []int32{0, -5}, nil, 0},
		{"within the allowance", []int32{2}, [][]disruption.BudgetID{{0}, {0}}, 0},
		{"one too many", []int32{1}, [][]disruption.BudgetID{{0}, {0}}, 1},
		{"an old debt is not counted", []int32{-5}, [][]disruption.BudgetID{{0}}, 1},
		{"a pod under two spent budgets counts for both", []int32{0, 0}, [][]disruption.BudgetID{{0, 1}}, 2},
		{"what one budget has left does not help another", []int32{9, 0}, [][]disruption.BudgetID{{0, 1}}, 1},
		{"the lowest allowance does not wrap", []int32{-1 << 31}, [][]disruption.BudgetID{{0}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ledger := disruption.NewLedger(tt.allowed)
			for _, pod := range tt.victims {
				ledger.ChargeAll(pod)
			}
			require.Equal(t, tt.want, ledger.Overruns())
		})
	}
}

func TestCloneOfALedger(t *testing.T) {
	fresh := disruption.NewLedger([]int32{0, 1})
	charged := fresh.Clone()
	charged.ChargeAll(ids{0, 1})
	require.EqualValues(t, 1, charged.Overruns())
	other := disruption.NewLedger([]int32{5, 5, 5})
	other.ChargeAll(ids{2})
	other.CopyFrom(charged)
	for _, again := range []*disruption.Ledger{charged.Clone(), other} {
		require.Equal(t, 2, again.Len())
		again.ChargeAll(ids{1})
		require.EqualValues(t, 2, again.Overruns())
		again.Reset()
		require.Zero(t, again.Overruns())
		require.EqualValues(t, 1, charged.Overruns(), "what happens to a copy leaves the other as it is")
		require.Zero(t, fresh.Overruns())
	}
}

func TestLedgerKeepsNothingOfItsInput(t *testing.T) {
	allowed := []int32{1}
	ledger := disruption.NewLedger(allowed)
	allowed[0] = 9
	require.True(t, !ledger.ChargeAll(ids{0}) && ledger.ChargeAll(ids{0}))
	ledger.Reset()
	require.EqualValues(t, 1, ledger.Left(0))
}

func TestLedgerAllocatesNothing(t *testing.T) {
	ledger := disruption.NewLedger([]int32{1, 0, 2})
	unit := [][]disruption.BudgetID{{0, 1}, {1, 2}, nil}
	var violations int
	var overruns int64
	require.Zero(t, testing.AllocsPerRun(100, func() {
		violations = ledger.ChargeUnit(disruption.Rule137, len(unit), func(i int) ids { return unit[i] })
		ledger.Charge(disruption.PodRule136, unit[0])
		ledger.ChargeAll(unit[1])
		ledger.Refund(unit[1])
		overruns = ledger.Overruns()
		ledger.Reset()
	}))
	require.Equal(t, 2, violations)
	require.EqualValues(t, 4, overruns)
}

// TestChargeRunIsChargeOfEach: pods in a row that the same budgets cover leave the same, whether they are charged
// together or one by one.
func TestChargeRunIsChargeOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed := rapid.SliceOfN(rapid.Int32Range(-2, 6), 1, 4).Draw(t, "allowed")
		rule := disruption.Rule{
			StopAtFirst: rapid.Bool().Draw(t, "stop at first"), WholeUnit: rapid.Bool().Draw(t, "whole unit"), CountPods: true,
		}
		together, each := disruption.NewLedger(allowed), disruption.NewLedger(allowed)
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			var of []disruption.BudgetID
			for b := range allowed {
				if rapid.Bool().Draw(t, "covers") {
					of = append(of, disruption.BudgetID(b))
				}
			}
			n := rapid.IntRange(0, 12).Draw(t, "pods")
			require.Equal(t, each.ChargeUnit(rule, n, func(int) []disruption.BudgetID { return of }), together.ChargeRun(rule, n, of))
			for b := range allowed {
				require.Equal(t, each.Left(disruption.BudgetID(b)), together.Left(disruption.BudgetID(b)))
			}
			require.Equal(t, each.Overruns(), together.Overruns())
		}
	})
}
