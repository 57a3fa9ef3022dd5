package domain

import (
	"cmp"
	"container/heap"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Placer chooses nodes for the members of a gang.
type Placer interface {
	// Place puts up to most of members on nodes of d through t.Place, wherever
	// t.CanPlace agrees, and returns how many it placed. Every potential victim has
	// been removed from t; offers says what room costs. It must be a function of its
	// arguments.
	Place(t *GangTrial, d *Domain, offers Offers, members []MemberID, most int) int
}

// Offers says what it costs to make room. It knows the victims; a Placer does not.
type Offers interface {
	// Price is what has to go so that member m fits on node n beside the members
	// placed there, over and above what has to go for those.
	Price(m MemberID, n cluster.NodeID) Price

	// Taken is to be called when member m has been placed on node n. It returns the
	// other nodes on which room has become cheaper by that: they hold pods of a group
	// that goes as a whole. The slice is good until the next call.
	Taken(m MemberID, n cluster.NodeID) []cluster.NodeID
}

// Price is what a place costs, compared number by number; smaller is better.
type Price struct {
	Lead       int64 // the cost, where the user makes it the first criterion; else 0
	Violations int64 // of budgets
	Highest    int64 // priority of the most important pod that has to go; math.MinInt64 if none has
	Sum        int64 // of the priorities of the pods that have to go, each raised by 2^31
	Pods       int64
}

// Free is the Price of a place that costs nothing.
var Free = Price{Highest: math.MinInt64}

// Compare is below zero if p costs less than q.
func (p Price) Compare(q Price) int {
	switch {
	case p.Lead != q.Lead:
		return cmp.Compare(p.Lead, q.Lead)
	case p.Violations != q.Violations:
		return cmp.Compare(p.Violations, q.Violations)
	case p.Highest != q.Highest:
		return cmp.Compare(p.Highest, q.Highest)
	case p.Sum != q.Sum:
		return cmp.Compare(p.Sum, q.Sum)
	}
	return cmp.Compare(p.Pods, q.Pods)
}

// Add adds q, of what else has to go, to p. A Lead that would overflow is MaxInt64.
func (p *Price) Add(q Price) {
	if q.Lead > 0 && p.Lead > math.MaxInt64-q.Lead {
		p.Lead = math.MaxInt64
	} else {
		p.Lead += q.Lead
	}
	p.Violations += q.Violations
	p.Highest = max(p.Highest, q.Highest)
	p.Sum += q.Sum
	p.Pods += q.Pods
}

// LeastDisruption places each member where the least has to go for it, the first
// node by name among equals; large members first.
type LeastDisruption struct{}

// Pack fills one node after the other: those that hold members already, then the
// one with room for the most.
type Pack struct{}

// Spread puts members on as many nodes as it can: the one with the fewest members,
// then with room for the most.
type Spread struct{}

// rank orders nodes for the next member; smaller comes first, then the node's number.
type rank struct {
	price       Price
	first, then int64
}

func (r rank) compare(o rank) int {
	if c := r.price.Compare(o.price); c != 0 {
		return c
	}
	if r.first != o.first {
		return cmp.Compare(r.first, o.first)
	}
	return cmp.Compare(r.then, o.then)
}

// Place places as the type says.
func (LeastDisruption) Place(t *GangTrial, d *Domain, offers Offers, members []MemberID, most int) int {
	g := greedy{t: t, d: d, taken: offers.Taken, rank: func(m MemberID, n cluster.NodeID) rank {
		return rank{price: offers.Price(m, n)}
	}}
	return g.place(members, most)
}

// Place places as the type says.
func (Pack) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	g := greedy{t: t, d: d, rank: func(m MemberID, n cluster.NodeID) rank {
		return rank{first: -int64(len(t.on[n])), then: -t.slots(m, n)}
	}}
	return g.place(members, most)
}

// Place places as the type says.
func (Spread) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	g := greedy{t: t, d: d, rank: func(m MemberID, n cluster.NodeID) rank {
		return rank{first: int64(len(t.on[n])), then: -t.slots(m, n)}
	}}
	return g.place(members, most)
}

// slots is how many members like m the free room of node n takes.
func (t *GangTrial) slots(m MemberID, n cluster.NodeID) int64 {
	free, member := t.Free(n), t.members[m]
	most := int64(math.MaxInt64)
	for _, r := range member.asks {
		most = min(most, max(free[r], 0)/member.request[r])
	}
	return most
}

// greedy places one member after the other on the node of the least rank.
type greedy struct {
	t     *GangTrial
	d     *Domain
	rank  func(MemberID, cluster.NodeID) rank
	taken func(MemberID, cluster.NodeID) []cluster.NodeID

	queue offerQueue
}

// offer is a node with its rank when it was put into the queue.
type offer struct {
	rank rank
	node cluster.NodeID
}

type offerQueue []offer

func (q offerQueue) Len() int { return len(q) }
func (q offerQueue) Less(i, j int) bool {
	if c := q[i].rank.compare(q[j].rank); c != 0 {
		return c < 0
	}
	return q[i].node < q[j].node
}
func (q offerQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *offerQueue) Push(x any)   { *q = append(*q, x.(offer)) }
func (q *offerQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// place takes the shapes of members from large to small and returns how many
// members found a place. O(shapes·nodes + members·log nodes) ranks.
func (g *greedy) place(members []MemberID, most int) int {
	placed := 0
	for _, shape := range g.t.byShape(members) {
		if placed == most {
			break
		}
		placed += g.placeShape(shape, most-placed)
	}
	return placed
}

// placeShape places members that no built-in check can tell apart.
func (g *greedy) placeShape(members []MemberID, most int) int {
	g.fill(members[0])
	placed := 0
	for _, m := range members {
		if placed == most {
			break
		}
		if len(g.t.states) > 0 && placed > 0 {
			g.fill(m) // constraints: what is placed may have opened or closed nodes
		}
		if g.placeOne(m) {
			placed++
		}
	}
	return placed
}

// fill queues every node of the domain that takes member m.
func (g *greedy) fill(m MemberID) {
	g.queue = g.queue[:0]
	for _, n := range g.d.Nodes {
		if g.t.CanPlace(m, n).OK() {
			g.queue = append(g.queue, offer{g.rank(m, n), n})
		}
	}
	heap.Init(&g.queue)
}

func (g *greedy) placeOne(m MemberID) bool {
	for len(g.queue) > 0 {
		top := g.queue[0]
		if !g.t.CanPlace(m, top.node).OK() {
			heap.Pop(&g.queue)
			continue
		}
		if now := g.rank(m, top.node); now.compare(top.rank) > 0 {
			g.queue[0].rank = now
			heap.Fix(&g.queue, 0)
			continue
		}
		g.t.Place(m, top.node)
		if g.taken != nil {
			for _, n := range g.taken(m, top.node) {
				if _, in := slices.BinarySearch(g.d.Nodes, n); in && g.t.CanPlace(m, n).OK() {
					heap.Push(&g.queue, offer{g.rank(m, n), n})
				}
			}
		}
		return true
	}
	return false
}

// byShape groups members by shape, those that ask for the largest part of a node
// first, then in order of MemberID.
func (t *GangTrial) byShape(members []MemberID) [][]MemberID {
	var groups [][]MemberID
	at := map[int]int{}
	for _, m := range members {
		i, seen := at[t.shapes[m]]
		if !seen {
			i = len(groups)
			at[t.shapes[m]] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	slices.SortStableFunc(groups, func(a, b []MemberID) int {
		return cmp.Compare(t.largeness(b[0]), t.largeness(a[0]))
	})
	return groups
}

// largeness is the largest part, in millionths, that m asks for of the most that
// any node offers of a resource.
func (t *GangTrial) largeness(m MemberID) int64 {
	most := t.offered()
	var largest int64
	for _, r := range t.members[m].asks {
		if r != cluster.PodsColumn && most[r] > 0 {
			hi, lo := bits.Mul64(uint64(t.members[m].request[r]), 1_000_000)
			if hi >= uint64(most[r]) {
				return math.MaxInt64
			}
			part, _ := bits.Div64(hi, lo, uint64(most[r]))
			largest = max(largest, int64(min(part, math.MaxInt64)))
		}
	}
	return largest
}

// offered is the most that any node offers of each resource.
func (t *GangTrial) offered() []int64 {
	if t.most == nil {
		t.most = make([]int64, t.ix.NumResources())
		for n := range cluster.NodeID(t.ix.NumNodes()) {
			for r, v := range t.ix.Allocatable(n) {
				t.most[r] = max(t.most[r], v)
			}
		}
	}
	return t.most
}
