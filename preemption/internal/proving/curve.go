package proving

import (
	"cmp"
	"encoding/binary"
	"math"
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
	var all []segment
	for _, s := range list {
		all = append(all, s.hull()...)
	}
	slices.SortFunc(all, segment.compare)
	left := p.seats
	for _, g := range all {
		if left -= g.members; left <= 0 {
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
	st := p.stageOf(s.ground, k, 0)
	s.seats, s.curve, s.weighed = p.seatsOn(st, s), nil, false
	few, half := st.fewest(), int64(most/2)
	s.costs = make([]cost, 0, min(int64(most), s.seats))
	for i := range min(int64(most), s.seats) {
		members := i + 1
		if s.seats > int64(most) && members > half {
			members = half + (i-half+1)*(s.seats-half)/(int64(most)-half)
		}
		if !p.ask(s, members) {
			continue
		}
		c := cost{members: members, atMost: st.some()}
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

// fewest tells of more and more members what as many as have to go cost if they are the cheapest.
type fewest struct {
	*stage
	most  [][]int64 // by row: what items free whom it does not count yet, the most last
	freed []int64   // by row: what the others free
	sum   int64     // of the criterion
	out   int       // so many have it
}

func (s *stage) fewest() *fewest {
	f := &fewest{stage: s, freed: make([]int64, len(s.rows)), most: make([][]int64, 0, len(s.rows))}
	s.sortCheap()
	for r := range s.rows {
		frees := make([]int64, 0, len(s.cheap))
		for _, i := range s.cheap {
			frees = append(frees, s.rows[r].frees[i])
		}
		slices.Sort(frees)
		f.most = append(f.most, frees)
	}
	return f
}

// cost is what they have of the criterion at least, and the dearest of them; nothing where such sums end.
func (f *fewest) cost() (atLeast, dearest int64) {
	for r, frees := range f.most {
		for f.freed[r] < f.rows[r].need {
			last := len(frees) - 1
			f.freed[r], frees = f.freed[r]+frees[last], frees[:last]
		}
		f.most[r] = frees
		for ; f.out < len(f.cheap)-len(frees); f.out++ {
			f.sum = checked.Add(f.sum, f.items[f.cheap[f.out]].has[f.k])
		}
	}
	dearest = f.items[f.cheap[f.out-1]].has[f.k]
	if checked.Mul(dearest, int64(f.out)) == math.MaxInt64 {
		return 0, 0
	}
	return f.sum, dearest
}

// weighCosts searches for what weighs most where more may be shown than is, and returns how often.
func (p *gang) weighCosts(s *site, k int) (weighed int) {
	s.weighed, s.curve = true, nil
	st := p.stageOf(s.ground, k, 0)
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

// sortCheap sorts the open items by what they have of the criterion, and of equal ones those first that free more.
func (s *stage) sortCheap() {
	s.cheap = s.cheap[:0]
	for i, state := range s.state {
		if state == open {
			s.cheap = append(s.cheap, i)
		}
	}
	slices.SortFunc(s.cheap, func(i, j int) int {
		c := cmp.Compare(s.items[i].has[s.k], s.items[j].has[s.k])
		for r := 0; r < len(s.rows) && c == 0; r++ {
			c = cmp.Compare(s.rows[r].frees[j], s.rows[r].frees[i])
		}
		if c == 0 {
			return cmp.Compare(i, j)
		}
		return c
	})
}

// some is what some evictions have of the criterion: the first of cheap that are enough, but for those of them who are not needed.
func (s *stage) some() (sum int64) {
	missing := make([]int64, len(s.rows))
	for r := range s.rows {
		missing[r] = s.rows[r].need
	}
	free := func(i int, sign int64) (enough bool) {
		enough = true
		for r := range missing {
			missing[r] -= sign * s.rows[r].frees[i]
			enough = enough && missing[r] <= 0
		}
		return enough
	}
	out := 0
	for enough := false; out < len(s.cheap) && !enough; out++ {
		enough = free(s.cheap[out], 1)
		sum = checked.Add(sum, s.items[s.cheap[out]].has[s.k])
	}
	for _, i := range slices.Backward(s.cheap[:out]) {
		if free(i, -1) {
			sum -= s.items[i].has[s.k]
		} else {
			free(i, 1)
		}
	}
	return sum
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

// rising lists those of the costs that are more than what fewer members cost.
func (s *site) rising() (list []cost) {
	most := int64(0)
	for _, c := range s.costs {
		if c.atLeast > most {
			most, list = c.atLeast, append(list, c)
		}
	}
	return list
}

// points are the numbers of members up to which costs stay as they are, with what they are then.
func (s *site) points() []segment {
	if s.curve == nil {
		last := segment{}
		for _, c := range s.rising() {
			last.members = c.members - 1
			s.curve = append(s.curve, last)
			last.cost = c.atLeast
		}
		last.members = s.seats
		s.curve = append(s.curve, last)
	}
	return s.curve
}

// hull lists the segments of the lower hull of the points, from no members on.
func (s *site) hull() (list []segment) {
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
	for _, s := range list {
		told := Nodes{Nodes: []cluster.NodeID{s.node}, Spare: s.spare(of), Steps: p.steps(s, of)}
		if len(told.Steps) == 0 {
			continue
		}
		key, _ := text(told.Steps)
		key = string(binary.AppendVarint(nil, told.Spare)) + key
		if first, known := at[key]; known {
			shown[first].Nodes = append(shown[first].Nodes, s.node)
			continue
		}
		at[key] = len(shown)
		shown = append(shown, told)
	}
	return shown
}

// steps show it of one site, each for as many numbers of members as it can.
func (p *gang) steps(s *site, of Domain) (steps []Step) {
	type shown struct {
		*cost
		least int64 // of these it has to be shown
	}
	var list []shown
	points, rising := s.points(), s.rising()
	for i := range rising {
		least := ceil(max(of.Price*points[i+1].members-s.spare(of), 0), of.Times)
		if last := len(list) - 1; last >= 0 && least <= list[last].atLeast {
			list[last].least = least
		} else if least > 0 {
			list = append(list, shown{&rising[i], least})
		}
	}
	st := p.stageOf(s.ground, of.Criterion, 0)
	for _, c := range list {
		if c.count > 0 {
			steps = append(steps, Step{Criterion: of.Criterion, Members: c.members, Cases: []Case{{Pod: cluster.NoPod, Weights: []Weight{
				{Term{Kind: Count}, c.count}, {Term{Criterion, of.Criterion}, 1},
			}}}})
			continue
		}
		p.ask(s, c.members)
		b := st.balance()
		b.take(c.weights)
		b.simplify(c.least - 1)
		steps = append(steps, Step{Criterion: of.Criterion, Members: c.members, Cases: []Case{{Pod: cluster.NoPod, Weights: b.weights()}}})
	}
	return steps
}
