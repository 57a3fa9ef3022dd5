package disruption_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

type ids = []disruption.BudgetID

func left(l *disruption.Ledger) []int64 {
	out := make([]int64, l.Len())
	for b := range out {
		out[b] = l.Left(disruption.BudgetID(b))
	}
	return out
}

func widen(allowed []int32) []int64 {
	out := make([]int64, len(allowed))
	for i, n := range allowed {
		out[i] = int64(n)
	}
	return out
}

// plainCharge is the rule on a plain slice: one unit's violations.
func plainCharge(left []int64, r disruption.Rule, unit [][]disruption.BudgetID) int {
	violating := 0
	for _, pod := range unit {
		violates := false
		for _, b := range pod {
			left[b]--
			if left[b] < 0 {
				violates = true
				if r.StopAtFirst {
					break
				}
			}
		}
		if violates {
			violating++
			if !r.WholeUnit {
				break
			}
		}
	}
	if violating > 0 && !r.CountPods {
		return 1
	}
	return violating
}

func ledgerFollowsTheRule(t *rapid.T) {
	allowed, rule := drawAllowed(t), drawRule(t)
	ledger, plain := disruption.NewLedger(allowed), widen(allowed)
	for range rapid.IntRange(0, 4).Draw(t, "units") {
		unit := drawPods(t)
		want := plainCharge(plain, rule, unit)
		got := ledger.ChargeUnit(rule, len(unit), func(i int) ids { return unit[i] })
		if got != want {
			t.Fatalf("%v of %v: %d violations, want %d", unit, plain, got, want)
		}
		if diff := cmp.Diff(plain, left(ledger)); diff != "" {
			t.Fatalf("left (-plain +ledger):\n%s", diff)
		}
	}
	ledger.Reset()
	if diff := cmp.Diff(widen(allowed), left(ledger)); diff != "" {
		t.Fatalf("Reset left a trace (-allowed +left):\n%s", diff)
	}
	if n := ledger.Overruns(); n != 0 {
		t.Fatalf("overruns %d after Reset", n)
	}
}

func TestLedgerFollowsTheRule(t *testing.T) { rapid.Check(t, ledgerFollowsTheRule) }
func FuzzLedgerFollowsTheRule(f *testing.F) { f.Fuzz(rapid.MakeFuzz(ledgerFollowsTheRule)) }

func TestRefundIsTheInverseOfChargeAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed, pods := drawAllowed(t), drawPods(t)
		ledger := disruption.NewLedger(allowed)
		ledger.Charge(drawRule(t), ids{0, 2}) // not from the start only
		before, overruns := left(ledger), ledger.Overruns()
		for _, pod := range pods {
			violates := ledger.ChargeAll(pod)
			below := slices.ContainsFunc(pod, func(b disruption.BudgetID) bool { return ledger.Left(b) < 0 })
			if violates != below {
				t.Fatalf("charging %v says violates=%v, left %v", pod, violates, left(ledger))
			}
		}
		order := rapid.Permutation(pods).Draw(t, "return order")
		for _, pod := range order {
			ledger.Refund(pod)
		}
		if diff := cmp.Diff(before, left(ledger)); diff != "" {
			t.Fatalf("(-before +after):\n%s", diff)
		}
		if got := ledger.Overruns(); got != overruns {
			t.Fatalf("overruns %d, before %d", got, overruns)
		}
	})
}

func TestOverrunsAreAFunctionOfTheVictims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed, victims := drawAllowed(t), drawPods(t)
		var want int64
		for b, n := range allowed {
			charged := 0
			for _, pod := range victims {
				if slices.Contains(pod, disruption.BudgetID(b)) {
					charged++
				}
			}
			want += max(0, int64(charged)-max(0, int64(n)))
		}
		ledger := disruption.NewLedger(allowed)
		for _, pod := range rapid.Permutation(victims).Draw(t, "order") {
			ledger.ChargeAll(pod)
		}
		if got := ledger.Overruns(); got != want {
			t.Fatalf("overruns %d, want %d", got, want)
		}
	})
}

func TestOverruns(t *testing.T) {
	for _, tt := range []struct {
		name    string
		allowed []int32
		victims [][]disruption.BudgetID
		want    int64
	}{
		{"nobody leaves", []int32{0, -5}, nil, 0},
		{"within the allowance", []int32{2}, [][]disruption.BudgetID{{0}, {0}}, 0},
		{"one too many", []int32{1}, [][]disruption.BudgetID{{0}, {0}}, 1},
		{"an old debt is not counted", []int32{-5}, [][]disruption.BudgetID{{0}}, 1},
		{"a pod under two spent budgets counts for both", []int32{0, 0}, [][]disruption.BudgetID{{0, 1}}, 2},
		{"what one budget has left does not help another", []int32{9, 0}, [][]disruption.BudgetID{{0, 1}}, 1},
		{"the lowest allowance does not wrap", []int32{-1 << 31}, [][]disruption.BudgetID{{0}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ledger := disruption.NewLedger(tt.allowed)
			for _, pod := range tt.victims {
				ledger.ChargeAll(pod)
			}
			require.Equal(t, tt.want, ledger.Overruns())
		})
	}
}

func TestCloneOfALedger(t *testing.T) {
	fresh := disruption.NewLedger([]int32{0, 1})
	charged := fresh.Clone()
	charged.ChargeAll(ids{0, 1})
	require.EqualValues(t, 1, charged.Overruns())
	other := disruption.NewLedger([]int32{5, 5, 5})
	other.ChargeAll(ids{2})
	other.CopyFrom(charged)
	for _, again := range []*disruption.Ledger{charged.Clone(), other} {
		require.Equal(t, 2, again.Len())
		again.ChargeAll(ids{1})
		require.EqualValues(t, 2, again.Overruns())
		again.Reset()
		require.Zero(t, again.Overruns())
		require.EqualValues(t, 1, charged.Overruns(), "what happens to a copy leaves the other as it is")
		require.Zero(t, fresh.Overruns())
	}
}

func TestLedgerKeepsNothingOfItsInput(t *testing.T) {
	allowed := []int32{1}
	ledger := disruption.NewLedger(allowed)
	allowed[0] = 9
	require.True(t, !ledger.ChargeAll(ids{0}) && ledger.ChargeAll(ids{0}))
	ledger.Reset()
	require.EqualValues(t, 1, ledger.Left(0))
}

func TestLedgerAllocatesNothing(t *testing.T) {
	ledger := disruption.NewLedger([]int32{1, 0, 2})
	unit := [][]disruption.BudgetID{{0, 1}, {1, 2}, nil}
	var violations int
	var overruns int64
	require.Zero(t, testing.AllocsPerRun(100, func() {
		violations = ledger.ChargeUnit(disruption.Rule137, len(unit), func(i int) ids { return unit[i] })
		ledger.Charge(disruption.PodRule136, unit[0])
		ledger.ChargeAll(unit[1])
		ledger.Refund(unit[1])
		overruns = ledger.Overruns()
		ledger.Reset()
	}))
	require.Equal(t, 2, violations)
	require.EqualValues(t, 4, overruns)
}

// TestChargeRunIsChargeOfEach: pods in a row that the same budgets cover leave the same, whether they are charged
// together or one by one.
func TestChargeRunIsChargeOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed := rapid.SliceOfN(rapid.Int32Range(-2, 6), 1, 4).Draw(t, "allowed")
		rule := disruption.Rule{
			StopAtFirst: rapid.Bool().Draw(t, "stop at first"), WholeUnit: rapid.Bool().Draw(t, "whole unit"), CountPods: true,
		}
		together, each := disruption.NewLedger(allowed), disruption.NewLedger(allowed)
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			var of []disruption.BudgetID
			for b := range allowed {
				if rapid.Bool().Draw(t, "covers") {
					of = append(of, disruption.BudgetID(b))
				}
			}
			n := rapid.IntRange(0, 12).Draw(t, "pods")
			require.Equal(t, each.ChargeUnit(rule, n, func(int) []disruption.BudgetID { return of }), together.ChargeRun(rule, n, of))
			for b := range allowed {
				require.Equal(t, each.Left(disruption.BudgetID(b)), together.Left(disruption.BudgetID(b)))
			}
			require.Equal(t, each.Overruns(), together.Overruns())
		}
	})
}
