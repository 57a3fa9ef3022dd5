package preemption_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// crowd is a crowd, every other one with zones and pods that are to be near others, or apart.
func crowd(seed uint64) gen.Question {
	q, r := gen.Crowd(seed), rand.New(rand.NewPCG(seed, 19))
	if r.IntN(2) == 0 {
		return q
	}
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		if r.IntN(8) > 0 {
			n.Labels["zone"] = strconv.Itoa(r.IntN(12))
			continue
		}
		for name := range n.Allocatable { // there would be room
			n.Allocatable[name] *= 2
		}
	}
	term := func() cluster.AffinityTerm {
		return cluster.AffinityTerm{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": strconv.Itoa(r.IntN(20))}}}
	}
	for i := range q.Snapshot.Pods {
		if p := &q.Snapshot.Pods[i]; r.IntN(100) == 0 {
			p.AntiAffinity = []cluster.AffinityTerm{term()}
		}
	}
	p, some := &q.Preemptor.Pods[0], term()
	switch r.IntN(3) {
	case 0:
		p.Spread = []cluster.Spread{{TopologyKey: some.TopologyKey, Selector: some.Selector, MaxSkew: int32(1 + r.IntN(3))}}
	case 1:
		p.AntiAffinity = []cluster.AffinityTerm{some}
	case 2:
		p.Affinity = []cluster.AffinityTerm{some}
	}
	return q
}

// columnsSayTheSame: what is found by columns is what every node by itself gives.
func columnsSayTheSame(t fatal, o preemption.Options, seed uint64) *preemption.Result {
	q := crowd(seed)
	want, err := o.PreemptPlainly(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	have, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	warm, err := o.PreemptWarm(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if diff := cmp.Diff(have, warm); diff != "" {
		t.Fatalf("seed %d: (-first answer +third):\n%s", seed, diff)
	}
	want.Stats.Trials, have.Stats.Trials = 0, 0
	if diff := cmp.Diff(want, have); diff != "" {
		t.Fatalf("seed %d: (-each node +columns):\n%s", seed, diff)
	}
	return have
}

func TestColumnsSayTheSame(t *testing.T) {
	t.Parallel()
	seen := map[preemption.Verdict]int{}
	asked, violating := 0, 0
	for seed := uint64(0); seed < 250; seed += 50 / seeds(50) {
		for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136} {
			r := columnsSayTheSame(t, preemption.Options{Rules: rules}, seed)
			asked++
			seen[r.Verdict]++
			if r.Violations > 0 {
				violating++
			}
		}
	}
	require.Greater(t, seen[preemption.Feasible], asked/5)
	require.Greater(t, seen[preemption.Infeasible], asked*6/100)
	require.Greater(t, seen[preemption.Fits], asked*6/100)
	require.Greater(t, violating, asked/100)
}

func FuzzColumnsSayTheSame(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64, older bool) {
		o := preemption.Options{}
		if older {
			o.Rules = preemption.Kubernetes136
		}
		columnsSayTheSame(t, o, seed)
	})
}
