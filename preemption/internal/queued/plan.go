package queued

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// consider seats the preemptor, the victims of list being out, and keeps the plan if
// it disrupts least: by the score of all victims, then by how far up it borrows, then
// the earlier flavors, then the earlier domain. The plan is nil if there is none
// that keeps within hard budgets and limits.
func (s *Search) consider(o *workload.Offer, p *place, placer domain.Placer, list []quotasearch.Victim, qs *workload.Search) *Plan {
	unqueued, ok := p.giveBackUnqueued(placer)
	if !ok {
		return nil
	}
	plan := &Plan{
		Offer: o, Domain: p.domain, Places: s.Gang.Trial.Assignments(), Quota: list, Unqueued: unqueued, Level: qs.Level(s.Queue, o.Request),
	}
	plan.Units = slices.Clone(unqueued)
	for _, v := range list {
		for _, pod := range s.Model.Pods.Of[v.Reservation] {
			if u, ok := s.Pods.Units.UnitOf(pod); ok && !slices.Contains(plan.Units, u) {
				plan.Units = append(plan.Units, u)
			}
		}
	}
	slices.SortFunc(plan.Units, s.Pods.Units.Compare)
	if over, ok := s.beyond(plan.Units, len(s.lone(plan))); ok {
		s.reject(o, p, Rejection{Why: BeyondBound, Bound: over})
		return nil
	}
	if len(s.Pods.OverrunsAt(plan.Places, plan.Units, nil)) > 0 {
		s.Cut = true
		s.reject(o, p, Rejection{Why: NotTogether})
		return nil
	}
	plan.Score, plan.Liking = s.score(plan), s.liking(plan)
	if s.Note {
		s.Tries = append(s.Tries, Try{Domain: p.domain, Offer: o, Plan: plan})
	}
	if s.Best == nil || s.compare(plan, s.Best) < 0 {
		s.Best = plan
	}
	return plan
}

// compare is below zero if plan a disrupts less than b, or else has places for more members where
// they count, takes quota from nearer by, or is preferred.
func (s *Search) compare(a, b *Plan) int {
	return cmp.Or(s.Pods.CompareScores(&a.Score, &b.Score), s.moreMembers(a, b), cmp.Compare(a.Level, b.Level), cmp.Compare(b.Liking, a.Liking))
}

// lone lists the victims without pods.
func (s *Search) lone(p *Plan) []quotasearch.Victim {
	var list []quotasearch.Victim
	for _, v := range p.Quota {
		if s.Model.Pods.Of[v.Reservation] == nil {
			list = append(list, v)
		}
	}
	return list
}

// score is that of the victims; a workload without pods counts as one pod.
func (s *Search) score(p *Plan) victims.Score {
	violations := 0
	for _, c := range s.Gang.Runner.Charge(p.Units) {
		violations += c.Violations
	}
	score := s.Pods.Score(p.Units, nil, violations, p.Places...)
	for _, v := range s.lone(p) {
		prio := v.Workload.Priority
		score.Sum += priority.Raised(prio)
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
func (s *Search) hopeful(o *workload.Offer, p *place) bool {
	gone := s.evictableJobs(o, p)
	for _, r := range gone {
		p.Remove(r)
	}
	ok := p.Fits()
	for _, r := range gone {
		p.Return(r)
	}
	if !ok {
		s.reject(o, p, Rejection{Why: NoPlace})
		s.noteProtected(o, p)
	}
	return ok
}

// evictableJobs lists the jobs with a pod in p that a policy of the queue lets go.
func (s *Search) evictableJobs(o *workload.Offer, p *place) []*quota.Reservation {
	var list []*quota.Reservation
	for _, r := range p.inside {
		if s.Model.Rule(s.Workload, s.Queue, r.Queue).Allows(r) && slices.ContainsFunc(o.Columns, r.Uses) {
			list = append(list, r)
		}
	}
	return list
}

// jobsIn lists the jobs with a pod in p.
func (s *Search) jobsIn(p *place) []*quota.Reservation {
	var list []*quota.Reservation
	seen := map[*quota.Reservation]bool{}
	for _, n := range p.domain.Nodes {
		for _, r := range s.Model.Pods.On[n] {
			if !seen[r] {
				seen[r] = true
				list = append(list, r)
			}
		}
	}
	return list
}

// noteProtected looks whether the preemptor had a place in p if queued pods of lower
// priority went, whatever their queues say.
func (s *Search) noteProtected(o *workload.Offer, p *place) {
	if s.Protected {
		return
	}
	gone := s.evictableJobs(o, p)
	for _, r := range p.inside {
		if r.Priority < int64(s.Workload.Priority) && !slices.Contains(gone, r) {
			gone = append(gone, r)
		}
	}
	for _, r := range gone {
		p.Remove(r)
	}
	s.Protected = p.Fits()
	for _, r := range gone {
		p.Return(r)
	}
}
