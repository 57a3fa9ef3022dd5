package preemption_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption"
)

func Example_conceptsUnit() {
	of := func(p preemption.Pod, group string) preemption.Pod {
		p.Group = group
		return p
	}
	for _, mode := range []preemption.DisruptionMode{preemption.Single, preemption.All} {
		planner := shop(of(task("t0", "n1", 1, 2), "train"), of(task("t1", "n2", 1, 2), "train"), task("db", "n2", 50, 2), task("cron", "n1", 50, 1), task("web", "", 10, 2))
		must(planner.SetPodGroup(preemption.PodGroup{Name: "train", Mode: mode, Basic: true, Priority: task("", "", 1, 0).Priority}))
		answer, err := planner.Preempt(askAbout("web"))
		must(err)
		fmt.Println(mode, "-", answer.Message)
		for _, v := range answer.Victims {
			fmt.Println("  unit", v.Kind, v.Name, "of", len(v.Pods), "pods")
		}
	}
	// Output:
	// Single - fits on n1 once 1 pod is evicted
	//   unit Pod t0 of 1 pods
	// All - fits on n1 once pod group train (2 pods) is evicted
	//   unit PodGroup train of 2 pods
}

func Example_conceptsBudget() {
	planner := shop(task("a", "n1", 1, 2), task("b", "n1", 1, 2), task("db", "n2", 50, 4), task("web", "", 10, 4))
	must(planner.SetBudget(preemption.Budget{Name: "all", Selector: &preemption.Selector{}, Allowed: 1}))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(len(answer.Victims), "victims,", answer.Violations, "violation, overrun by", answer.Overruns)
	// Output:
	// 2 victims, 1 violation, overrun by 1
}

func Example_conceptsVerdicts() {
	never := task("patient", "", 10, 2)
	never.Policy = "Never"
	planner := shop(task("batch", "n1", 1, 4), task("db", "n2", 50, 3), task("small", "", 10, 1), task("web", "", 10, 2), never, task("huge", "", 10, 5))
	for _, name := range []string{"small", "web", "patient", "huge"} {
		answer, err := planner.Preempt(askAbout(name))
		must(err)
		fmt.Printf("%s: %s (%s)\n", name, answer.Verdict, answer.Message)
	}
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	must(planner.Apply(answer))
	answer, err = planner.Preempt(askAbout("web"))
	must(err)
	fmt.Printf("web: %s (%s)\n", answer.Verdict, answer.Message)
	// Output:
	// small: fits without preemption (fits on n2 without preemption)
	// web: feasible (fits on n1 once 1 pod is evicted)
	// patient: not eligible (its preemption policy is Never)
	// huge: infeasible (no evictions help)
	// web: waiting (victims on its nominated node n1 are still terminating)
}
