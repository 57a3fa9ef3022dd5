package bench_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkGang is a question for a gang of equal pods, one for every ten nodes: of
// pods that take a node each, or of which several share one.
func BenchmarkGang(b *testing.B) {
	for _, g := range []struct {
		name     string
		cpuMilli int64
	}{{"whole-node", 64_000}, {"quarter-node", 16_000}} {
		for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136} {
			for _, s := range sizes() {
				b.Run(fmt.Sprintf("case=%s/rules=%s/%s", g.name, rules, s), func(b *testing.B) {
					snap := gen.Fleet(s.nodes, s.pods/s.nodes, seed, gen.Uniform)
					members := s.nodes / 10
					p := gang(members, g.cpuMilli)
					planner, err := preemption.NewPlanner(&snap, preemption.Options{Rules: rules})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					numVictims := 0
					for b.Loop() {
						r := mustPreempt(b, planner, p)
						if r.Verdict != preemption.Feasible || len(r.Nominations) != members {
							b.Fatalf("%s, %d of %d members with a place", r.Verdict, len(r.Nominations), members)
						}
						numVictims += len(r.Victims)
					}
					b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
					b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(members), "ns/member")
				})
			}
		}
	}
}

// gang is a group of equal pods above every pod of a fleet.
func gang(members int, cpuMilli int64) preemption.Preemptor {
	priority, least := int32(1000), int32(members)
	p := preemption.Preemptor{
		Kind:  cluster.KindPodGroup,
		Group: &preemption.PodGroup{Namespace: "default", Name: "gang", Priority: &priority, MinCount: &least},
	}
	for i := range members {
		p.Pods = append(p.Pods, preemption.Pod{
			Namespace: "default", Name: fmt.Sprintf("gang-%05d", i), Group: "gang", Priority: &priority,
			Requests: preemption.Resources{cluster.CPU: cpuMilli},
		})
	}
	return p
}

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
