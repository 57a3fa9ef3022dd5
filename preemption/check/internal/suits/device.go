package suits

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// asked is what pods ask for of devices and do not say which they hold.
func asked(resource string, runs bool, pods ...*cluster.Pod) (whole int64, fractions []int64) {
	for _, p := range pods {
		for _, r := range p.Devices {
			if r.Resource == resource && !(runs && len(r.Assigned) > 0) {
				if whole += int64(r.Count); r.Count == 0 {
					fractions = append(fractions, r.Fraction)
				}
			}
		}
	}
	return whole, fractions
}

// Pool reports whether p has room in an empty pool, by size and sum.
func Pool(p *cluster.Pod, resource string, pool cluster.DevicePool) bool {
	whole, fractions := asked(resource, false, p)
	sum := int64(0)
	for _, f := range fractions {
		if sum += f; f > pool.Capacity {
			return false
		}
	}
	return whole <= int64(pool.Count) && sum <= (int64(pool.Count)-whole)*pool.Capacity
}

// Seating is who takes which devices of one pool of a node.
type Seating struct {
	free     []int64 // of each device, ascending
	capacity int64
	whole    int64 // devices that are asked for
	missing  bool  // there was no room for some fraction
}

// Sit gives those who run on a node the devices that they say they hold, and who runs there without
// saying, and the guests, what room there is: fractions, the largest first, each where the least
// room is left that is enough, then whole devices.
func Sit(resource string, pool cluster.DevicePool, run, guests []*cluster.Pod) Seating {
	s := Seating{free: slices.Repeat([]int64{pool.Capacity}, int(pool.Count)), capacity: pool.Capacity}
	for _, p := range run {
		for _, r := range p.Devices {
			amount := pool.Capacity
			if r.Count == 0 {
				amount = min(amount, r.Fraction)
			}
			for _, i := range r.Assigned {
				if r.Resource == resource && i < pool.Count {
					s.free[i] -= amount
				}
			}
		}
	}
	whole, fractions := asked(resource, true, run...)
	more, others := asked(resource, false, guests...)
	fractions = append(fractions, others...)
	s.whole = whole + more
	slices.Sort(fractions)
	slices.Sort(s.free)
	for rest := fractions; len(rest) > 0; {
		f := rest[len(rest)-1]
		i, _ := slices.BinarySearch(s.free, f)
		if i == len(s.free) {
			s.missing, rest = true, rest[:len(rest)-1]
			continue
		}
		left := s.free[i]
		for len(rest) > 0 && rest[len(rest)-1] == f && left >= f { // there is still no other device with less room
			rest, left = rest[:len(rest)-1], left-f
		}
		to, _ := slices.BinarySearch(s.free[:i], left)
		copy(s.free[to+1:i+1], s.free[to:i])
		s.free[to] = left
	}
	return s
}

// Seats reports whether all of them have room.
func (s Seating) Seats() bool { return !s.missing && s.whole <= s.wholly() }

// Held is how many devices they hold, wholly or in part.
func (s Seating) Held() int64 { return int64(len(s.free)) - s.wholly() + min(s.whole, s.wholly()) }

// wholly is how many devices are free as a whole.
func (s Seating) wholly() (n int64) {
	for _, v := range s.free {
		if v == s.capacity {
			n++
		}
	}
	return n
}

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
