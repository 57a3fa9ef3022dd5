package domain

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/internal/lists"
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// GangTrial is the what-if of several pods in one domain: members are placed on nodes, running pods leave and return, and Fits tells whether
// every placed member still fits where it is. Not safe for concurrent use.
//
// Pods that are nominated to a node and are at least as important as the gang count as running there.
type GangTrial struct {
	// Mobile lets Fits find the members another placement where the present one does not fit any more: at least Need of them, through Seat.
	Mobile bool
	Need   func(t *GangTrial) bool // seats the members anew on a trial without any; false if it can't

	// Checks counts the calls of Fits; Asked is the work of CanPlace, Again that of Fits, in questions about room. Hurried is set once a
	// bound of Allow was met.
	Checks, Asked, Again int
	Hurried              bool

	// Dear, if set, reports whether who has to go on node n makes the placement useless: then placers of
	// this package place nobody more, and the placement is Vain.
	Dear func(n cluster.NodeID) bool
	Vain bool

	// Poll, if set, is called with each of them, of CanPlace and of Remove. It may panic, which ends the trial.
	Poll func()

	hurry, stop int // values of Asked, see Allow; 0: none
	ix          *cluster.Index
	members     []*Member
	states      []State
	expected    map[cluster.NodeID][]cluster.PodID // the nominated pods that count
	shapes      []int                              // by member: equal numbers for members that are alike to every check
	rules       []int                              // by member: equal numbers for members that say the same of nodes
	static      [][]int8                           // by rule and node: 0 not looked at, 1 passes, -1 does not
	ported      bool                               // some member asks for ports
	shifted     int                                // pods that left or came back
	devices     *deviceState                       // the constraint; nil: devices have no say
	asideSeats  int64                              // of seats, those that Asked counts
	holders     ports.Nodes
	most        []int64              // what the largest node offers of each resource; see offered
	least       []int64              // of each resource that any member asks for; nil: not looked for
	columns     []cluster.ResourceID // see Columns; nil: not looked for
	held        lists.Nonzero        // of pods that went or came, where there are many resources

	home    map[cluster.NodeID][]int64 // what is free with everybody in place and the nominated pods, where there are any
	free    []int64                    // node-major, with pods gone and members placed
	gone    []bool                     // by pod
	at      []cluster.NodeID
	placed  []MemberID // in order
	turn    []int32    // by member: where it stands in placed
	on      [][]MemberID
	dirty   []cluster.NodeID // nodes with members to which a pod came back since Fits,
	back    []cluster.PodID  // which,
	doubted bool             // or whatever is there
	moved   bool             // somebody whom a constraint looks at went or came since Fits
	asked   bool             // constraints that look at single nodes had nothing against any member,
	stirred []cluster.PodID  // since when of those on nodes with members these went or came
	again   []Assignment     // buffer of stillFit
	turns   int              // how often Fits may still ask whether somebody fits in another order

	single  [1][]MemberID // ByShape of one
	sorted  []MemberID    // those whom ByShape was asked about last
	byShape [][]MemberID

	queue     SeatQueue // of a placer
	offers    []int32   // by node: the number of the latest offer of a placer there; 0: it was taken away; below zero: one by a bound
	nodes     []uint64  // by block: those of the domain that a placer looks at
	lastOffer int32

	vacancy    Vacancy  // nil: no node is vacant
	vacant     []uint64 // by block of 64 nodes, from firstBlock on, and bit by bit: it is
	counted    []uint64 // likewise: it was, what is free is known, and nobody has been removed yet
	firstBlock int
}

// NewGangTrial returns a trial of members in the whole of ix. states are the prepared constraints; the trial changes them, and leaves them
// as they were once every member is unplaced and every pod returned.
func NewGangTrial(ix *cluster.Index, members []*Member, states []State, nominees func(cluster.PodID) bool) *GangTrial {
	nodes, pods := ix.NumNodes(), ix.NumPods()
	t := idle.Get().(*GangTrial)
	t.ix, t.expected, t.home = ix, map[cluster.NodeID][]cluster.PodID{}, map[cluster.NodeID][]int64{}
	t.on, t.gone, t.free = slices.Grow(t.on[:0], nodes)[:nodes], slices.Grow(t.gone[:0], pods)[:pods], slices.Grow(t.free[:0], nodes*ix.NumResources())
	clear(t.gone)
	for n := range cluster.NodeID(nodes) {
		t.on[n] = t.on[n][:0]
		t.free = append(t.free, ix.Free(n)...)
		for _, p := range ix.Nominees(n) {
			if nominees(p) {
				t.expected[n] = append(t.expected[n], p)
				t.book(n, int(p), ix.Request(p), -1)
				t.home[n] = slices.Clone(t.row(n))
			}
		}
	}
	t.Renew(members, states)
	return t
}

// idle are trials out of use, of any index, with nothing but lists to be reused.
var idle = sync.Pool{New: func() any { return new(GangTrial) }}

// Close lets others reuse the lists of t, which is over but for its counts: nothing else may be asked of it.
func (t *GangTrial) Close() {
	idle.Put(&GangTrial{on: t.on, gone: t.gone, free: t.free, queue: SeatQueue{within: t.queue.within, beyond: t.queue.beyond}})
	t.on, t.gone, t.free, t.queue = nil, nil, nil, SeatQueue{}
}

// Renew makes t, in which nobody is gone and no member placed, the trial of other members: it is as NewGangTrial makes it, if
// nobody is nominated to a node, at the cost of the members.
func (t *GangTrial) Renew(members []*Member, states []State) {
	*t = GangTrial{
		ix: t.ix, members: members, states: states, expected: t.expected, at: slices.Repeat([]cluster.NodeID{cluster.NoNode}, len(members)),
		turn: make([]int32, len(members)), on: t.on, gone: t.gone, free: t.free, home: t.home, queue: t.queue, dirty: t.dirty[:0], back: t.back[:0], turns: mostTurns,
		shapes: shapesOf(members), static: make([][]int8, len(members)), holders: t.holders,
	}
	t.rules, t.ported = rulesOf(members, t.shapes), slices.ContainsFunc(members, func(m *Member) bool { return len(m.Pod.Ports) > 0 })
	for _, s := range states {
		if d, ok := s.(*deviceState); ok {
			t.devices = d
		}
	}
}

// comparedShapes is with how many shapes a member is compared before the others are looked up by text.
const comparedShapes = 16

// shapesOf numbers members so that those which no check can tell apart agree.
func shapesOf(members []*Member) []int {
	shapes := make([]int, len(members))
	var few []int                // the first of each of some shapes
	others := map[string][]int{} // by text: of each of the others
	for i, m := range members {
		if i > 0 && m.alike(members[shapes[i-1]]) {
			shapes[i] = shapes[i-1]
			continue
		}
		if at := slices.IndexFunc(few, func(j int) bool { return m.alike(members[j]) }); at >= 0 {
			shapes[i] = few[at]
			continue
		}
		if shapes[i] = i; len(few) < comparedShapes {
			few = append(few, i)
			continue
		}
		text := m.text()
		if at := slices.IndexFunc(others[text], func(j int) bool { return m.viewedAlike(members[j]) }); at >= 0 {
			shapes[i] = others[text][at]
		} else {
			others[text] = append(others[text], i)
		}
	}
	return shapes
}

// rulesOf numbers members so that those agree who say the same of nodes; where there is a filter, those of a shape.
func rulesOf(members []*Member, shapes []int) []int {
	rules, firsts := make([]int, len(members)), map[string]int{} // by what they say
	for i, m := range members {
		switch {
		case shapes[i] != i:
			rules[i] = rules[shapes[i]]
		case m.filter != nil:
			rules[i] = i
		default:
			first, known := firsts[m.rule.Text()]
			if !known {
				first, firsts[m.rule.Text()] = i, i
			}
			rules[i] = first
		}
	}
	return rules
}

// check notes that the trial goes on.
func (t *GangTrial) check() {
	if t.Poll != nil {
		t.Poll()
	}
}

// Members is the number of members.
func (t *GangTrial) Members() int { return len(t.members) }

// Member returns member m.
func (t *GangTrial) Member(m MemberID) *Member { return t.members[m] }

// Allow bounds the work of placers from now on: once Asked has grown by half as much as looks says, each member gets the next node
// that takes it instead of the best one, and after as much nobody more is placed. Without it there is no bound.
func (t *GangTrial) Allow(looks int) { t.hurry, t.stop = t.Asked+looks/2, t.Asked+looks }

// passed reports whether as much was asked as a bound of Allow says.
func (t *GangTrial) passed(bound int) bool {
	t.Hurried = t.Hurried || t.stop > 0 && t.Asked >= bound
	return t.stop > 0 && t.Asked >= bound
}

// Spent reports whether so much was asked that placers of this package place nobody more; see Allow.
func (t *GangTrial) Spent() bool { return t.passed(t.stop) }

// Shape returns a number that is equal for members that no built-in check can tell apart: the position of the first of them.
func (t *GangTrial) Shape(m MemberID) int { return t.shapes[m] }

// Index returns the index that the trial is about.
func (t *GangTrial) Index() *cluster.Index { return t.ix }

// At returns the node that member m is placed on, or NoNode.
func (t *GangTrial) At(m MemberID) cluster.NodeID { return t.at[m] }

// Placed returns the members that are placed, in the order in which they were. The slice belongs to the trial and is good until the next change.
func (t *GangTrial) Placed() []MemberID { return t.placed }

// On returns the members that are placed on node n. The slice belongs to the trial.
func (t *GangTrial) On(n cluster.NodeID) []MemberID { return t.on[n] }

// Free returns the row of what is free on node n as things stand. The slice belongs to the trial and must not be changed.
func (t *GangTrial) Free(n cluster.NodeID) []int64 {
	t.look(n)
	return t.row(n)
}

func (t *GangTrial) row(n cluster.NodeID) []int64 {
	r := t.ix.NumResources()
	return t.free[int(n)*r : (int(n)+1)*r]
}

// AtHome returns the row of what is free on node n with everybody back and no member placed. The slice belongs to the trial and must not be changed.
func (t *GangTrial) AtHome(n cluster.NodeID) []int64 {
	if row, own := t.home[n]; own {
		return row
	}
	return t.ix.Free(n)
}

// OnlyRoom reports whether members that are placed fit wherever no resource is below zero: no constraint has a say, and nobody asks for ports.
func (t *GangTrial) OnlyRoom() bool { return len(t.states) == 0 && !t.ported }

// CrossNode reports whether a constraint looks beyond single nodes, so that a pod anywhere may matter to a member.
func (t *GangTrial) CrossNode() bool {
	return slices.ContainsFunc(t.states, func(s State) bool { return !s.Scope().NodeLocal })
}

// Columns lists the resources that any member asks for, in order. The slice belongs to t.
func (t *GangTrial) Columns() []cluster.ResourceID {
	if t.columns == nil {
		for _, m := range t.members {
			t.columns = append(t.columns, m.asks...)
		}
		slices.Sort(t.columns)
		t.columns = slices.Compact(t.columns)
	}
	return t.columns
}

// book lets a pod, or ^int(m) for member m, who asks for row, go from node n (+1) or come there (-1).
func (t *GangTrial) book(n cluster.NodeID, who int, row []int64, sign int64) {
	free := t.Free(n)
	if len(row) < manyResources {
		for r, v := range row[:len(free)] {
			free[r] += sign * v
		}
		return
	}
	for _, r := range t.held.Of(who, row) {
		free[r] += sign * row[r]
	}
}

// Remove takes running pod p away.
func (t *GangTrial) Remove(p cluster.PodID) {
	t.check()
	t.move(p, +1)
}

// Return puts pod p back where it ran.
func (t *GangTrial) Return(p cluster.PodID) {
	if n := t.move(p, -1); n != cluster.NoNode && len(t.on[n]) > 0 {
		t.dirty, t.back = append(t.dirty, n), append(t.back, p)
	}
}

// mostStirred is of how many pods it is noted that they went or came; manyResources from how many on it is remembered which of them a pod holds.
const mostStirred, manyResources = 256, 64

// move takes pod p away (+1), or puts it back (-1), and returns its node.
func (t *GangTrial) move(p cluster.PodID, sign int64) cluster.NodeID {
	n := t.ix.NodeOf(p)
	t.Empty(n)
	t.gone[p], t.shifted = sign > 0, t.shifted+1
	if n == cluster.NoNode {
		return n
	}
	t.book(n, int(p), t.ix.Request(p), sign)
	shift(t.states, p, n, sign > 0)
	if (!t.moved || t.asked) && touchedBy(t.states, p, n) {
		if t.moved = true; !t.asked || len(t.on[n]) == 0 {
			return n
		}
		if i := slices.Index(t.stirred, p); i >= 0 { // where it was then
			t.stirred = slices.Delete(t.stirred, i, i+1)
		} else {
			t.stirred, t.asked = append(t.stirred, p), len(t.stirred) < mostStirred
		}
	}
	return n
}

// Matters reports whether pod p runs where members are placed or, if these may move, anywhere; or a constraint looks at it.
func (t *GangTrial) Matters(p cluster.PodID) bool {
	n := t.ix.NodeOf(p)
	return n != cluster.NoNode && (t.Mobile || len(t.on[n]) > 0 || touchedBy(t.states, p, n))
}

// Work is the work so far: Asked, Again, an eighth of the pods that left or came back, the counts that affinity has changed, and seats of many fractions of devices.
func (t *GangTrial) Work() int64 {
	sum := int64(t.Asked + t.Again + t.shifted/8)
	for _, s := range t.states {
		if m, ok := s.(metered); ok {
			sum += m.changed()
		}
	}
	return sum + t.seats() - t.asideSeats
}

// seats are the looks at seats of fractions of devices so far.
func (t *GangTrial) seats() (n int64) {
	if t.devices != nil {
		n = t.devices.Seated()
	}
	return n
}

// Looks reports whether a constraint may look at pods that run on node n.
func (t *GangTrial) Looks(n cluster.NodeID) bool {
	return slices.ContainsFunc(t.states, func(s State) bool {
		toucher, ok := s.(Toucher)
		return !ok || toucher.Touches(n)
	})
}

// Home returns every pod and takes every member off. It costs the size of the cluster, however many there are.
func (t *GangTrial) Home() {
	t.UnplaceTo(0)
	t.Vacate(nil, nil)
	gone := func(p cluster.PodID) bool { return t.gone[p] }
	for n := range t.ix.Nodes() {
		switch {
		case t.Looks(n):
			for _, p := range t.ix.PodsOn(n) {
				if t.gone[p] {
					t.Return(p)
				}
			}
		case t.ix.NumResources() < manyResources || slices.ContainsFunc(t.ix.PodsOn(n), gone):
			copy(t.row(n), t.AtHome(n))
		}
	}
	t.dirty, t.back, t.doubted, t.moved, t.asked = t.dirty[:0], t.back[:0], false, true, false
	clear(t.gone)
}

// Gone reports whether pod p has been removed and not returned. Nobody has been removed from a vacant node; one that was vacant is emptied first.
func (t *GangTrial) Gone(p cluster.PodID) bool {
	if n := t.ix.NodeOf(p); t.vacancy != nil && n >= 0 && !t.Vacant(n) {
		t.Empty(n)
	}
	return t.gone[p]
}

// Alike reports whether nothing tells members a and b apart: no built-in check, and there are no constraints.
func (t *GangTrial) Alike(a, b MemberID) bool {
	return t.shapes[a] == t.shapes[b] && len(t.states) == 0
}

// FitAlike reports whether members a and b are of one shape and fit on the same nodes, for the same
// reasons, as things stand. It may say no where they do.
func (t *GangTrial) FitAlike(a, b MemberID) bool {
	return t.shapes[a] == t.shapes[b] && !slices.ContainsFunc(t.states, func(s State) bool {
		f, ok := s.(sameFitter)
		return !ok || !f.fitsSame(a, b)
	})
}
