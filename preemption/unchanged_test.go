package preemption_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// idle are rules that are set and have nothing to say.
var idle = map[string]func(*preemption.Options){
	"limits without end": func(o *preemption.Options) {
		o.Limits = preemption.Limits{Victims: math.MaxInt64, Pods: math.MaxInt64, Window: preemption.Window{Seconds: 60, Victims: math.MaxInt64, Pods: math.MaxInt64}}
	},
	"a budget that is not there": func(o *preemption.Options) { o.HardBudgets.Names = []string{"none/such"} },
	"a price that counts nowhere": func(o *preemption.Options) {
		o.Cost.Tariff = disruption.Tariff{Fixed: 3, Pods: 5, Work: map[string]disruption.Rate{"cpu": {Price: 7}}}
	},
	"a label that nobody has": func(o *preemption.Options) {
		o.Guards.Protect = &disruption.Selector{MatchLabels: map[string]string{"nobody": "has"}}
	},
	"a cool-down without evictions": func(o *preemption.Options) {
		o.Guards.Cooldown = victims.Cooldown{Evictions: 1, Seconds: math.MaxInt64}
	},
	"equals after all time":          func(o *preemption.Options) { o.Guards.EqualAfterSeconds = math.MaxInt64 },
	"no cascade, and nobody evicted": func(o *preemption.Options) { o.NoCascade = true },
	"apart, and nothing said":        func(o *preemption.Options) { o.PreemptionPriority.Apart = true },
	"tolerations off, and none":      func(o *preemption.Options) { o.Guards.Toleration = priority.TolerationOff },
}

// TestRulesThatSayNothingChangeNothing: the road through each rule comes to the
// answers of the plain road, for pods and gangs.
func TestRulesThatSayNothingChangeNothing(t *testing.T) {
	for name, set := range idle {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compared := 0
			for seed := range seeds(250) {
				o := preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136}[seed%2], Candidates: true}
				pod := gen.Random(seed, gen.Profile{Groups: true, Budgets: true, Ports: true})
				gang := sound(o, gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 14, Groups: true, Budgets: true}}))
				for _, q := range []gen.Question{pod, gang} {
					if !asksSomething(q) {
						continue
					}
					ruled := o
					set(&ruled)
					plain, got := ask(&named{t, seed}, o, q), ask(&named{t, seed}, ruled, q)
					if diff := cmp.Diff(bare(plain), bare(got)); diff != "" {
						t.Fatalf("seed %d (-plain +ruled):\n%s", seed, diff)
					}
					if plain.Verdict == preemption.Feasible {
						compared++
					}
				}
			}
			require.Greater(t, compared, int(seeds(100)))
		})
	}
}

// bare is what was decided, without prices, reasons, warnings and the effort.
func bare(r *preemption.Result) *preemption.Result {
	r.Stats, r.Cost, r.Warnings, r.Nearest, r.Rejected, r.Kept = preemption.Stats{}, 0, nil, nil, nil, nil
	for i := range r.Victims {
		r.Victims[i].Cost = 0
	}
	for i := range r.Candidates {
		for k := range r.Candidates[i].Victims {
			r.Candidates[i].Victims[k].Cost = 0
		}
	}
	return r
}
