package suits

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Taints reports whether p tolerates every taint of n that keeps pods away.
func (l *Lists) Taints(p *cluster.Pod, n *cluster.Node) bool {
	tolerates := func(t cluster.Taint) bool { return Tolerates(p, t) }
	if many := 16; len(n.Taints) > many && len(p.Tolerations) > many {
		tolerates = l.toleratedBy(p).tolerates
	}
	for _, t := range n.Taints {
		if t.Effect != cluster.PreferNoSchedule && !tolerates(t) {
			return false
		}
	}
	return true
}

// Tolerates reports whether p tolerates a taint.
func Tolerates(p *cluster.Pod, taint cluster.Taint) bool {
	for _, t := range p.Tolerations {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		switch t.Operator {
		case cluster.TolerationExists:
			return true
		case cluster.TolerationLt, cluster.TolerationGt:
			if less, more := compareIntegers(taint.Value, t.Value); t.Operator == cluster.TolerationLt && less || t.Operator == cluster.TolerationGt && more {
				return true
			}
		default:
			if t.Value == taint.Value {
				return true
			}
		}
	}
	return false
}

// compareIntegers compares two integers; neither is true where one is no integer.
func compareIntegers(a, b string) (less, more bool) {
	x, err1 := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	ok := err1 == nil && err2 == nil
	return ok && x < y, ok && x > y
}

// Lists remember the terms of nodes, and long lists of values and tolerations, each of which is read once. The zero Lists remember nothing yet. Nil
// ones never do, and are for anything but terms.
type Lists struct {
	Nodes     []cluster.Node // that terms are asked about
	filed     *filedNodes    // these; nil: nobody asked
	allowed   map[list[cluster.NodeTerm]]numbers
	values    map[list[string]]map[string]bool
	tolerated map[list[cluster.Toleration]]tolerated
}

type list[T any] struct {
	first *T
	len   int
}

// manyValues are remembered, and of terms that many words, 64 nodes in each.
const manyValues, mostWords = 64, 1 << 22

// Has reports whether values has value.
func (l *Lists) Has(values []string, value string) bool {
	if l == nil || len(values) < manyValues {
		return slices.Contains(values, value)
	}
	return once(&l.values, values, func(values []string) map[string]bool {
		set := make(map[string]bool, len(values))
		for _, v := range values {
			set[v] = true
		}
		return set
	})[value]
}

// toleratedBy is what p tolerates.
func (l *Lists) toleratedBy(p *cluster.Pod) tolerated {
	if l == nil {
		return newTolerated(p.Tolerations)
	}
	return once(&l.tolerated, p.Tolerations, newTolerated)
}

// once is what read makes of a list, which is remembered.
func once[T, V any](known *map[list[T]]V, of []T, read func([]T) V) V {
	at := list[T]{&of[0], len(of)}
	v, is := (*known)[at]
	if !is {
		if v = read(of); *known == nil {
			*known = map[list[T]]V{}
		}
		(*known)[at] = v
	}
	return v
}

// Node reports whether the node selector and the required node affinity of p hold for n, one of l.Nodes.
func (l *Lists) Node(p *cluster.Pod, n *cluster.Node) bool {
	if !Labels(n.Labels, p.NodeSelector) || p.NodeAffinity == nil || len(p.NodeAffinity.Terms) == 0 {
		return Labels(n.Labels, p.NodeSelector) && p.NodeAffinity == nil
	}
	if l.filed == nil {
		l.filed = fileNodes(l.Nodes)
	}
	if len(l.allowed) > mostWords/max(1, len(l.filed.one)) {
		l.allowed = nil
	}
	number, known := l.filed.number[n]
	if !known {
		panic("suits: no node of the list")
	}
	return once(&l.allowed, p.NodeAffinity.Terms, l.filed.allowed).has(number)
}

// Ports are host ports in order: TCP and every address are empty.
type Ports []cluster.HostPort

// PortsOf are those of p.
func PortsOf(p *cluster.Pod) Ports {
	list := slices.Clone(p.Ports)
	for i := range list {
		x := &list[i]
		if x.Protocol == "TCP" {
			x.Protocol = ""
		}
		if x.IP == "0.0.0.0" {
			x.IP = ""
		}
	}
	slices.SortFunc(list, comparePorts)
	return list
}

func comparePorts(x, y cluster.HostPort) int {
	if x.Port != y.Port {
		return int(x.Port) - int(y.Port)
	}
	return cmp.Or(strings.Compare(x.Protocol, y.Protocol), strings.Compare(x.IP, y.IP))
}

// Clash reports whether two pods want one host port.
func Clash(a, b Ports) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || a[len(a)-1].Port < b[0].Port || b[len(b)-1].Port < a[0].Port {
		return false
	}
	return slices.ContainsFunc(a, func(x cluster.HostPort) bool {
		every := cluster.HostPort{Port: x.Port, Protocol: x.Protocol}
		i, taken := slices.BinarySearchFunc(b, every, comparePorts)
		if !taken && i < len(b) && b[i].Port == x.Port && b[i].Protocol == x.Protocol { // of some addresses
			if taken = x.IP == ""; !taken {
				_, taken = slices.BinarySearchFunc(b[i:], x, comparePorts)
			}
		}
		return taken
	})
}

// Holders are those who want host ports, by number. The zero Holders are nobody.
type Holders[T comparable] map[int32][]T

// Add adds one who wants ports.
func (h *Holders[T]) Add(ports Ports, who T) {
	if *h == nil && len(ports) > 0 {
		*h = Holders[T]{}
	}
	for port := range ports.numbers {
		(*h)[port] = append((*h)[port], who)
	}
}

// Drop takes one away who wants ports.
func (h Holders[T]) Drop(ports Ports, who T) {
	for port := range ports.numbers {
		h[port] = slices.DeleteFunc(h[port], func(o T) bool { return o == who })
	}
}

// Any reports whether is is true of one who wants a number of ports.
func (h Holders[T]) Any(ports Ports, is func(T) bool) bool {
	for port := range ports.numbers {
		if slices.ContainsFunc(h[port], is) {
			return true
		}
	}
	return false
}

// numbers goes over the numbers of ports, each once.
func (ports Ports) numbers(yield func(int32) bool) {
	for i, p := range ports {
		if (i == 0 || ports[i-1].Port != p.Port) && !yield(p.Port) {
			return
		}
	}
}

// Shown is what a filter sees of p: all but who it is, how important, and what became of it.
func Shown(p *cluster.Pod) *cluster.Pod {
	c := *p
	c.Name, c.UID, c.Owner, c.Node, c.NominatedNode = "", "", nil, "", ""
	c.Priority, c.PreemptionPriority, c.Policy = nil, nil, ""
	c.Created, c.Scheduled, c.Started, c.Terminating, c.Preempted = time.Time{}, time.Time{}, time.Time{}, false, false
	c.Guard, c.Cost, c.Evictions, c.RanSeconds = nil, nil, nil, 0
	c.Ports, c.Affinity, c.AntiAffinity, c.Spread, c.Tokens = nil, nil, nil, nil, nil
	return &c
}

// Bind lets p run on the node of that name, empty: on none, as if it had just been bound.
func Bind(p *cluster.Pod, node string) {
	p.Node, p.NominatedNode, p.Terminating, p.Preempted = node, "", false, false
	p.Devices = slices.Clone(p.Devices)
	for i := range p.Devices {
		p.Devices[i].Assigned = nil
	}
}

// tolerated are many tolerations, to be looked up: each by its key and effect, of which an empty one stands
// for all.
type tolerated map[tolerable]*tolerances

type tolerable struct {
	key    string
	effect cluster.Effect
}

// tolerances are the tolerations of one key and effect.
type tolerances struct {
	all    bool
	values map[string]bool
	below  []int64 // the largest that values may be less than, if any
	above  []int64 // the least that values may be more than, if any
}

func newTolerated(list []cluster.Toleration) tolerated {
	known := tolerated{}
	for _, t := range list {
		at := tolerable{t.Key, t.Effect}
		if known[at] == nil {
			known[at] = &tolerances{values: map[string]bool{}}
		}
		known[at].add(t)
	}
	return known
}

func (s *tolerances) add(t cluster.Toleration) {
	switch v, err := strconv.ParseInt(t.Value, 10, 64); t.Operator {
	case cluster.TolerationExists:
		s.all = true
	case cluster.TolerationLt:
		if err == nil && (s.below == nil || v > s.below[0]) {
			s.below = []int64{v}
		}
	case cluster.TolerationGt:
		if err == nil && (s.above == nil || v < s.above[0]) {
			s.above = []int64{v}
		}
	default:
		s.values[t.Value] = true
	}
}

// tolerates is Tolerates.
func (known tolerated) tolerates(taint cluster.Taint) bool {
	for _, at := range []tolerable{{taint.Key, taint.Effect}, {taint.Key, ""}, {"", taint.Effect}, {"", ""}} {
		if s := known[at]; s != nil && s.has(taint.Value) {
			return true
		}
	}
	return false
}

func (s *tolerances) has(value string) bool {
	if s.all || s.values[value] {
		return true
	}
	v, err := strconv.ParseInt(value, 10, 64)
	return err == nil && (s.below != nil && v < s.below[0] || s.above != nil && v > s.above[0])
}
