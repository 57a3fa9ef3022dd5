package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// A gang of unlike members that fills the free room of the nodes to the brim, in its own
// order, fits: nobody is evicted for it, whoever could be.
func TestUnlikeMembersThatFillTheNodesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const group = "job"
		high := int32(100)
		s := &preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: group, Priority: &high}}}
		for n := range rapid.IntRange(3, 6).Draw(t, "nodes") {
			node := preemption.Node{Name: fmt.Sprintf("n%d", n), Allocatable: preemption.Resources{cluster.CPU: 2}}
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprintf("old%d", n), Node: node.Name, Requests: preemption.Resources{cluster.CPU: 2}})
			for _, cpu := range rapid.SliceOfN(rapid.Int64Range(1, 9), 3, 5).Draw(t, "on a node") {
				node.Allocatable[cluster.CPU] += cpu
				s.Pods = append(s.Pods, preemption.Pod{
					Name: fmt.Sprintf("m%02d", len(s.Pods)), Group: group, Priority: &high, Requests: preemption.Resources{cluster.CPU: cpu},
				})
			}
			s.Nodes = append(s.Nodes, node)
		}
		least := int32(len(s.Pods) - len(s.Nodes))
		s.PodGroups[0].MinCount = &least
		r, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: group}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Fits, r.Verdict)
		require.Len(t, r.Nominations, int(least))
	})
}
