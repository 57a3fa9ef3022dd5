package columns

import (
	"math"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Joint gives back on several nodes with members at once, where units may have pods on
// more than one: such a unit returns if there is room on all of them. It comes to what
// [Runner.GiveBack] comes to over a [domain.GangTrial] on which the members are placed.
// Not safe for concurrent use.
type Joint struct {
	seats  *Seats
	units  *victims.Units
	losses *Losses
	sorter victims.Sorter

	nodes     []jointNode
	free      []uint64         // by node: what is free beside the members, with guards
	shared    []victims.Marked // units of several pods on nodes, marked with their number
	positions []sharedPosition // where these are
	parts     []sharedPosition // likewise, by number
	from      []int32          // by number: where in parts they begin
	number    []int32          // by unit: its number and 1; zero for all others

	// What GiveBack came to: who goes, in no order, with an odd mark for those whose loss
	// violates a budget, what that costs, and the earliest start among the most important
	// of them.
	Lost    []victims.Marked
	Price   domain.Price
	Started int64
	Tried   int // how many units it looked at
}

// jointNode is a node with members, on which everybody before next has been decided on
// but for units of several pods.
type jointNode struct {
	node  cluster.NodeID
	at    nodePositions
	first victims.Position
	next  victims.Position
	end   victims.Position
}

// sharedPosition is the part of a unit of several pods on one of the nodes.
type sharedPosition struct {
	number   int32
	node     int32
	position victims.Position
}

// NewJoint returns a Joint for the members that s was asked about, over units us,
// and what their losses cost.
func NewJoint(s *Seats, us *victims.Units, losses *Losses) *Joint {
	return &Joint{seats: s, units: us, losses: losses}
}

// Reset takes all members off.
func (j *Joint) Reset() {
	j.nodes, j.free, j.positions, j.shared = j.nodes[:0], j.free[:0], j.positions[:0], j.shared[:0]
	if len(j.number) < j.units.Len() {
		j.number = make([]int32, j.units.Len())
	}
}

// Add puts k members on node n, which has none, and takes all potential victims there
// out.
func (j *Joint) Add(n cluster.NodeID, k int64) {
	s := j.seats
	s.ask(n, k)
	s.start()
	at := int32(len(j.nodes))
	j.nodes = append(j.nodes, jointNode{n, s.at, s.first, s.first, s.end})
	j.free = append(j.free, s.free...)
	if s.at.several == nil {
		return
	}
	for g := s.first; g < s.end; g++ {
		if !s.at.several.Has(g) {
			continue
		}
		u := s.columns.Unit(n, g)
		if j.number[u] == 0 {
			j.shared = append(j.shared, victims.Marked{Unit: u, Mark: int32(len(j.shared))})
			j.number[u] = int32(len(j.shared))
		}
		j.positions = append(j.positions, sharedPosition{j.number[u] - 1, at, g})
	}
}

// GiveBack gives back whom it can: first those whose loss violates a budget, none of
// whom has several pods, then the others, most important first.
func (j *Joint) GiveBack() {
	j.Lost, j.Price, j.Started, j.Tried = j.Lost[:0], domain.Free, math.MaxInt64, len(j.shared)
	for i := range j.nodes {
		j.Tried += int(j.nodes[i].end - j.nodes[i].first)
	}
	j.Tried -= len(j.positions)
	for i := range j.nodes {
		if n := &j.nodes[i]; j.seats.harmed(n.node) {
			j.upTo(int32(i), n.end, true)
			n.next = n.first
		}
	}
	j.divide()
	j.sorter.Sort(j.units, j.shared)
	for _, u := range j.shared {
		j.decide(j.parts[j.from[u.Mark]:j.from[u.Mark+1]])
		j.number[u.Unit] = 0
	}
	for i := range j.nodes {
		j.upTo(int32(i), j.nodes[i].end, false)
	}
}

// divide puts positions in order of their numbers.
func (j *Joint) divide() {
	j.from = append(j.from[:0], make([]int32, len(j.shared)+1)...)
	for _, r := range j.positions {
		j.from[r.number]++
	}
	sum := int32(0)
	for i, count := range j.from {
		sum += count
		j.from[i] = sum
	}
	j.parts = append(j.parts[:0], j.positions...)
	for _, r := range j.positions {
		j.from[r.number]--
		j.parts[j.from[r.number]] = r
	}
}

// decide returns a unit of several pods if there is room for all its parts. Everybody
// more important has been decided on by then.
func (j *Joint) decide(parts []sharedPosition) {
	fits := true
	for _, r := range parts {
		j.upTo(r.node, r.position, false)
		fits = fits && j.fits(r.node, r.position)
	}
	if !fits {
		j.lose(parts[0].node, parts[0].position, false)
		return
	}
	for _, r := range parts {
		j.book(r.node, r.position)
	}
}

// upTo decides on the pods before a position that go by themselves: those whose loss violates
// a budget, or the others.
func (j *Joint) upTo(at int32, position victims.Position, harmful bool) {
	n := &j.nodes[at]
	harmed := j.seats.harmed(n.node)
	for ; n.next < position; n.next++ {
		switch {
		case n.at.Several(n.next), harmed && j.seats.Harms(n.node, n.next) != harmful:
		case j.fits(at, n.next):
			j.book(at, n.next)
		default:
			j.lose(at, n.next, harmful)
		}
	}
}

// fits reports whether there is room for the part on a position.
func (j *Joint) fits(at int32, g victims.Position) bool {
	a := &j.seats.one
	words := len(a.Words)
	free, ask := j.free[int(at)*words:][:words], j.nodes[at].at.asks[int(g)*words:][:words]
	for w, guards := range a.Guards {
		if (free[w]-ask[w]&a.masks[w])&guards != guards {
			return false
		}
	}
	return true
}

// book takes the room of the part on a position.
func (j *Joint) book(at int32, g victims.Position) {
	a := &j.seats.one
	words := len(a.Words)
	free, ask := j.free[int(at)*words:][:words], j.nodes[at].at.asks[int(g)*words:][:words]
	for w, mask := range a.masks {
		free[w] -= ask[w] & mask
	}
}

// lose notes that the unit of a position goes.
func (j *Joint) lose(at int32, g victims.Position, harms bool) {
	n := &j.nodes[at]
	m := victims.Marked{Unit: j.seats.columns.Unit(n.node, g)}
	if harms {
		m.Mark = 1
	}
	j.Lost = append(j.Lost, m)
	price, started := domain.Price{}, int64(0)
	if n.at.Several(g) {
		loss := j.losses.Of(m.Unit)
		price, started = loss.Price, loss.Started
	} else {
		price, started = priceOf(n.at.Owns[g], 1, harms), int64(n.at.Started[g])
	}
	if price.Highest > j.Price.Highest {
		j.Started = math.MaxInt64
	}
	j.Price.Add(price)
	if price.Highest == j.Price.Highest {
		j.Started = min(j.Started, started)
	}
}
