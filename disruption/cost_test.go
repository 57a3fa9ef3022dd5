package disruption_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

func TestTariff(t *testing.T) {
	tariff := disruption.Tariff{Fixed: 1, Milestones: 2, Restart: 3, Pods: 4}
	require.NoError(t, tariff.Validate())
	require.Equal(t, int64(10+2*20+3*30+4*40), tariff.Price(disruption.Loss{Fixed: 10, Curve: 20, RestartSeconds: 30, Pods: 40}))
	require.Equal(t, int64(math.MaxInt64), tariff.Price(disruption.Loss{Fixed: math.MaxInt64, Curve: math.MaxInt64}))
	require.True(t, disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {}}}.Free())
	require.False(t, disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1}}}.Free())
	require.False(t, tariff.Free())
	require.True(t, disruption.Tariff{}.Free())
	for _, one := range []disruption.Tariff{{Fixed: 1}, {Milestones: 1}, {Restart: 1}, {Pods: 1}} {
		require.False(t, one.Free(), "%+v", one)
	}

	bad := disruption.Tariff{Fixed: -1, Milestones: -4, Restart: -5, Pods: -6, Work: map[string]disruption.Rate{"b": {Price: -2}, "a": {Per: -3}}}
	require.EqualError(t, bad.Validate(), "disruption: tariff: fixed: -1 is not >= 0\n"+
		"disruption: tariff: milestones: -4 is not >= 0\ndisruption: tariff: restart: -5 is not >= 0\ndisruption: tariff: pods: -6 is not >= 0\n"+
		"disruption: tariff: work[a].per: -3 is not >= 0\ndisruption: tariff: work[b].price: -2 is not >= 0")
}

// pricesAreExact compares with arithmetic without bounds.
func pricesAreExact(t *rapid.T) {
	draw := func(name string) int64 { return rapid.Int64Range(0, math.MaxInt64).Draw(t, name) }
	priceIsExact(t, draw("a"), draw("b"), draw("price"), draw("per"))
}

func priceIsExact(t require.TestingT, a, b, price, per int64) {
	clamp := func(x *big.Int) int64 {
		if !x.IsInt64() {
			return math.MaxInt64
		}
		return x.Int64()
	}
	product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	work := new(big.Int).Mul(product, big.NewInt(price))
	work.Div(work, big.NewInt(max(per, 1)))
	require.Equal(t, clamp(work), disruption.Rate{Price: price, Per: per}.Of(a, b))
}

// TestPricesAreExactAtTheEnds: products of 192 bits whose parts carry, or are as large as what divides them.
func TestPricesAreExactAtTheEnds(t *testing.T) {
	for _, tt := range []struct{ a, b, price, per int64 }{
		{1 << 62, 28, 1, 7}, // 7 and 64 bits of zeroes, by 7
		{1 << 62, 28, 1, 8},
		{math.MaxInt64, 0x6666666666666668, 5, 1},              // just above 2^128: the lower parts carry into the highest
		{math.MaxInt64, 0x6666666666666668, 5, math.MaxInt64},  // which is then 1, and so is the next one
		{math.MaxInt64, 0x6666666666666668, 10, math.MaxInt64}, // where there is 1 already
		{1 << 62, 1 << 62, 32, math.MaxInt64},                  // 2 and 128 bits of zeroes
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 2, 3, 6},
		{math.MaxInt64, 2, 3, 0},
	} {
		priceIsExact(t, tt.a, tt.b, tt.price, tt.per)
	}
}

func TestPricesAreExact(t *testing.T) { rapid.Check(t, pricesAreExact) }
func FuzzPricesAreExact(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pricesAreExact)) }
