package queued

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

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
