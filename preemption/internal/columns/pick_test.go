package columns_test

import (
	"runtime"
	"slices"
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
	picked, budgeted, seeds := 0, 0, 300
	if testing.Short() {
		seeds = 100
	}
	for seed := range uint64(seeds) {
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
	require.Greater(t, picked, seeds/6)
	require.Greater(t, budgeted, seeds/6)
}

// TestTheNumberOfProcessorsDoesNotMatter forms units and lays them out on one and on
// three goroutines: with groups that go as a whole, pods nominated, a crowded node, and
// pods in budgets.
func TestTheNumberOfProcessorsDoesNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed, shape := range gen.Shapes() {
		s := gen.Fleet(300, 50, uint64(seed), shape)
		three := int32(3)
		for i := range s.Pods {
			p := &s.Pods[i]
			switch {
			case i%100 == 7:
				p.Node, p.NominatedNode = "", s.Nodes[i%len(s.Nodes)].Name
			case i%1000 < 3:
				p.Group = "everywhere"
			case i%77 == 1:
				p.Node = s.Nodes[5].Name
			}
		}
		s.PodGroups = []cluster.PodGroup{{Namespace: "default", Name: "everywhere", Mode: "All", MinCount: &three}}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		var packed []*columns.NodeColumns
		var units []*victims.Units
		var covered []*victims.Budgets
		for _, processors := range []int{1, 3} {
			runtime.GOMAXPROCS(processors)
			us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
			budgets := victims.NewBudgets(ix, disruption.Rule137)
			packed, units, covered = append(packed, columns.NewNodeColumns(us, budgets)), append(units, us), append(covered, budgets)
			for n := range cluster.NodeID(ix.NumNodes()) {
				require.True(t, slices.IsSortedFunc(us.On(n), us.Compare))
				want := map[victims.UnitID]bool{}
				for _, p := range ix.PodsOn(n) {
					u, _ := us.UnitOf(p)
					want[u] = true
				}
				require.Len(t, us.On(n), len(want))
			}
		}
		require.True(t, columns.Alike(packed[0], packed[1]), shape)
		require.Equal(t, units[0].Len(), units[1].Len())
		for u := range victims.UnitID(units[0].Len()) {
			require.Equal(t, units[0].Unit(u), units[1].Unit(u))
		}
		for p := range ix.Pods() {
			require.Equal(t, covered[0].Of(p), covered[1].Of(p))
		}
		require.Positive(t, packed[0].Levels().NumOdd())
	}
}
