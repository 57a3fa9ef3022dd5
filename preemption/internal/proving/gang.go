package proving

import (
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
	stage stage // the last one, of which the next has the memory
}

// stageOf is a stage of those whom narrow has left. It is good until the next one.
func (p *gang) stageOf(g *ground, k int, most int64) *stage {
	s := p.renew(&p.stage, g, k, most)
	if p.worst(k) {
		for i := range g.items {
			s.bar(i, p.beyond(&g.items[i], k, most))
		}
	}
	return s
}

// ProveGang shows of evictions in domains with which at least so many members have places that they have
// no less than bound, or than as much of it as it can. out are those that the answer has found, runner is of the question.
//
// What units cost on several nodes counts on the first of them by name, and members count as if each asked for the
// least that any asks for. Where their placement is given, those on one node are one member. O(nodes x items), for a criterion
// at most sumsInAll times, or twice for each node, and at most weighedInAll of cover.Relax. Of many kinds of members in many
// nodes it shows nothing.
func ProveGang(q *ask.Question, runner *reprieve.Runner, domains []domain.Domain, seats int, bound []int64, out []victims.UnitID, parts victims.Parts) Proof {
	p := newGang(q, runner, seats, bound)
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
	if !p.few() {
		return Proof{}, false
	}
	for i := range domains {
		list, _ := p.survey(&domains[i])
		if p.room(list, none, 0) >= p.seats {
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
	*ground
	node  cluster.NodeID
	each  []int64   // what a member asks for at least, by resource that is asked for
	free  []int64   // of each of these, with everybody in place
	most  int64     // so many members may be there, as far as there is room
	seats int64     // for so many there is
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
	var potential []victims.UnitID
	for _, n := range d.Nodes {
		p.q.GoOn()
		of := p.evictable(n)
		potential = append(potential, of...)
		if each, most := p.membersOn(n); most > 0 {
			list = append(list, p.siteOf(n, of, each, most))
		}
	}
	slices.Sort(potential)
	potential = slices.Compact(potential)
	levels := p.levelsOf(potential) // read in the order in which they are stored
	potential = p.q.Units.Sorted(potential)
	for _, s := range list {
		p.rank(s.ground, levels)
		p.overrunBy(s.ground)
	}
	return list, p.q.Aims(p.runner, potential, slices.Clone(p.runner.Charge(potential)))
}

// narrow leaves those out who have more than the bound of criterion k.
func (p *gang) narrow(list []*site, k int) {
	for _, s := range list {
		left := 0
		for i := range s.items {
			if p.beyond(&s.items[i], k, p.bound[k]) {
				continue
			}
			if left < i {
				s.items[left] = s.items[i]
				for r := range s.rows {
					s.rows[r].frees[left] = s.rows[r].frees[i]
				}
			}
			left++
		}
		s.items = s.items[:left]
		for r := range s.rows {
			s.rows[r].frees = s.rows[r].frees[:left]
		}
	}
}

// evictable lists who may go from n, but for those whose eviction alone goes beyond a bound.
func (p *gang) evictable(n cluster.NodeID) (list []victims.UnitID) {
	for _, u := range p.q.Evictable(n) {
		if !p.q.Own(p.q.Units.Unit(u)) && !p.q.Stuck(u) {
			list = append(list, u)
		}
	}
	return list
}

// siteOf looks at node n, from which units may go for members.
func (p *gang) siteOf(n cluster.NodeID, units []victims.UnitID, each []int64, most int64) *site {
	s := &site{ground: &ground{items: make([]item, 0, len(units))}, node: n, most: most}
	for _, u := range units {
		p.add(s, u)
	}
	known := len(p.bound)
	has := make([]int64, known*len(s.items))
	for i := range s.items {
		s.items[i].has, has = has[:known:known], has[known:]
	}
	free := p.trial.AtHome(n)
	for r, least := range each {
		if least == 0 {
			continue
		}
		s.each, s.free = append(s.each, least), append(s.free, free[r])
		frees := make([]int64, len(s.items))
		for i := range s.items {
			for _, pod := range s.items[i].here {
				frees[i] += p.q.Index.Request(pod)[r] // at most what runs on the node
			}
		}
		s.rows = append(s.rows, row{resource: r, frees: frees})
	}
	if p.alike {
		for _, d := range p.devices(n, p.q.Members[0].Pod, most, s.items) {
			s.each, s.free = append(s.each, d.Asks), append(s.free, d.Free)
			s.rows = append(s.rows, row{resource: p.q.Index.NumResources() + d.Request, frees: d.Frees})
		}
	}
	return s
}

// add adds unit u to those who may go from s.
func (p *gang) add(s *site, u victims.UnitID) {
	unit, pods := p.q.Units.Unit(u), p.q.PodsOn(u, s.node)
	if unit.Elastic {
		for i, pod := range pods {
			if p.q.Index.NodeOf(pod) == s.node {
				s.items = append(s.items, item{unit: u, pods: pods[i : i+1], here: pods[i : i+1], part: true})
			}
		}
	} else {
		it := item{unit: u, pods: unit.Pods}
		if elsewhere := func(pod cluster.PodID) bool { return p.q.Index.NodeOf(pod) != s.node }; !slices.ContainsFunc(pods, elsewhere) {
			it.here = pods
		} else {
			it.here = slices.DeleteFunc(slices.Clone(pods), elsewhere)
		}
		s.items = append(s.items, it)
	}
}

// price gives the items of s what they have of criterion k, if that adds up.
func (p *gang) price(s *site, k int, aim reprieve.Aim) {
	if aim.Sum == nil {
		return
	}
	for i := range s.items {
		it := &s.items[i]
		if !(it.part && aim.Loose) && p.counts(it, s) {
			it.has[k] = aim.Sum(it.unit, it.pods)
		}
	}
}

// counts reports whether what it has counts on s.
func (p *gang) counts(it *item, s *site) bool {
	return it.part || len(it.here) == len(it.pods) || p.homeOf(it.unit) == s.node
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
			p.price(s, k, aims[k])
		}
		of := Domain{Domain: i, Criterion: k, Price: 1}
		if p.room(list, k, p.bound[k]) < p.seats {
			return append(shown, of) // no victims are as good
		}
		var atLeast int64
		switch {
		case p.bound[k] <= p.least(k):
			continue
		case p.worst(k):
			atLeast = p.leastWorst(list, k)
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
			p.price(s, of.Criterion, reprieve.Aim{Sum: sum})
		}
		if found, n := p.sum(list, of); n > atLeast {
			shown, atLeast = found, n
		}
	}
	return shown, atLeast
}

// room is for how many members there is room where victims have at most so much of criterion k.
func (p *gang) room(list []*site, k int, most int64) (room int64) {
	for _, s := range list {
		room = checked.Add(room, p.seatsOn(p.stageOf(s.ground, k, most), s))
	}
	return room
}

// seatsOn is for how many members there is room on s with everybody gone who may go in st.
func (p *gang) seatsOn(st *stage, s *site) int64 {
	seats := s.most
	for r := range s.rows {
		room := s.free[r]
		for i, v := range s.rows[r].frees {
			if st.state[i] == open {
				room = checked.Add(room, v)
			}
		}
		seats = min(seats, max(room, 0)/s.each[r])
	}
	return seats
}

// leastWorst is the least number of the worst victim with which there is room for the members.
func (p *gang) leastWorst(list []*site, k int) int64 {
	var levels []int64
	for _, s := range list {
		for i := range s.items {
			if level := p.levelOf(&s.items[i], k); level <= p.bound[k] && (len(levels) == 0 || level != levels[len(levels)-1]) {
				levels = append(levels, level)
			}
		}
	}
	levels = append(levels, p.bound[k])
	slices.Sort(levels)
	levels = slices.Compact(levels)
	at, _ := slices.BinarySearchFunc(levels, p.seats, func(level, seats int64) int {
		if p.room(list, k, level) < seats {
			return -1
		}
		return 1
	})
	level := levels[at]
	if p.room(list, k, checked.Sub(level, 1)) >= p.seats { // whoever goes
		return p.least(k)
	}
	return level
}
