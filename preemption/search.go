package preemption

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// tellAnswer answers one question, with the quota as it is in m. needs is how many pods the gang of a
// lone pod needs beside it.
func tellAnswer(c *live.Cluster, p Preemptor, m *workload.Model, a *asking) (r *Result, needs int, err error) {
	m, err = c.Queued.On(c.Index, m)
	if err != nil {
		return nil, 0, err
	}
	if p.Kind == cluster.KindWorkload {
		r, err := preemptWorkload(c, m, p)
		return r, 0, err
	}
	q, err := newQuestion(c, p, a)
	if err != nil {
		return nil, 0, err
	}
	r, err = q.search(m)
	return r, q.needs, err
}

// search is the whole road of a question, with the quota as it is in m.
func (q *question) search(m *workload.Model) (*Result, error) {
	if queue := q.queue(); queue != "" {
		if err := q.c.Settings.Searched; err != nil {
			return nil, err
		}
		return newQueueSearch(q, m, queue).run()
	}
	if q.Tree != nil {
		s := q.countGang()
		r, err := s.run()
		s.Close()
		q.asking.passed(PhaseSearch)
		return r, err
	}
	s := q.searchPod()
	plan := s.Run()
	q.asking.passed(PhaseSearch)
	r := s.tell(plan)
	s.Close()
	return r, nil
}
