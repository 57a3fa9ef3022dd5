package preemption_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tieBySeed gives pods of q affinity, anti-affinity and spread, whose domains may
// depend on where the pod may go.
func tieBySeed(seed uint64, q *gen.Question) {
	r := rand.New(rand.NewPCG(seed, 21))
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		labels := map[string]string{"zone": []string{"a", "b", "c"}[r.IntN(3)]}
		for k, v := range n.Labels {
			if k != "zone" || r.IntN(2) == 0 {
				labels[k] = v
			}
		}
		n.Labels = labels
	}
	selector := func() *disruption.Selector {
		return []*disruption.Selector{
			{}, {MatchLabels: map[string]string{"app": "web"}}, {MatchLabels: map[string]string{"app": "db"}},
			{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.Exists}}},
		}[r.IntN(4)]
	}
	policy := func() cluster.NodePolicy { return []cluster.NodePolicy{"", cluster.Honor, cluster.Ignore}[r.IntN(3)] }
	term := func() cluster.AffinityTerm { return cluster.AffinityTerm{TopologyKey: "zone", Selector: selector()} }
	tie := func(p *cluster.Pod, often int) {
		if r.IntN(20) < often {
			p.AntiAffinity = append(p.AntiAffinity, term())
		}
		if r.IntN(30) < often {
			p.Affinity = append(p.Affinity, term())
		}
		if r.IntN(12) < often {
			p.Spread = append(p.Spread, cluster.Spread{
				TopologyKey: "zone", Selector: selector(), MaxSkew: int32(1 + r.IntN(2)),
				NodeAffinityPolicy: policy(), NodeTaintsPolicy: policy(),
			})
		}
	}
	for i := range q.Snapshot.Pods {
		tie(&q.Snapshot.Pods[i], 2)
	}
	tie(preemptorOf(q), 8)
}

// nearestQuestion is a question by seed about a pod or a gang, with or without ties,
// hard budgets, limits and prices.
func nearestQuestion(seed uint64) (preemption.Options, gen.Question) {
	r := rand.New(rand.NewPCG(seed, 22))
	p := gen.Profile{
		MaxNodes: 3, MaxPods: 12, Budgets: true, Groups: r.IntN(2) == 0, Placement: r.IntN(2) == 0, Ports: r.IntN(3) == 0,
		Nominations: r.IntN(4) == 0, Terminating: r.IntN(4) == 0,
	}
	gang := r.IntN(3) == 0
	ties := r.IntN(2) == 0
	o := preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137, preemption.KEP5710Alpha}[r.IntN(3)]}
	var q gen.Question
	if gang {
		p.MaxPods = 8
		q = sound(o, gen.RandomGang(seed, gen.GangProfile{Profile: p, MaxMembers: 3, Topology: ties, Ties: ties}))
		o.Placement = []preemption.Placement{"", preemption.PlacePack, preemption.PlaceSpread}[r.IntN(3)]
		o.Explain = seed%2 == 0
	} else {
		q = sound(o, gen.Random(seed, p))
		if ties {
			tieBySeed(seed, &q)
		}
	}
	if !gang && r.IntN(3) == 0 { // some are so high that other changes count as less
		pod, ports := preemptorOf(&q), []cluster.HostPort{{Port: 80}}
		if r.IntN(4) == 0 {
			pod.RequiredNode = "elsewhere"
		} else if r.IntN(3) == 0 {
			pod.Ports = ports
		}
		for i := range q.Snapshot.Pods {
			if p := &q.Snapshot.Pods[i]; p.Node != "" && p.Group == "" && r.IntN(2) == 0 {
				p.Priority = prio(2_000_000_000)
				p.Ports = ports
			}
		}
	}
	if gang && seed%4 != 0 || r.IntN(2) == 0 {
		o = randomBounds(seed, o, q)
		if r.IntN(2) == 0 {
			priced(seed, &q)
			o.Cost.Tariff.Fixed, o.Cost.Objective = 1, r.IntN(2) == 0
			o.Limits.Cost = int64(1 + r.IntN(6))
		}
		if r.IntN(3) == 0 {
			o.Limits.Window = preemption.Window{Seconds: 100, Victims: int64(1 + r.IntN(2))}
		}
	}
	return o, q
}

// in reports whether the preemptor gets in.
func in(r *preemption.Result) bool {
	return r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits
}

// TestTheNearestHelpsAndNothingLessDoes: with all relaxations the preemptor gets in,
// where it was said; with any part of them, or with one that is smaller by one, it does
// not.
func TestTheNearestHelpsAndNothingLessDoes(t *testing.T) {
	t.Parallel()
	told, kinds, gangs, raised, tied := 0, map[preemption.RelaxationKind]int{}, 0, 0, 0
	for seed := range seeds(6000) {
		o, q := nearestQuestion(seed)
		gang := q.Preemptor.Group != nil || q.Preemptor.Kind != "" && q.Preemptor.Kind != cluster.KindPod
		if gang && !asksSomething(q) {
			continue
		}
		r := ask(&named{t, seed}, o, q)
		require.True(t, r.Nearest == nil || r.Verdict == preemption.Infeasible, "seed %d", seed)
		if r.Nearest == nil {
			continue
		}
		all := r.Nearest.Relaxations
		with := func(list []preemption.Relaxation) *preemption.Result {
			wider, relaxed := widen(o, q, list)
			return ask(&named{t, seed}, wider, relaxed)
		}
		for part := range 1 << len(all) {
			var some []preemption.Relaxation
			for i, x := range all {
				if part>>i&1 == 1 {
					some = append(some, x)
				}
			}
			got := with(some)
			require.Equal(t, len(some) == len(all), in(got), "seed %d: nearest is %+v; with %+v: %s", seed, r.Nearest, some, got.Message)
		}
		for i, x := range all {
			if kinds[x.Kind]++; x.Amount > 1 {
				less := append([]preemption.Relaxation(nil), all...)
				less[i].Amount--
				require.False(t, in(with(less)), "seed %d: nearest is %+v; less of %s does", seed, r.Nearest, x.Kind)
			}
		}
		if told++; gang {
			gangs++
			if all[0].Kind == preemption.RelaxPriority {
				raised++
			}
		} else if p := preemptorOf(&q); len(p.Spread)+len(p.Affinity)+len(p.AntiAffinity) > 0 {
			tied++
		}
	}
	t.Log(told, gangs, raised, tied, kinds)
	require.Greater(t, told, int(seeds(1500)))
	require.Greater(t, gangs, int(seeds(60)))
	require.Positive(t, raised)
	require.Greater(t, tied, int(seeds(60)))
	for _, kind := range []preemption.RelaxationKind{
		preemption.RelaxResource, preemption.RelaxTaint, preemption.RelaxCordon, preemption.RelaxSelector, preemption.RelaxNodeName,
		preemption.RelaxPort, preemption.RelaxPriority, preemption.RelaxBudget, preemption.RelaxLimit, preemption.RelaxMinCount,
	} {
		require.True(t, kinds[kind] > 0 || !*long, kind)
	}
}
