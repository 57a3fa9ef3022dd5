package naive

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// moreImportant is negative if a is worth keeping more than b. No two units are equal.
func (q *question) moreImportant(a, b Unit) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	if q.units() {
		if c := cmp.Compare(b.Rank, a.Rank); c != 0 {
			return c
		}
		if c := cmp.Compare(len(b.Pods), len(a.Pods)); c != 0 {
			return c
		}
	}
	if c := a.Start.Compare(b.Start); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Pods[0].UID, b.Pods[0].UID); c != 0 {
		return c
	}
	return key(a.Pods[0]).compare(key(b.Pods[0]))
}

// score is what the six rules read of a candidate. They look at pods, not at units.
func (q *question) score(c Candidate) Score {
	const shift = 1 << 31 // makes every term positive
	s := Score{Violations: c.Violations, HighestPriority: q.priorityOf(c.Victims[0].Pods[0])}
	var starts []time.Time
	highest := int64(-shift - 1)
	for _, u := range c.Victims {
		for _, p := range u.Pods {
			prio := int64(q.priorityOf(p))
			s.PrioritySum += prio + shift
			s.Pods++
			if prio > highest {
				highest, starts = prio, nil
			}
			if prio == highest {
				starts = append(starts, q.start(p))
			}
		}
	}
	s.Start = slices.MinFunc(starts, time.Time.Compare)
	return s
}

// compare is negative if a is the better candidate.
func (a Score) compare(b Score) int {
	return cmp.Or(
		cmp.Compare(a.Violations, b.Violations),
		cmp.Compare(a.HighestPriority, b.HighestPriority),
		cmp.Compare(a.PrioritySum, b.PrioritySum),
		cmp.Compare(a.Pods, b.Pods),
		b.Start.Compare(a.Start),
	)
}

// best lists the nodes that no other beats, sorted by name.
func best(candidates map[string]Candidate) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(candidates)) {
		beaten := false
		for _, c := range candidates {
			beaten = beaten || c.Score.compare(candidates[n].Score) < 0
		}
		if !beaten {
			out = append(out, n)
		}
	}
	return out
}
