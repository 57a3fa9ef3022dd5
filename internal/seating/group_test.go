package seating_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// group is composite group "job" of groups that need 3, 1 and 2 of three members each, and so many of these groups; nil: all.
// The first member of the last group runs.
func group(t *testing.T, minGroups *int32) (job *seating.Group, placed []string) {
	s := &cluster.Snapshot{
		Time:               time.Unix(100, 0),
		Nodes:              []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 9}}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "job", MinGroupCount: minGroups}},
	}
	for i, need := range []int32{3, 1, 2} {
		name := fmt.Sprint("g", i)
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: name, Parent: "job", MinCount: &need})
		for k, pod := range []struct {
			priority int32
			created  int64
		}{{1, 20}, {1, 10}, {2, 30}} {
			p := cluster.Pod{Name: fmt.Sprintf("%s-%d", name, k), Group: name, Priority: &pod.priority, Created: time.Unix(pod.created, 0)}
			if i == 2 && k == 0 {
				p.Node = "n0"
			}
			s.Pods = append(s.Pods, p)
		}
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	last := ix.Group(ix.GroupByName(cluster.KindPodGroup, "", "g2"))
	before := slices.Clone(last.Pods)
	job = seating.NewGroup(ix, ix.GroupByName(cluster.KindCompositePodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		placed = append(placed, ix.Pod(p).Name)
		return domain.MemberID(len(placed) - 1)
	})
	require.Equal(t, before, last.Pods, "the index is as it was")
	return job, placed
}

// TestWhoIsPlacedFirst: higher priority, then who was created earlier; not who runs.
func TestWhoIsPlacedFirst(t *testing.T) {
	_, placed := group(t, nil)
	require.Equal(t, []string{"g0-2", "g0-1", "g0-0", "g1-2", "g1-1", "g1-0", "g2-2", "g2-1"}, placed)
}

// TestHowManyAGroupNeeds: of the groups that need fewest as many as have to run, beside who runs already.
func TestHowManyAGroupNeeds(t *testing.T) {
	for groups, want := range map[int32]int{1: 1, 2: 2, 3: 5} {
		job, _ := group(t, &groups)
		require.Equal(t, want, job.Fewest())
		require.EqualValues(t, groups, job.MinChildren)
	}
	job, _ := group(t, nil)
	require.Equal(t, 5, job.Fewest())
	require.Equal(t, 3, job.MinChildren)
	require.Equal(t, []int{3, 1, 1}, []int{job.Children[0].Need(), job.Children[1].Need(), job.Children[2].Need()})
	require.Zero(t, (&seating.Group{Min: 1, Running: 2}).Need())
}
