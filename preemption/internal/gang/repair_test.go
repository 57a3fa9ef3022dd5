package gang

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
)

// TestRepairsOfLargeGangsAreFew: what a question about thousands of members on thousands of nodes takes
// does not grow with their product times all the repairs that a small one may have.
func TestRepairsOfLargeGangsAreFew(t *testing.T) {
	for _, tt := range []struct{ asked, units, domains, want int }{ // asked by each
		{0, 0, 1, 16}, {3 * 8 * 5_000, 0, 1, 16}, {3 * 64 * 16, 0, 250, 6}, {3 * 64 * 16, 0, 4_000, 1}, {3 * 64 * 5_000, 0, 1, 5},
		{3 * 1_000 * 1_000, 0, 1, 2}, {3 * 2_000 * 2_000, 0, 1, 1}, {3 * 4_000 * 20, 0, 250, 1}, {mostAsked / 2, 0, 1, 3}, {mostAsked / 8, 0, 4, 3},
		{0, 8_000, 1, 16}, {0, 18_000, 1, 8}, {0, 150_000, 1, 1}, {0, 300, 250, 2}, {0, mostMoved, 1, 2}, {0, mostMoved + 1, 1, 1},
	} {
		times := 0
		for repairsOn(times, times*tt.asked, tt.units, tt.domains) {
			times++
		}
		require.Equal(t, tt.want, times, "%+v", tt)
	}
}

// TestDomainsShareTheSteps: what one of them has taken the others have, too.
func TestDomainsShareTheSteps(t *testing.T) {
	for _, tt := range []struct {
		shares, steps, taken, want int
		helps                      bool // it is asked what would help
	}{
		{1, 100, 0, 100, false}, {1, 100, 450, 50, false}, {1, 100, 500, 0, false}, {1, 100, 900, 0, false},
		{4, 100, 0, 100, false}, {4, 100, 25, 100, false}, {4, 100, 100, 25, false}, {4, 100, 125, 0, false},
		{50, 100, 0, 10, false}, {50, 100, 4, 6, false}, {50, 100, 10, 0, false},
		{1, 100, 20, 100, true}, {1, 100, 80, 45, true}, {1, 100, 125, 0, true}, {50, 100, 0, 2, true},
		{1, 4 * helpSteps, 0, 4 * helpSteps, true}, {1, 8 * helpSteps, helpSteps, 4 * helpSteps, true}, {1, 8 * helpSteps, 5 * helpSteps, 0, true}, {1, 8 * helpSteps, 5 * helpSteps, 8 * helpSteps, false},
	} {
		q := &ask.Question{Settings: &ask.Settings{}, NoBounds: tt.helps}
		a := &attempt{Search: &Search{q: q, shares: tt.shares, Runner: &reprieve.Runner{Decided: 7 + tt.taken}}, decided: 7}
		w := reprieve.Within{AimSteps: tt.steps - 1}
		w.Steps = tt.steps
		a.shareSteps(&w)
		require.Equal(t, tt.want, w.Steps, "%+v", tt)
		require.Equal(t, min(tt.want, tt.steps-1), w.AimSteps, "%+v", tt)
	}
}
