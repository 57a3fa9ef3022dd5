package check_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

// TestWhatIsPreferredIsRead: another node that fits or ties is not what the pod prefers, and
// one that does not offer what it asks for is no candidate.
func TestWhatIsPreferredIsRead(t *testing.T) {
	node := func(name string, cores int64) preemption.Node {
		return preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": cores}}
	}
	pod := func(name, on string, cores int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: on, Requests: preemption.Resources{"cpu": cores}}
	}
	nine := int32(9)
	web := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &nine, Requests: preemption.Resources{"cpu": 2}}}}
	o := preemption.Options{Prefer: preemption.LeastAllocated, Candidates: true}
	fits := &preemption.Snapshot{Nodes: []preemption.Node{node("a", 4), node("b", 8)}}
	ties := &preemption.Snapshot{
		Nodes: []preemption.Node{node("a", 4), node("b", 6), {Name: "bare"}},
		Pods:  []preemption.Pod{pod("a1", "a", 2), pod("a2", "a", 2), pod("b1", "b", 3), pod("b2", "b", 3)},
	}
	for name, c := range map[string]struct {
		snapshot *preemption.Snapshot
		forge    func(r *preemption.Result)
	}{
		"the first that fits":        {fits, func(r *preemption.Result) { r.Domain, r.Nominations[0].Node = "a", "a" }},
		"a candidate that is bare":   {ties, func(r *preemption.Result) { r.Candidates[0].Domain = "bare" }},
		"the other one that ties":    {ties, func(r *preemption.Result) { choose(r, "a") }},
		"a node that offers nothing": {ties, func(r *preemption.Result) { r.Domain, r.Nominations[0].Node = "bare", "bare" }},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := o.Preempt(web, c.snapshot)
			require.NoError(t, err)
			require.Equal(t, "b", r.Domain)
			require.Empty(t, check.Verify(c.snapshot, o, web, r))
			c.forge(r)
			require.NotEmpty(t, check.Verify(c.snapshot, o, web, r))
		})
	}
}

// choose lets the candidate on that node be the answer.
func choose(r *preemption.Result, node string) {
	c := r.Candidates[slices.IndexFunc(r.Candidates, func(c preemption.Candidate) bool { return c.Domain == node })]
	r.Domain, r.Nominations[0].Node = node, node
	r.Victims, r.Score, r.Violations, r.Overruns = c.Victims, c.Score, c.Violations, c.Overruns
}
