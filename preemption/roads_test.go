package preemption_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

// TestRoadsAgree: the answer is the same, but for its statistics, whichever of the fast roads are closed, in clusters that have
// but a few kinds of things, so that the roads are open. Of a search that is no pass, which may find another of several
// least disruptions, the verdict and the score are. Every answer is verified.
func TestRoadsAgree(t *testing.T) {
	answer := func(o preemption.Options, q gen.Question, closed ...string) (string, preemption.Verdict) {
		for _, road := range closed {
			defer preemption.CloseRoad(road)()
		}
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			return err.Error(), ""
		}
		r.Stats, r.Trace = preemption.Stats{}, nil
		if o.Search != "" && o.Search != preemption.Greedy {
			r = &preemption.Result{Verdict: r.Verdict, Score: r.Score}
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		return string(text), r.Verdict
	}
	verdicts := map[preemption.Verdict]int{}
	for seed := range seeds(1600) {
		p := gen.FewThings(seed)
		q := gen.RandomGang(seed, p)
		roads := [][]string{{"counting"}, {"counting", "first seat"}, {"counting", "price first"}, {"counting", "first seat", "price first"}}
		if seed%3 == 0 {
			q = gen.Random(seed, p.Profile)
			roads = [][]string{{"at once"}, {"at once", "scan"}, {"at once", "scan", "sweep"}}
		}
		o := preemption.Options{Members: []preemption.Members{"", preemption.MinCount}[seed/3%2]}
		if seed%4 == 0 {
			o = gen.RandomOptions(seed)
		}
		want, verdict := answer(o, q)
		if verdicts[verdict]++; verdict == "" {
			continue
		}
		for _, closed := range roads {
			got, _ := answer(o, q, closed...)
			require.Equal(t, want, got, "seed %d: without %v", seed, closed)
		}
	}
	for _, v := range []preemption.Verdict{preemption.Feasible, preemption.Fits, preemption.Infeasible} {
		require.Greater(t, verdicts[v], 20, v)
	}
}
