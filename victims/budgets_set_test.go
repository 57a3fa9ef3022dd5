package victims_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

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
