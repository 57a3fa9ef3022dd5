package reprieve

import (
	"cmp"
	"iter"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Parts tells which units are out in part since the latest run, and which of their
// pods are. It belongs to the Runner.
func (r *Runner) Parts() victims.Parts { return r.parts }

// Forget forgets which units are out in part, and what their levels are: the trial is as it was before.
func (r *Runner) Forget() {
	clear(r.parts)
	r.cut = nil
}

// Renew forgets what r has read of units, which may be others or have changed where it is used for another question.
func (r *Runner) Renew() { r.Wholes, r.nests, r.places = nil, nil, nil }

// shrink gives back as many members of elastic unit u, which is out, as the preemptor
// leaves room for, if its group goes on with them: the largest set, and of equal ones
// the one that keeps the member that goes later, in order.
func (r *Runner) shrink(t domain.Trial, u victims.UnitID) {
	if r.shared && r.Doubtful && r.left <= r.steps() && r.moreMatter(t, u, r.left) {
		r.allOrNobody(t, u)
		return
	}
	s := &shrinker{
		r: r, trial: t, unit: u, monotone: !r.Doubtful, steps: r.steps(),
	}
	others := s.sort()
	for _, p := range others {
		t.Return(p)
	}
	if r.shared {
		s.steps = min(s.steps, r.left)
	}
	s.after = make([]int, len(s.members)+1)
	for i, p := range slices.Backward(s.members) {
		s.after[i] = s.after[i+1] + s.worth(p)
	}
	s.steps = max(s.steps, len(s.members)+1) // one after the other, as they fit, in any case
	before := s.steps
	s.next = s.alike()
	s.skip = make([]bool, len(s.members))
	s.decide(0, 0)
	r.left -= before - max(s.steps, 0)
	if s.best == nil {
		for _, p := range others {
			t.Remove(p)
		}
		return
	}
	var out []cluster.PodID
	for i, p := range s.members {
		block, first := s.blocks[p]
		switch {
		case first && !s.best[i]:
			out = append(out, block...)
		case first:
		case s.best[i]:
			t.Return(p)
		default:
			out = append(out, p)
		}
	}
	if len(s.blocks) > 0 {
		here := among(others)
		for _, p := range out {
			if here(p) {
				t.Remove(p)
			}
		}
		out = r.Units.Deciders(u, out, func(cluster.PodID) bool { return true })
	}
	r.goInPart(t, u, out)
}

// goInPart notes that of unit u these stay out.
func (r *Runner) goInPart(t domain.Trial, u victims.UnitID, out []cluster.PodID) {
	if r.parts == nil {
		r.parts = victims.Parts{}
	}
	r.parts[u] = out
	t.Fits() // yes, as was looked at; a gang's trial wants to be asked
	if r.ObservePart != nil {
		r.ObservePart(u, out)
	}
}

// moreMatter reports whether at least so many members of unit u matter to t.
func (r *Runner) moreMatter(t domain.Trial, u victims.UnitID, least int) bool {
	selective, ok := t.(selective)
	for _, p := range r.here(u) {
		if least <= 0 {
			break
		}
		if !ok || selective.Matters(p) {
			least--
		}
	}
	return least <= 0
}

// allOrNobody is all of shrink where the steps do for one set of members of which nothing is known on the way: that of all.
func (r *Runner) allOrNobody(t domain.Trial, u victims.UnitID) {
	r.left = 0
	returnUnit(t, u, r.here(u))
	if d, ok := t.(domain.Doubter); ok {
		d.Doubt()
	}
	if !r.goesOn(u, slices.Values([]cluster.PodID(nil))) || !t.Fits().OK() {
		removeUnit(t, u, r.here(u))
		r.Cut = true
		return
	}
	r.goInPart(t, u, nil)
}

// Share lets the searches for who of elastic units may stay decide on 16 times [Runner.Steps] members together from now on, or on
// the part of that for one of so many domains. Where they run out of it those stay who fit, one after the other.
func (r *Runner) Share(domains int) { r.shared, r.left = true, fullSearches*r.steps()/max(domains, 1) }

func (r *Runner) steps() int { return cmp.Or(r.Steps, shrinkSteps) }

// shrinkSteps is how many members a search may decide on by default, fullSearches how many such searches may go to their
// end where they share their steps, and looksOfStep how many members of a gang that are looked at are as much as one.
const (
	shrinkSteps  = 20_000
	fullSearches = 16
	looksOfStep  = 64
)

// shrinker is the search for the largest set of members that may return.
type shrinker struct {
	r        *Runner
	trial    domain.Trial
	unit     victims.UnitID
	members  []cluster.PodID                   // those to decide on, and the first of each block; the others return in any case
	blocks   map[cluster.PodID][]cluster.PodID // by their first
	after    []int                             // by member: how many pods there are from there on
	monotone bool
	steps    int

	next []int           // by member: the next one that is like it, or -1
	skip []bool          // by member: one like it before stays out
	out  []cluster.PodID // who stays out, in order of members
	best []bool          // by member: it returns; nil: no set was found
	most int
}

// sort finds the members to decide on, and returns the others.
func (s *shrinker) sort() (others []cluster.PodID) {
	here := s.r.here(s.unit)
	matters := matters(s.trial)
	if nested := s.r.nested(s.unit); nested == nil {
		s.members = s.r.Units.Deciders(s.unit, here, matters)
	} else {
		for _, p := range here {
			if matters(p) {
				s.members = append(s.members, p)
			}
		}
		s.blocks = map[cluster.PodID][]cluster.PodID{}
		for _, block := range nested.together(s.members) {
			s.members, s.blocks[block[0]] = append(s.members, block[0]), block
		}
		s.members = s.r.Units.Deciders(s.unit, s.members, func(cluster.PodID) bool { return true })
	}
	if len(s.members)-len(s.blocks) < len(here) {
		except(here, s.members, func(p cluster.PodID) { others = append(others, p) })
		for _, p := range here {
			if _, first := s.blocks[p]; first {
				others = append(others, p)
			}
		}
	}
	return others
}

// worth is how many pods return with member p.
func (s *shrinker) worth(p cluster.PodID) int { return max(len(s.blocks[p]), 1) }

// gone are the pods that stay out.
func (s *shrinker) gone(yield func(cluster.PodID) bool) {
	for _, p := range s.out {
		block, first := s.blocks[p]
		if !first {
			block = []cluster.PodID{p}
		}
		for _, q := range block {
			if !yield(q) {
				return
			}
		}
	}
}

// except calls do with those of pods that are not among some.
func except(pods, some []cluster.PodID, do func(cluster.PodID)) {
	in := among(some)
	for _, p := range pods {
		if !in(p) {
			do(p)
		}
	}
}

// among tells who is in a list.
func among[T comparable](list []T) func(T) bool {
	const few = 16
	if len(list) <= few {
		return func(x T) bool { return slices.Contains(list, x) }
	}
	set := make(map[T]bool, len(list))
	for _, x := range list {
		set[x] = true
	}
	return func(x T) bool { return set[x] }
}

// decides are the members of elastic unit u about which there is something to decide in t.
func (r *Runner) decides(t domain.Trial, u victims.UnitID) []cluster.PodID {
	pods := r.here(u)
	if r.nested(u) != nil {
		pods = r.Units.Unit(u).Pods // all of a group that may go, wherever they are
	}
	return r.Units.Deciders(u, pods, matters(t))
}

// matters tells which pods matter to t.
func matters(t domain.Trial) func(cluster.PodID) bool {
	if selective, ok := t.(selective); ok {
		return selective.Matters
	}
	return func(cluster.PodID) bool { return true }
}

// goesOn reports whether elastic unit u goes on without the pods of out.
func (r *Runner) goesOn(u victims.UnitID, out iter.Seq[cluster.PodID]) bool {
	if n := r.nested(u); n != nil {
		return n.goesOnWithout(out)
	}
	running, _ := r.running(u)
	return r.Units.GoesOnWithout(u, running, out)
}

// nested is what [victims.Units.Nested] tells of an elastic unit whose group has groups beneath.
type nested struct {
	goesOnWithout func(out iter.Seq[cluster.PodID]) bool
	together      func(some []cluster.PodID) [][]cluster.PodID
}

// nested is that of unit u, found out once until [Runner.Renew]; nil: no groups are beneath.
func (r *Runner) nested(u victims.UnitID) *nested {
	n, known := r.nests[u]
	if !known {
		if r.nests == nil {
			r.nests = map[victims.UnitID]*nested{}
		}
		if goesOn, together := r.Units.Nested(u); goesOn != nil {
			n = &nested{goesOn, together}
		}
		r.nests[u] = n
	}
	return n
}

// running is [victims.Units.Running] of unit u.
func (r *Runner) running(u victims.UnitID) (running int, ok bool) {
	if r.Wholes != nil {
		return r.Wholes.Running(u)
	}
	return r.Units.Running(u)
}

// alike links members on one node that ask for the same.
func (s *shrinker) alike() []int {
	next := slices.Repeat([]int{-1}, len(s.members))
	if s.r.Doubtful || s.r.Constrained {
		return next
	}
	order := make([]int, 0, len(s.members))
	for i, p := range s.members {
		if len(s.blocks[p]) == 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return s.compare(s.members[i], s.members[j]) })
	for k, j := range order {
		if k > 0 && s.compare(s.members[order[k-1]], s.members[j]) == 0 {
			next[order[k-1]] = j
		}
	}
	return next
}

// compare is 0 for members on one node that ask for the same.
func (s *shrinker) compare(p, q cluster.PodID) int {
	ix := s.r.Units.Index()
	if c := cmp.Compare(ix.NodeOf(p), ix.NodeOf(q)); c != 0 {
		return c
	}
	kind := func(p cluster.PodID) (kind int) {
		if s.r.Units.Leads(p) {
			kind++
		}
		if ix.Pod(p).Terminating {
			kind += 2
		}
		return kind
	}
	return cmp.Or(
		cmp.Compare(ix.GroupOf(p), ix.GroupOf(q)),
		cmp.Compare(kind(p), kind(q)),
		slices.Compare(ix.Request(p), ix.Request(q)),
		slices.CompareFunc(ix.Pod(p).Ports, ix.Pod(q).Ports, func(a, b cluster.HostPort) int {
			return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.IP, b.IP))
		}),
	)
}

// decide decides on the members from position i on; so many of those before return.
func (s *shrinker) decide(i, back int) {
	enough := s.best != nil && back+s.after[i] <= s.most
	if s.steps--; s.steps < 0 || enough {
		s.r.Cut = s.r.Cut || !enough
		return
	}
	if i == len(s.members) {
		if s.r.goesOn(s.unit, s.gone) && s.fits() {
			s.most, s.best = back, make([]bool, len(s.members))
			out := s.out
			for j, p := range s.members {
				if s.best[j] = len(out) == 0 || out[0] != p; !s.best[j] {
					out = out[1:]
				}
			}
		}
		return
	}
	p := s.members[i]
	if len(s.blocks[p]) > 0 {
		s.decide(i+1, back+s.worth(p))
	} else if !s.skip[i] {
		s.trial.Return(p)
		if !s.monotone || s.trial.Fits().OK() {
			s.decide(i+1, back+1)
		}
		s.trial.Remove(p)
	}
	if s.next[i] >= 0 {
		s.skip[s.next[i]] = true
	}
	s.out = append(s.out, p)
	s.decide(i+1, back)
	s.out = s.out[:len(s.out)-1]
	if s.next[i] >= 0 {
		s.skip[s.next[i]] = false
	}
}

// fits reports whether the preemptor fits with those that are back; what is monotone
// was looked at one by one.
func (s *shrinker) fits() bool {
	if s.monotone {
		return true
	}
	if d, ok := s.trial.(domain.Doubter); ok {
		s.steps -= d.Doubt() / looksOfStep
	}
	return s.trial.Fits().OK()
}
