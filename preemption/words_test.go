package preemption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// The score of a trace tells the earliest start as a time, and says so where neither
// a start nor the time of the snapshot is known.
func TestScoreTellsTheEarliestStart(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		started time.Time
		want    string
	}{
		"known":   {noon, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start 2026-01-02T12:00:00Z"},
		"unknown": {time.Time{}, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			one := int32(1)
			s := &preemption.Snapshot{
				Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"cpu": 1000, "pods": 10}}},
				Pods: []cluster.Pod{
					{Namespace: "x", Name: "old", Node: "n1", Requests: cluster.Resources{"cpu": 1000}, Started: tt.started},
					{Namespace: "x", Name: "new", Requests: cluster.Resources{"cpu": 1000}, Priority: &one},
				},
			}
			r, err := preemption.Options{Explain: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "x", Name: "new"}, s)
			require.NoError(t, err)
			require.Len(t, r.Trace, 1)
			var texts []string
			for _, step := range r.Trace[0].Steps {
				texts = append(texts, step.Text)
			}
			require.Contains(t, texts, tt.want)
		})
	}
}
