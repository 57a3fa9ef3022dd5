package cover

import (
	"math"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/internal/checked"
)

// Solve looks for the cheapest set.
//
// Exponential in the worst case; see Problem.Steps. O(items + sides + cells of both and of rows) a step.
func Solve(p *Problem) Answer {
	if a, ok := p.forced(); ok {
		return a
	}
	s := idle.Get().(*solver)
	defer s.end()
	if !s.begin(p) || !s.settle() {
		return Answer{Bound: checked.Add(p.AtMost, 1), Proved: true}
	}
	if p.Guess != nil {
		s.judge(p.Guess)
	}
	bound := s.search()
	a := Answer{Chosen: s.best, Price: s.bestPrice, Steps: s.taken(), Proved: !s.stopped}
	switch {
	case a.Chosen == nil && a.Proved:
		a.Bound = checked.Add(p.AtMost, 1)
	case a.Proved:
		a.Bound = a.Price
	default:
		a.Bound = min(max(s.scale.up(bound), p.Least), p.AtMost)
		if rest := a.Bound % max(p.Unit, 1); rest > 0 {
			a.Bound = checked.Add(a.Bound, p.Unit-rest)
		}
		if a.Chosen != nil {
			a.Bound = min(a.Bound, a.Price)
			a.Proved = a.Bound == a.Price
		}
	}
	if a.Chosen != nil && a.Proved && !p.Any && (len(p.Need) > 0 || p.Guess != nil) { // without, it was found in order
		s.canonical()
		a.Chosen, a.Steps = s.best, s.taken()
	}
	return a
}

// search looks for sets that cost atMost or less, and returns the bound that it began with.
func (s *solver) search() (bound int64) {
	if s.atMost < s.Least {
		return 0
	}
	if !s.work.costless { // what a set costs makes bounds finer
		s.guess()
		s.rescale()
	}
	bound = s.ascend(0, rootRounds)
	s.steps += rootRounds / rounds * s.more()
	if !s.beyond(bound) {
		s.compare()
		s.branch(0, bound)
	}
	return bound
}

// taken is how many steps were taken.
func (s *solver) taken() int {
	if s.Worked == nil {
		return s.steps
	}
	return max(s.steps, s.Worked())
}

// forced is the answer where nobody has to be asked and no item can be spared.
func (p *Problem) forced() (a Answer, ok bool) {
	if p.Trial != nil || p.Never != nil || p.Guess != nil || len(p.Need) == 0 {
		return a, false
	}
	none, all := Answer{Bound: checked.Add(p.AtMost, 1), Proved: true}, make([]bool, p.Items)
	for r, row := range p.Frees {
		spare := -p.Need[r]
		for _, c := range row {
			spare = checked.Add(spare, c.Amount)
		}
		if spare < 0 {
			return none, true
		}
		for _, c := range row {
			all[c.Item] = all[c.Item] || c.Amount > spare
		}
	}
	if slices.Contains(all, false) {
		return a, false
	}
	price := int64(0)
	for i := range all {
		price = checked.Add(price, p.priceOf(i))
	}
	for _, side := range p.Sides {
		used := int64(0)
		for _, c := range side.Weight {
			used = checked.Add(used, c.Amount)
		}
		switch {
		case used <= side.Room:
		case side.Fine == Hard:
			return none, true
		default:
			price = checked.Add(price, checked.Mul(used-side.Room, side.Fine))
		}
	}
	if price > p.AtMost {
		return none, true
	}
	return Answer{Chosen: all, Price: price, Bound: price, Proved: true}, true
}

// The states of an item.
const (
	free int8 = iota
	chosen
	kept // it is not chosen
)

// solver is one search. Amounts are exact where sets are judged, and scaled where they are
// bounded; see bound.go.
type solver struct {
	*Problem
	n      int
	state  []int8
	trail  []int         // items that are not free, in the order in which they were decided
	need   []int64       // by row: what is left to be freed
	has    []int64       // by row: what the free items would free
	most   []int64       // by row: what an item frees at most
	left   []int64       // by side, below zero if it is gone beyond
	heavy  []int64       // by side: what an item weighs at most
	used   []int64       // by side; a buffer
	cells  byItem        // what items free
	weighs byItem        // on which sides
	price  int64         // of the chosen, without fines
	fines  int64         // that are due already
	alike  map[int][]int // items by kind
	place  []int         // by item: where it stands among those of its kind
	better [][]int       // by item: those after it that are chosen wherever it is; nil: see compare, of an item not looked at
	worse  [][]int       // and the other way round

	scale      scale
	multiplier [][]int64 // by depth, rows and then sides
	reduced    []int64   // by item: its price at the best multipliers
	work       bounding

	best      []bool
	bestPrice int64
	atMost    int64 // what a set may cost to be better
	blind     bool  // no sets are looked for
	first     bool  // any set will do that costs no more than atMost
	steps     int
	stopped   bool

	fewest  *fewest // nil: it bounds nothing
	buffer  []bool
	guessed guessed
	isKept  []bool
	refused map[string]int64 // what sets cost of which Trial has said no, bit by bit
	key     []byte           // a buffer for one of them
}

// cell is a row or a side, and how much an item frees of it or weighs there.
type cell struct {
	row    int32
	amount int64
}

// idle are solvers out of use, whose memory the next ones have.
var idle = sync.Pool{New: func() any { return new(solver) }}

// begin makes s a solver of p, whatever it was before. It is false if all items do not free what is needed.
func (s *solver) begin(p *Problem) bool {
	n, rows, sides := p.Items, len(p.Need), len(p.Sides)
	*s = solver{
		Problem: p, n: n, atMost: p.AtMost, refused: map[string]int64{}, work: s.work, guessed: s.guessed, trail: s.trail[:0], reduced: s.reduced, key: s.key,
		state: sized(s.state, n), buffer: sized(s.buffer, n), isKept: sized(s.isKept, n), cells: s.cells, weighs: s.weighs,
		need: append(s.need[:0], p.Need...), has: sized(s.has, rows), most: sized(s.most, rows),
		left: sized(s.left, sides), heavy: sized(s.heavy, sides), used: sized(s.used, sides),
	}
	s.cells.list(n, rows, func(r int) Row { return p.Frees[r] })
	s.weighs.list(n, sides, func(k int) Row { return p.Sides[k].Weight })
	for r, row := range p.Frees {
		for _, c := range row {
			s.has[r], s.most[r] = checked.Add(s.has[r], c.Amount), max(s.most[r], c.Amount)
		}
		if s.has[r] < s.need[r] {
			return false
		}
	}
	for i := range p.Sides {
		s.left[i] = p.Sides[i].Room
		for _, c := range p.Sides[i].Weight {
			s.heavy[i] = max(s.heavy[i], c.Amount)
		}
	}
	s.rescale()
	s.fewest = s.newFewest()
	return true
}

// end takes back what is decided.
func (s *solver) end() {
	s.undo(0)
	s.Problem = nil
	idle.Put(s)
}

// sized is a list of n zeros, in the memory of list if that is enough.
func sized[T any](list []T, n int) []T {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// byItem are the cells of rows by item.
type byItem struct {
	end   []int // by item: where its cells end; they begin where those of the item before end
	cells []cell
}

// of are the cells of item i, in order of the rows.
func (b *byItem) of(i int) []cell {
	from := 0
	if i > 0 {
		from = b.end[i-1]
	}
	return b.cells[from:b.end[i]]
}

// list lists the cells of so many rows by item.
func (b *byItem) list(items, rows int, row func(r int) Row) {
	b.end = sized(b.end, items+1)
	sum := 0
	for r := range rows {
		for _, c := range row(r) {
			b.end[c.Item+1]++
		}
		sum += len(row(r))
	}
	for i := range items {
		b.end[i+1] += b.end[i]
	}
	b.cells = sized(b.cells, sum)
	for r := range rows {
		for _, c := range row(r) { // end of an item is where its next cell goes until it has all
			b.cells[b.end[c.Item]] = cell{int32(r), c.Amount}
			b.end[c.Item]++
		}
	}
}

func (p *Problem) priceOf(i int) int64 {
	if p.Price == nil {
		return 0
	}
	return p.Price[i]
}

// compare says which items are compared with which: from then on follow tells what follows.
func (s *solver) compare() {
	s.place, s.alike, s.better, s.worse = make([]int, s.n), map[int][]int{}, make([][]int, s.n), make([][]int, s.n)
	for i := range s.n {
		kind := s.kindOf(i)
		s.place[i] = len(s.alike[kind])
		s.alike[kind] = append(s.alike[kind], i)
	}
}

func (s *solver) kindOf(i int) int {
	if s.Kind == nil {
		return 0
	}
	return s.Kind(i)
}

// compared is with how many before it of its kind an item is compared at most.
const compared = 128

// betterThan lists those after item i that are as good and no dearer.
func (s *solver) betterThan(i int) []int {
	return s.related(s.better, i, +1, func(j int) bool { return s.instead(i, j) })
}

// worseThan lists those before item i that it is as good as, and no dearer.
func (s *solver) worseThan(i int) []int {
	return s.related(s.worse, i, -1, func(j int) bool { return s.instead(j, i) })
}

// related lists those of the kind of item i, on one side of it, of which is says so.
func (s *solver) related(known [][]int, i, step int, is func(j int) bool) []int {
	if known[i] == nil {
		known[i] = []int{}
		if kind := s.kindOf(i); kind >= 0 {
			list := s.alike[kind]
			for at := s.place[i] + step; at >= 0 && at < len(list) && step*(at-s.place[i]) <= compared; at += step {
				if is(list[at]) {
					known[i] = append(known[i], list[at])
				}
			}
		}
	}
	return known[i]
}

// instead reports whether every set with a and without b, of its kind, is as good with b in place of a.
func (s *solver) instead(a, b int) bool {
	if s.priceOf(b) > s.priceOf(a) {
		return false
	}
	return within(s.cells.of(a), s.cells.of(b)) && within(s.weighs.of(b), s.weighs.of(a)) && (s.Alike == nil || s.Alike(a, b))
}

// within reports whether each cell of some is one of others, of as much or more.
func within(some, others []cell) bool {
	at := 0
	for _, c := range some {
		for at < len(others) && others[at].row < c.row {
			at++
		}
		if at == len(others) || others[at].row > c.row || others[at].amount < c.amount {
			return false
		}
	}
	return true
}

// choose and keep decide on a free item; undo takes decisions back until so many are left.
func (s *solver) choose(i int) {
	s.state[i] = chosen
	s.trail = append(s.trail, i)
	for _, c := range s.cells.of(i) {
		s.need[c.row] -= c.amount
		s.has[c.row] -= c.amount
	}
	for _, c := range s.weighs.of(i) {
		s.left[c.row] = checked.Sub(s.left[c.row], c.amount)
	}
	s.price = checked.Add(s.price, s.priceOf(i))
}

func (s *solver) keep(i int) {
	s.state[i], s.isKept[i] = kept, true
	s.trail = append(s.trail, i)
	for _, c := range s.cells.of(i) {
		s.has[c.row] -= c.amount
	}
	if s.Trial != nil {
		s.Trial.Return(i)
	}
}

func (s *solver) undo(left int) {
	again := false
	for len(s.trail) > left {
		i := s.trail[len(s.trail)-1]
		s.trail = s.trail[:len(s.trail)-1]
		for _, c := range s.cells.of(i) {
			s.has[c.row] += c.amount
		}
		if s.state[i] == kept {
			s.isKept[i] = false
			if s.Trial != nil {
				s.Trial.Remove(i)
			}
		} else {
			for _, c := range s.cells.of(i) {
				s.need[c.row] += c.amount
			}
			again = true
		}
		s.state[i] = free
	}
	if !again {
		return
	}
	s.price = 0 // sums may have saturated
	for k := range s.Sides {
		s.left[k] = s.Sides[k].Room
	}
	for _, i := range s.trail {
		if s.state[i] == chosen {
			s.price = checked.Add(s.price, s.priceOf(i))
			for _, c := range s.weighs.of(i) {
				s.left[c.row] = checked.Sub(s.left[c.row], c.amount)
			}
		}
	}
}

// due is what the sides cost that are gone beyond; not ok if a hard one is.
func (s *solver) due() (sum int64, ok bool) {
	for k := range s.Sides {
		if side := &s.Sides[k]; s.left[k] < 0 {
			if side.Fine == Hard {
				return 0, false
			}
			sum = checked.Add(sum, checked.Mul(-max(s.left[k], -math.MaxInt64), side.Fine))
		}
	}
	return sum, true
}

// settle decides on every free item about which there is no choice, and reports whether some
// set may still do.
func (s *solver) settle() bool {
	for seen := 0; ; { // what follows of so many decisions is known
		before := len(s.trail)
		if !s.pressed() || !s.follow(&seen) {
			return false
		}
		if len(s.trail) == before {
			return !s.tooFew() && !s.never() && (s.Trial == nil || s.Trial.May())
		}
	}
}

// never reports whether nothing will do that has all that are chosen.
func (s *solver) never() bool {
	return s.Never != nil && s.Never(s.chosen())
}

// chosen is the set of those that are chosen; it is good until the next one is made.
func (s *solver) chosen() []bool {
	for i := range s.buffer {
		s.buffer[i] = s.state[i] == chosen
	}
	return s.buffer
}

// pressed decides on the free items that are too dear, or that cannot be spared. It reports
// whether there is still enough, and nothing gone beyond.
func (s *solver) pressed() bool {
	due, ok := s.due()
	s.fines = due
	spent := checked.Add(s.price, s.fines)
	if !ok || spent > s.atMost {
		return false
	}
	for r, row := range s.Frees {
		spare := s.has[r] - s.need[r]
		if spare < 0 {
			return false
		}
		if spare >= s.most[r] {
			continue
		}
		for _, c := range row {
			if c.Amount > spare && s.state[c.Item] == free {
				s.choose(c.Item)
			}
		}
	}
	for i := range s.Price {
		if s.state[i] == free && checked.Add(spent, s.Price[i]) > s.atMost {
			s.keep(i)
		}
	}
	for k := range s.Sides {
		if s.Sides[k].Fine < Hard || s.left[k] >= s.heavy[k] {
			continue
		}
		for _, c := range s.Sides[k].Weight {
			if c.Amount > s.left[k] && s.state[c.Item] == free {
				s.keep(c.Item)
			}
		}
	}
	return true
}

// follow decides on what follows of the items decided since: whoever is better than one
// that is chosen is chosen too, and whoever is worse than one that is kept is kept. It
// reports whether that is no contradiction.
func (s *solver) follow(seen *int) bool {
	if s.better == nil {
		return true // not compared yet
	}
	for ; *seen < len(s.trail); *seen++ {
		i := s.trail[*seen]
		if s.state[i] == chosen {
			for _, b := range s.betterThan(i) {
				switch s.state[b] {
				case free:
					s.choose(b)
				case kept:
					return false
				}
			}
			continue
		}
		for _, a := range s.worseThan(i) {
			switch s.state[a] {
			case free:
				s.keep(a)
			case chosen:
				return false
			}
		}
	}
	return true
}

// covered reports whether the chosen free what is needed.
func (s *solver) covered() bool {
	for _, v := range s.need {
		if v > 0 {
			return false
		}
	}
	return true
}

// A decision counts as one more step for so many amounts that the bound before it is of; a set of which the trial is asked for so many
// items that are free, and a guess for so many offers.
const (
	manyAmounts = 128
	manyFree    = 64
)

// more is how many steps more a decision counts as after the latest bound.
func (s *solver) more() int { return s.work.amounts / manyAmounts }

// branch looks for better sets among those that agree with what is decided, where bound is
// known of all of them; what is decided was settled.
func (s *solver) branch(depth int, bound int64) {
	if s.beyond(bound) {
		return
	}
	covered, i := s.covered(), 0
	if i = s.next(covered); covered && (i < 0 || len(s.Need) > 0) && s.take() || i < 0 {
		return
	}
	if s.steps += 1 + s.more(); s.taken() > s.Steps {
		s.stopped = true
		return
	}
	if s.Poll != nil {
		s.Poll()
	}
	at := len(s.trail)
	for _, state := range s.ways(i, covered) {
		s.decide(i, state)
		if s.settle() {
			s.branch(depth+1, s.ascend(depth+1, rounds))
		}
		s.undo(at)
		if s.stopped || s.first && s.best != nil {
			return
		}
	}
}

func (s *solver) decide(i int, choice int8) {
	if choice == chosen {
		s.choose(i)
	} else {
		s.keep(i)
	}
}

// ways are the states that item i may have, the likelier one first.
func (s *solver) ways(i int, covered bool) [2]int8 {
	if len(s.Need) > 0 && (covered || s.reduced[i] <= 0) {
		return [2]int8{chosen, kept}
	}
	return [2]int8{kept, chosen}
}

// next is the free item to decide on: of those about which the bound says least the last, or
// the cheapest where enough is freed. Where numbers ask for nothing it is the first, which is
// kept if it may be. -1 if there is none.
func (s *solver) next(covered bool) int {
	if len(s.Need) == 0 {
		return slices.Index(s.state, free)
	}
	at, least := -1, int64(0)
	for i := s.n - 1; i >= 0; i-- {
		if s.state[i] != free {
			continue
		}
		v := s.priceOf(i)
		if !covered {
			if v = s.reduced[i]; v < 0 {
				v = -v
			}
		}
		if at < 0 || v < least {
			at, least = i, v
		}
	}
	return at
}

// take takes the chosen, who free what is needed, as the best set so far if they are, and
// reports whether nobody who has more of the free items is better.
func (s *solver) take() bool {
	price, ok := s.judge(s.chosen())
	return ok && price == checked.Add(s.price, s.fines)
}

// judge keeps set as the best so far if it will do and is cheaper.
func (s *solver) judge(set []bool) (price int64, ok bool) {
	if s.Trial != nil {
		s.key = appendBits(s.key[:0], set)
		if price, refused := s.refused[string(s.key)]; refused {
			if price <= s.atMost {
				s.steps += (s.n - len(s.trail)) / manyFree
			}
			return price, false
		}
	}
	price, ok = s.sum(set)
	if !ok || price > s.atMost {
		return price, ok && s.Trial == nil
	}
	if s.Trial != nil {
		s.steps += (s.n - len(s.trail)) / manyFree
		all, ok := s.Trial.Will(set, s.isKept, price)
		if !ok {
			s.refused[string(s.key)] = price
		}
		if price = all; !ok || price > s.atMost {
			return price, ok
		}
	}
	s.best, s.bestPrice = append(make([]bool, 0, s.n), set...), price
	if !s.first {
		s.atMost = price - max(s.Unit, 1)
	}
	return price, true
}

// appendBits appends set, 8 of it a byte.
func appendBits(dst []byte, set []bool) []byte {
	for i, in := range set {
		if i%8 == 0 {
			dst = append(dst, 0)
		}
		if in {
			dst[len(dst)-1] |= 1 << (i % 8)
		}
	}
	return dst
}

// sum is what a set costs by the numbers, fines included; not ok if it goes beyond a hard
// side.
func (s *solver) sum(set []bool) (price int64, ok bool) {
	clear(s.used)
	for i, in := range set {
		if in {
			for _, c := range s.weighs.of(i) {
				s.used[c.row] = checked.Add(s.used[c.row], c.amount)
			}
		}
	}
	for k := range s.Sides {
		side := &s.Sides[k]
		if over := s.used[k] - side.Room; over > 0 {
			if side.Fine == Hard {
				return 0, false
			}
			price = checked.Add(price, checked.Mul(over, side.Fine))
		}
	}
	for i, in := range set {
		if in {
			price = checked.Add(price, s.priceOf(i))
		}
	}
	return price, true
}

// canonical turns the best set into the one that is wanted of those that cost as much: it
// asks, item by item, for one that keeps it. Where steps run out it is left as it is.
func (s *solver) canonical() {
	best := s.best
	s.first, s.atMost = true, s.bestPrice
	s.undo(0)
	for i := range s.n {
		if s.state[i] != free {
			continue
		}
		if !best[i] {
			s.keep(i)
			continue
		}
		at := len(s.trail)
		s.keep(i)
		s.best = nil
		if s.settle() {
			s.branch(1, s.ascend(1, rounds))
		}
		s.undo(at)
		switch {
		case s.best != nil:
			best = s.best
			s.keep(i)
		case s.stopped:
			s.best = best
			return
		default:
			s.choose(i)
		}
	}
	s.best = best
}
