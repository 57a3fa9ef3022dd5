package domain

import "github.com/preempt-go/preempt/preemption/cluster"

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
