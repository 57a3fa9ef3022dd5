package bench_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// guarding are options that ask for all that is told, and guard who has run for a short time.
var guarding = preemption.Options{
	Explain: true, Candidates: true, Search: preemption.Exact,
	Guards: preemption.Guards{GuaranteedSeconds: 600, Cooldown: victims.Cooldown{Evictions: 1, Seconds: 3600}},
}

// hostileCalls are what a planner and others are asked about the question of an attack beside Preempt. r is
// the planner's answer.
var hostileCalls = []struct {
	name string
	call func(q *hostileQuestion, o preemption.Options, pl *preemption.Planner, r *preemption.Result) error
}{
	{"decide", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.Decide(q.p)
		return err
	}},
	{"all", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.PreemptAll([]preemption.Preemptor{q.p, q.p})
		return err
	}},
	{"why-not-a-node", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.WhyNot(q.p, preemption.NodeTarget(q.snap.Nodes[0].Name))
		return err
	}},
	{"why-not-a-pod", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		p := &q.snap.Pods[len(q.snap.Pods)-1]
		_, err := pl.WhyNot(q.p, preemption.UnitTarget(p.Namespace+"/"+p.Name))
		return err
	}},
	{"park-and-wake", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		if _, err := pl.Park(q.p); err != nil {
			return err
		}
		if err := pl.SetNode(q.snap.Nodes[0]); err != nil {
			return err
		}
		pl.Wake()
		return nil
	}},
	{"fork-and-copy", func(_ *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		pl.Fork().Snapshot()
		return nil
	}},
	{"still-valid", func(_ *hostileQuestion, _ preemption.Options, pl *preemption.Planner, r *preemption.Result) error {
		_, err := pl.StillValid(r)
		return err
	}},
	{"cascade", func(_ *hostileQuestion, _ preemption.Options, pl *preemption.Planner, r *preemption.Result) error {
		_, err := cascade.Of(pl, r, cascade.Options{})
		return err
	}},
	{"verify", func(q *hostileQuestion, o preemption.Options, _ *preemption.Planner, r *preemption.Result) error {
		if found := check.Verify(&q.snap, o, q.p, r); len(found) > 0 {
			return fmt.Errorf("%v", found)
		}
		return nil
	}},
}

// underCalls calls do for each call of each attack of the size that size takes, by default, with Candidates and under guarding.
// Attacks that are refused, or that make calls of their own, are left out.
func underCalls(size func(hostile) int, do func(name string, call func() error)) {
	for _, a := range attacks {
		for _, x := range []struct {
			name string
			o    preemption.Options
		}{{"default", preemption.Options{}}, {"candidates", preemption.Options{Candidates: true}}, {"guarding", guarding}} {
			q := a.ask(size(a))
			if q.run != nil || len(q.snap.Nodes) == 0 || len(q.snap.Pods) == 0 {
				continue
			}
			pl, err := preemption.NewPlanner(&q.snap, x.o)
			if err != nil {
				continue
			}
			r, err := pl.Preempt(q.p)
			if err != nil {
				continue
			}
			for _, c := range hostileCalls {
				do(fmt.Sprintf("attack=%s/options=%s/call=%s", a.name, x.name, c.name), func() error { return c.call(&q, x.o, pl, r) })
			}
		}
	}
}

// TestHostileCalls makes each call of each attack in very small: none hangs, panics or says that an answer is wrong.
func TestHostileCalls(t *testing.T) {
	calls, refused := 0, 0
	underCalls(func(a hostile) int { return min(a.small, 4) }, func(name string, call func() error) {
		calls++
		if err := call(); err != nil {
			require.NotContains(t, name, "call=verify", "%v", err)
			refused++
		}
	})
	require.Greater(t, calls, 500)
	require.Less(t, refused, calls/4) // results that are no plans have no cascade and are not valid
}

// BenchmarkHostileCalls is what they take in full.
func BenchmarkHostileCalls(b *testing.B) {
	underCalls(func(a hostile) int {
		if testing.Short() {
			return a.small
		}
		return a.large
	}, func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = call() // a typed error is an answer
			}
		})
	})
}

// demanding are options under which more is looked for.
var demanding = []struct {
	name string
	o    preemption.Options
}{
	{"fewest-pods", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionPods}}},
	{"fewest-stranded", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionStranded}}},
	{"fewest-nodes", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionNodes, preemption.CriterionGroups, preemption.CriterionLevels}}},
	{"fewest-in-turn", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionCascade}}},
	{"fewest-in-a-chain", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade}, Chain: 4}},
	{"only-moves-in-a-chain", preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 4}},
	{"fewest-in-turn-guarded", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionCascade}, Guards: preemption.Guards{GuaranteedSeconds: 60}}},
	{"cheapest", preemption.Options{Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	{"hard-budgets", preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}},
	{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}, LowestLevel: true, Candidates: true}},
	{"only-moves", preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}},
	{"fewest-in-use", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionDevices, preemption.CriterionDomains + "rack"}}},
	{"early-text", preemption.Options{Rules: preemption.KEP5710Alpha, Placement: preemption.PlacePack, Candidates: true}},
	{"proof", preemption.Options{Proof: true}},
	{"proof-of-price", preemption.Options{Proof: true, HardBudgets: preemption.HardBudgets{All: true}, Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	{"guarding", guarding},
	{"v1.36", preemption.Options{Rules: preemption.Kubernetes136, Candidates: true, RepeatReprieve: preemption.On}},
}

// TestHostileUnderOptions asks each attack in very small under options that demand more, under every fourth of them: it ends in
// an answer that holds, or in a typed error. The benchmark below asks the others, too.
func TestHostileUnderOptions(t *testing.T) {
	for i, a := range attacks {
		for k, d := range demanding {
			if (i+k)%4 > 0 {
				continue
			}
			q := a.ask(min(a.small, 4))
			if q.run != nil {
				continue
			}
			r, err := d.o.Preempt(q.p, &q.snap)
			if err != nil {
				require.ErrorIs(t, err, cluster.ErrInvalid, "%s, %s", a.name, d.name)
				continue
			}
			require.Empty(t, check.Verify(&q.snap, d.o, q.p, r), "%s, %s", a.name, d.name)
		}
	}
}

// BenchmarkHostileUnderOptions is what they take in full.
func BenchmarkHostileUnderOptions(b *testing.B) {
	for _, a := range attacks {
		n := a.large
		if testing.Short() {
			n = min(a.small, 4)
		}
		question := sync.OnceValue(func() hostileQuestion { return a.ask(n) })
		for _, d := range demanding {
			b.Run(fmt.Sprintf("attack=%s/options=%s/size=%d", a.name, d.name, n), func(b *testing.B) {
				q := question()
				if q.run != nil {
					b.Skip("it makes calls of its own")
				}
				stop := watchHeap()
				for b.Loop() {
					_, _ = d.o.Preempt(q.p, &q.snap) // a typed error is an answer
				}
				b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
			})
		}
	}
}
