package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// follow walks a random history of w and compares constraint c with its naive twin
// at every step, for every member that is not placed and on every node.
func follow(t *rapid.T, w *world, c domain.Constraint, compare func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason)) {
	ix, err := cluster.NewIndex(&w.snapshot)
	require.NoError(t, err)
	var members []*cluster.Pod
	for i := range w.members {
		members = append(members, &w.members[i])
	}
	state, err := c.Prepare(ix, members)
	require.NoError(t, err)
	s := newSituation(w)
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		for _, m := range members {
			if _, placed := s.now[nameOf(m)]; placed {
				continue
			}
			for n := range cluster.NodeID(ix.NumNodes()) {
				var got domain.Reason
				if state != nil {
					got = state.Fits(memberOf(members, m), n)
				}
				compare(t, s, m, ix.Node(n).Name, got)
			}
		}
		step(t, ix, members, s, state)
	}
}

func memberOf(members []*cluster.Pod, m *cluster.Pod) domain.MemberID {
	for i := range members {
		if members[i] == m {
			return domain.MemberID(i)
		}
	}
	panic("no such member")
}

// step makes one random change to the situation and tells the state, which may be nil.
func step(t *rapid.T, ix *cluster.Index, members []*cluster.Pod, s *situation, state domain.State) {
	i := rapid.IntRange(0, ix.NumPods()+len(members)-1).Draw(t, "who")
	if i < len(members) {
		name, m := nameOf(members[i]), domain.MemberID(i)
		if at, placed := s.now[name]; placed {
			delete(s.now, name)
			if state != nil {
				state.Unplace(m, ix.NodeByName(at))
			}
			return
		}
		n := cluster.NodeID(rapid.IntRange(0, ix.NumNodes()-1).Draw(t, "node"))
		s.now[name] = ix.Node(n).Name
		if state != nil {
			state.Place(m, n)
		}
		return
	}
	p := cluster.PodID(i - len(members))
	name, home := nameOf(ix.Pod(p)), ix.Pod(p).Node+ix.Pod(p).NominatedNode
	if home == "" {
		return // a member that is listed in the snapshot
	}
	if _, there := s.now[name]; there {
		delete(s.now, name)
		if state != nil {
			state.Remove(p, ix.NodeByName(home))
		}
		return
	}
	s.now[name] = home
	if state != nil {
		state.Return(p, ix.NodeByName(home))
	}
}

type twin func(s *situation, m *cluster.Pod, node string) answer

func agrees(twin twin) func(*rapid.T, *situation, *cluster.Pod, string, domain.Reason) {
	return func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason) {
		require.Equal(t, twin(s, m, node), answer{got.Check, got.Unresolvable}, "%s on %s: %+v", m.Name, node, got)
	}
}

func affinityAgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{affinity: true, maxMembers: 3})
	follow(t, w, domain.InterPodAffinity(), agrees((*situation).affinity))
}

func TestInterPodAffinityAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, affinityAgreesWithTwin) }
func FuzzInterPodAffinityAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(affinityAgreesWithTwin))
}

func affinity136AgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{affinity: true, maxMembers: 3})
	follow(t, w, domain.InterPodAffinity136(), agrees(func(s *situation, m *cluster.Pod, node string) answer {
		s.v136 = true
		return s.affinity(m, node)
	}))
}

func TestInterPodAffinity136AgreesWithItsNaiveTwin(t *testing.T) {
	rapid.Check(t, affinity136AgreesWithTwin)
}
func FuzzInterPodAffinity136AgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(affinity136AgreesWithTwin))
}

func spreadAgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{spread: true, terminating: true, maxMembers: 3})
	follow(t, w, domain.TopologySpread(), agrees((*situation).spread))
}

func TestTopologySpreadAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, spreadAgreesWithTwin) }
func FuzzTopologySpreadAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(spreadAgreesWithTwin))
}

func spreadAnewAgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{spread: true, terminating: true, maxMembers: 2})
	follow(t, w, domain.TopologySpreadAnew(), agrees(func(s *situation, m *cluster.Pod, node string) answer {
		s.anew = true
		return s.spread(m, node)
	}))
}

func TestTopologySpreadAnewAgreesWithItsNaiveTwin(t *testing.T) {
	rapid.Check(t, spreadAnewAgreesWithTwin)
}
func FuzzTopologySpreadAnewAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(spreadAnewAgreesWithTwin))
}

func tokensAgreeWithTwin(t *rapid.T) {
	w := drawWorld(t, features{tokens: true, maxMembers: 3})
	follow(t, w, domain.ExclusiveTokens(), agrees((*situation).tokens))
}

func TestExclusiveTokensAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, tokensAgreeWithTwin) }
func FuzzExclusiveTokensAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(tokensAgreeWithTwin))
}

func devicesAgreeWithTwin(t *rapid.T) {
	w := drawWorld(t, features{devices: true, maxMembers: 3})
	follow(t, w, domain.Devices(), func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason) {
		want, sure := s.devices(m, node)
		if got.Check == domain.CheckDevice && !got.Unresolvable && (!sure || want.unresolvable) {
			return // fractions differ: a way, or that there never is one, may be missed, but nothing is made up
		}
		require.Equal(t, want, answer{got.Check, got.Unresolvable}, "%s on %s: %+v", m.Name, node, got)
	})
}

func TestDevicesAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, devicesAgreeWithTwin) }
func FuzzDevicesAgreesWithItsNaiveTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(devicesAgreeWithTwin)) }
