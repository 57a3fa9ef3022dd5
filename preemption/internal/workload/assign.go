package workload

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// assignMode is what has to happen before a workload can have a flavor.
type assignMode int

// The modes, the worst first.
const (
	noFit        assignMode = iota // it can never have it, as things are set up
	noCandidates                   // others would have to go, but nobody may
	preemptOwn                     // others have to go, some of the same queue
	reclaim                        // others have to go, all of other queues
	fitsNow
)

// price is what a flavor costs: who has to go, and from how far up it borrows.
type price struct {
	mode  assignMode
	level int
}

// preferred reports whether a is strictly better than b. What cannot be had comes
// last, what nobody may be evicted for next to last, whatever the preference.
//
// Source: Kueue v0.20; its API's comment has the two preferences the other way round.
func (a price) preferred(b price, p cluster.FlavorPreference) bool {
	switch {
	case a.mode == noFit || b.mode == noFit:
		return a.mode != noFit
	case (a.mode == noCandidates) != (b.mode == noCandidates):
		return b.mode == noCandidates
	case p == cluster.PreemptionOverBorrowing:
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(b.mode, a.mode)) < 0
	}
	return cmp.Or(cmp.Compare(b.mode, a.mode), cmp.Compare(a.level, b.level)) < 0
}

// assigner chooses flavors for one workload.
type assigner struct {
	*Search
	w       *cluster.Workload
	queue   quota.HolderID
	patient bool    // it has not waited long enough to evict others
	used    []int64 // by column: what its earlier pod sets take
	why     []Objection

	objective *Objective

	foreseen map[quota.ColumnAmount]price // what foresee found: earlier pod sets are in the amount, and usage is the same each time

	// The last search: what a lone resource costs is asked twice, once to choose a
	// flavor and once in earnest.
	asked       bool
	last        quotasearch.Question
	lastVictims []quotasearch.Victim
}

func (m *Model) assigner(w *cluster.Workload, q quota.HolderID) *assigner {
	return &assigner{
		Search: m.Search(w, q), w: w, queue: q, patient: m.Waits(w, q) > 0, used: make([]int64, m.Index.NumColumns()), objective: &Objective{},
		foreseen: map[quota.ColumnAmount]price{},
	}
}

// demand is what pod sets that go together ask of each resource.
type demand map[string]int64

// assign chooses flavors for counts pods of each pod set.
//
// Source: Kueue v0.20, flavor assignment.
func (a *assigner) assign(counts []int32) *Plan {
	clear(a.used)
	a.why = nil
	out := &Plan{Fits: true, Possible: true, Counts: counts}
	done := make([]bool, len(a.w.PodSets))
	for i := range a.w.PodSets {
		if done[i] {
			continue
		}
		sets := together(a.w, i)
		total := demand{}
		demands := make([]demand, len(sets))
		for k, set := range sets {
			done[set] = true
			demands[k] = a.demand(a.w, a.queue, set, counts[set])
			for r, v := range demands[k] {
				total[r] += v
			}
		}
		chosen, ok := a.choose(sets, total)
		if !ok {
			return &Plan{Counts: counts, Objections: a.why}
		}
		a.note(out, sets, demands, chosen)
	}
	out.Objections = a.why
	return out
}

// together lists the pod sets that take the same flavors as pod set i.
func together(w *cluster.Workload, i int) []int {
	sets := []int{i}
	if group := w.PodSets[i].Group; group != "" {
		for k := i + 1; k < len(w.PodSets); k++ {
			if w.PodSets[k].Group == group {
				sets = append(sets, k)
			}
		}
	}
	return sets
}

// demand is what count pods of a pod set ask for, which [CheckAmounts] let pass. Pods are
// counted where the queue has quota of them.
func (m *Model) demand(w *cluster.Workload, q quota.HolderID, set int, count int32) demand {
	s := &w.PodSets[set]
	d := demand{}
	for r := range s.Requests {
		d[r], _ = s.Total(r, count)
	}
	if m.groupOf(q, cluster.Pods) != nil {
		d[cluster.Pods] = int64(count)
	}
	return d
}

// CheckAmounts complains about every resource of which w asks for more than can be
// counted, in a pod set or in all of them together.
func CheckAmounts(w *cluster.Workload) error {
	var errs []error
	totals := map[string]int64{}
	for i := range w.PodSets {
		set := &w.PodSets[i]
		for _, r := range slices.Sorted(maps.Keys(set.Requests)) {
			v, ok := set.Total(r, set.Count)
			if !ok {
				errs = append(errs, problems.Workload(w, "PodSets["+strconv.Itoa(i)+"].Requests["+r+"]", strconv.FormatInt(set.Requests[r], 10),
					"at most 2^62-1 in all"))
				v = 0
			}
			totals[r] = quota.Add(totals[r], v)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(totals)) {
		if totals[r] > cluster.MaxUsage {
			errs = append(errs, problems.Workload(w, "PodSets", "too much "+r, "at most 2^62-1 in all"))
		}
	}
	return problems.Join(errs)
}

func (m *Model) groupOf(q quota.HolderID, resource string) *quota.Group {
	groups := m.Index.Groups(q)
	for i := range groups {
		if slices.Contains(groups[i].Resources, resource) {
			return &groups[i]
		}
	}
	return nil
}

// evict looks for victims for the workload. They are not changed by later searches.
func (a *assigner) evict(request []quota.ColumnAmount, contested []quota.ColumnID) []quotasearch.Victim {
	if a.patient {
		return nil
	}
	if a.asked && slices.Equal(request, a.last.Request) && slices.Equal(contested, a.last.Contested) {
		return a.lastVictims
	}
	a.asked, a.last = true, Question(a.w, a.queue, request, contested)
	a.lastVictims = slices.Clone(a.Victims(&a.last))
	return a.lastVictims
}

// note adds what sets take to a plan.
func (a *assigner) note(out *Plan, sets []int, demands []demand, chosen map[string]choice) {
	for k, set := range sets {
		for _, r := range slices.Sorted(maps.Keys(demands[k])) {
			c, ok := chosen[r]
			if !ok {
				continue
			}
			v := demands[k][r]
			a.used[c.column] += v
			out.Taken = append(out.Taken, Taken{set, r, c.column, v, c.mode != fitsNow})
			out.Level = max(out.Level, c.level)
			out.Fits = out.Fits && c.mode == fitsNow
		}
	}
}
