package ask

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
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
