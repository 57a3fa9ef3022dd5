package seating

import "github.com/preempt-go/preempt/domain"

// Fullest are as many members of t as may be beside one another, at most so many, with nobody in a group that may not run then; of
// the first child groups the most. It is empty if t may not run with so few. O(room · members) for each level of groups.
func (t *Group) Fullest(room int) []domain.MemberID {
	s := newSums(t, room)
	for n := room; n > 0; n-- {
		if s.runs[n] {
			return s.take(nil, n)
		}
	}
	return nil
}

// sums tell with how many members, up to some number, a group may run.
type sums struct {
	of    *Group
	runs  []bool // by number of members
	parts []*sums
	able  [][]int32 // by child group, and by number of members of it and of those behind it: how many of these may run then at most; none
}

// none says that they do not come to so many members.
const none = -1

func newSums(t *Group, most int) *sums {
	s := &sums{of: t, runs: make([]bool, most+1), parts: make([]*sums, len(t.Children)), able: make([][]int32, len(t.Children)+1)}
	if len(t.Children) == 0 {
		for n := t.Need(); n <= min(most, len(t.Members)); n++ {
			s.runs[n] = true
		}
		return s
	}
	behind := make([]int32, most+1)
	for n := 1; n <= most; n++ {
		behind[n] = none
	}
	s.able[len(t.Children)] = behind
	for i := len(t.Children) - 1; i >= 0; i-- {
		s.parts[i] = newSums(t.Children[i], most)
		able := append([]int32(nil), behind...) // without it
		for k, runs := range s.parts[i].runs {
			for n := k; runs && n <= most; n++ {
				if behind[n-k] != none {
					able[n] = max(able[n], 1+behind[n-k])
				}
			}
		}
		s.able[i], behind = able, able
	}
	for n := range s.runs {
		s.runs[n] = int(behind[n]) >= t.MinChildren
	}
	return s
}

// take appends n members with whom the group may run.
func (s *sums) take(dst []domain.MemberID, n int) []domain.MemberID {
	if len(s.parts) == 0 {
		return append(dst, s.of.Members[:n]...)
	}
	least := s.of.MinChildren // of these and those behind them
	for i, part := range s.parts {
		for k := n; k >= 0; k-- {
			if part.runs[k] && int(s.able[i+1][n-k]) >= max(least-1, 0) {
				dst, n, least = part.take(dst, k), n-k, least-1
				break
			}
		}
	}
	return dst
}
