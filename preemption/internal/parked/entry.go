package parked

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// Entry is what may change the answer of a question.
type Entry struct {
	Shapes   []*domain.Member // its pods, those that ask for the same once
	Priority int32            // units of a lower level may be evicted for it
	Evicts   bool             // it was looked for units to evict; else for free room alone
	Grouped  bool             // it meets the units that groups do
	Names    []Name           // its pods and groups
	Places   []Place          // nodes to which its pods are nominated
	Any      bool             // any change may
	Until    int64            // Unix seconds from which time may; Never
}

// Place is a node by its name, and its number when the entry was made; NoNode: it was not
// there.
type Place struct {
	Name string
	Node cluster.NodeID
}

// Never is the Until of an entry whose answer time does not change.
const Never = math.MaxInt64

// NewEntry is that of a question about which nothing but room, static checks, priorities and
// the preemptor itself has a say. With evicts, evictions may be the answer.
func NewEntry(q *ask.Question, evicts bool) Entry {
	e := Entry{Priority: q.Priority, Evicts: evicts, Grouped: q.Tree != nil, Until: Never}
	if why := q.Impatient(); why.Why == ask.WaitsFirst {
		e.Until = q.Index.Time().Unix() + why.Left
	}
	for i, m := range q.Members {
		e.Names = append(e.Names, Name{m.Pod.Namespace, m.Pod.Name, false})
		if at := m.Pod.NominatedNode; at != "" {
			e.Places = append(e.Places, Place{at, q.Index.NodeByName(at)})
		}
		if i == 0 || !takenAlike(m, q.Members[i-1]) {
			e.Shapes = append(e.Shapes, m)
		}
	}
	if q.Tree == nil {
		return e
	}
	for _, leaf := range q.Tree.Leaves() {
		group := q.Group // given inline
		if leaf.ID != cluster.NoGroup {
			group = q.Index.Group(leaf.ID)
		}
		e.Names = append(e.Names, Name{group.Namespace, group.Name, true})
	}
	return e
}

// takenAlike reports whether a node that could take m could take o, and the other way round, as
// far as a glance tells.
func takenAlike(m, o *domain.Member) bool {
	return m.Anywhere() && o.Anywhere() && slices.Equal(m.Request(), o.Request()) && slices.Equal(m.Unknown(), o.Unknown()) &&
		slices.Equal(m.Pod.Tolerations, o.Pod.Tolerations)
}
