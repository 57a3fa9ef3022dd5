package bench_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkQuality: who is evicted for lone pods above everybody in recorded clusters, and for pods and gangs in random ones,
// by what is to be least and how hard it is looked for. stranded are the victims that find no other place once the answer is
// carried out, and without evicting others; worse is the part of the answers that are beaten by Exact's, and p95 and worst how many
// times its victims, or its cost where work is to be least, an answer takes.
func BenchmarkQuality(b *testing.B) {
	for _, data := range []struct {
		name string
		read func(b *testing.B) []matter
	}{
		{"cell500", func(b *testing.B) []matter { return arriving(b, borg(b, "borg2011/cell500", true)) }},
		{"openb-packed", func(b *testing.B) []matter { return arriving(b, openb(b)) }},
		{"openb-spread", func(b *testing.B) []matter { return arriving(b, openbBy(b, false)) }},
		{"random", func(*testing.B) []matter { return random(0, 0, 0) }},
		{"random-6-budgets", func(*testing.B) []matter { return random(0, 6, 0) }},
		{"random-gangs", func(*testing.B) []matter { return random(4, 0, 0) }},
		{"random-gangs-launcher", func(*testing.B) []matter { return launching(random(12, 0, 0)) }},
		{"random-gangs-launcher-6-budgets", func(*testing.B) []matter { return launching(random(12, 6, 0)) }},
		{"random-gangs-whole-groups", func(*testing.B) []matter { return random(4, 0, 50) }},
	} {
		b.Run("data="+data.name, func(b *testing.B) {
			matters := data.read(b)
			for _, least := range []struct {
				name      string
				objective []preemption.CriterionName
			}{
				{"upstream", nil},
				{"pods", []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionPods}},
				{"work", []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
				{"stranded", []preemption.CriterionName{
					preemption.CriterionViolations, preemption.CriterionHighest, preemption.CriterionStranded, preemption.CriterionSum, preemption.CriterionPods,
				}},
			} {
				o := preemption.Options{
					Objective: least.objective, Search: preemption.Exact,
					Cost: preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1, Per: 1000}}}},
				}
				found, exact := make([]*preemption.Result, len(matters)), planners(b, matters, o)
				best := func(b *testing.B, i int) *preemption.Result { // for what is asked, once
					if found[i] == nil {
						found[i] = mustPreempt(b, exact[i], matters[i].p)
					}
					return found[i]
				}
				for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
					b.Run(fmt.Sprintf("least=%s/search=%s", least.name, search), func(b *testing.B) {
						o := o
						o.Search = search
						benchmarkQuality(b, matters, best, o, least.name == "work")
					})
				}
			}
		})
	}
}

// matter is one question. Those of one cluster stand in a row and share it.
type matter struct {
	s *preemption.Snapshot
	p preemption.Preemptor
}

// planners is for each question its planner, of which each cluster has one.
func planners(b *testing.B, matters []matter, o preemption.Options) []*preemption.Planner {
	out := make([]*preemption.Planner, len(matters))
	for i, m := range matters {
		if i > 0 && m.s == matters[i-1].s {
			out[i] = out[i-1]
			continue
		}
		var err error
		if out[i], err = preemption.NewPlanner(m.s, o); err != nil {
			b.Fatal(err)
		}
	}
	return out
}

func benchmarkQuality(b *testing.B, matters []matter, best func(*testing.B, int) *preemption.Result, o preemption.Options, work bool) {
	asked := planners(b, matters, o)
	victims, optimal, stranded, worse, cost, i := 0, 0, 0, 0, 0.0, 0
	var times []float64
	var waited []time.Duration
	for b.Loop() {
		at := i % len(asked)
		began := time.Now()
		r := mustPreempt(b, asked[at], matters[at].p)
		i++
		b.StopTimer()
		waited = append(waited, time.Since(began))
		after, err := cascade.Of(asked[at], r, cascade.Options{Depth: 1, Returns: func(*preemption.Pod) bool { return true }})
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range after.Outcomes {
			if o.Depth == 1 && o.Status != cascade.Fits {
				stranded += o.Pods
			}
		}
		cost += float64(r.Cost)
		victims += lost(r)
		if r.Optimal {
			optimal++
		}
		best := best(b, at)
		if slices.CompareFunc(r.Score, best.Score, func(x, y preemption.Criterion) int { return cmp.Compare(x.Value, y.Value) }) > 0 {
			worse++
		}
		took, least := float64(lost(r)), float64(lost(best))
		if work {
			took, least = float64(r.Cost), float64(best.Cost)
		}
		if took != least { // both may be 0
			took /= max(least, 1)
		} else {
			took = 1
		}
		times = append(times, took)
		b.StartTimer()
	}
	n := float64(b.N)
	slices.Sort(times)
	slices.Sort(waited)
	b.ReportMetric(float64(waited[len(waited)*99/100]), "p99-ns")
	b.ReportMetric(float64(victims)/n, "victims")
	b.ReportMetric(float64(stranded)/n, "stranded")
	b.ReportMetric(cost/n, "cost")
	b.ReportMetric(float64(optimal)/n, "optimal")
	b.ReportMetric(float64(worse)/n, "worse")
	b.ReportMetric(times[len(times)*95/100], "p95")
	b.ReportMetric(times[len(times)-1], "worst")
}

// lost is how many pods are evicted.
func lost(r *preemption.Result) int {
	pods := 0
	for _, v := range r.Victims {
		pods += len(v.Pods)
	}
	return pods
}

// random are clusters of 20 full nodes with 10 pods each, of each five questions: of lone pods or of gangs of so many
// members, under so many budgets, with so many groups of three pods that go as a whole.
func random(members, budgets, groups int) []matter {
	var matters []matter
	for seed := range uint64(40) {
		s := gen.Fleet(20, 10, seed, gen.Uniform)
		for i := range budgets {
			s.Budgets = append(s.Budgets, disruption.Budget{
				Namespace: "default", Name: fmt.Sprint("budget", i), Allowed: int32(i % 2),
				Selector: &disruption.Selector{MatchLabels: map[string]string{"team": fmt.Sprint(i)}},
			})
		}
		for i := range s.Pods {
			if budgets > 0 {
				s.Pods[i].Labels = map[string]string{"team": fmt.Sprint(i % (2 * budgets))}
			}
			if i < 3*groups {
				p, priority := &s.Pods[i*7%len(s.Pods)], int32(i/3%10)
				p.Group, p.Priority = fmt.Sprint("g", i/3), &priority
			}
		}
		for i := range groups {
			priority := int32(i % 10)
			s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "default", Name: fmt.Sprint("g", i), Priority: &priority, Mode: disruption.All})
		}
		for k := range uint64(5) {
			p := gen.FleetPod(5*seed + k)
			if members > 0 {
				p = gang(members, 4_000*(1+int64(k)))
			}
			matters = append(matters, matter{&s, p})
		}
	}
	return matters
}

// launching makes the first member of each gang ask for half as much again as the others.
func launching(matters []matter) []matter {
	for _, m := range matters {
		asks := preemption.Resources{cluster.CPU: m.p.Pods[0].Requests[cluster.CPU] * 3 / 2}
		m.p.Pods[0].Requests = asks
	}
	return matters
}

// arriving are the first 200 arrivals of a recorded cluster for which somebody has to go.
func arriving(b *testing.B, t trace) (matters []matter) {
	planner, err := preemption.NewPlanner(&t.start, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, pod := range t.arrivals() {
		p := preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{pod}}
		if len(matters) < 200 && mustPreempt(b, planner, p).Verdict == preemption.Feasible {
			matters = append(matters, matter{&t.start, p})
		}
	}
	return matters
}
