package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// live makes a planner that has answered the question once.
func live(b *testing.B, s size) (*preemption.Planner, preemption.Snapshot, preemption.Preemptor) {
	b.Helper()
	snap, p := questions[0].ask(s)
	planner, err := preemption.NewPlanner(&snap, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	mustPreempt(b, planner, p)
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
// that of the changes and of the question after them.
func BenchmarkPlanner(b *testing.B) {
	for _, s := range sizes() {
		for _, change := range []struct {
			name  string
			nodes int
		}{{"none", 0}, {"one", 1}, {"1%", s.nodes / 100}} {
			b.Run(fmt.Sprintf("change=%s/%s", change.name, s), func(b *testing.B) {
				planner, snap, p := live(b, s)
				b.ReportAllocs()
				next := 0
				for b.Loop() {
					for range change.nodes {
						pod := snap.Pods[next%len(snap.Pods)]
						pod.Requests = preemption.Resources{"cpu": 1000 + int64(next%7)*10}
						if err := planner.SetPod(pod); err != nil {
							b.Fatal(err)
						}
						next += s.pods / s.nodes
					}
					mustPreempt(b, planner, p)
				}
			})
		}
		for _, given := range []string{"name", "inline"} {
			b.Run(fmt.Sprintf("decide=%s/%s", given, s), func(b *testing.B) {
				planner, _, p := live(b, s)
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
		b.Run("decide-after=1%/"+s.String(), func(b *testing.B) {
			planner, snap, p := live(b, s)
			for range 3 {
				mustPreempt(b, planner, p)
			}
			b.ReportAllocs()
			next := 0
			for b.Loop() {
				b.StopTimer() // the question alone
				for range s.nodes / 100 {
					pod := snap.Pods[next%len(snap.Pods)]
					pod.Requests = preemption.Resources{"cpu": 1000 + int64(next%7)*10}
					if err := planner.SetPod(pod); err != nil {
						b.Fatal(err)
					}
					next += s.pods / s.nodes
				}
				b.StartTimer()
				if d, err := planner.Decide(p); err != nil || d.Domain == "" {
					b.Fatal(d, err)
				}
			}
		})
		b.Run("update=pod/"+s.String(), func(b *testing.B) {
			planner, snap, _ := live(b, s)
			b.ReportAllocs()
			for next := 0; b.Loop(); next++ {
				if err := planner.SetPod(snap.Pods[next%len(snap.Pods)]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("update=fork/"+s.String(), func(b *testing.B) {
			planner, _, _ := live(b, s)
			b.ReportAllocs()
			for b.Loop() {
				planner.Fork()
			}
		})
		b.Run("update=fork-evict-ask/"+s.String(), func(b *testing.B) {
			planner, _, p := live(b, s)
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
}
