package onepod_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
)

// least is the best that any set of victims on any node comes to, of at most so many pods: the
// highest priority, the sum of priorities, pods, and the node; nil if none makes room.
func (w *world) least(pod *cluster.Pod, most int) (best []int64) {
	for n := range w.ix.Nodes() {
		if w.ix.Node(n).Unschedulable {
			continue
		}
		var lower []cluster.PodID
		for _, p := range w.ix.PodsOn(n) {
			if w.ix.Priority(p) < *pod.Priority {
				lower = append(lower, p)
			}
		}
		for set := uint(1); set < 1<<len(lower); set++ {
			free := w.ix.Node(n).Allocatable[cluster.CPU]
			for _, p := range w.ix.PodsOn(n) {
				free -= w.ix.Pod(p).Requests[cluster.CPU]
			}
			highest, sum, pods := int64(0), int64(0), int64(bits.OnesCount(set))
			for i, p := range lower {
				if set>>i&1 != 0 {
					free += w.ix.Pod(p).Requests[cluster.CPU]
					highest = max(highest, int64(w.ix.Priority(p)))
					sum += int64(w.ix.Priority(p)) + 1<<31
				}
			}
			values := []int64{0, highest, sum, pods, int64(n)}
			if free >= pod.Requests[cluster.CPU] && int(pods) <= most && (best == nil || slices.Compare(values, best) < 0) {
				best = values
			}
		}
	}
	return best
}

// TestSearchesAreBruteForce: within limits, somebody goes wherever that is possible at all, and
// the best of all sets is found where it is asked for.
func TestSearchesAreBruteForce(t *testing.T) {
	for _, x := range []struct {
		name   string
		effort ask.Effort
		steps  int
	}{{"greedy", ask.Greedy, 0}, {"improved", ask.Improved, 0}, {"exact", ask.Exact, 0}, {"exact in one step", ask.Exact, 1}, {"greedy in one step", ask.Greedy, 1}} {
		t.Run(x.name, func(t *testing.T) {
			feasible, searched, missed, open := 0, 0, 0, 0
			for seed := range uint64(60) {
				draw := rand.New(rand.NewPCG(seed, 3))
				s := fleet(draw, 12)
				s.Budgets = nil
				w, pod := newWorld(t, s), asker(draw, 6)
				for range 8 {
					w.change(draw)
				}
				for _, most := range []int{2, 3, 4, 100} {
					settings := ask.Settings{Effort: x.effort, Steps: x.steps, ChunkSize: 7}
					if x.effort != ask.Greedy {
						settings.Ranking = lessAsUpstream
					}
					var limits []ask.Bound
					if most < 100 {
						limits = []ask.Bound{{Of: ask.NumPods, Left: int64(most)}}
					}
					greedy := settings
					greedy.Effort = ask.Greedy
					first := onepod.New(w.question(&greedy, limits, pod), &sync.Pool{}, new(onepod.Shapes))
					given := first.Run().Verdict == ask.Feasible
					search := onepod.New(w.question(&settings, limits, pod), &sync.Pool{}, new(onepod.Shapes))
					plan, best := search.Run(), w.least(pod, most)
					searched += search.Stats.Searched
					switch {
					case plan.Verdict == ask.Fits:
					case best == nil:
						require.Equal(t, ask.Infeasible, plan.Verdict, "seed %d, at most %d", seed, most)
						require.True(t, search.Stats.Exact || x.steps > 0)
					default:
						feasible++
						if x.steps > 0 && plan.Verdict == ask.Infeasible {
							require.False(t, search.Stats.Exact)
							break
						}
						require.Equal(t, ask.Feasible, plan.Verdict, "seed %d, at most %d", seed, most)
						require.LessOrEqual(t, search.Best.Score.Pods, most)
						if given {
							require.LessOrEqual(t, lessAsUpstream.Compare(search.Best.Score, first.Best.Score), 0, "whatever the steps, it is no worse than without a search")
						}
						have := append(lessAsUpstream.Values(search.Best.Score), int64(plan.Node))
						if slices.Compare(have, best) != 0 {
							missed++
						}
						if search.Open {
							require.NotEmpty(t, search.Bound)
							open++
						}
					}
					first.Close()
					search.Close()
				}
			}
			require.Greater(t, feasible, 100)
			require.Greater(t, searched, 100)
			require.Equal(t, x.effort == ask.Improved || x.effort == ask.Exact && x.steps > 0, open > 0)
			if x.effort != ask.Greedy {
				require.Zero(t, missed, "none is missed where so few go from a node")
			}
		})
	}
}
