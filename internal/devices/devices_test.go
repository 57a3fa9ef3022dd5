package devices_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/devices"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestSeatsAreFoundAmongEqualFractions: by a look at every way to share them out; an empty pool has room for what could fit.
func TestSeatsAreFoundAmongEqualFractions(t *testing.T) {
	told := map[bool]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		size, pool := 1+r.Int64N(4), cluster.Pool{Count: 1 + r.Int32N(3), Capacity: 4}
		asks := devices.Asks(map[string]int{"gpu": 0}, &cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: 1 + r.Int32N(2)}, {Resource: "gpu", Fraction: size}}[r.IntN(2):]})
		a := &asks[0]
		a.Fractions = slices.Repeat([]int64{size}, r.IntN(5))
		free, wholly := make([]int64, pool.Count), int32(0)
		for i := range free {
			free[i] = r.Int64N(pool.Capacity + 1)
			if seed%2 == 0 {
				free[i] = pool.Capacity
			}
		}
		var shares func(left int, from int) bool
		shares = func(left, from int) bool {
			if left == 0 {
				wholly = 0
				for _, v := range free {
					if v == pool.Capacity {
						wholly++
					}
				}
				return wholly >= a.Whole
			}
			for i := from; i < len(free); i++ {
				if free[i] >= size {
					free[i] -= size
					ok := shares(left-1, i)
					free[i] += size
					if ok {
						return true
					}
				}
			}
			return false
		}
		want := shares(len(a.Fractions), 0)
		got, _, _ := devices.NewRoom(free, pool.Capacity).Seats(nil, int64(a.Whole), a.Fractions)
		require.Equal(t, want, got, "seed %d", seed)
		require.True(t, !got || a.CouldFit(pool))
		told[got]++
	}
	require.Greater(t, min(told[true], told[false]), 400)
}

// TestSeatsAreTheTightest: as one who looks at every device for each fraction finds them, whatever was free and asked for before.
func TestSeatsAreTheTightest(t *testing.T) {
	told := map[bool]int{}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		free, fractions, whole := make([]int64, 1+r.IntN(6)), make([]int64, r.IntN(8)), r.Int32N(3)
		for i := range free {
			free[i] = min(r.Int64N(16)-1, 9)
		}
		for i := range fractions {
			fractions[i] = 1 + r.Int64N(9+r.Int64N(2))
		}
		before, junk := make([]int64, len(free)), 1+r.Int64N(10)
		for i := range before {
			before[i] = 7 + r.Int64N(3)
		}
		room := devices.NewRoom(before, 9)
		room.Ask(2, 0, 1)
		room.Ask(0, junk, 1)
		was := slices.Clone(before)
		for i, v := range free {
			room.Free(i, v-was[i])
		}
		require.Equal(t, was, before)
		slices.Sort(fractions)
		want := true
		for _, f := range slices.Backward(fractions) {
			at := cluster.BestFit(free, f)
			if want = want && at >= 0; want {
				free[at] -= f
			}
		}
		slices.Sort(free)
		at, _ := slices.BinarySearch(free, 9)
		want = want && len(free)-at >= int(whole)
		var more []int64 // the largest first
		for _, f := range slices.Backward(fractions) {
			if r.IntN(2) == 0 {
				more = append(more, f)
			} else {
				n := r.Int64N(3)
				room.Ask(0, f, 1+n)
				room.Ask(0, f, -n)
			}
		}
		copied := room.Clone()
		if seed%2 == 0 {
			copied = room.Share(new(devices.Room))
			copied.Ask(0, 9, 1)
			copied.Free(0, -1)
			copied = room.Share(new(devices.Room)) // of which nobody knows
		} else {
			room.Ask(1, 9, 1)
			room.Free(0, 1)
		}
		copied.Ask(-2, 0, 1)
		copied.Ask(0, junk, -1)
		copied.Ask(int64(whole/2), 0, 1)
		got, seats, _ := copied.Seats(nil, int64(whole-whole/2), more)
		require.Equal(t, want, got, "seed %d", seed)
		require.LessOrEqual(t, seats, int64(len(fractions)))
		told[got]++
	}
	require.Greater(t, min(told[true], told[false]), 400)
}

// TestFewSeatsAreLookedFor: none where sums decide, and of fractions of one size one on each device.
func TestFewSeatsAreLookedFor(t *testing.T) {
	room := devices.NewRoom(slices.Repeat([]int64{11, 2}, 100), 11)
	room.Ask(0, 0, 1)
	room.Ask(0, 2, 1)
	room.Ask(0, 2, -1)
	for _, c := range []struct {
		size, asked, more int64
		ok                bool
		seats             int64
	}{{4, 150, 10, true, 0}, {5, 220, 1, false, 0}, {4, 199, 1, true, 0}, {4, 199, 2, false, 101}, {6, 100, 1, false, 0}, {6, 99, 2, false, 0}, {6, 99, 1, true, 0}, {12, 0, 1, false, 0}, {math.MaxInt64, 2, 0, false, 0}} {
		room.Ask(0, c.size, c.asked)
		ok, seats, _ := room.Seats(nil, 0, slices.Repeat([]int64{c.size}, int(c.more)))
		require.Equal(t, c.ok, ok, "%v", c)
		require.Equal(t, c.seats, seats, "%v", c)
		room.Ask(0, c.size, -c.asked)
	}
}

// TestLooseSizesAreFoundOnce: two of them at most, which tell that fractions are not equal; all where nothing is kept.
func TestLooseSizesAreFoundOnce(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"a": {Count: 9, Capacity: 9}, "b": {Count: 9, Capacity: 9}}}}}
	for i, of := range []string{"a", "a", "a", "b"} {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: "n", Devices: []cluster.DeviceRequest{{Resource: of, Fraction: int64(1 + i)}}})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	known := devices.NewKnown()
	for range 2 {
		require.Len(t, known.Loose(ix.Devices(), "a"), 2)
		require.Equal(t, []int64{4}, known.Loose(ix.Devices(), "b"))
		require.Len(t, (*devices.Known)(nil).Loose(ix.Devices(), "a"), 3)
	}
	require.Same(t, &known.Loose(ix.Devices(), "a")[0], &known.Loose(ix.Devices(), "a")[0])
}

func TestWhatIsAskedFor(t *testing.T) {
	whole, two, three, five := cluster.DeviceRequest{Resource: "gpu", Count: 1}, cluster.DeviceRequest{Resource: "gpu", Fraction: 2}, cluster.DeviceRequest{Resource: "gpu", Fraction: 3}, cluster.DeviceRequest{Resource: "gpu", Fraction: 5}
	pool := cluster.Pool{Count: 2, Capacity: 4}
	for _, c := range []struct {
		asks  []cluster.DeviceRequest
		want  devices.Ask
		could bool
	}{
		{[]cluster.DeviceRequest{whole}, devices.Ask{Whole: 1, Text: "gpu: 1 whole"}, true},
		{[]cluster.DeviceRequest{two}, devices.Ask{Fractions: []int64{2}, Text: "gpu: 2 of one device"}, true},
		{[]cluster.DeviceRequest{five}, devices.Ask{Fractions: []int64{5}, Text: "gpu: 5 of one device"}, false},
		{[]cluster.DeviceRequest{two, three, three}, devices.Ask{Fractions: []int64{3, 3, 2}, Text: "gpu: fractions [3 3 2]"}, true},
		{[]cluster.DeviceRequest{two, three, two, two}, devices.Ask{Fractions: []int64{3, 2, 2, 2}, Text: "gpu: fractions [3 2 2 2]"}, false},
		{[]cluster.DeviceRequest{two, whole}, devices.Ask{Whole: 1, Fractions: []int64{2}, Text: "gpu: 1 whole and fractions [2]"}, true},
		{[]cluster.DeviceRequest{two, whole, three}, devices.Ask{Whole: 1, Fractions: []int64{3, 2}, Text: "gpu: 1 whole and fractions [3 2]"}, false},
		{[]cluster.DeviceRequest{whole, whole, whole}, devices.Ask{Whole: 3, Text: "gpu: 3 whole"}, false},
	} {
		asks := devices.Asks(map[string]int{"gpu": 0}, &cluster.Pod{Devices: c.asks})
		require.Equal(t, []devices.Ask{c.want}, asks)
		require.Equal(t, c.could, asks[0].CouldFit(pool), c.want.Text)
		require.True(t, asks[0].Equals(&c.want))
	}
	require.False(t, (&devices.Ask{Whole: 1}).Equals(&devices.Ask{Whole: 2}))
}

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
