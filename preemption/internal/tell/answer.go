package tell

import (
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// Answer answers one question, with the quota as it is in m. needs is how many pods the gang of a
// lone pod needs beside it.
func Answer(c *live.Cluster, p cluster.Preemptor, m *workload.Model, a Caller) (r *answer.Result, needs int, err error) {
	m, err = c.Queued.On(c.Index, m)
	if err != nil {
		return nil, 0, err
	}
	if p.Kind == cluster.KindWorkload {
		r, err := preemptWorkload(c, m, p, a)
		return r, 0, err
	}
	q, err := Read(c, p, a)
	if err != nil {
		return nil, 0, err
	}
	r, err = q.search(m)
	return r, q.needs, err
}

// search is the whole road of a question, with the quota as it is in m.
func (q *Inquiry) search(m *workload.Model) (*answer.Result, error) {
	if queue := q.Queue(); queue != "" {
		return NewQueueSearch(q, m, queue).Answer()
	}
	if q.Tree != nil {
		s := q.CountGang()
		r, err := s.Answer()
		s.Close()
		told(q.caller.Searched)
		return r, err
	}
	s := q.SearchPod()
	plan := s.Run()
	told(q.caller.Searched)
	r := s.tell(plan)
	s.Close()
	return r, nil
}
