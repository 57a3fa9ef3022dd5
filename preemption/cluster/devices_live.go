package cluster

import (
	"maps"
	"slices"
)

// The methods of this file let devices follow the pods of their index: those of a node
// are worked out anew when one of its pods that has devices comes, goes or changes.

// fork returns an independent copy.
func (d *Devices) fork() *Devices {
	d.shared, d.poolsShared = true, true
	f := *d
	return &f
}

// replace lets the devices of ix follow pod p, which was old on node from, and returns
// what was odd on the nodes that it concerns, and what is.
func (d *Devices) replace(ix *Index, p PodID, old *Pod, from NodeID) (out, in []Warning) {
	now, to := ix.Pod(p), ix.NodeOf(p)
	if len(old.Devices)+len(now.Devices) == 0 {
		return nil, nil
	}
	d.unshare()
	if i := slices.Index(d.pending, p); i >= 0 {
		last := len(d.pending) - 1
		d.pending[i], d.pending = d.pending[last], d.pending[:last]
	}
	if len(now.Devices) > 0 && to == NoNode {
		d.pending = append(d.pending, p)
	}
	if from != NoNode {
		d.count(old, -1)
	}
	if to != NoNode {
		d.count(now, 1)
	}
	if from != NoNode && from != to {
		out = append(out, d.odd[from]...)
		d.settle(ix, from)
		in = append(in, d.odd[from]...)
	}
	if to != NoNode {
		out = append(out, d.odd[to]...)
		d.settle(ix, to)
		in = append(in, d.odd[to]...)
	}
	return out, in
}

func (d *Devices) unshare() {
	if d.shared {
		d.free, d.loose, d.sizes, d.odd = slices.Clone(d.free), slices.Clone(d.loose), maps.Clone(d.sizes), maps.Clone(d.odd)
		d.pending, d.shared = slices.Clone(d.pending), false
	}
}

// grow lets there be so many numbers of nodes.
func (d *Devices) grow(nodes int) {
	d.ownPools()
	for name, column := range d.byName {
		d.byName[name] = append(column, slices.Repeat([]PoolID{NoPool}, nodes-len(column))...)
	}
}

// mayAdd reports whether most devices still belong to a node, and there is room for those
// of n.
func (d *Devices) mayAdd(n *Node) bool {
	count := 0
	for _, pool := range n.Devices {
		count += int(pool.Count)
	}
	return d.lost <= len(d.free)/2 && len(d.free)+count <= mostDevices
}

// addNode lays out the devices of node n, which has come, and returns what is odd there.
func (d *Devices) addNode(ix *Index, n NodeID) []Warning {
	d.addPools(ix, n)
	if !ix.claimsOn(n) {
		return nil
	}
	d.unshare()
	d.pending = slices.DeleteFunc(d.pending, func(p PodID) bool { return ix.NodeOf(p) == n })
	for _, p := range ix.PodsOn(n) {
		d.count(ix.Pod(p), 1)
	}
	d.settle(ix, n)
	return slices.Clone(d.odd[n])
}

// replaceNode lets the devices of node n be those that it has now, and returns what was odd
// there, and what is.
func (d *Devices) replaceNode(ix *Index, n NodeID) (out, in []Warning) {
	d.removePools(n)
	d.addPools(ix, n)
	if !ix.claimsOn(n) {
		return nil, nil
	}
	out = slices.Clone(d.odd[n])
	d.unshare()
	d.settle(ix, n)
	return out, slices.Clone(d.odd[n])
}

func (d *Devices) addPools(ix *Index, n NodeID) {
	if node := ix.Node(n); len(node.Devices) > 0 {
		d.unshare()
		d.ownPools()
		for _, name := range sortedNames(node.Devices) {
			d.addPool(name, n, ix.NumNodes(), node.Devices[name])
		}
	}
}

func (d *Devices) removePools(n NodeID) {
	has := false
	for _, column := range d.byName {
		has = has || column[n] != NoPool
	}
	if !has {
		return
	}
	d.ownPools()
	for name, column := range d.byName {
		if column[n] == NoPool {
			continue
		}
		d.lost += int(d.pools[column[n]].Count)
		column[n] = NoPool
		if !slices.ContainsFunc(column, func(p PoolID) bool { return p != NoPool }) {
			delete(d.byName, name)
		}
	}
}

// claimsOn reports whether a pod on node n asks for devices.
func (ix *Index) claimsOn(n NodeID) bool {
	return slices.ContainsFunc(ix.PodsOn(n), func(p PodID) bool { return len(ix.Pod(p).Devices) > 0 })
}

// removeNode takes the devices of node n, which is about to go, away, and returns what was
// odd there.
func (d *Devices) removeNode(ix *Index, n NodeID) []Warning {
	d.removePools(n)
	if !ix.claimsOn(n) {
		return nil
	}
	d.unshare()
	for _, p := range ix.PodsOn(n) {
		if len(ix.Pod(p).Devices) > 0 {
			d.count(ix.Pod(p), -1)
			d.pending = append(d.pending, p)
		}
	}
	odd := d.odd[n]
	delete(d.odd, n)
	return slices.Clone(odd)
}

// moveNode notes that a node has another number.
func (d *Devices) moveNode(from, to NodeID) {
	d.ownPools()
	for _, column := range d.byName {
		column[from], column[to] = column[to], column[from]
		if p := column[to]; p != NoPool {
			d.pools[p].Node = to
		}
	}
	if odd := d.odd[from]; odd != nil {
		d.unshare()
		d.odd[to] = odd
		delete(d.odd, from)
	}
}

func (d *Devices) ownPools() {
	if !d.poolsShared {
		return
	}
	d.poolsShared, d.pools, d.byName = false, slices.Clone(d.pools), maps.Clone(d.byName)
	for name, column := range d.byName {
		d.byName[name] = slices.Clone(column)
	}
}
