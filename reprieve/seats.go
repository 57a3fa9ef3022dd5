package reprieve

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Seats tells who has to go on a node so that several equal members of a gang find
// a seat there, over the packed columns of a [victims.Ladder], where nothing but
// resources and budgets decides. It comes to what a [Runner] comes to on that node
// over a [domain.GangTrial] on which they are placed. Only for nodes that are
// simple, see [victims.Ladder.NumBelow]. Not safe for concurrent use.
type Seats struct {
	ladder *victims.Ladder
	below  int32
	held   func(cluster.NodeID) []int64

	request []int64
	slots   victims.Slots
	asks    [keptAsks]victims.Ask // by number of members
	known   [keptAsks]bool        // asks says so
	one     victims.Ask
	two     victims.Ask
	narrow  bool // all that a member asks for is in one word
	wide    int  // then which; below zero: asks are of more than two words
	other   victims.Ask
	at      victims.NodeRungs // of node, which is looked at, with its potential victims
	node    cluster.NodeID
	first   victims.Rung
	end     victims.Rung
	now     *victims.Ask // what the members on the node that is looked at ask for together
	free    []uint64     // what they leave, with guards
	out     []victims.Rung
	row     []int64
	room    []uint64

	harm func(cluster.NodeID) *victims.RungSet // nil: nobody's loss does
	lost []victims.Rung
}

// keptAsks is up to how many members, not included, asks are packed once.
const keptAsks = 16

// NewSeats returns Seats over the units laid out in l, which has plain nodes.
func NewSeats(l *victims.Ladder) *Seats { return &Seats{ladder: l} }

// Over reports whether s is about the units laid out in l.
func (s *Seats) Over(l *victims.Ladder) bool { return s.ladder == l }

// Ask sets what each member asks for, the priority below which units may be evicted,
// and the row of what else is held on a node, nil for nothing. False if the columns
// cannot tell how often that fits.
func (s *Seats) Ask(m *domain.Member, below int32, held func(cluster.NodeID) []int64) bool {
	s.request, s.below, s.held, s.harm, s.node = m.Request(), below, held, nil, cluster.NoNode
	s.known = [keptAsks]bool{}
	s.pack(&s.one, 1, nil)
	s.pack(&s.two, 2, nil)
	s.narrow, s.wide = wordOf(&s.one)
	return s.slots.Set(s.ladder.Lanes(), s.request)
}

// wordOf says whether a asks for lanes of one word only, and of which; -1 if not, and if
// there are more than two words.
func wordOf(a *victims.Ask) (narrow bool, word int) {
	for w, guards := range a.Guards {
		switch {
		case guards == 0:
		case narrow:
			narrow, word = false, 0
			if len(a.Guards) > 2 {
				word = -1
			}
			return narrow, word
		default:
			narrow, word = true, w
		}
	}
	return narrow, word
}

// One is what a member asks for, Two is what two do. They belong to s.
func (s *Seats) One() *victims.Ask { return &s.one }

// Two is what two members ask for.
func (s *Seats) Two() *victims.Ask { return &s.two }

// SlotsInColumn is how many members fit into column c of node i of b.
func (s *Seats) SlotsInColumn(b *victims.Block, c, i int) int64 {
	return s.slots.InColumn(b, c, i, len(s.one.Words))
}

// Charge says for each node whose loss violates a budget; nil: nobody's.
func (s *Seats) Charge(harm func(cluster.NodeID) *victims.RungSet) { s.harm = harm }

// look turns to node n.
func (s *Seats) look(n cluster.NodeID) {
	if s.node != n {
		s.node, s.at = n, s.ladder.At(n)
		s.first, s.end = s.at.Below(s.below)
	}
}

// Rungs are those of the potential victims on node n, most important first.
func (s *Seats) Rungs(n cluster.NodeID) (first, end victims.Rung) {
	s.look(n)
	return s.first, s.end
}

// Slots is how many members fit on node n with all potential victims gone.
func (s *Seats) Slots(n cluster.NodeID) int64 {
	s.look(n)
	if s.held(n) == nil {
		room := s.at.Rooms
		if s.first > 0 {
			if room = s.Room(n, s.first); room == nil {
				return 0
			}
		}
		if slots := s.slots.In(room); slots < victims.MostSlots {
			return slots
		}
	}
	s.row = s.ladder.Room(s.row[:0], n, s.first)
	if held := s.held(n); held != nil {
		for r, v := range held {
			s.row[r] -= v
		}
	}
	return s.SlotsIn(s.row)
}

// SlotsOf is how many members fit into room, packed with guards; see
// [victims.MostSlots].
func (s *Seats) SlotsOf(room []uint64) int64 { return s.slots.In(room) }

// SlotsIn is how many members fit into row.
func (s *Seats) SlotsIn(row []int64) int64 {
	most := int64(-1)
	for r, v := range s.request {
		switch {
		case v <= 0:
		case row[r] < v:
			return 0
		case most < 0 || row[r]/v < most:
			most = row[r] / v
		}
	}
	return most
}

// ask turns to node n, and sets what k members there ask for; k is at most Slots.
func (s *Seats) ask(n cluster.NodeID, k int64) {
	s.look(n)
	s.now = s.asking(k, s.held(n))
}

// asking is what k members ask for beside what is held.
func (s *Seats) asking(k int64, held []int64) *victims.Ask {
	if held != nil || k >= keptAsks {
		s.pack(&s.other, k, held)
		return &s.other
	}
	if !s.known[k] {
		s.known[k] = true
		s.pack(&s.asks[k], k, nil)
	}
	return &s.asks[k]
}

func (s *Seats) pack(a *victims.Ask, k int64, held []int64) {
	s.row = s.row[:0]
	for r, v := range s.request {
		sum := v * k
		if held != nil && v > 0 { // nobody looks at the others
			sum += held[r]
		}
		s.row = append(s.row, sum)
	}
	s.ladder.Lanes().Pack(a, s.row)
}

// Room returns what is free on node n with the units before rung in place and the
// other potential victims gone, packed with guards, as far as members ask for it; nil
// if something is short of that. The slice is good until the next call.
func (s *Seats) Room(n cluster.NodeID, rung victims.Rung) []uint64 {
	words := len(s.one.Words)
	s.look(n)
	s.room = append(s.room[:0], s.at.Rooms[int(rung)/victims.Stride*words:][:words]...)
	if held := s.held(n); held != nil {
		s.pack(&s.other, 0, held)
		for w, v := range s.other.Words {
			s.room[w] -= v
		}
	}
	for g := rung / victims.Stride * victims.Stride; g < rung; g++ {
		s.Take(s.room, n, g)
		for w, guards := range s.one.Guards {
			if s.room[w]&guards != guards {
				return nil
			}
		}
	}
	return s.room
}

// Take puts the unit on rung g of node n back into room; Leave takes it out again.
func (s *Seats) Take(room []uint64, n cluster.NodeID, g victims.Rung) {
	words := len(room)
	s.look(n)
	for w, ask := range s.at.Asks[int(g)*words:][:words] {
		room[w] -= ask & s.one.Masks[w]
	}
}

// Leave is the inverse of Take.
func (s *Seats) Leave(room []uint64, n cluster.NodeID, g victims.Rung) {
	words := len(room)
	s.look(n)
	for w, ask := range s.at.Asks[int(g)*words:][:words] {
		room[w] += ask & s.one.Masks[w]
	}
}

// Stops is the first rung on node n whose unit does not return beside k members, or the
// end where all do, if they are tried in order of importance.
func (s *Seats) Stops(n cluster.NodeID, k int64) victims.Rung {
	s.ask(n, k)
	if s.first == s.end {
		return s.end
	}
	g, room := s.reach()
	for s.take(room); g < s.end && s.returns(g); g++ {
	}
	return g
}

// reach returns a rung up to which everybody returns, and what is free with those in
// place.
func (s *Seats) reach() (from victims.Rung, room []uint64) {
	words := len(s.now.Words)
	at := (int(s.end) - 1) / victims.Stride
	for ; at > int(s.first)/victims.Stride && !s.now.Fits(s.at.Rooms[at*words:][:words]); at-- {
	}
	return victims.Rung(at * victims.Stride), s.at.Rooms[at*words:][:words]
}

// start leaves what is free with nobody of the potential victims in place, beside the
// members, who fit.
func (s *Seats) start() {
	words, from := len(s.now.Words), s.first/victims.Stride
	s.take(s.at.Rooms[int(from)*words:][:words])
	for g := from * victims.Stride; g < s.first; g++ {
		s.returns(g)
	}
}

// take leaves what room has beside the members, who fit.
func (s *Seats) take(room []uint64) {
	s.free = s.free[:0]
	for w, v := range room {
		s.free = append(s.free, v-s.now.Words[w]|s.now.Rest[w])
	}
}

// returns takes the room of the unit on rung g if it is there.
func (s *Seats) returns(g victims.Rung) bool {
	words := len(s.free)
	ask := s.at.Asks[int(g)*words:][:words]
	for w, guards := range s.now.Guards {
		if (s.free[w]-ask[w]&s.now.Masks[w])&guards != guards {
			return false
		}
	}
	for w, v := range ask {
		s.free[w] -= v & s.now.Masks[w]
	}
	return true
}

// More is what has to go on node n for the k-th member beyond those who go for k-1,
// none of whom comes back. O(units).
func (s *Seats) More(n cluster.NodeID, k int64) domain.Price {
	s.lost = append(s.lost[:0], s.Victims(n, k-1)...)
	s.ask(n, k)
	s.start()
	price := domain.Free
	walk := func(harmful bool) {
		lost := s.lost
		for g := s.first; g < s.end; g++ {
			if len(lost) > 0 && lost[0] == g {
				lost = lost[1:]
				continue
			}
			if s.Harms(n, g) == harmful && !s.returns(g) {
				s.charge(&price, g)
			}
		}
	}
	if s.harmed(n) {
		walk(true)
	}
	walk(false)
	return price
}

// harmed reports whether the loss of some unit on node n violates a budget.
func (s *Seats) harmed(n cluster.NodeID) bool { return s.harm != nil && !s.harm(n).Empty() }

// Harms reports whether the loss of the unit on rung g of node n violates a budget.
func (s *Seats) Harms(n cluster.NodeID, g victims.Rung) bool {
	return s.harm != nil && s.harm(n).Has(g)
}

// charge adds what the loss of the unit on rung g costs.
func (s *Seats) charge(price *domain.Price, g victims.Rung) {
	own := int64(s.at.Owns[g])
	price.Highest = max(price.Highest, own)
	price.Sum += own + 1<<31
	price.Pods++
	if s.Harms(s.node, g) {
		price.Violations++
	}
}

// Victims are the rungs of those who have to go on node n for k members, in
// ascending order. The slice is good until the next call.
func (s *Seats) Victims(n cluster.NodeID, k int64) []victims.Rung {
	s.ask(n, k)
	s.out = s.out[:0]
	switch {
	case s.first == s.end:
	case !s.harmed(n) || s.harm(n).Covers(s.first, s.end): // then the order is that of importance
		from, room := s.reach()
		s.inOrder(room, from)
	default:
		s.harmfulFirst(s.harm(n))
	}
	return s.out
}

// Started is the earliest start among the most important of the Victims.
func (s *Seats) Started(n cluster.NodeID, k int64) int64 {
	out := s.Victims(n, k)
	return s.at.EarliestStart(out)
}

// inOrder finds who stays out of the units from a rung on, with room free.
func (s *Seats) inOrder(room []uint64, from victims.Rung) {
	s.take(room)
	if len(room) != 2 {
		for g := from; g < s.end; g++ {
			if !s.returns(g) {
				s.out = append(s.out, g)
			}
		}
		return
	}
	a, out := s.now, s.out
	mask0, guards0, mask1, guards1 := a.Masks[0], a.Guards[0], a.Masks[1], a.Guards[1]
	free0, free1 := s.free[0], s.free[1]
	asks := s.at.Asks[:2*s.end]
	for g := from; g < s.end; g++ {
		left0, left1 := free0-asks[2*g]&mask0, free1-asks[2*g+1]&mask1
		if left0&guards0 == guards0 && left1&guards1 == guards1 {
			free0, free1 = left0, left1
		} else {
			out = append(out, g)
		}
	}
	s.free[0], s.free[1], s.out = free0, free1, out
}

// harmfulFirst tries the units of set before the others.
func (s *Seats) harmfulFirst(set *victims.RungSet) {
	s.start()
	var out victims.RungSet
	for _, harmful := range []bool{true, false} {
		for g := s.first; g < s.end; g++ {
			if set.Has(g) == harmful && !s.returns(g) {
				out.Add(g)
			}
		}
	}
	for g := s.first; g < s.end; g++ {
		if out.Has(g) {
			s.out = append(s.out, g)
		}
	}
}
