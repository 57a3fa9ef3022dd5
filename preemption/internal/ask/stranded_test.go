package ask

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// TestPodsOfAUnitAreCountedOnce: whichever node asks who of a group that goes whole has no other place. Where it goes
// in part, those that go are counted.
func TestPodsOfAUnitAreCountedOnce(t *testing.T) {
	priority, one := int32(1), int32(1)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "all", Mode: disruption.All, MinCount: &one, Priority: &priority}}}
	for i := range 8 {
		n := cluster.Node{Name: fmt.Sprintf("n%d", i), Allocatable: cluster.Resources{cluster.CPU: int64(1 + i/7)}} // one has room
		p := cluster.Pod{Name: fmt.Sprintf("p%d", i), Node: n.Name, Group: "all", Priority: &priority, Requests: cluster.Resources{cluster.CPU: 1}}
		s.Nodes, s.Pods = append(s.Nodes, n), append(s.Pods, p)
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	q := &Question{Settings: &Settings{}, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Priority: 9}
	u, _ := q.Units.UnitOf(0)
	pods := q.Units.Unit(u).Pods
	require.Len(t, pods, 8)
	require.EqualValues(t, 1, q.numStranded(u, pods), "the one beside the room that all others could take")
	require.EqualValues(t, 1, q.numStranded(u, pods[4:]))
	require.EqualValues(t, 0, q.numStranded(u, pods[:4]))
	require.EqualValues(t, 0, q.numInTurn(u, pods), "nobody is less important")

	known, asked := newFates(), 0
	even := func(p cluster.PodID) bool { asked++; return p%2 == 0 }
	for range 5 {
		require.EqualValues(t, 4, known.count(q, u, pods, even))
	}
	require.Equal(t, 8, asked)
	for range 5 {
		require.EqualValues(t, 2, known.count(q, u, pods[:4], even))
	}
	require.Equal(t, 28, asked)
}

// TestAGroupGoesFromEveryNodeThatAConstraintLooksAt: whoever evicts a group of many pods in turn goes to the node of one
// of them, and has all of them out of its way where its anti-affinity looks at them.
func TestAGroupGoesFromEveryNodeThatAConstraintLooksAt(t *testing.T) {
	low, mid, one := int32(1), int32(2), int32(1)
	batch := map[string]string{"app": "batch"}
	apart := []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: batch}}}
	for _, c := range []struct {
		anti   []cluster.AffinityTerm
		mode   disruption.Mode
		inTurn int64
	}{{nil, disruption.All, 1}, {apart, disruption.All, 1}, {nil, disruption.Single, 1}, {apart, disruption.Single, 0}} {
		s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "batch", Mode: c.mode, MinCount: &one, Priority: &low}}}
		for i := range 12 {
			n := cluster.Node{Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{"zone": "z"}, Allocatable: cluster.Resources{cluster.CPU: 1}}
			p := cluster.Pod{Name: fmt.Sprintf("p%02d", i), Node: n.Name, Group: "batch", Labels: batch, Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}}
			s.Nodes, s.Pods = append(s.Nodes, n), append(s.Pods, p)
		}
		s.Nodes = append(s.Nodes, cluster.Node{Name: "own", Allocatable: cluster.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "web", Node: "own", Priority: &mid, AntiAffinity: c.anti, Requests: cluster.Resources{cluster.CPU: 1}})
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		q := &Question{Settings: &Settings{}, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Priority: 9, Constraints: []domain.Constraint{domain.InterPodAffinity()}}
		u, _ := q.Units.UnitOf(ix.PodByName("", "web"))
		require.Equal(t, c.inTurn, q.numInTurn(u, q.Units.Unit(u).Pods), "%+v", c)
	}
}

// TestMovesFollowFromOneAnother: in a line each pod goes to the next node, where the next pod is less important, but
// for the last one, which is empty. How far somebody is from it is how many moves have to follow from its own; where one of
// them never evicts, or nobody may who was evicted, that is no way.
func TestMovesFollowFromOneAnother(t *testing.T) {
	const length = 5
	line := func(never int, settings Settings) *Question {
		s := &cluster.Snapshot{}
		for i := range length + 1 {
			n := cluster.Node{Name: fmt.Sprintf("n%d", i), Allocatable: cluster.Resources{cluster.CPU: 1}, Labels: map[string]string{fmt.Sprintf("of%d", i): "", fmt.Sprintf("of%d", i-1): ""}}
			s.Nodes = append(s.Nodes, n)
			if i == length {
				break
			}
			level := int32(length - i)
			p := cluster.Pod{Name: fmt.Sprintf("p%d", i), Node: n.Name, Priority: &level, Requests: cluster.Resources{cluster.CPU: 1}, NodeSelector: map[string]string{fmt.Sprintf("of%d", i): ""}}
			if i == never {
				p.Policy = priority.Never
			}
			s.Pods = append(s.Pods, p)
		}
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		return &Question{Settings: &settings, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Priority: 9}
	}
	for chain := range length + 1 {
		for never := range length + 1 {
			q, cut := line(never, Settings{Chain: chain}), line(never, Settings{Chain: chain, NoCascade: true})
			for i := range length {
				u, _ := q.Units.UnitOf(q.Index.PodByName("", fmt.Sprintf("p%d", i)))
				pods, further := q.Units.Unit(u).Pods, length-1-i
				lands := further <= chain && (never < i || never >= length-1)
				require.Equal(t, !lands, q.numStranded(u, pods) == 1, "p%d, %d moves, p%d never evicts", i, chain, never)
				require.Equal(t, !lands && never != i && further > 0, q.numInTurn(u, pods) == 1, "p%d, %d moves, p%d never evicts", i, chain, never)
				require.Equal(t, further > 0, cut.numStranded(u, pods) == 1)
				require.Zero(t, cut.numInTurn(u, pods))
			}
		}
	}
}

// TestManyPrioritiesInAChain: of pods of four sizes, in each of more priorities than rooms are kept for, the smallest fit on
// an empty node, and the others where less important ones of these are. Rooms are found for few of the priorities,
// once, although these come up in turn.
func TestManyPrioritiesInAChain(t *testing.T) {
	const levels, sizes = 3 * mostKept, 4
	cores := func(v int64) cluster.Resources { return cluster.Resources{cluster.CPU: v} }
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "empty", Allocatable: cores(sizes)}}}
	for i := range levels * sizes {
		name, level := fmt.Sprintf("%03d", i), int32(i%levels)
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Allocatable: cores(2*sizes - 1)})
		s.Pods = append(s.Pods, cluster.Pod{Name: name, Node: name, Priority: &level, Requests: cores(int64(sizes + i/levels))})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	polls := 0
	q := &Question{Settings: &Settings{Chain: 1}, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Priority: levels, Poll: func() { polls++ }}
	for i := range levels * sizes {
		u, _ := q.Units.UnitOf(ix.PodByName("", fmt.Sprintf("%03d", i)))
		require.Equal(t, i >= levels && i%levels == 0, q.numStranded(u, q.Units.Unit(u).Pods) == 1, i)
	}
	require.LessOrEqual(t, polls, levels*sizes+2*mostKept)
}

// TestRoomsOfLeaversAreThoseThatAreAddedUp: for each pod and reach the units that leave a node, and what is free then, are
// those that come of going through all who may be evicted.
func TestRoomsOfLeaversAreThoseThatAreAddedUp(t *testing.T) {
	const chain, levels = 3, 7
	s := &cluster.Snapshot{}
	for i := range 2 * blockOfNodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("%03d", i), Allocatable: cluster.Resources{cluster.CPU: 10}})
		for k := range i * 7 % 4 {
			level := int32((i + 3*k) % levels)
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprint(i, "-", k), Node: s.Nodes[i].Name, Priority: &level, Requests: cluster.Resources{cluster.CPU: int64(2 + (i*k)%3)},
				NodeSelector: map[string]string{"of": fmt.Sprint(i % 5)},
			})
		}
		s.Nodes[i].Labels = map[string]string{"of": fmt.Sprint(i / 3 % 5)}
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	q := &Question{Settings: &Settings{Chain: chain}, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Priority: 3, Claim: victims.Claim{Priority: 3}}
	q.fatesWithin(0)
	left := 0
	for p := range cluster.PodID(ix.NumPods()) {
		for within := anybody; within <= chain; within++ {
			if within == 0 {
				continue
			}
			by := opener{claim: q.claimOf(p), reach: within}
			room, plain := q.roomsFor(p, within), q.openedFor(by)
			for n := range ix.Nodes() {
				var list []victims.UnitID
				for _, u := range q.EvictableFor(n, by.claim) {
					if within == anybody || q.leaves(u, nearer(within)) {
						list = append(list, u)
					}
				}
				require.ElementsMatch(t, list, q.leavingFor(n, by))
				require.Equal(t, plain.on(n), room.on(n))
				left += len(list)
			}
		}
	}
	require.Positive(t, left)
	for within := reach(1); within <= chain; within++ {
		require.NotNil(t, q.stranded.leavers[within-anybody])
	}
}

// TestKeepForgetsWhenThereAreTooMany: it never has more than it may, and begins anew then.
func TestKeepForgetsWhenThereAreTooMany(t *testing.T) {
	var m map[int]string
	for i := range 10 {
		keep(&m, i, "x", 4)
		require.Len(t, m, i%4+1)
		require.Contains(t, m, i)
	}
}
