package bench_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/record"
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

// BenchmarkShapes: what real jobs ask for: gangs of several shapes, one a host, spread over zones or over two
// halls, one of a single node, in one rack, or beside groups that go as a whole; and gangs below so many pods that not all of their
// members have room.
func BenchmarkShapes(b *testing.B) {
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	apart := func(p *preemption.Preemptor) {
		for i := range p.Pods {
			p.Pods[i].Labels = map[string]string{"job": "gang"}
			p.Pods[i].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: ours}}
		}
	}
	over := func(key string) func(p *preemption.Preemptor) {
		return func(p *preemption.Preemptor) {
			for i := range p.Pods {
				p.Pods[i].Labels = map[string]string{"job": "gang"}
				p.Pods[i].Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: key, Selector: ours}}
			}
		}
	}
	spread := over("zone")
	sizes := func(n int) func(p *preemption.Preemptor) {
		return func(p *preemption.Preemptor) {
			for i := range p.Pods {
				p.Pods[i].Requests[cluster.CPU] += int64(i%n) * 16_000 / int64(n)
			}
		}
	}
	low := func(p *preemption.Preemptor) {
		priority := int32(1)
		p.Group.Priority = &priority
		for i := range p.Pods {
			p.Pods[i].Priority = &priority
			p.Pods[i].Requests[cluster.CPU] += 6_000
		}
	}
	cases := []struct {
		name string
		edit []func(p *preemption.Preemptor)
	}{
		{"equal", nil},
		{"2-sizes", []func(p *preemption.Preemptor){sizes(2)}},
		{"8-sizes", []func(p *preemption.Preemptor){sizes(8)}},
		{"all-sizes", []func(p *preemption.Preemptor){sizes(256)}},
		{"one-a-host", []func(p *preemption.Preemptor){apart}},
		{"zones", []func(p *preemption.Preemptor){spread}},
		{"one-a-host+zones", []func(p *preemption.Preemptor){apart, spread}},
		{"one-a-host+halls", []func(p *preemption.Preemptor){apart, over("hall")}}, // there is no place for all
		{"all-sizes+rack", []func(p *preemption.Preemptor){sizes(256), func(p *preemption.Preemptor) {
			p.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
		}}},
		{"equal-low", []func(p *preemption.Preemptor){low}},
		{"2-sizes-low", []func(p *preemption.Preemptor){sizes(2), low}},
		{"8-sizes-low", []func(p *preemption.Preemptor){sizes(8), low}},
		{"all-sizes-low", []func(p *preemption.Preemptor){sizes(256), low}},
		{"beside-groups", nil},
	}
	for _, s := range []struct{ nodes, members int }{{100, 8}, {1_000, 64}, {5_000, 256}} {
		if testing.Short() && s.nodes > 100 {
			continue
		}
		pl := shapesPlanner(b, s.nodes, 0)
		for _, c := range cases {
			if c.name == "beside-groups" {
				pl = shapesPlanner(b, s.nodes, 4)
			}
			members := s.members
			if c.name == "all-sizes+rack" {
				members = min(members, 64)
			}
			b.Run(fmt.Sprintf("case=%s/members=%d/nodes=%d/pods=%d", c.name, members, s.nodes, 30*s.nodes), func(b *testing.B) {
				p := gang(members, 4_000)
				for i := range p.Pods {
					p.Pods[i].Requests[cluster.CPU] = 4_000
				}
				for _, edit := range c.edit {
					edit(&p)
				}
				pods := 0
				for b.Loop() {
					r := mustPreempt(b, pl, p)
					for _, v := range r.Victims {
						pods += len(v.Pods)
					}
				}
				b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
			})
		}
	}
}

// shapesPlanner has a fleet whose nodes have hosts, zones, racks and halls. With span, half of the pods form groups over so many
// nodes that go as a whole.
func shapesPlanner(b *testing.B, nodes, span int) *preemption.Planner {
	b.Helper()
	snap, _ := gangQuestion{shape: gen.Uniform, mode: span}.ask(size{nodes, 30 * nodes}, 1)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{
			"host": snap.Nodes[i].Name, "zone": fmt.Sprintf("z%d", i%4), "rack": fmt.Sprintf("r%04d", i/20),
			"hall": []string{"large", "small"}[min(1, (i+1)/nodes)],
		}
	}
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return pl
}

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

// sharedNodes are nodes of four pods each, all of groups of four that go as a whole: a group
// has whole nodes, a pod on each of four neighbours, or of any four nodes. Some groups have
// more to lose than others.
func sharedNodes(nodes int, kind string) preemption.Snapshot {
	r := rand.New(rand.NewPCG(uint64(nodes), 29))
	var s preemption.Snapshot
	var slots []int // by group and pod: its node
	for n := range nodes {
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: fmt.Sprintf("n%03d", n), Allocatable: preemption.Resources{cluster.CPU: 16_000, cluster.Pods: 110},
		})
		for range 4 {
			slots = append(slots, n)
		}
	}
	switch kind {
	case "neighbours":
		for i := range slots {
			slots[i] = (i/4 + i%4) % nodes
		}
	case "scattered":
		r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	}
	priority := int32(0)
	for g := range nodes {
		name := fmt.Sprintf("g%03d", g)
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{
			Namespace: "ml", Name: name, Mode: disruption.All, Priority: &priority, Cost: &cluster.Cost{Fixed: int64(1 + r.IntN(100))},
		})
		for i, n := range slots[4*g : 4*g+4] {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("%s-%d", name, i), Group: name, Node: s.Nodes[n].Name, Priority: &priority,
				Requests: preemption.Resources{cluster.CPU: int64(2_000 + 1_000*r.IntN(3))},
			})
		}
	}
	return s
}

// BenchmarkShared: a gang of equal members where groups that go as a whole run over several
// nodes, by how hard the least disruption is looked for. gap is by how much the bound is below
// what was found, in percent.
func BenchmarkShared(b *testing.B) {
	for _, kind := range []string{"whole", "neighbours", "scattered"} {
		for _, size := range []struct {
			nodes, members int
			cpu            int64
		}{{50, 4, 8_000}, {50, 4, 16_000}, {100, 8, 8_000}, {100, 8, 16_000}, {100, 16, 8_000}, {100, 16, 16_000}} {
			snap := sharedNodes(size.nodes, kind)
			for _, objective := range []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionCost} {
				for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
					b.Run(fmt.Sprintf("groups=%s/nodes=%d/members=%d/cpu=%d/least=%s/search=%s", kind, size.nodes, size.members, size.cpu, objective, search), func(b *testing.B) {
						pl, err := preemption.NewPlanner(&snap, preemption.Options{
							Search: search, Objective: []preemption.CriterionName{objective},
							Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
						})
						if err != nil {
							b.Fatal(err)
						}
						p := gang(size.members, size.cpu)
						optimal, found, gap := 0, int64(0), 0.0
						for b.Loop() {
							r := mustPreempt(b, pl, p)
							if r.Optimal {
								optimal++
							}
							if found = r.Score[0].Value; len(r.Bound) > 0 {
								gap = 100 * (1 - float64(r.Bound[0].Value)/float64(found))
							}
						}
						b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
						b.ReportMetric(float64(found), string(objective))
						b.ReportMetric(gap, "gap%")
					})
				}
			}
		}
	}
}

// countedAside makes the call of that seed in processes of their own, which leave what ran where they end: one before the
// call, one after it.
func countedAside(t *testing.T, seed uint64) (d drawnCall) {
	_, before := runAside(t, seed, "before")
	out, after := runAside(t, seed, "after")
	_, err := fmt.Sscan(out, &d.took)
	require.NoError(t, err, out)
	_, d.name, _ = strings.Cut(strings.TrimSpace(out), " ")
	d.blocks = after - before
	return d
}

// runAside is what a process says, and how many blocks of code it ran.
func runAside(t *testing.T, seed uint64, end string) (string, uint64) {
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestScan$", "-test.timeout=0", "-scan=1", "-scan.end="+end,
		fmt.Sprint("-scan.seed=", seed), fmt.Sprint("-scan.nodes=", *scanNodes))
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir, "GOMAXPROCS=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	files, err := filepath.Glob(filepath.Join(dir, "covcounters.*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	counters, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return string(out), numBlocks(t, bytes.NewBuffer(counters))
}

// numBlocks is how many blocks of code have run, by what -covermode counts.
//
// Source: package internal/coverage of Go's standard library, "counter data file": a header, how many functions follow, and
// how many bytes of names and arguments before them; of a function the number of blocks, two numbers that name it, and how
// often each block has run.
func numBlocks(t *testing.T, file *bytes.Buffer) (n uint64) {
	file.Next(32)
	var segment struct {
		Functions        uint64
		Names, Arguments uint32
	}
	require.NoError(t, binary.Read(file, binary.LittleEndian, &segment))
	file.Next(int(segment.Names + segment.Arguments))
	next := func() uint64 {
		v, err := binary.ReadUvarint(file)
		require.NoError(t, err)
		return v
	}
	for range segment.Functions {
		blocks := next()
		next()
		next()
		for range blocks {
			n += next()
		}
	}
	return n
}

// leastOfThePass is how many pods go at least for members that ask for cpu, over all placements on full nodes of single pods of one priority,
// if on each node go whom upstream's pass takes there.
func leastOfThePass(t testing.TB, snap *preemption.Snapshot, members int, cpu int64) int {
	on := map[string][]preemption.Pod{}
	for _, p := range snap.Pods {
		on[p.Node] = append(on[p.Node], p)
	}
	least := make([]int, members+1) // by how many have a place; -1: none have
	for i := range least {
		least[i] = -1
	}
	least[0] = 0
	for _, n := range snap.Nodes {
		one := preemption.Snapshot{Time: snap.Time, Nodes: []preemption.Node{n}, Pods: on[n.Name], PriorityClasses: snap.PriorityClasses}
		planner, err := preemption.NewPlanner(&one, preemption.Options{})
		require.NoError(t, err)
		var victims []int // of one member, of two, and so on
		for len(victims) < members {
			r, err := planner.Preempt(gang(len(victims)+1, cpu))
			require.NoError(t, err)
			if r.Verdict != preemption.Feasible {
				require.Equal(t, preemption.Infeasible, r.Verdict)
				break
			}
			victims = append(victims, len(r.Victims))
		}
		for all := members; all > 0; all-- {
			for i, v := range victims[:min(all, len(victims))] {
				if before := least[all-i-1]; before >= 0 && (least[all] < 0 || before+v < least[all]) {
					least[all] = before + v
				}
			}
		}
	}
	return least[members]
}

// TestGreedyIsNearTheLeastOfThePass: Greedy chooses the nodes, upstream's pass chooses who goes there. No more than a twentieth
// more go by the choice of nodes than have to.
func TestGreedyIsNearTheLeastOfThePass(t *testing.T) {
	for _, cpu := range []int64{1_000, 2_000, 4_000, 8_000, 16_000} {
		snap := gen.Fleet(120, 30, seed, gen.Tied)
		least := leastOfThePass(t, &snap, 40, cpu)
		r, err := preemption.Preempt(gang(40, cpu), &snap)
		require.NoError(t, err)
		t.Logf("%d milli-CPUs: %d pods, at least %d", cpu, len(r.Victims), least)
		require.GreaterOrEqual(t, len(r.Victims), least, "%d", cpu)
		require.LessOrEqual(t, 20*len(r.Victims), 21*least, "%d", cpu)
	}
}

// BenchmarkGangSearch: a gang of equal members in a full cluster, by how hard the least
// disruption is looked for. In the tied fleet all pods have one priority; there pass-least is
// the least that Greedy could come to with whom upstream's pass takes on each node.
func BenchmarkGangSearch(b *testing.B) {
	shapes := []struct {
		members int
		cpu     int64
	}{{32, 8_000}, {512, 8_000}, {512, 16_000}, {512, 4_000}}
	if testing.Short() {
		shapes = shapes[:1]
	}
	for _, fleet := range []struct {
		name  string
		shape gen.Shape
	}{{"uniform", gen.Uniform}, {"tied", gen.Tied}} {
		snap := gen.Fleet(5_000, 30, seed, fleet.shape)
		for _, g := range shapes {
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
				b.Run(fmt.Sprintf("fleet=%s/members=%d/cpu=%d/search=%s", fleet.name, g.members, g.cpu, search), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Search: search})
					if err != nil {
						b.Fatal(err)
					}
					p := gang(g.members, g.cpu)
					optimal, pods := 0, 0
					for b.Loop() {
						r := mustPreempt(b, pl, p)
						if r.Optimal {
							optimal++
						}
						for _, v := range r.Victims {
							pods += len(v.Pods)
						}
					}
					if fleet.shape == gen.Tied && search == preemption.Greedy {
						b.ReportMetric(float64(leastOfThePass(b, &snap, g.members, g.cpu)), "pass-least")
					}
					b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
					b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
				})
			}
		}
	}
}

// BenchmarkSearch: a lone pod in a full cluster, by how hard the least disruption is looked
// for, by upstream's criteria or by the work that is lost.
func BenchmarkSearch(b *testing.B) {
	work := preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}}
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for _, o := range []preemption.Options{
			{}, {Search: preemption.Improved}, {Search: preemption.Exact},
			{Cost: work, Objective: []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
			{Cost: work, Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
		} {
			criteria := "upstream"
			if len(o.Objective) > 0 {
				criteria = "work"
			}
			b.Run(fmt.Sprintf("criteria=%s/search=%s/nodes=%d/pods=%d", criteria, o.Search, s.nodes, s.pods), func(b *testing.B) {
				pl, err := preemption.NewPlanner(&snap, o)
				if err != nil {
					b.Fatal(err)
				}
				optimal, pods, i := 0, 0, uint64(0)
				for b.Loop() {
					r, err := pl.Preempt(gen.FleetPod(i))
					if err != nil || r.Verdict != preemption.Feasible {
						b.Fatal(r, err)
					}
					if r.Optimal {
						optimal++
					}
					for _, v := range r.Victims {
						pods += len(v.Pods)
					}
					i++
				}
				b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
				b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
			})
		}
	}
}

// BenchmarkProof: what it costs to be given a proof beside an answer, and to look it over. bytes is its
// length as JSON; proved is the part of the answers that are proved to be the least.
func BenchmarkProof(b *testing.B) {
	for _, s := range []struct {
		nodes, pods int
		gangs       []int
	}{{100, 3_000, []int{8}}, {5_000, 150_000, []int{32, 512}}} {
		for _, shape := range []gen.Shape{gen.Uniform, gen.Tied} {
			snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, shape)
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
				b.Run(fmt.Sprintf("shape=%s/search=%s/nodes=%d/pods=%d", shape, search, s.nodes, s.pods), func(b *testing.B) {
					benchmarkProof(b, &snap, preemption.Options{Search: search, Proof: true}, gen.FleetPod)
				})
			}
			for _, members := range s.gangs {
				b.Run(fmt.Sprintf("shape=%s/members=%d/nodes=%d/pods=%d", shape, members, s.nodes, s.pods), func(b *testing.B) {
					o := preemption.Options{Search: preemption.Exact, Proof: true, Objective: []preemption.CriterionName{preemption.CriterionHighest, preemption.CriterionPods}}
					benchmarkProof(b, &snap, o, func(uint64) preemption.Preemptor { return gang(members, 8_000) })
				})
			}
		}
	}
}

func benchmarkProof(b *testing.B, snap *preemption.Snapshot, o preemption.Options, preemptor func(uint64) preemption.Preemptor) {
	without := o
	without.Proof = false
	pl, err := preemption.NewPlanner(snap, without)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("of=without", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i++ {
			if _, err := pl.Preempt(preemptor(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	if pl, err = preemption.NewPlanner(snap, o); err != nil {
		b.Fatal(err)
	}
	var answers []*preemption.Result
	b.Run("of=answer", func(b *testing.B) {
		proved, size := 0, 0
		for b.Loop() {
			r, err := pl.Preempt(preemptor(uint64(len(answers))))
			if err != nil || r.Proof == nil {
				b.Fatal(r, err)
			}
			answers = append(answers, r)
		}
		for _, r := range answers {
			if slices.Equal(r.Proof.Bound, r.Score) {
				proved++
			}
			text, err := json.Marshal(r.Proof)
			if err != nil {
				b.Fatal(err)
			}
			size += len(text)
		}
		b.ReportMetric(float64(proved)/float64(len(answers)), "proved/op")
		b.ReportMetric(float64(size)/float64(len(answers)), "bytes/op")
	})
	b.Run("of=verify", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			at := i % len(answers)
			if problems := check.Verify(snap, o, preemptor(uint64(at)), answers[at]); len(problems) > 0 {
				b.Fatal(problems[0])
			}
		}
	})
}

// BenchmarkBounded asks for most of one node of 110 pods, whose applications have a
// hard budget of one disruption each: nothing helps, which has to be proved, and told
// is by how much which budgets stand in the way.
func BenchmarkBounded(b *testing.B) {
	for _, budgets := range []int{5, 10, 20} {
		b.Run(fmt.Sprintf("budgets=%d", budgets), func(b *testing.B) {
			snapshot := budgeted(budgets)
			high := int32(100)
			p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 88_000}}}}
			pl, err := preemption.NewPlanner(&snapshot, preemption.Options{HardBudgets: preemption.HardBudgets{All: true}})
			if err != nil {
				b.Fatal(err)
			}
			relaxations := 0
			for b.Loop() {
				relaxations = len(mustPreempt(b, pl, p).Nearest.Relaxations)
			}
			b.ReportMetric(float64(relaxations), "relaxations")
		})
	}
}

// budgeted is one node with 110 pods of so many applications, each with a budget.
func budgeted(budgets int) preemption.Snapshot {
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 110_000}}}}
	for i := range budgets {
		s.Budgets = append(s.Budgets, disruption.Budget{
			Name: fmt.Sprintf("b%d", i), Allowed: 1,
			Selector: &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}},
		})
	}
	for i := range 110 {
		low := int32(i % 3)
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprintf("p%03d", i), Node: "n", Priority: &low, Labels: map[string]string{"app": fmt.Sprint(i % budgets)},
			Requests: preemption.Resources{cluster.CPU: int64(500 + i*7919%500)},
		})
	}
	return s
}

// BenchmarkQuality: who is evicted for lone pods above everybody in recorded clusters, and for pods and gangs in random ones,
// by what is to be least and how hard it is looked for. stranded are the victims that find no other place once the answer is
// carried out, and without evicting others; worse is the part of the answers that are beaten by Exact's, and p95 and worst how many
// times its victims, or its cost where work is to be least, an answer takes.
func BenchmarkQuality(b *testing.B) {
	for _, data := range []struct {
		name string
		read func(b *testing.B) []matter
	}{
		{"cell500", func(b *testing.B) []matter { return arriving(b, borg(b, "borg2011/cell500", true)) }},
		{"openb-packed", func(b *testing.B) []matter { return arriving(b, openb(b)) }},
		{"openb-spread", func(b *testing.B) []matter { return arriving(b, openbBy(b, false)) }},
		{"random", func(*testing.B) []matter { return random(0, 0, 0) }},
		{"random-6-budgets", func(*testing.B) []matter { return random(0, 6, 0) }},
		{"random-gangs", func(*testing.B) []matter { return random(4, 0, 0) }},
		{"random-gangs-launcher", func(*testing.B) []matter { return launching(random(12, 0, 0)) }},
		{"random-gangs-launcher-6-budgets", func(*testing.B) []matter { return launching(random(12, 6, 0)) }},
		{"random-gangs-whole-groups", func(*testing.B) []matter { return random(4, 0, 50) }},
	} {
		b.Run("data="+data.name, func(b *testing.B) {
			matters := data.read(b)
			for _, least := range []struct {
				name      string
				objective []preemption.CriterionName
			}{
				{"upstream", nil},
				{"pods", []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionPods}},
				{"work", []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
				{"stranded", []preemption.CriterionName{
					preemption.CriterionViolations, preemption.CriterionHighest, preemption.CriterionStranded, preemption.CriterionSum, preemption.CriterionPods,
				}},
			} {
				o := preemption.Options{
					Objective: least.objective, Search: preemption.Exact,
					Cost: preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1, Per: 1000}}}},
				}
				found, exact := make([]*preemption.Result, len(matters)), planners(b, matters, o)
				best := func(b *testing.B, i int) *preemption.Result { // for what is asked, once
					if found[i] == nil {
						found[i] = mustPreempt(b, exact[i], matters[i].p)
					}
					return found[i]
				}
				for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
					b.Run(fmt.Sprintf("least=%s/search=%s", least.name, search), func(b *testing.B) {
						o := o
						o.Search = search
						benchmarkQuality(b, matters, best, o, least.name == "work")
					})
				}
			}
		})
	}
}

// matter is one question. Those of one cluster stand in a row and share it.
type matter struct {
	s *preemption.Snapshot
	p preemption.Preemptor
}

// planners is for each question its planner, of which each cluster has one.
func planners(b *testing.B, matters []matter, o preemption.Options) []*preemption.Planner {
	out := make([]*preemption.Planner, len(matters))
	for i, m := range matters {
		if i > 0 && m.s == matters[i-1].s {
			out[i] = out[i-1]
			continue
		}
		var err error
		if out[i], err = preemption.NewPlanner(m.s, o); err != nil {
			b.Fatal(err)
		}
	}
	return out
}

func benchmarkQuality(b *testing.B, matters []matter, best func(*testing.B, int) *preemption.Result, o preemption.Options, work bool) {
	asked := planners(b, matters, o)
	victims, optimal, stranded, worse, cost, i := 0, 0, 0, 0, 0.0, 0
	var times []float64
	var waited []time.Duration
	for b.Loop() {
		at := i % len(asked)
		began := time.Now()
		r := mustPreempt(b, asked[at], matters[at].p)
		i++
		b.StopTimer()
		waited = append(waited, time.Since(began))
		after, err := cascade.Of(asked[at], r, cascade.Options{Depth: 1, Returns: func(*preemption.Pod) bool { return true }})
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range after.Outcomes {
			if o.Depth == 1 && o.Status != cascade.Fits {
				stranded += o.Pods
			}
		}
		cost += float64(r.Cost)
		victims += lost(r)
		if r.Optimal {
			optimal++
		}
		best := best(b, at)
		if slices.CompareFunc(r.Score, best.Score, func(x, y preemption.Criterion) int { return cmp.Compare(x.Value, y.Value) }) > 0 {
			worse++
		}
		took, least := float64(lost(r)), float64(lost(best))
		if work {
			took, least = float64(r.Cost), float64(best.Cost)
		}
		if took != least { // both may be 0
			took /= max(least, 1)
		} else {
			took = 1
		}
		times = append(times, took)
		b.StartTimer()
	}
	n := float64(b.N)
	slices.Sort(times)
	slices.Sort(waited)
	b.ReportMetric(float64(waited[len(waited)*99/100]), "p99-ns")
	b.ReportMetric(float64(victims)/n, "victims")
	b.ReportMetric(float64(stranded)/n, "stranded")
	b.ReportMetric(cost/n, "cost")
	b.ReportMetric(float64(optimal)/n, "optimal")
	b.ReportMetric(float64(worse)/n, "worse")
	b.ReportMetric(times[len(times)*95/100], "p95")
	b.ReportMetric(times[len(times)-1], "worst")
}

// lost is how many pods are evicted.
func lost(r *preemption.Result) int {
	pods := 0
	for _, v := range r.Victims {
		pods += len(v.Pods)
	}
	return pods
}

// random are clusters of 20 full nodes with 10 pods each, of each five questions: of lone pods or of gangs of so many
// members, under so many budgets, with so many groups of three pods that go as a whole.
func random(members, budgets, groups int) []matter {
	var matters []matter
	for seed := range uint64(40) {
		s := gen.Fleet(20, 10, seed, gen.Uniform)
		for i := range budgets {
			s.Budgets = append(s.Budgets, disruption.Budget{
				Namespace: "default", Name: fmt.Sprint("budget", i), Allowed: int32(i % 2),
				Selector: &disruption.Selector{MatchLabels: map[string]string{"team": fmt.Sprint(i)}},
			})
		}
		for i := range s.Pods {
			if budgets > 0 {
				s.Pods[i].Labels = map[string]string{"team": fmt.Sprint(i % (2 * budgets))}
			}
			if i < 3*groups {
				p, priority := &s.Pods[i*7%len(s.Pods)], int32(i/3%10)
				p.Group, p.Priority = fmt.Sprint("g", i/3), &priority
			}
		}
		for i := range groups {
			priority := int32(i % 10)
			s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "default", Name: fmt.Sprint("g", i), Priority: &priority, Mode: disruption.All})
		}
		for k := range uint64(5) {
			p := gen.FleetPod(5*seed + k)
			if members > 0 {
				p = gang(members, 4_000*(1+int64(k)))
			}
			matters = append(matters, matter{&s, p})
		}
	}
	return matters
}

// launching makes the first member of each gang ask for half as much again as the others.
func launching(matters []matter) []matter {
	for _, m := range matters {
		asks := preemption.Resources{cluster.CPU: m.p.Pods[0].Requests[cluster.CPU] * 3 / 2}
		m.p.Pods[0].Requests = asks
	}
	return matters
}

// arriving are the first 200 arrivals of a recorded cluster for which somebody has to go.
func arriving(b *testing.B, t trace) (matters []matter) {
	planner, err := preemption.NewPlanner(&t.start, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, pod := range t.arrivals() {
		p := preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{pod}}
		if len(matters) < 200 && mustPreempt(b, planner, p).Verdict == preemption.Feasible {
			matters = append(matters, matter{&t.start, p})
		}
	}
	return matters
}

// BenchmarkRecorded is one question to a recorded cluster as it stood at first, with
// the sizes and priorities of real pods: the arrivals one after the other, each as a
// shape never seen before that is above everybody. See BenchmarkArrivals for their life.
func BenchmarkRecorded(b *testing.B) {
	for _, data := range []struct {
		name string
		read func(b *testing.B) trace
	}{
		{"borg2011-full", func(b *testing.B) trace { return borg(b, "borg2011", true) }},
		{"openb", openb},
	} {
		b.Run("data="+data.name, func(b *testing.B) {
			if testing.Short() {
				b.Skip("large")
			}
			t := data.read(b)
			planner, err := preemption.NewPlanner(&t.start, preemption.Options{})
			if err != nil {
				b.Fatal(err)
			}
			pods := t.arrivals()
			b.ReportAllocs()
			verdicts := map[preemption.Verdict]int{}
			for i := 0; b.Loop(); i++ {
				pod := pods[i%len(pods)]
				pod.Requests = maps.Clone(pod.Requests)
				pod.Requests[cluster.CPU] += int64(i % 4096) // of a million: next to nothing, but another shape
				verdicts[mustPreempt(b, planner, preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{pod}}).Verdict]++
			}
			b.ReportMetric(float64(len(t.start.Nodes)), "nodes")
			b.ReportMetric(float64(len(t.start.Pods)), "pods")
			b.ReportMetric(float64(verdicts[preemption.Feasible])/float64(b.N), "feasible/op")
		})
	}
}

// arrivals are the pods that arrive, each under another name and above everybody.
func (t *trace) arrivals() []preemption.Pod {
	var pods []preemption.Pod
	top := int32(math.MaxInt32)
	for i := range t.events {
		if e := &t.events[i]; !e.ends {
			pod := e.pod
			pod.Name, pod.Priority = "arrival-"+pod.Name, &top
			pods = append(pods, pod)
		}
	}
	return pods
}

// BenchmarkRecord: a pod leaves and comes back, and a pod of a shape that was seen asks
// whom it has to evict; with a journal that nobody reads, and without.
func BenchmarkRecord(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		ask := gen.FleetPod(1)
		for _, recorded := range []bool{false, true} {
			b.Run(fmt.Sprintf("recorded=%t/nodes=%d/pods=%d", recorded, s.nodes, s.pods), func(b *testing.B) {
				var pl interface {
					Remove(pod preemption.PodRef) error
					SetPod(p preemption.Pod) error
					Decide(p preemption.Preemptor) (preemption.Decision, error)
				}
				pl, err := preemption.NewPlanner(&snap, preemption.Options{})
				if recorded {
					pl, err = record.New(io.Discard, &snap, preemption.Options{})
				}
				if err != nil {
					b.Fatal(err)
				}
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					pod := snap.Pods[i%len(snap.Pods)]
					i++
					if err := pl.Remove(refOf(pod)); err != nil {
						b.Fatal(err)
					}
					if err := pl.SetPod(pod); err != nil {
						b.Fatal(err)
					}
					if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Feasible {
						b.Fatal(d, err)
					}
				}
			})
		}
	}
}

// agreeing is a constraint that every pod meets everywhere: with it a question takes the
// plain road, trial by trial, since no shortcut knows what it will say.
type agreeing struct{}

func (agreeing) Name() domain.Check                                           { return "agreeing" }
func (agreeing) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) { return agreeing{}, nil }
func (agreeing) Remove(cluster.PodID, cluster.NodeID)                         {}
func (agreeing) Return(cluster.PodID, cluster.NodeID)                         {}
func (agreeing) Place(domain.MemberID, cluster.NodeID)                        {}
func (agreeing) Unplace(domain.MemberID, cluster.NodeID)                      {}
func (agreeing) Fits(domain.MemberID, cluster.NodeID) domain.Reason           { return domain.Reason{} }
func (agreeing) Clone() domain.State                                          { return agreeing{} }
func (agreeing) Scope() domain.Scope                                          { return domain.Scope{NodeLocal: true, Monotone: true} }

// BenchmarkVerify is one look over an answer (of=verify), beside what it takes to answer,
// from the snapshot to the result: with every shortcut (of=answer), and by trials (of=plain).
func BenchmarkVerify(b *testing.B) {
	plain := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{agreeing{}}}}
	for _, s := range sizes() {
		for _, q := range questions {
			b.Run(fmt.Sprintf("case=%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s)
				benchmarkVerify(b, &snap, p, plain)
			})
		}
		for _, q := range gangQuestions[:3] {
			b.Run(fmt.Sprintf("case=gang-%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s, min(q.members, s.nodes/2))
				benchmarkVerify(b, &snap, p, plain)
			})
		}
	}
}

func benchmarkVerify(b *testing.B, snap *preemption.Snapshot, p preemption.Preemptor, plain preemption.Options) {
	r, err := preemption.Preempt(p, snap)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("of=verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if problems := check.Verify(snap, preemption.Options{}, p, r); len(problems) > 0 {
				b.Fatal(problems[0])
			}
		}
	})
	for i, o := range []preemption.Options{{}, plain} {
		b.Run([]string{"of=answer", "of=plain"}[i], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.Preempt(p, snap); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// trace is a recorded cluster: how it stands, and who comes and goes.
type trace struct {
	start  preemption.Snapshot
	events []event // in order of time
}

// event is that a pod arrives, or that it ends if it runs.
type event struct {
	pod  preemption.Pod // of an end the name only
	at   time.Time
	ends bool
}

// table is a file of recorded data: rows by column.
type table struct {
	b       *testing.B
	columns map[string]int
	rows    [][]string
}

// recorded reads a file of the shared data beside the project, or where PREEMPT_SHARED
// says; without them the benchmark is skipped.
func recorded(b *testing.B, path ...string) *table {
	b.Helper()
	root := os.Getenv("PREEMPT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(append([]string{root, "data"}, path...)...))
	if err != nil {
		b.Skip("the recorded data are not there: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	t := &table{b: b, columns: map[string]int{}, rows: rows[1:]}
	for i, name := range rows[0] {
		t.columns[name] = i
	}
	return t
}

func (t *table) text(row []string, column string) string {
	i, ok := t.columns[column]
	if !ok {
		t.b.Fatalf("no column %q", column)
	}
	return row[i]
}

// number is 0 where the field is empty.
func (t *table) number(row []string, column string) int64 {
	text := t.text(row, column)
	if text == "" {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.b.Fatal(err)
	}
	return v
}

// epoch is when the traces start.
var epoch = time.Unix(1_000_000_000, 0).UTC()

// borg is the Borg cell of 2011 or its part in folder, as far as machines and tasks
// go that run at the start. Machines that are promised beyond what they have are as
// large as what is promised, with full all of them; the 26 changes of machines are
// left out. Tasks are submitted and end as recorded; where they ran and who was evicted
// is not looked at.
func borg(b *testing.B, folder string, full bool) trace {
	machines := recorded(b, folder, "machines.csv.gz")
	t := trace{start: preemption.Snapshot{Time: epoch}}
	known := map[string]bool{}
	for _, row := range machines.rows {
		name := machines.text(row, "machine")
		known[name] = true
		has := cluster.Resources{
			cluster.CPU: machines.number(row, "t0_cpu_requested_ppm"), cluster.Memory: machines.number(row, "t0_mem_requested_ppm"),
		}
		if !full {
			has[cluster.CPU] = max(has[cluster.CPU], machines.number(row, "cpu_ppm"))
			has[cluster.Memory] = max(has[cluster.Memory], machines.number(row, "mem_ppm"))
		}
		t.start.Nodes = append(t.start.Nodes, cluster.Node{Name: name, Allocatable: has})
	}
	tasks := recorded(b, folder, "tasks_t0.csv.gz")
	for _, row := range tasks.rows {
		if p := borgTask(tasks, row); known[tasks.text(row, "machine")] {
			p.Node, p.Started = tasks.text(row, "machine"), epoch
			t.start.Pods = append(t.start.Pods, p)
		}
	}
	events := recorded(b, folder, "events.csv.gz")
	for _, row := range events.rows {
		at := epoch.Add(time.Duration(events.number(row, "t_us")) * time.Microsecond)
		switch events.text(row, "event") {
		case "SUBMIT":
			t.events = append(t.events, event{pod: borgTask(events, row), at: at})
		case "FINISH", "KILL", "FAIL":
			t.events = append(t.events, event{pod: preemption.Pod{Name: borgName(events, row)}, at: at, ends: true})
		}
	}
	return t
}

func borgName(t *table, row []string) string { return t.text(row, "job") + "-" + t.text(row, "task") }

func borgTask(t *table, row []string) preemption.Pod {
	priority := int32(t.number(row, "priority"))
	return preemption.Pod{Name: borgName(t, row), Priority: &priority, Requests: cluster.Resources{
		cluster.CPU: t.number(row, "cpu_ppm"), cluster.Memory: t.number(row, "mem_ppm"),
	}}
}

const gpu = "nvidia.com/gpu"

// openb is Alibaba's GPU cluster of 2023: filled with its pods in order of creation,
// each on the node where the least GPU is left, until the first one finds no place;
// the others arrive. Nobody ends, and the models that pods ask for are left out.
func openb(b *testing.B) trace { return openbBy(b, true) }

// openbBy is openb, where each pod goes to the node where the most GPU is left if it is not
// packed.
func openbBy(b *testing.B, packed bool) trace {
	nodes, pods := recorded(b, "openb", "nodes.csv.gz"), recorded(b, "openb", "pods.csv.gz")
	t := trace{start: preemption.Snapshot{Time: epoch}}
	var free []room
	for _, row := range nodes.rows {
		n := cluster.Node{Name: nodes.text(row, "name"), Allocatable: cluster.Resources{
			cluster.CPU: nodes.number(row, "cpu_milli"), cluster.Memory: nodes.number(row, "memory_bytes"),
		}}
		count := nodes.number(row, "gpu_count")
		if count > 0 {
			n.Devices = map[string]cluster.DevicePool{gpu: {Count: int32(count), Capacity: 1000}}
		}
		t.start.Nodes = append(t.start.Nodes, n)
		free = append(free, room{n.Allocatable[cluster.CPU], n.Allocatable[cluster.Memory], slices.Repeat([]int64{1000}, int(count))})
	}
	slices.SortStableFunc(pods.rows, func(x, y []string) int {
		return cmp.Compare(pods.number(x, "creation_s"), pods.number(y, "creation_s"))
	})
	full := false
	for _, row := range pods.rows {
		p, at := openbPod(pods, row), epoch.Add(time.Duration(pods.number(row, "creation_s"))*time.Second)
		best := -1
		for n := range free {
			if !full && free[n].fits(&p) && (best < 0 || free[n].gpus() < free[best].gpus() == packed && free[n].gpus() != free[best].gpus()) {
				best = n
			}
		}
		if !full {
			t.start.Time = at
		}
		if full = full || best < 0; full {
			t.events = append(t.events, event{pod: p, at: at})
			continue
		}
		free[best].take(&p)
		p.Node, p.Started = t.start.Nodes[best].Name, at
		t.start.Pods = append(t.start.Pods, p)
	}
	return t
}

// openbPod is a row as a pod: its priority by QoS class, its GPUs as devices.
func openbPod(t *table, row []string) preemption.Pod {
	priority := map[string]int32{"BE": 0, "Burstable": 100, "LS": 1000, "Guaranteed": 1000}[t.text(row, "qos")]
	p := preemption.Pod{Name: t.text(row, "name"), Priority: &priority, Requests: cluster.Resources{
		cluster.CPU: t.number(row, "cpu_milli"), cluster.Memory: t.number(row, "memory_bytes"),
	}}
	switch count, milli := t.number(row, "gpu_count"), t.number(row, "gpu_milli"); {
	case count == 1 && milli < 1000:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: milli}}
	case count > 0:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Count: int32(count)}}
	}
	return p
}

// room is what is free on a node while a cluster is filled.
type room struct {
	cpu, memory int64
	devices     []int64
}

func (r *room) gpus() (sum int64) {
	for _, v := range r.devices {
		sum += v
	}
	return sum
}

func (r *room) fits(p *preemption.Pod) bool {
	if r.cpu < p.Requests[cluster.CPU] || r.memory < p.Requests[cluster.Memory] {
		return false
	}
	if len(p.Devices) == 0 {
		return true
	}
	if d := p.Devices[0]; d.Count == 0 {
		return cluster.BestFit(r.devices, d.Fraction) >= 0
	}
	whole := int32(0)
	for _, v := range r.devices {
		if v == 1000 {
			whole++
		}
	}
	return whole >= p.Devices[0].Count
}

// take books p, which fits, and notes its devices.
func (r *room) take(p *preemption.Pod) {
	r.cpu -= p.Requests[cluster.CPU]
	r.memory -= p.Requests[cluster.Memory]
	if len(p.Devices) == 0 {
		return
	}
	d := &p.Devices[0]
	if d.Count == 0 {
		at := cluster.BestFit(r.devices, d.Fraction)
		r.devices[at] -= d.Fraction
		d.Assigned = []int32{int32(at)}
		return
	}
	for i := range r.devices {
		if r.devices[i] == 1000 && len(d.Assigned) < int(d.Count) {
			r.devices[i] = 0
			d.Assigned = append(d.Assigned, int32(i))
		}
	}
}
