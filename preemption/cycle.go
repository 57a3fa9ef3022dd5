package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// Cycle answers for several workloads at once, such as the heads of all queues,
// each with the earlier ones accounted. It orders them: without fair sharing those
// that borrow from less far up first, with it those whose share would be lowest
// (cohort by cohort, those that do not borrow before those that do), then higher
// priority, then age, then namespace and name; the levels and flavors that decide
// are those as if each were alone.
//
// The results are in that order, and those that [Planner.Preempt] and
// [Planner.Apply], one head after the other, would give: quota that an earlier head
// takes is taken, victims of an earlier head have left but for the room they still
// use (a head that fits only once they have gone is Waiting), and an earlier head
// without victims keeps what it reserves. The planner itself is not changed. Pods that hold
// quota count as workloads do, and may be victims. The error joins one for each head that
// cannot be read: one that is no pending workload of the planner, or is there twice.
//
// Source: Kueue v0.20, the scheduling cycle. Kueue keeps the victims that a later
// head has found alone where they are not also an earlier head's; here each head is
// planned with what the earlier ones leave.
func (pl *Planner) Cycle(heads []Preemptor) ([]*Result, error) {
	fork := pl.Fork()
	var tournament *workload.Tournament
	err := fork.withQuota(func(m *workload.Model) error {
		line, err := m.LineUp(heads)
		tournament = m.Tournament(line)
		return err
	})
	if err != nil {
		return nil, err
	}
	results := make([]*Result, 0, len(heads))
	for {
		var next *workload.Head
		if err := fork.withQuota(func(m *workload.Model) error { next = tournament.Next(m); return nil }); err != nil {
			return nil, err
		}
		if next == nil {
			return results, nil
		}
		r, err := fork.Preempt(next.Preemptor)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
		plan := r.Verdict == Feasible || r.Verdict == Fits || r.Verdict == Waiting
		if plan || r.Quota != nil && len(r.Quota.Reserved) > 0 {
			if err := fork.Apply(r); err != nil {
				return nil, fmt.Errorf("preemption: cycle: %w", err)
			}
		}
	}
}

// withQuota calls f with everybody who holds quota, workloads and pods, as things are.
func (pl *Planner) withQuota(f func(m *workload.Model) error) error {
	now, err := pl.hold()
	if err != nil {
		return err
	}
	defer now.release()
	c, quota := now.ready, now.quota
	m, err := c.Queued.On(c.Index, quota)
	if err != nil {
		return err
	}
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	return f(m)
}
