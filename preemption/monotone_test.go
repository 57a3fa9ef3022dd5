package preemption_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

// TestToBeDearerIsNoReasonToGo: without budgets, a pod that is no victim is none for
// having a higher price, and a victim stays one for having a lower one; wherever the
// price counts.
func TestToBeDearerIsNoReasonToGo(t *testing.T) {
	t.Parallel()
	raised, lowered := 0, 0
	for seed := range seeds(2000) {
		q := gen.Random(seed, gen.Profile{Ports: true, Placement: true})
		priced(seed, &q)
		o := preemption.Options{Cost: []preemption.CostOptions{
			{Importance: true}, {Objective: true}, {Criterion: 1}, {Criterion: 4, Importance: true},
		}[seed%4]}
		o.Cost.Tariff = disruption.Tariff{Fixed: 1}
		o.PreferMovable = seed%3 == 0
		before := ask(&named{t, seed}, o, q)
		if before.Verdict != preemption.Feasible {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 2))
		i := r.IntN(len(q.Snapshot.Pods))
		p := &q.Snapshot.Pods[i]
		if p.Node == "" {
			continue
		}
		if isVictim(before, p) {
			p.Cost.Fixed /= 1 + r.Int64N(5)
			require.True(t, isVictim(ask(&named{t, seed}, o, q), p), "seed %d: %s is cheaper and stays", seed, p.Name)
			lowered++
		} else {
			p.Cost.Fixed = checked.Add(p.Cost.Fixed, r.Int64N(10))
			require.False(t, isVictim(ask(&named{t, seed}, o, q), p), "seed %d: %s is dearer and goes", seed, p.Name)
			raised++
		}
	}
	require.Greater(t, raised, int(seeds(300)))
	require.Greater(t, lowered, int(seeds(50)))
}

func isVictim(r *preemption.Result, p *preemption.Pod) bool {
	return slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool {
		return slices.ContainsFunc(v.Pods, func(x preemption.VictimPod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })
	})
}
