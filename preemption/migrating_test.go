package preemption_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption"
)

func Example_migratingKubeScheduler() {
	snapshot := shop(task("batch", "n1", 1, 4), task("cron", "n2", 5, 4), task("web", "", 10, 2)).Snapshot()
	options := preemption.Options{
		Rules:      preemption.Kubernetes136,
		Sampling:   &preemption.Sampling{Percent: 10, Minimum: 100, Offset: 1}, // the plugin's defaults, and a draw of its random offset
		Candidates: true,
	}
	answer, err := options.Preempt(askAbout("web"), snapshot)
	must(err)
	for _, c := range answer.Candidates {
		fmt.Println("candidate", c.Domain, "victims", len(c.Victims), "violations", c.Violations)
	}
	fmt.Println("nominated to", answer.Nominations[0].Node)
	// Output:
	// candidate n1 victims 1 violations 0
	// candidate n2 victims 1 violations 0
	// nominated to n1
}

func Example_migratingKueue() {
	answer, err := preemption.Options{Quota: preemption.QuotaOptions{
		FairSharing: &preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}},
	}}.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}, &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "research", Cohort: "company", Groups: gpus(4),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority},
			},
			{Name: "product", Cohort: "company", Groups: gpus(4)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			{
				Name: "ads", Admission: &preemption.Admission{ClusterQueue: "product"},
				PodSets: []preemption.PodSet{{Name: "workers", Count: 8, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
			},
			{Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 2, Requests: preemption.Resources{"gpu": 1}}}},
		},
	})
	must(err)
	fmt.Println(answer.Message)
	for _, v := range answer.Victims {
		fmt.Println(v.Name, "by", v.Quota.Reason)
	}
	// Output:
	// fits the quota of research once 1 workload is evicted
	// ads by InCohortReclamation
}

func Example_migratingYourOwn() {
	planner := shop(task("batch-1", "n1", 1, 2), task("batch-2", "n1", 1, 2), task("db", "n2", 50, 4), task("web", "", 10, 2))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	for _, v := range answer.Victims {
		fmt.Println("evict", v.Name)
	}
	for _, n := range answer.Nominations {
		fmt.Println("then run", n.Pod.Name, "on", n.Node)
	}
	// Output:
	// evict batch-2
	// then run web on n1
}
