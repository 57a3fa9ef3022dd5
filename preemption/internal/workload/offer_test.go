package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
