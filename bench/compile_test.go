package bench_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
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

// BenchmarkFilter: a decision about a pod that evicts others, of a shape that was seen, with
// a filter that keeps it off every third node, with a rule that lets only so many pods of one team onto a node,
// as a Colocation of nodes, or of racks of 20, and as a constraint that declares nothing, and without any; with changes, a pod leaves and comes back before each.
func BenchmarkFilter(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"team": []string{"", "vision", "speech"}[i%3], "rack": fmt.Sprint("r", i/20)}
		}
		ask := gen.FleetPod(1)
		ask.Pods[0].Labels = map[string]string{"app": "train", "team": "vision", "pod-template-hash": "6d4cf56db6"}
		ofTeam := func(p *preemption.Pod) bool { return p.Labels["team"] != "" }
		teams := domain.Colocation{Check: "teams", Of: ofTeam, Monotone: true,
			Allows: func(_ *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
				there := 0
				for _, o := range others {
					if ofTeam(o) {
						there++
					}
				}
				return there < 2
			}}
		racks := teams
		racks.TopologyKey = "rack"
		for _, hook := range []struct {
			name  string
			hooks *preemption.Hooks
		}{
			{"none", nil},
			{"filter", &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
				return n.Labels["team"] == "" || n.Labels["team"] == p.Labels["team"]
			}}},
			{"colocation", &preemption.Hooks{Constraints: []domain.Constraint{teams}}},
			{"racks", &preemption.Hooks{Constraints: []domain.Constraint{racks}}},
			{"undeclared", &preemption.Hooks{Constraints: []domain.Constraint{struct{ domain.Constraint }{teams}}}},
		} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("hook=%s/changes=%t/nodes=%d/pods=%d", hook.name, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Hooks: hook.hooks})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					decide := func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Feasible {
							b.Fatal(d, err)
						}
					}
					for range 3 { // until the shape is known
						decide()
					}
					c.decideAgain(changes, decide)
				})
			}
		}
	}
}

// BenchmarkPrefer: a decision about a pod that fits on many nodes, of a shape that was seen,
// while the cluster changes: a pod leaves and comes back before each. With none it goes to
// the first node by name.
func BenchmarkPrefer(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Allocatable[cluster.CPU] *= 2
		}
		ask := gen.FleetPod(1)
		for _, prefer := range []preemption.Preference{"", preemption.LeastAllocated, preemption.MostAllocated} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("prefer=%s/changes=%t/nodes=%d/pods=%d", prefer, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Prefer: prefer})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					c.decideAgain(changes, func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Fits {
							b.Fatal(d, err)
						}
					})
				})
			}
		}
	}
}

// decideAgain measures decide; with changes, a pod leaves and comes back before each.
func (c *changed) decideAgain(changes bool, decide func()) {
	i := 0
	c.b.ReportAllocs()
	for c.b.Loop() {
		if changes {
			pod := c.pod(i)
			c.must(c.Remove(refOf(pod)))
			c.must(c.SetPod(pod))
			i++
		}
		decide()
	}
}

// BenchmarkOptions decides about a pod of a shape that is known, under options that say who
// is kept, what evictions cost, or who comes first, or where pods are nominated to 200 nodes:
// again, or once a pod or the time has changed, which counts, too.
func BenchmarkOptions(b *testing.B) {
	work := disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}
	suits := func(*preemption.Pod, *cluster.Node) bool { return true }
	for _, c := range []struct {
		name string
		o    preemption.Options
	}{
		{"none", preemption.Options{}},
		{"nominated", preemption.Options{}},
		{"guaranteed", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}}},
		{"criterion", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Criterion: 1}}},
		{"importance", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Importance: true}}},
		{"movable", preemption.Options{PreferMovable: true}},
		{"objective", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionOverruns}}},
		{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}}},
		{"filter", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}, Hooks: &preemption.Hooks{Filter: suits}}},
	} {
		for _, nodes := range []int{100, 5_000} {
			if testing.Short() && nodes > 100 {
				continue
			}
			for _, after := range []string{"nothing", "pod", "tick"} {
				b.Run(fmt.Sprintf("option=%s/after=%s/nodes=%d/pods=%d", c.name, after, nodes, 30*nodes), func(b *testing.B) {
					snap := gen.Fleet(nodes, 30, seed, gen.Uniform)
					pl, err := preemption.NewPlanner(&snap, c.o)
					l := &changed{pl, b, snap, snap.Time}
					l.must(err)
					for i := 0; i < min(nodes, 200) && c.name == "nominated"; i++ {
						p := gen.FleetPod(uint64(i)).Pods[0]
						p.Name, p.NominatedNode = fmt.Sprint("nominated-", i), l.node(i).Name
						l.must(pl.SetPod(p))
					}
					change := func(int) {}
					if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == after }); i >= 0 {
						change = func(turn int) { kinds[i].change(l, turn) }
					}
					p := gen.FleetPod(1)
					decide := func() {
						_, err := pl.Decide(p)
						l.must(err)
					}
					for i := range 30 { // the first questions look at all nodes
						change(i)
						decide()
					}
					b.ReportAllocs()
					for i := 30; b.Loop(); i++ {
						change(i)
						decide()
					}
				})
			}
		}
	}
}

// Labels of the nodes of a tied-up cluster: host names, racks of 40, 16 zones.
const (
	hostKey = "kubernetes.io/hostname"
	rackKey = "topology.kubernetes.io/rack"
	zoneKey = "topology.kubernetes.io/zone"
)

// tiedUp is a cluster of workloads with 100 pods each, a fifth of which are tied: to
// no other pod of theirs on the same host or rack, or to a namespace.
func tiedUp(s size, shape gen.Shape) cluster.Snapshot {
	snap := gen.Fleet(s.nodes, s.pods/s.nodes, seed, shape)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{
			hostKey: snap.Nodes[i].Name, rackKey: fmt.Sprintf("r%d", i/40), zoneKey: fmt.Sprintf("z%d", i%16),
		}
	}
	numWorkloads := max(s.pods/100, 1)
	for i := range snap.Pods {
		p := &snap.Pods[i]
		w := i * 7919 % numWorkloads
		app := fmt.Sprintf("app-%04d", w)
		p.Labels = map[string]string{"app": app, "pod-template-hash": app + "-1", "team": fmt.Sprintf("team-%02d", w%50)}
		if w%10 == 9 {
			p.Labels["apps.kubernetes.io/pod-index"] = fmt.Sprint(i / numWorkloads)
		}
		switch w % 5 {
		case 0:
			key := hostKey
			if w%15 == 0 {
				key = rackKey
			}
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: matching("app", app)}}
			if w == 0 { // one of them keeps away from the preemptor
				p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{TopologyKey: hostKey, Selector: matching("tier", "front")})
			}
		}
	}
	return snap
}

func matching(key, value string) *disruption.Selector {
	return &disruption.Selector{MatchLabels: map[string]string{key: value}}
}

// ties are what the preemptor is tied to.
var ties = []struct {
	name string
	tie  func(p *cluster.Pod)
}{
	{"none", func(*cluster.Pod) {}},
	{"repelled", func(p *cluster.Pod) { p.Labels["tier"] = "front" }},
	{"anti-host", func(p *cluster.Pod) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("team", "team-07")}}
	}},
	{"affinity-zone", func(p *cluster.Pod) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
	}},
	{"spread", func(p *cluster.Pod) {
		p.Labels["app"] = "app-0003"
		p.Spread = []cluster.Spread{
			{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("app", "app-0003")},
			{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")},
		}
	}},
	{"affinity+spread", func(p *cluster.Pod) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
		p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")}}
	}},
	{"everything", func(p *cluster.Pod) {
		p.Labels["tier"] = "front"
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("team", "team-07")}}
		p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")}}
	}},
}

func tied(tie func(*cluster.Pod)) cluster.Preemptor {
	p := gen.FleetPod(seed)
	p.Pods[0].Requests[cluster.CPU] = 3_500
	p.Pods[0].Labels = map[string]string{}
	tie(&p.Pods[0])
	return p
}

// BenchmarkConstraints is one question to a compiled snapshot, over all nodes, in a
// cluster where a fifth of the pods have anti-affinity terms. With shape=tied all pods
// have one priority, so that no node is left early for the priority that has to go.
func BenchmarkConstraints(b *testing.B) {
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied} {
		b.Run(fmt.Sprintf("shape=%s", shape), func(b *testing.B) { benchmarkConstraints(b, shape) })
	}
}

func benchmarkConstraints(b *testing.B, shape gen.Shape) {
	for _, s := range sizes() {
		snap := tiedUp(s, shape)
		planner, err := preemption.NewPlanner(&snap, preemption.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range ties {
			p := tied(c.tie)
			b.Run(fmt.Sprintf("tie=%s/%s", c.name, s), func(b *testing.B) {
				mustPreempt(b, planner, p) // the columns that are made once; see BenchmarkColumns
				b.ReportAllocs()
				numVictims := 0
				for b.Loop() {
					r, err := planner.Preempt(p)
					if err != nil {
						b.Fatal(err)
					}
					if r.Verdict != preemption.Feasible {
						b.Fatal(r.Verdict, r.Message)
					}
					numVictims += len(r.Victims)
				}
				b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.nodes), "ns/node")
			})
		}
	}
}

// BenchmarkColumns is what the first question with terms pays once for a compiled
// snapshot: label sets, and distinct anti-affinity terms.
func BenchmarkColumns(b *testing.B) {
	for _, s := range sizes() {
		snap := tiedUp(s, gen.Uniform)
		for _, column := range []struct {
			name  string
			build func(*cluster.Index) int
		}{
			{"label-sets", func(ix *cluster.Index) int { return ix.LabelSets().Len() }},
			{"anti-terms", func(ix *cluster.Index) int { return ix.AntiTerms().Len() }},
		} {
			b.Run(fmt.Sprintf("column=%s/%s", column.name, s), func(b *testing.B) {
				b.ReportAllocs()
				distinct := 0
				for b.Loop() {
					b.StopTimer()
					ix, err := cluster.NewIndex(&snap)
					if err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					distinct = column.build(ix)
				}
				b.ReportMetric(float64(distinct), "distinct")
			})
		}
	}
}

// BenchmarkConstraintState is Prepare, and then one pod leaving, a check and its
// return, for each constraint in turn.
func BenchmarkConstraintState(b *testing.B) {
	for _, s := range sizes() {
		snap := tiedUp(s, gen.Uniform)
		ix, err := cluster.NewIndex(&snap)
		if err != nil {
			b.Fatal(err)
		}
		p := tied(ties[len(ties)-1].tie)
		members := []*cluster.Pod{&p.Pods[0]}
		for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
			state, err := c.Prepare(ix, members)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("constraint=%s/step=prepare/%s", c.Name(), s), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Prepare(ix, members); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("constraint=%s/step=remove-fits-return/%s", c.Name(), s), func(b *testing.B) {
				b.ReportAllocs()
				i, fits := 0, 0
				for b.Loop() {
					p := cluster.PodID(i * 7919 % ix.NumPods())
					n := ix.NodeOf(p)
					state.Remove(p, n)
					if state.Fits(0, n).OK() {
						fits++
					}
					state.Return(p, n)
					i++
				}
				b.ReportMetric(float64(fits)/float64(i), "fits/op")
			})
		}
	}
}

var (
	numScanned = flag.Int("scan", 15, "how many calls TestScan draws")
	scanSeed   = flag.Uint64("scan.seed", 50, "of the first of them")
	scanNodes  = flag.Int("scan.nodes", 8, "how many nodes their clusters have, with 30 pods each")
	scanEnd    = flag.String("scan.end", "", "end before a call, or after it, so that what ran is written into GOCOVERDIR: for TestScan itself")
)

// mostBlocks is how many blocks of code a call may run: a core takes a second for them, or somewhat more.
const mostBlocks = 1 << 30

// TestScan draws clusters, preemptors, options and calls, and makes them: no answer that is verified is wrong. With -v
// it tells which took most, and how to ask again; large ones are worth asking:
//
//	go test ./bench -run TestScan -v -timeout 0 -scan 200 -scan.nodes 5000
//	go test ./bench -run TestScan -v -timeout 0 -scan 200 -scan.nodes 5000 -covermode=atomic -coverpkg=./...
//
// The second counts the blocks of code that a call runs, whatever the loops that have them, which is the same on every machine, and fails
// where they are more than mostBlocks. It takes some five times as long.
func TestScan(t *testing.T) {
	if testing.CoverMode() != "atomic" {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	list := make([]drawnCall, *numScanned)
	for i := range list {
		d := &list[i]
		if testing.CoverMode() == "atomic" && *scanEnd == "" {
			*d = countedAside(t, *scanSeed+uint64(i))
		} else {
			*d = drawCall(*scanSeed+uint64(i), *scanNodes)
			require.NoError(t, d.measure(), d.name)
			d.scanQuestion = scanQuestion{}
		}
	}
	slices.SortFunc(list, func(a, b drawnCall) int {
		return cmp.Or(cmp.Compare(b.blocks, a.blocks), cmp.Compare(b.took, a.took))
	})
	for _, d := range list[:min(len(list), 20)] {
		t.Logf("%6.2f s, %5d million blocks: %s", d.took.Seconds(), d.blocks/1_000_000, d.name)
	}
	if len(list) > 0 {
		require.LessOrEqual(t, list[0].blocks, uint64(mostBlocks))
	}
}

// drawnCall is a question, the call that is made about it, and what that took.
type drawnCall struct {
	scanQuestion
	call   scanCall
	name   string
	took   time.Duration
	blocks uint64 // 0 where they are not counted
}

// measure makes the call, once a planner has compiled the cluster and, where the call is about it, has answered.
func (d *drawnCall) measure() error {
	pl, err := preemption.NewPlanner(&d.snap, d.o)
	var r *preemption.Result
	if err == nil && d.call.answered {
		r, err = pl.Preempt(d.p)
	}
	if d.o.Strict && errors.Is(err, cluster.ErrInvalid) {
		return nil // which is the answer
	}
	if err != nil {
		return err
	}
	runtime.GC()
	if *scanEnd == "before" {
		os.Exit(0)
	}
	began := time.Now()
	err = d.call.make(&d.scanQuestion, pl, r)
	d.took = time.Since(began)
	if *scanEnd == "after" && !errors.Is(err, errWrong) {
		fmt.Println(int64(d.took), d.name)
		os.Exit(0)
	}
	if errors.Is(err, errWrong) {
		return err
	}
	return nil // another error is an answer
}

// drawCall is the call of that seed.
func drawCall(seed uint64, nodes int) (d drawnCall) {
	s := rand.New(rand.NewPCG(seed, 18)).IntN
	d.name = fmt.Sprintf("-scan 1 -scan.seed %d -scan.nodes %d", seed, nodes)
	tell := func(what string) { d.name += ", " + what }
	shape := gen.Shapes()[s(len(gen.Shapes()))]
	d.snap = gen.Fleet(nodes, 30, seed, shape)
	d.label()
	tell(string(shape))
	kinds := map[string]bool{}
	for range 1 + s(3) {
		if k := scanKinds[s(len(scanKinds))]; !kinds[k.name] {
			k.change(&d.scanQuestion, s)
			tell(k.name)
			kinds[k.name] = true
		}
	}
	p := scanPreemptors[s(len(scanPreemptors))]
	d.p = p.draw(s)
	tell(p.name)
	if i := s(2 * len(scanTies)); i < len(scanTies) {
		for k := range d.p.Pods {
			scanTies[i].tie(&d.p.Pods[k], k)
		}
		tell(scanTies[i].name)
	}
	if s(5) == 0 {
		underQueues(&d.scanQuestion, s)
		tell("queues")
	}
	d.call = scanCalls[s(len(scanCalls))]
	tell(d.call.name)
	d.o = genopts.Any().Example(int(seed % 1_000_003))
	hooks := d.o.Hooks
	d.o.Hooks = nil // of which JSON does not tell
	text, _ := json.Marshal(d.o)
	tell(string(text))
	if d.o.Hooks = hooks; hooks != nil {
		tell(fmt.Sprintf("hooks %+v", *hooks))
	}
	return d
}

// errWrong is that an answer does not hold.
var errWrong = errors.New("wrong answer")

// scanCall is one that is made about a question. r is what pl answers.
type scanCall struct {
	name     string
	make     func(q *scanQuestion, pl *preemption.Planner, r *preemption.Result) error
	answered bool // the planner has answered before; r is nil otherwise
}

// scanCalls are the calls that are drawn.
var scanCalls = []scanCall{
	{"preempt", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.Preempt(q.p)
		return err
	}, false},
	{"preempt-once", func(q *scanQuestion, _ *preemption.Planner, _ *preemption.Result) error {
		_, err := q.o.Preempt(q.p, &q.snap)
		return err
	}, false},
	{"decide-after-a-change", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		n := q.snap.Nodes[0]
		n.Unschedulable = !n.Unschedulable
		if err := pl.SetNode(n); err != nil {
			return err
		}
		_, err := pl.Decide(q.p)
		return err
	}, true},
	{"why-not-a-node", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.WhyNot(q.p, preemption.NodeTarget(q.snap.Nodes[0].Name))
		return err
	}, false},
	{"why-not-a-unit", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		target := q.snap.Pods[0].Namespace + "/" + q.snap.Pods[0].Name
		if len(q.snap.PodGroups) > 0 {
			target = q.snap.PodGroups[0].Namespace + "/" + q.snap.PodGroups[0].Name
		}
		_, err := pl.WhyNot(q.p, preemption.UnitTarget(target))
		return err
	}, false},
	{"all", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		if q.p.Group != nil {
			_, err := pl.PreemptAll([]preemption.Preemptor{q.p})
			return err
		}
		var list []preemption.Preemptor
		for i := range 3 * min(len(q.p.Pods), 1) {
			pod := q.p.Pods[0]
			pod.Name = fmt.Sprint("one-of-many-", i)
			list = append(list, preemption.Preemptor{Pods: []preemption.Pod{pod}})
		}
		_, err := pl.PreemptAll(list)
		return err
	}, false},
	{"cycle", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		var heads []preemption.Preemptor
		for _, w := range q.snap.Workloads {
			if w.Admission == nil {
				heads = append(heads, preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name})
			}
		}
		_, err := pl.Cycle(heads)
		return err
	}, false},
	{"still-valid", func(_ *scanQuestion, pl *preemption.Planner, r *preemption.Result) error {
		_, err := pl.StillValid(r)
		return err
	}, true},
	{"verify", func(q *scanQuestion, _ *preemption.Planner, r *preemption.Result) error {
		if found := check.Verify(&q.snap, q.o, q.p, r); len(found) > 0 {
			return fmt.Errorf("%w: %v", errWrong, found)
		}
		return nil
	}, true},
}

// scanQuestion is a cluster, who wants to run in it, and under which options.
type scanQuestion struct {
	snap cluster.Snapshot
	p    cluster.Preemptor
	o    preemption.Options
}

// label gives the nodes of a fleet their places: racks of 40, 16 zones.
func (q *scanQuestion) label() {
	for i := range q.snap.Nodes {
		n := &q.snap.Nodes[i]
		n.Labels = map[string]string{hostKey: n.Name, "rack": fmt.Sprint(i / 40), "zone": fmt.Sprint(i % 16)}
	}
}

// scanKinds are what a fleet may have beside its pods.
var scanKinds = []struct {
	name   string
	change func(q *scanQuestion, s func(int) int)
}{
	{"hundreds of budgets", func(q *scanQuestion, _ func(int) int) { gen.UnderBudgets(&q.snap) }},
	{"elastic groups", func(q *scanQuestion, s func(int) int) { q.unite(disruption.SurplusFirst, 1+s(200), s) }},
	{"groups that go whole", func(q *scanQuestion, s func(int) int) { q.unite(disruption.All, 1+s(20), s) }},
	{"small groups", func(q *scanQuestion, s func(int) int) { q.unite(disruption.All, len(q.snap.Nodes), s) }},
	{"composites", func(q *scanQuestion, s func(int) int) {
		from := len(q.snap.PodGroups)
		q.unite(disruption.All, 20+s(100), s)
		for i := range q.snap.PodGroups[from:] {
			q.snap.PodGroups[from+i].Parent = fmt.Sprintf("composite%d-%d", from, i%10)
		}
		for i := range 10 {
			low := int32(0)
			q.snap.CompositePodGroups = append(q.snap.CompositePodGroups, cluster.CompositePodGroup{Namespace: "default", Name: fmt.Sprintf("composite%d-%d", from, i), Mode: disruption.All, Priority: &low})
		}
	}},
	{"devices", func(q *scanQuestion, _ func(int) int) {
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Devices = map[string]cluster.DevicePool{"gpu": {Count: 8, Capacity: 100}}
		}
		q.everyPod(4, func(i int, p *cluster.Pod) {
			p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: int32(1 + i%2)}}
		})
	}},
	{"ports", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(3, func(i int, p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: int32(1000 + i%97)}} })
	}},
	{"tokens", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(50, func(i int, p *cluster.Pod) { p.Tokens = []string{fmt.Sprint("t", i)} })
	}},
	{"anti-affinity", func(q *scanQuestion, s func(int) int) {
		key := []string{hostKey, "rack", "zone"}[s(3)]
		q.everyPod(1+s(10), func(_ int, p *cluster.Pod) {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: matching("tier", "front")}}
		})
	}},
	{"a thousand priorities", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(1, func(i int, p *cluster.Pod) { priority := int32(i * 7919 % 1000); p.Priority = &priority })
	}},
	{"pods bound to their nodes", func(q *scanQuestion, s func(int) int) {
		q.everyPod(2+s(10), func(_ int, p *cluster.Pod) { p.NodeSelector = map[string]string{hostKey: p.Node} })
	}},
}

// everyPod changes one pod in so many.
func (q *scanQuestion) everyPod(nth int, change func(i int, p *cluster.Pod)) {
	for i := 0; i < len(q.snap.Pods); i += nth {
		change(i/nth, &q.snap.Pods[i])
	}
}

// unite makes so many groups, each of pods on many nodes, or on a few neighbours.
func (q *scanQuestion) unite(mode disruption.Mode, num int, s func(int) int) {
	low, least, from := int32(s(10)), int32(1+s(4)), len(q.snap.PodGroups)
	for i := range num {
		q.snap.PodGroups = append(q.snap.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("group", from+i), Mode: mode, MinCount: &least, Priority: &low})
	}
	near := s(2) == 0
	q.everyPod(1+s(30), func(i int, p *cluster.Pod) {
		if p.Group != "" {
			return
		}
		group := i % num
		if near {
			group = i / 10 % num
		}
		p.Group, p.Priority = fmt.Sprint("group", from+group), &low
	})
}

// underQueues puts a cohort of queues over the cluster, in which pods hold quota, workloads wait, and the preemptor
// may need some.
func underQueues(q *scanQuestion, s func(int) int) {
	num := 1 + s(40)
	q.snap.ResourceFlavors = []cluster.ResourceFlavor{{Name: "f"}}
	all := []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: int64(64_000 * len(q.snap.Nodes) / num)}}
	for i := range num {
		name := fmt.Sprint("q", i)
		q.snap.ClusterQueues = append(q.snap.ClusterQueues, cluster.ClusterQueue{Name: name, Cohort: "all",
			Groups:     []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: all}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority}})
		q.snap.LocalQueues = append(q.snap.LocalQueues, cluster.LocalQueue{Namespace: "default", Name: name, ClusterQueue: name})
		q.snap.Workloads = append(q.snap.Workloads, cluster.Workload{Namespace: "default", Name: fmt.Sprint("w", i), Queue: name, Priority: 1000,
			PodSets: []cluster.PodSet{{Name: "main", Count: 8, Requests: cluster.Resources{cluster.CPU: 8_000}}}})
	}
	q.everyPod(1+s(5), func(i int, p *cluster.Pod) { p.Queue = fmt.Sprint("q", i%num) })
	if s(3) > 0 {
		for i := range q.p.Pods {
			q.p.Pods[i].Queue = "q0"
		}
		return
	}
	q.p = cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: "default", Name: "w0"}
}

// scanPreemptors are who asks.
var scanPreemptors = []struct {
	name string
	draw func(s func(int) int) cluster.Preemptor
}{
	{"a pod", func(s func(int) int) cluster.Preemptor {
		return lone(func(p *cluster.Pod) { p.Requests[cluster.CPU] = int64(1_000 + s(30_000)) })
	}},
	{"equal members", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(int) int { return 0 }) }},
	{"members of shapes", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(i int) int { return i % 4 }) }},
	{"unlike members", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(i int) int { return i * 37 % 101 }) }},
}

// scanGang is a gang of 8 or 64 whose members are larger by what more says, perhaps in one rack.
func scanGang(s func(int) int, more func(i int) int) cluster.Preemptor {
	group, cpu, grain := cluster.PodGroup{}, int64(1_000+s(12_000)), int64(1+s(100))
	switch s(3) {
	case 1:
		group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	case 2:
		group.Topology = []cluster.TopologyConstraint{{Key: "zone", Preferred: true}}
	}
	high, count := int32(1000), int32([]int{8, 64}[s(2)])
	group.Namespace, group.Name, group.MinCount, group.Priority = "default", "gang", &count, &high
	p := cluster.Preemptor{Group: &group}
	for i := range int(count) {
		p.Pods = append(p.Pods, cluster.Pod{
			Namespace: "default", Name: fmt.Sprintf("m%02d", i), Group: "gang", Priority: &high,
			Requests: cluster.Resources{cluster.CPU: cpu + grain*int64(more(i))},
		})
	}
	return p
}

// scanTies are what members may be tied to.
var scanTies = []struct {
	name string
	tie  func(p *cluster.Pod, i int)
}{
	{"tier", func(p *cluster.Pod, _ int) { p.Labels = map[string]string{"tier": "front"} }},
	{"with tokens", func(p *cluster.Pod, i int) { p.Tokens = []string{fmt.Sprint("t", i)} }},
	{"with devices", func(p *cluster.Pod, i int) {
		p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: int32(1 + i%4)}}
	}},
	{"with ports", func(p *cluster.Pod, i int) { p.Ports = []cluster.HostPort{{Port: int32(1000 + i%5)}} }},
	{"apart", func(p *cluster.Pod, _ int) {
		p.Labels = map[string]string{"tier": "front"}
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("tier", "front")}}
	}},
	{"spread", func(p *cluster.Pod, _ int) {
		p.Labels = map[string]string{"tier": "front"}
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: matching("tier", "front")}}
	}},
	{"attracted", func(p *cluster.Pod, _ int) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: matching("app", "app-03")}}
	}},
}
