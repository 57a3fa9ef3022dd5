package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// NumProfiles is the number of profiles of an inter-pod affinity State.
func NumProfiles(s State) int { return len(s.(*affinityState).plan.profiles) }

// DomainCounts gives tests the counts of a spread constraint.
type DomainCounts struct{ d domainCounts }

// NewDomainCounts counts that many pods in each domain.
func NewDomainCounts(counts []int32) *DomainCounts {
	isDomain := slices.Repeat([]bool{true}, len(counts))
	return &DomainCounts{newDomainCounts(slices.Clone(counts), isDomain)}
}

// Add adds sign in domain v.
func (d *DomainCounts) Add(v int, sign int32) { d.d.add(cluster.ValueID(v), sign) }

// Least is the number of the emptiest domain.
func (d *DomainCounts) Least() int32 { return d.d.min }
