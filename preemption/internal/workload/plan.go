package workload

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// Plan is what came of the search for a workload: flavors for every pod set, and whom they
// cost.
type Plan struct {
	Possible bool // every resource has a flavor
	Fits     bool // once the victims of others have left
	FitsNow  bool // beside everybody who holds quota

	Taken   []Taken  // in order of pod set and resource
	Level   int      // how far up the tree the quota comes from
	Counts  []int32  // the pods of each set; nil: all of them
	Victims []Victim // most important first: the one that would be evicted last

	Objections []Objection          // to flavors
	Waits      int64                // of a plan that does not help: seconds until it may evict others
	Reserved   []quota.ColumnAmount // likewise: what it keeps from those after it in a cycle

	Least *Least // of a plan with victims, or that might have some, where the least disruption is looked for; else nil

	Trials int
	Steps  []Step // of the queue's own pass for victims, where they were asked for

	evicted []quotasearch.Victim
}

// Taken is what a pod set takes of a resource.
type Taken struct {
	Set       int // its position
	Resource  string
	Column    quota.ColumnID
	Amount    int64
	Contested bool // there is not enough of it until the victims are gone
}

// Victim is a workload that is evicted, and what the preemptor would lack if it alone came
// back.
type Victim struct {
	quotasearch.Victim
	Lack Lack
}

// Step is a decision about a victim, or the beginning of an attempt.
type Step struct {
	Reservation *quota.Reservation // nil: an attempt begins
	Borrow      bool               // of an attempt: the queue may borrow
	Decision    quotasearch.Step
	Lack        Lack // of one that stays out
}

// Helps reports whether the workload is admitted once the victims are gone.
func (p *Plan) Helps() bool { return p.Fits || len(p.evicted) > 0 }

// request is all that the plan takes, and of what there is not enough.
func (p *Plan) request() (request []quota.ColumnAmount, contested []quota.ColumnID) {
	sums := map[quota.ColumnID]int64{}
	for _, t := range p.Taken {
		sums[t.Column] += t.Amount
		if t.Contested {
			contested = append(contested, t.Column)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(sums)) {
		if sums[c] > 0 {
			request = append(request, quota.ColumnAmount{Column: c, Amount: sums[c]})
		}
	}
	slices.Sort(contested)
	return request, slices.Compact(contested)
}

// Plan chooses flavors and victims for workload w of queue q, for fewer pods if there are
// none for all; explain asks for Steps. Flavors are those of the queue's own pass, whatever the
// objective.
func (m *Model) Plan(w *cluster.Workload, q quota.HolderID, o Objective, explain bool) *Plan {
	a := m.assigner(w, q)
	a.objective = &o
	defer m.Keep(a.Search)
	all := full(w)
	p := a.try(all)
	if !p.Helps() {
		if less := a.reduce(all); less != nil {
			p = less
		}
	}
	request, contested := p.request()
	switch {
	case !p.Helps():
		p.Waits = m.Waits(w, q)
		if p.Possible {
			p.Reserved = a.reserve(p.Level, request)
		}
	case p.Fits:
		p.FitsNow = len(m.holds) == 0 || m.FitsNow(q, request)
	default:
		if o.Prove && p.Least != nil {
			p.Least.Shown = a.show(p.Least, request, contested)
		}
		a.spell(p, request)
	}
	if slices.Equal(p.Counts, all) {
		p.Counts = nil
	}
	p.Trials = a.Trials
	if explain && p.Possible && !p.Fits && !a.patient {
		a.watch(p, request, contested)
	}
	return p
}

// Kept is what keeps r from going for plan p of workload w.
func (m *Model) Kept(w *cluster.Workload, q quota.HolderID, p *Plan, r *quota.Reservation) quotasearch.Kept {
	s := m.Search(w, q)
	defer m.Keep(s)
	request, contested := p.request()
	question := Question(w, q, request, contested)
	return s.Keeps(&question, r)
}

// full is as many pods as each pod set asks for.
func full(w *cluster.Workload) []int32 {
	full := make([]int32, len(w.PodSets))
	for i := range w.PodSets {
		full[i] = w.PodSets[i].Count
	}
	return full
}

// try chooses flavors and victims for counts pods of each pod set.
func (a *assigner) try(counts []int32) *Plan {
	if p := a.asHeld(counts); p != nil {
		return p
	}
	p := a.assign(counts)
	if p.Possible && !p.Fits {
		p.evicted, p.Least = a.victims(p.request())
	}
	return p
}

// victims are those whom the objective chooses.
func (a *assigner) victims(request []quota.ColumnAmount, contested []quota.ColumnID) ([]quotasearch.Victim, *Least) {
	list := a.evict(request, contested)
	if a.objective.Effort == ask.Greedy {
		return list, nil
	}
	return a.least(request, contested, list)
}

// Victims are those of a plan for workload w of queue q in given flavors, whether or not it waits longer.
func (m *Model) Victims(w *cluster.Workload, q quota.HolderID, o Objective, request []quota.ColumnAmount, contested []quota.ColumnID) []quotasearch.Victim {
	a := m.assigner(w, q)
	defer m.Keep(a.Search)
	a.objective, a.patient = &o, false
	list, _ := a.victims(request, contested)
	return list
}

// reduce looks for the largest counts, between those asked for and the least that
// the pod sets can start with, that fit or have victims: by bisection of the sum of
// what is left out, as if fewer were always easier. nil if there are none.
//
// Source: Kueue v0.20, partial admission.
func (a *assigner) reduce(full []int32) (best *Plan) {
	sum := uint64(0)
	spare := make([]uint64, len(full))
	for i, set := range a.w.PodSets {
		if set.MinCount != nil {
			spare[i] = uint64(full[i] - *set.MinCount)
			sum += spare[i]
		}
	}
	low, high := uint64(0), sum+1 // the least that helps is in [low, high); high: none does
	for low < high && sum > 0 {
		less := low + (high-low)/2
		counts := make([]int32, len(full))
		for i := range counts {
			hi, lo := bits.Mul64(spare[i], less) // of three large pod sets the product leaves an int64
			fewer, _ := bits.Div64(hi, lo, sum)
			counts[i] = full[i] - int32(fewer)
		}
		if p := a.try(counts); p.Helps() {
			best, high = p, less
		} else {
			low = less + 1
		}
	}
	return best
}

// reserve is what a preemptor without victims keeps from the preemptors after it in
// a cycle: what its queue has left of its nominal quota, or of what it may borrow.
// Nothing where its queue may reclaim from anybody: it will get its quota back.
//
// Source: Kueue v0.20, capacity of heads that wait.
func (a *assigner) reserve(level int, request []quota.ColumnAmount) []quota.ColumnAmount {
	if a.Index.Queue(a.queue).Preemption.ReclaimWithinCohort == cluster.AnyPriority {
		return nil
	}
	var list []quota.ColumnAmount
	for _, c := range request {
		most := a.Tree.Nominal(a.queue, c.Column)
		if level > 0 {
			most = quota.Add(most, a.Index.Limits(a.queue, c.Column).Borrowing)
		}
		if v := min(c.Amount, quota.Above(most, a.Usage.Used(a.queue, c.Column))); v > 0 {
			list = append(list, quota.ColumnAmount{Column: c.Column, Amount: v})
		}
	}
	return list
}

// spell lists the victims. What the preemptor would lack is the same for victims of one
// queue that use the same.
func (a *assigner) spell(p *Plan, request []quota.ColumnAmount) {
	list := p.evicted
	a.Usage.RemoveSum(a.Sum(list))
	p.Victims = make([]Victim, len(list))
	like := make([]int32, a.Index.NumQueues()) // by queue: the position of its last victim, plus 1
	for i, at := range a.Order(a.queue).Backward(len(list), func(i int) *quota.Reservation { return list[i].Reservation }) {
		v := &p.Victims[i]
		v.Victim = list[at]
		if k := like[v.Queue]; k > 0 && slices.Equal(v.Usage, p.Victims[k-1].Usage) {
			v.Lack = p.Victims[k-1].Lack
		} else {
			a.Usage.Add(v.Queue, v.Usage)
			v.Lack = a.Lack(a.queue, request)
			a.Usage.Remove(v.Queue, v.Usage)
		}
		like[v.Queue] = int32(i) + 1
	}
	a.Usage.AddSum(a.Sum(list))
}

// watch looks for the victims of a plan again, and notes each decision.
func (a *assigner) watch(p *Plan, request []quota.ColumnAmount, contested []quota.ColumnID) {
	a.Attempt = func(borrow bool) { p.Steps = append(p.Steps, Step{Borrow: borrow}) }
	a.Observe = func(r *quota.Reservation, decision quotasearch.Step) {
		step := Step{Reservation: r, Decision: decision}
		if decision == quotasearch.KeptOut {
			step.Lack = a.Lack(a.queue, request)
		}
		p.Steps = append(p.Steps, step)
	}
	a.asked = false
	a.evict(request, contested)
	a.Attempt, a.Observe = nil, nil
}
