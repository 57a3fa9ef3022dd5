package preemption_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// eachKind calls check with random questions of every kind: of pods, gangs, workloads,
// and pods and groups of a queue.
func eachKind(t *testing.T, n uint64, check func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot)) {
	for seed := range seeds(n) {
		o := seededOptions(seed)
		switch seed % 4 {
		case 1:
			o.HardBudgets.All = true
		case 2:
			o.Limits.Window = preemption.Window{Seconds: 600, Victims: 3}
		case 3:
			o.BrokenGroupsFree = true
		}
		pod := gen.Random(seed, gen.Everything())
		gang := sound(o, gen.RandomGang(seed, gen.EverythingForGangs()))
		quota, queued := seededQuota(seed), seededQueued(seed)
		check(t, o, pod.Preemptor, &pod.Snapshot)
		if asksSomething(gang) {
			check(t, o, gang.Preemptor, &gang.Snapshot)
		}
		check(t, quota.options, quotaPreemptor, quota.snapshot)
		check(t, queued.options, queued.preemptor, queued.snapshot)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// reads are all questions that can be asked of a planner about p; last is an answer.
func reads(p preemption.Preemptor, s *preemption.Snapshot, last *preemption.Result) []func(pl *preemption.Planner) {
	list := []func(pl *preemption.Planner){
		func(pl *preemption.Planner) { _, _ = pl.Preempt(p) },
		func(pl *preemption.Planner) { _, _ = pl.Decide(p) },
		func(pl *preemption.Planner) { _, _ = pl.StillValid(last) },
		func(pl *preemption.Planner) { _, _ = pl.Cycle([]preemption.Preemptor{p}) },
		func(pl *preemption.Planner) { _ = pl.Snapshot() },
		func(pl *preemption.Planner) {
			g := pl.Gather()
			_, _ = g.Preempt(p)
			_, _ = g.Plan()
		},
	}
	for i := range s.Nodes {
		list = append(list, func(pl *preemption.Planner) { _, _ = pl.WhyNot(p, preemption.NodeTarget(s.Nodes[i].Name)) })
	}
	for i := range s.Pods {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Pods[i].Namespace+"/"+s.Pods[i].Name))
		})
	}
	for i := range s.Workloads {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Workloads[i].Namespace+"/"+s.Workloads[i].Name))
		})
	}
	return list
}

// others are preemptors of every other kind that s has.
func others(s *preemption.Snapshot) []preemption.Preemptor {
	var list []preemption.Preemptor
	if len(s.PodGroups) > 0 {
		g := &s.PodGroups[0]
		list = append(list, preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name})
	}
	return append(list, preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "other", Priority: prio(7), Requests: preemption.Resources{cluster.CPU: 1}}}})
}

// TestQuestionsOnlyRead: whatever is asked, later answers are the same, of forks too.
func TestQuestionsOnlyRead(t *testing.T) {
	eachKind(t, 60, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		fork := pl.Fork()
		asked := append(others(s), p)
		answers := func(pl *preemption.Planner) (text string) {
			for _, p := range asked {
				r, err := pl.Preempt(p)
				if text += string(toJSON(&named{T: t}, r)); err != nil {
					text += err.Error()
				}
			}
			return text
		}
		before := answers(pl)
		last, _ := pl.Preempt(p)
		for i, read := range reads(p, s, last) {
			read(pl)
			require.Equal(t, before, answers(pl), "read %d", i)
		}
		require.Equal(t, before, answers(fork))
	})
}

// TestQuestionsMayBeAskedAtOnce is for the race detector.
func TestQuestionsMayBeAskedAtOnce(t *testing.T) {
	eachKind(t, 12, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		last, _ := pl.Preempt(p)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for _, read := range reads(p, s, last) {
					read(pl)
				}
			})
		}
		wg.Wait()
	})
}
