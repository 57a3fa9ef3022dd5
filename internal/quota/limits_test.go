package quota_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

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
