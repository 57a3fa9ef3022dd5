package gang

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// TestTracesTellThePlan: of each domain that helps who is placed where and who stays out, each once and as in
// the plan, however many placements were tried; and that what was not traced comes to the same.
func TestTracesTellThePlan(t *testing.T) {
	compared := map[ask.Effort]int{}
	for seed := range uint64(120) {
		s := crowded(rand.New(rand.NewPCG(seed, 6)), 4, seed%2 == 0, true)
		for _, effort := range []ask.Effort{ask.Greedy, ask.Improved, ask.Exact} {
			settings := &ask.Settings{
				Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: true, Checks: 100_000,
				Effort: effort, Ranking: lessAsUpstream, Trace: true, Candidates: true,
			}
			var limits []ask.Bound
			if seed%4 < 2 { // then members of any shapes are not allotted
				limits = []ask.Bound{{Of: ask.NumPods, Left: 100}}
			}
			q := asks(t, s, settings, limits...)
			search := NewCounting(q, &sync.Pool{})
			answer := search.Run([][]domain.Domain{halves(q.Index)})
			at := fmt.Sprint("seed ", seed, ", effort ", effort)
			helps := map[string]*Plan{}
			for i := range search.Found {
				helps[search.Found[i].Domain.Name] = &search.Found[i]
			}
			for _, trace := range search.Traces {
				placed, out, back, scores := []domain.Assignment(nil), []victims.UnitID(nil), 0, 0
				for _, step := range trace.Steps {
					switch step.Action {
					case ask.Places:
						placed = append(placed, domain.Assignment{Member: step.Member, Node: step.Node})
					case ask.StaysOut:
						out = append(out, step.Unit)
					case ask.Returns:
						back++
					case ask.Scores:
						scores++
						require.Equal(t, helps[trace.Domain.Name].Score, step.Score, at)
					case ask.Compares:
						compared[effort]++
					}
				}
				plan := helps[trace.Domain.Name]
				if plan == nil {
					require.Zero(t, scores, at)
					continue
				}
				require.Equal(t, 1, scores, at)
				require.ElementsMatch(t, plan.Places, placed, at)
				slices.SortFunc(out, q.Units.Compare)
				require.Equal(t, plan.Victims, out, at)
				require.LessOrEqual(t, back+len(out), q.Units.Len(), at)
			}
			search.Close()
			plain := *settings
			plain.Trace = false
			q = asks(t, s, &plain, limits...)
			search = NewCounting(q, &sync.Pool{})
			untold := search.Run([][]domain.Domain{halves(q.Index)})
			require.Equal(t, answer.Verdict, untold.Verdict, at)
			if answer.Verdict == ask.Feasible {
				require.Equal(t, lessAsUpstream.Values(answer.Plan.Score), lessAsUpstream.Values(untold.Plan.Score), at)
			}
			search.Close()
		}
	}
	require.Greater(t, compared[ask.Improved], 20)
}
