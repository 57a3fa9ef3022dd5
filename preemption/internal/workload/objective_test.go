package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// TestWhoDisruptsLeast: the queue's own pass starts with the least important, though the other
// would do alone.
func TestWhoDisruptsLeast(t *testing.T) {
	for name, x := range map[string]struct {
		ranking victims.Ranking
		fair    bool
		want    []string
		instead bool
	}{
		"fewest":                     {victims.Ranking{victims.CriterionUnits}, false, []string{"large"}, true},
		"fewest, with shares":        {victims.Ranking{victims.CriterionUnits}, true, []string{"large"}, true},
		"least important":            {victims.Ranking{victims.CriterionHighest}, false, []string{"second", "first"}, false},
		"least important and shares": {victims.Ranking{victims.CriterionHighest}, true, []string{"second", "first"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("large", "research", 3, 4), job("second", "research", 2, 2), job("first", "research", 1, 2), job("in", "", 9, 4))
			m, err := workload.New(s.QuotaObjects(), workload.Rules{Fair: x.fair})
			require.NoError(t, err)
			w := m.Workload("", "in")
			polled := 0
			p := m.Plan(w, m.Index.QueueByName("research"), workload.Objective{
				Ranking: x.ranking, Effort: ask.Exact, Steps: 1000, Poll: func() { polled++ },
			}, false)
			var got []string
			for _, v := range p.Victims {
				got = append(got, v.Workload.Name)
			}
			require.Equal(t, x.want, got)
			require.Equal(t, x.instead, p.Least.Instead)
			require.Equal(t, !x.fair, p.Least.Optimal)
			require.Equal(t, len(x.want), p.Least.Score.Units)
			if x.fair {
				require.Positive(t, polled)
			}
		})
	}
}

// TestTheSearchSparesAsLongAsItHasSteps: with none it looks for nobody else.
func TestTheSearchSparesAsLongAsItHasSteps(t *testing.T) {
	m := model(t, eight(job("b", "research", 3, 4), job("a", "research", 2, 4), job("in", "", 9, 4)))
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	s := m.Search(w, q)
	defer m.Keep(s)
	request, contested := s.Request(q, gpus(4))
	question := workload.Question(w, q, request, contested)
	own := append([]quotasearch.Victim(nil), s.Victims(&question)...)
	require.Len(t, own, 1)
	require.Equal(t, "a", own[0].Workload.Name)
	for steps, want := range map[int]string{0: "a", 1: "b", 100: "b"} {
		asked := 0
		list, taken := s.Spare(&question, own, steps, nil, func(other []quotasearch.Victim) bool {
			asked++
			return other[0].Workload.Name == "b"
		})
		require.Equal(t, want, list[0].Workload.Name, "%d steps", steps)
		require.Equal(t, min(steps, 1), asked, "a is spared once")
		require.Equal(t, min(steps, 1), min(taken, 1))
		require.Equal(t, "a", s.Victims(&question)[0].Workload.Name, "nobody is spared afterwards")
	}
}

// TestWorkloadsOnTheirWayOutAreNotSpared: they go in any case.
func TestWorkloadsOnTheirWayOutAreNotSpared(t *testing.T) {
	gone := job("gone", "research", 1, 4)
	gone.Evicted = true
	m := model(t, eight(gone, job("stays", "research", 2, 4), job("in", "", 9, 4)))
	p := m.Plan(m.Workload("", "in"), m.Index.QueueByName("research"), workload.Objective{
		Ranking: victims.Ranking{victims.CriterionPods, victims.CriterionLevels}, Effort: ask.Exact, Steps: 1000,
	}, false)
	require.Len(t, p.Victims, 1)
	require.Equal(t, "gone", p.Victims[0].Workload.Name)
	require.Zero(t, p.Least.Score.Pods)
	require.Equal(t, map[victims.Criterion]int64{victims.AtLevel(1): 0, victims.AtLevel(2): 0}, p.Least.Score.Asked)
	require.False(t, p.Least.Instead)
}
