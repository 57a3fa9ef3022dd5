package cover_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/cover"
)

// TestSolveCountsWhatRowsTake: of each of eight rows of thirty items a small part is missing, so that none goes without
// an item, and by multipliers all of them together without two. Without a decision it is known that seven are too few.
func TestSolveCountsWhatRowsTake(t *testing.T) {
	p := &cover.Problem{Items: 240, AtMost: math.MaxInt64, Sides: []cover.Side{{Fine: cover.Hard}}}
	for i := range p.Items {
		if i%30 == 0 {
			p.Need, p.Frees = append(p.Need, 3), append(p.Frees, nil)
		}
		last := len(p.Frees) - 1
		p.Frees[last] = append(p.Frees[last], cover.Cell{Item: i, Amount: int64(10 + i%7)})
		p.Sides[0].Weight = append(p.Sides[0].Weight, cover.Cell{Item: i, Amount: 1})
	}
	p.Sides[0].Room = 7
	a := cover.Solve(p)
	require.True(t, a.Proved)
	require.Nil(t, a.Chosen)

	p.Price, p.AtMost, p.Sides = make([]int64, p.Items), 79, nil // as much is known of a price
	for i := range p.Price {
		p.Price[i] = int64(10 + i%3)
	}
	a = cover.Solve(p)
	require.True(t, a.Proved)
	require.Nil(t, a.Chosen)

	p.AtMost, p.Steps = 80, math.MaxInt
	require.EqualValues(t, 80, cover.Solve(p).Price)
}

// inRows draws a problem whose items are in one of a few rows each, and perhaps all in one more, and weigh on a
// side, or have a price, or both.
func inRows(r *rand.Rand) *cover.Problem {
	p := &cover.Problem{AtMost: math.MaxInt64}
	amounts, need := []int64{}, func(list []int64) {
		sum := int64(0)
		for _, v := range list {
			sum += v
		}
		p.Need = append(p.Need, 1+r.Int64N(sum))
	}
	for range 1 + r.IntN(3) {
		row, first := cover.Row{}, p.Items
		for range 1 + r.IntN(4) {
			amounts = append(amounts, 1+r.Int64N(5))
			row = append(row, cover.Cell{Item: p.Items, Amount: amounts[p.Items]})
			p.Items++
		}
		p.Frees = append(p.Frees, row)
		need(amounts[first:])
	}
	if r.IntN(2) == 0 {
		all := make([]int64, p.Items)
		for i := range all {
			all[i] = 1 + r.Int64N(5)
		}
		p.Frees = append(p.Frees, cover.RowOf(all))
		need(all)
	}
	kind := r.IntN(3)
	if kind > 0 {
		weights := make([]int64, p.Items)
		for i := range weights {
			weights[i] = 1 + r.Int64N(3)
		}
		p.Sides = []cover.Side{{Weight: cover.RowOf(weights), Room: r.Int64N(2 * int64(p.Items)), Fine: cover.Hard}}
	}
	if kind < 2 {
		p.Price = make([]int64, p.Items)
		for i := range p.Price {
			p.Price[i] = 1 + r.Int64N(3)
		}
		p.AtMost = r.Int64N(3 * int64(p.Items))
	}
	return p
}

// TestWhatRowsTakeIsTrue: what is said without a decision, or after a few, holds for all sets, and after enough of them the
// best one is found.
func TestWhatRowsTakeIsTrue(t *testing.T) {
	t.Parallel()
	atOnce := 0
	for seed := range uint64(4_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := inRows(r)
		want, price := brute(p, p.Items, func([]bool) bool { return true })
		for _, p.Steps = range []int{0, 3, math.MaxInt} {
			a := cover.Solve(p)
			switch {
			case want == nil:
				require.Nil(t, a.Chosen, "seed %d", seed)
			case a.Chosen == nil:
				require.False(t, a.Proved, "seed %d", seed)
			default:
				require.GreaterOrEqual(t, a.Price, price, "seed %d", seed)
			}
			if want != nil {
				require.LessOrEqual(t, a.Bound, price, "seed %d", seed)
			}
			if p.Steps == math.MaxInt {
				require.True(t, a.Proved)
				require.Equal(t, want, a.Chosen, "seed %d", seed)
			}
			if p.Steps == 0 && a.Proved && want == nil {
				atOnce++
			}
		}
	}
	require.Greater(t, atOnce, 1000)
}
