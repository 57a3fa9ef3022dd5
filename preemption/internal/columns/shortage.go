package columns

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Shortage is what members lack on a node if one unit came back: an amount of the
// first resource that is short.
type Shortage struct {
	Resource cluster.ResourceID // [domain.NoResource] if nothing is short
	Missing  int64
	Alone    bool // no member is there
}

// Beside turns to node n, with k members and beside them what room has; see
// [Seats.Room].
func (s *Seats) Beside(n cluster.NodeID, k int64, room []uint64) {
	s.look(n)
	s.now = s.asking(k, nil) // what is held is off room
	s.take(room)
}

// Short is the shortage if the unit on position g came back, after Victims or Beside.
func (s *Seats) Short(g victims.Position) Shortage {
	words := len(s.free)
	for w, guards := range s.now.Guards {
		ask := s.at.asks[int(g)*words+w] & s.now.masks[w]
		if lack := guards &^ (s.free[w] - ask); lack != 0 {
			r, amount := s.columns.Lanes().Lack(w, lack, s.free[w], ask)
			return Shortage{Resource: r, Missing: amount}
		}
	}
	return Shortage{Resource: domain.NoResource}
}
