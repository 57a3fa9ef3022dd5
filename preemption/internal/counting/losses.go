package counting

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// losses are the units that go for a plan.
type losses struct {
	// list has them with a mark that is odd if the loss violates a budget, and else
	// twice the number of the loss.
	list   []victims.Marked
	sorted bool               // list is, most important first
	short  []columns.Shortage // by number: why it can't come back
}

// add notes that unit u goes.
func (l *losses) add(u victims.UnitID, harms bool, why columns.Shortage) {
	m := victims.Marked{Unit: u, Mark: int32(2 * len(l.list))}
	if harms {
		m.Mark++
	}
	l.list, l.short = append(l.list, m), append(l.short, why)
}

func (l *losses) sort(us *victims.Units, by *victims.Sorter) {
	if !l.sorted {
		by.Sort(us, l.list)
		l.sorted = true
	}
}

// lossesOn finds who goes for members on spots of a domain.
func (f *Search) lossesOn(tools *tools, d *domain.Domain, spots []spot) losses {
	pods := 0
	for _, s := range spots {
		pods += int(s.cost.Price().Pods)
	}
	l := losses{list: make([]victims.Marked, 0, pods), short: make([]columns.Shortage, 0, pods)}
	for _, s := range spots {
		n := d.Nodes[s.at]
		on := f.Units.On(n)
		for _, g := range tools.seats.Victims(n, int64(s.k)) {
			l.add(on[g], tools.seats.Harms(n, g), tools.seats.Short(g))
		}
	}
	return l
}

// Settle finds the victims of p, unless they are known.
func (f *Search) Settle(p *Plan) {
	if p.Joint || p.Victims != nil {
		return
	}
	if p.losses.list == nil {
		p.losses = f.lossesOn(f.tools, &p.Domain, p.spots)
	}
	p.losses.sort(f.Units, &f.tools.sorter)
	p.setVictims(p.losses.list)
}

// Plan is a domain in which preemption helps, with a placement and its victims.
type Plan struct {
	Domain domain.Domain
	Places []domain.Assignment
	Score  victims.Score
	Joint  bool // units have several pods: why each can't come back is not known

	// Victims are who goes, most important first, and Charged what the loss of each adds
	// to the violations, once Settle was called; of joint plans at once, unless the
	// question is brief.
	Victims []victims.UnitID
	Charged []int32

	spots  []spot
	losses losses
}

// setVictims spells out list, which is in order.
func (p *Plan) setVictims(list []victims.Marked) {
	p.Victims, p.Charged = make([]victims.UnitID, len(list)), make([]int32, len(list))
	for i, loss := range list {
		p.Victims[i], p.Charged[i] = loss.Unit, loss.Mark&1
	}
}

// ByNode lists the positions of the victims, whose order is known, node by node, as their
// pods lie in memory; Short(i) is why the i-th of this list can't come back.
func (p *Plan) ByNode() []int32 {
	at := make([]int32, len(p.losses.list))
	for i, loss := range p.losses.list {
		at[loss.Mark>>1] = int32(i)
	}
	return at
}

// Short is why a victim can't come back; see ByNode.
func (p *Plan) Short(i int) columns.Shortage { return p.losses.short[i] }
