package columns_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// TestSeveralPickersPickTheSame: however many goroutines share the nodes.
func TestSeveralPickersPickTheSame(t *testing.T) {
	picked, budgeted := 0, 0
	for seed := range uint64(300) {
		q := gen.Crowd(seed)
		ix, err := cluster.NewIndex(&q.Snapshot)
		require.NoError(t, err)
		units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
		packed := columns.NewNodeColumns(units, victims.NewBudgets(ix, disruption.Rule137))
		if packed.Levels() == nil {
			continue
		}
		sweep := columns.NewSweep(packed)
		scan := columns.NewScan(sweep)
		pod := &q.Preemptor.Pods[0]
		sweep.Ask(domain.NewMember(ix, pod, cluster.NoPod), *pod.Priority)
		scan.Run(*pod.Priority, make([]uint64, len(packed.Levels().Blocks())))
		if scan.Fits != cluster.NoNode {
			continue
		}
		want, score := scan.PickSharing(*pod.Priority, 1)
		if want != cluster.NoNode {
			picked++
		}
		budgeted += len(scan.Budgeted)
		for _, workers := range []int{2, 3, 8} {
			have, same := scan.PickSharing(*pod.Priority, workers)
			require.Equal(t, want, have, "seed %d, %d goroutines", seed, workers)
			if want != cluster.NoNode {
				require.Equal(t, score, same)
			}
		}
	}
	require.Greater(t, picked, 50)
	require.Greater(t, budgeted, 50)
}
