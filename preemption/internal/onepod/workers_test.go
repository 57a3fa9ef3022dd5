package onepod

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// TestHolesCountForNothing: each chunk but the last has as many nodes as any other, wherever numbers are missing.
func TestHolesCountForNothing(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 20 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%02d", i)})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	sizes := func() (list []int) {
		from := cluster.NodeID(0)
		for _, c := range chunks(&ask.Question{Settings: &ask.Settings{ChunkSize: 4}, Index: ix}) {
			require.Equal(t, from, c.from)
			count := 0
			for range ix.NodesBetween(c.from, c.to) {
				count++
			}
			list, from = append(list, count), c.to
		}
		return list
	}
	require.Equal(t, []int{4, 4, 4, 4, 4}, sizes())
	for _, n := range []cluster.NodeID{0, 3, 4, 9, 19} {
		ix.RemoveNode(n)
	}
	require.Equal(t, []int{4, 4, 4, 3}, sizes())
}
