package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Devices returns the constraint of devices ([cluster.Node.Devices]): whole devices
// that a member asks for must be wholly free on the node, a fraction must fit on
// one device. Room on several devices never adds up.
//
// Which running pod holds what is said by [cluster.Devices]; a pod that returns
// takes the very devices that it held. Nominated pods and placed members hold none
// for certain: they are taken to sit as well as they can, together with the member
// that is asked for: fractions onto the devices that running pods share, the
// largest first, each where the least room is left that is enough, and whole
// devices from what is then wholly free. That finds room whenever there is some if
// all fractions of one resource are equal; if not it may, rarely, miss it.
//
// A node without such devices, or whose devices are too few or too small even when
// they are all free, is an unresolvable misfit.
//
// Prepare gives a nil State where no member asks for devices. It is node-local, and
// monotone if the fractions that members and nominated pods ask for are equal for
// each resource. Remove and Return cost O(h) for the h devices that the pod holds,
// Fits O(d) for d devices of the node, and with g nominated pods and members there
// O(g*d).
//
// Source: the library's own; upstream leaves devices to plugins.
func Devices() Constraint { return devices{} }

type devices struct{}

func (devices) Name() Check { return CheckDevice }

func (devices) Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error) {
	if !slices.ContainsFunc(members, func(p *cluster.Pod) bool { return len(p.Devices) > 0 }) {
		return nil, nil
	}
	plan := planDevices(ix, members)
	return &deviceState{
		plan: plan, free: slices.Clone(plan.devices.Free()), guests: make([][]guest, ix.NumNodes()),
	}, nil
}

// deviceState knows what is free on each device and who is on which node without
// holding certain ones.
type deviceState struct {
	plan   *devicePlan // shared by all clones
	free   []int64     // by DeviceID
	guests [][]guest   // of each node

	room, fractions []int64 // of seat, reused
}

// guest is a nominated pod or a placed member.
type guest struct {
	pod    cluster.PodID // NoPod for a member
	member MemberID
	asks   []ask
}

func (s *deviceState) Remove(p cluster.PodID, n cluster.NodeID) {
	if s.plan.ix.NodeOf(p) == n {
		s.hold(p, +1)
	} else {
		s.leave(guest{pod: p}, n)
	}
}

func (s *deviceState) Return(p cluster.PodID, n cluster.NodeID) {
	if s.plan.ix.NodeOf(p) == n {
		s.hold(p, -1)
	} else if asks := s.plan.pending[p]; len(asks) > 0 {
		s.guests[n] = append(s.guests[n], guest{pod: p, asks: asks})
	}
}

func (s *deviceState) hold(p cluster.PodID, sign int64) {
	for _, h := range s.plan.devices.Held(p) {
		s.free[h.Device] += sign * h.Amount
	}
}

func (s *deviceState) Place(m MemberID, n cluster.NodeID) {
	s.guests[n] = append(s.guests[n], guest{cluster.NoPod, m, s.plan.asks[m]})
}

func (s *deviceState) Unplace(m MemberID, n cluster.NodeID) {
	s.leave(guest{pod: cluster.NoPod, member: m}, n)
}

func (s *deviceState) leave(g guest, n cluster.NodeID) {
	at := slices.IndexFunc(s.guests[n], func(h guest) bool { return h.pod == g.pod && h.member == g.member })
	if at >= 0 { // one that asks for no device that matters never came
		s.guests[n] = slices.Delete(s.guests[n], at, at+1)
	}
}

func (s *deviceState) Fits(m MemberID, n cluster.NodeID) Reason {
	if r := s.Hopeless(m, n); !r.OK() {
		return r
	}
	for i := range s.plan.asks[m] {
		a := &s.plan.asks[m][i]
		pool := s.plan.devices.Pool(s.plan.pools[a.resource][n])
		free := s.free[pool.First:][:pool.Count]
		if !s.seats(a, free, pool.Capacity, s.guests[n]) {
			return a.misfit
		}
	}
	return Reason{}
}

// seats reports whether what a asks for and what guests do has room on the devices
// of one pool.
func (s *deviceState) seats(a *ask, free []int64, capacity int64, guests []guest) bool {
	whole := a.whole
	fractions := append(s.fractions[:0], a.fractions...)
	for i := range guests {
		for j := range guests[i].asks {
			if g := &guests[i].asks[j]; g.resource == a.resource {
				whole += g.whole
				fractions = append(fractions, g.fractions...)
			}
		}
	}
	slices.Sort(fractions)
	s.fractions = fractions
	room := append(s.room[:0], free...)
	s.room = room
	for _, f := range slices.Backward(fractions) {
		at := cluster.BestFit(room, f)
		if at < 0 {
			return false
		}
		room[at] -= f
	}
	for _, v := range room {
		if v == capacity {
			whole--
		}
	}
	return whole <= 0
}

// Hopeless tells of nodes whose devices are too few or too small, were they all free.
func (s *deviceState) Hopeless(m MemberID, n cluster.NodeID) Reason {
	for i := range s.plan.asks[m] {
		a := &s.plan.asks[m][i]
		column := s.plan.pools[a.resource]
		if column == nil || column[n] == cluster.NoPool {
			return a.never
		}
		pool := s.plan.devices.Pool(column[n])
		if !a.couldFit(pool) {
			return a.never
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
		for _, v := range s.plan.devices.Free()[pool.First:][:pool.Count] {
			if v != pool.Capacity {
				return true
			}
		}
	}
	return false
}

// TouchesPod reports whether p asks for devices that a member asks for.
func (s *deviceState) TouchesPod(p cluster.PodID, _ cluster.NodeID) bool {
	return slices.ContainsFunc(s.plan.ix.Pod(p).Devices, func(r cluster.DeviceRequest) bool {
		return slices.Contains(s.plan.names, r.Resource)
	})
}

func (s *deviceState) Clone() State {
	c := &deviceState{plan: s.plan, free: slices.Clone(s.free), guests: slices.Clone(s.guests)}
	for n := range c.guests {
		c.guests[n] = slices.Clone(c.guests[n])
	}
	return c
}

func (s *deviceState) Scope() Scope { return s.plan.scope }

func (s *deviceState) fitsSame(a, b MemberID) bool {
	return slices.EqualFunc(s.plan.asks[a], s.plan.asks[b], func(a, b ask) bool {
		return a.resource == b.resource && a.whole == b.whole && slices.Equal(a.fractions, b.fractions)
	})
}
