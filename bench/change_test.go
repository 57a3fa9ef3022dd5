package bench_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

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
