package preemption

import (
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
// not find a place for enough, others may, and then every placement is tried if they are
// not too many.
func (s *gangSearch) place(d *domain.Domain, placer domain.Placer, offers *victims.Offers, fewest bool) bool {
	w := &seating{s, placer, offers, fewest}
	if !w.seat(s.team, d) && !w.seatOtherwise(d) && !w.seatExactly(d) {
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

// seatOtherwise is seat by other placers: with unlike members, a large one may stand in
// the way of as many as are needed, or small ones may take the nodes that it needs.
func (w *seating) seatOtherwise(d *domain.Domain) bool {
	if h := w.options.Hooks; h != nil && h.Placer != nil || w.trial.Interchangeable() {
		return false
	}
	other := *w
	other.placer = domain.Pack{SmallFirst: true}
	if other.seat(w.team, d) {
		return true
	}
	for _, order := range domain.FirstFits {
		if other.placer = order; other.seat(w.team, d) {
			return true
		}
	}
	return false
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
