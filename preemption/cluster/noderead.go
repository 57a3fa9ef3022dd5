package cluster

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

// orderNodes numbers the nodes in order of their names, and complains once about every
// name that stands more than once. It reorders nodes.
func (ix *Index) orderNodes(ps *problems, nodes []*Node) {
	byName := func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(nodes, byName) {
		slices.SortFunc(nodes, byName)
	}
	hashes := make([]uint32, len(nodes))
	ix.nodes = paged.Make[nodeRow](len(nodes))
	for i, n := range nodes {
		*ix.nodes.Edit(i) = nodeRow{node: n, open: isOpen(n)}
		hashes[i] = hashed.Node(n.Name)
		if i > 0 && nodes[i-1].Name == n.Name && (i < 2 || nodes[i-2].Name != n.Name) {
			ps.object(KindNode, "", n.Name).bad("Name", quote(n.Name), "unique")
		}
	}
	ix.nodeByName = hashed.NewTable(hashes, 1)
}

// isOpen reports whether every pod may go to node n.
func isOpen(n *Node) bool { return len(n.Taints) == 0 && !n.Unschedulable }

// fewTimes as many names as a map has cost less to look up in it than
// going through the map.
const fewTimes = 4

// offered returns the names of what nodes offer.
func offered(nodes []*Node) map[string]bool {
	names := map[string]bool{}
	var known []string
	for _, n := range nodes {
		if len(known) <= fewTimes*len(n.Allocatable) && n.Allocatable.among(known) {
			continue
		}
		for name := range n.Allocatable {
			if !names[name] {
				names[name] = true
				known = append(known, name)
			}
		}
	}
	return names
}

// among reports whether every name of r is one of names, each of which stands once.
func (r Resources) among(names []string) bool {
	found := 0
	for _, name := range names {
		if _, ok := r[name]; ok {
			found++
		}
	}
	return found == len(r)
}

// fillNodes checks and lays out what nodes offer.
func (ix *Index) fillNodes(ps *problems, nodes []*Node) {
	ix.allocatable = paged.MakeMatrix(len(nodes), len(ix.resources))
	_, nameless := ix.column[""]
	for i, n := range nodes {
		row := ix.allocatable.Edit(i)
		ix.offer(row, n)
		ix.count(n.Allocatable, row, +1)
		if nameless || slices.Min(row) < 0 {
			validateAllocatable(ps, n)
		}
	}
}

// offer fills the row of a node.
func (ix *Index) offer(row []int64, n *Node) {
	clear(row)
	row[PodsColumn] = math.MaxInt64
	if len(ix.resources) > fewTimes*len(n.Allocatable) {
		for name, v := range n.Allocatable {
			row[ix.column[name]] = v
		}
		return
	}
	for c, name := range ix.resources {
		if v, ok := n.Allocatable[name]; ok {
			row[c] = v
		}
	}
}
