package victims

import (
	"math"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/priority"
)

// Loss is what the loss of a unit costs.
type Loss struct {
	Price   domain.Price // without budgets
	Started int64        // nanoseconds: the earliest start among its pods of the highest priority
}

// Loss says what the loss of unit u costs. O(k) for its k pods.
func (us *Units) Loss(u UnitID) Loss {
	pods := us.Unit(u).Pods
	l := Loss{Price: domain.Free, Started: math.MaxInt64}
	for _, p := range pods {
		own := us.ix.Priority(p)
		prio := int64(own)
		if prio > l.Price.Highest {
			l.Price.Highest, l.Started = prio, math.MaxInt64
		}
		if prio == l.Price.Highest {
			l.Started = min(l.Started, us.ix.Started(p))
		}
		l.Price.Sum += priority.Raised(own)
	}
	l.Price.Pods = int64(len(pods))
	return l
}
