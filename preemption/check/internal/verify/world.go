package verify

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/room"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// world is a snapshot by name, read once for one answer. Most pods are only counted: who is looked at gets a record.
type world struct {
	*preemption.Snapshot
	o       *preemption.Options
	rules   rules
	lists   suits.Lists
	classes *priority.Classes
	byClass map[string]int32 // the priorities that classes give

	nodes   []node // in order of name
	byNode  map[string]*node
	at      []int32             // by pod of the snapshot, the number of its node; -1: none, or none that is there
	pending []int32             // pods without a node
	lost    map[[3]string]int32 // pods without one that is there, by namespace, name and node; nil: nobody asked
	records []*pod              // by pod of the snapshot; nil: not looked at yet
	blanks  supply[pod]
	groups  map[groupKey]*group
	budgets budgets.Set
	units   supply[unit]
	spaces  map[string]map[string]string      // labels of the namespaces
	movers  *movers                           // nil: nobody asked
	index   *relation.Index                   // of who runs, where that does not change; nil: not made
	uses    map[preemption.CriterionName]*use // of criteria that were asked about

	guarded   bool // a pod or a group has a guard
	queueing  bool // a pod or a group has a queue
	repelling bool // a running pod has anti-affinity
}

// crowd is who is on a node, or in a group.
type crowd struct {
	w    *world
	who  []int32 // pods of the snapshot
	list []*pod
}

// pods are the records of a crowd, in order of name.
func (c *crowd) pods() []*pod {
	if c.list == nil && len(c.who) > 0 {
		c.list = make([]*pod, len(c.who))
		for i, at := range c.who {
			c.list[i] = c.w.record(at)
		}
		sortByName(c.list)
	}
	return c.list
}

// node is a node with who runs there.
type node struct {
	*cluster.Node
	crowd
	number   int
	nominees []*pod       // pending pods that are nominated to it
	guests   []*member    // who is placed there in the what-if
	taken    *suits.Taken // nil: nobody asked
}

// ports are those that are taken there.
func (n *node) ports() *suits.Taken {
	if n.taken == nil {
		n.taken = &suits.Taken{}
		for _, i := range n.who {
			if len(n.w.Pods[i].Ports) > 0 && !n.w.record(i).gone {
				n.taken.Come(n.w.record(i).ports, +1)
			}
		}
	}
	return n.taken
}

// pod is a running or pending pod that is looked at.
type pod struct {
	*cluster.Pod
	at       *node // nil where it runs nowhere, or on a node that is not there
	priority int32
	group    *group
	unit     *unit             // once it was asked for
	budgets  []*budgets.Budget // that cover it, likewise
	sought   bool              // they were
	member   bool              // of the preemptor
	gone     bool              // in the what-if that is looked at
	ports    suits.Ports
	holds    []int64 // of what members ask for, once it was booked
}

func newWorld(s *preemption.Snapshot, o *preemption.Options, group bool) *world {
	w := &world{Snapshot: s, o: o, lists: suits.Lists{Nodes: s.Nodes}, rules: rulesOf(o, group), byClass: map[string]int32{}, uses: map[preemption.CriterionName]*use{}}
	w.classes, _ = priority.NewClasses(s.PriorityClasses)
	w.nodes = make([]node, len(s.Nodes))
	for i := range s.Nodes {
		w.nodes[i].Node = &s.Nodes[i]
	}
	slices.SortFunc(w.nodes, func(a, b node) int { return strings.Compare(a.Name, b.Name) })
	w.byNode = make(map[string]*node, len(w.nodes))
	for i := range w.nodes {
		w.nodes[i].number, w.nodes[i].w = i, w
		w.byNode[w.nodes[i].Name] = &w.nodes[i]
	}
	w.spaces = map[string]map[string]string{}
	for _, n := range s.Namespaces {
		w.spaces[n.Name] = n.Labels
	}
	w.readGroups()
	w.readPods()
	for _, g := range w.groups {
		g.level = w.levelAt(g.effective.Priority, g.PreemptionPriority, g.Guard, func() time.Time { return w.groupCheckpoint(g) })
	}
	w.budgets = budgets.New(s.Budgets, w.rules.old)
	return w
}

// readPods goes over all pods once, to note who is where.
func (w *world) readPods() {
	w.at, w.records = make([]int32, len(w.Pods)), make([]*pod, len(w.Pods))
	counts := make([]int32, len(w.nodes))
	var n *node
	for i := range w.Pods {
		p := &w.Pods[i]
		if w.at[i] = -1; p.Node == "" {
			w.pending = append(w.pending, int32(i))
		} else {
			if n == nil || n.Name != p.Node {
				n = w.byNode[p.Node]
			}
			if n != nil {
				w.at[i] = int32(n.number)
				counts[n.number]++
				w.repelling = w.repelling || len(p.AntiAffinity) > 0
			}
		}
		if g := w.groupOf(p); g != nil {
			if g.who = append(g.who, int32(i)); p.Node != "" {
				g.run++
			}
		}
		w.guarded = w.guarded || p.Guard != nil
		w.queueing = w.queueing || p.Queue != ""
	}
	room := make([]int32, len(w.Pods))
	for i := range w.nodes {
		w.nodes[i].who, room = room[:0:counts[i]], room[counts[i]:]
	}
	for i, at := range w.at {
		if at >= 0 {
			w.nodes[at].who = append(w.nodes[at].who, int32(i))
		}
	}
	for _, i := range w.pending {
		if n := w.byNode[w.Pods[i].NominatedNode]; n != nil {
			n.nominees = append(n.nominees, w.record(i))
		}
	}
	for i := range w.nodes {
		sortByName(w.nodes[i].nominees)
	}
}

// supply makes values 32 at a time.
type supply[T any] []T

func (s *supply[T]) next() *T {
	if len(*s) == 0 {
		*s = make([]T, 32)
	}
	v := &(*s)[0]
	*s = (*s)[1:]
	return v
}

// record is that of a pod of the snapshot, from now on.
func (w *world) record(i int32) *pod {
	if w.records[i] == nil {
		p := w.blanks.next()
		p.Pod, w.records[i] = &w.Pods[i], p
		p.priority, p.group, p.ports = w.priorityOf(p.Pod), w.groupOf(p.Pod), suits.PortsOf(p.Pod)
		if w.at[i] >= 0 {
			p.at = &w.nodes[w.at[i]]
		}
	}
	return w.records[i]
}

// groupOf is the pod group that p names, nil if there is none.
func (w *world) groupOf(p *cluster.Pod) *group {
	if p.Group == "" {
		return nil
	}
	return w.groups[groupKey{cluster.KindPodGroup, p.Namespace, p.Group}]
}

// running are the pods that run on nodes that are there.
func (w *world) running() iter.Seq2[*cluster.Pod, *node] {
	return func(yield func(*cluster.Pod, *node) bool) {
		for i, at := range w.at {
			if at >= 0 && !yield(&w.Pods[i], &w.nodes[at]) {
				return
			}
		}
	}
}

// left is what is free on each node.
func (w *world) left() (free room.Free) {
	for i := range w.nodes {
		free = append(free, room.Of(w.nodes[i].Node))
	}
	for p, n := range w.running() {
		free.Take(n.number, p, +1)
	}
	return free
}

// standing is running for relations.
func (w *world) standing(yield func(*cluster.Pod, *cluster.Node) bool) {
	for p, n := range w.running() {
		if !yield(p, n.Node) {
			return
		}
	}
}

func sortByName(list []*pod) {
	if !slices.IsSortedFunc(list, compareNames) {
		slices.SortFunc(list, compareNames)
	}
}

func compareNames(a, b *pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// priorityOf is a pod's own.
func (w *world) priorityOf(p *cluster.Pod) int32 {
	if p.Priority != nil {
		return *p.Priority
	}
	value, known := w.byClass[p.Class]
	if !known {
		value = w.effective(p).Priority
		w.byClass[p.Class] = value
	}
	return value
}

func (w *world) effective(p *cluster.Pod) priority.Effective {
	e, _ := w.classes.Resolve(priority.Spec{Class: p.Class, Priority: p.Priority, Policy: p.Policy})
	return e
}

// elapsed is how many whole seconds ago then was; 0 if that is to come, or unknown.
func (w *world) elapsed(then time.Time) (seconds int64, known bool) {
	if then.IsZero() || w.Time.IsZero() {
		return 0, false
	}
	seconds = w.Time.Unix() - then.Unix()
	if w.Time.Nanosecond() < then.Nanosecond() {
		seconds--
	}
	return max(seconds, 0), true
}

// started is when a pod began, in nanoseconds: one that has not counts as beginning now, or later than all others where nobody knows when now is.
func (w *world) started(p *pod) int64 {
	if p.Started.IsZero() {
		return cluster.Nanos(w.Time)
	}
	return cluster.Nanos(p.Started)
}

// podNamed returns the pod of that name on that node; nil if there is none.
func (w *world) podNamed(namespace, name, at string) *pod {
	if n := w.byNode[at]; n != nil {
		i, found := slices.BinarySearchFunc(n.pods(), name, func(p *pod, name string) int {
			return cmp.Or(strings.Compare(p.Namespace, namespace), strings.Compare(p.Name, name))
		})
		if found {
			return n.pods()[i]
		}
		return nil
	}
	if w.lost == nil {
		w.lost = map[[3]string]int32{}
		for i := range w.Pods {
			if p := &w.Pods[i]; w.byNode[p.Node] == nil {
				w.lost[[3]string{p.Namespace, p.Name, p.Node}] = int32(i)
			}
		}
	}
	if i, found := w.lost[[3]string{namespace, name, at}]; found {
		return w.record(i)
	}
	return nil
}
