package preemption_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
)

// podOn is a pod that runs on a node, or waits for one.
func podOn(name, node string, priority int32, cpuMilli int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": cpuMilli}}
}

// fullCluster is a cluster of two full nodes in which web waits.
func fullCluster() *preemption.Snapshot {
	return &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
		},
		Pods: []preemption.Pod{
			podOn("cache", "n1", 500, 2000), podOn("batch-1", "n1", 10, 1000), podOn("batch-2", "n1", 10, 1000),
			podOn("db", "n2", 500, 3000), podOn("log", "n2", 100, 1000),
			podOn("web", "", 1000, 2000),
		},
	}
}

var pendingWeb = preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}

func Example() {
	result, err := preemption.Preempt(pendingWeb, fullCluster())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Message)
	for _, v := range result.Victims {
		fmt.Printf("evict %s of priority %d: it cannot stay on %v\n", v.Name, v.Priority, v.Reason)
	}
	// Output:
	// fits on n1 once 2 pods are evicted
	// evict batch-1 of priority 10: it cannot stay on n1: cpu short by 1000
	// evict batch-2 of priority 10: it cannot stay on n1: cpu short by 1000
}

func ExamplePlanner_WhyNot() {
	planner, err := preemption.NewPlanner(fullCluster(), preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, target := range []preemption.Target{preemption.NodeTarget("n2"), preemption.UnitTarget("cache")} {
		why, err := planner.WhyNot(pendingWeb, target)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(why.Text)
	}
	// Output:
	// evictions on n2 help, but highest priority: 500 against 10 on n1
	// cache may stay: the preemptor fits on n1 with it
}

// Options are data: a question can be kept, and asked again under other rules.
func ExampleOptions() {
	options := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true}
	result, err := options.Preempt(pendingWeb, fullCluster())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Candidates {
		fmt.Print(c.Domain, ":")
		for _, criterion := range c.Score[:2] {
			fmt.Printf(" %s %d;", criterion.Name, criterion.Value)
		}
		fmt.Println()
	}
	// Output:
	// n1: violations 0; highest priority 10;
	// n2: violations 0; highest priority 500;
}

// A scheduler asks about one pod after the other, forks the model to try things out,
// and lets it follow what the cluster does.
func ExamplePlanner_Decide() {
	planner, err := preemption.NewPlanner(fullCluster(), preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	decide := func(where string, planner *preemption.Planner) {
		d, err := planner.Decide(pendingWeb)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s on %s, %d pods go\n", where, d.Verdict, d.Domain, d.Pods)
	}
	decide("now", planner)
	fork := planner.Fork()
	if err := fork.Remove(preemption.PodRef{Name: "db"}); err != nil {
		fmt.Println(err)
		return
	}
	decide("without db", fork)
	decide("still", planner)
	// Output:
	// now: feasible on n1, 2 pods go
	// without db: fits without preemption on n2, 0 pods go
	// still: feasible on n1, 2 pods go
}

// shown asks about s under o, and prints what is answered and who goes.
func shown(o preemption.Options, of preemption.Preemptor, s *preemption.Snapshot) {
	r, err := o.Preempt(of, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Message)
	for _, v := range r.Victims {
		fmt.Print(" ", v.Name)
	}
	fmt.Println()
}

// What keeps victims, or the preemptor itself, from what the rules would do.
func ExampleOptions_whoStays() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	web := frontend(4000)
	web.Evictions = []time.Time{noon.Add(-time.Hour)}
	s := &preemption.Snapshot{
		Time:  noon,
		Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(4000)}},
		Pods: []preemption.Pod{
			web,
			{Name: "old", Node: "n1", Labels: map[string]string{"app": "db"}, Started: noon.Add(-time.Hour), Requests: cpus(2000)},
			{Name: "young", Node: "n1", Started: noon.Add(-time.Minute), Requests: cpus(2000)},
		},
		Budgets: []preemption.Budget{{Name: "db", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}},
	}
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	shown(preemption.Options{}, ask, s)
	shown(preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}, ask, s)
	shown(preemption.Options{Limits: preemption.Limits{Pods: 1}}, ask, s)
	shown(preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 600}}, ask, s)
	shown(preemption.Options{NoCascade: true}, ask, s)
	s.Pods[2].Class = "batch" // which is not there
	shown(preemption.Options{Strict: true}, ask, s)
	// Output:
	// fits on n1 once 2 pods are evicted old young
	// no evictions help
	// no evictions help
	// no evictions help
	// it was evicted itself, and evicts nobody in turn
	// cluster: Pod "young": Class: batch is not accepted under Strict (no such priority class)
}

// Who goes, among those who may.
func ExampleOptions_whoGoes() {
	one, two := int32(1), int32(2)
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Labels: map[string]string{"host": "n1"}, Allocatable: cpus(4000)},
			{Name: "n2", Labels: map[string]string{"host": "n2"}, Allocatable: cpus(4000)},
		},
		PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &two, Priority: &two}},
		Pods: []preemption.Pod{
			frontend(3000),
			{Name: "agent", Node: "n1", Priority: &one, RequiredNode: "n1", Started: noon, Requests: cpus(2000)},
			{Name: "batch", Node: "n1", Priority: &one, Started: noon.Add(-time.Hour), Requests: cpus(1500)},
			{Name: "member", Node: "n2", Priority: &two, Group: "gang", Requests: cpus(4000)}, // the other one is gone
		},
	}
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	shown(preemption.Options{}, ask, s)
	shown(preemption.Options{BrokenGroupsFree: true}, ask, s)
	exactly := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods}, Search: preemption.Exact, SearchSteps: 10_000}
	shown(exactly, ask, s)
	s.Pods[0].Requests, s.Pods[0].RequiredNode = cpus(2000), "n1"
	shown(preemption.Options{}, ask, s)
	shown(preemption.Options{PreferMovable: true}, ask, s)
	// Output:
	// fits on n1 once 2 pods are evicted batch agent
	// fits on n2 once 1 pod is evicted member
	// fits on n2 once 1 pod is evicted member
	// fits on n1 once 1 pod is evicted agent
	// fits on n1 once 1 pod is evicted batch
}

// For how many members of a gang room is made, and at whose cost.
func ExampleOptions_gangs() {
	hundred, one, ten := int32(100), int32(1), int32(10)
	s := &preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "n1", Allocatable: cpus(2000)}, {Name: "n2", Allocatable: cpus(2000)}},
		PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &one, Priority: &hundred}},
		Pods: []preemption.Pod{
			{Name: "m0", Group: "gang", Requests: cpus(2000)}, {Name: "m1", Group: "gang", Requests: cpus(2000)},
			{Name: "a", Node: "n1", Priority: &one, Requests: cpus(1000)}, {Name: "b", Node: "n1", Priority: &one, Requests: cpus(1000)},
			{Name: "c", Node: "n2", Priority: &ten, Requests: cpus(2000)},
		},
	}
	ask := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "gang"}
	shown(preemption.Options{Members: preemption.AllThatFit}, ask, s)
	shown(preemption.Options{Members: preemption.MinCount}, ask, s)
	s.Pods[4].Priority = &one
	shown(preemption.Options{Members: preemption.MinCount, LowestLevel: true, RepeatReprieve: preemption.On}, ask, s)
	// Output:
	// all 2 pods of gang fit in the cluster once 3 pods are evicted c a b
	// 1 of 2 pods of gang fits in the cluster once 2 pods are evicted a b
	// 1 of 2 pods of gang fits in the cluster once 1 pod is evicted c
}

// The user stories of KEP-5710, each as a small cluster that is asked.

// gpuNodes are nodes with 8 GPUs each.
func gpuNodes(names ...string) []preemption.Node {
	var nodes []preemption.Node
	for _, name := range names {
		nodes = append(nodes, preemption.Node{Name: name, Allocatable: preemption.Resources{"gpu": 8}})
	}
	return nodes
}

// pods are pods of a group that ask for GPUs, one for each node given; on "" it is
// pending.
func pods(group string, priority int32, gpus int64, nodes ...string) []preemption.Pod {
	var list []preemption.Pod
	for i, node := range nodes {
		list = append(list, preemption.Pod{
			Name: fmt.Sprintf("%s-%d", group, i), Group: group, Node: node,
			Priority: &priority, Requests: preemption.Resources{"gpu": gpus},
		})
	}
	return list
}

func gang(name string, priority, minCount int32, mode preemption.DisruptionMode) preemption.PodGroup {
	return preemption.PodGroup{Name: name, Priority: &priority, MinCount: &minCount, Mode: mode}
}

func tell(s *preemption.Snapshot, o preemption.Options, p preemption.Preemptor) {
	r, err := o.Preempt(p, s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Message)
	for _, v := range r.Victims {
		var where []string
		for _, pod := range v.Pods {
			where = append(where, pod.Name+" on "+pod.Node)
		}
		fmt.Printf("  %s %s goes: %s\n", v.Kind, v.Name, strings.Join(where, ", "))
	}
	for _, n := range r.Nominations {
		fmt.Printf("  %s to %s\n", n.Pod.Name, n.Node)
	}
}

// A training job makes no progress once a single pod is gone. One pod that asks for
// one node would break it: the whole job is the price, and a pod of its own on
// another node, though of the same priority, is the smaller one.
func ExamplePreempt_trainingJob() {
	alone := pods("alone", 10, 8, "n3")
	alone[0].Group = ""
	s := &preemption.Snapshot{
		Nodes:     gpuNodes("n1", "n2", "n3"),
		PodGroups: []preemption.PodGroup{gang("train", 10, 2, preemption.All)},
		Pods:      append(pods("train", 10, 8, "n1", "n2"), alone...),
	}
	urgent := int32(100)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(s, preemption.Options{}, p)

	s.Pods = s.Pods[:2] // without the pod of its own
	s.Nodes = s.Nodes[:2]
	tell(s, preemption.Options{}, p)
	// Output:
	// fits on n3 once 1 pod is evicted
	//   Pod alone-0 goes: alone-0 on n3
	//   urgent to n3
	// fits on n1 once pod group train (2 pods) is evicted
	//   PodGroup train goes: train-0 on n1, train-1 on n2
	//   urgent to n1
}

// A training job as preemptor evicts for all of its pods or for none: where only
// three of four find room, nobody is evicted.
func ExamplePreempt_jobAsPreemptor() {
	job := func(nodes ...string) *preemption.Snapshot {
		s := &preemption.Snapshot{
			Nodes:     gpuNodes(nodes...),
			PodGroups: []preemption.PodGroup{gang("job", 100, 4, preemption.All)},
			Pods:      pods("job", 100, 8, "", "", "", ""),
		}
		for _, node := range nodes {
			low := pods("low-on-"+node, 1, 4, node)
			low[0].Group = ""
			s.Pods = append(s.Pods, low...)
		}
		return s
	}
	p := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "job"}
	tell(job("n1", "n2", "n3"), preemption.Options{}, p)
	tell(job("n1", "n2", "n3", "n4"), preemption.Options{}, p)
	// Output:
	// no evictions help: room for 3 of the 4 pods that job needs
	// all 4 pods of job fit in the cluster once 4 pods are evicted
	//   Pod low-on-n1-0 goes: low-on-n1-0 on n1
	//   Pod low-on-n2-0 goes: low-on-n2-0 on n2
	//   Pod low-on-n3-0 goes: low-on-n3-0 on n3
	//   Pod low-on-n4-0 goes: low-on-n4-0 on n4
	//   job-0 to n1
	//   job-1 to n2
	//   job-2 to n3
	//   job-3 to n4
}

// replicas are two replicas of an inference server, each a leader and a worker on
// nodes of their own.
func replicas(mode preemption.DisruptionMode) *preemption.Snapshot {
	return &preemption.Snapshot{
		Nodes: gpuNodes("n1", "n2", "n3", "n4"),
		PodGroups: []preemption.PodGroup{
			gang("replica-a", 10, 2, mode), gang("replica-b", 20, 2, mode),
		},
		Pods: append(pods("replica-a", 10, 8, "n1", "n2"), pods("replica-b", 20, 8, "n3", "n4")...),
	}
}

// A replica that spans hosts serves only while all of its pods run: it goes whole,
// and it is the less important replica that goes.
func ExamplePreempt_multihostInference() {
	urgent := int32(100)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(replicas(preemption.All), preemption.Options{}, p)
	// Output:
	// fits on n1 once pod group replica-a (2 pods) is evicted
	//   PodGroup replica-a goes: replica-a-0 on n1, replica-a-1 on n2
	//   urgent to n1
}

// A replica that can serve in a degraded mode says so by disruption mode Single: it
// loses one worker and goes on with the rest.
func ExamplePreempt_degradedMode() {
	urgent := int32(100)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(replicas(preemption.Single), preemption.Options{}, p)
	// Output:
	// fits on n1 once 1 pod is evicted
	//   Pod replica-a-0 goes: replica-a-0 on n1
	//   urgent to n1
}

// What it costs to evict a training job depends on how long ago it saved its state.
// By the early text of the KEP it says so with a preemption priority above its
// scheduling priority, and may change it: hours of work are dear, and right after a
// checkpoint little is lost. Who wants to evict it has to be above that.
func ExampleOptions_preemptionCost() {
	s := &preemption.Snapshot{
		Nodes: gpuNodes("n1", "n2"),
		PodGroups: []preemption.PodGroup{
			gang("hours-ago", 10, 1, preemption.All), gang("just-saved", 10, 1, preemption.All),
		},
		Pods: append(pods("hours-ago", 10, 8, "n1"), pods("just-saved", 10, 8, "n2")...),
	}
	dear, urgent := int32(200), int32(100)
	s.PodGroups[0].PreemptionPriority = &dear
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(s, preemption.Options{Rules: preemption.KEP5710Alpha}, p)

	fmt.Println("hours-ago saves its state, just-saved goes on:")
	s.PodGroups[0].PreemptionPriority, s.PodGroups[1].PreemptionPriority = nil, &dear
	tell(s, preemption.Options{Rules: preemption.KEP5710Alpha}, p)
	// Output:
	// fits on n2 once pod group just-saved (1 pod) is evicted
	//   PodGroup just-saved goes: just-saved-0 on n2
	//   urgent to n2
	// hours-ago saves its state, just-saved goes on:
	// fits on n1 once pod group hours-ago (1 pod) is evicted
	//   PodGroup hours-ago goes: hours-ago-0 on n1
	//   urgent to n1
}
