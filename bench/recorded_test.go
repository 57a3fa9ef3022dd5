package bench_test

import (
	"maps"
	"math"
	"testing"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
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
