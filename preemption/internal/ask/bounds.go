package ask

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// defaultSteps is how many units one search for victims may decide on where nobody says.
const defaultSteps = 20_000

// NumSteps is how many units one search for victims may decide on.
func (s *Settings) NumSteps() int { return cmp.Or(s.Steps, defaultSteps) }

// FewSteps is how many steps Improved takes at most where Exact takes NumSteps: most of what is small is proved then.
const FewSteps = 256

// AimSteps is how many steps one search takes at most for victims that disrupt less than those it has.
func (s *Settings) AimSteps() int {
	switch s.Effort {
	case Greedy:
		return 0
	case Improved:
		return min(FewSteps, s.NumSteps())
	}
	return s.NumSteps()
}

// The checks that say that no set of victims keeps within the bounds; see
// [BoundOf]. Detail may be NotProved.
const (
	OverBudget domain.Check = "hard budget"
	OverLimit  domain.Check = "limit"

	// NotTogether says so of victims each of whom has another place, but not all at once.
	NotTogether domain.Check = "not together"
)

// Bound is a cap on what a set of victims adds up to.
type Bound struct {
	Of     Measure
	Budget cluster.BudgetID // of Charges
	Window bool             // it counts earlier preemptions too
	Left   int64            // what may still be used up, below zero where more has been than was allowed
}

// Measure is what a bound adds up.
type Measure int

// The measures.
const (
	Charges Measure = iota // of a hard budget: the pods that it covers
	NumUnits
	NumPods
	Price
	NumStranded
)

// Room is the most that victims may add up to.
func (b Bound) Room() int64 { return max(b.Left, 0) }

// Same reports whether a and b bound the same, by whatever they leave.
func (b Bound) Same(o Bound) bool {
	return b.Of == o.Of && b.Budget == o.Budget && b.Window == o.Window
}

// Excess is how far some victims go beyond a bound, or how much wider it is taken.
type Excess struct {
	Bound
	Amount   int64
	Together bool // of pods without a place: each by itself has one
}

// Bounded reports whether the final set of victims is bounded or priced.
func (q *Question) Bounded() bool { return q.Hard != nil || q.Limits != nil || q.Effort != Greedy }

// Weight is what unit u adds to bound b, WeightOf what those of its pods do.
func (q *Question) Weight(b Bound, u victims.UnitID) int64 {
	return q.WeightOf(b, u, q.Units.Unit(u).Pods)
}

// WeightOf is Weight for some of the unit's pods.
func (q *Question) WeightOf(b Bound, u victims.UnitID, pods []cluster.PodID) int64 {
	switch b.Of {
	case Charges:
		if w := q.Whole(u, pods); w != nil {
			return w.ChargedTo(b.Budget)
		}
		sum := int64(0)
		for _, p := range pods {
			if _, covered := slices.BinarySearch(q.Budgets.Of(p), b.Budget); covered {
				sum++
			}
		}
		return sum
	case NumUnits:
		return 1
	case NumPods:
		return int64(len(pods))
	case NumStranded:
		return q.numStranded(u, pods)
	}
	return q.PriceOf(u, pods)
}

// Whole is what is known of unit u where those pods are many, and all of them; else nil.
func (q *Question) Whole(u victims.UnitID, pods []cluster.PodID) *losses.Whole {
	if len(pods) == 1 || len(pods) < len(q.Units.Unit(u).Pods) {
		return nil
	}
	return q.Wholes().Of(u)
}

// PriceOf is what the eviction of some pods of unit u costs as the score counts it.
func (q *Question) PriceOf(u victims.UnitID, pods []cluster.PodID) int64 {
	if q.BrokenFree && q.Broken(u) {
		return 0
	}
	return q.Units.CostOf(u, pods)
}

// Bounds lists what bounds sets of these units, hard budgets first.
func (q *Question) Bounds(units []victims.UnitID) []Bound {
	if q.NoBounds {
		return nil
	}
	var list []Bound
	if q.Hard != nil {
		list = q.covering(units, func(b cluster.BudgetID) bool { return q.Hard[b] }, len(q.Limits))
	}
	numHard := len(list)
	list = append(list, q.Limits...)
	for _, r := range q.Relaxed {
		if r.Of == Charges {
			if i, hard := find(list[:numHard], r.Budget); hard {
				list[i].Left = checked.Add(list[i].Left, r.Amount)
			}
			continue
		}
		for i := numHard; i < len(list); i++ {
			if r.Same(list[i]) {
				list[i].Left = checked.Add(list[i].Left, r.Amount)
			}
		}
	}
	return list
}

// find looks for budget b in bounds, which are of budgets, in order.
func find(bounds []Bound, b cluster.BudgetID) (i int, found bool) {
	return slices.BinarySearchFunc(bounds, b, func(x Bound, b cluster.BudgetID) int { return cmp.Compare(x.Budget, b) })
}

// Covering are the rooms of the budgets that cover units.
func (q *Question) Covering(units []victims.UnitID) []Bound {
	return q.covering(units, func(cluster.BudgetID) bool { return true }, 0)
}

// covering is Covering for some of the budgets, with room for more.
func (q *Question) covering(units []victims.UnitID, some func(cluster.BudgetID) bool, more int) []Bound {
	budgets := q.charged(units, nil)
	list := make([]Bound, 0, len(budgets)+more)
	for _, b := range budgets {
		if q.charges[b] = 0; some(b) {
			list = append(list, Bound{Of: Charges, Budget: b, Left: int64(q.Index.Budget(b).Allowed)})
		}
	}
	return list
}

// charged lists in order which budgets cover pods of units, of parts in part, and leaves in q.charges how many: the caller clears them. The list is
// good until the next one.
func (q *Question) charged(units []victims.UnitID, parts victims.Parts) []cluster.BudgetID {
	if q.Budgets.None() {
		return nil
	}
	if q.charges == nil {
		q.charges = make([]int64, q.Index.NumBudgets())
	}
	list := q.covered[:0]
	charge := func(b cluster.BudgetID, pods int64) {
		if q.charges[b] == 0 {
			list = append(list, b)
		}
		q.charges[b] += pods
	}
	var last []cluster.BudgetID // they cover the pods before, so many of these
	times := int64(0)
	all := func() {
		for _, b := range last {
			charge(b, times)
		}
	}
	for _, u := range units {
		pods := parts.Of(q.Units, u)
		if w := q.Whole(u, pods); w != nil {
			for _, b := range w.Budgets {
				charge(b, w.ChargedTo(b))
			}
			continue
		}
		for _, p := range pods {
			if of := q.Budgets.Of(p); len(of) != len(last) || len(of) > 0 && &of[0] != &last[0] { // not one list in memory
				all()
				last, times = of, 0
			}
			times++
		}
	}
	all()
	slices.Sort(list)
	q.covered = list
	return list
}

// Overruns lists what the victims of out go beyond, and by how much.
func (q *Question) Overruns(out []victims.UnitID, parts victims.Parts) []Excess {
	bounds := q.Bounds(out)
	sums := make([]int64, len(bounds))
	numHard := len(bounds) - q.numLimits()
	if numHard > 0 {
		budgets := q.charged(out, parts)
		for i := range sums[:numHard] {
			sums[i] = q.charges[bounds[i].Budget]
		}
		for _, b := range budgets {
			q.charges[b] = 0
		}
	}
	for i := numHard; i < len(bounds); i++ {
		for _, u := range out {
			sums[i] = checked.Add(sums[i], q.WeightOf(bounds[i], u, parts.Of(q.Units, u)))
		}
	}
	var list []Excess
	for i, b := range bounds {
		if sums[i] > b.Room() {
			if list == nil {
				list = make([]Excess, 0, len(bounds)-i)
			}
			list = append(list, Excess{Bound: b, Amount: checked.Sub(sums[i], b.Left)})
		}
	}
	return list
}

// Stuck reports whether the eviction of unit u alone goes beyond a bound.
func (q *Question) Stuck(u victims.UnitID) bool {
	if q.Hard == nil && q.Limits == nil || q.NoBounds {
		return false
	}
	unit := q.Units.Unit(u)
	if len(unit.Pods) > 1 || q.Relaxed != nil {
		return !unit.Elastic && len(q.Overruns([]victims.UnitID{u}, nil)) > 0
	}
	spent := func(b cluster.BudgetID) bool { return q.Hard[b] && q.Index.Budget(b).Allowed <= 0 }
	beyond := func(b Bound) bool { return q.WeightOf(b, u, unit.Pods) > b.Room() }
	return !unit.Elastic && (q.Hard != nil && slices.ContainsFunc(q.Budgets.Of(unit.Pods[0]), spent) || slices.ContainsFunc(q.Limits, beyond))
}

// numLimits is how many of the bounds are limits; they are the last.
func (q *Question) numLimits() int {
	if q.NoBounds {
		return 0
	}
	return len(q.Limits)
}

// key is a number for what b bounds, by itself where b is a hard budget, among limits
// where it is none.
func (b Bound) key() int64 {
	if b.Of == Charges {
		return int64(b.Budget)
	}
	key := int64(b.Of) << 1
	if b.Window {
		key++
	}
	return key
}

// noBound is the key of no limit.
const noBound = 0

// BoundOf is the bound that a reason is about; false: it is about none.
func BoundOf(why domain.Reason) (Bound, bool) {
	switch {
	case why.Check == OverBudget:
		return Bound{Of: Charges, Budget: cluster.BudgetID(why.Missing)}, true
	case why.Check == OverLimit && why.Missing != noBound:
		return Bound{Of: Measure(why.Missing >> 1), Window: why.Missing&1 == 1}, true
	}
	return Bound{}, false
}

// NotProved is the detail of a refusal that was not looked into to the end.
const NotProved = "not proved"

// Beyond is why no set of victims will do although the preemptor fits with all of them
// gone; the greedy one overruns list.
func Beyond(list []Excess, proof reprieve.Proof) domain.Reason {
	why := domain.Reason{Check: OverLimit, Missing: noBound}
	if len(list) > 0 {
		if why.Missing = list[0].key(); list[0].Of == Charges {
			why.Check = OverBudget
		}
		if list[0].Together {
			why, proof = domain.Reason{Check: NotTogether}, reprieve.Exhausted
		}
	}
	if proof == reprieve.Exhausted {
		why.Detail = NotProved
	}
	return why
}

// Within is the choice among sets of these units, with whom gone the preemptor is where at says.
func (q *Question) Within(units []victims.UnitID, r *reprieve.Runner, at func() []domain.Assignment) reprieve.Within {
	w := reprieve.Within{
		Choice: reprieve.Choice{Poll: q.Poll, Any: q.Probing, Whether: q.Asked != nil, Monotone: q.Monotone(), Steps: q.NumSteps()},
		Keeps:  func(out []victims.UnitID) bool { return len(q.OverrunsAt(at(), out, r.Parts())) == 0 },
	}
	if b, asked := q.landing(); asked {
		w.Looks = func() int { return q.Landed }
		w.Last = func(out []victims.UnitID, parts victims.Parts) bool {
			_, left := q.Land(at(), out, parts)
			return left <= b.Room()
		}
	}
	if q.Probing {
		w.Steps = min(w.Steps, StepsLeft(w.Steps, r.Decided-q.Decided))
	}
	bounds, few := q.Binding(units)
	for i, b := range bounds {
		c := q.Cap(b)
		if i < len(few) {
			c.Few = few[i]
		}
		w.Caps = append(w.Caps, c)
	}
	if !q.Probing {
		w.AimSteps = min(q.AimSteps(), w.Steps)
	}
	if len(q.States) == 0 && w.Last == nil {
		w.Instead, w.AlikePods = q.instead(), q.alikePods
	}
	return w
}

// Binding is Bounds without the hard budgets that another makes needless: one that covers the same pods, each a unit of its own, and leaves no
// more. few lists of each hard budget whom it covers.
func (q *Question) Binding(units []victims.UnitID) (list []Bound, few [][]victims.UnitID) {
	bounds := q.Bounds(units)
	hard := bounds[:len(bounds)-q.numLimits()]
	if len(hard) == 0 {
		return bounds, nil
	}
	var lists [][]victims.UnitID           // units of one pod, by the budgets that cover them
	numbers := map[*cluster.BudgetID]int{} // of lists
	of, several := make([][]int, len(hard)), make([][]victims.UnitID, len(hard))
	for _, u := range units {
		pods := q.Units.Unit(u).Pods
		if len(pods) > 1 {
			for _, b := range q.Covering([]victims.UnitID{u}) {
				if i, is := find(hard, b.Budget); is {
					several[i] = append(several[i], u)
				}
			}
			continue
		}
		covering := q.Budgets.Of(pods[0])
		if len(covering) == 0 {
			continue
		}
		number, known := numbers[&covering[0]]
		if !known {
			number, lists = len(lists), append(lists, nil)
			numbers[&covering[0]] = number
			i := 0
			for _, b := range covering { // in order, too
				for i < len(hard) && hard[i].Budget < b {
					i++
				}
				if i < len(hard) && hard[i].Budget == b {
					of[i] = append(of[i], number)
				}
			}
		}
		lists[number] = append(lists[number], u)
	}
	same, key := map[string]int{}, []byte(nil) // where the one of the same lists is
	for i, b := range hard {
		if several[i] == nil {
			key = key[:0]
			for _, number := range of[i] {
				key = binary.AppendUvarint(key, uint64(number))
			}
			if at, is := same[string(key)]; is {
				if b.Room() < list[at].Room() {
					list[at] = b
				}
				continue
			}
			same[string(key)] = len(list)
		}
		whom := append([]victims.UnitID{}, several[i]...)
		for _, number := range of[i] {
			whom = append(whom, lists[number]...)
		}
		list, few = append(list, b), append(few, whom)
	}
	return append(list, bounds[len(hard):]...), few
}

// Cap is a bound for a search.
func (q *Question) Cap(b Bound) reprieve.Cap {
	return reprieve.Cap{
		Room:   b.Room(),
		Weight: func(u victims.UnitID) int64 { return q.Weight(b, u) },
		Part:   func(u victims.UnitID, pods []cluster.PodID) int64 { return q.WeightOf(b, u, pods) },
		Once:   b.Of == NumUnits || b.Of == Price && q.OwnPrices, // what a part adds may be less than the sum of what its pods do
	}
}

// domainSearches is for how many whole searches there are steps in one domain, however many placements are tried there; on the nodes of
// a chunk, where the least is looked for; and to find out what would help. Where these are more than manySteps, there are as many, or for
// two searches.
const (
	domainSearches = 5
	manySteps      = 2 * defaultSteps
)

// StepsLeft is how many steps are left of those, where one search may take most and so many were taken.
func StepsLeft(most, taken int) int {
	if most > math.MaxInt/domainSearches {
		return most
	}
	return max(min(domainSearches*most, max(2*most, manySteps))-taken, 0)
}

// instead returns what reports of single pods of one node whether b frees at least what a does,
// of what the preemptor asks for.
func (q *Question) instead() func(a, b victims.UnitID) bool {
	var asked []int
	for _, m := range q.Members {
		for r, v := range m.Request() {
			if v > 0 && !slices.Contains(asked, r) {
				asked = append(asked, r)
			}
		}
	}
	return func(a, b victims.UnitID) bool {
		p, o := q.Units.Unit(a).Pods[0], q.Units.Unit(b).Pods[0]
		frees, instead := q.Index.Request(p), q.Index.Request(o)
		for _, r := range asked {
			if instead[r] < frees[r] {
				return false
			}
		}
		return slices.Equal(q.Index.Pod(p).Ports, q.Index.Pod(o).Ports)
	}
}

// alikePods reports whether nothing tells two pods of one unit apart that decides
// whether the preemptor fits, nor budgets and price.
func (q *Question) alikePods(p, o cluster.PodID) bool {
	u, _ := q.Units.UnitOf(p)
	return !q.OwnPrices && q.Index.NodeOf(p) == q.Index.NodeOf(o) && slices.Equal(q.Index.Request(p), q.Index.Request(o)) &&
		slices.Equal(q.Index.Pod(p).Ports, q.Index.Pod(o).Ports) && slices.Equal(q.Budgets.Of(p), q.Budgets.Of(o)) &&
		q.PriceOf(u, []cluster.PodID{p}) == q.PriceOf(u, []cluster.PodID{o})
}
