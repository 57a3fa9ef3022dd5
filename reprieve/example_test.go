package reprieve_test

import (
	"fmt"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Everybody leaves, then who can come back does: the most important first. The pod
// that wants in needs the room of two.
func Example() {
	pod := func(name string, priority int32) cluster.Pod {
		return cluster.Pod{Name: name, Node: "n1", Priority: &priority, Requests: cluster.Resources{cluster.CPU: 1000}}
	}
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 3000}}},
		Pods:  []cluster.Pod{pod("minor", 1), pod("major", 30), pod("middle", 20)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	web := &cluster.Pod{Name: "web", Requests: cluster.Resources{cluster.CPU: 2000}}
	trial := domain.NewNodeTrial(ix, domain.NewMember(ix, web, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod})
	n1 := ix.NodeByName("n1")
	trial.Reset(n1)

	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	out, _ := runner.Run(trial, units.Potential(n1, 1000))
	for _, u := range out.Victims {
		fmt.Println(ix.Pod(units.Unit(u).Pods[0]).Name, "goes")
	}
	// Output:
	// middle goes
	// minor goes
}
