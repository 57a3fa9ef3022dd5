package workload_test

import (
	"slices"
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

// TestReviewOfSeveralResources: those of one group have one flavor in all pod sets that go together, and
// those of which the queue has no quota none.
func TestReviewOfSeveralResources(t *testing.T) {
	in := cluster.Workload{Name: "in", Queue: "team", PodSets: []cluster.PodSet{
		{Name: "a", Count: 2, Requests: cluster.Resources{"gpu": 1, "mem": 2}, Group: "g"},
		{Name: "b", Count: 1, Requests: cluster.Resources{"gpu": 3, "disk": 0}, Group: "g"},
		{Name: "c", Count: 1, Requests: cluster.Resources{"mem": 4}},
	}}
	s := eight(in)
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100"})
	group := &s.ClusterQueues[0].Groups[0]
	group.Flavors = nil
	for _, f := range []string{"a100", "h100"} {
		group.Flavors = append(group.Flavors, cluster.FlavorQuotas{Flavor: f, Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}, {Resource: "mem", Nominal: 8}}})
	}
	m := model(t, s)
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	good := []workload.Choice{{"a", "gpu", "a100", 2}, {"a", "mem", "a100", 4}, {"b", "gpu", "a100", 3}, {"c", "mem", "h100", 4}}
	require.Equal(t, workload.Misfit{}, m.Review(w, q, good, nil))
	for name, x := range map[string]struct {
		change func(list []workload.Choice) []workload.Choice
		want   workload.Misfit
	}{
		"two flavors of a set": {
			func(list []workload.Choice) []workload.Choice { list[1].Flavor = "h100"; return list },
			workload.Misfit{Kind: workload.TwoFlavors, Choice: workload.Choice{Set: "a", Resource: "mem", Flavor: "h100", Amount: 4}, Other: "a100", Most: 4},
		},
		"two flavors of sets that go together": {
			func(list []workload.Choice) []workload.Choice { list[2].Flavor = "h100"; return list },
			workload.Misfit{Kind: workload.TwoFlavors, Choice: workload.Choice{Set: "b", Resource: "gpu", Flavor: "h100", Amount: 3}, Other: "a100", Most: 3},
		},
		"another flavor for the other set": {
			func(list []workload.Choice) []workload.Choice { list[3].Flavor = "a100"; return list }, workload.Misfit{},
		},
		"what nobody has quota of": {
			func(list []workload.Choice) []workload.Choice {
				return append(list, workload.Choice{Set: "b", Resource: "disk", Flavor: "a100"})
			},
			workload.Misfit{Kind: workload.ResourceGone, Choice: workload.Choice{Set: "b", Resource: "disk", Flavor: "a100"}},
		},
		"what is not asked for": {
			func(list []workload.Choice) []workload.Choice {
				return append(list, workload.Choice{Set: "c", Resource: "gpu", Flavor: "h100"})
			},
			workload.Misfit{Kind: workload.NothingAsked, Choice: workload.Choice{Set: "c", Resource: "gpu", Flavor: "h100"}},
		},
		"a resource without a flavor": {
			func(list []workload.Choice) []workload.Choice { return list[1:] },
			workload.Misfit{Kind: workload.NothingTaken, Choice: workload.Choice{Set: "a", Resource: "gpu"}, Most: 2},
		},
		"too few": {
			func(list []workload.Choice) []workload.Choice { list[2].Amount = 2; return list },
			workload.Misfit{Kind: workload.AmountDiffers, Choice: workload.Choice{Set: "b", Resource: "gpu", Flavor: "a100", Amount: 2}, Other: "a100", Most: 3},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, x.want, m.Review(w, q, x.change(slices.Clone(good)), nil)) })
	}
}

// TestReviewReserved: an answer without victims keeps no more than the workload asks for, and than its
// queue may have beside those who hold quota.
func TestReviewReserved(t *testing.T) {
	borrowing := int64(2)
	for name, x := range map[string]struct {
		held    int32
		reclaim cluster.QueuePolicy
		list    []workload.Choice
		want    workload.MisfitKind
	}{
		"nothing":                          {0, "", nil, workload.NoMisfit},
		"all that it asks for":             {0, "", gpus(9), workload.NoMisfit},
		"more":                             {0, "", gpus(10), workload.ReservesTooMuch},
		"more in two":                      {0, "", append(gpus(5), gpus(5)...), workload.ReservesTooMuch},
		"as much in two":                   {0, "", append(gpus(5), gpus(4)...), workload.NoMisfit},
		"what is left to it":               {4, "", gpus(6), workload.NoMisfit},
		"more than is left to it":          {4, "", gpus(7), workload.ReservesTooMuch},
		"another resource":                 {0, "", []workload.Choice{{Resource: "tpu", Flavor: "a100", Amount: 1}}, workload.NotOfQueue},
		"another flavor":                   {0, "", []workload.Choice{{Resource: "gpu", Flavor: "h100", Amount: 1}}, workload.NotOfQueue},
		"it gets its quota back from all":  {0, cluster.AnyPriority, gpus(1), workload.Reclaims},
		"it gets its quota back from some": {0, cluster.LowerPriority, gpus(1), workload.NoMisfit},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("in", "", 1, 9))
			if x.held > 0 {
				s.Workloads = append(s.Workloads, job("old", "research", 9, x.held))
			}
			queue := &s.ClusterQueues[0]
			queue.Cohort, queue.Preemption.ReclaimWithinCohort = "all", x.reclaim
			queue.Groups[0].Flavors[0].Resources[0].Borrowing = &borrowing
			m := model(t, s)
			w, q := m.Workload("", "in"), m.Index.QueueByName("research")
			search := m.Search(w, q)
			defer m.Keep(search)
			require.Equal(t, x.want, search.ReviewReserved(w, q, x.list).Kind)
		})
	}
}
