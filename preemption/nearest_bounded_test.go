package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
