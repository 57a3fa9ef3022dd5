package domain

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Concerned is an optional part of a Constraint that declares which pods it has a say about: where it
// concerns no pod of a preemptor, the question is answered as if there were no such constraint,
// at the same cost.
type Concerned interface {
	// Concerns reports whether the constraint may have a say about pod, of which it is shown what
	// [FilterView] leaves. It is a function of that. Prepare returns a nil State where it
	// concerns none of the members.
	Concerns(pod *cluster.Pod) bool
}

// Concerns reports whether c, which may be Concerned, has a say about one of pods.
func Concerns(c Constraint, pods []*cluster.Pod) bool {
	of, declares := c.(Concerned)
	return !declares || slices.ContainsFunc(pods, func(p *cluster.Pod) bool { return of.Concerns(FilterView(p)) })
}

// Colocation is a Constraint that reads a pod, a node and the pods there, and nothing else. What is
// found out about a node holds until that node or one of its pods changes, so that decisions about pods of one template
// are remembered, as those with a [Filter] are. It is immutable.
type Colocation struct {
	Check Check // the name of the constraint, and of its reasons

	// Of says about which pods it has a say, as [Concerned]; nil: about all.
	Of func(pod *cluster.Pod) bool

	// Allows says whether pod, of which it is shown what [FilterView] leaves, may run on node beside
	// others: who runs there without those who are to go, with the pods nominated to it that count and with the members of
	// the gang that are placed. It is a function of these, and not of the order of others, which is good until it
	// returns. Nothing of it may be changed.
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
	s := &colocated{Colocation: c, ix: ix, members: members, shown: make([]*cluster.Pod, len(members)), on: map[cluster.NodeID]*company{}}
	any := false
	for m, p := range members {
		if view := FilterView(p); c.Concerns(view) {
			s.shown[m], any = view, true
		}
	}
	if !any {
		return nil, nil
	}
	return s, nil
}

// colocated is a Colocation in one what-if: what differs, on a node, from what runs there.
type colocated struct {
	Colocation
	ix      *cluster.Index
	members []*cluster.Pod
	shown   []*cluster.Pod // by member; nil: it does not concern that one
	on      map[cluster.NodeID]*company
	others  []*cluster.Pod // buffer of Fits
}

type company struct {
	gone, come []cluster.PodID
	placed     []MemberID
}

// IsColocated reports whether s is the state of a [Colocation].
func IsColocated(s State) bool {
	_, is := s.(*colocated)
	return is
}

func (s *colocated) at(n cluster.NodeID) *company {
	c := s.on[n]
	if c == nil {
		c = &company{}
		s.on[n] = c
	}
	return c
}

// drop takes x off list, if it is there.
func drop[E comparable](list []E, x E) ([]E, bool) {
	i := slices.Index(list, x)
	if i < 0 {
		return list, false
	}
	return slices.Delete(list, i, i+1), true
}

func (s *colocated) Remove(p cluster.PodID, n cluster.NodeID) {
	c, came := s.at(n), false
	if c.come, came = drop(c.come, p); !came {
		c.gone = append(c.gone, p)
	}
}

func (s *colocated) Return(p cluster.PodID, n cluster.NodeID) {
	c, left := s.at(n), false
	if c.gone, left = drop(c.gone, p); !left {
		c.come = append(c.come, p)
	}
}

func (s *colocated) Place(m MemberID, n cluster.NodeID) {
	c := s.at(n)
	c.placed = append(c.placed, m)
}

func (s *colocated) Unplace(m MemberID, n cluster.NodeID) {
	c := s.at(n)
	c.placed, _ = drop(c.placed, m)
}

func (s *colocated) Fits(m MemberID, n cluster.NodeID) Reason {
	if s.shown[m] == nil {
		return Reason{}
	}
	s.others = s.others[:0]
	c := s.on[n]
	for _, p := range s.ix.PodsOn(n) {
		if c == nil || !slices.Contains(c.gone, p) {
			s.others = append(s.others, s.ix.Pod(p))
		}
	}
	if c != nil {
		for _, p := range c.come {
			s.others = append(s.others, s.ix.Pod(p))
		}
		for _, o := range c.placed {
			if o != m {
				s.others = append(s.others, s.members[o])
			}
		}
	}
	if s.Allows(s.shown[m], s.ix.Node(n), s.others) {
		return Reason{}
	}
	return Reason{Check: s.Check}
}

func (s *colocated) Clone() State {
	c := *s
	c.others, c.on = nil, maps.Clone(s.on)
	for n, of := range c.on {
		c.on[n] = &company{slices.Clone(of.gone), slices.Clone(of.come), slices.Clone(of.placed)}
	}
	return &c
}

func (s *colocated) Scope() Scope { return Scope{NodeLocal: true, Monotone: s.Monotone} }
