package quotasearch

import (
	"math"
	"slices"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rule says which workloads a preemptor may evict, by priority. The zero
// Rule allows nobody.
type Rule struct {
	allowed bool
	below   int64 // priorities below this may go
	equal   bool  // and this one, if they are
	newer   int64 // newer than this
}

// NewRule returns what policy allows a preemptor of that priority and age
// (see [quota.Reservation]).
func NewRule(policy cluster.QueuePolicy, priority, ordered int64) Rule {
	switch policy {
	case cluster.AnyPriority, cluster.ReclaimFromAny:
		return Rule{allowed: true, below: math.MaxInt64}
	case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
		return Rule{allowed: true, below: priority}
	case cluster.LowerOrNewerEqualPriority:
		return Rule{allowed: true, below: priority, equal: true, newer: ordered}
	}
	return Rule{}
}

// Below narrows the rule to priorities below that given.
func (q Rule) Below(priority int64) Rule {
	if priority <= q.below {
		q.below, q.equal = priority, false
	}
	return q
}

// Nobody reports whether the rule allows nobody whatever the priority.
func (q Rule) Nobody() bool { return !q.allowed }

// Allows reports whether r may be evicted. Of two workloads of equal priority and
// age, neither may evict the other.
func (q Rule) Allows(r *quota.Reservation) bool {
	return q.allowed && (r.Priority < q.below || q.equal && r.Priority == q.below && r.Ordered > q.newer)
}

// beyond reports whether no workload of r's priority or higher may be evicted.
func (q Rule) beyond(r *quota.Reservation) bool {
	return r.Priority > q.below || r.Priority == q.below && !q.equal
}

// Walk visits, in order, the workloads of one queue that use a contested
// flavor-resource and that a rule allows to evict. It reads ahead a few at a time.
// The reservations must not change meanwhile. The zero Walk is at its end.
type Walk struct {
	rule   Rule
	skip   map[*quota.Reservation]bool
	sides  []side
	at     int  // the side that goes first
	on     bool // there is one
	sorted bool // by priority before all else: the first that is too high ends it
	equals bool // the preemptor's own priority is reached, and enterEquals was called
}

// side is the walk over one flavor-resource. A workload may be on several sides,
// at the head of all of them at once then, for all are in one order.
type side struct {
	tree *btree.BTreeG[entry]
	ages *btree.BTreeG[entry] // nil: not kept
	buf  []entry
	next int
	read int
	more bool
}

// Walk visits the reservations of queue q that use one of columns: those that are
// evicted already, or the others. skip lists workloads to pass over; nil is none.
func (rs *Reservations) Walk(q quota.HolderID, columns []quota.ColumnID, evicted bool, rule Rule, skip map[*quota.Reservation]bool) Walk {
	var w Walk
	w.Start(rs, q, columns, evicted, rule, skip)
	return w
}

// Start makes w the walk that [Reservations.Walk] returns, with the memory that w has
// from earlier walks. w must not be a copy of a walk that is still in use.
func (w *Walk) Start(rs *Reservations, q quota.HolderID, columns []quota.ColumnID, evicted bool, rule Rule, skip map[*quota.Reservation]bool) {
	*w = Walk{rule: rule, skip: skip, sides: w.sides[:0], sorted: rs.order.byPriority() && !rs.byLocal[q]}
	if rule.Nobody() {
		return
	}
	if rs.few != nil {
		w.startFew(rs.few, q, columns, evicted)
		return
	}
	trees, ages := rs.trees[stage(evicted)][int(q)*rs.numColumns:], rs.ages[stage(evicted)][int(q)*rs.numColumns:]
	for _, c := range columns {
		if t := trees[c]; t != nil && t.Len() > 0 {
			n := len(w.sides)
			w.sides = slices.Grow(w.sides, 1)[:n+1]
			s := &w.sides[n]
			*s = side{tree: t, ages: ages[c], buf: s.buf, more: true}
			s.fill(nil)
		}
	}
	w.first()
	w.settle()
}

// startFew is Start over a list, which is one side.
func (w *Walk) startFew(few []entry, q quota.HolderID, columns []quota.ColumnID, evicted bool) {
	w.sides = slices.Grow(w.sides, 1)[:1]
	s := &w.sides[0]
	*s = side{buf: s.buf[:0]}
	for i := range few {
		r := few[i].r
		if r.Queue == q && r.Evicted == evicted && slices.ContainsFunc(columns, r.Uses) {
			s.buf = append(s.buf, few[i])
		}
	}
	w.first()
	w.settle()
}

// Stop moves w to its end.
func (w *Walk) Stop() { *w = Walk{sides: w.sides[:0]} }

// Peek returns the workload that the walk is at; nil at its end.
func (w *Walk) Peek() *quota.Reservation {
	if !w.on {
		return nil
	}
	return w.head().r
}

// head is the entry of the workload that the walk is at, which is not its end.
func (w *Walk) head() *entry {
	s := &w.sides[w.at]
	return &s.buf[s.next]
}

// Next moves on.
func (w *Walk) Next() {
	w.pass()
	w.settle()
}

// Before reports whether w's workload goes before that of o, be they of one queue
// or not. Neither walk may be at its end.
func (w *Walk) Before(o *Walk) bool { return w.head().compare(o.head()) < 0 }

// settle moves to the next workload that may be evicted.
func (w *Walk) settle() {
	for ; w.on; w.pass() {
		switch r := w.head().r; {
		case w.rule.Allows(r) && (len(w.skip) == 0 || !w.skip[r]):
			return
		case w.sorted && w.rule.beyond(r):
			w.on = false
			return
		case w.sorted && r.Priority == w.rule.below && !w.equals:
			w.enterEquals()
		}
	}
}

// fewNewer is how many workloads are looked up by age rather than met in order.
const fewNewer = 64

// enterEquals is called at the first workload of the preemptor's own priority that
// may not go. Where few of them are newer than the preemptor, those are looked up,
// instead of all being passed.
func (w *Walk) enterEquals() {
	w.equals = true
	for i := range w.sides {
		s := &w.sides[i]
		if s.ages == nil || s.head() == nil {
			continue
		}
		var newer []entry
		from := entry{r: &quota.Reservation{Priority: w.rule.below, Ordered: math.MaxInt64, Workload: &cluster.Workload{}}}
		for k := range from.keys {
			from.keys[k] = math.MinInt64 // before all of this priority and age
		}
		s.ages.AscendGreaterOrEqual(from, func(e entry) bool {
			if e.r.Priority != w.rule.below || e.r.Ordered <= w.rule.newer {
				return false
			}
			newer = append(newer, e)
			return len(newer) <= fewNewer
		})
		if len(newer) > fewNewer {
			continue
		}
		head := *s.head()
		newer = slices.DeleteFunc(newer, func(e entry) bool { return e.compareLocal(&head) <= 0 }) // it, and what is behind
		slices.SortFunc(newer, func(a, b entry) int { return a.compareLocal(&b) })
		s.buf, s.next, s.more = append(append(s.buf[:0], head), newer...), 0, false
	}
	w.first()
}

// first finds the side whose head goes first.
func (w *Walk) first() {
	w.on = false
	for i := range w.sides {
		s := &w.sides[i]
		if s.head() != nil && (!w.on || s.head().compareLocal(w.head()) < 0) {
			w.at, w.on = i, true
		}
	}
}

// pass leaves the present workload behind on every side.
func (w *Walk) pass() {
	if len(w.sides) == 1 {
		s := &w.sides[0]
		s.advance()
		w.on = s.next < len(s.buf)
		return
	}
	r := w.head().r
	for i := range w.sides {
		if s := &w.sides[i]; s.head() != nil && s.head().r == r {
			s.advance()
		}
	}
	w.first()
}

func (s *side) head() *entry {
	if s.next == len(s.buf) {
		return nil
	}
	return &s.buf[s.next]
}

func (s *side) advance() {
	if s.next++; s.next == len(s.buf) && s.more {
		last := s.buf[s.next-1]
		s.fill(&last)
	}
}

// fill reads the next entries after the last one, the more the longer the walk.
func (s *side) fill(last *entry) {
	n := min(max(4, 3*s.read), 256)
	s.buf, s.next, s.more = slices.Grow(s.buf[:0], n), 0, false
	read := func(e entry) bool {
		if last != nil && e.r == last.r {
			return true
		}
		s.buf = append(s.buf, e)
		s.more = len(s.buf) == n
		return !s.more
	}
	if last == nil {
		s.tree.Ascend(read)
	} else {
		s.tree.AscendGreaterOrEqual(*last, read)
	}
	s.read += len(s.buf)
}

// runner is the walk over one queue in a race.
type runner struct {
	other int // position among the other queues; -1: the preemptor's own
	walk  Walk
}

// race merges the walks over several queues: a heap by the workloads they are at.
type race struct {
	heap []*runner
	all  []*runner // reused from race to race; in this one those up to used
	used int
}

func (r *race) reset() { r.heap, r.used = r.heap[:0], 0 }

func (r *race) len() int { return len(r.heap) }

// first is the walk whose workload goes first.
func (r *race) first() *runner { return r.heap[0] }

// spare returns a runner for the walk over a queue. Once its walk is started, it is
// entered.
func (r *race) spare(other int) *runner {
	if r.used == len(r.all) {
		r.all = append(r.all, &runner{})
	}
	w := r.all[r.used]
	w.other = other
	return w
}

// enter lets the runner that was spare take part, unless its walk is at its end.
func (r *race) enter() {
	w := r.all[r.used]
	if w.walk.Peek() == nil {
		return
	}
	r.used++
	r.heap = append(r.heap, w)
	for i := len(r.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !r.heap[i].walk.Before(&r.heap[up].walk) {
			return
		}
		r.heap[i], r.heap[up] = r.heap[up], r.heap[i]
		i = up
	}
}

// step moves the first walk on.
func (r *race) step() {
	if r.heap[0].walk.Next(); r.heap[0].walk.Peek() == nil {
		r.drop()
		return
	}
	r.sink()
}

// drop takes the first walk out.
func (r *race) drop() {
	last := len(r.heap) - 1
	r.heap[0] = r.heap[last]
	r.heap = r.heap[:last]
	r.sink()
}

func (r *race) sink() {
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(r.heap) && r.heap[child].walk.Before(&r.heap[least].walk) {
				least = child
			}
		}
		if least == i {
			return
		}
		r.heap[i], r.heap[least] = r.heap[least], r.heap[i]
		i = least
	}
}
