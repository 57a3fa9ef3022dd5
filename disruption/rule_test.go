package disruption_test

import (
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
