package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// growing is a planner of one node that offers what is given, and has been asked once.
func growing(t *testing.T, offers preemption.Resources, pods ...preemption.Pod) *history {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: offers}}, Pods: pods}, preemption.Options{})
	require.NoError(t, err)
	h := &history{Planner: pl}
	h.ask(t, asks(1))
	return h
}

// asks is a preemptor of priority 10.
func asks(cpuMilli int64) preemption.Preemptor {
	return preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: prio(10), Requests: preemption.Resources{cluster.CPU: cpuMilli}}}}
}

func lesser(name string, priority int32, cpuMilli int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: "n1", Priority: prio(priority), Requests: preemption.Resources{cluster.CPU: cpuMilli}}
}

// TestNodesGrow: whatever a node offered when the cluster was compiled, it offers what it
// was set to, and no more than that.
func TestNodesGrow(t *testing.T) {
	t.Parallel()
	for before := int64(1); before <= 16; before++ {
		for after := before; after <= 33; after++ {
			h := growing(t, preemption.Resources{cluster.CPU: before}, lesser("a", 0, 1))
			require.NoError(t, h.SetNode(cluster.Node{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: after}}))
			for ask := after; ask <= after+3; ask++ {
				h.ask(t, asks(ask))
			}
		}
	}
}

// TestNodesGrowInPods is the same for the number of pods, which packed room counts too.
func TestNodesGrowInPods(t *testing.T) {
	t.Parallel()
	for before := int64(0); before <= 9; before++ {
		for _, after := range []int64{before, before + 1, before + 3, 7, 8, 15, -1} {
			for k := int64(1); k <= 6; k++ {
				h := growing(t, preemption.Resources{cluster.CPU: 8, cluster.Pods: before})
				require.NoError(t, h.SetPod(lesser("large", 0, 8-k)))
				for i := range k {
					require.NoError(t, h.SetPod(lesser(fmt.Sprint("small-", i), 5, 1)))
				}
				h.ask(t, asks(3))
				offers := preemption.Resources{cluster.CPU: 8, cluster.Pods: after}
				if after < 0 { // as many as there are
					delete(offers, cluster.Pods)
				}
				require.NoError(t, h.SetNode(cluster.Node{Name: "n1", Allocatable: offers}))
				h.ask(t, asks(3))
				h.ask(t, asks(8))
			}
		}
	}
}

// TestANodeThatComesBackIsLaidOut: the columns were made while there was no node, and pods
// that ran there asked for more than any.
func TestANodeThatComesBackIsLaidOut(t *testing.T) {
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n", Allocatable: cpus(2000)}},
		Pods:  []preemption.Pod{{Name: "a", Node: "n", Requests: cpus(500)}, {Name: "b", Node: "n", Requests: cpus(500)}},
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	require.NoError(t, pl.RemoveNode("n"))
	require.NoError(t, pl.SetBudget(preemption.Budget{Name: "b", Selector: &preemption.Selector{MatchLabels: map[string]string{"a": "b"}}}))
	ask := preemption.Preemptor{Pods: []preemption.Pod{frontend(1500)}}
	_, err = pl.Preempt(ask) // makes the columns anew
	require.NoError(t, err)
	require.NoError(t, pl.SetNode(s.Nodes[0]))
	live, err := pl.Preempt(ask)
	require.NoError(t, err)
	fresh, err := preemption.Options{}.Preempt(ask, pl.Snapshot())
	require.NoError(t, err)
	require.Equal(t, fresh, live)
}
