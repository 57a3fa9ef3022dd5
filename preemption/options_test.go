package preemption_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func Example_optionsAsData() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	since := func(p preemption.Pod, hours int) preemption.Pod {
		p.Started = noon.Add(-time.Duration(hours) * time.Hour)
		return p
	}
	labelled := func(p preemption.Pod, app string) preemption.Pod {
		p.Labels = map[string]string{"app": app}
		return p
	}
	node := func(name string) preemption.Node {
		return preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": 4000}}
	}
	web := task("web", "", 10, 3)
	web.Created = noon.Add(-10 * time.Second)
	snapshot := &preemption.Snapshot{
		Time:  noon,
		Nodes: []preemption.Node{node("n1"), node("n2"), node("n3")},
		Pods: []preemption.Pod{
			since(task("young", "n1", 1, 2), 1), since(task("old", "n1", 1, 2), 9),
			labelled(since(task("api", "n2", 1, 4), 9), "api"),
			labelled(since(task("db", "n3", 5, 4), 9), "db"),
			web,
		},
		Budgets: []preemption.Budget{{Name: "db", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "db"}}}}, // allows none
	}
	for _, text := range []string{
		`{}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}, "guaranteedSeconds": 7200}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}, "hardBudgets": {"all": true}}`,
		`{"waitSeconds": 60}`,
	} {
		var options preemption.Options
		must(json.Unmarshal([]byte(text), &options))
		answer, err := options.Preempt(askAbout("web"), snapshot)
		must(err)
		fmt.Println(text)
		fmt.Print("  ", answer.Message, ":")
		for _, v := range answer.Victims {
			fmt.Print(" ", v.Name)
		}
		fmt.Println()
	}
	// Output:
	// {}
	//   fits on n2 once 1 pod is evicted: api
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}}
	//   fits on n1 once 2 pods are evicted: old young
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}, "guaranteedSeconds": 7200}}
	//   fits on n3 once 1 pod is evicted: db
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}}
	//   fits on n3 once 1 pod is evicted: db
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}, "hardBudgets": {"all": true}}
	//   no evictions help:
	// {"waitSeconds": 60}
	//   it waits 1m0s before it preempts, 50s more:
}

// The score of a trace tells the earliest start as a time, and says so where neither
// a start nor the time of the snapshot is known.
func TestScoreTellsTheEarliestStart(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		started time.Time
		want    string
	}{
		"known":   {noon, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start 2026-01-02T12:00:00Z"},
		"unknown": {time.Time{}, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			one := int32(1)
			s := &preemption.Snapshot{
				Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"cpu": 1000, "pods": 10}}},
				Pods: []cluster.Pod{
					{Namespace: "x", Name: "old", Node: "n1", Requests: cluster.Resources{"cpu": 1000}, Started: tt.started},
					{Namespace: "x", Name: "new", Requests: cluster.Resources{"cpu": 1000}, Priority: &one},
				},
			}
			r, err := preemption.Options{Explain: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "x", Name: "new"}, s)
			require.NoError(t, err)
			require.Len(t, r.Trace, 1)
			var texts []string
			for _, step := range r.Trace[0].Steps {
				texts = append(texts, step.Text)
			}
			require.Contains(t, texts, tt.want)
		})
	}
}

// TestVictimsBelowTheLowestLevelViolate: who violates a budget is tried twice where the
// lowest level is looked for, and violates it all the same.
func TestVictimsBelowTheLowestLevelViolate(t *testing.T) {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	s := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu(2000)}},
		Pods: []preemption.Pod{
			{Name: "a", Node: "n1", Labels: map[string]string{"app": "web"}, Priority: &low, Requests: cpu(2000)},
			{Name: "p", Priority: &high, Requests: cpu(2000)},
		},
		Budgets: []preemption.Budget{{Name: "b", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "web"}}}},
	}
	r, err := preemption.Options{LowestLevel: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}, &s)
	require.NoError(t, err)
	require.Equal(t, 1, r.Violations)
	require.True(t, r.Victims[0].Violates)
}

// TestLowestGangsHold: a gang that moves while those come back who violate budgets keeps its seats where
// the placers find no other placement for as many; every answer is verified.
func TestLowestGangsHold(t *testing.T) {
	t.Parallel()
	one, asked := int32(1), 0
	for seed := range seeds(2500) {
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 12, Budgets: seed%2 == 0, Nominations: seed%4 == 0}, MaxMembers: 4})
		if !asksSomething(q) {
			continue
		}
		for i := range q.Snapshot.PodGroups {
			q.Snapshot.PodGroups[i].MinCount, q.Snapshot.PodGroups[i].Basic = &one, false
		}
		o := preemption.Options{LowestLevel: true, Rules: preemption.Kubernetes136, Members: preemption.AllThatFit}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		r, err := pl.Preempt(q.Preemptor)
		require.NoError(t, err, "seed %d", seed)
		if r.Verdict != preemption.Feasible {
			require.False(t, r.Verdict == preemption.Fits && len(r.Nominations) == 0, "seed %d: %s", seed, r.Message)
			continue
		}
		asked++
		require.NoError(t, pl.Evict(r), "seed %d", seed)
		for _, n := range r.Nominations {
			require.NoError(t, pl.Bind(n.Pod, n.Node), "seed %d", seed)
		}
	}
	require.Greater(t, asked, int(seeds(2500))/4)
}
