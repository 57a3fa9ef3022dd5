package bench_test

import (
	"flag"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/preempt-go/preempt/preemption"
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
