package queued

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
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

// Victim is one that a plan evicts, and what the preemptor would lack if it alone came back.
type Victim struct {
	quotasearch.Victim                // its Reservation is nil: a unit without a queue
	Unit               victims.UnitID // that unit
	Node               cluster.NodeID // where it would be in the way of a member; NoNode: nowhere
	Violates           bool           // a budget
	Why                domain.Reason  // what is missing of a place; OK: quota is
	Lack               workload.Lack  // of quota
}

// Spell lists the victims of p, most important first: units without a queue, then those
// that hold quota.
func (s *Search) Spell(p *Plan) []Victim {
	qs := s.Usage()
	defer s.Model.Keep(qs)
	out := &place{Search: s, domain: p.Domain}
	for _, u := range p.Unqueued {
		s.Gang.Runner.Remove(s.Gang.Trial, u)
	}
	for _, v := range p.Quota {
		qs.Usage.Remove(v.Queue, v.Usage)
		out.Remove(v.Reservation)
	}
	s.Gang.Trial.PlaceAll(p.Places)
	violating := map[victims.UnitID]bool{}
	for _, c := range s.Gang.Runner.Charge(p.Units) {
		violating[c.Unit] = true
	}
	var list []Victim
	for _, u := range p.Unqueued {
		s.Gang.Runner.Return(s.Gang.Trial, u)
		why := s.Gang.Trial.Fits()
		s.Gang.Runner.Remove(s.Gang.Trial, u)
		list = append(list, Victim{Unit: u, Node: s.inTheWay(u), Violates: violating[u], Why: why})
	}
	order := s.Model.Order(s.Queue)
	holders := slices.Clone(p.Quota)
	slices.SortFunc(holders, func(x, y quotasearch.Victim) int { return order.Compare(y.Reservation, x.Reservation) })
	for _, v := range holders {
		victim := Victim{Victim: v, Node: cluster.NoNode}
		pods := s.Model.Pods.Of[v.Reservation]
		for _, pod := range pods {
			if u, ok := s.Pods.Units.UnitOf(pod); ok {
				victim.Violates = victim.Violates || violating[u]
			}
		}
		qs.Usage.Add(v.Queue, v.Usage)
		victim.Lack = qs.Lack(s.Queue, p.Offer.Request)
		if qs.Usage.Fits(s.Queue, p.Offer.Request, true) {
			out.Return(v.Reservation)
			victim.Why = s.Gang.Trial.Fits()
			out.Remove(v.Reservation)
		}
		qs.Usage.Remove(v.Queue, v.Usage)
		list = append(list, victim)
	}
	s.Gang.Trial.UnplaceTo(0)
	for _, v := range p.Quota {
		out.Return(v.Reservation)
	}
	for _, u := range p.Unqueued {
		s.Gang.Runner.Return(s.Gang.Trial, u)
	}
	return list
}

// inTheWay is the first node of unit u on which a member is seated, or NoNode.
func (s *Search) inTheWay(u victims.UnitID) cluster.NodeID {
	first := cluster.NoNode
	for _, p := range s.Pods.Units.Unit(u).Pods {
		if n := s.Pods.Index.NodeOf(p); n != cluster.NoNode && len(s.Gang.Trial.On(n)) > 0 && (first == cluster.NoNode || n < first) {
			first = n
		}
	}
	return first
}
