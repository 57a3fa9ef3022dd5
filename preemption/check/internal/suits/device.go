package suits

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Devices sums up what pods ask of a resource: whole devices, and fractions.
func Devices(resource string, pods ...*cluster.Pod) (whole int64, fractions []int64) {
	for _, p := range pods {
		for _, r := range p.Devices {
			if r.Resource == resource {
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
	whole, fractions := Devices(resource, p)
	sum := int64(0)
	for _, f := range fractions {
		if sum += f; f > pool.Capacity {
			return false
		}
	}
	return whole <= int64(pool.Count) && sum <= (int64(pool.Count)-whole)*pool.Capacity
}

// Seats reports whether there is room on what is free, which it takes: for fractions, the largest first, each where the
// least room is left that is enough, then for whole devices.
func Seats(free []int64, pool cluster.DevicePool, whole int64, fractions []int64) bool {
	slices.SortFunc(fractions, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, f := range fractions {
		i := tightest(free, f)
		if i < 0 {
			return false
		}
		free[i] -= f
	}
	for _, v := range free {
		if v == pool.Capacity {
			whole--
		}
	}
	return whole <= 0
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
