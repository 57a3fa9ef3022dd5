package verify

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// deviceKind is what one member asks for of a kind of devices of a node as if it were a resource.
type deviceKind struct {
	asks, free int64
	most       int64 // nobody frees more
	resource   string
	pool       cluster.DevicePool
	missing    []int64 // by device: of what a whole place takes
	parts      bool    // a member asks for a fraction
}

// onePlace is in how many parts proofs count a device, or the place of a fraction.
const onePlace = 1 << 20

// devicesOn are those of n that pods there say what they hold of, by the names that proofs have, for so many members at most, all of whom ask for the same.
func (a *numbers) devicesOn(n *node, members int64) map[string]*deviceKind {
	if list, known := a.devices[n]; known {
		return list
	}
	list := map[string]*deviceKind{}
	a.devices[n] = list
	alike := func(x, y cluster.DeviceRequest) bool {
		return x.Resource == y.Resource && x.Count == y.Count && x.Fraction == y.Fraction
	}
	first := a.members[0].Devices
	if slices.ContainsFunc(a.members, func(m *member) bool { return !slices.EqualFunc(m.Devices, first, alike) }) {
		return list
	}
	for i, r := range first {
		pool, ok := n.Devices[r.Resource]
		again := func(o cluster.DeviceRequest) bool { return o.Resource == r.Resource }
		if !ok || slices.ContainsFunc(first[:i], again) || slices.ContainsFunc(first[i+1:], again) {
			continue
		}
		k := &deviceKind{asks: onePlace, resource: r.Resource, pool: pool, missing: make([]int64, pool.Count), parts: r.Count == 0}
		if !k.parts {
			k.asks *= int64(r.Count)
		}
		k.most = min(members, math.MaxInt64/k.asks) * k.asks
		free, loose := slices.Repeat([]int64{pool.Capacity}, int(pool.Count)), false
		for _, p := range n.pods() {
			loose = loose || slices.ContainsFunc(p.Devices, func(o cluster.DeviceRequest) bool { return again(o) && len(o.Assigned) == 0 })
			k.held(p.Pod, func(device int32, amount int64) {
				free[device] -= amount
				k.missing[device]++
			})
		}
		for device, v := range free {
			v = max(v, 0)
			switch {
			case k.parts:
				k.free += min(v/r.Fraction, members) * onePlace
				k.missing[device] = r.Fraction - v%r.Fraction
			case v == pool.Capacity:
				k.free += onePlace
			}
		}
		if !loose {
			list["devices "+r.Resource] = k
		}
	}
	return list
}

// held calls do for each device of the kind that p says that it holds.
func (k *deviceKind) held(p *cluster.Pod, do func(device int32, amount int64)) {
	for _, r := range p.Devices {
		amount := k.pool.Capacity
		if r.Count == 0 {
			amount = min(amount, r.Fraction)
		}
		for _, device := range r.Assigned {
			if r.Resource == k.resource && device < k.pool.Count {
				do(device, amount)
			}
		}
	}
}

// frees is what pods free of it that leave node n, at most.
func (k *deviceKind) frees(n *node, pods []*pod) (sum int64) {
	for _, p := range pods {
		if p.at != n {
			continue
		}
		k.held(p.Pod, func(device int32, amount int64) {
			if !k.parts {
				amount = 1
			}
			high, low := bits.Mul64(uint64(amount), onePlace)
			places, missing := int64(math.MaxInt64), uint64(k.missing[device])
			if high < missing {
				whole, rest := bits.Div64(high, low, missing)
				if places = int64(min(whole, math.MaxInt64)); rest > 0 && places < math.MaxInt64 {
					places++
				}
			}
			sum = min(k.most, sum+min(places, k.most))
		})
	}
	return sum
}
