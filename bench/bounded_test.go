package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkBounded asks for most of one node of 110 pods, whose applications have a
// hard budget of one disruption each: nothing helps, which has to be proved, and told
// is by how much which budgets stand in the way.
func BenchmarkBounded(b *testing.B) {
	for _, budgets := range []int{5, 10, 20} {
		b.Run(fmt.Sprintf("budgets=%d", budgets), func(b *testing.B) {
			snapshot := budgeted(budgets)
			high := int32(100)
			p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 88_000}}}}
			pl, err := preemption.NewPlanner(&snapshot, preemption.Options{HardBudgets: preemption.HardBudgets{All: true}})
			if err != nil {
				b.Fatal(err)
			}
			relaxations := 0
			for b.Loop() {
				relaxations = len(mustPreempt(b, pl, p).Nearest.Relaxations)
			}
			b.ReportMetric(float64(relaxations), "relaxations")
		})
	}
}

// budgeted is one node with 110 pods of so many applications, each with a budget.
func budgeted(budgets int) preemption.Snapshot {
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 110_000}}}}
	for i := range budgets {
		s.Budgets = append(s.Budgets, disruption.Budget{
			Name: fmt.Sprintf("b%d", i), Allowed: 1,
			Selector: &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}},
		})
	}
	for i := range 110 {
		low := int32(i % 3)
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprintf("p%03d", i), Node: "n", Priority: &low, Labels: map[string]string{"app": fmt.Sprint(i % budgets)},
			Requests: preemption.Resources{cluster.CPU: int64(500 + i*7919%500)},
		})
	}
	return s
}
