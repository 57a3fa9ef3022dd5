package queued_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/queued"
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
		"web and free are guarded":    {kept: []string{"web", "free"}, rejected: map[queued.Rejection]int{none: 1, {Why: queued.Nobody}: 1}},
		"nobody goes for nodes alone": {kept: []string{"free"}, best: "n1", rejected: map[queued.Rejection]int{none: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := search(x.kept...)
			s.Note, s.Pods.Limits = true, x.limits
			require.Nil(t, s.Fits(each(s.Pods.Index)))
			s.Run(each(s.Pods.Index))
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
