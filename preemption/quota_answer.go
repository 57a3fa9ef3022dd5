package preemption

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
)

// preemptWorkload answers for a workload, and warns of what does not reach it.
func (o Options) preemptWorkload(m *quotaModel, p Preemptor) (*Result, error) {
	r, err := m.preemptWorkload(p)
	if err != nil {
		return nil, err
	}
	ws := o.beyondWorkloads(&r.Preemptor)
	if o.Strict && len(ws) > 0 {
		return nil, strict(ws)
	}
	if len(ws) > 0 {
		r.Warnings = slices.Concat(r.Warnings, ws)
	}
	return r, nil
}

// beyondWorkloads warns of options that are set and are about pods.
func (o Options) beyondWorkloads(asked *Asked) []cluster.Warning {
	var ws []cluster.Warning
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"Cost", o.priced()},
		{"Guards", o.Guards != (Guards{})},
		{"HardBudgets", o.HardBudgets.All || len(o.HardBudgets.Names) > 0},
		{"Limits", o.Limits != (Limits{})},
		{"NoCascade", o.NoCascade},
		{"PreferMovable", o.PreferMovable},
		{"WaitSeconds", o.WaitSeconds > 0},
	} {
		if f.set {
			ws = append(ws, cluster.Warning{
				Kind: cluster.KindWorkload, Namespace: asked.Namespace, Name: asked.Name, Field: "Options", Value: f.name,
				Text: "about pods: it does not bound what a workload evicts",
			})
		}
	}
	return ws
}

// preemptWorkload answers for a workload.
func (m *quotaModel) preemptWorkload(p Preemptor) (*Result, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	w, err := m.findWorkload(p)
	if err != nil {
		return nil, err
	}
	q, refused, err := m.queueOf(w)
	if err != nil {
		return nil, err
	}
	if refused != "" {
		return &Result{Verdict: NotEligible, Message: refused, Preemptor: askedByWorkload(p), Warnings: m.warnings()}, nil
	}
	r, err := m.answer(w, q)
	if err == nil {
		r.Preemptor = askedByWorkload(p)
	}
	return r, err
}

func askedByWorkload(p Preemptor) Asked {
	if p.Workload == nil {
		return Asked{Kind: cluster.KindWorkload, Namespace: p.Namespace, Name: p.Name}
	}
	inline := p.Clone()
	return Asked{Kind: cluster.KindWorkload, Namespace: p.Workload.Namespace, Name: p.Workload.Name, Inline: &inline}
}

// answer is the whole road for workload w in queue q: flavors, victims, and if
// there are none, fewer pods.
func (m *quotaModel) answer(w *Workload, q cluster.QuotaID) (*Result, error) {
	a := m.assigner(w, q)
	defer m.keep(a.quotaSearch)
	full := a.full()
	out, list, err := a.try(full)
	if err != nil {
		return nil, err
	}
	if !out.admits(list) {
		if less, lessList, err := a.reduce(full); err != nil {
			return nil, err
		} else if less != nil {
			out, list = less, lessList
		}
	}
	return a.result(out, list, full), nil
}

func (m *quotaModel) assigner(w *Workload, q cluster.QuotaID) *assigner {
	a := &assigner{quotaSearch: m.search(w, q), w: w, queue: q, used: make([]int64, m.ix.NumColumns())}
	a.patient = a.waits() > 0
	return a
}

// full is as many pods as each pod set asks for.
func (a *assigner) full() []int32 {
	full := make([]int32, len(a.w.PodSets))
	for i := range a.w.PodSets {
		full[i] = a.w.PodSets[i].Count
	}
	return full
}

// waits is how many more seconds the workload waits before it may evict others.
func (a *assigner) waits() int64 {
	wait := a.ix.Queue(a.queue).Preemption.WaitSeconds
	if wait == 0 || a.w.Created.IsZero() || a.now == math.MaxInt64 {
		return 0
	}
	waited := quota.Sub(a.now, cluster.Nanos(a.w.Created)) / int64(time.Second)
	return max(0, wait-waited)
}

// try chooses flavors and victims for counts pods of each pod set.
func (a *assigner) try(counts []int32) (*assignment, []reprieve.QuotaVictim, error) {
	out, err := a.assign(counts)
	if err != nil || out.fits || !out.possible {
		return out, nil, err
	}
	return out, a.evict(out.question()), nil
}

func (out *assignment) admits(list []reprieve.QuotaVictim) bool {
	return out.fits || len(list) > 0
}

// reduce looks for the largest counts, between those asked for and the least that
// the pod sets can start with, that fit or have victims: by bisection of the sum of
// what is left out, as if fewer were always easier. nil if there are none.
//
// Source: Kueue v0.20, partial admission.
func (a *assigner) reduce(full []int32) (best *assignment, list []reprieve.QuotaVictim, err error) {
	sum := int64(0)
	spare := make([]int64, len(full))
	for i, set := range a.w.PodSets {
		if set.MinCount != nil {
			spare[i] = int64(full[i] - *set.MinCount)
			sum += spare[i]
		}
	}
	low, high := int64(0), sum+1 // the least that helps is in [low, high); high: none does
	for low < high && sum > 0 {
		less := low + (high-low)/2
		counts := make([]int32, len(full))
		for i := range counts {
			counts[i] = full[i] - int32(spare[i]*less/sum)
		}
		out, victims, err := a.try(counts)
		if err != nil {
			return nil, nil, err
		}
		if out.admits(victims) {
			best, list, high = out, victims, less
		} else {
			low = less + 1
		}
	}
	return best, list, nil
}

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
		r.Rejected = countReasons(out.why)
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
	if a.describe != nil {
		a.describe(victim, v.Reservation)
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
