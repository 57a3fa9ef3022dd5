package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
)

// result puts the outcome into words and names.
func (a *assigner) result(out *assignment, list []reprieve.QuotaVictim, full []int32) *Result {
	r := &Result{Warnings: a.warnings(), Stats: Stats{Trials: a.search.Trials}}
	queue := a.ix.Name(a.queue)
	r.Quota = &QuotaResult{ClusterQueue: queue}
	if !out.admits(list) {
		r.Verdict, r.Message = Infeasible, "no evictions help: "+queue+" has no quota for it"
		if wait := a.waits(); wait > 0 && out.possible {
			r.Verdict, r.Message = NotEligible, fmt.Sprintf("it waits %d more seconds before it may evict others", wait)
		}
		r.Rejected = countReasons(slices.Clone(out.why))
		if out.possible {
			r.Quota.Reserved = a.reserve(out)
		}
		return r
	}
	r.Quota.Borrowing = out.level
	for _, as := range out.list {
		r.Quota.Flavors = append(r.Quota.Flavors, FlavorChoice{
			PodSet: a.w.PodSets[as.set].Name, Resource: as.resource, Flavor: a.ix.FlavorName(a.ix.FlavorOf(as.column)),
			Amount: as.amount, Contested: as.mode != fitsNow,
		})
	}
	if !slices.Equal(out.counts, full) {
		r.Quota.Counts = slices.Clone(out.counts)
	}
	if out.fits && a.fitsAsItIs(out) {
		r.Verdict, r.Message = Fits, "fits the quota of "+queue+" without preemption"
		return r
	}
	if out.fits {
		r.Verdict, r.Message = Waiting, "fits the quota of "+queue+" once the victims of others have left"
		return r
	}
	r.Verdict = Feasible
	r.Message = fmt.Sprintf("fits the quota of %s once %s evicted", queue, are(len(list), "workload"))
	r.Victims = a.spell(out, list)
	return r
}

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// fitsAsItIs reports whether the assignment fits beside everybody who holds quota,
// victims of earlier answers included.
func (a *assigner) fitsAsItIs(out *assignment) bool {
	if a.live == nil {
		return true
	}
	request, _ := out.question()
	return a.quotaModel.usage.Fits(a.queue, request, true)
}

// reserve is what a preemptor without victims keeps from the preemptors after it in
// a cycle: what its queue has left of its nominal quota, or of what it may borrow.
// Nothing where its queue may reclaim from anybody: it will get its quota back.
//
// Source: Kueue v0.20, capacity of heads that wait.
func (a *assigner) reserve(out *assignment) []FlavorChoice {
	if a.ix.Queue(a.queue).Preemption.ReclaimWithinCohort == cluster.AnyPriority {
		return nil
	}
	var list []FlavorChoice
	request, _ := out.question()
	for _, c := range request {
		most := a.tree.Nominal(a.queue, c.Column)
		if out.level > 0 {
			most = quota.Add(most, a.ix.Limits(a.queue, c.Column).Borrowing)
		}
		v := min(c.Amount, quota.Above(most, a.usage.Used(a.queue, c.Column)))
		if v > 0 {
			list = append(list, FlavorChoice{
				Resource: a.ix.ResourceName(c.Column), Flavor: a.ix.FlavorName(a.ix.FlavorOf(c.Column)), Amount: v,
			})
		}
	}
	return list
}

// countReasons counts equal sentences, the most frequent first.
func countReasons(why []string) []Rejection {
	slices.Sort(why)
	var list []Rejection
	for _, text := range why {
		if n := len(list); n > 0 && list[n-1].Reason == text {
			list[n-1].Domains++
		} else {
			list = append(list, Rejection{text, 1})
		}
	}
	slices.SortStableFunc(list, func(a, b Rejection) int { return b.Domains - a.Domains })
	return list
}

// spell lists the victims, most important first: the one that would be evicted
// last. Each has what the preemptor would lack if it alone came back, which is the
// same for victims of one queue that use the same.
func (a *assigner) spell(out *assignment, list []reprieve.QuotaVictim) []Victim {
	order := a.sorted[a.orderOf[a.queue]].Order()
	a.usage.RemoveSum(a.search.Sum(list))
	request, _ := out.question()
	victims, told := make([]Victim, len(list)), make([]QuotaVictim, len(list))
	like := make([]int32, a.ix.NumQueues()) // by queue: the position of its last victim, plus 1
	backward := order.Backward(len(list), func(i int) *cluster.Reservation { return list[i].Reservation })
	for i, at := range backward {
		v := list[at]
		a.victimOf(&victims[i], &told[i], v)
		if k := like[v.Queue]; k > 0 && slices.Equal(v.Usage, list[backward[k-1]].Usage) {
			victims[i].Reason = victims[k-1].Reason
		} else {
			a.usage.Add(v.Queue, v.Usage)
			victims[i].Reason = a.lack(request)
			a.usage.Remove(v.Queue, v.Usage)
		}
		like[v.Queue] = int32(i) + 1
	}
	a.usage.AddSum(a.search.Sum(list))
	return victims
}

// victimOf describes a victim, without why it cannot stay.
func (a *assigner) victimOf(victim *Victim, told *QuotaVictim, v reprieve.QuotaVictim) {
	w := v.Workload
	victim.Kind, victim.Namespace, victim.Name, victim.Priority = cluster.KindWorkload, w.Namespace, w.Name, w.Priority
	*told = QuotaVictim{
		ClusterQueue: a.ix.Name(v.Queue), Reason: v.Reason, Priority: v.Priority,
		Evicted: v.Evicted, OnPreemption: w.OnPreemption,
	}
	victim.Quota = told
	if a.pods != nil {
		a.pods.describe(victim, v.Reservation)
	}
}

// lack is the first thing that the preemptor lacks as things stand: what there is
// not, or what it would have to borrow and may not.
func (a *assigner) lack(request []cluster.ColumnAmount) Reason {
	for _, c := range request {
		if available := a.usage.Available(a.queue, c.Column); c.Amount > available {
			return a.lackOf(c.Column, quota.Sub(c.Amount, available), "")
		}
	}
	for _, c := range request {
		if a.usage.Borrows(a.queue, c.Column, c.Amount) {
			nominal := quota.Sub(a.tree.Nominal(a.queue, c.Column), a.usage.Used(a.queue, c.Column))
			return a.lackOf(c.Column, quota.Sub(c.Amount, nominal), ", without borrowing")
		}
	}
	return Reason{Check: CheckQuota}
}

func (a *assigner) lackOf(c cluster.ColumnID, missing int64, how string) Reason {
	return Reason{
		Check: CheckQuota, Resource: a.ix.ResourceName(c), Missing: missing,
		Detail: "flavor " + a.ix.FlavorName(a.ix.FlavorOf(c)) + how,
	}
}
