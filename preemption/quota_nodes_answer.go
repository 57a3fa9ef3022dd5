package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/queued"
)

// infeasible answers that no evictions help, and what it is that cannot be had.
func (s *queueSearch) infeasible() *Result {
	lack := LackQuota
	if s.search.Quota {
		if lack = LackPlace; s.search.Protected {
			lack = LackProtected
		}
	}
	r := s.result(Infeasible, string(lack))
	r.Quota.Lack = lack
	for why, n := range s.search.Rejected {
		s.counts[s.rejection(why)] += n
	}
	for reason, n := range s.counts {
		r.Rejected = append(r.Rejected, Rejection{reason, n})
	}
	slices.SortFunc(r.Rejected, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Domains, a.Domains), cmp.Compare(a.Reason, b.Reason))
	})
	return r
}

// rejection says why there is no plan.
func (s *queueSearch) rejection(r queued.Rejection) string {
	switch r.Why {
	case queued.NoQuota:
		return "no quota in " + s.flavorNames(r.Offer)
	case queued.NoPlace:
		return "no place"
	case queued.Nobody:
		return "nobody that the queue may evict"
	}
	return "more than " + s.boundName(r.Bound) + " allows"
}

// feasible answers with the best plan.
func (s *queueSearch) feasible() *Result {
	p := s.search.Best
	list := s.spell(p)
	if len(list) == 0 {
		r := s.result(Fits, s.fitsIn(p))
		s.settle(r, p)
		return r
	}
	r := s.result(Feasible, fmt.Sprintf("fits in %s and in the quota of %s once %s evicted",
		p.Domain.Name, s.model.Index.Name(s.search.Queue), are(len(list), "unit")))
	s.settle(r, p)
	r.Victims = list
	r.Score = s.criteria(p.Score)
	r.Violations = p.Score.Violations
	r.Overruns = s.Budgets.Overruns(s.Units, p.Units, nil, s.gang.Tally)
	r.Budgets = s.roomOf(p.Units, nil)
	return r
}

// settle says where the preemptor goes and in which flavors.
func (s *queueSearch) settle(r *Result, p *queued.Plan) {
	r.Domain, r.Nominations = p.Domain.Name, s.gang.nominate(p.Places)
	r.Quota.Borrowing = p.Level
	qs := s.search.Usage()
	defer s.model.Keep(qs)
	for _, t := range p.Offer.Taken {
		r.Quota.Flavors = append(r.Quota.Flavors, FlavorChoice{
			Resource: t.Resource, Flavor: flavorOf(s.model, t.Column), Amount: t.Amount, Contested: t.Amount > qs.Usage.Available(s.search.Queue, t.Column),
		})
	}
}

// spell lists the victims, most important first: units without a queue, then
// workloads. Each has what the preemptor would lack if it alone came back.
func (s *queueSearch) spell(p *queued.Plan) []Victim {
	var list []Victim
	for _, v := range s.search.Spell(p) {
		if v.Reservation == nil {
			told := s.victim(v.Unit, s.Units.Unit(v.Unit).Pods, attempt{v.Violates, v.Why}, cluster.NoNode, nil)
			if v.Node != cluster.NoNode {
				told.Reason.Node = s.Index.Node(v.Node).Name
			}
			list = append(list, told)
			continue
		}
		told := Victim{Violates: v.Violates, Reason: s.reason(cluster.NoNode, v.Why)}
		victimOf(s.model, &told, new(QuotaVictim), &v.QuotaVictim)
		for _, pod := range s.model.Pods.Of[v.Reservation] {
			for _, b := range s.Budgets.Of(pod) {
				told.Budgets = append(told.Budgets, s.budgetName(b))
			}
		}
		slices.Sort(told.Budgets)
		told.Budgets = slices.Compact(told.Budgets)
		if v.Why.OK() {
			told.Reason = lacking(s.model, v.Lack)
		}
		list = append(list, told)
	}
	return list
}
