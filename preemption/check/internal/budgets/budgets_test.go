package budgets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestPodsAreCoveredAsTheirBudgetsSay: as one by one, and selectors are asked about pods that they tell apart alone.
func TestPodsAreCoveredAsTheirBudgetsSay(t *testing.T) {
	asked, told := 0, map[int]int{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := func(prefix string, n int) string { return fmt.Sprint(prefix, r.IntN(n)) }
		list, old := make([]disruption.Budget, r.IntN(8)), r.IntN(2) == 0
		for i := range list {
			list[i] = disruption.Budget{Namespace: text("ns", 2), Name: fmt.Sprint("b", i), Selector: &disruption.Selector{}}
			switch s := list[i].Selector; r.IntN(6) {
			case 0:
				s.MatchLabels = map[string]string{text("k", 3): text("v", 4), text("k", 3): ""}
			case 1:
				list[i].Selector = nil
			case 2:
				list[i].Disrupted = []string{text("p", 9), text("p", 9)}
			default:
				op := []disruption.Operator{disruption.In, disruption.NotIn, disruption.Exists, disruption.DoesNotExist}[r.IntN(4)]
				s.MatchExpressions = []disruption.Requirement{{Key: text("k", 3), Operator: op}}
				if op == disruption.In || op == disruption.NotIn {
					s.MatchExpressions[0].Values = []string{text("v", 4), text("v", 4)}
				}
			}
		}
		s := New(list, old)
		for i := range 100 {
			p := &cluster.Pod{Namespace: text("ns", 2), Name: fmt.Sprint("p", i), Labels: map[string]string{"i": fmt.Sprint(i)}}
			for range r.IntN(3) {
				p.Labels[text("k", 3)] = []string{text("v", 4), fmt.Sprint("own", i), ""}[r.IntN(3)]
			}
			if r.IntN(9) == 0 {
				p.Labels = nil
			}
			var want []*Budget
			for _, b := range s.All {
				of := b.Namespace == p.Namespace && suits.Selector(b.Selector, p.Labels) && !slices.Contains(b.Disrupted, p.Name)
				if of && !(old && (len(p.Labels) == 0 || suits.Everything(b.Selector))) {
					want = append(want, b)
				}
			}
			require.ElementsMatch(t, want, s.Covering(p), "seed %d, pod %v", seed, p.Labels)
			require.True(t, slices.IsSortedFunc(s.Covering(p), Compare))
			told[min(len(want), 2)]++
		}
		asked += len(s.alike)
	}
	require.Less(t, asked, 300*30)
	require.Greater(t, min(told[0], told[1], told[2]), 1_000)
}
