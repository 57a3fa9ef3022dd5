package domain

// NumProfiles is the number of profiles of an inter-pod affinity State.
func NumProfiles(s State) int { return len(s.(*affinityState).plan.profiles) }

// Keep leaves q those offers that count.
func (q *SeatQueue) Keep(counts func(*SeatOffer) bool) { q.keep(0, counts) }

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
