package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkQuality: lone pods above everybody in recorded clusters, by what is to be least and
// how hard it is looked for. stranded are the victims that find no other place once the answer
// is carried out, and without evicting others.
func BenchmarkQuality(b *testing.B) {
	work := preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1, Per: 1000}}}}
	for _, data := range []struct {
		name string
		read func(b *testing.B) trace
	}{
		{"cell500", func(b *testing.B) trace { return borg(b, "borg2011/cell500", true) }},
		{"openb-packed", openb},
		{"openb-spread", func(b *testing.B) trace { return openbBy(b, false) }},
	} {
		b.Run("data="+data.name, func(b *testing.B) {
			t := data.read(b)
			pods := preemptors(b, &t, 200)
			for _, least := range []struct {
				name      string
				objective []preemption.CriterionName
			}{
				{"upstream", nil},
				{"work", []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
				{"stranded", []preemption.CriterionName{
					preemption.CriterionViolations, preemption.CriterionHighest, preemption.CriterionStranded, preemption.CriterionSum, preemption.CriterionPods,
				}},
			} {
				for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
					b.Run(fmt.Sprintf("least=%s/search=%s", least.name, search), func(b *testing.B) {
						benchmarkQuality(b, &t.start, pods, preemption.Options{Objective: least.objective, Search: search, Cost: work})
					})
				}
			}
		})
	}
}

func benchmarkQuality(b *testing.B, s *preemption.Snapshot, pods []preemption.Pod, o preemption.Options) {
	planner, err := preemption.NewPlanner(s, o)
	if err != nil {
		b.Fatal(err)
	}
	victims, optimal, stranded, cost, i := 0, 0, 0, 0.0, 0
	for b.Loop() {
		r := mustPreempt(b, planner, preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{pods[i%len(pods)]}})
		i++
		cost += float64(r.Cost)
		if r.Optimal {
			optimal++
		}
		b.StopTimer()
		after, err := cascade.Of(planner, r, cascade.Options{Depth: 1, Returns: func(*preemption.Pod) bool { return true }})
		if err != nil {
			b.Fatal(err)
		}
		victims += len(r.Victims)
		for _, o := range after.Outcomes {
			if o.Depth == 1 && o.Status != cascade.Fits {
				stranded += o.Pods
			}
		}
		b.StartTimer()
	}
	n := float64(b.N)
	b.ReportMetric(float64(victims)/n, "victims")
	b.ReportMetric(float64(stranded)/n, "stranded")
	b.ReportMetric(cost/n, "cost")
	b.ReportMetric(float64(optimal)/n, "optimal")
}

// preemptors are the first so many arrivals for which somebody has to go.
func preemptors(b *testing.B, t *trace, most int) (pods []preemption.Pod) {
	planner, err := preemption.NewPlanner(&t.start, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, pod := range t.arrivals() {
		if len(pods) == most {
			break
		}
		if mustPreempt(b, planner, preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{pod}}).Verdict == preemption.Feasible {
			pods = append(pods, pod)
		}
	}
	return pods
}
