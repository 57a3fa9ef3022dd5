package proving

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// How many numbers of members are looked at in a domain, at least one for each node, and for how many of them
// it is searched for what weighs most, on nodes that matter.
const (
	sumsInAll    = 50_000
	weighedInAll = 4_000
)

// sum shows how much of a criterion members cost who have places on the sites of list: each the price that
// of so many times of it, but for what a site is spared.
func (p *gang) sum(list []*site, of Domain) (shown Domain, atLeast int64) {
	for _, s := range list {
		p.findCosts(s, of.Criterion, max(sumsInAll/len(list), 2))
	}
	for left := weighedInAll; ; {
		of, atLeast = p.priced(list, of)
		weighed := 0
		for _, s := range list {
			if !s.weighed && s.spare(of) > 0 && weighed < left {
				weighed += p.weighCosts(s, of.Criterion)
			}
		}
		if left -= weighed; weighed == 0 {
			break
		}
	}
	if atLeast > 0 {
		of.Nodes = p.nodesOf(list, of)
	}
	return of, atLeast
}

// priced finds the price that says most, and how much of the criterion that is.
func (p *gang) priced(list []*site, of Domain) (shown Domain, atLeast int64) {
	times := map[segment]int64{}
	var hull []segment
	for _, s := range list {
		hull = s.hull(hull[:0])
		for _, g := range hull {
			times[g]++
		}
	}
	left := p.seats
	for _, g := range slices.SortedFunc(maps.Keys(times), segment.compare) {
		if left -= g.members * times[g]; left <= 0 {
			common := checked.GCD(g.cost, g.members)
			of.Price, of.Times = g.cost/common, g.members/common
			break
		}
	}
	spared, full := int64(0), checked.Mul(of.Price, p.seats)
	for _, s := range list {
		spared = checked.Add(spared, s.spare(of))
	}
	if full == math.MaxInt64 || spared >= full {
		return of, 0
	}
	return of, max(ceil(full-spared, of.Times)-of.room, 0)
}

// ceil is a divided by b, rounded up.
func ceil(a, b int64) int64 { return a/b + min(a%b, 1) }

// segment is so many more members at so much more cost.
type segment struct{ members, cost int64 }

// compare orders by what a member costs.
func (g segment) compare(o segment) int {
	return checked.CompareProducts(g.cost, o.members, o.cost, g.members)
}

// findCosts finds out what members on s cost of criterion k, for so many numbers of them at most: the first half of
// these one after the other, the others evenly.
func (p *gang) findCosts(s *site, k, most int) {
	p.q.GoOn()
	st := p.stageOf(s, k)
	s.curve, s.weighed = nil, false
	few, half := &p.tells, int64(most/2)
	few.begin(s, k)
	s.costs = make([]cost, 0, min(int64(most), s.seats))
	for i := range min(int64(most), s.seats) {
		members := i + 1
		if s.seats > int64(most) && members > half {
			members = half + (i-half+1)*(s.seats-half)/(int64(most)-half)
		}
		if !p.ask(s, members) {
			continue
		}
		c := cost{members: members, atMost: few.some()}
		if atLeast, price := few.cost(); atLeast >= c.atMost {
			c.atLeast, c.count = c.atMost, price
			s.costs = append(s.costs, c)
			continue
		}
		st.most = checked.Sub(c.atMost, 1)
		b := st.balance()
		for r := len(b.rows) - 1; r >= 0 && c.atLeast < c.atMost; r-- { // the count first
			b.alone(r)
			c.learn(b)
			b.forget()
		}
		s.costs = append(s.costs, c)
	}
}

// fewest tells of more and more members on a site what as many as have to go cost if they are the cheapest, and what
// some evictions cost.
type fewest struct {
	*site
	has   []int64 // of the criterion, by item
	cheap []int   // the items, first those that have less, and of equal ones those that free more
	keys  []uint64
	most  [][]int64 // by row: what items free, the most last
	count tally     // of most
	first tally     // of cheap
	spare []int64   // by row: what these free beyond what is needed
}

// tally is so many items, what they free by row, and what as many of the cheapest have of the criterion.
type tally struct {
	items int
	freed []int64
	sum   int64
}

// begin turns to criterion k of s.
func (f *fewest) begin(s *site, k int) {
	f.site, f.has = s, s.column(k)
	f.sortCheap()
	for _, t := range []*tally{&f.count, &f.first} {
		*t = tally{freed: append(t.freed[:0], make([]int64, len(s.rows))...)}
	}
	f.most = slices.Grow(f.most, len(s.rows))[:len(s.rows)]
	for r := range s.rows {
		f.most[r] = append(f.most[r][:0], s.rows[r].frees...)
		slices.Sort(f.most[r])
	}
}

// add lets t have so many items.
func (f *fewest) add(t *tally, items int) {
	for ; t.items < items; t.items++ {
		t.sum = checked.Add(t.sum, f.has[f.cheap[t.items]])
	}
}

// cost is what they have of the criterion at least, and the dearest of them; nothing where such sums end.
func (f *fewest) cost() (atLeast, dearest int64) {
	for r, frees := range f.most {
		for f.count.freed[r] < f.rows[r].need {
			last := len(frees) - 1
			f.count.freed[r], frees = f.count.freed[r]+frees[last], frees[:last]
		}
		f.most[r] = frees
		f.add(&f.count, len(f.cheap)-len(frees))
	}
	dearest = f.has[f.cheap[f.count.items-1]]
	if checked.Mul(dearest, int64(f.count.items)) == math.MaxInt64 {
		return 0, 0
	}
	return f.count.sum, dearest
}

// some is what some evictions have of the criterion: the first of cheap that are enough, but for those of them who are not needed.
func (f *fewest) some() (sum int64) {
	f.spare = f.spare[:0]
	for r := range f.rows {
		for f.first.freed[r] < f.rows[r].need { // those who are enough for fewer members are among them
			i := f.cheap[f.first.items]
			for r := range f.rows {
				f.first.freed[r] += f.rows[r].frees[i]
			}
			f.add(&f.first, f.first.items+1)
		}
	}
	for r := range f.rows {
		f.spare = append(f.spare, f.first.freed[r]-f.rows[r].need)
	}
	sum = f.first.sum
	for _, i := range slices.Backward(f.cheap[:f.first.items]) {
		needed := false
		for r, v := range f.spare {
			needed = needed || f.rows[r].frees[i] > v
		}
		if needed {
			continue
		}
		for r := range f.spare {
			f.spare[r] -= f.rows[r].frees[i]
		}
		sum -= f.has[i]
	}
	return sum
}

// sortCheap sorts the items: by numbers into which all that decides is packed, where there is room for that.
func (f *fewest) sortCheap() {
	f.cheap, f.keys = f.cheap[:0], f.keys[:0]
	for i := range f.items {
		f.cheap, f.keys = append(f.cheap, i), append(f.keys, 0)
	}
	place := bits.Len(uint(len(f.items)))
	width := f.pack(f.has, false) + place
	for r := range f.rows {
		width += f.pack(f.rows[r].frees, true)
	}
	if width > 64 {
		slices.SortFunc(f.cheap, f.compare)
		return
	}
	for i := range f.keys {
		f.keys[i] = f.keys[i]<<place | uint64(i)
	}
	slices.Sort(f.keys)
	for i, key := range f.keys {
		f.cheap[i] = int(key & (1<<place - 1))
	}
}

// pack lets keys tell those apart by a column who are equal in them, and returns how many bits that takes.
func (f *fewest) pack(column []int64, falling bool) (width int) {
	all, flip := uint64(0), uint64(0)
	for _, v := range column {
		all |= uint64(v)
	}
	shift := bits.TrailingZeros64(all)
	if width = bits.Len64(all >> shift); falling {
		flip = 1<<width - 1
	}
	for i, v := range column {
		f.keys[i] = f.keys[i]<<width | uint64(v)>>shift ^ flip
	}
	return width
}

func (f *fewest) compare(i, j int) int {
	c := cmp.Compare(f.has[i], f.has[j])
	for r := 0; r < len(f.rows) && c == 0; r++ {
		c = cmp.Compare(f.rows[r].frees[j], f.rows[r].frees[i])
	}
	if c == 0 {
		return cmp.Compare(i, j)
	}
	return c
}

// weighCosts searches for what weighs most where more may be shown than is, and returns how often.
func (p *gang) weighCosts(s *site, k int) (weighed int) {
	s.weighed, s.curve = true, nil
	st := p.stageOf(s, k)
	for i := range s.costs {
		c := &s.costs[i]
		if c.atLeast == c.atMost {
			continue
		}
		p.q.GoOn()
		p.ask(s, c.members)
		st.most = c.atMost - 1
		b := st.balance()
		b.weigh()
		c.learn(b)
		weighed++
	}
	return weighed
}

// learn keeps the weights of b if they say more than those before.
func (c *cost) learn(b *balance) {
	if atLeast := min(b.atLeast(), c.atMost); atLeast > c.atLeast {
		c.atLeast, c.weights = atLeast, b.taken()
	}
}

// ask lets s have room for so many members, and reports whether something is missing then.
func (p *gang) ask(s *site, members int64) (missing bool) {
	for r := range s.rows {
		s.rows[r].need = checked.Sub(checked.Mul(members, s.each[r]), s.free[r])
		missing = missing || s.rows[r].need > 0
	}
	return missing
}

// taken lists the weights of the lines.
func (b *balance) taken() (weights []int64) {
	for _, lines := range [][]line{b.rows, b.caps} {
		for i := range lines {
			weights = append(weights, lines[i].weight)
		}
	}
	return weights
}

// take gives the lines weights that were taken from them.
func (b *balance) take(weights []int64) {
	for _, lines := range [][]line{b.rows, b.caps} {
		for i := range lines {
			lines[i].weight, weights = weights[0], weights[1:]
		}
	}
}

// points are the numbers of members up to which costs stay as they are, with what they are then.
func (s *site) points() []segment {
	if s.curve == nil {
		last := segment{}
		s.curve = make([]segment, 0, len(s.costs)+1)
		for i := range s.costs {
			if c := &s.costs[i]; c.atLeast > last.cost {
				last.members = c.members - 1
				s.curve = append(s.curve, last)
				last.cost = c.atLeast
			}
		}
		last.members = s.seats
		s.curve = append(s.curve, last)
	}
	return s.curve
}

// hull appends to list, which is empty, the segments of the lower hull of the points, from no members on.
func (s *site) hull(list []segment) []segment {
	at := segment{}
	for _, to := range s.points() {
		g := segment{to.members - at.members, to.cost - at.cost}
		if at = to; g.members == 0 {
			continue
		}
		for len(list) > 0 && g.compare(list[len(list)-1]) < 0 {
			before := list[len(list)-1]
			g, list = segment{g.members + before.members, g.cost + before.cost}, list[:len(list)-1]
		}
		list = append(list, g)
	}
	return list
}

// spare is how much less than their price members on s may cost.
func (s *site) spare(of Domain) (most int64) {
	for _, to := range s.points() {
		most = max(most, checked.Sub(checked.Mul(of.Price, to.members), checked.Mul(of.Times, to.cost)))
	}
	return most
}

// nodesOf shows that members on the sites cost no less than their price but for what is spared. A site is not
// told of where all is.
func (p *gang) nodesOf(list []*site, of Domain) (shown []Nodes) {
	at := map[string]int{}
	var key []byte
	for _, s := range list {
		spare := s.spare(of)
		steps := p.steps(s, of, spare)
		if len(steps) == 0 {
			continue
		}
		key, _ = text(binary.AppendVarint(key[:0], spare), steps)
		if first, known := at[string(key)]; known {
			shown[first].Nodes = append(shown[first].Nodes, s.node)
			continue
		}
		at[string(key)] = len(shown)
		shown = append(shown, Nodes{Nodes: []cluster.NodeID{s.node}, Spare: spare, Steps: steps})
		p.words = words{} // these are kept
	}
	return shown
}

// words are the memory of steps.
type words struct {
	steps   []Step
	cases   []Case
	weights []Weight
}

// steps show it of one site, each for as many numbers of members as it can. They are good until the next ones.
func (p *gang) steps(s *site, of Domain, spare int64) []Step {
	type shown struct {
		*cost
		least int64 // of these it has to be shown
	}
	var list []shown
	points := s.points()
	for i := range s.costs {
		c := &s.costs[i]
		if c.atLeast <= points[0].cost {
			continue
		}
		points = points[1:]
		least := ceil(max(of.Price*points[0].members-spare, 0), of.Times)
		if last := len(list) - 1; last >= 0 && least <= list[last].atLeast {
			list[last].least = least
		} else if least > 0 {
			list = append(list, shown{c, least})
		}
	}
	st := p.stageOf(s, of.Criterion)
	w := &p.words
	w.steps, w.cases, w.weights = w.steps[:0], w.cases[:0], w.weights[:0]
	for _, c := range list {
		from := len(w.weights)
		if c.count > 0 {
			w.weights = append(w.weights, Weight{Term{Kind: Count}, c.count}, Weight{Term{Criterion, of.Criterion}, 1})
		} else {
			p.ask(s, c.members)
			b := st.balance()
			b.take(c.weights)
			b.simplify(c.least - 1)
			w.weights = append(w.weights, b.weights()...)
		}
		w.cases = append(w.cases, Case{Pod: cluster.NoPod, Weights: slices.Clip(w.weights[from:])})
		last := len(w.cases) - 1
		w.steps = append(w.steps, Step{Criterion: of.Criterion, Members: c.members, Cases: w.cases[last : last+1 : last+1]})
	}
	return w.steps
}
