package preemption

// PreemptSearching is Preempt with a number of feasibility checks that the search
// for better placements of a gang may spend, in place of searchChecks.
func (o Options) PreemptSearching(p Preemptor, s *Snapshot, checks int) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.searchChecks = checks
	return c.preempt(p)
}
