package quota_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// What is refused is refused before memory is taken for it.
func TestLimitsAreKept(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 10_000 {
		flavor := []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: fmt.Sprint("f", i), Resources: []cluster.ResourceQuota{{Resource: cluster.CPU}}}}}}
		s.ClusterQueues = append(s.ClusterQueues, cluster.ClusterQueue{Name: fmt.Sprint("q", i), Groups: flavor})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := quota.NewIndex(s)
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, `ClusterQueues: 10000 pairs of flavor and resource is not at most 419 for as many queues and cohorts`)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// A chain of cohorts that nobody writes so long is refused with its queue.
func TestLongChainsAreRefused(t *testing.T) {
	const most = 32
	chain := &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{{Name: "q", Cohort: "c0"}}}
	for i := range most {
		chain.Cohorts = append(chain.Cohorts, cluster.Cohort{Name: fmt.Sprint("c", i), Parent: fmt.Sprint("c", i+1)})
	}
	_, err := quota.NewIndex(chain)
	require.EqualError(t, err, `cluster: ClusterQueue "q": Cohort: more than 32 levels up to its root is not fewer`)
	chain.Cohorts = chain.Cohorts[:most-1]
	_, err = quota.NewIndex(chain)
	require.NoError(t, err)
}

// TestSumIsOneAfterTheOther: what is added and removed at once leaves every number as
// if it were added and removed one by one.
func TestSumIsOneAfterTheOther(t *testing.T) { rapid.Check(t, sumIsOneAfterTheOther) }

func sumIsOneAfterTheOther(t *rapid.T) {
	ix, err := quota.NewIndex(drawTree(t))
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		queue quota.HolderID
		usage []quota.ColumnAmount
	}
	var jobs []job
	for range rapid.IntRange(0, 12).Draw(t, "jobs") {
		j := job{queue: quota.HolderID(rapid.IntRange(0, ix.NumQueues()-1).Draw(t, "queue"))}
		for c := range quota.ColumnID(ix.NumColumns()) {
			if rapid.Bool().Draw(t, "uses") {
				j.usage = append(j.usage, quota.ColumnAmount{Column: c, Amount: rapid.Int64Range(0, 9).Draw(t, "amount")})
			}
		}
		jobs = append(jobs, j)
	}
	tree := quota.NewTree(ix)
	sum, at, once := tree.NewSum(), tree.NewUsage(), tree.NewUsage()
	same := func(step string) {
		for h := range quota.HolderID(tree.NumHolders()) {
			for c := range quota.ColumnID(ix.NumColumns()) {
				if got, want := at.Used(h, c), once.Used(h, c); got != want {
					t.Fatalf("%s: %s uses %d, want %d", step, ix.Name(h), got, want)
				}
			}
		}
	}
	half := len(jobs) / 2
	for i, j := range jobs {
		once.Add(j.queue, j.usage)
		if i < half {
			at.Add(j.queue, j.usage)
		} else {
			sum.Take(j.queue, j.usage)
		}
	}
	at.AddSum(sum)
	same("added")
	sum.Clear()
	for _, j := range jobs[:half] {
		once.Remove(j.queue, j.usage)
		sum.Take(j.queue, j.usage)
	}
	at.RemoveSum(sum)
	same("removed")
	sum.Clear()
	at.AddSum(sum)
	same("nothing added")
}

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
