package preemption_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestEveryProblemIsToldAtOnce: of options, objects, quota, and of a preemptor, in one
// order.
func TestEveryProblemIsToldAtOnce(t *testing.T) {
	o := preemption.Options{
		Rules: "x", Members: "y", Placement: "z", RepeatReprieve: "v", SearchSteps: -1, WaitSeconds: -1,
		Sampling: &preemption.Sampling{Percent: 101, Minimum: -1, Offset: -1},
		Guards:   preemption.Guards{GuaranteedSeconds: -1, Toleration: "w", Protect: &disruption.Selector{MatchLabels: map[string]string{"a b": ""}}},
		Limits:   preemption.Limits{Victims: -1, Pods: -1},
		Quota:    preemption.QuotaOptions{FairSharing: &preemption.FairSharing{Strategies: []preemption.FairStrategy{"a", "b"}}},
		Hooks:    &preemption.Hooks{Constraints: []domain.Constraint{nil}},
	}
	s := &preemption.Snapshot{Nodes: []cluster.Node{{}}, ClusterQueues: []cluster.ClusterQueue{{}}}
	want := []string{
		"Options.Guards.GuaranteedSeconds:", "Options.Guards.Protect:", "Options.Guards.Toleration:", "Options.Hooks.Constraints[0]:",
		"Options.Limits.Pods:", "Options.Limits.Victims:", "Options.Members:", "Options.Placement:",
		"Options.Quota.FairSharing.Strategies[0]:", "Options.Quota.FairSharing.Strategies[1]:", "Options.RepeatReprieve:", "Options.Rules:",
		"Options.Sampling.Minimum:", "Options.Sampling.Offset:", "Options.Sampling.Percent:", "Options.SearchSteps:", "Options.WaitSeconds:", "disruption: selector:",
		"cluster: Node: Name:", "cluster: ClusterQueue: Name:",
	}
	_, err := o.Preempt(preemption.Preemptor{}, s)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, len(want), "%v", err)
	for i, line := range lines {
		require.Contains(t, line, want[i])
	}
	var option *preemption.OptionError
	require.ErrorAs(t, err, &option)
	for range 20 {
		_, again := preemption.NewPlanner(s, o)
		require.EqualError(t, again, err.Error())
	}

	_, err = preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Class: "nobody", Group: "none"}}}, nil)
	require.ErrorContains(t, err, `Class: "nobody"`)
	require.ErrorContains(t, err, `Group: "none"`)
	_, err = preemption.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "a", Workload: &preemption.Workload{}}, nil)
	require.ErrorContains(t, err, "absent, as the preemptor is named")
	require.ErrorContains(t, err, "PodSets: 0 is not")
}

type noPlacer struct{ domain.Pack }

type noOrder func(a, b victims.UnitID) int

func (noOrder) Compare(*victims.Units, victims.UnitID, victims.UnitID) int { return 0 }

func TestHooksThatAreNilAreRefused(t *testing.T) {
	for field, hooks := range map[string]preemption.Hooks{
		"Hooks.Constraints[1]": {Constraints: []domain.Constraint{domain.TopologySpread(), nil}},
		"Hooks.Placer":         {Placer: (*noPlacer)(nil)},
		"Hooks.Order":          {Order: noOrder(nil)},
	} {
		_, err := preemption.NewPlanner(nil, preemption.Options{Hooks: &hooks})
		var option *preemption.OptionError
		require.ErrorAs(t, err, &option)
		require.Equal(t, field, option.Field)
	}
	_, err := preemption.NewPlanner(nil, preemption.Options{Hooks: &preemption.Hooks{Splitter: domain.Topology(nil), Placer: &noPlacer{}}})
	require.NoError(t, err, "a nil list is a splitter")
}

// TestTimesThatJSONCannotHoldAreRefused: wherever one stands.
func TestTimesThatJSONCannotHoldAreRefused(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	objects := func(at time.Time) *preemption.Snapshot {
		past := []time.Time{at}
		return &preemption.Snapshot{
			Time:  at,
			Nodes: []cluster.Node{{Name: "n"}},
			Pods: []preemption.Pod{{
				Name: "p", Node: "n", Created: at, Scheduled: at, Started: at, Evictions: past, Cost: &cluster.Cost{Checkpoint: at},
			}},
			PodGroups:          []preemption.PodGroup{{Name: "g", Evictions: past, Cost: &cluster.Cost{Checkpoint: at}}},
			CompositePodGroups: []cluster.CompositePodGroup{{Name: "c", Evictions: past, Cost: &cluster.Cost{Checkpoint: at}}},
			Disruptions:        []cluster.Disruption{{Time: at}},
			Workloads: []preemption.Workload{{
				Name: "w", Created: at, Requeued: at, Admission: &cluster.Admission{ClusterQueue: "q", Reserved: at}, PodSets: []cluster.PodSet{{Name: "s"}},
			}},
		}
	}
	for _, bad := range []time.Time{
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC),
		started.In(time.FixedZone("far", 24*3600)),
		started.In(time.FixedZone("local mean time", 3600+1)),
		time.Date(9999, 12, 31, 23, 30, 0, 0, time.UTC).In(time.FixedZone("", 3600)),
	} {
		_, err := preemption.NewPlanner(objects(bad), preemption.Options{})
		require.ErrorIs(t, err, cluster.ErrInvalid)
		require.Equal(t, 14, strings.Count(err.Error(), "in the years 0 to 9999"), "%v", err)
		pl, err := preemption.NewPlanner(nil, preemption.Options{})
		require.NoError(t, err)
		require.ErrorIs(t, pl.SetTime(bad), cluster.ErrInvalid)
		require.ErrorIs(t, pl.SetPod(preemption.Pod{Name: "p", Started: bad}), cluster.ErrInvalid)
		require.ErrorIs(t, pl.SetPodGroup(preemption.PodGroup{Name: "g", Evictions: []time.Time{bad}}), cluster.ErrInvalid)
		_, err = pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Created: bad}}})
		require.ErrorIs(t, err, cluster.ErrInvalid)
	}
	for _, good := range []time.Time{
		started, time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		started.In(time.FixedZone("", -(23*3600 + 59*60))),
	} {
		s := objects(good)
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		require.NoError(t, pl.SetTime(good))
		_, err = json.Marshal(pl.Snapshot())
		require.NoError(t, err)
	}
}

// TestNilObjectsAreRefused: an error where an object is to be read, an empty cluster
// where there is none.
func TestNilObjectsAreRefused(t *testing.T) {
	_, err := cluster.NewIndex(nil)
	require.NoError(t, err)
	_, err = quota.NewIndex(nil)
	require.NoError(t, err)
	for field, objects := range map[string]cluster.Objects{
		"Nodes": {Nodes: []*cluster.Node{nil}}, "Pods": {Pods: []*cluster.Pod{{Name: "p"}, nil}},
		"PodGroups": {PodGroups: []*cluster.PodGroup{nil}}, "CompositePodGroups": {CompositePodGroups: []*cluster.CompositePodGroup{nil}},
	} {
		_, err := objects.Index()
		require.EqualError(t, err, "cluster: Snapshot: "+field+": nil is not an object")
	}
	_, err = quota.NewIndexOf(cluster.QuotaObjects{Workloads: []*cluster.Workload{nil}, Cohorts: []*cluster.Cohort{nil}})
	require.EqualError(t, err, "cluster: Snapshot: Cohorts: nil is not an object\ncluster: Snapshot: Workloads: nil is not an object")
	for _, err := range []error{
		(*cluster.Node)(nil).Validate(), (*cluster.Pod)(nil).Validate(), (*cluster.PodGroup)(nil).Validate(),
		(*cluster.CompositePodGroup)(nil).Validate(), (*cluster.Workload)(nil).Validate(), (*cluster.Preemptor)(nil).Validate(),
	} {
		require.ErrorIs(t, err, cluster.ErrInvalid)
	}
}

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
