package preemption

import (
	"math"

	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// lostRung is a unit that goes.
type lostRung struct {
	at    int32
	rung  victims.Rung
	harms bool
}

// lose notes that the unit on a rung goes.
func (m *slotMoving) lose(at int32, g victims.Rung, harms bool) {
	rungs, p := m.ladder.AtSimple(m.node(at)), m.top
	own := int64(rungs.Owns[g])
	if own > p.price.Highest {
		p.price.Highest, p.start = own, math.MaxInt64
	}
	if own == p.price.Highest {
		p.start = min(p.start, int64(rungs.Started[g]))
	}
	p.price.Sum += own + 1<<31
	p.price.Pods++
	if harms {
		p.price.Violations++
	}
	if !m.brief {
		m.lost = append(m.lost, lostRung{at, g, harms})
	}
}

// losses are those who go; the members are seated.
func (m *slotMoving) losses() (l slotLosses) {
	for _, s := range m.top.spots {
		m.count[s.at] = s.k
	}
	l.list, l.short = make([]victims.Marked, 0, len(m.lost)), make([]columns.Shortage, 0, len(m.lost))
	last := int32(-1)
	for _, x := range m.lost {
		why := columns.Shortage{Alone: true}
		if k := int64(m.count[x.at]); k > 0 {
			switch n := m.node(x.at); {
			case x.at == last:
			case m.nodes[x.at].over:
				m.seats.Victims(n, k)
			default:
				m.seats.Beside(n, k, m.room(x.at))
			}
			last = x.at
			why = m.seats.Short(x.rung)
		}
		l.add(m.ladder.Unit(m.node(x.at), x.rung), x.harms, why)
	}
	for _, s := range m.top.spots {
		m.count[s.at] = 0
	}
	return l
}
