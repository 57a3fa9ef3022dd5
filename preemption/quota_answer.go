package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// preemptWorkload answers for a workload, and warns of what does not reach it.
func (o Options) preemptWorkload(m *workload.Model, p Preemptor) (*Result, error) {
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	w, err := m.Find(p)
	if err != nil {
		return nil, err
	}
	q, refused, err := m.QueueOf(w)
	if err != nil {
		return nil, err
	}
	var r *Result
	if refused != workload.NotRefused {
		r = &Result{Verdict: NotEligible, Message: refusal(m, w, refused), Warnings: m.Warnings()}
	} else {
		plan := m.Plan(w, q, o.Explain)
		r = tellPlan(m, w, q, plan)
		if o.Explain {
			r.Trace = tracePlan(m, w, q, plan)
		}
	}
	r.Preemptor = askedByWorkload(p)
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

func askedByWorkload(p Preemptor) Asked {
	if p.Workload == nil {
		return Asked{Kind: cluster.KindWorkload, Namespace: p.Namespace, Name: p.Name}
	}
	inline := p.Clone()
	return Asked{Kind: cluster.KindWorkload, Namespace: p.Workload.Namespace, Name: p.Workload.Name, Inline: &inline}
}
