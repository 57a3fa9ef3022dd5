package disruption_test

import (
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

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
