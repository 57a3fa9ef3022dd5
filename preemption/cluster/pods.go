package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/priority"
)

// comparePodNames orders pods by namespace and name.
func comparePodNames(a, b *Pod) int {
	if c := cmp.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return cmp.Compare(a.Name, b.Name)
}

// ComparePods orders pods by namespace and name.
func (ix *Index) ComparePods(a, b PodID) int {
	x, y := ix.pods.At(int(a)), ix.pods.At(int(b))
	if !x.late && !y.late {
		return cmp.Compare(a, b)
	}
	return comparePodNames(x.pod, y.pod)
}

// orderPods numbers the pods in order of their names and complains about names that
// stand twice.
func (ix *Index) orderPods(ps *problems, pods []*Pod) {
	if !slices.IsSortedFunc(pods, comparePodNames) {
		slices.SortFunc(pods, comparePodNames)
	}
	ix.pods = paged.Make[podRow](len(pods))
	ix.podByName = newPodNames(len(pods))
	for i, p := range pods {
		*ix.pods.Edit(i) = podRow{pod: p, node: NoNode, group: NoGroup, repels: len(p.AntiAffinity) > 0}
		if i > 0 && comparePodNames(pods[i-1], p) == 0 {
			if i < 2 || comparePodNames(pods[i-2], p) != 0 { // once, however often it stands
				ps.object(KindPod, p.Namespace, p.Name).bad("Name", quote(p.Name), "unique")
			}
			continue
		}
		ix.podByName.add(PodID(i), p.Namespace, p.Name)
	}
}

// readPods checks every pod and lays its requests out, in the columns of every
// resource that a node offers or a pod asks for.
func (ix *Index) readPods(ps *problems, s *Objects) {
	names := map[string]bool{}
	for _, n := range s.Nodes {
		for name := range n.Allocatable {
			names[name] = true
		}
	}
	ix.nameResources(names)
	ix.requests = paged.MakeMatrix(len(s.Pods), len(ix.resources))
	known := len(names)
	for i, p := range s.Pods {
		validateBesides(ps, p)
		validatePodTimes(ps, s.Time, p)
		ix.findCarrier(PodID(i), p)
		row := ix.requests.Edit(i)
		complete := ix.request(row, p.Requests)
		if !complete || slices.Min(row) < 0 {
			validateRequests(ps, p)
		}
		if !complete {
			for name := range p.Requests {
				names[name] = true
			}
			continue
		}
		ix.count(p.Requests, row, +1)
	}
	delete(names, Pods)
	if len(names) > known {
		ix.nameResources(names)
		ix.requests = paged.MakeMatrix(len(s.Pods), len(ix.resources))
		for i, p := range s.Pods {
			row := ix.requests.Edit(i)
			ix.request(row, p.Requests)
			ix.count(p.Requests, row, +1)
		}
	}
	ix.fillNodes(s)
}

// nameResources numbers the resources of these names, and the number of pods.
func (ix *Index) nameResources(names map[string]bool) {
	delete(names, Pods)
	ix.resources = append([]string{Pods}, sortedNames(names)...)
	ix.column = make(map[string]ResourceID, len(ix.resources))
	ix.named = make([]int32, len(ix.resources))
	for i, name := range ix.resources {
		ix.column[name] = ResourceID(i)
	}
}

// request fills the row of a pod and reports whether there is a column for all that
// it asks for. Looking names up costs less than going through the map.
func (ix *Index) request(row []int64, amounts Resources) bool {
	row[PodsColumn] = 1
	found := 0
	for c, name := range ix.resources[1:] {
		if v, ok := amounts[name]; ok {
			row[c+1] = v
			found++
		}
	}
	return found == len(amounts)
}

// count counts who names which resource: without anybody it has no column. row is
// that of amounts.
func (ix *Index) count(amounts Resources, row []int64, by int32) {
	for c, v := range row {
		if v == 0 {
			if _, named := amounts[ix.resources[c]]; !named {
				continue
			}
		}
		ix.named[c] += by
	}
}

func (ix *Index) fillNodes(s *Objects) {
	ix.allocatable = paged.MakeMatrix(len(s.Nodes), len(ix.resources))
	for i, n := range s.Nodes {
		row := ix.allocatable.Edit(i)
		ix.offer(row, n)
		ix.count(n.Allocatable, row, +1)
	}
}

// offer fills the row of a node.
func (ix *Index) offer(row []int64, n *Node) {
	clear(row)
	row[PodsColumn] = math.MaxInt64
	for name, v := range n.Allocatable {
		row[ix.column[name]] = v
	}
}

// placePods books the pods on their nodes and groups them there.
func (ix *Index) placePods(ps *problems) {
	ix.free = paged.MakeMatrix(ix.NumNodes(), len(ix.resources))
	for n := range ix.NumNodes() {
		copy(ix.free.Edit(n), ix.allocatable.Row(n))
	}
	count := make([]int32, ix.NumNodes()+1)
	for i := range ix.NumPods() {
		row := ix.pods.Edit(i)
		row.node, row.group = ix.nodeNamed(row.pod.Node), ix.groupNamed(row.pod)
		if row.node != NoNode {
			count[row.node+1]++
			ix.book(ps, row.node, PodID(i))
		}
		ix.waiting += row.numUnstarted()
		ix.dated += row.pod.numDated()
	}
	for n := 1; n < len(count); n++ {
		count[n] += count[n-1]
	}
	all := make([]PodID, count[len(count)-1])
	for n := range ix.NumNodes() {
		ix.nodes.Edit(n).pods = all[count[n]:count[n]:count[n+1]]
	}
	for i := range ix.NumPods() {
		switch row := ix.pods.At(i); {
		case row.node != NoNode:
			at := ix.nodes.Edit(int(row.node))
			at.pods = append(at.pods, PodID(i))
		case row.pod.NominatedNode != "":
			if n := row.nominated(ix); n != NoNode {
				at := ix.nodes.Edit(int(n))
				at.nominees = append(at.nominees, PodID(i))
			}
		}
	}
	ix.checkClaims(ps)
}

// numUnstarted is 1 if the pod runs, but nobody knows since when.
func (row *podRow) numUnstarted() int {
	if row.pod.Node != "" && row.pod.Started.IsZero() {
		return 1
	}
	return 0
}

// numDated is 1 if something about the pod must not lie in the future, or depends on
// how long ago it was.
func (p *Pod) numDated() int {
	if p.Cost != nil || guarded(p) {
		return 1
	}
	return 0
}

// nominated is the node that a pending pod is nominated to, or NoNode.
func (row *podRow) nominated(ix *Index) NodeID {
	if row.pod.Node != "" {
		return NoNode
	}
	return ix.nodeNamed(row.pod.NominatedNode)
}

// nodeNamed is NodeByName for a name that may be empty.
func (ix *Index) nodeNamed(name string) NodeID {
	if name == "" {
		return NoNode
	}
	return ix.NodeByName(name)
}

// groupNamed is the pod group that p names, or NoGroup.
func (ix *Index) groupNamed(p *Pod) GroupID {
	if p.Group == "" {
		return NoGroup
	}
	return ix.GroupByName(KindPodGroup, p.Namespace, p.Group)
}

// resolvePriorities settles priority and policy of every pod.
func (ix *Index) resolvePriorities(ps *problems) {
	for i := range ix.NumPods() {
		ix.resolve(ps, PodID(i))
		ix.warnings = append(ix.warnings, ix.oddities(ix.pods.At(i))...)
	}
}

// resolve settles priority and policy of pod p.
func (ix *Index) resolve(ps *problems, p PodID) {
	row := ix.pods.Edit(int(p))
	pod := row.pod
	e, _ := ix.classes.Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
	row.priority, row.level, row.policy = e.Priority, e.Priority, idOf(e.Policy)
	if pod.PreemptionPriority != nil || pod.Guard != nil {
		row.level = ix.levelAt(ps.object(KindPod, pod.Namespace, pod.Name), e.Priority, pod.PreemptionPriority, pod.Guard, func() time.Time { return ix.Checkpoint(p) })
	}
}

// oddities lists what is odd about a pod.
func (ix *Index) oddities(row *podRow) []Warning {
	var list []Warning
	p := row.pod
	warn := func(field, value, text string) {
		list = append(list, Warning{KindPod, p.Namespace, p.Name, field, value, text})
	}
	if p.Node != "" && row.node == NoNode {
		warn("Node", p.Node, "no such node: the pod counts for budgets and groups only")
	}
	if p.Group != "" && row.group == NoGroup {
		warn("Group", p.Group, "no such group: the pod is taken by itself")
	}
	if p.Class != "" {
		if named, known := ix.classes.Lookup(p.Class); !known {
			warn("Class", p.Class, "no such priority class")
		} else if p.Priority != nil && named.Value != *p.Priority {
			warn("Priority", number(*p.Priority), fmt.Sprintf("its class says %d: the pod's own priority counts", named.Value))
		}
	}
	if row.group != NoGroup {
		if of := ix.groups.At(int(row.group)); of.Priority != row.priority {
			warn("Priority", number(row.priority), fmt.Sprintf("its group %q has %d", of.Name, of.Priority))
		}
	}
	return list
}

// Pods yields the pods in order of namespace and name.
func (ix *Index) Pods() func(yield func(PodID) bool) {
	return func(yield func(PodID) bool) {
		for _, p := range ix.sortedPods() {
			if !yield(p) {
				return
			}
		}
	}
}

// sortedPods returns a new slice of the pods in order of namespace and name.
func (ix *Index) sortedPods() []PodID {
	list := make([]PodID, 0, ix.NumPods())
	for p := range PodID(ix.NumPods()) {
		if ix.Exists(p) {
			list = append(list, p)
		}
	}
	if ix.late > 0 {
		slices.SortFunc(list, ix.ComparePods)
	}
	return list
}

// sameNames reports whether a and b name the same resources.
func sameNames(a, b Resources) bool {
	return maps.EqualFunc(a, b, func(int64, int64) bool { return true })
}
