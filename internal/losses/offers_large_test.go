package losses_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// TestALargeUnitIsReadOnce: a group that goes whole has its price on every node where it makes room, and is not
// read again for each of them. What it costs is known from then on.
func TestALargeUnitIsReadOnce(t *testing.T) {
	for _, nodes := range []int{4, 100} { // few pods, and many
		snap := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "all", Mode: disruption.All, Priority: ptr(7), MinCount: ptr(1)}}}
		want := domain.Price{Highest: 7}
		for i := range nodes {
			n := cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: 10}}
			snap.Nodes = append(snap.Nodes, n)
			for k := range 1 + i%2 { // one of four, or two of two
				snap.Pods = append(snap.Pods, cluster.Pod{
					Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Group: "all", Priority: ptr(7), Requests: cluster.Resources{cluster.CPU: int64(4 - 2*(i%2))},
					Ports: []cluster.HostPort{{Port: int32(1 + i)}},
				})
				want.Sum += priority.Raised(7)
				want.Pods++
			}
		}
		ix, err := cluster.NewIndex(snap)
		require.NoError(t, err)
		var members []*domain.Member
		for _, pod := range []cluster.Pod{
			{Requests: cluster.Resources{cluster.CPU: 6}}, {Requests: cluster.Resources{cluster.CPU: 7}},
			{Requests: cluster.Resources{cluster.CPU: 1}, Ports: []cluster.HostPort{{Port: 3}}},
		} {
			members = append(members, domain.NewMember(ix, &pod, cluster.NoPod))
		}
		trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
		for p := range cluster.PodID(ix.NumPods()) {
			trial.Remove(p)
		}
		asked := 0
		for _, free := range []bool{false, true} {
			units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
			offers := losses.NewOffers(units, trial, func(victims.UnitID) bool { return true }, nil, func(victims.UnitID) bool { asked++; return free })
			price := want
			if free {
				price = domain.Free
			}
			asked = 0
			for n := range cluster.NodeID(nodes) {
				require.Equal(t, domain.Free, offers.Price(0, n), "six fit beside four")
				require.Equal(t, price, offers.Price(1, n), "seven do not")
				if n == 2 {
					require.Equal(t, price, offers.Price(2, n), "nor does the port")
				} else {
					require.Equal(t, domain.Free, offers.Price(2, n))
				}
			}
			if nodes > 8 {
				require.Equal(t, 1, asked)
			}
			trial.Place(1, 0)
			offers.Taken(1, 0)
			require.Equal(t, price, offers.Total())
			require.Equal(t, domain.Free, offers.Price(0, 1), "it is gone already")
			trial.UnplaceTo(0)
			offers.Reset()
			require.Equal(t, domain.Free, offers.Total())
		}
	}
}

func ptr(v int32) *int32 { return &v }
