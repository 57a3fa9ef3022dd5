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

// NumAside is for how many nodes the placers know a constraint of states to be in the way by
// its name, and for how many by the node itself, as things stand.
func NumAside(t *GangTrial, m MemberID) (named, nodes int) {
	for n := range t.ix.Nodes() {
		if b, ok := t.blockOf(m, n); ok && b.of >= 0 {
			named++
		} else if ok {
			nodes++
		}
	}
	return named, nodes
}
