package onepod_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/victims"
)

// TestTrialsMoveLargeUnitsAtOnce: whether a pod fits where units of many pods leave and return at once, in part or one pod after
// the other, beside pods that do by themselves, is what a trial says in which all do one by one.
func TestTrialsMoveLargeUnitsAtOnce(t *testing.T) {
	const nodes, groups, numLarge = 5, 10, 65
	r := rand.New(rand.NewPCG(1, 1))
	s := &cluster.Snapshot{}
	for i := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"host": fmt.Sprint(i)}, Allocatable: cluster.Resources{cluster.CPU: 60}})
	}
	for g := range groups {
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: fmt.Sprint("g", g), Mode: disruption.All})
		for i := range []int{numLarge, 3}[g%2] {
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprint("p", g, "-", i), Group: fmt.Sprint("g", g), Labels: map[string]string{"app": fmt.Sprint(i % 2)},
				Node: []string{"n0", "n1", "n2", "n3", "n4", "gone"}[r.IntN(6)], Requests: cluster.Resources{cluster.CPU: 1},
			})
		}
	}
	w := newWorld(t, s)
	high, app := int32(9), &disruption.Selector{MatchLabels: map[string]string{"app": "1"}}
	fits := map[bool]int{}
	for _, pod := range []cluster.Pod{
		{Affinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: app}}},
		{Spread: []cluster.Spread{{MaxSkew: 2, TopologyKey: "host", Selector: app}}},
	} {
		pod.Name, pod.Priority, pod.Labels, pod.Requests = "in", &high, app.MatchLabels, cluster.Resources{cluster.CPU: 10}
		q := w.question(&ask.Settings{}, nil, &pod)
		for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
			state, err := c.Prepare(w.ix, []*cluster.Pod{&pod})
			require.NoError(t, err)
			if state != nil {
				q.States = append(q.States, state)
			}
		}
		var trial onepod.Trial
		trial.Ask(q, domain.Nominees{Self: cluster.NoPod})
		plain := domain.NewNodeTrial(w.ix, q.Members[0], q.Clone().States, domain.Nominees{Self: cluster.NoPod})
		out := map[cluster.PodID]bool{}
		for range 3_000 {
			if r.IntN(20) == 0 || trial.Node() == cluster.NoNode {
				n := cluster.NodeID(r.IntN(nodes))
				trial.Reset(n)
				plain.Reset(n)
				clear(out)
			}
			p := cluster.PodID(r.IntN(w.ix.NumPods()))
			u, _ := w.units.UnitOf(p)
			all := w.units.Unit(u).Pods
			if r.IntN(3) == 0 {
				all = []cluster.PodID{p}
			}
			moveAll(&trial, plain, out, u, all)
			why := plain.Fits()
			fits[why.OK()]++
			require.Equal(t, why, trial.Fits())
		}
	}
	require.Greater(t, fits[true], 300)
	require.Greater(t, fits[false], 300)
}

// moveAll lets pods of unit u leave if the first of them is there, else return: those of them who are not away, or there, already.
func moveAll(trial *onepod.Trial, plain *domain.NodeTrial, out map[cluster.PodID]bool, u victims.UnitID, pods []cluster.PodID) {
	away, mixed := !out[pods[0]], false
	for _, p := range pods {
		mixed = mixed || out[p] == away
	}
	if !mixed && away {
		trial.RemoveUnit(u, pods)
	} else if !mixed {
		trial.ReturnUnit(u, pods)
	}
	for _, p := range pods {
		if out[p] == away {
			continue
		}
		if out[p] = away; away {
			plain.Remove(p)
		} else {
			plain.Return(p)
		}
		if mixed && away {
			trial.Remove(p)
		} else if mixed {
			trial.Return(p)
		}
	}
}

// TestEachTryIsALookMore: whoever waits may go away between two nodes that are tried one by one, also where
// little is tried.
func TestEachTryIsALookMore(t *testing.T) {
	const nodes = 40
	s := &cluster.Snapshot{}
	low, high := int32(1), int32(9)
	for i := range nodes {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cluster.Resources{cluster.CPU: 4}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "low" + node, Node: node, Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "high" + node, Node: node, Priority: &high, Requests: cluster.Resources{cluster.CPU: 3}})
	}
	w := newWorld(t, s)
	pod := &cluster.Pod{Name: "in", Priority: &high, Requests: cluster.Resources{cluster.CPU: 2}}
	require.Equal(t, ask.Infeasible, w.plainly(w.question(&ask.Settings{}, nil, pod)).verdict)
	require.GreaterOrEqual(t, w.polls.Load(), int64(2*nodes), "each is looked at, and tried")
}
