package counting

import (
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/heaps"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// joint places members in a domain where units have pods on several nodes, so that
// whoever goes for a member on one node is gone on the others, too.
type joint struct {
	*attempt
	*jointTools
}

// jointTools are the buffers of a joint; they are reused.
type jointTools struct {
	seen    []int32 // by unit: the number of the count in which it was
	counts  int32
	broken  []int32          // by unit of several pods: on how many nodes it has to go
	lost    []victims.UnitID // those for which that was above zero; they may be there twice
	queue   domain.SeatQueue // nodes with what one more member there cost when they were put in; only the latest offer of each counts
	offers  []int32          // by position: the number of that offer
	offered int32            // the number of the latest of all
	most    *domain.Price    // a first member costs more on nodes that are offered later; nil: there are none
	later   []int32          // which are these
	dearest []domain.Price   // a heap: what a first member costs on some others, the dearest first
	booked  []int32          // by position: which of nodes it is and 1; 0: no member is there
	nodes   []bookedNode
	fresh   []bool // by position: among reached
	reached []int32
	losses  *columns.Losses
	giving  *columns.Joint
}

// bookedNode is a node with members on it.
type bookedNode struct {
	at, k int32
	out   columns.PositionSet // who has to go for them
}

// countJoint counts the potential victims on node n that were not counted in this domain
// before, as long as there may be checks for better placements; ok is false if there is more to them than their numbers of pods.
func (t *attempt) countJoint(n cluster.NodeID) (units int, ok bool) {
	if !t.Columns.Joint(n) {
		return 0, false
	}
	j := &t.tools.joint
	if !t.joint {
		t.joint = true
		j.seen = grown(j.seen, t.Units.Len())
		j.counts++
		if j.losses == nil {
			j.losses = columns.NewLosses(t.Units)
		}
		j.losses.Forget()
	}
	if t.shared && t.potential > t.Checks/t.shares {
		return 0, true
	}
	at, on := t.Columns.At(n), t.Units.On(n)
	first, end := at.Below(t.Priority)
	units = int(end - first)
	for w := first / 64; w*64 < end; w++ {
		for word := at.WordOfSeveral(w, first, end); word != 0; word &= word - 1 {
			t.shared = true
			if u := on[int(w)*64+bits.TrailingZeros64(word)]; j.seen[u] == j.counts {
				units--
			} else {
				j.seen[u] = j.counts
			}
		}
	}
	return units, true
}

// leastJoint is least where units have several pods: nodes become cheaper when members
// elsewhere have made units go that are here, too.
func (t *attempt) leastJoint(k int) []int32 {
	j := &joint{t, &t.tools.joint}
	j.broken, j.nodes = grown(j.broken, t.Units.Len()), j.nodes[:0]
	j.queue.Reset(domain.Free.Highest)
	j.offered = 0
	j.booked, j.fresh = grown(j.booked, len(t.slots)), grown(j.fresh, len(t.slots))
	j.offers = grown(j.offers, len(t.slots))
	j.offerFirsts(k)
	if t.climbs() {
		j.noteCheapest()
	}
	seq := make([]int32, 0, k)
	for len(seq) < k {
		seq = append(seq, j.next(k))
	}
	for _, u := range j.lost {
		j.broken[u] = 0
	}
	for i := range j.nodes {
		j.booked[j.nodes[i].at] = 0
	}
	j.lost = j.lost[:0]
	return seq
}

// offerFirsts offers a first member on every node that takes one, but on those where it costs more than on at least so many
// others: on these later. Where budgets may be violated, what it costs depends on who goes elsewhere.
func (j *joint) offerFirsts(wanted int) {
	j.most, j.later, j.dearest = nil, j.later[:0], j.dearest[:0]
	for at, slots := range j.slots {
		if slots == 0 {
			continue
		}
		price, _ := j.seats.Evict(j.node(int32(at)), 1, j.losses, nil, j.most)
		if j.most != nil && price.Compare(*j.most) > 0 {
			j.offers[at], j.later = 0, append(j.later, int32(at))
			continue
		}
		j.push(price, int32(at))
		if j.harmful || j.most != nil && price == *j.most {
			continue
		}
		if j.dearest = heaps.Push(j.dearest, price, dearestFirst); len(j.dearest) > wanted {
			j.dearest = heaps.Pop(j.dearest, dearestFirst)
		}
		if len(j.dearest) == wanted {
			j.most = &j.dearest[0]
		}
	}
}

func dearestFirst(a, b *domain.Price) int { return b.Compare(*a) }

// least is the least offer. The others are offered before one is taken that costs more than most.
func (j *joint) least() (domain.SeatOffer, bool) {
	least, ok := j.queue.Least()
	if j.most == nil || ok && least.Price.Compare(j.queue.Adds(*j.most)) <= 0 {
		return least, ok
	}
	j.most = nil
	for _, at := range j.later {
		if j.offers[at] == 0 {
			j.push(j.price(at), at)
		}
	}
	j.later = j.later[:0]
	return j.queue.Least()
}

// noteCheapest notes the nodes on which a first member costs least, while all that take one are in the queue.
func (j *joint) noteCheapest() {
	j.costs = j.costs[:0]
	var list []domain.SeatOffer
	for o, ok := j.least(); ok && len(list) < ClimbNodes; o, ok = j.least() {
		j.queue.Drop()
		list, j.costs = append(list, o), append(j.costs, nodeCost{at: o.At})
	}
	for _, o := range list {
		j.queue.Push(o)
	}
	j.cheapest = j.costs
}

// next takes the node on which one more member of all costs least, and looks further among equals.
func (j *joint) next(all int) int32 {
	for {
		j.goOn()
		least, _ := j.least()
		j.queue.Drop()
		if least.K != j.offers[least.At] {
			continue
		}
		if all > 1 && least.Blind() {
			j.foresee(&least, all)
			j.queue.Push(least)
			continue
		}
		price := j.price(least.At)
		if now := j.queue.Adds(price); now.Compare(least.Price) > 0 {
			j.push(price, least.At)
			continue
		}
		j.queue.Take(price)
		j.take(least.At)
		return least.At
	}
}

// push offers one more member on a node at a price, in place of what was offered there before.
func (j *joint) push(price domain.Price, at int32) {
	j.offered++
	j.offers[at] = j.offered
	j.queue.Push(domain.SeatOffer{Price: price, At: at, K: j.offered})
}

// foresee looks at the members after the next on the node of o, of all that are to be placed.
func (j *joint) foresee(o *domain.SeatOffer, all int) {
	n, k := j.node(o.At), int64(j.on(o.At))+1
	single, slots := j.seats.Single(n), j.slots[o.At]
	o.Foresee(int64(all)-1, func(more int64) (price domain.Price, told bool) {
		if !single || k+more > slots {
			return price, false
		}
		if price, _ = j.seats.Evict(n, k+more, j.losses, nil, nil); more == 0 && !j.harmful {
			slots = j.seats.SlotsUpTo(n, price.Highest)
		}
		return price, true
	})
}

// on is how many members are on a node.
func (j *joint) on(at int32) int32 {
	if i := j.booked[at]; i > 0 {
		return j.nodes[i-1].k
	}
	return 0
}

// price is what one more member on a node costs; see [domain.Offers].
func (j *joint) price(at int32) domain.Price {
	n, booked := j.node(at), bookedNode{}
	if i := j.booked[at]; i > 0 {
		booked = j.nodes[i-1]
	}
	j.mark(n, &booked.out, -1)
	price, _ := j.seats.Evict(n, int64(booked.k)+1, j.losses, j.broken, nil)
	before := j.seats.Lost(n, &booked.out, j.losses, j.broken)
	j.mark(n, &booked.out, +1)
	return price.Minus(before)
}

// mark lets the units of several pods on positions of a node have to go on so many nodes more.
func (j *joint) mark(n cluster.NodeID, out *columns.PositionSet, more int32) {
	j.each(n, out, func(g victims.Position) { j.broken[j.Columns.Unit(n, g)] += more })
}

// take puts a member on a node, and the nodes that become cheaper by that into the queue
// once more; see [domain.Offers].
func (j *joint) take(at int32) {
	if j.booked[at] == 0 {
		j.nodes = append(j.nodes, bookedNode{at: at})
		j.booked[at] = int32(len(j.nodes))
	}
	b, n := &j.nodes[j.booked[at]-1], j.node(at)
	j.mark(n, &b.out, -1)
	b.k++
	before := b.out
	_, b.out = j.seats.Evict(n, int64(b.k), j.losses, j.broken, nil)
	j.reached, j.fresh[at] = append(j.reached[:0], at), true
	j.each(n, &b.out, func(g victims.Position) {
		u := j.Columns.Unit(n, g)
		if j.broken[u]++; j.broken[u] > 1 {
			return
		}
		j.lost = append(j.lost, u)
		if !before.Has(g) {
			j.reachFrom(u)
		}
	})
	for _, at := range j.reached {
		j.fresh[at] = false
		if int64(j.on(at)) < j.slots[at] {
			j.push(j.price(at), at)
		}
	}
}

// each calls f for the positions of set on a node whose units have several pods.
func (j *joint) each(n cluster.NodeID, set *columns.PositionSet, f func(victims.Position)) {
	at := j.Columns.At(n)
	for w, end := victims.Position(0), victims.Position(len(at.Levels)); w*64 < end; w++ {
		for word := set[w] & at.WordOfSeveral(w, 0, end); word != 0; word &= word - 1 {
			f(w*64 + victims.Position(bits.TrailingZeros64(word)))
		}
	}
}

// reachFrom notes the nodes of the domain on which unit u has pods.
func (j *joint) reachFrom(u victims.UnitID) {
	for _, p := range j.Units.Unit(u).Pods {
		if at, in := slices.BinarySearch(j.domain.Nodes, j.Index.NodeOf(p)); in && !j.fresh[at] {
			j.fresh[at] = true
			j.reached = append(j.reached, int32(at))
		}
	}
}

// giveBack is weigh where units have several pods.
func (t *attempt) giveBack(seq []int32) *draft {
	j := &t.tools.joint
	if j.giving == nil {
		j.giving = columns.NewJoint(t.seats, t.Units, j.losses)
	}
	j.giving.Reset()
	p := t.draft(seq)
	p.known = true
	for _, s := range p.spots {
		j.giving.Add(t.node(s.at), int64(s.k))
	}
	j.giving.GiveBack()
	p.price, p.start, p.tried = j.giving.Price, j.giving.Started, j.giving.Tried
	p.lost = append(p.lost, j.giving.Lost...)
	p.losses.list = p.lost
	if len(p.losses.list) > 0 { // the score tells of the first of them, the price of all
		first := t.Units.Unit(t.mostImportant(p.losses.list)).Pods[0]
		p.price.Highest = int64(t.Index.Priority(first))
	}
	return p
}

// mostImportant is the first of list, which is not empty, in order of importance.
func (t *attempt) mostImportant(list []victims.Marked) victims.UnitID {
	most := t.Units.Importance(list[0].Unit)
	for _, m := range list[1:] {
		if i := t.Units.Importance(m.Unit); t.Units.CompareImportance(&i, &most) < 0 {
			most = i
		}
	}
	return most.Unit
}
