package cover_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/cover"
)

// says is what multipliers say of every set, times their price: what is given is exact.
func says(p *cover.Problem, m cover.Multipliers) *big.Int {
	sum := new(big.Int)
	times := func(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }
	left := make([]*big.Int, p.Items)
	for i := range left {
		left[i] = new(big.Int)
		if p.Price != nil {
			left[i] = times(m.Price, p.Price[i])
		}
	}
	for r, row := range p.Frees {
		sum.Add(sum, times(m.Rows[r], p.Need[r]))
		for _, c := range row {
			left[c.Item].Sub(left[c.Item], times(m.Rows[r], min(c.Amount, p.Need[r])))
		}
	}
	for k, side := range p.Sides {
		sum.Sub(sum, times(m.Sides[k], side.Room))
		for _, c := range side.Weight {
			left[c.Item].Add(left[c.Item], times(m.Sides[k], c.Amount))
		}
	}
	for _, v := range left {
		if v.Sign() < 0 {
			sum.Add(sum, v)
		}
	}
	return sum
}

// TestRelaxSaysWhatIsTrue: no set costs less than multipliers say, which are not below zero nor above what fines
// allow; and of many problems they say as much as there is, or that there is nothing.
func TestRelaxSaysWhatIsTrue(t *testing.T) {
	t.Parallel()
	tight, loose := 0, 0
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := random(r, 1+r.IntN(8), 1+r.IntN(3))
		m := cover.Relax(p)
		for _, v := range append(append([]int64{m.Price}, m.Rows...), m.Sides...) {
			require.GreaterOrEqual(t, v, int64(0), "seed %d", seed)
		}
		for k, side := range p.Sides {
			if side.Fine != cover.Hard {
				most := new(big.Int).Mul(big.NewInt(m.Price), big.NewInt(side.Fine))
				require.LessOrEqual(t, big.NewInt(m.Sides[k]).Cmp(most), 0, "seed %d", seed)
			}
		}
		least := says(p, m)
		want, price := brute(p, p.Items, func([]bool) bool { return true })
		switch {
		case want == nil:
			all := new(big.Int).Mul(big.NewInt(m.Price), big.NewInt(p.AtMost))
			if least.Cmp(all) > 0 {
				tight++
			} else {
				loose++
			}
		case price == math.MaxInt64: // sums that are too large
		default:
			have := new(big.Int).Mul(big.NewInt(m.Price), big.NewInt(price))
			require.LessOrEqual(t, least.Cmp(have), 0, "seed %d: %v", seed, p)
			if have.Sub(have, least); have.Cmp(big.NewInt(m.Price)) < 0 || have.Sign() == 0 {
				tight++
			} else {
				loose++
			}
		}
	}
	t.Log(tight, loose)
	require.Greater(t, tight, 3_850)
}
