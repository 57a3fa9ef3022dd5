package preemption

import "github.com/preempt-go/preempt/domain"

// constraints returns the built-in constraints that look at other pods, in the order
// in which upstream evaluates them.
func (g *generation) constraints(gang bool) []domain.Constraint {
	spread := domain.TopologySpread
	if gang {
		spread = domain.TopologySpreadAnew
	}
	return []domain.Constraint{domain.ExclusiveTokens(), domain.Devices(), spread(), g.affinity()}
}
