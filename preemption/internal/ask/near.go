package ask

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Near tells which pods of a unit matter to a trial of some nodes: those that run there, those on nodes that share
// with one of them a value by which a constraint counts, and those at whom one looks wherever they are. Of a unit of
// many pods the others need not leave and return with it; they would in each of many domains in which it has pods.
type Near struct {
	q      *Question
	nodes  []cluster.NodeID                   // nil: all
	of     map[victims.UnitID][]cluster.PodID // on nodes, once asked
	looked map[victims.UnitID][]cluster.PodID // at whom a constraint looks wherever they are, once asked

	one []cluster.PodID // by unit: its only pod; NoPod: not looked at, or it has several; nil: see Remember

	moved int // how many pods of units that have others elsewhere left or came back
	parts int // each node has such a part of mostMoved
}

// mostMoved is how often pods of units that have pods elsewhere, too, leave or come back, in all domains together.
const mostMoved = 1 << 22

// stepsToBegin is for how many steps it counts to begin a search for victims that moves such pods.
const stepsToBegin = 64

// NearOf returns a Near of all nodes, among the searches on which so many parts share what may move.
func NearOf(q *Question, parts int) Near { return Near{q: q, parts: parts} }

// Remember lets units of one pod be looked up once each. O(units), once
func (r *Near) Remember() {
	if r.one != nil {
		return
	}
	r.one = slices.Repeat([]cluster.PodID{cluster.NoPod}, r.q.Units.Len())
}

// Spent reports whether as many pods were moved as may be: no other domain is to be looked at.
func (r *Near) Spent() bool { return r.moved > mostMoved }

// Moved is how many pods of units that have others elsewhere left or came back.
func (r *Near) Moved() int { return r.moved }

// Charge counts so many more, which another search has moved.
func (r *Near) Charge(moved int) { r.moved += moved }

// Moving are the Pods of unit u, which leave or come back.
func (r *Near) Moving(u victims.UnitID) []cluster.PodID {
	pods := r.Pods(u)
	if len(pods) > 1 && r.many(u, pods) {
		r.moved += len(pods)
	}
	return pods
}

// many reports whether pods, those of unit u that matter, are many more than nodes.
func (r *Near) many(u victims.UnitID, pods []cluster.PodID) bool {
	w := r.q.Wholes().Of(u)
	return w != nil && !w.OneNode && r.nodes != nil && len(pods) > farther*len(r.nodes)
}

// Steps is how many of so many steps a search may take that moves a unit of list in each, but for those that atOnce says
// are moved at once; below zero: it may not begin.
func (r *Near) Steps(list []victims.UnitID, steps int, atOnce func(victims.UnitID, []cluster.PodID) bool) int {
	most := 0
	for _, u := range list {
		pods := r.Pods(u)
		if unit := r.q.Units.Unit(u); unit.Elastic && r.q.Index.Group(unit.Group).Composite != nil {
			pods = unit.Pods // a search decides on others, too
		}
		if r.many(u, pods) && (atOnce == nil || !atOnce(u, pods)) {
			most = max(most, len(pods))
		}
	}
	if most == 0 {
		return steps
	}
	return min(steps, max(mostMoved/r.parts-r.moved, 0)/most-stepsToBegin)
}

// To moves to some nodes, which are in order; nil: all.
func (r *Near) To(nodes []cluster.NodeID) {
	r.nodes = nodes
	clear(r.of)
}

// PodsOn are those of unit u on node n, perhaps with others elsewhere.
func (q *Question) PodsOn(u victims.UnitID, n cluster.NodeID) []cluster.PodID {
	if w := q.Wholes().Of(u); w != nil {
		return w.On(q.Index, n)
	}
	return q.Units.Unit(u).Pods
}

// farther is how many times as many pods as nodes a unit has that is told apart.
const farther = 4

// Pods are those of unit u that matter; all of an elastic one whose group has groups beneath, but on one node without
// constraints: of these, those go on or not in which some pod matters. The slice belongs to r or the units.
func (r *Near) Pods(u victims.UnitID) []cluster.PodID {
	if r.one != nil && r.one[u] != cluster.NoPod {
		return r.one[u : u+1 : u+1]
	}
	unit := r.q.Units.Unit(u)
	if r.one != nil && len(unit.Pods) == 1 {
		r.one[u] = unit.Pods[0]
	}
	if r.nodes == nil || len(unit.Pods) == 1 || unit.Elastic && (len(r.nodes) > 1 || len(r.q.States) > 0) && r.q.Index.Group(unit.Group).Composite != nil {
		return unit.Pods
	}
	w := r.q.Wholes().Of(u)
	if w == nil || w.OneNode || len(r.nodes) > len(w.Pods)/farther {
		return unit.Pods
	}
	if pods, known := r.of[u]; known {
		return pods
	}
	if r.of == nil {
		r.of = map[victims.UnitID][]cluster.PodID{}
	}
	r.of[u] = r.among(u, w)
	return r.of[u]
}

func (r *Near) among(u victims.UnitID, w *losses.Whole) []cluster.PodID {
	looked := r.lookedAt(u, w)
	nodes, few := r.sharing(len(w.Pods)/farther - len(looked))
	switch {
	case !few:
		return r.q.Units.Unit(u).Pods
	case len(looked) == 0 && len(nodes) == 1:
		return w.On(r.q.Index, nodes[0])
	}
	list := slices.Clone(looked)
	for _, n := range nodes {
		for _, p := range w.On(r.q.Index, n) {
			if !slices.Contains(looked, p) {
				list = append(list, p)
			}
		}
	}
	w.Sort(list)
	return list
}

// sharing are the nodes, and those that share with one of them a value by which a constraint looks at pods; few
// is false if they come to more than most.
func (r *Near) sharing(most int) (nodes []cluster.NodeID, few bool) {
	nodes = r.nodes
	for _, s := range r.q.States {
		topology, seen := s.Scope().Topology(), map[cluster.ValueID]bool{cluster.NoValue: true}
		if topology == nil || topology.Unique() {
			continue
		}
		before := len(nodes)
		nodes = slices.Clip(nodes)
		for _, n := range r.nodes {
			if v := topology.Of(n); !seen[v] {
				seen[v], nodes = true, append(nodes, topology.Sharing(n)...)
			}
			if len(nodes)-before > most { // values share no nodes
				return nil, false
			}
		}
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
	}
	return nodes, len(nodes) <= most
}

// lookedAt are the pods of unit u at which a constraint looks wherever the member is.
func (r *Near) lookedAt(u victims.UnitID, w *losses.Whole) []cluster.PodID {
	var across []domain.State
	for _, s := range r.q.States {
		if looksBeyond(s) && s.Scope().Topology() == nil {
			across = append(across, s)
		}
	}
	if len(across) == 0 {
		return nil
	}
	list, known := r.looked[u]
	if known {
		return list
	}
	for _, p := range w.Pods {
		if n := r.q.Index.NodeOf(p); n != cluster.NoNode && slices.ContainsFunc(across, func(s domain.State) bool {
			t, tells := s.(domain.Toucher)
			return !tells || t.Touches(n) && t.TouchesPod(p, n)
		}) {
			list = append(list, p)
		}
	}
	if r.looked == nil {
		r.looked = map[victims.UnitID][]cluster.PodID{}
	}
	r.looked[u] = list
	return list
}
