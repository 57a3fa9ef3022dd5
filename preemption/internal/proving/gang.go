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
	kinds []*domain.Member // one of each shape
	each  []int64          // what every member asks for at least, by resource that is asked for
	seats int64            // so many members are to have places
	aims  []reprieve.Aim
	home  map[victims.UnitID]cluster.NodeID
}

// ProveGang shows of evictions in domains with which at least so many members have places that they have
// no less than bound, or than as much of it as it can.
//
// What units cost on several nodes counts on the first of them by name, and members count as if each asked for the
// least that any asks for. O(nodes x items), for a criterion at most sumsInAll times, or twice for each node, and
// at most weighedInAll of cover.Relax. Of many kinds of members in many nodes it shows nothing.
func ProveGang(q *ask.Question, domains []domain.Domain, seats int, bound []int64) Proof {
	p := newGang(q, seats, bound)
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
func RefuteGang(q *ask.Question, domains []domain.Domain, seats int) (proof Proof, ok bool) {
	p := newGang(q, seats, nil)
	if !p.few() {
		return Proof{}, false
	}
	for i := range domains {
		list := p.survey(&domains[i])
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

func newGang(q *ask.Question, seats int, bound []int64) *gang {
	p := &gang{prover: newProver(q, nil, nil, bound), trial: q.GangTrial(), seats: int64(seats), home: map[victims.UnitID]cluster.NodeID{}}
	p.asks, p.aims = nil, q.Aims(nil, nil, nil)
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
		if least > 0 {
			p.asks, p.each = append(p.asks, r), append(p.each, least)
		}
	}
	for k, c := range p.criteria[:len(p.bound)] {
		if c == victims.CriterionStarted { // which is a matter of several nodes
			p.bound = p.bound[:k]
			break
		}
	}
	return p
}

// site is a node on which members may run.
type site struct {
	*ground
	node  cluster.NodeID
	free  []int64 // of each resource that is asked for, with everybody in place
	seats int64   // for so many members there is room
	costs []cost  // of more and more members

	weighed bool // costs are the most that can be shown
}

// cost is what evictions have of a criterion at least with which so many members, or more, have places on a site.
type cost struct {
	members, atLeast int64
	atMost           int64   // some evictions have no more
	weights          []int64 // of the lines of a balance that says so
}

// survey lists the sites of d. Whoever may go from another node of it counts for the levels: he may be the first victim.
func (p *gang) survey(d *domain.Domain) (list []*site) {
	var potential []victims.UnitID
	for _, n := range d.Nodes {
		p.q.GoOn()
		here := p.evictable(n)
		potential = append(potential, here...)
		if slices.ContainsFunc(p.kinds, func(m *domain.Member) bool { return m.Static(p.q.Index.Node(n)).OK() }) {
			list = append(list, p.siteOf(n, here))
		}
	}
	slices.Sort(potential)
	levels := p.levelsOf(slices.Compact(potential))
	for _, s := range list {
		p.rank(s.ground, levels)
	}
	return list
}

// evictable lists who may go from node n.
func (p *gang) evictable(n cluster.NodeID) (list []victims.UnitID) {
	for _, u := range p.q.Evictable(n) {
		if !p.q.Own(p.q.Units.Unit(u)) {
			list = append(list, u)
		}
	}
	return list
}

// siteOf looks at node n, from which those of list may go.
func (p *gang) siteOf(n cluster.NodeID, list []victims.UnitID) *site {
	s := &site{ground: &ground{}, node: n}
	for _, u := range list {
		p.add(s, u)
	}
	free := p.trial.AtHome(n)
	for _, r := range p.asks {
		s.free = append(s.free, free[r])
		frees := make([]int64, len(s.items))
		for i := range s.items {
			for _, pod := range s.items[i].here {
				frees[i] += p.q.Index.Request(pod)[r] // at most what runs on the node
			}
		}
		s.rows = append(s.rows, row{resource: r, frees: frees})
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
		for _, pod := range pods {
			if p.q.Index.NodeOf(pod) == s.node {
				it.here = append(it.here, pod)
			}
		}
		s.items = append(s.items, it)
	}
}

// price gives the items of list what they have of criterion k.
func (p *gang) price(list []*site, k int) {
	aim := &p.aims[k]
	for _, s := range list {
		for i := range s.items {
			it := &s.items[i]
			if it.has == nil {
				it.has = make([]int64, len(p.bound))
			}
			if it.part && aim.Loose || !it.part && p.homeOf(it.unit) != s.node {
				continue
			}
			it.has[k] = aim.Sum(it.unit, it.pods)
		}
	}
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
	list := p.survey(d)
	for k := 0; k < len(p.bound); k++ {
		of := Domain{Domain: i, Criterion: k, Price: 1}
		if p.room(list, k, p.bound[k]) < p.seats {
			return append(shown, of) // no victims are as good
		}
		atLeast := p.least(k)
		switch {
		case p.bound[k] <= p.least(k):
			if p.isSum(k) {
				p.price(list, k)
			}
			continue
		case p.criteria[k] == victims.CriterionHighest:
			atLeast = p.leastHighest(list, k)
		case p.isSum(k):
			p.price(list, k)
			of, atLeast = p.sum(list, of)
			if atLeast > p.bound[k] {
				return append(shown, of)
			}
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

// isSum reports whether criterion k is the sum of what victims add, each by itself.
func (p *gang) isSum(k int) bool { return p.adds(k) && p.criteria[k] != victims.CriterionViolations }

// room is for how many members there is room where victims have at most so much of criterion k.
func (p *gang) room(list []*site, k int, most int64) (room int64) {
	for _, s := range list {
		room = checked.Add(room, p.seatsOn(p.stageOf(s.ground, k, most), s))
	}
	return room
}

// seatsOn is for how many members there is room on s with everybody gone who may go in st.
func (p *gang) seatsOn(st *stage, s *site) int64 {
	seats := p.seats
	for r := range s.rows {
		room := s.free[r]
		for i, v := range s.rows[r].frees {
			if st.state[i] == open {
				room = checked.Add(room, v)
			}
		}
		seats = min(seats, max(room, 0)/p.each[r])
	}
	return seats
}

// leastHighest is the least highest priority with which there is room for the members.
func (p *gang) leastHighest(list []*site, k int) int64 {
	var levels []int64
	for _, s := range list {
		for i := range s.items {
			if level := s.items[i].highest; level <= p.bound[k] {
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
