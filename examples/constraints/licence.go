package constraints

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Licences is a number of seats that the pods of the whole cluster share. A pod
// takes as many as its annotation says; one without it takes none.
type Licences struct {
	Product    string // for reasons
	Annotation string
	Seats      int64
}

// Name is the check that its reasons name.
func (l Licences) Name() domain.Check { return "licence" }

// Prepare counts the seats that are taken. It gives nil if no member wants one.
func (l Licences) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	ofPods, ofMembers, err := amounts(ix, members, l.Annotation)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(ofMembers, func(n int64) bool { return n > 0 }) {
		return nil, nil
	}
	s := &licenceState{licences: l, ofPods: ofPods, ofMembers: ofMembers, free: l.Seats, touched: make([]bool, ix.NumNodes())}
	for p := range ix.Pods() {
		if n := ix.NodeOf(p); n != cluster.NoNode && ofPods[p] > 0 {
			s.free -= ofPods[p]
			s.touched[n] = true
		}
	}
	return s, nil
}

type licenceState struct {
	licences          Licences
	ofPods, ofMembers []int64
	free              int64
	touched           []bool // of each node: a pod with a seat runs there
}

func (s *licenceState) Remove(p cluster.PodID, _ cluster.NodeID) { s.free += s.ofPods[p] }
func (s *licenceState) Return(p cluster.PodID, _ cluster.NodeID) { s.free -= s.ofPods[p] }

func (s *licenceState) Place(m domain.MemberID, _ cluster.NodeID)   { s.free -= s.ofMembers[m] }
func (s *licenceState) Unplace(m domain.MemberID, _ cluster.NodeID) { s.free += s.ofMembers[m] }

func (s *licenceState) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	if r := s.Hopeless(m, n); !r.OK() {
		return r
	}
	if want := s.ofMembers[m]; want > 0 && want > s.free {
		return domain.Reason{Check: "licence", Detail: s.licences.Product}
	}
	return domain.Reason{}
}

// Hopeless tells of members that want more seats than there are.
func (s *licenceState) Hopeless(m domain.MemberID, _ cluster.NodeID) domain.Reason {
	if s.ofMembers[m] > s.licences.Seats {
		return domain.Reason{Check: "licence", Unresolvable: true, Detail: s.licences.Product}
	}
	return domain.Reason{}
}

// Touches reports whether a pod with a seat runs on node n.
func (s *licenceState) Touches(n cluster.NodeID) bool { return s.touched[n] }

// TouchesPod reports whether p takes a seat.
func (s *licenceState) TouchesPod(p cluster.PodID, _ cluster.NodeID) bool { return s.ofPods[p] > 0 }

func (s *licenceState) Clone() domain.State {
	c := *s // what it shares with s never changes
	return &c
}

// Scope: more seats never hurt, but a seat is freed on any node.
func (s *licenceState) Scope() domain.Scope { return domain.Scope{Monotone: true} }
