package domain

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/devices"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Devices returns the constraint of devices ([cluster.Node.Devices]): whole devices that a member asks for must be wholly free on the node,
// a fraction must fit on one device. Room on several devices never adds up.
//
// Running pods hold the devices that they say they hold ([cluster.DeviceRequest.Assigned]), and one that returns takes these again. Of
// other running pods, of nominated ones and of placed members nobody knows which they hold: they are taken to sit as well as they can,
// together with the member that is asked for: fractions onto the devices that are shared already, the largest first, each where the least
// room is left that is enough, and whole devices from what is then wholly free. That finds room whenever there is some if all their
// fractions of one resource are equal; if not it may, rarely, miss it. Where running pods alone have no room, nobody else has any. Nor is
// there any on a device that pods say they hold more of than it has.
//
// A node without such devices, or whose devices are too few or too small even when they are all free, is an unresolvable misfit.
//
// Prepare gives a nil State where no member asks for devices. It is node-local, and monotone if those fractions are equal for each
// resource. Remove and Return cost O(h*d) for the h devices that the pod holds on a node of d devices, after a look at all of these and at who
// runs there. Fits costs O(d + s*log d), or less where sums tell, for s seats of those who hold no certain devices.
//
// Source: the library's own; upstream leaves devices to plugins.
func Devices() Constraint { return deviceConstraint{} }

type deviceConstraint struct{ known *devices.Known } // nil: each state finds out for itself

// Sharing is the constraint for who asks about many pods, one after the other: its states share what is known with everybody in place.
func (deviceConstraint) Sharing() Constraint { return deviceConstraint{devices.NewKnown()} }

func (deviceConstraint) Name() Check { return CheckDevice }

func (c deviceConstraint) Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error) {
	if !slices.ContainsFunc(members, func(p *cluster.Pod) bool { return len(p.Devices) > 0 }) {
		return nil, nil
	}
	s := newDeviceState(planDevices(ix, members, ix.Devices().Pending(), c.known))
	s.known = c.known
	return s, nil
}

// deviceState knows what room there is in the pools of nodes at which somebody has looked.
type deviceState struct {
	plan  *devicePlan // shared by all clones
	rooms map[cluster.PoolID]*devices.Room
	read  map[cluster.NodeID]bool // its rooms are made
	known *devices.Known          // see deviceConstraint

	held  []cluster.Holding // of run, reused
	room  []int64           // of Fits, reused
	looks int64             // of Fits, at seats
}

func newDeviceState(plan *devicePlan) *deviceState {
	return &deviceState{plan: plan, rooms: map[cluster.PoolID]*devices.Room{}, read: map[cluster.NodeID]bool{}}
}

func (s *deviceState) Remove(p cluster.PodID, n cluster.NodeID) { s.move(p, n, +1) }

func (s *deviceState) Return(p cluster.PodID, n cluster.NodeID) { s.move(p, n, -1) }

func (s *deviceState) move(p cluster.PodID, n cluster.NodeID, sign int64) {
	if s.plan.ix.NodeOf(p) == n {
		s.run(p, n, sign)
	} else {
		s.ask(s.plan.pending[p], n, -sign)
	}
}

// run lets p, which runs on n, give its devices back (+1) or hold them (-1).
func (s *deviceState) run(p cluster.PodID, n cluster.NodeID, sign int64) {
	pod := s.plan.ix.Pod(p)
	if len(pod.Devices) == 0 {
		return
	}
	s.look(n)
	for i := range pod.Devices {
		r := &pod.Devices[i]
		column, asked := s.plan.number[r.Resource]
		switch {
		case !asked:
		case len(r.Assigned) == 0:
			s.ask([]claim{{column, int64(r.Count), r.Fraction}}, n, -sign)
		case s.plan.poolOn(column, n) != cluster.NoPool:
			id := s.plan.poolOn(column, n)
			pool := s.plan.devices.Pool(id)
			s.held = pool.Held(s.held[:0], r)
			for _, h := range s.held {
				s.rooms[id].Free(int(h.Device-pool.First), sign*h.Amount)
			}
		}
	}
}

// look makes the rooms of node n.
func (s *deviceState) look(n cluster.NodeID) {
	if s.read[n] {
		return
	}
	s.read[n] = true
	var fresh []int // columns
	loose := false
	for column := range s.plan.pools {
		id := s.plan.poolOn(column, n)
		switch {
		case id == cluster.NoPool:
		case s.known != nil && s.known.Rooms[id] != nil:
			s.rooms[id] = s.known.Rooms[id].Shared()
		default:
			pool := s.plan.devices.Pool(id)
			s.rooms[id] = devices.NewRoom(s.plan.devices.Free()[pool.First:][:pool.Count], pool.Capacity)
			fresh, loose = append(fresh, column), loose || s.plan.devices.Loose(id) > 0
		}
	}
	for _, p := range s.plan.ix.PodsOn(n) {
		if !loose {
			break
		}
		s.ask(slices.DeleteFunc(s.plan.claim(s.plan.ix.Pod(p), true), func(c claim) bool { return !slices.Contains(fresh, c.resource) }), n, +1)
	}
	for _, column := range fresh {
		if id := s.plan.poolOn(column, n); s.known != nil {
			s.known.Rooms[id] = s.rooms[id]
			s.rooms[id] = s.rooms[id].Shared()
		}
	}
}

// ask lets claims on node n come (+1), or go (-1).
func (s *deviceState) ask(claims []claim, n cluster.NodeID, by int64) {
	if len(claims) == 0 {
		return
	}
	s.look(n)
	for _, c := range claims {
		if room := s.rooms[s.plan.poolOn(c.resource, n)]; room != nil {
			room.Ask(by*c.whole, c.fraction, by)
		}
	}
}

func (s *deviceState) Place(m MemberID, n cluster.NodeID) { s.ask(s.plan.claims[m], n, +1) }

func (s *deviceState) Unplace(m MemberID, n cluster.NodeID) { s.ask(s.plan.claims[m], n, -1) }

func (s *deviceState) Fits(m MemberID, n cluster.NodeID) Reason {
	if r := s.Hopeless(m, n); !r.OK() {
		return r
	}
	s.look(n)
	for i := range s.plan.asks[m] {
		a := &s.plan.asks[m][i]
		ok, seats, buffer := s.rooms[s.plan.pools[a.Resource][n]].Seats(s.room, int64(a.Whole), a.Fractions)
		if s.room, s.looks = buffer, s.looks+seats/64*256; !ok {
			return Reason{Check: CheckDevice, Detail: a.Text}
		}
	}
	return Reason{}
}

// Seated is how many looks it took so far to find fractions their seats, where these are many.
func (s *deviceState) Seated() int64 { return s.looks }

// Hopeless tells of nodes whose devices are too few or too small, were they all free.
func (s *deviceState) Hopeless(m MemberID, n cluster.NodeID) Reason {
	for i := range s.plan.asks[m] {
		a := &s.plan.asks[m][i]
		column := s.plan.pools[a.Resource]
		if column == nil || column[n] == cluster.NoPool || !a.CouldFit(s.plan.devices.Pool(column[n])) {
			return Reason{Check: CheckDevice, Unresolvable: true, Detail: a.Text}
		}
	}
	return Reason{}
}

// Touches reports whether devices that a member asks for are held on node n.
func (s *deviceState) Touches(n cluster.NodeID) bool {
	held := func(id cluster.PoolID) bool {
		pool := s.plan.devices.Pool(id)
		return slices.ContainsFunc(s.plan.devices.Free()[pool.First:][:pool.Count], func(v int64) bool { return v != pool.Capacity })
	}
	return slices.ContainsFunc(s.plan.pools, func(column []cluster.PoolID) bool {
		return column != nil && column[n] != cluster.NoPool && (s.plan.devices.Loose(column[n]) > 0 || held(column[n]))
	})
}

// TouchesPod reports whether p asks for devices that a member asks for.
func (s *deviceState) TouchesPod(p cluster.PodID, _ cluster.NodeID) bool {
	return slices.ContainsFunc(s.plan.ix.Pod(p).Devices, func(r cluster.DeviceRequest) bool {
		return slices.Contains(s.plan.names, r.Resource)
	})
}

func (s *deviceState) Clone() State {
	c := newDeviceState(s.plan)
	c.read = maps.Clone(s.read)
	for id, room := range s.rooms {
		c.rooms[id] = room.Clone()
	}
	return c
}

func (s *deviceState) Scope() Scope { return s.plan.scope }

func (s *deviceState) fitsSame(a, b MemberID) bool {
	return slices.EqualFunc(s.plan.asks[a], s.plan.asks[b], func(a, b devices.Ask) bool { return a.Equals(&b) })
}

// devicePlan is what a question needs to know of devices. It is immutable.
type devicePlan struct {
	ix      *cluster.Index
	devices *cluster.Devices
	names   []string           // of the resources that members ask for
	number  map[string]int     // of each
	pools   [][]cluster.PoolID // of each resource, of each node
	asks    [][]devices.Ask    // of each member
	claims  [][]claim          // of each member
	pending map[cluster.PodID][]claim
	scope   Scope
}

// claim is one request of somebody who holds no certain device.
type claim struct {
	resource int
	whole    int64
	fraction int64 // 0: whole devices
}

func planDevices(ix *cluster.Index, members []*cluster.Pod, pending []cluster.PodID, known *devices.Known) *devicePlan {
	plan := &devicePlan{ix: ix, devices: ix.Devices(), number: map[string]int{}, pending: map[cluster.PodID][]claim{}}
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
		plan.asks = append(plan.asks, devices.Asks(plan.number, p))
		plan.claims = append(plan.claims, plan.claim(p, false))
	}
	for _, p := range pending {
		if claims := plan.claim(ix.Pod(p), false); len(claims) > 0 {
			plan.pending[p] = claims
		}
	}
	plan.scope = Scope{NodeLocal: true, Monotone: plan.equalFractions(known)}
	return plan
}

// claim is what p asks for of the resources that matter; if it runs, but for what it says that it holds.
func (plan *devicePlan) claim(p *cluster.Pod, runs bool) (claims []claim) {
	for i := range p.Devices {
		r := &p.Devices[i]
		if resource, asked := plan.number[r.Resource]; asked && !(runs && len(r.Assigned) > 0) {
			claims = append(claims, claim{resource, int64(r.Count), r.Fraction})
		}
	}
	return claims
}

// poolOn is the pool of a resource on node n, or NoPool.
func (plan *devicePlan) poolOn(resource int, n cluster.NodeID) cluster.PoolID {
	if column := plan.pools[resource]; column != nil {
		return column[n]
	}
	return cluster.NoPool
}

// equalFractions reports whether, of each resource, all who hold no certain device ask for fractions of one size.
func (plan *devicePlan) equalFractions(known *devices.Known) bool {
	sizes := make([][]int64, len(plan.names))
	for i, name := range plan.names {
		sizes[i] = known.Loose(plan.devices, name)
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
