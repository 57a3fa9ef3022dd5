package gang

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/counting"
)

// improve looks for placements that disrupt less than the best so far: at every placement where they are few, otherwise at those that a few
// moves away from the best lead to.
//
// Where the gang may move while victims come back, and where it is placed anew in
// between, the first placement does not decide, and nothing is done.
func (a *attempt) improve() {
	if !a.improves() {
		return
	}
	budget := a.q.Checks / a.shares
	if a.q.Effort != ask.Greedy && a.placeAsBefore(a.top.Places) {
		a.giveBack(nil)
	}
	e := a.newEvery()
	if most := budget / (1 + a.numPotential()); e.ways(most) <= most {
		e.run(most)
		return
	}
	a.climb(e, budget)
}

// searches reports whether placements beyond those of the placers are looked at.
func (a *attempt) searches() bool {
	return a.q.Improves && !a.q.Mobile && !a.q.Lowest && !a.q.Tree.PartsHaveTopology()
}

// improves reports whether there are checks to look at some of them.
func (a *attempt) improves() bool {
	return a.searches() && a.numPotential() <= a.q.Checks/a.shares && !a.spent()
}

// every is the walk over all placements in a domain. Members that nothing tells apart are placed in one order only.
type every struct {
	*attempt
	classes  [][]domain.MemberID // by pod group and shape
	optional bool                // a member may be left out
	most     int                 // how many members have to have a place
	nodes    [][]cluster.NodeID  // by class, where its members have room before anybody is placed; nil: nobody has looked

	visits int   // how many placements walk may visit
	steps  int64 // and how often it may ask about a member on a node
}

func (a *attempt) newEvery() *every {
	e := &every{attempt: a}
	if a.top != nil {
		e.most = len(a.top.Places)
	}
	e.optional = e.most < len(a.q.Members) || a.q.Fewest
	for _, leaf := range a.q.Tree.Leaves() {
		at := map[int]int{} // by shape: its latest class
		for _, m := range leaf.Members {
			shape := a.Trial.Shape(m)
			if i, known := at[shape]; known && a.Trial.Alike(e.classes[i][0], m) {
				e.classes[i] = append(e.classes[i], m)
				continue
			}
			at[shape] = len(e.classes)
			e.classes = append(e.classes, []domain.MemberID{m})
		}
	}
	return e
}

// ways is an upper bound of the number of placements, or more than limit.
func (e *every) ways(limit int) int {
	ways := int64(1) // an int of 32 bits does not hold the product
	for _, class := range e.classes {
		ways *= int64(e.waysOf(class, limit))
		if ways > int64(limit) {
			return math.MaxInt32
		}
	}
	return int(ways)
}

// waysOf counts how members that are alike spread over the nodes.
func (e *every) waysOf(class []domain.MemberID, limit int) int {
	placed := make([]int, len(class)+1) // how many ways there are to place so many
	placed[0] = 1
	for _, n := range e.domain.Nodes {
		room := e.room(class[0], n, len(class))
		for k := len(class); k > 0; k-- {
			for j := 1; j <= min(k, room); j++ {
				if placed[k] += placed[k-j]; placed[k] > limit {
					return math.MaxInt32
				}
			}
		}
	}
	if !e.optional {
		return placed[len(class)]
	}
	sum := 0
	for _, w := range placed {
		sum += w
	}
	return sum
}

// room is how many members like m could go to node n, at most most.
func (e *every) room(m domain.MemberID, n cluster.NodeID, most int) int {
	if !e.Trial.CanPlace(m, n).OK() {
		return 0
	}
	return int(min(int64(most), e.Trial.Slots(m, n)))
}

// look leaves out, class by class, the nodes without room for it, unless constraints may make some.
func (e *every) look() {
	if len(e.q.States) > 0 {
		return
	}
	e.nodes = make([][]cluster.NodeID, len(e.classes))
	for i, class := range e.classes {
		for _, n := range e.domain.Nodes {
			if e.Trial.CanPlace(class[0], n).OK() {
				e.nodes[i] = append(e.nodes[i], n)
			}
		}
	}
}

// run evaluates every placement that seats most, of so many at most.
func (e *every) run(placements int) {
	if e.optional && !e.q.Fewest {
		e.each(placements, func() {
			if n := len(e.Trial.Placed()); n > e.most && e.seater.Suffices() {
				e.most = n
			}
		})
	}
	e.each(placements, func() {
		if e.q.Fewest {
			if !e.barelySuffices() {
				return
			}
		} else if len(e.Trial.Placed()) != e.most || !e.seater.Suffices() {
			return
		}
		if e.dearer() {
			return
		}
		list := e.Trial.Assignments()
		e.giveBack(nil)
		e.Trial.PlaceAll(list)
	})
}

// each calls visit with every placement, as walk does, and reports whether it came to the end: it visits no
// more than so many, since ways does not know those that constraints open once others are placed.
func (e *every) each(placements int, visit func()) (all bool) {
	e.visits = max(placements, 1)
	e.steps = int64(e.visits)*int64(len(e.q.Members))*int64(len(e.domain.Nodes)) + 1
	e.walk(0, 0, 0, visit)
	return e.steps > 0
}

// walk places the members from number k of class i on in every way and calls visit
// with each placement, which must leave it as it is. Nodes before from are not tried.
func (e *every) walk(i, k, from int, visit func()) {
	for i < len(e.classes) && k == len(e.classes[i]) {
		i, k, from = i+1, 0, 0
	}
	if i == len(e.classes) {
		if e.visits--; e.visits < 0 || e.near.Spent() {
			e.steps = 0
			return
		}
		visit()
		return
	}
	m, nodes := e.classes[i][k], e.domain.Nodes
	if e.nodes != nil {
		nodes = e.nodes[i]
	}
	for at := from; at < len(nodes) && e.steps > 0; at++ {
		e.steps--
		if n := nodes[at]; e.Trial.CanPlace(m, n).OK() {
			e.Trial.Place(m, n)
			e.walk(i, k+1, at, visit)
			e.Trial.Unplace()
		}
	}
	if e.optional && e.steps > 0 {
		e.walk(i+1, 0, 0, visit) // its equals are left out too
	}
}

// barelySuffices reports whether they are, and no pod group has more than it needs.
func (a *attempt) barelySuffices() bool {
	for _, leaf := range a.q.Tree.Leaves() {
		if a.seater.SeatedOf(leaf) > max(1, leaf.Need()) {
			return false
		}
	}
	return a.seater.Suffices()
}

// climb moves members of the best plan to other nodes, one of a node's or all that are alike, as long as that helps and budget lasts.
func (a *attempt) climb(e *every, budget int) {
	a.effort = budget
	nodes := make([][]cluster.NodeID, len(e.classes)) // nil: not looked for yet
	where := make([]int, len(a.q.Members))            // 1 + position in the places of the best plan
	for better := true; better; {
		better = false
		from := a.top
		clear(where)
		for i, p := range from.Places {
			where[p.Member] = i + 1
		}
		for i, class := range e.classes {
			if a.effort <= 0 {
				return
			}
			if nodes[i] == nil {
				nodes[i] = a.cheapest(class[0])
			}
			at := make([]int, len(class))
			for k, m := range class {
				at[k] = where[m] - 1
			}
			slices.Sort(at)
			if a.moveClass(at, nodes[i], from) {
				better = true
				break
			}
		}
	}
}

// cheapest lists nodes for member m, where least has to go for it first.
func (a *attempt) cheapest(m domain.MemberID) []cluster.NodeID {
	offers := a.withFirstSeats(a.prices(domain.LeastDisruption{}))
	type offer struct {
		price domain.Price
		node  cluster.NodeID
	}
	var list []offer
	for _, n := range a.domain.Nodes {
		if a.Trial.CanPlace(m, n).OK() {
			list = append(list, offer{offers.Price(m, n), n})
		}
	}
	slices.SortStableFunc(list, func(x, y offer) int { return x.price.Compare(y.price) })
	var nodes []cluster.NodeID
	for _, o := range list[:min(counting.ClimbNodes, len(list))] {
		nodes = append(nodes, o.node)
	}
	return nodes
}

// moveClass tries the moves of members that are alike, at these positions in from.Places, below zero
// without a place, and stops at the first that helps.
func (a *attempt) moveClass(at []int, nodes []cluster.NodeID, from *Plan) bool {
	on := map[cluster.NodeID][]int{} // likewise
	var order []cluster.NodeID
	for _, i := range at {
		if i < 0 {
			continue
		}
		n := from.Places[i].Node
		if on[n] == nil {
			order = append(order, n)
		}
		on[n] = append(on[n], i)
	}
	for _, n := range order {
		for _, to := range nodes {
			if to == n {
				continue
			}
			for _, moved := range [][]int{on[n][:1], on[n]}[:min(2, len(on[n]))] {
				if a.effort <= 0 {
					return false
				}
				if a.tryMove(from, moved, to) {
					return true
				}
			}
		}
	}
	return false
}

// tryMove evaluates the plan from with some of its members on another node, and reports whether that is better.
func (a *attempt) tryMove(from *Plan, moved []int, to cluster.NodeID) bool {
	list := slices.Clone(from.Places)
	for _, i := range moved {
		list[i].Node = to
	}
	a.effort -= len(list) + a.numPotential()/8 // what pricing them costs, in checks
	if !a.placeAsBefore(list) {
		return false
	}
	if len(a.q.States) == 0 && a.dearer() {
		a.Trial.UnplaceTo(0)
		return false
	}
	before := a.Trial.Checks
	a.giveBack(nil)
	if len(a.q.States) > 0 || a.q.Bounded() { // else the price may have told, and moves are counted alone
		a.effort -= a.Trial.Checks - before
	}
	if a.near.Spent() || a.stepsLeft(a.q.NumSteps()) == 0 {
		a.effort = 0
	}
	return a.top != from
}
