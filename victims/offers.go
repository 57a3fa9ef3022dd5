package victims

import (
	"math"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Offers prices room by the units that have to go for it; it implements
// [domain.Offers]. What has to go on a node is found as the reprieve finds it, by
// the node's resources and host ports alone: units that violate a budget come back
// first, then the others, most important first. A unit on several nodes is priced
// whole, and costs nothing more once it has to go for a member elsewhere.
//
// Not safe for concurrent use.
type Offers struct {
	us       *Units
	trial    *domain.GangTrial
	below    func(UnitID) bool // may the unit be evicted
	violates func(UnitID) int  // what its loss adds to the violations
	costless func(UnitID) bool // its loss costs nothing

	broken []int32                         // by unit: on how many nodes it has to go for a member that is placed
	paid   map[cluster.NodeID]domain.Price // what has to go for the members on a node
	out    map[cluster.NodeID][]UnitID     // and who
	free   []int64
	needed []bool
	units  []UnitID
	nodes  []cluster.NodeID
}

// NewOffers returns the offers of the units that potential admits, for a trial from
// which they have all been removed. violates says what the loss of a unit adds to
// the count of violations; costless admits those that are priced at nothing.
func NewOffers(us *Units, t *domain.GangTrial, potential func(UnitID) bool, violates func(UnitID) int, costless func(UnitID) bool) *Offers {
	return &Offers{
		us: us, trial: t, below: potential, violates: violates, costless: costless,
		broken: make([]int32, us.Len()),
		paid:   map[cluster.NodeID]domain.Price{},
		out:    map[cluster.NodeID][]UnitID{},
		free:   make([]int64, us.ix.NumResources()),
		needed: make([]bool, us.ix.NumResources()),
	}
}

// Price is what has to go for member m on node n beyond what has to go for the
// members placed there. O(k) for k units on the node.
func (o *Offers) Price(m domain.MemberID, n cluster.NodeID) domain.Price {
	price := o.evict(n, m, true)
	before, ok := o.paid[n]
	if !ok {
		return price
	}
	price.Violations -= before.Violations
	price.Sum -= before.Sum
	price.Pods -= before.Pods
	if price.Highest <= before.Highest {
		price.Highest = math.MinInt64
	}
	return price
}

// Taken books member m on node n.
func (o *Offers) Taken(m domain.MemberID, n cluster.NodeID) []cluster.NodeID {
	for _, u := range o.out[n] {
		o.broken[u]--
	}
	o.paid[n] = o.evict(n, m, false)
	o.out[n] = append(o.out[n][:0], o.units...)
	o.nodes = o.nodes[:0]
	for _, u := range o.units {
		o.broken[u]++
		for _, p := range o.us.units[u].Pods {
			if at := o.us.ix.NodeOf(p); at != cluster.NoNode && at != n {
				o.nodes = append(o.nodes, at)
			}
		}
	}
	return o.nodes
}

// Reset counts anew what has to go, after members were taken off their nodes.
func (o *Offers) Reset() {
	clear(o.broken)
	clear(o.paid)
	clear(o.out)
	seen := map[cluster.NodeID]bool{}
	for _, m := range o.trial.Placed() {
		if n := o.trial.At(m); !seen[n] {
			seen[n] = true
			o.Taken(m, n)
		}
	}
}

// Total is what has to go for all members that are placed.
func (o *Offers) Total() domain.Price {
	price := domain.Free
	for u, times := range o.broken {
		if times > 0 {
			o.charge(&price, UnitID(u))
		}
	}
	return price
}

// evict finds who has to go on node n for the members placed there, and for m if
// more is set. It leaves them in o.units.
func (o *Offers) evict(n cluster.NodeID, m domain.MemberID, more bool) domain.Price {
	copy(o.free, o.trial.Free(n))
	clear(o.needed)
	for _, placed := range o.trial.On(n) {
		o.need(placed, false)
	}
	if more {
		o.need(m, true)
	}
	o.units = o.units[:0]
	price := domain.Free
	for _, violating := range [...]bool{true, false} {
		for _, u := range o.us.On(n) {
			if !o.below(u) || (o.violates(u) > 0) != violating {
				continue
			}
			if !o.stays(u, n, m, more) {
				o.units = append(o.units, u)
				o.add(&price, u)
			}
		}
	}
	return price
}

// need marks what member m asks for, and takes it from the free room.
func (o *Offers) need(m domain.MemberID, take bool) {
	for r, v := range o.trial.Member(m).Request() {
		if v > 0 {
			o.needed[r] = true
			if take {
				o.free[r] -= v
			}
		}
	}
}

// stays puts the pods of unit u on node n back if the members fit beside them.
func (o *Offers) stays(u UnitID, n cluster.NodeID, m domain.MemberID, more bool) bool {
	if o.broken[u] > 0 {
		return false
	}
	for _, p := range o.us.units[u].Pods {
		if o.us.ix.NodeOf(p) != n {
			continue
		}
		for r, v := range o.us.ix.Request(p) {
			o.free[r] -= v
		}
	}
	if o.fits() && !o.portTaken(u, n, m, more) {
		return true
	}
	for _, p := range o.us.units[u].Pods {
		if o.us.ix.NodeOf(p) != n {
			continue
		}
		for r, v := range o.us.ix.Request(p) {
			o.free[r] += v
		}
	}
	return false
}

func (o *Offers) fits() bool {
	for r, needed := range o.needed {
		if needed && o.free[r] < 0 {
			return false
		}
	}
	return true
}

func (o *Offers) portTaken(u UnitID, n cluster.NodeID, m domain.MemberID, more bool) bool {
	taken := func(m domain.MemberID) bool {
		want := o.trial.Member(m).Pod.Ports
		if len(want) == 0 {
			return false
		}
		for _, p := range o.us.units[u].Pods {
			if o.us.ix.NodeOf(p) == n {
				if _, conflict := domain.PortsConflict(want, o.us.ix.Pod(p).Ports); conflict {
					return true
				}
			}
		}
		return false
	}
	for _, placed := range o.trial.On(n) {
		if taken(placed) {
			return true
		}
	}
	return more && taken(m)
}

// add adds what the loss of unit u costs; one that is lost already costs nothing.
func (o *Offers) add(price *domain.Price, u UnitID) {
	if o.broken[u] == 0 {
		o.charge(price, u)
	}
}

func (o *Offers) charge(price *domain.Price, u UnitID) {
	price.Violations += int64(o.violates(u))
	if o.costless(u) {
		return
	}
	for _, p := range o.us.units[u].Pods {
		prio := int64(o.us.ix.Priority(p))
		price.Highest = max(price.Highest, prio)
		price.Sum += prio + 1<<31
		price.Pods++
	}
}
