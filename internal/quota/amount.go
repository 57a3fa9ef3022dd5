package quota

import (
	"math"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

const unlimited = cluster.Unlimited

// Add is a plus b. Unlimited plus anything is Unlimited; a sum beyond int64 stays
// at its end.
func Add(a, b int64) int64 {
	if a == unlimited || b == unlimited {
		return unlimited
	}
	return checked.Add(a, b)
}

// Sub is a minus b. Unlimited minus a bounded amount is Unlimited, a bounded
// amount minus Unlimited is the least int64, and Unlimited minus itself is 0.
func Sub(a, b int64) int64 {
	switch {
	case a == unlimited && b == unlimited:
		return 0
	case a == unlimited:
		return unlimited
	case b == unlimited:
		return math.MinInt64
	}
	return checked.Sub(a, b)
}

// Above is how far a is above b; 0 if it is not.
func Above(a, b int64) int64 { return max(0, Sub(a, b)) }
