package preemption_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// apply returns q with some relaxations made.
func apply(t fatal, q gen.Question, relaxations []preemption.Relaxation) gen.Question {
	q = gen.Clone(q)
	pod := preemptorOf(&q)
	for _, r := range relaxations {
		var node *cluster.Node
		for i := range q.Snapshot.Nodes {
			if q.Snapshot.Nodes[i].Name == r.Node {
				node = &q.Snapshot.Nodes[i]
			}
		}
		switch r.Kind {
		case preemption.RelaxResource:
			if node.Allocatable == nil {
				node.Allocatable = preemption.Resources{}
			}
			node.Allocatable[r.Name] += r.Amount
		case preemption.RelaxTaint:
			node.Taints = slices.DeleteFunc(node.Taints, func(t cluster.Taint) bool { return t.String() == r.Name })
		case preemption.RelaxCordon:
			node.Unschedulable = false
			node.Taints = slices.DeleteFunc(node.Taints, func(t cluster.Taint) bool { return t.Key == cluster.TaintUnschedulable })
		case preemption.RelaxSelector:
			pod.NodeSelector, pod.NodeAffinity = nil, nil
		case preemption.RelaxNodeName:
			pod.RequiredNode = ""
		case preemption.RelaxPort:
			pod.Ports = slices.DeleteFunc(pod.Ports, func(p cluster.HostPort) bool { return portName(p) == r.Name })
		case preemption.RelaxPriority:
			raised := int32(r.Amount)
			pod.Priority = &raised
		default:
			t.Fatalf("a relaxation that nobody asked for: %+v", r)
		}
	}
	return q
}

// portName is a host port as a relaxation names it.
func portName(p cluster.HostPort) string {
	name := fmt.Sprint(p.Port, "/", max(p.Protocol, "TCP"))
	if p.Protocol == "SCTP" {
		name = fmt.Sprint(p.Port, "/SCTP")
	}
	if p.IP == "" || p.IP == "0.0.0.0" {
		return name
	}
	return p.IP + ":" + name
}

// theNearestIsEnoughAndNoLess: with all relaxations the preemptor gets in, with any
// part of them it doesn't.
func theNearestIsEnoughAndNoLess(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.Sampling = nil
	r := ask(t, o, q)
	if (r.Nearest != nil) != (r.Verdict == preemption.Infeasible) {
		t.Fatalf("%s, nearest %+v", r.Verdict, r.Nearest)
	}
	if r.Nearest == nil {
		return
	}
	all := r.Nearest.Relaxations
	for part := range 1 << len(all) {
		var some []preemption.Relaxation
		for i, x := range all {
			if part&(1<<i) != 0 {
				some = append(some, x)
			}
		}
		relaxed := ask(t, o, apply(t, q, some))
		in := relaxed.Verdict == preemption.Feasible || relaxed.Verdict == preemption.Fits
		if in != (len(some) == len(all)) {
			t.Fatalf("nearest is %+v; with %+v: %s", r.Nearest, some, relaxed.Verdict)
		}
	}
}
func TestTheNearestIsEnoughAndNoLess(t *testing.T) { hold(t, theNearestIsEnoughAndNoLess) }

func TestApplyMakesEveryKindOfRelaxation(t *testing.T) {
	t.Parallel()
	missing := []preemption.RelaxationKind{
		preemption.RelaxResource, preemption.RelaxTaint, preemption.RelaxCordon, preemption.RelaxSelector,
		preemption.RelaxNodeName, preemption.RelaxPort, preemption.RelaxPriority,
	}
	for seed := uint64(0); seed < 3000 && len(missing) > 0; seed++ {
		q := gen.Random(seed, gen.Everything())
		if r := ask(&named{t, seed}, preemption.Options{}, q); r.Nearest != nil {
			for _, x := range r.Nearest.Relaxations {
				missing = slices.DeleteFunc(missing, func(kind preemption.RelaxationKind) bool { return kind == x.Kind })
			}
		}
	}
	require.Empty(t, missing)
}

// TestNearestCountsWhatItChanges: without its selector the pod counts more nodes for
// its spread, so that dropping it is not enough.
func TestNearestCountsWhatItChanges(t *testing.T) {
	x := &preemption.Selector{MatchLabels: map[string]string{"app": "x"}}
	s := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Labels: map[string]string{"zone": "z2"}, Allocatable: preemption.Resources{cluster.CPU: 3}}},
		Pods:  []preemption.Pod{{Name: "there", Labels: x.MatchLabels, Node: "n1", Priority: prio(5)}},
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{
		Name: "p", Labels: x.MatchLabels, NodeSelector: map[string]string{"zone": "z1"}, Priority: prio(5),
		Spread: []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: x, MinDomains: 3, NodeAffinityPolicy: cluster.Honor}},
	}}}
	r, err := preemption.Options{}.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, &preemption.Nearest{Domain: "n1", Relaxations: []preemption.Relaxation{
		{Kind: preemption.RelaxSelector}, {Kind: preemption.RelaxPriority, Amount: 6},
	}}, r.Nearest)
}

// TestNearestRaisesThePriorityLeast: among nodes where a higher priority does it, the
// lowest one counts.
func TestNearestRaisesThePriorityLeast(t *testing.T) {
	s, both := preemption.Snapshot{}, preemption.Resources{cluster.CPU: 1, cluster.Memory: 1}
	for i, priority := range []int32{100, 30, 20, 50} {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: both})
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Node: node, Priority: prio(priority), Requests: both})
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: prio(5), Requests: both}}}
	r, err := preemption.Options{}.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, &preemption.Nearest{Domain: "n2", Relaxations: []preemption.Relaxation{{Kind: preemption.RelaxPriority, Amount: 21}}}, r.Nearest)
}

// TestNearestTakesTheCheaperOfRoomAndPriority: a step of the priority is a millionth of the
// request, and the whole of it at most.
func TestNearestTakesTheCheaperOfRoomAndPriority(t *testing.T) {
	for _, c := range []struct {
		runs   int32 // who is in the way
		missed int64 // of four cores, where nobody is
		want   preemption.Relaxation
	}{
		{5, 3000, preemption.Relaxation{Kind: preemption.RelaxPriority, Amount: 6}},
		{700_000, 3000, preemption.Relaxation{Kind: preemption.RelaxPriority, Amount: 700_001}},
		{2_000_000, 3000, preemption.Relaxation{Kind: preemption.RelaxResource, Node: "small", Name: cluster.CPU, Amount: 3000}},
		{2_000_000, 4000, preemption.Relaxation{Kind: preemption.RelaxResource, Name: cluster.CPU, Amount: 4000}}, // as much, on either node, at a lower priority
		{5, 1, preemption.Relaxation{Kind: preemption.RelaxPriority, Amount: 6}},
		{300, 1, preemption.Relaxation{Kind: preemption.RelaxResource, Node: "small", Name: cluster.CPU, Amount: 1}},
	} {
		request := preemption.Resources{cluster.CPU: 4000}
		for _, names := range [][2]string{{"busy", "small"}, {"wide", "small"}} { // whichever is looked at first
			s := preemption.Snapshot{
				Nodes: []cluster.Node{{Name: names[0], Allocatable: request}, {Name: names[1], Allocatable: preemption.Resources{cluster.CPU: 4000 - c.missed}}},
				Pods:  []preemption.Pod{{Name: "runs", Node: names[0], Priority: prio(c.runs), Requests: request}},
			}
			r, err := preemption.Options{}.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: prio(5), Requests: request}}}, &s)
			require.NoError(t, err)
			want := c.want
			if want.Node == "" && want.Kind == preemption.RelaxResource {
				want.Node = min(names[0], names[1])
			}
			require.Equal(t, []preemption.Relaxation{want}, r.Nearest.Relaxations)
		}
	}
}

// TestNearestOfCordonsAndTaints: the taint of a cordon goes with it, and with nothing else.
func TestNearestOfCordonsAndTaints(t *testing.T) {
	cordon := cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule}
	spot := cluster.Taint{Key: "spot", Effect: cluster.NoSchedule}
	taint := func(t cluster.Taint) preemption.Relaxation {
		return preemption.Relaxation{Kind: preemption.RelaxTaint, Node: "n", Name: t.String()}
	}
	uncordon := preemption.Relaxation{Kind: preemption.RelaxCordon, Node: "n"}
	for _, c := range []struct {
		node cluster.Node
		want []preemption.Relaxation
	}{
		{cluster.Node{Unschedulable: true, Taints: []cluster.Taint{cordon}}, []preemption.Relaxation{uncordon}},
		{cluster.Node{Unschedulable: true, Taints: []cluster.Taint{spot, cordon}}, []preemption.Relaxation{taint(spot), uncordon}},
		{cluster.Node{Taints: []cluster.Taint{cordon}}, []preemption.Relaxation{taint(cordon)}},
	} {
		c.node.Name = "n"
		r, err := preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "p"}}}, &preemption.Snapshot{Nodes: []cluster.Node{c.node}})
		require.NoError(t, err)
		require.Equal(t, c.want, r.Nearest.Relaxations)
	}
}

// TestWhatIsNearestForAGang: a higher priority, or fewer pods where that is the lesser change or the only one.
func TestWhatIsNearestForAGang(t *testing.T) {
	nearest := func(priority int32, running ...int32) *preemption.Nearest {
		s := &preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "g", Priority: &priority, MinCount: prio(3)}}}
		for i, p := range running {
			name := fmt.Sprint("n", i)
			s.Nodes = append(s.Nodes, cluster.Node{Name: name, Allocatable: preemption.Resources{"cpu": 4}})
			s.Pods = append(s.Pods, preemption.Pod{Name: "on-" + name, Node: name, Priority: prio(p), Requests: preemption.Resources{"cpu": 3}})
		}
		for i := range 3 {
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "g", Requests: preemption.Resources{"cpu": 4}})
		}
		r, err := preemption.Options{Explain: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "g"}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		return r.Nearest
	}
	change := func(kind preemption.RelaxationKind, amount int64) *preemption.Nearest {
		return &preemption.Nearest{Domain: "cluster", Relaxations: []preemption.Relaxation{{Kind: kind, Amount: amount}}}
	}
	require.Equal(t, change(preemption.RelaxPriority, 8), nearest(5, 1, 7, 7, 9), "three of four nodes do")
	require.Equal(t, change(preemption.RelaxMinCount, 1), nearest(5, 1, 1), "there are two nodes")
	require.Equal(t, change(preemption.RelaxMinCount, 2), nearest(5, 1, math.MaxInt32, math.MaxInt32), "nobody is above those")
	require.Equal(t, change(preemption.RelaxMinCount, 1), nearest(5, 1, 1, 2_000_000_000), "as far as that is more of a change than a pod")
	require.Nil(t, nearest(5, math.MaxInt32))

	four := preemption.Resources{"cpu": 4}
	r, err := preemption.Options{Explain: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "g"}, &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: four}}, PodGroups: []preemption.PodGroup{{Name: "g", Priority: prio(5)}},
		Pods: []preemption.Pod{{Name: "comes", NominatedNode: "n", Priority: prio(7), Requests: four}, {Name: "m", Group: "g", Priority: prio(5), Requests: four}},
	})
	require.NoError(t, err)
	require.Equal(t, change(preemption.RelaxPriority, 8), r.Nearest, "who is nominated is in the way")
}

// tieBySeed gives pods of q affinity, anti-affinity and spread, whose domains may
// depend on where the pod may go.
func tieBySeed(seed uint64, q *gen.Question) {
	r := rand.New(rand.NewPCG(seed, 21))
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		labels := map[string]string{"zone": []string{"a", "b", "c"}[r.IntN(3)]}
		for k, v := range n.Labels {
			if k != "zone" || r.IntN(2) == 0 {
				labels[k] = v
			}
		}
		n.Labels = labels
	}
	selector := func() *disruption.Selector {
		return []*disruption.Selector{
			{}, {MatchLabels: map[string]string{"app": "web"}}, {MatchLabels: map[string]string{"app": "db"}},
			{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.Exists}}},
		}[r.IntN(4)]
	}
	policy := func() cluster.NodePolicy { return []cluster.NodePolicy{"", cluster.Honor, cluster.Ignore}[r.IntN(3)] }
	term := func() cluster.AffinityTerm { return cluster.AffinityTerm{TopologyKey: "zone", Selector: selector()} }
	tie := func(p *cluster.Pod, often int) {
		if r.IntN(20) < often {
			p.AntiAffinity = append(p.AntiAffinity, term())
		}
		if r.IntN(30) < often {
			p.Affinity = append(p.Affinity, term())
		}
		if r.IntN(12) < often {
			p.Spread = append(p.Spread, cluster.Spread{
				TopologyKey: "zone", Selector: selector(), MaxSkew: int32(1 + r.IntN(2)),
				NodeAffinityPolicy: policy(), NodeTaintsPolicy: policy(),
			})
		}
	}
	for i := range q.Snapshot.Pods {
		tie(&q.Snapshot.Pods[i], 2)
	}
	tie(preemptorOf(q), 8)
}

// nearestQuestion is a question by seed about a pod or a gang, with or without ties,
// hard budgets, limits and prices.
func nearestQuestion(seed uint64) (preemption.Options, gen.Question) {
	r := rand.New(rand.NewPCG(seed, 22))
	p := gen.Profile{
		MaxNodes: 3, MaxPods: 12, Budgets: true, Groups: r.IntN(2) == 0, Placement: r.IntN(2) == 0, Ports: r.IntN(3) == 0,
		Nominations: r.IntN(4) == 0, Terminating: r.IntN(4) == 0,
	}
	gang := r.IntN(3) == 0
	ties := r.IntN(2) == 0
	o := preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137, preemption.KEP5710Alpha}[r.IntN(3)]}
	var q gen.Question
	if gang {
		p.MaxPods = 8
		q = sound(o, gen.RandomGang(seed, gen.GangProfile{Profile: p, MaxMembers: 3, Topology: ties, Ties: ties}))
		o.Placement = []preemption.Placement{"", preemption.PlacePack, preemption.PlaceSpread}[r.IntN(3)]
		o.Explain = seed%2 == 0
	} else {
		q = sound(o, gen.Random(seed, p))
		if ties {
			tieBySeed(seed, &q)
		}
	}
	if !gang && r.IntN(3) == 0 { // some are so high that other changes count as less
		pod, ports := preemptorOf(&q), []cluster.HostPort{{Port: 80}}
		if r.IntN(4) == 0 {
			pod.RequiredNode = "elsewhere"
		} else if r.IntN(3) == 0 {
			pod.Ports = ports
		}
		for i := range q.Snapshot.Pods {
			if p := &q.Snapshot.Pods[i]; p.Node != "" && p.Group == "" && r.IntN(2) == 0 {
				p.Priority = prio(2_000_000_000)
				p.Ports = ports
			}
		}
	}
	if gang && seed%4 != 0 || r.IntN(2) == 0 {
		o = randomBounds(seed, o, q)
		if r.IntN(2) == 0 {
			priced(seed, &q)
			o.Cost.Tariff.Fixed, o.Cost.Objective = 1, r.IntN(2) == 0
			o.Limits.Cost = int64(1 + r.IntN(6))
		}
		if r.IntN(3) == 0 {
			o.Limits.Window = preemption.Window{Seconds: 100, Victims: int64(1 + r.IntN(2))}
		}
	}
	o.Guards.EqualAfterSeconds = max(0, 1_000*int64(r.IntN(6)-3))
	o.Limits.OnlyMoves = r.IntN(6) == 0
	return o, q
}

// in reports whether the preemptor gets in.
func in(r *preemption.Result) bool {
	return r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits
}

// TestTheNearestHelpsAndNothingLessDoes: with all relaxations the preemptor gets in,
// where it was said; with any part of them, or with one that is smaller by one, it does
// not. Where searches are cut short it does sometimes, which is told.
func TestTheNearestHelpsAndNothingLessDoes(t *testing.T) {
	t.Parallel()
	told, kinds, gangs, raised, tied, less, silent := 0, map[preemption.RelaxationKind]int{}, 0, 0, 0, 0, 0
	for seed := range seeds(6000) {
		o, q := nearestQuestion(seed)
		gang := q.Preemptor.Group != nil || q.Preemptor.Kind != "" && q.Preemptor.Kind != cluster.KindPod
		if gang && !asksSomething(q) {
			continue
		}
		cut := seed%3 == 0
		if cut {
			o.SearchSteps = 1 + int(seed%32)
		}
		r := ask(&named{t, seed}, o, q)
		require.True(t, r.Nearest == nil || r.Verdict == preemption.Infeasible, "seed %d", seed)
		var all []preemption.Relaxation
		with := func(list []preemption.Relaxation) *preemption.Result {
			wider, relaxed := widen(o, q, list)
			if !slices.Equal(list, all) {
				wider.SearchSteps = 0
			}
			return ask(&named{t, seed}, wider, relaxed)
		}
		if r.Nearest == nil {
			highest := []preemption.Relaxation{{Kind: preemption.RelaxPriority, Amount: math.MaxInt32}}
			if gang && o.Explain && r.Verdict == preemption.Infeasible && !cut {
				silent++
				require.False(t, in(with(highest)), "seed %d: a higher priority does", seed)
			}
			continue
		}
		all = r.Nearest.Relaxations
		doubtful := func(list []preemption.Relaxation) bool {
			if len(list) == 0 {
				return cut && !r.Stats.Exact
			}
			return (cut || o.Limits.OnlyMoves) && r.Nearest.Unproved
		}
		for part := range 1 << len(all) {
			var some []preemption.Relaxation
			for i, x := range all {
				if part>>i&1 == 1 {
					some = append(some, x)
				}
			}
			got := with(some)
			if len(some) < len(all) && doubtful(some) {
				if in(got) && len(some) > 0 {
					less++
				}
				continue
			}
			require.Equal(t, len(some) == len(all), in(got), "seed %d: nearest is %+v; with %+v: %s", seed, r.Nearest, some, got.Message)
		}
		for i, x := range all {
			if kinds[x.Kind]++; x.Amount > 1 && x.Name != "pods without a place" {
				smaller := slices.Clone(all)
				smaller[i].Amount--
				does := in(with(smaller))
				if does && doubtful(all) {
					less++
					continue
				}
				require.False(t, does, "seed %d: nearest is %+v; less of %s does", seed, r.Nearest, x.Kind)
			}
		}
		if told++; gang {
			gangs++
			if all[0].Kind == preemption.RelaxPriority {
				raised++
			}
		} else if p := preemptorOf(&q); len(p.Spread)+len(p.Affinity)+len(p.AntiAffinity) > 0 {
			tied++
		}
	}
	t.Log(told, gangs, raised, tied, kinds, less, silent)
	require.Positive(t, less)
	require.Positive(t, silent)
	require.Greater(t, told, int(seeds(1500)))
	require.Greater(t, gangs, int(seeds(60)))
	require.Positive(t, raised)
	require.Greater(t, tied, int(seeds(60)))
	for _, kind := range []preemption.RelaxationKind{
		preemption.RelaxResource, preemption.RelaxTaint, preemption.RelaxCordon, preemption.RelaxSelector, preemption.RelaxNodeName,
		preemption.RelaxPort, preemption.RelaxPriority, preemption.RelaxBudget, preemption.RelaxLimit, preemption.RelaxMinCount,
	} {
		require.True(t, kinds[kind] > 0 || !*long, kind)
	}
}

// TestNearestOfAGivenPlace: what would help is asked again without the place that was
// given, where victims are bounded too.
func TestNearestOfAGivenPlace(t *testing.T) {
	pod := preemption.Pod{Namespace: "ns", Name: "p", Priority: prio(10), Requests: preemption.Resources{cluster.CPU: 1000}}
	s := &preemption.Snapshot{
		Nodes: []cluster.Node{
			{Name: "n1", Unschedulable: true}, // more than its name is in the way there
			{Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 1000}},
		},
		Pods: []preemption.Pod{{Namespace: "ns", Name: "low", Node: "n2", Priority: prio(1), Requests: preemption.Resources{cluster.CPU: 1000}}},
	}
	named := *s
	named.Pods = append(named.Pods[:1:1], pod)
	place := map[string]string{"ns/p": "n1"}
	for name, c := range map[string]struct {
		p preemption.Preemptor
		s *preemption.Snapshot
	}{
		"inline": {preemption.Preemptor{Pods: []preemption.Pod{pod}, Placement: place}, s},
		"named":  {preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "p", Placement: place}, &named},
	} {
		t.Run(name, func(t *testing.T) {
			want := &preemption.Nearest{Domain: "n2", Relaxations: []preemption.Relaxation{{Kind: preemption.RelaxNodeName, Name: "n1"}}}
			for _, o := range []preemption.Options{{}, {Limits: preemption.Limits{Pods: 1}}} {
				r, err := o.Preempt(c.p, c.s)
				require.NoError(t, err)
				require.Equal(t, preemption.Infeasible, r.Verdict)
				require.Equal(t, want, r.Nearest)
			}
		})
	}
}

// TestManyHardBudgetsOnOneNode: what is refused for so many budgets at once is proved,
// and what would help is told, without a search through all sets of pods.
func TestManyHardBudgetsOnOneNode(t *testing.T) {
	for _, budgets := range []int{5, 10, 20} {
		s := &preemption.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 110_000}}}}
		for i := range 110 {
			s.Pods = append(s.Pods, preemption.Pod{
				Name: fmt.Sprint("p", i), Node: "n", Priority: prio(int32(i % 3)), Labels: map[string]string{"app": fmt.Sprint(i % budgets)},
				Requests: preemption.Resources{cluster.CPU: int64(500 + i*7919%500)},
			})
		}
		for i := range budgets {
			s.Budgets = append(s.Budgets, disruption.Budget{
				Name: fmt.Sprint("b", i), Allowed: 1,
				Selector: &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}},
			})
		}
		p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: prio(100), Requests: preemption.Resources{cluster.CPU: 88_000}}}}
		r, err := preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}.Preempt(p, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.True(t, r.Stats.Exact)
		require.Less(t, r.Stats.Trials, 50_000, "%d budgets", budgets)
		require.NotNil(t, r.Nearest, "%d budgets", budgets)
	}
}

// TestNearestTellsWhoHasNoPlaceBesideOtherLimits: each of two pods has a place, but not both.
func TestNearestTellsWhoHasNoPlaceBesideOtherLimits(t *testing.T) {
	cpu := func(n int64) preemption.Resources { return preemption.Resources{"cpu": n} }
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n0", Allocatable: cpu(2)}, {Name: "n1", Allocatable: cpu(1)}},
		Pods:  []preemption.Pod{{Name: "a", Node: "n0", Requests: cpu(1)}, {Name: "b", Node: "n0", Requests: cpu(1)}, {Name: "in", Priority: prio(1), Requests: cpu(2)}},
	}
	o := preemption.Options{Limits: preemption.Limits{Pods: 1, OnlyMoves: true}}
	r, err := o.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}, s)
	require.NoError(t, err)
	require.Equal(t, []preemption.Relaxation{
		{Kind: preemption.RelaxLimit, Name: "pods", Amount: 1}, {Kind: preemption.RelaxLimit, Name: "pods without a place", Amount: 1},
	}, r.Nearest.Relaxations)
}

// TestNearestBoundsAreNeededOnEveryNode: what giving back goes beyond is more than one
// victim, who is dearer, asks for.
func TestNearestBoundsAreNeededOnEveryNode(t *testing.T) {
	s := &preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 6}}, {Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 6}}}}
	for i, p := range []struct {
		node      string
		cpu, cost int64
		priority  int32
	}{{"n1", 3, 0, -5}, {"n1", 2, 4, 0}, {"n1", 2, 2, 5}, {"n2", 3, 4, 5}, {"n2", 1, 3, 5}, {"n2", 2, 2, -5}} {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprint("p", i), Node: p.node, Priority: prio(p.priority), Requests: preemption.Resources{cluster.CPU: p.cpu}, Cost: &cluster.Cost{Fixed: p.cost},
		})
	}
	o := preemption.Options{Limits: preemption.Limits{Pods: 1, Cost: 1, Window: preemption.Window{Seconds: 100, Victims: 1}}}
	o.Cost.Tariff.Fixed = 1
	r, err := o.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: prio(10), Requests: preemption.Resources{cluster.CPU: 3}}}}, s)
	require.NoError(t, err)
	require.Equal(t, &preemption.Nearest{Domain: "n2", Relaxations: []preemption.Relaxation{{Kind: preemption.RelaxLimit, Name: "cost", Amount: 3}}}, r.Nearest)
}

// TestNearestOfAGangWasTried: one more pod would let another plan in, but not the one
// that the gang is spread by.
func TestNearestOfAGangWasTried(t *testing.T) {
	s := &preemption.Snapshot{
		Nodes:     []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 5}}, {Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 1}}},
		PodGroups: []cluster.PodGroup{{Name: "gang", Priority: prio(11), MinCount: prio(2)}},
	}
	for i, p := range []struct {
		node, group string
		cpu         int64
		priority    int32
	}{{"n2", "", 1, 0}, {"n1", "", 2, 0}, {"n2", "", 3, 0}, {"n1", "", 2, 0}, {"", "gang", 1, 11}, {"", "gang", 3, 11}} {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprint("p", i), Node: p.node, Group: p.group, Priority: prio(p.priority), Requests: preemption.Resources{cluster.CPU: p.cpu},
		})
	}
	o := preemption.Options{Rules: preemption.KEP5710Alpha, Placement: preemption.PlaceSpread, Limits: preemption.Limits{Pods: 1}}
	p := preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "gang"}
	r, err := o.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.NotNil(t, r.Nearest)
	require.Len(t, r.Nearest.Relaxations, 1)
	most := r.Nearest.Relaxations[0].Amount
	for more := range most + 1 {
		o.Limits.Pods = 1 + more
		again, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Equal(t, more == most, in(again), "%d more pods", more)
	}
}
