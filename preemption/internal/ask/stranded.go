package ask

import (
	"encoding/binary"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// stranded knows where pods could go that would have to leave their nodes.
type stranded struct {
	hosts map[string]hosts       // by shape
	alone map[cluster.PodID]bool // of pods that no shape tells all about: whether they fit nowhere else
	key   []byte                 // reused
	trial domain.NodeTrial       // reused
	most  [][]int64              // by block of nodes: the most that is free of each resource on any; nil: not looked at
}

// blockOfNodes is how many nodes are ruled out at once where none has room.
const blockOfNodes = 64

// hosts are two nodes that pods of one shape fit on, or all where they are fewer.
type hosts struct {
	nodes []cluster.NodeID
	tied  bool // a constraint looks beyond a node, so that each pod is looked at by itself
}

// numStranded counts those of pods, of one unit, that fit on no node but their own.
func (q *Question) numStranded(_ victims.UnitID, pods []cluster.PodID) (n int64) {
	if q.stranded == nil {
		q.stranded = &stranded{hosts: map[string]hosts{}, alone: map[cluster.PodID]bool{}}
	}
	for _, p := range pods {
		if q.isStranded(p) {
			n++
		}
	}
	return n
}

func (q *Question) isStranded(p cluster.PodID) bool {
	s, pod, own := q.stranded, q.Index.Pod(p), q.Index.NodeOf(p)
	shown := *pod
	if q.Filter == nil { // who else reads them is asked about each pod by itself
		shown.Annotations, shown.Class, shown.Group, shown.Queue = nil, "", "", ""
	}
	key, keyed := ShapeKey(s.key[:0], &shown, q.Index.Request(p), q.Index.Priority(p), nil, true)
	for _, d := range pod.Devices {
		key = binary.AppendVarint(binary.AppendVarint(appendText(key, d.Resource), int64(d.Count)), d.Fraction)
	}
	s.key = key
	if keyed && len(q.OwnConstraints) == 0 && len(pod.Affinity)+len(pod.AntiAffinity)+len(pod.Spread)+len(pod.Tokens) == 0 {
		of, known := s.hosts[string(key)]
		if !known {
			of = q.findHosts(p)
			s.hosts[string(key)] = of
		}
		if !of.tied {
			return !slices.ContainsFunc(of.nodes, func(n cluster.NodeID) bool { return n != own })
		}
	}
	alone, known := s.alone[p]
	if !known {
		alone = !q.anyRoom(p, own) || len(q.hostsOf(p, q.statesOf(pod), 1, own)) == 0
		s.alone[p] = alone
	}
	return alone
}

func (q *Question) findHosts(p cluster.PodID) hosts {
	if !q.anyRoom(p, cluster.NoNode) {
		return hosts{}
	}
	states := q.statesOf(q.Index.Pod(p))
	if slices.ContainsFunc(states, func(s domain.State) bool { return !s.Scope().NodeLocal }) {
		return hosts{tied: true}
	}
	return hosts{nodes: q.hostsOf(p, states, 2, cluster.NoNode)}
}

// statesOf are those of the constraints that have a say about pod.
func (q *Question) statesOf(pod *cluster.Pod) (states []domain.State) {
	for _, c := range q.Constraints {
		s, err := c.Prepare(q.Index, []*cluster.Pod{pod})
		if err != nil {
			panic(&ranges.Stop{Err: err})
		}
		if s != nil {
			states = append(states, s)
		}
	}
	return states
}

// hostsOf lists up to most nodes, but one, on which running pod p would fit if it left its own.
func (q *Question) hostsOf(p cluster.PodID, states []domain.State, most int, but cluster.NodeID) (list []cluster.NodeID) {
	q.GoOn()
	t := &q.stranded.trial
	t.Ask(q.Index, q.NewMember(q.Index.Pod(p), p), states, domain.Nominees{Self: p, Priority: q.Index.Priority(p)})
	defer t.Restore()
	for n := q.nextRoom(p, 0, but); n != cluster.NoNode; n = q.nextRoom(p, n+1, but) {
		t.Reset(n)
		if but != cluster.NoNode && len(states) > 0 {
			t.Remove(p)
		}
		if t.Fits().OK() {
			if list = append(list, n); len(list) == most {
				break
			}
		}
	}
	return list
}

// anyRoom reports whether some node, but one, has as much free as pod p requests.
func (q *Question) anyRoom(p cluster.PodID, but cluster.NodeID) bool {
	return q.nextRoom(p, 0, but) != cluster.NoNode
}

// nextRoom is the first node from n on, but one, that has as much free as pod p requests; NoNode
// if there is none.
func (q *Question) nextRoom(p cluster.PodID, n, but cluster.NodeID) cluster.NodeID {
	s, request := q.stranded, q.Index.Request(p)
	if s.most == nil {
		s.most = q.mostFree()
	}
	short := func(free []int64) bool {
		for r, v := range request[:min(len(request), len(free))] {
			if v > 0 && v > free[r] {
				return true
			}
		}
		return len(free) == 0
	}
	for ; int(n) < q.Index.NumNodes(); n++ {
		if n%blockOfNodes == 0 && short(s.most[n/blockOfNodes]) {
			n += blockOfNodes - 1
			continue
		}
		if n != but && q.Index.IsNode(n) && !short(q.Index.Free(n)) {
			return n
		}
	}
	return cluster.NoNode
}

// mostFree is the most that is free of each resource on any node of a block.
func (q *Question) mostFree() [][]int64 {
	blocks := make([][]int64, (q.Index.NumNodes()+blockOfNodes-1)/blockOfNodes)
	for n := range q.Index.Nodes() {
		b := &blocks[n/blockOfNodes]
		if *b == nil {
			*b = slices.Clone(q.Index.Free(n))
			continue
		}
		for r, v := range q.Index.Free(n) {
			(*b)[r] = max((*b)[r], v)
		}
	}
	return blocks
}
