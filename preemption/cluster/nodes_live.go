package cluster

import (
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

// The methods of this file let nodes come, change and go. Numbers stay in order of name,
// since ties are decided by them: a node that goes leaves a hole, and one that comes takes
// a hole at its place. Where there is none, the nodes between its place and holes nearby
// move; where there is none nearby either, all nodes move apart.

// MaySetNode reports whether [Index.SetNode] can put n, which is valid by itself, in
// place of the node of its name, or add it: it names known resources, and each of them has
// to keep its column.
func (ix *Index) MaySetNode(n *Node) bool {
	id := ix.NodeByName(n.Name)
	if id != NoNode && maps.Equal(ix.Node(id).Devices, n.Devices) && n.Allocatable.namesAs(ix.Node(id).Allocatable) {
		return true
	}
	for name := range n.Allocatable {
		if _, known := ix.column[name]; !known {
			return false
		}
	}
	if id == NoNode {
		return ix.devices.mayAdd(n) && !ix.strain(n) && amountsFit(ix.NumNodes()+1, ix.NumPods(), len(ix.resources))
	}
	return ix.keepsColumns(ix.Node(id), n.Allocatable) && ix.devices.mayAdd(n)
}

// namesAs reports whether r names the same resources as o.
func (r Resources) namesAs(o Resources) bool {
	return maps.EqualFunc(r, o, func(int64, int64) bool { return true })
}

// keepsColumns reports whether each resource that n names keeps its column, where next is
// named from now on.
func (ix *Index) keepsColumns(n *Node, next Resources) bool {
	for name := range n.Allocatable {
		if _, named := next[name]; !named && name != Pods && ix.named[ix.column[name]] == 1 {
			return false
		}
	}
	return true
}

// strain reports whether the pods that name n, which is to come, ask together for more
// than an int64 holds.
func (ix *Index) strain(n *Node) bool {
	runners, nominees := ix.straysTo(n.Name)
	sum := make([]int64, len(ix.resources))
	for _, p := range append(runners, nominees...) {
		for c, v := range ix.requests.Row(int(p)) {
			if sum[c] > math.MaxInt64-v {
				return true
			}
			sum[c] += v
		}
	}
	return false
}

// SetNode puts n in place of the node of its name, or adds it, and appends to dst the
// numbers that stand for another node now, or for one that has changed.
// [Index.MaySetNode] has just said that it can.
func (ix *Index) SetNode(dst []NodeID, n *Node) []NodeID {
	if id := ix.NodeByName(n.Name); id != NoNode {
		ix.updateNode(id, n)
		return append(dst, id)
	}
	dst, id := ix.makeRoom(dst, n.Name)
	ix.settle(id, n)
	ix.lazy.topologies = nil
	dst = append(dst, id)
	slices.Sort(dst)
	return slices.Compact(dst)
}

func (ix *Index) updateNode(id NodeID, n *Node) {
	row := ix.nodes.Edit(int(id))
	old := row.node
	row.node, row.open = n, isOpen(n)
	free, allocatable := ix.free.Edit(int(id)), ix.allocatable.Edit(int(id))
	for c := range free {
		free[c] -= allocatable[c] // what is used, below zero
	}
	ix.count(old.Allocatable, allocatable, -1)
	ix.offer(allocatable, n)
	ix.count(n.Allocatable, allocatable, +1)
	for c := range free {
		free[c] += allocatable[c]
	}
	if !maps.Equal(old.Devices, n.Devices) {
		ix.rewarn(ix.devices.replaceNode(ix, id))
	}
	for key := range ix.lazy.topologies {
		before, had := old.Labels[key]
		if now, has := n.Labels[key]; now != before || has != had {
			delete(ix.lazy.topologies, key)
		}
	}
}

// settle lets hole id be n.
func (ix *Index) settle(id NodeID, n *Node) {
	row := ix.nodes.Edit(int(id))
	*row = nodeRow{node: n, open: isOpen(n)}
	row.pods, row.nominees = ix.straysTo(n.Name)
	allocatable := ix.allocatable.Edit(int(id))
	ix.offer(allocatable, n)
	ix.count(n.Allocatable, allocatable, +1)
	free := ix.free.Edit(int(id))
	copy(free, allocatable)
	var known []Warning
	for _, p := range row.pods {
		ix.pods.Edit(int(p)).node = id
		for c, v := range ix.requests.Row(int(p)) {
			free[c] -= v
		}
		known = append(known, nodeless(ix.Pod(p)))
	}
	for _, list := range [...][]PodID{row.pods, row.nominees} {
		for _, p := range list {
			ix.strays.tree(ix).Delete(stray{n.Name, p})
		}
	}
	ix.nodeByName.Add(int(id), hashed.Node(n.Name))
	ix.nodeHoles--
	ix.rewarn(known, ix.devices.addNode(ix, id))
}

// MayRemoveNode reports whether [Index.RemoveNode] can remove node n: each of its
// resources has to keep its column, and most numbers have to stay in use.
func (ix *Index) MayRemoveNode(n NodeID) bool {
	return ix.keepsColumns(ix.Node(n), nil) && ix.nodeHoles <= ix.CountNodes()+fewestHoles
}

// RemoveNode removes node n, whose number is a hole from then on; its pods stay, on a node
// that is unknown. [Index.MayRemoveNode] has just said that it can.
func (ix *Index) RemoveNode(n NodeID) {
	row := *ix.nodes.At(int(n))
	known := ix.devices.removeNode(ix, n)
	lost := make([]Warning, 0, len(row.pods))
	for _, p := range row.pods {
		ix.pods.Edit(int(p)).node = NoNode
		lost = append(lost, nodeless(ix.Pod(p)))
	}
	ix.nodeByName.Drop(int(n), hashed.Node(row.node.Name))
	for _, list := range [...][]PodID{row.pods, row.nominees} {
		for _, p := range list {
			ix.strays.tree(ix).ReplaceOrInsert(stray{row.node.Name, p})
		}
	}
	ix.count(row.node.Allocatable, ix.allocatable.Row(int(n)), -1)
	ix.vacate(n)
	ix.nodeHoles++
	ix.rewarn(known, lost)
	ix.lazy.topologies = nil
}

// vacate lets number n be a hole.
func (ix *Index) vacate(n NodeID) {
	*ix.nodes.Edit(int(n)) = nodeRow{node: &removedNode}
	clear(ix.allocatable.Edit(int(n)))
	clear(ix.free.Edit(int(n)))
}

// farthest is how far from the place of a node that comes holes are looked for.
const farthest = 512

// makeRoom returns a hole at the place of a node of that name, which comes, and appends to
// dst the numbers that stand for another node now; some may be there twice.
func (ix *Index) makeRoom(dst []NodeID, name string) ([]NodeID, NodeID) {
	place := ix.placeOf(name)
	if place == ix.NumNodes() {
		ix.grow()
	}
	for within := 1; within <= farthest; within *= 2 {
		first, end := max(place-within, 0), min(place+within, ix.NumNodes())
		if before := ix.nodesIn(first, place); before+ix.nodesIn(place, end) < end-first {
			dst = ix.arrange(dst, first, end, func(i, count int) int {
				if i < before {
					return first + i
				}
				return end - count + i
			})
			return dst, NodeID(first + before)
		}
	}
	ix.grow()
	total := ix.NumNodes()
	dst = ix.arrange(dst, 0, total, func(i, count int) int { return i * total / count })
	return ix.makeRoom(dst, name)
}

// placeOf is the first number that does not stand for a node before name, nor lies before one.
func (ix *Index) placeOf(name string) int {
	first, end := 0, ix.NumNodes()
	for first < end {
		middle := (first + end) / 2
		at := middle
		for at < end && !ix.IsNode(NodeID(at)) {
			at++
		}
		if at < end && ix.Node(NodeID(at)).Name < name {
			first = at + 1
		} else {
			end = middle
		}
	}
	return first
}

// nodesIn is how many of the numbers from first to end, not included, stand for nodes.
func (ix *Index) nodesIn(first, end int) (count int) {
	for n := first; n < end; n++ {
		if ix.IsNode(NodeID(n)) {
			count++
		}
	}
	return count
}

// fewestHoles is how many holes are added at least, and one for every spacing nodes.
const (
	fewestHoles = 64
	spacing     = 16
)

// grow adds holes behind the last node.
func (ix *Index) grow() {
	for range max(fewestHoles, ix.NumNodes()/spacing) {
		ix.nodes.Append(nodeRow{node: &removedNode})
		ix.allocatable.Append()
		ix.free.Append()
		ix.nodeHoles++
	}
	ix.devices.grow(ix.NumNodes())
}

// arrange moves the nodes whose numbers are from first to end, not included: the i-th of
// count nodes to the number that at says, which is above that of the one before. It appends
// to dst the numbers of those that move, before and after.
func (ix *Index) arrange(dst []NodeID, first, end int, at func(i, count int) int) []NodeID {
	var nodes []NodeID
	for n := first; n < end; n++ {
		if ix.IsNode(NodeID(n)) {
			nodes = append(nodes, NodeID(n))
		}
	}
	for i, from := range nodes { // those that go down, then those that go up: nobody stands in the way
		if to := NodeID(at(i, len(nodes))); to < from {
			ix.moveNode(from, to)
			dst = append(dst, from, to)
		}
	}
	for i, from := range slices.Backward(nodes) {
		if to := NodeID(at(i, len(nodes))); to > from {
			ix.moveNode(from, to)
			dst = append(dst, from, to)
		}
	}
	return dst
}

// moveNode gives a node another number, that of a hole.
func (ix *Index) moveNode(from, to NodeID) {
	row := *ix.nodes.At(int(from))
	*ix.nodes.Edit(int(to)) = row
	copy(ix.allocatable.Edit(int(to)), ix.allocatable.Row(int(from)))
	copy(ix.free.Edit(int(to)), ix.free.Row(int(from)))
	for _, p := range row.pods {
		ix.pods.Edit(int(p)).node = to
	}
	ix.nodeByName.Renumber(int(from), int(to), hashed.Node(row.node.Name))
	ix.devices.moveNode(from, to)
	ix.vacate(from)
}
