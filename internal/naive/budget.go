package naive

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// partition splits sorted units into those that violate a budget and the others.
// The most important ones use a budget first; what they use is never given back.
func (q *question) partition(units []Unit) (violating, clean []Unit) {
	budgets := slices.Clone(q.snapshot.Budgets)
	slices.SortFunc(budgets, func(a, b disruption.Budget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	left := map[string]int64{}
	for _, b := range budgets {
		left[b.Namespace+"/"+b.Name] = int64(b.Allowed)
	}
	for _, u := range units {
		u.Violations = 0
		for _, p := range u.Pods {
			violates := false
			for _, b := range budgets {
				if !q.charges(b, p) {
					continue
				}
				id := b.Namespace + "/" + b.Name
				left[id]--
				if left[id] < 0 {
					violates = true
					if q.units() {
						break // later budgets keep theirs
					}
				}
			}
			if violates {
				u.Violations++
			}
		}
		if u.Violations > 0 {
			violating = append(violating, u)
		} else {
			clean = append(clean, u)
		}
	}
	return violating, clean
}

// overruns is how far the victims, all of them, take budgets below zero.
func (q *question) overruns(victims []Unit) int64 {
	var sum int64
	for _, b := range q.snapshot.Budgets {
		var charged int64
		for _, u := range victims {
			for _, p := range u.Pods {
				if q.charges(b, p) {
					charged++
				}
			}
		}
		sum += max(0, charged-max(0, int64(b.Allowed)))
	}
	return sum
}

// charges says whether the eviction of a pod uses a budget.
func (q *question) charges(b disruption.Budget, p *cluster.Pod) bool {
	if b.Namespace != p.Namespace || b.Selector == nil || slices.Contains(b.Disrupted, p.Name) {
		return false
	}
	if !q.units() {
		empty := len(b.Selector.MatchLabels) == 0 && len(b.Selector.MatchExpressions) == 0
		if empty || len(p.Labels) == 0 {
			return false
		}
	}
	return matches(b.Selector, p.Labels)
}

func matches(s *disruption.Selector, labels map[string]string) bool {
	for k, v := range s.MatchLabels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		value, has := labels[r.Key]
		in := has && slices.Contains(r.Values, value)
		ok := false
		switch r.Operator {
		case disruption.In:
			ok = in
		case disruption.NotIn:
			ok = !in
		case disruption.Exists:
			ok = has
		case disruption.DoesNotExist:
			ok = !has
		}
		if !ok {
			return false
		}
	}
	return true
}
