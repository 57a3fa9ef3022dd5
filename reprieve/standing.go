package reprieve

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Standing remembers, for one shape of pod, how every plain node stands: whether
// preemption helps there and what it costs. The best is at the root of a tournament.
// After a change only the nodes that changed are looked at again, and of those only
// the ones that get to the root are evaluated. Not safe for concurrent use; it comes
// to what a [Scan] comes to.
type Standing struct {
	below int32
	ask   *domain.Member
	seen  int // of the ladder's log

	seats  []seat
	winner []int32 // a tournament: 1 is the root, leaves+n is node n; noSeat where nobody competes
	leaves int

	counts []int // by state and resource
}

// seat is how one node stands.
type seat struct {
	sum, started  int64
	violations    int32
	highest, pods int32
	state         state
	resource      int16 // that is short, or the check that bars the pod
	exact         bool  // the numbers are the score; otherwise bounds from below
}

// state is a kind of standing.
type state uint8

const (
	outside  state = iota // odd: not looked at here
	fitsNow               // the pod fits as things are
	helps                 // preemption helps
	short                 // a resource is short even so
	tooSmall              // the node offers too little of it
	nobody                // nobody may go
	barred                // the pod must not go there, whoever is evicted
	numStates
)

const noSeat = -1

// NewStanding returns the standing of pod m below a priority; nothing is known yet.
func NewStanding(m *domain.Member, below int32) *Standing {
	return &Standing{below: below, ask: m, seen: -1}
}

// Member is the pod, or another of its shape, and Below the priority below which units
// may go.
func (t *Standing) Member() *domain.Member { return t.ask }

// Below is explained at Member.
func (t *Standing) Below() int32 { return t.below }

// Behind reports whether there is something for Update to look at.
func (t *Standing) Behind(l *victims.Ladder) bool { return t.seen != l.Changes() }

// Update looks at what has changed since it was last called. s is a sweep of the
// ladder that was asked about the pod.
func (t *Standing) Update(s *Sweep, ix *cluster.Index) {
	if t.seats == nil {
		t.grow(ix.NumNodes(), ix.NumResources())
	}
	fresh := t.seen < 0
	s.ladder.Since(&t.seen, func(n cluster.NodeID) {
		t.look(s, ix, n)
		if !fresh {
			t.replay(n)
		}
	})
	if fresh {
		for i := t.leaves - 1; i > 0; i-- {
			t.winner[i] = t.better(t.winner[2*i], t.winner[2*i+1])
		}
	}
	for {
		n := t.winner[1]
		if n == noSeat || t.seats[n].exact {
			return
		}
		t.evaluate(s, cluster.NodeID(n))
		t.replay(cluster.NodeID(n))
	}
}

// Clone returns an independent copy.
func (t *Standing) Clone() *Standing {
	c := *t
	c.seats, c.winner, c.counts = slices.Clone(t.seats), slices.Clone(t.winner), slices.Clone(t.counts)
	return &c
}

func (t *Standing) grow(nodes, resources int) {
	t.seats = make([]seat, nodes)
	t.counts = make([]int, int(numStates)*max(resources, len(domain.StaticChecks)))
	for t.leaves = 1; t.leaves < nodes; t.leaves *= 2 {
	}
	t.winner = make([]int32, 2*t.leaves)
	for i := range t.winner {
		t.winner[i] = noSeat
	}
}

// look finds out how node n stands, without evaluating it.
func (t *Standing) look(s *Sweep, ix *cluster.Index, n cluster.NodeID) {
	at := &t.seats[n]
	t.count(at, -1)
	*at = t.seat(s, ix, n)
	t.count(at, +1)
	t.winner[t.leaves+int(n)] = noSeat
	if at.state == fitsNow || at.state == helps {
		t.winner[t.leaves+int(n)] = int32(n)
	}
}

func (t *Standing) count(at *seat, d int) {
	t.counts[t.slot(at.state, int(at.resource))] += d
}

func (t *Standing) slot(s state, resource int) int {
	return resource*int(numStates) + int(s)
}

func (t *Standing) seat(s *Sweep, ix *cluster.Index, n cluster.NodeID) seat {
	levels := s.ladder.Levels()
	b, i := levels.Blocks()[n/victims.BlockSize], int(n)%victims.BlockSize
	if b.Plain>>i&1 == 0 {
		return seat{state: outside}
	}
	if b.Open>>i&1 == 0 || !t.ask.Anywhere() {
		if why := t.ask.Static(ix.Node(n)); !why.OK() {
			return seat{state: barred, resource: int16(domain.StaticCheck(why.Check))}
		}
	}
	c, exact := levels.Column(t.below)
	low := b.Lowest(&s.ask, c, i)
	if low == 0 {
		return seat{state: fitsNow, violations: -1, exact: true}
	}
	if low > c || !exact && low == c && !t.fits(s, n) {
		return t.failed(s, b, i, n, c, exact)
	}
	return seat{state: helps, highest: levels.Above(low), started: math.MaxInt64}
}

// fits reports whether the pod fits on node n with everybody gone who may go.
func (t *Standing) fits(s *Sweep, n cluster.NodeID) bool {
	first, _ := s.ladder.Rungs(n, t.below)
	return s.Fits(n, first)
}

// failed is how node n stands, where preemption does not help.
func (t *Standing) failed(s *Sweep, b *victims.Block, i int, n cluster.NodeID, c int, exact bool) seat {
	lanes := s.ladder.Lanes()
	first, end := s.ladder.Rungs(n, t.below)
	switch {
	case b.TooSmall(&s.ask, i):
		return seat{state: tooSmall, resource: int16(b.Short(&s.ask, lanes, 0, i))}
	case first == end:
		return seat{state: nobody}
	case exact:
		return seat{state: short, resource: int16(b.Short(&s.ask, lanes, c, i))}
	}
	return seat{state: short, resource: int16(s.short(n, first))}
}

// evaluate finds the score of node n, where preemption helps.
func (t *Standing) evaluate(s *Sweep, n cluster.NodeID) {
	first, end := s.ladder.Rungs(n, t.below)
	score, _ := s.Node(n, first, end, nil, nil)
	at := &t.seats[n]
	at.violations, at.highest, at.pods = int32(score.Violations), score.Highest, int32(score.Pods)
	at.sum, at.started, at.exact = score.Sum, score.Started, true
}

// replay settles the matches of node n.
func (t *Standing) replay(n cluster.NodeID) {
	for i := (t.leaves + int(n)) / 2; i > 0; i /= 2 {
		t.winner[i] = t.better(t.winner[2*i], t.winner[2*i+1])
	}
}

// better is the node of a and b that disrupts less, as far as that is known; a, the
// first in order, if they tie.
func (t *Standing) better(a, b int32) int32 {
	if b == noSeat {
		return a
	}
	if a == noSeat {
		return b
	}
	x, y := &t.seats[a], &t.seats[b]
	switch {
	case x.violations != y.violations:
		return choose(x.violations < y.violations, a, b)
	case x.highest != y.highest:
		return choose(x.highest < y.highest, a, b)
	case x.sum != y.sum:
		return choose(x.sum < y.sum, a, b)
	case x.pods != y.pods:
		return choose(x.pods < y.pods, a, b)
	}
	return choose(x.started >= y.started, a, b)
}

func choose(first bool, a, b int32) int32 {
	if first {
		return a
	}
	return b
}

// Best returns the best plain node, and whether the pod fits there as things are;
// NoNode if preemption helps nowhere. Update comes before it.
func (t *Standing) Best() (n cluster.NodeID, fits bool) {
	if t.winner[1] == noSeat {
		return cluster.NoNode, false
	}
	return cluster.NodeID(t.winner[1]), t.seats[t.winner[1]].state == fitsNow
}

// Score is that of the best node, on which preemption helps.
func (t *Standing) Score() victims.Score {
	at := &t.seats[t.winner[1]]
	return victims.Score{Violations: int(at.violations), Highest: at.highest, Sum: at.sum, Pods: int(at.pods), Started: at.started}
}

// Counts copies into s how many nodes stand how, as Run does.
func (t *Standing) Counts(s *Scan) {
	resources := s.sweep.ladder.NumResources()
	s.Short = append(s.Short[:0], make([]int, resources)...)
	s.TooSmall = append(s.TooSmall[:0], make([]int, resources)...)
	for r := range resources {
		s.Short[r], s.TooSmall[r] = t.counts[t.slot(short, r)], t.counts[t.slot(tooSmall, r)]
	}
	s.Helped, s.Nobody = t.counts[t.slot(helps, 0)], t.counts[t.slot(nobody, 0)]
}

// Barred is on how many nodes one of [domain.StaticChecks] bars the pod.
func (t *Standing) Barred(check int) int { return t.counts[t.slot(barred, check)] }
