package preemption_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// unlikeGang is a gang of members of different sizes, equal ones where step is 0.
func unlikeGang(members int, cpuMilli, step int64) preemption.Preemptor {
	priority := int32(1000)
	p := preemption.Preemptor{Group: &cluster.PodGroup{Namespace: "default", Name: "gang", Priority: &priority}}
	for i := range members {
		p.Pods = append(p.Pods, cluster.Pod{
			Namespace: "default", Name: fmt.Sprintf("gang-%03d", i), Group: "gang", Priority: &priority,
			Requests: cluster.Resources{cluster.CPU: cpuMilli + int64(i)*step},
		})
	}
	return p
}

// BenchmarkRoads asks one question with a road open and with it closed, when the next
// plainer one answers: a road is worth its code where it is at least twice as fast.
func BenchmarkRoads(b *testing.B) {
	preemption.Answered(nil) // nobody looks over the answers
	priority := int32(1000)
	pod := gen.FleetPod(1)
	pod.Pods[0].Priority = &priority
	pod.Pods[0].Requests[cluster.CPU] = 3_500
	all := preemption.Options{Sampling: &preemption.Sampling{Percent: 100, Minimum: 1}}
	for _, c := range []struct {
		road   string
		nodes  int
		o      preemption.Options
		p      preemption.Preemptor
		unseen bool // the shape of the pod changes from question to question
		decide bool
	}{
		{"sweep", 5_000, all, pod, false, false},
		{"scan", 5_000, preemption.Options{}, pod, true, false},
		{"at once", 5_000, preemption.Options{}, pod, false, true},
		{"counting", 1_000, preemption.Options{}, unlikeGang(64, 16_000, 0), false, false},
		{"first seat", 5_000, preemption.Options{}, unlikeGang(64, 4_000, 250), false, false},
		{"price first", 10, preemption.Options{}, unlikeGang(3, 16_000, 10), false, false},
		{"price first", 100, preemption.Options{}, unlikeGang(4, 16_000, 10), false, false},
		{"price first", 1_000, preemption.Options{}, unlikeGang(16, 16_000, 10), false, false},
	} {
		snap := gen.Fleet(c.nodes, 30, 1, gen.Uniform)
		for _, open := range []bool{true, false} {
			b.Run(fmt.Sprintf("road=%s/nodes=%d/members=%d/open=%t", c.road, c.nodes, len(c.p.Pods), open), func(b *testing.B) {
				if !open {
					defer preemption.CloseRoad(c.road)()
				}
				planner, err := preemption.NewPlanner(&snap, c.o)
				if err != nil {
					b.Fatal(err)
				}
				p := c.p.Clone()
				if _, err := planner.Preempt(p); err != nil { // what the first question forms is formed
					b.Fatal(err)
				}
				for i := 0; b.Loop(); i++ {
					if c.unseen {
						p.Pods[0].Requests["ephemeral-storage"] = 1 + int64(i%4096)
					}
					if c.decide {
						_, err = planner.Decide(p)
					} else {
						_, err = planner.Preempt(p)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
