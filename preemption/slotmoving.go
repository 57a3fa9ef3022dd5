package preemption

import (
	"container/heap"
	"math"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// slotMoving gives back while the members may move, so that slots are what counts.
// Who returns and takes no slot away returns whatever happens elsewhere; those who do
// take some are looked at in order of importance.
type slotMoving struct {
	*slotTry
	need  int64 // slots that have to stay
	total int64 // and those there are
	nodes []movingNode
	words int
	rooms []uint64 // by position: what is free there, packed
	queue []int32  // positions whose next unit takes slots away, the most important such unit first

	lost    []lostRung
	harmful bool // the pass over those whose loss violates a budget
}

// movingNode is a node on which everybody before next has been decided on.
type movingNode struct {
	slots, then int64 // as things stand, and with the unit at next back
	next, end   victims.Rung
	unit        victims.UnitID // at next, where it takes slots away
}

// lostRung is a unit that goes.
type lostRung struct {
	at    int32
	rung  victims.Rung
	harms bool
}

// moving is the reprieve of k members that may move.
func (t *slotTry) moving(k int) {
	m := &slotMoving{slotTry: t, need: int64(k)}
	if t.rules.members == MinCount {
		m.need = int64(t.leaf.need())
	}
	t.checks += t.potential // each of them is tried
	t.top = &slotPlan{price: domain.Free, start: math.MaxInt64, known: true}
	m.nodes = make([]movingNode, len(t.slots))
	for at, slots := range t.slots {
		n := &m.nodes[at]
		if n.slots = min(slots, m.need); n.slots > 0 {
			n.next, n.end = t.seats.Rungs(t.node(int32(at)))
			room := t.seats.Room(t.node(int32(at)), n.next)
			if m.rooms == nil {
				m.words = len(room)
				m.rooms = make([]uint64, len(t.slots)*m.words)
			}
			copy(m.room(int32(at)), room)
		}
		m.total += n.slots
	}
	if t.harmful {
		m.pass(true)
	}
	m.pass(false)
	for at := range m.nodes {
		for range min(m.nodes[at].slots, m.need-int64(len(t.top.seq))) {
			t.top.seq = append(t.top.seq, int32(at))
		}
	}
	if !t.brief {
		t.top.spots = t.spots(t.top.seq)
		t.top.losses = m.losses()
	}
}

// pass decides on those whose loss violates a budget, or on the others.
func (m *slotMoving) pass(harmful bool) {
	m.harmful, m.queue = harmful, m.queue[:0]
	for at := range m.nodes {
		n := &m.nodes[at]
		if n.slots == 0 {
			continue
		}
		n.next, n.end = m.seats.Rungs(m.node(int32(at)))
		if m.advance(int32(at)) {
			m.queue = append(m.queue, int32(at))
		}
	}
	heap.Init(m)
	for m.total > m.need && len(m.queue) > 0 {
		at := m.queue[0]
		m.decide(at)
		if m.nodes[at].slots > 0 && m.advance(at) {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
	}
	for _, at := range m.queue { // nobody takes a slot from now on
		m.decide(at)
		for m.advance(at) {
			m.decide(at)
		}
	}
}

// advance returns units on a node until one takes slots away, and reports whether
// there is one.
func (m *slotMoving) advance(at int32) bool {
	n := &m.nodes[at]
	node, room := m.node(at), m.room(at)
	for ; n.next < n.end; n.next++ {
		if m.seats.Harms(node, n.next) != m.harmful {
			continue
		}
		m.seats.Take(room, node, n.next)
		if n.then = min(m.seats.SlotsOf(room), m.need); n.then < n.slots {
			n.unit = m.ladder.Unit(node, n.next)
			return true // and stays until decide
		}
	}
	return false
}

// decide lets the unit at next stay if enough slots are left then.
func (m *slotMoving) decide(at int32) {
	n, node := &m.nodes[at], m.node(at)
	g := n.next
	n.next++
	if lost := n.slots - n.then; lost <= m.total-m.need {
		m.total -= lost
		n.slots = n.then
		return
	}
	m.seats.Leave(m.room(at), node, g)
	m.lose(at, g)
}

// lose notes that the unit on a rung goes.
func (m *slotMoving) lose(at int32, g victims.Rung) {
	rungs, p := m.ladder.AtSimple(m.node(at)), m.top
	own := int64(rungs.Owns[g])
	if own > p.price.Highest {
		p.price.Highest, p.start = own, math.MaxInt64
	}
	if own == p.price.Highest {
		p.start = min(p.start, int64(rungs.Started[g]))
	}
	p.price.Sum += own + 1<<31
	p.price.Pods++
	if m.harmful {
		p.price.Violations++
	}
	if !m.brief {
		m.lost = append(m.lost, lostRung{at, g, m.harmful})
	}
}

// losses are those who go; the members are seated.
func (m *slotMoving) losses() (l slotLosses) {
	for _, s := range m.top.spots {
		m.count[s.at] = s.k
	}
	l.list, l.short = make([]victims.Marked, 0, len(m.lost)), make([]reprieve.Shortage, 0, len(m.lost))
	for _, x := range m.lost {
		why := reprieve.Shortage{Alone: true}
		if k := m.count[x.at]; k > 0 {
			m.seats.Beside(m.node(x.at), int64(k), m.room(x.at))
			why = m.seats.Short(x.rung)
		}
		l.add(m.ladder.Unit(m.node(x.at), x.rung), x.harms, why)
	}
	for _, s := range m.top.spots {
		m.count[s.at] = 0
	}
	return l
}

func (m *slotMoving) room(at int32) []uint64 { return m.rooms[int(at)*m.words:][:m.words] }

// Len, Less, Swap, Push and Pop make the queue a heap.
func (m *slotMoving) Len() int { return len(m.queue) }
func (m *slotMoving) Less(i, j int) bool {
	return m.units.Compare(m.nodes[m.queue[i]].unit, m.nodes[m.queue[j]].unit) < 0
}
func (m *slotMoving) Swap(i, j int) { m.queue[i], m.queue[j] = m.queue[j], m.queue[i] }
func (m *slotMoving) Push(x any)    { m.queue = append(m.queue, x.(int32)) }
func (m *slotMoving) Pop() any {
	last := m.queue[len(m.queue)-1]
	m.queue = m.queue[:len(m.queue)-1]
	return last
}
