package bench_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkSearch: a lone pod in a full cluster, by how hard the least disruption is looked
// for, by upstream's criteria or by the work that is lost.
func BenchmarkSearch(b *testing.B) {
	work := preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}}
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for _, o := range []preemption.Options{
			{}, {Search: preemption.Improved}, {Search: preemption.Exact},
			{Cost: work, Objective: []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
			{Cost: work, Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
		} {
			criteria := "upstream"
			if len(o.Objective) > 0 {
				criteria = "work"
			}
			b.Run(fmt.Sprintf("criteria=%s/search=%s/nodes=%d/pods=%d", criteria, o.Search, s.nodes, s.pods), func(b *testing.B) {
				pl, err := preemption.NewPlanner(&snap, o)
				if err != nil {
					b.Fatal(err)
				}
				optimal, pods, i := 0, 0, uint64(0)
				for b.Loop() {
					r, err := pl.Preempt(gen.FleetPod(i))
					if err != nil || r.Verdict != preemption.Feasible {
						b.Fatal(r, err)
					}
					if r.Optimal {
						optimal++
					}
					for _, v := range r.Victims {
						pods += len(v.Pods)
					}
					i++
				}
				b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
				b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
			})
		}
	}
}

// BenchmarkProof: what it costs to be given a proof beside an answer, and to look it over. bytes is its
// length as JSON; proved is the part of the answers that are proved to be the least.
func BenchmarkProof(b *testing.B) {
	for _, s := range []struct {
		nodes, pods int
		gangs       []int
	}{{100, 3_000, []int{8}}, {5_000, 150_000, []int{32, 512}}} {
		for _, shape := range []gen.Shape{gen.Uniform, gen.Tied} {
			snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, shape)
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
				b.Run(fmt.Sprintf("shape=%s/search=%s/nodes=%d/pods=%d", shape, search, s.nodes, s.pods), func(b *testing.B) {
					benchmarkProof(b, &snap, preemption.Options{Search: search, Proof: true}, gen.FleetPod)
				})
			}
			for _, members := range s.gangs {
				b.Run(fmt.Sprintf("shape=%s/members=%d/nodes=%d/pods=%d", shape, members, s.nodes, s.pods), func(b *testing.B) {
					o := preemption.Options{Search: preemption.Exact, Proof: true, Objective: []preemption.CriterionName{preemption.CriterionHighest, preemption.CriterionPods}}
					benchmarkProof(b, &snap, o, func(uint64) preemption.Preemptor { return gang(members, 8_000) })
				})
			}
		}
	}
}

func benchmarkProof(b *testing.B, snap *preemption.Snapshot, o preemption.Options, preemptor func(uint64) preemption.Preemptor) {
	without := o
	without.Proof = false
	pl, err := preemption.NewPlanner(snap, without)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("of=without", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i++ {
			if _, err := pl.Preempt(preemptor(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	if pl, err = preemption.NewPlanner(snap, o); err != nil {
		b.Fatal(err)
	}
	var answers []*preemption.Result
	b.Run("of=answer", func(b *testing.B) {
		proved, size := 0, 0
		for b.Loop() {
			r, err := pl.Preempt(preemptor(uint64(len(answers))))
			if err != nil || r.Proof == nil {
				b.Fatal(r, err)
			}
			answers = append(answers, r)
		}
		for _, r := range answers {
			if slices.Equal(r.Proof.Bound, r.Score) {
				proved++
			}
			text, err := json.Marshal(r.Proof)
			if err != nil {
				b.Fatal(err)
			}
			size += len(text)
		}
		b.ReportMetric(float64(proved)/float64(len(answers)), "proved/op")
		b.ReportMetric(float64(size)/float64(len(answers)), "bytes/op")
	})
	b.Run("of=verify", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			at := i % len(answers)
			if problems := check.Verify(snap, o, preemptor(uint64(at)), answers[at]); len(problems) > 0 {
				b.Fatal(problems[0])
			}
		}
	})
}

// BenchmarkBounded asks for most of one node of 110 pods, whose applications have a
// hard budget of one disruption each: nothing helps, which has to be proved, and told
// is by how much which budgets stand in the way.
func BenchmarkBounded(b *testing.B) {
	for _, budgets := range []int{5, 10, 20} {
		b.Run(fmt.Sprintf("budgets=%d", budgets), func(b *testing.B) {
			snapshot := budgeted(budgets)
			high := int32(100)
			p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 88_000}}}}
			pl, err := preemption.NewPlanner(&snapshot, preemption.Options{HardBudgets: preemption.HardBudgets{All: true}})
			if err != nil {
				b.Fatal(err)
			}
			relaxations := 0
			for b.Loop() {
				relaxations = len(mustPreempt(b, pl, p).Nearest.Relaxations)
			}
			b.ReportMetric(float64(relaxations), "relaxations")
		})
	}
}

// budgeted is one node with 110 pods of so many applications, each with a budget.
func budgeted(budgets int) preemption.Snapshot {
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 110_000}}}}
	for i := range budgets {
		s.Budgets = append(s.Budgets, disruption.Budget{
			Name: fmt.Sprintf("b%d", i), Allowed: 1,
			Selector: &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}},
		})
	}
	for i := range 110 {
		low := int32(i % 3)
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprintf("p%03d", i), Node: "n", Priority: &low, Labels: map[string]string{"app": fmt.Sprint(i % budgets)},
			Requests: preemption.Resources{cluster.CPU: int64(500 + i*7919%500)},
		})
	}
	return s
}
