package proving

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// stage looks for a contradiction in that victims have at most so much of a criterion, and no more
// than bound of those before it.
type stage struct {
	*prover
	*ground
	k     int
	most  int64
	state []state // by item
	left  int     // how many cases may still be looked at
	cases []Case
	none  bool // somebody has to go and to stay
	last  balance
}

// state is what is known of an item.
type state int8

const (
	open   state = iota
	goes         // in this case
	stays        // likewise
	barred       // it never goes: victims with it have too much
)

func (p *prover) stageOf(g *ground, k int, most int64) *stage {
	s := p.renew(new(stage), g, k, most)
	for i := range g.items {
		if g.items[i].must {
			s.state[i] = goes
		}
		for before := range k {
			s.bar(i, p.beyond(g, i, before, p.bound[before]))
		}
		s.bar(i, p.worst(k) && p.beyond(g, i, k, most))
	}
	return s
}

// renew is a stage in the memory of s, in which every item is open.
func (p *prover) renew(s *stage, g *ground, k int, most int64) *stage {
	*s = stage{prover: p, ground: g, k: k, most: most, state: s.state, left: min(casesOfStep, p.left), last: s.last}
	s.state = slices.Grow(s.state[:0], len(g.items))[:len(g.items)]
	clear(s.state)
	return s
}

func (s *stage) bar(i int, is bool) {
	if is {
		s.none = s.none || s.state[i] == goes
		s.state[i] = barred
	}
}

// refuted shows that there are no such victims, and notes the cases.
func (s *stage) refuted() bool {
	if s.none {
		s.cases = append(s.cases, Case{Pod: cluster.NoPod})
		return true
	}
	if s.left <= 0 {
		return false
	}
	s.poll()
	b := s.balance()
	s.left -= 1 + len(b.items)*(1+(len(b.rows)+len(b.caps))/16)/64
	if !b.single() {
		b.weigh()
	}
	if b.atLeast() > s.most {
		b.simplify(s.most)
		s.cases = append(s.cases, Case{Pod: cluster.NoPod, Weights: b.weights()})
		return true
	}
	i := b.split()
	if i < 0 {
		return false
	}
	s.cases = append(s.cases, Case{Pod: s.items[i].pod[0]})
	for _, s.state[i] = range [2]state{goes, stays} {
		if !s.refuted() {
			return false
		}
	}
	s.state[i] = open
	return true
}

// balance sets what has to be freed in a case against what must not be taken for it. It is good until the next one of its stage.
type balance struct {
	*stage
	items []int // the open ones
	rows  []line
	caps  []line
	has   int64 // what those who go have of the criterion

	adds   []int64 // of all lines
	sorted []int64 // see count
	orders [][]int // by row: in which order alone has looked at it last
}

// line is one sum of a balance.
type line struct {
	of     Term
	room   int64   // of a cap: what is left of it, below zero if it is gone beyond; of a row what is missing
	adds   []int64 // by open item
	soft   bool
	weight int64

	together []Term // budgets whose charges it adds up, where they may be overrun; of is nothing then
}

func (s *stage) balance() *balance {
	b := &s.last
	b.stage, b.items, b.rows, b.caps, b.has, b.adds = s, b.items[:0], b.rows[:0], b.caps[:0], 0, b.adds[:0]
	for i, state := range s.state {
		if state == open {
			b.items = append(b.items, i)
		}
	}
	b.adds = slices.Grow(b.adds, len(b.items)*(len(s.rows)+1+s.k+1+len(s.caps)))
	for r := range s.rows {
		row := &s.rows[r]
		if row.need <= 0 {
			continue
		}
		l := b.line(Term{Resource, row.resource}, row.need, func(i int) int64 { return row.frees[i] })
		if l.room <= 0 {
			continue
		}
		for i := range l.adds {
			l.adds[i] = min(l.adds[i], l.room) // more than is missing is of no use
		}
		b.rows = append(b.rows, l)
	}
	if len(b.rows) > 0 {
		b.rows = append(b.rows, b.count())
	}
	for k := range s.k + 1 {
		if !s.adds(k) || k == s.overruns && k < s.k {
			continue
		}
		most := s.most
		if k < s.k {
			most = s.bound[k]
		}
		if most == math.MaxInt64 {
			continue // sums end there: nobody has more
		}
		has := s.column(k)
		b.caps = append(b.caps, b.line(Term{Criterion, k}, most, func(i int) int64 { return has[i] }))
	}
	if s.adds(s.k) {
		has := s.column(s.k)
		b.has = s.going(func(i int) int64 { return has[i] })
	}
	for i := range s.caps {
		c := &s.caps[i]
		if c.room == math.MaxInt64 || c.soft && s.overruns != s.k && (s.overruns > s.k || s.bound[s.overruns] > 0) {
			continue
		}
		l := b.line(c.of, c.room, func(i int) int64 { return c.weight[i] })
		l.soft = c.soft
		b.caps = append(b.caps, l)
	}
	if s.overruns < s.k && s.bound[s.overruns] > 0 && s.bound[s.overruns] < math.MaxInt64 {
		b.overrun()
	}
	return b
}

// overrun adds what budgets may be charged that may be overrun, but no more than the bound: all of them
// together, and each by itself.
func (b *balance) overrun() {
	var soft []int
	for i := range b.stage.caps {
		if b.stage.caps[i].soft {
			soft = append(soft, i)
		}
	}
	sets := [][]int{soft}
	for _, i := range soft[:min(len(soft), mostBudgets)] {
		sets = append(sets, []int{i})
	}
	if len(soft) < 2 {
		sets = sets[:len(soft)]
	}
	for _, set := range sets {
		room, together := b.bound[b.overruns], []Term(nil)
		for _, i := range set {
			c := &b.stage.caps[i]
			room, together = checked.Add(room, c.room), append(together, c.of)
		}
		l := b.line(Term{}, room, func(i int) (sum int64) {
			for _, c := range set {
				sum += b.stage.caps[c].weight[i]
			}
			return sum
		})
		l.together = together
		b.caps = append(b.caps, l)
	}
}

// mostBudgets is how many budgets are looked at by themselves where they may be overrun.
const mostBudgets = 16

// count is how many have to go.
func (b *balance) count() line {
	l := b.line(Term{Kind: Count}, 0, func(int) int64 { return 1 })
	l.room = 0 // those who go are no part of it
	for _, r := range b.rows {
		few, missing := int64(0), r.room
		b.sorted = append(b.sorted[:0], r.adds...)
		slices.Sort(b.sorted)
		for _, v := range slices.Backward(b.sorted) {
			if missing <= 0 {
				break
			}
			few, missing = few+1, missing-v
		}
		if missing > 0 {
			few = int64(len(r.adds)) + 1
		}
		l.room = max(l.room, few)
	}
	return l
}

// line is a sum where so much of it is room, before anybody goes.
func (b *balance) line(of Term, room int64, adds func(i int) int64) line {
	from := len(b.adds)
	for _, i := range b.items {
		b.adds = append(b.adds, adds(i))
	}
	return line{of: of, room: checked.Sub(room, b.going(adds)), adds: b.adds[from:len(b.adds):len(b.adds)]}
}

// going adds up what those add who go.
func (s *stage) going(adds func(i int) int64) (sum int64) {
	for i, state := range s.state {
		if state == goes {
			sum = checked.Add(sum, adds(i))
		}
	}
	return sum
}

// single looks for a row that will do by itself, beside the criterion.
func (b *balance) single() bool {
	for r := range b.rows {
		if b.alone(r); b.atLeast() > b.most {
			return true
		}
		b.forget()
	}
	return false
}

// alone lets a row weigh as much, beside the criterion, as those free it who free most for what they have of
// that, the last of them in part.
func (b *balance) alone(r int) {
	row := &b.rows[r]
	row.weight = 1
	at := slices.IndexFunc(b.caps, func(l line) bool { return l.of == Term{Criterion, b.k} })
	if at < 0 {
		return
	}
	price := &b.caps[at]
	for len(b.orders) <= r {
		b.orders = append(b.orders, nil)
	}
	order := b.orders[r] // mostly in order: it was for a few members less
	if len(order) != len(b.items) {
		order = order[:0]
		for i := range b.items {
			order = append(order, i)
		}
		b.orders[r] = order
	}
	slices.SortFunc(order, func(i, j int) int {
		if row.adds[i] == 0 || row.adds[j] == 0 { // at the end
			return cmp.Or(cmp.Compare(min(row.adds[j], 1), min(row.adds[i], 1)), cmp.Compare(i, j))
		}
		if c := checked.CompareProducts(price.adds[i], row.adds[j], price.adds[j], row.adds[i]); c != 0 {
			return c
		}
		return cmp.Compare(i, j)
	})
	missing := row.room
	for _, i := range order {
		if missing -= row.adds[i]; missing <= 0 {
			row.weight, price.weight = price.adds[i], row.adds[i]
			break
		}
	}
}

// forget takes all weights away.
func (b *balance) forget() {
	for _, lines := range [][]line{b.rows, b.caps} {
		for i := range lines {
			lines[i].weight = 0
		}
	}
}

// weigh looks for the weights that contradict most.
func (b *balance) weigh() {
	aim := Term{Criterion, b.k}
	p := &cover.Problem{Items: len(b.items), AtMost: math.MaxInt64}
	if b.overruns == b.k {
		p.AtMost = b.most
	}
	for i := range b.caps {
		c := &b.caps[i]
		side := cover.Side{Weight: cover.RowOf(c.adds), Room: c.room, Fine: cover.Hard}
		if c.soft && b.overruns == b.k {
			p.AtMost = checked.Add(p.AtMost, min(c.room, 0))
			side.Fine, side.Room = 1, max(c.room, 0)
		}
		switch {
		case side.Room < 0:
			c.weight = 1
			return
		case c.of == aim:
			p.Price, p.AtMost = c.adds, c.room
		default:
			p.Sides = append(p.Sides, side)
		}
	}
	if p.AtMost < 0 { // those who go overrun budgets by more
		for i := range b.caps {
			if c := &b.caps[i]; c.soft && c.room < 0 {
				c.weight = 1
			}
		}
		return
	}
	for _, r := range b.rows {
		p.Need, p.Frees = append(p.Need, r.room), append(p.Frees, cover.RowOf(r.adds))
	}
	m, side := cover.Relax(p), 0
	for i := range b.rows {
		b.rows[i].weight = m.Rows[i]
	}
	for i := range b.caps {
		c := &b.caps[i]
		if c.of == aim {
			c.weight = m.Price
			continue
		}
		c.weight = m.Sides[side]
		side++
	}
}

// by is what the criterion weighs: as much as in its sum, of overruns as much as the budget that
// weighs most.
func (b *balance) by() (weight int64) {
	for i := range b.caps {
		c := &b.caps[i]
		if c.of == (Term{Criterion, b.k}) || c.soft && b.overruns == b.k {
			weight = max(weight, c.weight)
		}
	}
	return weight
}

// simplify leaves out what is not needed to show that victims have more than most of the criterion, and
// makes the numbers small: they are to be read, and the simpler they are, the more nodes they do for.
func (b *balance) simplify(most int64) {
	var lines []*line
	large := int64(0)
	for _, list := range [][]line{b.caps, b.rows} {
		for i := range list {
			l := &list[i]
			weight := l.weight
			if l.weight = 0; weight > 0 && b.atLeast() <= most {
				l.weight = weight
			}
			if large = max(large, l.weight); l.weight > 0 {
				lines = append(lines, l)
			}
		}
	}
	exact := make([]int64, len(lines))
	for i, l := range lines {
		exact[i] = l.weight
	}
	shift := func(by int) {
		for i, l := range lines {
			l.weight = exact[i] >> by
		}
	}
	by := 0 // so far may all be shifted
	for beyond := bits.Len64(uint64(large)) - 1; by < beyond; {
		middle := by + (beyond-by+1)/2
		if shift(middle); b.atLeast() > most {
			by = middle
		} else {
			beyond = middle - 1
		}
	}
	shift(by)
	common := int64(0)
	for _, l := range lines {
		common = checked.GCD(l.weight, common)
	}
	for _, l := range lines {
		l.weight /= max(common, 1)
	}
}

// weights lists what weighs something. Overruns weigh as much as the soft budget that weighs most, or
// as all sums of budgets that may be overrun.
func (b *balance) weights() (list []Weight) {
	overruns, budgets := int64(0), map[Term]int64{}
	for _, lines := range [][]line{b.rows, b.caps} {
		for _, l := range lines {
			switch {
			case l.weight == 0:
			case l.together != nil:
				overruns = checked.Add(overruns, l.weight)
				for _, t := range l.together {
					budgets[t] = checked.Add(budgets[t], l.weight)
				}
			default:
				if list = append(list, Weight{l.of, l.weight}); l.soft {
					overruns = max(overruns, l.weight)
				}
			}
		}
	}
	for i := range b.stage.caps {
		if t := b.stage.caps[i].of; budgets[t] > 0 {
			list = append(list, Weight{t, budgets[t]})
		}
	}
	if overruns > 0 {
		list = append(list, Weight{Term{Criterion, b.overruns}, overruns})
	}
	return list
}

// weighItem is what an open item frees and what it takes, by the weights.
func (b *balance) weighItem(at int) (gain, price int64) {
	for r := range b.rows {
		if l := &b.rows[r]; l.weight > 0 {
			gain = checked.Add(gain, checked.Mul(l.weight, l.adds[at]))
		}
	}
	for c := range b.caps {
		if l := &b.caps[c]; l.weight > 0 {
			price = checked.Add(price, checked.Mul(l.weight, l.adds[at]))
		}
	}
	return gain, price
}

// atLeast is what the weights say that victims in this case have of the criterion at least; the
// largest int64: there are none. Sums that do not fit say nothing.
func (b *balance) atLeast() int64 {
	by := b.by()
	plus, minus := checked.Mul(by, b.has), int64(0)
	for _, r := range b.rows {
		plus = checked.Add(plus, checked.Mul(r.weight, r.room))
	}
	for _, c := range b.caps {
		switch {
		case c.of == (Term{Criterion, b.k}): // it weighs so much in what is asked about
		case c.room < 0:
			plus = checked.Add(plus, checked.Mul(c.weight, -max(c.room, -math.MaxInt64)))
		default:
			minus = checked.Add(minus, checked.Mul(c.weight, c.room))
		}
	}
	for at := range b.items {
		gain, price := b.weighItem(at)
		if gain == math.MaxInt64 {
			return 0
		}
		minus = checked.Add(minus, max(checked.Sub(gain, price), 0))
	}
	rest := checked.Sub(plus, minus)
	switch {
	case minus == math.MaxInt64 || rest <= 0:
		return b.least(b.k)
	case by == 0:
		return math.MaxInt64
	}
	return rest/by + min(rest%by, 1)
}

// split is the open item of which the weights say least, -1 if there is none.
func (b *balance) split() int {
	found, least := -1, int64(0)
	for at, i := range b.items {
		gain, price := b.weighItem(at)
		apart := max(checked.Sub(gain, price), checked.Sub(price, gain))
		if found < 0 || apart < least {
			found, least = i, apart
		}
	}
	return found
}
