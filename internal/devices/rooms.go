package devices

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rooms is what room there is in the pools of nodes at which somebody has looked. Where much is known already, a node on
// which everybody is back is forgotten.
type Rooms struct {
	Looks int64 // at seats, and at claims of those who have many

	plan  *Plan
	on    map[cluster.NodeID]*rooms
	known *Known            // nil: each finds out for itself
	spare []*rooms          // of nodes that are forgotten
	held  []cluster.Holding // of Run, reused
	room  []int64           // of Fits, reused
}

// rooms are those of a node.
type rooms struct {
	of         []*Room // of each resource; nil: it has none
	copies     []Room
	gone, come int // so many who run there are gone, and so many others are there
}

// NewRooms knows of no node yet. known may be nil.
func NewRooms(plan *Plan, known *Known) *Rooms {
	return &Rooms{plan: plan, known: known, on: map[cluster.NodeID]*rooms{}}
}

// Run lets p, which runs on n, give its devices back (+1) or hold them (-1).
func (s *Rooms) Run(p cluster.PodID, n cluster.NodeID, sign int64) {
	pod := s.plan.ix.Pod(p)
	if len(pod.Devices) == 0 {
		return
	}
	at := s.look(n)
	s.claimed(len(pod.Devices))
	for i := range pod.Devices {
		r := &pod.Devices[i]
		column, asked := s.plan.number[r.Resource]
		switch {
		case !asked || at.of[column] == nil:
		case len(r.Assigned) == 0:
			at.of[column].Ask(-sign*int64(r.Count), r.Fraction, -sign)
		default:
			pool := s.plan.devices.Pool(s.plan.poolOn(column, n))
			s.held = pool.Held(s.held[:0], r)
			for _, h := range s.held {
				at.of[column].Free(int(h.Device-pool.First), sign*h.Amount)
			}
		}
	}
	at.gone += int(sign)
	s.leave(n, at)
}

// Ask lets claims on node n come (+1), or go (-1).
func (s *Rooms) Ask(claims []Claim, n cluster.NodeID, by int64) {
	if len(claims) == 0 {
		return
	}
	at := s.look(n)
	s.claimed(len(claims))
	at.ask(claims, by)
	at.come += int(by)
	s.leave(n, at)
}

func (at *rooms) ask(claims []Claim, by int64) {
	for _, c := range claims {
		if room := at.of[c.resource]; room != nil {
			room.Ask(by*c.whole, c.fraction, by)
		}
	}
}

// fewClaims is how many claims are part of a look at a pod; each of more is two.
const fewClaims = 4

func (s *Rooms) claimed(n int) {
	if n > fewClaims {
		s.Looks += 2 * int64(n)
	}
}

// leave forgets node n, if all is there as it was.
func (s *Rooms) leave(n cluster.NodeID, at *rooms) {
	if s.known != nil && at.gone == 0 && at.come == 0 {
		delete(s.on, n)
		s.spare = append(s.spare, at)
	}
}

// look is the rooms of node n.
func (s *Rooms) look(n cluster.NodeID) *rooms {
	at := s.on[n]
	if at != nil {
		return at
	}
	if last := len(s.spare) - 1; last >= 0 {
		at, s.spare = s.spare[last], s.spare[:last]
	} else {
		at = &rooms{of: make([]*Room, len(s.plan.pools)), copies: make([]Room, len(s.plan.pools))}
	}
	s.on[n] = at
	s.claimed(len(at.of))
	var fresh []int // columns
	loose := false
	for column := range s.plan.pools {
		id := s.plan.poolOn(column, n)
		switch {
		case id == cluster.NoPool:
			at.of[column] = nil
		case s.known != nil && s.known.rooms[id] != nil:
			at.of[column] = s.known.rooms[id].Share(&at.copies[column])
		default:
			pool := s.plan.devices.Pool(id)
			at.of[column] = NewRoom(s.plan.devices.Free()[pool.First:][:pool.Count], pool.Capacity)
			fresh, loose = append(fresh, column), loose || s.plan.devices.Loose(id) > 0
		}
	}
	for _, p := range s.plan.ix.PodsOn(n) {
		if !loose {
			break
		}
		at.ask(slices.DeleteFunc(s.plan.claim(s.plan.ix.Pod(p), true), func(c Claim) bool { return !slices.Contains(fresh, c.resource) }), +1) // not a look: who comes first is chance
	}
	for _, column := range fresh {
		if s.known != nil {
			s.known.rooms[s.plan.poolOn(column, n)] = at.of[column]
			at.of[column] = at.of[column].Share(&at.copies[column])
		}
	}
	return at
}

// Fits is what member m does not get on node n, or nil. Hopeless does not tell of them.
func (s *Rooms) Fits(m int, n cluster.NodeID) *Ask {
	at := s.look(n)
	s.claimed(len(s.plan.asks[m]))
	for i := range s.plan.asks[m] {
		a := &s.plan.asks[m][i]
		ok, seats, buffer := at.of[a.Resource].Seats(s.room, int64(a.Whole), a.Fractions)
		if s.room, s.Looks = buffer, s.Looks+seats/64*256; !ok {
			return a
		}
	}
	return nil
}

// Clone is an independent copy, which finds out the rest for itself.
func (s *Rooms) Clone() *Rooms {
	c := NewRooms(s.plan, nil)
	for n, at := range s.on {
		own := &rooms{of: make([]*Room, len(at.of)), gone: at.gone, come: at.come}
		for i, room := range at.of {
			if room != nil {
				own.of[i] = room.Clone()
			}
		}
		c.on[n] = own
	}
	return c
}
