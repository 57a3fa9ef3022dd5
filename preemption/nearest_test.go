package preemption_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
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

// TestNearestOfWhoWouldWait: on a higher priority it would wait for who leaves its nominated node, and evict nobody elsewhere, unless that
// node could not take it. Ports that are taken there may become free, whatever else is short.
func TestNearestOfWhoWouldWait(t *testing.T) {
	four, port := preemption.Resources{cluster.CPU: 4}, []cluster.HostPort{{Port: 80}}
	raise := preemption.Relaxation{Kind: preemption.RelaxPriority, Amount: 6}
	room := preemption.Relaxation{Kind: preemption.RelaxResource, Node: "n2", Name: cluster.CPU, Amount: 4}
	for name, c := range map[string]struct {
		required string
		cpu      int64 // of its nominated node
		ports    []cluster.HostPort
		want     preemption.Relaxation
	}{
		"waits": {"", 4, nil, preemption.Relaxation{Kind: preemption.RelaxResource, Node: "n1", Name: cluster.CPU, Amount: 4}}, "another node is required": {"n2", 4, nil, raise}, "too small": {"", 1, nil, raise}, "too small, and a port": {"", 1, port, room},
	} {
		s := preemption.Snapshot{
			Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: c.cpu}}, {Name: "n2", Allocatable: four}},
			Pods: []preemption.Pod{
				{Name: "leaves", Node: "n1", Priority: prio(5), Terminating: true, Preempted: true}, {Name: "high", Node: "n1", Priority: prio(2_000_000_000), Ports: c.ports},
				{Name: "full", Node: "n1", Priority: prio(2_000_000_000), Requests: preemption.Resources{cluster.CPU: c.cpu}},
				{Name: "runs", Node: "n2", Priority: prio(5), Requests: four},
				{Name: "p", Priority: prio(5), NominatedNode: "n1", RequiredNode: c.required, Ports: c.ports, Requests: four},
			},
		}
		r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}, &s)
		require.NoError(t, err, name)
		require.NotNil(t, r.Nearest, name)
		require.Equal(t, []preemption.Relaxation{c.want}, r.Nearest.Relaxations, name)
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
		require.True(t, kinds[kind] > 0 || *long < 15, kind)
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
		asked := waits(1 << 40)
		r, err := preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}.PreemptContext(asked, p, s)
		require.NoError(t, err)
		require.Less(t, asked.asked.Load(), int64(3000+200*budgets), "who is given back is found out once, not for each of many bounds")
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

// TestNearestKnowsWhoStaysElsewhere: who was taken out while bounds were tried on n2 keeps the pod off n1, too.
func TestNearestKnowsWhoStaysElsewhere(t *testing.T) {
	s, cpu, in := &preemption.Snapshot{}, preemption.Resources{cluster.CPU: 1}, &preemption.Selector{MatchLabels: map[string]string{"app": "in"}}
	for _, n := range []string{"n1", "n2"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: n, Labels: map[string]string{"zone": "z"}, Allocatable: preemption.Resources{cluster.CPU: 2}})
		s.Pods = append(s.Pods, preemption.Pod{Name: "stays-" + n, Node: n, Priority: prio(math.MaxInt32), Requests: cpu})
	}
	s.Pods = append(s.Pods, preemption.Pod{Name: "goes", Node: "n2", Requests: cpu, AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "zone", Selector: in}}})
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Labels: in.MatchLabels, Priority: prio(5), Requests: preemption.Resources{cluster.CPU: 2}}}}
	r, err := preemption.Options{Limits: preemption.Limits{Pods: 1}}.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, &preemption.Nearest{Domain: "n2", Relaxations: []preemption.Relaxation{{Kind: preemption.RelaxResource, Node: "n2", Name: cluster.CPU, Amount: 1}}}, r.Nearest)
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

// A node has two GPUs, shared by four pods with half of one each. The new pod wants
// three fifths of one: both pods of one GPU have to go, and not one of each, although
// b is less important than c.
func Example_devices() {
	pod := func(name, node string, priority int32, r cluster.DeviceRequest) preemption.Pod {
		r.Resource = "nvidia.com/gpu"
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Devices: []cluster.DeviceRequest{r}}
	}
	half := func(device int32) cluster.DeviceRequest {
		return cluster.DeviceRequest{Fraction: 500, Assigned: []int32{device}}
	}
	result, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "new"}, &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Devices: map[string]cluster.DevicePool{"nvidia.com/gpu": {Count: 2, Capacity: 1000}}}},
		Pods: []preemption.Pod{
			pod("a", "n1", 1, half(0)), pod("b", "n1", 2, half(1)), pod("c", "n1", 3, half(0)), pod("d", "n1", 4, half(1)),
			pod("new", "", 9, cluster.DeviceRequest{Fraction: 600}),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("new", result.Message)
	for _, v := range result.Victims {
		fmt.Printf("evict %s: it cannot stay on %v\n", v.Name, v.Reason)
	}
	// Output:
	// new fits on n1 once 2 pods are evicted
	// evict c: it cannot stay on n1: device nvidia.com/gpu: 600 of one device
	// evict a: it cannot stay on n1: device nvidia.com/gpu: 600 of one device
}

const gpu = "example.com/gpu"

// gpusOf returns what is free on each GPU of a node, but for the pods that leave.
func gpusOf(s *preemption.Snapshot, node string, leave func(name string) bool) []int64 {
	var free []int64
	for _, n := range s.Nodes {
		if n.Name == node {
			for range n.Devices[gpu].Count {
				free = append(free, n.Devices[gpu].Capacity)
			}
		}
	}
	for _, p := range s.Pods {
		if p.Node != node || leave(p.Name) {
			continue
		}
		for _, r := range p.Devices {
			for _, device := range r.Assigned {
				if r.Count > 0 {
					free[device] = 0
				} else {
					free[device] -= r.Fraction
				}
			}
		}
	}
	return free
}

// seatsOn is an independent matcher: it looks at each GPU, and tells how many such requests have room.
func seatsOn(free []int64, r cluster.DeviceRequest) (seats int) {
	for _, v := range free {
		if r.Count == 0 {
			seats += int(v / r.Fraction)
		} else if v == 1000 {
			seats++
		}
	}
	return seats / int(max(r.Count, 1))
}

func hasRoom(free []int64, r cluster.DeviceRequest) bool { return seatsOn(free, r) > 0 }

// checkDevices checks that the victims of an answer free what the preemptor asks
// for, and that none of them could stay.
func checkDevices(t require.TestingT, s *preemption.Snapshot, want cluster.DeviceRequest, result *preemption.Result) {
	node := result.Nominations[0].Node
	victims := map[string]bool{}
	for _, v := range result.Victims {
		victims[v.Name] = true
		require.Equal(t, node, v.Pods[0].Node)
	}
	require.True(t, hasRoom(gpusOf(s, node, func(name string) bool { return victims[name] }), want),
		"the victims do not make room for %+v on %s", want, node)
	for _, v := range result.Victims {
		free := gpusOf(s, node, func(name string) bool { return victims[name] && name != v.Name })
		require.False(t, hasRoom(free, want), "%s need not go for %+v on %s", v.Name, want, node)
	}
}

// drawDevices draws nodes with up to most pods each that hold GPUs.
func drawDevices(t *rapid.T, nodes, most int) (s preemption.Snapshot) {
	number := func(most int) int { return rapid.IntRange(0, most).Draw(t, "n") }
	for i := range 1 + number(nodes-1) {
		n := cluster.Node{Name: fmt.Sprintf("n%d", i), Devices: map[string]cluster.DevicePool{gpu: {Count: int32(1 + number(3)), Capacity: 1000}}}
		s.Nodes = append(s.Nodes, n)
		for k := range number(most) {
			request := anyRequest(t)
			free := gpusOf(&s, n.Name, func(string) bool { return false })
			var assigned []int32
			for device, v := range free {
				fits := request.Count == 0 && v >= request.Fraction || request.Count > 0 && v == 1000
				if fits && len(assigned) < int(max(request.Count, 1)) {
					assigned = append(assigned, int32(device))
				}
			}
			if len(assigned) < int(max(request.Count, 1)) {
				continue
			}
			request.Assigned = assigned
			priority := int32(number(12))
			s.Pods = append(s.Pods, preemption.Pod{
				Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Priority: &priority, Devices: []cluster.DeviceRequest{request},
			})
		}
	}
	return s
}

func victimsFreeDevices(t *rapid.T) {
	s := drawDevices(t, 3, 8)
	want := anyRequest(t)
	priority := int32(10)
	p := preemption.Pod{Name: "new", Priority: &priority, Devices: []cluster.DeviceRequest{want}}
	result, err := preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{p}}, &s)
	require.NoError(t, err)
	switch result.Verdict {
	case preemption.Feasible, preemption.Fits:
		checkDevices(t, &s, want, result)
	case preemption.Infeasible:
		for _, n := range s.Nodes {
			free := gpusOf(&s, n.Name, func(name string) bool {
				for _, p := range s.Pods {
					if p.Name == name {
						return *p.Priority < 10
					}
				}
				return false
			})
			require.False(t, hasRoom(free, want), "evictions on %s help %+v", n.Name, want)
		}
	default:
		t.Fatal(result.Verdict)
	}
}

func anyRequest(t *rapid.T) cluster.DeviceRequest {
	r := cluster.DeviceRequest{Resource: gpu}
	if rapid.Bool().Draw(t, "whole") {
		r.Count = rapid.Int32Range(1, 3).Draw(t, "count")
	} else {
		r.Fraction = rapid.SampledFrom([]int64{100, 250, 300, 500, 700, 1000}).Draw(t, "fraction")
	}
	return r
}

func TestVictimsFreeDevicesAndNoneMore(t *testing.T) { rapid.Check(t, victimsFreeDevices) }
func FuzzVictimsFreeDevicesAndNoneMore(f *testing.F) { f.Fuzz(rapid.MakeFuzz(victimsFreeDevices)) }

// TestGangsFreeDevicesByBruteForce: of all sets of pods with whom gone equal members that ask for devices have places, Exact finds one that disrupts least, and
// proves it; with less search no less is found, nor is a bound above it.
func TestGangsFreeDevicesByBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, want, members := drawDevices(t, 3, 3), anyRequest(t), rapid.IntRange(1, 5).Draw(t, "members")
		seats := func(out uint) (seats int) {
			for _, n := range s.Nodes {
				seats += seatsOn(gpusOf(&s, n.Name, func(name string) bool {
					return out>>slices.IndexFunc(s.Pods, func(p preemption.Pod) bool { return p.Name == name })&1 != 0
				}), want)
			}
			return seats
		}
		var least []int64
		for out := range uint(1) << len(s.Pods) {
			score := []int64{math.MinInt64, 0}
			for i, p := range s.Pods {
				if out>>i&1 != 0 {
					score[0], score[1] = max(score[0], int64(*p.Priority)), score[1]+1
				}
			}
			if score[0] < 10 && (least == nil || slices.Compare(score, least) < 0) && seats(out) >= members {
				least = score
			}
		}
		high, every := int32(10), int32(members)
		gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &every, Priority: &high}}
		for i := range members {
			gang.Pods = append(gang.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{want}})
		}
		for i, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact, preemption.Improved, preemption.Exact} {
			o := preemption.Options{Search: search, Proof: true, Objective: []preemption.CriterionName{preemption.CriterionHighest, preemption.CriterionPods}}
			p := gang
			if i > 2 && members > 1 {
				break
			} else if i > 2 {
				p = preemption.Preemptor{Kind: preemption.KindPod, Pods: []preemption.Pod{{Name: "alone", Priority: &high, Devices: gang.Pods[0].Devices}}}
			}
			r, err := o.Preempt(p, &s)
			require.NoError(t, err)
			if least == nil {
				require.Equal(t, preemption.Infeasible, r.Verdict)
				continue
			}
			if least[1] == 0 {
				require.Equal(t, preemption.Fits, r.Verdict)
				continue
			}
			require.Equal(t, preemption.Feasible, r.Verdict)
			require.LessOrEqual(t, slices.Compare(least, said(r.Score)), 0, search)
			require.LessOrEqual(t, slices.Compare(said(r.Bound), least), 0, search)
			require.LessOrEqual(t, slices.Compare(said(r.Proof.Bound), least), 0, search)
			require.Empty(t, check.Verify(&s, o, p, r))
			if search == preemption.Exact {
				require.Equal(t, least, said(r.Score))
				require.True(t, r.Optimal)
			}
		}
	})
}

// TestSmallFractionsOfLargeDevices: however many of them a node has places for, all members go where one pod leaves, and not where two do.
func TestSmallFractionsOfLargeDevices(t *testing.T) {
	low, high, all := int32(1), int32(10), int32(2)
	pod := func(name, node string, priority *int32, cpu int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: priority, Requests: cluster.Resources{"cpu": cpu}}
	}
	for _, count := range []int32{1, 8, 17, 1024} {
		s := preemption.Snapshot{Pods: []preemption.Pod{pod("a", "n1", &low, 2), pod("b", "n2", &low, 1), pod("c", "n2", &low, 1)}}
		for name, count := range map[string]int32{"n1": count, "n2": 1} {
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: name, Allocatable: cluster.Resources{"cpu": 2}, Devices: map[string]cluster.DevicePool{gpu: {Count: count, Capacity: 1 << 40}},
			})
		}
		gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
		for i := range all {
			m := pod(fmt.Sprint("m", i), "", &high, 1)
			m.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: 1}}
			gang.Pods = append(gang.Pods, m)
		}
		r, err := preemption.Options{Search: preemption.Improved, Objective: []preemption.CriterionName{preemption.CriterionPods}}.Preempt(gang, &s)
		require.NoError(t, err)
		require.Equal(t, []int64{1}, said(r.Score), count)
		require.Equal(t, []int64{1}, said(r.Bound), count)
	}
}

// TestMoreThanDevicesHasASay: who holds a port of members, or is kept apart from them, goes as well as who holds devices and does not say which.
func TestMoreThanDevicesHasASay(t *testing.T) {
	low, high, all := int32(1), int32(10), int32(2)
	for _, keepOff := range []func(p *preemption.Pod){
		func(p *preemption.Pod) { p.Ports = []cluster.HostPort{{Port: 80}} },
		func(p *preemption.Pod) {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "kubernetes.io/hostname", Selector: &disruption.Selector{MatchLabels: map[string]string{"is": "b"}}}}
		},
	} {
		s, gang := preemption.Snapshot{}, preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
		for i := range 2 {
			n := fmt.Sprint("n", i)
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: n, Labels: map[string]string{"kubernetes.io/hostname": n}, Devices: map[string]cluster.DevicePool{gpu: {Count: 1, Capacity: 10}},
			})
			s.Pods = append(s.Pods,
				preemption.Pod{Name: "a" + n, Node: n, Priority: &low, Devices: []cluster.DeviceRequest{{Resource: gpu, Fraction: 10}}},
				preemption.Pod{Name: "b" + n, Node: n, Priority: &low, Labels: map[string]string{"is": "b"}, Ports: []cluster.HostPort{{Port: 80}}})
			m := preemption.Pod{Name: "m" + n, Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{{Resource: gpu, Count: 1}}}
			keepOff(&m)
			gang.Pods = append(gang.Pods, m)
		}
		r, err := preemption.Options{Search: preemption.Improved, Objective: []preemption.CriterionName{preemption.CriterionPods}}.Preempt(gang, &s)
		require.NoError(t, err)
		require.Equal(t, []int64{4}, said(r.Score))
		require.Equal(t, []int64{4}, said(r.Bound))
	}
}

// TestPromisedDevicesAreThere: whoever is promised devices gets them once the victims are gone,
// whatever the pods there say that they hold, or do not say.
func TestPromisedDevicesAreThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 2, MaxPods: 8, Devices: true}, MaxMembers: 8}
		m, q := gen.NewMaker(t, p)
		for i := range q.Snapshot.Pods { // as those say who ran before
			if p := &q.Snapshot.Pods[i]; p.Node == "" && p.Group != "" {
				p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: 3, Assigned: []int32{int32(m.N(3))}}}
				if m.N(3) == 0 {
					p.Devices[0].Count, p.Devices[0].Fraction = 1, 0
				}
			}
		}
		asked := []preemption.Preemptor{q.Preemptor, m.Preemptor()}[m.N(2)]
		asked.Placement = nil // one that is given goes with no planner
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		r, err := pl.Preempt(asked)
		if err != nil {
			return // nobody waits
		}
		t.Logf("snapshot %v\nanswer %v", told{q.Snapshot}, told{r})
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
			return
		}
		require.NoError(t, pl.Evict(r))
		for _, n := range r.Nominations {
			require.NoError(t, pl.Bind(n.Pod, n.Node))
		}
	})
}

// TestGangsGoWhereDevicesCostLeast: two pods share each GPU of a fleet. Greedy knows what room for devices costs on a node, so that few gangs take somebody more
// important, or more pods, than they have to.
func TestGangsGoWhereDevicesCostLeast(t *testing.T) {
	s := gen.Fleet(200, 30, 1, gen.Uniform)
	held := map[string]int32{}
	for i := range s.Nodes {
		s.Nodes[i].Devices = map[string]cluster.DevicePool{gpu: {Count: 8, Capacity: 1000}}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if k := held[p.Node]; k < 16 && i%7 != 0 {
			p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: 300 + 100*int64(i%3), Assigned: []int32{k % 8}}}
			held[p.Node]++
		}
	}
	for _, c := range []struct {
		members int
		ask     cluster.DeviceRequest
	}{{32, cluster.DeviceRequest{Count: 1}}, {100, cluster.DeviceRequest{Count: 2}}, {64, cluster.DeviceRequest{Fraction: 700}}} {
		all, high := int32(c.members), int32(1000)
		c.ask.Resource = gpu
		gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
		for i := range c.members {
			gang.Pods = append(gang.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{c.ask}})
		}
		greedy, err := preemption.Preempt(gang, &s)
		require.NoError(t, err)
		best, err := preemption.Options{Search: preemption.Exact}.Preempt(gang, &s)
		require.NoError(t, err)
		have, least := said(greedy.Score), said(best.Score)
		t.Logf("%d members that ask for %+v: %v, at least %v", c.members, c.ask, have, least)
		require.True(t, best.Optimal)
		require.Equal(t, least[:2], have[:2])
		require.LessOrEqual(t, 10*have[3], 11*least[3])
	}
}

// TestProofsKnowDevices: that two pods have to go for whole devices, or for a place of a fraction, is shown by devices alone, and no less may be said.
func TestProofsKnowDevices(t *testing.T) {
	low, high, all := int32(1), int32(10), int32(2)
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 1000}}}}}
	for i := range int32(4) {
		holds := cluster.DeviceRequest{Resource: "gpu", Fraction: 500, Assigned: []int32{i / 2}}
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Node: "n", Priority: &low, Devices: []cluster.DeviceRequest{holds}})
	}
	asks := func(name string, d cluster.DeviceRequest) preemption.Pod {
		return preemption.Pod{Name: name, Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{d}}
	}
	whole, part := cluster.DeviceRequest{Resource: "gpu", Count: 1}, cluster.DeviceRequest{Resource: "gpu", Fraction: 500}
	group := &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}
	for want, p := range map[int64]preemption.Preemptor{
		2: {Kind: preemption.KindPod, Pods: []preemption.Pod{{Name: "alone", Priority: &high, Devices: []cluster.DeviceRequest{whole}}}},
		4: {Group: group, Pods: []preemption.Pod{asks("a", whole), asks("b", whole)}},
		1: {Kind: preemption.KindPod, Pods: []preemption.Pod{{Name: "alone", Priority: &high, Devices: []cluster.DeviceRequest{part}}}},
		3: {Group: group, Pods: []preemption.Pod{asks("a", part), asks("b", whole)}}, // unlike, of whom sums tell nothing
	} {
		o := preemption.Options{Search: preemption.Exact, Proof: true, Objective: []preemption.CriterionName{preemption.CriterionPods}}
		r, err := o.Preempt(p, &s)
		require.NoError(t, err)
		require.Equal(t, []int64{want}, said(r.Score))
		require.Empty(t, check.Verify(&s, o, p, r))
		if want == 3 {
			require.Nil(t, r.Proof)
			continue
		}
		require.Equal(t, r.Score, r.Proof.Bound)
		for _, n := range r.Proof.Nodes {
			for _, step := range n.Steps {
				c := &step.Cases[0]
				require.True(t, c.Count > 0 || c.Resources["devices gpu"] > 0)
				c.Count, c.Resources = 0, nil
			}
		}
		require.NotEmpty(t, check.Verify(&s, o, p, r))
	}
}

// TestWorkersGoWhereDevicesCostLeast: beside a launcher of their size that asks for none.
func TestWorkersGoWhereDevicesCostLeast(t *testing.T) {
	const nodes, members = 400, 101
	s, high, all := preemption.Snapshot{}, int32(10), int32(members)
	add := func(node string, priority int32, devices ...cluster.DeviceRequest) {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprint("p", len(s.Pods)), Node: node, Priority: &priority, Requests: cluster.Resources{"cpu": 1}, Devices: devices,
		})
	}
	for i := range nodes {
		node, holder := fmt.Sprint("n", i), int32(9)
		if i > nodes/2 {
			holder = 2
		}
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: node, Allocatable: cluster.Resources{"cpu": 2}, Devices: map[string]cluster.DevicePool{"gpu": {Count: 1, Capacity: 1000}},
		})
		add(node, holder, cluster.DeviceRequest{Resource: "gpu", Count: 1, Assigned: []int32{0}})
		add(node, 2-holder/9)
	}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
	for i := range members {
		m := preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: &high, Requests: cluster.Resources{"cpu": 1}}
		if i > 0 {
			m.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}
		}
		gang.Pods = append(gang.Pods, m)
	}
	o := preemption.Options{}
	r, err := o.Preempt(gang, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Equal(t, int64(2), said(r.Score)[1], "highest priority")
	require.Len(t, r.Victims, members, "one for each: the launcher's room is its neighbour's, a worker's comes with its device")
}
