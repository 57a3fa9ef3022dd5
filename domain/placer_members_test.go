package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Members of one shape that a constraint tells apart: who fits nowhere is in nobody's way.
func TestAMemberThatFitsNowhereIsInNobodysWay(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "g1", Allocatable: cluster.Resources{cluster.CPU: 9}, Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 1000}}}},
	})
	require.NoError(t, err)
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Pack{SmallFirst: true}, domain.Spread{}, domain.FirstFit{}, domain.FirstFit{LastMemberFirst: true}} {
		var members []*domain.Member
		var pods []*cluster.Pod
		for _, gpus := range []int32{3, 1, 1, 3} {
			pod := &cluster.Pod{Name: "m", Requests: cluster.Resources{cluster.CPU: 1}, Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: gpus}}}
			pods = append(pods, pod)
			members = append(members, domain.NewMember(ix, pod, cluster.NoPod))
		}
		state, err := domain.Devices().Prepare(ix, pods)
		require.NoError(t, err)
		trial := domain.NewGangTrial(ix, members, []domain.State{state}, func(cluster.PodID) bool { return false })
		require.Equal(t, 2, placer.Place(trial, &domain.WholeCluster{}.Split(nil, ix)[0], nil, []domain.MemberID{0, 1, 2, 3}, 4), "%T", placer)
	}
}
