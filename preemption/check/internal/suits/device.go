package suits

import (
	"cmp"
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
	free     []int64 // of each device
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
	slices.SortFunc(fractions, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, f := range fractions {
		if i := tightest(s.free, f); i >= 0 {
			s.free[i] -= f
		} else {
			s.missing = true
		}
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

// tightest is the device with the least room that is enough, the first of equal ones; -1
// if there is none.
func tightest(free []int64, amount int64) int {
	best := -1
	for i, v := range free {
		if v >= amount && (best < 0 || v < free[best]) {
			best = i
		}
	}
	return best
}
