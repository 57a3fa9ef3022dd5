package disruption_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

func curve(t require.TestingT, first int64, points ...disruption.Milestone) disruption.Curve {
	c, err := disruption.NewCurve(first, points)
	require.NoError(t, err)
	return c
}

func TestCurve(t *testing.T) {
	kep := curve(t, 0, disruption.Milestone{Seconds: 60, Value: 100}, disruption.Milestone{Seconds: 600})
	for seconds, want := range map[int64]int64{
		math.MinInt64: 0, -1: 0, 0: 0, 1: 1, 30: 50, 59: 98, 60: 100, 61: 99, 330: 50, 599: 0, 600: 0, math.MaxInt64: 0,
	} {
		require.Equal(t, want, kep.At(seconds), "KEP-83's curve after %d seconds", seconds)
	}
	raised := curve(t, 7, disruption.Milestone{Seconds: 10, Value: 17})
	require.Equal(t, []int64{7, 7, 12, 17, 17}, []int64{raised.At(-5), raised.At(0), raised.At(5), raised.At(10), raised.At(11)})
	fromZero := curve(t, 7, disruption.Milestone{Seconds: 0, Value: 3}, disruption.Milestone{Seconds: 2, Value: -4})
	require.Equal(t, []int64{3, 3, -1, -4}, []int64{fromZero.At(-1), fromZero.At(0), fromZero.At(1), fromZero.At(2)}, "rounded down, below zero too")
	require.Equal(t, int64(9), curve(t, 9).At(1000), "without milestones it stays where it begins")
	require.Zero(t, disruption.Curve{}.At(5))

	wide := curve(t, math.MinInt64, disruption.Milestone{Seconds: math.MaxInt64, Value: math.MaxInt64})
	require.Equal(t, int64(math.MinInt64), wide.At(0))
	require.Equal(t, int64(math.MaxInt64), wide.At(math.MaxInt64))
	require.Equal(t, int64(-2), wide.At(math.MaxInt64/2), "half-way between -2 and -1")
}

// TestUntilTheNextValue: a curve tells how long it stays as it is.
func TestUntilTheNextValue(t *testing.T) {
	level := curve(t, 5, disruption.Milestone{Seconds: 1, Value: 100}, disruption.Milestone{Seconds: 600, Value: 100}, disruption.Milestone{Seconds: 700})
	require.Equal(t, int64(5), level.At(0), "it begins where it is said to, and not with the first milestone")
	for seconds, want := range map[int64]int64{
		math.MinInt64: 1, -1: 1, 0: 1, 1: 600, 2: 600, 599: 600, 600: 601, 601: 602, 699: 700, 700: math.MaxInt64, 701: math.MaxInt64,
	} {
		require.Equal(t, want, level.Until(seconds), "after %d seconds", seconds)
	}
	require.Equal(t, int64(math.MaxInt64), disruption.Curve{}.Until(0))
}

func TestMilestonesOutOfOrder(t *testing.T) {
	_, err := disruption.NewCurve(0, []disruption.Milestone{{Seconds: -1}, {Seconds: 5}, {Seconds: 5}, {Seconds: 4}})
	require.ErrorIs(t, err, disruption.ErrMilestone)
	require.EqualError(t, err, "disruption: milestones[0].seconds: -1 is not >= 0\n"+
		"disruption: milestones[2].seconds: 5 is not above those of the milestone before, 5\n"+
		"disruption: milestones[3].seconds: 4 is not above those of the milestone before, 5")
	_, err = disruption.NewCurve(0, []disruption.Milestone{{Seconds: 5}, {Seconds: 5}})
	require.EqualError(t, err, "disruption: milestones[1].seconds: 5 is not above those of the milestone before, 5")
}

// curveIsExact compares with arithmetic without bounds.
func curveIsExact(t *rapid.T) {
	first := rapid.Int64().Draw(t, "first")
	seconds := rapid.SliceOfNDistinct(rapid.Int64Range(1, math.MaxInt64), 1, 4, rapid.ID).Draw(t, "seconds")
	points := []disruption.Milestone{}
	for _, s := range seconds {
		points = append(points, disruption.Milestone{Seconds: s, Value: rapid.Int64().Draw(t, "value")})
	}
	for i := range points {
		for j := range i {
			if points[i].Seconds < points[j].Seconds {
				points[i], points[j] = points[j], points[i]
			}
		}
	}
	at := rapid.Int64().Draw(t, "at")
	want := first
	last := disruption.Milestone{Value: first}
	for _, p := range points {
		switch {
		case at >= p.Seconds:
			want = p.Value
		case at > last.Seconds:
			rise := new(big.Int).Sub(big.NewInt(p.Value), big.NewInt(last.Value))
			rise.Mul(rise, big.NewInt(at-last.Seconds))
			rise.Div(rise, big.NewInt(p.Seconds-last.Seconds)) // Euclidean: rounds down, as the divisor is positive
			want = rise.Add(rise, big.NewInt(last.Value)).Int64()
		}
		if at < p.Seconds {
			break
		}
		last = p
	}
	c := curve(t, first, points...)
	require.Equal(t, want, c.At(at))
	until := c.Until(at)
	if until == math.MaxInt64 {
		require.Equal(t, want, c.At(until))
		return
	}
	require.Greater(t, until, at)
	require.Equal(t, want, c.At(rapid.Int64Range(at, until-1).Draw(t, "before")), "until %d", until)
}
func TestCurveIsExact(t *testing.T) { rapid.Check(t, curveIsExact) }
func FuzzCurveIsExact(f *testing.F) { f.Fuzz(rapid.MakeFuzz(curveIsExact)) }

// The curve of KEP-83: cheap at first, dear after a minute, cheap again once there
// is a checkpoint.
func ExampleCurve_At() {
	c, err := disruption.NewCurve(0, []disruption.Milestone{{Seconds: 60, Value: 100}, {Seconds: 600, Value: 0}})
	if err != nil {
		panic(err)
	}
	for _, seconds := range []int64{0, 30, 60, 330, 600} {
		fmt.Println(seconds, c.At(seconds))
	}
	// Output:
	// 0 0
	// 30 50
	// 60 100
	// 330 50
	// 600 0
}

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
