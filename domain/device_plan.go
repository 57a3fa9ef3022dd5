package domain

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// devicePlan is what a question needs to know of devices. It is immutable.
type devicePlan struct {
	ix      *cluster.Index
	devices *cluster.Devices
	names   []string           // of the resources that members ask for
	pools   [][]cluster.PoolID // of each resource, of each node
	asks    [][]ask            // of each member
	pending map[cluster.PodID][]ask
	scope   Scope
}

// ask is what one pod wants of one resource.
type ask struct {
	resource      int
	whole         int32
	fractions     []int64 // the largest first
	misfit, never Reason
}

func planDevices(ix *cluster.Index, members []*cluster.Pod) *devicePlan {
	plan := &devicePlan{ix: ix, devices: ix.Devices(), pending: map[cluster.PodID][]ask{}}
	for _, p := range members {
		for i := range p.Devices {
			name := p.Devices[i].Resource
			if !slices.Contains(plan.names, name) {
				plan.names = append(plan.names, name)
				plan.pools = append(plan.pools, plan.devices.Pools(name))
			}
		}
	}
	for _, p := range members {
		plan.asks = append(plan.asks, plan.asksOf(p))
	}
	for _, p := range plan.devices.Pending() {
		plan.pending[p] = plan.asksOf(ix.Pod(p))
	}
	plan.scope = Scope{NodeLocal: true, Monotone: plan.equalFractions()}
	return plan
}

// asksOf sums up, for each resource that matters, what p asks for.
func (plan *devicePlan) asksOf(p *cluster.Pod) []ask {
	var asks []ask
	for i := range p.Devices {
		r := &p.Devices[i]
		number := slices.Index(plan.names, r.Resource)
		if number < 0 {
			continue
		}
		at := slices.IndexFunc(asks, func(a ask) bool { return a.resource == number })
		if at < 0 {
			at = len(asks)
			asks = append(asks, ask{resource: number})
		}
		a := &asks[at]
		a.whole += r.Count
		if r.Count == 0 {
			a.fractions = append(a.fractions, r.Fraction)
		}
	}
	for i := range asks {
		a := &asks[i]
		slices.Sort(a.fractions)
		slices.Reverse(a.fractions)
		detail := a.describe(plan.names[a.resource])
		a.misfit = Reason{Check: CheckDevice, Detail: detail}
		a.never = Reason{Check: CheckDevice, Unresolvable: true, Detail: detail}
	}
	return asks
}

// couldFit reports whether a has room in an empty pool; where it asks for several
// fractions, whether they have by their size and sum.
func (a *ask) couldFit(pool cluster.Pool) bool {
	var sum int64
	for _, f := range a.fractions {
		if f > pool.Capacity {
			return false
		}
		sum += f
	}
	return a.whole <= pool.Count && sum <= int64(pool.Count-a.whole)*pool.Capacity
}

// describe says what is missing where a is not met.
func (a *ask) describe(resource string) string {
	switch {
	case a.whole == 0 && len(a.fractions) == 1:
		return fmt.Sprintf("%s: %d of one device", resource, a.fractions[0])
	case a.whole == 0:
		return fmt.Sprintf("%s: fractions %d", resource, a.fractions)
	case len(a.fractions) == 0:
		return fmt.Sprintf("%s: %d whole", resource, a.whole)
	}
	return fmt.Sprintf("%s: %d whole and fractions %d", resource, a.whole, a.fractions)
}

// equalFractions reports whether, of each resource, members and pending pods ask
// for fractions of one size.
func (plan *devicePlan) equalFractions() bool {
	size := make([]int64, len(plan.names))
	equal := func(asks []ask) bool {
		for _, a := range asks {
			for _, f := range a.fractions {
				if size[a.resource] != 0 && size[a.resource] != f {
					return false
				}
				size[a.resource] = f
			}
		}
		return true
	}
	for _, asks := range plan.asks {
		if !equal(asks) {
			return false
		}
	}
	for _, asks := range plan.pending {
		if !equal(asks) {
			return false
		}
	}
	return true
}
