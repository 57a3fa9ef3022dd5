package gang

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// TestFewestGroupsAreTouched: whose pods are on several nodes counts once, which no sum over nodes tells.
func TestFewestGroupsAreTouched(t *testing.T) {
	settled, fewer := 0, 0
	for seed := range uint64(150) {
		draw := rand.New(rand.NewPCG(seed, 8))
		s := crowded(draw, 3, seed%3 == 0, true)
		for i := range 3 {
			level := int32(5 * i)
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("g", i), Basic: true, Priority: &level})
		}
		for i := range s.Pods {
			if p := &s.Pods[i]; p.Node != "" && *p.Priority < 15 {
				p.Group, p.Priority = fmt.Sprint("g", draw.IntN(3)), nil
			}
		}
		found := map[ask.Effort]int64{}
		for _, effort := range []ask.Effort{ask.Greedy, ask.Improved, ask.Exact} {
			q := asks(t, s, &ask.Settings{
				Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: true, Checks: 100_000, Effort: effort,
				Ranking: victims.Ranking{victims.CriterionGroups, victims.CriterionPods},
			})
			domains := seating.Split(q.Index, nil)
			search := NewCounting(q, &sync.Pool{})
			answer := search.Run([][]domain.Domain{domains})
			search.Close()
			if answer.Verdict != ask.Feasible {
				continue
			}
			touched := func(out []cluster.PodID) []int64 {
				groups := map[cluster.GroupID]bool{}
				for _, p := range out {
					groups[q.Index.GroupOf(p)] = true
				}
				return []int64{int64(len(groups)), int64(len(out))}
			}
			var out []cluster.PodID
			for _, u := range answer.Plan.Victims {
				out = append(out, q.Units.Unit(u).Pods...)
			}
			have, want := touched(out), fewest(q, &domains[0], len(q.Members), 100, touched)
			found[effort] = have[0]
			if search.Open {
				require.LessOrEqual(t, slices.Compare(search.Least, want), 0, "seed %d", seed)
			}
			if effort != ask.Exact || search.Open {
				continue
			}
			require.Equal(t, want, have, "seed %d", seed)
			settled++
			if found[ask.Exact] < found[ask.Greedy] {
				fewer++
			}
		}
	}
	require.Greater(t, settled, 50)
	require.Positive(t, fewer)
}
