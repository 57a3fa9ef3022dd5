package domain

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Concerned is an optional part of a Constraint that declares which pods it has a say about: where it concerns no pod of a preemptor, the
// question is answered as if there were no such constraint, at the cost of asking it.
type Concerned interface {
	// Concerns reports whether the constraint may have a say about pod, of which it is shown what [FilterView] leaves. It is a function of
	// that. Prepare returns a nil State where it concerns none of the members.
	Concerns(pod *cluster.Pod) bool
}

// Concerns reports whether c, which may be Concerned, has a say about one of pods, given as [FilterView] leaves them.
func Concerns(c Constraint, shown []*cluster.Pod) bool {
	of, declares := c.(Concerned)
	return !declares || slices.ContainsFunc(shown, of.Concerns)
}

// Colocation is a Constraint that reads a pod, a node and the pods there, or in its zone or rack, and nothing else. What is found out about
// a node holds until that node, or one there, or one of their pods changes, so that decisions about pods of one template are remembered, as
// those with a [Filter] are. It is immutable.
type Colocation struct {
	Check Check // the name of the constraint, and of its reasons

	// TopologyKey, if not empty, is a label of nodes: others are the pods of all nodes with the same value as node, or of node where it has none.
	TopologyKey string

	// Of says about which pods it has a say, as [Concerned]; nil: about all.
	Of func(pod *cluster.Pod) bool

	// Allows says whether pod, of which it is shown what [FilterView] leaves, may run on node beside others: who runs there without those
	// who are to go, with the pods nominated to it that count and with the members of the gang that are placed. It is a function of these,
	// and not of the order of others, which is good until it returns. Nothing of it may be changed.
	Allows func(pod *cluster.Pod, node *cluster.Node, others []*cluster.Pod) bool

	// Monotone: Allows never says no where it says yes beside more others. See [Scope].
	Monotone bool
}

// Name is Check.
func (c Colocation) Name() Check { return c.Check }

// Concerns is for [Concerned].
func (c Colocation) Concerns(pod *cluster.Pod) bool { return c.Of == nil || c.Of(pod) }

// Prepare costs O(members).
func (c Colocation) Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error) {
	s := &colocated{Colocation: c, ix: ix, members: members, shown: make([]*cluster.Pod, len(members)), on: map[cluster.NodeID][]*cluster.Pod{}}
	s.asked.node = cluster.NoNode
	if c.TopologyKey != "" {
		s.of = ix.Topology(c.TopologyKey)
	}
	concerned := false
	for m, p := range members {
		if view := FilterView(p); c.Concerns(view) {
			s.shown[m], concerned = view, true
		}
	}
	if !concerned {
		return nil, nil
	}
	return s, nil
}

// colocated is a Colocation in one what-if.
type colocated struct {
	Colocation
	ix      *cluster.Index
	members []*cluster.Pod
	shown   []*cluster.Pod                    // by member; nil: it does not concern that one
	on      map[cluster.NodeID][]*cluster.Pod // who is there, where somebody has come or gone; by the first node of a value
	running []*cluster.Pod                    // buffer of others
	alone   [1]cluster.NodeID                 // likewise
	of      *cluster.Topology                 // nil: each node by itself
	guests  int                               // how many are where they do not run
	asked   struct {                          // where a member was asked about beside all who run there, by what is monotone
		member MemberID
		node   cluster.NodeID
	}
	surely bool // it fits there, whoever leaves
}

// IsColocated reports whether s is the state of a [Colocation].
func IsColocated(s State) bool {
	_, is := s.(*colocated)
	return is
}

// near are node n, or all nodes of its value.
func (s *colocated) near(n cluster.NodeID) []cluster.NodeID {
	if s.of != nil {
		return s.of.Sharing(n)
	}
	return append(s.alone[:0], n)
}

// all is who runs on some nodes while nobody has left.
func (s *colocated) all(near []cluster.NodeID) []*cluster.Pod {
	s.running = s.running[:0]
	for _, n := range near {
		for _, p := range s.ix.PodsOn(n) {
			s.running = append(s.running, s.ix.Pod(p))
		}
	}
	return s.running
}

// own is who is near node n, to be changed, and where that is noted.
func (s *colocated) own(n cluster.NodeID) ([]*cluster.Pod, cluster.NodeID) {
	near := s.near(n)
	there, changed := s.on[near[0]]
	if !changed {
		there = slices.Clone(s.all(near))
	}
	return there, near[0]
}

func (s *colocated) join(p *cluster.Pod, n, home cluster.NodeID) {
	there, at := s.own(n)
	if s.on[at] = append(there, p); n != home {
		s.guests++
	}
}

func (s *colocated) leave(p *cluster.Pod, n, home cluster.NodeID) {
	there, at := s.own(n)
	i := slices.Index(there, p)
	if i < 0 {
		return // Allows has panicked between, and nobody asks any more
	}
	if s.on[at] = slices.Delete(there, i, i+1); n != home {
		s.guests--
	}
}

func (s *colocated) Remove(p cluster.PodID, n cluster.NodeID) {
	s.leave(s.ix.Pod(p), n, s.ix.NodeOf(p))
}
func (s *colocated) Return(p cluster.PodID, n cluster.NodeID) { s.join(s.ix.Pod(p), n, s.ix.NodeOf(p)) }
func (s *colocated) Place(m MemberID, n cluster.NodeID)       { s.join(s.members[m], n, cluster.NoNode) }
func (s *colocated) Unplace(m MemberID, n cluster.NodeID)     { s.leave(s.members[m], n, cluster.NoNode) }

// Fits asks about fewer than all who run there once, and then about all of them: mostly these do not matter.
func (s *colocated) Fits(m MemberID, n cluster.NodeID) Reason {
	here, fewer := s.asked, s.Monotone && s.guests == 0
	here.member, here.node = m, n
	if s.shown[m] == nil || fewer && s.surely && here == s.asked {
		return Reason{}
	}
	near := s.near(n)
	there, changed := s.on[near[0]]
	if !changed {
		there = s.all(near)
	}
	if !s.Allows(s.shown[m], s.ix.Node(n), there) {
		return Reason{Check: s.Check}
	}
	if changed && fewer && here != s.asked {
		s.asked, s.surely = here, s.Allows(s.shown[m], s.ix.Node(n), s.all(near))
	}
	return Reason{}
}

func (s *colocated) Clone() State {
	c := *s
	c.running, c.on = nil, maps.Clone(s.on)
	for n, there := range c.on {
		c.on[n] = slices.Clone(there)
	}
	return &c
}

func (s *colocated) Scope() Scope {
	return Scope{NodeLocal: s.of == nil, Monotone: s.Monotone, topology: s.of}
}
