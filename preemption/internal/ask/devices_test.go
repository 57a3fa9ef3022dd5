package ask_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// TestASlotRowTellsWhatTheConstraintDoes: whoever goes, so many members fit as the row says; it does not tell where somebody says what he holds, is nominated, or
// asks for a fraction of another size.
func TestASlotRowTellsWhatTheConstraintDoes(t *testing.T) {
	told, some := 0, 0
	for seed := range uint64(2000) {
		draw := rand.New(rand.NewPCG(seed, 1))
		size, odd, sizes := 2+draw.Int64N(6), false, map[int64]bool{}
		drawn := func(name string) cluster.Pod {
			r := cluster.DeviceRequest{Resource: "gpu", Fraction: size + draw.Int64N(12)/11}
			if draw.IntN(2) == 0 {
				r = cluster.DeviceRequest{Resource: "gpu", Count: 1 + draw.Int32N(2)}
			} else {
				sizes[r.Fraction] = true
			}
			return cluster.Pod{Name: name, Devices: []cluster.DeviceRequest{r}}
		}
		s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 1 + draw.Int32N(5), Capacity: 10}}}}}
		for i := range 1 + draw.IntN(6) {
			p := drawn(fmt.Sprint("p", i))
			switch p.Node = "n"; draw.IntN(30) {
			case 0:
				p.Devices[0].Assigned, odd = make([]int32, max(p.Devices[0].Count, 1)), true
				if len(p.Devices[0].Assigned) > 1 {
					p.Devices[0].Assigned[1] = 1
				}
			case 1:
				p.Node, p.NominatedNode, odd = "", "n", true
			}
			s.Pods = append(s.Pods, p)
		}
		pod := drawn("m")
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		row, ok := ask.SlotRow(ix, 0, &pod, ix.NumPods(), func(i int) []cluster.PodID { return []cluster.PodID{cluster.PodID(i)} })
		if require.Equal(t, !odd && len(sizes) < 2, ok, "seed %d", seed); !ok {
			continue
		}
		told++
		state, err := domain.Devices().Prepare(ix, []*cluster.Pod{&pod, &pod, &pod})
		require.NoError(t, err)
		members := slices.Repeat([]*domain.Member{domain.NewMember(ix, &pod, cluster.NoPod)}, 3)
		trial := domain.NewGangTrial(ix, members, []domain.State{state}, func(cluster.PodID) bool { return false })
		for set := range 1 << ix.NumPods() {
			want := row.Free
			for p := range ix.Pods() {
				if set>>p&1 != 0 {
					trial.Remove(p)
					want += row.Frees[p]
				}
			}
			for m := range domain.MemberID(3) {
				if trial.CanPlace(m, 0).OK() {
					trial.Place(m, 0)
				}
			}
			require.EqualValues(t, min(max(want, 0)/row.Asks, 3), len(trial.Placed()), "seed %d, %b gone", seed, set)
			some += len(trial.Placed())
			trial.Home()
		}
	}
	require.Greater(t, told, 500)
	require.Greater(t, some, 500)
}
