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
