package bench_test

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

var maxNodes = flag.Int("maxnodes", 20_000, "largest cluster of BenchmarkGrowth, in nodes; 100000 needs some 4 GB of memory")

// BenchmarkGrowth measures how the cost of one question grows with the cluster,
// and reports the slope: the exponent e of cost ~ nodes^e, fitted over all sizes. 1 is
// linear.
func BenchmarkGrowth(b *testing.B) {
	for _, name := range []string{"uniform", "tied", "several", "nowhere"} {
		q := questions[slices.IndexFunc(questions, func(q question) bool { return q.name == name })]
		b.Run("case="+name, func(b *testing.B) {
			var nodes, costs []float64
			for _, n := range []int{1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000} {
				if n > *maxNodes || testing.Short() && n > 1_000 {
					break
				}
				s := size{n, n * 30}
				b.Run(s.String(), func(b *testing.B) {
					runtime.GC() // the cluster before: the largest are not to be there side by side
					snap, p := q.ask(s)
					planner, err := preemption.NewPlanner(&snap, preemption.Options{})
					if err != nil {
						b.Fatal(err)
					}
					mustPreempt(b, planner, p) // a fresh planner makes its buffers for the first question
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if r, err := planner.Preempt(unseen(p, i)); err != nil || r.Verdict != q.verdict {
							b.Fatalf("%v, %v", r, err)
						}
					}
					perOp := float64(b.Elapsed()) / float64(b.N)
					b.ReportMetric(perOp/float64(n), "ns/node")
					nodes, costs = append(nodes, float64(n)), append(costs, perOp)
				})
			}
			if len(nodes) > 1 {
				b.Run(fmt.Sprintf("nodes=%.0f-%.0f", nodes[0], nodes[len(nodes)-1]), func(b *testing.B) {
					for b.Loop() { // nothing: the sizes above were the work
					}
					b.ReportMetric(0, "ns/op") // hides it
					b.ReportMetric(slope(nodes, costs), "exponent")
				})
			}
		})
	}
}

// slope fits log y = a + e log x by least squares and returns e.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		lx, ly := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+lx, sy+ly, sxx+lx*lx, sxy+lx*ly
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

func TestSlope(t *testing.T) {
	for _, e := range []float64{0, 1, 1.5} {
		x := []float64{1000, 2000, 5000, 100_000}
		var y []float64
		for _, v := range x {
			y = append(y, 7*math.Pow(v, e))
		}
		if got := slope(x, y); math.Abs(got-e) > 1e-9 {
			t.Errorf("slope of 7 x^%g: %g", e, got)
		}
	}
}

// BenchmarkMemory does nothing but read the numbers that a sweep over all nodes
// cannot do without, so that the distance of BenchmarkPreempt from what the memory
// can deliver is a ratio within one run. rows=nodes is one row of amounts a node,
// what a sweep reads that rules nodes out by sums; rows=pods is one a pod as well,
// what it reads if it has to try the return of every pod.
func BenchmarkMemory(b *testing.B) {
	for _, s := range sizes() {
		snap, _ := questions[0].ask(s)
		ix, err := cluster.NewIndex(&snap)
		if err != nil {
			b.Fatal(err)
		}
		numRows := map[string]int{"nodes": s.nodes, "pods": s.nodes + s.pods}
		for _, rows := range []string{"nodes", "pods"} {
			column := make([]int64, numRows[rows]*ix.NumResources())
			for i := range column {
				column[i] = int64(i)
			}
			b.Run(fmt.Sprintf("rows=%s/%s", rows, s), func(b *testing.B) {
				b.SetBytes(int64(len(column)) * 8)
				total := int64(0)
				for b.Loop() {
					total += sum(column)
				}
				if total == 0 {
					b.Fatal("nothing was read")
				}
			})
		}
	}
}

// sum adds up a column in four strands, so that memory and not the adder decides.
func sum(column []int64) int64 {
	var a, b, c, d int64
	for len(column) >= 4 {
		a, b, c, d = a+column[0], b+column[1], c+column[2], d+column[3]
		column = column[4:]
	}
	for _, v := range column {
		a += v
	}
	return a + b + c + d
}
