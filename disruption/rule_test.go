package disruption_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

// pod is a pod of a test unit.
type pod struct {
	namespace, name string
	labels          map[string]string
}

var (
	app     = map[string]string{"app": "web"}
	onApp   = &disruption.Selector{MatchLabels: app}
	noLabel = &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.DoesNotExist}}}
)

func budget(name string, allowed int32, selector *disruption.Selector, disrupted ...string) disruption.Budget {
	return disruption.Budget{Namespace: "shop", Name: name, Selector: selector, Allowed: allowed, Disrupted: disrupted}
}

func web(name string) pod { return pod{"shop", name, app} }

// split charges the units, most important first, and returns the violations that
// each of them adds and what the budgets have left.
func split(t *testing.T, r disruption.Rule, budgets []disruption.Budget, units ...[]pod) (violations []int, left []int64) {
	t.Helper()
	set, err := disruption.NewSet(budgets)
	require.NoError(t, err)
	ledger := disruption.NewLedger(set.Allowed())
	for _, unit := range units {
		violations = append(violations, ledger.ChargeUnit(r, len(unit), func(i int) []disruption.BudgetID {
			return set.Covering(nil, r, unit[i].namespace, unit[i].name, unit[i].labels)
		}))
	}
	for b := range set.Len() {
		left = append(left, ledger.Left(disruption.BudgetID(b)))
	}
	return violations, left
}

// Every row of the three generations: what each of them answers to one question.
func TestGenerationsOfTheRule(t *testing.T) {
	type answer struct {
		Violations []int
		Left       []int64
	}
	bare := []pod{{namespace: "shop", name: "bare"}}
	for _, tt := range []struct {
		name    string
		budgets []disruption.Budget
		units   [][]pod

		pod136, group136, both137 answer
	}{
		{
			name:     "a pod without labels is matched in v1.37 only",
			budgets:  []disruption.Budget{budget("b", 0, noLabel)},
			units:    [][]pod{bare},
			pod136:   answer{[]int{0}, []int64{0}},
			group136: answer{[]int{0}, []int64{0}},
			both137:  answer{[]int{1}, []int64{-1}},
		},
		{
			name:     "an empty selector covers every pod in v1.37, none before",
			budgets:  []disruption.Budget{budget("b", 0, &disruption.Selector{})},
			units:    [][]pod{{web("w1")}, {web("w2")}},
			pod136:   answer{[]int{0, 0}, []int64{0}},
			group136: answer{[]int{0, 0}, []int64{0}},
			both137:  answer{[]int{1, 1}, []int64{-2}},
		},
		{
			name:     "an empty selector covers a pod without labels in v1.37",
			budgets:  []disruption.Budget{budget("b", 0, &disruption.Selector{})},
			units:    [][]pod{bare},
			pod136:   answer{[]int{0}, []int64{0}},
			group136: answer{[]int{0}, []int64{0}},
			both137:  answer{[]int{1}, []int64{-1}},
		},
		{
			name:     "a nil selector covers nothing ever",
			budgets:  []disruption.Budget{budget("b", 0, nil)},
			units:    [][]pod{{web("w")}, bare},
			pod136:   answer{[]int{0, 0}, []int64{0}},
			group136: answer{[]int{0, 0}, []int64{0}},
			both137:  answer{[]int{0, 0}, []int64{0}},
		},
		{
			name: "two budgets on a pod are both charged by the pod rule, the others stop at the first below zero",
			budgets: []disruption.Budget{
				budget("p1", 0, &disruption.Selector{MatchLabels: map[string]string{"x": "x"}}),
				budget("p2", 1, onApp),
			},
			units:    [][]pod{{{"shop", "x", map[string]string{"app": "web", "x": "x"}}}, {web("y")}},
			pod136:   answer{[]int{1, 1}, []int64{-1, -1}},
			group136: answer{[]int{1, 0}, []int64{-1, 0}},
			both137:  answer{[]int{1, 0}, []int64{-1, 0}},
		},
		{
			name: "with the spent budget last the first one is charged by every rule",
			budgets: []disruption.Budget{
				budget("p1", 1, onApp),
				budget("p2", 0, &disruption.Selector{MatchLabels: map[string]string{"x": "x"}}),
			},
			units:    [][]pod{{{"shop", "x", map[string]string{"app": "web", "x": "x"}}}, {web("y")}},
			pod136:   answer{[]int{1, 1}, []int64{-1, -1}},
			group136: answer{[]int{1, 1}, []int64{-1, -1}},
			both137:  answer{[]int{1, 1}, []int64{-1, -1}},
		},
		{
			name:     "the group rule of v1.36 stops at the first violating pod of a unit and counts units",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("g1"), web("g2"), web("g3"), web("g4")}, {web("h")}},
			pod136:   answer{[]int{3, 1}, []int64{-4}},
			group136: answer{[]int{1, 1}, []int64{-2}},
			both137:  answer{[]int{3, 1}, []int64{-4}},
		},
		{
			name:     "a disrupted pod is passed over: no charge and no violation",
			budgets:  []disruption.Budget{budget("b", 0, onApp, "gone")},
			units:    [][]pod{{web("gone")}, {web("w")}},
			pod136:   answer{[]int{0, 1}, []int64{-1}},
			group136: answer{[]int{0, 1}, []int64{-1}},
			both137:  answer{[]int{0, 1}, []int64{-1}},
		},
		{
			name:     "a budget below zero is violated by the first pod and goes further down",
			budgets:  []disruption.Budget{budget("b", -3, onApp)},
			units:    [][]pod{{web("w")}},
			pod136:   answer{[]int{1}, []int64{-4}},
			group136: answer{[]int{1}, []int64{-4}},
			both137:  answer{[]int{1}, []int64{-4}},
		},
		{
			name:     "the lowest allowance of all does not wrap",
			budgets:  []disruption.Budget{budget("b", -1<<31, onApp)},
			units:    [][]pod{{web("w")}, {web("v")}},
			pod136:   answer{[]int{1, 1}, []int64{-1<<31 - 2}},
			group136: answer{[]int{1, 1}, []int64{-1<<31 - 2}},
			both137:  answer{[]int{1, 1}, []int64{-1<<31 - 2}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, c := range []struct {
				generation string
				rule       disruption.Rule
				want       answer
			}{
				{"PodRule136", disruption.PodRule136, tt.pod136},
				{"GroupRule136", disruption.GroupRule136, tt.group136},
				{"Rule137", disruption.Rule137, tt.both137},
			} {
				var got answer
				got.Violations, got.Left = split(t, c.rule, tt.budgets, tt.units...)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.generation, diff)
				}
			}
		})
	}
}

// Upstream's own scenarios, TestFilterVictimsWithPDBViolation.
func TestFilterVictimsWithPDBViolation(t *testing.T) {
	for _, tt := range []struct {
		name     string
		budgets  []disruption.Budget
		units    [][]pod
		group136 []int
		both137  []int
	}{
		{
			name:     "no budget, no violation",
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "a budget of another namespace does not match",
			budgets:  []disruption.Budget{{Namespace: "other", Name: "b", Selector: onApp}},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "one allowed, one victim",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "none allowed, the victim violates",
			budgets:  []disruption.Budget{budget("b", 0, onApp)},
			units:    [][]pod{{web("a")}},
			group136: []int{1}, both137: []int{1},
		},
		{
			name:     "a group of two with one allowed violates",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("a"), web("b")}},
			group136: []int{1}, both137: []int{1},
		},
		{
			name:     "a group of two with two allowed",
			budgets:  []disruption.Budget{budget("b", 2, onApp)},
			units:    [][]pod{{web("a"), web("b")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "two units with one allowed: the second violates",
			budgets:  []disruption.Budget{budget("b", 1, onApp)},
			units:    [][]pod{{web("a")}, {web("b")}},
			group136: []int{0, 1}, both137: []int{0, 1},
		},
		{
			name:     "a pod among the disrupted ones does not violate",
			budgets:  []disruption.Budget{budget("b", 0, onApp, "a")},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{0},
		},
		{
			name:     "an empty selector does not violate, since v1.37 it does",
			budgets:  []disruption.Budget{budget("b", 0, &disruption.Selector{})},
			units:    [][]pod{{web("a")}},
			group136: []int{0}, both137: []int{1},
		},
		{
			name:     "two budgets, the second without allowance",
			budgets:  []disruption.Budget{budget("b1", 1, onApp), budget("b2", 0, onApp)},
			units:    [][]pod{{web("a")}},
			group136: []int{1}, both137: []int{1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := split(t, disruption.GroupRule136, tt.budgets, tt.units...)
			if diff := cmp.Diff(tt.group136, got); diff != "" {
				t.Errorf("GroupRule136 (-want +got):\n%s", diff)
			}
			got, _ = split(t, disruption.Rule137, tt.budgets, tt.units...)
			if diff := cmp.Diff(tt.both137, got); diff != "" {
				t.Errorf("Rule137 (-want +got):\n%s", diff)
			}
		})
	}
}

// The generators draw from few keys, values and names, so that things collide.

func drawLabels(t *rapid.T) map[string]string {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"", "1", "2"}), 0, 3).Draw(t, "labels")
}

func drawSelector(t *rapid.T) *disruption.Selector {
	if rapid.IntRange(0, 9).Draw(t, "nil") == 0 {
		return nil
	}
	s := &disruption.Selector{}
	if rapid.Bool().Draw(t, "match labels") {
		s.MatchLabels = drawLabels(t)
	}
	for range rapid.IntRange(0, 2).Draw(t, "expressions") {
		r := disruption.Requirement{
			Key:      rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"),
			Operator: rapid.SampledFrom([]disruption.Operator{disruption.In, disruption.NotIn, disruption.Exists, disruption.DoesNotExist}).Draw(t, "operator"),
		}
		if r.Operator == disruption.In || r.Operator == disruption.NotIn {
			r.Values = rapid.SliceOfN(rapid.SampledFrom([]string{"", "1", "2", "3"}), 1, 3).Draw(t, "values")
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	return s
}

func drawBudgets(t *rapid.T) []disruption.Budget {
	budgets := make([]disruption.Budget, rapid.IntRange(0, 6).Draw(t, "budgets"))
	for i := range budgets {
		budgets[i] = disruption.Budget{
			Namespace: rapid.SampledFrom([]string{"", "shop"}).Draw(t, "namespace"),
			Selector:  drawSelector(t),
			Disrupted: rapid.SliceOfN(rapid.SampledFrom([]string{"p", "q", "r"}), 0, 2).Draw(t, "disrupted"),
		}
	}
	return budgets
}

// drawRule draws any combination, not only upstream's three.
func drawRule(t *rapid.T) disruption.Rule {
	return disruption.Rule{
		EmptySelectorCoversAll: rapid.Bool().Draw(t, "empty selector covers all"),
		UnlabelledCovered:      rapid.Bool().Draw(t, "unlabelled covered"),
		StopAtFirst:            rapid.Bool().Draw(t, "stop at first"),
		WholeUnit:              rapid.Bool().Draw(t, "whole unit"),
		CountPods:              rapid.Bool().Draw(t, "count pods"),
	}
}

const numLedgerBudgets = 4

func drawAllowed(t *rapid.T) []int32 {
	return rapid.SliceOfN(rapid.Int32Range(-2, 3), numLedgerBudgets, numLedgerBudgets).Draw(t, "allowed")
}

// drawPods draws, for each of some pods, the budgets that cover it, ascending.
func drawPods(t *rapid.T) [][]disruption.BudgetID {
	pods := make([][]disruption.BudgetID, rapid.IntRange(0, 6).Draw(t, "pods"))
	for i := range pods {
		for b := range numLedgerBudgets {
			if rapid.Bool().Draw(t, "covered") {
				pods[i] = append(pods[i], disruption.BudgetID(b))
			}
		}
	}
	return pods
}

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
