package domain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Member is one pod of a preemptor, compiled for one index: what the built-in
// checks need of it. It is immutable once it is used.
type Member struct {
	Pod *cluster.Pod
	ID  cluster.PodID // in the index; NoPod for a pod given inline

	request []int64 // a row of the index
	asks    []cluster.ResourceID
	ports   []cluster.HostPort

	unknown []string // resources asked for that the index has no column for, sorted

	filter Filter       // nil: none; see Restrict
	view   *cluster.Pod // what it is shown
}

// NewMember compiles pod for ix. id is its place in ix, or NoPod.
func NewMember(ix *cluster.Index, pod *cluster.Pod, id cluster.PodID) *Member {
	m := &Member{Pod: pod, ID: id, ports: pod.Ports}
	m.readRequests(ix)
	return m
}

// readRequests compiles what the pod of m asks for.
func (m *Member) readRequests(ix *cluster.Index) {
	m.request = make([]int64, ix.NumResources())
	m.request[cluster.PodsColumn] = 1
	for name, amount := range m.Pod.Requests {
		if amount == 0 {
			continue // asks for nothing: ignored even where a node is overcommitted
		}
		r, ok := ix.Column(name)
		if !ok {
			m.unknown = append(m.unknown, name)
			continue
		}
		m.request[r] = amount
	}
	slices.Sort(m.unknown)
	for r, v := range m.request {
		if v > 0 {
			m.asks = append(m.asks, cluster.ResourceID(r))
		}
	}
}

// Request returns the row of amounts that m asks for. The slice belongs to m.
func (m *Member) Request() []int64 { return m.request }

// Unknown returns the resources that m asks for and that nothing in the snapshot
// offers or asks for, sorted. The slice belongs to m.
func (m *Member) Unknown() []string { return m.unknown }

// Anywhere reports whether m asks nothing of a node but room: no selector, affinity
// or required node, and no filter looks at it.
func (m *Member) Anywhere() bool {
	return len(m.Pod.NodeSelector) == 0 && m.Pod.NodeAffinity == nil && m.Pod.RequiredNode == "" && m.filter == nil
}

// Cordoned reports whether node is cordoned and m does not tolerate that.
func (m *Member) Cordoned(node *cluster.Node) bool {
	return node.Unschedulable && !tolerates(m.Pod.Tolerations, &cordon)
}

// StaticChecks lists the checks that Static makes.
var StaticChecks = [...]Check{CheckUnschedulable, CheckNodeName, CheckTaint, CheckNodeAffinity, CheckFilter}

// StaticCheck is the position of c in StaticChecks; -1 if it is not there.
func StaticCheck(c Check) int { return slices.Index(StaticChecks[:], c) }

// Static makes the checks that look at the node alone, in upstream's order: cordon,
// node name, taints, node affinity; then the user's filter. The zero Reason says that they all pass; no
// eviction changes any of them. Detail is left empty; see [Member.Describe].
func (m *Member) Static(node *cluster.Node) Reason {
	p := m.Pod
	switch {
	case m.Cordoned(node):
		return Reason{Check: CheckUnschedulable, Unresolvable: true}
	case p.RequiredNode != "" && p.RequiredNode != node.Name:
		return Reason{Check: CheckNodeName, Unresolvable: true}
	case Untolerated(p, node) != nil:
		return Reason{Check: CheckTaint, Unresolvable: true}
	case !MatchesNode(p, node):
		return Reason{Check: CheckNodeAffinity, Unresolvable: true}
	case m.filter != nil && !m.filter(m.view, node):
		return Reason{Check: CheckFilter, Unresolvable: true}
	}
	return Reason{}
}

// Describe completes r, a reason why m does not fit on n, with its Detail.
func (m *Member) Describe(ix *cluster.Index, n cluster.NodeID, r Reason) Reason {
	switch {
	case r.Detail != "":
	case r.Check == CheckTaint:
		var names []string
		for _, t := range AllUntolerated(m.Pod, ix.Node(n)) {
			names = append(names, t.String())
		}
		if len(names) > 0 {
			r.Detail = slices.Min(names) // not the first: the order of taints says nothing
		}
	case r.Check == CheckPorts:
		r.Detail = PortName(m.ports[r.Port])
	case r.Check == CheckNodeName:
		r.Detail = m.Pod.RequiredNode
	}
	return r
}

// Untolerated returns the first taint of node that keeps pod away, nil if there is none.
func Untolerated(pod *cluster.Pod, node *cluster.Node) *cluster.Taint {
	for i := range node.Taints {
		t := &node.Taints[i]
		if t.Effect != cluster.PreferNoSchedule && !tolerates(pod.Tolerations, t) {
			return t
		}
	}
	return nil
}

// AllUntolerated returns every taint of node that keeps pod away.
func AllUntolerated(pod *cluster.Pod, node *cluster.Node) []cluster.Taint {
	var list []cluster.Taint
	for i := range node.Taints {
		if t := &node.Taints[i]; t.Effect != cluster.PreferNoSchedule && !tolerates(pod.Tolerations, t) {
			list = append(list, *t)
		}
	}
	return list
}

var cordon = cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule}

func tolerates(ts []cluster.Toleration, taint *cluster.Taint) bool {
	return slices.ContainsFunc(ts, func(t cluster.Toleration) bool { return toleratesTaint(t, taint) })
}

func toleratesTaint(t cluster.Toleration, taint *cluster.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case cluster.TolerationExists:
		return true
	case cluster.TolerationLt, cluster.TolerationGt:
		have, err1 := strconv.ParseInt(taint.Value, 10, 64)
		want, err2 := strconv.ParseInt(t.Value, 10, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		if t.Operator == cluster.TolerationLt {
			return have < want
		}
		return have > want
	}
	return t.Value == taint.Value
}

// MatchesNode reports whether node has what pod's nodeSelector and required node
// affinity ask for.
func MatchesNode(pod *cluster.Pod, node *cluster.Node) bool {
	for k, v := range pod.NodeSelector {
		if have, ok := node.Labels[k]; !ok || have != v {
			return false
		}
	}
	if pod.NodeAffinity == nil {
		return true
	}
	return slices.ContainsFunc(pod.NodeAffinity.Terms, func(t cluster.NodeTerm) bool { return matchesTerm(t, node) })
}

func matchesTerm(t cluster.NodeTerm, node *cluster.Node) bool {
	if len(t.Labels)+len(t.Fields) == 0 {
		return false
	}
	for _, r := range t.Labels {
		value, has := node.Labels[r.Key]
		if !matchesRequirement(r, value, has) {
			return false
		}
	}
	for _, r := range t.Fields {
		if !matchesRequirement(r, node.Name, true) {
			return false
		}
	}
	return true
}

func matchesRequirement(r cluster.NodeRequirement, value string, has bool) bool {
	switch r.Operator {
	case cluster.NodeIn:
		return has && slices.Contains(r.Values, value)
	case cluster.NodeNotIn:
		return !has || !slices.Contains(r.Values, value)
	case cluster.NodeExists:
		return has
	case cluster.NodeDoesNotExist:
		return !has
	}
	have, err1 := strconv.ParseInt(value, 10, 64)
	want, err2 := strconv.ParseInt(r.Values[0], 10, 64)
	if !has || err1 != nil || err2 != nil {
		return false
	}
	if r.Operator == cluster.NodeGt {
		return have > want
	}
	return have < want
}

// Resources compares what m asks for with what is free on a node that offers
// allocatable in all; both are rows of the index. The reason names the first
// resource that is short, and is unresolvable if any is short of what the node
// offers in all (the number of pods apart: upstream does not look at that).
func (m *Member) Resources(free, allocatable []int64) Reason {
	var first Reason
	unresolvable := false
	for _, r := range m.asks {
		if want := m.request[r]; want > free[r] {
			if first.OK() {
				first = Reason{Check: CheckResource, Resource: r, Missing: checked.Sub(want, free[r])}
			}
			unresolvable = unresolvable || want > allocatable[r] && r != cluster.PodsColumn
		}
	}
	if len(m.unknown) > 0 {
		if first.OK() {
			name := m.unknown[0]
			first = Reason{Check: CheckResource, Resource: NoResource, Missing: m.Pod.Requests[name], Detail: name}
		}
		unresolvable = true
	}
	first.Unresolvable = unresolvable
	return first
}

// NoResource stands in a Reason for a resource that no node of the snapshot
// offers; Detail has its name.
const NoResource cluster.ResourceID = -1

// alike reports whether no built-in check, nor the filter, can tell m from o, whatever the order of
// what they list.
func (m *Member) alike(o *Member) bool {
	p, q := m.Pod, o.Pod
	return slices.Equal(m.request, o.request) && slices.Equal(m.unknown, o.unknown) &&
		p.RequiredNode == q.RequiredNode && maps.Equal(p.NodeSelector, q.NodeSelector) &&
		sameTexts(p.Ports, q.Ports, PortName) && sameTexts(p.Tolerations, q.Tolerations, tolerationText) &&
		sameAffinity(p.NodeAffinity, q.NodeAffinity) && m.viewedAlike(o)
}

// sameTexts reports whether two lists have the same texts in any order.
func sameTexts[T any](a, b []T, text func(T) string) bool {
	if len(a) != len(b) {
		return false
	}
	texts := func(list []T) []string {
		out := make([]string, len(list))
		for i, v := range list {
			out[i] = text(v)
		}
		slices.Sort(out)
		return out
	}
	return len(a) == 0 || slices.Equal(texts(a), texts(b))
}

func tolerationText(t cluster.Toleration) string {
	return fmt.Sprintf("%q %q %q %q", t.Key, t.Operator, t.Value, t.Effect)
}

func sameAffinity(a, b *cluster.NodeAffinity) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameTexts(a.Terms, b.Terms, func(t cluster.NodeTerm) string {
		return requirementsText(t.Labels) + ";" + requirementsText(t.Fields)
	})
}

func requirementsText(list []cluster.NodeRequirement) string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = fmt.Sprintf("%q %q %q", r.Key, r.Operator, slices.Sorted(slices.Values(r.Values)))
	}
	slices.Sort(texts)
	return strings.Join(texts, ",")
}
