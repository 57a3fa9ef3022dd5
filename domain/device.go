package domain

import (
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
	return newDeviceState(ix, members, ix.Devices().Pending(), c.known), nil
}

// deviceState knows what room there is in the pools of nodes at which somebody has looked.
type deviceState struct {
	ix    *cluster.Index
	plan  *devices.Plan // shared by all clones
	rooms *devices.Rooms
}

func newDeviceState(ix *cluster.Index, members []*cluster.Pod, pending []cluster.PodID, known *devices.Known) *deviceState {
	plan := devices.NewPlan(ix, members, pending, known)
	return &deviceState{ix, plan, devices.NewRooms(plan, known)}
}

func (s *deviceState) Remove(p cluster.PodID, n cluster.NodeID) { s.move(p, n, +1) }

func (s *deviceState) Return(p cluster.PodID, n cluster.NodeID) { s.move(p, n, -1) }

func (s *deviceState) move(p cluster.PodID, n cluster.NodeID, sign int64) {
	if s.ix.NodeOf(p) == n {
		s.rooms.Run(p, n, sign)
	} else {
		s.rooms.Ask(s.plan.Pending[p], n, -sign)
	}
}

func (s *deviceState) Place(m MemberID, n cluster.NodeID) { s.rooms.Ask(s.plan.Claims(int(m)), n, +1) }

func (s *deviceState) Unplace(m MemberID, n cluster.NodeID) {
	s.rooms.Ask(s.plan.Claims(int(m)), n, -1)
}

func (s *deviceState) Fits(m MemberID, n cluster.NodeID) Reason {
	if r := s.Hopeless(m, n); !r.OK() {
		return r
	}
	if a := s.rooms.Fits(int(m), n); a != nil {
		return Reason{Check: CheckDevice, Detail: a.Text}
	}
	return Reason{}
}

// Seated is how many looks it took so far at claims of pods that have many, and to find many fractions their seats.
func (s *deviceState) Seated() int64 { return s.rooms.Looks }

// Hopeless tells of nodes whose devices are too few or too small, were they all free.
func (s *deviceState) Hopeless(m MemberID, n cluster.NodeID) Reason {
	if a := s.plan.Hopeless(int(m), n); a != nil {
		return Reason{Check: CheckDevice, Unresolvable: true, Detail: a.Text}
	}
	return Reason{}
}

// Touches reports whether devices that a member asks for are held on node n.
func (s *deviceState) Touches(n cluster.NodeID) bool { return s.plan.Touches(n) }

// TouchesPod reports whether p asks for devices that a member asks for.
func (s *deviceState) TouchesPod(p cluster.PodID, _ cluster.NodeID) bool { return s.plan.TouchesPod(p) }

func (s *deviceState) Clone() State { return &deviceState{s.ix, s.plan, s.rooms.Clone()} }

func (s *deviceState) Scope() Scope { return Scope{NodeLocal: true, Monotone: s.plan.Equal} }

func (s *deviceState) fitsSame(a, b MemberID) bool { return s.plan.Alike(int(a), int(b)) }
