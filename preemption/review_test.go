package preemption_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestAnAnswerIsReviewedAtItsNodeAsInTheWholeCluster: whether a pod fits as things are,
// and whether its place still fits after the cluster has changed, is the same looked up
// and looked at.
func TestAnAnswerIsReviewedAtItsNodeAsInTheWholeCluster(t *testing.T) {
	fits, kept, lost := 0, 0, 0
	for seed := range seeds(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		q, o := gen.Random(seed, gen.Everything()), seededOptions(seed)
		o.Sampling = nil
		if seed%2 == 0 { // what is swept
			o = preemption.Options{}
		}
		answer, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			continue
		}
		quick, plain, err := o.FitsBothWays(q.Preemptor, &q.Snapshot)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, plain, quick, "seed %d: fits as things are", seed)
		if plain {
			fits++
		}
		if len(answer.Nominations) != 1 {
			continue
		}
		for range r.IntN(3) { // others come to where it goes, or anywhere
			p := cluster.Pod{Namespace: "late", Name: string(rune('a' + r.IntN(26))), Node: answer.Nominations[0].Node}
			p.Requests = cluster.Resources{cluster.CPU: int64(r.IntN(3000))}
			if r.IntN(3) == 0 {
				high := int32(1 << 30)
				p.Node, p.NominatedNode, p.Priority = "", p.Node, &high
			}
			q.Snapshot.Pods = append(q.Snapshot.Pods, p)
		}
		alone, whole, err := o.ReviewBothWays(answer, &q.Snapshot)
		if err != nil {
			continue // two came by one name
		}
		require.Equal(t, whole, alone, "seed %d: still fits", seed)
		if whole {
			kept++
		} else {
			lost++
		}
	}
	t.Log(fits, "fit as things are;", kept, "places kept,", lost, "lost")
	require.Greater(t, min(fits, kept, lost), 50)
}

// TestAReviewTellsOfTheMemberThatHasNoPlace: it is not the first one that lacks a port.
func TestAReviewTellsOfTheMemberThatHasNoPlace(t *testing.T) {
	port := []cluster.HostPort{{Port: 80}}
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 4}}}}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	r, err := pl.Preempt(preemption.Preemptor{
		Group: &preemption.PodGroup{Name: "g", MinCount: prio(2)}, Pods: []preemption.Pod{{Name: "a"}, {Name: "b", Ports: port}},
	})
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "late", Node: "n1", Ports: port}))
	v, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, preemption.Replan, v.Advice)
	require.Contains(t, v.Reason, "b does not fit any more: ")
	require.Contains(t, v.Reason, "80")
}
