package preemption

import "github.com/preempt-go/preempt/domain"

// builtinConstraints returns the constraints that look at other pods, in the order
// in which upstream evaluates them.
func builtinConstraints() []domain.Constraint {
	return []domain.Constraint{
		domain.ExclusiveTokens(), domain.Devices(), domain.TopologySpread(), domain.InterPodAffinity(),
	}
}
