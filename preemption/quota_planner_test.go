package preemption_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quotatext"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
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
	s.Disruptions = []cluster.Disruption{{Time: s.Time}}
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	in := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
	good, err := pl.Preempt(in)
	require.NoError(t, err)
	agree := func(odd bool) {
		t.Helper()
		for _, p := range []preemption.Preemptor{web, in, {Pods: []preemption.Pod{{Name: "inline"}}}} {
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
		{func() error { return pl.SetTime(s.Time.Add(-1)) }, func() error { return pl.SetTime(s.Time) }},
		{func() error { return pl.RemoveResourceFlavor("f") }, func() error { return pl.SetResourceFlavor(preemption.ResourceFlavor{Name: "f"}) }},
		{func() error {
			w := runs
			w.Admission = &cluster.Admission{ClusterQueue: "none"}
			return pl.SetWorkload(w)
		}, func() error { return pl.RemoveWorkload("", "runs") }},
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
	pl, _ := start()
	require.NoError(t, pl.RemoveWorkload("", "in"))
	in := waiting("in", "q", 5, 4)
	r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Workload: &in})
	require.NoError(t, err)
	advice(t, pl, r, preemption.Keep)
}

// TestStillValidAsksTheSearch: who would have to borrow by now, or fits in another flavor.
func TestStillValidAsksTheSearch(t *testing.T) {
	for name, x := range map[string]struct {
		policy, victim string
		nominal        int64
		want           preemption.Advice
		rules          string
	}{
		"reclaiming its own":                    {"reclaim=Any", "other", 3, preemption.Keep, ""},
		"borrowing, where nobody goes for that": {"reclaim=Any", "other", 1, preemption.Replan, ""},
		"borrowing, where less important go":    {"reclaim=Any bwc=any", "other", 1, preemption.Keep, ""},
		"borrowing, where only others go":       {"reclaim=Any bwc=-3", "other", 1, preemption.Replan, ""},
		"borrowing, of a queue that must not":   {"reclaim=ReclaimFromAny", "other", 1, preemption.Replan, ""},
		"borrowing more than its queue has":     {"own=LowerPriority", "q", 1, preemption.Replan, ""},
		"borrowing, as shares have it":          {"reclaim=Any", "other", 1, preemption.Keep, "\nfair"},
		"borrowing, as shares do not have it":   {"reclaim=Any", "other", 1, preemption.Replan, "\nfair LessThanOrEqualToFinalShare"},
		"another flavor":                        {"reclaim=Any", "other", 3, preemption.Cancel, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("queue q@co cpu=3 cpu@spot=0 %s other@co cpu=0 giver cpu=2\njobs theirs@%s prio=-2 cpu=3", x.policy, x.victim)
			pl := quotaPlanner(t, text+x.rules, waiting("in", "q", 5, 3))
			r := askFor(t, pl, "in")
			require.Equal(t, []string{"theirs"}, names(r), r.Message)
			for _, q := range pl.Snapshot().ClusterQueues {
				switch flavors := q.Groups[0].Flavors; {
				case q.Name == "q" && x.want == preemption.Cancel:
					flavors[1].Resources[0].Nominal = 3000
				case q.Name == "q":
					flavors[0].Resources[0].Nominal = x.nominal * 1000
				case q.Name == "giver" && x.nominal == 1:
					q.Cohort = "co"
				}
				require.NoError(t, pl.SetClusterQueue(q))
			}
			advice(t, pl, r, x.want)
			want := map[preemption.Advice]preemption.Verdict{
				preemption.Keep: preemption.Feasible, preemption.Replan: preemption.Infeasible, preemption.Cancel: preemption.Fits,
			}
			require.Equal(t, want[x.want], askFor(t, pl, "in").Verdict)
		})
	}
}

// TestOrdersAreLookedForInSteps: four fewer may go than were to, whichever. Of fourteen there are too many orders: then it is asked whom
// the search finds, who are fewer, whether or not more is lent.
func TestOrdersAreLookedForInSteps(t *testing.T) {
	replan := preemption.Validity{Advice: preemption.Replan, Reason: "its queue may not evict them for so much any more"}
	for _, c := range []struct {
		n, lent int64
		applied bool // then they go where no order is known, not where there is none
	}{{8, 4, false}, {8, 8, false}, {14, 4, false}, {14, 8, false}, {8, 8, true}, {14, 8, true}} {
		pl := quotaPlanner(t, fmt.Sprintf("queue q@co cpu=%d reclaim=Any other@co cpu=0 giver@co cpu=0\njobs theirs@other prio=-2 cpu=1 n=%d\nfair LessThanOrEqualToFinalShare", c.n, c.n), waiting("in", "q", 5, c.n))
		r := askFor(t, pl, "in")
		require.Len(t, r.Victims, int(c.n), r.Message)
		if c.applied {
			require.NoError(t, pl.Apply(r))
		}
		for _, q := range pl.Snapshot().ClusterQueues {
			q.Groups[0].Flavors[0].Resources[0].Nominal = map[string]int64{"q": (c.n - 4) * 1_000, "giver": c.lent * 1_000}[q.Name]
			require.NoError(t, pl.SetClusterQueue(q))
		}
		v, err := pl.StillValid(r)
		require.NoError(t, err)
		if c.applied && c.n > 8 {
			require.Equal(t, preemption.Keep, v.Advice, v.Reason)
		} else {
			require.Equal(t, replan, v, "%+v", c)
		}
	}
}

// TestAnswersJustMadeAreKept: and once applied, under fair sharing, in two of these after 8,192 looks that tell of no order: seed 3252 of workloads, 14469 of pods.
func TestAnswersJustMadeAreKept(t *testing.T) {
	for pods, first := range map[bool]uint64{false: 3252, true: 14469} {
		kept := 0
		for seed := first; seed < first+seeds(40); seed++ {
			s, preemptor := lenders(t, rand.New(rand.NewPCG(seed, 5)), pods)
			pl, err := preemption.NewPlanner(&s.Snapshot, s.Options)
			require.NoError(t, err)
			r, err := pl.Preempt(preemptor)
			require.NoError(t, err)
			if r.Verdict != preemption.Feasible {
				continue
			}
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Keep, v.Advice, "seed %d: %s", seed, v.Reason)
			for _, carryOut := range []func(*preemption.Result) error{pl.Apply, pl.Apply, pl.Evict} {
				require.NoError(t, carryOut(r), "seed %d", seed)
			}
			kept++
		}
		require.Greater(t, kept, int(seeds(10)))
	}
}

// lenders are queues of one cohort whose workloads, or pods, all have less priority than one that asks.
func lenders(t *testing.T, r *rand.Rand, pods bool) (*quotatext.Scenario, preemption.Preemptor) {
	others, most := 2+r.IntN(5), 12
	text := fmt.Sprintf("queue q@co cpu=%d reclaim=Any ", r.IntN(30))
	for i := range others {
		text += fmt.Sprintf("o%d@co cpu=%d weight=%d ", i, r.IntN(10), 1+r.IntN(3))
	}
	if pods {
		most = 24
	}
	text += "\njobs "
	for i := range others {
		for j := range 1 + r.IntN(most) {
			text += fmt.Sprintf("j%d-%d@o%d prio=%d cpu=%d ", i, j, i, -1-r.IntN(3), 1+r.IntN(6))
		}
	}
	scenarios, err := quotatext.Parse("== x\n" + text + "\nfair" + []string{"", " LessThanOrEqualToFinalShare", " LessThanInitialShare"}[r.IntN(3)])
	require.NoError(t, err)
	s := scenarios[0]
	s.Options.Search = preemption.Exact
	if !pods {
		s.Snapshot.Workloads = append(s.Snapshot.Workloads, waiting("in", "q", 5, 1+int64(r.IntN(40))))
		return s, preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
	}
	for i := range 1 + r.IntN(3) {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{"cpu": 30_000 + 1_000*r.Int64N(60), cluster.Pods: 10 + r.Int64N(20)}}
		s.Snapshot.Nodes = append(s.Snapshot.Nodes, n)
	}
	for _, w := range s.Snapshot.Workloads {
		node := s.Snapshot.Nodes[r.IntN(len(s.Snapshot.Nodes))].Name
		s.Snapshot.Pods = append(s.Snapshot.Pods, cluster.Pod{Name: w.Name, Queue: w.Admission.ClusterQueue, Priority: &w.Priority, Node: node, Requests: w.PodSets[0].Requests})
	}
	s.Snapshot.Workloads = nil
	five, asks := int32(5), cluster.Resources{"cpu": 1_000 + 1_000*r.Int64N(40)}
	s.Snapshot.Pods = append(s.Snapshot.Pods, cluster.Pod{Name: "in", Queue: "q", Priority: &five, Requests: asks})
	return s, preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}
}

// TestKeptVictimsMayGoFairly: as quotas, weights and workloads change, an answer is kept only if some order lets go who is left of
// its victims, by the twin's look at every order, and always if nothing has changed or it is the answer again.
func TestKeptVictimsMayGoFairly(t *testing.T) {
	kept, stale := 0, 0
	for seed := range seeds(20_000) {
		c := leastQuota(seed, []preemption.Search{preemption.Greedy, preemption.Exact}[seed%2])
		if c.options.Quota.FairSharing == nil || len(c.snapshot.Workloads) > 9 {
			continue
		}
		r := askQuota(t, c)
		for try := range uint64(9) {
			if r.Verdict != preemption.Feasible {
				break
			}
			s, random := leastQuota(seed, "").snapshot, rand.New(rand.NewPCG(seed, try))
			for k := range min(try, 3) {
				q, i := &s.ClusterQueues[random.IntN(len(s.ClusterQueues))], random.IntN(len(s.Workloads)-1)
				switch own, x := &q.Groups[0].Flavors[0].Resources[0], random.Int64N(12); {
				case x < 5:
					*own = cluster.ResourceQuota{Resource: own.Resource, Nominal: 2 * x}
				case x < 8:
					weight := cluster.Weight(x-5) * cluster.OneWeight
					q.Weight = &weight
				case x < 10 || len(s.Workloads) == 2:
					more := s.Workloads[i]
					more.Name = fmt.Sprint("more", k)
					s.Workloads = slices.Insert(s.Workloads, 0, more)
				default:
					s.Workloads = slices.Delete(s.Workloads, i, i+1)
				}
			}
			pl, err := preemption.NewPlanner(s, c.options)
			require.NoError(t, err)
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			again, err := pl.Preempt(quotaPreemptor)
			require.NoError(t, err)
			w, q, out := world(quotaCase{snapshot: s}, r)
			fits := w.Fits(q, true)
			for _, a := range out {
				w.In[a] = true
			}
			q.W, q.Contested = &s.Workloads[len(s.Workloads)-1], map[naivequota.FR]bool{}
			for fr, v := range q.Request {
				if v > w.Available(q.Queue, fr) {
					q.Contested[fr] = true
				}
			}
			switch {
			case v.Advice == preemption.Keep:
				kept++
				require.True(t, fits && w.LetsFair(q, slices.Collect(maps.Values(out)), twinOptions(c).Strategies), "seed %d, %d", seed, try)
			case try == 0 || slices.Equal(names(again), slices.Sorted(maps.Keys(out))) && cmp.Equal(again.Quota.Flavors, r.Quota.Flavors):
				t.Fatalf("seed %d, %d: %s", seed, try, v.Reason)
			default:
				stale++
			}
		}
	}
	require.Greater(t, min(kept, stale), int(seeds(500)))
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

// podsQuota is a queue of 6 cpu, all of it held by a pod, and a workload that asks for 4.
func podsQuota(t *testing.T) *preemption.Planner {
	t.Helper()
	s := &preemption.Snapshot{
		Nodes:           []cluster.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 10}}},
		Pods:            []preemption.Pod{holder()},
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name:       "q",
			Groups:     []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 6}}}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "l", ClusterQueue: "q"}},
	}
	for _, name := range []string{"w", "later"} {
		s.Workloads = append(s.Workloads, preemption.Workload{
			Name: name, Queue: "l", Priority: 7, PodSets: []cluster.PodSet{{Name: "s", Count: 1, Requests: preemption.Resources{"cpu": 4}}},
		})
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	return pl
}

// TestWorkloadOfTheNameOfAPod: both hold quota, and the pod still does once the workload is gone.
func TestWorkloadOfTheNameOfAPod(t *testing.T) {
	pl, pod := podsQuota(t), holder()
	pod.Requests["cpu"] = 3
	require.NoError(t, pl.SetPod(pod))
	require.Equal(t, []string{"holder"}, names(askFor(t, pl, "w")))
	require.NoError(t, pl.SetWorkload(preemption.Workload{Name: "holder", Queue: "l", Admission: &preemption.Admission{ClusterQueue: "q"}, PodSets: []preemption.PodSet{
		{Name: "s", Count: 1, Requests: pod.Requests, Flavors: map[string]string{"cpu": "f"}},
	}}))
	require.Equal(t, []string{"holder", "holder"}, names(askFor(t, pl, "w")))
	require.NoError(t, pl.RemoveWorkload("", "holder"))
	require.Equal(t, []string{"holder"}, names(askFor(t, pl, "w")))
}

func holder() preemption.Pod {
	return preemption.Pod{Name: "holder", Node: "n", Queue: "l", Priority: prio(0), Requests: preemption.Resources{"cpu": 6}}
}

// TestWorkloadsEvictPodsThatHoldQuota: from the answer to the admission.
func TestWorkloadsEvictPodsThatHoldQuota(t *testing.T) {
	pl := podsQuota(t)
	r := askFor(t, pl, "w")
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Equal(t, []string{"holder"}, names(r))
	advice(t, pl, r, preemption.Keep)
	require.NoError(t, pl.Apply(r))
	require.True(t, pl.Snapshot().Pods[0].Preempted)
	advice(t, pl, r, preemption.Keep)
	require.Equal(t, preemption.Infeasible, askFor(t, pl, "later").Verdict, "what holder leaves is held for w")
	require.NoError(t, pl.Evict(r))
	require.Empty(t, pl.Snapshot().Pods)
	advice(t, pl, r, preemption.Cancel)
	fits := askFor(t, pl, "w")
	require.Equal(t, preemption.Fits, fits.Verdict)
	require.NoError(t, pl.Apply(fits))
	require.Equal(t, preemption.Infeasible, askFor(t, pl, "later").Verdict)
}

// TestWhatIsHeldIsInTheSnapshot: a planner that begins with it, and one that reads it as JSON, holds as much.
func TestWhatIsHeldIsInTheSnapshot(t *testing.T) {
	pl := podsQuota(t)
	require.NoError(t, pl.Apply(askFor(t, pl, "w")))
	hold := cluster.QuotaHold{
		Name: "w", ClusterQueue: "q", Amounts: []cluster.HeldAmount{{Flavor: "f", Resource: "cpu", Amount: 4}}, Pods: []cluster.PodKey{{Name: "holder"}},
	}
	require.Equal(t, []cluster.QuotaHold{hold}, pl.Snapshot().QuotaHolds)
	text, err := json.Marshal(pl.Snapshot())
	require.NoError(t, err)
	var read preemption.Snapshot
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, []cluster.QuotaHold{hold}, read.QuotaHolds)
	again, err := preemption.NewPlanner(&read, preemption.Options{})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, askFor(t, again, "later").Verdict, "what holder leaves is held for w")
	require.NoError(t, again.SetWorkload(preemption.Workload{Name: "small", Queue: "l", PodSets: []cluster.PodSet{{Name: "s", Count: 1, Requests: preemption.Resources{"cpu": 2}}}}))
	require.Equal(t, preemption.Waiting, askFor(t, again, "small").Verdict)
	require.NoError(t, again.SetCohort(cluster.Cohort{Name: "unrelated"}), "the quota is compiled anew")
	require.Equal(t, []cluster.QuotaHold{hold}, again.Snapshot().QuotaHolds)
	require.NoError(t, again.Release("", "w"))
	require.Empty(t, again.Snapshot().QuotaHolds)
	require.Len(t, read.QuotaHolds, 1, "the snapshot stays as it was given")
}

func TestWhatIsHeldIsRead(t *testing.T) {
	s := podsQuota(t).Snapshot()
	s.QuotaHolds = []cluster.QuotaHold{
		{Name: "nobody", ClusterQueue: "q"},
		{Name: "w", ClusterQueue: "gone", Amounts: []cluster.HeldAmount{{Flavor: "f", Resource: "cpu", Amount: -1}}},
		{Name: "w", ClusterQueue: "q", Amounts: []cluster.HeldAmount{{Amount: 1 << 62}}},
		{Name: "later", ClusterQueue: "q"},
	}
	for i := range s.Workloads {
		if s.Workloads[i].Name == "later" {
			s.Workloads[i].Admission = &cluster.Admission{ClusterQueue: "gone"}
		}
	}
	_, err := preemption.NewPlanner(s, preemption.Options{})
	require.EqualError(t, err, `cluster: Snapshot: QuotaHolds[0].Name: "nobody" is not a workload of the snapshot
cluster: Snapshot: QuotaHolds[1].Amounts[0].Amount: -1 is not from 0 to 2^62-1
cluster: Snapshot: QuotaHolds[2].Amounts[0].Amount: 4611686018427387904 is not from 0 to 2^62-1
cluster: Snapshot: QuotaHolds[2].Name: "w" is not named once
cluster: Snapshot: QuotaHolds[3].Name: "later" is not a workload without an Admission`)
}

// TestNothingIsHeldForWhoIsAdmitted: not even by a queue that comes later, which counts what it uses.
func TestNothingIsHeldForWhoIsAdmitted(t *testing.T) {
	pl := podsQuota(t)
	require.NoError(t, pl.Apply(askFor(t, pl, "w")))
	w := pl.Snapshot().Workloads[1]
	require.Equal(t, "w", w.Name)
	w.Admission = &cluster.Admission{ClusterQueue: "other"}
	require.NoError(t, pl.SetWorkload(w))
	require.Empty(t, pl.Snapshot().QuotaHolds)
	other := pl.Snapshot().ClusterQueues[0]
	other.Name = "other"
	require.NoError(t, pl.SetClusterQueue(other))
}

// TestAPodWaitsForQuotaThatIsStillUsed: its queue will have enough for it, once the victims of
// another have left; and no longer than that.
func TestAPodWaitsForQuotaThatIsStillUsed(t *testing.T) {
	pl := podsQuota(t)
	plan := askFor(t, pl, "w")
	require.NoError(t, pl.Apply(plan))
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "in", Queue: "l", Priority: prio(3), Requests: preemption.Resources{"cpu": 2}}))
	in := preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}
	r, err := pl.Preempt(in)
	require.NoError(t, err)
	require.Equal(t, preemption.Waiting, r.Verdict)
	require.Equal(t, "fits in n and in the quota of q once the victims of others have left", r.Message)
	require.Empty(t, r.Nominations)
	require.NoError(t, pl.Evict(plan))
	r, err = pl.Preempt(in)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	advice(t, pl, r, preemption.Keep)

	late := askFor(t, pl, "w")
	require.Equal(t, preemption.Fits, late.Verdict)
	require.NoError(t, pl.Apply(r))
	require.Equal(t, preemption.Fits, askFor(t, pl, "w").Verdict, "six are enough for both")
}

// TestWhatIsHeldIsHad: once its victims have gone a workload fits, in the flavors that are held for it, whoever reserves what is left.
func TestWhatIsHeldIsHad(t *testing.T) {
	const rules = `,"preemption":{"withinClusterQueue":"LowerPriority"}}],"localQueues":[{"name":"q","clusterQueue":"q"}],"workloads":[{"name":"old","queue":"q","priority":2,"admission":{"clusterQueue":"q"},"podSets":[{"name":"main","count":1,"requests":`
	for _, text := range []string{
		`{"resourceFlavors":[{"name":"a"},{"name":"b"}],"clusterQueues":[{"name":"q","resourceGroups":[{"flavors":[{"flavor":"a","resources":[{"resource":"cpu","nominal":2},{"resource":"memory","nominal":5}]},{"flavor":"b","resources":[{"resource":"cpu","nominal":3},{"resource":"memory","nominal":3}]}]}]` + rules +
			`{"cpu":2},"flavors":{"cpu":"a"}}]},{"name":"new","queue":"q","priority":3,"podSets":[{"name":"s0","count":1,"requests":{"cpu":2}},{"name":"s1","count":1,"requests":{"cpu":2,"memory":4}}]}]}`,
		`{"resourceFlavors":[{"name":"f"}],"clusterQueues":[{"name":"q","cohort":"c","resourceGroups":[{"flavors":[{"flavor":"f","resources":[{"resource":"cpu","nominal":6}]}]}]` + rules +
			`{"cpu":6},"flavors":{"cpu":"f"}}]},{"name":"new","queue":"q","priority":3,"podSets":[{"name":"s","count":1,"requests":{"cpu":3}}]},{"name":"later","queue":"q","podSets":[{"name":"s","count":1,"requests":{"cpu":6}}]}]}`,
	} {
		s := &preemption.Snapshot{}
		require.NoError(t, json.Unmarshal([]byte(text), s))
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		var heads []preemption.Preemptor
		for _, w := range s.Workloads[1:] {
			heads = append(heads, preemption.Preemptor{Kind: cluster.KindWorkload, Name: w.Name})
		}
		answers, err := pl.Cycle(heads)
		require.NoError(t, err)
		for _, r := range answers {
			require.NoError(t, pl.Apply(r))
		}
		require.NoError(t, pl.RemoveWorkload("", "old"))
		fits := askFor(t, pl, "new")
		require.Equal(t, preemption.Fits, fits.Verdict)
		require.Equal(t, len(answers[0].Quota.Flavors), len(fits.Quota.Flavors))
		for i, f := range answers[0].Quota.Flavors {
			require.Equal(t, f.Flavor, fits.Quota.Flavors[i].Flavor)
		}
	}
}

// TestANominatedMemberExpectsItsOwn: asked about alone, it gets what it expects, not that twice,
// nor what others of its gang expect.
func TestANominatedMemberExpectsItsOwn(t *testing.T) {
	for _, queue := range []string{"l", ""} { // of the group: its pods are one job, or each by itself
		pl := podsQuota(t)
		require.NoError(t, pl.Remove(preemption.PodRef{Name: "holder"}))
		require.NoError(t, pl.SetPodGroup(preemption.PodGroup{Name: "g", Queue: queue}))
		for _, name := range []string{"a", "b"} {
			require.NoError(t, pl.SetPod(preemption.Pod{Name: name, Group: "g", Queue: "l", NominatedNode: "n", Requests: preemption.Resources{"cpu": 3}}))
		}
		for _, name := range []string{"a", "b"} {
			r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: name})
			require.NoError(t, err)
			require.Equal(t, preemption.Fits, r.Verdict, name)
		}
		require.NoError(t, pl.SetPod(preemption.Pod{Name: "c", Group: "g", Queue: "l", Requests: preemption.Resources{"cpu": 1}}))
		r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "c"})
		require.NoError(t, err)
		require.Equal(t, preemption.NotEligible, r.Verdict, "the others expect all six, and it does not preempt without them")
	}
}

// TestAGivenPlacementIsOfTheFlavor: a gang is not placed where its quota is not for.
func TestAGivenPlacementIsOfTheFlavor(t *testing.T) {
	pl := podsQuota(t)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "holder"}))
	require.NoError(t, pl.SetResourceFlavor(cluster.ResourceFlavor{Name: "f", NodeLabels: map[string]string{"pool": "f"}}))
	require.NoError(t, pl.SetNode(cluster.Node{Name: "f", Labels: map[string]string{"pool": "f"}, Allocatable: preemption.Resources{"cpu": 10}}))
	require.NoError(t, pl.SetPodGroup(preemption.PodGroup{Name: "g", Queue: "l"}))
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "a", Group: "g", Requests: preemption.Resources{"cpu": 3}}))
	for node, want := range map[string]preemption.Verdict{"n": preemption.Infeasible, "f": preemption.Fits} {
		r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "g", Placement: map[string]string{"a": node}})
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict, "%s: %s", node, r.Message)
	}
}

// TestQuotaThatAPodTookIsCounted: an answer that fitted before does not hold.
func TestQuotaThatAPodTookIsCounted(t *testing.T) {
	pl := podsQuota(t)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "holder"}))
	r := askFor(t, pl, "w")
	require.Equal(t, preemption.Fits, r.Verdict)
	require.NoError(t, pl.SetPod(holder()))
	advice(t, pl, r, preemption.Replan)
	require.ErrorIs(t, refuses(t, pl, func() error { return pl.Apply(r) }), preemption.ErrNotApplicable)
}

func TestCyclesCountPodsThatHoldQuota(t *testing.T) {
	for _, fair := range []*preemption.FairSharing{nil, {}} {
		pl, err := preemption.NewPlanner(podsQuota(t).Snapshot(), preemption.Options{Quota: preemption.QuotaOptions{FairSharing: fair}})
		require.NoError(t, err)
		results, err := pl.Cycle([]preemption.Preemptor{{Kind: cluster.KindWorkload, Name: "w"}, {Kind: cluster.KindWorkload, Name: "later"}})
		require.NoError(t, err)
		require.Equal(t, []string{"holder"}, names(results[0]))
		require.Equal(t, preemption.Infeasible, results[1].Verdict)
	}
}

// TestAnswersAboutQuotaHold: fresh ones, of preemptors of all kinds among holders of all
// kinds, until they are carried out.
func TestAnswersAboutQuotaHold(t *testing.T) {
	seen := map[preemption.Verdict]int{}
	for seed := range seeds(1500) {
		c := seededQueued(seed)
		queue := c.snapshot.LocalQueues[seed%2].Name
		for _, name := range []string{"w", "more"} {
			c.snapshot.Workloads = append(c.snapshot.Workloads, preemption.Workload{
				Name: name, Queue: queue, Priority: int32(seed % 5),
				PodSets: []cluster.PodSet{{Name: "s", Count: 1, Requests: preemption.Resources{"cpu": 1 + int64(seed%3)}}},
			})
		}
		pl, err := preemption.NewPlanner(c.snapshot, c.options)
		require.NoError(t, err)
		w := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "w"}
		more := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "more"}
		for _, p := range []preemption.Preemptor{c.preemptor, w, more, c.preemptor} {
			r, err := pl.Preempt(p)
			require.NoError(t, err)
			plan := r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits || r.Verdict == preemption.Waiting && p.Kind == cluster.KindWorkload
			if !plan {
				require.ErrorIs(t, pl.Fork().Apply(&preemption.Result{Verdict: r.Verdict, Preemptor: r.Preemptor}), preemption.ErrNotApplicable)
				continue
			}
			seen[r.Verdict]++
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Keep, v.Advice, "seed %d: %s", seed, v.Reason)
			require.NoError(t, pl.Apply(r), "seed %d", seed)
			if r.Verdict == preemption.Feasible {
				advice(t, pl, r, preemption.Keep)
				if seed%2 == 0 {
					require.NoError(t, pl.Evict(r), "seed %d", seed)
				}
			}
		}
		_, err = pl.Cycle(nil)
		require.NoError(t, err)
	}
	require.Positive(t, min(seen[preemption.Feasible], seen[preemption.Fits], seen[preemption.Waiting]), seen)
}

// TestAnswersAboutWorkloadsHold: of large trees, with several flavors, resources and pod sets.
func TestAnswersAboutWorkloadsHold(t *testing.T) {
	seen := map[preemption.Verdict]int{}
	for seed := range seeds(4000) {
		c := seededQuota(seed)
		pl, err := preemption.NewPlanner(c.snapshot, c.options)
		require.NoError(t, err)
		r, err := pl.Preempt(quotaPreemptor)
		require.NoError(t, err)
		switch {
		case r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits:
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Keep, v.Advice, "seed %d: %s", seed, v.Reason)
		case r.Quota == nil || len(r.Quota.Reserved) == 0:
			require.ErrorIs(t, pl.Apply(r), preemption.ErrNotApplicable)
			continue
		}
		seen[r.Verdict]++
		require.NoError(t, pl.Apply(r), "seed %d", seed)
	}
	require.Greater(t, min(seen[preemption.Feasible], seen[preemption.Fits], seen[preemption.Infeasible]), 10, seen)
}

// TestForgedAnswersAboutQuotaAreRefused: answers about workloads with a field changed, as if
// they came from a file.
func TestForgedAnswersAboutQuotaAreRefused(t *testing.T) {
	two := cluster.Workload{Name: "two", Queue: "q", Priority: 5, PodSets: []cluster.PodSet{
		{Name: "a", Count: 2, MinCount: prio(1), Requests: cluster.Resources{"cpu": 1000}}, {Name: "b", Count: 1},
	}}
	for want, forge := range map[string]func(r *preemption.Result){
		`Quota: absent is not set, as the preemptor is a workload`: func(r *preemption.Result) { r.Quota = nil },
		`has 2 pod sets, and counts of 1`:                          func(r *preemption.Result) { r.Quota.Counts = []int32{1} },
		`Quota.Counts[0]: -1 is not >= 0`:                          func(r *preemption.Result) { r.Quota.Counts = []int32{-1, 1} },
		`pod set "a" starts with 1 to 2 pods, not with 3`:          func(r *preemption.Result) { r.Quota.Counts = []int32{3, 1} },
		`pod set "a" takes 2000 cpu, and asks for 1000`:            func(r *preemption.Result) { r.Quota.Counts = []int32{1, 1} },
		`pod set "a" takes no flavor of cpu`:                       func(r *preemption.Result) { r.Quota.Flavors = nil },
		`Quota.Flavors[0].Amount: -5 is not from 0 to 2^62-1`:      func(r *preemption.Result) { r.Quota.Flavors[0].Amount = -5 },
		`Quota.Flavors[1]: "a", "cpu" is not listed once`: func(r *preemption.Result) {
			r.Quota.Flavors = append(r.Quota.Flavors, r.Quota.Flavors[0])
		},
		`Quota.Flavors[0].Flavor: "" is not the name of a flavor`: func(r *preemption.Result) { r.Quota.Flavors[0].Flavor = "" },
		`Quota.Reserved[0].PodSet: "main" is not empty`: func(r *preemption.Result) {
			r.Verdict, r.Victims = preemption.Infeasible, nil
			r.Quota.Reserved = []preemption.FlavorChoice{{PodSet: "main", Resource: "cpu", Flavor: "default", Amount: 1}}
		},
		`Preemptor.Inline.Name: "two" is not empty`: func(r *preemption.Result) {
			r.Preemptor.Inline = &preemption.Preemptor{Kind: cluster.KindWorkload, Name: "two"}
		},
		`its queue has no flavor nope any more`:       func(r *preemption.Result) { r.Quota.Flavors[0].Flavor = "nope" },
		`it belongs to another queue by now`:          func(r *preemption.Result) { r.Quota.ClusterQueue = "other" },
		`cancel: nobody is gone`:                      func(r *preemption.Result) { r.Preemptor.Name = "nobody" },
		`the verdict is "infeasible"`:                 func(r *preemption.Result) { r.Verdict = preemption.Infeasible },
		`replan: it would not fit even without the`:   func(r *preemption.Result) { r.Verdict, r.Victims = preemption.Waiting, nil },
		`replan: it does not fit any more`:            func(r *preemption.Result) { r.Verdict, r.Victims = preemption.Fits, nil },
		`Quota.Reserved: 1 amount is not absent, as`:  func(r *preemption.Result) { r.Quota.Reserved = r.Quota.Flavors[:1] },
		`Nominations: 1 nomination is not absent`:     func(r *preemption.Result) { r.Nominations = make([]preemption.Nomination, 1) },
		`Victims[1].Name: "low" is not a victim once`: func(r *preemption.Result) { r.Victims = append(r.Victims, r.Victims[0]) },
		`it does not fit even once the victims`:       func(r *preemption.Result) { r.Victims[0].Name = "nobody" },
		`high may not be evicted any more`:            func(r *preemption.Result) { r.Victims[0].Name = "high" },
		`Victims[0].Pods: 1 pod is not absent`:        func(r *preemption.Result) { r.Victims[0].Pods = make([]preemption.VictimPod, 1) },
		`Victims[0].Pods: none is not its pods`:       func(r *preemption.Result) { r.Victims[0].Kind = cluster.KindPod },
		`it may not keep 4000 cpu of flavor default`: func(r *preemption.Result) {
			r.Verdict, r.Victims = preemption.Infeasible, nil
			r.Quota.Reserved = []preemption.FlavorChoice{{Resource: "cpu", Flavor: "default", Amount: 4000}}
		},
		`the verdict is "maybe"`: func(r *preemption.Result) { r.Verdict = "maybe" },
		`Preemptor.Gathered: 1 pod is not absent, as the preemptor is a workload`: func(r *preemption.Result) {
			r.Preemptor.Name, r.Preemptor.Gathered = "", []preemption.PodRef{{Name: "p"}}
		},
		`pod set "b" asks for no cpu`: func(r *preemption.Result) {
			r.Quota.Flavors = append(r.Quota.Flavors, preemption.FlavorChoice{PodSet: "b", Resource: "cpu", Flavor: "default"})
		},
		`its queue has no gpu of flavor default`: func(r *preemption.Result) {
			r.Verdict, r.Victims = preemption.Infeasible, nil
			r.Quota.Reserved = []preemption.FlavorChoice{{Resource: "gpu", Flavor: "default", Amount: 1}}
		},
		`Preemptor.Inline: Workload "x" is not that of the Workload`: func(r *preemption.Result) {
			r.Preemptor.Inline = &preemption.Preemptor{Kind: cluster.KindWorkload, Workload: &cluster.Workload{Name: "x", Queue: "q", PodSets: two.PodSets}}
		},
		`Preemptor.Inline: Workload "two" is not that of the Pod`: func(r *preemption.Result) {
			r.Preemptor = preemption.Asked{Kind: cluster.KindPod, Name: "two", Inline: &preemption.Preemptor{Kind: cluster.KindWorkload, Workload: &two}}
		},
		`Preemptor.Inline: Pod "two" is not that of the Workload`: func(r *preemption.Result) {
			r.Preemptor.Inline = &preemption.Preemptor{Pods: []preemption.Pod{{Name: "two"}}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			pl := quotaPlanner(t, "queue q cpu=4 own=LowerPriority other cpu=0\njobs low@q prio=-2 cpu=2 high@q prio=9 cpu=2", two)
			r := askFor(t, pl, "two")
			require.Equal(t, []string{"low"}, names(r))
			refusesForged(t, pl, r, forge, want)
		})
	}
}

// TestWhoWaitsToEvictReservesQuota: a head that has to wait longer before it may evict others
// keeps its nominal quota from borrowers, as one that finds nobody does.
func TestWhoWaitsToEvictReservesQuota(t *testing.T) {
	pl := quotaPlanner(t, "queue a@co cpu=4 own=LowerPriority b@co cpu=0\njobs low@b prio=0 cpu=2", waiting("y", "b", 0, 2))
	s := pl.Snapshot()
	for i := range s.ClusterQueues {
		s.ClusterQueues[i].Preemption.WaitSeconds = 60
	}
	x := waiting("x", "a", 1, 3)
	x.Created = s.Time
	s.Workloads = append(s.Workloads, x)
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	r := askFor(t, pl, "x")
	require.Equal(t, preemption.NotEligible, r.Verdict)
	require.Equal(t, preemption.Fits, askFor(t, pl, "y").Verdict)
	results, err := pl.Cycle([]preemption.Preemptor{{Kind: cluster.KindWorkload, Name: "y"}, {Kind: cluster.KindWorkload, Name: "x"}})
	require.NoError(t, err)
	require.Equal(t, []preemption.Verdict{preemption.NotEligible, preemption.Infeasible}, []preemption.Verdict{results[0].Verdict, results[1].Verdict})
	require.NoError(t, pl.Apply(r))
	require.Equal(t, preemption.Infeasible, askFor(t, pl, "y").Verdict)
}

// TestCycleTellsOfEveryHead: whatever their order, in the same words.
func TestCycleTellsOfEveryHead(t *testing.T) {
	pl := podsQuota(t)
	w := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "w"}
	heads := []preemption.Preemptor{{Kind: "Bad", Name: "b"}, w, {Kind: cluster.KindWorkload, Name: "none"}, {Kind: "Bad", Name: "a"}, w}
	want := `cluster: Preemptor "a": Kind: "Bad" is not Workload
cluster: Preemptor "b": Kind: "Bad" is not Workload
cluster: Preemptor "none": Name: "none" is not a workload of the snapshot
cluster: Workload "w": Name: "w" is not a head once only`
	for range heads {
		heads = append(heads[1:], heads[0])
		_, err := pl.Cycle(heads)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, cluster.ErrInvalid)
	}
}

// TestStillValidTellsWhatChangedForPodsOfAQueue: of who evicts for quota and a place, and of whom he evicts.
func TestStillValidTellsWhatChangedForPodsOfAQueue(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	pod := func(name, node string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{
			Namespace: "ns", Name: name, Node: node, Priority: &priority, Queue: "q", Requests: preemption.Resources{"cpu": cpu}, Created: noon.Add(-time.Minute),
		}
	}
	queue := func(flavor string) preemption.ClusterQueue {
		return preemption.ClusterQueue{
			Name: "q", Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: flavor, Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 4}}}}}},
		}
	}
	for _, c := range []struct {
		name   string
		change func(pl *preemption.Planner) error
		want   preemption.Advice
		reason string
	}{
		{"nothing", func(*preemption.Planner) error { return nil }, preemption.Keep, ""},
		{"a victim moved", func(pl *preemption.Planner) error { return pl.SetPod(pod("a", "n2", 0, 2)) }, preemption.Replan, "ns/a runs elsewhere by now"},
		{"a victim left the queue", func(pl *preemption.Planner) error {
			a := pod("a", "n1", 0, 2)
			a.Queue = ""
			return pl.SetPod(a)
		}, preemption.Replan, "ns/a holds no quota any more"},
		{"a victim is as important", func(pl *preemption.Planner) error { return pl.SetPod(pod("a", "n1", 5, 2)) }, preemption.Replan, "ns/a may not be evicted any more"},
		{"victims are of one unit with another pod", func(pl *preemption.Planner) error {
			if err := pl.SetPodGroup(preemption.PodGroup{Namespace: "ns", Name: "g", Mode: disruption.All, Queue: "q", Priority: prio(0)}); err != nil {
				return err
			}
			for _, name := range []string{"a", "late"} {
				p := pod(name, "n1", 0, 2)
				if p.Group = "g"; name == "late" {
					p.Node, p.Requests = "n2", nil
				}
				if err := pl.SetPod(p); err != nil {
					return err
				}
			}
			return nil
		}, preemption.Replan, "ns/late goes with ns/a by now"},
		{"the queue has other flavors", func(pl *preemption.Planner) error { return pl.SetClusterQueue(queue("spot")) }, preemption.Replan, "it cannot take these flavors any more"},
		{"the flavor has other nodes", func(pl *preemption.Planner) error {
			return pl.SetResourceFlavor(preemption.ResourceFlavor{Name: "f", NodeLabels: map[string]string{"pool": "b"}})
		}, preemption.Replan, "node n1 is not of the flavors that it takes"},
		{"the queue waits before it evicts", func(pl *preemption.Planner) error {
			q := queue("f")
			q.Preemption.WaitSeconds = 90
			return pl.SetClusterQueue(q)
		}, preemption.Replan, "it waits 30 more seconds before it may evict others"},
		{"the victims have left", func(pl *preemption.Planner) error {
			return errors.Join(pl.Remove(preemption.PodRef{Namespace: "ns", Name: "a"}), pl.Remove(preemption.PodRef{Namespace: "ns", Name: "b"}))
		}, preemption.Cancel, "it fits without evicting anybody"},
		{"the queue is gone", func(pl *preemption.Planner) error { return pl.RemoveClusterQueue("q") }, preemption.Replan, `ClusterQueue: "q" is not a ClusterQueue of the snapshot`},
	} {
		t.Run(c.name, func(t *testing.T) {
			node := func(name, pool string) preemption.Node {
				return preemption.Node{Name: name, Labels: map[string]string{"pool": pool}, Allocatable: preemption.Resources{"cpu": 4}}
			}
			pl, err := preemption.NewPlanner(&preemption.Snapshot{
				Time: noon, Nodes: []preemption.Node{node("n1", "a"), node("n2", "b")},
				ResourceFlavors: []preemption.ResourceFlavor{{Name: "f", NodeLabels: map[string]string{"pool": "a"}}, {Name: "spot"}},
				ClusterQueues:   []preemption.ClusterQueue{queue("f")},
				LocalQueues:     []preemption.LocalQueue{{Namespace: "ns", Name: "q", ClusterQueue: "q"}},
				Pods:            []preemption.Pod{pod("a", "n1", 0, 2), pod("b", "n1", 0, 2), pod("in", "", 5, 4)},
			}, preemption.Options{})
			require.NoError(t, err)
			r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "in"})
			require.NoError(t, err)
			require.Len(t, r.Victims, 2, r.Message)
			require.NoError(t, c.change(pl))
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, c.want, v.Advice, v.Reason)
			require.Contains(t, v.Reason, c.reason)
		})
	}
}

// TestStillValidTellsPartsOfAPlanForAQueue: who goes for the place alone, forged flavors, and quota that others leave later.
func TestStillValidTellsPartsOfAPlanForAQueue(t *testing.T) {
	pod := func(name, node, queue string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{Namespace: "ns", Name: name, Node: node, Priority: &priority, Queue: queue, Requests: preemption.Resources{"cpu": cpu}}
	}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes:           []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 6}}, {Name: "n2", Allocatable: preemption.Resources{"cpu": 2}}},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}}, LocalQueues: []preemption.LocalQueue{{Namespace: "ns", Name: "q", ClusterQueue: "q"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "q", Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 6}}}}}},
		}},
		Pods: []preemption.Pod{pod("a", "n1", "q", 0, 4), pod("unqueued", "n1", "", 0, 2), pod("all", "", "q", 5, 6)},
	}, preemption.Options{})
	require.NoError(t, err)
	ask := func(name string) *preemption.Result {
		r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: name})
		require.NoError(t, err)
		return r
	}
	all := ask("all")
	require.Len(t, all.Victims, 2, all.Message)
	advice(t, pl, all, preemption.Keep)
	forged, q := *all, *all.Quota
	forged.Quota, q.Flavors = &q, append(slices.Clone(q.Flavors), preemption.FlavorChoice{Resource: "gpu", Flavor: "f"})
	advice(t, pl, &forged, preemption.Replan)
	f := pl.Fork()
	require.NoError(t, f.SetPod(pod("unqueued", "n1", "", 9, 2)))
	advice(t, f, all, preemption.Replan)

	s := pl.Snapshot()
	s.Pods = s.Pods[:0]
	s.Workloads = []preemption.Workload{jobWithoutPods("q", 6), waiting("first", "q", 9, 0)}
	s.Workloads[1].Namespace, s.Workloads[1].PodSets[0].Requests = "ns", preemption.Resources{"cpu": 2}
	s.Pods = append(s.Pods, pod("in", "", "q", 5, 3))
	pl, err = preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	in := ask("in")
	require.Len(t, in.Victims, 1, in.Message)
	first, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "first"})
	require.NoError(t, err)
	require.NoError(t, pl.Apply(first))
	v, err := pl.StillValid(in)
	require.NoError(t, err)
	require.Equal(t, preemption.Replan, v.Advice, v.Reason)
	require.Contains(t, v.Reason, "it fits")
}

// jobWithoutPods holds so much cpu of flavor f of a queue.
func jobWithoutPods(queue string, cpu int64) preemption.Workload {
	return preemption.Workload{
		Namespace: "ns", Name: "job", Queue: queue, Admission: &cluster.Admission{ClusterQueue: queue},
		PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": cpu}, Flavors: map[string]string{"cpu": "f"}}},
	}
}

// TestWorkloadsWithoutPodsCount in the window, each of them, and again for a queue that waits before it evicts.
func TestWorkloadsWithoutPodsCount(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &preemption.Snapshot{
		Time: noon, Nodes: []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 4}}}, ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "q", Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 4}}}}}},
		}},
		LocalQueues: []preemption.LocalQueue{{Namespace: "ns", Name: "q", ClusterQueue: "q"}}, Workloads: []preemption.Workload{jobWithoutPods("q", 4)},
		Pods: []preemption.Pod{{Namespace: "ns", Name: "in", Priority: prio(5), Queue: "q", Requests: preemption.Resources{"cpu": 4}, Created: noon.Add(-time.Minute)}},
	}
	o := preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 100, Victims: 1}}}
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "in"})
	require.NoError(t, err)
	require.Len(t, r.Victims, 1, r.Message)
	advice(t, pl, r, preemption.Keep)
	waits := s.ClusterQueues[0]
	waits.Preemption.WaitSeconds = 90
	fork := pl.Fork()
	require.NoError(t, fork.SetClusterQueue(waits))
	advice(t, fork, r, preemption.Replan)
	require.NoError(t, pl.Apply(r))
	advice(t, pl, r, preemption.Keep) // it has been told
	require.Equal(t, []cluster.Disruption{{Time: noon, Victims: 1}}, pl.Snapshot().Disruptions)
	s.Disruptions = pl.Snapshot().Disruptions
	pl, err = preemption.NewPlanner(s, o)
	require.NoError(t, err)
	advice(t, pl, r, preemption.Replan)

	s.Disruptions, s.Workloads = nil, []preemption.Workload{jobWithoutPods("q", 2), jobWithoutPods("q", 2)}
	s.Workloads[1].Name = "second"
	r, err = o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "in"}, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict, "both would have to go")
}

// lab is a cluster of four queues: research, which asks for GPUs, and others that hold
// some.
func lab() *preemption.Snapshot {
	holds := func(name, queue string, priority int32, gpus int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Priority: priority, Admission: &cluster.Admission{ClusterQueue: queue},
			PodSets: []cluster.PodSet{{Name: "workers", Count: gpus, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	return &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "research", Cohort: "company", Groups: gpus(10),
				Preemption: cluster.QueuePreemption{
					WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.LowerPriority,
				},
			},
			{Name: "product", Cohort: "company", Groups: gpus(2)},
			{Name: "sales", Cohort: "company", Groups: gpus(4)},
			{Name: "partner", Groups: gpus(2)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			holds("own-high", "research", 9, 1), holds("own-low", "research", 0, 1),
			holds("first", "product", 1, 2), holds("second", "product", 2, 3), holds("third", "product", 3, 3), holds("boss", "product", 9, 1),
			holds("seller", "sales", 0, 4), holds("stranger", "partner", 0, 2),
			{Name: "paper", Queue: "lab", Priority: 5, PodSets: []cluster.PodSet{{Name: "workers", Count: 4, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
}

// The trace of a workload tells which flavor it takes, who goes for it and who comes
// back.
func ExampleOptions_explainQuota() {
	result, err := preemption.Options{Explain: true}.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "paper"}, lab())
	if err != nil {
		panic(err)
	}
	for _, queue := range result.Trace {
		fmt.Println("queue", queue.Domain)
		for _, step := range queue.Steps {
			fmt.Printf("%-9s %s\n", step.Action, step.Text)
		}
	}
	// Output:
	// queue research
	// reject    flavor a100: 3 more gpu needed
	// flavor    pod set workers takes 4 gpu of flavor a100, which others have to leave
	// attempt   its queue may borrow
	// potential first of queue product goes
	// potential second of queue product goes
	// return    first comes back
	// choose    1 workload is evicted
}

// TestWhyAWorkloadIsNoVictim: the grounds in words.
func TestWhyAWorkloadIsNoVictim(t *testing.T) {
	planner, err := preemption.NewPlanner(lab(), preemption.Options{})
	require.NoError(t, err)
	paper := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "paper"}
	_, err = planner.WhyNot(paper, preemption.NodeTarget("n1"))
	require.ErrorContains(t, err, "a workload asks for quota, not for a node")
	_, err = planner.WhyNot(paper, preemption.UnitTarget("paper"))
	require.ErrorContains(t, err, "a workload that holds quota")
	for name, want := range map[string]string{
		"own-high": "own-high may not go: withinClusterQueue of queue research is LowerPriority, its priority is 9 and the preemptor's 5",
		"own-low":  "own-low may stay: others go before it, and that is enough",
		"first":    "first may stay: the preemptor fits with it",
		"second":   "second is a victim",
		"third":    "third may stay: others go before it, and that is enough",
		"boss":     "boss may not go: reclaimWithinCohort of queue research is LowerPriority, its priority is 9 and the preemptor's 5",
		"seller":   "seller may not go: its queue sales does not borrow what is short",
		"stranger": "stranger may not go: its queue partner has no cohort in common with research",
	} {
		why, err := planner.WhyNot(paper, preemption.UnitTarget(name))
		require.NoError(t, err)
		require.Equal(t, want, why.Text)
	}
	snap := lab()
	snap.Workloads[len(snap.Workloads)-1].Boost = -1
	planner, err = preemption.NewPlanner(snap, preemption.Options{})
	require.NoError(t, err)
	why, err := planner.WhyNot(paper, preemption.UnitTarget("own-high"))
	require.NoError(t, err)
	require.Contains(t, why.Text, "its priority is 9 and the preemptor's 4")
}

// TestQuotaTraceIsTheAnswer: with a trace the answer is the same, whoever went and did
// not come back is a victim, and WhyNot knows the victims.
func TestQuotaTraceIsTheAnswer(t *testing.T) {
	returned, kept := 0, 0
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		o := c.options
		o.Explain = true
		explained, err := o.Preempt(quotaPreemptor, c.snapshot)
		require.NoError(t, err)
		out := map[string]bool{}
		for _, step := range explained.Trace[0].Steps {
			switch step.Action {
			case answer.ActionAttempt:
				clear(out)
			case answer.ActionPotential:
				out[step.Unit] = true
			case answer.ActionReturn:
				delete(out, step.Unit)
				returned++
			}
		}
		explained.Trace = nil
		require.Empty(t, cmp.Diff(r, explained))
		planner, err := preemption.NewPlanner(c.snapshot, c.options)
		require.NoError(t, err)
		for _, w := range c.snapshot.Workloads {
			if w.Admission == nil {
				continue
			}
			name := w.Namespace + "/" + w.Name
			why, err := planner.WhyNot(quotaPreemptor, preemption.UnitTarget(name))
			if err != nil { // it holds nothing that counts
				require.ErrorContains(t, err, "holds quota")
				require.False(t, out[name])
				continue
			}
			require.Equal(t, out[name], why.Chosen, name)
			require.NotEmpty(t, why.Text)
			if strings.Contains(why.Text, " may not go: ") {
				kept++
			}
		}
	})
	require.Positive(t, returned)
	require.Greater(t, kept, 100)
}

// TestWhyNotOfQueuedPreemptors: WhyNot knows where the preemptor of a queue goes and who
// goes for it, and has a sentence for every other node and pod.
func TestWhyNotOfQueuedPreemptors(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	everyQueued(t, func(t *testing.T, c *queuedCase, r *preemption.Result) {
		planner, err := preemption.NewPlanner(c.snapshot, c.options)
		require.NoError(t, err)
		at, gone := map[string]bool{}, map[string]bool{}
		for _, n := range r.Nominations {
			at[n.Node] = true
		}
		for _, v := range r.Victims {
			gone[v.Name] = true
			for _, p := range v.Pods {
				gone[p.Name] = true
			}
		}
		for _, n := range c.snapshot.Nodes {
			why, err := planner.WhyNot(c.preemptor, preemption.NodeTarget(n.Name))
			require.NoError(t, err)
			require.Equal(t, at[n.Name], why.Chosen, "%s: %s", n.Name, why.Text)
			require.NotEmpty(t, why.Text)
			note(seen, why.Text)
		}
		for _, p := range c.snapshot.Pods {
			if p.Node == "" {
				continue
			}
			why, err := planner.WhyNot(c.preemptor, preemption.UnitTarget(p.Name))
			require.NoError(t, err)
			require.Equal(t, gone[p.Name], why.Chosen, "%s: %s", p.Name, why.Text)
			require.NotEmpty(t, why.Text)
			note(seen, why.Text)
		}
	})
	for _, part := range grounds {
		require.Positive(t, seen[part], part)
	}
}

// TestWhyNotOfAGangThatCannotBe: a gang of a queue with fewer pods than it needs is told so,
// whatever is asked about.
func TestWhyNotOfAGangThatCannotBe(t *testing.T) {
	two := int32(2)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		ClusterQueues: []preemption.ClusterQueue{{Name: "all"}},
		LocalQueues:   []preemption.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Nodes:         []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 1}}},
		PodGroups:     []preemption.PodGroup{{Name: "gang", MinCount: &two, Queue: "team"}},
		Pods: []preemption.Pod{
			{Name: "old", Node: "n1", Queue: "team", Requests: preemption.Resources{"cpu": 1}},
			{Name: "m1", Group: "gang", Requests: preemption.Resources{"cpu": 1}},
		},
	}, preemption.Options{})
	require.NoError(t, err)
	for _, target := range []preemption.Target{preemption.NodeTarget("n1"), preemption.UnitTarget("old")} {
		why, err := planner.WhyNot(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "gang"}, target)
		require.NoError(t, err)
		require.False(t, why.Chosen)
		require.Contains(t, why.Text, "pod group gang has 1 pod, fewer than its minCount")
	}
}

// grounds are parts of the sentences that WhyNot has.
var grounds = []string{
	"is chosen", "preemption does not help: no place", "preemption does not help: nobody that the queue may evict",
	"help, but", "is as good as", "is a victim", "withinClusterQueue", "reclaimWithinCohort", "does not borrow",
	"may not be evicted: its priority", "may stay: the preemptor fits", "may go, but that does not help",
	"nobody is a victim: fits in", "it goes elsewhere: fits in",
}

func note(seen map[string]int, text string) {
	for _, part := range grounds {
		if strings.Contains(text, part) {
			seen[part]++
		}
	}
}
