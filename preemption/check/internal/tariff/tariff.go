package tariff

import (
	"math"
	"math/big"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// CurveAt is a value over time: straight between milestones, rounded down, from first
// at 0 seconds on, and constant after the last.
func CurveAt(first int64, points []cluster.Milestone, seconds int64) int64 {
	last := cluster.Milestone{Value: first}
	for _, p := range points {
		if seconds < p.Seconds {
			rise := new(big.Int).Sub(big.NewInt(p.Value), big.NewInt(last.Value))
			rise.Mul(rise, big.NewInt(seconds-last.Seconds))
			rise.Div(rise, big.NewInt(p.Seconds-last.Seconds)) // floor, as the divisor is above zero
			return rise.Add(rise, big.NewInt(last.Value)).Int64()
		}
		last = p
	}
	return last.Value
}

// Pod is what p costs, so many seconds after its checkpoint or start.
func Pod(t *disruption.Tariff, p *cluster.Pod, seconds int64) *big.Int {
	sum := Loss(t, p.Cost, seconds, 1)
	for name, rate := range t.Work {
		work := product(p.Requests[name], seconds)
		work.Mul(work, big.NewInt(rate.Price))
		sum.Add(sum, work.Div(work, big.NewInt(max(rate.Per, 1))))
	}
	return sum
}

// Loss is what t asks for c, which is of so many pods, so many seconds after checkpoint or start.
func Loss(t *disruption.Tariff, c *cluster.Cost, seconds, pods int64) *big.Int {
	sum := product(t.Pods, pods)
	if c != nil {
		sum.Add(sum, product(t.Fixed, c.Fixed))
		sum.Add(sum, product(t.Milestones, CurveAt(0, c.Milestones, seconds)))
		sum.Add(sum, product(t.Restart, c.RestartSeconds))
	}
	return sum
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// Capped is sum, at most the largest int64.
func Capped(sum *big.Int) int64 {
	if !sum.IsInt64() {
		return math.MaxInt64
	}
	return sum.Int64()
}

// Add is the sum of two prices, at most the largest int64.
func Add(a, b int64) int64 { return min(a, math.MaxInt64-b) + b }

// Sum adds up those of list that were at a moment that counts.
func Sum(list []cluster.Disruption, counts func(time.Time) bool) *cluster.Disruption {
	sum := &cluster.Disruption{}
	for _, d := range list {
		if counts(d.Time) {
			sum.Victims, sum.Pods, sum.Cost = Add(sum.Victims, d.Victims), Add(sum.Pods, d.Pods), Add(sum.Cost, d.Cost)
		}
	}
	return sum
}

// Tolerates reports whether a pod scheduled then still tolerates those below the minimum, and for how many seconds more.
func Tolerates(t priority.Toleration, design bool, scheduled, now time.Time) (holds bool, seconds int64) {
	switch {
	case design && !t.SecondsSet, !design && t.Seconds < 0:
		return true, 0 // for ever
	case !design && t.Seconds == 0:
		return false, 0
	case scheduled.IsZero():
		return true, 0
	case now.IsZero():
		return false, 0
	}
	if t.Seconds > 0 && scheduled.Unix() > math.MaxInt64-t.Seconds {
		return true, 0 // more seconds than there are
	}
	left := scheduled.Unix() + t.Seconds - now.Unix()
	late := now.Nanosecond() - scheduled.Nanosecond()
	if left < 0 || left == 0 && (late > 0 || late == 0 && !design) {
		return false, 0
	}
	if late < 0 {
		left++
	}
	return true, left
}
