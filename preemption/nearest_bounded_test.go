package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
