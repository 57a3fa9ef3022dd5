package relation

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// spreadRule is one spread constraint of members that agree in all that it reads, but in by how much it may be off.
type spreadRule struct {
	owner    *cluster.Pod
	selector *disruption.Selector
	*spreadDomains
	pods   map[int32]int // in each domain; of those with any
	having map[int]int   // domains by how many pods they have
	least  int           // pods in a domain
}

// spreadDomains are the values of a key that nodes have which count.
type spreadDomains struct {
	numbers map[string]int32        // by value
	of      map[*cluster.Node]int32 // none: it does not count
}

// spread is topology spread. For a lone pod upstream counts once and books who leaves
// and comes from there on, a terminating pod and an empty selector too; for a gang it
// counts anew, and neither counts unless it is nominated.
type spread struct {
	q     *Question
	rules filed[*spreadRule]
	has   map[*spreadRule]bool // those
	of    [][]spreadAsked      // by member
}

// spreadAsked is what a member asks for of a rule.
type spreadAsked struct {
	*spreadRule
	spec *cluster.Spread
}

func newSpread(q *Question) Relation {
	if !slices.ContainsFunc(q.Members, func(m *cluster.Pod) bool { return len(m.Spread) > 0 }) {
		return nil
	}
	s := &spread{q: q, has: map[*spreadRule]bool{}}
	known, shared := map[string][]spreadAsked{}, q.Index
	if shared == nil {
		shared = &Index{}
	}
	for _, m := range q.Members {
		key := ""
		if len(q.Members) > 1 {
			key = fmt.Sprintf("%q %q %s %q %s %v", m.Namespace, m.Labels, AsText(m.Spread), m.NodeSelector, AsText(m.NodeAffinity), m.Tolerations)
		}
		if _, ok := known[key]; !ok {
			known[key] = s.rulesOf(m, shared)
		}
		s.of = append(s.of, known[key])
	}
	for p, n := range q.Running {
		if q.Index != nil { // who is there has been counted
			break
		}
		for _, r := range s.rules.of(p.Labels) {
			if s.counts(r, p) {
				r.bump(n, +1)
			}
		}
	}
	return s
}

// rulesOf are those of p, each made once. Of a lone pod they are kept, and count who is there.
func (s *spread) rulesOf(p *cluster.Pod, shared *Index) (list []spreadAsked) {
	for i := range p.Spread {
		spec := &p.Spread[i]
		selector := suits.WithKeys(spec.Selector, p, spec.MatchLabelKeys, nil)
		at := AsText([]any{spec.TopologyKey, keysOf(p.Spread), spec.NodeAffinityPolicy, spec.NodeTaintsPolicy, p.NodeSelector, p.NodeAffinity, p.Tolerations})
		r := keep(shared, "spread "+AsText([]any{p.Namespace, selector, at}), func() (*spreadRule, int) {
			d := keep(shared, "domains "+at, func() (*spreadDomains, int) { d := s.domainsOf(p, spec); return d, len(d.of) })
			r := &spreadRule{owner: p, selector: selector, spreadDomains: d, pods: map[int32]int{}, having: map[int]int{0: len(d.numbers)}}
			if s.q.Index != nil {
				for _, c := range s.q.Index.among(selector) {
					for i := 0; s.counts(r, c.Pod) && i < len(c.together()); i++ {
						r.bump(c.on[i].node, c.on[i].count)
					}
				}
			}
			return r, len(r.pods)
		})
		if !s.has[r] {
			s.has[r] = true
			s.rules.add(selector, r)
		}
		list = append(list, spreadAsked{r, spec})
	}
	return list
}

func keysOf(list []cluster.Spread) (keys []string) {
	for i := range list {
		keys = append(keys, list[i].TopologyKey)
	}
	return keys
}

// domainsOf are those of nodes that have all keys and that p suits, as far as its constraint asks for that.
func (s *spread) domainsOf(p *cluster.Pod, spec *cluster.Spread) *spreadDomains {
	d := &spreadDomains{numbers: map[string]int32{}, of: map[*cluster.Node]int32{}}
	for i := range s.q.Snapshot.Nodes {
		at := &s.q.Snapshot.Nodes[i]
		missing := slices.ContainsFunc(p.Spread, func(o cluster.Spread) bool { _, ok := at.Labels[o.TopologyKey]; return !ok })
		if missing || spec.NodeAffinityPolicy != cluster.Ignore && !s.q.Lists.Node(p, at) || spec.NodeTaintsPolicy == cluster.Honor && !s.q.Lists.Taints(p, at) {
			continue
		}
		value := at.Labels[spec.TopologyKey]
		if _, known := d.numbers[value]; !known {
			d.numbers[value] = int32(len(d.numbers))
		}
		d.of[at] = d.numbers[value]
	}
	return d
}

func (s *spread) selects(r *spreadRule, p *cluster.Pod) bool {
	return p.Namespace == r.owner.Namespace && s.q.Lists.Selector(r.selector, p.Labels)
}

// counts: r selects p, which counts in a group.
func (s *spread) counts(r *spreadRule, p *cluster.Pod) bool {
	return s.selects(r, p) && !p.Terminating && !suits.Everything(r.selector)
}

func (r *spreadRule) bump(n *cluster.Node, by int) {
	at, counts := r.of[n]
	if !counts {
		return
	}
	had := r.pods[at]
	r.pods[at] = had + by
	r.having[had]--
	r.having[had+by]++
	for r.least = min(r.least, had+by); r.having[r.least] == 0; {
		r.least++
	}
}

func (s *spread) Monotone() bool { return false }

// InWay is not asked.
func (s *spread) InWay(*cluster.Pod, *cluster.Node) []int { return nil }

func (s *spread) Move(p *cluster.Pod, n *cluster.Node, by int) {
	for _, r := range s.rules.of(p.Labels) {
		if s.selects(r, p) && (!s.q.Group || s.counts(r, p) || p.Node == "") {
			r.bump(n, by)
		}
	}
}

func (s *spread) Place(m int, n *cluster.Node, by int) {
	p := s.q.Members[m]
	for _, r := range s.rules.of(p.Labels) {
		if s.selects(r, p) && !suits.Everything(r.selector) {
			r.bump(n, by)
		}
	}
}

func (s *spread) Misfit(m int, n *cluster.Node) (check domain.Check, never bool) {
	for _, r := range s.of[m] {
		value, ok := n.Labels[r.spec.TopologyKey]
		if !ok {
			return domain.CheckSpread, true
		}
		skew, least := 0, r.least
		if at, known := r.numbers[value]; known {
			skew = r.pods[at]
		}
		if len(r.numbers) < int(max(r.spec.MinDomains, 1)) {
			least = 0
		}
		if skew -= least; s.selects(r.spreadRule, s.q.Members[m]) {
			skew++
		}
		if skew > int(r.spec.MaxSkew) && check == "" {
			check = domain.CheckSpread
		}
	}
	return check, false
}
