package constraints

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Power limits what the pods in one rack draw together. A pod draws as many watts
// as its annotation says; one without it draws none.
type Power struct {
	RackLabel  string // of nodes; one without it is not limited
	Annotation string // of pods
	Watts      int64  // of each rack
}

// Name is the check that its reasons name.
func (w Power) Name() domain.Check { return "power" }

// Prepare sums up what each rack draws. It gives nil if no member draws anything.
func (w Power) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	ofPods, ofMembers, err := amounts(ix, members, w.Annotation)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(ofMembers, func(n int64) bool { return n > 0 }) {
		return nil, nil
	}
	racks := ix.Topology(w.RackLabel)
	s := &powerState{
		power: w, racks: racks, ofPods: ofPods, ofMembers: ofMembers,
		drawn: make([]int64, racks.Len()), touched: make([]bool, ix.NumNodes()),
	}
	for p := range ix.Pods() {
		if n := ix.NodeOf(p); n != cluster.NoNode && ofPods[p] > 0 {
			s.draw(n, ofPods[p])
			s.touched[n] = true
		}
	}
	return s, nil
}

type powerState struct {
	power             Power
	racks             *cluster.Topology
	ofPods, ofMembers []int64
	drawn             []int64 // by rack
	touched           []bool  // of each node: a pod that draws power runs there
}

func (s *powerState) draw(n cluster.NodeID, watts int64) {
	if rack := s.racks.Of(n); rack != cluster.NoValue {
		s.drawn[rack] += watts
	}
}

func (s *powerState) Remove(p cluster.PodID, n cluster.NodeID) { s.draw(n, -s.ofPods[p]) }
func (s *powerState) Return(p cluster.PodID, n cluster.NodeID) { s.draw(n, +s.ofPods[p]) }

func (s *powerState) Place(m domain.MemberID, n cluster.NodeID)   { s.draw(n, +s.ofMembers[m]) }
func (s *powerState) Unplace(m domain.MemberID, n cluster.NodeID) { s.draw(n, -s.ofMembers[m]) }

func (s *powerState) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	if r := s.Hopeless(m, n); !r.OK() {
		return r
	}
	rack := s.racks.Of(n)
	if rack == cluster.NoValue || s.ofMembers[m] == 0 || s.drawn[rack]+s.ofMembers[m] <= s.power.Watts {
		return domain.Reason{}
	}
	return domain.Reason{Check: "power", Detail: s.racks.Value(rack)} // no words made up here: this is asked often
}

// Hopeless tells of members that draw more than a rack may.
func (s *powerState) Hopeless(m domain.MemberID, n cluster.NodeID) domain.Reason {
	if s.racks.Of(n) != cluster.NoValue && s.ofMembers[m] > s.power.Watts {
		return domain.Reason{Check: "power", Unresolvable: true, Detail: "more than any rack may draw"}
	}
	return domain.Reason{}
}

// Touches reports whether a pod that draws power runs on node n.
func (s *powerState) Touches(n cluster.NodeID) bool { return s.touched[n] }

// TouchesPod reports whether p draws power.
func (s *powerState) TouchesPod(p cluster.PodID, _ cluster.NodeID) bool { return s.ofPods[p] > 0 }

func (s *powerState) Clone() domain.State {
	c := *s
	c.drawn = slices.Clone(s.drawn)
	return &c
}

// Scope: more power never hurts; it is node-local only if each rack is one node.
func (s *powerState) Scope() domain.Scope {
	return domain.Scope{NodeLocal: s.racks.Unique(), Monotone: true}
}
