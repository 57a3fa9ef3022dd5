package queued_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/queued"
)

// TestTheNextRoundWhereThereIsNoPlan: because the pods of a node are too important, or kept by a guard.
func TestTheNextRoundWhereThereIsNoPlan(t *testing.T) {
	important := full(2)
	prio := int32(100)
	for i := range important.Pods {
		if p := &important.Pods[i]; p.Node == "n00" {
			p.Priority = &prio
		}
	}
	for why, search := range map[queued.Why]*queued.Search{
		queued.NoPlace: searchOf(important), queued.Nobody: searchOf(full(2), "n00-0", "n00-1", "n00-2"),
	} {
		all := each(search.Pods.Index)[0]
		search.Run([][]domain.Domain{all[:1], all[1:]})
		require.Equal(t, map[queued.Rejection]int{{Why: why}: 1}, search.Rejected)
		require.NotNil(t, search.Best)
		require.Equal(t, "n01", search.Best.Domain.Name)
	}
}

// TestProtectedSomewhere: one domain of several is enough.
func TestProtectedSomewhere(t *testing.T) {
	s := full(2)
	s.ClusterQueues[0].Preemption.WithinClusterQueue = cluster.QueueNever
	s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 100
	s.Nodes[1].Allocatable = cluster.Resources{cluster.CPU: 3}
	search := searchOf(s)
	search.Run(each(search.Pods.Index))
	require.Nil(t, search.Best)
	require.True(t, search.Protected)
}

// TestLimitsCountWorkloadsWithoutPods: each is a victim more.
func TestLimitsCountWorkloadsWithoutPods(t *testing.T) {
	job := func(name string) cluster.Workload {
		return cluster.Workload{
			Name: name, Queue: "team", Admission: &cluster.Admission{ClusterQueue: "all", Reserved: time.Unix(0, 0)},
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{cluster.CPU: 1}, Flavors: map[string]string{cluster.CPU: "any"}}},
		}
	}
	for most, want := range map[int64]bool{1: false, 2: true} {
		s := searchBeside([]cluster.Workload{job("a"), job("b")})
		s.Pods.Limits = []ask.Bound{{Of: ask.NumUnits, Left: most}}
		s.Run(each(s.Pods.Index))
		require.Equal(t, want, s.Best != nil, "a pod and a job go")
	}
}

// TestAPodFitsWhereItPrefersTo: it is asked of every domain, a pod that prefers nothing takes the first.
func TestAPodFitsWhereItPrefersTo(t *testing.T) {
	for prefer, want := range map[domain.Preference]string{domain.FirstByName: "n01", domain.LeastAllocated: "n02", domain.MostAllocated: "n01"} {
		s := full(1)
		s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 100
		s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 5}}, cluster.Node{Name: "n02", Allocatable: cluster.Resources{cluster.CPU: 9}})
		search := searchOf(s)
		search.Pods.Prefer = prefer
		p := search.Fits(each(search.Pods.Index))
		require.NotNil(t, p)
		require.Equal(t, want, p.Domain.Name, prefer)
	}
}

// lends lets another queue of a cohort lend so much.
func lends(s *cluster.Snapshot, cpu int64) {
	s.ClusterQueues[0].Cohort = "co"
	lender := s.ClusterQueues[0]
	lender.Name = "lender"
	lender.Groups = []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
		Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: cpu}},
	}}}}
	s.ClusterQueues = append(s.ClusterQueues, lender)
}

// TestQuotaIsBorrowedWhereRoomIsMade: whoever is in the way has to go, who holds quota need not; and if he alone came
// back, it is room that would be lacking.
func TestQuotaIsBorrowedWhereRoomIsMade(t *testing.T) {
	s := full(1)
	low := int32(1)
	s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 4}})
	s.Pods = append(s.Pods, cluster.Pod{Name: "free", Node: "n01", Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
	lends(s, 4)
	search := searchOf(s)
	require.Nil(t, search.Fits(each(search.Pods.Index)))
	search.Run(each(search.Pods.Index)[:1])
	require.NotNil(t, search.Best)
	require.Equal(t, "n01", search.Best.Domain.Name)
	require.Empty(t, search.Best.Quota)

	search = searchOf(s)
	search.Run([][]domain.Domain{each(search.Pods.Index)[0][:1]})
	require.NotNil(t, search.Best)
	list := search.Spell(search.Best)
	require.NotEmpty(t, list)
	for _, v := range list {
		require.Positive(t, v.Why.Missing, v.Workload.Name)
	}
}

// TestTheFlavorWithQuotaNow: is taken rather than an earlier one that has it once others have left.
func TestTheFlavorWithQuotaNow(t *testing.T) {
	s := full(1)
	s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 8}})
	s.Pods[1].Terminating, s.Pods[1].Preempted = true, true
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "other"})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "other", Resources: []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: 4}}})
	search := searchOf(s)
	search.Model.Hold(&cluster.QuotaHold{Name: "hold", ClusterQueue: "all", Pods: []cluster.PodKey{{Name: "n00-0"}}})
	require.Len(t, search.Offers, 2)
	p := search.Fits(each(search.Pods.Index))
	require.NotNil(t, p)
	require.Same(t, &search.Offers[1], p.Offer)
	require.Equal(t, p.Places, search.Gang.Trial.Assignments())
}
