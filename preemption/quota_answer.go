package preemption

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
)

// preemptWorkload answers for a workload, and warns of what does not reach it.
func (o Options) preemptWorkload(m *quotaModel, p Preemptor) (*Result, error) {
	r, err := m.preemptWorkload(p, o.Explain)
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

// preemptWorkload answers for a workload, with the trace if explain is set.
func (m *quotaModel) preemptWorkload(p Preemptor, explain bool) (*Result, error) {
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
	r := m.answer(w, q, explain)
	r.Preemptor = askedByWorkload(p)
	return r, nil
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
func (m *quotaModel) answer(w *Workload, q cluster.QuotaID, explain bool) *Result {
	a := m.assigner(w, q)
	defer m.keep(a.quotaSearch)
	out, list := a.decide()
	r := a.result(out, list, a.full())
	if explain {
		r.Trace = a.trace(out, list)
	}
	return r
}

// decide chooses flavors and victims, for fewer pods if there are none for all.
func (a *assigner) decide() (*assignment, []reprieve.QuotaVictim) {
	full := a.full()
	out, list := a.try(full)
	if out.admits(list) {
		return out, list
	}
	if less, lessList := a.reduce(full); less != nil {
		return less, lessList
	}
	return out, list
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
func (a *assigner) try(counts []int32) (*assignment, []reprieve.QuotaVictim) {
	out := a.assign(counts)
	if out.fits || !out.possible {
		return out, nil
	}
	return out, a.evict(out.question())
}

func (out *assignment) admits(list []reprieve.QuotaVictim) bool {
	return out.fits || len(list) > 0
}

// reduce looks for the largest counts, between those asked for and the least that
// the pod sets can start with, that fit or have victims: by bisection of the sum of
// what is left out, as if fewer were always easier. nil if there are none.
//
// Source: Kueue v0.20, partial admission.
func (a *assigner) reduce(full []int32) (best *assignment, list []reprieve.QuotaVictim) {
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
		out, victims := a.try(counts)
		if out.admits(victims) {
			best, list, high = out, victims, less
		} else {
			low = less + 1
		}
	}
	return best, list
}
