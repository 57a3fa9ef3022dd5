package quotasearch

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/reprieve"
)

// Aim is a number that those who leave their quota are to make small. One of Sum and Most is
// set.
type Aim struct {
	Sum  func(r *quota.Reservation) int64 // what each adds, not below zero
	Most func(r *quota.Reservation) int64 // a number of each, of which the largest counts

	// Among lets Most count for those alone who have the largest number of the latest Most
	// before it, which comes somewhere before it.
	Among bool
}

// Least is what [Search.Least] came to.
type Least struct {
	Victims []Victim // nil: none were found
	Values  []int64  // theirs, aim by aim
	Bound   []int64  // of any set, aim by aim up to the first that differs from Values
	Steps   int      // that were taken

	// Proof is Found where no set is better, and Refuted where there is none.
	Proof reprieve.Proof

	begun bool // with a set of Classical
}

// Least looks, among all sets of workloads that may go one after the other by the rules of
// [Search.Classical], in whatever order, for the one whose first aim is least, of those the
// one whose second is, and so on. It begins with the set of Classical, and never returns a worse
// one: of equal sets that one stays. Another one may be had where Classical finds none.
//
// The rules let a workload of another queue go as long as that queue, and each cohort around it
// beneath the common one, borrows; the preemptor may borrow or not as it might in any attempt of
// Classical. Place, Observe and Attempt are not looked at.
//
// steps is how many workloads may be decided on; with 0 nothing is looked for but around the
// bounds. Exponential in the worst case. poll, if not nil, is called for each decision.
func (s *Search) Least(q *Question, aims []Aim, steps int, poll func()) Least {
	place, observe, attempt := s.Place, s.Observe, s.Attempt
	s.Place, s.Observe, s.Attempt = nil, nil, nil
	defer func() { s.Place, s.Observe, s.Attempt = place, observe, attempt }()
	s.begin(q)
	s.discover()
	attempts := s.attempts()
	// Who may go without borrowing may go as well where it borrows, if nobody else may.
	once := len(attempts) > 1 && s.numItems(true) == s.numItems(false)
	best := Least{Proof: reprieve.Refuted}
	for _, borrow := range attempts {
		l := &quotaLeaster{Search: s, borrow: borrow, aims: aims, steps: steps, poll: poll}
		begin := []bool{borrow}
		switch {
		case once && !borrow:
			continue
		case once:
			begin = attempts
		}
		l.list()
		for _, b := range begin {
			if l.from == nil && s.attempt(b) {
				l.from = slices.Clone(s.out)
			}
		}
		best = best.or(l.search())
		steps = max(steps-l.taken, 0)
		best.Steps += l.taken
	}
	return best
}

// numItems is how many workloads may go where the preemptor borrows, or must not.
func (s *Search) numItems(borrow bool) int {
	l := &quotaLeaster{Search: s, borrow: borrow}
	l.list()
	return len(l.items)
}

// or is what two searches came to that looked at different sets.
func (a Least) or(b Least) Least {
	switch {
	case b.Proof == reprieve.Refuted:
		return a
	case a.Proof == reprieve.Refuted:
		b.Steps = a.Steps
		return b
	}
	best := a
	if c := slices.Compare(b.Values, a.Values); a.Victims == nil || b.Victims != nil && (c < 0 || c == 0 && !a.begun) {
		best.Victims, best.Values, best.begun = b.Victims, b.Values, b.begun
	}
	if slices.Compare(b.Bound, a.Bound) < 0 { // what has no end may have anything behind it
		best.Bound = b.Bound
	}
	switch {
	case best.Victims == nil:
		best.Proof = reprieve.Exhausted
	case slices.Equal(best.Bound, best.Values):
		best.Proof = reprieve.Found
	default:
		best.Proof = reprieve.FoundSome
	}
	return best
}

// quotaItem is a workload that may go.
type quotaItem struct {
	Victim
	other int // position among the other queues; -1: the preemptor's own
}

// quotaLeaster is one search of Least. To the problem that it solves it is the trial.
type quotaLeaster struct {
	*Search
	borrow bool
	aims   []Aim
	steps  int
	taken  int
	poll   func()
	items  []quotaItem // the one that goes last first
	from   []Victim    // a set to begin with; nil: none is known

	problem cover.Problem
	queues  *quota.Usage            // with those that were looked at last for [quotaLeaster.Never] gone
	gone    []bool                  // by item: who that is
	borrows map[quota.HolderID]bool // before the last one of its workloads goes: buffer of Never
	most    *Aim                    // the latest Most
	top     int64                   // and what it came to
	best    []bool                  // by item; nil: no set is known
}

// list lists who may go in this attempt.
func (l *quotaLeaster) list() {
	for other := range l.others {
		o := &l.others[other]
		kind, rule := entitledQueues, l.across
		if !o.entitled {
			if kind = borrowingQueues; l.borrow {
				if l.queue.Preemption.BorrowWithinCohort == nil {
					continue
				}
				rule = l.whileBorrowing()
			}
		}
		for _, evicted := range [2]bool{true, false} {
			for l.walk(&l.glance, o.queue, evicted, rule); l.glance.Peek() != nil; l.glance.Next() {
				w := l.glance.Peek()
				l.items = append(l.items, quotaItem{Victim{w, l.reason(kind, w)}, other})
			}
		}
	}
	for _, evicted := range [2]bool{true, false} {
		for l.walk(&l.glance, l.question.Queue, evicted, l.within); l.glance.Peek() != nil; l.glance.Next() {
			w := l.glance.Peek()
			l.items = append(l.items, quotaItem{Victim{w, l.reason(ownQueue, w)}, -1})
		}
	}
	order := l.reservations.Order()
	slices.SortFunc(l.items, func(a, b quotaItem) int {
		if a.Evicted != b.Evicted {
			return b2i(a.Evicted) - b2i(b.Evicted)
		}
		return order.Compare(b.Reservation, a.Reservation)
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// search is the whole road of an attempt.
func (l *quotaLeaster) search() (found Least) {
	if l.from != nil {
		l.best = make([]bool, len(l.items))
		for i := range l.items {
			l.best[i] = slices.ContainsFunc(l.from, func(v Victim) bool { return v.Reservation == l.items[i].Reservation })
		}
	}
	l.watch()
	l.pose()
	for i := range l.items {
		l.Remove(i)
	}
	defer func() {
		for i := range l.items {
			l.Return(i)
		}
	}()
	if l.best == nil {
		if proof := l.solve(nil, math.MaxInt64); l.best == nil {
			return Least{Proof: proof}
		}
	}
	found.Proof, found.begun = reprieve.Found, l.from != nil
	for k := range l.aims {
		bound, proof := l.reach(&l.aims[k])
		if found.Proof == reprieve.Found { // so far
			found.Bound = append(found.Bound, bound)
		}
		found.Proof = max(found.Proof, proof)
	}
	l.spareNeedless()
	for i, in := range l.best {
		if in {
			found.Victims = append(found.Victims, l.items[i].Victim)
		}
	}
	for k := range l.aims {
		a := &l.aims[k]
		value := l.value(a)
		if found.Values = append(found.Values, value); a.Most != nil && !a.Among {
			l.most, l.top = a, value // where steps ran out, it may have become less since
		}
	}
	return found
}

// watch begins to keep l.queues, with everybody there.
func (l *quotaLeaster) watch() {
	l.queues, l.gone, l.borrows = l.usage.Clone(), make([]bool, len(l.items)), map[quota.HolderID]bool{}
}

// pose says what has to become free, who frees how much of it, and how much other queues give
// at most.
func (l *quotaLeaster) pose() {
	l.problem = cover.Problem{Items: len(l.items), Any: true, Poll: l.poll, Trial: l, Never: l.Never, Alike: l.alike}
	for _, row := range l.rows() {
		l.problem.Need, l.problem.Frees = append(l.problem.Need, row.Need), append(l.problem.Frees, row.Frees)
	}
	for other := range l.others {
		l.limit(other)
	}
}

// rows list what has to become free.
func (l *quotaLeaster) rows() (list []Row) {
	own := l.question.Queue
	var path []quota.HolderID
	for h := own; h != quota.NoHolder; h = l.tree.Parent(h) {
		path = append(path, h)
	}
	add := func(missing int64, c quota.ColumnID, up int) {
		if row, ok := l.row(missing, c, path[:max(up, 0)+1]); ok {
			row.Up = up
			list = append(list, row)
		}
	}
	for _, a := range l.question.Request {
		if !l.borrow {
			add(quota.Sub(a.Amount, quota.Sub(l.tree.Subtree(own, a.Column), l.usage.Used(own, a.Column))), a.Column, OwnQuota)
		}
		for k, room := range l.usage.Rooms(nil, own, a.Column) {
			add(quota.Sub(a.Amount, room), a.Column, k)
		}
	}
	return list
}

// row says that so much of column c has to become free, of the queues beneath the last of path,
// which leads up from the preemptor's. What several of one queue free may be less than
// what each of them would: then it is for the trial to say. ok is false where it says nothing.
func (l *quotaLeaster) row(missing int64, c quota.ColumnID, path []quota.HolderID) (row Row, ok bool) {
	if missing <= 0 {
		return Row{}, false
	}
	row = Row{Column: c, Need: missing}
	sum := int64(0)
	for i := range l.items {
		it := &l.items[i]
		v := it.amount(c)
		if it.other >= 0 {
			common := l.others[it.other].common
			if !slices.Contains(path, common) {
				continue
			}
			v = l.usage.Reaches(it.Queue, common, c, v)
		}
		if v = min(v, missing); v > 0 {
			row.Frees, sum = append(row.Frees, cover.Cell{Item: i, Amount: v}), checked.Add(sum, v)
		}
	}
	return row, sum < math.MaxInt64
}

// amount is what r uses of column c.
func (it *quotaItem) amount(c quota.ColumnID) int64 {
	for _, u := range it.Usage {
		if u.Column == c {
			return u.Amount
		}
	}
	return 0
}

// limit adds that another queue which borrows of one column alone borrows until its last
// workload goes.
func (l *quotaLeaster) limit(other int) {
	q, borrowed := l.others[other].queue, quota.NoColumn
	for _, c := range l.question.Contested {
		if !l.usage.Borrows(q, c, 0) {
			continue
		}
		if borrowed != quota.NoColumn {
			return // it may borrow of one of them until the end
		}
		borrowed = c
	}
	weights, largest := make([]int64, len(l.items)), int64(0)
	for i := range l.items {
		if l.items[i].other == other {
			weights[i] = l.items[i].amount(borrowed)
			largest = max(largest, weights[i])
		}
	}
	side := cover.Side{Weight: cover.RowOf(weights), Fine: cover.Hard}
	over := quota.Sub(l.usage.Used(q, borrowed), l.tree.Subtree(q, borrowed))
	if side.Room = checked.Add(over-1, largest); side.Room >= 0 {
		l.problem.Sides = append(l.problem.Sides, side)
	}
}

// alike reports whether item b may go in place of a, as far as numbers do not tell.
func (l *quotaLeaster) alike(a, b int) bool {
	x, y := &l.items[a], &l.items[b]
	if x.other != y.other {
		return false
	}
	if x.other >= 0 { // its queue has to borrow as long as it would
		return slices.Equal(x.Usage, y.Usage)
	}
	return !slices.ContainsFunc(l.question.Request, func(r quota.ColumnAmount) bool { return y.amount(r.Column) < x.amount(r.Column) })
}

// Return lets item i stay, for the time being; Remove lets it go again.
func (l *quotaLeaster) Return(i int) { l.usage.Add(l.items[i].Queue, l.items[i].Usage) }

// Remove is the inverse of Return.
func (l *quotaLeaster) Remove(i int) { l.usage.Remove(l.items[i].Queue, l.items[i].Usage) }

// May reports whether there is enough quota where all go who may.
func (l *quotaLeaster) May() bool { return l.fits(l.borrow) }

// Will says whether there is enough quota where the chosen go, and whether they may.
func (l *quotaLeaster) Will(chosen, returned []bool, price int64) (int64, bool) {
	if l.Never(chosen) {
		return 0, false
	}
	for i := range chosen {
		if !chosen[i] && !returned[i] {
			l.Return(i)
		}
	}
	ok := l.fits(l.borrow)
	for i := range chosen {
		if !chosen[i] && !returned[i] {
			l.Remove(i)
		}
	}
	return price, ok
}

// Never reports whether the chosen may not go in any order: some queue, or cohort beneath the
// common one, borrows no more before the last of its workloads has gone, whichever that is.
// With more of them it is the same.
func (l *quotaLeaster) Never(chosen []bool) bool {
	if l.leave(chosen) < 2 {
		return false
	}
	clear(l.borrows)
	for i, in := range chosen {
		it := &l.items[i]
		if !in || it.other < 0 || l.borrowed(it) || !l.borrowsFor(it) {
			continue
		}
		l.queues.Add(it.Queue, it.Usage)
		for h := it.Queue; h != l.others[it.other].common && !l.queues.WithinNominal(h, l.question.Contested); h = l.tree.Parent(h) {
			l.borrows[h] = true
		}
		l.queues.Remove(it.Queue, it.Usage)
	}
	for i, in := range chosen {
		if it := &l.items[i]; in && it.other >= 0 && !l.borrowed(it) {
			return true
		}
	}
	return false
}

// leave makes l.queues those without the chosen of other queues, and counts these.
func (l *quotaLeaster) leave(chosen []bool) (num int) {
	for i, in := range chosen {
		it := &l.items[i]
		if it.other < 0 {
			continue
		}
		switch {
		case in && !l.gone[i]:
			l.queues.Remove(it.Queue, it.Usage)
		case !in && l.gone[i]:
			l.queues.Add(it.Queue, it.Usage)
		}
		if l.gone[i] = in; in {
			num++
		}
	}
	return num
}

// borrowed reports whether it is known already that the queue of item it, and each cohort beneath the common one, borrows
// before the last one goes.
func (l *quotaLeaster) borrowed(it *quotaItem) bool {
	for h := it.Queue; h != l.others[it.other].common; h = l.tree.Parent(h) {
		if !l.borrows[h] {
			return false
		}
	}
	return true
}

// borrowsFor reports whether the queue of item it borrows if that goes last.
func (l *quotaLeaster) borrowsFor(it *quotaItem) bool {
	return slices.ContainsFunc(l.question.Contested, func(c quota.ColumnID) bool { return l.queues.Borrows(it.Queue, c, it.amount(c)) })
}

// solve looks for the cheapest set that costs at most atMost, and takes it. The Proof is Refuted
// where there is none; bound says what they cost at least.
func (l *quotaLeaster) solve(price []int64, atMost int64) reprieve.Proof {
	proof, _ := l.solveFor(price, atMost)
	return proof
}

func (l *quotaLeaster) solveFor(price []int64, atMost int64) (proof reprieve.Proof, bound int64) {
	p := l.problem
	p.Price, p.AtMost, p.Steps = price, atMost, l.steps
	if price == nil {
		p.Price = make([]int64, len(l.items))
	}
	for _, v := range p.Price {
		p.Unit = checked.GCD(v, p.Unit)
	}
	a := cover.Solve(&p)
	l.taken, l.steps = l.taken+a.Steps, max(l.steps-a.Steps, 0)
	if a.Chosen != nil {
		l.best = a.Chosen
	}
	switch {
	case a.Chosen != nil && a.Proved:
		return reprieve.Found, a.Price
	case a.Chosen != nil:
		return reprieve.FoundSome, a.Bound
	case a.Proved:
		return reprieve.Refuted, checked.Add(atMost, 1)
	}
	return reprieve.Exhausted, a.Bound
}

// reach makes aim a as small as can be beside those before it, and keeps it there. bound is what
// it is at least.
func (l *quotaLeaster) reach(a *Aim) (bound int64, proof reprieve.Proof) {
	value := l.value(a)
	bound, proof = value, reprieve.Found
	if a.Most != nil {
		if value > math.MinInt64 {
			bound, proof = l.lower(a, value)
		}
		value = l.value(a)
		l.problem.Sides = append(l.problem.Sides, l.atMost(a, value))
		if !a.Among {
			l.most, l.top = a, value
		}
		return bound, proof
	}
	price := make([]int64, len(l.items))
	for i := range l.items {
		price[i] = a.Sum(l.items[i].Reservation)
	}
	if value > 0 {
		switch p, least := l.solveFor(price, value-1); p {
		case reprieve.Found:
			bound = least
		case reprieve.FoundSome, reprieve.Exhausted:
			bound, proof = least, reprieve.FoundSome
		}
	}
	l.problem.Sides = append(l.problem.Sides, cover.Side{Weight: cover.RowOf(price), Room: l.value(a), Fine: cover.Hard})
	return bound, proof
}

// value is that of the best set so far.
func (l *quotaLeaster) value(a *Aim) int64 {
	value := int64(0)
	if a.Most != nil {
		value = math.MinInt64
	}
	for i, in := range l.best {
		switch {
		case !in:
		case a.Most != nil:
			value = max(value, l.number(a, i))
		default:
			value = checked.Add(value, a.Sum(l.items[i].Reservation))
		}
	}
	return value
}

// number is that of item i in an aim for the largest one.
func (l *quotaLeaster) number(a *Aim, i int) int64 {
	r := l.items[i].Reservation
	if a.Among && l.most.Most(r) != l.top {
		return math.MinInt64
	}
	return a.Most(r)
}

// atMost keeps everybody whose number is larger than value.
func (l *quotaLeaster) atMost(a *Aim, value int64) cover.Side {
	side := cover.Side{Fine: cover.Hard}
	for i := range l.items {
		if l.number(a, i) > value {
			side.Weight = append(side.Weight, cover.Cell{Item: i, Amount: 1})
		}
	}
	return side
}

// lower finds the least number that will do, below value, which does. bound is one below which
// there is none.
func (l *quotaLeaster) lower(a *Aim, value int64) (bound int64, proof reprieve.Proof) {
	levels := []int64{math.MinInt64}
	for i := range l.items {
		if n := l.number(a, i); n < value {
			levels = append(levels, n)
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	sides := l.problem.Sides
	defer func() { l.problem.Sides = sides }()
	proof = reprieve.Found
	low, high, refuted := 0, len(levels), 0 // none below levels[low] was found, below levels[refuted] there is none
	for low < high {
		mid := (low + high) / 2
		l.problem.Sides = append(sides[:len(sides):len(sides)], l.atMost(a, levels[mid]))
		switch l.solve(nil, math.MaxInt64) {
		case reprieve.Found, reprieve.FoundSome:
			high = mid
		case reprieve.Refuted:
			low, refuted = mid+1, mid+1
		default:
			low, proof = mid+1, reprieve.FoundSome
		}
	}
	if refuted < len(levels) {
		return levels[refuted], proof
	}
	return value, proof
}

// spareNeedless lets those stay, the one that would go last first, without whom there is enough:
// they are victims that no aim is about.
func (l *quotaLeaster) spareNeedless() {
	for i, in := range l.best {
		if !in {
			l.Return(i)
		}
	}
	for i, in := range l.best {
		if !in {
			continue
		}
		if l.Return(i); l.fits(l.borrow) {
			l.best[i] = false
		} else {
			l.Remove(i)
		}
	}
	for i, in := range l.best {
		if !in {
			l.Remove(i)
		}
	}
}
