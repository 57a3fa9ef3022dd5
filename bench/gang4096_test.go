package bench_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// The levels of a network, from the widest: what each is divided into by the next.
const (
	zones         = 4
	blocksPerZone = 5
	racksPerBlock = 10
)

// inLevels labels the nodes of a fleet with zone, block and rack, so that racks lie
// side by side.
func inLevels(snap *preemption.Snapshot) {
	perRack := (len(snap.Nodes) + zones*blocksPerZone*racksPerBlock - 1) / (zones * blocksPerZone * racksPerBlock)
	for i := range snap.Nodes {
		rack := i / perRack
		block := rack / racksPerBlock
		snap.Nodes[i].Labels = map[string]string{
			"zone": fmt.Sprintf("z%d", block/blocksPerZone), "block": fmt.Sprintf("b%02d", block), "rack": fmt.Sprintf("r%03d", rack),
		}
	}
}

// BenchmarkGang4096 is one question about a large gang that would like to be in one
// rack, else in one block, else in one zone: the first level that has room for it in
// one place is the zone, and there are several, which goroutines share. An answer
// tells every victim, a decision none.
func BenchmarkGang4096(b *testing.B) {
	s := size{20_000, 600_000}
	members := 4096
	if testing.Short() {
		s, members = size{400, 4_000}, 80
	}
	snap := gen.Fleet(s.nodes, s.pods/s.nodes, seed, gen.Uniform)
	inLevels(&snap)
	p := gang(members, 64_000)
	p.Group.Topology = []cluster.TopologyConstraint{{Key: "zone"}, {Key: "block", Preferred: true}, {Key: "rack", Preferred: true}}
	planner, err := preemption.NewPlanner(&snap, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, goroutines := range []int{1, 2} {
		run := func(what string, ask func(b *testing.B)) {
			b.Run(fmt.Sprintf("%s/goroutines=%d/members=%d/%s", what, goroutines, members, s), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(goroutines))
				b.ReportAllocs()
				for b.Loop() {
					ask(b)
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.nodes), "ns/node")
			})
		}
		run("ask=answer", func(b *testing.B) {
			r := mustPreempt(b, planner, p)
			if r.Verdict != preemption.Feasible || len(r.Nominations) != members {
				b.Fatalf("%s, %d of %d members with a place", r.Verdict, len(r.Nominations), members)
			}
		})
		run("ask=decision", func(b *testing.B) {
			if d, err := planner.Decide(p); err != nil || d.Verdict != preemption.Feasible {
				b.Fatalf("%v, %v", d, err)
			}
		})
	}
}
