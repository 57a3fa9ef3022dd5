package suits

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Shares tells of the devices that members ask for as if they were resources; nil: nothing.
type Shares struct {
	asks    []cluster.DeviceRequest // of each member
	members int64
	on      map[*cluster.Node]map[string]*Share
}

// SharesOf returns those of up to so many members of some pods, all of whom ask for the same.
func SharesOf(pods int, members int64, of func(pod int) []cluster.DeviceRequest) *Shares {
	alike := func(x, y cluster.DeviceRequest) bool {
		return x.Resource == y.Resource && x.Count == y.Count && x.Fraction == y.Fraction
	}
	for pod := range pods {
		if !slices.EqualFunc(of(pod), of(0), alike) {
			return nil
		}
	}
	return &Shares{of(0), members, map[*cluster.Node]map[string]*Share{}}
}

// Share is what one member asks for of a kind of devices of a node.
type Share struct {
	Asks, Free int64
	most       int64 // nobody frees more
	resource   string
	pool       cluster.DevicePool
	missing    []int64 // by device: of what a whole place takes
	parts      bool    // a member asks for a fraction
}

// onePlace is in how many parts a device, or the place of a fraction, is counted.
const onePlace = 1 << 20

// On are the kinds of node n, where run says who runs, that a member asks for once and of which all say what they hold, by the names that proofs have.
func (s *Shares) On(n *cluster.Node, run func() []*cluster.Pod) map[string]*Share {
	if s == nil {
		return nil
	}
	list, known := s.on[n]
	if known {
		return list
	}
	list = map[string]*Share{}
	s.on[n] = list
	for i, r := range s.asks {
		pool, ok := n.Devices[r.Resource]
		again := func(o cluster.DeviceRequest) bool { return o.Resource == r.Resource }
		if !ok || slices.ContainsFunc(s.asks[:i], again) || slices.ContainsFunc(s.asks[i+1:], again) {
			continue
		}
		k := &Share{Asks: onePlace * max(int64(r.Count), 1), resource: r.Resource, pool: pool, missing: make([]int64, pool.Count), parts: r.Count == 0}
		k.most = min(s.members, math.MaxInt64/k.Asks) * k.Asks
		free, loose := slices.Repeat([]int64{pool.Capacity}, int(pool.Count)), false
		for _, p := range run() {
			loose = loose || slices.ContainsFunc(p.Devices, func(o cluster.DeviceRequest) bool { return again(o) && len(o.Assigned) == 0 })
			k.held(p, func(device int32, amount int64) {
				free[device] -= amount
				k.missing[device]++
			})
		}
		for device, v := range free {
			v = max(v, 0)
			switch {
			case k.parts:
				k.Free += min(v/r.Fraction, s.members) * onePlace
				k.missing[device] = r.Fraction - v%r.Fraction
			case v == pool.Capacity:
				k.Free += onePlace
			}
		}
		if !loose {
			list["devices "+r.Resource] = k
		}
	}
	return list
}

// held calls do for each device of the kind that p says that it holds.
func (k *Share) held(p *cluster.Pod, do func(device int32, amount int64)) {
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

// Add is sum and what pod p of the node frees of it, at most.
func (k *Share) Add(sum int64, p *cluster.Pod) int64 {
	k.held(p, func(device int32, amount int64) {
		if !k.parts {
			amount = 1
		}
		places, missing := k.most, uint64(k.missing[device])
		if high, low := bits.Mul64(uint64(amount), onePlace); high < missing {
			if whole, rest := bits.Div64(high, low, missing); whole < uint64(places) {
				places = int64(whole) + int64(min(rest, 1))
			}
		}
		sum = min(k.most, sum+places)
	})
	return sum
}
