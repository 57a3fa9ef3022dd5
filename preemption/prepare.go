package preemption

import (
	"fmt"
	"runtime"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
)

// prepare settles what eligibility reads, and asks every constraint whether it has a say.
func (q *question) prepare() error {
	q.SettleClaim()
	pods := q.one.pods[:0]
	for _, m := range q.Members {
		pods = append(pods, m.Pod)
	}
	list := q.c.constraints(q.Tree != nil)
	if onepod.Shares(q.Question) && !q.Hooks && runtime.GOMAXPROCS(0) > 1 && relates(pods) {
		return q.prepareAtOnce(list, pods)
	}
	for _, c := range list {
		s, err := c.Prepare(q.Index, pods)
		if err := q.prepared(c, s, err); err != nil {
			return err
		}
	}
	return nil
}

// relates reports whether a pod is likely to keep several constraints busy.
func relates(pods []*cluster.Pod) bool {
	for _, p := range pods {
		if len(p.Spread) > 0 && len(p.Affinity)+len(p.AntiAffinity) > 0 {
			return true
		}
	}
	return false
}

// prepareAtOnce asks each constraint in a goroutine. They are the library's own.
func (q *question) prepareAtOnce(list []domain.Constraint, pods []*cluster.Pod) error {
	states, errs := make([]domain.State, len(list)), make([]error, len(list))
	ranges.Each(len(list), len(list), func(i, _, _ int) { states[i], errs[i] = list[i].Prepare(q.Index, pods) })
	for i, c := range list {
		if err := q.prepared(c, states[i], errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// prepared takes what constraint c says.
func (q *question) prepared(c domain.Constraint, s domain.State, err error) error {
	if err != nil {
		return fmt.Errorf("preemption: constraint %q: %w", c.Name(), err)
	}
	if s != nil {
		q.States = append(q.States, s)
	}
	return nil
}
