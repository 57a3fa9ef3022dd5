package gang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepairsOfLargeGangsAreFew: what a question about thousands of members on thousands of nodes takes
// does not grow with their product times all the repairs that a small one may have.
func TestRepairsOfLargeGangsAreFew(t *testing.T) {
	for _, tt := range []struct{ members, nodes, domains, want int }{
		{0, 0, 1, 16}, {8, 5_000, 1, 16}, {50, 5_000, 1, 16}, {64, 16, 250, 16}, {64, 16, 512, 8}, {64, 5_000, 1, 13},
		{1_000, 1_000, 1, 4}, {2_000, 2_000, 1, 1}, {4_000, 5_000, 1, 1}, {4_000, 20, 250, 1},
	} {
		require.Equal(t, tt.want, repairsOf(tt.members, tt.nodes, tt.domains), "%+v", tt)
	}
}
