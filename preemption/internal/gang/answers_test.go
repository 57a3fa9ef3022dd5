package gang_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// TestAnswersAreTrue: of gangs of every kind, whatever is asked for, nothing is untrue that can be verified. They are the same answers, for
// as much work: which of several that are true a search comes to, and what it looks at on the way, changes on purpose only.
func TestAnswersAreTrue(t *testing.T) {
	told, sum := map[preemption.Verdict]int{}, fnv.New64a()
	for seed := range uint64(1600) {
		o, q := genopts.Random(seed), gen.RandomWorld(seed)
		if seed%3 > 0 {
			q = gen.RandomGang(seed, gen.FewThings(seed))
		}
		if seed%2 == 0 { // what is asked for closes most roads
			o = preemption.Options{Rules: o.Rules, Members: o.Members, Explain: o.Explain, Candidates: o.Candidates, LowestLevel: seed%5 == 0}
		}
		if seed%4 == 0 { // bounds that weigh alike, or in units of 3
			o.Limits = preemption.Limits{Victims: int64(seed % 3), Pods: int64(1 + seed%7), Cost: int64(seed % 20)}
			o.Cost.Tariff.Pods = 3
		}
		if g, err := naive.NewGang(naive.GangOptions{}, q.Preemptor, &q.Snapshot); err == nil && seed%9 == 0 {
			var nodes []string
			for _, n := range q.Snapshot.Nodes {
				nodes = append(nodes, n.Name)
			}
			q.Preemptor.Placement = gen.RandomPlacement(seed, g.Members, nodes)
		}
		o.Strict, o.WaitSeconds, o.SearchSteps = false, 0, 200
		o.Search = []preemption.Search{o.Search, preemption.Improved, preemption.Exact}[seed/2%3]
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			continue
		}
		require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d", seed)
		told[r.Verdict]++
		fmt.Fprintln(sum, r.Verdict, r.Domain, r.Nominations, r.Score, r.Bound, r.Rejected, r.Unplaced, r.Stats)
		for _, c := range append(r.Candidates, preemption.Candidate{Victims: r.Victims}) {
			fmt.Fprintln(sum, c.Domain, c.Score, c.Best)
			for _, v := range c.Victims {
				fmt.Fprintln(sum, v.Name, len(v.Pods), v.Violates)
			}
		}
		for _, d := range r.Trace {
			for _, s := range d.Steps {
				fmt.Fprintln(sum, s.Action, s.Unit)
			}
		}
	}
	require.Greater(t, told[preemption.Feasible], 250)
	require.Greater(t, told[preemption.Infeasible], 250)
	require.Greater(t, told[preemption.Fits], 250)
	require.Equal(t, uint64(0xdf45a07a5bfde1e8), sum.Sum64())
}
