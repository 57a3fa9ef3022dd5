package counting

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
)

// spread counts the ways to place so many equal members on nodes with these slots.
func spread(members int, slots []int64) (ways int) {
	switch {
	case members == 0:
		return 1
	case len(slots) == 0:
		return 0
	}
	for k := 0; k <= min(members, int(slots[0])); k++ {
		ways += spread(members-k, slots[1:])
	}
	return ways
}

// TestFewWaysAreCounted: what looking at all placements takes is within the domain's share of the
// checks, or they are too many.
func TestFewWaysAreCounted(t *testing.T) {
	few := map[bool]int{}
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 1))
		var slots []int64
		for range draw.IntN(5) {
			slots = append(slots, draw.Int64N(5))
		}
		members, potential, shares := 1+draw.IntN(5), draw.IntN(6), 1+draw.IntN(3)
		k, fewest := members-draw.IntN(2), draw.IntN(3) == 0
		var ways []int
		sum := 0
		for m := range members + 1 {
			ways = append(ways, spread(m, slots))
			sum += ways[m]
		}
		limit := slices.Max(ways[1:])
		if k < members || fewest {
			limit = sum
		}
		for _, left := range []int{max(limit-1, 0), limit, limit + 1} {
			for _, rest := range []int{0, shares*(1+potential) - 1} {
				checks := left*shares*(1+potential) + rest
				s := &Search{Question: Question{Members: make([]*domain.Member, members), Improves: true, Fewest: fewest, Checks: checks}, shares: shares}
				a := &attempt{Search: s, tools: &tools{slots: slots}, potential: potential}
				want := left >= limit
				require.Equal(t, want, a.fewWays(k), "seed %d: %d members on %v, limit %d, %d left", seed, members, slots, limit, left)
				few[want]++
				s.Improves = false
				require.False(t, a.fewWays(k))
			}
		}
	}
	require.Greater(t, few[true], 100)
	require.Greater(t, few[false], 100)
}
