package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// seating seats the members of a team by one placer.
type seating struct {
	*gangSearch
	placer domain.Placer
	offers *victims.Offers // nil: room is free
	fewest bool            // groups and members beyond what is needed are left out
}

// fitsIn places the gang in one of domains with everybody in place, where it can
// seat most members, and returns that domain; nil if it fits in none.
func (s *gangSearch) fitsIn(domains []domain.Domain) *domain.Domain {
	if s.given != nil {
		if !s.placeGiven().OK() {
			return nil
		}
		return &domains[0]
	}
	if s.slots != nil {
		d := s.slots.fitsIn(domains)
		if d != nil {
			s.equip()
			s.place(d, domain.Pack{}, nil, false)
		}
		return d
	}
	var best []domain.Assignment
	var at *domain.Domain
	for i := range domains {
		for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
			if s.place(&domains[i], placer, nil, false) && len(s.trial.Placed()) > len(best) {
				best, at = s.trial.Assignments(), &domains[i]
			}
			s.trial.UnplaceTo(0)
			if len(best) == len(s.members) {
				break
			}
		}
	}
	s.trial.PlaceAll(best)
	return at
}

// place seats the team on nodes of d as things stand, as many members as fit or
// with fewest as few as are needed, and reports whether it could. Where placer does
// not find a place for enough, every placement is tried if they are not too many.
func (s *gangSearch) place(d *domain.Domain, placer domain.Placer, offers *victims.Offers, fewest bool) bool {
	w := &seating{s, placer, offers, fewest}
	if !w.seat(s.team, d) && !w.seatExactly(d) {
		return false
	}
	if !fewest {
		w.fillUp(s.team)
	}
	for _, leaf := range s.team.leaves(nil) {
		if len(s.trial.Placed()) == 0 && leaf.within != nil {
			w.fill(leaf, leaf.within, 1) // what runs is enough: one more is what is asked for
		}
	}
	if len(s.trial.Placed()) == 0 {
		return false
	}
	for _, leaf := range s.team.leaves(nil) {
		leaf.seated = s.seatedOf(leaf)
	}
	return true
}

// seatedOf counts the pending members of a pod group that have a place.
func (s *gangSearch) seatedOf(leaf *team) int {
	n := 0
	for _, m := range leaf.members {
		if s.trial.At(m) != cluster.NoNode {
			n++
		}
	}
	return n
}

// seat seats as many members of t in d as t needs, or none, and reports whether it
// could. A lone pod group gets all its members placed at once.
func (w *seating) seat(t *team, d *domain.Domain) bool {
	if t == w.team || len(t.topology) == 0 {
		return w.seatIn(t, d)
	}
	rounds := w.regions(t, d)
	for i, round := range rounds {
		if w.seatBest(t, round, i == len(rounds)-1) {
			return true
		}
	}
	t.leaveOut()
	return w.runs(t) // with those that run already
}

// seatBest seats t in one of its regions: where most of it could go, then where that
// costs least, then the first by name. Where nobody of it could go, although enough of
// it runs, it does so only if this is the last resort.
func (w *seating) seatBest(t *team, regions []domain.Domain, last bool) bool {
	before := len(w.trial.Placed())
	var best *domain.Domain
	most, least := 0, domain.Free
	for i := range regions {
		if !w.seatIn(t, &regions[i]) {
			continue
		}
		w.fillUp(t)
		count, price := len(w.trial.Placed())-before, domain.Free
		if w.offers != nil {
			price = w.offers.Total()
		}
		if best == nil || count > most || count == most && price.Compare(least) < 0 {
			best, most, least = &regions[i], count, price
		}
		w.unseat(before)
	}
	return best != nil && (most > 0 || last) && w.seatIn(t, best)
}

// fillUp places what members of t are left, where it has its place.
func (w *seating) fillUp(t *team) {
	for _, leaf := range t.leaves(nil) {
		if leaf.within != nil {
			w.fill(leaf, leaf.within, len(leaf.members))
		}
	}
}

func (w *seating) seatIn(t *team, d *domain.Domain) bool {
	t.within = nil
	before := len(w.trial.Placed())
	if len(t.children) == 0 {
		most := t.need()
		if t == w.team && !w.fewest {
			most = len(t.members)
		}
		if !t.enough() {
			return false
		}
		if w.fill(t, d, most) < t.need() {
			w.unseat(before)
			return false
		}
		t.within = d
		return true
	}
	for _, children := range [][]*team{t.children, t.hardestFirst()} {
		seated := 0
		for _, c := range children {
			if w.fewest && seated == t.minTeams {
				c.leaveOut()
			} else if w.seat(c, d) {
				seated++
			}
		}
		if seated >= t.minTeams {
			return true
		}
		w.unseat(before)
		t.leaveOut()
	}
	return false
}

// leaveOut says that no member of t is looked for a place.
func (t *team) leaveOut() {
	for _, leaf := range t.leaves(nil) {
		leaf.within = nil
	}
}

// fill places members of a pod group that have no place yet until most of them have
// one, and returns how many have.
func (w *seating) fill(leaf *team, d *domain.Domain, most int) int {
	var left []domain.MemberID
	for _, m := range leaf.members {
		if w.trial.At(m) == cluster.NoNode {
			left = append(left, m)
		}
	}
	have := len(leaf.members) - len(left)
	if more := most - have; more > 0 {
		var offers domain.Offers
		if w.offers != nil {
			offers = w.offers
		}
		have += w.placer.Place(w.trial, d, offers, left, more)
	}
	return have
}

// unseat takes places back until so many are left.
func (w *seating) unseat(to int) {
	if len(w.trial.Placed()) == to {
		return
	}
	w.trial.UnplaceTo(to)
	if w.offers != nil {
		w.offers.Reset()
	}
}

// runs reports whether t may run with the members that have a place.
func (s *gangSearch) runs(t *team) bool {
	return t.satisfied(func(leaf *team) bool { return s.seatedOf(leaf) >= leaf.need() })
}

// inVain reports whether a member beneath t has a place in a group that may not run.
func (s *gangSearch) inVain(t *team) bool {
	if s.runs(t) {
		return slices.ContainsFunc(t.children, s.inVain)
	}
	return slices.ContainsFunc(t.leaves(nil), func(leaf *team) bool { return s.seatedOf(leaf) > 0 })
}

// dropVain takes those members off again.
func (s *gangSearch) dropVain() {
	list := s.trial.Assignments()
	var drop func(t *team)
	drop = func(t *team) {
		if s.runs(t) {
			for _, c := range t.children {
				drop(c)
			}
			return
		}
		t.leaveOut()
		for _, leaf := range t.leaves(nil) {
			list = slices.DeleteFunc(list, func(a domain.Assignment) bool { return slices.Contains(leaf.members, a.Member) })
		}
	}
	drop(s.team)
	s.trial.UnplaceTo(0)
	s.trial.PlaceAll(list)
}

// seatExactly seats as many members as are needed if it finds any way to do so, and
// notes if that they cannot be seated is not proved.
func (w *seating) seatExactly(d *domain.Domain) bool {
	seated, proved := w.gangSearch.seatExactly(d)
	w.proved = w.proved && (seated || proved)
	if seated && w.inVain(w.team) {
		w.dropVain()
	}
	if seated && w.offers != nil {
		w.offers.Reset()
	}
	return seated
}

// seatExactly looks at every placement of as many members as are needed where they
// are few or alike. It says whether it seated them, and whether a no is proved.
func (s *gangSearch) seatExactly(d *domain.Domain) (seated, proved bool) {
	if slices.ContainsFunc(s.team.children, (*team).innerWishes) {
		return false, false
	}
	leaves := s.team.leaves(nil)
	if s.trial.Interchangeable() && !slices.ContainsFunc(s.team.children, (*team).wishes) { // who gets a place does not matter, only how many do
		leaves, _, _ = s.team.cheapest(nil)
	}
	s.team.leaveOut()
	seated, proved = s.seatParts(d, leaves, func(leaf *team) int { return leaf.need() }, s.team.satisfied)
	if seated {
		s.narrow(d, leaves)
	}
	return seated, proved
}

// narrow keeps the members of child groups that get a place later in the region where
// the others are.
func (s *gangSearch) narrow(d *domain.Domain, leaves []*team) {
	for _, leaf := range leaves {
		if leaf == s.team || len(leaf.topology) == 0 || leaf.within == nil {
			continue
		}
		leaf.within = nil
		rounds := s.regions(leaf, d)
		for i := range rounds[len(rounds)-1] {
			region := &rounds[len(rounds)-1][i]
			outside := func(m domain.MemberID) bool {
				n := s.trial.At(m)
				return n != cluster.NoNode && !slices.Contains(region.Nodes, n)
			}
			if !slices.ContainsFunc(leaf.members, outside) {
				leaf.within = region
				break
			}
		}
	}
}

// seatParts looks for a placement of need members of each of leaves, or of none of a
// leaf, that is enough.
func (s *gangSearch) seatParts(d *domain.Domain, leaves []*team, need func(*team) int, enough func(func(*team) bool) bool) (seated, proved bool) {
	parts := make([]domain.Part, len(leaves))
	for i, leaf := range leaves {
		parts[i] = domain.Part{Members: leaf.members, Need: need(leaf)}
		if leaf != s.team && len(leaf.topology) > 0 && parts[i].Need > 0 {
			rounds := s.regions(leaf, d)
			parts[i].Regions = append([]domain.Domain{}, rounds[len(rounds)-1]...) // what is required
		}
	}
	return s.trial.SeatExact(d, parts, func(in []bool) bool {
		for i, leaf := range leaves {
			leaf.within = nil
			if in[i] {
				leaf.within = d
			}
		}
		return enough(func(leaf *team) bool { return leaf.within != nil })
	})
}

// reseat finds the members another placement, as things stand: as many as have to
// stay seated. It looks at every placement where they are few or alike, and beyond
// takes what Pack and Spread find.
func (a *attemptAt) reseat() bool {
	var leaves []*team
	for _, leaf := range a.team.leaves(nil) {
		if leaf.within != nil {
			leaves = append(leaves, leaf)
		}
	}
	all := func(ok func(*team) bool) bool {
		return !slices.ContainsFunc(leaves, func(l *team) bool { return !ok(l) })
	}
	seated, proved := a.seatParts(a.domain, leaves, a.wanted, all)
	for _, leaf := range leaves {
		leaf.within = a.domain
	}
	if seated || proved {
		return seated
	}
	a.gangSearch.proved = false
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
		w := &seating{gangSearch: a.gangSearch, placer: placer}
		if !slices.ContainsFunc(leaves, func(l *team) bool { return w.fill(l, a.domain, a.wanted(l)) < a.wanted(l) }) {
			return true
		}
		a.trial.UnplaceTo(0)
	}
	return false
}

// wanted is how many members of a pod group have to stay seated.
func (a *attemptAt) wanted(leaf *team) int {
	if a.rules.members == MinCount {
		return leaf.need()
	}
	return leaf.seated
}

// seatMore gives further members a place where nobody more has to go for it. The
// units that stay, but were never tried, are back while it looks.
func (a *attemptAt) seatMore(out []victims.UnitID) {
	var back []victims.UnitID
	a.lists++
	for _, u := range out {
		a.seen[u] = a.lists
	}
	for _, u := range a.potential {
		if a.seen[u] != a.lists && a.out(u) {
			a.runner.Return(a.trial, u)
			back = append(back, u)
		}
	}
	w := &seating{gangSearch: a.gangSearch, placer: domain.Pack{}}
	for _, leaf := range a.team.leaves(nil) {
		if leaf.within != nil {
			w.fill(leaf, leaf.within, len(leaf.members))
		}
	}
	for _, u := range back {
		a.runner.Remove(a.trial, u)
	}
}

// placeGiven puts the members where the caller wants them, one after the other; those
// that only fit once others are there come after these.
func (s *gangSearch) placeGiven() domain.Reason {
	left := slices.Clone(s.given)
	for len(left) > 0 {
		before := len(left)
		left = slices.DeleteFunc(left, func(a domain.Assignment) bool {
			if !s.trial.CanPlace(a.Member, a.Node).OK() {
				return false
			}
			s.trial.Place(a.Member, a.Node)
			return true
		})
		if len(left) == before {
			a := left[0]
			why := s.members[a.Member].Describe(s.ix, a.Node, s.trial.CanPlace(a.Member, a.Node))
			s.trial.UnplaceTo(0)
			return why
		}
	}
	text := s.strays(s.team, s.trial.At)
	if text == "" && (len(s.given) == 0 || !s.runs(s.team)) {
		text = "the placement given has too few members"
	}
	if text != "" {
		s.trial.UnplaceTo(0)
		return domain.Reason{Check: noPlacement, Detail: text}
	}
	return domain.Reason{}
}
