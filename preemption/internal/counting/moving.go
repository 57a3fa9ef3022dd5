package counting

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/heaps"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// moving gives back while the members may move, so that slots are what counts.
// Who returns and takes no slot away returns whatever happens elsewhere; those who do
// take some are looked at in order of importance.
type moving struct {
	*attempt
	*movingTools
	need    int64 // slots that have to stay
	total   int64 // and those there are
	lost    []lostRung
	harmful bool // the pass over those whose loss violates a budget
}

// movingTools are the buffers of a moving; they are reused.
type movingTools struct {
	nodes []movingNode
	rooms []uint64 // by position: see movingNode.open
	queue []movingUnit
}

// movingNode is a node on which everybody before next has been decided on.
type movingNode struct {
	slots     int64
	next, end victims.Position
	open      bool // rooms has what is free there, packed; otherwise everybody before next is in place
	decided   bool // somebody who takes a slot has returned, or stays out
	over      bool // everybody has been decided on
}

// movingUnit is the next unit of a node that takes slots away.
type movingUnit struct {
	victims.Importance
	at int32
}

// moving is the reprieve of k members that may move.
func (t *attempt) moving(k int) {
	m := &moving{attempt: t, movingTools: &t.tools.moving, need: int64(k)}
	t.checks += t.potential // each of them is tried
	t.top = &draft{price: domain.Free, start: math.MaxInt64, known: true}
	m.nodes, m.rooms = zeroed(m.nodes, len(t.slots)), m.rooms[:0]
	for at, slots := range t.slots {
		n := &m.nodes[at]
		if n.slots = min(slots, m.need); n.slots > 0 && t.harmful {
			m.openUp(int32(at))
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
	if !t.Brief {
		t.top.spots = t.spots(nil, t.top.seq)
		t.top.losses = m.losses()
	}
}

// pass decides on those whose loss violates a budget, or on the others.
func (m *moving) pass(harmful bool) {
	m.harmful, m.queue = harmful, m.queue[:0]
	for at := range m.nodes {
		n := &m.nodes[at]
		if n.slots == 0 || n.over {
			continue
		}
		n.next, n.end = m.seats.Positions(m.node(int32(at)))
		if m.advance(int32(at)) {
			m.queue = append(m.queue, m.unit(int32(at)))
		}
	}
	compare := func(a, b *movingUnit) int { return m.Units.CompareImportance(&a.Importance, &b.Importance) }
	if m.single() {
		m.returnMost(compare)
	} else {
		heaps.Init(m.queue, compare)
	}
	for m.total > m.need && len(m.queue) > 0 {
		m.goOn()
		at := m.queue[0].at
		m.decide(at)
		if m.nodes[at].slots > 0 && m.advance(at) {
			m.queue[0] = m.unit(at)
		} else {
			last := len(m.queue) - 1
			m.queue[0] = m.queue[last]
			m.queue = m.queue[:last]
		}
		heaps.Down(m.queue, 0, compare)
	}
	for i := range m.queue { // nobody takes a slot from now on
		m.finish(m.queue[i].at)
	}
}

// single reports whether every node of the queue has one slot.
func (m *moving) single() bool {
	return !slices.ContainsFunc(m.queue, func(u movingUnit) bool { return m.nodes[u.at].slots > 1 })
}

// returnMost lets as many units return as there are slots to spare, on nodes that have
// one each: they need not be put in order for that.
func (m *moving) returnMost(compare func(a, b *movingUnit) int) {
	spare := int(min(m.total-m.need, int64(len(m.queue))))
	selectLeast(m.queue, spare, compare)
	for _, u := range m.queue[:spare] {
		m.nodes[u.at].slots, m.nodes[u.at].decided = 0, true
	}
	m.total -= int64(spare)
	m.queue = append(m.queue[:0], m.queue[spare:]...)
}

// unit is the one at next.
func (m *moving) unit(at int32) movingUnit {
	return movingUnit{m.Units.Importance(m.Columns.Unit(m.node(at), m.nodes[at].next)), at}
}

// openUp notes what is free on a node before the unit at next.
func (m *moving) openUp(at int32) {
	n, node := &m.nodes[at], m.node(at)
	if n.open {
		return
	}
	if size := len(m.nodes) * m.words(); len(m.rooms) != size {
		m.rooms = slices.Grow(m.rooms[:0], size)[:size]
	}
	if n.end == 0 {
		n.next, n.end = m.seats.Positions(node)
	}
	copy(m.room(at), m.seats.Room(node, n.next))
	n.open = true
}

// advance returns units on a node until one takes slots away, and reports whether
// there is one.
func (m *moving) advance(at int32) bool {
	n, node := &m.nodes[at], m.node(at)
	if !n.open {
		n.next = m.seats.Stops(node, n.slots)
		return n.next < n.end
	}
	for room := m.room(at); n.next < n.end; n.next++ {
		if m.seats.Harms(node, n.next) != m.harmful {
			continue
		}
		m.seats.Take(room, node, n.next)
		if m.seats.SlotsOf(room) < n.slots {
			m.seats.Leave(room, node, n.next)
			return true
		}
	}
	return false
}

// decide lets the unit at next stay if enough slots are left then.
func (m *moving) decide(at int32) {
	n, node, spare := &m.nodes[at], m.node(at), m.total-m.need
	n.decided = true
	if n.slots == 1 && spare > 0 {
		m.total, n.slots = m.total-1, 0
		return
	}
	m.openUp(at)
	g, room := n.next, m.room(at)
	n.next++
	m.seats.Take(room, node, g)
	if left := min(m.seats.SlotsOf(room), m.need); n.slots-left <= spare {
		m.total, n.slots = m.total-n.slots+left, left
		return
	}
	m.seats.Leave(room, node, g)
	m.lose(at, g, m.harmful)
}

// finish decides on everybody who is left on a node, where no slot is to spare.
func (m *moving) finish(at int32) {
	n, node := &m.nodes[at], m.node(at)
	if n.decided {
		for more := true; more; more = m.advance(at) {
			m.decide(at)
		}
		return
	}
	n.over = true // its slots hold members; who returns beside these is a matter of the node
	if m.Brief && m.domains == 1 {
		m.top.price.Add(m.seats.Cost(node, n.slots).Price())
		return
	}
	for _, g := range m.seats.Victims(node, n.slots) {
		m.lose(at, g, m.seats.Harms(node, g))
	}
}

func (m *moving) words() int { return len(m.seats.One().Words) }

func (m *moving) room(at int32) []uint64 {
	words := m.words()
	return m.rooms[int(at)*words:][:words]
}

// lostRung is a unit that goes.
type lostRung struct {
	at       int32
	position victims.Position
	harms    bool
}

// lose notes that the unit on a position goes.
func (m *moving) lose(at int32, g victims.Position, harms bool) {
	positions, p := m.Columns.AtSimple(m.node(at)), m.top
	own := int64(positions.Owns[g])
	if own > p.price.Highest {
		p.price.Highest, p.start = own, math.MaxInt64
	}
	if own == p.price.Highest {
		p.start = min(p.start, int64(positions.Started[g]))
	}
	p.price.Sum += priority.Raised(int32(own))
	p.price.Pods++
	if harms {
		p.price.Violations++
	}
	if !m.Brief {
		m.lost = append(m.lost, lostRung{at, g, harms})
	}
}

// losses are those who go; the members are seated.
func (m *moving) losses() (l losses) {
	for _, s := range m.top.spots {
		m.count[s.at] = s.k
	}
	l.list, l.short = make([]victims.Marked, 0, len(m.lost)), make([]columns.Shortage, 0, len(m.lost))
	last := int32(-1)
	for _, x := range m.lost {
		why := columns.Shortage{Alone: true}
		if k := int64(m.count[x.at]); k > 0 {
			switch n := m.node(x.at); {
			case x.at == last:
			case m.nodes[x.at].over:
				m.seats.Victims(n, k)
			default:
				m.seats.Beside(n, k, m.room(x.at))
			}
			last = x.at
			why = m.seats.Short(x.position)
		}
		l.add(m.Columns.Unit(m.node(x.at), x.position), x.harms, why)
	}
	for _, s := range m.top.spots {
		m.count[s.at] = 0
	}
	return l
}
