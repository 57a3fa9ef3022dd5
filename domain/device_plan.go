package domain

import (
	"fmt"
	"maps"
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
	claims  [][]claim          // of each member
	pending map[cluster.PodID][]claim
	scope   Scope
}

// claim is one request of somebody who holds no certain device.
type claim struct {
	pod      cluster.PodID // NoPod for a member
	member   MemberID
	resource int
	whole    int32
	fraction int64 // 0: whole devices
	gone     bool  // of a running pod that was removed
}

// ask is what one pod wants of one resource.
type ask struct {
	resource      int
	whole         int32
	fractions     []int64 // the largest first
	misfit, never Reason
}

func planDevices(ix *cluster.Index, members []*cluster.Pod, pending []cluster.PodID) *devicePlan {
	plan := &devicePlan{ix: ix, devices: ix.Devices(), pending: map[cluster.PodID][]claim{}}
	for _, p := range members {
		for i := range p.Devices {
			name := p.Devices[i].Resource
			if !slices.Contains(plan.names, name) {
				plan.names = append(plan.names, name)
				plan.pools = append(plan.pools, plan.devices.Pools(name))
			}
		}
	}
	for m, p := range members {
		plan.asks = append(plan.asks, plan.asksOf(p))
		plan.claims = append(plan.claims, plan.claim(nil, p, claim{pod: cluster.NoPod, member: MemberID(m)}, false))
	}
	for _, p := range pending {
		if claims := plan.claim(nil, ix.Pod(p), claim{pod: p}, false); len(claims) > 0 {
			plan.pending[p] = claims
		}
	}
	plan.scope = Scope{NodeLocal: true, Monotone: plan.equalFractions()}
	return plan
}

// claim appends to claims what p asks for of the resources that matter, as who; if it runs, but for what it says that it holds.
func (plan *devicePlan) claim(claims []claim, p *cluster.Pod, who claim, runs bool) []claim {
	for i := range p.Devices {
		r := &p.Devices[i]
		who.resource, who.whole, who.fraction = slices.Index(plan.names, r.Resource), r.Count, r.Fraction
		if who.resource >= 0 && !(runs && len(r.Assigned) > 0) {
			claims = append(claims, who)
		}
	}
	return claims
}

// running appends to claims those of the pods that run on node n.
func (plan *devicePlan) running(claims []claim, n cluster.NodeID) []claim {
	if plan.looseOn(n) {
		for _, p := range plan.ix.PodsOn(n) {
			claims = plan.claim(claims, plan.ix.Pod(p), claim{pod: p}, true)
		}
	}
	return claims
}

// looseOn reports whether pods that run on node n ask for devices that matter and do not say which they hold.
func (plan *devicePlan) looseOn(n cluster.NodeID) bool {
	return slices.ContainsFunc(plan.pools, func(column []cluster.PoolID) bool {
		return column != nil && column[n] != cluster.NoPool && plan.devices.Loose(column[n]) > 0
	})
}

// asksOf sums up, for each resource, what member p asks for.
func (plan *devicePlan) asksOf(p *cluster.Pod) []ask {
	var asks []ask
	for i := range p.Devices {
		r := &p.Devices[i]
		number := slices.Index(plan.names, r.Resource)
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
		a.misfit, a.never = Reason{Check: CheckDevice, Detail: detail}, Reason{Check: CheckDevice, Unresolvable: true, Detail: detail}
	}
	return asks
}

// couldFit reports whether a has room in an empty pool; where it asks for several fractions, whether they have by their size and sum.
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

// equalFractions reports whether, of each resource, all who hold no certain device ask for fractions of one size.
func (plan *devicePlan) equalFractions() bool {
	sizes := make([][]int64, len(plan.names))
	for i, name := range plan.names {
		sizes[i] = plan.devices.LooseFractions(name)
	}
	for _, claims := range slices.AppendSeq(slices.Clone(plan.claims), maps.Values(plan.pending)) {
		for _, c := range claims {
			if c.fraction > 0 && !slices.Contains(sizes[c.resource], c.fraction) {
				sizes[c.resource] = append(sizes[c.resource], c.fraction)
			}
		}
	}
	return !slices.ContainsFunc(sizes, func(s []int64) bool { return len(s) > 1 })
}
