package workload

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
)

// mostHeldTries is how many flavors asHeld tries.
const mostHeldTries = 1 << 12

// asHeld is the plan in the flavors that are held for the workload since others were evicted for it, nil if they are not enough for
// counts pods of each pod set.
func (a *assigner) asHeld(counts []int32) *Plan {
	i, found := a.held(a.w.Namespace, a.w.Name)
	if !found || a.holds[i].id != a.queue || !a.holds[i].evicts() {
		return nil
	}
	clear(a.used)
	s := &heldSearch{assigner: a, counts: counts, plan: &Plan{Fits: true, Possible: true, Counts: counts}, left: map[quota.ColumnID]int64{}}
	for _, c := range a.holds[i].usage {
		s.left[c.Column] = c.Amount
	}
	if !s.from(0, nil) {
		return nil
	}
	if request, _ := s.plan.request(); !a.Usage.Fits(a.queue, request, true) {
		return nil
	}
	return s.plan
}

// heldSearch looks for flavors of pod sets that have together what is held.
type heldSearch struct {
	*assigner
	counts []int32
	plan   *Plan
	left   map[quota.ColumnID]int64
	tries  int
}

// from takes flavors for the pod sets from the i-th on that no earlier one takes along.
func (s *heldSearch) from(i int, done []int) bool {
	for i < len(s.w.PodSets) && slices.Contains(done, i) {
		i++
	}
	if i == len(s.w.PodSets) {
		return true
	}
	sets := together(s.w, i)
	var demands []demand
	total := demand{}
	for _, set := range sets {
		demands = append(demands, s.demand(s.w, s.queue, set, s.counts[set]))
		for r, v := range demands[len(demands)-1] {
			total[r] += v
		}
	}
	return s.each(slices.Sorted(maps.Keys(total)), total, sets, map[string]choice{}, func(chosen map[string]choice) bool {
		before, level := len(s.plan.Taken), s.plan.Level
		s.note(s.plan, sets, demands, chosen)
		if s.from(i+1, slices.Concat(done, sets)) {
			return true
		}
		for _, t := range s.plan.Taken[before:] {
			s.used[t.Column] -= t.Amount
		}
		s.plan.Taken, s.plan.Level = s.plan.Taken[:before], level
		return false
	})
}

// each tries the flavors that have room for names of total, until one of them is good.
func (s *heldSearch) each(names []string, total demand, sets []int, chosen map[string]choice, good func(map[string]choice) bool) bool {
	if len(names) == 0 {
		return good(chosen)
	}
	group := s.groupOf(s.queue, names[0])
	if group == nil {
		return total[names[0]] == 0 && s.each(names[1:], total, sets, chosen, good)
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(r string) bool { return slices.Contains(group.Resources, r) })
	for f, flavor := range group.Flavors {
		if s.tries++; s.tries > mostHeldTries {
			return false
		}
		takes := maps.Clone(chosen)
		fits := s.unsuited(s.w, sets, flavor).Kind == NoObjection
		for k, r := range group.Resources {
			if v, asked := total[r]; asked {
				c := group.Column(f, k)
				level, _ := s.Usage.BorrowHeight(s.queue, c, quota.Add(v, s.used[c]))
				fits = fits && quota.Add(v, s.used[c]) <= s.left[c]
				takes[r] = choice{c, price{fitsNow, level}}
			}
		}
		if fits && s.each(rest, total, sets, takes, good) {
			return true
		}
	}
	return false
}
