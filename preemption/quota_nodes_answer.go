package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// infeasible answers that no evictions help, and what it is that cannot be had.
func (s *queueSearch) infeasible() *Result {
	lack := LackQuota
	if s.anyQuota {
		if lack = LackPlace; s.anyProtected {
			lack = LackProtected
		}
	}
	r := s.result(Infeasible, string(lack))
	r.Quota.Lack = lack
	for reason, n := range s.counts {
		r.Rejected = append(r.Rejected, Rejection{reason, n})
	}
	slices.SortFunc(r.Rejected, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Domains, a.Domains), cmp.Compare(a.Reason, b.Reason))
	})
	return r
}

// feasible answers with the best plan.
func (s *queueSearch) feasible() *Result {
	p := s.best
	list := s.spell(p)
	if len(list) == 0 {
		r := s.result(Fits, "fits in "+p.domain.Name+" and in the quota of "+s.model.Index.Name(s.queue)+" without preemption")
		s.settle(r, p)
		return r
	}
	r := s.result(Feasible, fmt.Sprintf("fits in %s and in the quota of %s once %s evicted",
		p.domain.Name, s.model.Index.Name(s.queue), are(len(list), "unit")))
	s.settle(r, p)
	r.Victims = list
	r.Score = s.criteria(p.score)
	r.Violations = p.score.Violations
	r.Overruns = s.budgets.Overruns(s.units, p.units, nil, s.gang.tally)
	r.Budgets = s.roomOf(p.units, nil)
	return r
}

// settle says where the preemptor goes and in which flavors.
func (s *queueSearch) settle(r *Result, p *queuePlan) {
	r.Domain, r.Nominations = p.domain.Name, s.gang.nominate(p.places)
	r.Quota.Borrowing = p.level
	usage := s.search().Usage
	for _, t := range p.offer.Taken {
		r.Quota.Flavors = append(r.Quota.Flavors, FlavorChoice{
			Resource: t.Resource, Flavor: flavorOf(s.model, t.Column), Amount: t.Amount, Contested: t.Amount > usage.Available(s.queue, t.Column),
		})
	}
}

// spell lists the victims, most important first: units without a queue, then
// workloads. Each has what the preemptor would lack if it alone came back.
func (s *queueSearch) spell(p *queuePlan) []Victim {
	qs := s.search()
	place := &quotaPlace{queueSearch: s, domain: p.domain, alone: s.tree == nil}
	trial := s.gang.trial
	for _, u := range p.loose {
		s.gang.runner.Remove(trial, u)
	}
	for _, v := range p.quota {
		qs.Usage.Remove(v.Queue, v.Usage)
		place.Remove(v.Reservation)
	}
	trial.PlaceAll(p.places)
	trial.Settle()
	violating := map[victims.UnitID]bool{}
	for _, c := range s.gang.runner.Charge(p.units) {
		violating[c.Unit] = true
	}
	var list []Victim
	for _, u := range p.loose {
		s.gang.runner.Return(trial, u)
		why := trial.Fits()
		s.gang.runner.Remove(trial, u)
		trial.Settle()
		v := s.victim(u, s.units.Unit(u).Pods, attempt{violating[u], why}, cluster.NoNode, nil)
		v.Reason.Node = s.gang.where(u)
		list = append(list, v)
	}
	order := s.model.Order(s.queue)
	lack := func() Reason { return lacking(s.model, qs.Lack(s.queue, p.offer.Request)) }
	workloads := slices.Clone(p.quota)
	slices.SortFunc(workloads, func(x, y reprieve.QuotaVictim) int { return order.Compare(y.Reservation, x.Reservation) })
	for _, v := range workloads {
		var victim Victim
		victimOf(s.model, &victim, new(QuotaVictim), &v)
		pods := s.model.Pods.Of[v.Reservation]
		for _, pod := range pods {
			if u, ok := s.units.UnitOf(pod); ok {
				victim.Violates = victim.Violates || violating[u]
			}
			for _, b := range s.budgets.Of(pod) {
				victim.Budgets = append(victim.Budgets, s.budgetName(b))
			}
		}
		slices.Sort(victim.Budgets)
		victim.Budgets = slices.Compact(victim.Budgets)
		qs.Usage.Add(v.Queue, v.Usage)
		if !qs.Usage.Fits(s.queue, p.offer.Request, true) {
			victim.Reason = lack()
		} else if len(pods) > 0 {
			for _, pod := range pods {
				trial.Return(pod)
			}
			victim.Reason = s.reason(cluster.NoNode, trial.Fits())
			for _, pod := range pods {
				trial.Remove(pod)
			}
			trial.Settle()
		}
		if victim.Reason.Check == "" {
			victim.Reason = lack()
		}
		qs.Usage.Remove(v.Queue, v.Usage)
		list = append(list, victim)
	}
	trial.UnplaceTo(0)
	for _, v := range p.quota {
		place.Return(v.Reservation)
	}
	for _, u := range p.loose {
		s.gang.runner.Return(trial, u)
	}
	trial.Settle()
	return list
}
