package naivequota

// Allowed lists every set of those who may go one after the other, without fair sharing, so that
// q fits in the end; none if more than most may go in some attempt, and then ok is false. It looks
// at every order in which they may.
func (w *World) Allowed(q *Question, most int) (sets [][]Target, ok bool) {
	own, hierarchical, priority := w.kinds(q)
	for _, borrow := range w.attempts(q, hierarchical, priority) {
		list := w.sequence(q, hierarchical, mayGo(priority, borrow), own)
		if len(list) > most {
			return nil, false
		}
		reached := make([]bool, 1<<len(list))
		reached[0] = true
		for set, may := range reached {
			if !may {
				continue
			}
			var gone []Target
			for i, c := range list {
				if set>>i&1 == 1 {
					delete(w.In, c.Admitted)
					gone = append(gone, Target{c.Admitted, c.reason()})
				}
			}
			if w.Fits(q, borrow) {
				sets = append(sets, gone)
			}
			for i, c := range list {
				if set>>i&1 == 0 && (c.kind == "own" || !w.satisfied(c, q)) {
					reached[set|1<<i] = true
				}
			}
			w.restore(gone)
		}
	}
	return sets, true
}
