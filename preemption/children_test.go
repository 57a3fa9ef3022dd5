package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

// TestChildGroupsStayInTheirRegions: each child group that requires a zone or a rack is in one of them, in clusters so
// plain that columns price its members, and nodes are vacant until somebody looks.
func TestChildGroupsStayInTheirRegions(t *testing.T) {
	feasible, several := 0, 0
	for seed := range seeds(1000) {
		p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 4 + int(seed%3)*4, MaxPods: 30}, Composite: true, Topology: true, Wishes: true, MaxMembers: 8}
		q := gen.RandomGang(seed, p)
		o := preemption.Options{Members: []preemption.Members{"", preemption.MinCount}[seed%2]}
		if !asksSomething(q) || len(q.Snapshot.CompositePodGroups) == 0 {
			continue
		}
		r := ask(t, o, q)
		require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d", seed)
		if r.Verdict == preemption.Feasible {
			if feasible++; len(r.Nominations) > 2 {
				several++
			}
		}
	}
	require.Greater(t, feasible, int(seeds(100)))
	require.Greater(t, several, int(seeds(50)))
}
