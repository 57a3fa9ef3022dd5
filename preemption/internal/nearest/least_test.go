package nearest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingIsAskedInVain: where not each change can be asked about, nothing is asked; where each can, the least is found.
func TestNothingIsAskedInVain(t *testing.T) {
	list := []Change{{Name: "a", Amount: 1}, {Name: "b", Amount: 1}, {Name: "c", Amount: 1}}
	for _, c := range []struct{ asks, asked int }{{0, 0}, {2, 0}, {3, 3}, {9, 3}} {
		asked := 0
		l := least{
			dear: func(asks int) bool { return asked+asks > c.asks },
			ask:  func(list []Change) ([]Change, bool) { asked++; return list, list[len(list)-1].Name == "c" },
		}
		need, ok := l.find(list)
		require.Equal(t, c.asked, asked, "%d asks", c.asks)
		if require.Equal(t, c.asked > 0, ok); ok {
			require.Equal(t, list[2:], need)
		}
	}
}
