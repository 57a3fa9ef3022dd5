package ask_test

import (
	"fmt"
	"math/rand/v2"
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
		size, odd := 2+draw.Int64N(6), false
		request := func() []cluster.DeviceRequest {
			r := cluster.DeviceRequest{Resource: "gpu", Fraction: size}
			switch draw.IntN(12) {
			case 0, 1, 2, 3, 4:
				r = cluster.DeviceRequest{Resource: "gpu", Count: 1 + draw.Int32N(2)}
			case 5:
				r.Fraction++
			}
			return []cluster.DeviceRequest{r}
		}
		s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 1 + draw.Int32N(5), Capacity: 10}}}}}
		sizes := map[int64]bool{}
		for i := range 1 + draw.IntN(6) {
			p := cluster.Pod{Name: fmt.Sprint("p", i), Node: "n", Devices: request()}
			switch draw.IntN(30) {
			case 0:
				p.Devices, odd = []cluster.DeviceRequest{{Resource: "gpu", Fraction: size, Assigned: []int32{0}}}, true
			case 1:
				p.Node, p.NominatedNode, odd = "", "n", true
			}
			sizes[p.Devices[0].Fraction] = true
			s.Pods = append(s.Pods, p)
		}
		pod := cluster.Pod{Name: "m", Devices: request()}
		sizes[pod.Devices[0].Fraction] = true
		delete(sizes, 0)
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		row, ok := ask.SlotRow(ix, 0, &pod, ix.NumPods(), func(i int) []cluster.PodID { return []cluster.PodID{cluster.PodID(i)} })
		require.Equal(t, !odd && len(sizes) < 2, ok, "seed %d", seed)
		if !ok {
			continue
		}
		told++
		pods := []*cluster.Pod{&pod, &pod, &pod}
		state, err := domain.Devices().Prepare(ix, pods)
		require.NoError(t, err)
		var members []*domain.Member
		for _, p := range pods {
			members = append(members, domain.NewMember(ix, p, cluster.NoPod))
		}
		trial := domain.NewGangTrial(ix, members, []domain.State{state}, func(cluster.PodID) bool { return false })
		for set := range 1 << ix.NumPods() {
			want := row.Free
			for p := range ix.Pods() {
				if set>>p&1 != 0 {
					trial.Remove(p)
					want += row.Frees[p]
				}
			}
			for m := range domain.MemberID(len(pods)) {
				if trial.CanPlace(m, 0).OK() {
					trial.Place(m, 0)
				}
			}
			require.EqualValues(t, min(max(want, 0)/row.Asks, 3), len(trial.Placed()), "seed %d, %b gone", seed, set)
			some += len(trial.Placed())
			trial.UnplaceTo(0)
			for p := range ix.Pods() {
				if set>>p&1 != 0 {
					trial.Return(p)
				}
			}
		}
	}
	require.Greater(t, told, 500)
	require.Greater(t, some, 500)
}
