package clustertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/clustertest"
)

func ptr[T any](v T) *T { return &v }

// What each method tells is in the snapshot, and nothing else.
func TestTheSnapshotHasWhatIsTold(t *testing.T) {
	now := clustertest.Noon.Add(time.Hour)
	got := clustertest.New().At(now).
		Class("prod", 1000).
		Nodes(2, "n").Cores(4).GiB(8).Slots(10).Has("gpu", 1).Label("zone", "a").
		Node("m").Cores(1).Taint("team", "ml").Cordoned().
		With(func(n *preemption.Node) { n.Annotations = map[string]string{"a": "b"} }).
		Group("ml/any").Mode(preemption.Single).
		Gang("ml/train", 2).Priority(7).Mode(preemption.All).Within("zone").Within("rack").
		With(func(g *preemption.PodGroup) { g.UID = "u" }).
		Members(3).Cores(1).On("n1", "n2").
		Pod("ml/alone").In("any").PriorityClass("prod").GiB(1).Asks("gpu", 1).Label("app", "x").Age(time.Minute).
		With(func(p *preemption.Pod) { p.RequiredNode = "m" }).
		Pods(1, "w").On("n1").On().
		Budget("ml/one", 1, "app", "x").
		Budget("all", -1, "", "").
		Change(func(s *preemption.Snapshot) { s.Namespaces = []cluster.Namespace{{Name: "ml"}} }).
		Snapshot()
	node := func(name string) preemption.Node {
		return preemption.Node{
			Name: name, Labels: map[string]string{"zone": "a"},
			Allocatable: preemption.Resources{"cpu": 4000, "memory": 8 << 30, "pods": 10, "gpu": 1},
		}
	}
	member := func(i int, node string) preemption.Pod {
		return preemption.Pod{
			Namespace: "ml", Name: fmt.Sprintf("train-%d", i), Node: node, Group: "train", Priority: ptr[int32](7),
			Requests: preemption.Resources{"cpu": 1000},
		}
	}
	want := &preemption.Snapshot{
		Time:            now,
		PriorityClasses: []preemption.PriorityClass{{Name: "prod", Value: 1000}},
		Nodes: []preemption.Node{node("n1"), node("n2"), {
			Name: "m", Allocatable: preemption.Resources{"cpu": 1000}, Annotations: map[string]string{"a": "b"},
			Taints: []cluster.Taint{{Key: "team", Value: "ml", Effect: cluster.NoSchedule}}, Unschedulable: true,
		}},
		PodGroups: []preemption.PodGroup{
			{Namespace: "ml", Name: "any", Basic: true, Mode: preemption.Single},
			{
				Namespace: "ml", Name: "train", UID: "u", MinCount: ptr[int32](2), Priority: ptr[int32](7), Mode: preemption.All,
				Topology: []preemption.TopologyConstraint{{Key: "zone"}, {Key: "rack"}},
			},
		},
		Pods: []preemption.Pod{
			member(1, "n1"), member(2, "n2"), member(3, "n1"),
			{
				Namespace: "ml", Name: "alone", Group: "any", Class: "prod", RequiredNode: "m", Labels: map[string]string{"app": "x"},
				Requests: preemption.Resources{"memory": 1 << 30, "gpu": 1}, Started: now.Add(-time.Minute),
			},
			{Name: "w1"},
		},
		Budgets: []preemption.Budget{
			{Namespace: "ml", Name: "one", Allowed: 1, Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "x"}}},
			{Name: "all", Allowed: -1, Selector: &disruption.Selector{}},
		},
		Namespaces: []cluster.Namespace{{Name: "ml"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

// A snapshot and the cluster that it is of go separate ways, down to the last map.
func TestASnapshotIsACopy(t *testing.T) {
	c := clustertest.New().Gang("g", 1).Priority(1)
	nodes := c.Node("n").Cores(4)
	pods := c.Pod("p").Priority(1).Cores(1).With(func(p *preemption.Pod) {
		p.Guard = &cluster.Guard{Standby: true}
	})
	one, two := c.Snapshot(), c.Snapshot()
	nodes.Cores(8).Label("a", "b")
	pods.Cores(2).With(func(p *preemption.Pod) { *p.Priority, p.Guard.Standby = 5, false })
	if diff := cmp.Diff(one, two); diff != "" {
		t.Fatalf("the cluster changed a snapshot (-one +two):\n%s", diff)
	}
	one.Nodes[0].Allocatable["cpu"] = 7
	*one.PodGroups[0].MinCount = 9
	require.EqualValues(t, 8000, c.Snapshot().Nodes[0].Allocatable["cpu"])
	require.EqualValues(t, 1, *c.Snapshot().PodGroups[0].MinCount)
}

// failing is a test that fails: Fatalf does not return.
type failing struct{ message string }

func (*failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func TestWhatIsNotValidFailsTheTest(t *testing.T) {
	bad := clustertest.New().Nodes(2, "n").Cores(-1).Pod("web")
	for name, ask := range map[string]func(*failing){
		"Planner": func(f *failing) { bad.Planner(f, preemption.Options{}) },
		"Preempt": func(f *failing) { bad.Preempt(f, preemption.Options{}, clustertest.PodNamed("web")) },
	} {
		f := &failing{}
		require.PanicsWithValue(t, f, func() { ask(f) }, name)
		require.Equal(t, "cluster: Node \"n1\": Allocatable[cpu]: -1000 is not >= 0\ncluster: Node \"n2\": Allocatable[cpu]: -1000 is not >= 0", f.message, name)
	}
	good := clustertest.New().Node("n").Cores(1).Pod("ns/web").Cores(1)
	require.Equal(t, preemption.Fits, good.Preempt(t, preemption.Options{}, clustertest.PodNamed("ns/web")).Verdict)
	result, err := good.Planner(t, preemption.Options{}).Preempt(clustertest.PodNamed("ns/web"))
	require.NoError(t, err)
	require.Equal(t, "n", result.Domain)
}
