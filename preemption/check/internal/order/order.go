package order

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption"
)

// Criteria are what is asked for, the first that counts first; with LowestLevel those of budgets come first, then the highest
// priority, then the others. "pods by level" stands for itself.
func Criteria(o *preemption.Options) []preemption.CriterionName {
	list, at := slices.Clone(o.Objective), o.Cost.Criterion
	if len(list) == 0 {
		list = []preemption.CriterionName{"violations", "highest priority", "sum of priorities", "pods", "earliest start"}
		if o.Cost.Objective {
			at = 1
		}
		if at > 0 {
			list = slices.Insert(list, at-1, "cost")
		}
	}
	if !o.LowestLevel {
		return list
	}
	list = append(slices.DeleteFunc(list, func(c preemption.CriterionName) bool { return c == "highest priority" }), "highest priority")
	slices.SortStableFunc(list, func(c, d preemption.CriterionName) int { return cmp.Compare(turn(c), turn(d)) })
	return list
}

// ByLevel puts those in place of "pods by level" for which it stands: of the 100 highest of levels, the highest first.
func ByLevel(list []preemption.CriterionName, levels map[int32]bool) []preemption.CriterionName {
	at := slices.Index(list, "pods by level")
	if at < 0 {
		return list
	}
	var each []preemption.CriterionName
	for _, level := range slices.Backward(slices.Sorted(maps.Keys(levels))) {
		each = append(each, preemption.CriterionName(fmt.Sprint("pods of priority ", level)))
	}
	return slices.Replace(list, at, at+1, each[:min(len(each), 100)]...)
}

// turn is when a criterion counts with LowestLevel.
func turn(c preemption.CriterionName) int {
	switch c {
	case "violations", "overruns":
		return 0
	case "highest priority":
		return 1
	}
	return 2
}

// Compare is below zero if a disrupts less than b.
func Compare(a, b []preemption.Criterion) int {
	return slices.CompareFunc(a, b, func(x, y preemption.Criterion) int { return cmp.Compare(x.Value, y.Value) })
}

// OnCycles tells of each of n positions whether the chain of parents from it comes back to it. A parent below zero is none.
func OnCycles(n int, parent func(int) int) []bool {
	on := make([]bool, n)
	from := make([]int, n) // 1 more than where the walk began that met it
	for i := range n {
		at := i
		for ; at >= 0 && from[at] == 0; at = parent(at) {
			from[at] = i + 1
		}
		for ; at >= 0 && from[at] == i+1 && !on[at]; at = parent(at) {
			on[at] = true
		}
	}
	return on
}
