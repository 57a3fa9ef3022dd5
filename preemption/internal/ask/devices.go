package ask

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// onePlace is in how many parts a whole device, or the place of a fraction, is counted.
const onePlace = 1 << 20

// Row is what pods ask for of a resource of a node, or of a kind of devices as if it were one: what each asks for, what is free, and at
// most what each of those frees who may leave.
type Row struct {
	Request    int // of devices: which of the pod's
	Asks, Free int64
	Offers     int64 // of devices: what is free once nobody is there
	Frees      []int64
}

// DeviceRows appends to dst what up to so many pods like member ask for of each kind of devices on node n, where pods(i) may leave together, for each i up to
// items. A pod asks for onePlace, or for so many whole devices, and nobody frees more than all ask for. A whole device is free once all who hold it have
// gone: each of them frees its part. Before one more fraction fits on a device, what is missing there has to be freed: who holds as much frees one
// place. Where running pods do not say what they hold, or member asks for several parts of a kind, there is no row: a trial alone knows.
// Without items it tells what is asked for, free and offered, and looks at no pod.
func DeviceRows(dst []Row, ix *cluster.Index, n cluster.NodeID, member *cluster.Pod, members int64, items int, pods func(i int) []cluster.PodID) []Row {
	devices := ix.Devices()
	for i := range member.Devices {
		ask := &member.Devices[i]
		again := func(r cluster.DeviceRequest) bool { return r.Resource == ask.Resource }
		column := devices.Pools(ask.Resource)
		if column == nil || column[n] == cluster.NoPool || devices.Loose(column[n]) > 0 ||
			slices.ContainsFunc(member.Devices[:i], again) || slices.ContainsFunc(member.Devices[i+1:], again) {
			continue
		}
		pool := devices.Pool(column[n])
		held := func(pods []cluster.PodID, each func(device cluster.DeviceID, amount int64)) {
			var some [8]cluster.Holding // of most pods no more
			for _, p := range pods {
				requests := ix.Pod(p).Devices
				for k := range requests {
					if ix.NodeOf(p) == n && requests[k].Resource == ask.Resource {
						for _, h := range pool.Held(some[:0], &requests[k]) {
							each(h.Device-pool.First, h.Amount)
						}
					}
				}
			}
		}
		row := Row{Request: i, Asks: onePlace, Offers: int64(pool.Count) * onePlace, Frees: make([]int64, items)}
		if ask.Count > 0 {
			row.Asks *= int64(ask.Count)
		} else {
			row.Offers *= min(pool.Capacity/ask.Fraction, members)
		}
		free := devices.Free()[pool.First:][:pool.Count]
		for _, v := range free {
			switch {
			case ask.Count == 0:
				row.Free += min(max(v, 0)/ask.Fraction, members) * onePlace
			case v == pool.Capacity:
				row.Free += onePlace
			}
		}
		if items > 0 {
			missing := make([]int64, pool.Count) // of what a whole place takes
			if ask.Count > 0 {
				held(ix.PodsOn(n), func(device cluster.DeviceID, _ int64) { missing[device]++ })
			} else {
				for device, v := range free {
					missing[device] = ask.Fraction - max(v, 0)%ask.Fraction
				}
			}
			for k := range row.Frees {
				held(pods(k), func(device cluster.DeviceID, amount int64) {
					if ask.Count > 0 {
						amount = 1
					}
					places, rest := checked.MulDiv(amount, onePlace, missing[device])
					if rest {
						places++
					}
					row.Frees[k] = min(row.Frees[k]+places, checked.Mul(members, row.Asks))
				})
			}
		}
		dst = append(dst, row)
	}
	return dst
}

// SlotRow is the row of the devices of node n for pods like member, which ask for one kind of them. ok says that it decides alone: no pod is nominated
// to n or says which devices it holds, and all fractions are of one size. As many fractions as fit on a device are its slots; a whole device is all
// of its slots. Nobody is placed. The caller owns Frees. O(pods on n + pods of items).
func SlotRow(ix *cluster.Index, n cluster.NodeID, member *cluster.Pod, items int, pods func(i int) []cluster.PodID) (row Row, ok bool) {
	if len(member.Devices) != 1 || len(ix.Nominees(n)) > 0 {
		return Row{}, false
	}
	ask := &member.Devices[0]
	column := ix.Devices().Pools(ask.Resource)
	if column == nil || column[n] == cluster.NoPool {
		return Row{}, false
	}
	each := func(pods []cluster.PodID, use func(r *cluster.DeviceRequest)) {
		for _, p := range pods {
			for k := range ix.Pod(p).Devices {
				if r := &ix.Pod(p).Devices[k]; r.Resource == ask.Resource && ix.NodeOf(p) == n {
					use(r)
				}
			}
		}
	}
	pool, slots, size, alike := ix.Devices().Pool(column[n]), int64(1), ask.Fraction, true
	each(ix.PodsOn(n), func(r *cluster.DeviceRequest) {
		alike = alike && len(r.Assigned) == 0 && (r.Count > 0 || size == 0 || size == r.Fraction)
		size = max(size, r.Fraction)
	})
	if size > 0 {
		slots = pool.Capacity / size
	}
	taken := func(pods []cluster.PodID) (sum int64) {
		each(pods, func(r *cluster.DeviceRequest) { sum = checked.Add(sum, max(checked.Mul(int64(r.Count), slots), 1)) })
		return sum
	}
	all, held := checked.Mul(int64(pool.Count), slots), taken(ix.PodsOn(n))
	row = Row{Asks: max(checked.Mul(int64(ask.Count), slots), 1), Free: all - held, Frees: make([]int64, items)}
	for k := range row.Frees {
		row.Frees[k] = taken(pods(k))
	}
	return row, alike && slots > 0 && max(all, held) < math.MaxInt64
}
