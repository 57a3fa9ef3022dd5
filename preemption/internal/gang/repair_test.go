package gang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepairsOfLargeGangsAreFew: what a question about thousands of members on thousands of nodes takes
// does not grow with their product times all the repairs that a small one may have.
func TestRepairsOfLargeGangsAreFew(t *testing.T) {
	for _, tt := range []struct{ asked, domains, want int }{ // asked by each
		{0, 1, 16}, {3 * 8 * 5_000, 1, 16}, {3 * 64 * 16, 250, 6}, {3 * 64 * 16, 4_000, 1}, {3 * 64 * 5_000, 1, 5},
		{3 * 1_000 * 1_000, 1, 2}, {3 * 2_000 * 2_000, 1, 1}, {3 * 4_000 * 20, 250, 1},
	} {
		times := 0
		for repairsOn(times, times*tt.asked, tt.domains) {
			times++
		}
		require.Equal(t, tt.want, times, "%+v", tt)
	}
}
