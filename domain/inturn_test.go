package domain_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tiedMembers are members in two zones, some of which want to be near app=y, away from it, or
// spread with it; of three sets in one all are alike.
func tiedMembers(t *rapid.T) (*domain.GangTrial, []domain.Assignment) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{
		{Name: "n0", Labels: map[string]string{"zone": "a", "host": "0"}}, {Name: "n1", Labels: map[string]string{"zone": "b", "host": "1"}},
		{Name: "n2", Labels: map[string]string{"zone": "b", "host": "2"}},
	}})
	require.NoError(t, err)
	y := map[string]string{"app": "y"}
	on := &disruption.Selector{MatchLabels: y}
	key := rapid.SampledFrom([]string{"zone", "zone", "host"})
	alike := rapid.IntRange(0, 2).Draw(t, "alike") == 0
	var members []*domain.Member
	var pods []*cluster.Pod
	var list []domain.Assignment
	for i := range rapid.IntRange(1, 5).Draw(t, "members") {
		pod := &cluster.Pod{}
		if alike && i > 0 {
			*pod = *pods[0]
		} else {
			if rapid.Bool().Draw(t, "y") {
				pod.Labels = y
			}
			for range rapid.IntRange(0, 2).Draw(t, "wishes") {
				switch rapid.IntRange(0, 2).Draw(t, "wish") {
				case 0:
					pod.Affinity = []cluster.AffinityTerm{{Selector: on, TopologyKey: key.Draw(t, "near")}}
				case 1:
					pod.AntiAffinity = []cluster.AffinityTerm{{Selector: on, TopologyKey: key.Draw(t, "apart")}}
				case 2:
					pod.Spread = append(pod.Spread, cluster.Spread{MaxSkew: 1, TopologyKey: []string{"zone", "host"}[len(pod.Spread)], Selector: on})
				}
			}
		}
		pod.Name = string(rune('a' + i))
		pods, members = append(pods, pod), append(members, domain.NewMember(ix, pod, cluster.NoPod))
		list = append(list, domain.Assignment{Member: domain.MemberID(i), Node: cluster.NodeID(rapid.IntRange(0, 2).Draw(t, "node"))})
	}
	var states []domain.State
	for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.Anew(domain.TopologySpread())} {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	return domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return false }), list
}

// TestPlaceInTurnLooksAtEveryOrder: it places the members if and only if one by one they
// fit in some order.
func TestPlaceInTurnLooksAtEveryOrder(t *testing.T) {
	turned := 0 // the order has to matter
	gen.CheckUntil(t, func(t *rapid.T) {
		trial, list := tiedMembers(t)
		inOrder := func() bool {
			defer trial.UnplaceTo(0)
			for _, a := range list {
				if !trial.CanPlace(a.Member, a.Node).OK() {
					return false
				}
				trial.Place(a.Member, a.Node)
			}
			return true
		}
		given, possible := slices.Clone(list), false
		first := inOrder()
		permutations(list, 0, func() { possible = possible || inOrder() })
		trial.PlaceAll(given)
		trial.Doubt()
		require.Equal(t, possible, trial.Fits().OK(), "once they have a place")
		trial.UnplaceTo(0)
		_, why := trial.PlaceInTurn(given)
		require.Equal(t, possible, why.OK())
		if possible && !first {
			turned++
		}
		if possible {
			require.ElementsMatch(t, given, trial.Assignments())
		} else {
			require.Empty(t, trial.Placed())
		}
	}, &turned)
}

// permutations calls visit for every order of list from position k on.
func permutations[T any](list []T, k int, visit func()) {
	if k == len(list) {
		visit()
	}
	for i := k; i < len(list); i++ {
		list[k], list[i] = list[i], list[k]
		permutations(list, k+1, visit)
		list[k], list[i] = list[i], list[k]
	}
}

// order is a constraint, and its state, that has nothing against anybody, and does not say
// that it would be as well in another order.
type order struct{}

func (order) Name() domain.Check                                           { return "order" }
func (order) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) { return order{}, nil }
func (order) Remove(cluster.PodID, cluster.NodeID)                         {}
func (order) Return(cluster.PodID, cluster.NodeID)                         {}
func (order) Place(domain.MemberID, cluster.NodeID)                        {}
func (order) Unplace(domain.MemberID, cluster.NodeID)                      {}
func (order) Fits(domain.MemberID, cluster.NodeID) (ok domain.Reason)      { return ok }
func (order) Clone() domain.State                                          { return order{} }
func (order) Scope() domain.Scope                                          { return domain.Scope{} }

// after lets a member on a node that the one it needs, if any, is on already.
type after struct {
	order
	needs []domain.MemberID // -1: nobody
	at    []cluster.NodeID
}

func (s *after) Place(m domain.MemberID, n cluster.NodeID)   { s.at[m] = n }
func (s *after) Unplace(m domain.MemberID, _ cluster.NodeID) { s.at[m] = cluster.NoNode }
func (s *after) Scope() domain.Scope                         { return domain.Scope{NodeLocal: true} }
func (s *after) Fits(m domain.MemberID, n cluster.NodeID) (r domain.Reason) {
	if needs := s.needs[m]; needs >= 0 && s.at[needs] != n {
		r.Check = "order"
	}
	return r
}

// TestManyMembersOfNodesFitInAnotherOrder: those who have places fit in some order if PlaceInTurn finds one for all of them.
func TestManyMembersOfNodesFitInAnotherOrder(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0"}, {Name: "n1"}}})
	require.NoError(t, err)
	turned, jammed := 0, 0
	gen.CheckUntil(t, func(t *rapid.T) {
		s := &after{needs: make([]domain.MemberID, 14), at: make([]cluster.NodeID, 14)}
		var members []*domain.Member
		var list []domain.Assignment
		for m := range domain.MemberID(14) {
			members = append(members, domain.NewMember(ix, &cluster.Pod{}, cluster.NoPod))
			list = append(list, domain.Assignment{Member: m, Node: cluster.NodeID(m % 2)})
			s.needs[m] = max(-1, domain.MemberID(rapid.IntRange(-20, 6).Draw(t, "needs"))*2+m%2)
		}
		trial := domain.NewGangTrial(ix, members, []domain.State{s}, func(cluster.PodID) bool { return false })
		trial.PlaceAll(list)
		trial.Doubt()
		fits := trial.Fits().OK()
		require.NotContains(t, s.at, cluster.NoNode, "they are where they were")
		moved := !slices.Equal(list, trial.Assignments())
		trial.UnplaceTo(0)
		_, why := trial.PlaceInTurn(list)
		require.Equal(t, why.OK(), fits)
		if moved {
			turned++
		} else if !fits {
			jammed++
		}
	}, &turned, &jammed)
}

// TestSeatExactGoesBackToTheGivenOrder once it has tried as many others as it may: the first
// member takes the only node of the last one, which shows after all placements of the rest.
func TestSeatExactGoesBackToTheGivenOrder(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.Pods: 1}}}}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	part := seating.Part{Need: seating.ExactMembers}
	for i := range seating.ExactMembers {
		pod := &cluster.Pod{Name: string(rune('a' + i))}
		if i == seating.ExactMembers-1 {
			pod.RequiredNode = "n0"
		}
		members, part.Members = append(members, domain.NewMember(ix, pod, cluster.NoPod)), append(part.Members, domain.MemberID(i))
	}
	trial := domain.NewGangTrial(ix, members, []domain.State{order{}}, func(cluster.PodID) bool { return false })
	d := domain.WholeCluster{}.Split(nil, ix)[0]
	seated, proved := seating.SeatExact(trial, &d, []seating.Part{part}, seating.ExactNodes, func(in []bool) bool { return in[0] }, nil)
	require.True(t, seated)
	require.False(t, proved)
	require.Len(t, trial.Placed(), seating.ExactMembers)
}
