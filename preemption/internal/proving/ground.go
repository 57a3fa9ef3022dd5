package proving

import (
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// ground is a node, and who may go from it.
type ground struct {
	items  []item
	width  int     // so many items there were at first
	has    []int64 // by criterion, width each, and item: what it adds at least, if the criterion adds up
	excess []int64 // by item: of victims with it, overruns are at least this; nil: nobody asks
	rows   []row
	caps   []limit
}

// column is what items have of criterion k.
func (g *ground) column(k int) []int64 { return g.has[k*g.width:][:len(g.items)] }

// item is a unit that goes or stays, or of an elastic one a pod.
type item struct {
	unit    victims.UnitID
	pod     [1]cluster.PodID // the first of its pods
	single  bool             // there is no other
	part    bool             // a pod of an elastic unit
	must    bool             // it holds a host port that is asked for
	away    bool             // of a gang: what it has counts on another node
	highest int64            // the highest priority
	started int64            // of those among whom it has the highest priority, the earliest start is at least this; see Score.Value
}

// podsOf lists the pods of an item.
func (p *prover) podsOf(it *item) []cluster.PodID {
	if it.single {
		return it.pod[:]
	}
	return p.q.Units.Unit(it.unit).Pods
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

// survey looks at node n; nil if no victims there make room, false if it is more than a proof reads.
func (p *prover) survey(n cluster.NodeID) (g *ground, ok bool) {
	potential := p.q.Evictable(n)
	if len(potential) == 0 {
		return nil, true
	}
	p.trial.Reset(n)
	p.runner.Forget()
	for _, u := range potential {
		p.runner.Remove(p.trial, u)
	}
	why := p.trial.Fits()
	of := func(c domain.Constraint) bool { return c.Name() == why.Check }
	if !why.OK() && (why.Check == domain.CheckResource || p.q.Monotone() || ask.Hopeless(p.q.States, n) ||
		why.Unresolvable && !slices.ContainsFunc(p.q.Constraints, of)) {
		return nil, true // whoever stays
	}
	violating := slices.Clone(p.runner.Charge(potential))
	aims := p.q.Aims(p.runner, potential, violating)[:p.known]
	g = &ground{}
	p.here, p.numbers.used = p.here[:0], 0 // of the node before nothing is left
	for _, u := range potential {
		unit := p.q.Units.Unit(u)
		here := p.runner.Here(u)
		if unit.Elastic {
			here = p.on(u, unit, n)
		}
		p.add(g, u, unit, here)
	}
	bounds := p.bounds(potential)
	if p.weights -= len(bounds) * len(g.items); p.weights < 0 {
		return nil, false
	}
	g.width, g.has = len(g.items), p.numbers.take(p.known*len(g.items))
	for k, aim := range aims {
		p.price(g, k, aim)
	}
	p.rank(g, p.levelsOf(potential))
	p.overrunBy(g)
	gap := p.trial.Gap(nil)
	for r, missing := range gap[:len(p.asks)] {
		frees := p.numbers.take(len(g.items))
		for i := range g.items {
			for _, pod := range p.here[i] {
				frees[i] += p.trial.Frees(r, pod) // at most what runs on the node, which is an int64
			}
			missing += frees[i]
		}
		if missing > 0 {
			g.rows = append(g.rows, row{p.asks[r], missing, frees})
		}
	}
	for _, d := range p.devices(n, 1) {
		if d.Free < d.Asks {
			g.rows = append(g.rows, row{p.q.Index.NumResources() + d.Request, d.Asks - d.Free, d.Frees})
		}
	}
	for i := range g.items {
		for _, pod := range p.here[i] {
			freed := p.trial.FreedBy(pod)
			g.items[i].must = g.items[i].must || len(freed) > 0 && freed[len(freed)-1] >= len(p.asks) // a port
		}
	}
	p.limits(g, bounds)
	return g, true
}

// devices are what up to so many members ask for of devices of node n.
func (p *prover) devices(n cluster.NodeID, members int64) []ask.Row {
	return ask.DeviceRows(nil, p.q.Index, n, p.q.Members[0].Pod, members, len(p.here), func(i int) []cluster.PodID { return p.here[i] })
}

// on lists the pods of unit u on node n.
func (p *prover) on(u victims.UnitID, unit *victims.Unit, n cluster.NodeID) []cluster.PodID {
	if len(unit.Pods) == 1 {
		return unit.Pods
	}
	elsewhere := func(pod cluster.PodID) bool { return p.q.Index.NodeOf(pod) != n }
	return slices.DeleteFunc(slices.Clone(p.q.PodsOn(u, n)), elsewhere)
}

// add adds unit u to those who may go, of which here leave the node.
func (p *prover) add(g *ground, u victims.UnitID, unit *victims.Unit, here []cluster.PodID) {
	it := item{unit: u, pod: [1]cluster.PodID(unit.Pods), single: unit.Elastic || len(unit.Pods) == 1, part: unit.Elastic}
	if !unit.Elastic {
		g.items, p.here = append(g.items, it), append(p.here, here)
		return
	}
	for i, pod := range here {
		it.pod[0] = pod
		g.items, p.here = append(g.items, it), append(p.here, here[i:i+1])
	}
}

// price gives items what they have of criterion k, if that adds up.
func (p *prover) price(g *ground, k int, aim reprieve.Aim) {
	if aim.Sum == nil {
		return
	}
	has := g.column(k)
	for i := range g.items {
		if it := &g.items[i]; !it.away && !(it.part && aim.Loose) {
			has[i] = aim.Sum(it.unit, p.podsOf(it))
		}
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
	l := levels{map[int32]int64{}, true}
	for _, u := range potential {
		if p.free(u) {
			continue
		}
		unit, lowest, even := p.q.Units.Unit(u), int64(math.MaxInt64), true
		if w := p.q.Whole(u, unit.Pods); w != nil {
			lowest, even = int64(w.Lowest), w.Even(unit.Priority)
		} else {
			for _, pod := range unit.Pods {
				own := p.q.Index.Priority(pod)
				lowest, even = min(lowest, int64(own)), even && own == unit.Priority
			}
		}
		l.regular = l.regular && even
		if least, known := l.least[unit.Priority]; !known || lowest < least {
			l.least[unit.Priority] = lowest
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
		if !of.regular {
			continue
		}
		pods := p.podsOf(it)
		if w := p.q.Whole(it.unit, pods); w != nil {
			s := victims.Score{Started: w.Loss.Started}
			it.started, pods = s.Value(victims.CriterionStarted), nil
		}
		for _, pod := range pods {
			s := victims.Score{Started: p.q.Index.Started(pod)}
			it.started = max(it.started, s.Value(victims.CriterionStarted))
		}
	}
}

// overrunBy finds out how far each item takes budgets beyond their rooms by itself.
func (p *prover) overrunBy(g *ground) {
	if p.overruns == len(p.criteria) {
		return
	}
	g.excess = p.numbers.take(len(g.items))
	for i := range g.items {
		it := &g.items[i]
		pods := p.podsOf(it)
		if len(pods) == 1 {
			for _, b := range p.q.Budgets.Of(pods[0]) {
				g.excess[i] += 1 - min(max(int64(p.q.Index.Budget(b).Allowed), 0), 1)
			}
			continue
		}
		for _, b := range p.q.Covering([]victims.UnitID{it.unit}) {
			g.excess[i] += max(p.q.WeightOf(b, it.unit, pods)-b.Room(), 0)
		}
	}
}

// bounds are what victims among potential must not go beyond, and the budgets of overruns.
func (p *prover) bounds(potential []victims.UnitID) []ask.Bound {
	list, _ := p.q.Binding(potential)
	if p.overruns < len(p.criteria) {
		list = append(list, slices.DeleteFunc(p.q.Covering(potential), p.isHard)...)
	}
	return list
}

func (p *prover) isHard(b ask.Bound) bool {
	return p.q.Hard != nil && b.Of == ask.Charges && p.q.Hard[b.Budget]
}

// limits notes what items add to bounds.
func (p *prover) limits(g *ground, bounds []ask.Bound) {
	for _, b := range bounds {
		if b.Of == ask.NumStranded {
			continue // who has no place elsewhere is more than sums of a node tell
		}
		l := limit{of: Term{Budget, int(b.Budget)}, room: b.Room(), soft: b.Of == ask.Charges && !p.isHard(b), weight: p.numbers.take(len(g.items))}
		if b.Of != ask.Charges {
			l.of = Term{Limit, slices.IndexFunc(p.q.Limits, b.Same)}
		}
		charged := false
		for i := range g.items {
			if it := &g.items[i]; !it.part || b.Of != ask.NumUnits {
				l.weight[i] = p.q.WeightOf(b, it.unit, p.podsOf(it))
				charged = charged || l.weight[i] > 0
			}
		}
		if charged || !l.soft {
			g.caps = append(g.caps, l)
		}
	}
}

// beyond reports whether victims with the i-th item have more than most of criterion k, if they have no more
// than bound of those before it.
func (p *prover) beyond(g *ground, i, k int, most int64) bool {
	it := &g.items[i]
	switch p.criteria[k] {
	case victims.CriterionHighest:
		return it.highest > most
	case victims.CriterionStarted:
		top := slices.Index(p.criteria, victims.CriterionHighest)
		return top >= 0 && top < k && it.highest == p.bound[top] && it.started > most
	case victims.CriterionOverruns:
		return g.excess[i] > most
	}
	return g.has[k*g.width+i] > most
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

// memory is what a proof leaves to the next one.
type memory struct {
	numbers slab[int64]
	items   slab[item]
	here    [][]cluster.PodID // by item of the last node: its pods that leave the trial
	units   []victims.UnitID  // who may go from the nodes of a domain
	stage   stage             // the last one of a gang
	tells   fewest
	words   words
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// keptNumbers is how many are kept for the next proof at most.
const keptNumbers = 1 << 20

// leave ends a proof.
func (m *memory) leave() {
	m.numbers.used, m.items.used = 0, 0
	if len(m.numbers.all) > keptNumbers {
		m.numbers.all = nil
	}
	memories.Put(m)
}

// slab hands out zeros, many pieces of one allocation.
type slab[T any] struct {
	all  []T
	used int
}

func (s *slab[T]) take(n int) []T {
	if n > len(s.all)-s.used {
		s.all, s.used = make([]T, max(n, 2*len(s.all))), 0
	}
	piece := s.all[s.used:][:n:n]
	s.used += n
	clear(piece)
	return piece
}
