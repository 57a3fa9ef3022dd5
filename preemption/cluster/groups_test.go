package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

// Every group is on a cycle from which the chain of its parents comes back to it.
func TestOnCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "groups")
		parents := rapid.SliceOfN(rapid.IntRange(-1, max(n-1, 0)), n, n).Draw(t, "parents")
		parent := func(g GroupID) GroupID { return GroupID(parents[g]) }
		for i, got := range onCycles(n, parent) {
			at := parent(GroupID(i))
			for range n {
				if at == NoGroup || at == GroupID(i) {
					break
				}
				at = parent(at)
			}
			require.Equal(t, at == GroupID(i), got, "group %d of %d", i, parents)
		}
	})
}

func TestOnCyclesAsksForEachParentTwice(t *testing.T) {
	const n = 10_000
	for name, parent := range map[string]func(GroupID) GroupID{
		"a chain down": func(g GroupID) GroupID { return g - 1 },
		"a chain up":   func(g GroupID) GroupID { return (g+2)%(n+1) - 1 },
		"a cycle":      func(g GroupID) GroupID { return (g + 1) % n },
		"into a cycle": func(g GroupID) GroupID { return min(g+1, n-1) },
	} {
		asked := 0
		onCycles(n, func(g GroupID) GroupID { asked++; return parent(g) })
		require.LessOrEqual(t, asked, 2*n, name)
	}
}

// However long what they are about, messages are short.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	s := &Snapshot{
		Pods: []Pod{{
			Name: "a/" + long, Namespace: long, Requests: Resources{long: -1}, Policy: "no",
			Ports:       []HostPort{{Port: -1, Protocol: long}},
			Tolerations: []Toleration{{Operator: TolerationOperator(long)}},
		}},
		Budgets: []disruption.Budget{{Name: long, Selector: &disruption.Selector{MatchLabels: map[string]string{long: long}}}},
	}
	_, err := NewIndex(s)
	require.ErrorIs(t, err, ErrInvalid)
	for _, line := range strings.Split(err.Error(), "\n") {
		require.Less(t, len(line), 1_200)
	}
}
