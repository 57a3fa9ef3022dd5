package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestNamespacesComeAndGo: an anti-affinity term for the namespaces of a team follows
// their labels, as a snapshot with them would.
func TestNamespacesComeAndGo(t *testing.T) {
	s := twoNodes()
	for i := range s.Nodes {
		s.Nodes[i].Labels = map[string]string{"host": s.Nodes[i].Name}
	}
	s.Pods[0].Namespace, s.Pods[0].Requests = "red", preemption.Resources{cluster.CPU: 1}
	s.Pods[2].AntiAffinity = []cluster.AffinityTerm{{
		TopologyKey: "host", Selector: &preemption.Selector{},
		NamespaceSelector: &preemption.Selector{MatchLabels: map[string]string{"team": "red"}},
	}}
	planner, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"}
	ask := func(verdict preemption.Verdict) {
		t.Helper()
		r, err := planner.Preempt(web)
		require.NoError(t, err)
		fresh, err := preemption.Preempt(web, planner.Snapshot())
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(fresh, r))
		require.Equal(t, verdict, r.Verdict)
	}
	ask(preemption.Fits)
	require.NoError(t, planner.SetNamespace(cluster.Namespace{Name: "red", Labels: map[string]string{"team": "red"}}))
	ask(preemption.Feasible)
	require.NoError(t, planner.SetNamespace(cluster.Namespace{Name: "red", Labels: map[string]string{"team": "blue"}}))
	ask(preemption.Fits)
	require.NoError(t, planner.SetNamespace(cluster.Namespace{Name: "red", Labels: map[string]string{"team": "red"}}))
	require.NoError(t, planner.RemoveNamespace("red"))
	ask(preemption.Fits)
	require.ErrorContains(t, planner.RemoveNamespace("red"), "red")
	require.ErrorIs(t, planner.SetNamespace(cluster.Namespace{}), cluster.ErrInvalid)
}
