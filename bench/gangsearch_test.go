package bench_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

// leastOfThePass is how many pods go at least for members that ask for cpu, over all placements on full nodes of single pods of one priority,
// if on each node go whom upstream's pass takes there.
func leastOfThePass(t testing.TB, snap *preemption.Snapshot, members int, cpu int64) int {
	on := map[string][]preemption.Pod{}
	for _, p := range snap.Pods {
		on[p.Node] = append(on[p.Node], p)
	}
	least := make([]int, members+1) // by how many have a place; -1: none have
	for i := range least {
		least[i] = -1
	}
	least[0] = 0
	for _, n := range snap.Nodes {
		one := preemption.Snapshot{Time: snap.Time, Nodes: []preemption.Node{n}, Pods: on[n.Name], PriorityClasses: snap.PriorityClasses}
		var victims []int // of one member, of two, and so on
		for len(victims) < members {
			r, err := preemption.Preempt(gang(len(victims)+1, cpu), &one)
			require.NoError(t, err)
			if r.Verdict != preemption.Feasible {
				require.Equal(t, preemption.Infeasible, r.Verdict)
				break
			}
			victims = append(victims, len(r.Victims))
		}
		for all := members; all > 0; all-- {
			for i, v := range victims[:min(all, len(victims))] {
				if before := least[all-i-1]; before >= 0 && (least[all] < 0 || before+v < least[all]) {
					least[all] = before + v
				}
			}
		}
	}
	return least[members]
}

// TestGreedyIsNearTheLeastOfThePass: Greedy chooses the nodes, upstream's pass chooses who goes there. No more than a twentieth
// more go by the choice of nodes than have to.
func TestGreedyIsNearTheLeastOfThePass(t *testing.T) {
	for _, cpu := range []int64{1_000, 2_000, 4_000, 8_000, 16_000} {
		snap := gen.Fleet(120, 30, seed, gen.Tied)
		least := leastOfThePass(t, &snap, 40, cpu)
		r, err := preemption.Preempt(gang(40, cpu), &snap)
		require.NoError(t, err)
		t.Logf("%d milli-CPUs: %d pods, at least %d", cpu, len(r.Victims), least)
		require.GreaterOrEqual(t, len(r.Victims), least, "%d", cpu)
		require.LessOrEqual(t, 20*len(r.Victims), 21*least, "%d", cpu)
	}
}

// BenchmarkGangSearch: a gang of equal members in a full cluster, by how hard the least
// disruption is looked for. In the tied fleet all pods have one priority; there pass-least is
// the least that Greedy could come to with whom upstream's pass takes on each node.
func BenchmarkGangSearch(b *testing.B) {
	shapes := []struct {
		members int
		cpu     int64
	}{{32, 8_000}, {512, 8_000}, {512, 16_000}, {512, 4_000}}
	if testing.Short() {
		shapes = shapes[:1]
	}
	for _, fleet := range []struct {
		name  string
		shape gen.Shape
	}{{"uniform", gen.Uniform}, {"tied", gen.Tied}} {
		snap := gen.Fleet(5_000, 30, seed, fleet.shape)
		for _, g := range shapes {
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
				b.Run(fmt.Sprintf("fleet=%s/members=%d/cpu=%d/search=%s", fleet.name, g.members, g.cpu, search), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Search: search})
					if err != nil {
						b.Fatal(err)
					}
					p := gang(g.members, g.cpu)
					optimal, pods := 0, 0
					for b.Loop() {
						r := mustPreempt(b, pl, p)
						if r.Optimal {
							optimal++
						}
						for _, v := range r.Victims {
							pods += len(v.Pods)
						}
					}
					if fleet.shape == gen.Tied && search == preemption.Greedy {
						b.ReportMetric(float64(leastOfThePass(b, &snap, g.members, g.cpu)), "pass-least")
					}
					b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
					b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
				})
			}
		}
	}
}
