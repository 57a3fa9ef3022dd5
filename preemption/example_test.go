package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
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

// cpus asks for, or offers, so many milli-CPU.
func cpus(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: n} }

// farm is a planner of two full nodes: batch jobs of priority 0 on the first, a service of
// priority 50 on the second.
func farm(pending ...preemption.Pod) *preemption.Planner {
	fifty := int32(50)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
		Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(4000)}, {Name: "n2", Allocatable: cpus(4000)}},
		Pods: append([]preemption.Pod{
			{Name: "batch-1", Node: "n1", Requests: cpus(2000)},
			{Name: "batch-2", Node: "n1", Requests: cpus(2000)},
			{Name: "service", Node: "n2", Priority: &fifty, Requests: cpus(4000)},
		}, pending...),
	}, preemption.Options{})
	if err != nil {
		panic(err) // the examples' own input
	}
	return planner
}

// frontend is a pending pod "web" of priority 100 that asks for so much.
func frontend(milli int64) preemption.Pod {
	hundred := int32(100)
	return preemption.Pod{Name: "web", Priority: &hundred, Requests: cpus(milli)}
}

// The whole loop of a scheduler, for one pod: decide, plan, tell the victims to go, wait
// until they have gone, bind.
func ExamplePlanner() {
	planner := farm()
	if err := planner.SetPod(frontend(3000)); err != nil { // it arrives
		fmt.Println(err)
		return
	}
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	for turn := 1; ; turn++ {
		decision, err := planner.Decide(ask) // cheap: for every pod of the queue
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("turn %d: %s\n", turn, decision.Verdict)
		switch decision.Verdict {
		case preemption.Fits:
			if err := planner.Bind(preemption.PodRef{Name: "web"}, decision.Domain); err != nil {
				fmt.Println(err)
			}
			fmt.Println("web runs on", decision.Domain)
			return
		case preemption.Feasible:
			plan, err := planner.Preempt(ask) // whom, and where
			if err == nil {
				err = planner.Apply(plan) // the victims terminate, web is nominated
			}
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(plan.Message)
		case preemption.Waiting: // a real scheduler would hear of the pods that are gone
			for _, name := range []string{"batch-1", "batch-2"} {
				if err := planner.Remove(preemption.PodRef{Name: name}); err != nil {
					fmt.Println(err)
				}
			}
		default:
			return // for another time
		}
	}
	// Output:
	// turn 1: feasible
	// fits on n1 once 2 pods are evicted
	// turn 2: waiting
	// turn 3: fits without preemption
	// web runs on n1
}

// Applied answers leave their victims terminating, where they are, until they are removed.
func ExamplePlanner_Apply() {
	planner := farm(frontend(2000))
	plan, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	if err == nil {
		err = planner.Apply(plan)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	err = planner.View(func(v preemption.View) {
		for pod := range v.Terminating() {
			fmt.Println(pod.Name, "terminates on", pod.Node)
		}
		for pod := range v.NominatedTo("n1") {
			fmt.Println(pod.Name, "is nominated to n1, of which", v.Free("n1")[cluster.CPU], "are free")
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// batch-2 terminates on n1
	// web is nominated to n1, of which 0 are free
}

// A simulator lets victims leave at once, on a fork that nobody else sees.
func ExamplePlanner_Evict() {
	planner := farm(frontend(2000))
	what := planner.Fork()
	plan, err := what.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	if err == nil {
		err = what.Evict(plan)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the fork has", len(what.Snapshot().Pods), "pods")
	fmt.Println("the planner has", len(planner.Snapshot().Pods), "pods")
	// Output:
	// the fork has 3 pods
	// the planner has 4 pods
}

// An answer that waits for its turn may be overtaken.
func ExamplePlanner_StillValid() {
	planner := farm(frontend(2000))
	plan, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	if err != nil {
		fmt.Println(err)
		return
	}
	tell := func(when string) {
		v, err := planner.StillValid(plan)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s %s\n", when, v.Advice, v.Reason)
	}
	tell("at once")
	if err := planner.Remove(preemption.PodRef{Name: "batch-1"}); err != nil {
		fmt.Println(err)
	}
	tell("a pod has finished")
	if err := planner.RemoveNode("n1"); err != nil {
		fmt.Println(err)
	}
	tell("its node is gone")
	// Output:
	// at once: keep every nominated place fits once the victims are gone
	// a pod has finished: cancel it fits without evicting anybody
	// its node is gone: replan node n1 is gone
}

// What does not exist, runs already or has no room is not bound: the error names it.
func ExamplePlanner_Bind() {
	planner := farm(frontend(2000))
	for _, err := range []error{
		planner.Bind(preemption.PodRef{Name: "web"}, "n9"),
		planner.Bind(preemption.PodRef{Name: "batch-1"}, "n1"),
		planner.Bind(preemption.PodRef{Name: "nobody"}, "n1"),
		planner.Bind(preemption.PodRef{Name: "web"}, "n1"),
	} {
		var wrong *cluster.FieldError
		fmt.Println(errors.As(err, &wrong), err)
	}
	// Output:
	// true cluster: Pod "web": Node: "n9" is not a node of the planner's cluster
	// true cluster: Pod "batch-1": Node: "n1" is not empty: the pod runs already
	// true cluster: Pod "nobody": Name: "nobody" is not in the planner's cluster
	// true cluster: Pod "web": Node: "n1" is not a node with room for it (cpu short by 2000)
}

// A victim cannot be evicted, as its kubelet is out of reach, say: it stays, and others are
// looked for.
func ExamplePlanner_Spare() {
	planner := farm(frontend(2000))
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	plan, err := planner.Preempt(ask)
	if err == nil {
		err = planner.Apply(plan)
	}
	stays := plan.Victims[0].Pods[0].PodRef
	err = errors.Join(err, planner.Spare(stays), planner.View(func(v preemption.View) {
		pod := *v.Pod(stays)
		pod.Guard = &cluster.Guard{Standby: true}
		fmt.Println(stays.Name, "leaves:", pod.Terminating || pod.Preempted, planner.SetPod(pod))
	}))
	valid, err2 := planner.StillValid(plan)
	fmt.Println(valid.Advice, errors.Join(err, err2))
	plan, err = planner.Preempt(ask)
	fmt.Println("evict", plan.Victims[0].Name, err)
	// Output:
	// batch-2 leaves: false <nil>
	// replan <nil>
	// evict batch-1 <nil>
}

// A victim that leaves waits again, with a higher price or a cooldown if options say so.
func ExamplePlanner_Requeue() {
	planner := farm(frontend(2000))
	plan, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	if err == nil {
		err = planner.Apply(plan)
	}
	for _, victim := range plan.Victims {
		for _, pod := range victim.Pods {
			err = errors.Join(err, planner.Requeue(pod.PodRef))
		}
	}
	err = errors.Join(err, planner.View(func(v preemption.View) {
		for pod := range v.Pending() {
			fmt.Printf("%s waits, evicted %d times, nominated to %q\n", pod.Name, len(pod.Evictions), pod.NominatedNode)
		}
	}))
	fmt.Println(err)
	// Output:
	// batch-2 waits, evicted 1 times, nominated to ""
	// web waits, evicted 0 times, nominated to "n1"
	// <nil>
}

// Who waits is asked again only when a change may have brought him an answer.
func ExamplePlanner_Park() {
	large, small := frontend(4000), frontend(1000)
	large.Name, small.Name = "large", "small"
	large.Priority, small.Priority = nil, nil // no more important than the batch jobs
	planner := farm(large, small)
	for _, name := range []string{"large", "small"} {
		decision, err := planner.Park(preemption.Preemptor{Kind: preemption.KindPod, Name: name})
		fmt.Println(name, "is", decision.Verdict, err)
	}
	fmt.Println(len(planner.Wake()), "have to be asked again: nothing has changed")
	if err := planner.Remove(preemption.PodRef{Name: "batch-1"}); err != nil { // a job of 2000 ends
		fmt.Println(err)
	}
	for _, p := range planner.Wake() {
		decision, err := planner.Park(p)
		fmt.Println(p.Name, decision.Verdict, "on", decision.Domain, err)
	}
	// Output:
	// large is infeasible <nil>
	// small is infeasible <nil>
	// 0 have to be asked again: nothing has changed
	// small fits without preemption on n1 <nil>
}

// A node fails, and its pods with it: whoever made them makes them anew.
func ExamplePlanner_RemoveNodeAndPods() {
	planner := farm()
	gone, err := planner.RemoveNodeAndPods("n1")
	for _, pod := range gone {
		fmt.Println(pod.Name, "ran on", pod.Node)
		pod.Node, pod.Started = "", time.Time{}
		err = errors.Join(err, planner.SetPod(pod))
	}
	fmt.Println(err)
	// Output:
	// batch-1 ran on n1
	// batch-2 ran on n1
	// <nil>
}

// A cluster that grows, and a clock that guards are measured by.
func ExamplePlanner_SetNode() {
	planner := farm(frontend(8000))
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	before, err := planner.Decide(ask)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = errors.Join(
		planner.SetNode(preemption.Node{Name: "n3", Allocatable: cpus(8000)}),
		planner.SetTime(time.Date(2026, 1, 1, 12, 5, 0, 0, time.UTC)),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := planner.Decide(ask)
	fmt.Println(before.Verdict, "before;", after.Verdict, "on", after.Domain, err)
	// Output:
	// infeasible before; fits without preemption on n3 <nil>
}

// Pods that arrive at once are planned together: where one goes, another may go with it. Asked one by
// one, the first would evict the pod of 2 CPUs on n1, which makes no room for the second.
func ExamplePlanner_PreemptAll() {
	pod := func(name, node string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": cpu}}
	}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 3_000, "pods": 10}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4_000, "pods": 10}},
		},
		Pods: []preemption.Pod{
			pod("small", "n1", 10, 2_000), pod("other", "n1", 10, 1_000), pod("large", "n2", 10, 4_000),
			pod("web-1", "", 100, 2_000), pod("web-2", "", 100, 2_000),
		},
	}, preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	results, err := planner.PreemptAll([]preemption.Preemptor{
		{Kind: preemption.KindPod, Name: "web-1"}, {Kind: preemption.KindPod, Name: "web-2"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		fmt.Println(r.Message)
		for _, n := range r.Nominations {
			fmt.Println(n.Pod.Name, "goes to", n.Node)
		}
	}
	// Output:
	// all 2 pods of the kind of web-1 fit in the cluster once 1 pod is evicted
	// web-1 goes to n2
	// web-2 goes to n2
}

// A gang pod by pod, for schedulers that ask so: each sees the earlier ones in place, and
// all go or none.
func ExamplePlanner_Gather() {
	first, second := frontend(2000), frontend(2000)
	second.Name = "web-2"
	planner := farm(first, second)
	gang := planner.Gather()
	for _, name := range []string{"web", "web-2"} {
		r, err := gang.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name+":", r.Message)
	}
	plan, err := gang.Plan()
	if err == nil {
		err = planner.Apply(plan)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("together:", len(plan.Nominations), "nominations,", len(plan.Victims), "victims")
	// Output:
	// web: fits on n1 once 1 pod is evicted
	// web-2: fits on n1 once 1 pod is evicted
	// together: 2 nominations, 2 victims
}

// verdict asks about pod "web".
func verdict(planner *preemption.Planner) preemption.Verdict {
	d, err := planner.Decide(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	must(err)
	return d.Verdict
}

// The pods of a class follow it.
func ExamplePlanner_SetPriorityClass() {
	planner := farm(preemption.Pod{Name: "web", Class: "high", Requests: cpus(4000)})
	must(planner.SetPriorityClass(preemption.PriorityClass{Name: "high", Value: 100}))
	fmt.Println(verdict(planner))
	must(planner.SetPriorityClass(preemption.PriorityClass{Name: "high", Value: -1}))
	fmt.Println(verdict(planner))
	must(planner.RemovePriorityClass("high"))
	_, err := planner.Decide(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	fmt.Println(err)
	// Output:
	// feasible
	// infeasible
	// cluster: Pod "web": Class: "high" is not a priority class of the snapshot
}

// A budget spares whom it covers as long as others will do.
func ExamplePlanner_SetBudget() {
	planner := farm(frontend(2000))
	must(planner.SetPod(preemption.Pod{Name: "batch-2", Node: "n1", Labels: map[string]string{"app": "etl"}, Requests: cpus(2000)}))
	victim := func() string {
		r, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
		must(err)
		return r.Victims[0].Name
	}
	must(planner.SetBudget(preemption.Budget{Name: "etl", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "etl"}}}))
	fmt.Println(victim())
	must(planner.RemoveBudget("", "etl"))
	fmt.Println(victim())
	// Output:
	// batch-1
	// batch-2
}

// Labels of a namespace decide where a term of affinity counts pods.
func ExamplePlanner_SetNamespace() {
	planner := farm(frontend(1000))
	must(planner.SetNode(preemption.Node{Name: "n3", Labels: map[string]string{"rack": "r3"}, Allocatable: cpus(4000)}))
	important := int32(1000)
	must(planner.SetPod(preemption.Pod{Namespace: "team", Name: "cache", Node: "n3", Priority: &important, Labels: map[string]string{"app": "cache"}}))
	web := frontend(1000)
	web.AntiAffinity = []cluster.AffinityTerm{{
		Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "cache"}}, TopologyKey: "rack",
		NamespaceSelector: &disruption.Selector{MatchLabels: map[string]string{"noisy": "true"}},
	}}
	web.RequiredNode = "n3"
	must(planner.SetPod(web))
	fmt.Println(verdict(planner))
	must(planner.SetNamespace(cluster.Namespace{Name: "team", Labels: map[string]string{"noisy": "true"}}))
	fmt.Println(verdict(planner))
	must(planner.RemoveNamespace("team"))
	fmt.Println(verdict(planner))
	// Output:
	// fits without preemption
	// infeasible
	// fits without preemption
}

// A tree of groups runs once enough of its groups do.
func ExamplePlanner_SetCompositePodGroup() {
	planner := farm()
	hundred, one, two := int32(100), int32(1), int32(2)
	for _, name := range []string{"prefill", "decode"} {
		must(planner.SetPodGroup(preemption.PodGroup{Name: name, Parent: "serving", Priority: &hundred, MinCount: &one}))
		must(planner.SetPod(preemption.Pod{Name: name + "-0", Group: name, Requests: cpus(2500)}))
	}
	ask := preemption.Preemptor{Kind: preemption.KindCompositePodGroup, Name: "serving"}
	for _, least := range []*int32{&one, &two} {
		must(planner.SetCompositePodGroup(cluster.CompositePodGroup{Name: "serving", Priority: &hundred, MinGroupCount: least}))
		r, err := planner.Preempt(ask)
		must(err)
		fmt.Println(r.Message)
	}
	must(planner.RemovePodGroup("", "decode"))
	must(planner.RemoveCompositePodGroup("", "serving"))
	_, err := planner.Preempt(ask)
	fmt.Println(err)
	// Output:
	// all 2 pods of serving fit in the cluster once 3 pods are evicted
	// all 2 pods of serving fit in the cluster once 3 pods are evicted
	// cluster: Preemptor "serving": Name: "serving" is not a CompositePodGroup of the snapshot
}

// team is a planner of a queue of 8 GPUs, of a cohort, with a workload that holds 6 of them and two that wait.
func team() *preemption.Planner {
	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	must(err)
	must(planner.SetResourceFlavor(preemption.ResourceFlavor{Name: "a100"}))
	must(planner.SetClusterQueue(preemption.ClusterQueue{
		Name: "research", Cohort: "company", Groups: gpus(8), Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
	}))
	must(planner.SetLocalQueue(preemption.LocalQueue{Name: "lab", ClusterQueue: "research"}))
	for i, w := range []preemption.Workload{
		{Name: "old", Admission: &preemption.Admission{ClusterQueue: "research"}}, {Name: "urgent", Priority: 9}, {Name: "small", Priority: 5},
	} {
		w.Queue = "lab"
		w.PodSets = []preemption.PodSet{{Name: "workers", Count: []int32{6, 4, 2}[i], Requests: preemption.Resources{"gpu": 1}}}
		if w.Admission != nil {
			w.PodSets[0].Flavors = map[string]string{"gpu": "a100"}
		}
		must(planner.SetWorkload(w))
	}
	return planner
}

// The heads of queues, each with those before it accounted: quota that is held for the first
// is none for the second, until it is released.
func ExamplePlanner_Cycle() {
	planner := team()
	small, urgent := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "small"}, preemption.Preemptor{Kind: preemption.KindWorkload, Name: "urgent"}
	results, err := planner.Cycle([]preemption.Preemptor{small, urgent})
	must(err)
	for _, r := range results {
		fmt.Printf("%s: %s\n", r.Preemptor.Name, r.Message)
	}
	must(planner.Apply(results[0]))
	fmt.Println("held for", planner.Snapshot().QuotaHolds[0].Name)
	must(planner.Release("", "urgent"))
	fmt.Println("held:", len(planner.Snapshot().QuotaHolds))
	// Output:
	// urgent: fits the quota of research once 1 workload is evicted
	// small: fits the quota of research without preemption
	// held for urgent
	// held: 0
}

// Quota is changed as pods and nodes are; what becomes of who asks is told.
func ExamplePlanner_SetClusterQueue() {
	planner := team()
	ask := func() {
		r, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "urgent"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Message)
	}
	ask()
	smaller := []preemption.PodSet{{Name: "workers", Count: 2, Requests: preemption.Resources{"gpu": 1}}}
	must(planner.SetWorkload(preemption.Workload{Name: "urgent", Queue: "lab", Priority: 9, PodSets: smaller}))
	ask()
	must(planner.SetClusterQueue(preemption.ClusterQueue{Name: "research", Cohort: "company", Groups: gpus(6)}))
	ask()
	must(planner.SetCohort(preemption.Cohort{Name: "company", Groups: gpus(2)})) // which the queue may borrow
	ask()
	must(planner.SetResourceFlavor(preemption.ResourceFlavor{Name: "a100", NodeTaints: []cluster.Taint{{Key: "spot", Effect: cluster.NoSchedule}}}))
	ask()
	must(planner.SetLocalQueue(preemption.LocalQueue{Name: "lab", ClusterQueue: "research", Stopped: true}))
	ask()
	must(planner.RemoveLocalQueue("", "lab"))
	ask()
	must(planner.RemoveClusterQueue("research"))
	must(planner.RemoveCohort("company"))
	must(planner.RemoveResourceFlavor("a100"))
	must(planner.RemoveWorkload("", "urgent"))
	ask()
	// Output:
	// fits the quota of research once 1 workload is evicted
	// fits the quota of research without preemption
	// no evictions help: research has no quota for it
	// fits the quota of research without preemption
	// no evictions help: research has no quota for it
	// its LocalQueue is stopped
	// cluster: Workload "urgent": Queue: "lab" is not a LocalQueue of its namespace
	// cluster: Preemptor "urgent": Name: "urgent" is not a workload of the snapshot
}

// Whoever has to wait before it may evict others is asked again at that moment.
func ExamplePlanner_WakeAt() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	web := frontend(4000)
	web.Created = noon
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  noon.Add(time.Second),
		Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(4000)}},
		Pods:  []preemption.Pod{{Name: "batch", Node: "n1", Requests: cpus(4000)}, web},
	}, preemption.Options{WaitSeconds: 60})
	must(err)
	d, err := planner.Park(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	must(err)
	fmt.Println(d.Verdict, planner.WakeAt().Format(time.TimeOnly), len(planner.Wake()))
	must(planner.SetTime(planner.WakeAt()))
	fmt.Println(planner.Wake()[0].Name, verdict(planner))
	// Output:
	// not eligible 12:01:00 0
	// web feasible
}

// A plan that is given up leaves its room to others.
func ExamplePlanner_Withdraw() {
	planner := farm(frontend(3000))
	plan, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	must(err)
	must(planner.Evict(plan))
	must(planner.SetPod(preemption.Pod{Name: "next", Requests: cpus(2000)}))
	next := preemption.Preemptor{Kind: preemption.KindPod, Name: "next"}
	for range 2 {
		d, err := planner.Decide(next)
		must(err)
		fmt.Println(d.Verdict)
		if d.Verdict != preemption.Fits {
			must(planner.Withdraw(preemption.PodRef{Name: "web"}))
		}
	}
	// Output:
	// infeasible
	// fits without preemption
}

// A question that nobody waits for any more returns the context's error, and leaves nothing behind.
func ExamplePlanner_DecideContext() {
	planner := farm(frontend(3000))
	web := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, preempt := planner.PreemptContext(ctx, web)
	_, all := planner.PreemptAllContext(ctx, []preemption.Preemptor{web})
	_, decide := planner.DecideContext(ctx, web)
	_, why := planner.WhyNotContext(ctx, web, preemption.NodeTarget("n2"))
	for _, err := range []error{preempt, all, decide, why} {
		fmt.Println(errors.Is(err, context.Canceled))
	}
	// Output:
	// true
	// true
	// true
	// true
}

// gpus is quota of a number of GPUs of one kind.
func gpus(n int64) []preemption.ResourceGroup {
	return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{
		Flavor: "a100", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: n}},
	}}}}
}

// A team reclaims GPUs that another one has borrowed.
func Example_quota() {
	training := func(name, queue string, priority int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Priority: priority, Admission: &preemption.Admission{ClusterQueue: queue},
			PodSets: []preemption.PodSet{{Name: "workers", Count: 8, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	snapshot := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "research", Cohort: "company", Groups: gpus(16),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority},
			},
			{Name: "product", Cohort: "company", Groups: gpus(8)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			training("search", "product", 5), training("ads", "product", 3), training("draft", "product", 1),
			{Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 16, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
	result, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}, snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Message)
	for _, v := range result.Victims {
		fmt.Println("evict", v.Name, "of", v.Quota.ClusterQueue, "by", v.Quota.Reason)
	}
	// Output:
	// fits the quota of research once 2 workloads are evicted
	// evict ads of product by InCohortReclamation
	// evict draft of product by InCohortReclamation
}

// A pod of a queue needs a GPU and quota for it: the node rule alone would take the
// least important pod, which holds what its own team owns.
func Example_quotaAndNodes() {
	pod := func(name, node, queue string, priority int32) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Queue: queue, Priority: &priority, Requests: preemption.Resources{"gpu": 1}}
	}
	snapshot := &preemption.Snapshot{
		Nodes:           []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"gpu": 3}}},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "research", Cohort: "company", Groups: gpus(2),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority},
			},
			{Name: "product", Cohort: "company", Groups: gpus(1)},
			{Name: "sales", Cohort: "company", Groups: gpus(0)},
		},
		LocalQueues: []preemption.LocalQueue{
			{Name: "research", ClusterQueue: "research"}, {Name: "product", ClusterQueue: "product"}, {Name: "sales", ClusterQueue: "sales"},
		},
		Pods: []preemption.Pod{
			pod("web", "n1", "product", 0), pod("slides", "n1", "sales", 9), pod("paper-1", "n1", "research", 1),
			pod("paper-2", "", "research", 1),
		},
	}
	result, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "paper-2"}, snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Message)
	for _, v := range result.Victims {
		fmt.Println("evict", v.Name, "of", v.Quota.ClusterQueue)
	}
	// Output:
	// fits in n1 and in the quota of research once 1 unit is evicted
	// evict slides of sales
}

// Two GPUs are needed. Kueue's pass takes the youngest of equal workloads until there is room, and two
// of one GPU go; one of two would do, and the search lets it go.
func ExampleOptions_searchForQuota() {
	running := func(name string, gpus int32, hour int) preemption.Workload {
		return preemption.Workload{
			Name: name, Admission: &preemption.Admission{ClusterQueue: "research", Reserved: time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)},
			PodSets: []preemption.PodSet{{Name: "workers", Count: gpus, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	snapshot := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{Name: "research", Groups: gpus(4), Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority}},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			running("sweep", 2, 8), running("draft", 1, 9), running("test", 1, 10),
			{Name: "paper", Queue: "lab", Priority: 5, PodSets: []preemption.PodSet{{Name: "workers", Count: 2, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
	for _, options := range []preemption.Options{{}, {Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionUnits}}} {
		result, err := options.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}, snapshot)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Message)
		for _, v := range result.Victims {
			fmt.Println("evict", v.Name)
		}
		fmt.Println("nothing is better:", result.Optimal)
	}
	// Output:
	// fits the quota of research once 2 workloads are evicted
	// evict draft
	// evict test
	// nothing is better: false
	// fits the quota of research once 1 workload is evicted
	// evict sweep
	// nothing is better: true
}
