package preemption

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
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
	case p == cluster.PreemptionOverBorrowing && a.level != b.level:
		return a.level < b.level
	case a.mode != b.mode:
		return a.mode > b.mode
	}
	return a.level < b.level
}

// assigned is one flavor-resource that a pod set takes.
type assigned struct {
	set      int // position among the pod sets
	resource string
	column   cluster.ColumnID
	amount   int64
	price
}

// assignment is the flavors for every pod set of a workload.
type assignment struct {
	possible bool // every resource has a flavor
	fits     bool // as things are
	list     []assigned
	level    int
	counts   []int32

	why []string // why flavors were not taken as they are
}

// assigner chooses flavors for one workload.
type assigner struct {
	*quotaSearch
	w       *Workload
	queue   cluster.QuotaID
	patient bool    // it has not waited long enough to evict others
	used    []int64 // by column: what its earlier pod sets take
	why     []string

	// The last search: what a lone resource costs is asked twice, once to choose a
	// flavor and once in earnest.
	asked       bool
	last        reprieve.QuotaQuestion
	lastVictims []reprieve.QuotaVictim
}

// demand is what pod sets that go together ask of each resource.
type demand map[string]int64

// assign chooses flavors for counts pods of each pod set.
//
// Source: Kueue v0.20, flavor assignment.
func (a *assigner) assign(counts []int32) *assignment {
	clear(a.used)
	a.why = nil
	out := &assignment{fits: true, possible: true, counts: counts}
	done := make([]bool, len(a.w.PodSets))
	for i := range a.w.PodSets {
		if done[i] {
			continue
		}
		sets := a.together(i)
		total := demand{}
		demands := make([]demand, len(sets))
		for k, set := range sets {
			done[set] = true
			demands[k] = a.demand(set, counts[set])
			for r, v := range demands[k] {
				total[r] += v
			}
		}
		chosen, ok := a.choose(sets, total)
		if !ok {
			return &assignment{counts: counts, why: a.why}
		}
		a.note(out, sets, demands, chosen)
	}
	out.why = a.why
	return out
}

// together lists the pod sets that take the same flavors as pod set i.
func (a *assigner) together(i int) []int {
	sets := []int{i}
	if group := a.w.PodSets[i].Group; group != "" {
		for k := i + 1; k < len(a.w.PodSets); k++ {
			if a.w.PodSets[k].Group == group {
				sets = append(sets, k)
			}
		}
	}
	return sets
}

// demand is what count pods of a pod set ask for, which [checkAmounts] let pass. Pods
// are counted where the queue has quota of them.
func (a *assigner) demand(set int, count int32) demand {
	s := &a.w.PodSets[set]
	d := demand{}
	for r := range s.Requests {
		d[r], _ = s.Total(r, count)
	}
	if a.groupOf(cluster.Pods) != nil {
		d[cluster.Pods] = int64(count)
	}
	return d
}

// checkAmounts complains about every resource of which w asks for more than can be
// counted, in a pod set or in all of them together.
func checkAmounts(w *Workload) error {
	if countable(w) {
		return nil
	}
	var errs []error
	totals := map[string]int64{}
	for i := range w.PodSets {
		set := &w.PodSets[i]
		for _, r := range slices.Sorted(maps.Keys(set.Requests)) {
			v, ok := set.Total(r, set.Count)
			if !ok {
				errs = append(errs, workloadError(w, fmt.Sprintf("PodSets[%d].Requests[%s]", i, r), fmt.Sprint(set.Requests[r]),
					"at most 2^62-1 in all"))
				v = 0
			}
			totals[r] = quota.Add(totals[r], v)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(totals)) {
		if totals[r] > cluster.MaxUsage {
			errs = append(errs, workloadError(w, "PodSets", "too much "+r, "at most 2^62-1 in all"))
		}
	}
	return join(errs)
}

// countable reports whether w is far from asking for too much: everything that it asks
// for, added up, could be counted.
func countable(w *Workload) bool {
	sum := int64(0)
	for i := range w.PodSets {
		set := &w.PodSets[i]
		for r := range set.Requests {
			v, ok := set.Total(r, set.Count)
			if !ok || v > cluster.MaxUsage-sum {
				return false
			}
			sum += v
		}
	}
	return true
}

func (a *assigner) groupOf(resource string) *cluster.QuotaGroup {
	groups := a.ix.Groups(a.queue)
	for i := range groups {
		if slices.Contains(groups[i].Resources, resource) {
			return &groups[i]
		}
	}
	return nil
}

// evict looks for victims for the workload. They are not changed by later searches.
func (a *assigner) evict(request []cluster.ColumnAmount, contested []cluster.ColumnID) []reprieve.QuotaVictim {
	if a.patient {
		return nil
	}
	if a.asked && slices.Equal(request, a.last.Request) && slices.Equal(contested, a.last.Contested) {
		return a.lastVictims
	}
	a.asked, a.last = true, a.question(request, contested)
	a.lastVictims = slices.Clone(a.victims(&a.last))
	return a.lastVictims
}

// question is what the search for victims is asked.
func (a *assigner) question(request []cluster.ColumnAmount, contested []cluster.ColumnID) reprieve.QuotaQuestion {
	return reprieve.QuotaQuestion{
		Queue: a.queue, Request: request, Contested: contested,
		Priority: int64(a.w.Priority) + int64(a.w.Boost), Ordered: cluster.Ordered(a.w),
	}
}

// note adds what sets take to the assignment.
func (a *assigner) note(out *assignment, sets []int, demands []demand, chosen map[string]choice) {
	for k, set := range sets {
		for _, r := range slices.Sorted(maps.Keys(demands[k])) {
			c, ok := chosen[r]
			if !ok {
				continue
			}
			v := demands[k][r]
			a.used[c.column] += v
			out.list = append(out.list, assigned{set, r, c.column, v, c.price})
			out.level = max(out.level, c.level)
			out.fits = out.fits && c.mode == fitsNow
		}
	}
}

// question is the search for all that the assignment asks at once.
func (out *assignment) question() (request []cluster.ColumnAmount, contested []cluster.ColumnID) {
	sums := map[cluster.ColumnID]int64{}
	for _, as := range out.list {
		sums[as.column] += as.amount
		if as.mode != fitsNow {
			contested = append(contested, as.column)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(sums)) {
		if sums[c] > 0 {
			request = append(request, cluster.ColumnAmount{Column: c, Amount: sums[c]})
		}
	}
	slices.Sort(contested)
	return request, slices.Compact(contested)
}
