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
			groups := map[cluster.GroupID]bool{}
			for _, u := range answer.Plan.Victims {
				groups[q.Index.GroupOf(q.Units.Unit(u).Pods[0])] = true
			}
			found[effort] = int64(len(groups))
			want := fewestGroups(q, &domains[0])
			if search.Open {
				require.LessOrEqual(t, slices.Compare(search.Least, []int64{int64(want[0]), int64(want[1])}), 0, "seed %d", seed)
			}
			if effort != ask.Exact || search.Open {
				continue
			}
			require.Equal(t, want, [2]int{len(groups), len(answer.Plan.Victims)}, "seed %d", seed)
			settled++
			if found[ask.Exact] < found[ask.Greedy] {
				fewer++
			}
		}
	}
	require.Greater(t, settled, 50)
	require.Positive(t, fewer)
}

// fewestGroups is how few groups, and then pods, of any set that makes room for all members.
func fewestGroups(q *ask.Question, d *domain.Domain) (best [2]int) {
	var lower []cluster.PodID
	var sizes []int64
	free := make([]int64, q.Index.NumNodes())
	for _, n := range d.Nodes {
		free[n] = q.Index.Node(n).Allocatable[cluster.CPU]
		for _, p := range q.Index.PodsOn(n) {
			free[n] -= q.Index.Pod(p).Requests[cluster.CPU]
			if q.Index.GroupOf(p) != cluster.NoGroup {
				lower = append(lower, p)
			}
		}
	}
	for _, m := range q.Members {
		sizes = append(sizes, m.Pod.Requests[cluster.CPU])
	}
	best = [2]int{100, 100}
	for set := range uint(1) << len(lower) {
		left, groups, pods := append([]int64(nil), free...), map[cluster.GroupID]bool{}, 0
		for i, p := range lower {
			if set>>i&1 != 0 {
				left[q.Index.NodeOf(p)] += q.Index.Pod(p).Requests[cluster.CPU]
				groups[q.Index.GroupOf(p)] = true
				pods++
			}
		}
		if now := [2]int{len(groups), pods}; (now[0] < best[0] || now[0] == best[0] && now[1] < best[1]) && seats(left, sizes) {
			best = now
		}
	}
	return best
}
