package preemption_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/victims"
)

// workloadCriteria are the criteria that tell workloads apart.
var workloadCriteria = []victims.Criterion{
	victims.CriterionHighest, victims.CriterionSum, victims.CriterionPods, victims.CriterionUnits, victims.CriterionCost, victims.CriterionStarted,
	victims.CriterionLevels, victims.CriterionGroups,
}

// leastQuota is a random question about quota, of workloads and queues of more sizes, for the
// least disruption by random criteria.
func leastQuota(seed uint64, search preemption.Search) quotaCase {
	q, o := genopts.RandomQuota(seed)
	c, r := quotaCase{&q.Snapshot, o}, rand.New(rand.NewPCG(seed, 7))
	for i := range c.snapshot.Workloads {
		set := &c.snapshot.Workloads[i].PodSets[0]
		for _, name := range slices.Sorted(maps.Keys(set.Requests)) {
			set.Requests[name] *= 1 + r.Int64N(4)
		}
	}
	for i := range c.snapshot.ClusterQueues {
		for _, g := range c.snapshot.ClusterQueues[i].Groups {
			for _, f := range g.Flavors {
				for k := range f.Resources {
					f.Resources[k].Nominal *= 1 + r.Int64N(4)
				}
			}
		}
	}
	c.options.Search = search
	c.options.Cost.Tariff = disruption.Tariff{Pods: 3, Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 500}}}
	for _, k := range r.Perm(len(workloadCriteria))[:r.IntN(4)] {
		if name := workloadCriteria[k]; name != victims.CriterionStarted || slices.Contains(c.options.Objective, victims.CriterionHighest) {
			c.options.Objective = append(c.options.Objective, name)
		}
	}
	return c
}

// numbersOf are those of a score; nil: nobody goes.
func numbersOf(score []preemption.Criterion) (list []int64) {
	for _, c := range score {
		list = append(list, c.Value)
	}
	return list
}

// leastAllowed is the least that any set comes to of those that the rules of the queue allow in the
// flavors of r, by the numbers of workloads as the page says; nil: there is none. ok is false if
// they are too many.
func leastAllowed(c quotaCase, r *preemption.Result) (best []int64, ok bool) {
	w := naivequota.NewWorld(c.snapshot)
	q := asksQuota(w, r)
	q.W = &c.snapshot.Workloads[len(c.snapshot.Workloads)-1]
	sets, ok := w.Allowed(q, 9)
	for _, set := range sets {
		list := make([]int64, len(r.Score))
		for i, name := range r.Score {
			list[i] = valueOf(c, name.Name, set)
		}
		if best == nil || slices.Compare(list, best) < 0 {
			best = list
		}
	}
	return best, ok
}

// valueOf is what some workloads come to by one criterion.
func valueOf(c quotaCase, name string, set []naivequota.Target) int64 {
	sum, highest, started := int64(0), int64(math.MinInt32), int64(math.MaxInt64)
	for _, v := range set {
		if v.W.Evicted {
			continue
		}
		priority := int64(v.W.Priority) + int64(v.W.Boost)
		reserved := v.W.Admission.Reserved
		if reserved.IsZero() {
			reserved = c.snapshot.Time
		}
		switch name {
		case "sum of priorities":
			sum += priority + 1<<31
		case "pods", "units":
			sum++
		case "cost":
			seconds := int64(c.snapshot.Time.Sub(reserved) / time.Second)
			sum += 3 * int64(v.W.PodSets[0].Count)
			for fr, amount := range v.Usage {
				if fr.Resource == "cpu" {
					sum += amount * seconds / 500
				}
			}
		case fmt.Sprint("pods of priority ", priority):
			sum++
		}
		if priority > highest {
			highest, started = priority, reserved.UnixNano()
		} else if priority == highest {
			started = min(started, reserved.UnixNano())
		}
	}
	switch name {
	case "highest priority":
		return highest
	case "earliest start":
		return -started
	}
	return sum
}

// Of all sets of workloads that the rules of the queue allow, in whatever order they go, the one
// that disrupts least goes, and is said to; never more than the queue's own pass takes, nor with
// less of a search. Every answer is verified, see verified_test.go.
func TestTheLeastOfWorkloadsGoes(t *testing.T) {
	found, better, fair, fairer := 0, 0, 0, 0
	for seed := range seeds(13_000) {
		c := leastQuota(seed, preemption.Exact)
		exact := askQuota(t, c)
		if len(exact.Victims) == 0 {
			continue
		}
		c.options.Search = preemption.Improved
		improved := askQuota(t, c)
		if len(improved.Victims) > 0 {
			require.LessOrEqual(t, slices.Compare(numbersOf(exact.Score), numbersOf(improved.Score)), 0, "seed %d", seed)
		}
		own := ownPass(t, c, exact)
		if own != nil {
			require.NotEmpty(t, improved.Victims, "seed %d", seed)
			require.LessOrEqual(t, slices.Compare(numbersOf(improved.Score), own), 0, "seed %d", seed)
			if slices.Compare(numbersOf(exact.Score), own) < 0 {
				better++
			}
		}
		if c.options.Quota.FairSharing != nil {
			require.False(t, exact.Optimal)
			require.Nil(t, exact.Bound)
			if fair++; own != nil && slices.Compare(numbersOf(exact.Score), own) < 0 {
				fairer++
			}
			continue
		}
		best, few := leastAllowed(c, exact)
		if !few {
			continue
		}
		c.options.Search, c.options.SearchSteps = preemption.Exact, 1+int(seed%7)
		cut := askQuota(t, c)
		require.LessOrEqual(t, slices.Compare(numbersOf(cut.Bound), best), 0, "seed %d", seed)
		require.True(t, len(cut.Victims) == 0 || slices.Compare(numbersOf(cut.Score), best) >= 0 && (own == nil || slices.Compare(numbersOf(cut.Score), own) <= 0), "seed %d", seed)
		require.True(t, exact.Optimal, "seed %d", seed)
		require.Equal(t, best, numbersOf(exact.Score), "seed %d: %v", seed, c.options.Objective)
		require.LessOrEqual(t, slices.Compare(numbersOf(improved.Bound), best), 0, "seed %d", seed)
		found++
	}
	require.Greater(t, found, int(seeds(200)))
	require.Greater(t, better, int(seeds(50)))
	require.Greater(t, fair, int(seeds(400)))
	require.Greater(t, fairer, int(seeds(20)))
}

// The order of the snapshot's slices changes nothing about the least.
func TestTheLeastOfWorkloadsIsAFunctionOfTheQuestion(t *testing.T) {
	several := 0
	for seed := range seeds(2000) {
		c := leastQuota(seed, preemption.Exact)
		c.options.SearchSteps, c.options.Proof = int(seed%5), true
		r := askQuota(t, c)
		if len(r.Victims) < 2 {
			continue
		}
		several++
		other := quotaCase{&preemption.Snapshot{}, c.options}
		*other.snapshot = *c.snapshot
		s, random := other.snapshot, rand.New(rand.NewPCG(seed, 8))
		s.Workloads, s.ClusterQueues, s.Cohorts = slices.Clone(s.Workloads), slices.Clone(s.ClusterQueues), slices.Clone(s.Cohorts)
		random.Shuffle(len(s.Workloads), func(i, j int) { s.Workloads[i], s.Workloads[j] = s.Workloads[j], s.Workloads[i] })
		random.Shuffle(len(s.ClusterQueues), func(i, j int) { s.ClusterQueues[i], s.ClusterQueues[j] = s.ClusterQueues[j], s.ClusterQueues[i] })
		random.Shuffle(len(s.Cohorts), func(i, j int) { s.Cohorts[i], s.Cohorts[j] = s.Cohorts[j], s.Cohorts[i] })
		require.Empty(t, gocmp.Diff(r, askQuota(t, other)), "seed %d", seed)
	}
	require.Greater(t, several, int(seeds(20)))
}

// ownPass is the score of whom the queue's own pass takes, by the criteria of r; nil if it takes
// nobody, or takes fewer pods.
func ownPass(t *testing.T, c quotaCase, r *preemption.Result) (list []int64) {
	c.options.Search, c.options.Objective = "", nil
	own := askQuota(t, c)
	if len(own.Victims) == 0 || !slices.Equal(own.Quota.Counts, r.Quota.Counts) {
		return nil
	}
	w := naivequota.NewWorld(c.snapshot)
	var set []naivequota.Target
	for a := range w.In {
		if slices.ContainsFunc(own.Victims, func(v preemption.Victim) bool { return v.Name == a.W.Name }) {
			set = append(set, naivequota.Target{Admitted: a})
		}
	}
	for _, name := range r.Score {
		list = append(list, valueOf(c, name.Name, set))
	}
	return list
}

// Of a pod or group that needs quota and a place, the search takes no worse victims than the
// queue's own pass, now and then better ones, and some within a limit that those would go
// beyond. Every answer is verified.
func TestTheSearchOfQueuedPodsIsNoWorse(t *testing.T) {
	asked, better, opened := 0, 0, 0
	for seed := range seeds(8000) {
		c := seededQueued(seed)
		c.options.Objective = [][]preemption.CriterionName{nil, {victims.CriterionUnits}, {victims.CriterionPods, victims.CriterionUnits}}[seed%3]
		if seed%4 == 0 {
			c.options.Limits.Pods = 1 + int64(seed/4%2)
		}
		own, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		c.options.Search = []preemption.Search{preemption.Improved, preemption.Exact}[seed%2]
		got, err := c.options.Preempt(c.preemptor, c.snapshot)
		require.NoError(t, err)
		require.False(t, got.Optimal)
		require.Empty(t, got.Bound)
		if own.Verdict != preemption.Feasible {
			if got.Verdict == preemption.Feasible {
				require.Equal(t, preemption.Infeasible, own.Verdict)
				require.NotZero(t, c.options.Limits)
				opened++
			} else {
				require.Equal(t, own.Verdict, got.Verdict, "seed %d", seed)
			}
			continue
		}
		require.Equal(t, preemption.Feasible, got.Verdict, "seed %d", seed)
		require.LessOrEqual(t, slices.Compare(numbersOf(got.Score), numbersOf(own.Score)), 0, "seed %d", seed)
		asked++
		if slices.Compare(numbersOf(got.Score), numbersOf(own.Score)) < 0 {
			better++
			require.Positive(t, got.Stats.Searched)
		}
	}
	t.Log(asked, better, opened)
	require.Greater(t, asked, int(seeds(1000)))
	require.Greater(t, better, int(seeds(50)))
	require.Positive(t, opened)
}

// uneven is a queue of eight GPUs that are all taken: by one workload of four and two of two, which
// began later, of equal priority. "in" asks for four.
func uneven() *preemption.Snapshot {
	holds := func(name string, n int32, hour int) preemption.Workload {
		return preemption.Workload{
			Name: name, Admission: &preemption.Admission{ClusterQueue: "research", Reserved: time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)},
			PodSets: []preemption.PodSet{{Name: "main", Count: n, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	return &preemption.Snapshot{
		Time:            time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC),
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues:   []preemption.ClusterQueue{{Name: "research", Groups: gpus(8), Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority}}},
		LocalQueues:     []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			holds("one", 4, 8), holds("two", 2, 9), holds("three", 2, 10),
			{Name: "in", Queue: "lab", Priority: 5, PodSets: []preemption.PodSet{{Name: "main", Count: 4, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
}

// The trace, why not somebody else, and the warnings say what the search has come to.
func TestWhatTheSearchForWorkloadsSays(t *testing.T) {
	in := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	o := preemption.Options{Search: preemption.Exact, Explain: true, Objective: []preemption.CriterionName{preemption.CriterionUnits}}
	pl, err := preemption.NewPlanner(uneven(), o)
	require.NoError(t, err)
	r, err := pl.Preempt(in)
	require.NoError(t, err)
	require.Len(t, r.Victims, 1)
	require.Equal(t, "one", r.Victims[0].Name)
	require.Equal(t, []preemption.Criterion{{Name: "units", Value: 1}}, r.Bound)
	require.Equal(t, 1, r.Stats.Searched)
	steps := r.Trace[0].Steps
	require.Equal(t, "1 workload is evicted instead, whose going disrupts less", steps[len(steps)-1].Text)
	for name, text := range map[string]string{
		"one": "one is a victim", "two": "two may stay: the preemptor fits once others have gone, and no less disruption was found",
	} {
		why, err := pl.WhyNot(in, preemption.UnitTarget(name))
		require.NoError(t, err)
		require.Equal(t, text, why.Text)
	}
	validity, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, preemption.Keep, validity.Advice)

	o.Objective = append(o.Objective, preemption.CriterionNodes, preemption.CriterionDomains+"rack", preemption.CriterionDevices)
	r, err = o.Preempt(in, uneven())
	require.NoError(t, err)
	require.Len(t, r.Warnings, 3)
	require.Equal(t, "nodes in use", r.Warnings[0].Value)
	require.Equal(t, "domains in use by rack", r.Warnings[1].Value)
	require.Equal(t, "devices in use", r.Warnings[2].Value)
	o.Strict = true
	_, err = o.Preempt(in, uneven())
	require.Error(t, err)

	o = preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"gpu": {Price: 1, Per: 3600}}}, Objective: true}}
	r, err = o.Preempt(in, uneven())
	require.NoError(t, err)
	require.Empty(t, r.Warnings, "the cost counts")
	require.Len(t, r.Victims, 2, "they have worked less")
	require.EqualValues(t, 2*3+2*2, r.Cost)
	require.True(t, r.Optimal)
}

// A job of pods counts as its pods, and what they cost is theirs; pods of a group as one group.
func TestTheLeastOfJobsCountsTheirPods(t *testing.T) {
	s := uneven()
	s.Nodes = []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"gpu": 4}}}
	for i := range 2 {
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Group: "two", Node: "n", Requests: preemption.Resources{"gpu": 1}, Started: s.Time})
	}
	s.PodGroups = []preemption.PodGroup{{Name: "two", Queue: "lab"}}
	s.Workloads = slices.Delete(s.Workloads, 1, 2)
	s.Workloads[2].PodSets[0].Count = 2
	for name, x := range map[string]struct {
		objective []preemption.CriterionName
		victim    string
		score     int64
	}{
		"fewest pods":    {[]preemption.CriterionName{preemption.CriterionPods}, "three", 1},
		"no group":       {[]preemption.CriterionName{preemption.CriterionGroups}, "three", 0},
		"the least work": {[]preemption.CriterionName{preemption.CriterionCost}, "two", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := preemption.Options{Search: preemption.Exact, Objective: x.objective}
			o.Cost.Tariff.Work = map[string]disruption.Rate{"gpu": {Price: 1}}
			r, err := o.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}, s)
			require.NoError(t, err)
			require.Len(t, r.Victims, 1)
			require.Equal(t, x.victim, r.Victims[0].Name)
			require.Equal(t, x.score, r.Score[0].Value)
			require.True(t, r.Optimal)
		})
	}
}

// mostUnits is the opposite of an objective.
type mostUnits struct{}

func (mostUnits) Compare(a, b victims.Score) int { return b.Units - a.Units }

// Where a hook compares, it decides, and nothing is proved.
func TestAHookComparesWorkloads(t *testing.T) {
	s := uneven()
	s.Workloads[0].Admission.Reserved = s.Time // the youngest, and the pass takes it
	in := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	r, err := preemption.Preempt(in, s)
	require.NoError(t, err)
	require.Len(t, r.Victims, 1)
	r, err = preemption.Options{Search: preemption.Exact, Hooks: &preemption.Hooks{Compare: mostUnits{}}}.Preempt(in, s)
	require.NoError(t, err)
	require.Len(t, r.Victims, 2)
	require.False(t, r.Optimal)
	require.Nil(t, r.Bound)
}
