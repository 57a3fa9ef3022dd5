package disruption_test

import (
	"fmt"
	"slices"

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
