package preemption

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// slotLosses are the units that go for a plan.
type slotLosses struct {
	// list has them with a mark that is odd if the loss violates a budget, and else
	// twice the number of the loss.
	list   []victims.Marked
	sorted bool               // list is, most important first
	short  []columns.Shortage // by number: why it can't come back
}

// add notes that unit u goes.
func (l *slotLosses) add(u victims.UnitID, harms bool, why columns.Shortage) {
	m := victims.Marked{Unit: u, Mark: int32(2 * len(l.list))}
	if harms {
		m.Mark++
	}
	l.list, l.short = append(l.list, m), append(l.short, why)
}

func (l *slotLosses) sort(us *victims.Units, by *victims.Sorter) {
	if !l.sorted {
		by.Sort(us, l.list)
		l.sorted = true
	}
}

// lossesOn finds who goes for members on spots of a domain.
func (f *slotSearch) lossesOn(tools *slotTools, d *domain.Domain, spots []spot) slotLosses {
	pods := 0
	for _, s := range spots {
		pods += int(s.cost.Price().Pods)
	}
	l := slotLosses{list: make([]victims.Marked, 0, pods), short: make([]columns.Shortage, 0, pods)}
	for _, s := range spots {
		n := d.Nodes[s.at]
		on := f.units.On(n)
		for _, g := range tools.seats.Victims(n, int64(s.k)) {
			l.add(on[g], tools.seats.Harms(n, g), tools.seats.Short(g))
		}
	}
	return l
}

// settleAll puts the victims of the plans that are told in order.
func (f *slotSearch) settleAll() {
	for i := range f.found {
		f.settle(&f.found[i])
	}
	if f.best != nil {
		f.settle(f.best)
	}
}

// settle makes the losses of p its victims, most important first.
func (f *slotSearch) settle(p *plan) {
	if !p.counted || p.victims != nil {
		return
	}
	if p.losses.list == nil {
		p.losses = f.lossesOn(f.tools, &p.domain, p.spots)
	}
	p.losses.sort(f.units, &f.tools.sorter)
	p.setVictims(p.losses.list)
}

// setVictims spells out list, which is in order.
func (p *plan) setVictims(list []victims.Marked) {
	p.victims, p.charged = make([]victims.UnitID, len(list)), make([]int32, len(list))
	for i, loss := range list {
		p.victims[i], p.charged[i] = loss.Unit, loss.Mark&1
	}
}
