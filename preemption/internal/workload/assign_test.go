package workload_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// TestAmountsThatCanBeCounted: of no resource more than 2^62-1, neither in a pod set nor in all.
func TestAmountsThatCanBeCounted(t *testing.T) {
	const most = cluster.MaxUsage
	set := func(count int32, gpu, mem int64) cluster.PodSet {
		return cluster.PodSet{Count: count, Requests: cluster.Resources{"gpu": gpu, "mem": mem}}
	}
	for name, x := range map[string]struct {
		sets []cluster.PodSet
		want []string // fields
	}{
		"as much as can be":              {[]cluster.PodSet{set(1, most, most)}, nil},
		"in two sets":                    {[]cluster.PodSet{set(1, most-1, 0), set(1, 1, most)}, nil},
		"one more in two sets":           {[]cluster.PodSet{set(1, most, 5), set(1, 1, 5)}, []string{"PodSets"}},
		"one more of both":               {[]cluster.PodSet{set(1, most, 1), set(1, 1, most)}, []string{"PodSets", "PodSets"}},
		"one more":                       {[]cluster.PodSet{set(1, most+1, 0)}, []string{"PodSets[0].Requests[gpu]"}},
		"too many pods":                  {[]cluster.PodSet{set(2, 1, 1), set(2, 1, most/2+1)}, []string{"PodSets[1].Requests[mem]"}},
		"what is too much adds nothing":  {[]cluster.PodSet{set(2, most, 0), set(1, most, 0)}, []string{"PodSets[0].Requests[gpu]"}},
		"each that is too much":          {[]cluster.PodSet{set(2, most, most), set(3, 0, most)}, []string{"PodSets[0].Requests[gpu]", "PodSets[0].Requests[mem]", "PodSets[1].Requests[mem]"}},
		"a product beyond all the bits":  {[]cluster.PodSet{set(8, 1<<61, 0)}, []string{"PodSets[0].Requests[gpu]"}},
		"too much in a set, and in all":  {[]cluster.PodSet{set(2, most, most), set(1, 0, 1), set(1, 0, most)}, []string{"PodSets[0].Requests[gpu]", "PodSets[0].Requests[mem]", "PodSets"}},
		"pods are not asked for, though": {[]cluster.PodSet{set(2, most/2, most/2), set(1, 1, 1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := workload.CheckAmounts(&cluster.Workload{Name: "in", PodSets: x.sets})
			var fields []string
			if list, ok := err.(interface{ Unwrap() []error }); ok {
				for _, e := range list.Unwrap() {
					var one *cluster.FieldError
					require.True(t, errors.As(e, &one))
					fields = append(fields, one.Field)
					require.Equal(t, "at most 2^62-1 in all", one.Want)
				}
			}
			require.Equal(t, x.want, fields)
			require.Equal(t, x.want == nil, err == nil)
		})
	}
}

// TestAmountsAreToldInDecimals: in complaints.
func TestAmountsAreToldInDecimals(t *testing.T) {
	w := job("in", "", 1, 1000)
	w.PodSets[0].Requests["gpu"] = 1 << 60
	require.EqualError(t, workload.CheckAmounts(&w), `cluster: Workload "in": PodSets[0].Requests[gpu]: 1152921504606846976 is not at most 2^62-1 in all`)
	m, many := model(t, eight(job("old", "research", 1, 8))), job("many", "research", 1, 1)
	many.PodSets[0].Usage = cluster.Resources{"gpu": cluster.MaxUsage}
	require.ErrorContains(t, m.Set(&many), "4611686018427387903 gpu is not so little")
}

// TestWhyThereIsNoFlavor: each flavor has one objection, to the first resource of which it has too little
// for ever, or to all of which it has too little now.
func TestWhyThereIsNoFlavor(t *testing.T) {
	s := eight()
	group := &s.ClusterQueues[0].Groups[0]
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100", NodeTaints: []cluster.Taint{{Key: "h100", Effect: cluster.NoSchedule}}})
	group.Flavors[0].Resources = append(group.Flavors[0].Resources, cluster.ResourceQuota{Resource: "mem", Nominal: 8})
	group.Flavors = append(group.Flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: group.Flavors[0].Resources})
	old := job("old", "research", 9, 6)
	old.PodSets[0].Requests["mem"], old.PodSets[0].Flavors["mem"] = 1, "a100"
	s.Workloads = append(s.Workloads, old)
	gpu, mem := model(t, s).Index.Column("a100", "gpu"), model(t, s).Index.Column("a100", "mem")
	tainted := workload.Objection{Kind: workload.Tainted, Flavor: 1, Taint: &s.ResourceFlavors[1].NodeTaints[0]}
	for name, x := range map[string]struct {
		ask  cluster.Resources
		want []workload.Objection
	}{
		"fits":                {cluster.Resources{"gpu": 2, "mem": 2}, nil},
		"no quota":            {cluster.Resources{"gpu": 2, "tpu": 1}, []workload.Objection{{Kind: workload.NoQuota, Resource: "tpu"}}},
		"no quota is no harm": {cluster.Resources{"gpu": 2, "tpu": 0}, nil},
		"too much of both": {
			cluster.Resources{"gpu": 9, "mem": 10}, []workload.Objection{{Kind: workload.TooMuch, Column: gpu, Amount: 9, Most: 8}, tainted},
		},
		"too much of the second": {
			cluster.Resources{"gpu": 1, "mem": 10}, []workload.Objection{{Kind: workload.TooMuch, Column: mem, Amount: 10, Most: 8}, tainted},
		},
		"too little is left of both": {
			cluster.Resources{"gpu": 3, "mem": 4},
			[]workload.Objection{{Kind: workload.Short, Column: gpu, Amount: 1}, {Kind: workload.Short, Column: mem, Amount: 2}, tainted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			in := job("in", "", 1, 1)
			in.PodSets[0].Requests = x.ask
			s.Workloads = append(slices.Clone(s.Workloads), in)
			p := plan(t, model(t, &s), "in")
			require.Equal(t, x.want, p.Objections)
			require.Equal(t, x.want == nil, p.Fits)
			require.Empty(t, p.Victims)
		})
	}
}

// TestFlavorsByPreference: a100 can be had by eviction alone, h100 by borrowing, and queues say
// which they would rather.
func TestFlavorsByPreference(t *testing.T) {
	for preference, want := range map[cluster.FlavorPreference]string{
		"": "h100", cluster.BorrowingOverPreemption: "h100", cluster.PreemptionOverBorrowing: "a100",
	} {
		s := pools(job("low", "research", 0, 8), job("in", "", 9, 4))
		s.ClusterQueues[0].Cohort = "all"
		s.ClusterQueues[0].Fungibility = cluster.Fungibility{WhenCanBorrow: cluster.TryNextFlavor, Preference: preference}
		s.ClusterQueues[0].Groups[0].Flavors[1].Resources[0].Nominal = 0
		lender := s.ClusterQueues[0]
		lender.Name, lender.Groups = "lender", []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "h100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}},
		}}}}
		s.ClusterQueues = append(s.ClusterQueues, lender)
		m := model(t, s)
		p := plan(t, m, "in")
		require.Len(t, p.Taken, 1)
		require.Equal(t, m.Index.Column(want, "gpu"), p.Taken[0].Column, preference)
		require.Equal(t, want == "h100", p.Fits)
	}
}
