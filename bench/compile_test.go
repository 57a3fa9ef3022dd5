package bench_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// BenchmarkCompile is what it costs to turn plain structs into dense columns, with one
// and with two processors: step=index for the index, step=planner for everything that
// a planner prepares, step=question for a cluster that is asked about once, step=group
// likewise, about pods that meet other units than a lone one.
func BenchmarkCompile(b *testing.B) {
	for _, s := range sizes() {
		snap, p := questions[0].ask(s)
		measureCompile(b, "index", s, func() error { _, err := cluster.NewIndex(&snap); return err })
		measureCompile(b, "planner", s, func() error { _, err := preemption.NewPlanner(&snap, preemption.Options{}); return err })
		measureCompile(b, "question", s, func() error { _, err := preemption.Preempt(p, &snap); return err })
		o, group := preemption.Options{Rules: preemption.Kubernetes136}, gang(4, 3_500)
		measureCompile(b, "group", s, func() error { _, err := o.Preempt(group, &snap); return err })
	}
}

// BenchmarkCompileWorst is step=planner of BenchmarkCompile for clusters that are
// harder to read.
func BenchmarkCompileWorst(b *testing.B) {
	for _, c := range []struct {
		name    string
		perNode int
		change  func(s *preemption.Snapshot)
	}{
		{"shuffled", 30, shuffle},     // pods in no order
		{"namespaces", 30, disperse},  // 1,000 namespaces, so that pods of a node are no neighbours
		{"long-names", 30, lengthen},  // names that begin alike
		{"crowded", 110, ignore},      // 110 pods a node
		{"12-resources", 30, diverse}, // of which each pod asks for three
		{"classes", 30, classify},     // priorities by class
		{"grouped", 30, gather},       // every pod is in a group, of four pods
		{"budgeted", 30, budget},      // every pod is in one of 100 budgets
		{"admitted", 30, admit},       // what an API server adds to a pod, and a fifth with terms
	} {
		for _, s := range sizes() {
			snap := gen.Fleet(s.nodes, c.perNode, seed, gen.Uniform)
			c.change(&snap)
			s.pods = len(snap.Pods)
			measureCompile(b, "planner/case="+c.name, s, func() error { _, err := preemption.NewPlanner(&snap, preemption.Options{}); return err })
		}
	}
}

func measureCompile(b *testing.B, step string, s size, compile func() error) {
	for _, processors := range []int{1, 2} {
		b.Run(fmt.Sprintf("step=%s/goroutines=%d/%s", step, processors, s), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			b.ReportAllocs()
			for b.Loop() {
				if err := compile(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.pods), "ns/pod")
		})
	}
}

func ignore(*preemption.Snapshot) {}

func shuffle(s *preemption.Snapshot) {
	random := rand.New(rand.NewPCG(seed, seed))
	random.Shuffle(len(s.Pods), func(i, j int) { s.Pods[i], s.Pods[j] = s.Pods[j], s.Pods[i] })
}

// disperse gives the pods of each node different namespaces, and puts them in order of
// these, as kubectl prints them.
func disperse(s *preemption.Snapshot) {
	const namespaces = 1000
	pods := make([]preemption.Pod, 0, len(s.Pods))
	for k := range namespaces {
		for i := k; i < len(s.Pods); i += namespaces {
			p := s.Pods[i]
			p.Namespace = fmt.Sprintf("team-%03d", k)
			pods = append(pods, p)
		}
	}
	s.Pods = pods
}

func lengthen(s *preemption.Snapshot) {
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Name = "a-workload-whose-name-is-about-as-long-as-names-are-allowed-to-be-" + p.Name
	}
}

func diverse(s *preemption.Snapshot) {
	for r := range 9 {
		name := fmt.Sprintf("example.com/r%d", r)
		for i := range s.Nodes {
			s.Nodes[i].Allocatable[name] = 1_000
		}
		for i := r; i < len(s.Pods); i += 9 {
			s.Pods[i].Requests[name] = int64(1 + i%30)
		}
	}
}

func classify(s *preemption.Snapshot) {
	for i := range int32(10) {
		s.PriorityClasses = append(s.PriorityClasses, preemption.PriorityClass{Name: fmt.Sprintf("class-%d", i), Value: i})
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Class, p.Priority = s.PriorityClasses[*p.Priority].Name, nil
	}
}

func gather(s *preemption.Snapshot) {
	four := int32(4)
	for i := range s.Pods {
		if i%4 == 0 {
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprintf("group-%06d", i/4), Mode: "All", MinCount: &four, Priority: s.Pods[i].Priority})
		}
		s.Pods[i].Group, s.Pods[i].Priority = fmt.Sprintf("group-%06d", i/4), s.PodGroups[i/4].Priority
	}
}

func budget(s *preemption.Snapshot) {
	for i := range 100 {
		s.Budgets = append(s.Budgets, preemption.Budget{
			Namespace: "default", Name: fmt.Sprintf("budget-%02d", i), Selector: matching("app", fmt.Sprintf("app-%02d", i)),
		})
	}
}

// admit gives the pods what admission adds, and a fifth of them terms about others.
func admit(s *preemption.Snapshot) {
	classify(s)
	seconds := []cluster.Toleration{
		{Key: "node.kubernetes.io/not-ready", Operator: cluster.TolerationExists, Effect: cluster.NoExecute},
		{Key: "node.kubernetes.io/unreachable", Operator: cluster.TolerationExists, Effect: cluster.NoExecute},
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Priority, p.Policy, p.Tolerations = new(int32), priority.PreemptLowerPriority, seconds
		*p.Priority = s.PriorityClasses[p.Class[len(p.Class)-1]-'0'].Value
		if i%5 == 0 {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("app", p.Labels["app"])}}
			p.Spread = []cluster.Spread{{MaxSkew: 5, TopologyKey: hostKey, Selector: matching("app", p.Labels["app"])}}
		}
	}
}

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

var maxArrivals = flag.Int("arrivals", 0, "how many pods arrive in BenchmarkArrivals at most; 0: all that were recorded, 57,152 for borg2011")

// BenchmarkArrivals lives through recorded arrivals with a planner: each pod that
// comes is asked about; where it fits it is bound; where others have to go they are
// evicted at once, for good, and it is bound; else it is forgotten. Pods end when
// they did.
//
// An operation is the whole replay. p50-ns, p99-ns and max-ns are those of one
// decision, which includes what the planner puts off from the changes before.
func BenchmarkArrivals(b *testing.B) {
	for _, data := range []struct {
		name  string
		large bool
		read  func(b *testing.B) trace
	}{
		{"borg2011", true, func(b *testing.B) trace { return borg(b, "borg2011", false) }},
		{"borg2011-full", true, func(b *testing.B) trace { return borg(b, "borg2011", true) }},
		{"borg2011-cell500", false, func(b *testing.B) trace { return borg(b, filepath.Join("borg2011", "cell500"), false) }},
		{"borg2011-cell500-full", false, func(b *testing.B) trace { return borg(b, filepath.Join("borg2011", "cell500"), true) }},
		{"openb", true, openb},
	} {
		b.Run("data="+data.name, func(b *testing.B) {
			if data.large && testing.Short() {
				b.Skip("large")
			}
			t := data.read(b)
			planner, err := preemption.NewPlanner(&t.start, preemption.Options{})
			if err != nil {
				b.Fatal(err)
			}
			r := replay{took: make([]time.Duration, 0, len(t.events))}
			b.ReportAllocs()
			for b.Loop() {
				r.run(b, planner.Fork(), &t)
			}
			r.report(b)
		})
	}
}

// replay is what came of the arrivals, summed over operations.
type replay struct {
	took                             []time.Duration
	fits, feasible, refused, victims int
}

func (r *replay) run(b *testing.B, pl *preemption.Planner, t *trace) {
	running := make(map[string]bool, len(t.start.Pods))
	for i := range t.start.Pods {
		running[t.start.Pods[i].Name] = true
	}
	left := *maxArrivals
	for i := range t.events {
		e := &t.events[i]
		switch {
		case e.ends && running[e.pod.Name]:
			must(b, pl.Remove(preemption.PodRef{Name: e.pod.Name}))
			delete(running, e.pod.Name)
		case !e.ends && !running[e.pod.Name]: // else it was evicted then, and not here
			r.arrive(b, pl, e, running)
			if left--; left == 0 {
				return
			}
		}
	}
}

// arrive asks about a pod, and does what is answered.
func (r *replay) arrive(b *testing.B, pl *preemption.Planner, e *event, running map[string]bool) {
	must(b, pl.SetPod(e.pod))
	begin := time.Now()
	result, err := pl.Preempt(preemption.Preemptor{Kind: "Pod", Name: e.pod.Name})
	r.took = append(r.took, time.Since(begin))
	must(b, err)
	switch result.Verdict {
	case preemption.Fits:
		r.fits++
	case preemption.Feasible:
		r.feasible++
		r.victims += len(result.Victims)
		must(b, pl.Evict(result))
		for _, v := range result.Victims {
			delete(running, v.Name)
		}
	default:
		r.refused++
		must(b, pl.Remove(preemption.PodRef{Name: e.pod.Name}))
		return
	}
	bound := e.pod
	bound.Node, bound.Started = result.Domain, e.at
	must(b, pl.SetPod(bound))
	running[bound.Name] = true
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

func (r *replay) report(b *testing.B) {
	if len(r.took) == 0 {
		b.Fatal("nobody arrived")
	}
	slices.Sort(r.took)
	last := len(r.took) - 1
	b.ReportMetric(float64(r.took[last/2]), "p50-ns")
	b.ReportMetric(float64(r.took[last*99/100]), "p99-ns")
	b.ReportMetric(float64(r.took[last]), "max-ns")
	n := float64(b.N)
	b.ReportMetric(float64(len(r.took))/n, "arrivals/op")
	b.ReportMetric(float64(r.fits)/n, "fits/op")
	b.ReportMetric(float64(r.feasible)/n, "preempting/op")
	b.ReportMetric(float64(r.refused)/n, "refused/op")
	b.ReportMetric(float64(r.victims)/n, "victims/op")
}

// burst are pods that arrive at once in a cluster, as preemptors.
type burst struct {
	snapshot preemption.Snapshot
	list     []preemption.Preemptor
}

// arrive adds pods to the cluster, pending.
func (u *burst) arrive(pods ...preemption.Pod) {
	for _, p := range pods {
		u.list = append(u.list, preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name})
	}
	u.snapshot.Pods = append(u.snapshot.Pods, pods...)
}

// fleetBurst are pods of the sizes in turn, in CPUs, in a full cluster.
func fleetBurst(nodes, pods, arrive int, shape gen.Shape, sizes ...int64) *burst {
	u := &burst{snapshot: gen.Fleet(nodes, pods/nodes, seed, shape)}
	high := int32(1_000)
	for i := range arrive {
		u.arrive(preemption.Pod{
			Namespace: "burst", Name: fmt.Sprintf("web-%04d", i), Priority: &high,
			Requests: preemption.Resources{cluster.CPU: 1_000 * sizes[i%len(sizes)], cluster.Memory: 1 << 30},
		})
	}
	return u
}

// borgBurst is the largest job that arrives in the Borg cell of 2011, as the cell stood at first.
func borgBurst(b *testing.B) *burst {
	t := borg(b, "borg2011", true)
	jobs, seen := map[string][]preemption.Pod{}, map[string]bool{}
	largest := ""
	for _, e := range t.events {
		if e.ends || seen[e.pod.Name] { // some are submitted again
			continue
		}
		seen[e.pod.Name] = true
		job, _, _ := strings.Cut(e.pod.Name, "-")
		if jobs[job] = append(jobs[job], e.pod); len(jobs[job]) > len(jobs[largest]) {
			largest = job
		}
	}
	u := &burst{snapshot: t.start}
	u.arrive(jobs[largest]...)
	return u
}

// BenchmarkBurst: lone pods arrive at once in a full cluster, and are asked about one by one,
// each answer carried out, or with PreemptAll, as it is and with Search Exact.
func BenchmarkBurst(b *testing.B) {
	for _, u := range []struct {
		name  string
		large bool
		make  func(b *testing.B) *burst
	}{
		{"data=uniform/nodes=100/burst=20", false, func(*testing.B) *burst { return fleetBurst(100, 3_000, 20, gen.Uniform, 8) }},
		{"data=tied/nodes=100/burst=20", false, func(*testing.B) *burst { return fleetBurst(100, 3_000, 20, gen.Tied, 8) }},
		{"data=uniform-mixed/nodes=100/burst=200", false, func(*testing.B) *burst { return fleetBurst(100, 3_000, 200, gen.Uniform, 4, 16, 2, 10, 8) }},
		{"data=tied-mixed/nodes=100/burst=200", false, func(*testing.B) *burst { return fleetBurst(100, 3_000, 200, gen.Tied, 4, 16, 2, 10, 8) }},
		{"data=uniform/nodes=5000/burst=500", true, func(*testing.B) *burst { return fleetBurst(5_000, 150_000, 500, gen.Uniform, 8) }},
		{"data=tied/nodes=5000/burst=500", true, func(*testing.B) *burst { return fleetBurst(5_000, 150_000, 500, gen.Tied, 8) }},
		{"data=borg2011-full/nodes=12477/burst=2100", true, borgBurst},
	} {
		if u.large && testing.Short() {
			continue
		}
		u := struct {
			name string
			*burst
		}{u.name, u.make(b)}
		for _, way := range []string{"one by one", "together", "exact"} {
			b.Run(u.name+"/way="+way, func(b *testing.B) {
				o := preemption.Options{}
				if way == "exact" {
					o.Search = preemption.Exact
				}
				pl, err := preemption.NewPlanner(&u.snapshot, o)
				if err != nil {
					b.Fatal(err)
				}
				placed, pods, optimal := 0, 0, 0
				for b.Loop() {
					rs, err := u.ask(pl, way != "one by one")
					if err != nil {
						b.Fatal(err)
					}
					for _, r := range rs {
						if placed += len(r.Nominations); r.Optimal {
							optimal += len(r.Nominations)
						}
						for _, v := range r.Victims {
							pods += len(v.Pods)
						}
					}
				}
				b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
				b.ReportMetric(float64(placed)/float64(b.N), "placed/op")
				b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
			})
		}
	}
}

// ask answers for all of them, together or one by one.
func (u *burst) ask(pl *preemption.Planner, together bool) (rs []*preemption.Result, err error) {
	if together {
		return pl.PreemptAll(u.list)
	}
	fork := pl.Fork()
	for _, p := range u.list {
		r, err := fork.Preempt(p)
		if err != nil {
			return nil, err
		}
		rs = append(rs, r)
		if len(r.Nominations) == 0 {
			continue
		}
		if err := errors.Join(fork.Evict(r), fork.Bind(r.Nominations[0].Pod, r.Nominations[0].Node)); err != nil {
			return nil, err
		}
	}
	return rs, nil
}
