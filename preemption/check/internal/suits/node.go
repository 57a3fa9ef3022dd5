package suits

import (
	"slices"
	"strconv"
	"time"

	"github.com/preempt-go/preempt/disruption"
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

// Lists remember the terms of nodes, and long lists of values, tolerations and requirements, each of which is read once or twice. The zero
// Lists remember nothing yet. Nil ones never do, and are for anything but terms.
type Lists struct {
	Nodes     []cluster.Node // that terms are asked about
	filed     *filedNodes    // these; nil: nobody asked
	allowed   map[list[cluster.NodeTerm]]numbers
	values    map[list[string]]map[string]bool
	required  map[list[disruption.Requirement]]required
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

// Ports are host ports: TCP and every address are empty.
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
	return list
}

// held counts host ports: by number and protocol, and by address, of which none is every one.
type held struct{ all, on map[cluster.HostPort]int64 }

func (h *held) add(ports Ports, by int64) {
	if h.all == nil && len(ports) > 0 {
		h.all, h.on = map[cluster.HostPort]int64{}, map[cluster.HostPort]int64{}
	}
	for _, p := range ports {
		h.on[p] += by
		p.IP = ""
		h.all[p] += by
	}
}

func (h *held) meeting(ports Ports) (pairs int64) {
	for _, p := range ports {
		every := cluster.HostPort{Port: p.Port, Protocol: p.Protocol}
		if p == every {
			pairs += h.all[p]
		} else {
			pairs += h.on[p] + h.on[every]
		}
	}
	return pairs
}

// Taken counts the host ports that guests of a node hold, and others there. The zero Taken is of nobody.
type Taken struct {
	guests, others held
	Clashes        int64 // pairs of a guest's port and one of another guest, or of others
}

// Come counts those of one of the others who comes (+1), or goes (-1).
func (t *Taken) Come(ports Ports, by int64) {
	t.others.add(ports, by)
	t.Clashes += by * t.guests.meeting(ports)
}

// Sit counts those of a guest.
func (t *Taken) Sit(ports Ports, by int64) {
	if by < 0 {
		t.guests.add(ports, by)
	}
	if t.Clashes += by * t.meeting(ports); by > 0 {
		t.guests.add(ports, by)
	}
}

// Meets reports whether one of ports and one that is held clash; sits: they are a guest's, and its own are not looked at.
func (t *Taken) Meets(ports Ports, sits bool) bool {
	if sits {
		t.Sit(ports, -1)
		defer t.Sit(ports, +1)
	}
	return t.meeting(ports) > 0
}

func (t *Taken) meeting(ports Ports) int64 { return t.guests.meeting(ports) + t.others.meeting(ports) }

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

// tolerated are many tolerations, to be looked up: each by its key and effect, of which an empty one stands for all.
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
