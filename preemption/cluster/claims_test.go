package cluster_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestWhatANodeIsAskedForIsAnInt64: sums of what runs on a node and what is nominated to
// it must not wrap, whether a pod is there from the beginning or comes later.
func TestWhatANodeIsAskedForIsAnInt64(t *testing.T) {
	const half = math.MaxInt64 / 2
	running := func(name string, amount int64) cluster.Pod {
		return cluster.Pod{Name: name, Node: "n", Requests: cluster.Resources{"x": amount}}
	}
	nominated := func(name string, amount int64) cluster.Pod {
		return cluster.Pod{Name: name, NominatedNode: "n", Requests: cluster.Resources{"x": amount}}
	}
	const pods, both = "the sum over its pods", "the sum over its pods and those nominated to it"
	for name, c := range map[string]struct {
		pods []cluster.Pod
		bad  string // which sum; empty: none
	}{
		"the largest that runs":             {[]cluster.Pod{running("a", half), running("b", half+1)}, ""},
		"more than that":                    {[]cluster.Pod{running("a", half), running("b", half+2)}, pods},
		"the largest with who is nominated": {[]cluster.Pod{running("a", half), nominated("b", half+1)}, ""},
		"more than that with them":          {[]cluster.Pod{running("a", half), nominated("b", half+2)}, both},
		"those nominated alone":             {[]cluster.Pod{nominated("a", math.MaxInt64), nominated("b", math.MaxInt64)}, both},
		"another one in place of a pod":     {[]cluster.Pod{nominated("a", math.MaxInt64), {Name: "b", Requests: cluster.Resources{"x": 9}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			snap := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{"x": 100}}}, Pods: c.pods}
			_, err := cluster.NewIndex(snap)
			if c.bad == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, `cluster: Node "n": requests[x]: `+c.bad+` is not an int64`)
			}

			last := c.pods[len(c.pods)-1]
			snap.Pods = c.pods[:len(c.pods)-1]
			ix, err := cluster.NewIndex(snap)
			require.NoError(t, err)
			require.Equal(t, c.bad == "", ix.MaySetPod(&last, cluster.NoPod), "it comes later")

			first := snap.Pods[0]
			first.Requests = cluster.Resources{"x": math.MaxInt64}
			require.True(t, ix.MaySetPod(&first, ix.PodByName(first.Namespace, first.Name)), "in place of itself")
		})
	}
}
