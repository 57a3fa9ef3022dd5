package disruption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
)

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
