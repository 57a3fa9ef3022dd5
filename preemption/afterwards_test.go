package preemption_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// twoZones has eight nodes of four CPUs, in the zones a and b in turn; full, if asked,
// with a pod on each.
func twoZones(full bool) *preemption.Snapshot {
	snap := &preemption.Snapshot{}
	for i := range 8 {
		node := fmt.Sprintf("n%d", i)
		snap.Nodes = append(snap.Nodes, cluster.Node{
			Name: node, Labels: map[string]string{"zone": string(rune('a' + i%2))}, Allocatable: cluster.Resources{"cpu": 4},
		})
		if full {
			snap.Pods = append(snap.Pods, cluster.Pod{Name: fmt.Sprintf("p%d", i), Node: node, Requests: cluster.Resources{"cpu": 4}})
		}
	}
	return snap
}

// zonal asks for a pod in a zone.
func zonal(zone string) preemption.Preemptor {
	prio := int32(10)
	return preemption.Preemptor{Pods: []cluster.Pod{{
		Name: "x", Priority: &prio, Requests: cluster.Resources{"cpu": 2}, NodeSelector: map[string]string{"zone": zone},
	}}}
}

// TestWhatWasAskedInlineMayBeChangedAfterwards: also where the planner remembers how the
// nodes stand for the pod's shape.
func TestWhatWasAskedInlineMayBeChangedAfterwards(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	for range 4 {
		r, err := pl.Preempt(p)
		require.NoError(t, err)
		require.Equal(t, "n0", r.Domain)
	}
	p.Pods[0].NodeSelector["zone"] = "b"
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "p4"})) // looked at anew, for a pod in zone a
	d, err := pl.Decide(zonal("a"))
	require.NoError(t, err)
	require.Equal(t, preemption.Decision{Verdict: preemption.Fits, Domain: "n4"}, d)
}

// TestWhyNotTellsNothingOfOtherPlanners: where a pod fits, nodes after that are not
// looked at, and what another search has left of its own must not be told of them.
func TestWhyNotTellsNothingOfOtherPlanners(t *testing.T) {
	sampled, err := preemption.NewPlanner(twoZones(true), preemption.Options{Sampling: &preemption.Sampling{Percent: 10, Minimum: 1}})
	require.NoError(t, err)
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	for range 20 { // memory is used again at the runtime's pleasure
		_, err := sampled.Preempt(zonal("a"))
		require.NoError(t, err)
		why, err := pl.WhyNot(zonal("a"), preemption.NodeTarget("n4"))
		require.NoError(t, err)
		require.Equal(t, "it fits on n4 too, but n0 comes first", why.Text)
	}
}

// TestWarningsThatHaveGoneLeaveNothing: not even an empty list.
func TestWarningsThatHaveGoneLeaveNothing(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	require.NoError(t, pl.SetPod(cluster.Pod{Name: "lost", Node: "nowhere"}))
	r, err := pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "lost"}))
	fresh, err := preemption.Preempt(zonal("a"), pl.Snapshot())
	require.NoError(t, err)
	r, err = pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(fresh, r))
}

// TestWarningsOfALargeClusterAreCounted: the first 1,000, and how many others; what is odd about the question is said beside.
func TestWarningsOfALargeClusterAreCounted(t *testing.T) {
	s := twoZones(false)
	for i := range 1_234 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("lost-%04d", i), Node: "nowhere"})
	}
	r, err := preemption.Preempt(zonal("a"), s)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1_001)
	require.Equal(t, "lost-0999", r.Warnings[999].Name)
	require.Equal(t, cluster.Warning{Kind: cluster.KindSnapshot, Field: "Warnings", Value: "1234", Text: "234 more are not listed"}, r.Warnings[1_000])
	_, err = preemption.Options{Strict: true}.Preempt(zonal("a"), s)
	require.ErrorContains(t, err, "234 more")
}

// TestAGangThatFitsGoesElsewhere: where it fits, nobody may be told that it goes nowhere.
func TestAGangThatFitsGoesElsewhere(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	p.Group = &preemption.PodGroup{Name: "gang"}
	p.Pods[0].Group = "gang"
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	why, err := pl.WhyNot(p, preemption.NodeTarget("n4"))
	require.NoError(t, err)
	require.Equal(t, "it goes elsewhere: "+r.Message, why.Text)
}
