package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestANilSnapshotIsAnEmptyCluster(t *testing.T) {
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web"}}}
	want, err := preemption.Preempt(p, &preemption.Snapshot{})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, want.Verdict)

	got, err := preemption.Preempt(p, nil)
	require.NoError(t, err)
	require.Equal(t, want, got)

	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	require.NoError(t, err)
	got, err = planner.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestANilResultCannotBeApplied(t *testing.T) {
	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, planner.Apply(nil), preemption.ErrNotApplicable)
	require.ErrorIs(t, planner.Evict(nil), preemption.ErrNotApplicable)
	_, err = planner.StillValid(nil)
	require.ErrorIs(t, err, preemption.ErrNotApplicable)
}

func TestPreemptorsThatCannotBeRead(t *testing.T) {
	snapshot := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}},
		Pods:  []preemption.Pod{{Name: "runs", Node: "n1"}, {Name: "web"}},
	}
	cases := map[string]struct {
		preemptor preemption.Preemptor
		want      string
	}{
		"an inline pod with the name of a running one": {
			preemption.Preemptor{Pods: []preemption.Pod{{Name: "runs"}}},
			`cluster: Pod "runs": Name: "runs" is not a name that no running pod has`,
		},
		"a workload beside a pod": {
			preemption.Preemptor{Kind: cluster.KindPod, Name: "web", Workload: &preemption.Workload{Name: "job"}},
			`cluster: Preemptor "web": Workload: set is not absent, as Kind is not Workload`,
		},
		"a placement of a workload": {
			preemption.Preemptor{Kind: cluster.KindWorkload, Name: "job", Placement: map[string]string{"job": "n1"}},
			`cluster: Preemptor "job": Placement: set is not absent, as the preemptor is a workload`,
		},
		"an unknown kind": {
			preemption.Preemptor{Kind: "Job", Name: "job"},
			`cluster: Preemptor "job": Kind: "Job" is not Pod, PodGroup, CompositePodGroup or Workload`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := preemption.Preempt(c.preemptor, snapshot)
			require.EqualError(t, err, c.want)
			require.ErrorIs(t, err, cluster.ErrInvalid)
		})
	}
}

func TestWhyNotAsksAboutOneThing(t *testing.T) {
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}}, Pods: []preemption.Pod{{Name: "runs", Node: "n1"}, {Name: "web"}},
	}, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	for _, target := range []preemption.Target{{}, {Node: "n1", Unit: "runs"}} {
		_, err := planner.WhyNot(web, target)
		require.ErrorIs(t, err, cluster.ErrInvalid)
		require.ErrorContains(t, err, "is not set where Node is not, and only there")
	}
}
