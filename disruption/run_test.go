package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

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
