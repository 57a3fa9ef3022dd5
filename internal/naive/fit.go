package naive

import (
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Status says why the preemptor does not fit on a node. The zero Status says that it fits.
type Status struct {
	Check        string
	Resources    map[string]int64 // for "resource": every one that is short, and by how much
	Unresolvable bool             // no eviction helps
}

// OK reports whether the preemptor fits.
func (s Status) OK() bool { return s.Check == "" }

// The checks, by the names that the library gives them, in the order in which they
// are made; and the reasons of a node on which nobody may be evicted, and of one
// that was not looked at.
const (
	Unschedulable = "unschedulable"
	NodeName      = "node name"
	Taint         = "taint"
	NodeAffinity  = "node affinity"
	Ports         = "host port"
	Resource      = "resource"
	NoVictims     = "no potential victims"
	NotSampled    = "not sampled"
)

// fits says whether the preemptor fits on a node once some pods are gone. It has
// to fit twice: with the pods nominated there that are as important as itself,
// since they may arrive, and without them, since they may not.
func (q *question) fits(node string, gone map[PodKey]bool) Status {
	var there, expected []*cluster.Pod
	for i := range q.snapshot.Pods {
		if p := &q.snapshot.Pods[i]; p.Node == node && !gone[key(p)] {
			there = append(there, p)
		}
	}
	for _, p := range q.nominees(node) {
		if q.priorityOf(p) >= q.priority {
			expected = append(expected, p)
		}
	}
	if len(expected) > 0 {
		if st := q.fitsBeside(node, append(expected, there...)); !st.OK() {
			return st
		}
	}
	return q.fitsBeside(node, there)
}

// nominees are the pending pods other than the preemptor that are nominated to a node.
func (q *question) nominees(node string) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range q.snapshot.Pods {
		p := &q.snapshot.Pods[i]
		if p.Node == "" && p.NominatedNode == node && key(p) != key(q.pod) {
			out = append(out, p)
		}
	}
	return out
}

func (q *question) fitsBeside(name string, others []*cluster.Pod) Status {
	i := slices.IndexFunc(q.snapshot.Nodes, func(n cluster.Node) bool { return n.Name == name })
	node, pod := &q.snapshot.Nodes[i], q.pod
	cordon := cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule}
	if node.Unschedulable && !toleratesOne(pod, cordon) {
		return Status{Check: Unschedulable, Unresolvable: true}
	}
	if pod.RequiredNode != "" && pod.RequiredNode != node.Name {
		return Status{Check: NodeName, Unresolvable: true}
	}
	for _, t := range node.Taints {
		if t.Effect != cluster.PreferNoSchedule && !toleratesOne(pod, t) {
			return Status{Check: Taint, Unresolvable: true}
		}
	}
	if !selects(pod, node) {
		return Status{Check: NodeAffinity, Unresolvable: true}
	}
	for _, o := range others {
		if portsConflict(pod, o) {
			return Status{Check: Ports}
		}
	}
	return resources(pod, node, others)
}

func resources(pod *cluster.Pod, node *cluster.Node, others []*cluster.Pod) Status {
	st := Status{}
	short := func(name string, missing int64) {
		st.Check = Resource
		if st.Resources == nil {
			st.Resources = map[string]int64{}
		}
		st.Resources[name] = missing
	}
	if slots, limited := node.Allocatable[cluster.Pods]; limited && int64(len(others))+1 > slots {
		short(cluster.Pods, int64(len(others))+1-slots)
	}
	for name, want := range pod.Requests {
		free := node.Allocatable[name]
		for _, o := range others {
			free -= o.Requests[name]
		}
		if want > 0 && want > free {
			short(name, want-free)
			if want > node.Allocatable[name] {
				st.Unresolvable = true
			}
		}
	}
	return st
}

func portsConflict(a, b *cluster.Pod) bool {
	const everywhere = "0.0.0.0"
	orElse := func(s, zero string) string {
		if s == "" {
			return zero
		}
		return s
	}
	for _, x := range a.Ports {
		for _, y := range b.Ports {
			xip, yip := orElse(x.IP, everywhere), orElse(y.IP, everywhere)
			if x.Port == y.Port && orElse(x.Protocol, "TCP") == orElse(y.Protocol, "TCP") &&
				(xip == yip || xip == everywhere || yip == everywhere) {
				return true
			}
		}
	}
	return false
}

func toleratesOne(pod *cluster.Pod, t cluster.Taint) bool {
	for _, tol := range pod.Tolerations {
		if tolerates(tol, t) {
			return true
		}
	}
	return false
}

func tolerates(tol cluster.Toleration, t cluster.Taint) bool {
	if tol.Effect != "" && tol.Effect != t.Effect {
		return false
	}
	if tol.Key != "" && tol.Key != t.Key {
		return false
	}
	switch tol.Operator {
	case "", cluster.TolerationEqual:
		return tol.Value == t.Value
	case cluster.TolerationExists:
		return true
	case cluster.TolerationLt, cluster.TolerationGt:
		of, err1 := strconv.ParseInt(t.Value, 10, 64)
		than, err2 := strconv.ParseInt(tol.Value, 10, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		if tol.Operator == cluster.TolerationLt {
			return of < than
		}
		return of > than
	}
	return false
}

// selects says whether a pod's node selector and required node affinity hold for a node.
func selects(pod *cluster.Pod, node *cluster.Node) bool {
	for k, v := range pod.NodeSelector {
		if got, ok := node.Labels[k]; !ok || got != v {
			return false
		}
	}
	if pod.NodeAffinity == nil {
		return true
	}
	for _, term := range pod.NodeAffinity.Terms {
		if termHolds(term, node) {
			return true
		}
	}
	return false
}

func termHolds(term cluster.NodeTerm, node *cluster.Node) bool {
	if len(term.Labels) == 0 && len(term.Fields) == 0 {
		return false
	}
	for _, r := range term.Labels {
		value, has := node.Labels[r.Key]
		if !holds(r, value, has) {
			return false
		}
	}
	for _, r := range term.Fields {
		if r.Key != "metadata.name" || !holds(r, node.Name, true) {
			return false
		}
	}
	return true
}

func holds(r cluster.NodeRequirement, value string, has bool) bool {
	switch r.Operator {
	case cluster.NodeIn:
		return has && slices.Contains(r.Values, value)
	case cluster.NodeNotIn:
		return !has || !slices.Contains(r.Values, value)
	case cluster.NodeExists:
		return has
	case cluster.NodeDoesNotExist:
		return !has
	case cluster.NodeGt, cluster.NodeLt:
		if !has || len(r.Values) != 1 {
			return false
		}
		of, err1 := strconv.ParseInt(value, 10, 64)
		than, err2 := strconv.ParseInt(r.Values[0], 10, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		return r.Operator == cluster.NodeGt && of > than || r.Operator == cluster.NodeLt && of < than
	}
	return false
}
