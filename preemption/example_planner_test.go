package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
		fmt.Println(stays.Name, "stays:", planner.SetPod(pod))
	}))
	valid, err2 := planner.StillValid(plan)
	fmt.Println(valid.Advice, errors.Join(err, err2))
	plan, err = planner.Preempt(ask)
	fmt.Println("evict", plan.Victims[0].Name, err)
	// Output:
	// batch-2 stays: <nil>
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
