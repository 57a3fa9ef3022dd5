package preemption_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/quotatext"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// quotaPlanner is a planner for the queues and jobs of a text; the heads wait.
func quotaPlanner(t *testing.T, text string, heads ...cluster.Workload) *preemption.Planner {
	t.Helper()
	scenarios, err := quotatext.Parse("== x\n" + text)
	require.NoError(t, err)
	s := scenarios[0]
	s.Snapshot.Workloads = append(s.Snapshot.Workloads, heads...)
	pl, err := preemption.NewPlanner(&s.Snapshot, s.Options)
	require.NoError(t, err)
	return pl
}

func waiting(name, queue string, priority int32, cpu int64) cluster.Workload {
	return cluster.Workload{Name: name, Queue: queue, Priority: priority, PodSets: []cluster.PodSet{{
		Name: "main", Count: 1, Requests: cluster.Resources{"cpu": cpu * 1000},
	}}}
}

func askFor(t *testing.T, pl *preemption.Planner, name string) *preemption.Result {
	t.Helper()
	r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: name})
	require.NoError(t, err)
	return r
}

// TestStrictPlannersRefuseAsFreshOnes: whatever made something odd, and until nothing is.
func TestStrictPlannersRefuseAsFreshOnes(t *testing.T) {
	queue := func(flavor string) preemption.ClusterQueue {
		return preemption.ClusterQueue{Name: "q", Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: flavor, Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 4000}},
		}}}}}
	}
	runs := waiting("runs", "q", 0, 1)
	runs.Admission = &cluster.Admission{ClusterQueue: "q"}
	runs.PodSets[0].Flavors = map[string]string{"cpu": "f"}
	o := preemption.Options{Strict: true}
	s := twoNodes()
	s.ResourceFlavors, s.ClusterQueues = []preemption.ResourceFlavor{{Name: "f"}}, []preemption.ClusterQueue{queue("f")}
	s.LocalQueues, s.Workloads = []preemption.LocalQueue{{Name: "q", ClusterQueue: "q"}}, []preemption.Workload{waiting("in", "q", 1, 1)}
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	in := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
	good, err := pl.Preempt(in)
	require.NoError(t, err)
	agree := func(odd bool) {
		t.Helper()
		for _, p := range []preemption.Preemptor{web, in} {
			_, want := o.Preempt(p, pl.Snapshot())
			require.Equal(t, odd, want != nil)
			_, err := pl.Preempt(p)
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(err))
			_, err = pl.Decide(p)
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(err))
			_, err = pl.WhyNot(p, preemption.NodeTarget("n1"))
			require.True(t, !odd || fmt.Sprint(want) == fmt.Sprint(err), err)
		}
		_, err := pl.Cycle([]preemption.Preemptor{in})
		require.Equal(t, odd, err != nil)
		_, err = pl.StillValid(good)
		require.Equal(t, odd, err != nil)
	}
	agree(false)
	for _, c := range []struct{ spoil, mend func() error }{
		{func() error { return pl.SetClusterQueue(queue("none")) }, func() error { return pl.SetClusterQueue(queue("f")) }},
		{func() error { return pl.RemoveResourceFlavor("f") }, func() error { return pl.SetResourceFlavor(preemption.ResourceFlavor{Name: "f"}) }},
		{func() error {
			w := runs
			w.Admission = &cluster.Admission{ClusterQueue: "none"}
			return pl.SetWorkload(w)
		}, func() error { return pl.SetWorkload(runs) }},
		{func() error {
			w := runs
			w.PodSets = slices.Clone(w.PodSets)
			w.PodSets[0].Requests = cluster.Resources{"cpu": 5000}
			return pl.SetWorkload(w)
		}, func() error { return pl.SetWorkload(runs) }},
		{func() error { return pl.RemoveNode("n1") }, func() error { return pl.SetNode(s.Nodes[0]) }},
		{func() error { return pl.SetPod(preemption.Pod{Name: "lost", Node: "none"}) }, func() error { return pl.Remove(preemption.PodRef{Name: "lost"}) }},
	} {
		require.NoError(t, c.spoil())
		agree(true)
		require.NoError(t, c.mend())
		agree(false)
	}
}

func TestAppliedVictimsLeaveForOneWorkloadOnly(t *testing.T) {
	pl := quotaPlanner(t, "queue q cpu=4 own=LowerPriority\njobs low@q prio=-2 cpu=2 mid@q prio=-1 cpu=2",
		waiting("first", "q", 5, 2), waiting("second", "q", 4, 2))
	first := askFor(t, pl, "first")
	require.Equal(t, []string{"low"}, names(first))
	require.NoError(t, pl.Apply(first))

	again := askFor(t, pl, "first")
	require.Equal(t, []string{"low"}, names(again))
	require.True(t, again.Victims[0].Quota.Evicted, "it has been told already")
	second := askFor(t, pl, "second")
	require.Equal(t, []string{"mid"}, names(second), "low leaves for the first")
	require.NoError(t, pl.Apply(second))

	require.NoError(t, pl.RemoveWorkload("", "low"))
	require.Equal(t, []string{"mid"}, names(askFor(t, pl, "second")), "what low leaves is held for the first")
	fits := askFor(t, pl, "first")
	require.Equal(t, preemption.Fits, fits.Verdict)
	require.NoError(t, pl.Apply(fits))
	for _, w := range pl.Snapshot().Workloads {
		if w.Name == "first" {
			require.Equal(t, "q", w.Admission.ClusterQueue)
			require.Equal(t, map[string]string{"cpu": "default"}, w.PodSets[0].Flavors)
		}
	}
	advice(t, pl, second, preemption.Keep)
	require.NoError(t, pl.Release("", "second"))
	require.Error(t, pl.Release("", "second"), "nothing is held any more")
}

func TestEvictedWorkloadsGoBackToTheirQueue(t *testing.T) {
	pl := quotaPlanner(t, "queue q cpu=4 own=LowerPriority\njobs low@q prio=-2 cpu=4", waiting("in", "q", 5, 2))
	require.NoError(t, pl.Evict(askFor(t, pl, "in")))
	r := askFor(t, pl, "in")
	require.Equal(t, preemption.Fits, r.Verdict)
	require.NoError(t, pl.Apply(r))
	require.Equal(t, preemption.Infeasible, askFor(t, pl, "low").Verdict, "it waits again, and is less important")
}

// What fits only in the room that victims of others still use waits for them.
func TestRoomThatVictimsOfOthersUseIsWaitedFor(t *testing.T) {
	pl := quotaPlanner(t, "queue q cpu=4 own=LowerPriority\njobs low@q prio=-2 cpu=4",
		waiting("first", "q", 5, 2), waiting("second", "q", 4, 2), waiting("third", "q", 3, 1))
	require.NoError(t, pl.Apply(askFor(t, pl, "first")))
	second := askFor(t, pl, "second")
	require.Equal(t, preemption.Waiting, second.Verdict)
	require.NoError(t, pl.Apply(second))
	require.Equal(t, preemption.Infeasible, askFor(t, pl, "third").Verdict, "the second holds the rest")
	require.NoError(t, pl.RemoveWorkload("", "low"))
	require.Equal(t, preemption.Fits, askFor(t, pl, "second").Verdict)
	advice(t, pl, second, preemption.Replan)
}

func TestStillValidTellsWhatChangedInQuota(t *testing.T) {
	start := func() (*preemption.Planner, *preemption.Result) {
		pl := quotaPlanner(t, "queue q@co cpu=4 own=LowerPriority reclaim=LowerPriority other@co cpu=0\njobs theirs@other prio=-2 cpu=2 mine@q prio=-1 cpu=2",
			waiting("in", "q", 5, 4))
		r := askFor(t, pl, "in")
		require.Len(t, r.Victims, 2)
		return pl, r
	}
	set := func(pl *preemption.Planner, name string, change func(w *cluster.Workload)) {
		for _, w := range pl.Snapshot().Workloads {
			if w.Name == name {
				change(&w)
				require.NoError(t, pl.SetWorkload(w))
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(pl *preemption.Planner)
		want   preemption.Advice
	}{
		{"nothing", func(*preemption.Planner) {}, preemption.Keep},
		{"a victim has left", func(pl *preemption.Planner) { require.NoError(t, pl.RemoveWorkload("", "mine")) }, preemption.Keep},
		{"all victims have left", func(pl *preemption.Planner) {
			require.NoError(t, pl.RemoveWorkload("", "mine"))
			require.NoError(t, pl.RemoveWorkload("", "theirs"))
		}, preemption.Cancel},
		{"the preemptor is gone", func(pl *preemption.Planner) { require.NoError(t, pl.RemoveWorkload("", "in")) }, preemption.Cancel},
		{"a victim has become important", func(pl *preemption.Planner) {
			set(pl, "mine", func(w *cluster.Workload) { w.Priority = 9 })
		}, preemption.Replan},
		{"the other queue has got its own quota", func(pl *preemption.Planner) {
			for _, q := range pl.Snapshot().ClusterQueues {
				if q.Name == "other" {
					group := q.Groups[0].Flavors[0]
					group.Resources = slices.Clone(group.Resources)
					group.Resources[0].Nominal = 9000
					q.Groups = []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{group}}}
					q.Groups[0].Flavors[0].Resources[0].Lending = new(int64)
					require.NoError(t, pl.SetClusterQueue(q))
				}
			}
		}, preemption.Replan},
		{"the queue is stopped", func(pl *preemption.Planner) {
			for _, q := range pl.Snapshot().ClusterQueues {
				if q.Name == "q" {
					q.Stopped = true
					require.NoError(t, pl.SetClusterQueue(q))
				}
			}
		}, preemption.Replan},
	} {
		t.Run(c.name, func(t *testing.T) {
			pl, r := start()
			c.change(pl)
			advice(t, pl, r, c.want)
			if c.want != preemption.Keep {
				require.ErrorIs(t, pl.Apply(r), preemption.ErrNotApplicable)
			}
		})
	}
}

func TestCycle(t *testing.T) {
	type outcome struct {
		Name    string
		Verdict preemption.Verdict
		Victims []string
	}
	for _, c := range []struct {
		name  string
		text  string
		heads []cluster.Workload
		want  []outcome
	}{
		{
			"preemptors of two queues with victims of their own",
			"queue a cpu=2 own=LowerPriority b cpu=2 own=LowerPriority\njobs a@a prio=-1 cpu=2 b@b prio=-1 cpu=2",
			[]cluster.Workload{waiting("y", "b", 0, 2), waiting("x", "a", 1, 2)},
			[]outcome{{"x", preemption.Feasible, []string{"a"}}, {"y", preemption.Feasible, []string{"b"}}},
		},
		{
			"who borrows from less far up goes first, whatever its priority",
			"queue a@co cpu=2-0 own=LowerPriority b@co cpu=0 giver@co cpu=1\njobs low@a prio=-1 cpu=2",
			[]cluster.Workload{waiting("borrower", "b", 9, 1), waiting("owner", "a", 0, 2)},
			[]outcome{{"owner", preemption.Feasible, []string{"low"}}, {"borrower", preemption.Fits, nil}},
		},
		{
			"room for one of two: the second finds nothing",
			"queue a@co cpu=1 b@co cpu=1 giver@co cpu=2",
			[]cluster.Workload{waiting("x", "a", 1, 3), waiting("y", "b", 0, 3)},
			[]outcome{{"x", preemption.Fits, nil}, {"y", preemption.Infeasible, nil}},
		},
		{
			"overlapping victims: the second is planned anew",
			"queue a@co cpu=1 reclaim=Any b@co cpu=1 reclaim=Any loan@co cpu=0\njobs one@loan prio=-2 cpu=1 two@loan prio=-1 cpu=1",
			[]cluster.Workload{waiting("x", "a", 1, 1), waiting("y", "b", 0, 1)},
			[]outcome{{"x", preemption.Feasible, []string{"one"}}, {"y", preemption.Feasible, []string{"two"}}},
		},
		{
			"overlapping victims: enough leaves for both, and the second waits",
			"queue a@co cpu=1 reclaim=Any b@co cpu=1 reclaim=Any loan@co cpu=0\njobs both@loan prio=-2 cpu=2",
			[]cluster.Workload{waiting("x", "a", 1, 1), waiting("y", "b", 0, 1)},
			[]outcome{{"x", preemption.Feasible, []string{"both"}}, {"y", preemption.Waiting, nil}},
		},
		{
			"a head without victims keeps its nominal quota from borrowers",
			"queue a@co cpu=4 reclaim=LowerPriority b@co cpu=0\njobs important@b prio=99 cpu=2",
			[]cluster.Workload{waiting("x", "a", 1, 3), waiting("y", "b", 0, 2)},
			[]outcome{{"x", preemption.Infeasible, nil}, {"y", preemption.Infeasible, nil}},
		},
		{
			"but not where it may reclaim from anybody",
			"queue a@co cpu=4 reclaim=Any b@co cpu=0\njobs important@a prio=99 cpu=2",
			[]cluster.Workload{waiting("x", "a", 1, 3), waiting("y", "b", 0, 2)},
			[]outcome{{"x", preemption.Infeasible, nil}, {"y", preemption.Fits, nil}},
		},
		{
			"fair sharing: the lower share goes first, whatever its priority",
			"queue a@co cpu=0 b@co cpu=0 giver@co cpu=4\njobs a@a cpu=2\nfair",
			[]cluster.Workload{waiting("x", "a", 9, 1), waiting("y", "b", 0, 1)},
			[]outcome{{"y", preemption.Fits, nil}, {"x", preemption.Fits, nil}},
		},
		{
			"fair sharing: who stays within nominal quota goes before who borrows",
			"queue a@co cpu=0 b@co cpu=2 weight=0.01 giver@co cpu=4\nfair",
			[]cluster.Workload{waiting("x", "a", 9, 1), waiting("y", "b", 0, 1)},
			[]outcome{{"y", preemption.Fits, nil}, {"x", preemption.Fits, nil}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			pl := quotaPlanner(t, c.text, c.heads...)
			var heads []preemption.Preemptor
			for _, w := range c.heads {
				heads = append(heads, preemption.Preemptor{Kind: cluster.KindWorkload, Name: w.Name})
			}
			before := pl.Snapshot()
			results, err := pl.Cycle(heads)
			require.NoError(t, err)
			var got []outcome
			for _, r := range results {
				got = append(got, outcome{r.Preemptor.Name, r.Verdict, names(r)})
			}
			require.Equal(t, c.want, got)
			require.Empty(t, cmp.Diff(before, pl.Snapshot()), "the planner itself is not changed")
			slices.Reverse(heads)
			again, err := pl.Cycle(heads)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(results, again), "the order of the heads says nothing")
			for _, r := range results { // one after the other
				one := askFor(t, pl, r.Preemptor.Name)
				require.Empty(t, cmp.Diff(r, one))
				if r.Verdict != preemption.Infeasible || len(r.Quota.Reserved) > 0 {
					require.NoError(t, pl.Apply(one))
				}
			}
		})
	}
}

// A cluster that uses more than it has is answered, with a warning that goes when
// the usage does.
func TestOveruseIsAnsweredWithAWarning(t *testing.T) {
	pl := quotaPlanner(t, "queue q@co cpu=4 own=LowerPriority other@co cpu=0\njobs low@q prio=-2 cpu=4 more@other cpu=3", waiting("in", "q", 5, 1))
	r := askFor(t, pl, "in")
	require.Equal(t, []string{"low"}, names(r))
	require.Equal(t, []cluster.Warning{{
		Kind: cluster.KindCohort, Name: "co", Field: "usage", Value: "cpu in flavor default",
		Text: "more is used than there is: answered as it is",
	}}, r.Warnings)
	require.NoError(t, pl.RemoveWorkload("", "more"))
	require.Empty(t, askFor(t, pl, "in").Warnings)
}

// Options that are about pods do not reach workloads, which is said and not hidden.
func TestGuardsDoNotReachWorkloads(t *testing.T) {
	o := preemption.Options{
		Guards: preemption.Guards{GuaranteedSeconds: 60}, HardBudgets: preemption.HardBudgets{All: true}, Limits: preemption.Limits{Pods: 1},
		Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}}, NoCascade: true, PreferMovable: true, WaitSeconds: 60,
	}
	snapshot := quotaPlanner(t, "queue q cpu=4 own=LowerPriority\njobs low@q prio=-2 cpu=4", waiting("in", "q", 5, 1)).Snapshot()
	in := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
	r, err := o.Preempt(in, snapshot)
	require.NoError(t, err)
	require.Equal(t, []string{"low"}, names(r))
	var values []string
	for _, w := range r.Warnings {
		require.Equal(t, "in", w.Name)
		values = append(values, w.Value)
	}
	require.Equal(t, []string{"Cost", "Guards", "HardBudgets", "Limits", "NoCascade", "PreferMovable", "WaitSeconds"}, values)
	o.Strict = true
	_, err = o.Preempt(in, snapshot)
	require.ErrorIs(t, err, cluster.ErrInvalid)
	require.ErrorContains(t, err, `cluster: Workload "in": Options: WaitSeconds is not accepted under Strict (about pods: it does not bound what a workload evicts)`)
}

// Under Strict a planner refuses what a change of quota makes odd, as one that begins
// with it does, and answers again once that is mended.
func TestStrictHoldsAfterChangesOfQuota(t *testing.T) {
	s := quotaPlanner(t, "queue q cpu=4\njobs low@q prio=-2 cpu=4", waiting("in", "q", 5, 1)).Snapshot()
	pl, err := preemption.NewPlanner(s, preemption.Options{Strict: true})
	require.NoError(t, err)
	ask := func() error {
		_, err := pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "web"}}})
		return err
	}
	require.NoError(t, ask())
	flavor := s.ResourceFlavors[0]
	require.NoError(t, pl.RemoveResourceFlavor(flavor.Name))
	require.ErrorContains(t, ask(), "there is no such flavor")
	require.NoError(t, pl.SetResourceFlavor(flavor))
	require.NoError(t, ask())
	more := s.Workloads[0]
	for _, w := range s.Workloads {
		if w.Admission != nil {
			more = w
		}
	}
	more.Name = "more"
	require.NoError(t, pl.SetWorkload(more))
	require.ErrorContains(t, ask(), "more is used than there is")
	require.NoError(t, pl.RemoveWorkload(more.Namespace, "more"))
	require.NoError(t, ask())
}
