package ask

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/reprieve"
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
	q := questionIn(t, s, Settings{})
	u, _ := q.Units.UnitOf(0)
	pods := q.Units.Unit(u).Pods
	require.Len(t, pods, 8)
	require.EqualValues(t, 1, q.numStranded(u, pods), "the one beside the room that all others could take")
	require.EqualValues(t, 1, q.numStranded(u, pods[4:]))
	require.EqualValues(t, 0, q.numStranded(u, pods[:4]))
	require.EqualValues(t, 0, q.numInTurn(u, pods), "nobody is less important")
	require.False(t, q.leaves(u, 0))
	for prio, may := range []bool{false, false, true} {
		require.Equal(t, may, q.May(u, victims.Claim{Priority: int32(prio)}))
	}

	known, asked := q.newFates(), 0
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
		q := questionIn(t, s, Settings{})
		q.Constraints = []domain.Constraint{domain.InterPodAffinity()}
		u := q.unitOf(q.Index.PodByName("", "web"))
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
		return questionIn(t, s, settings)
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

// TestManyPrioritiesInAChain: of pods of four sizes, in each of as many priorities as rooms are kept for, or more, the smallest fit on
// an empty node, and the others where less important ones of these are. Rooms are found for each of the priorities,
// once, although these come up in turn, or for all together, whichever is asked about first.
func TestManyPrioritiesInAChain(t *testing.T) {
	for _, levels := range []int{mostKept / 2, mostKept/2 + 1, 3 * mostKept} {
		manyPrioritiesInAChain(t, levels)
	}
}

func manyPrioritiesInAChain(t *testing.T, levels int) {
	const sizes = 4
	cores := func(v int64) cluster.Resources { return cluster.Resources{cluster.CPU: v} }
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "empty", Allocatable: cores(sizes)}}}
	for i := range levels * sizes {
		name, level := fmt.Sprintf("%03d", i), int32(i%levels)
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Allocatable: cores(2*sizes - 1)})
		s.Pods = append(s.Pods, cluster.Pod{Name: name, Node: name, Priority: &level, Requests: cores(int64(sizes + i/levels))})
	}
	for _, guarded := range []bool{false, true} {
		polls, q := 0, questionIn(t, s, Settings{Chain: 1})
		q.Priority, q.Poll = int32(levels), func() { polls++ }
		if guarded { // nobody, which takes a look at each
			q.Protections = q.Units.Protect(victims.Guards{}, nil)
		}
		for i := range levels * sizes {
			u, _ := q.Units.UnitOf(q.Index.PodByName("", fmt.Sprintf("%03d", i)))
			require.Equal(t, i >= levels && i%levels == 0, q.numStranded(u, q.Units.Unit(u).Pods) == 1, i)
		}
		require.LessOrEqual(t, polls, levels*sizes+2*mostKept)
		if guarded && levels > mostKept/2 {
			require.Len(t, q.stranded.opened, 1)
		} else {
			require.Len(t, q.stranded.opened, levels)
		}
	}
}

// TestRoomsOfLeaversAreThoseThatAreAddedUp: for each pod and reach the units that leave a node, and what is free then, are
// those that come of going through all who may be evicted.
func TestRoomsOfLeaversAreThoseThatAreAddedUp(t *testing.T) {
	const chain, levels = 3, 7
	s := &cluster.Snapshot{}
	for i := range 2 * blockOfNodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("%03d", i), Allocatable: cluster.Resources{cluster.CPU: 10}})
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: fmt.Sprint(i), Mode: disruption.All})
		for k := range 2 + i%2 {
			level := int32((i + 3*k) % levels)
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprint(i, "-", k), Node: s.Nodes[i].Name, Priority: &level, Requests: cluster.Resources{cluster.CPU: int64(3 + (i+k)%3)},
				NodeSelector: map[string]string{"of": fmt.Sprint(i % 5)}, Labels: map[string]string{"app": []string{"web", "db"}[i%2]},
			})
			if i%4 < 2 && k == 0 { // goes together with one of the next node
				s.Pods[len(s.Pods)-1].Group = fmt.Sprint(i - i%2)
			}
		}
		s.Nodes[i].Labels = map[string]string{"of": fmt.Sprint(i / 3 % 5)}
	}
	for _, protect := range []*disruption.Selector{nil, {MatchLabels: map[string]string{"app": "db"}}} {
		q := questionIn(t, s, Settings{Chain: chain})
		q.Priority, q.Claim = 3, victims.Claim{Priority: 3}
		if protect != nil {
			q.Protections = q.Units.Protect(victims.Guards{Protect: protect}, nil)
		}
		q.fatesWithin(0)
		left, stay, polls := 0, 0, 0
		q.Poll = func() { polls++ }
		q.roomsFor(0, anybody)
		require.Equal(t, 1, polls)
		for p := range cluster.PodID(q.Index.NumPods()) {
			for within := anybody; within <= chain; within++ {
				if within == 0 {
					continue
				}
				by := opener{claim: q.claimOf(p), reach: within}
				room, before := q.roomsFor(p, within), polls
				plain := q.openedFor(by)
				require.Equal(t, before+1, polls)
				for n := range q.Index.Nodes() {
					var list []victims.UnitID
					for _, u := range q.EvictableFor(n, by.claim) {
						if within == anybody || !slices.ContainsFunc(q.Units.Unit(u).Pods, func(p cluster.PodID) bool { return q.isStranded(p, nearer(within)) }) {
							list = append(list, u)
						} else {
							stay++
						}
					}
					require.ElementsMatch(t, list, q.leavingFor(n, by))
					for r := range cluster.ResourceID(q.Index.NumResources()) {
						require.Equal(t, plain.on(n, r), room.on(n, r))
					}
					left += len(list)
				}
			}
		}
		require.Positive(t, left)
		require.Positive(t, stay)
		for within := reach(1); within <= chain; within++ {
			require.Equal(t, protect == nil, q.stranded.leavers[within-anybody] != nil)
		}
	}
}

// TestWhoHasAnotherPlaceBesideTermsIsWhoFitsSomewhere: pods that are tied to others of a rack, or of all the cluster, have another place
// within a reach where some node takes them once whoever may leave it has, each of them asked likewise, one node after the other.
func TestWhoHasAnotherPlaceBesideTermsIsWhoFitsSomewhere(t *testing.T) {
	const chain = 2
	told := map[bool]int{}
	for seed := range uint64(600) {
		r, s := rand.New(rand.NewPCG(seed, 1)), &cluster.Snapshot{}
		for i := range 6 {
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 4}, Labels: map[string]string{"rack": fmt.Sprint(i / 2), "all": "", "host": fmt.Sprint(i)},
			})
		}
		some := func() *disruption.Selector {
			return &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprint(r.IntN(3))}}
		}
		key := func() string { return []string{"rack", "rack", "all", "host"}[r.IntN(4)] }
		one := int32(1)
		for i := range 3 {
			level := int32(r.IntN(4))
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: fmt.Sprint(i), Mode: []disruption.Mode{disruption.All, disruption.Single}[r.IntN(2)], MinCount: &one, Priority: &level})
		}
		for i := range 14 {
			level := int32(r.IntN(4))
			p := cluster.Pod{Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", r.IntN(6)), Priority: &level, Requests: cluster.Resources{cluster.CPU: int64(1 + r.IntN(2))}, Labels: map[string]string{"app": fmt.Sprint(i % 3)}}
			if i < 6 {
				p.Group, p.Priority = fmt.Sprint(i/2), nil
			}
			switch r.IntN(6) {
			case 0, 1, 2:
				p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key(), Selector: some()}}
			case 3:
				p.Affinity = []cluster.AffinityTerm{{TopologyKey: key(), Selector: some()}}
			case 4:
				p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: key(), Selector: some()}}
			}
			s.Pods = append(s.Pods, p)
		}
		if seed%3 == 0 { // is expected on a node
			s.Pods = append(s.Pods, cluster.Pod{Name: "nominee", NominatedNode: "n1", Priority: &one, Labels: map[string]string{"app": "1"}, AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "rack", Selector: some()}}})
		}
		q := questionIn(t, s, Settings{Chain: chain})
		q.Constraints = []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()}
		known := map[asksOf]bool{}
		for p := range cluster.PodID(14) {
			for within := anybody; within <= chain; within++ {
				want := q.fitsNowhere(p, within, known)
				require.Equal(t, want, q.isStranded(p, within), "seed %d: %s within %d", seed, q.Index.Pod(p).Name, within)
				told[want]++
			}
		}
	}
	require.Greater(t, told[true], 6000)
	require.Greater(t, told[false], 6000)
}

type asksOf struct {
	p      cluster.PodID
	within reach
}

// fitsNowhere is isStranded, on one node after the other.
func (q *Question) fitsNowhere(p cluster.PodID, within reach, known map[asksOf]bool) bool {
	if no, ok := known[asksOf{p, within}]; ok {
		return no
	}
	var states []domain.State
	for _, c := range q.Constraints {
		if s, err := c.Prepare(q.Index, []*cluster.Pod{q.Index.Pod(p)}); err == nil && s != nil {
			states = append(states, s)
		}
	}
	trial := domain.NewNodeTrial(q.Index, q.NewMember(q.Index.Pod(p), p), states, domain.Nominees{Self: p, Priority: q.Index.Priority(p)})
	no := within == 0 || q.fitsNowhere(p, nearer(within), known)
	for n := range q.Index.Nodes() {
		if n == q.Index.NodeOf(p) || !no {
			continue
		}
		trial.Reset(n)
		trial.Remove(p)
		for _, u := range q.EvictableFor(n, q.claimOf(p)) {
			stays := func(p cluster.PodID) bool { return within != anybody && q.fitsNowhere(p, nearer(within), known) }
			if pods := q.Units.Unit(u).Pods; within != 0 && u != q.unitOf(p) && !slices.ContainsFunc(pods, stays) {
				for _, p := range pods {
					trial.Remove(p)
				}
			}
		}
		no = !trial.Fits().OK()
	}
	known[asksOf{p, within}] = no
	return no
}

// TestPodsOfAUnitThatMayEvictOthersOfIt: they do not, for themselves: those of one size find the same nodes, at once, and of a large unit only nodes are
// looked at on which others leave room.
func TestPodsOfAUnitThatMayEvictOthersOfIt(t *testing.T) {
	told := map[bool]int{}
	for seed := range uint64(12) {
		r, s, low, high, sizes := rand.New(rand.NewPCG(seed, 6)), &cluster.Snapshot{}, int32(0), int32(3), 1+int(seed%4)
		s.PodGroups = []cluster.PodGroup{{Name: "g", Mode: disruption.All, Priority: &low}, {Name: "h", Mode: disruption.All, Priority: &low}}
		for i := range manyOwn + 2 + 4*int(seed%2) {
			n := fmt.Sprint("n", i)
			s.Nodes = append(s.Nodes, cluster.Node{Name: n, Allocatable: cluster.Resources{cluster.CPU: 9}})
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Group: "gh"[i%40/39:][:1], Node: n, Priority: &high, Requests: cluster.Resources{cluster.CPU: int64(5 + r.IntN(sizes))}})
			if level := int32(r.IntN(5)); r.IntN(20) < int(seed) {
				s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("q", i), Node: n, Priority: &level, Requests: cluster.Resources{cluster.CPU: int64(1 + r.IntN(4))}})
			}
		}
		polls, q, known := 0, questionIn(t, s, Settings{Chain: 1}), map[asksOf]bool{}
		q.Poll = func() { polls++ }
		for p := range cluster.PodID(len(s.Pods)) {
			for within := anybody; within <= 1; within++ {
				want := q.fitsNowhere(p, within, known)
				require.Equal(t, want, q.isStranded(p, within), "seed %d: %s within %d", seed, q.Index.Pod(p).Name, within)
				told[want]++
			}
			own, cpu, room := q.unitOf(p), cluster.ResourceID(0), q.roomsFor(p, anybody)
			for n := range q.Index.Nodes() {
				free := int64(-1)
				for i, u := range q.EvictableFor(n, q.claimOf(p)) {
					if i == 0 {
						free = q.Index.Free(n)[cpu]
					}
					if u != own || len(q.Units.Unit(own).Pods) <= manyOwn {
						free += q.leftBy(u, n, cpu)
					}
				}
				require.Equal(t, free, room.on(n, cpu), "seed %d: %s", seed, q.Index.Pod(p).Name)
			}
		}
		require.Less(t, polls, 60, "seed %d", seed)
	}
	require.Equal(t, map[bool]int{false: 1455, true: 1632}, told)
}

// TestRoomsBeyondWhatIsKeptAreForgotten: once more amounts are looked at than are kept, those before them are, and looked at anew.
func TestRoomsBeyondWhatIsKeptAreForgotten(t *testing.T) {
	level := int32(1)
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 4}}}}
	s.Pods = []cluster.Pod{{Name: "p", Node: "n", Priority: &level, Requests: cluster.Resources{cluster.CPU: 3}}}
	q := questionIn(t, s, Settings{Chain: 1})
	q.Priority, q.Claim = 3, victims.Claim{Priority: 3}
	q.fatesWithin(0)
	cpu, _ := q.Index.Column(cluster.CPU)
	free, by := q.roomsFor(0, 0), opener{claim: victims.Claim{Priority: 2}, reach: anybody}
	l := q.leaversFor(by)
	require.EqualValues(t, 1, q.blockOf(free, &need{of: cpu, blocks: make([]*block, 1)}, 0).most)
	require.EqualValues(t, 4, q.freeBelow(l, 0, cpu, 2))
	keep(&q.stranded.opened, by, free, mostKept)
	for _, amounts := range []int{mostAmounts - blockOfNodes, mostAmounts - blockOfNodes + 1} {
		forgotten := amounts > mostAmounts-blockOfNodes
		q.stranded.amounts = amounts
		require.EqualValues(t, 1, q.blockOf(free, &need{of: cpu, blocks: make([]*block, 1)}, 0).most)
		require.Equal(t, forgotten, q.stranded.free == nil)
		require.Equal(t, forgotten, len(q.stranded.opened)+len(l.free) == 0)
	}
	require.Equal(t, blockOfNodes, q.stranded.amounts)
	require.EqualValues(t, 4, q.freeBelow(l, 0, cpu, 2))
	require.NotSame(t, free, q.roomsFor(0, 0))
}

// TestShapesTellPodsApart: pods of one shape, or whose constraints are prepared once, are alike in all that decides where they
// fit; those of which a constraint of the user's may read anything have no shape.
func TestShapesTellPodsApart(t *testing.T) {
	level := int32(1)
	alike := func(p *cluster.Pod) {}
	differ := []func(p *cluster.Pod){
		alike,
		func(p *cluster.Pod) { p.NodeSelector["zone"] = "b" },
		func(p *cluster.Pod) { p.NodeSelector = map[string]string{"rack": "a"} },
		func(p *cluster.Pod) { p.Labels["app"] = "db" }, // which no term is against
		func(p *cluster.Pod) { p.Requests = cluster.Resources{cluster.CPU: 2} },
		func(p *cluster.Pod) { other := level + 1; p.Priority = &other },
		func(p *cluster.Pod) { p.RequiredNode = "n" },
		func(p *cluster.Pod) { p.Tolerations[0].Key = "other" },
		func(p *cluster.Pod) { p.Tolerations[0].Value = "other" },
		func(p *cluster.Pod) { p.Tolerations[0].Effect = cluster.NoExecute },
		func(p *cluster.Pod) { p.Ports[0].Port++ },
		func(p *cluster.Pod) { p.Ports[0].Protocol = "UDP" },
		func(p *cluster.Pod) { p.Ports[0].IP = "127.0.0.1" },
		func(p *cluster.Pod) { p.Namespace = "other" },
		func(p *cluster.Pod) { p.Devices[0].Count++ },
		func(p *cluster.Pod) { p.Devices[0].Resource = "tpu" },
		func(p *cluster.Pod) { p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: 1}} },
		func(p *cluster.Pod) { p.RanSeconds++ },
		func(p *cluster.Pod) { p.Evictions = []time.Time{time.Unix(9, 0)} },
	}
	s := &cluster.Snapshot{Time: time.Unix(99, 0), Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 1024, Capacity: 9}, "tpu": {Count: 1024, Capacity: 9}}}}}
	apart := []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{
		MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.NotIn, Values: []string{"db"}}, {Key: "b", Operator: disruption.DoesNotExist}},
	}}}
	spread := []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone"}}
	for i, change := range append(slices.Repeat(differ, 2),
		func(p *cluster.Pod) { p.NodeAffinity = &cluster.NodeAffinity{} }, func(p *cluster.Pod) { p.Affinity, p.AntiAffinity, p.Devices = apart, apart, nil },
		func(p *cluster.Pod) { p.Affinity, p.Spread, p.Devices = apart, spread, nil }, func(p *cluster.Pod) { p.Affinity, p.Tokens, p.Devices = apart, []string{"t"}, nil },
		func(p *cluster.Pod) { p.Affinity = apart },
	) {
		s.Pods = append(s.Pods, cluster.Pod{
			Name: fmt.Sprintf("%02d", i), Node: "n", Priority: &level, NodeSelector: map[string]string{"zone": "a"}, RanSeconds: 1,
			Labels: map[string]string{"app": "web", "a": fmt.Sprint("is read by no term ", i)}, Requests: cluster.Resources{cluster.CPU: 1}, Tolerations: []cluster.Toleration{{Key: "key", Value: "value"}}, Ports: []cluster.HostPort{{Port: 1}},
			Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}, Annotations: map[string]string{"nobody": fmt.Sprint("reads ", i)},
		})
		change(&s.Pods[i])
	}
	q, of := questionIn(t, s, Settings{}), map[int32]int{}
	q.Protections = q.Units.Protect(victims.Guards{EqualAfterSeconds: 9}, nil) // who ran for how long makes a difference
	q.fatesWithin(0)
	for i := range 2 * len(differ) {
		shape := q.shapeOf(q.Index.PodByName(s.Pods[i].Namespace, s.Pods[i].Name))
		require.Positive(t, shape)
		if i < len(differ) {
			require.NotContains(t, of, shape, i)
			of[shape] = i
		}
		require.Equal(t, i%len(differ), of[shape])
	}
	for i := 2 * len(differ); i < len(s.Pods); i++ {
		require.Negative(t, q.shapeOf(q.Index.PodByName("", s.Pods[i].Name)))
	}

	c := &asked{}
	q = questionIn(t, s, Settings{OwnConstraints: []domain.Constraint{c}})
	q.Constraints = q.OwnConstraints
	q.fatesWithin(0)
	for p := range cluster.PodID(q.Index.NumPods()) {
		require.Negative(t, q.shapeOf(p))
		q.statesOf(q.Index.Pod(p))
		require.EqualValues(t, p+1, c.times)
	}
}

// TestStatesAreAskedForOnceForWhatTermsRead: constraints are prepared anew for a pod that has another label, if one of its terms reads that.
func TestStatesAreAskedForOnceForWhatTermsRead(t *testing.T) {
	reading := func(key string) *disruption.Selector {
		return &disruption.Selector{MatchLabels: map[string]string{key: "v"}, MatchExpressions: []disruption.Requirement{{Key: key + "2", Operator: disruption.Exists}}}
	}
	term := func(key string) []cluster.AffinityTerm {
		return []cluster.AffinityTerm{{TopologyKey: "zone", Selector: reading(key), MatchLabelKeys: []string{key + "3"}, MismatchLabelKeys: []string{key + "4"}}}
	}
	c, q := &asked{}, questionIn(t, &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n"}}}, Settings{})
	q.Constraints = []domain.Constraint{c}
	q.fatesWithin(0)
	for i, key := range []string{"", "other", "a", "a2", "a3", "a4", "b", "b2", "b3", "b4", "c", "c2", "c3"} {
		pod := &cluster.Pod{Labels: map[string]string{key: "v"}, Affinity: term("a"), AntiAffinity: term("b"), Spread: []cluster.Spread{{Selector: reading("c"), MatchLabelKeys: []string{"c3"}}}}
		q.statesOf(pod)
		require.Equal(t, max(i, 1), c.times, key)
	}
	spread, tokens := []cluster.Spread{{Selector: reading("c")}}, []string{"t"}
	for _, pod := range []cluster.Pod{{Spread: spread, Tokens: tokens}, {Tokens: tokens, Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}}} {
		before := c.times
		q.statesOf(&pod)
		require.Equal(t, before+1, c.times)
	}
}

// TestWhatTermsAreComparedWithIsCounted: label sets with which a pod's own terms are, terms of others with which it is, and who has those against it.
func TestWhatTermsAreComparedWithIsCounted(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.Pods: 110}}}}
	for i := range 100 {
		self := fmt.Sprint(i)
		not := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "i", Operator: disruption.NotIn, Values: []string{self}}}}
		p := cluster.Pod{Name: self, Node: "n", Labels: map[string]string{"i": self}, AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "rack", Selector: not}}}
		if i == 0 {
			p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "rack", Selector: not}}
		}
		s.Pods = append(s.Pods, p)
	}
	q := questionIn(t, s, Settings{})
	q.Compared = &Compared{}
	q.Constraints = []domain.Constraint{domain.TopologySpread(), domain.InterPodAffinity()}
	q.fatesWithin(0)
	for i, much := range []int{200 + 100 + 99, 100 + 100 + 99} {
		before := q.Compared.total
		for range 2 {
			q.statesOf(q.Index.Pod(q.Index.PodByName("", fmt.Sprint(i))))
		}
		require.Equal(t, much, q.Compared.total-before)
	}
}

// asked is a constraint that counts how often it is prepared.
type asked struct {
	domain.Constraint
	times int
}

func (c *asked) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.times++
	return nil, nil
}

// TestSeatsAreCountedAsComparisons: to see that a fraction of devices has no seat on nodes of many, once for pods that differ in their priority,
// whichever copy of the question asks.
func TestSeatsAreCountedAsComparisons(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 1200 {
		if i%200 == 0 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i/200), Devices: map[string]cluster.DevicePool{"gpu": {Count: 100, Capacity: 1000}}, Allocatable: cluster.Resources{cluster.CPU: 2}})
		}
		level := int32(i % 3)
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: fmt.Sprint("n", i/200), Priority: &level, Requests: cluster.Resources{cluster.CPU: int64(i / 1194)}, Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: int64(340 + i%2)}}})
	}
	q := questionIn(t, s, Settings{})
	q.Constraints, q.Compared = []domain.Constraint{domain.Devices()}, new(Compared)
	for _, c := range []struct {
		of      *Question
		p       string
		counted int // times seats were counted on a node
	}{{q, "0", 6}, {q, "2", 6}, {q.Clone(), "4", 6}, {q, "1", 12}, {q, "1194", 17}} { // the last asks for cores as well, which its own node lacks
		require.True(t, c.of.isStranded(q.Index.PodByName("", c.p), 0))
		require.Equal(t, c.counted*seatsALook, q.Compared.total)
	}
}

// TestWhoAsksFirstCountsAlike: where pods evict by a higher priority than they go by, and than the preemptor's, too.
func TestWhoAsksFirstCountsAlike(t *testing.T) {
	s := &cluster.Snapshot{}
	level, low := []int32{3, 12, 15}, int32(1)
	for i := range 1200 {
		if i%200 == 0 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i/200), Devices: map[string]cluster.DevicePool{"gpu": {Count: 100, Capacity: 1000}}})
		}
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: fmt.Sprint("n", i/200), Priority: &level[i%3], Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: int64(340 + i%3)}}})
	}
	s.PodGroups = []cluster.PodGroup{{Name: "g", Mode: disruption.All, Priority: &low}}
	s.Pods[1].Group, s.Pods[4].Group = "g", "g"
	for _, order := range [][]string{{"0", "1"}, {"1", "0"}, {"1"}} {
		q := questionIn(t, s, Settings{Chain: 1})
		q.Claim.Priority, q.Constraints, q.Compared = 10, []domain.Constraint{domain.Devices()}, new(Compared)
		for _, p := range order {
			require.True(t, q.Clone().isStranded(q.Index.PodByName("", p), 1))
		}
		require.Equal(t, 288, q.Compared.total, order)
	}
}

// TestHowImportantMattersBesideNominatedPods: as things stand, a pod fits beside one that is expected there and less important, not beside one that is
// more.
func TestHowImportantMattersBesideNominatedPods(t *testing.T) {
	level := []int32{1, 5, 3}
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 4}}, {Name: "m", Allocatable: cluster.Resources{cluster.CPU: 2}}}}
	for i := range 3 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: "n", Priority: &level[i], Requests: cluster.Resources{cluster.CPU: 2}})
	}
	s.Pods[2].Node, s.Pods[2].NominatedNode = "", "m"
	for _, order := range [][]cluster.PodID{{0, 1}, {1, 0}} {
		q := questionIn(t, s, Settings{})
		for _, p := range order {
			require.Equal(t, level[p] == 1, q.isStranded(q.Index.PodByName("", fmt.Sprint(p)), 0))
		}
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

// TestRecentFindsOnceWhatIsAskedForAgain: what is asked for again soon is not looked for anew, what is not is forgotten.
func TestRecentFindsOnceWhatIsAskedForAgain(t *testing.T) {
	var r recent[int, int]
	found := map[int]int{}
	for i := range 60 {
		for _, k := range []int{0, i / 2} {
			require.Equal(t, -k, r.of(k, 2, 8, func() int { found[k]++; return -k }))
		}
		require.LessOrEqual(t, len(r.now)+len(r.before), 8)
	}
	require.Equal(t, 1, found[0])
	require.Equal(t, 1, found[29])
	r.of(1, 2, 8, func() int { found[1]++; return -1 })
	require.Equal(t, 2, found[1])
}

// TestWhatIsComparedIsCountedOnce: by whichever copy of a question, and what is hardly anything not at all; too much is an error.
func TestWhatIsComparedIsCountedOnce(t *testing.T) {
	held := cluster.Pod{Name: "p", Node: "n", Tokens: []string{"x", "y"}}
	q := questionIn(t, &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n"}}, Pods: []cluster.Pod{held, {Name: "q", Tokens: []string{"x"}}}}, Settings{})
	require.Equal(t, 3, q.met([]*cluster.Pod{&held, {Tokens: []string{"z"}}}), "pods with tokens")
	q.Compared = &Compared{}
	var together sync.WaitGroup
	for _, q := range []*Question{q, q.Clone()} {
		together.Go(func() {
			q.compare("a", mostCompared-fewCompared-1)
			q.compare("b", fewCompared)
			q.compare("c", fewCompared+1)
		})
	}
	together.Wait()
	defer func() { require.ErrorIs(t, recover().(*ranges.Stop).Err, cluster.ErrInvalid) }()
	q.compare("d", fewCompared+1)
	t.Fatal("one too many")
}

// TestNominatedTermsCountBesideOnesThatHoldNow: those of pods that are only nominated are looked at where a term of one that runs holds as well, which it
// does not on a node without its key.
func TestNominatedTermsCountBesideOnesThatHoldNow(t *testing.T) {
	for key, stays := range map[string]bool{"rack": false, "host": true} {
		low, high := int32(1), int32(5)
		apart := []cluster.AffinityTerm{{TopologyKey: "rack", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "v"}}}}
		room := cluster.Resources{cluster.CPU: 2, cluster.Pods: 9}
		s := &cluster.Snapshot{Nodes: []cluster.Node{
			{Name: "bare", Allocatable: room, Labels: map[string]string{"host": "b"}, Unschedulable: true},
			{Name: "own", Allocatable: room, Labels: map[string]string{"rack": "o"}},
			{Name: "other", Allocatable: room, Labels: map[string]string{"rack": "a"}},
		}}
		of := apart[0]
		of.TopologyKey = key
		s.Pods = []cluster.Pod{
			{Name: "v", Node: "own", Priority: &low, Labels: map[string]string{"app": "v"}},
			{Name: "x", Node: "bare", Priority: &high, AntiAffinity: []cluster.AffinityTerm{of}},
			{Name: "y", NominatedNode: "other", Priority: &high, AntiAffinity: apart},
		}
		q := questionIn(t, s, Settings{})
		q.Constraints = []domain.Constraint{domain.InterPodAffinity()}
		require.Equal(t, stays, q.isStranded(q.Index.PodByName("", "v"), 0), key)
	}
}

// questionIn is a question of that priority in s.
func questionIn(t *testing.T, s *cluster.Snapshot, settings Settings) *Question {
	t.Helper()
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	return &Question{Settings: &settings, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Priority: 9}
}

func TestBoundOfAReason(t *testing.T) {
	for _, b := range []Bound{{Of: NumUnits}, {Of: NumPods, Window: true}, {Of: Price}, {Of: NumStranded}, {Of: Charges, Budget: 3}} {
		got, ok := BoundOf(Beyond([]Excess{{Bound: b, Amount: 1}}, reprieve.Refuted))
		require.True(t, ok)
		require.Equal(t, b, got)
	}
	for _, why := range []domain.Reason{{}, {Check: NoVictims, Missing: 3}, Beyond(nil, reprieve.Refuted)} {
		_, ok := BoundOf(why)
		require.False(t, ok, "%v", why)
	}
	require.Equal(t, NotProved, Beyond(nil, reprieve.Exhausted).Detail)
	require.Empty(t, Beyond(nil, reprieve.Refuted).Detail)
}

func TestStepsLeft(t *testing.T) {
	for _, c := range []struct{ most, taken, left int }{
		{10, 0, 50}, {10, 20, 30}, {10, 50, 0}, {10, 60, 0}, {0, 0, 0}, {math.MaxInt, 5, math.MaxInt}, {math.MaxInt / 5, 0, math.MaxInt / 5 * 2},
		{8_000, 0, 40_000}, {8_001, 0, 40_000}, {20_000, 0, 40_000}, {20_001, 0, 40_002}, {20_000, 50_000, 0},
	} {
		require.Equal(t, c.left, StepsLeft(c.most, c.taken), "%+v", c)
	}
}

// TestTraitsOfSettings: each setting has its own, and leads to no other; a scan is closed by whatever a sweep is, and by some more.
func TestTraitsOfSettings(t *testing.T) {
	for _, c := range []struct {
		s    Settings
		want Traits
	}{
		{Settings{Proof: true, Declared: true, RepeatOfGang: true}, 0}, {Settings{Lowest: true}, TraitLowest}, {Settings{BrokenFree: true}, TraitBrokenFree},
		{Settings{Effort: Improved}, TraitSearch}, {Settings{Compare: victims.Ranking{}}, TraitRanking},
		{Settings{OwnLiking: func(*cluster.Index, *cluster.Pod, cluster.NodeID) int64 { return 0 }}, TraitRanking},
		{Settings{Hooks: true}, TraitHooks}, {Settings{Hooks: true, Declared: true}, 0}, {Settings{Sampling: &Sampling{}}, TraitSampling},
		{Settings{Candidates: true}, TraitCandidates}, {Settings{Trace: true}, TraitTrace}, {Settings{Mobile: true}, TraitMoving},
		{Settings{Mobile: true, RepeatOfGang: true}, TraitMoving | TraitRepeat},
	} {
		require.Equal(t, c.want, c.s.Traits(), "%+v", c.s)
	}
	for c, want := range map[victims.Criterion]Traits{
		victims.CriterionPods: 0, victims.CriterionCost: 0, victims.CriterionUnits: TraitSets, victims.CriterionGroups: TraitSets, victims.CriterionOverruns: TraitSets,
		victims.CriterionStranded: TraitSets | TraitElsewhere, victims.CriterionCascade: TraitSets | TraitElsewhere,
		victims.CriterionLevels: TraitSets | TraitElsewhere, victims.CriterionNodes: TraitSets | TraitElsewhere,
	} {
		s := Settings{Ranking: victims.Ranking{c}}
		require.Equal(t, TraitRanking|want, s.Traits(), c)
	}
	for trait := Traits(1); trait <= TraitOwn; trait <<= 1 {
		more := trait&(TraitConstraints|TraitColocation|TraitSampling|TraitCandidates|TraitTrace) != 0
		require.Equal(t, BySweep.Leads(trait) && !more, ByScan.Leads(trait), trait)
	}
	require.Equal(t, domain.Pack{}, (&Settings{Placers: []domain.Placer{domain.Pack{}}}).Chosen())
	require.Nil(t, (&Settings{Placers: make([]domain.Placer, 2)}).Chosen(), "several are no choice")
}

// twoGroups are one that goes whole and one whose pods go one by one, each of so many.
func twoGroups(pods int) *cluster.Snapshot {
	low := int32(1)
	s := &cluster.Snapshot{
		PodGroups: []cluster.PodGroup{{Name: "whole", Mode: disruption.All, Priority: &low}, {Name: "single", Mode: disruption.Single, Priority: &low}},
		Nodes:     []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 9}}},
	}
	for _, g := range []string{"whole", "single"} {
		for i := range pods {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(g, i), Group: g, Node: "n", Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
		}
	}
	return s
}

// TestWhatPartsMayCostLess: of the user's own prices that of several pods may be less than all of theirs, of what is counted not. Pods that
// go one by one touch their group once together, one that goes whole has nobody to share it with.
func TestWhatPartsMayCostLess(t *testing.T) {
	for _, own := range []bool{false, true} {
		q := questionIn(t, twoGroups(2), Settings{OwnPrices: own})
		r := reprieve.NewRunner(q.Units, victims.NewBudgets(q.Index, disruption.Rule137))
		for c, loose := range map[victims.Criterion]bool{
			victims.CriterionCost: own, victims.CriterionPods: false, victims.CriterionSum: false, victims.CriterionUnits: true, victims.CriterionViolations: true, victims.CriterionGroups: true,
		} {
			aim := q.aim(r, c, nil, nil)
			require.Equal(t, loose, aim.Loose, "%s, own prices %t", c, own)
			require.Equal(t, c == victims.CriterionGroups, aim.Kin != nil, c)
			whole, single := q.unitOf(q.Index.PodByName("", "whole0")), q.unitOf(q.Index.PodByName("", "single1"))
			if aim.Kin != nil {
				require.EqualValues(t, cluster.NoGroup, aim.Kin(whole))
				require.EqualValues(t, q.Index.GroupOf(q.Index.PodByName("", "single0")), aim.Kin(single))
			} else if c == victims.CriterionUnits {
				require.EqualValues(t, 1, aim.Sum(single, nil))
			}
		}
	}
}

// TestWhatIsKnownOfUnits: when the part began that goes of an elastic one is not known from the whole, nor who is the most important
// where they are unequal, nor what is in use where they, or the preemptor's, are on several nodes; and of devices never.
func TestWhatIsKnownOfUnits(t *testing.T) {
	one, high := int32(1), int32(7)
	for kind, change := range map[victims.Criterion]func(s *cluster.Snapshot){
		"": func(*cluster.Snapshot) {}, "gang": func(*cluster.Snapshot) {}, victims.CriterionNodes: func(s *cluster.Snapshot) { s.Pods[1].Node = "m" },
		victims.CriterionStarted: func(s *cluster.Snapshot) {
			s.PodGroups[0].Mode, s.PodGroups[0].MinCount = disruption.SurplusFirst, &one
		},
		victims.CriterionHighest: func(s *cluster.Snapshot) { s.Pods[1].Priority = &high },
	} {
		for _, ranking := range []victims.Ranking{
			{victims.CriterionHighest, victims.CriterionPods, victims.CriterionStarted, victims.CriterionNodes, victims.CriterionDevices},
			{victims.CriterionNodes, victims.CriterionPods, victims.CriterionHighest, victims.CriterionStarted}, {victims.CriterionDevices, victims.CriterionHighest},
			{victims.CriterionPods, victims.CriterionDomains + "rack"}, {victims.CriterionDomains + "rack"}, {victims.CriterionPods}, {victims.CriterionHighest, victims.CriterionPods},
		} {
			for _, pods := range []int{2, 50} { // which are read each time, or once
				s := twoGroups(pods)
				s.Nodes = append(s.Nodes, cluster.Node{Name: "m"})
				change(s)
				q := questionIn(t, s, Settings{Ranking: ranking})
				q.Budgets = victims.NewBudgets(q.Index, disruption.Rule137)
				if kind == "gang" {
					q.Tree = &seating.Group{}
				}
				known := slices.IndexFunc(ranking, func(c victims.Criterion) bool {
					return c == kind || c == victims.CriterionDevices || (kind == "gang" || kind == victims.CriterionNodes) && c.InUse()
				})
				if known < 0 {
					known = len(ranking)
				}
				u := q.unitOf(q.Index.PodByName("", "whole0"))
				require.Equal(t, pods == 50, q.Wholes().Of(u) != nil)
				require.Equal(t, known, q.Known([]victims.UnitID{u}), "%s, %v, %d pods", kind, ranking, pods)
			}
		}
	}
}

// TestBoundsOfAUnit: it goes beyond a hard budget or limit by what it has more than there is room, and is stuck then, unless it may go in
// part. Bounds may be taken as wider, or not at all.
func TestBoundsOfAUnit(t *testing.T) {
	one, of := int32(1), map[string]string{"app": "web"}
	for _, pods := range []int{1, 2, 12} { // which are read each time, or once
		for i := range 3 * 5 * 5 * 2 * 3 {
			hard, allowed, left, elastic, wider := i%3, pods-3+i/3%5, int64(pods-3+i/15%5), i/75%2 == 1, i/150
			s := twoGroups(pods)
			if s.PodGroups[0].MinCount = &one; elastic {
				s.PodGroups[0].Mode = disruption.SurplusFirst
			}
			for k := range pods {
				s.Pods[k].Labels = of
			}
			s.Pods[pods-1].Labels = map[string]string{"app": "web", "last": "yes"}
			last := &disruption.Selector{MatchLabels: map[string]string{"last": "yes"}}
			s.Budgets = []disruption.Budget{{Name: "a", Selector: last, Allowed: int32(i % 2)}, {Name: "b", Selector: &disruption.Selector{MatchLabels: of}, Allowed: int32(allowed)}}
			q := questionIn(t, s, Settings{})
			q.Budgets, q.Limits = victims.NewBudgets(q.Index, disruption.Rule137), []Bound{{Of: NumUnits, Left: 1}, {Of: NumPods, Left: left}}[hard/2:]
			if hard > 0 {
				q.Hard = []bool{true, hard == 2}
			}
			var want []Excess
			if hard > 0 && wider != 1 && i%2 == 0 {
				want = append(want, Excess{Amount: 1})
			}
			if hard == 2 && pods > max(allowed, 0) {
				want = append(want, Excess{Bound: Bound{Budget: 1, Left: int64(allowed)}, Amount: int64(pods - allowed)})
			}
			if wider == 1 {
				q.Relaxed, left = []Excess{{Bound: Bound{Of: NumPods}, Amount: 1}, {Bound: Bound{Budget: 0}, Amount: 9}}, left+1
			}
			if int64(pods) > max(left, 0) {
				want = append(want, Excess{Bound: Bound{Of: NumPods, Left: left}, Amount: int64(pods) - left})
			}
			if q.NoBounds = wider == 2; q.NoBounds {
				want = nil
			}
			u, at := q.unitOf(q.Index.PodByName("", "whole0")), fmt.Sprint(pods, " pods, case ", i)
			require.Equal(t, want, q.Overruns([]victims.UnitID{u}, nil), at)
			require.True(t, q.NoBounds || len(q.Bounds([]victims.UnitID{u})) == hard+len(q.Limits), at)
			require.EqualValues(t, pods-1, q.WeightOf(Bound{Budget: 1}, u, q.Units.Unit(u).Pods[1:]))
			require.Equal(t, want != nil && !q.Units.Unit(u).Elastic, q.Stuck(u), at)
			q.Limits = nil
			require.Equal(t, want != nil && want[0].Of == Charges && !q.Units.Unit(u).Elastic, q.Stuck(u), at)
		}
	}
	for left, room := range map[int64]int64{-2: 0, 0: 0, 1: 1} {
		require.Equal(t, room, Bound{Left: left}.Room())
	}
}

// TestWhatBindsIsAllThatBounds: a set of units keeps within all bounds if it does within those that bind. One of equal budgets binds, of pods
// that go by themselves.
func TestWhatBindsIsAllThatBounds(t *testing.T) {
	all, some := 0, 0
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 5))
		s := twoGroups(4)
		s.PodGroups = s.PodGroups[seed%2:] // without the one that goes whole
		for i := range s.Pods {
			s.Pods[i].Labels = map[string]string{"app": string(rune('a' + draw.IntN(3)))}
			if s.Pods[i].Group == "whole" && seed%2 == 1 {
				s.Pods[i].Group = ""
			}
		}
		for i := range 8 {
			of := disruption.Requirement{Key: "app", Operator: disruption.In, Values: []string{"a", "b", "c"}[draw.IntN(3):][:1]}
			if draw.IntN(2) == 0 {
				of.Operator = disruption.NotIn
			}
			s.Budgets = append(s.Budgets, disruption.Budget{Name: fmt.Sprint(i), Allowed: int32(draw.IntN(4) - 1), Selector: &disruption.Selector{MatchExpressions: []disruption.Requirement{of}}})
		}
		q := questionIn(t, s, Settings{})
		q.Budgets, q.Hard = victims.NewBudgets(q.Index, disruption.Rule137), make([]bool, len(s.Budgets))
		for i := range q.Hard {
			q.Hard[i] = draw.IntN(5) > 0
		}
		if draw.IntN(2) == 0 {
			q.Limits = []Bound{{Of: NumPods, Left: 3}}
		}
		if draw.IntN(2) == 0 {
			q.Relaxed = []Excess{{Bound: Bound{Budget: cluster.BudgetID(draw.IntN(8))}, Amount: 2}, {Bound: Bound{Of: NumPods}, Amount: 1}}
		}
		var units []victims.UnitID
		for id := range q.Index.NumPods() {
			if u := q.unitOf(cluster.PodID(id)); !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
		binding, few := q.Binding(units)
		all, some = all+len(q.Bounds(units)), some+len(binding)
		require.Len(t, few, len(binding)-len(q.Limits))
		for set := range 1 << len(units) {
			var out []victims.UnitID
			for i, u := range units {
				if set>>i&1 == 1 {
					out = append(out, u)
				}
			}
			within := !slices.ContainsFunc(binding, func(b Bound) bool {
				sum := int64(0)
				for _, u := range out {
					sum += q.Weight(b, u)
				}
				return sum > b.Room()
			})
			require.Equal(t, len(q.Overruns(out, nil)) == 0, within, "seed %d", seed)
		}
		for i, b := range binding[:len(few)] {
			for _, u := range units {
				require.Equal(t, q.Weight(b, u) > 0, slices.Contains(few[i], u), "whom it covers")
			}
			same := func(o Bound) bool { return o != b && slices.Equal(few[i], few[slices.Index(binding, o)]) }
			require.False(t, seed%2 == 1 && slices.ContainsFunc(binding[:len(few)], same), "seed %d: one is enough", seed)
		}
	}
	require.Equal(t, []int{2068, 1669}, []int{all, some}, "bounds, and those that bind")
}

// TestWhatIsLeftOfABrokenGangIsFree: where the options say so, of gangs that run below what they need.
func TestWhatIsLeftOfABrokenGangIsFree(t *testing.T) {
	for i := range 12 {
		s, free, pods, need := twoGroups(2+8*(i/6)), i%2 == 0, 2+8*(i/6), int32(1+8*(i/6)+i%6/2)
		s.PodGroups[0].MinCount = &need
		q := questionIn(t, s, Settings{BrokenFree: free, Ranking: victims.Ranking{victims.CriterionGroups}})
		q.Budgets = victims.NewBudgets(q.Index, disruption.Rule137)
		for name, broken := range map[string]bool{"whole0": int(need) > pods, "single0": false} {
			u := q.unitOf(q.Index.PodByName("", name))
			require.Equal(t, broken, q.Broken(u))
			require.Equal(t, broken && free, q.free(u))
			require.Equal(t, broken && free, q.Score([]victims.UnitID{u, q.unitOf(q.Index.PodByName("", name))}, nil, 0).Asked[victims.CriterionGroups] == 0)
		}
	}
}

// TestWhatIsFreeIsLookedAtOnce: on each node, for each resource that is asked for.
func TestWhatIsFreeIsLookedAtOnce(t *testing.T) {
	low := int32(1)
	s := &cluster.Snapshot{Pods: []cluster.Pod{{Name: "large", Node: fmt.Sprintf("n%04d", 7*blockOfNodes), Priority: &low, Requests: cluster.Resources{cluster.Memory: 1}}}} // more than there is
	for i := range 10 * blockOfNodes {
		n := cluster.Node{Name: fmt.Sprintf("n%04d", i), Allocatable: cluster.Resources{cluster.CPU: 2}}
		s.Nodes = append(s.Nodes, n)
		if i != 7*blockOfNodes {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("p%04d", i), Node: n.Name, Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}})
		}
	}
	q, looks := questionIn(t, s, Settings{}), 0
	q.fatesWithin(0)
	room := newRooms(func(n cluster.NodeID, r cluster.ResourceID) int64 { looks++; return q.Index.Free(n)[r] })
	p := q.Index.PodByName("", "p0000")
	require.EqualValues(t, 7*blockOfNodes, q.nextRoom(room, p, 0, cluster.NoNode))
	require.Equal(t, cluster.NoNode, q.nextRoom(room, p, 0, 7*blockOfNodes))
	require.Equal(t, 2*len(s.Nodes), looks, "CPU and pods")
}

// TestTheNextRoomIsThatOfEachNode: as if one node after the other were looked at.
func TestTheNextRoomIsThatOfEachNode(t *testing.T) {
	s, draw := &cluster.Snapshot{}, rand.New(rand.NewPCG(1, 1))
	for i := range 2*blockOfNodes + 5 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: draw.Int64N(4), cluster.Memory: draw.Int64N(4), cluster.Pods: draw.Int64N(3)}})
	}
	for i := range 6 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Node: "n000", Requests: cluster.Resources{cluster.CPU: int64(i % 4), cluster.Memory: int64(i / 2)}})
	}
	q := questionIn(t, s, Settings{})
	q.fatesWithin(0)
	room := newRooms(func(n cluster.NodeID, r cluster.ResourceID) int64 { return q.Index.Allocatable(n)[r] })
	for p := range cluster.PodID(q.Index.NumPods()) {
		for n := range cluster.NodeID(len(s.Nodes)) {
			for _, but := range []cluster.NodeID{cluster.NoNode, n, n + 1} {
				want := cluster.NoNode
				for m := len(s.Nodes) - 1; m >= int(n); m-- {
					at := s.Nodes[m].Allocatable
					if ask := q.Index.Pod(p).Requests; cluster.NodeID(m) != but && at[cluster.Pods] > 0 && ask[cluster.CPU] <= at[cluster.CPU] && ask[cluster.Memory] <= at[cluster.Memory] {
						want = cluster.NodeID(m)
					}
				}
				require.Equal(t, want, q.nextRoom(room, p, n, but))
			}
		}
	}
}

// TestWhoLeavesIsInItsOwnWayNoMore: a pod that keeps apart from its like in a zone may move within it.
func TestWhoLeavesIsInItsOwnWayNoMore(t *testing.T) {
	low := int32(1)
	app := map[string]string{"app": "web"}
	apart := []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: app}}}
	s := &cluster.Snapshot{Pods: []cluster.Pod{{Name: "web", Labels: app, Node: "n0", Priority: &low, AntiAffinity: apart, Requests: cluster.Resources{cluster.CPU: 1}}}}
	for _, name := range []string{"n0", "n1"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Labels: map[string]string{"zone": "z"}, Allocatable: cluster.Resources{cluster.CPU: 1}})
	}
	q := questionIn(t, s, Settings{})
	q.Constraints = []domain.Constraint{domain.InterPodAffinity()}
	p := q.Index.PodByName("", "web")
	require.False(t, q.isStranded(p, 0))
	moves, evicts, ok := q.Follows(p)
	require.Equal(t, []any{0, false, true}, []any{moves, evicts, ok})
}

// TestAlikePods: whatever decides whether the preemptor fits, or is counted of victims, tells pods of a unit apart.
func TestAlikePods(t *testing.T) {
	for _, c := range []struct {
		differs string
		is      func(p *cluster.Pod)
		alike   bool
	}{
		{"nothing", func(*cluster.Pod) {}, true},
		{"the node", func(p *cluster.Pod) { p.Node = "m" }, false},
		{"what it requests", func(p *cluster.Pod) { p.Requests = cluster.Resources{cluster.CPU: 2} }, false},
		{"a port", func(p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: 80}} }, false},
		{"a budget", func(p *cluster.Pod) { p.Labels = map[string]string{"app": "web"} }, false},
		{"the price", func(p *cluster.Pod) { p.Cost = &cluster.Cost{Fixed: 2} }, false},
		{"a label that nobody reads", func(p *cluster.Pod) { p.Labels = map[string]string{"of": "nobody"} }, true},
	} {
		s := twoGroups(2)
		s.Nodes = append(s.Nodes, cluster.Node{Name: "m", Allocatable: cluster.Resources{cluster.CPU: 9}})
		s.Budgets = []disruption.Budget{{Name: "web", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}}}
		c.is(&s.Pods[1])
		for _, own := range []bool{false, true} {
			q := questionIn(t, s, Settings{OwnPrices: own})
			q.Budgets = victims.NewBudgets(q.Index, disruption.Rule137)
			q.Units = victims.NewUnits(q.Index, victims.Units137, victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Fixed: 1}}})
			require.Equal(t, c.alike && !own, q.alikePods(q.Index.PodByName("", "whole0"), q.Index.PodByName("", "whole1")), "%s, own prices %t", c.differs, own)
		}
	}
}

// TestInUseInTheEnd: nodes, racks and devices that are in use once units have left, of many pods and of few, one set after the other,
// and the preemptor has come.
func TestInUseInTheEnd(t *testing.T) {
	const rack = victims.CriterionDomains + "rack"
	low, one := int32(1), int32(1)
	for seed := range uint64(300) {
		draw, s := rand.New(rand.NewPCG(seed, 2)), &cluster.Snapshot{}
		for i := range 5 {
			n := cluster.Node{Name: fmt.Sprint(i), Labels: map[string]string{"rack": fmt.Sprint(i / 2)}}
			if i == 4 {
				n.Labels = nil
			} else if i > 0 {
				n.Devices = map[string]cluster.DevicePool{"a": {Count: 4, Capacity: 4}, "b": {Count: 2, Capacity: 4}}
			}
			s.Nodes = append(s.Nodes, n)
		}
		add := func(group, node string) {
			p := cluster.Pod{Name: fmt.Sprint(len(s.Pods)), Group: group, Node: node, Priority: &low}
			r := cluster.DeviceRequest{Resource: []string{"a", "a", "b"}[draw.IntN(3)], Fraction: 1 + draw.Int64N(3)}
			switch draw.IntN(4) {
			case 0:
				r.Count, r.Fraction = 1+draw.Int32N(2), 0
			case 1:
				r.Assigned = []int32{draw.Int32N(3)}
			}
			if draw.IntN(4) > 0 {
				p.Devices = []cluster.DeviceRequest{r}
			}
			s.Pods = append(s.Pods, p)
		}
		add("", "")
		add("", "")
		groups := 1 + int(seed%4)
		for g := range groups {
			name := fmt.Sprint("g", g)
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: name, Mode: disruption.All, MinCount: &one})
			for range 1 + g%2*9 + draw.IntN(3) {
				add(name, fmt.Sprint(draw.IntN(4)+draw.IntN(3))) // some where there is no node
			}
		}
		q := questionIn(t, s, Settings{})
		for m := range 2 {
			p := q.Index.PodByName("", fmt.Sprint(m))
			q.Members = append(q.Members, q.NewMember(q.Index.Pod(p), p))
		}
		for range 8 {
			list, gone := make([]victims.UnitID, 0), map[string]bool{}
			for _, g := range draw.Perm(groups)[:draw.IntN(groups+1)] {
				u := q.unitOf(q.Index.PodByName("", s.Pods[slices.IndexFunc(s.Pods, func(p cluster.Pod) bool { return p.Group == fmt.Sprint("g", g) })].Name))
				list, gone[fmt.Sprint("g", g)] = append(list, u), true
			}
			end := slices.DeleteFunc(slices.Clone(s.Pods), func(p cluster.Pod) bool { return gone[p.Group] })
			var at []domain.Assignment
			for m := range draw.IntN(3) {
				at = append(at, domain.Assignment{Member: domain.MemberID(m), Node: cluster.NodeID(draw.IntN(5))})
				end[m].Node, end[m].Devices = q.Index.Node(at[m].Node).Name, slices.Clone(end[m].Devices)
				for i := range end[m].Devices {
					end[m].Devices[i].Assigned = nil // it is not there yet
				}
			}
			then := *s
			then.Pods = end
			want := questionIn(t, &then, Settings{})
			for _, c := range []victims.Criterion{victims.CriterionNodes, victims.CriterionDevices, rack} {
				require.Equal(t, want.inUseNow(c).count, q.inUseAfter(c, list, nil, at), "seed %d: %s without %v", seed, c, gone)
			}
		}
	}
}

// TestDevicesInUse: fractions come first, the largest before the others, each where least room is left, then whole devices, as far as
// there are some.
func TestDevicesInUse(t *testing.T) {
	for whole, want := range []int64{3, 4, 4} {
		low, s := int32(1), &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"a": {Count: 4, Capacity: 4}, "b": {Count: 9, Capacity: 1}}}, {Name: "m", Labels: map[string]string{"rack": "r"}}, {Name: "o"}}}
		s.Pods = []cluster.Pod{{Name: "m", Node: "m", Priority: &low}}
		for i, fraction := range []int64{1, 1, 3, 1, 3} {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: "n", Priority: &low, Devices: []cluster.DeviceRequest{{Resource: "a", Fraction: fraction}}})
		}
		s.Pods[1].Devices[0].Assigned = []int32{0}
		if whole > 0 {
			s.Pods = append(s.Pods, cluster.Pod{Name: "whole", Node: "n", Priority: &low, Devices: []cluster.DeviceRequest{{Resource: "a", Count: int32(whole)}}})
		}
		q := questionIn(t, s, Settings{})
		require.Equal(t, want, q.inUseNow(victims.CriterionDevices).count)
		require.EqualValues(t, 2, q.inUseNow(victims.CriterionNodes).count)
		require.EqualValues(t, 1, q.inUseNow(victims.CriterionDomains+"rack").count)
	}
}
