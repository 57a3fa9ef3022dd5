package workload_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

func TestOffers(t *testing.T) {
	s := eight()
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100", NodeLabels: map[string]string{"gpu": "h100"}})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 2}}})
	m := model(t, s)
	q := m.Index.QueueByName("research")

	offers, objections := m.Offers(q, map[string]int64{"gpu": 2, cluster.Pods: 1})
	require.Len(t, offers, 2)
	require.Empty(t, objections)
	require.True(t, m.Suits(&cluster.Node{}, &offers[0]))
	require.False(t, m.Suits(&cluster.Node{}, &offers[1]))
	require.True(t, m.Suits(&cluster.Node{Labels: map[string]string{"gpu": "h100"}}, &offers[1]))

	offers, objections = m.Offers(q, map[string]int64{"gpu": 3})
	require.Len(t, offers, 1)
	require.Equal(t, []workload.Objection{{Kind: workload.TooMuch, Column: m.Index.Column("h100", "gpu"), Amount: 3, Most: 2}}, objections)

	offers, objections = m.Offers(q, map[string]int64{"gpu": 1, "tpu": 1})
	require.Empty(t, offers)
	require.Equal(t, []workload.Objection{{Kind: workload.NoQuota, Resource: "tpu"}}, objections)
}

// TestOffersOfTwoGroups: each flavor of the one with each of the other, in order of the columns
// whatever that of the groups; what is not asked for at all is in none.
func TestOffersOfTwoGroups(t *testing.T) {
	s := eight()
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "large"}, cluster.ResourceFlavor{Name: "small"})
	gpu := s.ClusterQueues[0].Groups[0]
	mem := cluster.ResourceGroup{}
	for _, f := range []string{"small", "large"} {
		mem.Flavors = append(mem.Flavors, cluster.FlavorQuotas{Flavor: f, Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 4}, {Resource: "mem", Nominal: 4}}})
	}
	s.ClusterQueues[0].Groups = []cluster.ResourceGroup{mem, gpu}
	m := model(t, s)
	q := m.Index.QueueByName("research")
	offers, objections := m.Offers(q, map[string]int64{"gpu": 1, "mem": 2, "cpu": 0, "disk": 0})
	require.Empty(t, objections)
	require.Len(t, offers, 2)
	for i, f := range []string{"small", "large"} {
		columns := []quota.ColumnID{m.Index.Column(f, "cpu"), m.Index.Column(f, "mem"), m.Index.Column("a100", "gpu")}
		require.Equal(t, []workload.Taken{
			{Resource: "cpu", Column: columns[0]}, {Resource: "mem", Column: columns[1], Amount: 2}, {Resource: "gpu", Column: columns[2], Amount: 1},
		}, offers[i].Taken)
		amounts := map[quota.ColumnID]int64{columns[1]: 2, columns[2]: 1}
		slices.Sort(columns)
		require.Equal(t, columns, offers[i].Columns)
		var request []quota.ColumnAmount
		for _, c := range columns {
			if amounts[c] > 0 {
				request = append(request, quota.ColumnAmount{Column: c, Amount: amounts[c]})
			}
		}
		require.Equal(t, request, offers[i].Request)
	}
	offers, _ = m.Offers(q, map[string]int64{"gpu": 1})
	require.Len(t, offers, 1)
}
