package preemption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
