package seating

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// SlotTrial is the what-if of members that are [domain.GangTrial.Interchangeable] and may
// move: they fit if the nodes of a domain have room for enough of them, wherever that
// is, so that rooms are counted and nobody is placed. Remove and Return cost the
// number of resources, Fits nothing.
type SlotTrial struct {
	t      *domain.GangTrial
	ix     *cluster.Index
	member domain.MemberID
	need   int
	slots  []int // by node: room for so many members, at most need; 0 outside of the domain
	inside []bool
	total  int
}

// NewSlotTrial counts the slots for member in d as things stand in t, in which no
// member is placed. Pods leave and return through the SlotTrial from then on.
func NewSlotTrial(t *domain.GangTrial, d *domain.Domain, member domain.MemberID, need int) *SlotTrial {
	ix := t.Index()
	s := &SlotTrial{
		t: t, ix: ix, member: member, need: need,
		slots: make([]int, ix.NumNodes()), inside: make([]bool, ix.NumNodes()),
	}
	for _, n := range d.Nodes {
		s.inside[n] = t.Admits(member, n) && len(t.Member(member).Unknown()) == 0
		s.count(n)
	}
	return s
}

func (s *SlotTrial) count(n cluster.NodeID) {
	if !s.inside[n] {
		return
	}
	now := int(min(s.t.Slots(s.member, n), int64(s.need)))
	s.total += now - s.slots[n]
	s.slots[n] = now
}

// Remove takes running pod p away.
func (s *SlotTrial) Remove(p cluster.PodID) { s.move(p, s.t.Remove) }

// Return puts pod p back where it ran.
func (s *SlotTrial) Return(p cluster.PodID) { s.move(p, s.t.Return) }

func (s *SlotTrial) move(p cluster.PodID, do func(cluster.PodID)) {
	do(p)
	if n := s.ix.NodeOf(p); n != cluster.NoNode {
		s.count(n)
	}
}

// Matters reports whether pod p runs where members may go.
func (s *SlotTrial) Matters(p cluster.PodID) bool {
	n := s.ix.NodeOf(p)
	return n != cluster.NoNode && s.inside[n]
}

// Fits says whether there is room for enough members.
func (s *SlotTrial) Fits() domain.Reason {
	s.t.Checks++
	if s.t.Poll != nil {
		s.t.Poll()
	}
	if s.total >= s.need {
		return domain.Reason{}
	}
	return domain.Reason{Check: domain.CheckSlots, Missing: int64(s.need - s.total)}
}
