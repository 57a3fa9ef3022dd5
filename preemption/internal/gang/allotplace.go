package gang

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/allot"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// place is a node on which members may run.
type place struct {
	node    cluster.NodeID
	mixes   *allot.Mixes    // of members, and of what victims use up of caps
	closed  []bool          // by shape: none of its members may run here
	asks    [][]int64       // by resource that members ask for, and by shape: how much
	free    []int64         // likewise, with everybody in place
	items   []item          // who may go, most important first, where their number
	level   int64           // is not above it
	highest int64           // number of one who may
	stays   []cluster.PodID // of others, of whom the trial has to know
	trial   *placeTrial     // has a say beside the numbers; nil: they decide alone
	seats   int             // the largest mix of members for which there is room without them
	holds   []bool          // by mix; nil: any up to seats
	caps    int             // that are kinds of the mixes, after the shapes
	numSums int             // that are numbers of a price
	bound   []allot.Price
	found   []*found // by mix-1; nil: not looked for
	hull    allot.Hull
}

// item is a unit that may go.
type item struct {
	unit   victims.UnitID
	number int64
	pods   []cluster.PodID // of whom the trial has to know: constraints look at them, or they hold ports
	frees  []int64         // by resource that a member asks for
	uses   []int64         // by cap
	price  allot.Price
}

// found is who has to go for a mix of members.
type found struct {
	items  []int       // of the place
	price  allot.Price // no others cost less
	proved bool        // items cost that
	none   bool        // no items were found that keep within the caps; there may be some
}

// newPlace returns node n, whose potential victims are out; nil if no member may run there.
func (s *allotting) newPlace(n cluster.NodeID) *place {
	p := &place{node: n, level: math.MaxInt64, mixes: s.mixes, asks: slices.Clip(s.asks)}
	if p.closed = s.closed(n); !slices.Contains(p.closed, false) {
		return nil
	}
	member, free := s.Trial.Member(s.shapes[0][0]), s.Trial.Free(n)
	only := s.Trial.OnlyRoom()
	for _, r := range s.asked {
		p.free = append(p.free, free[r])
	}
	evictable := s.q.Evictable(n)
	p.items = make([]item, 0, len(evictable))
	frees := make([]int64, len(evictable)*len(s.asked))
	for _, u := range evictable {
		unit := s.q.Units.Unit(u)
		if !s.out(u) {
			continue
		}
		it := item{unit: u, frees: frees[:len(s.asked):len(s.asked)]}
		frees = frees[len(s.asked):]
		for _, pod := range unit.Pods {
			if !only && (s.Trial.Matters(pod) || len(s.q.Index.Pod(pod).Ports) > 0) { // nobody is placed
				it.pods = append(it.pods, pod)
			}
			request := s.q.Index.Request(pod)
			for k, r := range s.asked {
				it.frees[k] += request[r]
				p.free[k] -= request[r]
			}
		}
		p.items = append(p.items, it)
	}
	switch {
	case only:
	case len(s.shapes) > 1:
		p.trial = &placeTrial{s, p, nil}
	default:
		pods := func(i int) []cluster.PodID { return s.q.Units.Unit(p.items[i].unit).Pods }
		row, tells := ask.SlotRow(s.q.Index, n, member.Pod, len(p.items), pods)
		rows := []ask.Row{row}
		if !tells || len(s.q.States) > 1 || len(member.Pod.Ports) > 0 { // more than devices has a say, whose state is one of them
			p.trial = &placeTrial{s, p, nil}
			rows = ask.DeviceRows(nil, s.q.Index, n, member.Pod, int64(len(s.q.Tree.Members)), len(p.items), pods)
		}
		for _, row := range rows {
			p.asks, p.free = append(p.asks, []int64{row.Asks}), append(p.free, row.Free)
			for i := range p.items {
				p.items[i].frees = append(p.items[i].frees, row.Frees[i])
			}
		}
	}
	p.measure(s.mixes.Len() - 1)
	return p
}

// closed says which shapes of members may not run on node n, whoever goes.
func (s *allotting) closed(n cluster.NodeID) (closed []bool) {
	for _, shape := range s.shapes {
		closed = append(closed, !s.Trial.CanPlace(shape[0], n).OK())
	}
	return closed
}

// asked is how much of resource r the members of a mix ask for.
func (p *place) asked(r, mix int) (sum int64) {
	for i, v := range p.asks[r] {
		sum = checked.Add(sum, checked.Mul(v, int64(p.mixes.Count(mix, i))))
	}
	return sum
}

// lacks is how much of resource r the members of a mix ask for beyond what is free.
func (p *place) lacks(r, mix int) int64 {
	asked := p.asked(r, mix)
	if asked == 0 { // however much less than nothing is free
		return 0
	}
	return max(asked-p.free[r], 0)
}

// rank finds out the highest number of those who may go.
func (p *place) rank() {
	p.highest = math.MinInt64
	for i := range p.items {
		if v := p.items[i].number; v <= p.level {
			p.highest = max(p.highest, v)
		}
	}
}

// measure finds out for which mixes of members, up to most, there is room.
func (p *place) measure(most int) {
	p.rank()
	rooms := slices.Clone(p.free)
	for i := range p.items {
		if p.items[i].number > p.level {
			continue
		}
		for k, v := range p.items[i].frees {
			rooms[k] += v
		}
	}
	seats := int64(most)
	p.holds = nil
	if p.mixes.Kinds() == 1 {
		for k, asks := range p.asks {
			seats = min(seats, max(rooms[k], 0)/asks[0])
		}
	}
	switch p.seats = int(seats); {
	case p.mixes.Kinds() > 1:
		p.mix(rooms)
	case p.trial != nil:
		p.seats = p.enters(p.seats)
	}
	p.found, p.bound = make([]*found, p.seats), nil
}

// keepWithin lets items go that keep within caps alone, by mixes that have so much of each of these.
func (p *place) keepWithin(caps []reprieve.Cap, mixes *allot.Mixes) {
	p.mixes, p.caps = mixes, len(caps)
	for i := range p.items {
		it := &p.items[i]
		it.uses = make([]int64, len(caps))
		for k, c := range caps {
			it.uses[k] = c.Weight(it.unit)
		}
	}
	p.measure(mixes.Len() - 1)
}

// mix finds out which mixes have that room.
func (p *place) mix(rooms []int64) {
	p.holds = make([]bool, p.seats+1)
	for mix := range p.holds {
		p.holds[mix] = true
		for i, closed := range p.closed {
			p.holds[mix] = p.holds[mix] && (!closed || p.mixes.Count(mix, i) == 0)
		}
		for r, room := range rooms {
			p.holds[mix] = p.holds[mix] && p.asked(r, mix) <= max(room, 0)
		}
		p.holds[mix] = p.holds[mix] && (p.trial == nil || p.enters(mix) == p.mixes.Total(mix))
	}
}

// enters is how many members of a mix the trial has a place for with everybody gone who may go.
func (p *place) enters(mix int) int {
	defer p.trial.leave()
	return p.trial.enter(p, mix)
}

// may reports whether a mix of members has room with everybody gone who may go.
func (p *place) may(mix int) bool { return mix <= p.seats && (p.holds == nil || p.holds[mix]) }

// within is p where nobody goes whose number is above level. What is known of p stays known
// where it is true of it, and what seats cost is what it was.
func (p *place) within(level int64) *place {
	if p.highest <= level {
		return p
	}
	w := *p
	w.level = level
	w.measure(p.seats)
	for mix := range w.holds { // with fewer who may go nothing more holds
		w.holds[mix] = w.holds[mix] && p.may(mix)
	}
	w.bound = make([]allot.Price, w.seats)
	for k := range w.found {
		if !w.may(k + 1) {
			continue
		}
		w.bound[k] = p.least(k + 1)
		if f := p.found[k]; f != nil {
			if w.bound[k] = f.price; !slices.ContainsFunc(f.items, func(i int) bool { return p.items[i].number > level }) {
				w.found[k] = f
			}
		}
	}
	return &w
}

// only is p without the items that may not go, so that the others can get other numbers.
func (p *place) only() *place {
	who := p.eligible()
	if len(who) == len(p.items) {
		p.level = math.MaxInt64
		return p
	}
	w := &place{
		node: p.node, mixes: p.mixes, closed: p.closed, asks: p.asks, free: p.free, seats: p.seats, holds: p.holds, caps: p.caps, numSums: p.numSums, bound: p.bound, level: math.MaxInt64,
		trial: p.trial, stays: slices.Clone(p.stays), hull: p.hull,
	}
	for i := range p.items {
		if p.items[i].number > p.level {
			w.stays = append(w.stays, p.items[i].pods...)
		}
	}
	at := make([]int, len(p.items))
	for to, i := range who {
		at[i] = to
		w.items = append(w.items, p.items[i])
	}
	for _, f := range p.found {
		if f != nil {
			f = &found{slices.Clone(f.items), f.price, f.proved, f.none}
			for k, i := range f.items {
				f.items[k] = at[i]
			}
		}
		w.found = append(w.found, f)
	}
	return w
}

// eligible lists the items that may go.
func (p *place) eligible() []int {
	who := make([]int, 0, len(p.items))
	for i := range p.items {
		if p.items[i].number <= p.level {
			who = append(who, i)
		}
	}
	return who
}

// charge prices the items anew.
func (p *place) charge(s *allotting) {
	for i := range p.items {
		it := &p.items[i]
		for j, sum := range s.sums {
			it.price[j] = sum(it.unit, s.q.Units.Unit(it.unit).Pods)
			s.total[j] = checked.Add(s.total[j], it.price[j])
		}
	}
	p.bound, p.hull, p.numSums = nil, nil, len(s.sums)
	clear(p.found)
}

// least is what a mix of members costs at least, by one resource at a time.
func (p *place) least(mix int) allot.Price {
	if p.bound == nil {
		p.estimate()
	}
	return p.bound[mix-1]
}

// estimate finds p.bound, number by number of the prices.
func (p *place) estimate() {
	p.bound = make([]allot.Price, p.seats)
	who := p.eligible()
	prices, frees := make([]int64, len(who)), make([]int64, 0, len(who))
	missing := p.missing()
	for j := range p.numSums {
		for k, i := range who {
			prices[k] = p.items[i].price[j]
		}
		slices.Sort(prices)
		for r, list := range missing {
			if len(list) == 0 {
				continue
			}
			if prices[0] < prices[len(prices)-1] {
				p.byParts(who, r, j, list)
			}
			p.byCount(who, r, j, list, prices, frees)
		}
	}
}

// lack is how much of a resource a mix of members asks for beyond what is free.
type lack struct {
	mix    int
	amount int64
}

// missing lists by resource which mixes lack some of it, the least lack first.
func (p *place) missing() [][]lack {
	lists := make([][]lack, len(p.asks))
	for r := range p.asks {
		for mix := 1; mix <= p.seats; mix++ {
			if lacks := p.lacks(r, mix); lacks > 0 && p.may(mix) {
				lists[r] = append(lists[r], lack{mix, lacks})
			}
		}
		if p.holds != nil {
			slices.SortFunc(lists[r], func(a, b lack) int { return cmp.Compare(a.amount, b.amount) })
		}
	}
	return lists
}

// byParts bounds number j by resource r: a part of an item goes at a part of its price.
func (p *place) byParts(who []int, r, j int, lacks []lack) {
	order := make([]*item, 0, len(who))
	for _, i := range who {
		if p.items[i].frees[r] > 0 {
			order = append(order, &p.items[i])
		}
	}
	slices.SortFunc(order, func(a, b *item) int { return checked.CompareProducts(a.price[j], b.frees[r], b.price[j], a.frees[r]) })
	taken, freed, price := 0, int64(0), int64(0)
	for _, l := range lacks {
		for ; taken < len(order) && freed+order[taken].frees[r] <= l.amount; taken++ {
			freed += order[taken].frees[r]
			price += order[taken].price[j]
		}
		part := int64(0)
		if l.amount > freed { // then there is another item, or there were no room
			more, rest := checked.MulDiv(order[taken].price[j], l.amount-freed, order[taken].frees[r])
			if part = more; rest {
				part++
			}
		}
		p.bound[l.mix-1][j] = max(p.bound[l.mix-1][j], price+part)
	}
}

// byCount bounds number j by resource r: as few items go as free enough, each of them one of the
// cheapest: prices are those of all, in order. Where they are equal no part of an item is a better bound.
func (p *place) byCount(who []int, r, j int, lacks []lack, prices, frees []int64) {
	for _, i := range who {
		frees = append(frees, p.items[i].frees[r])
	}
	slices.Sort(frees)
	taken, freed, price := 0, int64(0), int64(0)
	for _, l := range lacks {
		for ; freed < l.amount; taken++ {
			freed += frees[len(frees)-1-taken]
			price += prices[taken]
		}
		p.bound[l.mix-1][j] = max(p.bound[l.mix-1][j], price)
	}
}

// look looks for the cheapest who have to go for a mix, within so many steps; nil: nobody will do.
func (p *place) look(mix, most int, poll func()) (f *found, steps int) {
	f = &found{}
	who := p.eligible()
	problem := cover.Problem{Items: len(who), AtMost: math.MaxInt64, Any: true, Poll: poll}
	for r := range p.asks {
		if missing := p.lacks(r, mix); missing > 0 {
			row := make([]int64, len(who))
			for at, i := range who {
				row[at] = p.items[i].frees[r]
			}
			problem.Need, problem.Frees = append(problem.Need, missing), append(problem.Frees, cover.RowOf(row))
		}
	}
	if f.proved = true; len(problem.Need) == 0 && p.trial == nil {
		return f, 0
	}
	for c := range p.caps {
		row := make([]int64, len(who))
		for at, i := range who {
			row[at] = p.items[i].uses[c]
		}
		room := p.mixes.Count(mix, len(p.closed)+c)
		problem.Sides = append(problem.Sides, cover.Side{Weight: cover.RowOf(row), Room: int64(room), Fine: cover.Hard})
	}
	spares := func(chosen []bool, i int) bool { return spared(&problem, chosen, i) }
	if t := p.trial; t != nil {
		t.enter(p, mix)
		defer t.leave()
		problem.Trial, problem.Alike = t, func(a, b int) bool { return false }
		spares = func(chosen []bool, i int) bool { return spared(&problem, chosen, i) && t.spares(chosen, i) }
	}
	chosen := make([]bool, len(who))
	for at := range chosen {
		chosen[at] = true
	}
	sums := p.numSums
	if p.caps > 0 { // within them there may be nobody at any price
		sums = max(sums, 1)
	}
	for j := 0; j < sums; {
		merged := p.merge(who, j)
		problem.Price, problem.Steps = merged.price, most-steps
		a := cover.Solve(&problem)
		if steps += a.Steps; a.Chosen != nil {
			chosen = a.Chosen
		} else if f.none = j == 0 && p.caps > 0; f.none && a.Proved {
			return nil, steps
		}
		merged.split(a.Bound, f.price[j:])
		if f.proved = a.Proved; !f.proved {
			break
		}
		problem.Sides = append(problem.Sides, cover.Side{Weight: cover.RowOf(merged.price), Room: a.Bound, Fine: cover.Hard})
		j += len(merged.radix)
	}
	if f.none {
		return f, steps
	}
	for at, i := range who { // who costs nothing need not go
		if chosen[at] = chosen[at] && !spares(chosen, at); chosen[at] {
			f.items = append(f.items, i)
		}
	}
	return f, steps
}

// spared reports whether the chosen items free what is needed without item i, too.
func spared(p *cover.Problem, chosen []bool, i int) bool {
	for r, missing := range p.Need {
		for _, c := range p.Frees[r] {
			if chosen[c.Item] && c.Item != i {
				missing -= c.Amount
			}
		}
		if missing > 0 {
			return false
		}
	}
	return true
}

// merged are several numbers of prices as one.
type merged struct {
	price []int64 // by item
	radix []int64 // by number but the first: sums of it are below
}

// merge makes one number of as many of those from first on as fit an int64, at least one.
func (p *place) merge(who []int, first int) merged {
	m := merged{price: make([]int64, len(who)), radix: []int64{0}}
	most := int64(0)
	for at, i := range who {
		m.price[at] = p.items[i].price[first]
		most = checked.Add(most, m.price[at])
	}
	for j := first + 1; j < p.numSums; j++ {
		radix := int64(1)
		for _, i := range who {
			radix = checked.Add(radix, p.items[i].price[j])
		}
		if most = checked.Mul(checked.Add(most, 1), radix); most == math.MaxInt64 {
			break
		}
		for at, i := range who {
			m.price[at] = m.price[at]*radix + p.items[i].price[j]
		}
		m.radix = append(m.radix, radix)
	}
	return m
}

// split puts the numbers of which sum was made into numbers.
func (m *merged) split(sum int64, numbers []int64) {
	for j := len(m.radix) - 1; j > 0; j-- {
		numbers[j] = sum % m.radix[j]
		sum /= m.radix[j]
	}
	numbers[0] = sum
}
