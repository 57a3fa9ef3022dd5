package columns

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// ShapeRanking remembers, for one shape of pod, how every plain node stands: whether
// preemption helps there and what it costs. The best is at the root of a [Tournament].
// After a change only the nodes that changed are looked at again, and of those only the
// ones that get to the root are evaluated. Not safe for concurrent use; it comes to what a
// [Scan] comes to.
type ShapeRanking struct {
	below   int32
	ask     *domain.Member
	likings Likings
	seen    int // of the journal of the columns

	seats  Tournament[seat]
	counts []int // by state and resource
}

// NewShapeRanking returns the ranking of pod m below a priority; of equals the preferred
// node is the best. Nothing is known yet.
func NewShapeRanking(m *domain.Member, below int32, prefer domain.Preference) *ShapeRanking {
	return &ShapeRanking{below: below, ask: m, likings: Likings{Prefer: prefer, Member: m}, seen: -1, seats: NewTournament((*seat).before)}
}

// Member is the pod, or another of its shape, and Below the priority below which units
// may go.
func (t *ShapeRanking) Member() *domain.Member { return t.ask }

// Below is explained at Member.
func (t *ShapeRanking) Below() int32 { return t.below }

// Behind reports whether there is something for Update to look at.
func (t *ShapeRanking) Behind(l *NodeColumns) bool { return t.seen != l.Changes() }

// Update looks at what has changed since it was last called. s is a sweep of the
// columns that was asked about the pod. O(log n) for each changed node of n.
func (t *ShapeRanking) Update(s *Sweep, ix *cluster.Index) {
	t.likings.Index = ix
	if s.columns.Forgot(t.seen) {
		t.lookAtAll(s, ix)
	}
	s.columns.Since(&t.seen, t.below, func(n cluster.NodeID) {
		if t.look(s, ix, n) {
			t.seats.Play(n)
		}
	})
	for {
		n, at := t.root()
		if at == nil || at.exact {
			return
		}
		t.evaluate(t.seats.Edit(n), s, n)
		t.seats.Play(n)
	}
}

// lookAtAll begins anew.
func (t *ShapeRanking) lookAtAll(s *Sweep, ix *cluster.Index) {
	t.seats.Reset(ix.NumNodes(), seat{worth: worthless})
	t.counts = make([]int, int(numStates)*max(ix.NumResources(), len(domain.StaticChecks)))
	for n := range cluster.NodeID(ix.NumNodes()) {
		t.look(s, ix, n)
	}
	t.seats.PlayAll()
	t.seen = s.columns.Changes()
}

// Clone returns an independent copy. Both share the blocks that neither changes, if t
// is not changed any more itself.
func (t *ShapeRanking) Clone() *ShapeRanking {
	c := *t
	c.likings = Likings{Prefer: t.likings.Prefer, Member: t.likings.Member}
	c.seats, c.counts = t.seats.Clone(), slices.Clone(t.counts)
	return &c
}

// look finds out how node n stands, without evaluating it, and reports whether that may be
// another rank.
func (t *ShapeRanking) look(s *Sweep, ix *cluster.Index, n cluster.NodeID) bool {
	now := t.seat(s, ix, n)
	now.liking = t.likings.without(s.columns, n, nil)
	before := *t.seats.At(n)
	if now == before {
		return false
	}
	*t.seats.Edit(n) = now
	if before.state != unknown {
		t.counts[t.slot(before.state, int(before.resource))]--
	}
	t.counts[t.slot(now.state, int(now.resource))]++
	return now.worth != worthless || before.worth != worthless
}

func (t *ShapeRanking) slot(s state, resource int) int {
	return resource*int(numStates) + int(s)
}

func (t *ShapeRanking) seat(s *Sweep, ix *cluster.Index, n cluster.NodeID) seat {
	levels := s.columns.Levels()
	b, i := levels.Blocks()[n/BlockSize], int(n)%BlockSize
	if b.Plain>>i&1 == 0 {
		return seat{state: outside, worth: worthless}
	}
	if b.Open>>i&1 == 0 || !t.ask.Anywhere() {
		if why := t.ask.Static(ix.Node(n)); !why.OK() {
			return seat{state: barred, worth: worthless, resource: int16(why.Check.Static())}
		}
	}
	c, exact := levels.Column(t.below)
	low := b.Lowest(&s.ask, c, i)
	if low == 0 {
		return seat{state: fitsNow, exact: true}
	}
	if low > c || !exact && low == c && !t.fits(s, n) {
		return t.failed(s, b, i, n, c, exact)
	}
	return atLeast(levels.Above(low))
}

// fits reports whether the pod fits on node n with everybody gone who may go.
func (t *ShapeRanking) fits(s *Sweep, n cluster.NodeID) bool {
	first, _ := s.columns.Positions(n, t.below)
	return s.Fits(n, first)
}

// failed is how node n stands, where preemption does not help.
func (t *ShapeRanking) failed(s *Sweep, b *Block, i int, n cluster.NodeID, c int, exact bool) seat {
	lanes := s.columns.Lanes()
	first, end := s.columns.Positions(n, t.below)
	at := seat{state: short, worth: worthless}
	switch {
	case b.TooSmall(&s.ask, i):
		at.state, at.resource = tooSmall, int16(b.Short(&s.ask, lanes, 0, i))
	case first == end:
		at.state = nobody
	case exact:
		at.resource = int16(b.Short(&s.ask, lanes, c, i))
	default:
		at.resource = int16(s.short(n, first))
	}
	return at
}

// evaluate finds the score of node n, where preemption helps.
func (t *ShapeRanking) evaluate(at *seat, s *Sweep, n cluster.NodeID) {
	first, end := s.columns.Positions(n, t.below)
	score, _ := s.Node(n, first, end, nil, nil)
	*at = exactly(score)
	at.liking = t.likings.without(s.columns, n, s.Victims())
}

// root is the best node as far as that is known, nil if the pod can go nowhere.
func (t *ShapeRanking) root() (cluster.NodeID, *seat) {
	if n, at := t.seats.Root(); at != nil && at.worth != worthless {
		return n, at
	}
	return cluster.NoNode, nil
}

// Best returns the best plain node, and whether the pod fits there as things are;
// NoNode if preemption helps nowhere. Update comes before it.
func (t *ShapeRanking) Best() (n cluster.NodeID, fits bool) {
	n, at := t.root()
	return n, at != nil && at.state == fitsNow
}

// Score is that of the best node, on which preemption helps.
func (t *ShapeRanking) Score() victims.Score {
	_, at := t.root()
	return at.score()
}

// Counts copies into s how many nodes stand how, as Run does.
func (t *ShapeRanking) Counts(s *Scan) {
	resources := s.sweep.columns.NumResources()
	s.Short = append(s.Short[:0], make([]int, resources)...)
	s.TooSmall = append(s.TooSmall[:0], make([]int, resources)...)
	for r := range resources {
		s.Short[r], s.TooSmall[r] = t.counts[t.slot(short, r)], t.counts[t.slot(tooSmall, r)]
	}
	s.Helped, s.Nobody = t.counts[t.slot(helps, 0)], t.counts[t.slot(nobody, 0)]
}

// Barred is on how many nodes one of [domain.StaticChecks] bars the pod.
func (t *ShapeRanking) Barred(check int) int { return t.counts[t.slot(barred, check)] }

// Likings tell how much a pod prefers nodes that are as good otherwise: more is better. They
// are all 0 by [domain.FirstByName].
type Likings struct {
	Prefer domain.Preference
	Member *domain.Member
	Index  *cluster.Index

	node cluster.NodeID
	free []int64 // on node
}

// On turns to node n, with everybody in place.
func (l *Likings) On(n cluster.NodeID) {
	if l.Prefer != domain.FirstByName {
		l.node, l.free = n, append(l.free[:0], l.Index.Free(n)...)
	}
}

// Leave lets those of pods leave that are on the node.
func (l *Likings) Leave(pods []cluster.PodID) {
	if l.Prefer == domain.FirstByName {
		return
	}
	for _, p := range pods {
		if l.Index.NodeOf(p) == l.node {
			for r, v := range l.Index.Request(p)[:len(l.free)] {
				l.free[r] += v
			}
		}
	}
}

// Liking is that of the node as it is now.
func (l *Likings) Liking() int64 {
	if l.Prefer == domain.FirstByName {
		return 0
	}
	return l.Prefer.Of(l.Member, l.free, l.Index.Allocatable(l.node))
}

// without is the liking of node n of c once the units on some positions have left.
func (l *Likings) without(c *NodeColumns, n cluster.NodeID, out []victims.Position) int64 {
	l.On(n)
	for _, position := range out {
		l.Leave(c.us.Unit(c.Unit(n, position)).Pods)
	}
	return l.Liking()
}
