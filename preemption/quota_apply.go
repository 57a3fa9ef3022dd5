package preemption

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// applyQuota carries out what r says about workloads: the preemptor is admitted or its
// quota held, and victims without pods are marked as evicted, or with remove give up their
// quota at once.
func (e edit) applyQuota(r *Result, remove bool) error {
	isWorkload := func(v Victim) bool { return v.Kind == cluster.KindWorkload }
	if r.Preemptor.Kind != cluster.KindWorkload && !slices.ContainsFunc(r.Victims, isWorkload) {
		return nil
	}
	return e.pl.editQuota(func(m *quotaModel) error {
		if r.Preemptor.Kind == cluster.KindWorkload {
			if err := m.give(r); err != nil {
				return err
			}
		}
		for _, v := range r.Victims {
			j := m.live.job(v.Namespace, v.Name)
			if !isWorkload(v) || j == nil || j.r == nil {
				continue // has left
			}
			if err := m.set(j.evicted(remove)); err != nil {
				return err
			}
		}
		return nil
	})
}

// give admits the workload of an answer that fits; else it holds its quota, or what the
// answer reserves. It fails without a change, or not at all.
func (m *quotaModel) give(r *Result) error {
	w := m.workload(r.Preemptor.Namespace, r.Preemptor.Name)
	adopted := w == nil
	if adopted {
		w = r.Preemptor.Inline.Clone().Workload
	}
	if r.Verdict == Fits {
		return m.set(m.admitted(w, r.Quota))
	}
	if adopted {
		if err := m.set(w); err != nil {
			return err
		}
	}
	h := quotaHold{namespace: w.Namespace, name: w.Name, queue: r.Quota.ClusterQueue, flavors: slices.Clone(r.Quota.Flavors)}
	if len(r.Quota.Reserved) > 0 {
		h.flavors = slices.Clone(r.Quota.Reserved)
	}
	for _, v := range r.Victims {
		if v.Kind == cluster.KindWorkload {
			h.victims = append(h.victims, PodRef{v.Namespace, v.Name})
		}
		for _, ref := range v.Pods {
			h.pods = append(h.pods, ref.PodRef)
		}
	}
	m.live.hold(m.ix, h)
	return nil
}

// admitted is w with the quota that q gives it.
func (m *quotaModel) admitted(w *Workload, q *QuotaResult) *Workload {
	out := *w
	out.Admission = &cluster.Admission{ClusterQueue: q.ClusterQueue, Reserved: nanosTime(m.now)}
	out.Evicted = false
	out.PodSets = make([]cluster.PodSet, len(w.PodSets))
	for i, set := range w.PodSets {
		if q.Counts != nil {
			set.Count, set.MinCount = q.Counts[i], nil
		}
		set.Flavors, set.Usage = map[string]string{}, cluster.Resources{}
		for _, f := range q.Flavors {
			if f.PodSet == set.Name {
				set.Flavors[f.Resource], set.Usage[f.Resource] = f.Flavor, f.Amount
			}
		}
		out.PodSets[i] = set
	}
	return &out
}

// evicted is the workload on its way out, or back in its queue.
func (j *quotaJob) evicted(gone bool) *Workload {
	out := *j.w
	out.Evicted = !gone
	if gone {
		out.Admission = nil
	}
	return &out
}

// reviewWorkload is review for an answer about a workload.
func (c *compiled) reviewWorkload(r *Result, m *quotaModel) (Validity, error) {
	j, err := c.queued.of(c, m)
	if err != nil {
		return Validity{}, err
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	name := key(r.Preemptor.Namespace, r.Preemptor.Name)
	w := j.workload(r.Preemptor.Namespace, r.Preemptor.Name)
	if w == nil && r.Preemptor.Inline != nil {
		w = r.Preemptor.Inline.Workload
	}
	switch {
	case w == nil:
		return Validity{Cancel, name + " is gone"}, nil
	case w.Admission != nil:
		return Validity{Cancel, name + " holds quota already"}, nil
	}
	q, refused, err := j.queueOf(w)
	if err == nil {
		err = checkAmounts(w)
	}
	if text, ok := unreadable(err); ok {
		refused = text
	} else if err != nil {
		return Validity{}, err
	}
	switch {
	case refused != "":
		return Validity{Replan, refused}, nil
	case j.ix.Name(q) != r.Quota.ClusterQueue:
		return Validity{Replan, "it belongs to another queue by now"}, nil
	}
	a := j.assigner(w, q)
	defer j.keep(a.quotaSearch)
	return j.review(a, r), nil
}

// review looks whether answer r can be carried out as it is.
func (j *jobs) review(a *assigner, r *Result) Validity {
	if len(r.Quota.Reserved) > 0 {
		return a.reviewReserved(r.Quota.Reserved)
	}
	if text := a.mismatch(r.Quota); text != "" {
		return Validity{Replan, text}
	}
	request, contested := a.requestOf(r.Quota.Flavors)
	fits := len(contested) == 0 && a.usage.Fits(a.queue, request, true)
	now := fits && a.quotaModel.usage.Fits(a.queue, request, true)
	switch {
	case r.Verdict == Fits && now:
		return Validity{Keep, "it fits"}
	case r.Verdict == Fits:
		return Validity{Replan, "it does not fit any more"}
	case r.Verdict == Waiting && now:
		return Validity{Replan, "it fits by now"}
	case r.Verdict == Waiting && fits:
		return Validity{Keep, "it fits once the victims of others have left"}
	case r.Verdict == Waiting:
		return Validity{Replan, "it would not fit even without the victims of others"}
	case now:
		return Validity{Cancel, "it fits without evicting anybody"}
	}
	held, text := j.reviewHolders(a.quotaSearch, r.Victims, a.w, a.queue, contested)
	switch wait := a.waits(); {
	case text != "":
		return Validity{Replan, text}
	case wait > 0 && slices.ContainsFunc(held, func(r *cluster.Reservation) bool { return !r.Evicted }):
		return Validity{Replan, fmt.Sprintf("it waits %d more seconds before it may evict others", wait)}
	case !a.usage.Fits(a.queue, request, true):
		return Validity{Replan, "it does not fit even once the victims are gone"}
	}
	return Validity{Keep, "it fits once the victims are gone"}
}

// reviewReserved looks whether what an answer without victims keeps back is what its
// workload may keep: of a resource no more than it asks for, and than its queue has.
func (a *assigner) reviewReserved(list []FlavorChoice) Validity {
	left := demand{}
	for i, count := range a.full() {
		for r, v := range a.demand(i, count) {
			left[r] = quota.Add(left[r], v)
		}
	}
	if a.ix.Queue(a.queue).Preemption.ReclaimWithinCohort == cluster.AnyPriority {
		return Validity{Replan, "its queue gets its quota back from anybody: it reserves none"}
	}
	for _, f := range list {
		c, group := a.ix.Column(f.Flavor, f.Resource), a.groupOf(f.Resource)
		if group == nil || !slices.ContainsFunc(group.Flavors, func(id cluster.FlavorID) bool { return a.ix.FlavorName(id) == f.Flavor }) {
			return Validity{Replan, fmt.Sprintf("its queue has no %s of flavor %s", f.Resource, f.Flavor)}
		}
		most := quota.Add(a.tree.Nominal(a.queue, c), a.ix.Limits(a.queue, c).Borrowing)
		left[f.Resource] -= f.Amount
		if f.Amount > quota.Above(most, a.usage.Used(a.queue, c)) || left[f.Resource] < 0 {
			return Validity{Replan, fmt.Sprintf("it may not keep %d %s of flavor %s", f.Amount, f.Resource, f.Flavor)}
		}
	}
	return Validity{Keep, "it reserves what its queue has"}
}

// mismatch says how the flavors and counts of an answer are not those of the workload as it
// is; empty if they are.
func (a *assigner) mismatch(q *QuotaResult) string {
	counts, text := a.countsOf(q)
	if text != "" {
		return text
	}
	given := map[[2]string]FlavorChoice{} // by pod set and resource
	for _, f := range q.Flavors {
		given[[2]string{f.PodSet, f.Resource}] = f
	}
	done := make([]bool, len(a.w.PodSets))
	for i := range a.w.PodSets {
		if done[i] {
			continue
		}
		sets := a.together(i)
		taken := map[*cluster.QuotaGroup]string{} // the flavor, which they share
		for _, set := range sets {
			done[set] = true
			if text := a.mismatchOf(set, counts[set], given, taken); text != "" {
				return text
			}
		}
		groups := a.ix.Groups(a.queue)
		for g := range groups {
			group := &groups[g]
			name, ok := taken[group]
			if !ok {
				continue
			}
			f := slices.IndexFunc(group.Flavors, func(f cluster.FlavorID) bool { return a.ix.FlavorName(f) == name })
			if f < 0 {
				return "its queue has no flavor " + name + " any more"
			}
			if why := a.unsuited(sets, a.ix.Flavor(group.Flavors[f])); why != "" {
				return why
			}
		}
	}
	for _, f := range q.Flavors {
		if _, left := given[[2]string{f.PodSet, f.Resource}]; left {
			return fmt.Sprintf("pod set %q asks for no %s", f.PodSet, f.Resource)
		}
	}
	return ""
}

// mismatchOf is mismatch for one pod set, of which it takes the choices out of given.
func (a *assigner) mismatchOf(set int, count int32, given map[[2]string]FlavorChoice, taken map[*cluster.QuotaGroup]string) string {
	name := a.w.PodSets[set].Name
	d := a.demand(set, count)
	for _, r := range slices.Sorted(maps.Keys(d)) {
		group, at := a.groupOf(r), [2]string{name, r}
		f, ok := given[at]
		delete(given, at)
		switch {
		case group == nil && d[r] == 0 && !ok:
			continue
		case group == nil:
			return "its queue has no quota of " + r
		case !ok:
			return fmt.Sprintf("pod set %q takes no flavor of %s", name, r)
		case f.Amount != d[r]:
			return fmt.Sprintf("pod set %q takes %d %s, and asks for %d", name, f.Amount, r, d[r])
		}
		if other, ok := taken[group]; ok && other != f.Flavor {
			return fmt.Sprintf("pod set %q takes flavor %s of %s beside %s", name, f.Flavor, r, other)
		}
		taken[group] = f.Flavor
	}
	return ""
}

// countsOf is how many pods of each pod set an answer admits; the text says how they are not
// what the workload may start with.
func (a *assigner) countsOf(q *QuotaResult) (counts []int32, text string) {
	if q.Counts == nil {
		return a.full(), ""
	}
	if len(q.Counts) != len(a.w.PodSets) {
		return nil, fmt.Sprintf("it has %s, and counts of %d", count(len(a.w.PodSets), "pod set"), len(q.Counts))
	}
	for i, set := range a.w.PodSets {
		least := set.Count
		if set.MinCount != nil {
			least = *set.MinCount
		}
		if n := q.Counts[i]; n < least || n > set.Count {
			return nil, fmt.Sprintf("pod set %q starts with %d to %d pods, not with %d", set.Name, least, set.Count, n)
		}
	}
	return q.Counts, ""
}

// requestOf adds up flavors, and lists the columns of which there is not enough as things
// stand.
func (a *assigner) requestOf(flavors []FlavorChoice) (request []cluster.ColumnAmount, contested []cluster.ColumnID) {
	sums := make([]int64, a.ix.NumColumns())
	for _, f := range flavors {
		c := a.ix.Column(f.Flavor, f.Resource)
		sums[c] = quota.Add(sums[c], f.Amount)
	}
	for i, v := range sums {
		c := cluster.ColumnID(i)
		if v > 0 {
			request = append(request, cluster.ColumnAmount{Column: c, Amount: v})
		}
		if v > a.usage.Available(a.queue, c) {
			contested = append(contested, c)
		}
	}
	return request, contested
}
