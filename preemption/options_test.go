package preemption_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

func Example_optionsAsData() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	since := func(p preemption.Pod, hours int) preemption.Pod {
		p.Started = noon.Add(-time.Duration(hours) * time.Hour)
		return p
	}
	labelled := func(p preemption.Pod, app string) preemption.Pod {
		p.Labels = map[string]string{"app": app}
		return p
	}
	node := func(name string) preemption.Node {
		return preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": 4000}}
	}
	web := task("web", "", 10, 3)
	web.Created = noon.Add(-10 * time.Second)
	snapshot := &preemption.Snapshot{
		Time:  noon,
		Nodes: []preemption.Node{node("n1"), node("n2"), node("n3")},
		Pods: []preemption.Pod{
			since(task("young", "n1", 1, 2), 1), since(task("old", "n1", 1, 2), 9),
			labelled(since(task("api", "n2", 1, 4), 9), "api"),
			labelled(since(task("db", "n3", 5, 4), 9), "db"),
			web,
		},
		Budgets: []preemption.Budget{{Name: "db", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "db"}}}}, // allows none
	}
	for _, text := range []string{
		`{}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}, "guaranteedSeconds": 7200}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}, "hardBudgets": {"all": true}}`,
		`{"waitSeconds": 60}`,
	} {
		var options preemption.Options
		must(json.Unmarshal([]byte(text), &options))
		answer, err := options.Preempt(askAbout("web"), snapshot)
		must(err)
		fmt.Println(text)
		fmt.Print("  ", answer.Message, ":")
		for _, v := range answer.Victims {
			fmt.Print(" ", v.Name)
		}
		fmt.Println()
	}
	// Output:
	// {}
	//   fits on n2 once 1 pod is evicted: api
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}}
	//   fits on n1 once 2 pods are evicted: old young
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}, "guaranteedSeconds": 7200}}
	//   fits on n3 once 1 pod is evicted: db
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}}
	//   fits on n3 once 1 pod is evicted: db
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}, "hardBudgets": {"all": true}}
	//   no evictions help:
	// {"waitSeconds": 60}
	//   it waits 1m0s before it preempts, 50s more:
}
