package gang

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// The details of NoPlacement where the placement is given.
const (
	Strays = "strays"  // it leaves the one topology value that a group requires
	TooFew = "too few" // it has too few members
)

// FitsIn places the gang in one of domains with everybody in place, where it can
// seat most members, and returns that domain; nil if it fits in none. It goes where
// the placer that the options choose puts it; see [seating.Seating.Fit] and [Search.FitMore].
func (s *Search) FitsIn(domains []domain.Domain) *domain.Domain {
	switch {
	case s.q.Given != nil:
		if !s.PlaceGiven().OK() {
			return nil
		}
		return &domains[0]
	case s.Counting != nil:
		d := s.Counting.Fit(domains)
		if d != nil {
			s.Equip()
			s.Place(d, cmp.Or[domain.Placer](s.q.Chosen(), domain.Pack{}), nil, false)
		}
		return d
	}
	d := s.seater.Fit(domains, s.q.Chosen())
	s.Proved = s.Proved && !s.seater.Unproved
	if d != nil {
		d = s.FitMore(domains, d)
	}
	return d
}

// PlaceChosen seats the gang on nodes of d as things stand, by the placer that the options
// choose and no other.
func (s *Search) PlaceChosen(d *domain.Domain) bool {
	placer := s.q.Chosen()
	return placer != nil && s.seater.PlaceBy(d, placer)
}

// Place seats the gang on nodes of d; see [seating.Seating.Place].
func (s *Search) Place(d *domain.Domain, placer domain.Placer, offers *losses.Offers, fewest bool) bool {
	var prices seating.Prices
	if offers != nil {
		prices = s.withFirstSeats(offers)
	}
	ok := s.seater.Place(d, placer, prices, fewest)
	s.Proved = s.Proved && !s.seater.Unproved
	return ok
}

// placement is what placing by a placer comes to.
type placement struct {
	placed   bool // enough members
	places   []domain.Assignment
	within   []*domain.Domain // by pod group
	unproved bool             // not every placement was looked at
	hurried  bool             // nor every node
}

// placeOnce is placeUsefully by a placer, unless the search that looks less hard has done so: then that placement is taken. Where
// its price may end a placement early, and by a user's placer, members are placed anew.
func (a *attempt) placeOnce(placer int) bool {
	if a.firstSeats().vacates || a.q.OwnPlacer {
		return a.placeUsefully(a.q.Placers[placer])
	}
	var p placement
	leaves := a.q.Tree.Leaves()
	if a.less != nil && placer < len(a.less.placements) {
		p = a.less.placements[placer]
		a.Trial.PlaceAll(p.places)
		for i, within := range p.within {
			leaves[i].Within, leaves[i].Seated = within, a.seater.SeatedOf(leaves[i])
		}
	} else {
		before := a.seater.Unproved
		a.seater.Unproved = false
		if p.placed = a.placeUsefully(a.q.Placers[placer]); p.placed {
			p.places = a.Trial.Assignments()
			for _, leaf := range leaves {
				p.within = append(p.within, leaf.Within)
			}
		}
		p.unproved, a.seater.Unproved, p.hurried = a.seater.Unproved, before, a.Trial.Hurried
	}
	a.seater.Unproved, a.Trial.Hurried = a.seater.Unproved || p.unproved, a.Trial.Hurried || p.hurried
	a.Proved = a.Proved && !a.seater.Unproved
	a.placements = append(a.placements, p)
	return p.placed
}

// PlaceGiven puts the members where the caller wants them, in whatever order they fit
// one after the other.
func (s *Search) PlaceGiven() domain.Reason {
	if a, why := s.Trial.PlaceInTurn(s.q.Given); !why.OK() {
		return s.q.Members[a.Member].Describe(s.q.Index, a.Node, why)
	}
	detail := ""
	switch {
	case s.q.Tree.Stray(s.q.Index, s.Trial.At) != nil:
		detail = Strays
	case len(s.q.Given) == 0 || !s.seater.Runs(s.q.Tree):
		detail = TooFew
	}
	if detail != "" {
		s.Trial.UnplaceTo(0)
		return domain.Reason{Check: ask.NoPlacement, Detail: detail}
	}
	return domain.Reason{}
}

// excluded reports whether it is proved that with fewer of the potential victims gone,
// too, the members find no place in d, after they found none with all of them gone: where
// constraints are not monotone, somebody who stays may open one.
func (s *Search) excluded(d *domain.Domain) (proved bool) {
	if s.q.Monotone() {
		return true
	}
	s.Trial.Untied(func() {
		if s.q.Given != nil {
			_, why := s.Trial.PlaceInTurn(s.q.Given)
			proved = !why.OK()
		} else {
			seated, known := s.seater.Exactly(d)
			proved = !seated && known
		}
		s.Trial.UnplaceTo(0)
	})
	return proved
}

// reseat finds the members another placement, as things stand: as many as have to
// stay seated.
func (a *attempt) reseat() bool {
	ok := a.seater.Again(a.domain, a.wanted)
	a.Proved = a.Proved && !a.seater.Unproved
	return ok
}

// wanted is how many members of a pod group have to stay seated.
func (a *attempt) wanted(leaf *seating.Group) int {
	if a.q.Fewest {
		return leaf.Need()
	}
	return leaf.Seated
}

// seatMore gives further members a place where nobody more has to go for it. The
// units that stay, but were never tried, are back while it looks.
func (a *attempt) seatMore(out []victims.UnitID) {
	back := a.returnAllBut(out, a.potential)
	a.seater.Rest(a.domain)
	for _, u := range back {
		a.Runner.Remove(a.Trial, u)
	}
}

// returnAllBut returns those of list who are out, and stay where out go.
func (a *attempt) returnAllBut(out, list []victims.UnitID) (back []victims.UnitID) {
	a.lists++
	for _, u := range out {
		a.seen[u] = a.lists
	}
	for _, u := range list {
		if a.seen[u] != a.lists && a.out(u) {
			a.Runner.Return(a.Trial, u)
			back = append(back, u)
		}
	}
	return back
}

// seatLeftOut gives the members whom the plan leaves out a place, where its places are not those of a placer: members that
// have moved since may have made room for others. Nobody is placed before or after.
func (a *attempt) seatLeftOut() {
	inPlace := !a.searches() && !a.q.Mobile && !a.q.Lowest && !a.q.Bounded()
	p := *a.top
	if inPlace || a.q.Fewest || a.q.OwnPlacer || len(p.Places) == len(a.q.Members) || a.Trial.Interchangeable() || !a.placeAsBefore(p.Places) {
		return
	}
	a.seater.Adopt(a.domain)
	for _, x := range p.Places {
		a.Trial.Empty(x.Node)
	}
	a.returnAllBut(p.Victims, slices.Clone(a.removed))
	a.Trial.Vacate(nil, nil) // nor does anybody go from nodes that are vacant still
	var stay []cluster.PodID // of those who go in part
	for u, gone := range p.Parts {
		for _, pod := range a.near.Pods(u) {
			if a.Trial.Gone(pod) && !slices.Contains(gone, pod) {
				stay = append(stay, pod)
			}
		}
	}
	each(stay, a.Trial.Return)
	a.seater.Rest(a.domain)
	if p.Places = a.Trial.Assignments(); len(p.Places) > len(a.top.Places) && len(a.q.OverrunsAt(p.Places, p.Victims, p.Parts)) == 0 {
		p.Score = a.q.Score(p.Victims, p.Parts, p.Score.Violations, p.Places...)
		if a.q.Trace {
			a.steps = slices.Clip(p.steps)
			a.notePlaces(len(a.top.Places))
			p.steps = a.steps
		}
		a.top = &p
	}
	each(stay, a.Trial.Remove)
	a.Trial.UnplaceTo(0)
}

// mostUnplaced bounds how many kinds of members Unplaced tells of, mostLookedAt how many members it looks at where
// constraints may tell them apart.
const (
	mostUnplaced = 8
	mostLookedAt = 64
)

// Unplaced are members of one shape for whom there is no node for the same reasons: how many nodes
// do not take them, by reason.
type Unplaced struct {
	Members []domain.MemberID
	Why     map[domain.Reason]int
}

// Unplaced packs as many members as it can into that one of the domains without a plan which has room for most, of a
// tree of groups the first, with every potential victim gone, and tells of those others who fit nowhere then.
// Nobody is placed before or after.
func (s *Search) Unplaced() (d *domain.Domain, list []Unplaced) {
	if d = &s.roomiest; s.Room == 0 {
		i := slices.IndexFunc(s.Rejected, func(r Rejected) bool { return r.Why.Check == ask.NoPlacement })
		if i < 0 || s.q.Given != nil {
			return nil, nil
		}
		d = &s.Rejected[i].Domain
	}
	if s.Counting != nil {
		rest := Unplaced{s.q.Tree.Members[s.Room:], map[domain.Reason]int{}}
		for _, n := range d.Nodes {
			rest.Why[ask.Alike(s.Counting.Full(n))]++
		}
		return d, []Unplaced{rest}
	}
	(&attempt{Search: s, domain: d}).takeOut()
	if s.packed != nil {
		s.Trial.PlaceAll(s.packed)
	} else {
		s.packAll(d)
	}
	at, looked := map[int]int{}, 0 // by shape: which of list it begins
	var looks []Unplaced           // of those who were looked at, but for their equals
	for m := range domain.MemberID(len(s.q.Members)) {
		shape := s.Trial.Shape(m)
		i, known := at[shape]
		if s.Trial.At(m) != cluster.NoNode || !known && (len(list) == mostUnplaced || looked == mostLookedAt) {
			continue
		}
		if !known || len(s.q.States) > 0 && looked < mostLookedAt {
			looked++
			why := s.misfits(m, d, &looks)
			if why[domain.Reason{}] > 0 { // it fits by itself, and those whom it needs do not
				continue
			}
			for i = range list {
				if s.Trial.Shape(list[i].Members[0]) == shape && maps.Equal(list[i].Why, why) {
					known = true
					break
				}
				known = false
			}
			if !known {
				i = len(list)
				at[shape], list = i, append(list, Unplaced{Why: why})
			}
		}
		list[i].Members = append(list[i].Members, m)
	}
	s.bringBack()
	return d, list
}

// packAll places as many members as find a place in d one after the other, some perhaps beside others
// that came later, and returns how many. It has looks of its own, a fourth of those before.
func (s *Search) packAll(d *domain.Domain) int {
	s.allow(mostLooks / 4)
	for {
		var left []domain.MemberID
		for m := range domain.MemberID(len(s.q.Members)) {
			if s.Trial.At(m) == cluster.NoNode {
				left = append(left, m)
			}
		}
		if (domain.Pack{}).Place(s.Trial, d, nil, left, len(left)) == 0 || len(s.q.States) == 0 || s.seater.PlacersAgree() {
			return len(s.Trial.Placed())
		}
	}
}

// misfits counts the nodes of d by why member m does not fit there, unless looks has that of somebody like it.
func (s *Search) misfits(m domain.MemberID, d *domain.Domain, looks *[]Unplaced) map[domain.Reason]int {
	for _, l := range *looks {
		if s.Trial.FitAlike(l.Members[0], m) {
			return l.Why
		}
	}
	why := map[domain.Reason]int{}
	*looks = append(*looks, Unplaced{[]domain.MemberID{m}, why})
	var last domain.Reason
	nodes := 0 // in a row that do not take it for that
	for _, n := range d.Nodes {
		now := ask.Alike(s.Trial.CanPlace(m, n))
		if nodes > 0 && now != last {
			why[last] += nodes
			nodes = 0
		}
		last = now
		nodes++
	}
	if nodes > 0 {
		why[last] += nodes
	}
	return why
}
