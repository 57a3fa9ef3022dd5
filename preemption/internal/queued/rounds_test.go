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
		require.Equal(t, why == queued.Nobody, search.Protected)
	}
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
		s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 5}}, cluster.Node{Name: "n02", Allocatable: cluster.Resources{cluster.CPU: 9}}, cluster.Node{Name: "n03", Allocatable: cluster.Resources{cluster.CPU: 9}})
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
	search.Effort = ask.Improved
	search.Run([][]domain.Domain{each(search.Pods.Index)[0][1:]})
	require.Zero(t, search.Improved, "nobody to spare")

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

	(*flavors)[0].Resources[0].Nominal += 4
	search = searchOf(s)
	require.Same(t, &search.Offers[0], search.Fits(each(search.Pods.Index)).Offer, "the first of two")
}

// TestFlavorsOfNodes: a pod goes to nodes of the flavor alone whose quota it takes, and nowhere where there is none.
func TestFlavorsOfNodes(t *testing.T) {
	s := full(2)
	s.ResourceFlavors[0].NodeLabels = map[string]string{"pool": "a"}
	s.Nodes[1].Labels = s.ResourceFlavors[0].NodeLabels
	for i := range s.Pods {
		if s.Pods[i].Node == "n00" {
			s.Pods[i].Queue = ""
		}
	}
	s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 8
	s.Pods[0].Requests[cluster.CPU] = 2
	all := [][]domain.Domain{{{Name: "all", Nodes: []cluster.NodeID{0, 1}}}}
	search := searchOf(s)
	search.Effort = ask.Improved
	search.Run(all)
	require.NotNil(t, search.Best)
	require.Equal(t, []cluster.NodeID{1}, search.Best.Domain.Nodes)
	require.Len(t, search.Best.Quota, 1)
	require.Equal(t, 1, search.Improved)

	s.ClusterQueues[0].Preemption.WithinClusterQueue = cluster.QueueNever
	search = searchOf(s)
	search.Run(all)
	require.Equal(t, map[queued.Rejection]int{{Why: queued.NoQuota, Offer: &search.Offers[0]}: 1}, search.Rejected)
	require.False(t, search.Quota)
	require.Zero(t, search.Tried)
}
