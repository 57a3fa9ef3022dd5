package podlists

import "github.com/preempt-go/preempt/preemption/cluster"

// Lists are pods by node.
type Lists struct {
	nodes int
	added []running
	seen  []uint64 // bit p: pod p was added
	start []int32  // by node, and one more: where the node's part of pods starts
	pods  []cluster.PodID
}

// running is a pod on a node.
type running struct {
	pod  cluster.PodID
	node cluster.NodeID
}

// New returns empty lists for so many nodes and pods.
func New(nodes, pods int) Lists {
	return Lists{nodes: nodes, added: make([]running, 0, min(pods, 1<<12)), seen: make([]uint64, (pods+63)/64)}
}

// Add adds pod p, which runs on node n.
func (l *Lists) Add(p cluster.PodID, n cluster.NodeID) {
	if bit := uint64(1) << (p % 64); l.seen[p/64]&bit == 0 {
		l.seen[p/64] |= bit
		l.added = append(l.added, running{p, n})
	}
}

// Sort puts the pods in order of their nodes. It ends the time of Add, and begins that of On.
// O(n) for n nodes and pods.
func (l *Lists) Sort() {
	l.start, l.pods = make([]int32, l.nodes+2), make([]cluster.PodID, len(l.added))
	for _, p := range l.added {
		l.start[p.node+2]++
	}
	for n := range l.nodes {
		l.start[n+2] += l.start[n+1]
	}
	for _, p := range l.added { // what starts a node's part moves up to what ends it
		at := &l.start[p.node+1]
		l.pods[*at] = p.pod
		*at++
	}
	l.added, l.seen = nil, nil
}

// On are the pods of node n, each once, in the order in which they came. The slice belongs to l.
func (l *Lists) On(n cluster.NodeID) []cluster.PodID { return l.pods[l.start[n]:l.start[n+1]] }
