package devices_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/devices"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestRoomsThatShareWhatIsKnownTellTheSame as such that find out everything for themselves, and such as were never changed
// otherwise: whoever left and came back before, and wherever.
func TestRoomsThatShareWhatIsKnownTellTheSame(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 3))
		requests := func() (list []cluster.DeviceRequest) {
			for range r.IntN(4) {
				list = append(list, cluster.DeviceRequest{Resource: fmt.Sprint("d", r.IntN(3)), Count: 1 + r.Int32N(2)}, cluster.DeviceRequest{Resource: fmt.Sprint("d", r.IntN(3)), Fraction: 1 + r.Int64N(4)})
			}
			return list
		}
		s := &cluster.Snapshot{}
		for i := range 3 {
			n := cluster.Node{Name: fmt.Sprint("n", i), Devices: map[string]cluster.DevicePool{}}
			for d := range 3 {
				if r.IntN(4) > 0 {
					n.Devices[fmt.Sprint("d", d)] = cluster.DevicePool{Count: 1 + r.Int32N(3), Capacity: 4}
				}
			}
			s.Nodes = append(s.Nodes, n)
		}
		for i := range 6 {
			p := cluster.Pod{Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", i%3), Devices: requests()}
			if r.IntN(2) == 0 {
				p.Devices = []cluster.DeviceRequest{{Resource: "d0", Count: 1, Assigned: []int32{0}}}
			}
			s.Pods = append(s.Pods, p)
		}
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		known := devices.NewKnown()
		for range 3 {
			members := []*cluster.Pod{{Devices: requests()}, {Devices: requests()}}
			plan := devices.NewPlan(ix, members, nil, known)
			shared, gone, at := devices.NewRooms(plan, known), make([]bool, len(s.Pods)), make([]cluster.NodeID, len(members))
			own := devices.NewRooms(plan, nil)
			for m := range at {
				at[m] = cluster.NoNode
			}
			for range 24 {
				n, p, m := cluster.NodeID(r.IntN(3)), r.IntN(len(s.Pods)), r.IntN(len(members))
				if r.IntN(3) > 0 {
					gone[p] = !gone[p]
					for _, rooms := range []*devices.Rooms{shared, own} {
						rooms.Run(cluster.PodID(p), ix.NodeOf(cluster.PodID(p)), map[bool]int64{true: +1, false: -1}[gone[p]])
					}
				} else {
					by, where := int64(+1), n
					if at[m] != cluster.NoNode {
						by, where = -1, at[m]
					}
					for _, rooms := range []*devices.Rooms{shared, own} {
						rooms.Ask(plan.Claims(m), where, by)
					}
					at[m] = map[bool]cluster.NodeID{true: n, false: cluster.NoNode}[by > 0]
				}
				if r.IntN(8) == 0 {
					shared = shared.Clone()
				}
				if plan.Hopeless(m, n) != nil {
					continue
				}
				fresh := devices.NewRooms(plan, nil)
				for p, left := range gone {
					if left {
						fresh.Run(cluster.PodID(p), ix.NodeOf(cluster.PodID(p)), +1)
					}
				}
				for m, where := range at {
					if where != cluster.NoNode {
						fresh.Ask(plan.Claims(m), where, +1)
					}
				}
				want := fresh.Fits(m, n)
				require.Equal(t, want, shared.Fits(m, n), "seed %d", seed)
				require.Equal(t, want, own.Fits(m, n), "seed %d", seed)
				told[fmt.Sprint(want != nil)]++
			}
		}
	}
	require.Greater(t, min(told["true"], told["false"]), 1000)
}

// TestClaimsOfMany: two looks each for who has more than four, and for a node on which nobody is known to be gone.
func TestClaimsOfMany(t *testing.T) {
	for names, want := range map[int][]int64{4: {0, 0, 0, 0}, 5: {20, 30, 50, 80}} {
		s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{}}}}
		pod := cluster.Pod{Name: "p", Node: "n"}
		for d := range names {
			name := fmt.Sprint("d", d)
			s.Nodes[0].Devices[name] = cluster.DevicePool{Count: 4, Capacity: 1}
			pod.Devices = append(pod.Devices, cluster.DeviceRequest{Resource: name, Count: 1})
		}
		s.Pods = []cluster.Pod{pod}
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		known := devices.NewKnown()
		plan := devices.NewPlan(ix, []*cluster.Pod{&pod}, nil, known)
		devices.NewRooms(plan, known).Fits(0, 0) // from now on the node is known
		rooms := devices.NewRooms(plan, known)
		var got []int64
		for _, step := range []func(){
			func() { rooms.Run(0, 0, +1) },
			func() { rooms.Run(0, 0, -1) }, // all is as it was
			func() { rooms.Fits(0, 0) },
			func() { rooms.Ask(plan.Claims(0), 0, +1); rooms.Run(0, 0, +1); rooms.Run(0, 0, -1) },
		} {
			step()
			got = append(got, rooms.Looks)
		}
		require.Equal(t, want, got, "%d names", names)
	}
}
