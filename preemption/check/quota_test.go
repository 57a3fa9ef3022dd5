package check_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// borrowed is a team that wants its GPUs back: two of three workloads of the team that
// has borrowed them have to go.
func borrowed() *preemption.Snapshot {
	gpus := func(n int64) []preemption.ResourceGroup {
		return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{
			{Flavor: "a100", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: n}}},
			{Flavor: "old", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: 0}}},
		}}}
	}
	runs := func(name, queue string, priority int32, count int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Priority: priority, Admission: &preemption.Admission{ClusterQueue: queue},
			PodSets: []preemption.PodSet{{Name: "workers", Count: count, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	return &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}, {Name: "old"}},
		ClusterQueues: []preemption.ClusterQueue{
			{Name: "research", Cohort: "company", Groups: gpus(16), Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority}},
			{Name: "product", Cohort: "company", Groups: gpus(8)},
			{Name: "sales", Cohort: "company", Groups: gpus(2)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			runs("search", "product", 5, 8), runs("ads", "product", 3, 8), runs("draft", "product", 1, 8), runs("deck", "sales", 0, 2),
			{Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 16, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
}

// TestAProofKnowsWhoUsesMoreThanThereIs: within the inner cohort nothing is left to ask for of memory, of which more is used than there is;
// so what the queue asks for does not fit there, and it is tried without borrowing first.
func TestAProofKnowsWhoUsesMoreThanThereIs(t *testing.T) {
	none := int64(0)
	group := func(cpu, mem int64, lent *int64) []preemption.ResourceGroup {
		return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{Flavor: "f", Resources: []preemption.ResourceQuota{
			{Resource: "cpu", Nominal: cpu}, {Resource: "mem", Nominal: mem, Lending: lent},
		}}}}}
	}
	runs := func(name, queue string, cpu, mem int64) preemption.Workload {
		return preemption.Workload{Name: name, Admission: &preemption.Admission{ClusterQueue: queue}, PodSets: []preemption.PodSet{{
			Name: "main", Count: 1, Requests: preemption.Resources{"cpu": cpu, "mem": mem}, Flavors: map[string]string{"cpu": "f", "mem": "f"},
		}}}
	}
	s := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		Cohorts:         []preemption.Cohort{{Name: "outer"}, {Name: "inner", Parent: "outer", Groups: group(4, 0, nil)}},
		ClusterQueues: []preemption.ClusterQueue{
			{Name: "own", Cohort: "inner", Groups: group(2, 5, &none), Preemption: preemption.QueuePreemption{
				ReclaimWithinCohort: preemption.AnyPriority, WithinClusterQueue: preemption.LowerPriority,
			}},
			{Name: "beside", Cohort: "inner", Groups: group(0, 0, nil)}, {Name: "far", Cohort: "outer", Groups: group(0, 9, nil)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "own"}},
		Workloads: []preemption.Workload{
			runs("full", "beside", 0, 10), runs("mine", "own", 1, 1), runs("a", "far", 3, 1), runs("b", "far", 2, 1),
			{Name: "in", Queue: "lq", Priority: 1, PodSets: []preemption.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 2, "mem": 1}}}},
		},
	}
	o, p := preemption.Options{Search: preemption.Exact, Proof: true}, preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	r, err := o.Preempt(p, s)
	require.NoError(t, err)
	require.NotNil(t, r.Proof, r.Message)
	require.Len(t, r.Proof.Nodes, 2)
	require.Empty(t, check.Verify(s, o, p, r))
}

func TestTamperedQuotaIsFound(t *testing.T) {
	snapshot, p := borrowed(), preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	answer := func() *preemption.Result {
		r, err := preemption.Preempt(p, snapshot)
		require.NoError(t, err)
		return r
	}
	require.Len(t, answer().Victims, 2)
	require.Empty(t, check.Verify(snapshot, preemption.Options{}, p, answer()))
	for name, tamper := range map[string]func(r *preemption.Result){
		"a victim is dropped":                  func(r *preemption.Result) { r.Victims = r.Victims[1:] },
		"a victim goes twice":                  func(r *preemption.Result) { r.Victims = append(r.Victims, r.Victims[0]) },
		"a victim more, of its own quota":      func(r *preemption.Result) { add(r, "search", "product", 5) },
		"one of a queue that borrows nothing":  func(r *preemption.Result) { r.Victims = r.Victims[:1]; add(r, "deck", "sales", 0) },
		"one who holds nothing":                func(r *preemption.Result) { add(r, "nobody", "product", 0) },
		"one without quota":                    func(r *preemption.Result) { r.Victims[0].Quota = nil },
		"the reason is another":                func(r *preemption.Result) { r.Victims[0].Quota.Reason = preemption.InClusterQueue },
		"the reason is one of fair sharing":    func(r *preemption.Result) { r.Victims[0].Quota.Reason = preemption.InCohortFairSharing },
		"the reason is one of borrowers":       func(r *preemption.Result) { r.Victims[0].Quota.Reason = preemption.InCohortReclaimWhileBorrowing },
		"the queue is another":                 func(r *preemption.Result) { r.Victims[0].Quota.ClusterQueue = "sales" },
		"the priority is another":              func(r *preemption.Result) { r.Victims[0].Quota.Priority++ },
		"it is called evicted":                 func(r *preemption.Result) { r.Victims[0].Quota.Evicted = true },
		"it is called to fit":                  func(r *preemption.Result) { r.Verdict, r.Victims = preemption.Fits, nil },
		"it is called not eligible":            func(r *preemption.Result) { r.Verdict = preemption.NotEligible },
		"nobody goes":                          func(r *preemption.Result) { r.Victims = nil },
		"the flavor is another":                func(r *preemption.Result) { r.Quota.Flavors[0].Flavor = "old" },
		"the flavor is not of the queue":       func(r *preemption.Result) { r.Quota.Flavors[0].Flavor = "h100" },
		"the amount is smaller":                func(r *preemption.Result) { r.Quota.Flavors[0].Amount-- },
		"the resource is another":              func(r *preemption.Result) { r.Quota.Flavors[0].Resource = "cpu" },
		"the pod set is another":               func(r *preemption.Result) { r.Quota.Flavors[0].PodSet = "masters" },
		"no flavor is told":                    func(r *preemption.Result) { r.Quota.Flavors = nil },
		"it is told that there is enough":      func(r *preemption.Result) { r.Quota.Flavors[0].Contested = false },
		"the ClusterQueue is another":          func(r *preemption.Result) { r.Quota.ClusterQueue = "product" },
		"fewer pods than it can start with":    func(r *preemption.Result) { r.Quota.Counts = []int32{15} },
		"counts for pod sets that are not its": func(r *preemption.Result) { r.Quota.Counts = []int32{16, 1} },
		"no quota is told":                     func(r *preemption.Result) { r.Quota = nil },
	} {
		r := answer()
		tamper(r)
		require.NotEmpty(t, check.Verify(snapshot, preemption.Options{}, p, r), name)
	}
}

// TestAnswersAboutOtherQuotaAreFound: what is true of one snapshot, where the rules of queues and flavors are others.
func TestAnswersAboutOtherQuotaAreFound(t *testing.T) {
	p := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	taint := []cluster.Taint{{Key: "spot", Value: "yes", Effect: cluster.NoSchedule}}
	tolerated := func(t cluster.Toleration) func(s *preemption.Snapshot) {
		return func(s *preemption.Snapshot) {
			s.ResourceFlavors[0].NodeTaints, s.ResourceFlavors[0].Tolerations = taint, []cluster.Toleration{t}
		}
	}
	for _, c := range []struct {
		change func(s *preemption.Snapshot)
		want   string // empty: the answer stays true
	}{
		{func(s *preemption.Snapshot) { s.ResourceFlavors[0].NodeTaints = taint }, "flavor a100 does not suit pod set 0"},
		{tolerated(cluster.Toleration{Key: "spot", Value: "yes"}), ""},
		{tolerated(cluster.Toleration{Key: "spot", Operator: cluster.TolerationExists, Effect: cluster.NoSchedule}), ""},
		{tolerated(cluster.Toleration{Key: "spot", Value: "no"}), "flavor a100 does not suit pod set 0"},
		{tolerated(cluster.Toleration{Key: "other", Value: "yes"}), "flavor a100 does not suit pod set 0"},
		{tolerated(cluster.Toleration{Key: "spot", Value: "yes", Effect: cluster.NoExecute}), "flavor a100 does not suit pod set 0"},
		{func(s *preemption.Snapshot) {
			s.ResourceFlavors[0].NodeLabels = map[string]string{"gpu": "a100"}
			s.Workloads[4].PodSets[0].NodeSelector = map[string]string{"gpu": "h100"}
		}, "flavor a100 does not suit pod set 0"},
		{func(s *preemption.Snapshot) { s.ClusterQueues[0].Stopped = true }, "it is admitted to nothing"},
		{func(s *preemption.Snapshot) { s.ClusterQueues[0].Preemption.ReclaimWithinCohort = cluster.QueueNever }, "reclaimWithinCohort keeps it"},
		{func(s *preemption.Snapshot) { s.ClusterQueues[1].Cohort = "another" }, "it is of another tree of queues"},
		{func(s *preemption.Snapshot) { s.ClusterQueues[1].Groups[0].Flavors[1].Flavor = "gone" }, "its queue is inactive"},
	} {
		s := borrowed()
		r, err := preemption.Preempt(p, s)
		require.NoError(t, err)
		c.change(s)
		problems := check.Verify(s, preemption.Options{}, p, r)
		if c.want == "" {
			require.Empty(t, problems)
			continue
		}
		require.Contains(t, fmt.Sprint(problems), c.want)
	}
}

func add(r *preemption.Result, name, queue string, priority int64) {
	r.Victims = append(r.Victims, preemption.Victim{
		Kind: preemption.KindWorkload, Name: name, Priority: int32(priority),
		Quota: &preemption.QuotaVictim{ClusterQueue: queue, Reason: preemption.InCohortReclamation, Priority: priority},
	})
}

// TestQuotaThatFitsIsTold: an answer that evicts, or gives up, where there is room.
func TestQuotaThatFitsIsTold(t *testing.T) {
	snapshot, p := borrowed(), preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	r, err := preemption.Preempt(p, snapshot)
	require.NoError(t, err)
	snapshot.Workloads = snapshot.Workloads[3:]
	fits, err := preemption.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, fits.Verdict)
	require.Empty(t, check.Verify(snapshot, preemption.Options{}, p, fits))
	require.NotEmpty(t, check.Verify(snapshot, preemption.Options{}, p, r))
	fits.Verdict, fits.Quota.Flavors = preemption.Infeasible, nil
	require.NotEmpty(t, check.Verify(snapshot, preemption.Options{}, p, fits))
}

// What is told of the least disruption of workloads is read: its criteria, and a bound beyond what was found, or
// beyond what one workload of the queue comes to.
func TestTamperedLeastOfWorkloadsIsFound(t *testing.T) {
	snapshot, p := borrowed(), preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	snapshot.ClusterQueues[0].Preemption.WithinClusterQueue = preemption.LowerPriority
	snapshot.Workloads[4].Priority = 9
	o := preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionUnits, preemption.CriterionLevels}}
	answer := func() *preemption.Result {
		r, err := o.Preempt(p, snapshot)
		require.NoError(t, err)
		return r
	}
	require.True(t, answer().Optimal)
	require.Empty(t, check.Verify(snapshot, o, p, answer()))
	for name, tamper := range map[string]func(r *preemption.Result){
		"a criterion is smaller":      func(r *preemption.Result) { r.Score[0].Value-- },
		"a level is missing":          func(r *preemption.Result) { r.Score = r.Score[:len(r.Score)-1] },
		"two stand in each other's":   func(r *preemption.Result) { r.Score[0], r.Score[1] = r.Score[1], r.Score[0] },
		"the bound has another":       func(r *preemption.Result) { r.Optimal, r.Bound = false, r.Score[1:2] },
		"the bound is larger":         func(r *preemption.Result) { r.Optimal, r.Bound = false, bound(r, r.Score[0].Value+1) },
		"it goes on where it differs": func(r *preemption.Result) { r.Optimal, r.Bound = false, append(bound(r, 0), r.Score[1]) },
		"optimal is no bound":         func(r *preemption.Result) { r.Bound = bound(r, 1) },
	} {
		r := answer()
		tamper(r)
		require.NotEmpty(t, check.Verify(snapshot, o, p, r), name)
	}
	r := answer()
	o.Search = ""
	require.NotEmpty(t, check.Verify(snapshot, o, p, r), "nobody has searched")

	o.Search, snapshot = preemption.Exact, borrowed()
	snapshot.ClusterQueues[0].Cohort, snapshot.ClusterQueues[0].Preemption = "", preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority}
	snapshot.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 24
	snapshot.Workloads = append(snapshot.Workloads[:3], snapshot.Workloads[4])
	for i := range snapshot.Workloads[:3] {
		snapshot.Workloads[i].Admission.ClusterQueue = "research"
	}
	snapshot.Workloads[3].PodSets[0].Count, snapshot.Workloads[3].Priority = 2, 9
	r = answer()
	require.Empty(t, check.Verify(snapshot, o, p, r))
	require.Equal(t, "draft", r.Victims[0].Name, "of the lowest priority")
	r.Victims[0].Name, r.Victims[0].Priority, r.Victims[0].Quota.Priority = "ads", 3, 3
	r.Score[2].Value, r.Score[3].Value = 1, 0
	r.Bound = r.Score
	problems := check.Verify(snapshot, o, p, r)
	require.Len(t, problems, 1)
	require.Equal(t, check.RuleBest, problems[0].Rule)
	require.Equal(t, "draft", problems[0].Name, "alone it would do, and is of less priority")
}

// bound is a bound of the first criterion alone.
func bound(r *preemption.Result, v int64) []preemption.Criterion {
	return []preemption.Criterion{{Name: r.Score[0].Name, Value: v}}
}

// A cohort beside the preemptor's queue that borrows one has given up enough once one of its workloads
// has gone, though both of its queues borrow.
func TestACohortThatGivesUpTooMuchIsFound(t *testing.T) {
	gpus := func(n int64) []preemption.ResourceGroup {
		return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: n}}}}}}
	}
	runs := func(name, queue string, n int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Admission: &preemption.Admission{ClusterQueue: queue},
			PodSets: []preemption.PodSet{{Name: "main", Count: n, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "f"}}},
		}
	}
	snapshot := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		Cohorts:         []preemption.Cohort{{Name: "all"}, {Name: "side", Parent: "all", Groups: gpus(3)}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "own", Cohort: "all", Groups: gpus(4),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority, BorrowWithinCohort: &cluster.BorrowWithinCohort{}},
			},
			{Name: "left", Cohort: "side", Groups: gpus(0)}, {Name: "right", Cohort: "side", Groups: gpus(0)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "own"}},
		Workloads:   []preemption.Workload{runs("l", "left", 2), runs("r", "right", 2), {Name: "in", Queue: "lq", Priority: 1}},
	}
	in := &snapshot.Workloads[2]
	in.PodSets = []preemption.PodSet{{Name: "main", Count: 4, Requests: preemption.Resources{"gpu": 1}}}
	p := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	r, err := preemption.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Len(t, r.Victims, 1)
	require.Empty(t, check.Verify(snapshot, preemption.Options{}, p, r))
	more := r.Victims[0]
	more.Name, more.Quota = "l", &preemption.QuotaVictim{ClusterQueue: "left", Reason: more.Quota.Reason}
	if r.Victims[0].Name == "l" {
		more.Name, more.Quota.ClusterQueue = "r", "right"
	}
	in.PodSets[0].Count = 6
	r.Quota.Flavors[0].Amount = 6
	r.Victims = append(r.Victims, more)
	told := ""
	for _, problem := range check.Verify(snapshot, preemption.Options{}, p, r) {
		told += problem.Text + "\n"
	}
	require.Contains(t, told, "cohort side goes below what is its own")
}

// TestQuotaThatBeginsBeyondTime is held from when that time is, as the answer tells it.
func TestQuotaThatBeginsBeyondTime(t *testing.T) {
	one := preemption.Resources{"cpu": 1000}
	s := &preemption.Snapshot{
		Time: time.Date(2026, 1, 2, 16, 0, 0, 0, time.UTC), Nodes: []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 9000}}},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "q", Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
			Groups: []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: "cpu", Nominal: 1000}}}}}},
		}},
		LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "q"}},
		Workloads:   []preemption.Workload{{Name: "in", Queue: "lq", Priority: 1, PodSets: []preemption.PodSet{{Name: "main", Count: 1, Requests: one}}}},
	}
	p, o := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}, preemption.Options{Search: preemption.Improved}
	for _, started := range []time.Time{{}, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), s.Time.Add(-time.Hour)} {
		s.Pods = []preemption.Pod{{Name: "holds", Node: "n", Queue: "lq", Requests: one, Started: started}}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Len(t, r.Victims, 1)
		require.Empty(t, check.Verify(s, o, p, r), started)
	}
}
