package quota_test

import (
	"fmt"
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
