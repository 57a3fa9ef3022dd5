package ask

import (
	"math"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// opener is who may be evicted: by whom, and how far.
type opener struct {
	claim  victims.Claim
	reach  reach
	anyone bool // whoever asks, in place of claim
}

// mostKept is how many opened rooms, and how many states of constraints, are kept; fewer rooms where they would have
// more than mostAmounts amounts together, mostShared of those that read them of leavers, and of lists of who leaves a node.
const (
	mostKept    = 64
	mostShared  = 4096
	mostAmounts = 1 << 23
)

// rooms are how much is free on nodes at most.
type rooms struct {
	on   func(cluster.NodeID) []int64 // of each resource, on a node
	most [][]int64                    // on any of a block of nodes; nil: not looked at yet
	all  []int64                      // on any node; nil: not looked at
}

// leavers are the units below a level that may leave their nodes within a reach, whoever asks. Those whom somebody
// may evict are the last ones of a node.
type leavers struct {
	below int32
	from  []int            // by node, and one more: where its units begin
	units []victims.UnitID // by node, most important first
	level []int32          // of each of units
	free  []int64          // likewise: what is free on its node once it and those behind it have left
	none  []int64          // of a node that nobody leaves
}

// blockOfNodes is how many nodes are ruled out at once where none has room.
const blockOfNodes = 64

// leaving is who leaves a node for whom.
type leaving struct {
	node cluster.NodeID
	by   opener
}

// leavingFor lists the units on node n that may be evicted. The list belongs to q.
func (q *Question) leavingFor(n cluster.NodeID, by opener) []victims.UnitID {
	if l := q.leaversFor(by); l != nil {
		return l.units[l.first(n, by.claim.Priority):l.from[n+1]]
	}
	list, known := q.stranded.leaving[leaving{n, by}]
	if !known {
		list = q.findLeaving(n, by)
		keep(&q.stranded.leaving, leaving{n, by}, list, mostShared)
	}
	return list
}

// findLeaving is leavingFor, looked at anew.
func (q *Question) findLeaving(n cluster.NodeID, by opener) []victims.UnitID {
	list := q.Units.On(n)
	if !by.anyone {
		list = q.EvictableFor(n, by.claim)
	}
	if by.reach == anybody {
		return list
	}
	may := list[:0:0]
	for _, u := range list {
		if q.leaves(u, nearer(by.reach)) {
			may = append(may, u)
		}
	}
	return may
}

// leaversFor are those among whom by may evict; nil where they are no last ones, or too many to be kept.
func (q *Question) leaversFor(by opener) *leavers {
	amounts := (q.Index.NumPods() + q.Index.NumNodes()) * q.Index.NumResources()
	if by.anyone || q.Protections != nil || !q.Units.ByLevel() || amounts > mostAmounts/len(q.stranded.leavers) {
		return nil
	}
	l := &q.stranded.leavers[by.reach-anybody]
	switch {
	case *l == nil:
		*l = q.leaversBelow(max(q.Claim.Priority, by.claim.Priority), by.reach)
	case by.claim.Priority > (*l).below: // once
		*l = q.leaversBelow(math.MaxInt32, by.reach)
	}
	return *l
}

// leaversBelow finds them.
func (q *Question) leaversBelow(below int32, within reach) *leavers {
	q.GoOn()
	width := q.Index.NumResources()
	l := &leavers{below: below, from: make([]int, 1, q.Index.NumNodes()+1), none: slices.Repeat([]int64{-1}, width)}
	for n := range cluster.NodeID(q.Index.NumNodes()) {
		if q.Index.IsNode(n) {
			for _, u := range q.Units.Potential(n, below) {
				if within == anybody || q.leaves(u, nearer(within)) {
					l.units, l.level = append(l.units, u), append(l.level, q.Units.Unit(u).Level)
				}
			}
		}
		l.from = append(l.from, len(l.units))
	}
	l.free = make([]int64, len(l.units)*width)
	for n := range q.Index.Nodes() {
		free := q.Index.Free(n)
		for i := l.from[n+1] - 1; i >= l.from[n]; i-- {
			row := l.free[i*width:][:width]
			copy(row, free)
			q.addLeaving(row, l.units[i], n)
			free = row
		}
	}
	return l
}

// first is where those units of node n begin who are below a level.
func (l *leavers) first(n cluster.NodeID, below int32) int {
	level := l.level[l.from[n]:l.from[n+1]]
	return l.from[n] + sort.Search(len(level), func(i int) bool { return level[i] < below })
}

// freeBelow is what is free on node n once those are gone who are below a level.
func (l *leavers) freeBelow(n cluster.NodeID, below int32) []int64 {
	if i := l.first(n, below); i < l.from[n+1] {
		return l.free[i*len(l.none):][:len(l.none)]
	}
	return l.none
}

// addLeaving adds to free what unit u leaves on node n.
func (q *Question) addLeaving(free []int64, u victims.UnitID, n cluster.NodeID) {
	for _, p := range q.PodsOn(u, n) {
		if q.Index.NodeOf(p) == n {
			for r, v := range q.Index.Request(p)[:len(free)] {
				free[r] += v // at most what runs on the node, which is an int64
			}
		}
	}
}

// leaves reports whether each pod of unit u fits elsewhere within a reach.
func (q *Question) leaves(u victims.UnitID, within reach) bool {
	pods, known := q.Units.Unit(u).Pods, q.fatesWithin(within).leaves
	if len(pods) == 1 {
		return !q.isStranded(pods[0], within)
	}
	leaves, found := known[u]
	if !found {
		leaves = !slices.ContainsFunc(pods, func(p cluster.PodID) bool { return q.isStranded(p, within) })
		known[u] = leaves
	}
	return leaves
}

// anyRoom reports whether some node, but one, has as much free as pod p requests, once those within
// reach left.
func (q *Question) anyRoom(p cluster.PodID, but cluster.NodeID, within reach) bool {
	return q.nextRoom(q.roomsFor(p, within), p, 0, but) != cluster.NoNode
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
	if room.all != nil && short(room.all) {
		return cluster.NoNode
	}
	for ; int(n) < q.Index.NumNodes(); n++ {
		if n%blockOfNodes == 0 && short(q.mostOf(room, int(n/blockOfNodes))) {
			n += blockOfNodes - 1
			continue
		}
		if n != but && q.Index.IsNode(n) && !short(room.on(n)) {
			return n
		}
	}
	return cluster.NoNode
}

// roomsFor is what is free with those gone who are within reach of pod p, or more: where as many rooms are
// kept as may be, those gone who are within reach of anyone.
func (q *Question) roomsFor(p cluster.PodID, within reach) *rooms {
	s := q.stranded
	if within == 0 {
		if s.free == nil {
			s.free = q.newRooms(q.Index.Free)
			s.free.all = make([]int64, q.Index.NumResources())
			for n := range q.Index.Nodes() {
				for r, v := range q.Index.Free(n) {
					s.free.all[r] = max(s.free.all[r], v)
				}
			}
		}
		return s.free
	}
	of := opener{claim: q.claimOf(p), reach: within}
	room, known := s.opened[of]
	if known {
		return room
	}
	if l := q.leaversFor(of); l != nil {
		room = q.newRooms(func(n cluster.NodeID) []int64 { return l.freeBelow(n, of.claim.Priority) })
		keep(&s.opened, of, room, min(mostShared, 1+mostAmounts/(1+len(room.most)*q.Index.NumResources())))
		return room
	}
	most := min(mostKept, 1+mostAmounts/(1+q.Index.NumNodes()*q.Index.NumResources()))
	if within != anybody && len(s.opened) >= most {
		of = opener{reach: within, anyone: true}
		room, known = s.opened[of]
	}
	if !known {
		room = q.openedFor(of)
		keep(&s.opened, of, room, most)
	}
	return room
}

// openedFor is what is free with all of those gone who may be evicted; less than nothing
// where nobody may.
func (q *Question) openedFor(by opener) *rooms {
	q.GoOn()
	width := q.Index.NumResources()
	rows := slices.Repeat([]int64{-1}, q.Index.NumNodes()*width)
	on := func(n cluster.NodeID) []int64 { return rows[int(n)*width:][:width] }
	for n := range q.Index.Nodes() {
		evictable := q.findLeaving(n, by)
		if len(evictable) > 0 {
			copy(on(n), q.Index.Free(n))
		}
		for _, u := range evictable {
			q.addLeaving(on(n), u, n)
		}
	}
	return q.newRooms(on)
}

func (q *Question) newRooms(on func(cluster.NodeID) []int64) *rooms {
	return &rooms{on: on, most: make([][]int64, (q.Index.NumNodes()+blockOfNodes-1)/blockOfNodes)}
}

// mostOf is the most on any node of block b.
func (q *Question) mostOf(room *rooms, b int) []int64 {
	if room.most[b] != nil {
		return room.most[b]
	}
	most := []int64{}
	for n := range q.Index.NodesBetween(cluster.NodeID(b*blockOfNodes), cluster.NodeID(min((b+1)*blockOfNodes, q.Index.NumNodes()))) {
		if len(most) == 0 {
			most = slices.Clone(room.on(n))
			continue
		}
		for r, v := range room.on(n) {
			most[r] = max(most[r], v)
		}
	}
	room.most[b] = most
	return most
}

// keep puts v into m, of which nothing is kept once it would have more than most.
func keep[K comparable, V any](m *map[K]V, k K, v V, most int) {
	if *m == nil || len(*m) >= most {
		*m = map[K]V{}
	}
	(*m)[k] = v
}
