package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

func TestReview(t *testing.T) {
	least := int32(2)
	in := job("in", "", 1, 4)
	in.PodSets[0].MinCount = &least
	s := eight(in)
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{
		Name: "h100", NodeTaints: []cluster.Taint{{Key: "h100", Effect: cluster.NoSchedule}},
	})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 2}}})
	m := model(t, s)
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	with := func(f func(c *workload.Choice)) []workload.Choice {
		list := gpus(4)
		f(&list[0])
		return list
	}
	for name, x := range map[string]struct {
		choices []workload.Choice
		counts  []int32
		want    workload.MisfitKind
	}{
		"as it is":                {gpus(4), nil, workload.NoMisfit},
		"fewer pods":              {gpus(3), []int32{3}, workload.NoMisfit},
		"fewer than it starts":    {gpus(1), []int32{1}, workload.CountBeyond},
		"more than there are":     {gpus(5), []int32{5}, workload.CountBeyond},
		"counts of two sets":      {gpus(4), []int32{2, 2}, workload.CountsMissing},
		"another amount":          {gpus(3), nil, workload.AmountDiffers},
		"no flavor":               {nil, nil, workload.NothingTaken},
		"a flavor that is gone":   {with(func(c *workload.Choice) { c.Flavor = "v100" }), nil, workload.FlavorGone},
		"a taint":                 {with(func(c *workload.Choice) { c.Flavor = "h100" }), nil, workload.Unsuited},
		"a set that is not there": {append(gpus(4), workload.Choice{Set: "other", Resource: "gpu", Flavor: "a100"}), nil, workload.NothingAsked},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, x.want, m.Review(w, q, x.choices, x.counts).Kind) })
	}
}
