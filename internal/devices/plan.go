package devices

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Plan is what a question needs to know of devices. It is immutable.
type Plan struct {
	Pending map[cluster.PodID][]Claim // of those who are nominated
	Equal   bool                      // of each resource, all who hold no certain device ask for fractions of one size

	ix      *cluster.Index
	devices *cluster.Devices
	names   []string           // of the resources that members ask for
	number  map[string]int     // of each
	pools   [][]cluster.PoolID // of each resource, of each node
	asks    [][]Ask            // of each member
	claims  [][]Claim          // of each member
}

// Claim is one request of somebody who holds no certain device.
type Claim struct {
	resource int
	whole    int64
	fraction int64 // 0: whole devices
}

// NewPlan is the plan of members, where others are nominated. known may be nil.
func NewPlan(ix *cluster.Index, members []*cluster.Pod, pending []cluster.PodID, known *Known) *Plan {
	plan := &Plan{ix: ix, devices: ix.Devices(), number: map[string]int{}, Pending: map[cluster.PodID][]Claim{}}
	for _, p := range members {
		for i := range p.Devices {
			name := p.Devices[i].Resource
			if _, known := plan.number[name]; !known {
				plan.number[name] = len(plan.names)
				plan.names = append(plan.names, name)
				plan.pools = append(plan.pools, plan.devices.Pools(name))
			}
		}
	}
	for _, p := range members {
		plan.asks = append(plan.asks, Asks(plan.number, p))
		plan.claims = append(plan.claims, plan.claim(p, false))
	}
	for _, p := range pending {
		if claims := plan.claim(ix.Pod(p), false); len(claims) > 0 {
			plan.Pending[p] = claims
		}
	}
	plan.Equal = plan.equalFractions(known)
	return plan
}

// claim is what p asks for of the resources that matter; if it runs, but for what it says that it holds.
func (plan *Plan) claim(p *cluster.Pod, runs bool) (claims []Claim) {
	for i := range p.Devices {
		r := &p.Devices[i]
		if resource, asked := plan.number[r.Resource]; asked && !(runs && len(r.Assigned) > 0) {
			claims = append(claims, Claim{resource, int64(r.Count), r.Fraction})
		}
	}
	return claims
}

// poolOn is the pool of a resource on node n, or NoPool.
func (plan *Plan) poolOn(resource int, n cluster.NodeID) cluster.PoolID {
	if column := plan.pools[resource]; column != nil {
		return column[n]
	}
	return cluster.NoPool
}

func (plan *Plan) equalFractions(known *Known) bool {
	sizes := make([][]int64, len(plan.names))
	for i, name := range plan.names {
		sizes[i] = known.Loose(plan.devices, name)
	}
	for _, claims := range slices.AppendSeq(slices.Clone(plan.claims), maps.Values(plan.Pending)) {
		for _, c := range claims {
			if c.fraction > 0 && !slices.Contains(sizes[c.resource], c.fraction) {
				sizes[c.resource] = append(sizes[c.resource], c.fraction)
			}
		}
	}
	return !slices.ContainsFunc(sizes, func(s []int64) bool { return len(s) > 1 })
}

// Claims are those of member m.
func (plan *Plan) Claims(m int) []Claim { return plan.claims[m] }

// Alike reports whether members a and b want the same.
func (plan *Plan) Alike(a, b int) bool {
	return slices.EqualFunc(plan.asks[a], plan.asks[b], func(a, b Ask) bool { return a.Equals(&b) })
}

// Hopeless is what member m does not get on node n, were all its devices free, or nil.
func (plan *Plan) Hopeless(m int, n cluster.NodeID) *Ask {
	for i := range plan.asks[m] {
		a := &plan.asks[m][i]
		if id := plan.poolOn(a.Resource, n); id == cluster.NoPool || !a.CouldFit(plan.devices.Pool(id)) {
			return a
		}
	}
	return nil
}

// Touches reports whether devices that a member asks for are held on node n.
func (plan *Plan) Touches(n cluster.NodeID) bool {
	for column := range plan.pools {
		id := plan.poolOn(column, n)
		if id == cluster.NoPool {
			continue
		}
		pool := plan.devices.Pool(id)
		if plan.devices.Loose(id) > 0 || slices.ContainsFunc(plan.devices.Free()[pool.First:][:pool.Count], func(v int64) bool { return v != pool.Capacity }) {
			return true
		}
	}
	return false
}

// TouchesPod reports whether p asks for devices that a member asks for.
func (plan *Plan) TouchesPod(p cluster.PodID) bool {
	return slices.ContainsFunc(plan.ix.Pod(p).Devices, func(r cluster.DeviceRequest) bool {
		_, asked := plan.number[r.Resource]
		return asked
	})
}
