package preemption_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

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
}
