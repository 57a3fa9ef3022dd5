package bench_test

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/preempt-go/preempt/preemption"
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
