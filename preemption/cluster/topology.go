package cluster

import (
	"iter"
	"slices"
	"strings"
	"sync"
)

// ValueID is a position among the values of one [Topology].
type ValueID int32

// NoValue is the value of a node that lacks the label.
const NoValue ValueID = -1

// Topology divides the nodes of an index by the value of one node label: a host
// name, rack or zone. Immutable.
type Topology struct {
	key    string
	of     []ValueID
	values []string
	unique bool

	divide sync.Once
	parts  []topologyPart
	shared [][]NodeID // by value
}

// topologyPart is the nodes that share a value.
type topologyPart struct {
	label string
	nodes []NodeID
}

// Topology returns how the nodes of ix are divided by the label key. It is
// computed on the first call for a key: O(n) for n nodes.
func (ix *Index) Topology(key string) *Topology {
	ix.lazy.mu.Lock()
	defer ix.lazy.mu.Unlock()
	t := ix.lazy.topologies[key]
	if t == nil {
		t = newTopology(ix, key)
		if ix.lazy.topologies == nil {
			ix.lazy.topologies = map[string]*Topology{}
		}
		ix.lazy.topologies[key] = t
	}
	return t
}

// Key is the node label.
func (t *Topology) Key() string { return t.key }

// Len is the number of values; ValueID runs from 0 to Len-1, in order of the first
// node that has the value.
func (t *Topology) Len() int { return len(t.values) }

// Value returns the label's value v.
func (t *Topology) Value(v ValueID) string { return t.values[v] }

// Of returns the value of node n, or NoValue.
func (t *Topology) Of(n NodeID) ValueID { return t.of[n] }

// Column returns the value of every node, in order of NodeID. The slice belongs to t.
func (t *Topology) Column() []ValueID { return t.of }

// Unique reports whether no two nodes share a value, as with host names.
func (t *Topology) Unique() bool { return t.unique }

// Parts are the labels, such as "zone=a", with their nodes, in order of the labels; nodes ascend. They are found on the
// first call: O(n + v log v) for n nodes of v values. The nodes belong to t.
func (t *Topology) Parts() iter.Seq2[string, []NodeID] {
	t.findParts()
	return func(yield func(string, []NodeID) bool) {
		for _, p := range t.parts {
			if !yield(p.label, p.nodes) {
				return
			}
		}
	}
}

// Sharing are the nodes with the value of node n, ascending; n alone where it has none. They belong to t, and
// are found on the first call as Parts are.
func (t *Topology) Sharing(n NodeID) []NodeID {
	v := t.of[n]
	if v == NoValue {
		return []NodeID{n}
	}
	t.findParts()
	return t.shared[v]
}

func (t *Topology) findParts() {
	t.divide.Do(func() {
		sizes, in := make([]int, len(t.values)), 0
		for _, v := range t.of {
			if v != NoValue {
				sizes[v]++
				in++
			}
		}
		t.parts = make([]topologyPart, len(t.values))
		all := make([]NodeID, in)
		for v, size := range sizes {
			t.parts[v] = topologyPart{t.key + "=" + t.values[v], all[:0:size]}
			all = all[size:]
		}
		for n, v := range t.of {
			if v != NoValue {
				t.parts[v].nodes = append(t.parts[v].nodes, NodeID(n))
			}
		}
		for _, p := range t.parts {
			t.shared = append(t.shared, p.nodes)
		}
		slices.SortFunc(t.parts, func(a, b topologyPart) int { return strings.Compare(a.label, b.label) })
	})
}

func newTopology(ix *Index, key string) *Topology {
	t := &Topology{key: key, of: make([]ValueID, ix.NumNodes()), unique: true}
	ids := map[string]ValueID{}
	for n := range ix.NumNodes() {
		value, ok := ix.Node(NodeID(n)).Labels[key]
		if !ok {
			t.of[n] = NoValue
			continue
		}
		id, known := ids[value]
		if known {
			t.unique = false
		} else {
			id = ValueID(len(t.values))
			ids[value] = id
			t.values = append(t.values, value)
		}
		t.of[n] = id
	}
	return t
}
