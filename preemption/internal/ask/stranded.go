package ask

import (
	"encoding/binary"
	"encoding/json"
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
	free           *rooms           // as things stand; nil: not looked at
	opened         map[victims.Claim]*rooms
	states         map[string][]domain.State // of constraints, by all that they read of a pod
}

// mostKept is how many opened rooms, and how many states, are kept; fewer rooms where they would have
// more than mostAmounts amounts together.
const (
	mostKept    = 64
	mostAmounts = 1 << 23
)

// rooms are how much is free on nodes at most.
type rooms struct {
	on   func(cluster.NodeID) []int64 // of each resource, on a node
	most [][]int64                    // on any of a block of nodes
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
	if evicting { // else not all of a shape evict the same
		c, u := q.claimOf(p), q.unitOf(p)
		key = binary.AppendVarint(binary.AppendVarint(key, c.RanSeconds), c.Evicted.UnixNano())
		keyed = keyed && !q.May(u, c)
	}
	s.key = key
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
		alone = !q.anyRoom(p, own, evicting) || len(q.hostsOf(p, q.statesOf(pod), 1, own, evicting)) == 0
		known.alone[p] = alone
	}
	return alone
}

// unitOf is the unit of pod p.
func (q *Question) unitOf(p cluster.PodID) victims.UnitID {
	u, _ := q.Units.UnitOf(p)
	return u
}

// claimOf is what eligibility reads of pod p, if it asks.
func (q *Question) claimOf(p cluster.PodID) victims.Claim {
	c := victims.Claim{Priority: q.Index.Priority(p)}
	if q.Protections != nil && q.Protections.ReadsHistory() {
		c.Add(q.Index.Pod(p).RanSeconds, q.Index.Pod(p).Evictions)
	}
	return c
}

func (q *Question) findHosts(p cluster.PodID, evicting bool) hosts {
	if !q.anyRoom(p, cluster.NoNode, evicting) {
		return hosts{}
	}
	states := q.statesOf(q.Index.Pod(p))
	if slices.ContainsFunc(states, looksBeyond) {
		return hosts{tied: true}
	}
	return hosts{nodes: q.hostsOf(p, states, 2, cluster.NoNode, evicting)}
}

// looksBeyond reports whether a constraint looks beyond a node.
func looksBeyond(s domain.State) bool { return !s.Scope().NodeLocal }

// statesOf are those of the constraints that have a say about pod. They belong to q.
func (q *Question) statesOf(pod *cluster.Pod) (states []domain.State) {
	s := q.stranded
	key := ""
	if len(q.OwnConstraints) == 0 { // which may read anything
		text, err := json.Marshal([]any{
			pod.Namespace, pod.Labels, pod.Affinity, pod.AntiAffinity, pod.Spread, pod.Tokens, pod.Devices, pod.NodeSelector,
			pod.NodeAffinity, pod.Tolerations,
		})
		if err != nil {
			panic(&ranges.Stop{Err: err})
		}
		key = string(text)
		if states, known := s.states[key]; known {
			return states
		}
	}
	for _, c := range q.Constraints {
		s, err := c.Prepare(q.Index, []*cluster.Pod{pod})
		if err != nil {
			panic(&ranges.Stop{Err: err})
		}
		if s != nil {
			states = append(states, s)
		}
	}
	if key != "" {
		keep(&s.states, key, states, mostKept)
	}
	return states
}

// keep puts v into m, of which nothing is kept once it would have more than most.
func keep[K comparable, V any](m *map[K]V, k K, v V, most int) {
	if *m == nil || len(*m) >= most {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// hostsOf lists up to most nodes, but one, on which running pod p would fit if it left its own,
// evicting there whom it may or nobody. What is in its own unit goes for it no more.
func (q *Question) hostsOf(p cluster.PodID, states []domain.State, most int, but cluster.NodeID, evicting bool) (list []cluster.NodeID) {
	q.GoOn()
	t, c := &q.stranded.trial, q.claimOf(p)
	own := q.unitOf(p)
	room := q.roomsFor(p, evicting)
	local := !slices.ContainsFunc(states, looksBeyond)
	next := func(n cluster.NodeID) cluster.NodeID { return q.nextRoom(room, p, n, but) }
	t.Ask(q.Index, q.NewMember(q.Index.Pod(p), p), states, domain.Nominees{Self: p, Priority: q.Index.Priority(p)})
	defer t.Restore()
	for n := next(0); n != cluster.NoNode; n = next(n + 1) {
		t.Reset(n)
		if but != cluster.NoNode && len(states) > 0 {
			t.Remove(p)
		}
		if evicting {
			for _, u := range q.EvictableFor(n, c) {
				if u == own {
					continue
				}
				pods := q.Units.Unit(u).Pods
				if local { // the others change nothing on the node
					pods = q.PodsOn(u, n)
				}
				for _, p := range pods {
					t.Remove(p)
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

// anyRoom reports whether some node, but one, has as much free as pod p requests, with those gone
// whom it may evict if it does.
func (q *Question) anyRoom(p cluster.PodID, but cluster.NodeID, evicting bool) bool {
	return q.nextRoom(q.roomsFor(p, evicting), p, 0, but) != cluster.NoNode
}

// nextRoom is the first node from n on, but one, that has as much room as pod p requests;
// NoNode if there is none.
func (q *Question) nextRoom(room *rooms, p cluster.PodID, n, but cluster.NodeID) cluster.NodeID {
	request := q.Index.Request(p)
	short := func(free []int64) bool {
		for r, v := range request[:min(len(request), len(free))] {
			if v > 0 && v > free[r] {
				return true
			}
		}
		return len(free) == 0
	}
	for ; int(n) < q.Index.NumNodes(); n++ {
		if n%blockOfNodes == 0 && short(room.most[n/blockOfNodes]) {
			n += blockOfNodes - 1
			continue
		}
		if n != but && q.Index.IsNode(n) && !short(room.on(n)) {
			return n
		}
	}
	return cluster.NoNode
}

// roomsFor is what is free as things stand, or with all of those gone whom pod p may evict, where it
// may anybody.
func (q *Question) roomsFor(p cluster.PodID, evicting bool) *rooms {
	s := q.strandedPods()
	if !evicting {
		if s.free == nil {
			s.free = q.newRooms(q.Index.Free)
		}
		return s.free
	}
	c := q.claimOf(p)
	room, known := s.opened[c]
	if !known {
		room = q.openedFor(c)
		keep(&s.opened, c, room, min(mostKept, 1+mostAmounts/(1+q.Index.NumNodes()*q.Index.NumResources())))
	}
	return room
}

// openedFor is what is free with all of those gone who may be evicted for a claim; less than nothing
// where nobody may.
func (q *Question) openedFor(c victims.Claim) *rooms {
	width := q.Index.NumResources()
	rows := slices.Repeat([]int64{-1}, q.Index.NumNodes()*width)
	on := func(n cluster.NodeID) []int64 { return rows[int(n)*width:][:width] }
	for n := range q.Index.Nodes() {
		evictable := q.EvictableFor(n, c)
		if len(evictable) > 0 {
			copy(on(n), q.Index.Free(n))
		}
		for _, u := range evictable {
			for _, p := range q.PodsOn(u, n) {
				if q.Index.NodeOf(p) == n {
					for r, v := range q.Index.Request(p)[:width] {
						on(n)[r] += v // at most what runs on the node, which is an int64
					}
				}
			}
		}
	}
	return q.newRooms(on)
}

// newRooms finds what the most is on any node of each block.
func (q *Question) newRooms(on func(cluster.NodeID) []int64) *rooms {
	room := &rooms{on, make([][]int64, (q.Index.NumNodes()+blockOfNodes-1)/blockOfNodes)}
	for n := range q.Index.Nodes() {
		b := &room.most[n/blockOfNodes]
		if *b == nil {
			*b = slices.Clone(on(n))
			continue
		}
		for r, v := range on(n) {
			(*b)[r] = max((*b)[r], v)
		}
	}
	return room
}
