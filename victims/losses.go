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

// Losses remembers what the loss of units costs. Not safe for concurrent use.
type Losses struct {
	us     *Units
	known  []Loss
	of     []UnitID // of which unit each of known is
	number []int32  // by unit: its position in known and 1; 0: not known
}

// Losses returns new Losses of us.
func (us *Units) Losses() *Losses { return &Losses{us: us} }

// Forget forgets everything, for units that may have changed.
func (l *Losses) Forget() {
	for _, u := range l.of {
		l.number[u] = 0
	}
	l.known, l.of = l.known[:0], l.of[:0]
	if len(l.number) < l.us.Len() {
		l.number = make([]int32, l.us.Len())
	}
}

// Of is the loss of u. It is good until the next call.
func (l *Losses) Of(u UnitID) *Loss {
	if l.number[u] == 0 {
		l.known, l.of = append(l.known, l.us.Loss(u)), append(l.of, u)
		l.number[u] = int32(len(l.known))
	}
	return &l.known[l.number[u]-1]
}
