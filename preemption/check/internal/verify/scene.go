package verify

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/room"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// member is a pod of the preemptor.
type member struct {
	*cluster.Pod
	number   int
	self     *pod // in the snapshot; nil if it was given inline
	priority int32
	to       *node  // where it is placed in the what-if; nil: nowhere
	text     string // see shape
	ports    suits.Ports
}

// scene is the what-if: who is gone, and which members are where.
type scene struct {
	*question
	asks      []string // resources that members ask for
	relations []relation.Relation
	used      []int64 // by node: what pods and members there hold of asks; last the number of pods
	booked    []*pod  // those of whom it is known what they hold of asks
	monotone  bool    // whoever goes, a fit stays a fit
	ordered   bool    // a constraint of the user's may look at the order of members
	across    bool    // a constraint looks beyond single nodes
	away      []*unit // who stay away, as [scene.part] says
	parted    int     // how often it was asked
}

func newScene(q *question) *scene {
	s := newBareScene(q, nil)
	s.monotone = !slices.ContainsFunc(s.relations, func(r relation.Relation) bool { return !r.Monotone() })
	s.ordered = slices.ContainsFunc(s.relations, relation.Ordered)
	for p, n := range q.running() {
		s.add(s.usedOn(n), p, 1)
	}
	return s
}

// newBareScene is newScene on which nobody counts yet, for a lone pod. It keeps its sums in used, which are zero, if they have room there.
func newBareScene(q *question, used []int64) *scene {
	s := &scene{question: q, relations: q.relationsOf()}
	for _, m := range q.members {
		for name, amount := range m.Requests {
			if amount > 0 && !slices.Contains(s.asks, name) {
				s.asks = append(s.asks, name)
			}
		}
	}
	slices.Sort(s.asks)
	s.used = slices.Grow(used[:0], len(q.nodes)*(len(s.asks)+1))[:len(q.nodes)*(len(s.asks)+1)]
	s.across = slices.ContainsFunc(s.relations, func(r relation.Relation) bool { return !relation.Local(r) })
	return s
}

// relationsOf returns the constraints that have a say, in upstream's order, then the user's own.
func (q *question) relationsOf() []relation.Relation {
	r := relation.Question{
		Snapshot: q.Snapshot, Lists: &q.lists, Hooks: q.o.Hooks, Spaces: q.spaces, Repelling: q.repelling, Old: q.rules.old, Group: q.team != nil,
		Running: q.standing, Index: q.index,
		Placed: func(m int) *cluster.Node {
			if at := q.members[m].to; at != nil {
				return at.Node
			}
			return nil
		},
		Staying: func(n *cluster.Node) []*cluster.Pod {
			return q.byNode[n.Name].staying(func(p *pod) bool { return p.gone })
		},
	}
	for _, m := range q.members {
		r.Members = append(r.Members, m.Pod)
	}
	return relation.Of(&r)
}

// usedOn is what is in use on node n.
func (s *scene) usedOn(n *node) []int64 {
	k := len(s.asks) + 1
	return s.used[n.number*k:][:k]
}

// add adds what p holds to sums.
func (s *scene) add(sums []int64, p *cluster.Pod, by int64) {
	for i, name := range s.asks {
		sums[i] += by * p.Requests[name]
	}
	sums[len(s.asks)] += by
}

func (s *scene) leave(pods ...*pod)    { s.shift(pods, -1) }
func (s *scene) comeBack(pods ...*pod) { s.shift(pods, +1) }

// part lets those of units leave of whom all pods matter to a node, until they are not among those that are asked for, and returns the others.
func (s *scene) part(units []*unit) (there []*unit) {
	s.parted++
	for _, u := range units {
		if !s.across || len(u.pods) == 1 {
			there = append(there, u)
		} else if u.parted = s.parted; !u.away {
			u.away, s.away = true, append(s.away, u)
			s.leave(u.pods...)
		}
	}
	s.away = slices.DeleteFunc(s.away, func(u *unit) bool {
		if u.away = u.parted == s.parted; !u.away {
			s.comeBack(u.pods...)
		}
		return !u.away
	})
	return there
}

// hopeless: m does not fit on n, whoever goes there. While units are away constraints do not say so.
func (s *scene) hopeless(m *member, n *node) bool {
	why := first(s.misfitsOf(m, n, relation.Final(s.relations)))
	return why.never && (len(s.away) == 0 || why.resource != "")
}

// shift takes away (-1) or brings back (+1) those of pods who are not yet.
func (s *scene) shift(pods []*pod, by int) {
	for _, p := range pods {
		if p.gone == (by < 0) {
			continue
		}
		if p.gone = by < 0; p.at != nil {
			s.arrive(p, p.at, by)
		}
	}
}

// arrive books a pod on n.
func (s *scene) arrive(p *pod, n *node, by int) {
	if p.holds == nil {
		p.holds = make([]int64, len(s.asks)+1)
		s.add(p.holds, p.Pod, 1)
		s.booked = append(s.booked, p)
	}
	used := s.usedOn(n)
	for i, v := range p.holds {
		used[i] += int64(by) * v
	}
	for _, r := range s.relations {
		r.Move(p.Pod, n.Node, by)
	}
	if n.taken != nil {
		n.taken.Come(p.ports, int64(by))
	}
}

func (s *scene) place(m *member, n *node) {
	m.to = n
	n.guests = append(n.guests, m)
	n.ports().Sit(m.ports, +1)
	s.bookMember(m, n, +1)
}

// unplace takes those off their nodes who are on one.
func (s *scene) unplace(list ...*member) {
	for _, m := range list {
		if n := m.to; n != nil {
			m.to = nil
			n.guests = slices.DeleteFunc(n.guests, func(o *member) bool { return o == m })
			n.ports().Sit(m.ports, -1)
			s.bookMember(m, n, -1)
		}
	}
}

func (s *scene) bookMember(m *member, n *node, by int) {
	s.add(s.usedOn(n), m.Pod, int64(by))
	for _, r := range s.relations {
		r.Place(m.number, n.Node, by)
	}
}

// expected are the pods nominated to n that count as if they ran there: those at least as important as the preemptor, other than its own.
func (s *scene) expected(n *node) []*pod {
	var list []*pod
	for _, p := range n.nominees {
		if p.priority >= s.priority && !p.member {
			list = append(list, p)
		}
	}
	return list
}

// await lets the pods that are expected on n come (+1), or go (-1), and tells how many they are.
func (s *scene) await(n *node, by int) int {
	expected := s.expected(n)
	for _, p := range expected {
		n.ports()
		s.arrive(p, n, by)
	}
	return len(expected)
}

// misfits lists the checks that m fails on n beside those who are there: with the pods nominated to n, since they may arrive, and else without
// them, since they may not. m is not placed, or on n.
func (s *scene) misfits(m *member, n *node) []misfit { return s.misfitsOf(m, n, s.relations) }

// misfitsOf are those that room, ports or some relations are the reason for.
func (s *scene) misfitsOf(m *member, n *node, relations []relation.Relation) []misfit {
	if check := s.admits(n.Node, m.Pod); check != "" {
		return []misfit{{check: check, never: true}}
	}
	if s.await(n, +1) > 0 {
		list := s.beside(m, n, relations)
		s.await(n, -1)
		if len(list) > 0 {
			return list
		}
	}
	return s.beside(m, n, relations)
}

// beside makes the checks that look at others.
func (s *scene) beside(m *member, n *node, relations []relation.Relation) (list []misfit) {
	if len(m.ports) > 0 && n.ports().Meets(m.ports, m.to == n) {
		list = append(list, misfit{check: domain.CheckPorts})
	}
	list = append(list, s.shortages(n, m.to == n, func(name string) int64 { return m.Requests[name] })...)
	for _, r := range relations {
		if check, never := r.Misfit(m.number, n.Node); check != "" {
			list = append(list, misfit{check: check, never: never})
		}
	}
	return list
}

// shortages lists what is short on n for who wants so much. What it holds already if it sits there is its own.
func (s *scene) shortages(n *node, sits bool, wants func(name string) int64) (list []misfit) {
	lacks, never := room.Lacking(n.Allocatable, s.asks, s.usedOn(n), sits, wants)
	for _, l := range lacks {
		list = append(list, misfit{check: domain.CheckResource, resource: l.Resource, missing: l.Missing, never: never})
	}
	return list
}

// first is the first misfit that is told; the zero misfit if there is none.
func first(list []misfit) misfit {
	if len(list) == 0 {
		return misfit{}
	}
	return list[0]
}

// seat places members where to says, in an order that lets each of them fit beside those before it. It returns those for whom there is none. Where
// taking them as they fit leads nowhere and constraints are not monotone, or nominees have a say, it looks at other orders, for so many steps; what
// it can't tell then it takes as it is said.
func (s *scene) seat(list []*member, to map[*member]*node) (left []*member) {
	left = slices.Clone(list)
	for before := -1; len(left) != before; {
		before = len(left)
		left = slices.DeleteFunc(left, func(m *member) bool { return s.sits(m, to[m]) })
	}
	if len(left) == 0 || s.monotone && !slices.ContainsFunc(left, func(m *member) bool { return len(s.expected(to[m])) > 0 }) {
		return left
	}
	s.unplace(list...)
	steps := orders
	if s.anyOrder(list, to, &steps) {
		return nil
	}
	if steps > 0 {
		return left
	}
	for _, m := range list {
		s.place(m, to[m])
	}
	return nil
}

// orders is how many times a member is tried in other orders.
const orders = 10_000

// anyOrder places list in some order, or nobody.
func (s *scene) anyOrder(list []*member, to map[*member]*node, steps *int) bool {
	all := true
	for _, m := range list {
		if m.to != nil {
			continue
		}
		all = false
		if *steps--; *steps < 0 {
			return false
		}
		if s.sits(m, to[m]) {
			if s.anyOrder(list, to, steps) {
				return true
			}
			s.unplace(m)
		}
	}
	return all
}

// sits places m on n if it fits there.
func (s *scene) sits(m *member, n *node) bool {
	if len(s.misfits(m, n)) > 0 {
		return false
	}
	s.place(m, n)
	return true
}

// crowdedOut lists for what of room and ports m, which is placed, does not fit any more.
func (s *scene) crowdedOut(m *member) []misfit {
	return slices.DeleteFunc(s.misfitsOf(m, m.to, nil), func(x misfit) bool { return x.check != domain.CheckResource && x.check != domain.CheckPorts })
}

// crowded lists for what of room and ports guests of n do not fit any more, each once: what is short is so for all who want it.
func (s *scene) crowded(n *node) (list []misfit) {
	s.await(n, +1)
	if n.ports().Clashes > 0 {
		list = append(list, misfit{check: domain.CheckPorts})
	}
	list = append(list, s.shortages(n, true, func(name string) int64 {
		if slices.ContainsFunc(n.guests, func(m *member) bool { return m.Requests[name] > 0 }) {
			return 1
		}
		return 0
	})...)
	s.await(n, -1)
	return list
}

// misfitsPlaced lists what of the members that are placed does not fit any more. What each
// asks of relations it asks in their order, beside those before it.
func (s *scene) misfitsPlaced(order []*member) (list []misfit) {
	for _, m := range order {
		list = append(list, s.crowdedOut(m)...)
	}
	at := map[*member]*node{}
	for _, m := range order {
		at[m] = m.to
		s.unplace(m)
	}
	for _, m := range order {
		for _, x := range s.misfits(m, at[m]) {
			if x.check != domain.CheckResource && x.check != domain.CheckPorts {
				list = append(list, x)
			}
		}
		s.place(m, at[m])
	}
	return list
}

// obstructed lists what of the members that are placed does not fit any more now that pods came back; of relations no more
// than one. Where they are monotone, and none is the user's, who fits beside all others does so in any order.
func (s *scene) obstructed(pods []*pod) (list []misfit) {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p *pod) bool { return p.at == nil })
	seen := map[*node]bool{}
	for _, p := range pods {
		if len(p.at.guests) > 0 && !seen[p.at] {
			seen[p.at] = true
			list = append(list, s.crowded(p.at)...)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, p := range pods {
		for _, r := range s.relations {
			for _, i := range r.InWay(p.Pod, p.at.Node) {
				m := s.members[i]
				at := m.to
				s.unplace(m)
				list := s.misfits(m, at)
				s.place(m, at)
				if len(list) > 0 {
					return list[:1]
				}
			}
		}
	}
	return nil
}
