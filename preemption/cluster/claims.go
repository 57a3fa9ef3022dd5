package cluster

import (
	"cmp"
	"math"

	"github.com/preempt-go/preempt/internal/words"
)

// book takes what pod p asks for from what is free on node n, below zero where it
// is overcommitted.
func (ix *Index) book(ps *problems, n NodeID, p PodID) {
	free, allocatable := ix.free.Edit(int(n)), ix.allocatable.Row(int(n))
	for c, v := range ix.requests.Row(int(p)) {
		if allocatable[c]-free[c] > math.MaxInt64-v {
			ps.object(KindNode, "", ix.Node(n).Name).bad("requests["+words.Short(ix.resources[c])+"]", "the sum over its pods", "an int64")
			continue
		}
		free[c] -= v
	}
}

// checkClaims complains about nodes of which more is asked for than an int64 holds once
// those are there who are nominated to them.
func (ix *Index) checkClaims(ps *problems) {
	for n := range NodeID(ix.NumNodes()) {
		if len(ix.Nominees(n)) == 0 {
			continue
		}
		if c, over := ix.overflow(n, nil, NoPod); over {
			ps.object(KindNode, "", ix.Node(n).Name).bad("requests["+words.Short(ix.resources[c])+"]", "the sum over its pods and those nominated to it", "an int64")
		}
	}
}

// claimedBy is the node that p, which comes in place of old, runs on or, pending, is
// nominated to, or NoNode.
func (ix *Index) claimedBy(p *Pod, old PodID) NodeID {
	if p.Node != "" && old != NoPod && ix.Pod(old).Node == p.Node {
		return ix.NodeOf(old)
	}
	return ix.nodeNamed(cmp.Or(p.Node, p.NominatedNode))
}

// overflow returns the first resource of which the pods on node n, those nominated to
// it and more together ask for more than an int64 holds, pod but apart. more may be nil.
func (ix *Index) overflow(n NodeID, more []int64, but PodID) (c int, over bool) {
	if n == NoNode {
		return 0, false
	}
	free, allocatable := ix.free.Row(int(n)), ix.allocatable.Row(int(n))
	for c := range free {
		used := allocatable[c] - free[c]
		if but != NoPod && ix.NodeOf(but) == n {
			used -= ix.requests.Row(int(but))[c]
		}
		for _, p := range ix.Nominees(n) {
			if v := ix.requests.Row(int(p))[c]; p != but {
				if used > math.MaxInt64-v {
					return c, true
				}
				used += v
			}
		}
		if more != nil && used > math.MaxInt64-more[c] {
			return c, true
		}
	}
	return 0, false
}
