package bench_test

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
