package proving

import (
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// ground is a node, and who may go from it.
type ground struct {
	items []item
	rows  []row
	caps  []limit
}

// item is a unit that goes or stays, or of an elastic one a pod.
type item struct {
	unit victims.UnitID
	pods []cluster.PodID
	here []cluster.PodID // those that leave the trial
	part bool            // a pod of an elastic unit
	must bool            // it holds a host port that is asked for

	has      []int64 // by criterion that adds up: what it adds at least
	overruns int64   // of victims with it, overruns are at least this
	highest  int64   // the highest priority
	started  int64   // of those among whom it has the highest priority, the earliest start is at least this; see Score.Value
}

// row is what has to be freed of a resource, or of devices.
type row struct {
	resource int // see Term
	need     int64
	frees    []int64 // by item
}

// limit is what victims must not go beyond: a hard budget, a limit, or of overruns a budget.
type limit struct {
	of     Term
	room   int64
	weight []int64 // by item
	soft   bool    // it counts for overruns alone
}

// survey looks at node n; nil if no victims there make room.
func (p *prover) survey(n cluster.NodeID) *ground {
	potential := p.q.Evictable(n)
	if len(potential) == 0 {
		return nil
	}
	p.trial.Reset(n)
	p.runner.Forget()
	for _, u := range potential {
		p.runner.Remove(p.trial, u)
	}
	if why := p.trial.Fits(); !why.OK() && (why.Unresolvable || why.Check == domain.CheckResource || p.q.Monotone()) {
		return nil
	}
	violating := slices.Clone(p.runner.Charge(potential))
	aims := p.q.Aims(p.runner, potential, violating)[:p.known]
	g := &ground{}
	for _, u := range potential {
		g.add(p, n, u, aims)
	}
	p.rank(g, p.levelsOf(potential))
	p.overrunBy(g)
	gap := p.trial.Gap(nil)
	for r, missing := range gap[:len(p.asks)] {
		frees := make([]int64, len(g.items))
		for i := range g.items {
			for _, pod := range g.items[i].here {
				frees[i] += p.trial.Frees(r, pod) // at most what runs on the node, which is an int64
			}
			missing += frees[i]
		}
		if missing > 0 {
			g.rows = append(g.rows, row{p.asks[r], missing, frees})
		}
	}
	for _, d := range p.devices(n, p.q.Members[0].Pod, 1, g.items) {
		if d.Free < d.Asks {
			g.rows = append(g.rows, row{p.q.Index.NumResources() + d.Request, d.Asks - d.Free, d.Frees})
		}
	}
	for i := range g.items {
		for _, pod := range g.items[i].here {
			for r := len(p.asks); r < len(gap) && !g.items[i].must; r++ { // a port
				g.items[i].must = p.trial.Frees(r, pod) > 0
			}
		}
	}
	p.limits(g, potential)
	return g
}

// devices are what up to so many members like pod ask for of devices of node n, from which items may go.
func (p *prover) devices(n cluster.NodeID, pod *cluster.Pod, members int64, items []item) []ask.Row {
	return ask.DeviceRows(nil, p.q.Index, n, pod, members, len(items), func(i int) []cluster.PodID { return items[i].here })
}

// add adds unit u to those who may go from node n.
func (g *ground) add(p *prover, n cluster.NodeID, u victims.UnitID, aims []reprieve.Aim) {
	unit := p.q.Units.Unit(u)
	if !unit.Elastic {
		it := item{unit: u, pods: unit.Pods, here: p.runner.Here(u), has: make([]int64, len(aims))}
		for k := range aims {
			if aims[k].Sum != nil {
				it.has[k] = aims[k].Sum(u, unit.Pods)
			}
		}
		g.items = append(g.items, it)
		return
	}
	for i, pod := range unit.Pods {
		if p.q.Index.NodeOf(pod) != n {
			continue
		}
		it := item{unit: u, pods: unit.Pods[i : i+1], here: unit.Pods[i : i+1], part: true, has: make([]int64, len(aims))}
		for k := range aims {
			if aims[k].Sum != nil && !aims[k].Loose {
				it.has[k] = aims[k].Sum(u, it.pods)
			}
		}
		g.items = append(g.items, it)
	}
}

// levels are what victims have of the worst of them.
type levels struct {
	least   map[int32]int64 // by priority of a unit: the least that the first victim's first pod has if it goes
	regular bool            // pods have the priority of their units
}

// levelsOf finds out the levels of potential. A score reads the priority of the first victim's first pod:
// whoever is as important, or more, may be that victim.
func (p *prover) levelsOf(potential []victims.UnitID) levels {
	ix, us := p.q.Index, p.q.Units
	l := levels{map[int32]int64{}, true}
	for _, u := range potential {
		if p.free(u) {
			continue
		}
		unit := us.Unit(u)
		if w := p.q.Wholes().Of(u); w != nil {
			if lowest, known := l.least[unit.Priority]; !known || int64(w.Lowest) < lowest {
				l.least[unit.Priority] = int64(w.Lowest)
			}
			l.regular = l.regular && w.Even(unit.Priority)
			continue
		}
		for _, pod := range unit.Pods {
			own := int64(ix.Priority(pod))
			if lowest, known := l.least[unit.Priority]; !known || own < lowest {
				l.least[unit.Priority] = own
			}
			l.regular = l.regular && own == int64(unit.Priority)
		}
	}
	lowest := int64(math.MaxInt64)
	for _, level := range slices.Backward(slices.Sorted(maps.Keys(l.least))) {
		lowest = min(lowest, l.least[level])
		l.least[level] = lowest
	}
	return l
}

// rank finds out what victims with each item have of the highest priority, and of the earliest
// start.
func (p *prover) rank(g *ground, of levels) {
	for i := range g.items {
		it := &g.items[i]
		it.highest, it.started = math.MinInt64, math.MinInt64
		if p.free(it.unit) {
			continue
		}
		it.highest = of.least[p.q.Units.Unit(it.unit).Priority]
		if w := p.q.Wholes().Of(it.unit); w != nil && !it.part {
			if s := (victims.Score{Started: w.Loss.Started}); of.regular {
				it.started = s.Value(victims.CriterionStarted)
			}
			continue
		}
		for _, pod := range it.pods {
			if s := (victims.Score{Started: p.q.Index.Started(pod)}); of.regular {
				it.started = max(it.started, s.Value(victims.CriterionStarted))
			}
		}
	}
}

// overrunBy finds out how far each item takes budgets beyond their rooms by itself.
func (p *prover) overrunBy(g *ground) {
	if p.overruns == len(p.criteria) {
		return
	}
	for i := range g.items {
		it := &g.items[i]
		for _, b := range p.q.Covering([]victims.UnitID{it.unit}) {
			it.overruns += max(p.q.WeightOf(b, it.unit, it.pods)-b.Room(), 0)
		}
	}
}

// limits lists what victims among potential must not go beyond, and the budgets of overruns.
func (p *prover) limits(g *ground, potential []victims.UnitID) {
	hard := map[int]bool{}
	for _, b := range p.q.Bounds(potential) {
		l := limit{of: Term{Budget, int(b.Budget)}, room: b.Room()}
		if b.Of == ask.NumStranded {
			continue // who has no place elsewhere is more than sums of a node tell
		}
		if b.Of != ask.Charges {
			l.of = Term{Limit, slices.IndexFunc(p.q.Limits, b.Same)}
		} else {
			hard[l.of.Number] = true
		}
		for i := range g.items {
			it, weight := &g.items[i], int64(0)
			if !it.part || b.Of != ask.NumUnits {
				weight = p.q.WeightOf(b, it.unit, it.pods)
			}
			l.weight = append(l.weight, weight)
		}
		g.caps = append(g.caps, l)
	}
	if !slices.Contains(p.criteria[:p.known], victims.CriterionOverruns) {
		return
	}
	var of []cluster.BudgetID
	for i := range g.items {
		for _, pod := range g.items[i].pods {
			of = append(of, p.q.Budgets.Of(pod)...)
		}
	}
	slices.Sort(of)
	for _, b := range slices.Compact(of) {
		if hard[int(b)] {
			continue
		}
		bound := ask.Bound{Of: ask.Charges, Budget: b, Left: int64(p.q.Index.Budget(b).Allowed)}
		l := limit{of: Term{Budget, int(b)}, room: bound.Room(), soft: true}
		for i := range g.items {
			l.weight = append(l.weight, p.q.WeightOf(bound, g.items[i].unit, g.items[i].pods))
		}
		g.caps = append(g.caps, l)
	}
}

// beyond reports whether victims with an item have more than most of criterion k, if they have no more
// than bound of those before it.
func (p *prover) beyond(it *item, k int, most int64) bool {
	switch p.criteria[k] {
	case victims.CriterionHighest:
		return it.highest > most
	case victims.CriterionStarted:
		top := slices.Index(p.criteria, victims.CriterionHighest)
		return top >= 0 && top < k && it.highest == p.bound[top] && it.started > most
	case victims.CriterionOverruns:
		return it.overruns > most
	}
	return it.has[k] > most
}

// adds reports whether criterion k is the sum of what victims add.
func (p *prover) adds(k int) bool {
	if k == none {
		return false
	}
	switch p.criteria[k] {
	case victims.CriterionHighest, victims.CriterionStarted:
		return false
	case victims.CriterionOverruns:
		return p.summed
	}
	return true
}

// least is what no victims have of criterion k.
func (p *prover) least(k int) int64 {
	if k == none {
		return 0
	}
	switch p.criteria[k] {
	case victims.CriterionHighest:
		return math.MinInt32
	case victims.CriterionStarted:
		return -math.MaxInt64
	}
	return 0
}

// worst reports whether criterion k is a number of the worst victim.
func (p *prover) worst(k int) bool {
	return k != none && (p.criteria[k] == victims.CriterionHighest || p.criteria[k] == victims.CriterionStarted)
}
