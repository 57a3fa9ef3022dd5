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

	bad := disruption.Tariff{Fixed: -1, Work: map[string]disruption.Rate{"b": {Price: -2}, "a": {Per: -3}}}
	require.EqualError(t, bad.Validate(), "disruption: tariff: fixed: -1 is not >= 0\n"+
		"disruption: tariff: work[a].per: -3 is not >= 0\ndisruption: tariff: work[b].price: -2 is not >= 0")
}

// pricesAreExact compares with arithmetic without bounds.
func pricesAreExact(t *rapid.T) {
	draw := func(name string) int64 { return rapid.Int64Range(0, math.MaxInt64).Draw(t, name) }
	clamp := func(x *big.Int) int64 {
		if !x.IsInt64() {
			return math.MaxInt64
		}
		return x.Int64()
	}
	a, b, price, per := draw("a"), draw("b"), draw("price"), draw("per")
	product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	work := new(big.Int).Mul(product, big.NewInt(price))
	work.Div(work, big.NewInt(max(per, 1)))
	require.Equal(t, clamp(work), disruption.Rate{Price: price, Per: per}.Of(a, b))
}
func TestPricesAreExact(t *testing.T) { rapid.Check(t, pricesAreExact) }
func FuzzPricesAreExact(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pricesAreExact)) }
