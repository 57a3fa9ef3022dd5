package quota_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestShareIsWhatIsBorrowedOverWhatCouldBeLent(t *testing.T) {
	for _, c := range []struct {
		name            string
		nominal, others int64
		weight          string
		use             int64
		perMille        int64
	}{
		{"within nominal", 5, 5, "1", 5, 0},
		{"two of ten above nominal", 5, 5, "1", 7, 200},
		{"twice the weight, half the share", 5, 5, "2", 7, 100},
		{"half the weight, twice the share", 5, 5, "0.5", 7, 400},
		{"weight 0 borrows endlessly", 5, 5, "0", 7, math.MaxInt64},
		{"weight 0 within nominal", 5, 5, "0", 5, 0},
		{"one of 1500 is rounded up", 0, 1500, "1", 1, 1},
		{"nothing to lend", 0, 0, "1", 7, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w cluster.Weight
			err := w.UnmarshalText([]byte(c.weight))
			require.NoError(t, err)
			q := queue("q", "co", limits{c.nominal, none, none})
			q.Weight = &w
			s := newState(t, &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{q, queue("other", "co", limits{c.others, none, none})}})
			s.use("q", c.use)
			share := s.Share(s.ix.QueueByName("q"), quota.Exact)
			require.Equal(t, c.perMille, share.PerMille())
			require.Equal(t, c.use > c.nominal, share.Borrows())
			root := s.Share(s.ix.CohortByName("co"), quota.Exact)
			require.False(t, root.Borrows(), "a root borrows nothing")
		})
	}
}

func TestSharesCompare(t *testing.T) {
	share := func(weight string, borrowed int64, precision quota.Precision) quota.Share {
		var w cluster.Weight
		err := w.UnmarshalText([]byte(weight))
		require.NoError(t, err)
		q := queue("q", "co", limits{0, none, none})
		q.Weight = &w
		s := newState(t, &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{q, queue("other", "co", limits{1000, none, none})}})
		s.use("q", borrowed)
		return s.Share(s.ix.QueueByName("q"), precision)
	}
	for _, c := range []struct {
		name             string
		weightA, weightB string
		a, b             int64
		want             int
	}{
		{"same weight", "1", "1", 5, 6, -1},
		{"equal by weight", "1", "2", 5, 10, 0},
		{"fractional weights", "0.333", "0.666", 3, 6, 0},
		{"a borrower of weight 0 is above everybody", "0", "0.001", 1, 900, 1},
		{"two of them go by what they borrow", "0", "0", 3, 2, 1},
		{"weight 0 that borrows nothing is not", "0", "1", 0, 1, -1},
		{"a hair's breadth", "3.000000001", "3", 9, 9, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range []quota.Precision{quota.Exact, quota.KueueFloat} {
				a, b := share(c.weightA, c.a, p), share(c.weightB, c.b, p)
				require.Equal(t, c.want, a.Compare(&b))
				require.Equal(t, -c.want, b.Compare(&a))
			}
		})
	}
}

// One third of 0.3 and one tenth: equal as fractions, not as floats.
func TestExactSharesKnowNoRounding(t *testing.T) {
	weights := map[string]string{"a": "0.3", "b": "0.1"}
	compare := func(p quota.Precision) int {
		var queues []cluster.ClusterQueue
		for _, name := range []string{"a", "b"} {
			var w cluster.Weight
			err := w.UnmarshalText([]byte(weights[name]))
			require.NoError(t, err)
			q := queue(name, "co", limits{0, none, none})
			q.Weight = &w
			queues = append(queues, q)
		}
		s := newState(t, &cluster.Snapshot{ClusterQueues: append(queues, queue("other", "co", limits{7, none, none}))})
		s.use("a", 3)
		s.use("b", 1)
		a, b := s.Share(s.ix.QueueByName("a"), p), s.Share(s.ix.QueueByName("b"), p)
		return a.Compare(&b)
	}
	require.Equal(t, 0, compare(quota.Exact))
	require.NotEqual(t, 0, compare(quota.KueueFloat))
}
