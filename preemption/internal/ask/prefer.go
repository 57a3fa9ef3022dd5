package ask

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// Liking is how much member m prefers node n once some units have left, those of parts in
// part; more is better.
func (q *Question) Liking(m *domain.Member, n cluster.NodeID, out []victims.UnitID, parts victims.Parts) int64 {
	switch {
	case q.OwnLiking != nil:
		return q.OwnLiking(q.Index, m.Pod, n)
	case q.Prefer == domain.FirstByName:
		return 0
	}
	l := columns.Likings{Prefer: q.Prefer, Member: m, Index: q.Index}
	l.On(n)
	for _, u := range out {
		l.Leave(parts.Of(q.Units, u))
	}
	return l.Liking()
}
