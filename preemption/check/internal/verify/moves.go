package verify

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/room"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// anybody is a reach within which everyone may leave, whatever becomes of them.
const anybody = -1

// mover is a pod that has to leave its node, and how many moves may follow from one another.
type mover struct {
	pod    *pod
	within int
}

// movers tell who would fit on another node. They look at a world of their own, in which one after the other is the preemptor.
type movers struct {
	*question
	fit        map[mover]bool
	hosts      map[shape]host
	left       room.Free // by node: what is free
	everywhere []int     // all nodes
	limited    []bool    // by node: it has a limit of pods
	guarded    bool      // more than priority may keep somebody
	nominated  bool      // a pod is, to some node
	reaches    map[int]*reach
	used       []int64 // of scenes, zero
}

// reach is who moves within so many moves.
type reach struct {
	leavers [][]*unit   // by node: units all pods of which do, the least level first
	rooms   *room.Rooms // with those gone
}

// shape is all that it depends on which other nodes a pod fits on, as text, and its unit where that has other pods.
type shape struct {
	text   string
	unit   *unit
	within int
}

// host is a node on which a pod fits that was on another one; nil: it fits on none but perhaps its own.
type host struct{ node, own *node }

// moves reports whether running pod p by itself, once it has left its node, would fit on another
// one as things stand, or once those are gone there whom it may evict and who move within one less.
func (w *world) moves(p *pod, within int) bool {
	if w.movers == nil {
		o := &movers{fit: map[mover]bool{}, hosts: map[shape]host{}, reaches: map[int]*reach{}}
		o.question = &question{world: newWorld(w.Snapshot, w.o, false), asked: &preemption.Preemptor{Kind: cluster.KindPod}}
		o.rules = w.rules // they meet the units that the preemptor does
		o.left, o.guarded = o.world.left(), o.guards() || o.ownEligible()
		var places []*cluster.Node
		for i, n := range o.all() {
			_, limited := n.Allocatable[cluster.Pods]
			o.nominated = o.nominated || len(n.nominees) > 0
			places, o.everywhere, o.limited = append(places, n.Node), append(o.everywhere, i), append(o.limited, limited)
		}
		o.index = relation.NewIndex(places, o.Pods, o.standing)
		w.movers = o
	}
	return w.movers.lands(w.movers.podNamed(p.Namespace, p.Name, p.Node), within)
}

func (o *movers) lands(p *pod, within int) bool {
	if within != 0 && (o.o.NoCascade || o.effective(p.Pod).Policy == priority.Never) {
		within = 0
	}
	key := mover{p, within}
	fits, known := o.fit[key]
	if !known {
		fits = within > 0 && o.lands(p, within-1) || o.landsBy(p, within)
		o.fit[key] = fits
	}
	return fits
}

// within is the reach of so many moves, the same as of one less if nobody else moves.
func (o *movers) within(within int) *reach {
	if o.reaches[within] == nil {
		r, list, moves := &reach{leavers: make([][]*unit, len(o.nodes))}, make([][]room.Leaver, len(o.nodes)), map[*unit]bool{}
		stays := func(p *pod) bool { return !o.lands(p, within-1) }
		for i := 0; within != 0 && i < len(o.nodes); i++ {
			here := map[*unit][]*cluster.Pod{}
			for _, p := range o.nodes[i].pods() {
				u := o.unitOf(p)
				if _, known := moves[u]; !known {
					moves[u] = within == anybody || !slices.ContainsFunc(u.pods, stays)
				}
				if moves[u] && here[u] == nil {
					r.leavers[i] = append(r.leavers[i], u)
				}
				here[u] = append(here[u], p.Pod)
			}
			slices.SortFunc(r.leavers[i], func(a, b *unit) int { return cmp.Compare(a.level, b.level) })
			for _, u := range r.leavers[i] {
				list[i] = append(list[i], room.Leaver{Level: u.level, Pods: here[u]})
			}
		}
		r.rooms = room.New(o.left, list)
		if within > 0 && slices.EqualFunc(r.leavers, o.within(within-1).leavers, slices.Equal) {
			r = o.within(within - 1)
		}
		o.reaches[within] = r
	}
	return o.reaches[within]
}

// below is the level that those are below whom p may evict.
func (o *movers) below(p *pod) int64 {
	switch {
	case o.ownEligible():
		return math.MaxInt64
	case o.o.Guards.EqualAfterSeconds != 0:
		return int64(p.priority) + 1
	}
	return int64(p.priority)
}

// roomy are nodes outside of which none has as much room as p requests.
func (o *movers) roomy(p *pod, within int) []int {
	nodes := o.everywhere
	for name, v := range p.Requests {
		if v > 0 && len(nodes) > room.Few {
			if few := o.within(within).rooms.With(name, v, o.below(p)); len(few) < len(nodes) {
				nodes = few
			}
		}
	}
	return nodes
}

// shapeOf is the shape of p; false: a constraint looks beyond a node, or a hook at anything.
func (o *movers) shapeOf(p *pod, within int) (shape, bool) {
	if o.o.Hooks != nil || len(p.Affinity)+len(p.AntiAffinity)+len(p.Spread)+len(p.Tokens) > 0 {
		return shape{}, false
	}
	shown := suits.Shown(p.Pod)
	shown.Labels, shown.Annotations, shown.Class, shown.Group, shown.Queue = o.index.Read(p.Pod), nil, "", "", ""
	level := p.priority
	if within == 0 && !o.nominated {
		level = 0 // nobody leaves, or is expected
	}
	s := shape{text: relation.AsText([]any{shown, level, p.Ports, p.RanSeconds, p.Evictions}), within: within}
	if u := o.unitOf(p); len(u.pods) > 1 {
		s.unit = u
	}
	return s, true
}

// landsBy is lands where nobody has asked before; of pods of one shape one is looked at on all nodes.
func (o *movers) landsBy(p *pod, within int) bool {
	if within > 0 && o.within(within) == o.within(within-1) {
		return false // as within one less
	}
	room := o.within(within).rooms.For(p.Requests, o.below(p), func(n int) bool { return o.limited[n] })
	has := func(n int) bool { return &o.nodes[n] != p.at && room(n) }
	nodes := o.roomy(p, within)
	first := slices.IndexFunc(nodes, has)
	if first < 0 {
		return false
	}
	nodes = nodes[first:]
	shape, shaped := o.shapeOf(p, within)
	found, known := o.hosts[shape]
	switch known = known && shaped; {
	case known && found.node != nil && found.node != p.at:
		return true
	case known && found.node == nil && found.own == nil:
		return false
	case known && found.node == nil:
		nodes = []int{found.own.number}
	}
	at := o.firstHost(p, within, nodes, has)
	if shaped && !known {
		o.hosts[shape] = host{at, p.at}
	}
	return at != nil
}

// firstHost is the first of nodes on which p fits, which has room there; nil: none.
func (o *movers) firstHost(p *pod, within int, nodes []int, has func(n int) bool) *node {
	below := o.below(p)
	leavers := o.within(within).leavers // who looks at others, before the scene
	q := asking(o.world, o.asked, p)
	s := newBareScene(q, o.used)
	o.used = s.used
	s.leave(p)
	own := -1
	if p.at != nil {
		own = p.at.number
	}
	open, few := o.index.Open(s.relations, p.Pod, own, func(foe *cluster.Pod) (from []int) {
		if u := o.unitOf(o.podNamed(foe.Namespace, foe.Name, foe.Node)); int64(u.level) < below {
			for _, p := range u.pods {
				if p.at != nil {
					from = append(from, p.at.number)
				}
			}
		}
		return from
	})
	if few != nil {
		nodes = few
	}
	defer func() {
		s.comeBack(p)
		for _, p := range s.booked {
			p.holds = nil // the next scene asks for something else
		}
	}()
	may := func(u *unit) bool {
		return u != q.unitOf(p) && int64(u.level) < below && (!o.guarded || q.mayEvict(u))
	}
	at := slices.IndexFunc(nodes, func(i int) bool {
		n := &o.nodes[i]
		if !open(i) || !has(i) {
			return false
		}
		units, several := []*unit(nil), false // whose pods elsewhere may be in the way
		for _, u := range leavers[n.number] {
			if may(u) {
				units, several = append(units, u), several || len(u.pods) > 1
			}
		}
		if !several && s.hopeless(q.members[0], n) {
			return false
		}
		o.count(s, n, +1)
		out := s.near(n, s.part(units)...)
		s.leave(out...)
		fits := len(s.misfits(q.members[0], n)) == 0
		s.comeBack(out...)
		o.count(s, n, -1)
		return fits
	})
	s.part(nil)
	if at < 0 {
		return nil
	}
	return &o.nodes[nodes[at]]
}

// count lets those who run on n count in s (+1), or no more (-1).
func (o *movers) count(s *scene, n *node, by int64) {
	used, free := s.usedOn(n), o.left[n.number]
	for i, name := range s.asks {
		used[i] += by * (n.Allocatable[name] - free[name])
	}
	used[len(s.asks)] += by * (n.Allocatable[cluster.Pods] - free[cluster.Pods])
}
