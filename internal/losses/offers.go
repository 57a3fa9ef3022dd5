package losses

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Offers prices room by the units that have to go for it; it implements
// [domain.Offers]. What has to go on a node is found as the reprieve finds it, by
// the node's resources, host ports and devices alone, of these only where the members on it that ask for a kind ask for the same of it: units that violate a budget come back
// first, then the others, most important first. A unit on several nodes is priced
// whole, and costs nothing more once it has to go for a member elsewhere.
//
// Not safe for concurrent use.
type Offers struct {
	us       *victims.Units
	trial    *domain.GangTrial
	below    func(victims.UnitID) bool // may the unit be evicted
	violates func(victims.UnitID) int  // what its loss adds to the violations
	costless func(victims.UnitID) bool // its loss costs nothing

	// CostLeads makes the units' prices decide before all else.
	CostLeads bool

	// Out, if set, says who has to go on node n, most important first, where free is left by
	// those members who come there, and needed are the resources that these ask for; or it leaves that to the offers. It appends
	// to dst. Where it answers, every unit on the node is a single pod, nobody's loss violates a budget, and nobody asks for ports.
	Out func(dst []victims.UnitID, n cluster.NodeID, free []int64, needed []bool) (out []victims.UnitID, price domain.Price, ok bool)

	// Near, if set, lists those pods of a unit of several that matter where members are placed: of the
	// others' nodes nobody asks.
	Near func(u victims.UnitID) []cluster.PodID

	broken []int32                         // by unit: on how many nodes it has to go for a member that is placed
	lost   []victims.UnitID                // those for which broken is above zero
	sums   []domain.Price                  // what the first, the first two, ... of lost cost, as far as they have been added up
	out    [][]victims.UnitID              // by node: who has to go for its members
	booked []bool                          // by node: out is set
	paid   map[cluster.NodeID]domain.Price // of out, where Out told it
	seats  []int32                         // by node: for so many members
	seated int                             // on all of them
	mixed  bool                            // they were counted in another order than that of the members' places, where that may matter
	taken  []cluster.NodeID                // those nodes
	free   []int64                         // of the node that is looked at, of the resources that members ask for
	needed []bool                          // by resource: a member on the node asks for it
	units  []victims.UnitID                // who has to go on the node
	nodes  []cluster.NodeID                // for Taken
	fresh  []bool                          // by node: among nodes already
	ported bool                            // a member on the node, or like those that are asked for, asks for ports,
	more   []domain.MemberID               // the latter, if there is one
	known  bool                            // whose ports these are,
	pinned [2]ports.Wanted                 // of those on the node and of the latter,
	pins   [2][]domain.MemberID            // who are these
	here   []cluster.PodID                 // pods of a unit on the node
	stands [][]stand                       // of the nodes that were looked at since Renew, those of a node in one part
	part   int                             // the one of them that has room
	read   []reading                       // by node
	turn   int32                           // of Renew
	kinds  []kind                          // of devices that members ask for
	wholes Wholes
	costs  map[victims.UnitID]bool // of units of many pods that were asked about: whether their loss costs something
	may    map[victims.UnitID]bool // likewise since Renew: below
}

// stand is a unit that may have to go on a node.
type stand struct {
	unit     victims.UnitID
	violates bool              // its loss adds to the violations
	held     []cluster.Holding // devices, there
	ports    []cluster.HostPort
	some     uint64  // see [ports.Some]
	known    bool    // these are
	priced   bool    // price is known
	frees    []int64 // there
	price    domain.Price
}

// reading is which of a part of stands are of a node, if turn is that of the offers.
type reading struct{ turn, part, from, to int32 }

// standsToPart is how many stands a part has room for, or as many as there are units, or stand on a node.
const standsToPart = 512

// NewOffers returns new offers of the units of us that potential admits, for a trial from
// which they have all been removed. violates says what the loss of a unit adds to
// the count of violations; nil: nothing. costless admits those whose pods are priced
// at nothing; nil: none.
func NewOffers(us *victims.Units, t *domain.GangTrial, potential func(victims.UnitID) bool, violates func(victims.UnitID) int, costless func(victims.UnitID) bool) *Offers {
	o, reused := idle.Get().(*Offers)
	if !reused {
		o = new(Offers)
	}
	nodes, resources := us.Index().NumNodes(), us.Index().NumResources()
	*o = Offers{
		us: us, trial: t, below: potential, violates: violates, costless: costless,
		wholes: NewWholes(us, nil), costs: map[victims.UnitID]bool{}, may: map[victims.UnitID]bool{}, paid: map[cluster.NodeID]domain.Price{},
		broken: zeros(o.broken, us.Len()), booked: zeros(o.booked, nodes), seats: zeros(o.seats, nodes),
		fresh: zeros(o.fresh, nodes), read: zeros(o.read, nodes), turn: 1, out: slices.Grow(o.out[:0], nodes)[:nodes],
		free: make([]int64, resources), needed: make([]bool, resources), kinds: kindsOf(t),
		lost: o.lost[:0], sums: o.sums[:0], taken: o.taken[:0], units: o.units[:0], nodes: o.nodes[:0],
	}
	return o
}

// zeros are so many, in the memory of list.
func zeros[T any](list []T, n int) []T {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// idle are offers out of use, of any planner, with nothing but lists to be reused.
var idle sync.Pool

// Close lets others reuse the lists of o. It is over.
func (o *Offers) Close() {
	idle.Put(&Offers{
		broken: o.broken, booked: o.booked, seats: o.seats, fresh: o.fresh, read: o.read, out: o.out,
		lost: o.lost, sums: o.sums, taken: o.taken, units: o.units, nodes: o.nodes,
	})
	*o = Offers{}
}

// Price is what has to go for member m and the members placed on node n, without what has to go for
// those alone. O(k) for k units on the node.
func (o *Offers) Price(m domain.MemberID, n cluster.NodeID) domain.Price {
	o.trial.Asked++
	booked := o.Booked(n)
	o.mark(booked, -1)
	price, _ := o.evict(n, m, 1)
	before, told := o.paid[n]
	if !told || len(booked) == 0 {
		before = domain.Free
		for _, u := range booked {
			if o.broken[u] == 0 {
				o.charge(&before, u)
			}
		}
	}
	o.mark(booked, +1)
	return price.Minus(before)
}

// Further is what has to go on node n for the members placed there, m, and so many more like it.
// told is false where there is no room for all or a unit of several pods may have to go. O(k).
func (o *Offers) Further(m domain.MemberID, n cluster.NodeID, more int64) (price domain.Price, told bool) {
	if o.trial.Slots(m, n) <= more || slices.ContainsFunc(o.us.On(n), func(u victims.UnitID) bool { return len(o.us.Unit(u).Pods) > 1 && o.admits(u) }) {
		return price, false
	}
	booked := o.Booked(n)
	o.mark(booked, -1)
	price, _ = o.evict(n, m, 1+int(more))
	o.mark(booked, +1)
	return price, true
}

// mark lets units have to go on so many nodes more.
func (o *Offers) mark(units []victims.UnitID, more int32) {
	for _, u := range units {
		o.broken[u] += more
	}
}

// release lets units have to go on one node less.
func (o *Offers) release(units []victims.UnitID) {
	saved := 0
	for _, u := range units {
		if o.broken[u]--; o.broken[u] == 0 {
			saved++
		}
	}
	first := len(o.lost)
	for ; saved > 0; first-- {
		if o.broken[o.lost[first-1]] == 0 {
			saved--
		}
	}
	left := slices.DeleteFunc(o.lost[first:], func(u victims.UnitID) bool { return o.broken[u] == 0 })
	o.lost, o.sums = o.lost[:first+len(left)], o.sums[:min(first, len(o.sums))]
}

// Highest is the priority of the most important pod that has to go for the members that
// are placed.
func (o *Offers) Highest() int64 { return o.Total().Highest }

// Taken books member m on node n.
func (o *Offers) Taken(m domain.MemberID, n cluster.NodeID) []cluster.NodeID {
	again := o.booked[n]
	o.count(m, n, true)
	o.mixed = o.mixed || (again || o.seated != len(o.trial.Placed())) && o.shares(n)
	return o.nodes
}

// shares reports whether a unit on node n has pods elsewhere, perhaps: who has to go there may depend on who goes there.
func (o *Offers) shares(n cluster.NodeID) bool {
	return slices.ContainsFunc(o.us.On(n), func(u victims.UnitID) bool { return len(o.us.Unit(u).Pods) > 1 })
}

// count counts anew who has to go on node n for the members there, of whom m is one. With reach it lists in o.nodes
// where those are, too, who have to go now and had not.
func (o *Offers) count(m domain.MemberID, n cluster.NodeID, reach bool) {
	if !o.booked[n] {
		o.booked[n], o.out[n], o.seats[n] = true, o.out[n][:0], 0
		o.taken = append(o.taken, n)
	}
	o.release(o.out[n]) // they may come back
	if price, told := o.evict(n, m, 0); told {
		o.paid[n] = price
	} else {
		delete(o.paid, n)
	}
	o.seated += len(o.trial.On(n)) - int(o.seats[n])
	o.seats[n] = int32(len(o.trial.On(n)))
	o.nodes = o.nodes[:0]
	for _, u := range o.units {
		if o.broken[u]++; o.broken[u] > 1 {
			continue
		}
		o.lost = append(o.lost, u)
		if pods := o.us.Unit(u).Pods; reach && len(pods) > 1 && !slices.Contains(o.out[n], u) {
			if o.Near != nil {
				pods = o.Near(u)
			}
			o.reach(pods, n)
		}
	}
	for _, at := range o.nodes {
		o.fresh[at] = false
	}
	o.out[n] = append(o.out[n][:0], o.units...)
}

// Booked lists who has to go for the members that are booked on node n. The slice is good until the
// next change.
func (o *Offers) Booked(n cluster.NodeID) []victims.UnitID {
	if !o.booked[n] {
		return nil
	}
	return o.out[n]
}

// Paid is what who is booked on node n costs, if Out told it, and nobody came there or went since that member was Taken.
func (o *Offers) Paid(n cluster.NodeID) (price domain.Price, told bool) {
	if o.booked[n] && int(o.seats[n]) == len(o.trial.On(n)) {
		price, told = o.paid[n]
	}
	return price, told
}

// reach adds the nodes of pods other than n to o.nodes.
func (o *Offers) reach(pods []cluster.PodID, n cluster.NodeID) {
	o.trial.Asked += len(pods) / unitsAsk
	for _, p := range pods {
		if at := o.us.Index().NodeOf(p); at != cluster.NoNode && at != n && !o.fresh[at] {
			o.fresh[at] = true
			o.nodes = append(o.nodes, at)
		}
	}
}

// Renew is Reset once others may go than before.
func (o *Offers) Renew() {
	o.turn, o.part = o.turn+1, 0
	for i := range o.stands {
		o.stands[i] = o.stands[i][:0]
	}
	clear(o.may)
	o.Reset()
}

// admits reports whether unit u may be evicted, which is asked once of many pods, not on each of their nodes.
func (o *Offers) admits(u victims.UnitID) bool {
	if len(o.us.Unit(u).Pods) <= fewPods {
		return o.below(u)
	}
	may, known := o.may[u]
	if !known {
		may = o.below(u)
		o.may[u] = may
	}
	return may
}

// Reset counts anew what has to go for the members that are placed.
func (o *Offers) Reset() {
	for _, u := range o.lost {
		o.broken[u] = 0
	}
	for _, n := range o.taken {
		o.booked[n] = false
	}
	o.lost, o.taken, o.sums, o.seated, o.mixed = o.lost[:0], o.taken[:0], o.sums[:0], 0, false
	for _, m := range o.trial.Placed() {
		if n := o.trial.At(m); !o.booked[n] {
			o.count(m, n, false)
		}
	}
}

// Untaken is Reset where members have lost their places on nodes, each listed once: it counts anew on those
// alone, where that comes to the same.
func (o *Offers) Untaken(nodes []cluster.NodeID) {
	if o.mixed || slices.ContainsFunc(nodes, o.shares) {
		o.Reset() // what goes elsewhere may depend on it
		return
	}
	o.units = o.units[:0]
	for _, n := range nodes {
		if o.booked[n] {
			o.booked[n], o.seated = false, o.seated-int(o.seats[n])
			o.units = append(o.units, o.out[n]...)
		}
	}
	o.release(o.units)
	o.taken = slices.DeleteFunc(o.taken, func(n cluster.NodeID) bool { return !o.booked[n] })
	for _, n := range nodes {
		if on := o.trial.On(n); len(on) > 0 {
			o.count(on[0], n, false)
		}
	}
	o.follow()
}

// follow is Reset where members were placed who were not Taken: it counts anew where they are alone, where that comes to the same.
func (o *Offers) follow() {
	placed := o.trial.Placed()
	for _, m := range placed[min(o.seated, len(placed)):] {
		n := o.trial.At(m)
		on := o.trial.On(n)
		if o.booked[n] && int(o.seats[n]) == len(on) {
			continue
		}
		if o.mixed || (o.booked[n] || on[0] != m) && o.shares(n) {
			break
		}
		o.count(m, n, false)
	}
	if o.seated != len(placed) {
		o.Reset()
	}
}

// Apart reports whether every unit that may have to go on nodes is there alone.
func (o *Offers) Apart(nodes []cluster.NodeID) bool {
	large := func(u victims.UnitID) bool { return len(o.us.Unit(u).Pods) > 1 && o.admits(u) }
	return !slices.ContainsFunc(nodes, func(n cluster.NodeID) bool { return slices.ContainsFunc(o.us.On(n), large) })
}

// On is what has to go on nodes for the members that are placed there, where it has no pods elsewhere.
func (o *Offers) On(nodes []cluster.NodeID) domain.Price {
	o.follow()
	price := domain.Free
	for _, n := range nodes {
		for _, u := range o.Booked(n) {
			o.charge(&price, u)
		}
	}
	return price
}

// Total is what has to go for all members that are placed. O(k) for k units that were lost since the last call.
func (o *Offers) Total() domain.Price {
	o.follow()
	price, added := domain.Free, len(o.sums)
	if added > 0 {
		price = o.sums[added-1]
	}
	for _, u := range o.lost[added:] {
		o.charge(&price, u)
		o.sums = append(o.sums, price)
	}
	return price
}

// evict finds who has to go on node n for the members placed there, and for so many more like
// m, with what that costs, and whether Out has told it. It leaves them in o.units.
func (o *Offers) evict(n cluster.NodeID, m domain.MemberID, more int) (price domain.Price, told bool) {
	free := o.trial.Free(n)
	for _, r := range o.trial.Columns() {
		o.free[r], o.needed[r] = free[r], false
	}
	o.ported = false
	for i := range o.kinds {
		o.kinds[i].members = 0
	}
	for _, placed := range o.trial.On(n) {
		o.need(placed, false)
	}
	for range more {
		o.need(m, true)
	}
	o.more, o.known = append(o.more[:0], m)[:min(more, 1)], false
	o.units = o.units[:0]
	if o.Out != nil && !o.ported {
		if o.units, price, told = o.Out(o.units, n, o.free, o.needed); told {
			return price, true
		}
	}
	price = domain.Free
	on := o.on(n)
	o.freeDevices(n, on)
	if o.violates != nil {
		o.walk(&price, n, on, true)
	}
	o.walk(&price, n, on, false)
	return price, false
}

// unitsAsk is about how many units, or pods of one, going through them takes as long as a question about a member on a node.
const unitsAsk = 8

// walk gives back the units on node n that violate a budget, or the others.
func (o *Offers) walk(price *domain.Price, n cluster.NodeID, on []stand, violating bool) {
	o.trial.Asked += len(on) / unitsAsk
	for i := range on {
		s := &on[i]
		if s.violates != violating || o.stays(s, n) {
			continue
		}
		if o.units = append(o.units, s.unit); o.broken[s.unit] > 0 { // it is lost already
			continue
		}
		if !s.priced {
			s.price, s.priced = domain.Free, true
			o.charge(&s.price, s.unit)
		}
		price.Add(s.price)
	}
}

// on lists the units that may have to go on node n, most important first.
func (o *Offers) on(n cluster.NodeID) []stand {
	r := &o.read[n]
	if r.turn != o.turn {
		units := o.us.On(n)
		for o.part < len(o.stands) && cap(o.stands[o.part])-len(o.stands[o.part]) < len(units) {
			o.part++
		}
		if o.part == len(o.stands) {
			o.stands = append(o.stands, make([]stand, 0, max(min(standsToPart, o.us.Len()), len(units))))
		}
		part := &o.stands[o.part]
		from := len(*part)
		for _, u := range units {
			if o.admits(u) {
				s := stand{unit: u, violates: o.violates != nil && o.violates(u) > 0, frees: o.frees(u, n)}
				for i := 0; o.kinds != nil && i < len(o.at(u, n)); i++ {
					s.held = o.us.Index().Devices().Held(s.held, o.us.Index().Pod(o.at(u, n)[i]), n)
				}
				*part = append(*part, s)
			}
		}
		*r = reading{o.turn, int32(o.part), int32(from), int32(len(*part))}
	}
	return o.stands[r.part][r.from:r.to]
}

// frees is what unit u holds on node n, by resource.
func (o *Offers) frees(u victims.UnitID, n cluster.NodeID) []int64 {
	pods := o.at(u, n)
	if len(pods) == 1 {
		return o.us.Index().Request(pods[0])
	}
	sum := make([]int64, len(o.free))
	for _, p := range pods {
		for _, r := range o.trial.Columns() {
			sum[r] += o.us.Index().Request(p)[r]
		}
	}
	return sum
}

// need marks what member m asks for, and takes it from the free room.
func (o *Offers) need(m domain.MemberID, take bool) {
	member := o.trial.Member(m)
	for _, r := range o.trial.Columns() {
		if v := member.Request()[r]; v > 0 {
			o.needed[r] = true
			if take {
				o.free[r] -= v
			}
		}
	}
	o.ported = o.ported || len(member.Pod.Ports) > 0
	for i := range o.kinds {
		o.kinds[i].need(m)
	}
}

// pin finds the ports of the members on node n, and of the one that is asked for, who are often those of the last time and one more.
func (o *Offers) pin(n cluster.NodeID) {
	for i, members := range [...][]domain.MemberID{o.trial.On(n), o.more} {
		w, pins := &o.pinned[i], o.pins[i]
		if len(pins) > len(members) || !slices.Equal(pins, members[:len(pins)]) {
			w.Reset()
			pins = pins[:0]
		}
		for _, m := range members[len(pins):] {
			w.Add(o.trial.Member(m).Pod.Ports)
			pins = append(pins, m)
		}
		o.pins[i] = pins
	}
	o.known = true
}

// stays puts the pods of a unit on node n back if the members fit beside them.
func (o *Offers) stays(s *stand, n cluster.NodeID) bool {
	if o.broken[s.unit] > 0 {
		return false
	}
	for _, r := range o.trial.Columns() {
		if o.needed[r] && o.free[r] < s.frees[r] {
			return false
		}
	}
	if o.ported && o.portTaken(s, n) || !o.devicesStay(s) {
		return false
	}
	for _, r := range o.trial.Columns() {
		o.free[r] -= s.frees[r]
	}
	return true
}

// at lists the pods of unit u, which has some on node n, that are there. The slice is good until
// the next call.
func (o *Offers) at(u victims.UnitID, n cluster.NodeID) []cluster.PodID {
	pods := o.us.Unit(u).Pods
	if len(pods) == 1 {
		return pods
	}
	o.here = o.here[:0]
	if w := o.wholes.Of(u); w != nil {
		return w.On(o.us.Index(), n)
	}
	for _, p := range pods {
		if o.us.Index().NodeOf(p) == n {
			o.here = append(o.here, p)
		}
	}
	return o.here
}

// portTaken reports whether a pod of s, on node n, has a port that a member there asks for.
func (o *Offers) portTaken(s *stand, n cluster.NodeID) bool {
	if !s.known {
		for _, p := range o.at(s.unit, n) {
			s.ports = append(s.ports, o.us.Index().Pod(p).Ports...)
		}
		s.some, s.known = ports.Some(s.ports), true
	}
	if s.some != 0 && !o.known {
		o.pin(n)
	}
	return s.some != 0 && slices.ContainsFunc(o.pinned[:], func(w ports.Wanted) bool { return w.MayMeet(s.some) && w.Meets(s.ports) })
}

// charge adds what the loss of unit u costs.
func (o *Offers) charge(price *domain.Price, u victims.UnitID) {
	if o.violates != nil {
		price.Violations += int64(o.violates(u))
	}
	whole := o.wholes.Of(u)
	if !o.costsPods(u, whole != nil) {
		return
	}
	if o.CostLeads {
		price.Lead = checked.Add(price.Lead, o.us.Cost(u))
	}
	if whole != nil {
		price.Add(whole.Loss.Price)
		return
	}
	for _, p := range o.us.Unit(u).Pods {
		prio := o.us.Index().Priority(p)
		price.Highest = max(price.Highest, int64(prio))
		price.Sum += priority.Raised(prio)
		price.Pods++
	}
}

// costsPods reports whether the loss of unit u costs something, which is remembered of many pods.
func (o *Offers) costsPods(u victims.UnitID, many bool) bool {
	if o.costless == nil {
		return true
	}
	costs, known := o.costs[u]
	if !known {
		if costs = !o.costless(u); many {
			o.costs[u] = costs
		}
	}
	return costs
}
