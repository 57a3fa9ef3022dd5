package tell

import "context"

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
