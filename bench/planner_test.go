package bench_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
