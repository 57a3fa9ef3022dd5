package clustertest_test

import (
	"fmt"
	"log"
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

// A test of one's own options: who goes, and in words what is another answer than the default's.
func Example() {
	shop := clustertest.New().
		Nodes(2, "n").Cores(4).Label("zone", "a").
		Pods(2, "batch-").On("n1").Priority(1).Cores(2).Age(3*time.Hour).
		Pod("db").On("n2").Priority(5).Cores(4).Label("app", "db").
		Budget("db", 0, "app", "db").
		Pod("web").Priority(10).Cores(4)

	var t fatal // in a test: t *testing.T
	byDefault := shop.Preempt(t, preemption.Options{}, clustertest.PodNamed("web"))
	fmt.Println(byDefault.Message)

	onePod := shop.Preempt(t, preemption.Options{Limits: preemption.Limits{Pods: 1}}, clustertest.PodNamed("web"))
	fmt.Print(clustertest.Diff(byDefault, onePod))
	// Output:
	// fits on n1 once 2 pods are evicted
	// verdict: got feasible (fits on n2 once 1 pod is evicted), want feasible (fits on n1 once 2 pods are evicted)
	// Pod batch-1: stays, want it evicted
	// Pod batch-2: stays, want it evicted
	// Pod db: is evicted, want it to stay
	// web: goes to n2, want to n1
	// budgets: db is not wanted
	// domain: got "n2", want "n1"
	// overruns: got 1, want 0
	// rejected: "limit pods stands in the way" is not wanted
	// score[earliest start].value: got -1767268800000000000, want -1767258000000000000
	// score[highest priority].value: got 5, want 1
	// score[pods].value: got 1, want 2
	// score[sum of priorities].value: got 2147483653, want 4294967298
	// score[violations].value: got 1, want 0
	// violations: got 1, want 0
}

// A gang, and another one in its way that goes as a whole.
func ExampleCluster_Gang() {
	farm := clustertest.New().
		Nodes(2, "gpu-").Has("gpu", 8).
		Gang("ml/old", 2).Priority(1).Mode(preemption.All).Members(2).Asks("gpu", 4).On("gpu-1", "gpu-2").
		Gang("ml/new", 3).Priority(9).Members(3).Asks("gpu", 4)
	result := farm.Preempt(fatal{}, preemption.Options{}, clustertest.GroupNamed("ml/new"))
	fmt.Println(result.Message)
	for _, n := range result.Nominations {
		fmt.Println(n.Pod.Name, n.Node)
	}
	// Output:
	// all 3 pods of ml/new fit in the cluster once pod group ml/old (2 pods) is evicted
	// new-1 gpu-1
	// new-2 gpu-2
	// new-3 gpu-1
}

// Seeds are faster, and the same on every machine.
func ExampleRandom() {
	verdicts := map[preemption.Verdict]int{}
	for seed := range uint64(1000) {
		q := clustertest.Random(seed, clustertest.Everything(0))
		result, err := preemption.Preempt(q.Preemptor, q.Snapshot)
		if err != nil {
			log.Fatal(err)
		}
		verdicts[result.Verdict]++
	}
	fmt.Println(verdicts[preemption.Feasible] > 100, verdicts[preemption.Infeasible] > 100, verdicts[preemption.Fits] > 100)
	// Output: true true true
}

// fatal stands for a test.
type fatal struct{}

func (fatal) Helper()                           {}
func (fatal) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }
