package preemption_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// TestEveryProblemIsToldAtOnce: of options, objects, quota, and of a preemptor, in one
// order.
func TestEveryProblemIsToldAtOnce(t *testing.T) {
	o := preemption.Options{
		Rules: "x", Members: "y", Placement: "z", RepeatReprieve: "v", SearchSteps: -1, WaitSeconds: -1,
		Sampling: &preemption.Sampling{Percent: 101, Minimum: -1, Offset: -1},
		Guards:   preemption.Guards{GuaranteedSeconds: -1, Toleration: "w", Protect: &disruption.Selector{MatchLabels: map[string]string{"a b": ""}}},
		Limits:   preemption.Limits{Victims: -1, Pods: -1},
		Quota:    preemption.QuotaOptions{FairSharing: &preemption.FairSharing{Strategies: []preemption.FairStrategy{"a", "b"}}},
		Hooks:    &preemption.Hooks{Constraints: []domain.Constraint{nil}},
	}
	s := &preemption.Snapshot{Nodes: []cluster.Node{{}}, ClusterQueues: []cluster.ClusterQueue{{}}}
	want := []string{
		"Options.Guards.GuaranteedSeconds:", "Options.Guards.Protect:", "Options.Guards.Toleration:", "Options.Hooks.Constraints[0]:",
		"Options.Limits.Pods:", "Options.Limits.Victims:", "Options.Members:", "Options.Placement:",
		"Options.Quota.FairSharing.Strategies[0]:", "Options.Quota.FairSharing.Strategies[1]:", "Options.RepeatReprieve:", "Options.Rules:",
		"Options.Sampling.Minimum:", "Options.Sampling.Offset:", "Options.Sampling.Percent:", "Options.SearchSteps:", "Options.WaitSeconds:", "disruption: selector:",
		"cluster: Node: Name:", "cluster: ClusterQueue: Name:",
	}
	_, err := o.Preempt(preemption.Preemptor{}, s)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, len(want), "%v", err)
	for i, line := range lines {
		require.Contains(t, line, want[i])
	}
	var option *preemption.OptionError
	require.ErrorAs(t, err, &option)
	for range 20 {
		_, again := preemption.NewPlanner(s, o)
		require.EqualError(t, again, err.Error())
	}

	_, err = preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Class: "nobody", Group: "none"}}}, nil)
	require.ErrorContains(t, err, `Class: "nobody"`)
	require.ErrorContains(t, err, `Group: "none"`)
	_, err = preemption.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "a", Workload: &preemption.Workload{}}, nil)
	require.ErrorContains(t, err, "absent, as the preemptor is named")
	require.ErrorContains(t, err, "PodSets: 0 is not")
}

// TestOptionsOutOfBoundsAreNamed: what is refused for one reason alone.
func TestOptionsOutOfBoundsAreNamed(t *testing.T) {
	tariff := disruption.Tariff{Pods: 1}
	for want, o := range map[string]preemption.Options{
		`Prefer: "Most" is not LeastAllocated, MostAllocated or empty`:                   {Prefer: "Most"},
		`Sampling.Minimum: 0 is not > 0, as Sampling.Percent is 0`:                       {Sampling: &preemption.Sampling{}},
		`Guards.Cooldown: 0 evictions in 1 seconds is not both >= 1, or both 0`:          {Guards: preemption.Guards{Cooldown: victims.Cooldown{Seconds: 1}}},
		`Guards.Cooldown.Evictions: -1 is not >= 0`:                                      {Guards: preemption.Guards{Cooldown: victims.Cooldown{Evictions: -1, Seconds: 1}}},
		`Guards.Cooldown.Seconds: -1 is not >= 0`:                                        {Guards: preemption.Guards{Cooldown: victims.Cooldown{Evictions: 1, Seconds: -1}}},
		`Limits.Cost: -1 is not >= 0`:                                                    {Limits: preemption.Limits{Cost: -1}},
		`Limits.Window.Victims: -1 is not >= 0`:                                          {Limits: preemption.Limits{Window: preemption.Window{Seconds: 1, Victims: -1}}},
		`Limits.Window.Pods: -1 is not >= 0`:                                             {Limits: preemption.Limits{Window: preemption.Window{Seconds: 1, Pods: -1}}},
		`Limits.Window.Cost: -1 is not >= 0`:                                             {Limits: preemption.Limits{Window: preemption.Window{Seconds: 1, Cost: -1}}},
		`Limits.Window.Seconds: 0 is not >= 1, as the window has limits`:                 {Limits: preemption.Limits{Window: preemption.Window{Pods: 1}}},
		`HardBudgets.Names[1]: "ns/" is not namespace/name`:                              {HardBudgets: preemption.HardBudgets{Names: []string{"ns/b", "ns/"}}},
		`Chain: 5 is not at most 4`:                                                      {Chain: 5},
		`Chain: -1 is not >= 0`:                                                          {Chain: -1},
		`Cost.Criterion: 2 is not 0 or 1, as the cost is the objective`:                  {Cost: preemption.CostOptions{Tariff: tariff, Objective: true, Criterion: 2}},
		`Search: "Greedy" is not Exact, Improved or empty, as the cost is the objective`: {Search: preemption.Greedy, Cost: preemption.CostOptions{Tariff: tariff, Objective: true}},
		`Objective: [units] is not empty, as Cost says where the cost stands`:            {Objective: []preemption.CriterionName{preemption.CriterionUnits}, Cost: preemption.CostOptions{Tariff: tariff, Criterion: 1}},
	} {
		_, err := preemption.NewPlanner(nil, o)
		require.EqualError(t, err, "preemption: Options."+want)
	}
	for _, o := range []preemption.Options{ // each asks for a cost
		{Cost: preemption.CostOptions{Importance: true}}, {Cost: preemption.CostOptions{Objective: true}}, {Cost: preemption.CostOptions{Criterion: 1}},
		{Limits: preemption.Limits{Cost: 1}}, {Limits: preemption.Limits{Window: preemption.Window{Seconds: 1, Cost: 1}}},
		{Objective: []preemption.CriterionName{preemption.CriterionCost}},
	} {
		_, err := preemption.NewPlanner(nil, o)
		require.EqualError(t, err, "preemption: Options.Cost.Tariff: empty is not set, as the cost is asked for")
	}
}

type noPlacer struct{ domain.Pack }

type noOrder func(a, b victims.UnitID) int

func (noOrder) Compare(*victims.Units, victims.UnitID, victims.UnitID) int { return 0 }

func TestHooksThatAreNilAreRefused(t *testing.T) {
	for field, hooks := range map[string]preemption.Hooks{
		"Hooks.Constraints[1]": {Constraints: []domain.Constraint{domain.TopologySpread(), nil}},
		"Hooks.Placer":         {Placer: (*noPlacer)(nil)},
		"Hooks.Order":          {Order: noOrder(nil)},
	} {
		_, err := preemption.NewPlanner(nil, preemption.Options{Hooks: &hooks})
		var option *preemption.OptionError
		require.ErrorAs(t, err, &option)
		require.Equal(t, field, option.Field)
	}
	_, err := preemption.NewPlanner(nil, preemption.Options{Hooks: &preemption.Hooks{Splitter: domain.Topology(nil), Placer: &noPlacer{}}})
	require.NoError(t, err, "a nil list is a splitter")
}

// TestTimesThatJSONCannotHoldAreRefused: wherever one stands.
func TestTimesThatJSONCannotHoldAreRefused(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	objects := func(at time.Time) *preemption.Snapshot {
		past := []time.Time{at}
		return &preemption.Snapshot{
			Time:  at,
			Nodes: []cluster.Node{{Name: "n"}},
			Pods: []preemption.Pod{{
				Name: "p", Node: "n", Created: at, Scheduled: at, Started: at, Evictions: past, Cost: &cluster.Cost{Checkpoint: at},
			}},
			PodGroups:          []preemption.PodGroup{{Name: "g", Evictions: past, Cost: &cluster.Cost{Checkpoint: at}}},
			CompositePodGroups: []cluster.CompositePodGroup{{Name: "c", Evictions: past, Cost: &cluster.Cost{Checkpoint: at}}},
			Disruptions:        []cluster.Disruption{{Time: at}},
			Workloads: []preemption.Workload{{
				Name: "w", Created: at, Requeued: at, Admission: &cluster.Admission{ClusterQueue: "q", Reserved: at}, PodSets: []cluster.PodSet{{Name: "s"}},
			}},
		}
	}
	for _, bad := range []time.Time{
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC),
		started.In(time.FixedZone("far", 24*3600)),
		started.In(time.FixedZone("local mean time", 3600+1)),
		time.Date(9999, 12, 31, 23, 30, 0, 0, time.UTC).In(time.FixedZone("", 3600)),
	} {
		_, err := preemption.NewPlanner(objects(bad), preemption.Options{})
		require.ErrorIs(t, err, cluster.ErrInvalid)
		require.Equal(t, 14, strings.Count(err.Error(), "in the years 0 to 9999"), "%v", err)
		pl, err := preemption.NewPlanner(nil, preemption.Options{})
		require.NoError(t, err)
		require.ErrorIs(t, pl.SetTime(bad), cluster.ErrInvalid)
		require.ErrorIs(t, pl.SetPod(preemption.Pod{Name: "p", Started: bad}), cluster.ErrInvalid)
		require.ErrorIs(t, pl.SetPodGroup(preemption.PodGroup{Name: "g", Evictions: []time.Time{bad}}), cluster.ErrInvalid)
		_, err = pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Created: bad}}})
		require.ErrorIs(t, err, cluster.ErrInvalid)
	}
	for _, good := range []time.Time{
		started, time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		started.In(time.FixedZone("", -(23*3600 + 59*60))),
	} {
		s := objects(good)
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		require.NoError(t, pl.SetTime(good))
		_, err = json.Marshal(pl.Snapshot())
		require.NoError(t, err)
	}
}

// TestNilObjectsAreRefused: an error where an object is to be read, an empty cluster
// where there is none.
func TestNilObjectsAreRefused(t *testing.T) {
	_, err := cluster.NewIndex(nil)
	require.NoError(t, err)
	_, err = quota.NewIndex(nil)
	require.NoError(t, err)
	for field, objects := range map[string]cluster.Objects{
		"Nodes": {Nodes: []*cluster.Node{nil}}, "Pods": {Pods: []*cluster.Pod{{Name: "p"}, nil}},
		"PodGroups": {PodGroups: []*cluster.PodGroup{nil}}, "CompositePodGroups": {CompositePodGroups: []*cluster.CompositePodGroup{nil}},
	} {
		_, err := objects.Index()
		require.EqualError(t, err, "cluster: Snapshot: "+field+": nil is not an object")
	}
	_, err = quota.NewIndexOf(cluster.QuotaObjects{Workloads: []*cluster.Workload{nil}, Cohorts: []*cluster.Cohort{nil}})
	require.EqualError(t, err, "cluster: Snapshot: Cohorts: nil is not an object\ncluster: Snapshot: Workloads: nil is not an object")
	for _, err := range []error{
		(*cluster.Node)(nil).Validate(), (*cluster.Pod)(nil).Validate(), (*cluster.PodGroup)(nil).Validate(),
		(*cluster.CompositePodGroup)(nil).Validate(), (*cluster.Workload)(nil).Validate(), (*cluster.Preemptor)(nil).Validate(),
	} {
		require.ErrorIs(t, err, cluster.ErrInvalid)
	}
}

func TestANilSnapshotIsAnEmptyCluster(t *testing.T) {
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web"}}}
	want, err := preemption.Preempt(p, &preemption.Snapshot{})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, want.Verdict)

	got, err := preemption.Preempt(p, nil)
	require.NoError(t, err)
	require.Equal(t, want, got)

	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	require.NoError(t, err)
	got, err = planner.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestANilResultCannotBeApplied(t *testing.T) {
	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, planner.Apply(nil), preemption.ErrNotApplicable)
	require.ErrorIs(t, planner.Evict(nil), preemption.ErrNotApplicable)
	_, err = planner.StillValid(nil)
	require.ErrorIs(t, err, preemption.ErrNotApplicable)
}

func TestPreemptorsThatCannotBeRead(t *testing.T) {
	snapshot := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}},
		Pods:  []preemption.Pod{{Name: "runs", Node: "n1"}, {Name: "web"}},
	}
	cases := map[string]struct {
		preemptor preemption.Preemptor
		want      string
	}{
		"an inline pod with the name of a running one": {
			preemption.Preemptor{Pods: []preemption.Pod{{Name: "runs"}}},
			`cluster: Pod "runs": Name: "runs" is not a name that no running pod has`,
		},
		"a workload beside a pod": {
			preemption.Preemptor{Kind: cluster.KindPod, Name: "web", Workload: &preemption.Workload{Name: "job"}},
			`cluster: Preemptor "web": Workload: set is not absent, as Kind is not Workload`,
		},
		"a placement of a workload": {
			preemption.Preemptor{Kind: cluster.KindWorkload, Name: "job", Placement: map[string]string{"job": "n1"}},
			`cluster: Preemptor "job": Placement: set is not absent, as the preemptor is a workload`,
		},
		"an unknown kind": {
			preemption.Preemptor{Kind: "Job", Name: "job"},
			`cluster: Preemptor "job": Kind: "Job" is not Pod, PodGroup, CompositePodGroup or Workload`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := preemption.Preempt(c.preemptor, snapshot)
			require.EqualError(t, err, c.want)
			require.ErrorIs(t, err, cluster.ErrInvalid)
		})
	}
}

func TestWhyNotAsksAboutOneThing(t *testing.T) {
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}}, Pods: []preemption.Pod{{Name: "runs", Node: "n1"}, {Name: "web"}},
	}, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	for _, target := range []preemption.Target{{}, {Node: "n1", Unit: "runs"}} {
		_, err := planner.WhyNot(web, target)
		require.ErrorIs(t, err, cluster.ErrInvalid)
		require.ErrorContains(t, err, "is not set where Node is not, and only there")
	}
}

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
	snapshot, sets := func() *cluster.Snapshot { return seededQuota(1).snapshot }, make([]cluster.PodSet, 1<<16+1)
	for i := range sets {
		sets[i] = cluster.PodSet{Name: fmt.Sprint(i), Count: 1}
	}
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
		{"has too many flavors to choose from", preemption.Preemptor{Kind: cluster.KindWorkload, Workload: &preemption.Workload{
			Namespace: "ns", Name: "wide", Queue: "lq0-0", PodSets: sets,
		}}, func(s *cluster.Snapshot) {
			for i := range s.ClusterQueues {
				s.ClusterQueues[i].Groups = s.ClusterQueues[i].Groups[:1]
				s.ClusterQueues[i].Groups[0].Flavors = s.ClusterQueues[i].Groups[0].Flavors[:1]
			}
		}, "PodSets: 65537 is not at most 65536 beside 1 flavor of its queue"},
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

// eachGuarded asks about random clusters in which guards are about.
func eachGuarded(t *testing.T, n uint64, f func(t fatal, seed uint64, o preemption.Options, q gen.Question)) {
	t.Helper()
	for seed := range seeds(n) {
		profile := gen.Profile{Groups: true, Budgets: true, Classes: true, Guards: true}
		o := preemption.Options{
			Rules:  []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha}[seed%3],
			Guards: gen.Guards(seed),
		}
		q := gen.Random(seed, profile)
		if _, err := o.Preempt(q.Preemptor, &q.Snapshot); err != nil {
			if o.Rules == preemption.KEP5710Alpha {
				continue // mode All on a basic group is refused there
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		f(&named{t, seed}, seed, o, q)
		if t.Failed() {
			return
		}
	}
}

// TestWithoutGuardsNothingChanges: the road through the guards, taken by a hook that
// says what the default says, comes to the answers of the plain road.
func TestWithoutGuardsNothingChanges(t *testing.T) {
	for seed := range seeds(1500) {
		q := gen.Random(seed, gen.Everything())
		o := seededOptions(seed)
		o.Explain, o.Candidates = true, true
		plain := ask(&named{t, seed}, o, q)
		o.Hooks = &preemption.Hooks{Eligible: victims.LowerPriority{}}
		hooked := ask(&named{t, seed}, o, q)
		require.True(t, hooked.Stats.Hooks)
		plain.Stats, hooked.Stats = preemption.Stats{}, preemption.Stats{}
		if diff := cmp.Diff(plain, hooked); diff != "" {
			t.Fatalf("seed %d (-plain +hooked):\n%s", seed, diff)
		}
	}
}

// TestAProtectedUnitIsNoVictim: whatever protects a victim, it is none any more.
func TestAProtectedUnitIsNoVictim(t *testing.T) {
	t.Parallel()
	protected := map[victims.KeptRule]int{}
	eachGuarded(t, 1500, func(t fatal, seed uint64, o preemption.Options, q gen.Question) {
		for _, v := range ask(t, o, q).Victims {
			for _, rule := range []victims.KeptRule{
				victims.KeptStandby, victims.KeptLabel, victims.KeptToleration, victims.KeptRunning, victims.KeptCooldown,
			} {
				o, q := o, gen.Clone(q)
				if !protect(&o, &q, v.Pods[0].PodRef, rule) {
					continue
				}
				r := ask(t, o, q)
				if slices.ContainsFunc(r.Victims, func(x preemption.Victim) bool {
					return x.Kind == v.Kind && x.Namespace == v.Namespace && x.Name == v.Name
				}) {
					t.Fatalf("%s is a victim, although protected by %s", v.Name, rule)
				}
				protected[rule]++
			}
		}
	})
	for _, rule := range []victims.KeptRule{victims.KeptStandby, victims.KeptLabel, victims.KeptToleration, victims.KeptRunning, victims.KeptCooldown} {
		require.Greater(t, protected[rule], int(seeds(100)), rule)
	}
}

// protect lets a rule keep the unit of a pod; false if it can't here.
func protect(o *preemption.Options, q *gen.Question, pod preemption.PodRef, rule victims.KeptRule) bool {
	i := slices.IndexFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Namespace == pod.Namespace && p.Name == pod.Name })
	p := &q.Snapshot.Pods[i]
	if p.Guard == nil {
		p.Guard = &cluster.Guard{}
	}
	switch rule {
	case victims.KeptStandby:
		p.Guard.Standby = true
	case victims.KeptLabel:
		p.Labels = map[string]string{"precious": "yes"}
		o.Guards.Protect = &disruption.Selector{MatchLabels: p.Labels}
	case victims.KeptToleration:
		v := int32(0)
		if p.Priority == nil || o.Guards.Toleration == priority.TolerationOff {
			return false
		}
		v = *p.Priority
		p.Class = "tolerant"
		q.Snapshot.PriorityClasses = append(q.Snapshot.PriorityClasses, priority.Class{Name: p.Class, Value: v, Annotations: map[string]string{
			priority.MinimumPreemptableAnnotation: "2147483647", priority.TolerationSecondsAnnotation: "-1",
		}})
	case victims.KeptRunning:
		seconds := int64(math.MaxInt64)
		p.Guard.GuaranteedSeconds = &seconds
		if q.Snapshot.Time.IsZero() {
			return false
		}
	case victims.KeptCooldown:
		o.Guards.Cooldown = victims.Cooldown{Evictions: 1, Seconds: math.MaxInt64}
		p.Evictions = []time.Time{q.Snapshot.Time}
	}
	return true
}

// TestOnlyTheSnapshotTellsTheTime: moving every time alike moves nothing else.
func TestOnlyTheSnapshotTellsTheTime(t *testing.T) {
	eachGuarded(t, 600, func(t fatal, seed uint64, o preemption.Options, q gen.Question) {
		by := time.Duration(seed) * 1234567 * time.Hour / 600
		if seed%2 == 0 && !q.Snapshot.Time.IsZero() { // prices and windows look at times too
			q = gen.Clone(q)
			for i := range q.Snapshot.Pods {
				if i%3 == 0 {
					q.Snapshot.Pods[i].Cost = &cluster.Cost{Checkpoint: q.Snapshot.Time.Add(-time.Duration(i) * time.Minute)}
				}
			}
			q.Snapshot.Disruptions = []cluster.Disruption{{Time: q.Snapshot.Time.Add(-time.Duration(seed%90) * time.Minute), Pods: 2}}
			o.Cost = preemption.CostOptions{Criterion: 1, Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1}}}}
			o.Limits.Window = preemption.Window{Seconds: 3600, Pods: 3}
		}
		later := gen.Clone(q)
		shift(&later, by)
		before, after := ask(t, o, q), ask(t, o, later)
		strip := func(r *preemption.Result, now time.Time) {
			r.Score = nil
			r.Preemptor = preemption.Asked{}
			for i := range r.Victims {
				for j := range r.Victims[i].Pods {
					r.Victims[i].Pods[j].Started = time.Time{}
				}
			}
			for i := range r.Warnings { // what lies ahead does so by as much
				if at, err := time.Parse(time.RFC3339Nano, r.Warnings[i].Value); err == nil {
					r.Warnings[i].Value = at.Sub(now).String()
				}
			}
		}
		strip(before, q.Snapshot.Time)
		strip(after, later.Snapshot.Time)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("(-as it was +%s later):\n%s", by, diff)
		}
	})
}

func shift(q *gen.Question, by time.Duration) {
	move := func(ts ...*time.Time) {
		for _, t := range ts {
			if !t.IsZero() {
				*t = t.Add(by)
			}
		}
	}
	moveAll := func(ts []time.Time) {
		for i := range ts {
			move(&ts[i])
		}
	}
	move(&q.Snapshot.Time)
	for i := range q.Snapshot.Disruptions {
		move(&q.Snapshot.Disruptions[i].Time)
	}
	for _, pods := range [][]preemption.Pod{q.Snapshot.Pods, q.Preemptor.Pods} {
		for i := range pods {
			if c := pods[i].Cost; c != nil {
				move(&c.Checkpoint)
			}
			move(&pods[i].Started, &pods[i].Scheduled, &pods[i].Created)
			moveAll(pods[i].Evictions)
		}
	}
	for i := range q.Snapshot.PodGroups {
		moveAll(q.Snapshot.PodGroups[i].Evictions)
	}
	for i := range q.Snapshot.CompositePodGroups {
		moveAll(q.Snapshot.CompositePodGroups[i].Evictions)
	}
}

// TestTheEvictedDoNotStrikeBack: a unit that is evicted and resubmitted at once
// evicts neither its preemptor nor anybody of its own priority or above, and under
// NoCascade nobody. A pod of a group comes back for itself under v1.36, otherwise
// with its group.
func TestTheEvictedDoNotStrikeBack(t *testing.T) {
	pods, groups, cascades := 0, 0, 0
	eachGuarded(t, 3000, func(t fatal, seed uint64, o preemption.Options, q gen.Question) {
		o.PreemptionPriority.Apart = seed%2 == 0
		r := ask(t, o, q)
		if r.Verdict != preemption.Feasible {
			return
		}
		planner, err := preemption.NewPlanner(&q.Snapshot, o)
		if err == nil {
			err = planner.Evict(r)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, n := range r.Nominations {
			if err := planner.Bind(n.Pod, n.Node); err != nil {
				t.Fatalf("%v", err)
			}
		}
		for _, v := range r.Victims {
			for i, pod := range v.Pods {
				back := resubmit(&q, pod.PodRef)
				as := preemption.Preemptor{Kind: cluster.KindPod, Namespace: back.Namespace, Name: back.Name}
				list, priority := []preemption.Pod{back}, pod.Priority
				if back.Group != "" && o.Rules != preemption.Kubernetes136 {
					if i > 0 || !slices.ContainsFunc(q.Snapshot.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == back.Namespace && g.Name == back.Group }) {
						continue
					}
					as = preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: back.Namespace, Name: back.Group}
					for _, other := range v.Pods[1:] {
						list = append(list, resubmit(&q, other.PodRef))
					}
					priority = v.Priority
					groups++
				} else {
					pods++
				}
				fork := planner.Fork()
				for _, p := range list {
					if err := fork.SetPod(p); err != nil {
						t.Fatalf("%v", err)
					}
				}
				again, err := fork.Preempt(as)
				if err != nil {
					t.Fatalf("%v", err)
				}
				for _, x := range again.Victims {
					cascades++
					if x.Name == r.Preemptor.Name && x.Namespace == r.Preemptor.Namespace || x.Priority >= priority {
						t.Fatalf("%s strikes back: it evicts %s of priority %d, being of priority %d", as.Name, x.Name, x.Priority, priority)
					}
				}
				if len(again.Victims) > 0 {
					o := o
					o.NoCascade = true
					again, err := o.Preempt(as, fork.Snapshot())
					if err != nil || len(again.Victims) > 0 {
						t.Fatalf("%s evicts %v under NoCascade: %v", as.Name, again, err)
					}
				}
			}
		}
	})
	require.Greater(t, pods, int(seeds(500)))
	require.Greater(t, groups, int(seeds(100)))
	require.Positive(t, cascades, "some of them should evict somebody below")
}

// TestNobodyIsEvictedTooOften: pods that push each other around for hours are evicted
// at most as often within any window as the cool-down says.
func TestNobodyIsEvictedTooOften(t *testing.T) {
	evictions, atTheLimit := 0, 0
	for seed := range seeds(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		most, window := int32(1+r.IntN(2)), int64(1800)
		o := preemption.Options{Guards: preemption.Guards{
			Cooldown: victims.Cooldown{Evictions: most, Seconds: window}, EqualAfterSeconds: 60,
		}}
		q := gen.Question{Snapshot: preemption.Snapshot{Time: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}}
		s := &q.Snapshot
		for n := range 2 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: string(rune('a' + n)), Allocatable: preemption.Resources{"cpu": 2}})
		}
		for i := range 8 {
			priority := int32(r.IntN(3))
			s.Pods = append(s.Pods, preemption.Pod{
				Name: string(rune('p' + i)), Priority: &priority, Requests: preemption.Resources{"cpu": int64(1 + r.IntN(2))},
			})
		}
		for range 200 {
			s.Time = s.Time.Add(time.Duration(30+r.IntN(120)) * time.Second)
			p := &s.Pods[r.IntN(len(s.Pods))]
			if p.Node != "" {
				if r.IntN(8) == 0 { // it restarts
					p.Node, p.Started, p.Scheduled = "", time.Time{}, time.Time{}
				}
				continue
			}
			answer := ask(&named{t, seed}, o, gen.Question{Snapshot: *s, Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Name: p.Name}})
			for _, v := range answer.Victims {
				i := slices.IndexFunc(s.Pods, func(p preemption.Pod) bool { return p.Name == v.Name })
				s.Pods[i] = resubmit(&q, v.Pods[0].PodRef)
				evictions++
				lately := int32(0)
				for _, e := range s.Pods[i].Evictions {
					if s.Time.Sub(e) < time.Duration(window)*time.Second {
						lately++
					}
				}
				require.LessOrEqual(t, lately, most, "seed %d: %s", seed, v.Name)
				if lately == most {
					atTheLimit++
				}
			}
			for _, n := range answer.Nominations {
				p.Node, p.Started = n.Node, s.Time
			}
		}
	}
	require.Greater(t, evictions, int(seeds(500)))
	require.Greater(t, atTheLimit, int(seeds(200)))
}

// resubmit is a pod that was evicted at this moment, pending again.
func resubmit(q *gen.Question, ref preemption.PodRef) preemption.Pod {
	i := slices.IndexFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Namespace == ref.Namespace && p.Name == ref.Name })
	p := q.Snapshot.Pods[i]
	now := q.Snapshot.Time
	if now.IsZero() {
		now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if !p.Started.IsZero() && p.Started.Before(now) {
		p.RanSeconds += int64(now.Sub(p.Started) / time.Second)
	}
	p.Evictions = append(slices.Clone(p.Evictions), now)
	p.Node, p.Started, p.Scheduled, p.Terminating, p.Preempted = "", time.Time{}, time.Time{}, false, false
	return p
}

func TestGuardOptionsThatCannotBeFollowed(t *testing.T) {
	for want, o := range map[string]preemption.Options{
		`preemption: Options.Guards.Toleration: "Maybe" is not Design, Off or empty`:                {Guards: preemption.Guards{Toleration: "Maybe"}},
		`preemption: Options.Guards.GuaranteedSeconds: -1 is not >= 0`:                              {Guards: preemption.Guards{GuaranteedSeconds: -1}},
		`preemption: Options.Guards.EqualAfterSeconds: -1 is not >= 0`:                              {Guards: preemption.Guards{EqualAfterSeconds: -1}},
		`preemption: Options.Guards.Cooldown.Evictions: -1 is not >= 0`:                             {Guards: preemption.Guards{Cooldown: victims.Cooldown{Evictions: -1, Seconds: 1}}},
		`preemption: Options.Guards.Cooldown: 0 evictions in 5 seconds is not both >= 1, or both 0`: {Guards: preemption.Guards{Cooldown: victims.Cooldown{Seconds: 5}}},
		`preemption: Options.WaitSeconds: -1 is not >= 0`:                                           {WaitSeconds: -1},
		`preemption: Options.PreemptionPriority.MaxLead: -1 is not >= 0`:                            {PreemptionPriority: preemption.PreemptionPriority{MaxLead: -1}},
		`preemption: Options.Guards.Protect: a selector that does not parse is not a label selector`: {Guards: preemption.Guards{Protect: &disruption.Selector{
			MatchExpressions: []disruption.Requirement{{Key: "app", Operator: "Like"}},
		}}},
	} {
		_, err := o.Preempt(preemption.Preemptor{}, &preemption.Snapshot{})
		var oe *preemption.OptionError
		require.ErrorAs(t, err, &oe)
		require.EqualError(t, oe, want)
		if o.Guards.Protect != nil {
			require.ErrorIs(t, err, disruption.ErrSelector)
		}
	}
}

func TestWhyAKeptUnitIsNoVictim(t *testing.T) {
	low, high := int32(1), int32(10)
	snapshot := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 1}}},
		Pods: []preemption.Pod{
			{Name: "spare", Node: "n1", Priority: &low, Requests: preemption.Resources{"cpu": 1}, Guard: &cluster.Guard{Standby: true}},
			{Name: "web", Priority: &high, Requests: preemption.Resources{"cpu": 1}},
		},
	}
	planner, err := preemption.NewPlanner(&snapshot, preemption.Options{Candidates: true})
	require.NoError(t, err)
	web := preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	why, err := planner.WhyNot(web, preemption.UnitTarget("spare"))
	require.NoError(t, err)
	require.Equal(t, &preemption.Why{
		Text: "spare is kept: on standby, it never goes", Reason: &preemption.Reason{Check: "standby", Detail: "on standby, it never goes"},
	}, why)
	r, err := planner.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, []preemption.KeptUnit{{
		Kind: cluster.KindPod, Name: "spare", Node: "n1", Priority: 1, Rule: victims.KeptStandby, Text: "on standby, it never goes",
	}}, r.Kept)
}

// TestEqualsStayAtAnUnknownTime: that equals may go is an exception, which asks for a
// run time that is known.
func TestEqualsStayAtAnUnknownTime(t *testing.T) {
	started := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	snapshot := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 1}}},
		Pods:  []preemption.Pod{{Name: "p", Node: "n", Requests: preemption.Resources{"cpu": 1}, Started: started}},
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Requests: preemption.Resources{"cpu": 1}}}}
	options := preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}, Explain: true}
	r, err := options.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Contains(t, fmt.Sprint(r.Trace), "kept p: as important as the preemptor, and nobody knows the time")
	snapshot.Time = started.Add(time.Minute)
	r, err = options.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
}

// TestTooManyComparisonsAreAnError: of pods that may have to move; the planner answers the next question.
func TestTooManyComparisonsAreAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes millions")
	}
	const nodes, each = 320, 10
	low, high := int32(1), int32(2)
	s := &preemption.Snapshot{}
	for i := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint(i), Allocatable: cluster.Resources{cluster.CPU: 1000, cluster.Pods: 20}, Labels: map[string]string{"host": fmt.Sprint(i)}})
	}
	for i := range nodes * each {
		self := fmt.Sprint(i)
		s.Pods = append(s.Pods, preemption.Pod{
			Name: self, Node: fmt.Sprint(i % nodes), Priority: &low, Requests: cluster.Resources{cluster.CPU: 90}, Labels: map[string]string{"i": self},
			AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{
				MatchExpressions: []disruption.Requirement{{Key: "i", Operator: disruption.NotIn, Values: []string{self}}},
			}}},
		})
	}
	question := func(cpu int64) preemption.Preemptor {
		return preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "other", Name: "p", Priority: &high, Requests: cluster.Resources{cluster.CPU: cpu}}}}
	}
	p, err := preemption.NewPlanner(s, preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionStranded}})
	require.NoError(t, err)
	_, err = p.Preempt(question(1000))
	require.ErrorIs(t, err, cluster.ErrInvalid)
	require.ErrorContains(t, err, "more than 8388608 comparisons")
	r, err := p.Preempt(question(100))
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
}
