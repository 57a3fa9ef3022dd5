package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

const seed = 1

// size is how large a cluster is.
type size struct{ nodes, pods int }

func (s size) String() string { return fmt.Sprintf("nodes=%d/pods=%d", s.nodes, s.pods) }

// sizes are the one that runs on every commit, and the one that hurts.
func sizes() []size {
	if testing.Short() {
		return []size{{100, 3_000}}
	}
	return []size{{100, 3_000}, {5_000, 150_000}}
}

// question is a case: a shape of cluster, and who wants to run in it.
type question struct {
	name     string
	shape    gen.Shape
	priority int32
	cpuMilli int64
	verdict  preemption.Verdict
}

var questions = []question{
	{"uniform", gen.Uniform, 1000, 3_500, preemption.Feasible},
	{"skewed", gen.Skewed, 1000, 3_500, preemption.Feasible},        // some nodes are crowded, most priorities low
	{"tied", gen.Tied, 1000, 3_500, preemption.Feasible},            // every node ties on the priority that has to go
	{"several", gen.Tied, 1000, 16_000, preemption.Feasible},        // likewise, and several have to go
	{"distinct", gen.Distinct, 1 << 30, 3_500, preemption.Feasible}, // no two pods have the same
	{"budgeted", gen.Budgeted, 1000, 3_500, preemption.Feasible},    // every pod is in a spent budget
	{"equal", gen.Equal, 1000, 3_500, preemption.Feasible},          // every node is like every other
	{"nowhere", gen.Uniform, 3, 60_000, preemption.Infeasible},      // too few pods are below it on every node
	{"too-large", gen.Uniform, 1000, 65_000, preemption.Infeasible}, // for every node, even an empty one
	{"almost", gen.Uniform, 1000, 64_000, preemption.Feasible},      // takes all of a node
	{"nobody-below", gen.Uniform, 0, 3_500, preemption.Infeasible},  // nobody may be evicted
}

// ask makes the cluster and the preemptor of a case.
func (q question) ask(s size) (preemption.Snapshot, preemption.Preemptor) {
	p := gen.FleetPod(seed)
	p.Pods[0].Priority = &q.priority
	p.Pods[0].Requests[cluster.CPU] = q.cpuMilli
	return gen.Fleet(s.nodes, s.pods/s.nodes, seed, q.shape), p
}

// unseen makes p a shape that was not asked about lately: it asks for a little of
// what every node has plenty of, each time for another amount.
func unseen(p preemption.Preemptor, i int) preemption.Preemptor {
	p.Pods[0].Requests["ephemeral-storage"] = 1 + int64(i%4096)
	return p
}

// BenchmarkPreempt is one question to a compiled snapshot, over all nodes, about a
// shape of pod never seen before; see BenchmarkPlanner for the others.
func BenchmarkPreempt(b *testing.B) {
	for _, q := range questions {
		for _, s := range sizes() {
			b.Run(fmt.Sprintf("case=%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s)
				planner, err := preemption.NewPlanner(&snap, preemption.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				numVictims := 0
				for i := 0; b.Loop(); i++ {
					r, err := planner.Preempt(unseen(p, i))
					if err != nil {
						b.Fatal(err)
					}
					if r.Verdict != q.verdict {
						b.Fatalf("%s, want %s", r.Verdict, q.verdict)
					}
					numVictims += len(r.Victims)
				}
				b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.nodes), "ns/node")
			})
		}
	}
}

// BenchmarkDecide is BenchmarkPreempt for the answer in short.
func BenchmarkDecide(b *testing.B) {
	for _, q := range questions {
		for _, s := range sizes() {
			b.Run(fmt.Sprintf("case=%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s)
				planner, err := preemption.NewPlanner(&snap, preemption.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if d, err := planner.Decide(unseen(p, i)); err != nil || d.Verdict != q.verdict {
						b.Fatal(d, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.nodes), "ns/node")
			})
		}
	}
}
