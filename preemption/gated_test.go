package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestLeavingNodesEarlyChangesNoAnswer: in full clusters, mostly with terms between
// pods, what is found when nodes that can't be the best are left early is what the search finds
// that takes every pod of every node out and asks about each return.
func TestLeavingNodesEarlyChangesNoAnswer(t *testing.T) {
	t.Parallel()
	victims, ties := 0, 0
	for seed := range seeds(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		shape := gen.Shapes()[r.IntN(len(gen.Shapes()))]
		snap := gen.Fleet(3+r.IntN(20), 2+r.IntN(20), seed, shape)
		term := func(key string) cluster.AffinityTerm {
			return cluster.AffinityTerm{TopologyKey: key, Selector: &disruption.Selector{MatchLabels: map[string]string{"tier": fmt.Sprint(r.IntN(4))}}}
		}
		keys := []string{"host", "zone"}
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"host": snap.Nodes[i].Name, "zone": fmt.Sprint(i % 5)}
			if r.IntN(20) == 0 {
				delete(snap.Nodes[i].Labels, keys[r.IntN(2)])
			}
		}
		for i := range snap.Pods {
			p := &snap.Pods[i]
			p.Labels = map[string]string{"tier": fmt.Sprint(r.IntN(12)), "app": p.Labels["app"]} // budgets go by app
			if p.Node > "node-000001" {                                                          // on the first nodes everybody counts
				delete(p.Labels, "app")
			}
			p.Terminating = r.IntN(30) == 0
			if seed%4 > 0 && r.IntN(8) == 0 {
				p.AntiAffinity = []cluster.AffinityTerm{term(keys[r.IntN(2)])}
			}
		}
		preemptor := gen.FleetPod(seed)
		in := &preemptor.Pods[0]
		in.Labels = map[string]string{"tier": fmt.Sprint(r.IntN(4))}
		if seed%4 > 0 && r.IntN(2) == 0 {
			in.AntiAffinity = []cluster.AffinityTerm{term("host")}
		}
		if seed%4 > 0 && r.IntN(3) == 0 {
			in.Affinity = []cluster.AffinityTerm{term("zone")}
		}
		if seed%4 > 0 && r.IntN(2) == 0 {
			in.Spread = []cluster.Spread{{TopologyKey: keys[r.IntN(2)], MaxSkew: 1 + int32(r.IntN(2)), Selector: term("").Selector}}
		}
		ask := func(o preemption.Options) *preemption.Result {
			got, err := o.Preempt(preemptor, &snap)
			require.NoError(t, err)
			return got
		}
		got := ask(preemption.Options{})
		ignore := cmpopts.IgnoreFields(preemption.Result{}, "Stats", "Trace", "Candidates")
		beside := func(c domain.Constraint) preemption.Options {
			return preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{c}}}
		}
		if diff := cmp.Diff(ask(beside(blind{})), ask(beside(quiet{})), ignore); diff != "" {
			t.Fatalf("seed %d, %s (-pod by pod +swept):\n%s", seed, shape, diff)
		}
		if diff := cmp.Diff(ask(preemption.Options{Candidates: true}), got, ignore); diff != "" {
			t.Fatalf("seed %d, %s (-all candidates +best):\n%s", seed, shape, diff)
		}
		victims += len(got.Victims)
		if len(got.Victims) > 1 {
			ties++
		}
	}
	require.Greater(t, victims, int(seeds(150)), "the questions are worth asking")
	require.Greater(t, ties, int(seeds(20)))
}
