package bench_test

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/preempt-go/preempt/disruption"
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
