package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// levels lists the domains to try, in rounds: the first round that has a plan
// decides.
func (q *question) levels() ([][]domain.Domain, error) {
	if err := q.checkTopology(q.tree, q.group); err != nil {
		return nil, err
	}
	if q.given != nil { // kept as it is; placeGiven looks whether it is one that is allowed
		return [][]domain.Domain{seating.Split(q.ix, nil)}, nil
	}
	if h := q.options.Hooks; h != nil && h.Splitter != nil {
		return [][]domain.Domain{q.tree.Pinned(q.ix, q.splitBy(h.Splitter))}, nil
	}
	return q.tree.Levels(q.ix), nil
}

// checkTopology complains about a topology key of t, which is group g, or of a group
// beneath it that no node has.
func (q *question) checkTopology(t *seating.Group, g *cluster.Group) error {
	for i, c := range t.Topology {
		if q.ix.NumNodes() > 0 && len(domain.Topology{c.Key}.Split(nil, q.ix)) == 0 {
			return &cluster.FieldError{
				Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
				Field: fmt.Sprintf("Topology[%d].Key", i), Value: fmt.Sprintf("%q", c.Key), Want: "a label of some node",
			}
		}
	}
	for _, c := range t.Children {
		if err := q.checkTopology(c, q.ix.Group(c.ID)); err != nil {
			return err
		}
	}
	return nil
}

// hopeless says why no eviction can help: there are too few pods, or too few groups
// that have enough. Empty if it may help.
func (q *question) hopeless() string {
	switch t, able := q.tree.Short(); {
	case t == nil:
		return ""
	case len(t.Children) == 0:
		return "pod group " + t.Name + " has " + count(len(t.Members)+t.Running, "pod") + ", fewer than its minCount"
	default:
		return "composite group " + t.Name + " has " + count(able, "child group") + " with enough pods, fewer than its minGroupCount"
	}
}

// stray says where a placement leaves the one topology value that a group of the
// preemptor requires; empty if it does not.
func (q *question) stray(at func(domain.MemberID) cluster.NodeID) string {
	switch s := q.tree.Stray(q.ix, at); {
	case s == nil:
		return ""
	case s.Node != cluster.NoNode:
		return fmt.Sprintf("node %s has no %s, which %s requires", q.ix.Node(s.Node).Name, s.Key, s.Group.Name)
	default:
		return fmt.Sprintf("%s requires one %s, the placement given has %d", s.Group.Name, s.Key, s.Values)
	}
}

// fitsIn places the gang in one of domains with everybody in place, where it can
// seat most members, and returns that domain; nil if it fits in none.
func (s *gangSearch) fitsIn(domains []domain.Domain) *domain.Domain {
	switch {
	case s.given != nil:
		if !s.placeGiven().OK() {
			return nil
		}
		return &domains[0]
	case s.counting != nil:
		d := s.counting.Fit(domains)
		if d != nil {
			s.equip()
			s.place(d, domain.Pack{}, nil, false)
		}
		return d
	}
	d := s.seater.Fit(domains)
	s.proved = s.proved && !s.seater.Unproved
	return d
}

// place seats the gang on nodes of d; see [seating.Seating.Place].
func (s *gangSearch) place(d *domain.Domain, placer domain.Placer, offers *victims.Offers, fewest bool) bool {
	var prices seating.Prices
	if offers != nil {
		prices = offers
	}
	ok := s.seater.Place(d, placer, prices, fewest)
	s.proved = s.proved && !s.seater.Unproved
	return ok
}

// placeGiven puts the members where the caller wants them, in whatever order they fit
// one after the other.
func (s *gangSearch) placeGiven() domain.Reason {
	if a, why := s.trial.PlaceInTurn(s.given); !why.OK() {
		return s.members[a.Member].Describe(s.ix, a.Node, why)
	}
	text := s.stray(s.trial.At)
	if text == "" && (len(s.given) == 0 || !s.seater.Runs(s.tree)) {
		text = "the placement given has too few members"
	}
	if text != "" {
		s.trial.UnplaceTo(0)
		return domain.Reason{Check: noPlacement, Detail: text}
	}
	return domain.Reason{}
}

// excluded reports whether it is proved that with fewer of the potential victims gone,
// too, the members find no place in d, after they found none with all of them gone: where
// constraints are not monotone, somebody who stays may open one.
func (s *gangSearch) excluded(d *domain.Domain) (proved bool) {
	if s.monotone() {
		return true
	}
	s.trial.Untied(func() {
		if s.given != nil {
			_, why := s.trial.PlaceInTurn(s.given)
			proved = !why.OK()
		} else {
			seated, known := s.seater.Exactly(d)
			proved = !seated && known
		}
		s.trial.UnplaceTo(0)
	})
	return proved
}

// reseat finds the members another placement, as things stand: as many as have to
// stay seated.
func (a *attemptAt) reseat() bool {
	ok := a.seater.Again(a.domain, a.wanted)
	a.proved = a.proved && !a.seater.Unproved
	return ok
}

// wanted is how many members of a pod group have to stay seated.
func (a *attemptAt) wanted(leaf *seating.Group) int {
	if a.rules.members == MinCount {
		return leaf.Need()
	}
	return leaf.Seated
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
	a.seater.Rest(a.domain)
	for _, u := range back {
		a.runner.Remove(a.trial, u)
	}
}
