package cluster

import (
	"maps"
	"slices"
)

// The methods of this file let devices follow the pods of their index: those of a node
// are assigned anew when one of its pods that has devices comes, goes or changes.

// fork returns an independent copy.
func (d *Devices) fork() *Devices {
	d.shared = true
	f := *d
	f.held = d.held.Fork()
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
	for d.held.Len() < ix.NumPods() {
		d.held.Append(nil)
	}
	*d.held.Edit(int(p)) = nil
	d.pending = slices.DeleteFunc(slices.Clone(d.pending), func(q PodID) bool { return p == q })
	if len(now.Devices) > 0 && to == NoNode {
		d.pending = append(d.pending, p)
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
		d.free, d.odd, d.shared = slices.Clone(d.free), maps.Clone(d.odd), false
	}
}
