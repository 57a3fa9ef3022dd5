package domain

import (
	"cmp"

	"github.com/preempt-go/preempt/internal/heaps"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// SeatOffer is a place for one more member, with its price.
type SeatOffer struct {
	Price Price
	Next  int64 // see Foresee; 0: not asked yet
	At    int32 // which node
	K     int32 // how many members are there with this one, or the number of the offer, where that is asked for; below zero: Price is a bound from below
}

// Compare is below zero if o costs less than p; among equals if more members there do, then if the node is the first.
func (o *SeatOffer) Compare(p *SeatOffer) int {
	if c := o.Price.Compare(p.Price); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(o.Next, p.Next), cmp.Compare(o.At, p.At))
}

// Blind reports whether somebody has to go for the offer, and nobody has asked yet who would for
// one more member there. A pod is worth more than being the first.
func (o *SeatOffer) Blind() bool { return o.Next == 0 && o.Price.Pods > 0 }

// ahead is how many members after the next are looked at on a node.
const ahead = 7

// Foresee notes what the member costs together with those more for which that is least on average, at most so many: the sum of the priorities
// of who would have to go. More that violate budgets or take somebody more important don't count. with says what has to go there with this one and
// some more; told is false where so many don't count, or nothing is told of them, and likewise of more.
func (o *SeatOffer) Foresee(most int64, with func(more int64) (price Price, told bool)) {
	o.Next = 1 + max(o.Price.Sum, 0)
	if most < 1 {
		return
	}
	one, told := with(0)
	for all, more := one, int64(1); told && more <= min(most, ahead); more++ {
		all, told = with(more)
		if price := all.Minus(one); told && price.Violations <= 0 && price.Highest == Free.Highest {
			o.Next = min(o.Next, 1+max(o.Price.Sum+price.Sum, 0)/(1+more))
		}
	}
}

// SeatQueue finds the offer at which a plan comes to cost least. An offer that takes nobody more important than who goes already adds
// nothing to the highest priority that has to go: its Highest counts as that of [Free]. So offers change places as the highest priority of
// the plan rises; they are kept in two heaps for that.
//
// The zero SeatQueue is empty, for a plan in which nobody goes yet. Push, Drop and Take are O(log n) for n offers, Least too over all calls.
type SeatQueue struct {
	highest int64       // of the plan
	within  []SeatOffer // a heap: those that do not exceed it, their Highest as Free has it
	beyond  []SeatOffer // a heap: the others
	least   *[]SeatOffer
}

// Reset empties q, for a plan in which nobody above a priority goes yet.
func (q *SeatQueue) Reset(highest int64) {
	q.highest = highest
	q.Clear()
}

// Clear empties q for the same plan.
func (q *SeatQueue) Clear() { q.within, q.beyond = q.within[:0], q.beyond[:0] }

// Highest is the highest priority of the plan.
func (q *SeatQueue) Highest() int64 { return q.highest }

// Adds is what price adds to what the plan costs so far.
func (q *SeatQueue) Adds(price Price) Price {
	if price.Highest <= q.highest {
		price.Highest = Free.Highest
	}
	return price
}

// Push adds an offer.
func (q *SeatQueue) Push(o SeatOffer) {
	if o.Price = q.Adds(o.Price); o.Price.Highest == Free.Highest {
		q.within = heaps.Push(q.within, o, (*SeatOffer).Compare)
	} else {
		q.beyond = heaps.Push(q.beyond, o, (*SeatOffer).Compare)
	}
}

// Least returns the offer at which the plan comes to cost least, with what it adds; ok is false if there is none.
func (q *SeatQueue) Least() (o SeatOffer, ok bool) {
	for moved := 0; len(q.beyond) > 0 && q.beyond[0].Price.Highest <= q.highest; moved++ {
		if 8*moved > len(q.beyond) {
			q.sift()
			break
		}
		o := q.beyond[0]
		q.beyond = heaps.Pop(q.beyond, (*SeatOffer).Compare)
		q.Push(o)
	}
	q.least = &q.within
	if len(q.within) == 0 || len(q.beyond) > 0 && q.beyond[0].Compare(&q.within[0]) < 0 {
		q.least = &q.beyond
	}
	if len(*q.least) == 0 {
		return SeatOffer{}, false
	}
	return (*q.least)[0], true
}

// sift moves all offers at once that do not exceed the highest priority any more.
func (q *SeatQueue) sift() {
	q.beyond = heaps.Keep(q.beyond, func(o *SeatOffer) bool {
		adds := q.Adds(o.Price)
		if adds.Highest == Free.Highest {
			q.within = append(q.within, SeatOffer{adds, o.Next, o.At, o.K})
		}
		return adds.Highest != Free.Highest
	}, (*SeatOffer).Compare)
	heaps.Init(q.within, (*SeatOffer).Compare)
}

// keep takes all offers away but those that counts admits, where these are fewer than half.
func (q *SeatQueue) keep(num int, counts func(o *SeatOffer) bool) {
	if len(q.within)+len(q.beyond) > 2*num {
		q.within = heaps.Keep(q.within, counts, (*SeatOffer).Compare)
		q.beyond = heaps.Keep(q.beyond, counts, (*SeatOffer).Compare)
	}
}

// forget lets nobody have asked what one more member costs.
func (q *SeatQueue) forget() {
	for _, h := range [][]SeatOffer{q.within, q.beyond} {
		for i := range h {
			h[i].Next = 0
		}
		heaps.Init(h, (*SeatOffer).Compare)
	}
}

// Drop takes away what Least returned.
func (q *SeatQueue) Drop() { *q.least = heaps.Pop(*q.least, (*SeatOffer).Compare) }

// open calls foresee for what Least returned, which is blind, or once that was done often for all that are and cost the same: each of
// them comes before those that are not.
func (q *SeatQueue) open(often int, foresee func(o *SeatOffer)) {
	h, price, from := *q.least, (*q.least)[0].Price, 0
	if 8*often > len(h) {
		from = len(h) - 1
	}
	for i := from; i >= 0; i-- { // a heap again from the i-th on
		if h[i].Blind() && h[i].Price == price {
			foresee(&h[i])
		}
		heaps.Down(h, i, (*SeatOffer).Compare)
	}
}

// Take notes that who goes for an offer is part of the plan, and reports whether somebody more important goes in it now. The offers stay.
func (q *SeatQueue) Take(price Price) (raised bool) {
	raised = price.Highest > q.highest
	q.highest = max(q.highest, price.Highest)
	return raised
}

// aside keeps the nodes that constraints close for a member as things stand, by what closes
// them, so that they need not all be asked about again whenever somebody is placed.
type aside struct {
	blocks []closed
	at     map[block]int
}

// closed are the nodes that one thing closes.
type closed struct {
	block
	offers   []SeatOffer
	unpriced []cluster.NodeID
}

// block is what keeps a member off nodes.
type block struct {
	state int   // whose Fits says no
	of    int64 // what a [blocker] calls it; below zero: a node itself
}

func (a *aside) clear() {
	a.blocks = a.blocks[:0]
	clear(a.at)
}

// of are the nodes that b closes.
func (a *aside) of(b block) *closed {
	i, known := a.at[b]
	if !known {
		if a.at == nil {
			a.at = map[block]int{}
		}
		i = len(a.blocks)
		a.at[b] = i
		a.blocks = append(a.blocks, closed{block: b})
	}
	return &a.blocks[i]
}

// blocker is an optional part of a State: it names what keeps members off nodes.
type blocker interface {
	// block is what keeps member m off node n, which Fits denies and nobody is nominated to: where it gives the same number, not below
	// zero, Fits denies the node as long as blocks says so. ok is false if it does whoever is placed.
	block(m MemberID, n cluster.NodeID) (of int64, ok bool)
	blocks(m MemberID, of int64) bool
}

// blockOf is what keeps member m off node n, where CanPlace denies it; ok is false if nothing that is placed elsewhere changes that.
func (t *GangTrial) blockOf(m MemberID, n cluster.NodeID) (b block, ok bool) {
	if len(t.states) == 0 || !t.HasRoom(m, n) {
		return block{}, false
	}
	if _, taken := t.portTaken(m, n); taken {
		return block{}, false
	}
	for i, s := range t.states {
		if t.fitsState(s, m, n).OK() {
			continue
		}
		if s.Scope().NodeLocal {
			return block{}, false
		}
		if named, is := s.(blocker); is && len(t.expected[n]) == 0 {
			of, ok := named.block(m, n)
			return block{i, of}, ok
		}
		return block{i, -1 - int64(n)}, true
	}
	return block{}, false
}

// blocks reports whether b still keeps member m off nodes.
func (t *GangTrial) blocks(m MemberID, b block) bool {
	if b.of < 0 {
		return !t.fitsState(t.states[b.state], m, cluster.NodeID(-1-b.of)).OK()
	}
	return t.states[b.state].(blocker).blocks(m, b.of)
}

func (s *spreadState) block(m MemberID, n cluster.NodeID) (of int64, ok bool) {
	for i, own := range s.plan.of[m] {
		v := s.plan.constraints[own.constraint].of[n]
		if v == cluster.NoValue {
			return 0, false
		}
		if s.tooMany(own, v) > 0 {
			return int64(i)<<32 | int64(v), true
		}
	}
	return 0, false
}

func (s *spreadState) blocks(m MemberID, of int64) bool {
	return s.tooMany(s.plan.of[m][of>>32], cluster.ValueID(of&(1<<32-1))) > 0
}

// The blocks of affinity are tallies in topology values.

func (s *affinityState) block(m MemberID, n cluster.NodeID) (of int64, ok bool) {
	pr := &s.plan.profiles[s.plan.profileOf[m]]
	for t := range pr.tallies {
		v := pr.tallies[t].of[n]
		if v == cluster.NoValue && t < pr.attracting {
			return 0, false
		}
		if of = int64(t)<<32 | int64(v); v != cluster.NoValue && s.blocks(m, of) {
			return of, true
		}
	}
	return 0, false
}

func (s *affinityState) blocks(m MemberID, of int64) bool {
	i := s.plan.profileOf[m]
	pr, t := &s.plan.profiles[i], int(of>>32)
	count := s.counts[pr.tallies[t].row+int(of&(1<<32-1))]
	if t < pr.attracting {
		return count == 0 && !(pr.selfMatch && s.matched[i] == 0)
	}
	return count > 0
}
