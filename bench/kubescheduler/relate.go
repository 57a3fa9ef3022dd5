package main

import (
	"math/rand/v2"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// relate gives the pods of a question terms about each other: affinity,
// anti-affinity and topology spread over zones and hosts.
func relate(seed uint64, q *gen.Question) {
	r := relator{rand.New(rand.NewPCG(seed, 11))}
	snap := &q.Snapshot
	for i := range snap.Nodes {
		n := &snap.Nodes[i]
		labels := map[string]string{"host": n.Name}
		for k, v := range n.Labels {
			labels[k] = v
		}
		if r.IntN(8) > 0 { // a node without a zone counts in none
			labels["zone"] = []string{"a", "b", "c"}[r.IntN(3)]
		} else {
			delete(labels, "zone")
		}
		n.Labels = labels
	}
	snap.Namespaces = []cluster.Namespace{
		{Name: "default", Labels: map[string]string{"tier": "one"}},
		{Name: "team", Labels: map[string]string{"tier": "two"}},
	}
	if r.IntN(4) == 0 { // pods of a namespace that nothing is known of
		snap.Namespaces = snap.Namespaces[:1]
	}
	for i := range snap.Pods {
		r.pod(&snap.Pods[i], 15)
	}
	for i := range q.Preemptor.Pods {
		r.pod(&q.Preemptor.Pods[i], 60)
	}
}

type relator struct{ *rand.Rand }

// pod gives a pod each kind of term with that probability in percent.
func (r relator) pod(p *cluster.Pod, percent int) {
	if r.IntN(100) < percent {
		p.AntiAffinity = append(p.AntiAffinity, r.term())
	}
	if r.IntN(100) < percent/3 {
		p.Affinity = append(p.Affinity, r.term())
	}
	for range 2 {
		if r.IntN(100) < percent/2 {
			p.Spread = append(p.Spread, r.spread(p.Spread))
		}
	}
}

func (r relator) selector() *disruption.Selector {
	switch r.IntN(8) {
	case 0:
		return &disruption.Selector{}
	case 1:
		return nil
	case 2:
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.NotIn, Values: []string{"db"}}}}
	case 3:
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.Exists}}}
	default:
		return &disruption.Selector{MatchLabels: map[string]string{"app": []string{"web", "db"}[r.IntN(2)]}}
	}
}

func (r relator) topology() string { return []string{"host", "zone", "zone"}[r.IntN(3)] }

func (r relator) term() cluster.AffinityTerm {
	t := cluster.AffinityTerm{Selector: r.selector(), TopologyKey: r.topology()}
	switch r.IntN(6) {
	case 0:
		t.Namespaces = []string{"team"}
	case 1:
		t.NamespaceSelector = &disruption.Selector{MatchLabels: map[string]string{"tier": []string{"one", "two"}[r.IntN(2)]}}
	case 2:
		t.NamespaceSelector = &disruption.Selector{}
	case 3:
		t.NamespaceSelector = &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "tier", Operator: disruption.NotIn, Values: []string{"one"}}}}
	}
	return t
}

// spread makes a constraint whose topology key none of the others has.
func (r relator) spread(others []cluster.Spread) cluster.Spread {
	s := cluster.Spread{MaxSkew: int32(1 + r.IntN(2)), TopologyKey: r.topology(), Selector: r.selector()}
	for _, o := range others {
		if o.TopologyKey == s.TopologyKey {
			s.TopologyKey = map[string]string{"host": "zone", "zone": "host"}[o.TopologyKey]
		}
	}
	if r.IntN(4) == 0 {
		s.MinDomains = int32(1 + r.IntN(4))
	}
	if r.IntN(4) == 0 && s.Selector != nil {
		s.MatchLabelKeys = []string{[]string{"tier", "version"}[r.IntN(2)]}
	}
	if r.IntN(4) == 0 {
		s.NodeAffinityPolicy = cluster.Ignore
	}
	if r.IntN(4) == 0 {
		s.NodeTaintsPolicy = cluster.Honor
	}
	return s
}
