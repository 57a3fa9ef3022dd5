package preemption

// PreemptByTrials is Preempt with every member of a gang placed and every potential
// victim taken out of a trial, where Preempt counts.
func (o Options) PreemptByTrials(p Preemptor, s *Snapshot) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	q, err := c.newQuestion(p)
	if err != nil || q.team == nil || q.queue() != "" {
		return nil, err
	}
	return newGangSearch(q).run()
}

// Counts reports whether Preempt answers the question about a gang by counting.
func (o Options) Counts(p Preemptor, s *Snapshot) (bool, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return false, err
	}
	q, err := c.newQuestion(p)
	if err != nil || q.team == nil {
		return false, err
	}
	return countGang(q).slots != nil, nil
}

// PreemptInChunks is PreemptOn with the nodes in chunks of that size.
func (o Options) PreemptInChunks(p Preemptor, s *Snapshot, goroutines, size int) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.goroutines, c.chunkSize = goroutines, size
	return c.preempt(p)
}

// PreemptOn is Preempt on at most so many goroutines.
func (o Options) PreemptOn(p Preemptor, s *Snapshot, goroutines int) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.goroutines = goroutines
	return c.preempt(p)
}
