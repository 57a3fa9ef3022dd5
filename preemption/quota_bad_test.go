package preemption_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// spoil puts extreme numbers, empty and foreign names into a case.
func spoil(r *rand.Rand, s *cluster.Snapshot) {
	number := func() int64 {
		return []int64{0, -1, 1, math.MaxInt64, math.MinInt64, cluster.MaxUsage, cluster.MaxUsage + 1, 1 << 40}[r.IntN(8)]
	}
	name := func() string { return []string{"", "q0", "co0", "f1", "nobody", "cpu"}[r.IntN(6)] }
	for range 1 + r.IntN(3) {
		q := &s.ClusterQueues[r.IntN(len(s.ClusterQueues))]
		w := &s.Workloads[r.IntN(len(s.Workloads))]
		set := &w.PodSets[r.IntN(len(w.PodSets))]
		kind := r.IntN(16)
		if kind >= 2 && kind <= 5 && (len(q.Groups[0].Flavors) == 0 || len(q.Groups[0].Flavors[0].Resources) == 0) {
			continue // spoiled already
		}
		switch kind {
		case 0:
			q.Name = name()
		case 1:
			q.Cohort = name()
		case 2:
			n := number()
			quota := &q.Groups[0].Flavors[0].Resources[0]
			quota.Nominal, quota.Lending = number(), &n
		case 3:
			quota := &q.Groups[0].Flavors[0].Resources[0]
			quota.Resource = name()
		case 4:
			q.Groups[0].Flavors = nil
		case 5:
			q.Groups[0].Flavors[0].Resources = nil
		case 6:
			v := cluster.Weight(number())
			q.Weight = &v
		case 7:
			w.Queue = name()
		case 8:
			set.Requests["cpu"] = number()
		case 9:
			set.Count = int32(number())
		case 10:
			set.Usage = cluster.Resources{"cpu": number()}
		case 11:
			set.Flavors = map[string]string{"cpu": name(), "gpu": name()}
		case 12:
			w.Admission = &cluster.Admission{ClusterQueue: name()}
		case 13:
			w.PodSets = append(w.PodSets, *set)
		case 14:
			s.Cohorts = append(s.Cohorts, cluster.Cohort{Name: "co0", Parent: "co1"}, cluster.Cohort{Name: "co1", Parent: "co0"})
		case 15:
			w.Priority, w.Boost = int32(number()), math.MaxInt32
		}
	}
}

// TestSpoiledQuotaIsRefusedOrAnswered: an error that names the field, or an answer
// that holds; never a panic, and the same for the same question.
func TestSpoiledQuotaIsRefusedOrAnswered(t *testing.T) {
	t.Parallel()
	refused, answered := 0, 0
	for seed := range seeds(3000) {
		c := seededQuota(seed)
		spoil(rand.New(rand.NewPCG(seed, 9)), c.snapshot)
		r, err := c.options.Preempt(quotaPreemptor, c.snapshot)
		if err != nil {
			var field *cluster.FieldError
			require.True(t, errors.As(err, &field), "seed %d: %v", seed, err)
			refused++
			continue
		}
		answered++
		again, err := c.options.Preempt(quotaPreemptor, c.snapshot)
		require.NoError(t, err)
		require.Equal(t, r, again)
		pl, err := preemption.NewPlanner(c.snapshot, c.options)
		require.NoError(t, err)
		for _, w := range c.snapshot.Workloads {
			require.NoError(t, pl.SetWorkload(w), "seed %d", seed)
		}
		after, err := pl.Preempt(quotaPreemptor)
		require.NoError(t, err)
		r.Stats, after.Stats = preemption.Stats{}, preemption.Stats{}
		require.Equal(t, r, after, "seed %d: setting what is there changes nothing", seed)
	}
	require.Greater(t, refused, int(seeds(500)))
	require.Greater(t, answered, int(seeds(500)))
}

// FuzzQuotaQuestion reads any question and asks it.
func FuzzQuotaQuestion(f *testing.F) {
	for seed := range uint64(20) {
		c := seededQuota(seed)
		text, err := json.Marshal(c.snapshot)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s cluster.Snapshot
		if json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		for _, fair := range []*preemption.FairSharing{nil, {}} {
			_, _ = preemption.Options{Quota: preemption.QuotaOptions{FairSharing: fair}}.Preempt(quotaPreemptor, &s)
		}
	})
}

func TestQuotaOptionsAreChecked(t *testing.T) {
	for _, strategies := range [][]preemption.FairStrategy{
		{"Fair"},
		{preemption.LessThanInitialShare, preemption.LessThanInitialShare},
		{preemption.LessThanInitialShare, preemption.LessThanOrEqualToFinalShare},
		{preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare, preemption.LessThanInitialShare},
	} {
		o := preemption.Options{Quota: preemption.QuotaOptions{FairSharing: &preemption.FairSharing{Strategies: strategies}}}
		_, err := o.Preempt(quotaPreemptor, seededQuota(1).snapshot)
		var option *preemption.OptionError
		require.ErrorAs(t, err, &option)
	}
}

// oneQueue is a snapshot with one queue, of that much quota of each resource in one flavor.
func oneQueue(nominal int64, resources ...string) *preemption.Snapshot {
	quotas := cluster.FlavorQuotas{Flavor: "f"}
	for _, r := range resources {
		quotas.Resources = append(quotas.Resources, cluster.ResourceQuota{Resource: r, Nominal: nominal})
	}
	return &preemption.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
		ClusterQueues:   []cluster.ClusterQueue{{Name: "q", Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{quotas}}}}},
		LocalQueues:     []cluster.LocalQueue{{Name: "l", ClusterQueue: "q"}},
	}
}

// TestFewerPodsOfManyLargeSets: the sum of what may be left out, times what one pod set
// may leave out, goes far beyond an int64.
func TestFewerPodsOfManyLargeSets(t *testing.T) {
	one := int32(1)
	for sets := 1; sets <= 10; sets++ {
		for resource, request := range map[string]preemption.Resources{cluster.Pods: nil, "cpu": {"cpu": 1}} {
			w := &preemption.Workload{Name: "w", Queue: "l"}
			for i := range sets {
				w.PodSets = append(w.PodSets, cluster.PodSet{Name: fmt.Sprint("s", i), Count: math.MaxInt32, MinCount: &one, Requests: request})
			}
			r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Workload: w}, oneQueue(10, resource))
			require.NoError(t, err)
			require.Equal(t, preemption.Fits, r.Verdict, r.Message)
			require.Len(t, r.Quota.Counts, sets)
			for _, n := range r.Quota.Counts {
				require.EqualValues(t, 10/sets, n, "all sets are alike, and %d times one more are above 10", sets)
			}
		}
	}
}

// TestAmountsTooLargeToCountAreAllTold: every pod set and resource, in one order.
func TestAmountsTooLargeToCountAreAllTold(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	huge := preemption.Resources{}
	for _, r := range names {
		huge[r] = 1 << 61
	}
	workload := preemption.Preemptor{Kind: cluster.KindWorkload, Workload: &preemption.Workload{Name: "w", Queue: "l", PodSets: []cluster.PodSet{
		{Name: "s", Count: 100, Requests: huge}, {Name: "t", Count: 1, Requests: huge}, {Name: "u", Count: 1, Requests: huge},
	}}}
	want := ""
	for _, r := range names {
		want += `cluster: Workload "w": PodSets[0].Requests[` + r + "]: 2305843009213693952 is not at most 2^62-1 in all\n"
	}
	for i, r := range names {
		if want += `cluster: Workload "w": PodSets: too much ` + r + " is not at most 2^62-1 in all"; i < len(names)-1 {
			want += "\n"
		}
	}
	pods := preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", Queue: "l"}}
	for i := range 3 {
		pods.Pods = append(pods.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Requests: huge})
	}
	wantPods := ""
	for i, r := range names {
		if wantPods += `cluster: Pod "p1": Requests[` + r + "]: 2305843009213693952 is not at most 2^62-1 in all"; i < len(names)-1 {
			wantPods += "\n"
		}
	}
	for range 50 {
		_, err := preemption.Preempt(workload, oneQueue(10, names...))
		require.EqualError(t, err, want)
		_, err = preemption.Preempt(pods, oneQueue(10, names...))
		require.EqualError(t, err, wantPods)
	}
}

func TestQuotaPreemptorsThatCannotBeRead(t *testing.T) {
	snapshot := func() *cluster.Snapshot { return seededQuota(1).snapshot }
	for _, c := range []struct {
		name      string
		preemptor preemption.Preemptor
		spoil     func(s *cluster.Snapshot)
		want      string
	}{
		{"unknown", preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "nobody"}, nil, `"nobody" is not a workload of the snapshot`},
		{"nameless", preemption.Preemptor{Kind: cluster.KindWorkload}, nil, `Name: "" is not a name, or Workload given`},
		{"holds quota", preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "w00"}, nil, "holds quota already"},
		{"named and inline", preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in", Workload: &preemption.Workload{}}, nil, "absent, as the preemptor is named"},
		{"of pods", preemption.Preemptor{Kind: cluster.KindWorkload, Pods: []preemption.Pod{{Name: "p"}}}, nil, "absent, as the preemptor is a workload"},
		{"of no queue", quotaPreemptor, func(s *cluster.Snapshot) { s.LocalQueues = nil }, "is not a LocalQueue of its namespace"},
		{"of a queue without ClusterQueue", quotaPreemptor, func(s *cluster.Snapshot) {
			for i := range s.LocalQueues {
				s.LocalQueues[i].ClusterQueue = "nobody"
			}
		}, `"nobody" is not a ClusterQueue of the snapshot`},
		{"a flavor of its queue is missing", quotaPreemptor, func(s *cluster.Snapshot) { s.ResourceFlavors = nil }, "is not a ResourceFlavor of the snapshot"},
		{"asks too much to count", preemption.Preemptor{Kind: cluster.KindWorkload, Workload: &preemption.Workload{
			Namespace: "ns", Name: "huge", Queue: "lq0-0",
			PodSets: []cluster.PodSet{{Name: "main", Count: math.MaxInt32, Requests: preemption.Resources{"cpu": 1 << 40}}},
		}}, nil, "at most 2^62-1 in all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot()
			if c.spoil != nil {
				c.spoil(s)
			}
			_, err := preemption.Preempt(c.preemptor, s)
			require.ErrorIs(t, err, cluster.ErrInvalid)
			require.ErrorContains(t, err, c.want)
		})
	}
}
