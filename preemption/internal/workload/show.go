package workload

import (
	"math"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/internal/proving"
	"github.com/preempt-go/preempt/victims"
)

// Shown is a proof that no workloads disrupt less: for each attempt of the queue, by number of its ground, in place of a
// node. Its pods are positions among those who may go, and its resources among the rows.
type Shown struct {
	proving.Proof
	Grounds []quotasearch.Ground
}

// mostPairs is of how many pairs of a workload that may go and a row a proof of an attempt may be.
const mostPairs = 1 << 18

// show shows the bound of l, or as much of it as it can; nil: nothing. It ends before what pods cost, who
// may be anybody's to price.
func (a *assigner) show(l *Least, request []quota.ColumnAmount, contested []quota.ColumnID) *Shown {
	ms := a.measures(a.objective)
	if a.Rules.Fair || ms.Compare != nil {
		return nil
	}
	question := Question(a.w, a.queue, request, contested)
	s, q, bound := &Shown{}, proving.Quota{Criteria: ms.ranking, Poll: ms.Poll}, l.Known()
	cost := slices.Index(ms.ranking, victims.CriterionCost)
	for _, g := range a.Grounds(&question) {
		g.Rows = slices.DeleteFunc(g.Rows, func(r quotasearch.Row) bool {
			return strings.Contains(a.Index.FlavorName(a.Index.FlavorOf(r.Column)), "/") // its name would not tell it from others
		})
		if len(g.Rows) > mostPairs/max(len(g.Victims), 1) {
			return nil
		}
		var of proving.Attempt
		g, of.Rows = useful(g)
		for _, v := range g.Victims {
			of.Tenants = append(of.Tenants, ms.tenant(v.Reservation))
			if cost >= 0 && cost < len(bound) && len(a.Pods.Of[v.Reservation]) > 0 {
				bound = bound[:cost]
			}
		}
		s.Grounds, q.Attempts = append(s.Grounds, g), append(q.Attempts, of)
	}
	if s.Proof = proving.ProveQuota(&q, bound); len(s.Bound) == 0 {
		return nil
	}
	return s
}

// useful leaves those in g who free something of a row: others make a bound no smaller. It returns the rows of these.
func useful(g quotasearch.Ground) (of quotasearch.Ground, rows []proving.QuotaRow) {
	frees, any := make([][]int64, len(g.Rows)), make([]bool, len(g.Victims))
	rows = make([]proving.QuotaRow, len(g.Rows))
	for r, row := range g.Rows {
		frees[r], rows[r].Need = make([]int64, len(g.Victims)), row.Need
		for _, c := range row.Frees {
			frees[r][c.Item], any[c.Item] = c.Amount, true
		}
	}
	of = quotasearch.Ground{Borrow: g.Borrow, Rows: g.Rows}
	for i, v := range g.Victims {
		if !any[i] {
			continue
		}
		of.Victims = append(of.Victims, v)
		for r := range rows {
			rows[r].Frees = append(rows[r].Frees, frees[r][i])
		}
	}
	return of, rows
}

// tenant is what a proof knows of r. Who has been told to stop already counts for nothing.
func (ms *measures) tenant(r *quota.Reservation) proving.Tenant {
	t := proving.Tenant{Highest: math.MinInt64, Started: math.MinInt64}
	for _, c := range ms.ranking {
		t.Has = append(t.Has, ms.adds(c, r))
	}
	if !r.Evicted {
		score := victims.Score{Started: r.Reserved}
		t.Highest, t.Started = int64(priorityOf(r)), score.Value(victims.CriterionStarted)
	}
	return t
}
