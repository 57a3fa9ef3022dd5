package losses_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestWhatAWholeHas: of a composite of many pods each group is listed once, wherever its pods run, and the pods of each priority are counted.
func TestWhatAWholeHas(t *testing.T) {
	snap := &cluster.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{{Name: "all", Mode: disruption.All, Priority: ptr(7)}}}
	for g := range 3 {
		snap.PodGroups = append(snap.PodGroups, cluster.PodGroup{Name: fmt.Sprint("g", g), Parent: "all", MinCount: ptr(1)})
	}
	for i := range 12 {
		n := fmt.Sprintf("n%02d", i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: n})
		snap.Pods = append(snap.Pods, cluster.Pod{Name: fmt.Sprintf("p%02d", i), Node: n, Group: fmt.Sprint("g", i%3), Priority: ptr(int32(1 + i%2))})
	}
	ix, err := cluster.NewIndex(snap)
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	u, _ := us.UnitOf(0)
	require.Len(t, us.Unit(u).Pods, 12)
	ws := losses.NewWholes(us, nil)
	w := ws.Of(u)
	require.Equal(t, map[int32]int64{1: 6, 2: 6}, w.Levels)
	require.EqualValues(t, 1, w.Lowest)
	require.Len(t, w.Groups, 3)
	for _, g := range w.Groups {
		require.Equal(t, "all", ix.Group(g).PodGroup.Parent)
	}
}
