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
