package proving

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// gang is one proof about a gang in the making.
type gang struct {
	*prover
	trial *domain.GangTrial
	kinds []*domain.Member                    // one of each shape
	each  []int64                             // what every member asks for at least, by resource
	alike bool                                // all ask for the same devices, wherever they go
	given map[cluster.NodeID][]*domain.Member // who is to go where; nil: anybody may go anywhere
	seats int64                               // so many members are to have places
	out   []victims.UnitID                    // the victims of the answer
	parts victims.Parts
	home  map[victims.UnitID]cluster.NodeID
}

// stageOf is a stage of those whom narrow has left. It is good until the next one.
func (p *gang) stageOf(s *site, k int) *stage { return p.renew(&p.stage, &s.ground, k, 0) }

// ProveGang shows of evictions in domains with which at least so many members have places that they have
// no less than bound, or than as much of it as it can. out are those that the answer has found, runner is of the question.
//
// What units cost on several nodes counts on the first of them by name, and members count as if each asked for the
// least that any asks for. Where their placement is given, those on one node are one member. O(nodes x items), for a criterion
// at most sumsInAll times, or twice for each node, and at most weighedInAll of cover.Relax. Of many kinds of members in many
// nodes it shows nothing.
func ProveGang(q *ask.Question, runner *reprieve.Runner, domains []domain.Domain, seats int, bound []int64, out []victims.UnitID, parts victims.Parts) Proof {
	p := newGang(q, runner, seats, bound)
	defer p.leave()
	p.out, p.parts = out, parts
	if !p.few() {
		return Proof{}
	}
	proof := Proof{}
	for i := range domains {
		proof.Domains = append(proof.Domains, p.domain(i, &domains[i])...)
	}
	proof.Bound = p.bound
	proof.Domains = slices.DeleteFunc(proof.Domains, func(d Domain) bool { return d.Criterion >= len(p.bound) })
	return proof
}

// RefuteGang shows that no evictions make room for so many members; false if it can't.
func RefuteGang(q *ask.Question, runner *reprieve.Runner, domains []domain.Domain, seats int) (proof Proof, ok bool) {
	p := newGang(q, runner, seats, nil)
	defer p.leave()
	if !p.few() {
		return Proof{}, false
	}
	for i := range domains {
		list, _ := p.survey(&domains[i])
		if p.room(list) >= p.seats {
			return Proof{}, false
		}
		proof.Domains = append(proof.Domains, Domain{Domain: i, Criterion: none, Price: 1})
	}
	return proof, true
}

// mostPairs is for how many pairs of a kind of members and a node it is asked whether those may run there.
const mostPairs = 1 << 22

// few reports whether there are no more of them.
func (p *gang) few() bool { return len(p.kinds) <= mostPairs/max(p.q.Index.NumNodes(), 1) }

func newGang(q *ask.Question, runner *reprieve.Runner, seats int, bound []int64) *gang {
	p := &gang{prover: newProver(q, nil, runner, bound), trial: q.GangTrial(), seats: int64(seats), home: map[victims.UnitID]cluster.NodeID{}}
	p.summed = true
	for m := range q.Members {
		if p.trial.Shape(domain.MemberID(m)) == m { // the first of its shape
			p.kinds = append(p.kinds, q.Members[m])
		}
	}
	for r := range q.Index.NumResources() {
		least := int64(math.MaxInt64)
		for _, m := range q.Members {
			least = min(least, m.Request()[r])
		}
		p.each = append(p.each, least)
	}
	p.alike = q.Given == nil && !slices.ContainsFunc(p.kinds, func(m *domain.Member) bool {
		return !slices.EqualFunc(m.Pod.Devices, p.kinds[0].Pod.Devices, cluster.DeviceRequest.AsksAs)
	})
	if q.Given != nil {
		p.given = map[cluster.NodeID][]*domain.Member{}
		for _, a := range q.Given {
			p.given[a.Node] = append(p.given[a.Node], q.Members[a.Member])
		}
		p.seats = int64(len(p.given))
	}
	return p
}

// membersOn tells what a member on n asks for at least, by resource, and how many may be there. Those who are to go there
// are one.
func (p *gang) membersOn(n cluster.NodeID) (each []int64, most int64) {
	runs := func(m *domain.Member) bool { return m.Static(p.q.Index.Node(n)).OK() }
	if p.given == nil {
		if !slices.ContainsFunc(p.kinds, runs) {
			return nil, 0
		}
		return p.each, p.seats
	}
	list := p.given[n]
	if len(list) == 0 || slices.ContainsFunc(list, func(m *domain.Member) bool { return !runs(m) }) {
		return nil, 0
	}
	each = make([]int64, len(p.each))
	for _, m := range list {
		for r, v := range m.Request() {
			each[r] = checked.Add(each[r], v)
		}
	}
	return each, 1
}

// site is a node on which members may run.
type site struct {
	ground
	node  cluster.NodeID
	each  []int64   // what a member asks for at least, by resource that is asked for
	free  []int64   // of each of these, with everybody in place
	most  int64     // so many members may be there, as far as there is room
	seats int64     // for so many there is if all go whom narrow has left
	costs []cost    // of more and more members
	curve []segment // see points

	weighed bool // costs are the most that can be shown
}

// cost is what evictions have of a criterion at least with which so many members, or more, have places on a site.
type cost struct {
	members, atLeast int64
	atMost           int64   // some evictions have no more
	count            int64   // against 1 of the criterion, the weight of how many have to go that says so; 0: others do
	weights          []int64 // of the lines of a balance that says so
}

// survey lists the sites of d, and tells what items there are to be priced by. Whoever may go from another node of it counts for the
// levels: he may be the first victim.
func (p *gang) survey(d *domain.Domain) (list []*site, aims []reprieve.Aim) {
	p.units = p.units[:0]
	for _, n := range d.Nodes {
		p.q.GoOn()
		from := len(p.units)
		p.evictable(n)
		if each, most := p.membersOn(n); most > 0 {
			s := &site{node: n, most: most}
			p.settle(s, p.units[from:], each)
			list = append(list, s)
		}
	}
	levels := p.levelsOf(p.units)
	for _, s := range list {
		p.rank(&s.ground, levels)
		p.overrunBy(&s.ground)
	}
	charged := slices.DeleteFunc(p.units, func(u victims.UnitID) bool {
		unit := p.q.Units.Unit(u)
		if w := p.q.Whole(u, unit.Pods); w != nil {
			return len(w.Budgets) == 0
		}
		return !slices.ContainsFunc(unit.Pods, func(pod cluster.PodID) bool { return len(p.q.Budgets.Of(pod)) > 0 })
	})
	slices.Sort(charged)
	charged = p.q.Units.Sorted(slices.Compact(charged))
	return list, p.q.Aims(p.runner, charged, slices.Clone(p.runner.Charge(charged)))
}

// narrow leaves those out who have more than the bound of criterion k. What they have of those beyond it has not been looked at.
func (p *gang) narrow(list []*site, k int) {
	var left []int
	for _, s := range list {
		left = left[:0]
		for i := range s.items {
			if !p.beyond(&s.ground, i, k, p.bound[k]) {
				left = append(left, i)
			}
		}
		if len(left) == len(s.items) {
			continue
		}
		for at := range k + 1 {
			keep(s.column(at), left)
		}
		s.items = keep(s.items, left)
		for r := range s.rows {
			s.rows[r].frees = keep(s.rows[r].frees, left)
		}
		if s.excess != nil {
			s.excess = keep(s.excess, left)
		}
		s.seat()
	}
}

// keep keeps those of list at some positions, which rise.
func keep[T any](list []T, positions []int) []T {
	for to, from := range positions {
		list[to] = list[from]
	}
	return list[:len(positions)]
}

// evictable adds to units who may go from n, but for those whose eviction alone goes beyond a bound.
func (p *gang) evictable(n cluster.NodeID) {
	for _, u := range p.q.Evictable(n) {
		if !p.q.Own(p.q.Units.Unit(u)) && !p.q.Stuck(u) {
			p.units = append(p.units, u)
		}
	}
}

// settle finds out who may go from s for members who ask for so much each.
func (p *gang) settle(s *site, units []victims.UnitID, each []int64) {
	s.items, p.here = p.items.take(len(units))[:0], p.here[:0]
	for _, u := range units {
		unit := p.q.Units.Unit(u)
		here := p.on(u, unit, s.node)
		p.add(&s.ground, u, unit, here)
		if !unit.Elastic && len(here) < len(unit.Pods) {
			s.items[len(s.items)-1].away = p.homeOf(u) != s.node
		}
	}
	s.width, s.has = len(s.items), p.numbers.take(len(p.bound)*len(s.items))
	free := p.trial.AtHome(s.node)
	for r, least := range each {
		if least == 0 {
			continue
		}
		frees := p.numbers.take(len(s.items))
		for i := range frees {
			for _, pod := range p.here[i] {
				frees[i] += p.q.Index.Request(pod)[r] // at most what runs on the node
			}
		}
		s.each, s.free, s.rows = append(s.each, least), append(s.free, free[r]), append(s.rows, row{resource: r, frees: frees})
	}
	if p.alike {
		for _, d := range p.devices(s.node, s.most) {
			s.each, s.free = append(s.each, d.Asks), append(s.free, d.Free)
			s.rows = append(s.rows, row{resource: p.q.Index.NumResources() + d.Request, frees: d.Frees})
		}
	}
	s.seat()
}

// homeOf is the first node, by name, that a unit has pods on.
func (p *gang) homeOf(u victims.UnitID) cluster.NodeID {
	pods := p.q.Units.Unit(u).Pods
	if len(pods) == 1 {
		return p.q.Index.NodeOf(pods[0])
	}
	home, known := p.home[u]
	if !known {
		home = cluster.NoNode
		for _, pod := range pods {
			if n := p.q.Index.NodeOf(pod); n != cluster.NoNode && (home == cluster.NoNode || p.q.Index.Node(n).Name < p.q.Index.Node(home).Name) {
				home = n
			}
		}
		p.home[u] = home
	}
	return home
}

// domain shows of d, the i-th domain, what it can, and makes the bound smaller where that is less.
func (p *gang) domain(i int, d *domain.Domain) (shown []Domain) {
	list, aims := p.survey(d)
	for k := 0; k < len(p.bound); k++ {
		if k > 0 {
			p.narrow(list, k-1)
		}
		for _, s := range list {
			p.price(&s.ground, k, aims[k])
		}
		of := Domain{Domain: i, Criterion: k, Price: 1}
		atLeast, room := int64(0), p.room(list)
		if p.worst(k) {
			atLeast, room = p.leastWorst(list, k)
		}
		if room < p.seats {
			return append(shown, of) // no victims are as good
		}
		switch {
		case p.bound[k] <= p.least(k):
			continue
		case p.worst(k):
		case k == p.overruns:
			of, atLeast = p.overrun(list, of)
		default:
			of, atLeast = p.sum(list, of)
		}
		if atLeast > p.bound[k] {
			return append(shown, of)
		}
		switch {
		case atLeast <= p.least(k):
			p.bound = p.bound[:k]
			return shown
		case atLeast < p.bound[k]:
			p.bound = append(p.bound[:k:k], atLeast)
		}
		shown = append(shown, of)
	}
	return shown
}

// overrun shows how far budgets are overrun: those of which the victims of the answer take more than there is room, or
// all of it, if that says more.
func (p *gang) overrun(list []*site, of Domain) (shown Domain, atLeast int64) {
	last := -1
	for _, beyond := range []int64{1, 0} {
		of.Budgets, of.room = nil, 0
		for _, b := range p.q.Covering(p.out) {
			charges := int64(0)
			for _, u := range p.out {
				charges += p.q.WeightOf(b, u, p.parts.Of(p.q.Units, u))
			}
			if charges >= checked.Add(b.Room(), beyond) {
				of.Budgets, of.room = append(of.Budgets, b.Budget), checked.Add(of.room, b.Room())
			}
		}
		if len(of.Budgets) == last {
			break
		}
		last = len(of.Budgets)
		sum := func(u victims.UnitID, pods []cluster.PodID) (charges int64) {
			for _, b := range of.Budgets {
				charges += p.q.WeightOf(ask.Bound{Of: ask.Charges, Budget: b}, u, pods)
			}
			return charges
		}
		for _, s := range list {
			p.price(&s.ground, of.Criterion, reprieve.Aim{Sum: sum})
		}
		if found, n := p.sum(list, of); n > atLeast {
			shown, atLeast = found, n
		}
	}
	return shown, atLeast
}

// room is for how many members there is room if all go whom narrow has left.
func (p *gang) room(list []*site) (room int64) {
	for _, s := range list {
		room = checked.Add(room, s.seats)
	}
	return room
}

// seatsIn is for how many members there is room on s with so much of each row.
func (s *site) seatsIn(room []int64) int64 {
	seats := s.most
	for r, v := range room {
		seats = min(seats, max(v, 0)/s.each[r])
	}
	return seats
}

// seat finds out for how many members there is room on s.
func (s *site) seat() {
	room := slices.Clone(s.free)
	for r := range room {
		for _, v := range s.rows[r].frees {
			room[r] = checked.Add(room[r], v)
		}
	}
	s.seats = s.seatsIn(room)
}

// leastWorst is the least number of the worst victim with which there is room for the members, and for how many there is with the bound.
func (p *gang) leastWorst(list []*site, k int) (low, room int64) {
	rises := p.rises(list, k)
	for _, g := range rises {
		room = checked.Add(room, g.members)
	}
	low = p.least(k)
	for high, left := p.bound[k], p.seats; low < high; {
		middle, more, at := low>>1+high>>1+low&high&1, int64(0), 0
		for i, g := range rises {
			if g.cost <= middle {
				more = checked.Add(more, g.members)
				rises[i], rises[at] = rises[at], g
				at++
			}
		}
		if more >= left {
			high, rises = middle, rises[:at]
		} else {
			low, rises, left = middle+1, rises[at:], left-more
		}
	}
	return low, room
}

// rises lists for how many more members there is room where victims may have so much of criterion k, of the worst of them, as far
// as the bound goes.
func (p *gang) rises(list []*site, k int) (rises []segment) {
	var order []segment // items by their level
	var room []int64
	for _, s := range list {
		order = order[:0]
		for i := range s.items {
			level := int64(math.MinInt64)
			if p.beyond(&s.ground, i, k, level) {
				level = p.levelOf(&s.items[i], k)
			}
			if level <= p.bound[k] {
				order = append(order, segment{int64(i), level})
			}
		}
		slices.SortFunc(order, func(a, b segment) int { return cmp.Compare(a.cost, b.cost) })
		room = append(room[:0], s.free...)
		before := s.seatsIn(room)
		rises = append(rises, segment{before, math.MinInt64})
		for _, g := range order {
			for r := range room {
				room[r] = checked.Add(room[r], s.rows[r].frees[g.members])
			}
			if now := s.seatsIn(room); now > before {
				rises, before = append(rises, segment{now - before, g.cost}), now
			}
		}
	}
	return rises
}
