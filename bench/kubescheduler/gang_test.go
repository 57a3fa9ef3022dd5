package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestGangCycle holds the scheduler with workload-aware preemption, as it is driven
// here, to answers that are known by hand.
func TestGangCycle(t *testing.T) {
	cases := map[string]struct {
		nodes   []cluster.Node
		groups  []cluster.PodGroup // besides the preemptor
		running []cluster.Pod
		budgets []disruption.Budget
		members int
		least   int32            // minCount of the preemptor
		prio    int32            // of the preemptor
		spread  []cluster.Spread // of its members
		want    []string
	}{
		"as few as minCount needs, and the least important": {
			nodes:   []cluster.Node{node("n1", 2), node("n2", 1)},
			running: []cluster.Pod{running("one", "n1", 1, 2), running("five", "n2", 5, 1)},
			members: 3, least: 2, prio: 100,
			want: []string{"d/one"},
		},
		"two of three equal ones for a gang of four with minCount two": {
			nodes:   []cluster.Node{node("n1", 3)},
			running: []cluster.Pod{running("a", "n1", 1, 1), running("b", "n1", 2, 1), running("c", "n1", 3, 1)},
			members: 4, least: 2, prio: 100,
			want: []string{"d/a", "d/b"},
		},
		"the budget goes to the strong": {
			nodes:   []cluster.Node{node("n1", 3)},
			running: []cluster.Pod{running("a", "n1", 50, 1), running("b", "n1", 40, 1), running("c", "n1", 30, 1)},
			budgets: []disruption.Budget{{Namespace: "d", Name: "all", Allowed: 1, Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "x"}}}},
			members: 1, least: 1, prio: 100,
			want: []string{"d/a"},
		},
		"an All group goes as a whole, on both nodes": {
			nodes:   []cluster.Node{node("n1", 1), node("n2", 1)},
			groups:  []cluster.PodGroup{{Namespace: "d", Name: "low", Mode: disruption.All, Priority: new(int32(10)), MinCount: new(int32(2))}},
			running: []cluster.Pod{in("low", running("l1", "n1", 10, 1)), in("low", running("l2", "n2", 10, 1))},
			members: 1, least: 1, prio: 100,
			want: []string{"d/l1", "d/l2"},
		},
		"a pod of its own goes before an All group of its priority": {
			nodes:   []cluster.Node{node("n1", 1), node("n2", 1)},
			groups:  []cluster.PodGroup{{Namespace: "d", Name: "low", Mode: disruption.All, Priority: new(int32(10)), MinCount: new(int32(1))}},
			running: []cluster.Pod{in("low", running("l1", "n1", 10, 1)), running("alone", "n2", 10, 1)},
			members: 1, least: 1, prio: 100,
			want: []string{"d/alone"},
		},
		"the pods of a Single group count by their own priority": {
			nodes:   []cluster.Node{node("n1", 1)},
			groups:  []cluster.PodGroup{{Namespace: "d", Name: "low", Mode: disruption.Single, Priority: new(int32(100)), MinCount: new(int32(1))}},
			running: []cluster.Pod{in("low", running("l1", "n1", 10, 1))},
			members: 1, least: 1, prio: 50,
			want: []string{"d/l1"},
		},
		"nothing is evicted if minCount cannot be seated": {
			nodes:   []cluster.Node{node("n1", 2)},
			running: []cluster.Pod{running("a", "n1", 1, 1), running("high", "n1", 1000, 1)},
			members: 2, least: 2, prio: 100,
		},
		"who is nominated counts for a selector that is empty, who runs does not": {
			nodes: []cluster.Node{node("n1", 1), node("n2", 1)},
			running: []cluster.Pod{
				running("one", "n1", 1, 1), running("five", "n2", 5, 1),
				nominated(cluster.Pod{Namespace: "d", Name: "waits", UID: "waits", Priority: new(int32(200))}, "n1"),
			},
			members: 1, least: 1, prio: 100, spread: []cluster.Spread{{MaxSkew: 1, TopologyKey: "host", Selector: &disruption.Selector{}}},
			want: []string{"d/five"},
		},
		"terms of who is nominated count beside those of somebody who runs, and who has such a term has to go": {
			nodes: []cluster.Node{node("n1", 2)},
			running: []cluster.Pod{
				running("one", "n1", 1, 1), repelling(running("two", "n1", 2, 1)), repelling(nominated(running("waits", "", 200, 0), "n1")),
			},
			members: 1, least: 1, prio: 100,
			want: []string{"d/two"},
		},
		"and somebody who stays on another node": {
			nodes: []cluster.Node{node("n1", 2), node("n2", 2)},
			running: []cluster.Pod{
				running("one", "n1", 1, 2), repelling(running("stays", "n2", 200, 1)), repelling(nominated(running("waits", "", 200, 0), "n1")),
			},
			members: 1, least: 1, prio: 100,
		},
		"nobody counts for it where nobody is nominated": {
			nodes:   []cluster.Node{node("n1", 1), node("n2", 1)},
			running: []cluster.Pod{running("one", "n1", 1, 1), running("five", "n2", 5, 1), running("beside", "n1", 300, 0)},
			members: 1, least: 1, prio: 100, spread: []cluster.Spread{{MaxSkew: 1, TopologyKey: "host", Selector: &disruption.Selector{}}},
			want: []string{"d/one"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			snap := preemption.Snapshot{Nodes: tc.nodes, Budgets: tc.budgets, Time: start}
			snap.PodGroups = append(tc.groups, cluster.PodGroup{Namespace: "d", Name: "gang", MinCount: &tc.least, Priority: &tc.prio})
			snap.Pods = slices.Clone(tc.running)
			for i := range tc.members {
				p := running(fmt.Sprintf("gang-%d", i), "", tc.prio, 1)
				p.Spread = tc.spread
				snap.Pods = append(snap.Pods, in("gang", p))
			}
			gang := preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "d", Name: "gang"}
			q, err := newQuestion(gang, &snap)
			if err != nil {
				t.Fatal(err)
			}
			g, release, err := newGangScheduler(q)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			if diff := cmp.Diff(tc.want, g.cycle(context.Background())); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
			r, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(gang, &snap)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, victimNames(r)); diff != "" {
				t.Errorf("victims of the library (-want +got):\n%s", diff)
			}
		})
	}
}

var start = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

func node(name string, cores int64) cluster.Node {
	return cluster.Node{Name: name, Labels: map[string]string{"host": name}, Allocatable: cluster.Resources{cluster.CPU: cores * 1000}}
}

// running is a pod on a node, or a pending one if node is empty.
func running(name, node string, priority int32, cores int64) cluster.Pod {
	return cluster.Pod{
		Namespace: "d", Name: name, Node: node, Priority: &priority, Labels: map[string]string{"app": "x"},
		Requests: cluster.Resources{cluster.CPU: cores * 1000}, Started: start.Add(-time.Duration(len(name)) * time.Hour),
	}
}

func nominated(p cluster.Pod, node string) cluster.Pod {
	p.NominatedNode = node
	return p
}

// repelling is p with anti-affinity to all that running makes, on its node.
func repelling(p cluster.Pod) cluster.Pod {
	p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "x"}}}}
	return p
}

func in(group string, p cluster.Pod) cluster.Pod {
	p.Group = group
	return p
}
