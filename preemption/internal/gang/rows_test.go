package gang

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// TestPlacesCostTheLeastOfAllSets: for members that are alike, whoever is asked about, in whatever order and
// one after the other.
func TestPlacesCostTheLeastOfAllSets(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(150) {
		draw := rand.New(rand.NewPCG(seed, 9))
		q := asks(t, crowded(draw, 3, false, true), &ask.Settings{})
		d := seating.Split(q.Index, nil)[0]
		trial := domain.NewGangTrial(q.Index, q.Members, nil, func(cluster.PodID) bool { return false })
		size, members := q.Members[0].Pod.Requests[cluster.CPU], len(q.Members)
		s := newSums(trial, trial, &d, members, q.Members[0].Request(), slices.Repeat([]int{-1}, q.Index.NumNodes()))
		var pods []cluster.PodID
		for _, n := range d.Nodes {
			pods = append(pods, q.Index.PodsOn(n)...)
		}
		for range 4 {
			draw.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			asked := pods[:1+draw.IntN(len(pods))]
			var items [][]cluster.PodID
			var price []int64
			sum := int64(0)
			for _, p := range asked {
				items, price = append(items, []cluster.PodID{p}), append(price, 1+draw.Int64N(9))
				sum += price[len(price)-1]
			}
			want := int64(math.MaxInt64)
			for set := range uint(1) << len(items) {
				cost, left := int64(0), make([]int64, q.Index.NumNodes())
				for _, n := range d.Nodes {
					left[n] = q.Index.Node(n).Allocatable[cluster.CPU]
					for _, p := range q.Index.PodsOn(n) {
						left[n] -= q.Index.Pod(p).Requests[cluster.CPU]
					}
				}
				for rest := set; rest != 0; rest &= rest - 1 {
					i := bits.TrailingZeros(rest)
					cost += price[i]
					left[q.Index.NodeOf(items[i][0])] += q.Index.Pod(items[i][0]).Requests[cluster.CPU]
				}
				seats := int64(0)
				for _, free := range left {
					seats += free / size
				}
				if seats >= int64(members) {
					want = min(want, cost)
				}
			}
			got, _, _ := s.Least(items, price, make([]bool, len(items)), math.MaxInt64-1, 1<<20)
			if want == math.MaxInt64 {
				require.Greater(t, got, sum, "seed %d", seed)
				none++
				continue
			}
			require.Equal(t, want, got, "seed %d", seed)
			found++
		}
	}
	require.Greater(t, found, 100)
	require.Greater(t, none, 10)
}
