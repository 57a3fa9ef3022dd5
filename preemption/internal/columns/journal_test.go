package columns

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// journalsTell: whoever reads on finds what was noted since, each once, in turn, of a fork too,
// as long as it is not too much.
func journalsTell(t *rapid.T) {
	type reader struct {
		journal
		all  []cluster.NodeID // everything noted
		seen int
	}
	list := []*reader{{}}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		r := rapid.SampledFrom(list).Draw(t, "of")
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0:
			list = append(list, &reader{r.journal.fork(), append([]cluster.NodeID(nil), r.all...), r.seen})
		case 1:
			l := &NodeColumns{journal: r.journal}
			if l.Forgot(r.seen) {
				require.Greater(t, len(r.all)-r.seen, 4, "at least half of what it is long")
				r.seen = l.Changes()
				continue
			}
			var told []cluster.NodeID
			var want []cluster.NodeID
			for _, n := range r.all[r.seen:] {
				if !slices.Contains(want, n) {
					want = append(want, n)
				}
			}
			l.Since(&r.seen, 0, func(n cluster.NodeID) { told = append(told, n) })
			require.Equal(t, want, told)
			require.Equal(t, len(r.all), r.seen)
		default:
			n := cluster.NodeID(rapid.SampledFrom([]int{0, 1, 5, 63, 64, 200}).Draw(t, "node"))
			r.note(n, 8)
			r.all = append(r.all, n)
		}
	}
}

func TestJournalsTell(t *testing.T) { rapid.Check(t, journalsTell) }
