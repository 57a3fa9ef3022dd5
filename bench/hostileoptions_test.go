package bench_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// demanding are options under which more is looked for.
var demanding = []struct {
	name string
	o    preemption.Options
}{
	{"fewest-pods", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionPods}}},
	{"fewest-stranded", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionStranded}}},
	{"fewest-nodes", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionNodes, preemption.CriterionGroups, preemption.CriterionLevels}}},
	{"fewest-in-turn", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionCascade}}},
	{"fewest-in-a-chain", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade}, Chain: 4}},
	{"only-moves-in-a-chain", preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 4}},
	{"fewest-in-turn-guarded", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionCascade}, Guards: preemption.Guards{GuaranteedSeconds: 60}}},
	{"cheapest", preemption.Options{Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	{"hard-budgets", preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}},
	{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}, LowestLevel: true, Candidates: true}},
	{"only-moves", preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}},
	{"fewest-in-use", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionDevices, preemption.CriterionDomains + "rack"}}},
	{"early-text", preemption.Options{Rules: preemption.KEP5710Alpha, Placement: preemption.PlacePack, Candidates: true}},
	{"proof", preemption.Options{Proof: true}},
	{"proof-of-price", preemption.Options{Proof: true, HardBudgets: preemption.HardBudgets{All: true}, Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	{"guarding", guarding},
	{"v1.36", preemption.Options{Rules: preemption.Kubernetes136, Candidates: true, RepeatReprieve: preemption.On}},
}

// TestHostileUnderOptions asks each attack in very small under options that demand more, under every fourth of them: it ends in
// an answer that holds, or in a typed error. The benchmark below asks the others, too.
func TestHostileUnderOptions(t *testing.T) {
	for i, a := range attacks {
		for k, d := range demanding {
			if (i+k)%4 > 0 {
				continue
			}
			q := a.ask(min(a.small, 4))
			if q.run != nil {
				continue
			}
			r, err := d.o.Preempt(q.p, &q.snap)
			if err != nil {
				require.ErrorIs(t, err, cluster.ErrInvalid, "%s, %s", a.name, d.name)
				continue
			}
			require.Empty(t, check.Verify(&q.snap, d.o, q.p, r), "%s, %s", a.name, d.name)
		}
	}
}

// BenchmarkHostileUnderOptions is what they take in full.
func BenchmarkHostileUnderOptions(b *testing.B) {
	for _, a := range attacks {
		n := a.large
		if testing.Short() {
			n = min(a.small, 4)
		}
		question := sync.OnceValue(func() hostileQuestion { return a.ask(n) })
		for _, d := range demanding {
			b.Run(fmt.Sprintf("attack=%s/options=%s/size=%d", a.name, d.name, n), func(b *testing.B) {
				q := question()
				if q.run != nil {
					b.Skip("it makes calls of its own")
				}
				stop := watchHeap()
				for b.Loop() {
					_, _ = d.o.Preempt(q.p, &q.snap) // a typed error is an answer
				}
				b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
			})
		}
	}
}
