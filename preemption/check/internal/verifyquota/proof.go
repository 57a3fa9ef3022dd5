package verifyquota

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/proof"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// provable: a proof is asked for, and is of workloads that rules of this module choose, one by one and not by their shares.
func (a *answer) provable() bool {
	searched := a.o.Search != preemption.Greedy && (a.o.Search != "" || a.o.Cost.Objective)
	return a.o.Proof && a.r.Verdict == preemption.Feasible && searched && a.o.Quota.FairSharing == nil && !a.o.Hooks.Decide()
}

// readProof: in no attempt of the preemptor's queue workloads that may go have less than the bound that is said to be proved, if they
// free what is missing. Nothing is believed of it but what adds up.
func (a *answer) readProof() {
	p := a.r.Proof
	if p == nil || !a.provable() || !a.readProofBound(p) {
		return
	}
	for _, t := range a.gone {
		t.use(1)
	}
	defer func() {
		for _, t := range a.gone {
			t.use(-1)
		}
	}()
	attempts := a.attempts()
	if len(p.Nodes) != len(attempts) || proof.TooMany(p) {
		a.Add(found.Proof, "it tells of %d attempts, not %d, or more cases apart than a proof has", len(p.Nodes), len(attempts))
		return
	}
	for i, borrow := range attempts {
		of, n := &p.Nodes[i], a.ground(p.Bound, borrow)
		if n == nil {
			a.Add(found.Proof, "nothing is proved of so many workloads")
			return
		}
		switch text := n.Shows(of.Steps); {
		case of.Borrowing != borrow || len(of.Nodes) > 0:
			a.Add(found.Proof, "it is not of the attempt in which the queue borrows: %t", borrow)
		case a.priced(p.Bound) && slices.ContainsFunc(n.Items, func(it proof.Item) bool { return !it.Whole }):
			a.Add(found.Proof, "what pods cost is not known")
		case text != "":
			a.Add(found.Proof, "borrowing %t: %s", borrow, text)
		}
	}
}

func (a *answer) priced(bound []preemption.Criterion) bool {
	return slices.ContainsFunc(bound, func(c preemption.Criterion) bool { return c.Name == "cost" })
}

// attempts are those of the preemptor's queue: whether it borrows. With a policy of KEP-83 it never does; it does in any case
// where nobody else may go, and where it uses what is its own and may not evict then for what it borrows.
func (a *answer) attempts() []bool {
	rules := &a.queue.queue.Preemption
	policy := rules.ReclaimWithinCohort
	others := slices.ContainsFunc(a.tenants, func(t *tenant) bool { return t.queue != a.queue && a.mayGo(t, false) })
	entitled := slices.ContainsFunc(a.tenants, func(t *tenant) bool { return t.queue != a.queue && a.mayGo(t, false) && a.entitled(t.queue) })
	full := slices.ContainsFunc(slices.Collect(maps.Keys(a.request)), func(k key) bool { return a.contested(k) && a.queue.used[k] >= a.queue.total(k) })
	switch {
	case policy == cluster.ReclaimFromLowerPriority || policy == cluster.ReclaimFromAny:
		return []bool{false}
	case !others || rules.BorrowWithinCohort == nil && full:
		return []bool{true}
	case rules.BorrowWithinCohort == nil && !entitled:
		return []bool{false, true}
	}
	return []bool{true, false}
}

// entitled: the holders around the preemptor's queue own what it asks for, below those that are around queue h too.
func (a *answer) entitled(h *holder) bool {
	rest := maps.Clone(a.request)
	maps.DeleteFunc(rest, func(_ key, v int64) bool { return v == 0 }) // what comes to nothing on the way up stays: holders may use more than there is
	for own := a.queue; !own.around(h); own = own.parent {
		fits := true
		for k, v := range rest {
			fits = fits && !own.borrows(k, v)
			rest[k] = max(0, minus(v, max(0, minus(own.private(k), own.used[k]))))
		}
		if fits {
			return true
		}
	}
	return false
}

// around: h is o, or a cohort around it.
func (h *holder) around(o *holder) bool {
	for o != nil && o != h {
		o = o.parent
	}
	return o == h
}

// readProofBound: the bound is of criteria that are known of workloads, and is not beyond what is said elsewhere.
func (a *answer) readProofBound(p *preemption.Proof) (ok bool) {
	names := a.objective()
	for k, c := range p.Bound {
		if k >= len(names) || c.Name != string(names[k]) {
			a.Add(found.Proof, "%s does not stand at place %d", c.Name, k+1)
			return false
		}
	}
	if len(p.Bound) == 0 || beyond(p.Bound, a.r.Score) || beyond(p.Bound, a.r.Bound) {
		a.Add(found.Proof, "it has no bound, or one beyond the score, or the bound of the answer")
		return false
	}
	return true
}

// beyond: as far as it goes, one list of criteria is more than another.
func beyond(list, other []preemption.Criterion) bool {
	for k := range min(len(list), len(other)) {
		if list[k].Value != other[k].Value {
			return list[k].Value > other[k].Value
		}
	}
	return false
}

// row is what has to become free of a resource in a flavor.
type row struct {
	key
	levels int   // what becomes free in so many holders counts, from the preemptor's queue upwards
	need   int64 // above zero
}

// mostPairs is of how many workloads and rows a proof is read: twice as many as one is given for.
const mostPairs = 1 << 19

// ground tells in numbers who may go in an attempt, and what has to become free, with everybody in place; nil: of too many.
func (a *answer) ground(bound []preemption.Criterion, borrow bool) *proof.Node {
	rows := a.rows(borrow)
	n := &proof.Node{Bound: bound, Need: map[string]int64{}, Room: func(proof.Kind, string) (int64, bool, bool) { return 0, false, false }}
	for name, r := range rows {
		n.Need[name] = r.need
	}
	var may []*tenant
	for _, t := range a.tenants {
		if a.mayGo(t, borrow) {
			may = append(may, t)
		}
	}
	if len(rows) > mostPairs/max(len(may), 1) {
		return nil
	}
	for _, t := range may {
		frees, useful := map[string]int64{}, false
		for name, r := range rows {
			frees[name] = a.frees(t, r)
			useful = useful || frees[name] > 0
		}
		if useful { // who frees nothing makes no bound smaller
			n.Items = append(n.Items, a.item(t, frees))
		}
	}
	return n
}

// rows are what has to become free, by name: of each of the holders around the preemptor as much as it lacks, and of its own
// quota where it must not borrow. What is of a flavor with a slash in its name is not told.
func (a *answer) rows(borrow bool) map[string]row {
	rows := map[string]row{}
	for k, v := range a.request {
		if v == 0 || strings.Contains(k.flavor, "/") {
			continue
		}
		add := func(name string, levels int, room int64) {
			if need := minus(v, room); need > 0 {
				rows[k.flavor+"/"+k.resource+"/"+name] = row{k, levels, need}
			}
		}
		if !borrow {
			add("own", 1, minus(a.queue.total(k), a.queue.used[k]))
		}
		kept, levels := int64(0), 0
		for h := a.queue; h != nil; h = h.parent {
			levels++
			room := minus(h.total(k), h.used[k])
			limit := h.own[k].Borrowing
			if h.parent != nil && limit != nil {
				room = plus(room, *limit)
			}
			if h.parent == nil || limit != nil {
				add(strconv.Itoa(levels-1), levels, plus(kept, room))
			}
			kept = plus(kept, max(0, minus(h.private(k), h.used[k])))
		}
	}
	return rows
}

// mayGo: the preemptor's queue lets t go in an attempt, if nobody has gone before it.
func (a *answer) mayGo(t *tenant, borrow bool) bool {
	rules := &a.queue.queue.Preemption
	switch {
	case t.partial || t.nominated || a.leaves[t] || a.inactive(t.queue.queue) || !a.usesScarce(t) || t.queue.root() != a.queue.root():
		return false
	case t.queue == a.queue:
		return a.allows(rules.WithinClusterQueue, t)
	}
	for h := t.queue; !h.around(a.queue); h = h.parent {
		if !a.borrowed(h) {
			return false
		}
	}
	b := rules.BorrowWithinCohort
	if borrow && !a.entitled(t.queue) && (b == nil || t.priority >= a.ask.priority || b.MaxPriority != nil && t.priority > int64(*b.MaxPriority)) {
		return false
	}
	return a.allows(rules.ReclaimWithinCohort, t)
}

// frees is how much of r becomes free at most where t goes: of others, what reaches a holder around both.
func (a *answer) frees(t *tenant, r row) int64 {
	v, h := t.usage[r.key], t.queue
	for ; !h.around(a.queue); h = h.parent {
		v = max(0, min(v, minus(h.used[r.key], h.private(r.key))))
	}
	up := 0
	for own := a.queue; own != h; own = own.parent {
		up++
	}
	if up >= r.levels {
		return 0
	}
	return v
}

// item is t as somebody who goes or stays. Who has been told to stop already counts for nothing.
func (a *answer) item(t *tenant, frees map[string]int64) proof.Item {
	it := proof.Item{Highest: math.MinInt64, Started: math.MinInt64, Whole: t.workload != nil}
	if it.Whole {
		it.Pods = []preemption.PodRef{{Namespace: t.namespace, Name: t.name}}
	}
	for _, p := range t.pods {
		it.Pods = append(it.Pods, preemption.PodRef{Namespace: p.Namespace, Name: p.Name})
	}
	if !t.evicted {
		it.Highest, it.Started = counted(t.priority), a.values([]preemption.CriterionName{"earliest start"}, []*tenant{t})[0]
	}
	it.Adds = func(of proof.Kind, name string) int64 {
		if of == proof.Resource {
			return frees[name]
		}
		return a.values([]preemption.CriterionName{preemption.CriterionName(name)}, []*tenant{t})[0]
	}
	return it
}
