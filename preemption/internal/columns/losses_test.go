package columns

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestLossesAreThoseOfTheUnits: found out, then remembered.
func TestLossesAreThoseOfTheUnits(t *testing.T) {
	high := int32(7)
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n"}},
		PodGroups: []cluster.PodGroup{{Name: "w", Mode: disruption.All, Priority: &high}},
		Pods: []cluster.Pod{
			{Name: "a", Node: "n"}, {Name: "w0", Node: "n", Group: "w", Priority: &high}, {Name: "w1", Node: "n", Group: "w", Priority: &high},
		},
	})
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	require.Equal(t, 2, us.Len())
	losses := NewLosses(us)
	losses.Forget()
	pods := int64(0)
	for range 2 {
		for u := range victims.UnitID(us.Len()) {
			require.Equal(t, us.Loss(u), *losses.Of(u))
			pods += losses.Of(u).Price.Pods
		}
	}
	require.Equal(t, int64(6), pods)
}

// tournamentsHaveTheBest: whatever is set, the root is the first of the best; a clone and
// what it was made of go their own ways, once that is not changed any more.
func tournamentsHaveTheBest(t *rapid.T) {
	const none = 9
	nodes := rapid.IntRange(0, 3*BlockSize).Draw(t, "nodes")
	at := slices.Repeat([]int{none}, nodes)
	of := NewTournament(func(x, y *int) bool { return *x < *y })
	of.Reset(nodes, none)
	of.PlayAll()
	best := func() {
		n, s := of.Root()
		if nodes == 0 {
			require.Equal(t, cluster.NoNode, n)
			return
		}
		require.Equal(t, slices.Min(at), *s)
		require.Equal(t, slices.Index(at, *s), int(n))
	}
	best()
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		if nodes == 0 {
			return
		}
		n, s := rapid.IntRange(0, nodes-1).Draw(t, "node"), rapid.IntRange(0, none).Draw(t, "stands")
		before := of
		if rapid.Bool().Draw(t, "clone") {
			was := slices.Clone(at)
			of = before.Clone()
			defer func() {
				for n, s := range was {
					require.Equal(t, s, *before.At(cluster.NodeID(n)))
				}
			}()
		}
		at[n], *of.Edit(cluster.NodeID(n)) = s, s
		of.Play(cluster.NodeID(n))
		best()
	}
}

func TestTournamentsHaveTheBest(t *testing.T) { rapid.Check(t, tournamentsHaveTheBest) }

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
