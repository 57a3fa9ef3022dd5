package cluster

import (
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/priority"
)

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

// RequestRow fills row, of NumResources amounts, with what a pod asks for that has
// these requests. False if the index has no column for some of it.
func (ix *Index) RequestRow(row []int64, requests Resources) bool {
	clear(row)
	return ix.request(row, requests)
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
	if len(row) > fewResources {
		if _, named := amounts[Pods]; !named && row[PodsColumn] != 0 {
			ix.named[PodsColumn] += by
		}
		for name := range amounts {
			ix.named[ix.column[name]] += by
		}
		return
	}
	for c, v := range row {
		if v == 0 {
			if _, named := amounts[ix.resources[c]]; !named {
				continue
			}
		}
		ix.named[c] += by
	}
}

// placePods lists the pods on their nodes, which so many of each run on, and books
// them there.
func (ix *Index) placePods(ps *problems, nominees []PodID, onNode []int32, parts int) {
	all := make([]PodID, sum(onNode))
	next := make([]int32, len(onNode)) // where the next pod of a node goes
	for n, start := 0, int32(0); n < len(onNode); n++ {
		next[n] = start
		start += onNode[n]
	}
	for i := range ix.NumPods() {
		if n := ix.pods.At(i).node; n != NoNode {
			all[next[n]] = PodID(i)
			next[n]++
		}
	}
	ix.free = paged.MakeMatrix(ix.NumNodes(), len(ix.resources))
	wrong := make([]problems, parts)
	ranges.Each(ix.NumNodes(), parts, func(part, first, end int) {
		for n := NodeID(first); n < NodeID(end); n++ {
			pods := all[next[n]-onNode[n] : next[n] : next[n]]
			ix.nodes.Edit(int(n)).pods = pods
			copy(ix.free.Edit(int(n)), ix.allocatable.Row(int(n)))
			for _, p := range pods {
				ix.book(&wrong[part], n, p)
			}
		}
	})
	*ps = append(*ps, slices.Concat(wrong...)...)
	for _, p := range nominees {
		if n := ix.NominatedTo(p); n != NoNode {
			at := ix.nodes.Edit(int(n))
			at.nominees = append(at.nominees, p)
		} else {
			ix.strays.found = append(ix.strays.found, p)
		}
	}
	ix.checkClaims(ps)
}

func sum(counts []int32) (sum int) {
	for _, n := range counts {
		sum += int(n)
	}
	return sum
}

// numUnstarted is 1 if the pod runs, but nobody knows since when.
func (row *podRow) numUnstarted() int {
	if row.runs && !row.begun {
		return 1
	}
	return 0
}

// saying is how many pods and groups have a guard, and earlier evictions.
type saying struct{ guards, evictions int }

// add counts one, or with n = -1 leaves it out.
func (s *saying) add(n int, guard *Guard, evictions []time.Time) {
	if guard != nil {
		s.guards += n
	}
	if len(evictions) > 0 {
		s.evictions += n
	}
}

// latest is the later of a time, and of the latest of some checkpoint and evictions.
func latest(t time.Time, cost *Cost, evictions []time.Time) time.Time {
	if cost != nil && cost.Checkpoint.After(t) {
		t = cost.Checkpoint
	}
	for _, e := range evictions {
		if e.After(t) {
			t = e
		}
	}
	return t
}

// nominated is the node that a pending pod is nominated to, or NoNode.
func (row *podRow) nominated(ix *Index) NodeID {
	if row.runs {
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

// resolve settles priority and policy of pod p.
func (ix *Index) resolve(ps *problems, p PodID) {
	row := ix.pods.Edit(int(p))
	pod := row.pod
	e, _ := ix.classes.Resolve(pod.spec())
	row.priority, row.level, row.policy = e.Priority, e.Priority, idOf(e.Policy)
	if pod.PreemptionPriority != nil || pod.Guard != nil {
		row.level = level(ps.object(KindPod, pod.Namespace, pod.Name), e.Priority, pod.PreemptionPriority, pod.Guard)
	}
}

// spec is what p says about its priority.
func (p *Pod) spec() priority.Spec {
	return priority.Spec{Class: p.Class, Priority: p.Priority, Policy: p.Policy}
}

// Pods yields the pods in order of namespace and name.
func (ix *Index) Pods() func(yield func(PodID) bool) {
	return func(yield func(PodID) bool) {
		if ix.late > 0 {
			for _, p := range ix.sortedPods() {
				if !yield(p) {
					return
				}
			}
			return
		}
		for p := range PodID(ix.NumPods()) {
			if ix.Exists(p) && !yield(p) {
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
	slices.SortFunc(list, ix.ComparePods)
	return list
}
