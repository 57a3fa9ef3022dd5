package queued_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/victims"
)

// TestWhereThereIsNoPlan: every domain without a plan has its reason, and the others are
// still found.
func TestWhereThereIsNoPlan(t *testing.T) {
	none := queued.Rejection{Why: queued.NoPlace}
	for name, x := range map[string]struct {
		change   func(s *queued.Search)
		best     string
		rejected map[queued.Rejection]int
	}{
		"as it is": {func(*queued.Search) {}, "n2", map[queued.Rejection]int{}},
		"one victim at most": {func(s *queued.Search) {
			s.Beyond = func(units []victims.UnitID, lone int) string {
				if len(units)+lone > 1 {
					return "one"
				}
				return ""
			}
		}, "n1", map[queued.Rejection]int{{Why: queued.BeyondBound, Bound: "one"}: 2}}, // by Pack and by Spread
		"web is guarded": {func(s *queued.Search) {
			s.Guarded = func(p cluster.PodID) bool { return s.Index.Pod(p).Name == "web" }
			s.Evictable = func(cluster.NodeID) []victims.UnitID { return nil }
		}, "", map[queued.Rejection]int{none: 1, {Why: queued.Nobody}: 1}},
		"nobody goes for nodes alone": {func(s *queued.Search) {
			s.Evictable = func(cluster.NodeID) []victims.UnitID { return nil }
		}, "n1", map[queued.Rejection]int{none: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := search()
			s.Note = true
			x.change(s)
			require.Nil(t, s.Fits(each(s.Index)))
			s.Run(each(s.Index))
			require.True(t, s.Quota)
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
