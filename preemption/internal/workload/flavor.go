package workload

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Objection is why a flavor is not taken, or not as it is.
type Objection struct {
	Kind     ObjectionKind
	Resource string         // NoQuota
	Flavor   quota.FlavorID // Tainted, Unmatched
	Taint    *cluster.Taint // Tainted
	Column   quota.ColumnID // TooMuch, Short
	Amount   int64          // TooMuch: what is asked; Short: what is missing
	Most     int64          // TooMuch
}

// ObjectionKind is what an [Objection] is about.
type ObjectionKind int

// The kinds.
const (
	NoObjection ObjectionKind = iota
	NoQuota                   // the queue has no quota of the resource
	Tainted                   // the flavor has a taint that is not tolerated
	Unmatched                 // node affinity does not hold for the flavor
	TooMuch                   // more is asked than can ever be had
	Short                     // more is asked than there is
)

// choice is the flavor-resource chosen for a resource, and its price.
type choice struct {
	column quota.ColumnID
	price
}

// choose finds a flavor for each resource group of which total asks something.
func (a *assigner) choose(sets []int, total demand) (map[string]choice, bool) {
	chosen := map[string]choice{}
	for _, r := range slices.Sorted(maps.Keys(total)) {
		if _, ok := chosen[r]; ok {
			continue
		}
		group := a.groupOf(a.queue, r)
		if group == nil {
			if total[r] == 0 {
				continue
			}
			a.why = append(a.why, Objection{Kind: NoQuota, Resource: r})
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
func (a *assigner) chooseFlavor(sets []int, total demand, group *quota.Group) map[string]choice {
	fungibility := a.Index.Queue(a.queue).Fungibility
	var best map[string]choice
	bestPrice := price{mode: noFit}
	for f, flavor := range group.Flavors {
		if why := a.unsuited(a.w, sets, flavor); why.Kind != NoObjection {
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

// unsuited is why pod sets cannot take a flavor whatever the quota.
func (m *Model) unsuited(w *cluster.Workload, sets []int, id quota.FlavorID) Objection {
	f := m.Index.Flavor(id)
	node := &cluster.Node{Labels: f.NodeLabels, Taints: f.NodeTaints}
	for _, i := range sets {
		set := &w.PodSets[i]
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
		rule := noderules.NewRule(pod)
		if t := rule.Untolerated(node); t != nil {
			return Objection{Kind: Tainted, Flavor: id, Taint: t}
		}
		if !rule.Matches(node) {
			return Objection{Kind: Unmatched, Flavor: id}
		}
	}
	return Objection{}
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
func (a *assigner) priceOf(c quota.ColumnID, v int64) price {
	v = quota.Add(v, a.used[c])
	if most := a.Tree.Potential(a.queue, c); v > most {
		a.why = append(a.why, Objection{Kind: TooMuch, Column: c, Amount: v, Most: most})
		return price{mode: noFit}
	}
	level, inner := a.Usage.BorrowHeight(a.queue, c, v)
	available := a.Usage.Available(a.queue, c)
	if v <= available {
		return price{fitsNow, level}
	}
	a.why = append(a.why, Objection{Kind: Short, Column: c, Amount: quota.Sub(v, available)})
	if !a.mayHelp(a.queue, c, v, inner) {
		return price{noFit, level}
	}
	return a.foresee(c, v)
}

// mayHelp reports whether evictions are worth a look for v of column c: the queue
// owns as much, or somebody borrows from its side, or it may evict while it borrows.
func (s *Search) mayHelp(q quota.HolderID, c quota.ColumnID, v int64, inner bool) bool {
	p := &s.Index.Queue(q).Preemption
	switch {
	case s.Tree.Nominal(q, c) >= v:
		return true
	case keepsToItsOwn(s.Index.Queue(q)):
		return false
	}
	return inner || p.BorrowWithinCohort != nil ||
		s.Rules.Fair && p.ReclaimWithinCohort != "" && p.ReclaimWithinCohort != cluster.QueueNever
}

// foresee looks whom v of column c alone would cost.
func (a *assigner) foresee(c quota.ColumnID, v int64) price {
	asked := quota.ColumnAmount{Column: c, Amount: v}
	p, known := a.foreseen[asked]
	if known {
		return p
	}
	list := a.evict([]quota.ColumnAmount{asked}, []quota.ColumnID{c})
	p.mode = reclaim
	for _, victim := range list {
		if victim.Queue == a.queue {
			p.mode = preemptOwn
		}
	}
	gone := a.Sum(list)
	a.Usage.RemoveSum(gone)
	p.level, _ = a.Usage.BorrowHeight(a.queue, c, v)
	a.Usage.AddSum(gone)
	if len(list) == 0 {
		p.mode = noCandidates
	}
	a.foreseen[asked] = p
	return p
}
