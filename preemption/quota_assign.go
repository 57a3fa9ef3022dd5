package preemption

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
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

// assign chooses flavors for counts pods of each pod set. The error is for a
// request that is too large to count.
//
// Source: Kueue v0.20, flavor assignment.
func (a *assigner) assign(counts []int32) (*assignment, error) {
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
			d, err := a.demand(set, counts[set])
			if err != nil {
				return nil, err
			}
			demands[k] = d
			for r, v := range d {
				if total[r] += v; total[r] > cluster.MaxUsage {
					return nil, workloadError(a.w, "PodSets", "too much "+r, "at most 2^62-1 in all")
				}
			}
		}
		chosen, ok := a.choose(sets, total)
		if !ok {
			return &assignment{counts: counts, why: a.why}, nil
		}
		if err := a.note(out, sets, demands, chosen); err != nil {
			return nil, err
		}
	}
	out.why = a.why
	return out, nil
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

// demand is what count pods of a pod set ask for. Pods are counted where the queue
// has quota of them.
func (a *assigner) demand(set int, count int32) (demand, error) {
	s := &a.w.PodSets[set]
	d := demand{}
	for r := range s.Requests {
		v, ok := s.Total(r, count)
		if !ok {
			return nil, workloadError(a.w, fmt.Sprintf("PodSets[%d].Requests[%s]", set, r), fmt.Sprint(s.Requests[r]),
				"at most 2^62-1 in all")
		}
		d[r] = v
	}
	if a.groupOf(cluster.Pods) != nil {
		d[cluster.Pods] = int64(count)
	}
	return d, nil
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

// choice is the flavor-resource chosen for a resource, and its price.
type choice struct {
	column cluster.ColumnID
	price
}

// choose finds a flavor for each resource group of which total asks something.
func (a *assigner) choose(sets []int, total demand) (map[string]choice, bool) {
	chosen := map[string]choice{}
	for _, r := range slices.Sorted(maps.Keys(total)) {
		if _, ok := chosen[r]; ok {
			continue
		}
		group := a.groupOf(r)
		if group == nil {
			if total[r] == 0 {
				continue
			}
			a.why = append(a.why, "the queue has no quota of "+r)
			return nil, false
		}
		best := a.chooseFlavor(sets, total, group)
		if best == nil {
			return nil, false
		}
		maps.Copy(chosen, best)
	}
	return chosen, true
}

// chooseFlavor finds the flavor of group that suits best: the first at a price
// that is low enough, else the best.
func (a *assigner) chooseFlavor(sets []int, total demand, group *cluster.QuotaGroup) map[string]choice {
	fungibility := a.ix.Queue(a.queue).Fungibility
	var best map[string]choice
	bestPrice := price{mode: noFit}
	for f, flavor := range group.Flavors {
		if why := a.unsuited(sets, a.ix.Flavor(flavor)); why != "" {
			a.why = append(a.why, why)
			continue
		}
		choices := map[string]choice{}
		worst := price{mode: fitsNow}
		for k, r := range group.Resources {
			v, asked := total[r]
			if !asked {
				continue
			}
			c := group.Column(f, k)
			p := a.priceOf(c, v)
			if worst.preferred(p, fungibility.Preference) {
				worst = p
			}
			if worst.mode == noFit {
				break
			}
			choices[r] = choice{c, p}
		}
		if worst.preferred(bestPrice, fungibility.Preference) {
			best, bestPrice = choices, worst
		}
		if !lookFurther(worst, fungibility) {
			return choices
		}
	}
	return best
}

// lookFurther reports whether later flavors are looked at too.
func lookFurther(p price, f cluster.Fungibility) bool {
	switch {
	case p.mode <= noCandidates:
		return true
	case p.mode != fitsNow && f.WhenCanPreempt != cluster.StopSearch:
		return true
	}
	return p.level > 0 && f.WhenCanBorrow == cluster.TryNextFlavor
}

// unsuited says why pod sets cannot take a flavor whatever the quota.
func (a *assigner) unsuited(sets []int, f *ResourceFlavor) string {
	node := &cluster.Node{Labels: f.NodeLabels, Taints: f.NodeTaints}
	for _, i := range sets {
		set := &a.w.PodSets[i]
		pod := &cluster.Pod{
			Tolerations:  slices.Concat(set.Tolerations, f.Tolerations),
			NodeSelector: map[string]string{},
			NodeAffinity: narrowAffinity(set.NodeAffinity, f.NodeLabels),
		}
		for k, v := range set.NodeSelector {
			if _, ok := f.NodeLabels[k]; ok {
				pod.NodeSelector[k] = v
			}
		}
		if t := domain.Untolerated(pod, node); t != nil {
			return fmt.Sprintf("flavor %s: taint %s is not tolerated", f.Name, t)
		}
		if !domain.MatchesNode(pod, node) {
			return fmt.Sprintf("flavor %s: node affinity does not hold", f.Name)
		}
	}
	return ""
}

// narrowAffinity keeps what a is about labels of a flavor: nil if a term says
// nothing about them, for any flavor meets that term.
func narrowAffinity(a *cluster.NodeAffinity, labels map[string]string) *cluster.NodeAffinity {
	if a == nil {
		return nil
	}
	narrow := &cluster.NodeAffinity{}
	for _, t := range a.Terms {
		var kept cluster.NodeTerm
		for _, r := range t.Labels {
			if _, ok := labels[r.Key]; ok {
				kept.Labels = append(kept.Labels, r)
			}
		}
		if len(kept.Labels) == 0 {
			return nil
		}
		narrow.Terms = append(narrow.Terms, kept)
	}
	if len(narrow.Terms) == 0 {
		return nil
	}
	return narrow
}

// priceOf is what v of column c costs, on top of what earlier pod sets take.
func (a *assigner) priceOf(c cluster.ColumnID, v int64) price {
	v = quota.Add(v, a.used[c])
	short := func(format string, args ...any) {
		a.why = append(a.why, fmt.Sprintf("flavor %s: ", a.ix.FlavorName(a.ix.FlavorOf(c)))+fmt.Sprintf(format, args...))
	}
	resource := a.ix.ResourceName(c)
	if most := a.tree.Potential(a.queue, c); v > most {
		short("%d %s asked, at most %d to be had", v, resource, most)
		return price{mode: noFit}
	}
	level, inner := a.usage.BorrowHeight(a.queue, c, v)
	available := a.usage.Available(a.queue, c)
	if v <= available {
		return price{fitsNow, level}
	}
	short("%d more %s needed", quota.Sub(v, available), resource)
	if !a.mayHelp(c, v, inner) {
		return price{noFit, level}
	}
	return a.foresee(c, v)
}

// mayHelp reports whether evictions are worth a look for v of column c: the queue
// owns as much, or somebody borrows from its side, or it may evict while it borrows.
func (a *assigner) mayHelp(c cluster.ColumnID, v int64, inner bool) bool {
	p := &a.ix.Queue(a.queue).Preemption
	switch {
	case a.tree.Nominal(a.queue, c) >= v:
		return true
	case p.ReclaimWithinCohort == cluster.ReclaimFromLowerPriority || p.ReclaimWithinCohort == cluster.ReclaimFromAny:
		return false // under KEP-83 no preemptor borrows
	}
	return inner || p.BorrowWithinCohort != nil ||
		a.options.FairSharing != nil && p.ReclaimWithinCohort != "" && p.ReclaimWithinCohort != cluster.QueueNever
}

// foresee looks whom v of column c alone would cost.
func (a *assigner) foresee(c cluster.ColumnID, v int64) price {
	list := a.evict([]cluster.ColumnAmount{{Column: c, Amount: v}}, []cluster.ColumnID{c})
	p := price{mode: reclaim}
	for _, victim := range list {
		if victim.Queue == a.queue {
			p.mode = preemptOwn
		}
	}
	gone := a.search.Sum(list)
	a.usage.RemoveSum(gone)
	p.level, _ = a.usage.BorrowHeight(a.queue, c, v)
	a.usage.AddSum(gone)
	if len(list) == 0 {
		p.mode = noCandidates
	}
	return p
}

// evict looks for victims for the workload. They are not changed by later searches.
func (a *assigner) evict(request []cluster.ColumnAmount, contested []cluster.ColumnID) []reprieve.QuotaVictim {
	if a.patient {
		return nil
	}
	if a.asked && slices.Equal(request, a.last.Request) && slices.Equal(contested, a.last.Contested) {
		return a.lastVictims
	}
	a.asked = true
	a.last = reprieve.QuotaQuestion{
		Queue: a.queue, Request: request, Contested: contested,
		Priority: int64(a.w.Priority) + int64(a.w.Boost), Ordered: cluster.Ordered(a.w),
	}
	a.lastVictims = slices.Clone(a.victims(&a.last))
	return a.lastVictims
}

// note adds what sets take to the assignment.
func (a *assigner) note(out *assignment, sets []int, demands []demand, chosen map[string]choice) error {
	for k, set := range sets {
		for _, r := range slices.Sorted(maps.Keys(demands[k])) {
			c, ok := chosen[r]
			if !ok {
				continue
			}
			v := demands[k][r]
			if a.used[c.column] += v; a.used[c.column] > cluster.MaxUsage {
				return workloadError(a.w, "PodSets", "too much "+r, "at most 2^62-1 in all")
			}
			out.list = append(out.list, assigned{set, r, c.column, v, c.price})
			out.level = max(out.level, c.level)
			out.fits = out.fits && c.mode == fitsNow
		}
	}
	return nil
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
