package bench_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
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

// under are options by which units are kept, ordered or priced.
var under = []struct {
	name    string
	options preemption.Options
}{
	{"default", preemption.Options{}},
	{"guaranteed", preemption.Options{Guards: victims.Guards{GuaranteedSeconds: 1000 * 3600}}},
	{"movable", preemption.Options{PreferMovable: true}},
	{"criterion", preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}, Criterion: 1}}},
	{"importance", preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}, Importance: true}}},
	{"apart", preemption.Options{PreemptionPriority: preemption.PreemptionPriority{Apart: true}}},
}

// changed is a cluster that changes.
type changed struct {
	*preemption.Planner
	b    *testing.B
	snap preemption.Snapshot
	now  time.Time
}

func (c *changed) must(err error) {
	if err != nil {
		c.b.Fatal(err)
	}
}

// pod is the pod that changes in turn i, another one every time.
func (c *changed) pod(i int) preemption.Pod { return c.snap.Pods[i*7919%len(c.snap.Pods)] }

func (c *changed) node(i int) cluster.Node { return c.snap.Nodes[i*7919%len(c.snap.Nodes)] }

func (c *changed) between(i int) string { return fmt.Sprint(c.node(i).Name, "-", i) }

func refOf(p preemption.Pod) preemption.PodRef {
	return preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
}

// kind is a kind of change, each of which leaves the cluster much as it was.
type kind struct {
	name   string
	change func(c *changed, i int)
}

var kinds = []kind{
	{"pod", func(c *changed, i int) {
		p := c.pod(i)
		p.Requests = preemption.Resources{cluster.CPU: 1000 + int64(i%7)*10}
		c.must(c.SetPod(p))
	}},
	{"remove-add", func(c *changed, i int) {
		p := c.pod(i)
		c.must(c.Remove(refOf(p)))
		c.must(c.SetPod(p))
	}},
	{"guarded-pod", func(c *changed, i int) {
		p, seconds := c.pod(i), int64(i%3600)
		p.Guard = &cluster.Guard{GuaranteedSeconds: &seconds}
		p.Evictions = []time.Time{c.snap.Time}
		c.must(c.SetPod(p))
		c.must(c.SetPod(c.pod(i)))
	}},
	{"bind", func(c *changed, i int) {
		p := c.pod(i)
		p.Node, p.Started = "", time.Time{}
		c.must(c.SetPod(p))
		c.must(c.Bind(refOf(p), c.pod(i).Node))
		c.must(c.SetPod(c.pod(i)))
	}},
	{"tick", func(c *changed, _ int) {
		c.now = c.now.Add(time.Second)
		c.must(c.SetTime(c.now))
	}},
	{"tick-unstarted", func(c *changed, i int) {
		p := c.pod(i)
		p.Started = time.Time{}
		c.must(c.SetPod(p))
		c.now = c.now.Add(time.Second)
		c.must(c.SetTime(c.now))
		c.must(c.SetPod(c.pod(i)))
	}},
	{"node", func(c *changed, i int) {
		n := c.node(i)
		n.Unschedulable = i/len(c.snap.Nodes)%2 == 0
		c.must(c.SetNode(n))
	}},
	{"node-new", func(c *changed, i int) { // between two others; the hundredth before goes
		n := c.node(i)
		n.Name = c.between(i)
		c.must(c.SetNode(n))
		if i > 100 {
			c.must(c.RemoveNode(c.between(i - 100)))
		}
	}},
	{"node-back", func(c *changed, i int) { // from under its pods
		n := c.node(i)
		c.must(c.RemoveNode(n.Name))
		c.must(c.SetNode(n))
	}},
	{"node-labels", func(c *changed, i int) {
		n := c.snap.Nodes[i%len(c.snap.Nodes)]
		n.Labels = map[string]string{"turn": fmt.Sprint(i % 2)}
		c.must(c.SetNode(n))
	}},
	{"group", func(c *changed, i int) {
		seconds := int64(i % 3600)
		c.must(c.SetPodGroup(preemption.PodGroup{Namespace: "default", Name: "group", Guard: &cluster.Guard{GuaranteedSeconds: &seconds}}))
		p := c.pod(i)
		p.Group = "group"
		c.must(c.SetPod(p))
		c.must(c.SetPod(c.pod(i)))
	}},
	{"budget", func(c *changed, i int) {
		c.must(c.SetBudget(preemption.Budget{
			Namespace: "default", Name: "app", Allowed: int32(i % 7),
			Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "app-00"}},
		}))
	}},
	{"composite", func(c *changed, i int) {
		c.must(c.SetCompositePodGroup(cluster.CompositePodGroup{Namespace: "default", Name: "tree", UID: fmt.Sprint(i)}))
	}},
	{"class", func(c *changed, i int) {
		c.must(c.SetPriorityClass(preemption.PriorityClass{Name: "batch", Value: int32(i % 2)}))
	}},
	{"namespace", func(c *changed, i int) {
		c.must(c.SetNamespace(cluster.Namespace{Name: "default", Labels: map[string]string{"turn": fmt.Sprint(i % 2)}}))
	}},
}

// BenchmarkChangeUnder is a change, and what the next look at the cluster waits for it:
// nothing, where the planner follows; where it compiles the cluster anew, for that.
func BenchmarkChangeUnder(b *testing.B) {
	for _, s := range sizes() {
		for _, u := range under {
			for _, k := range kinds {
				b.Run(fmt.Sprintf("kind=%s/option=%s/%s", k.name, u.name, s), func(b *testing.B) {
					snap, _ := questions[0].ask(s)
					planner, err := preemption.NewPlanner(&snap, u.options)
					c := &changed{planner, b, snap, snap.Time}
					c.must(err)
					look := func() { c.must(c.View(func(preemption.View) {})) }
					k.change(c, 0)
					look()
					b.ReportAllocs()
					for i := 1; b.Loop(); i++ {
						k.change(c, i)
						look()
					}
				})
			}
		}
	}
}

// BenchmarkChange is a change and the decision after it, about a shape of pod that is
// known. With -maxnodes 100000 there is a large cluster, too.
func BenchmarkChange(b *testing.B) {
	list := []size{{1000, 30_000}}
	if !testing.Short() {
		list = append(list, size{5000, 150_000})
		if large := 100_000; *maxNodes >= large {
			list = append(list, size{large, large * 30})
		}
	}
	for _, s := range list {
		l := &living{s, sync.OnceValues(func() (preemption.Snapshot, preemption.Preemptor) { return questions[0].ask(s) })}
		for _, k := range kinds {
			b.Run(fmt.Sprintf("kind=%s/%s", k.name, s), func(b *testing.B) {
				planner, snap, p := l.planner(b, 3)
				c := &changed{planner, b, snap, snap.Time}
				decide := func() {
					_, err := c.Decide(p)
					c.must(err)
				}
				for i := range 3 { // the first may compile the cluster anew, or move all nodes
					k.change(c, i)
					decide()
				}
				b.ReportAllocs()
				for i := 3; b.Loop(); i++ {
					k.change(c, i)
					decide()
				}
			})
		}
	}
}

// waitingShapes is how many preemptors wait, each of another shape.
const waitingShapes = 10_000

// BenchmarkWake: a pod leaves a full cluster and comes back, while 10,000 preemptors wait, each
// of another shape, one in a hundred of them small enough for the room: those that may have
// it are asked again (way=wake), or all of them (way=ask).
func BenchmarkWake(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		full(&snap)
		asks := make([]preemption.Preemptor, waitingShapes)
		for i := range asks {
			lowest := int32(0)
			cpuMilli := 5_000_000 + int64(i)
			if i%100 == 0 {
				cpuMilli = 1 + int64(i/100)
			}
			snap.Pods = append(snap.Pods, preemption.Pod{
				Name: fmt.Sprint("waits-", i), Priority: &lowest, Requests: preemption.Resources{cluster.CPU: cpuMilli},
			})
			asks[i] = preemption.Preemptor{Kind: preemption.KindPod, Name: fmt.Sprint("waits-", i)}
		}
		for _, way := range []string{"wake", "ask"} {
			b.Run(fmt.Sprintf("way=%s/waiting=%d/nodes=%d/pods=%d", way, waitingShapes, s.nodes, s.pods), func(b *testing.B) {
				pl, err := preemption.NewPlanner(&snap, preemption.Options{})
				if err != nil {
					b.Fatal(err)
				}
				c := &changed{Planner: pl, b: b, snap: snap}
				c.snap.Pods = snap.Pods[:s.pods]
				ask := func(p preemption.Preemptor) bool {
					d, err := pl.Park(p)
					c.must(err)
					return d.Verdict != preemption.Infeasible
				}
				for _, p := range asks {
					ask(p)
				}
				woken, i := 0, 0
				b.ReportAllocs()
				for b.Loop() {
					pod := c.pod(i)
					c.must(c.Remove(refOf(pod)))
					list := asks
					if way == "wake" {
						list = pl.Wake()
					}
					for _, p := range list {
						ask(p)
					}
					c.must(c.SetPod(pod))
					if way == "wake" {
						for _, p := range list {
							ask(p) // who was not served waits again
						}
					}
					woken, i = woken+len(list), i+1
				}
				b.ReportMetric(float64(woken)/float64(b.N), "asked/op")
			})
		}
	}
}

// full lets each node offer just what its pods ask for.
func full(s *preemption.Snapshot) {
	used := map[string]int64{}
	for _, p := range s.Pods {
		used[p.Node] += p.Requests[cluster.CPU]
	}
	for i := range s.Nodes {
		s.Nodes[i].Allocatable[cluster.CPU] = used[s.Nodes[i].Name]
	}
}

// living is a cluster for planners, and a question to them.
type living struct {
	size
	ask func() (preemption.Snapshot, preemption.Preemptor) // once for all
}

// planner makes a planner that has answered the question a number of times.
func (l *living) planner(b *testing.B, times int) (*preemption.Planner, preemption.Snapshot, preemption.Preemptor) {
	b.Helper()
	snap, p := l.ask()
	planner, err := preemption.NewPlanner(&snap, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for range times {
		mustPreempt(b, planner, p)
	}
	return planner, snap, p
}

func mustPreempt(b *testing.B, pl *preemption.Planner, p preemption.Preemptor) *preemption.Result {
	b.Helper()
	r, err := pl.Preempt(p)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkPlanner is the life of a planner between two questions. In change=, that
// share of the nodes has had a pod replaced since the last question; the cost is
// that of the changes and of the question after them. With -maxnodes 100000 there is
// a large cluster, too.
func BenchmarkPlanner(b *testing.B) {
	list := sizes()
	if large := 100_000; *maxNodes >= large && !testing.Short() {
		list = append(list, size{large, large * 30})
	}
	for _, s := range list {
		l := &living{s, sync.OnceValues(func() (preemption.Snapshot, preemption.Preemptor) { return questions[0].ask(s) })}
		l.changes(b)
		l.decisions(b)
		l.updates(b)
		l.forks(b)
	}
}

// changer changes pods, one node after the other.
type changer struct {
	planner *preemption.Planner
	snap    preemption.Snapshot
	next    int
}

func (c *changer) change(b *testing.B, nodes int) {
	for range nodes {
		pod := c.snap.Pods[c.next%len(c.snap.Pods)]
		pod.Requests = preemption.Resources{"cpu": 1000 + int64(c.next%7)*10}
		if err := c.planner.SetPod(pod); err != nil {
			b.Fatal(err)
		}
		c.next += len(c.snap.Pods) / len(c.snap.Nodes)
	}
}

func (l *living) changes(b *testing.B) {
	for _, change := range []struct {
		name  string
		nodes int
	}{{"none", 0}, {"one", 1}, {"1%", l.nodes / 100}} {
		b.Run(fmt.Sprintf("change=%s/%s", change.name, l), func(b *testing.B) {
			planner, snap, p := l.planner(b, 1)
			c := changer{planner: planner, snap: snap}
			b.ReportAllocs()
			for b.Loop() {
				c.change(b, change.nodes)
				mustPreempt(b, planner, p)
			}
		})
	}
}

func (l *living) decisions(b *testing.B) {
	for _, given := range []string{"name", "inline"} {
		b.Run(fmt.Sprintf("decide=%s/%s", given, l), func(b *testing.B) {
			planner, _, p := l.planner(b, 0)
			if given == "name" {
				if err := planner.SetPod(p.Pods[0]); err != nil {
					b.Fatal(err)
				}
				p = preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Pods[0].Namespace, Name: p.Pods[0].Name}
			}
			for range 3 {
				mustPreempt(b, planner, p)
			}
			b.ReportAllocs()
			for b.Loop() {
				if d, err := planner.Decide(p); err != nil || d.Verdict != preemption.Feasible {
					b.Fatal(d, err)
				}
			}
		})
	}
	b.Run("decide-after=1%/"+l.String(), func(b *testing.B) {
		planner, snap, p := l.planner(b, 3)
		c := changer{planner: planner, snap: snap}
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer() // the question alone
			c.change(b, l.nodes/100)
			b.StartTimer()
			if d, err := planner.Decide(p); err != nil || d.Domain == "" {
				b.Fatal(d, err)
			}
		}
	})
}

// updates are changes without a question: a pod is set again, or removed and then added
// again.
func (l *living) updates(b *testing.B) {
	for _, again := range []bool{false, true} {
		name := "update=pod/"
		if again {
			name = "update=remove-add/"
		}
		b.Run(name+l.String(), func(b *testing.B) {
			planner, snap, _ := l.planner(b, 1)
			b.ReportAllocs()
			for next := 0; b.Loop(); next++ {
				pod := &snap.Pods[next%len(snap.Pods)]
				if again {
					if err := planner.Remove(preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name}); err != nil {
						b.Fatal(err)
					}
				}
				if err := planner.SetPod(*pod); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func (l *living) forks(b *testing.B) {
	b.Run("update=fork/"+l.String(), func(b *testing.B) {
		planner, _, _ := l.planner(b, 1)
		b.ReportAllocs()
		for b.Loop() {
			planner.Fork()
		}
	})
	b.Run("update=fork-evict-ask/"+l.String(), func(b *testing.B) {
		planner, _, p := l.planner(b, 1)
		r := mustPreempt(b, planner, p)
		b.ReportAllocs()
		for b.Loop() {
			fork := planner.Fork()
			if err := fork.Evict(r); err != nil {
				b.Fatal(err)
			}
			mustPreempt(b, fork, p)
		}
	})
}

// counter is an observer that counts.
type counter struct{ told int }

func (*counter) Now() time.Time                      { return time.Now() }
func (c *counter) Answered(_ preemption.Observation) { c.told++ }

// BenchmarkAsking: a question with an observer, with a context that may end, and with
// neither: one that is decided at once, and one of which each node is tried.
func BenchmarkAsking(b *testing.B) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		ask := gen.FleetPod(1)
		for _, wants := range []string{"neither", "context", "observer"} {
			for _, way := range []string{"decided", "tried"} {
				b.Run(fmt.Sprintf("wants=%s/way=%s/nodes=%d/pods=%d", wants, way, s.nodes, s.pods), func(b *testing.B) {
					o := preemption.Options{LowestLevel: way == "tried"}
					ctx := ctx
					if wants != "context" {
						ctx = context.Background()
					}
					if wants == "observer" {
						o.Hooks = &preemption.Hooks{Observer: &counter{}}
					}
					pl, err := preemption.NewPlanner(&snap, o)
					if err != nil {
						b.Fatal(err)
					}
					decide := func() {
						if d, err := pl.DecideContext(ctx, ask); err != nil || d.Verdict != preemption.Feasible {
							b.Fatal(d, err)
						}
					}
					for range 3 { // until the shape is known
						decide()
					}
					b.ReportAllocs()
					for b.Loop() {
						decide()
					}
				})
			}
		}
	}
}
