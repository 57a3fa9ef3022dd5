package columns

import "github.com/preempt-go/preempt/victims"

// Losses remembers what the loss of units costs. Not safe for concurrent use.
type Losses struct {
	us     *victims.Units
	known  []victims.Loss
	of     []victims.UnitID // of which unit each of known is
	number []int32          // by unit: its position in known and 1; 0: not known
}

// NewLosses returns new Losses of us.
func NewLosses(us *victims.Units) *Losses { return &Losses{us: us} }

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
func (l *Losses) Of(u victims.UnitID) *victims.Loss {
	if l.number[u] == 0 {
		l.known, l.of = append(l.known, l.us.Loss(u)), append(l.of, u)
		l.number[u] = int32(len(l.known))
	}
	return &l.known[l.number[u]-1]
}
