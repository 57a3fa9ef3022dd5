package onepod

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// standings remember, for one shape of pod, what the plain road has found on every node,
// where that is a function of the node and its units alone. Where victims are searched for
// the nodes of a chunk share steps: it is a function of these, and remembered is which of
// them is the best. Not safe for concurrent use.
type standings struct {
	of     columns.Tournament[standing]
	seen   int            // of the journal of the columns
	size   int            // how many numbers of nodes there were
	shares int            // nodeShares
	chunks []chunk        // nil where nodes stand by themselves
	latest cluster.NodeID // of the latest answer, or another on which evictions help; NoNode: none is known

	near []*cluster.Topology // as they were: how a node stands depends on the others of its value
}

// standing is how one node stands.
type standing struct {
	score  victims.Score // of outdone and helps
	liking int64         // of fits and helps: how much the node is preferred among equals
	state  stand
}

// stand is how a node stands, by what is known of it.
type stand uint8

const (
	useless   stand = iota // the pod can't go there, or rather goes to another of the chunk
	unlooked               // nothing is known
	fitsNow                // the pod fits as things are
	unopened               // it does not, and nobody has tried evictions
	outdoneBy              // preemption helps, and disrupts as much as score at least
	helps                  // preemption helps: score is what it costs
)

// settled reports whether nothing is left to be found out.
func (x *standing) settled() bool {
	return x.state != unlooked && x.state != unopened && x.state != outdoneBy
}

// class orders nodes before anything else: where the pod may fit, where evictions were not
// tried, where they help, and where the pod can't go.
func (x *standing) class() int {
	switch x.state {
	case unlooked, fitsNow:
		return 0
	case unopened:
		return 1
	case outdoneBy, helps:
		return 2
	}
	return 3
}

// newStandings returns those by which q compares scores. Nothing is known yet.
func newStandings(q *ask.Question) *standings {
	ranking := q.Ranking
	return &standings{seen: -1, latest: cluster.NoNode, of: columns.NewTournament(func(x, y *standing) bool {
		if a, b := x.class(), y.class(); a != b {
			return a < b
		}
		if x.class() == 2 {
			if order := ranking.Compare(x.score, y.score); order != 0 {
				return order < 0
			}
		}
		return x.liking > y.liking
	})}
}

func (t *standings) clone() *standings {
	c := *t
	c.of = t.of.Clone()
	return &c
}

// behind reports whether a node has changed since follow was called.
func (t *standings) behind(l *columns.NodeColumns) bool { return t.seen != l.Changes() }

// follow forgets what has changed, and returns of how many nodes nothing is known.
func (t *standings) follow(q *ask.Question) (numNew int) {
	l, ix := q.Columns, q.Index
	var shared []chunk
	if q.Effort != ask.Greedy {
		shared = chunks(q)
	}
	var near []*cluster.Topology
	for _, s := range q.States {
		if topology := s.Scope().Topology(); topology != nil {
			near = append(near, topology)
		}
	}
	touching := slices.Concat(t.near, near) // where a node was, and where it is
	t.near = near
	if t.size != ix.NumNodes() || t.shares != nodeShares(q) || !slices.Equal(t.chunks, shared) || l.Forgot(t.seen) {
		t.chunks = shared
		t.of.Reset(ix.NumNodes(), standing{})
		t.size, t.shares, t.seen, t.latest = ix.NumNodes(), nodeShares(q), l.Changes(), cluster.NoNode
		for n := range ix.Nodes() {
			*t.of.Edit(n) = unknown(q)
		}
		t.of.PlayAll()
		return t.size
	}
	forget := func(n cluster.NodeID) {
		at := standing{}
		if ix.IsNode(n) {
			at = unknown(q)
			numNew++
		}
		t.set(n, at)
		t.reopen(q, n)
	}
	l.Since(&t.seen, q.Priority, func(n cluster.NodeID) {
		forget(n)
		for _, topology := range touching {
			for _, m := range topology.Sharing(n) {
				if t.of.At(m).state != unlooked {
					forget(m)
				}
			}
		}
	})
	return numNew
}

// reopen forgets what evictions come to in the chunk of node n, if it shares one.
func (t *standings) reopen(q *ask.Question, n cluster.NodeID) {
	if t.chunks == nil {
		return
	}
	c := t.chunk(n)
	for n := range q.Index.NodesBetween(c.from, c.to) {
		if at := t.of.At(n); at.state == useless || at.state == helps {
			t.set(n, standing{state: unopened})
		}
	}
}

// chunk is that of node n.
func (t *standings) chunk(n cluster.NodeID) chunk {
	return t.chunks[slices.IndexFunc(t.chunks, func(c chunk) bool { return n < c.to })]
}

// unknown is how a node stands of which nothing is known. It may be liked more than any.
func unknown(q *ask.Question) standing { return standing{state: unlooked, liking: most(q)} }

// most is the most that a node may be liked.
func most(q *ask.Question) int64 {
	if q.Prefers() {
		return math.MaxInt64
	}
	return 0
}

func (t *standings) set(n cluster.NodeID, at standing) {
	*t.of.Edit(n) = at
	t.of.Play(n)
}

// take keeps what a search of all nodes has found where less is known.
func (t *standings) take(found []standing) {
	for n := range cluster.NodeID(len(found)) {
		at, before := found[n], t.of.At(n)
		if at.state == unlooked || before.settled() || at.state == unopened && before.state == outdoneBy {
			continue
		}
		*t.of.Edit(n) = at
	}
	t.of.PlayAll()
}

// best is the plan that the root tells; ok is false where that is not settled.
func (t *standings) best() (p Plan, score victims.Score, ok bool) {
	switch n, at := t.of.Root(); {
	case at == nil || at.state == useless:
		return Plan{Verdict: ask.Infeasible, Node: cluster.NoNode}, score, true
	case at.state == fitsNow:
		return Plan{Verdict: ask.Fits, Node: n}, score, true
	case at.state == helps:
		return Plan{Verdict: ask.Feasible, Node: n}, at.score, true
	}
	return p, score, false
}

// Decide is Run for who asks for no more than verdict, node and score. Where every node
// stands by itself these are told by what is remembered of the pod's shape, and only
// nodes that have changed are looked at.
func (s *Search) Decide() (Plan, victims.Score) {
	s.traits &^= ask.TraitCandidates | ask.TraitTrace // nobody asks for them
	known, warm := s.known()
	if !warm {
		plan := s.Run()
		if known != nil {
			s.shapes.looked(known, s.q.Index.NumNodes())
		}
		return plan, s.Best.Score
	}
	if plan, score, ok := s.recall(known); ok {
		s.Trial.Restore()
		return plan, score
	}
	s.Each = true
	s.found = make([]standing, s.q.Index.NumNodes())
	for n := range s.found {
		s.found[n].state = unlooked
	}
	plan := s.Run()
	known.mu.Lock()
	defer known.mu.Unlock()
	known.own()
	known.standings.take(s.found)
	known.standings.latest = plan.Node
	return plan, s.Best.Score
}

// known is the shape of the pod, nil if nothing may be remembered of it.
func (s *Search) known() (known *shape, warm bool) {
	if s.scans() && s.q.Columns.Levels().NumOdd() == 0 || !ask.AtOnce.Leads(s.traits&^(ask.TraitWaits|ask.TraitQueued)) ||
		s.Member.Pod.NominatedNode != "" || s.q.Protections != nil && !s.q.Protections.Bare(s.q.Claim) {
		return nil, false
	}
	key, ok := ask.ShapeKey(s.key[:0], s.Member.Pod, s.Member.Request(), s.q.Priority, s.q.Limits, s.q.Shows(s.traits))
	if s.key = key; !ok {
		return nil, false
	}
	return s.shapes.of(key, s.q.Index.NumNodes())
}

// Where this share of the nodes is new, or costs as much to find out about, all are looked
// at, by several workers, and no further than it takes to be outdone.
const (
	mostNew    = 2
	stepsToTry = 8 // to try evictions on a node costs so many looks
)

// recall answers from what is known of the pod's shape, and finds out what is missing,
// unless that is too much.
func (s *Search) recall(known *shape) (p Plan, score victims.Score, ok bool) {
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.standings == nil {
		known.standings = newStandings(s.q)
	}
	known.own()
	t, nodes := known.standings, s.q.Index.CountNodes()
	if t.behind(s.q.Columns) && t.follow(s.q) > nodes/mostNew+1 {
		return p, score, false
	}
	asked := false
	for steps := nodes/mostNew + 2*stepsToTry; ; {
		n, at := t.of.Root()
		if !asked && (at == nil || at.class() > 0) {
			if p, refused := s.refuse(); refused {
				return p, score, true
			}
			asked = true
		}
		if p, score, ok = t.best(); ok {
			t.latest = p.Node
			return p, score, true
		}
		if steps < 0 {
			return p, score, false
		}
		if at.state == unlooked {
			steps--
			now := s.looked(n, s.look(n))
			if now.state == unopened && s.behindLatest(t, n) {
				now = t.standBehind(n)
			}
			t.set(n, now)
			continue
		}
		if t.chunks != nil {
			steps -= s.searchChunk(t.chunk(n), t.set)
			continue
		}
		steps -= stepsToTry
		s.Unbounded = true
		c, why := s.try(n)
		s.Unbounded = false
		t.set(n, s.tried(&c, why))
	}
}

// behindLatest reports whether, by resources alone, no evictions on node n are better than those of the latest answer or, where its
// node has changed, than the best that are known.
func (s *Search) behindLatest(t *standings, n cluster.NodeID) bool {
	if t.chunks != nil || s.q.Bounded() || t.latest == cluster.NoNode {
		return false
	}
	if t.of.At(t.latest).state != helps {
		t.latest = t.helping(s.q)
		return s.behindLatest(t, n)
	}
	s.Best.Node, s.Best.Score = t.latest, t.of.At(t.latest).score
	behind := s.Sweeps() && !s.mayBeat(n) || s.outdone(n, s.q.Evictable(n), s.beat())
	s.Best.Node, s.Best.Score = cluster.NoNode, victims.Score{}
	return behind
}

// helping is the node of those where evictions are known to help on which they do most; NoNode if there is none.
func (t *standings) helping(q *ask.Question) cluster.NodeID {
	best := cluster.NoNode
	for n := range q.Index.Nodes() {
		if at := t.of.At(n); at.state == helps && (best == cluster.NoNode || q.Ranking.Compare(at.score, t.of.At(best).score) < 0) {
			best = n
		}
	}
	return best
}

// standBehind is how a node stands that is behind the latest answer.
func (t *standings) standBehind(n cluster.NodeID) standing {
	at := standing{state: outdoneBy, score: t.of.At(t.latest).score}
	if n < t.latest { // it would win a tie
		at.liking = math.MinInt64
	}
	return at
}

// searchChunk searches the nodes of a chunk, on none of which the pod fits as things are,
// and tells set of each. It returns how many they are.
func (s *Search) searchChunk(nodes chunk, set func(cluster.NodeID, standing)) (count int) {
	s.needStatus()
	for n := range s.q.Index.NodesBetween(nodes.from, nodes.to) {
		s.Status[n] = s.look(n)
		count++
	}
	s.evaluateAll(nodes)
	s.searched(nodes, set)
	return count
}

// searched tells set how the nodes of a chunk stand that was searched.
func (s *Search) searched(nodes chunk, set func(cluster.NodeID, standing)) {
	for n := range s.q.Index.NodesBetween(nodes.from, nodes.to) {
		at := standing{}
		if n == s.Best.Node {
			at = s.tried(&s.Best, domain.Reason{})
		}
		set(n, at)
	}
}

// looked is how node n stands where why the pod does not fit as things are.
func (s *Search) looked(n cluster.NodeID, why domain.Reason) standing {
	switch {
	case why.OK():
		return standing{state: fitsNow, liking: s.Liking(&Candidate{Node: n})}
	case why.Unresolvable:
		return standing{}
	}
	return standing{state: unopened}
}

// tried is how a node stands where evictions came to c, or to why they do not help.
func (s *Search) tried(c *Candidate, why domain.Reason) standing {
	switch {
	case !why.OK():
		return standing{}
	case c.Victims == nil:
		return standing{state: outdoneBy, score: s.Best.Score, liking: most(s.q)}
	}
	return standing{state: helps, score: c.Score, liking: s.Liking(c)}
}
