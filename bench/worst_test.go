package bench_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkWorst is BenchmarkPreempt where nodes have more of everything: 110 pods
// each, all of one priority; 12 resources; and a group that goes as a whole, with a
// pod on every node.
func BenchmarkWorst(b *testing.B) {
	for _, c := range []struct {
		name    string
		shape   gen.Shape
		perNode int
		change  func(s *preemption.Snapshot, p *preemption.Pod)
	}{
		{"crowded", gen.Tied, 110, func(*preemption.Snapshot, *preemption.Pod) {}},
		{"12-resources", gen.Tied, 30, widen},
		{"one-group", gen.Uniform, 30, unite},
	} {
		for _, s := range sizes() {
			s.pods = s.nodes * c.perNode
			b.Run(fmt.Sprintf("case=%s/%s", c.name, s), func(b *testing.B) {
				snap := gen.Fleet(s.nodes, c.perNode, seed, c.shape)
				p := gen.FleetPod(seed)
				p.Pods[0].Requests[cluster.CPU] = 3_500
				c.change(&snap, &p.Pods[0])
				askUnseen(b, &snap, p, preemption.Options{})
			})
		}
	}
}

// widen lets every node offer, every pod and the preemptor ask for, 9 more resources.
func widen(s *preemption.Snapshot, p *preemption.Pod) {
	for r := range 9 {
		name := fmt.Sprintf("example.com/r%d", r)
		for i := range s.Nodes {
			s.Nodes[i].Allocatable[name] = 1_000
		}
		for i := range s.Pods {
			s.Pods[i].Requests[name] = int64(1 + (i+r)%30)
		}
		p.Requests[name] = 5
	}
}

// unite makes a group of the first pod of every node.
func unite(s *preemption.Snapshot, _ *preemption.Pod) {
	low, one := int32(0), int32(1)
	s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: "everywhere", Mode: "All", MinCount: &one, Priority: &low})
	perNode := len(s.Pods) / len(s.Nodes)
	for i := 0; i < len(s.Pods); i += perNode {
		s.Pods[i].Group, s.Pods[i].Priority = "everywhere", &low
	}
}

// shared are questions whose nodes are worth sharing out.
var shared = []struct {
	name    string
	shape   gen.Shape
	tie     func(*cluster.Pod) // nil: none
	options preemption.Options
}{
	{name: "tied", shape: gen.Tied},         // a sweep of all columns: bound by memory
	{name: "budgeted", shape: gen.Budgeted}, // most nodes are ruled out: nothing to share
	{name: "constraints", shape: gen.Uniform, tie: ties[len(ties)-1].tie},
	{name: "trials", shape: gen.Uniform, options: preemption.Options{BrokenGroupsFree: true}}, // pod by pod
}

// BenchmarkGoroutines is one question over all nodes, with one and with two
// processors: what sharing the nodes out is worth. Several pods have to go.
func BenchmarkGoroutines(b *testing.B) {
	for _, c := range shared {
		for _, nodes := range []int{1_000, 5_000, 20_000} {
			if testing.Short() && nodes > 1_000 {
				continue
			}
			snap := tiedUp(size{nodes, nodes * 30}, c.shape)
			p := gen.FleetPod(seed)
			if c.tie != nil {
				p = tied(c.tie)
			}
			p.Pods[0].Requests[cluster.CPU] = 16_000
			for _, processors := range []int{1, 2} {
				b.Run(fmt.Sprintf("case=%s/goroutines=%d/nodes=%d/pods=%d", c.name, processors, nodes, nodes*30), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
					askUnseen(b, &snap, p, c.options)
				})
			}
		}
	}
}

// askUnseen measures one question about a shape never seen before.
func askUnseen(b *testing.B, snap *preemption.Snapshot, p preemption.Preemptor, o preemption.Options) {
	planner, err := preemption.NewPlanner(snap, o)
	if err != nil {
		b.Fatal(err)
	}
	mustPreempt(b, planner, p) // a fresh planner makes its buffers for the first question
	b.ReportAllocs()
	numVictims := 0
	for i := 0; b.Loop(); i++ {
		numVictims += len(mustPreempt(b, planner, unseen(p, i)).Victims)
	}
	b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(len(snap.Nodes)), "ns/node")
}
