package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
)

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
