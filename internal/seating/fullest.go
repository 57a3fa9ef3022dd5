package seating

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
)

// Fullest are as many members of t as may be beside one another, at most so many, with nobody in a group that may not run then; of
// the first child groups the most. It is empty if t may not run with so few, or where groups times room come to more than 4 million
// ([mostSums]). O(room · members) for each level of groups.
func (t *Group) Fullest(room int) []domain.MemberID {
	if t.groups() > mostSums/max(room, 1) {
		return nil
	}
	s := newSums(t, room)
	for n := len(s.runs) - 1; n > 0; n-- {
		if s.runs[n] {
			return s.take(nil, n)
		}
	}
	return nil
}

// mostSums is how many sums of members are formed at most, of 4 bytes each.
const mostSums = 1 << 22

// groups is how many there are, t included.
func (t *Group) groups() int {
	n := 1
	for _, c := range t.Children {
		n += c.groups()
	}
	return n
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
	s := &sums{of: t, parts: make([]*sums, len(t.Children)), able: make([][]int32, len(t.Children)+1)}
	size := len(t.Members)
	for i, c := range t.Children {
		s.parts[i] = newSums(c, most)
		size += len(s.parts[i].runs) - 1
	}
	most = min(most, size)
	s.runs = make([]bool, most+1)
	if len(t.Children) == 0 {
		for n := t.Need(); n <= most; n++ {
			s.runs[n] = true
		}
		return s
	}
	behind := make([]int32, most+1)
	for n := 1; n <= most; n++ {
		behind[n] = none
	}
	s.able[len(t.Children)] = behind
	for i, part := range slices.Backward(s.parts) {
		able := slices.Clone(behind) // without it
		for k, runs := range part.runs {
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
		for k := min(n, len(part.runs)-1); k >= 0; k-- {
			if part.runs[k] && int(s.able[i+1][n-k]) >= max(least-1, 0) {
				dst, n, least = part.take(dst, k), n-k, least-1
				break
			}
		}
	}
	return dst
}
