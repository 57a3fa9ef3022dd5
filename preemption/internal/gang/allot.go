package gang

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/allot"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// allotting looks for the places and victims of members of one shape, or a few, that disrupt
// least, wherever in the domain, where what goes on a node is a matter of that node and of which
// members it gets. One aim comes after the other: those for a largest number say who may go at all,
// those for a sum are numbers of a price.
type allotting struct {
	*attempt
	shapes  [][]domain.MemberID
	mixes   *allot.Mixes // of these, and of what victims use up of caps
	caps    []reprieve.Cap
	bounded bool      // hard budgets or limits bound the victims
	asked   []int     // what resources their members ask for
	asks    [][]int64 // by resource of these and by shape: how much
	members int       // that get a place, of all shapes together
	left    int       // sums of mixes that are still looked at
	places  []*place
	sums    []func(victims.UnitID, []cluster.PodID) int64 // that are numbers of a price
	total   allot.Price                                   // of everybody who may go
	answer  *allot.Answer                                 // nil: not known
	some    []seated                                      // within hard budgets and limits, whatever they cost; nil: not known

	most    func(victims.UnitID) int64 // the latest number of which the largest counts
	peak    int64                      // and how large it is
	met     []int64                    // by aim: no plan has less
	inPrice []int                      // by aim: which number of a price it is; none
	steps   int                        // that are left
	ofOne   int                        // of these at most for a mix on a node
}

// seated are members on a node, of each shape so many, and who goes for them.
type seated struct {
	node  cluster.NodeID
	count []int
	out   []victims.UnitID
}

// none says that an aim is no number of a price.
const none = -1

// How many sums of mixes of members of several shapes there may be on all nodes, where a trial has a
// say and where none has, and how many are looked at in all domains together, the first of them first.
const (
	mostTried  = 1 << 15
	mostMixing = 1 << 21
	mostSums   = 1 << 24

	mostWeights = 1 << 23 // of units, as caps count them, are looked at; else caps are no kinds of mixes
)

// mostAnew is for how many members placers look for places, too, where constraints have a say and what allot found is not proved: each
// placement takes as many trials as there are units near members.
const mostAnew = 512

// stepNodes is how many nodes share one budget of steps.
const stepNodes = 512

// allots reports whether what goes on a node is a matter of that node and of which members
// it gets, and these may go anywhere in the domain.
func (a *attempt) allots() bool {
	q := a.q
	if q.Given != nil || !q.Improves || q.Compare != nil || q.Lands() {
		return false
	}
	return len(q.Tree.Children) == 0 && a.shapesAgree() && !a.Trial.CrossNode() && q.Monotone() && !slices.ContainsFunc(a.potential, func(u victims.UnitID) bool {
		unit := q.Units.Unit(u)
		if w := q.Wholes().Of(u); w != nil {
			return unit.Elastic || !w.OneNode
		}
		return unit.Elastic || slices.ContainsFunc(unit.Pods, func(p cluster.PodID) bool {
			return q.Index.NodeOf(p) != q.Index.NodeOf(unit.Pods[0])
		})
	})
}

// shapesAgree reports whether members of one shape fit on the same nodes, and it does not matter who
// of several shapes is placed first.
func (a *attempt) shapesAgree() bool {
	if a.Trial.OnlyRoom() || a.Trial.PlacersAgree() {
		return true
	}
	return !a.Trial.OrderMatters() && !slices.ContainsFunc(a.Trial.ByShape(a.q.Tree.Members), func(shape []domain.MemberID) bool {
		return slices.ContainsFunc(shape, func(m domain.MemberID) bool { return !a.Trial.FitAlike(shape[0], m) })
	})
}

// newAllotting returns what looks for it in the domain, in so many steps a node at most; nil: nobody has another plan
// than others find, or none is known.
func (a *attempt) newAllotting(steps int) *allotting {
	left := a.sumsLeft()
	if left <= 0 || !a.allots() {
		return nil
	}
	s := &allotting{attempt: a, left: left, steps: (1 + len(a.domain.Nodes)/stepNodes) * ask.StepsLeft(steps, 0), ofOne: steps}
	if !s.divide() {
		return nil
	}
	for _, n := range a.domain.Nodes {
		if p := s.newPlace(n); p != nil {
			s.places = append(s.places, p)
		}
	}
	if !s.count() {
		return nil
	}
	switch s.keepBounds() {
	case reprieve.Found:
		return s
	case reprieve.Refuted: // by all members; fewer may do
		a.beyond = s.members == s.q.Tree.Need()
	}
	return nil
}

// allot looks for the plan that disrupts least in the domain. It reports whether that is settled:
// no plan disrupts less, or it is at least as good as the counted one, or members are too many to be placed anew.
func (a *attempt) allot(counted *Plan) bool {
	s := a.newAllotting(a.q.AimSteps())
	if s == nil {
		return false
	}
	proved := s.meetAll()
	s.take()
	a.consider(counted)
	if a.top == nil || !proved || !slices.Equal(s.met, a.q.Ranking.Values(a.top.Score)) {
		settled := s.mixes.Kinds() == 1 && (counted != nil || a.top != nil && len(a.q.Members) > mostAnew && !a.Trial.OnlyRoom())
		if a.q.Fewest || !s.bounded || a.top != nil && len(a.top.Places) == s.members { // else fewer members may be all that keep within bounds
			a.bound = s.met
		}
		if settled {
			less, _ := a.lessHard(a.domain, counted)
			a.consider(less)
			a.leaveOpen(s.met)
		}
		return settled
	}
	return true
}

// divide tells the shapes of members, and reports whether they are few enough.
func (s *allotting) divide() bool {
	s.shapes = s.Trial.ByShape(s.q.Tree.Members)
	var most []int
	for _, shape := range s.shapes {
		most = append(most, len(shape))
	}
	if s.mixes = allot.NewMixes(most, s.mostMixing()); s.mixes == nil {
		return false
	}
	for r := range s.q.Index.NumResources() {
		asks := make([]int64, len(s.shapes))
		for i, shape := range s.shapes {
			asks[i] = s.Trial.Member(shape[0]).Request()[r]
		}
		if slices.Max(asks) > 0 {
			s.asked, s.asks = append(s.asked, r), append(s.asks, asks)
		}
	}
	return true
}

// mostMixing is how many sums of mixes there may be on each node.
func (s *allotting) mostMixing() int {
	most := mostMixing
	if !s.Trial.OnlyRoom() {
		most = mostTried
	}
	return most / max(len(s.domain.Nodes), 1)
}

// count says for how many members places are looked for, and reports whether there is room for
// as many as are needed.
func (s *allotting) count() bool {
	s.members = len(s.q.Tree.Members)
	need := s.q.Tree.Need()
	if s.q.Fewest {
		s.members = min(s.members, need)
	}
	if len(s.shapes) == 1 {
		s.members = min(s.members, s.room())
	} else if s.roomy() != reprieve.Found { // who is left out would matter
		return false
	}
	return s.members >= need
}

// sumsLeft is how many sums of mixes may be looked at yet.
func (s *Search) sumsLeft() int {
	most := mostSums
	if s.helping() {
		most /= helping
	}
	return most - s.summed
}

// solveMixed allots the seats of mixes, and counts the sums that it looks at.
func (s *allotting) solveMixed(places allot.Mixed, atMost *allot.Price) allot.Answer {
	before := s.left
	a := allot.SolveMixed(places, s.mixes, s.members, atMost, &s.left)
	s.summed += before - s.left
	return a
}

// roomy says whether there is room for the members with everybody gone who may go.
func (s *allotting) roomy() reprieve.Proof {
	var a allot.Answer
	switch {
	case s.mixes.Kinds() == 1:
		if s.room() < s.members {
			return reprieve.Refuted
		}
		return reprieve.Found
	case len(s.caps) == 0:
		a = s.solveMixed(unpriced{curves{s}}, nil)
	default:
		if a = s.cheapest(nil); s.some == nil {
			s.some = s.seats(a.Parts)
		}
	}
	switch {
	case a.None:
		return reprieve.Refuted
	case a.Parts == nil:
		return reprieve.Exhausted
	}
	return reprieve.Found
}

// meetAll meets one aim after the other, and reports whether it met all.
func (s *allotting) meetAll() bool {
	violating, _ := s.byViolations(s.potential)
	aims := s.q.Aims(s.Runner, s.potential, violating)
	known := s.q.Known(s.potential)
	for k := range aims[:known] {
		if !s.meet(&aims[k]) {
			known = k
			break
		}
	}
	a := s.solve()
	for k, j := range s.inPrice {
		if j != none {
			s.met[k] = a.Bound[j]
		}
	}
	return known == len(aims) && a.Proved
}

// meet lets no plan have more of a than it has to, beside the aims before it. It reports
// false where that is not known.
func (s *allotting) meet(a *reprieve.Aim) bool {
	least, number := int64(0), none
	switch {
	case a.Most != nil:
		var ok bool
		if least, ok = s.lower(a); !ok {
			return false
		}
		if !a.Among {
			s.most, s.peak = a.Most, least
		}
	case a.Sum == nil:
		if s.keepWithin(a.Beyond) != reprieve.Found {
			return false
		}
	case !s.adds(a) || len(s.sums) == 0 && s.without(func(u victims.UnitID) int64 { return a.Sum(u, s.q.Units.Unit(u).Pods) }):
	default:
		if len(s.sums) == len(allot.Price{}) || a.Kin != nil {
			return false
		}
		number = len(s.sums)
		s.sums, s.answer = append(s.sums, a.Sum), nil
		s.total = allot.Price{}
		for _, p := range s.places {
			p.charge(s)
		}
	}
	if least == math.MinInt64 { // nobody counts
		least = s.q.Ranking.Values(s.q.Score(nil, nil, 0))[len(s.met)]
	}
	s.met, s.inPrice = append(s.met, least), append(s.inPrice, number)
	return true
}

// adds reports whether somebody who may go adds to a.
func (s *allotting) adds(a *reprieve.Aim) bool {
	return slices.ContainsFunc(s.places, func(p *place) bool {
		return slices.ContainsFunc(p.items, func(it item) bool { return a.Sum(it.unit, s.q.Units.Unit(it.unit).Pods) > 0 })
	})
}

// keepBounds lets no plan go beyond hard budgets and limits, as keepWithin does.
func (s *allotting) keepBounds() reprieve.Proof {
	var caps []reprieve.Cap
	for _, b := range s.q.Bounds(s.potential) {
		caps = append(caps, s.q.Cap(b))
	}
	s.bounded = len(caps) > 0
	return s.keepWithin(caps)
}

// keepWithin lets no plan go beyond caps, those with the least room first as far as there are few
// enough mixes: of the others it is seen at the end. Refuted: no plan keeps within these; then, and where
// that is not known, they are not kept.
func (s *allotting) keepWithin(caps []reprieve.Cap) reprieve.Proof {
	if len(s.met) > 0 || len(caps) > mostWeights/(1+len(s.potential)) {
		return reprieve.Found
	}
	var crowded []reprieve.Cap
	for _, c := range caps {
		if c = s.inUnits(c); s.weight(c) > c.Room {
			crowded = append(crowded, c)
		}
	}
	slices.SortStableFunc(crowded, func(a, b reprieve.Cap) int { return cmp.Compare(a.Room, b.Room) })
	hard, limit := s.caps, s.mostMixing()/s.shares // all domains may have such mixes
	before, mixes, kept := s.mixes, s.mixes, slices.Clip(hard)
	for _, c := range crowded {
		if slices.ContainsFunc(kept, func(o reprieve.Cap) bool { return o.Room <= c.Room && s.weighAlike(o, c) }) {
			continue
		}
		more := mixes.With(int(min(c.Room, int64(limit))), limit)
		if more == nil {
			break
		}
		mixes, kept = more, append(kept, c)
	}
	if mixes == before {
		return reprieve.Found
	}
	s.keepTo(kept, mixes)
	proof := s.roomy()
	if proof != reprieve.Found {
		s.keepTo(hard, before)
	}
	return proof
}

// inUnits is a cap in units of which everybody who may go uses up whole ones.
func (s *allotting) inUnits(c reprieve.Cap) reprieve.Cap {
	unit := int64(0)
	for _, p := range s.places {
		for i := range p.items {
			unit = checked.GCD(c.Weight(p.items[i].unit), unit)
		}
	}
	if unit <= 1 {
		return c
	}
	return reprieve.Cap{Room: c.Room / unit, Weight: func(u victims.UnitID) int64 { return c.Weight(u) / unit }}
}

// weighAlike reports whether everybody who may go uses up as much of a as of b.
func (s *allotting) weighAlike(a, b reprieve.Cap) bool {
	return !slices.ContainsFunc(s.places, func(p *place) bool {
		return slices.ContainsFunc(p.items, func(it item) bool { return a.Weight(it.unit) != b.Weight(it.unit) })
	})
}

// keepTo lets nobody go beyond caps, by these mixes.
func (s *allotting) keepTo(caps []reprieve.Cap, mixes *allot.Mixes) {
	s.caps, s.mixes, s.answer = caps, mixes, nil
	for _, p := range s.places {
		p.keepWithin(caps, mixes)
	}
}

// weight is what everybody adds who may go.
func (s *allotting) weight(c reprieve.Cap) (sum int64) {
	for _, p := range s.places {
		for i := range p.items {
			sum = checked.Add(sum, c.Weight(p.items[i].unit))
		}
	}
	return sum
}

// room is how many members there is room for with everybody gone who may go.
func (s *allotting) room() (room int) {
	for _, p := range s.places {
		room += p.seats
	}
	return room
}

// lower finds the least number of which there is a plan whose victims have no larger one, as
// good as before, and lets nobody go who has.
func (s *allotting) lower(a *reprieve.Aim) (least int64, ok bool) {
	levels := s.number(func(u victims.UnitID) int64 {
		if a.Among && s.most(u) != s.peak {
			return math.MinInt64
		}
		return a.Most(u)
	})
	low, high := 0, len(levels)-1
	if len(s.sums) > 0 { // hardly less than there is
		now := int64(math.MinInt64)
		for _, part := range s.solve().Parts {
			p := s.places[part.Place]
			for _, i := range p.found[part.Seats-1].items {
				now = max(now, p.items[i].number)
			}
		}
		high, _ = slices.BinarySearch(levels, now)
	}
	for mid := max(high-1, 0); low < high; mid = (low + high) / 2 {
		switch s.within(levels[mid]) {
		case reprieve.Found:
			high = mid
		case reprieve.Refuted:
			low = mid + 1
		default:
			return 0, false
		}
	}
	return levels[low], s.within(levels[low]) == reprieve.Found
}

// without lets nobody go whose number is above zero, if there is a plan then.
func (s *allotting) without(number func(victims.UnitID) int64) bool {
	s.number(number)
	return s.within(0) == reprieve.Found
}

// number gives each item a number, and returns those that there are, in order, with that of no
// victims.
func (s *allotting) number(of func(victims.UnitID) int64) []int64 {
	levels := append(make([]int64, 0, 1+len(s.potential)), math.MinInt64)
	for i, p := range s.places {
		p = p.only()
		for k := range p.items {
			p.items[k].number = of(p.items[k].unit)
			levels = append(levels, p.items[k].number)
		}
		p.rank()
		s.places[i] = p
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// within lets nobody go whose number is larger, where there is a plan as good then; Refuted:
// there is none.
func (s *allotting) within(level int64) reprieve.Proof {
	if s.left < 0 || len(s.sums) > 0 && !s.solve().Proved {
		return reprieve.Exhausted
	}
	before, answer := slices.Clone(s.places), s.answer
	for i, p := range before {
		s.places[i] = p.within(level)
	}
	switch {
	case slices.Equal(s.places, before):
		return reprieve.Found
	case len(s.sums) == 0:
		proof := s.roomy()
		if proof != reprieve.Found {
			s.places = before
		}
		return proof
	case len(s.caps) > 0 || s.roomy() == reprieve.Found:
		switch a := s.cheapest(&answer.Bound); {
		case a.None || a.Bound.Compare(&answer.Bound) > 0:
		case a.Proved:
			s.answer = &a
			return reprieve.Found
		default:
			s.places = before
			return reprieve.Exhausted
		}
	}
	s.places = before
	return reprieve.Refuted
}

// solve allots the seats.
func (s *allotting) solve() allot.Answer {
	if s.answer == nil {
		a := s.cheapest(nil)
		s.answer = &a
	}
	return *s.answer
}

// cheapest allots the seats at no more than atMost, nil: whatever they cost. It is proved if the
// victims that were found cost what is said.
func (s *allotting) cheapest(atMost *allot.Price) allot.Answer {
	var a allot.Answer
	if s.mixes.Kinds() == 1 {
		a = allot.Solve(curves{s}, s.members, atMost)
	} else {
		a = s.solveMixed(curves{s}, atMost)
	}
	for _, part := range a.Parts {
		switch f := s.places[part.Place].found[part.Seats-1]; {
		case f.none:
			a.Parts, a.Proved = nil, false
			return a
		case !f.proved:
			a.Proved = false
		}
	}
	return a
}

// take proposes the plan of the answer, if it has one.
func (s *allotting) take() { s.place(s.seats(s.solve().Parts)) }

// seats are those of an answer.
func (s *allotting) seats(parts []allot.Part) (list []seated) {
	for _, part := range parts {
		p := s.places[part.Place]
		x := seated{node: p.node}
		for i := range s.shapes {
			x.count = append(x.count, s.mixes.Count(part.Seats, i))
		}
		for _, i := range p.found[part.Seats-1].items {
			x.out = append(x.out, p.items[i].unit)
		}
		list = append(list, x)
	}
	return list
}

// place proposes the plan of seats, if there are any.
func (s *allotting) place(list []seated) {
	if list == nil {
		return
	}
	rest := slices.Clone(s.shapes)
	var out []victims.UnitID
	for _, x := range list {
		for i, k := range x.count {
			for range k {
				s.Trial.Place(rest[i][0], x.node)
				rest[i] = rest[i][1:]
			}
		}
		out = append(out, x.out...)
	}
	if s.bounded && len(s.q.Overruns(out, nil)) > 0 { // of bounds that are no caps
		s.Trial.UnplaceTo(0)
		return
	}
	s.settleOn(out)
}

// curves are the places with what they cost.
type curves struct{ *allotting }

func (c curves) Len() int            { return len(c.places) }
func (c curves) Seats(place int) int { return c.places[place].seats }
func (c curves) Most() allot.Price   { return c.total }

// Holds reports whether a mix has room.
func (c curves) Holds(place, mix int) bool { return c.places[place].may(mix) }

// Poll polls.
func (c curves) Poll() {
	if c.q.Poll != nil {
		c.q.Poll()
	}
}

// unpriced are places that cost nothing.
type unpriced struct{ curves }

// Price is nothing.
func (unpriced) Price(int, int) (allot.Price, bool) { return allot.Price{}, true }

// Price is what is known of a mix of members in a place.
func (c curves) Price(place, k int) (price allot.Price, known bool) {
	p := c.places[place]
	if f := p.found[k-1]; f != nil {
		return f.price, true
	}
	return p.least(k), false
}

// Hull is kept with the place.
func (c curves) Hull(place int) *allot.Hull { return &c.places[place].hull }

// Learn looks for the victims of parts, each with as many steps as the others.
func (c curves) Learn(list []allot.Part) {
	steps := min(c.steps/len(list), c.ofOne)
	workers := c.q.Goroutines
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if !c.Trial.OnlyRoom() { // there is one trial
		workers = 1
	}
	taken := make([]int, len(list))
	ranges.Take(len(list), min(workers, len(list)), func(_, i int) {
		p := c.places[list[i].Place]
		p.found[list[i].Seats-1], taken[i] = p.look(list[i].Seats, steps, c.q.Poll)
	})
	for i, part := range list {
		c.steps = max(c.steps-taken[i], 0)
		if p := c.places[part.Place]; p.found[part.Seats-1] == nil {
			p.holds[part.Seats] = false
		}
	}
}
