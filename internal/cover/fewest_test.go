package cover_test

import (
	"math"
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
