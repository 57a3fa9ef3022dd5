package ask

import (
	"encoding/binary"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// stranded knows where pods could go that would have to leave their nodes: as things stand, or
// if they evict others.
type stranded struct {
	asIs, evicting fates
	key            []byte           // reused
	trial          domain.NodeTrial // reused
	most           [][]int64        // by block of nodes: the most that is free of each resource on any; nil: not looked at
}

// fates are where pods could go.
type fates struct {
	hosts map[string]hosts         // by shape
	alone map[cluster.PodID]bool   // of pods that no shape tells all about: whether they fit nowhere else
	units map[victims.UnitID]int64 // of units that go whole: how many of their pods count
}

func newFates() fates {
	return fates{map[string]hosts{}, map[cluster.PodID]bool{}, map[victims.UnitID]int64{}}
}

// count counts those of pods, of unit u, whom adds admits. All of a unit are counted once, however
// many nodes they are on.
func (f *fates) count(q *Question, u victims.UnitID, pods []cluster.PodID, adds func(cluster.PodID) bool) (n int64) {
	whole := len(pods) == len(q.Units.Unit(u).Pods)
	if n, known := f.units[u]; known && whole {
		return n
	}
	for _, p := range pods {
		if adds(p) {
			n++
		}
	}
	if whole {
		f.units[u] = n
	}
	return n
}

// blockOfNodes is how many nodes are ruled out at once where none has room.
const blockOfNodes = 64

// hosts are two nodes that pods of one shape fit on, or all where they are fewer.
type hosts struct {
	nodes []cluster.NodeID
	tied  bool // a constraint looks beyond a node, so that each pod is looked at by itself
}

// numStranded counts those of pods, of one unit, that fit on no node but their own.
func (q *Question) numStranded(u victims.UnitID, pods []cluster.PodID) int64 {
	return q.strandedPods().asIs.count(q, u, pods, func(p cluster.PodID) bool { return q.isStranded(p, false) })
}

// numInTurn counts those of pods that fit on no node but their own unless they evict others,
// which they may.
func (q *Question) numInTurn(u victims.UnitID, pods []cluster.PodID) int64 {
	if q.NoCascade {
		return 0
	}
	return q.strandedPods().evicting.count(q, u, pods, func(p cluster.PodID) bool {
		return q.Index.Policy(p) != priority.Never && q.isStranded(p, false) && !q.isStranded(p, true)
	})
}

// strandedPods is what is known of them.
func (q *Question) strandedPods() *stranded {
	if q.stranded == nil {
		q.stranded = &stranded{asIs: newFates(), evicting: newFates()}
	}
	return q.stranded
}

// isStranded reports whether running pod p fits on no node but its own, evicting others or not.
func (q *Question) isStranded(p cluster.PodID, evicting bool) bool {
	s := q.strandedPods()
	known := &s.asIs
	if evicting {
		known = &s.evicting
	}
	pod, own := q.Index.Pod(p), q.Index.NodeOf(p)
	shown := *pod
	if q.Filter == nil { // who else reads them is asked about each pod by itself
		shown.Annotations, shown.Class, shown.Group, shown.Queue = nil, "", "", ""
	}
	key, keyed := ShapeKey(s.key[:0], &shown, q.Index.Request(p), q.Index.Priority(p), nil, true)
	for _, d := range pod.Devices {
		key = binary.AppendVarint(binary.AppendVarint(appendText(key, d.Resource), int64(d.Count)), d.Fraction)
	}
	s.key = key
	keyed = keyed && (!evicting || q.Protections == nil && q.ownLevel(p) >= q.Index.Priority(p)) // else not all of a shape evict the same
	if keyed && len(q.OwnConstraints) == 0 && len(pod.Affinity)+len(pod.AntiAffinity)+len(pod.Spread)+len(pod.Tokens) == 0 {
		of, found := known.hosts[string(key)]
		if !found {
			of = q.findHosts(p, evicting)
			known.hosts[string(key)] = of
		}
		if !of.tied {
			return !slices.ContainsFunc(of.nodes, func(n cluster.NodeID) bool { return n != own })
		}
	}
	alone, found := known.alone[p]
	if !found {
		alone = !evicting && !q.anyRoom(p, own) || len(q.hostsOf(p, q.statesOf(pod), 1, own, evicting)) == 0
		known.alone[p] = alone
	}
	return alone
}

// ownLevel is the level of the unit of pod p.
func (q *Question) ownLevel(p cluster.PodID) int32 {
	u, _ := q.Units.UnitOf(p)
	return q.Units.Unit(u).Level
}

func (q *Question) findHosts(p cluster.PodID, evicting bool) hosts {
	if !evicting && !q.anyRoom(p, cluster.NoNode) {
		return hosts{}
	}
	states := q.statesOf(q.Index.Pod(p))
	if slices.ContainsFunc(states, func(s domain.State) bool { return !s.Scope().NodeLocal }) {
		return hosts{tied: true}
	}
	return hosts{nodes: q.hostsOf(p, states, 2, cluster.NoNode, evicting)}
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

// hostsOf lists up to most nodes, but one, on which running pod p would fit if it left its own,
// evicting there whom it may or nobody. What is in its own unit goes for it no more.
func (q *Question) hostsOf(p cluster.PodID, states []domain.State, most int, but cluster.NodeID, evicting bool) (list []cluster.NodeID) {
	q.GoOn()
	t, c := &q.stranded.trial, victims.Claim{Priority: q.Index.Priority(p)}
	c.Add(q.Index.Pod(p).RanSeconds, q.Index.Pod(p).Evictions)
	own, _ := q.Units.UnitOf(p)
	next := func(n cluster.NodeID) cluster.NodeID {
		if !evicting {
			return q.nextRoom(p, n, but)
		}
		for ; int(n) < q.Index.NumNodes(); n++ {
			if n != but && q.Index.IsNode(n) && len(q.EvictableFor(n, c)) > 0 {
				return n
			}
		}
		return cluster.NoNode
	}
	t.Ask(q.Index, q.NewMember(q.Index.Pod(p), p), states, domain.Nominees{Self: p, Priority: q.Index.Priority(p)})
	defer t.Restore()
	for n := next(0); n != cluster.NoNode; n = next(n + 1) {
		t.Reset(n)
		if but != cluster.NoNode && len(states) > 0 {
			t.Remove(p)
		}
		if evicting {
			for _, u := range q.EvictableFor(n, c) {
				if u != own {
					for _, p := range q.Units.Unit(u).Pods {
						t.Remove(p)
					}
				}
			}
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
