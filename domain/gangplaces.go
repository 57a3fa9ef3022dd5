package domain

import (
	"fmt"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// CanPlace says whether member m fits on node n as things stand, beside the members that are placed already. The zero Reason: it does.
func (t *GangTrial) CanPlace(m MemberID, n cluster.NodeID) Reason {
	t.check()
	t.Asked++
	if !t.HasRoom(m, n) {
		if !t.Admits(m, n) {
			return t.members[m].Static(t.ix.Node(n))
		}
		return t.members[m].Resources(t.Free(n), t.ix.Allocatable(n))
	}
	t.Asked += t.asks(m)
	if port, taken := t.portTaken(m, n); taken {
		return Reason{Check: CheckPorts, Port: port}
	}
	seats := t.seats()
	why := t.constraints(m, n)
	t.Asked += int(t.seats() - seats)
	t.asideSeats += t.seats() - seats
	return why
}

// HasRoom reports whether member m could be on node n as things stand as far as the node and its room decide.
func (t *GangTrial) HasRoom(m MemberID, n cluster.NodeID) bool {
	switch {
	case !t.Admits(m, n):
		return false
	case t.Vacant(n):
		return t.vacancy.Fit(int(n/64), 1<<(n%64), m, 1) != 0
	}
	free, member := t.Free(n), t.members[m]
	return len(member.unknown) == 0 && !slices.ContainsFunc(member.asks, func(r cluster.ResourceID) bool { return member.request[r] > free[r] })
}

// takes is CanPlace without the reason.
func (t *GangTrial) takes(m MemberID, n cluster.NodeID) bool {
	if t.HasRoom(m, n) {
		return t.CanPlace(m, n).OK()
	}
	t.check()
	t.Asked++
	return false
}

// Admits reports whether node n takes member m as far as the node decides, whatever its room.
func (t *GangTrial) Admits(m MemberID, n cluster.NodeID) bool {
	rule := t.rules[m]
	if t.static[rule] == nil {
		t.static[rule] = make([]int8, t.ix.NumNodes())
	}
	seen := &t.static[rule][n]
	if *seen == 0 {
		*seen = -1
		if t.members[m].Anywhere() && t.ix.Open(n) || t.members[m].Static(t.ix.Node(n)).OK() {
			*seen = 1
		}
	}
	return *seen > 0
}

// portTaken returns the position of a host port of member m that a pod or another member on node n holds, and whether there is one.
func (t *GangTrial) portTaken(m MemberID, n cluster.NodeID) (int, bool) {
	want := &t.members[m].ports
	if want.Len() == 0 {
		return 0, false
	}
	t.Empty(n)
	for _, pods := range [...][]cluster.PodID{t.holders.Meeting(t.ix, n, want), t.expected[n]} {
		for _, p := range pods {
			if t.gone[p] {
				continue
			}
			if i, taken := want.Conflict(t.ix.Pod(p).Ports); taken {
				return i, true
			}
		}
	}
	if !t.holders.Placed(t.ix, n, want, int(m)) {
		return 0, false
	}
	for _, o := range t.on[n] {
		if i, taken := want.Conflict(t.members[o].Pod.Ports); taken && o != m {
			return i, true
		}
	}
	return 0, false
}

// asks is about how many questions about room one of the constraints about member m stands for.
func (t *GangTrial) asks(m MemberID) int {
	p := t.members[m].Pod
	return 4*len(t.states) + len(p.Spread) + len(p.Affinity) + len(p.AntiAffinity) + len(p.Devices) + len(p.Ports)/2
}

// constraints asks the states about member m on node n.
func (t *GangTrial) constraints(m MemberID, n cluster.NodeID) Reason {
	for _, s := range t.states {
		if r := t.fitsState(s, m, n); !r.OK() {
			checkReason(t.ix, t.members[m], r)
			return r
		}
	}
	return Reason{}
}

// fitsState asks one state about member m on node n, with the nominated pods and without them.
func (t *GangTrial) fitsState(s State, m MemberID, n cluster.NodeID) Reason {
	if len(t.expected[n]) > 0 {
		for _, p := range t.expected[n] {
			s.Return(p, n)
		}
		r := s.Fits(m, n)
		for _, p := range t.expected[n] {
			s.Remove(p, n)
		}
		if !r.OK() {
			return r
		}
	}
	return s.Fits(m, n)
}

// Place puts member m, which has no place, on node n. It panics with a [*Misuse] where there is no such member or node, or the member has a place.
func (t *GangTrial) Place(m MemberID, n cluster.NodeID) {
	if m < 0 || int(m) >= len(t.at) || n < 0 || int(n) >= len(t.on) || t.at[m] != cluster.NoNode {
		t.checkPlace(m, n)
	}
	t.at[m], t.turn[m] = n, int32(len(t.placed))
	t.placed = append(t.placed, m)
	t.on[n] = append(t.on[n], m)
	t.book(n, ^int(m), t.members[m].request, -1)
	t.holders.Place(t.ix, n, &t.members[m].ports, int(m))
	t.enter(m, n)
	t.moved, t.asked = true, false
}

// Unplace takes back the latest Place and returns its member. It panics with a [*Misuse] where nobody is placed.
func (t *GangTrial) Unplace() MemberID {
	if len(t.placed) == 0 {
		panic(&Misuse{"Placer", "Unplace of nobody", "after a Place"})
	}
	m := t.placed[len(t.placed)-1]
	n := t.at[m]
	for _, s := range t.states {
		s.Unplace(m, n)
	}
	t.moved, t.asked = true, false
	t.placed = t.placed[:len(t.placed)-1]
	t.at[m] = cluster.NoNode
	t.on[n] = t.on[n][:len(t.on[n])-1]
	t.holders.Unplace(n, &t.members[m].ports, int(m))
	t.book(n, ^int(m), t.members[m].request, +1)
	return m
}

// UnplaceTo takes back Places until k members are left.
func (t *GangTrial) UnplaceTo(k int) {
	for len(t.placed) > k {
		t.Unplace()
	}
}

// Assignment is a member and the node it goes to.
type Assignment struct {
	Member MemberID
	Node   cluster.NodeID
}

// Assignments returns a new slice with what is placed, in order.
func (t *GangTrial) Assignments() []Assignment {
	list := make([]Assignment, len(t.placed))
	for i, m := range t.placed {
		list[i] = Assignment{m, t.at[m]}
	}
	return list
}

// PlaceAll places what list says without a check.
func (t *GangTrial) PlaceAll(list []Assignment) {
	for _, a := range list {
		t.Place(a.Member, a.Node)
	}
}

// mostInTurn is for how many members PlaceInTurn looks at every order.
const mostInTurn = 12

// mostTurns is how many questions about room Fits may take to look whether members fit in another order, a part of what is left of them each
// time: where there is none, up to 4,096 sets of members have to be looked at.
const (
	mostTurns = 1 << 20
	turnsPart = 8
)

// PlaceInTurn places what list says, each member beside those before it, in the order of list or in another one: with constraints a member
// may fit only after another one, or only before it. If there is no such order it places nobody and returns the first assignment that fails,
// and why; of more than 12 members it looks only at the order in which whoever fits goes first.
func (t *GangTrial) PlaceInTurn(list []Assignment) (Assignment, Reason) {
	left := math.MaxInt
	return t.placeInTurn(list, 0, &left)
}

// placeInTurn is PlaceInTurn where the first k of list have been placed in order. It looks at other orders than that in which whoever fits
// goes first as long as left is above zero, which it lessens by the questions about room that they stand for.
func (t *GangTrial) placeInTurn(list []Assignment, k int, left *int) (Assignment, Reason) {
	before := len(t.placed) - k
	later, why := whoFits(slices.Clone(list[k:]), t.CanPlace, t.Place)
	if len(later) == 0 {
		return Assignment{}, Reason{}
	}
	t.UnplaceTo(before)
	if len(list) <= mostInTurn && t.OrderMatters() && !t.sameInTurn(list) {
		turns := inTurn{t: t, list: list, failed: map[int]bool{}, left: left}
		if turns.place(0) {
			return Assignment{}, Reason{}
		}
	}
	return later[0], why
}

// sameInTurn reports whether members of list fit in some order if they do in any where whoever
// fits goes first: nothing tells them apart, and none is spread over two kinds of values at once.
func (t *GangTrial) sameInTurn(list []Assignment) bool {
	first := list[0].Member
	return len(t.members[first].Pod.Spread) <= 1 && !slices.ContainsFunc(list[1:], func(a Assignment) bool {
		return !t.FitAlike(first, a.Member)
	})
}

// whoFits places those of list who fit, first to last and again, as long as somebody does,
// and returns the others, and why the first of them does not.
func whoFits(list []Assignment, fits func(MemberID, cluster.NodeID) Reason, place func(MemberID, cluster.NodeID)) (later []Assignment, why Reason) {
	for had := -1; len(list) > 0 && len(list) != had; {
		had, why = len(list), Reason{}
		list = slices.DeleteFunc(list, func(a Assignment) bool {
			misfit := fits(a.Member, a.Node)
			if misfit.OK() {
				place(a.Member, a.Node)
			} else if why.OK() {
				why = misfit
			}
			return misfit.OK()
		})
	}
	return list, why
}

// jammed reports whether the members of node n from the k-th on do not all fit whatever their order, where constraints look at single nodes. These have them in another order then.
func (t *GangTrial) jammed(k int, n cluster.NodeID) bool {
	var list []Assignment
	for _, m := range t.on[n] {
		if int(t.turn[m]) >= k {
			list = append(list, Assignment{m, n})
		}
	}
	t.Again = min(t.Again+len(list)*t.asks(list[0].Member), 1<<28)
	t.leave(list)
	later, _ := whoFits(slices.Clone(list), t.constraints, t.enter)
	for _, a := range later {
		t.enter(a.Member, n)
	}
	return len(later) > 0
}

// inTurn is the search for an order. Sets of assignments are numbers, bit by bit.
type inTurn struct {
	t      *GangTrial
	list   []Assignment
	failed map[int]bool // from which nothing leads on
	left   *int         // how often it may ask whether somebody fits
}

// place places those that are not in set.
func (p *inTurn) place(set int) bool {
	if set == 1<<len(p.list)-1 {
		return true
	}
	if p.failed[set] {
		return false
	}
	for i, a := range p.list {
		if set>>i&1 == 1 {
			continue
		}
		if *p.left -= p.t.asks(a.Member); *p.left < 0 {
			return false
		}
		if !p.t.CanPlace(a.Member, a.Node).OK() {
			continue
		}
		p.t.Place(a.Member, a.Node)
		if p.place(set | 1<<i) {
			return true
		}
		p.t.Unplace()
	}
	p.failed[set] = true
	return false
}

// Fits says whether every placed member fits where it is; if Mobile is set and one does not, whether there is another placement, which is then taken.
//
// It looks again only at nodes to which pods came back since the last call, and for room and ports that these may hold; the answer of that call
// must have been yes, or have been mended by removing them. If a member or a pod that a constraint looks at went or came, it asks the
// constraints about every member, in order, each seeing the earlier ones; once they all look at single nodes and had nothing against
// anybody, about those on nodes of pods that moved since. That members agree with each other is for CanPlace to see.
func (t *GangTrial) Fits() Reason {
	t.Checks++
	t.check()
	why := t.stillFit()
	t.dirty, t.back, t.doubted, t.moved = t.dirty[:0], t.back[:0], false, t.moved && !why.OK()
	if why.OK() || !t.Mobile {
		return why
	}
	return t.replaced(why, 0, func([]Assignment) bool { return t.Need(t) })
}

// replaced unplaces all but the first k members and lets place, which moves no pods, find them another placement than the one before. If
// there is none it returns why, and they are back where they were, of which as much is known as before.
func (t *GangTrial) replaced(why Reason, k int, place func(before []Assignment) bool) Reason {
	before, moved, asked := t.Assignments(), t.moved, t.asked
	t.UnplaceTo(k)
	if place(before) {
		return Reason{}
	}
	t.UnplaceTo(0)
	t.PlaceAll(before)
	t.moved, t.asked = moved, asked
	return why
}

func (t *GangTrial) stillFit() Reason {
	var met []int
	for i := 0; t.ported && i < len(t.back); i++ {
		met = t.holders.Guests(met, t.ix.NodeOf(t.back[i]), t.ix.Pod(t.back[i]).Ports)
	}
	t.dirty = slices.Compact(t.dirty)
	for _, n := range t.dirty {
		free := t.Free(n)
		if !t.doubted && len(met) == 0 && !slices.ContainsFunc(t.Columns(), func(r cluster.ResourceID) bool { return free[r] < 0 }) {
			continue
		}
		for _, m := range t.on[n] {
			if r := t.fitsOn(m, n, t.doubted || slices.Contains(met, int(m))); !r.OK() {
				return r
			}
		}
	}
	if len(t.states) == 0 || !t.moved {
		return Reason{}
	}
	ask := t.unsettled()
	t.leave(ask)
	for i, a := range ask {
		t.Again = min(t.Again+t.asks(a.Member), 1<<28) // more says no more, and an int may have 32 bits
		why := t.constraints(a.Member, a.Node)
		if why.OK() {
			t.enter(a.Member, a.Node)
			continue
		}
		for _, b := range ask[i:] {
			t.enter(b.Member, b.Node)
		}
		if t.Mobile || why.Check == CheckAntiAffinity || !t.OrderMatters() { // which no order helps
			return why
		}
		k := int(t.turn[a.Member])
		if len(t.placed) > mostInTurn && !t.CrossNode() && t.jammed(k, a.Node) { // then no order is found, either
			return why
		}
		most := t.turns / turnsPart
		left := most
		defer func() { t.turns -= most - max(left, 0) }()
		return t.replaced(why, k, func(before []Assignment) bool {
			_, misfit := t.placeInTurn(before, k, &left)
			return misfit.OK()
		})
	}
	t.asked, t.stirred = !t.CrossNode(), t.stirred[:0]
	return Reason{}
}

// unsettled lists the members whom constraints may have something against, in order.
func (t *GangTrial) unsettled() []Assignment {
	if !t.asked {
		return t.Assignments()
	}
	t.again = t.again[:0]
	for i, p := range t.stirred {
		n := t.ix.NodeOf(p)
		if i > 0 && t.ix.NodeOf(t.stirred[i-1]) == n {
			continue
		}
		for _, m := range t.on[n] {
			t.again = append(t.again, Assignment{m, n})
		}
	}
	slices.SortFunc(t.again, func(a, b Assignment) int { return int(t.turn[a.Member] - t.turn[b.Member]) })
	return slices.Compact(t.again)
}

// enter lets the constraints know that member m is on node n, and leave that these, who are placed, are not.
func (t *GangTrial) enter(m MemberID, n cluster.NodeID) {
	for _, s := range t.states {
		s.Place(m, n)
	}
}

func (t *GangTrial) leave(list []Assignment) {
	for _, a := range slices.Backward(list) {
		for _, s := range t.states {
			s.Unplace(a.Member, a.Node)
		}
	}
}

// fitsOn checks placed member m on its node n for room, of which it has what it asks for if nothing is below zero, and perhaps for ports.
func (t *GangTrial) fitsOn(m MemberID, n cluster.NodeID, ports bool) Reason {
	free := t.Free(n)
	for _, r := range t.members[m].asks {
		if free[r] < 0 {
			return Reason{Check: CheckResource, Resource: r, Missing: -max(free[r], -math.MaxInt64)}
		}
	}
	if ports {
		if port, taken := t.portTaken(m, n); taken {
			return Reason{Check: CheckPorts, Port: port}
		}
	}
	return Reason{}
}

// Untied calls try, for which there are no constraints that are not monotone. Nobody may be placed before or after, and nobody leaves or returns.
func (t *GangTrial) Untied(try func()) {
	states := t.states
	t.states = slices.DeleteFunc(slices.Clone(states), func(s State) bool { return !s.Scope().Monotone })
	try()
	t.states = states
}

// Doubt lets the next Fits look at every node with members, and ask every constraint, whatever was answered before.
// It says how many members have a place.
func (t *GangTrial) Doubt() (members int) {
	for _, m := range t.placed {
		t.dirty = append(t.dirty, t.at[m])
	}
	t.doubted, t.moved, t.asked = true, true, false
	return len(t.placed)
}

// Settle forgets which nodes pods came back to: what is placed is known to fit.
func (t *GangTrial) Settle() {
	t.dirty, t.back, t.doubted, t.moved, t.asked, t.stirred = t.dirty[:0], t.back[:0], false, false, !t.CrossNode(), t.stirred[:0]
}

// Misuse is what a question panics with where a Placer, a Constraint or some hook breaks its contract; package preemption turns it into an error.
type Misuse struct {
	By    string // Placer or Constraint; empty: it is not known which hook
	Value string // what it did
	Want  string
}

// Error says what was done, and what was expected.
func (m *Misuse) Error() string { return "domain: " + m.By + ": " + m.Value + " is not " + m.Want }

// checkReason panics if r, which a constraint has given, speaks of a resource or port that there is not.
func checkReason(ix *cluster.Index, m *Member, r Reason) {
	switch {
	case r.Check == CheckResource && (r.Resource < 0 || int(r.Resource) >= ix.NumResources()):
		panic(&Misuse{"Constraint", fmt.Sprintf("a reason with resource %d", r.Resource), fmt.Sprintf("from 0 to %d", ix.NumResources()-1)})
	case r.Check == CheckPorts && (r.Port < 0 || r.Port >= len(m.Pod.Ports)):
		panic(&Misuse{"Constraint", fmt.Sprintf("a reason with port %d", r.Port), fmt.Sprintf("the position of one of the %d ports of the pod", len(m.Pod.Ports))})
	}
}

// checkPlace panics if member m cannot be put on node n.
func (t *GangTrial) checkPlace(m MemberID, n cluster.NodeID) {
	switch {
	case m < 0 || int(m) >= len(t.members):
		panic(&Misuse{"Placer", fmt.Sprintf("member %d", m), fmt.Sprintf("from 0 to %d", len(t.members)-1)})
	case n < 0 || int(n) >= len(t.on):
		panic(&Misuse{"Placer", fmt.Sprintf("node %d", n), fmt.Sprintf("from 0 to %d", len(t.on)-1)})
	case t.at[m] != cluster.NoNode:
		panic(&Misuse{"Placer", fmt.Sprintf("member %d, placed on %s already", m, t.ix.Node(t.at[m]).Name), "a member without a place"})
	}
}
