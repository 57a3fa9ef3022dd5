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
// resource. Remove and Return cost O(h) for the h devices that the pod holds, Fits O(d) for the d devices of the node that are not wholly
// free, after one look at all of them, and with g requests there of those who hold no certain devices O(d + g*log d).
//
// Source: the library's own; upstream leaves devices to plugins.
func Devices() Constraint { return deviceConstraint{} }

type deviceConstraint struct{}

func (deviceConstraint) Name() Check { return CheckDevice }

func (deviceConstraint) Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error) {
	if !slices.ContainsFunc(members, func(p *cluster.Pod) bool { return len(p.Devices) > 0 }) {
		return nil, nil
	}
	return &deviceState{
		plan: planDevices(ix, members, ix.Devices().Pending()), free: map[cluster.PoolID][]int64{}, rooms: map[cluster.PoolID]devices.Room{},
		claims: make([][]claim, ix.NumNodes()), read: make([]bool, ix.NumNodes()),
	}, nil
}

// deviceState knows what is free on each device but for those who hold no certain one, and who they are.
type deviceState struct {
	plan   *devicePlan                // shared by all clones
	free   map[cluster.PoolID][]int64 // on each device of the pools that somebody has left
	claims [][]claim                  // on each node
	read   []bool                     // whether those of the running pods are among them
	rooms  map[cluster.PoolID]devices.Room

	held            []cluster.Holding // of hold, reused
	room, fractions []int64           // of seats, reused
	looks           int64             // of seats at claims and fractions, where these are many
}

func (s *deviceState) Remove(p cluster.PodID, n cluster.NodeID) {
	if s.plan.ix.NodeOf(p) == n {
		s.run(p, n, +1)
	} else {
		s.leave(p, 0, n)
	}
}

func (s *deviceState) Return(p cluster.PodID, n cluster.NodeID) {
	if s.plan.ix.NodeOf(p) == n {
		s.run(p, n, -1)
	} else if claims := s.plan.pending[p]; len(claims) > 0 {
		s.claims[n] = append(s.claims[n], claims...)
	}
}

// run lets p, which runs on n, give its devices back (+1) or hold them (-1).
func (s *deviceState) run(p cluster.PodID, n cluster.NodeID, sign int64) {
	pod := s.plan.ix.Pod(p)
	if len(pod.Devices) == 0 {
		return
	}
	s.held = s.plan.devices.Held(s.held[:0], pod, n)
	for _, column := range s.plan.pools {
		if column == nil || column[n] == cluster.NoPool {
			continue
		}
		pool := s.plan.devices.Pool(column[n])
		for _, h := range s.held {
			if i := h.Device - pool.First; i >= 0 && i < cluster.DeviceID(pool.Count) {
				if s.free[column[n]] == nil {
					s.free[column[n]] = slices.Clone(s.freeOn(column[n]))
				}
				s.free[column[n]][i] += sign * h.Amount
				delete(s.rooms, column[n])
			}
		}
	}
	for i := range s.on(n) {
		if c := &s.claims[n][i]; c.pod == p {
			c.gone = sign > 0
		}
	}
}

// on returns the claims on node n.
func (s *deviceState) on(n cluster.NodeID) []claim {
	if !s.read[n] {
		s.read[n], s.claims[n] = true, s.plan.running(s.claims[n], n)
	}
	return s.claims[n]
}

func (s *deviceState) Place(m MemberID, n cluster.NodeID) {
	s.claims[n] = append(s.claims[n], s.plan.claims[m]...)
}

func (s *deviceState) Unplace(m MemberID, n cluster.NodeID) { s.leave(cluster.NoPod, m, n) }

func (s *deviceState) leave(p cluster.PodID, m MemberID, n cluster.NodeID) {
	s.claims[n] = slices.DeleteFunc(s.claims[n], func(c claim) bool { return c.pod == p && c.member == m })
}

func (s *deviceState) Fits(m MemberID, n cluster.NodeID) Reason { return s.fits(m, n, s.on(n)) }

// fits is Fits beside claims.
func (s *deviceState) fits(m MemberID, n cluster.NodeID, claims []claim) Reason {
	if r := s.Hopeless(m, n); !r.OK() {
		return r
	}
	for i := range s.plan.asks[m] {
		a := &s.plan.asks[m][i]
		if !s.seats(a, s.plan.pools[a.Resource][n], claims) {
			return Reason{Check: CheckDevice, Detail: a.Text}
		}
	}
	return Reason{}
}

// freeOn is what is free on each device of a pool.
func (s *deviceState) freeOn(p cluster.PoolID) []int64 {
	if free := s.free[p]; free != nil {
		return free
	}
	pool := s.plan.devices.Pool(p)
	return s.plan.devices.Free()[pool.First:][:pool.Count]
}

// seats reports whether what a asks for and claims do has room on the devices of one pool.
func (s *deviceState) seats(a *devices.Ask, p cluster.PoolID, claims []claim) (ok bool) {
	whole := a.Whole
	s.fractions = append(s.fractions[:0], a.Fractions...)
	for i := range claims {
		switch c := &claims[i]; {
		case c.gone || c.resource != a.Resource:
		case c.fraction > 0:
			s.fractions = append(s.fractions, c.fraction)
		default:
			whole += c.whole
		}
	}
	s.looks += int64(len(claims)/128 + len(s.fractions)/64*256)
	room, known := s.rooms[p]
	if !known {
		room = devices.NewRoom(s.freeOn(p), s.plan.devices.Pool(p).Capacity)
		s.rooms[p] = room
	}
	ok, s.room = room.Seat(s.room, whole, s.fractions)
	return ok
}

func (s *deviceState) changed() int64 { return s.looks }

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
	for _, column := range s.plan.pools {
		if column == nil || column[n] == cluster.NoPool {
			continue
		}
		pool := s.plan.devices.Pool(column[n])
		if slices.ContainsFunc(s.plan.devices.Free()[pool.First:][:pool.Count], func(v int64) bool { return v != pool.Capacity }) {
			return true
		}
	}
	return s.plan.looseOn(n)
}

// TouchesPod reports whether p asks for devices that a member asks for.
func (s *deviceState) TouchesPod(p cluster.PodID, _ cluster.NodeID) bool {
	return slices.ContainsFunc(s.plan.ix.Pod(p).Devices, func(r cluster.DeviceRequest) bool {
		return slices.Contains(s.plan.names, r.Resource)
	})
}

func (s *deviceState) Clone() State {
	c := &deviceState{plan: s.plan, free: maps.Clone(s.free), rooms: maps.Clone(s.rooms), claims: slices.Clone(s.claims), read: slices.Clone(s.read)}
	for p, free := range s.free {
		c.free[p] = slices.Clone(free)
	}
	for n := range c.claims {
		c.claims[n] = slices.Clone(c.claims[n])
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
	pools   [][]cluster.PoolID // of each resource, of each node
	asks    [][]devices.Ask    // of each member
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
		plan.asks = append(plan.asks, devices.Asks(plan.names, p))
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
