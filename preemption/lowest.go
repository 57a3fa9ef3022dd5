package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// lowest is the strategy that bounds how important victims may be; place finds the
// preemptor a place anew.
func (q *question) lowest(place func() domain.Reason, note func(Step)) reprieve.Lowest {
	l := reprieve.Lowest{
		Level:    func(u victims.UnitID) int32 { return q.units.Unit(u).Level },
		Place:    place,
		Monotone: q.monotone(),
	}
	if note != nil {
		l.Bounded = func(level, next int32, lower bool, why domain.Reason) {
			text := fmt.Sprintf("level %d is enough, and there is none below", level)
			if lower {
				text = fmt.Sprintf("level %d is enough, %d is not (%s)", level, next, q.rejection(why))
			}
			note(Step{Action: ActionLevel, Text: text})
		}
	}
	return l
}

// monotone reports whether removing a pod never turns a fit into a misfit.
func (q *question) monotone() bool {
	return !slices.ContainsFunc(q.states, func(s domain.State) bool { return !s.Scope().Monotone })
}
