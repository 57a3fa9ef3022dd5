package workload_test

import (
	"errors"
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
				}
			}
			require.Equal(t, x.want, fields)
			require.Equal(t, x.want == nil, err == nil)
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
