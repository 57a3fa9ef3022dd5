package preemption_test

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// task is a pod that asks for so many cores; without a node it is pending.
func task(name, node string, priority int32, cores int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": 1000 * cores}}
}

// askAbout asks about a pending pod.
func askAbout(name string) preemption.Preemptor {
	return preemption.Preemptor{Kind: preemption.KindPod, Name: name}
}

// shop is a planner of two nodes with four cores each.
func shop(pods ...preemption.Pod) *preemption.Planner {
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
		},
		Pods: pods,
	}, preemption.Options{})
	must(err)
	return planner
}

// must is for examples: a program handles its errors.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func Example_questionsFits() {
	planner := shop(task("big", "n1", 0, 3), task("web", "", 10, 1))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(answer.Message)

	web := task("web", "", 10, 1)
	web.NominatedNode = "n2"
	must(planner.SetPod(web))
	answer, err = planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(answer.Message)
	// Output:
	// fits on n1 without preemption
	// fits on n2 without preemption
}

func Example_questionsFitsGang() {
	planner := shop(task("big", "n1", 0, 2))
	two, ten := int32(2), int32(10)
	gang := preemption.Preemptor{Kind: preemption.KindPodGroup, Group: &preemption.PodGroup{Name: "train", MinCount: &two, Priority: &ten}}
	for _, name := range []string{"t0", "t1"} {
		pod := task(name, "", 10, 1)
		pod.Group = "train"
		gang.Pods = append(gang.Pods, pod)
	}
	for _, placement := range []preemption.Placement{preemption.PlacePack, preemption.PlaceSpread} {
		answer, err := preemption.Options{Placement: placement}.Preempt(gang, planner.Snapshot())
		must(err)
		for _, n := range answer.Nominations {
			fmt.Println(placement, n.Pod.Name, n.Node)
		}
	}
	// Output:
	// Pack t0 n2
	// Pack t1 n2
	// Spread t0 n2
	// Spread t1 n1
}

func Example_questionsHeld() {
	planner := shop(task("big", "n1", 0, 4), task("small", "n2", 0, 3), task("web-1", "", 10, 1), task("web-2", "", 10, 1))
	first, err := planner.Preempt(askAbout("web-1"))
	must(err)
	second, err := planner.Decide(askAbout("web-2"))
	must(err)
	fmt.Println(first.Domain, second.Domain) // both: nothing is held yet

	must(planner.Apply(first))
	second, err = planner.Decide(askAbout("web-2"))
	must(err)
	fmt.Println(second.Verdict, "on", second.Domain)
	// Output:
	// n2 n2
	// feasible on n1
}

func Example_questionsLoop() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4))
	must(planner.SetPod(task("web", "", 10, 2))) // it arrives
	waiting := []preemption.Preemptor{askAbout("web")}
	for len(waiting) > 0 {
		for _, who := range waiting {
			short, err := planner.Park(who) // Decide, and remembers who has to wait
			must(err)
			fmt.Println(who.Name, "-", short.Verdict)
			switch short.Verdict {
			case preemption.Fits:
				must(planner.Bind(preemption.PodRef{Name: who.Name}, short.Domain))
			case preemption.Feasible:
				plan, err := planner.Preempt(who)
				must(err)
				must(planner.Apply(plan)) // its victims terminate, it is nominated
				_, err = planner.Park(who)
				must(err)
				for _, victim := range plan.Victims { // told to go; this is heard once they have gone
					fmt.Println(victim.Name, "goes")
					for _, pod := range victim.Pods {
						must(planner.Remove(pod.PodRef))
					}
				}
			}
		}
		waiting = planner.Wake()
	}
	// Output:
	// web - feasible
	// batch goes
	// web - fits without preemption
}

func Example_questionsTwice() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("web", "", 10, 2))
	plan, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(plan.Message)
	must(planner.Apply(plan))
	must(planner.Apply(plan)) // nothing is done, nor counted, again

	again, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(again.Verdict, "-", again.Message)

	must(planner.Remove(preemption.PodRef{Name: "batch"}))
	fmt.Println(planner.Apply(plan))
	// Output:
	// fits on n1 once 1 pod is evicted
	// waiting - victims on its nominated node n1 are still terminating
	// preemption: result cannot be applied: cancel: it fits without evicting anybody
}

func Example_questionsRetry() {
	planner := shop(task("db-1", "n1", 50, 4), task("db-2", "n2", 50, 4), task("web", "", 10, 2), task("huge", "", 99, 5))
	waiting := []preemption.Preemptor{askAbout("huge"), askAbout("web")} // the most important first
	ask := func() {
		fmt.Println(len(waiting), "to ask")
		for _, p := range waiting {
			short, err := planner.Park(p) // Decide, and remembers who has to wait
			must(err)
			fmt.Println(" ", p.Name, "-", short.Verdict)
		}
	}
	ask()
	must(planner.Remove(preemption.PodRef{Name: "db-2"})) // room for web, not for huge
	waiting = planner.Wake()
	ask()
	// Output:
	// 2 to ask
	//   huge - infeasible
	//   web - infeasible
	// 1 to ask
	//   web - fits without preemption
}

func Example_questionsRecompiles() {
	fpga := preemption.Pod{Name: "fpga", Requests: preemption.Resources{"example.com/fpga": 1}}
	planner := shop(task("huge", "", 10, 5))
	for _, change := range []struct {
		what string
		err  func() error
	}{
		{"a pod that runs", func() error { return planner.SetPod(task("web", "n1", 10, 1)) }},
		{"a resource that is new", func() error { return planner.SetPod(fpga) }},
		{"one that nobody names any more", func() error { return planner.Remove(preemption.PodRef{Name: "fpga"}) }},
	} {
		_, err := planner.Park(askAbout("huge"))
		must(err)
		must(change.err())
		fmt.Println(change.what, "-", len(planner.Wake()), "woken")
	}
	// Output:
	// a pod that runs - 0 woken
	// a resource that is new - 1 woken
	// one that nobody names any more - 1 woken
}

func Example_questionsStarted() {
	planner := shop(task("web", "", 10, 2), task("cron", "n1", 10, 2))
	must(planner.Bind(preemption.PodRef{Name: "web"}, "n1"))
	must(planner.View(func(v preemption.View) {
		for pod := range v.PodsOn("n1") {
			fmt.Println(pod.Name, pod.Started.IsZero())
		}
	}))
	// Output:
	// cron true
	// web false
}

func Example_questionsGangPodAlone() {
	three := int32(3)
	member := func(name string) preemption.Pod {
		p := task(name, "", 10, 2)
		p.Group = "train"
		return p
	}
	planner := shop(task("low-1", "n1", 0, 3), task("low-2", "n2", 0, 3), member("t0"), member("t1"), member("t2"))
	must(planner.SetPodGroup(preemption.PodGroup{Name: "train", MinCount: &three, Priority: member("t0").Priority}))

	alone, err := planner.Preempt(askAbout("t0"))
	must(err)
	fmt.Println(alone.Verdict, "-", alone.Message)
	together, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"})
	must(err)
	fmt.Println(together.Verdict, "-", together.Message)

	must(planner.Remove(preemption.PodRef{Name: "t2"}))
	fewer, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"})
	must(err)
	fmt.Println(fewer.Verdict, "-", fewer.Message)
	// Output:
	// not eligible - it belongs to pod group train: its group preempts
	// feasible - all 3 pods of train fit in the cluster once 2 pods are evicted
	// infeasible - pod group train has 2 pods, fewer than its minCount
}

func Example_questionsOneByOne() {
	three, ten := int32(3), int32(10)
	planner := shop()
	must(planner.SetPodGroup(preemption.PodGroup{Name: "train", MinCount: &three, Priority: &ten}))
	for _, name := range []string{"t0", "t1", "t2"} {
		pod := task(name, "", 10, 3)
		pod.Group = "train"
		must(planner.SetPod(pod))
	}
	alone, err := planner.Preempt(askAbout("t0"))
	must(err)
	fmt.Println(alone.Message, "-", alone.Warnings[0].Text)
	short, err := planner.Decide(askAbout("t0"))
	must(err)
	fmt.Println(short.Verdict, "- needs", short.Needs)
	together, err := planner.Decide(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"})
	must(err)
	fmt.Println(together.Verdict)
	// Output:
	// fits on n1 without preemption - the group needs 2 more pods to run beside it: ask for the group
	// fits without preemption - needs 2
	// infeasible
}

func Example_questionsUncreated() {
	planner := shop(task("low-1", "n1", 0, 3), task("low-2", "n2", 0, 3))
	three, ten := int32(3), int32(10)
	train := preemption.Preemptor{Kind: preemption.KindPodGroup, Group: &preemption.PodGroup{Name: "train", MinCount: &three, Priority: &ten}}
	for i := range 3 {
		pod := task(fmt.Sprint("train-", i), "", 10, 2)
		pod.Group = "train"
		train.Pods = append(train.Pods, pod)
	}
	answer, err := planner.Preempt(train)
	must(err)
	fmt.Println(answer.Message)
	// Output:
	// all 3 pods of train fit in the cluster once 2 pods are evicted
}

func Example_questionsRemovedNode() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("web", "", 60, 2))
	must(planner.RemoveNode("n1"))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(answer.Message)
	for _, w := range answer.Warnings {
		fmt.Println(w.Name, w.Field, w.Value, "-", w.Text)
	}

	gone, err := planner.RemoveNodeAndPods("n2")
	must(err)
	fmt.Println("to be made anew:", gone[0].Name)
	// Output:
	// fits on n2 once 1 pod is evicted
	// batch Node n1 - no such node: the pod counts for budgets and groups only
	// to be made anew: db
}

func Example_questionsNearest() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("huge", "", 10, 5), task("low", "", 0, 2))
	for _, name := range []string{"huge", "low"} {
		answer, err := planner.Preempt(askAbout(name))
		must(err)
		for _, r := range answer.Nearest.Relaxations {
			fmt.Printf("%s on %s: %s %s +%d\n", name, answer.Nearest.Domain, r.Kind, r.Name, r.Amount)
		}
	}
	// Output:
	// huge on n1: resource cpu +1000
	// low on n1: priority  +1
}
