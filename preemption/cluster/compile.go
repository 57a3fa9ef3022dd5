package cluster

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/priority"
)

// NewIndex checks s and compiles it. The error joins every problem of s, each a
// [*FieldError], in an order that does not depend on that of s; what is odd but
// occurs in live clusters is listed in [Index.Warnings] instead.
//
// The index keeps pointers into s, which must not be changed while it is in use.
//
// O(k log k) for k objects.
func NewIndex(s *Snapshot) (*Index, error) { return NewIndexOf(s.Objects()) }

// NewIndexOf is NewIndex for objects that do not stand in a Snapshot. It may reorder
// the slices of s.
func NewIndexOf(s Objects) (*Index, error) {
	ps := validate(&s)
	classes, err := priority.NewClasses(s.PriorityClasses)
	if err != nil {
		addClassProblems(&ps, err)
	}
	ix := &Index{time: s.Time, now: Nanos(s.Time), classes: classes, disruptions: s.Disruptions}
	ix.orderNodes(&s)
	ix.orderPods(&ps, &s)
	if err := ps.err(); err != nil {
		return nil, err
	}
	ix.nameResources()
	ix.fillColumns(&ps)
	ix.findCarriers()
	ix.layOutDevices()
	ix.compileGroups(&s)
	ix.resolvePriorities(&ps)
	ix.compileBudgets(&s)
	ix.namespaces = make(map[string]map[string]string, len(s.Namespaces))
	for i := range s.Namespaces {
		ix.namespaces[s.Namespaces[i].Name] = s.Namespaces[i].Labels
	}
	if err := ps.err(); err != nil {
		return nil, err
	}
	sortWarnings(ix.warnings)
	return ix, nil
}

// Nanos is t in nanoseconds since 1970, saturating at the ends of int64. The zero
// time is unknown and counts as later than every other.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	switch s := t.Unix(); {
	case s > math.MaxInt64/1_000_000_000-1:
		return math.MaxInt64
	case s < math.MinInt64/1_000_000_000+1:
		return math.MinInt64
	}
	return t.UnixNano()
}

// addClassProblems turns what package priority complains about into FieldErrors.
func addClassProblems(ps *problems, err error) {
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		var fe *priority.FieldError
		if errors.As(err, &fe) {
			ps.object(KindPriorityClass, "", fe.Class).wrap(err, fe.Field, fe.Value, fe.Want)
			continue
		}
		ps.object(KindPriorityClass, "", "").wrap(err, "", err.Error(), "valid")
	}
}

func (ix *Index) orderNodes(s *Objects) {
	ix.nodes = s.Nodes
	slices.SortFunc(ix.nodes, func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })
	ix.nodeByName = make(map[string]NodeID, len(ix.nodes))
	ix.open = make([]bool, len(ix.nodes))
	for i, n := range ix.nodes {
		ix.open[i] = len(n.Taints) == 0 && !n.Unschedulable
		ix.nodeByName[n.Name] = NodeID(i)
	}
}

func (ix *Index) orderPods(ps *problems, s *Objects) {
	ix.pods = s.Pods
	byName := func(a, b *Pod) int {
		if c := cmp.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return cmp.Compare(a.Name, b.Name)
	}
	if !slices.IsSortedFunc(ix.pods, byName) {
		slices.SortFunc(ix.pods, byName)
	}
	ix.podByName = make(map[PodKey]PodID, len(ix.pods))
	for i, p := range ix.pods {
		k := PodKey{p.Namespace, p.Name}
		if _, twice := ix.podByName[k]; twice {
			if i < 2 || byName(ix.pods[i-2], p) != 0 { // once, however often it stands
				ps.object(KindPod, p.Namespace, p.Name).bad("Name", quote(p.Name), "unique")
			}
			continue
		}
		ix.podByName[k] = PodID(i)
	}
}

// nameResources numbers every resource that a node offers or a pod asks for.
func (ix *Index) nameResources() {
	seen := map[string]bool{}
	for _, n := range ix.nodes {
		for name := range n.Allocatable {
			seen[name] = true
		}
	}
	for _, p := range ix.pods {
		for name := range p.Requests {
			if !seen[name] {
				seen[name] = true
			}
		}
	}
	delete(seen, Pods)
	ix.resources = append([]string{Pods}, sortedNames(seen)...)
	ix.column = make(map[string]ResourceID, len(ix.resources))
	for i, name := range ix.resources {
		ix.column[name] = ResourceID(i)
	}
}

// fillColumns lays out capacities, requests and who runs where.
func (ix *Index) fillColumns(ps *problems) {
	r := len(ix.resources)
	ix.allocatable = make([]int64, len(ix.nodes)*r)
	for i, n := range ix.nodes {
		ix.fillRow(ix.allocatable[i*r:(i+1)*r], n.Allocatable)
		if _, ok := n.Allocatable[Pods]; !ok {
			ix.allocatable[i*r] = math.MaxInt64
		}
	}
	ix.requests = make([]int64, len(ix.pods)*r)
	ix.nodeOf = make([]NodeID, len(ix.pods))
	count := make([]int32, len(ix.nodes)+1)
	for i, p := range ix.pods {
		row := ix.requests[i*r : (i+1)*r]
		ix.fillRow(row, p.Requests)
		row[PodsColumn] = 1
		ix.nodeOf[i] = NoNode
		if p.Node == "" {
			continue
		}
		n := ix.NodeByName(p.Node)
		if n == NoNode {
			ix.warnPod(p, "Node", p.Node, "no such node: the pod counts for budgets and groups only")
			continue
		}
		ix.nodeOf[i] = n
		count[n+1]++
	}
	ix.placePods(count)
	ix.sumFree(ps)
	ix.listNominees()
}

func (ix *Index) fillRow(row []int64, amounts Resources) {
	for name, v := range amounts {
		row[ix.column[name]] = v
	}
}

// placePods groups the running pods by node; count[n+1] is the number on node n.
func (ix *Index) placePods(count []int32) {
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	all := make([]PodID, count[len(count)-1])
	ix.podsOn = make([][]PodID, len(ix.nodes))
	for n := range ix.podsOn {
		ix.podsOn[n] = all[count[n]:count[n]:count[n+1]]
	}
	for p, n := range ix.nodeOf {
		if n != NoNode {
			ix.podsOn[n] = append(ix.podsOn[n], PodID(p))
		}
	}
}

// sumFree computes what is left on each node, below zero where it is overcommitted.
func (ix *Index) sumFree(ps *problems) {
	r := len(ix.resources)
	ix.free = slices.Clone(ix.allocatable)
	used := make([]int64, r)
	for n := range ix.nodes {
		clear(used)
		for _, p := range ix.podsOn[n] {
			for c, v := range ix.Request(p) {
				if used[c] > math.MaxInt64-v {
					ps.object(KindNode, "", ix.nodes[n].Name).bad(
						"requests["+ix.resources[c]+"]", "the sum over its pods", "an int64")
					v = 0
				}
				used[c] += v
			}
		}
		for c, v := range used {
			ix.free[n*r+c] -= v
		}
	}
}

func (ix *Index) listNominees() {
	ix.nominees = make([][]PodID, len(ix.nodes))
	for i, p := range ix.pods {
		if p.Node != "" || p.NominatedNode == "" {
			continue
		}
		if n := ix.NodeByName(p.NominatedNode); n != NoNode {
			ix.nominees[n] = append(ix.nominees[n], PodID(i))
		}
	}
}

func (ix *Index) compileBudgets(s *Objects) {
	ix.budgets = slices.Clone(s.Budgets)
	slices.SortFunc(ix.budgets, disruption.Compare)
	ix.budgetSet, _ = disruption.NewSet(ix.budgets) // its selectors were checked before
}
