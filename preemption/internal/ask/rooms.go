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
	own    victims.UnitID
	stays  bool // own, which is large, does not go for its pods
}

// manyOwn is of how many pods a unit is large: rooms are looked at for its pods alone.
const manyOwn = 64

// mostKept is how many opened rooms are kept; mostShared how many rooms of those that are read of leavers, and lists of who leaves a
// node. What they have together is forgotten once it is more than mostAmounts amounts, and as many are kept of states of constraints.
const (
	mostKept    = 64
	mostShared  = 4096
	mostAmounts = 1 << 23
)

// rooms are how much is free on nodes at most, of each resource that is asked for.
type rooms struct {
	on     func(cluster.NodeID, cluster.ResourceID) int64
	blocks [][]*block // by resource; nil: not looked at yet
	all    []int64    // on any node; nil: not looked at
}

// block is what is free of a resource on each of a block of nodes. On what is no node there is less than nothing.
type block struct {
	on   [blockOfNodes]int64
	most int64 // on any of them
}

// leavers are the units below a level that may leave their nodes within a reach, whoever asks. Those whom somebody
// may evict are the last ones of a node.
type leavers struct {
	below int32
	from  []int              // by node, and one more: where its units begin
	units []victims.UnitID   // by node, most important first
	level []int32            // of each of units
	free  map[column][]int64 // likewise, of a block: what is free on its node once it and those behind it have left
}

// column is a resource on the block of nodes that begins with one.
type column struct {
	of    cluster.ResourceID
	first cluster.NodeID
}

// fewResources is of how many it is not remembered which a pod requests.
const fewResources = 64

// blockOfNodes is how many nodes are ruled out at once where none has room, for one of the first firstNeeds resources that are asked for:
// where each has some node, most nodes lack one of the first.
const blockOfNodes, firstNeeds = 64, 8

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
	return q.stranded.leaving.of(leaving{n, by}, 1, mostShared, func() []victims.UnitID { return q.findLeaving(n, by) })
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

// leaversFor are those among whom by may evict; nil where they are no last ones.
func (q *Question) leaversFor(by opener) *leavers {
	if by.anyone || q.Protections != nil || !q.Units.ByLevel() {
		return nil
	}
	l := &q.stranded.leavers[by.reach-anybody]
	switch {
	case *l == nil:
		*l = q.leaversBelow(max(q.highestClaim(), by.claim.Priority), by.reach)
	case by.claim.Priority > (*l).below: // once
		q.stranded.opened = nil // which read the former ones
		*l = q.leaversBelow(math.MaxInt32, by.reach)
	}
	return *l
}

// highestClaim is that of the preemptor, or the largest there is where a pod may go by the priority of its group, and evict others by a higher
// one. So it is the same whoever asks first.
func (q *Question) highestClaim() int32 {
	s := q.stranded
	if !s.topKnown {
		s.top, s.topKnown = q.Claim.Priority, true
		for u := range victims.UnitID(q.Units.Len()) {
			unit := q.Units.Unit(u)
			above := func(p cluster.PodID) bool { return q.Index.Priority(p) > q.Claim.Priority }
			if len(unit.Pods) > 1 && unit.Level < q.Claim.Priority && slices.ContainsFunc(unit.Pods, above) {
				s.top = math.MaxInt32
				break
			}
		}
	}
	return s.top
}

// leaversBelow finds them.
func (q *Question) leaversBelow(below int32, within reach) *leavers {
	q.GoOn()
	l := &leavers{below: below, from: make([]int, 1, q.Index.NumNodes()+1), free: map[column][]int64{}}
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
	return l
}

// first is where those units of node n begin who are below a level.
func (l *leavers) first(n cluster.NodeID, below int32) int {
	level := l.level[l.from[n]:l.from[n+1]]
	return l.from[n] + sort.Search(len(level), func(i int) bool { return level[i] < below })
}

// freeBelow is what is free of resource r on node n once those of l are gone who are below a level; less than nothing where
// nobody is.
func (q *Question) freeBelow(l *leavers, n cluster.NodeID, r cluster.ResourceID, below int32) int64 {
	i := l.first(n, below)
	if i == l.from[n+1] {
		return -1
	}
	first := n / blockOfNodes * blockOfNodes
	begin, end := l.from[first], min(first+blockOfNodes, cluster.NodeID(q.Index.NumNodes()))
	free, known := l.free[column{r, first}]
	if !known {
		free = make([]int64, l.from[end]-begin)
		q.kept(len(free))
		for n := range q.Index.NodesBetween(first, end) {
			left := q.Index.Free(n)[r]
			for i := l.from[n+1] - 1; i >= l.from[n]; i-- {
				left += q.leftBy(l.units[i], n, r)
				free[i-begin] = left
			}
		}
		l.free[column{r, first}] = free
	}
	return free[i-begin]
}

// leftBy is what unit u leaves of resource r on node n.
func (q *Question) leftBy(u victims.UnitID, n cluster.NodeID, r cluster.ResourceID) (left int64) {
	for _, p := range q.PodsOn(u, n) {
		if q.Index.NodeOf(p) == n {
			left += q.Index.Request(p)[r] // at most what runs on the node, which is an int64
		}
	}
	return left
}

// leaves reports whether each pod of unit u fits elsewhere within a reach.
func (q *Question) leaves(u victims.UnitID, within reach) bool {
	known := q.fatesWithin(within).leaves
	if known[u] == 0 {
		stays := slices.ContainsFunc(q.Units.Unit(u).Pods, func(p cluster.PodID) bool { return q.isStranded(p, within) })
		known[u] = int8(1 - 2*b2i(stays))
	}
	return known[u] > 0
}

// anyRoom reports whether some node, but one, has as much free as pod p requests, once those within
// reach left.
func (q *Question) anyRoom(p cluster.PodID, but cluster.NodeID, within reach) bool {
	return q.nextRoom(q.roomsFor(p, within), p, 0, but) != cluster.NoNode
}

// need is how much a pod requests of a resource, and what is free of it.
type need struct {
	amount int64
	of     cluster.ResourceID
	blocks []*block
}

// needs are those of pod p: of a slot, at least. The slice is good until the next call.
func (q *Question) needs(room *rooms, p cluster.PodID) []need {
	s, request := q.stranded, q.Index.Request(p)
	s.needs = s.needs[:0]
	if room.blocks == nil {
		q.kept(len(request))
		room.blocks = make([][]*block, len(request))
	}
	add := func(r int) {
		if room.blocks[r] == nil {
			room.blocks[r] = make([]*block, (q.Index.NumNodes()+blockOfNodes-1)/blockOfNodes)
			q.kept(len(room.blocks[r]))
		}
		s.needs = append(s.needs, need{request[r], cluster.ResourceID(r), room.blocks[r]})
	}
	if len(request) > fewResources {
		for _, r := range s.asked.Of(int(p), request) {
			add(r)
		}
		return s.needs
	}
	for r, v := range request {
		if v > 0 {
			add(r)
		}
	}
	return s.needs
}

// nextRoom is the first node from n on, but one, that has as much room as pod p requests;
// NoNode if there is none.
func (q *Question) nextRoom(room *rooms, p cluster.PodID, n, but cluster.NodeID) cluster.NodeID {
	needs := q.needs(room, p)
	if room.all != nil && slices.ContainsFunc(needs, func(d need) bool { return d.amount > room.all[d.of] }) {
		return cluster.NoNode
	}
	for last := cluster.NodeID(q.Index.NumNodes()); n < last; {
		end := min(n/blockOfNodes*blockOfNodes+blockOfNodes, last)
		if n%blockOfNodes == 0 && q.shortInBlock(room, needs, n) {
			n = end
			continue
		}
		for first := q.blockOf(room, &needs[0], n); n < end; n++ {
			if n != but && needs[0].amount <= first.on[n%blockOfNodes] && !q.shortOn(room, needs[1:], n) {
				return n
			}
		}
	}
	return cluster.NoNode
}

// shortInBlock reports whether no node of the block of n has as much of one of the first resources as is needed.
func (q *Question) shortInBlock(room *rooms, needs []need, n cluster.NodeID) bool {
	for i := range min(len(needs), firstNeeds) {
		if needs[i].amount > q.blockOf(room, &needs[i], n).most {
			return true
		}
	}
	return false
}

// shortOn reports whether node n has less of a resource than is needed.
func (q *Question) shortOn(room *rooms, needs []need, n cluster.NodeID) bool {
	for i := range needs {
		if needs[i].amount > q.blockOf(room, &needs[i], n).on[n%blockOfNodes] {
			return true
		}
	}
	return false
}

// blockOf is what is free of a resource on the block of node n.
func (q *Question) blockOf(room *rooms, d *need, n cluster.NodeID) *block {
	b := &d.blocks[n/blockOfNodes]
	if *b == nil {
		q.kept(blockOfNodes)
		made := &block{most: -1}
		for i := range made.on {
			made.on[i] = -1
		}
		first := n / blockOfNodes * blockOfNodes
		for n := range q.Index.NodesBetween(first, min(first+blockOfNodes, cluster.NodeID(q.Index.NumNodes()))) {
			made.on[n-first] = room.on(n, d.of)
			made.most = max(made.most, made.on[n-first])
		}
		*b = made
	}
	return *b
}

// kept notes that so many amounts more are kept, and forgets those before them where they are too many.
func (q *Question) kept(amounts int) {
	s := q.stranded
	if s.amounts += amounts; s.amounts > mostAmounts {
		s.amounts, s.free, s.opened = amounts, nil, nil
		for _, l := range s.leavers {
			if l != nil {
				clear(l.free)
			}
		}
	}
}

// roomsFor is what is free with those gone who are within reach of pod p, or more: where rooms are not kept
// for all claims, those gone who are within reach of anyone.
func (q *Question) roomsFor(p cluster.PodID, within reach) *rooms {
	s := q.stranded
	if within == 0 {
		if s.free == nil {
			s.free = newRooms(func(n cluster.NodeID, r cluster.ResourceID) int64 { return q.Index.Free(n)[r] })
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
	l := q.leaversFor(of)
	if own, is := q.Units.UnitOf(p); is && l != nil && len(q.Units.Unit(own).Pods) > manyOwn && q.May(own, of.claim) {
		of.own, of.stays = own, true
	}
	room, known := s.opened[of]
	if known {
		return room
	}
	if l != nil {
		room = newRooms(func(n cluster.NodeID, r cluster.ResourceID) int64 {
			free := q.freeBelow(l, n, r, of.claim.Priority)
			if of.stays && free >= 0 && slices.Contains(l.units[l.first(n, of.claim.Priority):l.from[n+1]], of.own) {
				free -= q.leftBy(of.own, n, r)
			}
			return free
		})
		keep(&s.opened, of, room, mostShared)
		return room
	}
	if within != anybody && q.manyClaims() {
		of = opener{reach: within, anyone: true}
		room, known = s.opened[of]
	}
	if !known {
		room = q.openedFor(of)
		keep(&s.opened, of, room, mostKept)
	}
	return room
}

// manyClaims reports whether running pods may evict by more claims than rooms are kept for, of each one within every reach: whoever was
// asked about before.
func (q *Question) manyClaims() bool {
	s := q.stranded
	most := mostKept / (len(s.fates) - 1) // as things stand there is one room for all
	if s.claims == 0 {
		claims := map[victims.Claim]bool{}
		for p := cluster.PodID(0); int(p) < q.Index.NumPods() && len(claims) <= most; p++ {
			if q.Index.NodeOf(p) != cluster.NoNode {
				claims[q.claimOf(p)] = true
			}
		}
		s.claims = 1 + len(claims)
	}
	return s.claims > 1+most
}

// openedFor is what is free with all of those gone who may be evicted; less than nothing
// where nobody may.
func (q *Question) openedFor(by opener) *rooms {
	q.GoOn()
	leaving := make([][]victims.UnitID, q.Index.NumNodes())
	for n := range q.Index.Nodes() {
		leaving[n] = q.findLeaving(n, by)
		q.kept(len(leaving[n]))
	}
	return newRooms(func(n cluster.NodeID, r cluster.ResourceID) int64 {
		if len(leaving[n]) == 0 {
			return -1
		}
		free := q.Index.Free(n)[r]
		for _, u := range leaving[n] {
			free += q.leftBy(u, n, r)
		}
		return free
	})
}

func newRooms(on func(cluster.NodeID, cluster.ResourceID) int64) *rooms {
	return &rooms{on: on}
}

// keep puts v into m, of which nothing is kept once it would have more than most.
func keep[K comparable, V any](m *map[K]V, k K, v V, most int) {
	if *m == nil || len(*m) >= most {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// recent keeps what was asked for lately.
type recent[K comparable, V any] struct {
	now, before map[K]V
	amounts     int // of now
}

// of is what belongs to k, and has so many amounts. What is kept from before is forgotten once there are more since than may be.
func (r *recent[K, V]) of(k K, amounts, most int, find func() V) V {
	v, known := r.now[k]
	if known {
		return v
	} else if v, known = r.before[k]; !known {
		v = find()
	}
	if r.amounts += amounts; r.now == nil || r.amounts > most {
		r.now, r.before, r.amounts = map[K]V{}, r.now, amounts
	}
	r.now[k] = v
	return v
}
