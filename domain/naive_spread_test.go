package domain_test

import (
	"math"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// spread is the twin of TopologySpread: it counts every pod of every domain anew.
func (s *situation) spread(m *cluster.Pod, node string) answer {
	for _, c := range m.Spread {
		n := s.node(node)
		value, ok := n.Labels[c.TopologyKey]
		if !ok {
			return answer{domain.CheckSpread, true}
		}
		counts := map[string]int{}
		for i := range s.snapshot.Nodes {
			if n := &s.snapshot.Nodes[i]; s.eligible(m, c, n) {
				counts[n.Labels[c.TopologyKey]] += s.countOn(m, c, n.Name)
			}
		}
		least := math.MaxInt
		for _, count := range counts {
			least = min(least, count)
		}
		if len(counts) < max(1, int(c.MinDomains)) {
			least = 0
		}
		skew := counts[value] - least
		if spreadSelects(m, c, m) {
			skew++
		}
		if skew > int(c.MaxSkew) {
			return answer{domain.CheckSpread, false}
		}
	}
	return answer{}
}

func (s *situation) eligible(m *cluster.Pod, c cluster.Spread, n *cluster.Node) bool {
	for _, other := range m.Spread {
		if _, ok := n.Labels[other.TopologyKey]; !ok {
			return false
		}
	}
	rule := domain.NewNodeRule(m)
	if c.NodeAffinityPolicy != cluster.Ignore && !rule.Matches(n) {
		return false
	}
	return c.NodeTaintsPolicy != cluster.Honor || rule.Untolerated(n) == nil
}

// countOn counts the pods on a node: with one member those that were there at
// first, less or more those that left or came since; with several those that are
// there. What is terminating, and everything by an empty selector, counts in
// leaving and coming only.
func (s *situation) countOn(m *cluster.Pod, c cluster.Spread, node string) int {
	count := 0
	for _, p := range s.everybody() {
		if !spreadSelects(m, c, p) {
			continue
		}
		was, now := s.was[nameOf(p)] == node, s.now[nameOf(p)] == node
		overlooked := p.Terminating || c.Selector != nil && isEmpty(m, c)
		switch {
		case s.anew || len(s.members) > 1:
			if now && !overlooked {
				count++
			}
		case was && now:
			if !overlooked {
				count++
			}
		case was:
			if overlooked {
				count--
			}
		case now:
			if nameOf(p) != nameOf(m) || !overlooked {
				count++
			}
		}
	}
	return count
}

func (s *situation) everybody() []*cluster.Pod {
	byName := map[string]*cluster.Pod{}
	for i := range s.snapshot.Pods {
		byName[nameOf(&s.snapshot.Pods[i])] = &s.snapshot.Pods[i]
	}
	for i := range s.members {
		byName[nameOf(&s.members[i])] = &s.members[i]
	}
	var all []*cluster.Pod
	for _, p := range byName {
		all = append(all, p)
	}
	return all
}

func spreadSelects(owner *cluster.Pod, c cluster.Spread, p *cluster.Pod) bool {
	if p.Namespace != owner.Namespace || !matches(c.Selector, p.Labels) {
		return false
	}
	for _, key := range c.MatchLabelKeys {
		if v, ok := owner.Labels[key]; ok && !has(p.Labels, key, v) {
			return false
		}
	}
	return true
}

// isEmpty reports whether the selector of c, with the label keys, asks for nothing.
func isEmpty(owner *cluster.Pod, c cluster.Spread) bool {
	for _, key := range c.MatchLabelKeys {
		if _, ok := owner.Labels[key]; ok {
			return false
		}
	}
	return len(c.Selector.MatchLabels)+len(c.Selector.MatchExpressions) == 0
}
