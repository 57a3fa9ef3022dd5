package preemption

import (
	"github.com/preempt-go/preempt/domain"
)

// placeGiven puts the members where the caller wants them, in whatever order they fit
// one after the other.
func (s *gangSearch) placeGiven() domain.Reason {
	if a, why := s.trial.PlaceInTurn(s.given); !why.OK() {
		return s.members[a.Member].Describe(s.ix, a.Node, why)
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
