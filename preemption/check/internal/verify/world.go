package verify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// world is a snapshot by name, read once for one answer.
type world struct {
	*preemption.Snapshot
	o       *preemption.Options
	rules   rules
	classes *priority.Classes

	nodes   []node // in order of name
	byNode  map[string]*node
	pods    []pod
	groups  map[groupKey]*group
	budgets budgets
	room    []unit                       // see newUnit
	spaces  map[string]map[string]string // labels of the namespaces
}

// node is a node with who is there.
type node struct {
	*cluster.Node
	number   int
	pods     []*pod // who runs there, in order of name
	nominees []*pod // pending pods that are nominated to it
}

// pod is a running or pending pod.
type pod struct {
	*cluster.Pod
	at       *node // nil where it runs nowhere, or on a node that is not there
	priority int32
	group    *group
	unit     *unit // once it was asked for
	gone     bool  // in the what-if that is looked at
}

func newWorld(s *preemption.Snapshot, o *preemption.Options, group bool) *world {
	w := &world{Snapshot: s, o: o, rules: rulesOf(o, group)}
	w.classes, _ = priority.NewClasses(s.PriorityClasses)
	w.nodes = make([]node, len(s.Nodes))
	for i := range s.Nodes {
		w.nodes[i].Node = &s.Nodes[i]
	}
	slices.SortFunc(w.nodes, func(a, b node) int { return strings.Compare(a.Name, b.Name) })
	w.byNode = make(map[string]*node, len(w.nodes))
	for i := range w.nodes {
		w.nodes[i].number = i
		w.byNode[w.nodes[i].Name] = &w.nodes[i]
	}
	w.spaces = map[string]map[string]string{}
	for _, n := range s.Namespaces {
		w.spaces[n.Name] = n.Labels
	}
	w.readGroups()
	w.readPods()
	w.settleGroups()
	w.budgets = newBudgets(s.Budgets, w.rules)
	return w
}

func (w *world) readPods() {
	w.pods = make([]pod, len(w.Pods))
	counts := make([]int, len(w.nodes))
	for i := range w.Pods {
		p := &w.pods[i]
		p.Pod = &w.Pods[i]
		p.priority = w.priorityOf(p.Pod)
		if p.Group != "" {
			if p.group = w.groups[groupKey{cluster.KindPodGroup, p.Namespace, p.Group}]; p.group != nil {
				p.group.pods = append(p.group.pods, p)
			}
		}
		if p.Node == "" {
			if n := w.byNode[p.NominatedNode]; n != nil {
				n.nominees = append(n.nominees, p)
			}
		} else if p.at = w.byNode[p.Node]; p.at != nil {
			counts[p.at.number]++
		}
	}
	room := make([]*pod, len(w.pods))
	for i := range w.nodes {
		w.nodes[i].pods, room = room[:0:counts[i]], room[counts[i]:]
	}
	for i := range w.pods {
		if p := &w.pods[i]; p.at != nil {
			p.at.pods = append(p.at.pods, p)
		}
	}
	for i := range w.nodes {
		sortByName(w.nodes[i].pods)
		sortByName(w.nodes[i].nominees)
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
	return w.effective(p).Priority
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

// started is when a pod began, in nanoseconds: one that has not counts as beginning
// now, or later than all others where nobody knows when now is.
func (w *world) started(p *pod) int64 {
	if p.Started.IsZero() {
		return cluster.Nanos(w.Time)
	}
	return cluster.Nanos(p.Started)
}

// podNamed returns the pod of that name on that node; nil if there is none.
func (w *world) podNamed(namespace, name, at string) *pod {
	if n := w.byNode[at]; n != nil {
		i := slices.IndexFunc(n.pods, func(p *pod) bool { return p.Namespace == namespace && p.Name == name })
		if i < 0 {
			return nil
		}
		return n.pods[i]
	}
	for i := range w.pods { // a node that is not there
		if p := &w.pods[i]; p.Node == at && p.Namespace == namespace && p.Name == name {
			return p
		}
	}
	return nil
}
