package reprieve

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Sweep is the reprieve of one pod on one node after the other, over the columns of
// a [victims.Ladder], where nothing but resources and budgets decides. It comes to
// what a [Runner] comes to over a [domain.NodeTrial]; nodes that cannot beat a score
// are left early. Not safe for concurrent use.
type Sweep struct {
	units   *victims.Units
	ladder  *victims.Ladder
	budgets *victims.Budgets
	ledger  *disruption.Ledger

	asks    []cluster.ResourceID
	request []int64 // by position in asks
	free    []int64 // likewise: what is free with everybody who stays
	node    cluster.NodeID
	gate    Gate

	violating []victims.Rung
	rest      []victims.Rung
	out       []victims.Rung

	// Checks counts the feasibility checks.
	Checks int
}

// NewSweep returns a Sweep over the units us, laid out in l and covered by b.
func NewSweep(us *victims.Units, l *victims.Ladder, b *victims.Budgets) *Sweep {
	return &Sweep{units: us, ladder: l, budgets: b, ledger: b.NewLedger()}
}

// Ask sets the pod that is to be placed.
func (s *Sweep) Ask(m *domain.Member) {
	s.asks, s.request, s.free = s.asks[:0], s.request[:0], s.free[:0]
	for r, v := range m.Request() {
		if v > 0 {
			s.asks = append(s.asks, cluster.ResourceID(r))
			s.request = append(s.request, v)
			s.free = append(s.free, 0)
		}
	}
	s.Checks = 0
}

// Fits reports whether what is asked for fits into the row room.
func (s *Sweep) Fits(room []int64) bool {
	s.Checks++
	for i, r := range s.asks {
		if s.request[i] > room[r] {
			return false
		}
	}
	return true
}

// Gate decides beside resources and budgets who returns.
type Gate interface {
	// Admit returns unit u as far as it is concerned, or reports that u must stay out.
	Admit(u victims.UnitID) bool
}

// Node gives back whom it can of the units on rungs first to end of node n, with
// which gone the pod is known to fit; if gate is not nil, each that has room has to
// pass it, in the order in which they are tried. beats is false if the outcome is
// not better than bound, which may be nil; the score is then not complete, and the
// gate not asked about everybody. O(k) for k units.
func (s *Sweep) Node(n cluster.NodeID, first, end victims.Rung, bound *victims.Score, gate Gate) (score victims.Score, beats bool) {
	s.node, s.gate = n, gate
	if !s.ladder.Budgeted(n) && gate == nil {
		return s.unbudgeted(n, first, end, bound)
	}
	return s.budgeted(n, first, end, bound)
}

// Victims returns the rungs of the units that stay out after the latest Node, most
// important first. The slice is good until the next.
func (s *Sweep) Victims() []victims.Rung { return s.out }

// unbudgeted skips to the first unit that cannot return, which the running sums
// tell, and goes on from there.
func (s *Sweep) unbudgeted(n cluster.NodeID, first, end victims.Rung, bound *victims.Score) (victims.Score, bool) {
	s.out = s.out[:0]
	if bound != nil && bound.Violations > 0 {
		bound = nil // no violations here: better in any case
	}
	lo, hi := first, end // the units before lo return all; those before hi do not
	for lo+1 < hi {
		if mid := lo + (hi-lo)/2; s.Fits(s.ladder.Room(n, mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if bound != nil && s.ladder.Own(lo) > bound.Highest {
		return victims.Score{}, false
	}
	s.start(n, lo)
	s.out = append(s.out, lo)
	for g := lo + 1; g < end; g++ {
		if !s.giveBack(g) {
			s.out = append(s.out, g)
		}
	}
	score := s.ladder.Score(s.out, 0)
	return score, bound == nil || score.Compare(*bound) < 0
}

// start sets the free room to that with the units before rung in place, less what
// is asked for: what returns must find room in the rest.
func (s *Sweep) start(n cluster.NodeID, rung victims.Rung) {
	room := s.ladder.Room(n, rung)
	for i, r := range s.asks {
		s.free[i] = room[r] - s.request[i]
	}
}

// giveBack takes the room of the unit on rung g if it is there and the gate open.
func (s *Sweep) giveBack(g victims.Rung) bool {
	s.Checks++
	request := s.ladder.Request(g)
	for i, r := range s.asks {
		if request[r] > s.free[i] {
			return false
		}
	}
	if s.gate != nil && !s.gate.Admit(s.ladder.Unit(s.node, g)) {
		return false
	}
	for i, r := range s.asks {
		s.free[i] -= request[r]
	}
	return true
}

// budgeted tries the units that violate a budget first.
func (s *Sweep) budgeted(n cluster.NodeID, first, end victims.Rung, bound *victims.Score) (victims.Score, bool) {
	s.split(n, first, end)
	s.start(n, first)
	s.out = s.out[:0]
	violations := 0
	for _, g := range s.violating {
		if !s.giveBack(g) {
			s.out = append(s.out, g)
			violations++
			if bound != nil && violations > bound.Violations {
				return victims.Score{}, false
			}
		}
	}
	for _, g := range s.rest {
		if !s.giveBack(g) {
			s.out = append(s.out, g)
		}
	}
	if len(s.violating) > 0 && len(s.rest) > 0 {
		slices.Sort(s.out)
	}
	score := s.ladder.Score(s.out, violations)
	return score, bound == nil || score.Compare(*bound) < 0
}

func (s *Sweep) split(n cluster.NodeID, first, end victims.Rung) {
	s.violating, s.rest = s.violating[:0], s.rest[:0]
	if !s.ladder.Budgeted(n) {
		for g := first; g < end; g++ {
			s.rest = append(s.rest, g)
		}
		return
	}
	s.ledger.Reset()
	for g := first; g < end; g++ {
		if s.budgets.Charge(s.ledger, s.units.Unit(s.ladder.Unit(n, g))) > 0 {
			s.violating = append(s.violating, g)
		} else {
			s.rest = append(s.rest, g)
		}
	}
}
