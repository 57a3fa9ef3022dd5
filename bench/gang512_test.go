package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// gangQuestion is a gang that wants whole or part nodes of a fleet.
type gangQuestion struct {
	name     string
	shape    gen.Shape
	members  int
	cpuMilli int64
	mode     int   // pods of the fleet that go as a whole, 0: each by itself
	even     bool  // these have the priority of their group
	allowed  int32 // of a budget's 1,500 pods, so many may go
	rules    preemption.Rules
}

var gangQuestions = []gangQuestion{
	{name: "whole-nodes", shape: gen.Uniform, members: 512, cpuMilli: 64_000},
	{name: "half-nodes", shape: gen.Uniform, members: 512, cpuMilli: 32_000},
	{name: "budgeted", shape: gen.Budgeted, members: 512, cpuMilli: 64_000},
	{name: "allowances", shape: gen.Budgeted, members: 512, cpuMilli: 64_000, allowed: 10},
	{name: "big-units", shape: gen.Uniform, members: 512, cpuMilli: 64_000, mode: 64},
	{name: "even-units", shape: gen.Uniform, members: 512, cpuMilli: 64_000, mode: 64, even: true},
	{name: "v1.36", shape: gen.Uniform, members: 512, cpuMilli: 64_000, rules: preemption.Kubernetes136},
}

// ask makes the fleet and the gang. With mode, pods of different nodes form groups
// that go as a whole.
func (q gangQuestion) ask(s size, members int) (preemption.Snapshot, preemption.Preemptor) {
	snap := gen.Fleet(s.nodes, s.pods/s.nodes, seed, q.shape)
	for i := range snap.Budgets {
		snap.Budgets[i].Allowed = q.allowed
	}
	if q.mode > 0 {
		perNode := s.pods / s.nodes
		for i := range snap.Pods {
			node, k := i/perNode, i%perNode
			if k >= perNode/2 {
				continue
			}
			name := fmt.Sprintf("group-%05d-%02d", node/q.mode, k)
			if node%q.mode == 0 {
				one := int32(1)
				snap.PodGroups = append(snap.PodGroups, cluster.PodGroup{
					Namespace: "default", Name: name, Mode: "All", MinCount: &one, Priority: snap.Pods[i].Priority,
				})
			}
			snap.Pods[i].Group = name
			if q.even {
				snap.Pods[i].Priority = snap.PodGroups[node/q.mode*(perNode/2)+k].Priority
			}
		}
	}
	return snap, gang(members, q.cpuMilli)
}

// BenchmarkGang512 is one question about a gang of 512 to a compiled snapshot.
func BenchmarkGang512(b *testing.B) {
	for _, q := range gangQuestions {
		for _, s := range sizes() {
			members := min(q.members, s.nodes/2)
			b.Run(fmt.Sprintf("case=%s/members=%d/%s", q.name, members, s), func(b *testing.B) {
				snap, p := q.ask(s, members)
				planner, err := preemption.NewPlanner(&snap, preemption.Options{Rules: q.rules})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				numVictims := 0
				for b.Loop() {
					r, err := planner.Preempt(p)
					if err != nil || r.Verdict != preemption.Feasible {
						b.Fatalf("%v, %v", r, err)
					}
					numVictims += len(r.Victims)
				}
				b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.nodes), "ns/node")
			})
		}
	}
}
