package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// caller is a constraint that calls the planner from within a question.
type caller struct{ call func() }

func (c *caller) Name() domain.Check { return "caller" }

func (c *caller) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	if call := c.call; call != nil {
		c.call = nil
		call()
	}
	return nil, nil
}

// TestHooksThatCallThePlannerDoNotStopIt: the question goes on about the cluster as it was when
// it began, and what was called is done.
func TestHooksThatCallThePlannerDoNotStopIt(t *testing.T) {
	web := preemption.Preemptor{Kind: preemption.KindPod, Namespace: "ns", Name: "web"}
	for name, call := range map[string]func(pl *preemption.Planner){
		"a change": func(pl *preemption.Planner) {
			require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "low"}))
		},
		"a question": func(pl *preemption.Planner) {
			_, err := pl.Preempt(web)
			require.NoError(t, err)
		},
		"a snapshot": func(pl *preemption.Planner) { require.NotEmpty(t, pl.Snapshot().Pods) },
		"a fork": func(pl *preemption.Planner) {
			require.NoError(t, pl.Fork().Remove(preemption.PodRef{Namespace: "ns", Name: "low"}))
		},
	} {
		first, _ := planned(t)
		hook := &caller{}
		pl, err := preemption.NewPlanner(first.Snapshot(), preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{hook}}})
		require.NoError(t, err)
		hook.call = func() { call(pl) }
		r, err := pl.Preempt(web)
		require.NoError(t, err, name)
		require.Equal(t, preemption.Feasible, r.Verdict, name)
		r, err = pl.Preempt(web)
		require.NoError(t, err, name)
		want := preemption.Feasible
		if name == "a change" {
			want = preemption.Fits
		}
		require.Equal(t, want, r.Verdict, name)
	}
}
