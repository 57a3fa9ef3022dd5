package preemption_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
)

// TestWhyNotOfQueuedPreemptors: WhyNot knows where the preemptor of a queue goes and who
// goes for it, and has a sentence for every other node and pod.
func TestWhyNotOfQueuedPreemptors(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	everyQueued(t, func(t *testing.T, c *queuedCase, r *preemption.Result) {
		planner, err := preemption.NewPlanner(c.snapshot, c.options)
		require.NoError(t, err)
		at, gone := map[string]bool{}, map[string]bool{}
		for _, n := range r.Nominations {
			at[n.Node] = true
		}
		for _, v := range r.Victims {
			gone[v.Name] = true
			for _, p := range v.Pods {
				gone[p.Name] = true
			}
		}
		for _, n := range c.snapshot.Nodes {
			why, err := planner.WhyNot(c.preemptor, preemption.NodeTarget(n.Name))
			require.NoError(t, err)
			require.Equal(t, at[n.Name], why.Chosen, "%s: %s", n.Name, why.Text)
			require.NotEmpty(t, why.Text)
			note(seen, why.Text)
		}
		for _, p := range c.snapshot.Pods {
			if p.Node == "" {
				continue
			}
			why, err := planner.WhyNot(c.preemptor, preemption.UnitTarget(p.Name))
			require.NoError(t, err)
			require.Equal(t, gone[p.Name], why.Chosen, "%s: %s", p.Name, why.Text)
			require.NotEmpty(t, why.Text)
			note(seen, why.Text)
		}
	})
	for _, part := range grounds {
		require.Positive(t, seen[part], part)
	}
}

// TestWhyNotOfAGangThatCannotBe: a gang of a queue with fewer pods than it needs is told so,
// whatever is asked about.
func TestWhyNotOfAGangThatCannotBe(t *testing.T) {
	two := int32(2)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		ClusterQueues: []preemption.ClusterQueue{{Name: "all"}},
		LocalQueues:   []preemption.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Nodes:         []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 1}}},
		PodGroups:     []preemption.PodGroup{{Name: "gang", MinCount: &two, Queue: "team"}},
		Pods: []preemption.Pod{
			{Name: "old", Node: "n1", Queue: "team", Requests: preemption.Resources{"cpu": 1}},
			{Name: "m1", Group: "gang", Requests: preemption.Resources{"cpu": 1}},
		},
	}, preemption.Options{})
	require.NoError(t, err)
	for _, target := range []preemption.Target{preemption.NodeTarget("n1"), preemption.UnitTarget("old")} {
		why, err := planner.WhyNot(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "gang"}, target)
		require.NoError(t, err)
		require.False(t, why.Chosen)
		require.Contains(t, why.Text, "pod group gang has 1 pod, fewer than its minCount")
	}
}

// grounds are parts of the sentences that WhyNot has.
var grounds = []string{
	"is chosen", "preemption does not help: no place", "preemption does not help: nobody that the queue may evict",
	"help, but", "is as good as", "is a victim", "withinClusterQueue", "reclaimWithinCohort", "does not borrow",
	"may not be evicted: its priority", "may stay: the preemptor fits", "may go, but that does not help",
	"nobody is a victim: fits in", "it goes elsewhere: fits in",
}

func note(seen map[string]int, text string) {
	for _, part := range grounds {
		if strings.Contains(text, part) {
			seen[part]++
		}
	}
}
