package bench_test

import (
	"fmt"
	"io"
	"maps"
	"math"
	"testing"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/record"
)

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
