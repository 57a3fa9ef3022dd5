package checked_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/checked"
)

func Example() {
	fmt.Println(checked.Add(math.MaxInt64-1, 5) == math.MaxInt64)
	fmt.Println(checked.MulDiv(7, 3, 4))
	// Output:
	// true
	// 5 true
}

// clamp is n at the ends of int64.
func clamp(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// TestTheEndsOfMulDiv: the quotients at which int64 and the division end.
func TestTheEndsOfMulDiv(t *testing.T) {
	for _, tt := range []struct {
		a, b, c, quotient int64
		rest              bool
	}{
		{0x5555555555555555, 3, 2, math.MaxInt64, true}, // 2^64-1 by 2
		{math.MaxInt64, 2, 2, math.MaxInt64, false},
		{1 << 62, 4, 2, math.MaxInt64, false}, // one more than there is
		{math.MaxInt64, 4, 3, math.MaxInt64, false},
		{1 << 62, 28, 7, math.MaxInt64, false}, // the upper half of the product is 7
		{math.MaxInt64, math.MaxInt64, 1, math.MaxInt64, false},
	} {
		quotient, rest := checked.MulDiv(tt.a, tt.b, tt.c)
		require.Equal(t, tt.quotient, quotient, "%d*%d/%d", tt.a, tt.b, tt.c)
		require.Equal(t, tt.rest, rest, "%d*%d/%d", tt.a, tt.b, tt.c)
	}
}

// TestExactUntilTheEnds: everything is as with numbers of any size, cut off at the ends.
func TestExactUntilTheEnds(t *testing.T) {
	some := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		require.Equal(t, clamp(new(big.Int).Add(x, y)), checked.Add(a, b))
		require.Equal(t, clamp(new(big.Int).Sub(x, y)), checked.Sub(a, b))
		if a < 0 || b < 0 {
			return
		}
		product := new(big.Int).Mul(x, y)
		require.Equal(t, clamp(product), checked.Mul(a, b))
		require.Equal(t, new(big.Int).GCD(nil, nil, x, y).Int64(), checked.GCD(a, b))
		c, d := max(some.Draw(t, "c"), 1), max(some.Draw(t, "d"), 0)
		require.Equal(t, product.Cmp(new(big.Int).Mul(big.NewInt(c), big.NewInt(d))), checked.CompareProducts(a, b, c, d))
		quotient, rest := new(big.Int).QuoRem(product, big.NewInt(c), new(big.Int))
		q, left := checked.MulDiv(a, b, c)
		require.Equal(t, clamp(quotient), q)
		require.Equal(t, quotient.IsInt64() && rest.Sign() > 0, left)
	})
}
