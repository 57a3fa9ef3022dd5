package clustertest_test

import (
	"fmt"
	"log"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/clustertest"
)

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
