package constrainttest

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// crowd is a correct constraint: at most so many pods on a node, and none beside a
// pod that is called "alone". The fields of its state let a test break it.
type crowd struct {
	most     int
	sabotage func(s *crowdState)
	prepared *int // how often, for faults of the second Prepare
	silent   bool
	broken   error
	touched  bool // changes its input
}

type crowdState struct {
	ix    *cluster.Index
	most  int
	on    []int // pods and members on each node
	calls int
	hooks hooks
}

// hooks replace parts of a crowdState.
type hooks struct {
	remove, give func(s *crowdState, p cluster.PodID, n cluster.NodeID)
	place        func(s *crowdState, m domain.MemberID, n cluster.NodeID)
	fits         func(s *crowdState, m domain.MemberID, n cluster.NodeID) (domain.Reason, bool)
	clone        func(s *crowdState) domain.State
	scope        func(s *crowdState) domain.Scope
	hopeless     func(s *crowdState, m domain.MemberID, n cluster.NodeID) domain.Reason
	touches      func(s *crowdState, n cluster.NodeID) bool
	touchesPod   func(s *crowdState, p cluster.PodID) bool
}

const full domain.Check = "full"

func (crowd) Name() domain.Check { return full }

func (c crowd) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	*c.prepared++
	if c.broken != nil || c.silent && *c.prepared == 1 {
		return nil, c.broken
	}
	if c.touched {
		members[0].Labels = map[string]string{"touched": "yes"}
	}
	s := &crowdState{ix: ix, most: c.most, on: make([]int, ix.NumNodes())}
	for n := range s.on {
		s.on[n] = len(ix.PodsOn(cluster.NodeID(n)))
	}
	if c.sabotage != nil && (c.silent || *c.prepared != 2) {
		c.sabotage(s)
	}
	return s, nil
}

func (s *crowdState) Remove(p cluster.PodID, n cluster.NodeID) {
	if s.hooks.remove != nil {
		s.hooks.remove(s, p, n)
		return
	}
	s.on[n]--
}

func (s *crowdState) Return(p cluster.PodID, n cluster.NodeID) {
	if s.hooks.give != nil {
		s.hooks.give(s, p, n)
		return
	}
	s.on[n]++
}

func (s *crowdState) Place(m domain.MemberID, n cluster.NodeID) {
	if s.hooks.place != nil {
		s.hooks.place(s, m, n)
		return
	}
	s.on[n]++
}

func (s *crowdState) Unplace(_ domain.MemberID, n cluster.NodeID) { s.on[n]-- }

func (s *crowdState) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	if s.hooks.fits != nil {
		if r, done := s.hooks.fits(s, m, n); done {
			return r
		}
	}
	if s.on[n] >= s.most {
		return domain.Reason{Check: full, Unresolvable: s.most == 0}
	}
	return domain.Reason{}
}

func (s *crowdState) Hopeless(m domain.MemberID, n cluster.NodeID) domain.Reason {
	if s.hooks.hopeless != nil {
		return s.hooks.hopeless(s, m, n)
	}
	return domain.Reason{}
}

func (s *crowdState) Touches(n cluster.NodeID) bool {
	return s.hooks.touches == nil || s.hooks.touches(s, n)
}

func (s *crowdState) TouchesPod(p cluster.PodID, n cluster.NodeID) bool {
	return s.hooks.touchesPod == nil || s.hooks.touchesPod(s, p)
}

func (s *crowdState) Clone() domain.State {
	if s.hooks.clone != nil {
		return s.hooks.clone(s)
	}
	c := *s
	c.on = slices.Clone(s.on)
	return &c
}

func (s *crowdState) Scope() domain.Scope {
	if s.hooks.scope != nil {
		return s.hooks.scope(s)
	}
	return domain.Scope{NodeLocal: true, Monotone: true}
}

func testCluster() *cluster.Snapshot {
	return &cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}, {Name: "n2"}},
		Pods: []cluster.Pod{
			{Name: "a", Node: "n1"}, {Name: "b", Node: "n1"}, {Name: "c", Node: "n2"},
			{Name: "expected", NominatedNode: "n2"}, {Name: "new0"},
		},
	}
}

func newMembers() []cluster.Pod { return []cluster.Pod{{Name: "new0"}, {Name: "new1"}} }

func TestACorrectConstraintBreaksNoLaw(t *testing.T) {
	for most := range 4 {
		require.NoError(t, Check(crowd{most: most, prepared: new(int)}, testCluster(), newMembers(), Options{Histories: 30}))
	}
}

func TestEachLawIsFoundBroken(t *testing.T) {
	empty := func(s *crowdState, n cluster.NodeID) bool { return s.on[n] == 0 }
	misfit := domain.Reason{Check: full}
	for _, c := range []struct {
		law        Law
		fault      string
		constraint crowd
		options    Options
	}{
		{LawInput, "labels a member", crowd{most: 2, touched: true}, Options{}},
		{LawRepeat, "the second state is another", crowd{most: 2, sabotage: func(s *crowdState) { s.most = 3 }}, Options{}},
		{LawRepeat, "counts the questions", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.fits = func(s *crowdState, _ domain.MemberID, _ cluster.NodeID) (domain.Reason, bool) {
				s.calls++
				return misfit, s.calls%7 == 0
			}
		}}, Options{}},
		{LawUndo, "forgets to count who returns", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.give = func(*crowdState, cluster.PodID, cluster.NodeID) {}
		}}, Options{}},
		{LawOrder, "remembers the last one placed", crowd{most: 2, sabotage: func(s *crowdState) {
			last := -1
			s.hooks.place = func(s *crowdState, m domain.MemberID, n cluster.NodeID) { s.on[n]++; last = int(m) }
			s.hooks.fits = func(_ *crowdState, m domain.MemberID, _ cluster.NodeID) (domain.Reason, bool) {
				return misfit, int(m) == last
			}
		}}, Options{}},
		{LawClone, "shares its counts with clones", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.clone = func(s *crowdState) domain.State { c := *s; return &c }
		}}, Options{}},
		{LawAnew, "looks back at who was there", crowd{most: 2, sabotage: func(s *crowdState) {
			was := len(s.ix.PodsOn(0))
			s.hooks.fits = func(_ *crowdState, _ domain.MemberID, n cluster.NodeID) (domain.Reason, bool) {
				return misfit, n == 0 && was == 2
			}
		}}, Options{}},
		{LawScope, "changes its mind", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.scope = func(s *crowdState) domain.Scope { return domain.Scope{Monotone: empty(s, 0)} }
		}}, Options{}},
		{LawMonotone, "wants company", crowd{most: 9, sabotage: func(s *crowdState) {
			s.hooks.fits = func(s *crowdState, _ domain.MemberID, n cluster.NodeID) (domain.Reason, bool) {
				return misfit, empty(s, n)
			}
		}}, Options{}},
		{LawNodeLocal, "looks at the first node only", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.fits = func(s *crowdState, _ domain.MemberID, _ cluster.NodeID) (domain.Reason, bool) {
				return misfit, !empty(s, 0)
			}
		}}, Options{}},
		{LawUnresolvable, "gives up too early", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.fits = func(s *crowdState, _ domain.MemberID, n cluster.NodeID) (domain.Reason, bool) {
				return domain.Reason{Check: full, Unresolvable: true}, s.on[n] >= s.most
			}
		}}, Options{}},
		{LawHopeless, "bounds by who is there", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.hopeless = func(s *crowdState, m domain.MemberID, n cluster.NodeID) domain.Reason { return s.Fits(m, n) }
		}}, Options{}},
		{LawTouches, "overlooks a node", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.touches = func(s *crowdState, n cluster.NodeID) bool { return n != 0 }
		}}, Options{}},
		{LawTouches, "overlooks a pod", crowd{most: 2, sabotage: func(s *crowdState) {
			s.hooks.touchesPod = func(s *crowdState, p cluster.PodID) bool { return s.ix.Pod(p).Name != "a" }
		}}, Options{}},
		{LawAnew, "is silent where it has a say", crowd{most: 2, silent: true}, Options{}},
	} {
		t.Run(string(c.law)+"/"+c.fault, func(t *testing.T) {
			c.constraint.prepared = new(int)
			c.options.Histories = 20
			err := Check(c.constraint, testCluster(), newMembers(), c.options)
			require.Error(t, err)
			broken := laws(err)
			require.Contains(t, broken, c.law, "%v", err)
		})
	}
}

func laws(err error) []Law {
	var all []Law
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		b := new(Broken)
		if errors.As(e, &b) {
			all = append(all, b.Law)
		}
	}
	return all
}

func TestFromStartLeavesOutLawAnew(t *testing.T) {
	c := crowd{most: 2, prepared: new(int), sabotage: func(s *crowdState) {
		was := len(s.ix.PodsOn(0))
		s.hooks.fits = func(_ *crowdState, _ domain.MemberID, n cluster.NodeID) (domain.Reason, bool) {
			return domain.Reason{Check: full}, n == 0 && was == 2
		}
	}}
	err := Check(c, testCluster(), newMembers(), Options{FromStart: true, Histories: 20})
	if err != nil {
		require.NotContains(t, laws(err), LawAnew)
	}
}

func TestErrorsOfTheQuestionAreReturned(t *testing.T) {
	bad := errors.New("out of order")
	require.ErrorIs(t, Check(crowd{broken: bad, prepared: new(int)}, testCluster(), newMembers(), Options{}), bad)
	s := testCluster()
	s.Nodes[0].Name = ""
	require.ErrorIs(t, Check(crowd{prepared: new(int)}, s, newMembers(), Options{}), cluster.ErrInvalid)
}

func TestTheHistoryIsToldInWords(t *testing.T) {
	c := crowd{most: 2, prepared: new(int), sabotage: func(s *crowdState) {
		s.hooks.give = func(*crowdState, cluster.PodID, cluster.NodeID) {}
	}}
	err := Check(c, testCluster(), nil, Options{})
	require.NoError(t, err, "without members there is nothing to ask")
	err = Check(c, testCluster(), newMembers(), Options{})
	require.ErrorContains(t, err, "remove /a at n1")
	require.ErrorContains(t, err, "return /a at n1")
}
