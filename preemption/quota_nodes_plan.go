package preemption

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// consider seats the preemptor, the victims of list being out, and keeps the plan if
// it disrupts least: by the score of all victims, then by how far up it borrows, then
// the earlier flavors, then the earlier domain. It reports whether there is a plan
// that keeps within hard budgets and limits; another set of victims is not looked for.
func (s *queueSearch) consider(o *workload.Offer, p *quotaPlace, placer domain.Placer, list []reprieve.QuotaVictim, qs *workload.Search) bool {
	loose, ok := p.giveBackLoose(placer)
	if !ok {
		return false
	}
	plan := &queuePlan{
		offer: o, domain: p.domain, places: s.gang.trial.Assignments(), quota: list, loose: loose, level: qs.Level(s.queue, o.Request),
	}
	plan.units = slices.Clone(loose)
	for _, v := range list {
		for _, pod := range s.model.Pods.Of[v.Reservation] {
			if u, ok := s.units.UnitOf(pod); ok && !slices.Contains(plan.units, u) {
				plan.units = append(plan.units, u)
			}
		}
	}
	slices.SortFunc(plan.units, s.units.Compare)
	if over := s.overBound(plan); over != "" {
		s.reject(o, p, "more than "+over+" allows")
		return false
	}
	plan.score = s.score(plan)
	if s.tried != nil {
		*s.tried = append(*s.tried, queueTry{p.domain, o, "", plan})
	}
	if s.best == nil || cmp.Or(s.compareScores(&plan.score, &s.best.score), cmp.Compare(plan.level, s.best.level)) < 0 {
		s.best = plan
	}
	return true
}

// reject notes why there is no plan for p.
func (s *queueSearch) reject(o *workload.Offer, p *quotaPlace, why string) {
	s.counts[why]++
	if s.tried != nil {
		*s.tried = append(*s.tried, queueTry{p.domain, o, why, nil})
	}
}

// overBound names a hard budget or limit that p goes beyond; empty: none. A workload
// without pods counts as a victim.
func (s *queueSearch) overBound(p *queuePlan) string {
	for _, b := range s.bounds(p.units) {
		sum := int64(0)
		for _, u := range p.units {
			sum = add(sum, s.weight(b, u))
		}
		if b.kind == RelaxLimit && strings.HasPrefix(b.name, "victims") {
			for _, v := range p.quota {
				if s.model.Pods.Of[v.Reservation] == nil {
					sum++
				}
			}
		}
		if sum > b.room() {
			return b.name
		}
	}
	return ""
}

// score is that of the victims; a workload without pods counts as one pod.
func (s *queueSearch) score(p *queuePlan) victims.Score {
	violations := 0
	for _, c := range s.gang.runner.Charge(p.units) {
		violations += c.Violations
	}
	score := s.units.Score(p.units, violations)
	for _, v := range p.quota {
		if s.model.Pods.Of[v.Reservation] != nil {
			continue
		}
		prio := v.Workload.Priority
		score.Sum += int64(prio) + 1<<31
		score.Pods++
		switch {
		case prio > score.Highest:
			score.Highest, score.Started = prio, v.Reserved
		case prio == score.Highest:
			score.Started = min(score.Started, v.Reserved)
		}
	}
	return score
}

// hopeful looks whether the preemptor has a place in p if everybody goes whom its
// queue may evict, and notes if it has none even without all less important pods.
func (s *queueSearch) hopeful(o *workload.Offer, p *quotaPlace) bool {
	gone := s.evictableJobs(o, p)
	for _, r := range gone {
		p.Remove(r)
	}
	ok := p.Fits()
	for _, r := range gone {
		p.Return(r)
	}
	if !ok {
		s.reject(o, p, "no place")
		s.noteProtected(o, p)
	}
	return ok
}

// evictableJobs lists the jobs with a pod in p that a policy of the queue lets go.
func (s *queueSearch) evictableJobs(o *workload.Offer, p *quotaPlace) []*cluster.Reservation {
	var list []*cluster.Reservation
	for _, r := range p.inside {
		if s.model.Rule(s.w, s.queue, r.Queue).Allows(r) && slices.ContainsFunc(o.Columns, r.Uses) {
			list = append(list, r)
		}
	}
	return list
}

// jobsIn lists the jobs with a pod in p, in order of their names.
func (s *queueSearch) jobsIn(p *quotaPlace) []*cluster.Reservation {
	var list []*cluster.Reservation
	seen := map[*cluster.Reservation]bool{}
	for _, n := range p.domain.Nodes {
		for _, r := range s.model.Pods.On[n] {
			if !seen[r] {
				seen[r] = true
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b *cluster.Reservation) int {
		return cmp.Or(cmp.Compare(a.Workload.Namespace, b.Workload.Namespace), cmp.Compare(a.Workload.Name, b.Workload.Name))
	})
	return list
}

// noteProtected looks whether the preemptor had a place in p if queued pods of lower
// priority went, whatever their queues say.
func (s *queueSearch) noteProtected(o *workload.Offer, p *quotaPlace) {
	if s.anyProtected {
		return
	}
	gone := s.evictableJobs(o, p)
	for _, r := range p.inside {
		if r.Priority < int64(s.priority) && !slices.Contains(gone, r) {
			gone = append(gone, r)
		}
	}
	for _, r := range gone {
		p.Remove(r)
	}
	s.anyProtected = p.Fits()
	for _, r := range gone {
		p.Return(r)
	}
}
