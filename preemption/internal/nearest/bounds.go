package nearest

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// bounded is nearest where hard budgets and limits bound the victims. A node on which
// the preemptor would fit without these comes first, with those of them that stand in its
// way; else what nearest finds, and then what still does.
func (s *Pod) bounded() (cluster.NodeID, []Change) {
	if n, list := s.bounds(); list != nil {
		return s.sure(n, list)
	}
	n, list := s.nearest()
	if len(list) == 0 {
		return cluster.NoNode, nil // nothing to ask again about
	}
	again, end := s.again(list)
	if again == nil {
		return cluster.NoNode, nil
	}
	defer end()
	if v := again.search.Run().Verdict; v == ask.Feasible || v == ask.Fits {
		return n, list
	}
	n, more := again.bounds()
	if more == nil {
		return cluster.NoNode, nil
	}
	s.Unproved = s.Unproved || again.Unproved || !again.search.Stats.Exact
	return s.sure(s.here(again, n), sorted(append(list, more...)))
}

// sure is what was found to help at node n, if the search itself finds it where its steps are few: who looks for
// any set finds one with fewer than who looks for the least.
func (s *Pod) sure(n cluster.NodeID, list []Change) (cluster.NodeID, []Change) {
	if s.q.Steps > 0 {
		var in bool
		if n, in, _ = s.with(list); !in {
			return cluster.NoNode, nil
		}
	}
	return n, list
}

// bounds tells which bounds would have to be wider, and where: it begins with
// what the victims of giving back go beyond, where these are fewest bounds, by the
// least in sum among equals. nil if the preemptor fits nowhere even without bounds.
func (s *Pod) bounds() (cluster.NodeID, []Change) {
	stats := s.search.Stats // what is tried here is no part of the search
	s.q.Probing, s.q.Decided = true, s.search.Runner.Decided
	s.q.ShareLanding(1)
	defer func() {
		s.search.Stats, s.q.Probing, s.q.Relaxed = stats, false, nil
		s.search.Trial.Restore() // others will ask the constraints
	}()
	place := func() []domain.Assignment { return []domain.Assignment{{Node: s.search.Trial.Node()}} }
	var tries []try
	var list []ask.Excess
	var begin cluster.NodeID // whose victims go beyond list
	for n := range s.q.Index.Nodes() {
		if s.search.Status[n].Unresolvable {
			continue
		}
		s.search.Trial.Reset(n)
		potential := s.q.Evictable(n)
		out, _ := s.search.Reprieve(potential)
		if len(out.Victims) == 0 {
			continue
		}
		over := s.q.OverrunsAt(place(), out.Victims, s.search.Runner.Parts())
		binding, _ := s.q.Binding(potential)
		t := try{node: n, bounds: len(over), over: total(over), units: len(potential), caps: len(s.q.Bounds(potential)), binding: len(binding)}
		if t.alone = !s.q.Lands() && !slices.ContainsFunc(potential, func(u victims.UnitID) bool { return s.q.Units.Unit(u).Elastic }); t.alone && !s.q.Lowest {
			t.greedy, t.known = over, true
		}
		if tries == nil || t.beyond(try{bounds: len(list), over: total(list)}) < 0 {
			list, begin = over, n
		}
		for _, u := range potential {
			t.moved += len(s.search.Runner.Here(u))
		}
		tries = append(tries, t)
	}
	if tries == nil {
		return cluster.NoNode, nil
	}
	if s.q.Lands() {
		s.search.Trial.Reset(begin)
		out, _ := s.search.Reprieve(s.q.Evictable(begin))
		list = s.q.EveryOverrunAt(place(), out.Victims, s.search.Runner.Parts())
	}
	all := len(tries)
	tries = nearly(tries, len(list))
	at := begin
	l := least{left: asksFor(tries), ask: func(list []Change) (need []Change, in, refuted bool) {
		s.q.Relaxed = excessOf(list)
		defer func() { s.q.Relaxed = nil }()
		refuted = s.q.Monotone()
		last := at
		for _, here := range [...]bool{true, false} { // where it went last is where it will go
			for i := range tries {
				t := &tries[i]
				if (t.node == last) != here {
					continue
				}
				over, proof := s.within(t)
				refuted = refuted && proof == reprieve.Refuted
				if proof >= reprieve.Found {
					at = t.node
					return changesOf(over), true, false
				}
			}
		}
		return nil, false, refuted
	}}
	need, ok := l.find(changesOf(list))
	if s.Unproved = l.unproved || len(tries) < all; !ok {
		return cluster.NoNode, nil
	}
	return at, sorted(need)
}

// within tells what victims go beyond on the node of t that keep within the bounds as they are relaxed, if there are some. Giving back comes to the
// same whatever the bounds are, so that its victims are found once; where they do not do, a search begins only if there are steps for it.
func (s *Pod) within(t *try) (over []ask.Excess, proof reprieve.Proof) {
	potential, trial := s.q.Evictable(t.node), s.search.Trial
	s.search.CountSeats()
	defer s.search.EndSeats()
	place := []domain.Assignment{{Node: t.node}}
	unbounded := func(out []victims.UnitID) []ask.Excess {
		wider := s.q.Relaxed
		s.q.Relaxed = nil
		defer func() { s.q.Relaxed = wider }()
		return s.q.EveryOverrunAt(place, out, s.search.Runner.Parts())
	}
	if t.alone && !t.known {
		trial.Reset(t.node)
		out, why := s.search.Runner.Run(trial, potential)
		if t.alone = why.OK() && len(out.Victims) > 0; t.alone {
			t.greedy, t.known = unbounded(out.Victims), true
		}
	}
	at := 0 // lists of excesses are in one order, so that the next one mostly follows
	beyond := func(x ask.Excess) bool {
		for range s.q.Relaxed {
			r := s.q.Relaxed[at%len(s.q.Relaxed)]
			if at++; r.Same(x.Bound) {
				return r.Amount < x.Amount
			}
		}
		return true
	}
	switch {
	case !t.known:
	case !slices.ContainsFunc(t.greedy, beyond):
		return t.greedy, reprieve.Found
	case cover.ToBegin(t.units, t.binding) > min(s.q.NumSteps(), ask.StepsLeft(s.q.NumSteps(), s.search.Runner.Decided-s.q.Decided)):
		return nil, reprieve.Exhausted
	}
	trial.Reset(t.node)
	out, proof, _ := s.search.Runner.RunWithin(trial, potential, s.search.Within(potential))
	if proof < reprieve.Found {
		return nil, proof
	}
	return unbounded(out.Victims), proof
}

// try is a node that is asked about with bounds that are wider.
type try struct {
	node   cluster.NodeID
	bounds int   // how many its victims go beyond
	over   int64 // by how much in sum
	moved  int   // pods that leave and come back each time

	units, caps int // that a search there decides on, and bounds that are looked at
	binding     int // those within which it searches

	alone  bool         // victims are whole units, of whom nobody asks where they land
	known  bool         // then, whether it was asked
	greedy []ask.Excess // what those of giving back go beyond
}

// beyond orders tries by what the victims go beyond.
func (t try) beyond(o try) int {
	return cmp.Or(cmp.Compare(t.bounds, o.bounds), cmp.Compare(t.over, o.over))
}

// Which bounds would do is asked until as many pods as mostMoved have left and come back, but fewestAsks times in any case. A unit is looked
// at as eachUnit, and as eachBound more for each bound, until that is mostTried.
const (
	mostMoved, fewestAsks = 1 << 23, 4
	eachUnit, eachBound   = 10, 3
	mostTried             = 1 << 22
)

// nearly are those of tries whose victims go least beyond, as many as so many bounds may be asked about, in their order: each is left out once, and
// made less.
func nearly(tries []try, bounds int) []try {
	best, left := slices.SortedStableFunc(slices.Values(tries), try.beyond), mostTried/(fewestAsks+2*bounds)
	for i := range best {
		if left -= best[i].units * (eachBound*best[i].caps + eachUnit); left < 0 {
			best = best[:max(i, 1)]
			break
		}
	}
	slices.SortFunc(best, func(a, b try) int { return cmp.Compare(a.node, b.node) })
	return best
}

// asksFor is how often all of tries may be asked about.
func asksFor(tries []try) int {
	moved := 0
	for i := range tries {
		moved += tries[i].moved
	}
	return max(mostMoved/max(moved, 1), fewestAsks)
}

func total(list []ask.Excess) int64 {
	sum := int64(0)
	for _, r := range list {
		sum = checked.Add(sum, r.Amount)
	}
	return sum
}

// mostAsked is how much all the questions about a gang may ask, as the search for a gang counts it: no other
// is asked after that.
const mostAsked = 1 << 21

// asksToRead is for how many times to ask about a member it counts to read a pod of the cluster, which each question does.
const asksToRead = 24

// OfGang tells which hard budgets and limits would have to be wider for a gang, which found
// nothing in rounds of domains: it begins with what a plan without bounds goes beyond, looked for
// no harder than by ask.Improved, else with what evicting everybody there would. in says whether the
// gang gets in with changes made, and by which plan if that is known, or whether it is proved that it does not, and adds to asked how often that asked about a member on a
// node. nil if that is not known, or asked comes to too many. If it is unproved, less may help, too.
func OfGang(q *ask.Question, rounds [][]domain.Domain, asked *int, in func([]Change) (p *gang.Plan, in, proved bool)) (list []Change, unproved bool) {
	if *asked > mostAsked {
		return nil, false
	}
	settings, light := q.Settings, *q.Settings
	light.Effort = min(light.Effort, ask.Improved)
	q.NoBounds, q.Settings = true, &light
	search := gang.New(q)
	search.Run(rounds)
	q.NoBounds, q.Settings = false, settings
	if *asked += search.Asked(); search.Best == nil {
		return nil, false
	}
	whole := func(list []Change) ([]Change, bool, bool) {
		*asked += asksToRead * q.Index.NumPods()
		p, in, proved := in(list)
		if p == nil || len(list) > 1 {
			return list, in, proved
		}
		if need := changesOf(q.EveryOverrunAt(p.Places, p.Victims, p.Parts)); len(need) == 1 && need[0].Amount < list[0].Amount {
			return need, in, proved
		}
		return list, in, proved
	}
	dear := func(asks int) bool {
		return checked.Add(int64(*asked), checked.Mul(int64(asks-1), int64(asksToRead*q.Index.NumPods()))) > mostAsked
	}
	l := least{left: mostAsks, ask: whole, dear: dear}
	list, ok := l.find(changesOf(q.EveryOverrunAt(search.Best.Places, search.Best.Victims, search.Best.Parts)))
	if !ok {
		list, ok = l.find(changesOf(q.Overruns(search.Potential(&search.Best.Domain), nil)))
	}
	if !ok {
		return nil, false
	}
	return sorted(list), l.unproved
}
