package verify

import (
	"cmp"
	"encoding/json"
	"slices"
	"sort"
	"time"

	"github.com/preempt-go/preempt/preemption"
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

// movers tell who would fit on another node. They look at a world of their own, in which one after the other is the
// preemptor.
type movers struct {
	*question
	fit        map[mover]bool
	hosts      map[shape]host
	everywhere []*node
	left       map[int][]map[string]int64 // by node: what is free with those gone who move within a reach
	leavers    map[int][][]*unit          // by node: those all pods of which move within a reach
	order      map[resourceWithin][]*node // those first that have most room then
	used       []int64                    // of scenes, zero
}

// shape is all that it depends on which other nodes a pod fits on, as text, and its unit where that has other pods.
type shape struct {
	text   string
	unit   *unit
	within int
}

// host is a node on which a pod fits that was on another one; nil: it fits on none but perhaps its own.
type host struct{ node, own *node }

// resourceWithin is a resource, and a reach.
type resourceWithin struct {
	name   string
	within int
}

// moves reports whether running pod p by itself, once it has left its node, would fit on another
// one as things stand, or once those are gone there whom it may evict and who move within one less.
func (w *world) moves(p *pod, within int) bool {
	if w.movers == nil {
		o := &movers{fit: map[mover]bool{}, hosts: map[shape]host{}, left: map[int][]map[string]int64{}, leavers: map[int][][]*unit{}, order: map[resourceWithin][]*node{}}
		o.question = &question{world: newWorld(w.Snapshot, w.o, false), asked: &preemption.Preemptor{Kind: cluster.KindPod}}
		o.rules = w.rules // they meet the units that the preemptor does
		o.left[0], o.leavers[0], o.everywhere = o.free(), make([][]*unit, len(o.nodes)), o.all()
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

// free is what is free on each node.
func (o *movers) free() (list []map[string]int64) {
	for i := range o.nodes {
		free := map[string]int64{cluster.Pods: 0}
		for name, v := range o.nodes[i].Allocatable {
			free[name] = v
		}
		list = append(list, free)
	}
	for p, n := range o.running() {
		list[n.number][cluster.Pods]--
		for name, v := range p.Requests {
			list[n.number][name] -= v
		}
	}
	return list
}

// roomWithin is what would be free if those left who move within one less.
func (o *movers) roomWithin(within int) []map[string]int64 {
	if o.left[within] == nil {
		list := o.free()
		for i := range o.nodes {
			for _, p := range o.nodes[i].pods() {
				if within == anybody || o.lands(p, within-1) {
					list[i][cluster.Pods]++
					for name, v := range p.Requests {
						list[i][name] += v
					}
				}
			}
		}
		o.left[within] = list
	}
	return o.left[within]
}

// leaversWithin are the units with pods on each node that move within one less.
func (o *movers) leaversWithin(within int) [][]*unit {
	if o.leavers[within] == nil {
		list := make([][]*unit, len(o.nodes))
		stays := func(p *pod) bool { return !o.lands(p, within-1) }
		for i := range o.nodes {
			seen := map[*unit]bool{} // of many pods
			for _, p := range o.nodes[i].pods() {
				u := o.unitOf(p)
				if !seen[u] && (within == anybody || !slices.ContainsFunc(u.pods, stays)) {
					list[i] = append(list[i], u)
				}
				if len(u.pods) > 1 {
					seen[u] = true
				}
			}
		}
		o.leavers[within] = list
	}
	return o.leavers[within]
}

// roomy are the nodes, but its own, that have as much room as p requests.
func (o *movers) roomy(p *pod, within int) []*node {
	room := o.roomWithin(within)
	nodes := o.everywhere
	for name, v := range p.Requests {
		if v > 0 {
			list := o.byRoom(name, within)
			if k := sort.Search(len(list), func(i int) bool { return room[list[i].number][name] < v }); k < len(nodes) {
				nodes = list[:k]
			}
		}
	}
	var list []*node
	for _, n := range nodes {
		if o.hasRoom(p, n, within) {
			list = append(list, n)
		}
	}
	return list
}

// hasRoom reports whether n is not p's own node, and has as much room as p requests.
func (o *movers) hasRoom(p *pod, n *node, within int) bool {
	room := o.roomWithin(within)[n.number]
	_, limited := n.Allocatable[cluster.Pods]
	fits := n != p.at && (!limited || room[cluster.Pods] > 0)
	for name, v := range p.Requests {
		fits = fits && (v == 0 || v <= room[name])
	}
	return fits
}

// byRoom are the nodes, those first that have most room of a resource.
func (o *movers) byRoom(name string, within int) []*node {
	key := resourceWithin{name, within}
	if o.order[key] == nil {
		room, list := o.roomWithin(within), slices.Clone(o.everywhere)
		slices.SortFunc(list, func(a, b *node) int { return cmp.Compare(room[b.number][name], room[a.number][name]) })
		o.order[key] = list
	}
	return o.order[key]
}

// shapeOf is the shape of p; false: a constraint looks beyond a node, or a hook at anything.
func (o *movers) shapeOf(p *pod, within int) (shape, bool) {
	if o.o.Hooks != nil || len(p.Affinity)+len(p.AntiAffinity)+len(p.Spread)+len(p.Tokens) > 0 {
		return shape{}, false
	}
	shown := *p.Pod
	shown.Name, shown.UID, shown.Node, shown.Priority = "", "", "", &p.priority
	shown.Started, shown.Scheduled, shown.Created = time.Time{}, time.Time{}, time.Time{}
	text, err := json.Marshal(shown)
	s := shape{text: string(text), within: within}
	if u := o.unitOf(p); u != nil && len(u.pods) > 1 {
		s.unit = u
	}
	return s, err == nil
}

// landsBy is lands where nobody has asked before; of pods of one shape one is looked at on all nodes.
func (o *movers) landsBy(p *pod, within int) bool {
	shape, shaped := o.shapeOf(p, within)
	found, known := o.hosts[shape]
	if known = known && shaped; known && found.node != nil && found.node != p.at {
		return true
	}
	var nodes []*node
	if !known || found.node != nil {
		nodes = o.roomy(p, within)
	} else if found.own != nil && o.hasRoom(p, found.own, within) {
		nodes = append(nodes, found.own)
	}
	at := o.firstHost(p, within, nodes)
	if shaped && !known {
		o.hosts[shape] = host{at, p.at}
	}
	return at != nil
}

// firstHost is the first of nodes on which p fits; nil: none.
func (o *movers) firstHost(p *pod, within int, nodes []*node) *node {
	if len(nodes) == 0 {
		return nil
	}
	q := asking(o.world, o.asked, p)
	s := newBareScene(q, o.used)
	o.used = s.used
	s.leave(p)
	defer func() {
		s.comeBack(p)
		for _, p := range s.booked {
			p.holds = nil // the next scene asks for something else
		}
	}()
	own, ruled, guarded := q.unitOf(p), !q.ownEligible(), q.guards() || q.ownEligible()
	may := func(u *unit) bool {
		switch {
		case u == own, ruled && u.level > q.priority:
			return false
		case guarded:
			return q.mayEvict(u)
		}
		return u.level < q.priority
	}
	leavers := o.leaversWithin(within)
	at := slices.IndexFunc(nodes, func(n *node) bool {
		o.count(s, n, +1)
		var units []*unit
		for _, u := range leavers[n.number] {
			if may(u) {
				units = append(units, u)
			}
		}
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
	return nodes[at]
}

// count lets those who run on n count in s (+1), or no more (-1).
func (o *movers) count(s *scene, n *node, by int64) {
	used, free := s.usedOn(n), o.left[0][n.number]
	for i, name := range s.asks {
		used[i] += by * (n.Allocatable[name] - free[name])
	}
	used[len(s.asks)] += by * (n.Allocatable[cluster.Pods] - free[cluster.Pods])
}
