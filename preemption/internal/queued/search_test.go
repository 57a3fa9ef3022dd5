package queued_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// TestWhereThereIsNoPlan: every domain without a plan has its reason, and the others are
// still found.
func TestWhereThereIsNoPlan(t *testing.T) {
	none := queued.Rejection{Why: queued.NoPlace}
	for name, x := range map[string]struct {
		kept     []string
		limits   []ask.Bound
		best     string
		rejected map[queued.Rejection]int
	}{
		"as it is": {best: "n2", rejected: map[queued.Rejection]int{}},
		"one victim at most": {
			limits: []ask.Bound{{Of: ask.NumUnits, Left: 1}}, best: "n1",
			rejected: map[queued.Rejection]int{{Why: queued.BeyondBound, Bound: ask.Bound{Of: ask.NumUnits}}: 2}, // by Pack and by Spread
		},
		"nobody lands beside another": {
			limits:   []ask.Bound{{Of: ask.NumStranded}},
			rejected: map[queued.Rejection]int{{Why: queued.BeyondBound, Bound: ask.Bound{Of: ask.NumStranded}}: 2, {Why: queued.NotTogether}: 2},
		},
		"web and free are guarded":    {kept: []string{"web", "free"}, rejected: map[queued.Rejection]int{none: 1, {Why: queued.Nobody}: 1}},
		"nobody goes for nodes alone": {kept: []string{"free"}, best: "n1", rejected: map[queued.Rejection]int{none: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := search(x.kept...)
			s.Note, s.Pods.Limits = true, x.limits
			domains := [][]domain.Domain{each(s.Pods.Index)[0][:2]}
			require.Nil(t, s.Fits(domains))
			s.Run(domains)
			require.True(t, s.Quota)
			require.Equal(t, x.rejected[queued.Rejection{Why: queued.NotTogether}] > 0, s.Cut)
			require.Equal(t, 2, s.Tried)
			require.Equal(t, x.rejected, s.Rejected)
			if x.best == "" {
				require.Nil(t, s.Best)
			} else {
				require.Equal(t, x.best, s.Best.Domain.Name)
			}
			tried := map[string]bool{}
			for _, try := range s.Tries {
				tried[try.Domain.Name] = true
			}
			require.Len(t, tried, 2)
		})
	}
}

// TestWorkloadsCountAsOnePod: with their priority, and the time since when they hold their quota
// where nobody is more important.
func TestWorkloadsCountAsOnePod(t *testing.T) {
	early := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	job := func(name string, priority int32, hours int) cluster.Workload {
		return cluster.Workload{
			Name: name, Queue: "team", Priority: priority,
			Admission: &cluster.Admission{ClusterQueue: "all", Reserved: early.Add(time.Duration(hours) * time.Hour)},
			PodSets:   []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{cluster.CPU: 1}, Flavors: map[string]string{cluster.CPU: "any"}}},
		}
	}
	pods := priority.Raised(1) + priority.Raised(0) // batch and free make room for it
	for name, x := range map[string]struct {
		kept []string
		jobs []cluster.Workload
		want victims.Score
	}{
		"less important": {
			nil, []cluster.Workload{job("a", 0, 1), job("b", 0, 2)},
			victims.Score{Highest: 1, Sum: pods + 2*priority.Raised(0), Started: math.MaxInt64},
		},
		"as important": {
			nil, []cluster.Workload{job("a", 1, 3), job("b", 1, 2)},
			victims.Score{Highest: 1, Sum: pods + 2*priority.Raised(1), Started: early.Add(2 * time.Hour).UnixNano()},
		},
		"more important": {
			[]string{"web"}, []cluster.Workload{job("a", 5, 1), job("b", 5, 2)},
			victims.Score{Highest: 5, Sum: pods + 2*priority.Raised(5), Started: early.Add(time.Hour).UnixNano()},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := searchBeside(x.jobs, x.kept...)
			s.Run(each(s.Pods.Index))
			require.NotNil(t, s.Best)
			x.want.Pods, x.want.Units = 4, 2
			require.Equal(t, x.want, s.Best.Score)
		})
	}
}
