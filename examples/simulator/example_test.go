package simulator_test

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/examples/simulator"
	"github.com/preempt-go/preempt/preemption"
)

// One node of 8 GPUs: at noon a job begins that takes an hour, and half an hour later comes
// a more important one. Without preemption it waits for 30 minutes; with it the first one
// loses half an hour of 8 GPUs, and waits as long as the other one runs.
func Example() {
	eight := preemption.Resources{simulator.GPU: 8}
	farm := &simulator.Farm{
		Measured: simulator.GPU, Unit: "GPU-hours",
		Nodes: []preemption.Node{{Name: "n1", Allocatable: eight}},
		Jobs: []simulator.Job{
			{Name: "batch", Priority: 0, Requests: eight, Takes: time.Hour},
			{Name: "urgent", Priority: 100, Requests: eight, Arrives: 30 * time.Minute, Takes: time.Hour},
		},
	}
	c, err := simulator.Compare(farm, simulator.Settings{Grace: 36 * time.Second}, simulator.BuiltIn(farm.Measured)[:2])
	if err == nil {
		err = c.Run()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range c.Outcomes() {
		for _, row := range o.Rows {
			fmt.Printf("%s, priority %s: %d evicted, waits %s at most, %.1f GPU-hours kept and %.1f lost\n",
				row.Policy, row.Priority, row.Evictions, row.WaitMax, row.Useful, row.Wasted)
		}
	}
	// Output:
	// none, priority all: 0 evicted, waits 30m0s at most, 16.0 GPU-hours kept and 0.0 lost
	// none, priority 100: 0 evicted, waits 30m0s at most, 8.0 GPU-hours kept and 0.0 lost
	// none, priority 0: 0 evicted, waits 0s at most, 8.0 GPU-hours kept and 0.0 lost
	// default, priority all: 1 evicted, waits 1h0m0s at most, 16.0 GPU-hours kept and 4.0 lost
	// default, priority 100: 0 evicted, waits 36s at most, 8.0 GPU-hours kept and 0.0 lost
	// default, priority 0: 1 evicted, waits 1h0m0s at most, 8.0 GPU-hours kept and 4.0 lost
}
