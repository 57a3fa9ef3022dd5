package disruption

import "slices"

// Ledger counts what is left of each budget during one decision. Charge the most
// important units first: they use the allowances up, and the least important are
// the ones that violate.
//
// A Ledger belongs to one goroutine. Its counters have 64 bits and are never
// clamped: no number of charges that a program lives to make wraps them. A
// BudgetID outside 0 to Len-1 is the caller's bug and panics.
type Ledger struct {
	allowed []int32
	left    []int64
	isDirty []bool
	dirty   []BudgetID // the budgets that were charged or refunded since Reset, each once
}

// NewLedger returns a Ledger in which budget i has allowed[i] left, which may be
// below zero. It keeps nothing of allowed. It is the last allocation: no method
// but Clone and CopyFrom makes another.
func NewLedger(allowed []int32) *Ledger {
	l := &Ledger{
		allowed: make([]int32, len(allowed)),
		left:    make([]int64, len(allowed)),
		isDirty: make([]bool, len(allowed)),
		dirty:   make([]BudgetID, 0, len(allowed)),
	}
	copy(l.allowed, allowed)
	for i, n := range allowed {
		l.left[i] = int64(n)
	}
	return l
}

// Clone returns an independent copy, the charges included.
func (l *Ledger) Clone() *Ledger {
	return &Ledger{slices.Clone(l.allowed), slices.Clone(l.left), slices.Clone(l.isDirty), append(make([]BudgetID, 0, len(l.allowed)), l.dirty...)}
}

// CopyFrom makes l what o.Clone returns, with the memory that l has. The zero Ledger may be one.
func (l *Ledger) CopyFrom(o *Ledger) {
	l.allowed, l.left = append(l.allowed[:0], o.allowed...), append(l.left[:0], o.left...)
	l.isDirty, l.dirty = append(l.isDirty[:0], o.isDirty...), append(l.dirty[:0], o.dirty...)
}

// Len is the number of budgets.
func (l *Ledger) Len() int { return len(l.allowed) }

// Left is what budget b has left; below zero it is overdrawn.
func (l *Ledger) Left(b BudgetID) int64 { return l.left[b] }

// Reset undoes every charge and refund, at the cost of the budgets that they
// touched, however many there are in all.
func (l *Ledger) Reset() {
	for _, b := range l.dirty {
		l.left[b] = int64(l.allowed[b])
		l.isDirty[b] = false
	}
	l.dirty = l.dirty[:0]
}

// Charge charges one pod to the budgets that cover it, in their order, by rule r,
// and reports whether that takes a budget below zero or further below. A pod that
// no budget covers violates nothing.
func (l *Ledger) Charge(r Rule, budgets []BudgetID) (violates bool) {
	for _, b := range budgets {
		if l.add(b, -1) < 0 {
			violates = true
			if r.StopAtFirst {
				break
			}
		}
	}
	return violates
}

// ChargeUnit charges a unit of numPods pods by rule r, pod by pod; budgetsOf(i)
// lists the budgets that cover its pod i. It returns what the unit adds to the
// count of violations if it is not reprieved, in pods or in units as the rule
// counts: above zero, the unit violates.
func (l *Ledger) ChargeUnit(r Rule, numPods int, budgetsOf func(i int) []BudgetID) (violations int) {
	for i := range numPods {
		if !l.Charge(r, budgetsOf(i)) {
			continue
		}
		violations++
		if !r.WholeUnit {
			break
		}
	}
	if !r.CountPods {
		return min(violations, 1)
	}
	return violations
}

// ChargeRun charges numPods pods of a unit, which the same budgets cover, one after the other by rule r,
// and returns how many of them violate a budget: without WholeUnit it ends at the first. O(budgets
// squared), however many pods.
func (l *Ledger) ChargeRun(r Rule, numPods int, budgets []BudgetID) (violations int) {
	for left := int64(numPods); left > 0 && len(budgets) > 0; {
		same, charged, violates := left, len(budgets), false // so many pods fare the same, and charge so many budgets
		for i, b := range budgets[:charged] {
			switch {
			case l.left[b] > 0:
				same = min(same, l.left[b])
			case r.StopAtFirst && !violates:
				charged, violates = i+1, true
			default:
				violates = true
			}
			if i+1 == charged {
				break
			}
		}
		ends := violates && !r.WholeUnit
		if ends {
			same = 1
		}
		for _, b := range budgets[:charged] {
			l.add(b, -same)
		}
		if violates {
			violations += int(same)
		}
		if left -= same; ends {
			break
		}
	}
	return violations
}

// ChargeAll charges one pod to every budget that covers it, whatever a rule says
// about stopping, and reports whether a budget is below zero then. [Ledger.Refund]
// is its exact inverse.
func (l *Ledger) ChargeAll(budgets []BudgetID) (violates bool) {
	for _, b := range budgets {
		if l.add(b, -1) < 0 {
			violates = true
		}
	}
	return violates
}

// Refund takes back a ChargeAll of the same budgets: what a pod that leaves is
// charged, a pod that returns is refunded.
func (l *Ledger) Refund(budgets []BudgetID) {
	for _, b := range budgets {
		l.add(b, 1)
	}
}

// Overruns sums over the budgets how far the charges since Reset exceed what was
// allowed, an allowance below zero counting as none: a budget that was overdrawn
// before does not blame its debt on this decision.
//
// After a Reset and one ChargeAll for each pod of the victims it is a function of
// the victims alone, whatever their order. Use a ledger of its own for that.
// O(budgets touched).
func (l *Ledger) Overruns() int64 {
	var sum int64
	for _, b := range l.dirty {
		charged := int64(l.allowed[b]) - l.left[b]
		sum += max(0, charged-int64(max(0, l.allowed[b])))
	}
	return sum
}

// add changes what budget b has left and returns it.
func (l *Ledger) add(b BudgetID, n int64) int64 {
	if !l.isDirty[b] {
		l.isDirty[b] = true
		l.dirty = append(l.dirty, b)
	}
	l.left[b] += n
	return l.left[b]
}
