package verify

import (
	"fmt"
	"math"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// spreadRule is one spread constraint of members that agree in all that it reads.
type spreadRule struct {
	owner    *cluster.Pod
	spec     *cluster.Spread
	selector *disruption.Selector
	eligible []bool         // by node
	domains  map[string]int // pods in each value of an eligible node
}

// spread is topology spread. For a lone pod upstream counts once and books who leaves
// and comes from there on, a terminating pod and an empty selector too; for a gang it
// counts anew, and neither ever counts.
type spread struct {
	q     *question
	rules []*spreadRule
	of    [][]*spreadRule // by member
}

func newSpread(q *question) relation {
	if !slices.ContainsFunc(q.members, func(m *member) bool { return len(m.Spread) > 0 }) {
		return nil
	}
	s := &spread{q: q}
	known := map[string][]*spreadRule{}
	for _, m := range q.members {
		key := ""
		if len(q.members) > 1 {
			key = fmt.Sprintf("%q %q %s %q %s %v", m.Namespace, m.Labels, asText(m.Spread), m.NodeSelector, asText(m.NodeAffinity), m.Tolerations)
		}
		if _, ok := known[key]; !ok {
			known[key] = s.rulesOf(m.Pod)
			s.rules = append(s.rules, known[key]...)
		}
		s.of = append(s.of, known[key])
	}
	for p, n := range q.running() {
		for _, r := range s.rules {
			if r.selects(p) && r.counts(p) {
				r.bump(n, +1)
			}
		}
	}
	return s
}

func (s *spread) rulesOf(p *cluster.Pod) (list []*spreadRule) {
	for i := range p.Spread {
		r := &spreadRule{owner: p, spec: &p.Spread[i], domains: map[string]int{}, eligible: make([]bool, len(s.q.nodes))}
		r.selector = suits.WithKeys(r.spec.Selector, p, r.spec.MatchLabelKeys, nil)
		for n := range s.q.nodes {
			at := s.q.nodes[n].Node
			missing := slices.ContainsFunc(p.Spread, func(o cluster.Spread) bool { _, ok := at.Labels[o.TopologyKey]; return !ok })
			r.eligible[n] = !missing && (r.spec.NodeAffinityPolicy == cluster.Ignore || suits.Node(p, at)) &&
				(r.spec.NodeTaintsPolicy != cluster.Honor || suits.Taints(p, at))
			if r.eligible[n] {
				r.domains[at.Labels[r.spec.TopologyKey]] += 0
			}
		}
		list = append(list, r)
	}
	return list
}

func (r *spreadRule) selects(p *cluster.Pod) bool {
	return p.Namespace == r.owner.Namespace && suits.Selector(r.selector, p.Labels)
}

func (r *spreadRule) counts(p *cluster.Pod) bool {
	return !p.Terminating && !suits.Everything(r.selector)
}

func (r *spreadRule) bump(n *node, by int) {
	if r.eligible[n.number] {
		r.domains[n.Labels[r.spec.TopologyKey]] += by
	}
}

func (s *spread) monotone() bool { return false }

func (s *spread) move(p *cluster.Pod, n *node, by int) {
	for _, r := range s.rules {
		if r.selects(p) && (!s.q.rules.group || r.counts(p)) {
			r.bump(n, by)
		}
	}
}

func (s *spread) place(m *member, n *node, by int) {
	for _, r := range s.rules {
		if r.selects(m.Pod) && !suits.Everything(r.selector) {
			r.bump(n, by)
		}
	}
}

func (s *spread) misfit(m *member, n *node) (check domain.Check, never bool) {
	for _, r := range s.of[m.number] {
		value, ok := n.Labels[r.spec.TopologyKey]
		if !ok {
			return domain.CheckSpread, true
		}
		least := math.MaxInt32
		for _, pods := range r.domains {
			least = min(least, pods)
		}
		if len(r.domains) < int(max(r.spec.MinDomains, 1)) {
			least = 0
		}
		skew := r.domains[value] - least
		if r.selects(m.Pod) {
			skew++
		}
		if skew > int(r.spec.MaxSkew) && check == "" {
			check = domain.CheckSpread
		}
	}
	return check, false
}
