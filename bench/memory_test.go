package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/preemption/cluster"
)

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
