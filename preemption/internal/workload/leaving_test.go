package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

func TestLeaving(t *testing.T) {
	m := model(t, eight(job("low", "research", 1, 4), job("equal", "research", 5, 2), job("going", "research", 1, 2), job("other", "", 9, 2), job("in", "", 5, 4)))
	m.Hold(&cluster.QuotaHold{Name: "other", ClusterQueue: "research", Amounts: gpusHeld(2), Workloads: []cluster.PodKey{{Name: "going"}}})
	require.NoError(t, m.Evict("", "going", false))
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	s := m.Search(w, q)
	defer m.Keep(s)
	request, contested := s.Request(q, gpus(4))
	require.False(t, s.Usage.Fits(q, request, true))
	l := s.Leaving(w, q, contested)
	require.Equal(t, workload.Spared, l.Add(m.Held("", "equal")))
	require.Equal(t, workload.Going, l.Add(m.Held("", "going")))
	require.Equal(t, workload.Leaves, l.Add(m.Held("", "low")))
	require.Equal(t, workload.Twice, l.Add(m.Held("", "low")))
	require.Nil(t, l.Settle())
	require.True(t, s.Usage.Fits(q, request, true))
}

// TestWhoStaysEntitledInTheEnd: of those who leave for another queue all may go as long as theirs borrows: of what
// is contested or, with shares, of anything.
func TestWhoStaysEntitledInTheEnd(t *testing.T) {
	for name, x := range map[string]struct {
		fair  bool
		mem   int64 // that the lender uses beyond its own
		first string
	}{
		"no more than it borrows": {false, 0, ""}, "more": {false, 0, "a"}, "of something else": {false, 1, "a"}, "with shares": {true, 1, ""}, "with shares, more": {true, 0, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("a", "lender", 1, 2), job("b", "lender", 1, 2), job("in", "", 5, 4))
			queue := &s.ClusterQueues[0]
			queue.Cohort, queue.Preemption.ReclaimWithinCohort = "all", cluster.AnyPriority
			flavor := &queue.Groups[0].Flavors[0]
			flavor.Resources = append(flavor.Resources, cluster.ResourceQuota{Resource: "mem", Nominal: 4})
			lender := *queue
			nominal := int64(1)
			if x.first != "" || x.fair {
				nominal = 3 // who goes second is entitled
			}
			lender.Name, lender.Groups = "lender", []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: nominal}, {Resource: "mem"}},
			}}}}
			s.ClusterQueues = append(s.ClusterQueues, lender)
			if x.mem > 0 {
				w := job("uses", "lender", 9, 1)
				w.PodSets[0].Requests, w.PodSets[0].Flavors = cluster.Resources{"mem": x.mem}, map[string]string{"mem": "a100"}
				s.Workloads = append(s.Workloads, w)
			}
			m, err := workload.New(s.QuotaObjects(), workload.Rules{Fair: x.fair})
			require.NoError(t, err)
			w, q := m.Workload("", "in"), m.Index.QueueByName("research")
			search := m.Search(w, q)
			defer m.Keep(search)
			l := search.Leaving(w, q, []quota.ColumnID{m.Index.Column("a100", "gpu")})
			require.Equal(t, workload.Leaves, l.Add(m.Held("", "a")))
			require.Equal(t, workload.Leaves, l.Add(m.Held("", "b")))
			got := ""
			if r := l.Settle(); r != nil {
				got = r.Workload.Name
			}
			require.Equal(t, x.first, got)
		})
	}
}
