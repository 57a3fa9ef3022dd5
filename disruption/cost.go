package disruption

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
)

// Tariff says what an eviction costs: a price for each thing that is lost. Prices
// are integers in whatever unit the user likes; sums and products saturate at the
// largest int64. The zero Tariff makes everything free.
type Tariff struct {
	Fixed      int64 `json:"fixed,omitempty"`      // times the constant price of a pod or group
	Milestones int64 `json:"milestones,omitempty"` // times the value of its curve at this moment
	Restart    int64 `json:"restart,omitempty"`    // for each second that it takes to be productive again
	Pods       int64 `json:"pods,omitempty"`       // for each pod that is out of service

	// Work prices the work that is lost: what a pod requests of a resource, times
	// the seconds since its last checkpoint.
	Work map[string]Rate `json:"work,omitempty"`
}

// Rate is a price for a number of units.
type Rate struct {
	Price int64 `json:"price"`
	Per   int64 `json:"per,omitempty"` // units that Price is for; 0: one
}

// Loss is what one eviction takes away.
type Loss struct {
	Fixed          int64 // the constant price
	Curve          int64 // the value of the curve
	RestartSeconds int64
	Pods           int64
}

// Free reports whether everything costs nothing.
func (t Tariff) Free() bool {
	for _, rate := range t.Work {
		if rate.Price > 0 {
			return false
		}
	}
	return t.Fixed == 0 && t.Milestones == 0 && t.Restart == 0 && t.Pods == 0
}

// Validate checks that no price is below zero. The error joins a [TariffError] for
// each that is, in a fixed order.
func (t Tariff) Validate() error {
	var errs []error
	check := func(field string, v int64) {
		if v < 0 {
			errs = append(errs, &TariffError{field, v})
		}
	}
	check("fixed", t.Fixed)
	check("milestones", t.Milestones)
	check("restart", t.Restart)
	check("pods", t.Pods)
	for _, name := range slices.Sorted(maps.Keys(t.Work)) {
		check(fmt.Sprintf("work[%s].price", name), t.Work[name].Price)
		check(fmt.Sprintf("work[%s].per", name), t.Work[name].Per)
	}
	return errors.Join(errs...)
}

// Price is what l costs, without lost work. Nothing in l is below zero.
func (t Tariff) Price(l Loss) int64 {
	sum := checked.Add(checked.Mul(t.Fixed, l.Fixed), checked.Mul(t.Milestones, l.Curve))
	sum = checked.Add(sum, checked.Mul(t.Restart, l.RestartSeconds))
	return checked.Add(sum, checked.Mul(t.Pods, l.Pods))
}

// Of is the price of amount units for that many seconds, rounded down. Neither is
// below zero.
func (r Rate) Of(amount, seconds int64) int64 {
	hi, lo := bits.Mul64(uint64(amount), uint64(seconds))
	top, hi := bits.Mul64(hi, uint64(r.Price))
	mid, low := bits.Mul64(lo, uint64(r.Price))
	hi, carry := bits.Add64(hi, mid, 0)
	top += carry // the product is top, hi, low
	per := uint64(max(r.Per, 1))
	if top > 0 || hi >= per {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, low, per)
	return int64(min(q, math.MaxInt64))
}

// TariffError is a price below zero.
type TariffError struct {
	Field string // by its JSON name
	Value int64
}

// Error names the field and the value.
func (e *TariffError) Error() string {
	return fmt.Sprintf("disruption: tariff: %s: %d is not >= 0", e.Field, e.Value)
}

// Milestone is one point of a curve over time.
type Milestone struct {
	Seconds int64 `json:"seconds"`
	Value   int64 `json:"value"`
}

// Curve is a value over time: straight between milestones, constant after the last
// one. The zero Curve is 0 for ever. Immutable, safe for concurrent use.
type Curve struct {
	points []Milestone // the first at 0 seconds
}

// NewCurve returns the curve through points, which it copies. It begins with the
// value first at 0 seconds, unless the first of points stands there.
//
// The error joins a [MilestoneError] for each point whose seconds are below zero or
// not above those of the point before. Source: KEP-83, disruption cost milestones.
func NewCurve(first int64, points []Milestone) (Curve, error) {
	var errs []error
	list := make([]Milestone, 0, len(points)+1)
	if len(points) == 0 || points[0].Seconds != 0 {
		list = append(list, Milestone{Value: first})
	}
	for i, p := range points {
		switch {
		case p.Seconds < 0:
			errs = append(errs, &MilestoneError{i, "seconds", p.Seconds, ">= 0"})
		case i > 0 && p.Seconds <= points[i-1].Seconds:
			errs = append(errs, &MilestoneError{i, "seconds", p.Seconds, fmt.Sprintf("above those of the milestone before, %d", points[i-1].Seconds)})
		}
		list = append(list, p)
	}
	if len(errs) > 0 {
		return Curve{}, errors.Join(errs...)
	}
	return Curve{list}, nil
}

// At returns the value that many seconds after the beginning; before it, the value
// at the beginning. Between milestones it is rounded down, from the exact value.
//
// O(k) for k milestones.
func (c Curve) At(seconds int64) int64 {
	if len(c.points) == 0 {
		return 0
	}
	last := c.points[0]
	for _, p := range c.points[1:] {
		if seconds < p.Seconds {
			return between(last, p, max(seconds, last.Seconds))
		}
		last = p
	}
	return last.Value
}

// Until is after how many seconds the curve may have another value than after those
// given; math.MaxInt64: it has that for ever.
//
// O(k) for k milestones.
func (c Curve) Until(seconds int64) int64 {
	for i, p := range c.points {
		switch {
		case i == 0 || seconds >= p.Seconds:
		case p.Value == c.points[i-1].Value:
			return p.Seconds
		default:
			return max(seconds, c.points[i-1].Seconds) + 1
		}
	}
	return math.MaxInt64
}

// between is the value on the straight line from a to b; the product needs 128 bits.
func between(a, b Milestone, seconds int64) int64 {
	part, whole := uint64(seconds-a.Seconds), uint64(b.Seconds-a.Seconds)
	if b.Value >= a.Value {
		hi, lo := bits.Mul64(uint64(b.Value)-uint64(a.Value), part)
		up, _ := bits.Div64(hi, lo, whole) // part < whole: the quotient is below the rise
		return int64(uint64(a.Value) + up)
	}
	hi, lo := bits.Mul64(uint64(a.Value)-uint64(b.Value), part)
	down, rest := bits.Div64(hi, lo, whole)
	if rest > 0 {
		down++
	}
	return int64(uint64(a.Value) - down)
}

// MilestoneError locates one milestone that cannot be used.
type MilestoneError struct {
	Index int    // in the list, from 0
	Field string // by its JSON name
	Value int64
	Want  string
}

// Error names the milestone, its field, the value and what was expected.
func (e *MilestoneError) Error() string {
	return fmt.Sprintf("disruption: milestones[%d].%s: %d is not %s", e.Index, e.Field, e.Value, e.Want)
}

// Is reports whether target is ErrMilestone.
func (e *MilestoneError) Is(target error) bool { return target == ErrMilestone }
