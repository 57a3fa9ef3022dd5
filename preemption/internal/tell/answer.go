package tell

import (
	"context"
	"maps"

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

// Again is the preemptor of a question that was asked.
func Again(a answer.Asked) cluster.Preemptor {
	if a.Inline != nil {
		return a.Inline.Clone()
	}
	return cluster.Preemptor{Kind: a.Kind, Namespace: a.Namespace, Name: a.Name, Placement: maps.Clone(a.Placement)}
}

// AskedBy names p.
func AskedBy(p *cluster.Preemptor) answer.Asked {
	a := answer.Asked{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name, Placement: maps.Clone(p.Placement)}
	switch {
	case p.Name != "":
	case p.Group != nil:
		a.Kind, a.Namespace, a.Name = cluster.KindPodGroup, p.Group.Namespace, p.Group.Name
	default:
		a.Kind, a.Namespace, a.Name = cluster.KindPod, p.Pods[0].Namespace, p.Pods[0].Name
	}
	return a
}

// AskedByWorkload names the workload p, with what p gives inline, a copy.
func AskedByWorkload(p cluster.Preemptor) answer.Asked {
	if p.Workload == nil {
		return answer.Asked{Kind: cluster.KindWorkload, Namespace: p.Namespace, Name: p.Name}
	}
	inline := p.Clone()
	return answer.Asked{Kind: cluster.KindWorkload, Namespace: p.Workload.Namespace, Name: p.Workload.Name, Inline: &inline}
}

// withInline is a with what p gives inline, a copy.
func withInline(a answer.Asked, p cluster.Preemptor) answer.Asked {
	if p.Name == "" {
		inline := p.Clone()
		a.Inline = &inline
	}
	return a
}

// Caller is what whoever asks a question wants beside the answer; the zero Caller: nothing.
type Caller struct {
	Poll     func() // for [ask.Question]; nil: the question is never stopped
	Prepared func() // the preemptor is found, and constraints count; nil: nobody is told
	Searched func() // nodes and victims are found; likewise
	Plan     bool   // the plan alone is told: no candidates, proof or trace, nor what would help
}

type planOnly struct{}

// PlanOnly is a context for questions of which the plan alone is read: see [Caller].
func PlanOnly() context.Context { return context.WithValue(context.Background(), planOnly{}, true) }

// IsPlanOnly reports whether ctx is one, or was made of it.
func IsPlanOnly(ctx context.Context) bool { return ctx != nil && ctx.Value(planOnly{}) != nil }

// silent is c for questions that are asked on the way.
func (c Caller) silent() Caller { return Caller{Poll: c.Poll, Plan: c.Plan} }

// told calls f, if it is there.
func told(f func()) {
	if f != nil {
		f()
	}
}
