package queued

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// place is the place that a preemptor looks for in one domain while workloads
// leave and come back for its quota: [quotasearch.Place]. Pods of the domain that
// hold no quota, and that the node rule lets go, are out of the way.
type place struct {
	*Search
	domain   domain.Domain
	unqueued []victims.UnitID // those pods, most important first

	crossNode bool // pods outside the domain may matter
	inside    []*quota.Reservation
	sizes     []size // of members; nil: not looked for yet
}

// newPlace takes the pods of d without a queue out of the trial; close puts them back.
func (s *Search) newPlace(d domain.Domain) *place {
	p := &place{Search: s, domain: d, crossNode: s.Gang.Trial.CrossNode()}
	for _, n := range d.Nodes {
		p.unqueued = append(p.unqueued, s.evictable(n)...)
	}
	slices.SortFunc(p.unqueued, s.Pods.Units.Compare)
	p.unqueued = slices.Compact(p.unqueued)
	p.inside = s.jobsIn(p)
	if p.inside == nil {
		p.inside = []*quota.Reservation{} // known: none
	}
	for _, u := range p.unqueued {
		s.Gang.Runner.Remove(s.Gang.Trial, u)
	}
	return p
}

func (p *place) close() {
	for _, u := range p.unqueued {
		if p.Gang.Trial.Gone(p.Pods.Units.Unit(u).Pods[0]) {
			p.Gang.Runner.Return(p.Gang.Trial, u)
		}
	}
}

// Remove takes the pods of a workload away; one that has none frees quota only.
func (p *place) Remove(r *quota.Reservation) {
	p.moved++
	for _, pod := range p.Model.Pods.Of[r] {
		p.Gang.Trial.Remove(pod)
	}
}

// Return puts them back.
func (p *place) Return(r *quota.Reservation) {
	p.moved++
	for _, pod := range p.Model.Pods.Of[r] {
		p.Gang.Trial.Return(pod)
	}
}

// Helps reports whether a pod of r is in the domain, or might matter from outside.
func (p *place) Helps(r *quota.Reservation) bool {
	pods := p.Model.Pods.Of[r]
	return len(pods) > 0 && (p.crossNode || slices.ContainsFunc(pods, p.holds))
}

// Jobs lists the jobs with a pod in the domain, unless others might matter too.
func (p *place) Jobs() []*quota.Reservation {
	if p.crossNode {
		return nil
	}
	return p.inside
}

// holds reports whether pod is in the domain.
func (p *place) holds(pod cluster.PodID) bool {
	_, in := slices.BinarySearch(p.domain.Nodes, p.Pods.Index.NodeOf(pod))
	return in
}

// Fits reports whether the preemptor has a place as things stand.
func (p *place) Fits() bool {
	if p.crowded() || p.exhausted() {
		return false
	}
	ok := p.seat(domain.Pack{}) || p.Pods.Tree != nil && p.seat(domain.Spread{})
	p.Gang.Trial.UnplaceTo(0)
	return ok
}

// outside reports whether a is on no node of the domain that the flavors are for.
func (p *place) outside(a domain.Assignment) bool {
	_, in := slices.BinarySearch(p.domain.Nodes, a.Node)
	return !in
}

// seatChosen places a gang as things stand, by the placer that the options choose.
func (p *place) seatChosen() bool {
	if p.Pods.Tree == nil || p.Pods.Given != nil {
		return false
	}
	p.allow()
	return p.Gang.PlaceChosen(&p.domain)
}

// mostLooks is what looks for a place are measured by, each of which gets a part of what is left of it,
// and mostAsked what all of them together ask about members on nodes, in questions about room, of which a holder of quota who leaves or
// comes back is as many as moving says: after that nobody else is tried to leave or to come back.
const (
	mostLooks = 1 << 28
	mostAsked = 1 << 23
	moving    = 4
)

// size is an amount of a resource that all but some members of a gang ask for at least.
type size struct {
	resource int
	amount   int64
	but      int64
}

// findSizes returns, by resource, the least amount that members ask for, and the least beyond half of what any node offers,
// of which no two go to one node.
func (p *place) findSizes() (list []size) {
	most := make([]int64, p.Pods.Index.NumResources())
	for _, n := range p.domain.Nodes {
		for r, v := range p.Pods.Index.Allocatable(n) {
			most[r] = max(most[r], v)
		}
	}
	for r := range most {
		asked := make([]int64, len(p.Pods.Members))
		for i, m := range p.Pods.Members {
			asked[i] = m.Request()[r]
		}
		slices.Sort(asked)
		for _, from := range []int64{1, most[r]/2 + 1} {
			if i, _ := slices.BinarySearch(asked, from); i < len(asked) {
				list = append(list, size{r, asked[i], int64(i)})
			}
		}
	}
	return list
}

// crowded reports whether there is no room for as many members of a gang as it needs, even if those that ask
// for a size of a resource, or more, asked for no more than that, and for nothing else.
func (p *place) crowded() bool {
	if p.Pods.Tree == nil || p.Pods.Given != nil {
		return false
	}
	if p.sizes == nil {
		p.sizes = p.findSizes()
	}
	return slices.ContainsFunc(p.sizes, func(x size) bool {
		need := int64(max(1, p.Pods.Tree.Fewest())) - x.but
		for _, n := range p.domain.Nodes {
			if need <= 0 {
				return false
			}
			need -= max(p.Gang.Trial.Free(n)[x.resource], 0) / x.amount
		}
		return need > 0
	})
}

// exhausted reports whether no further look for a place is to be begun, and notes that.
func (s *Search) exhausted() bool {
	spent := s.Gang.Trial.Asked+moving*s.moved > mostAsked
	s.Cut = s.Cut || s.Gang.Trial.Hurried || spent
	return spent
}

// allow gives the next look for a place its part of what is left, or a little: pods are
// seated anew whenever a workload leaves or comes back.
func (p *place) allow() {
	trial := p.Gang.Trial
	trial.Allow(max((mostLooks-trial.Asked)/256, 4*(trial.Members()+len(p.domain.Nodes))))
}

// seat places the preemptor.
func (p *place) seat(placer domain.Placer) bool {
	p.allow()
	switch {
	case p.Pods.Tree == nil:
	case p.Pods.Given != nil:
		if p.Gang.PlaceGiven().OK() && !slices.ContainsFunc(p.Gang.Trial.Assignments(), p.outside) {
			return true
		}
		p.Gang.Trial.UnplaceTo(0)
		return false
	case p.Gang.Place(&p.domain, placer, nil, false):
		return true
	default:
		p.Gang.Trial.UnplaceTo(0)
		return false
	}
	for _, n := range p.domain.Nodes {
		if p.Gang.Trial.CanPlace(0, n).OK() {
			p.Gang.Trial.Place(0, n)
			return true
		}
	}
	return false
}

// giveBackUnqueued seats the preemptor with everybody in out and every pod without a queue gone,
// by that placer, and gives back whom it can of these, most important
// first. It returns those that stay out, and leaves the preemptor seated.
func (p *place) giveBackUnqueued(placer domain.Placer) (out []victims.UnitID, ok bool) {
	trial, runner := p.Gang.Trial, p.Gang.Runner
	for _, u := range p.unqueued { // all back, if that will do
		runner.Return(trial, u)
	}
	if p.seat(placer) {
		return nil, true
	}
	for _, u := range p.unqueued {
		runner.Remove(trial, u)
	}
	if !p.seat(placer) {
		return nil, false
	}
	for _, u := range p.unqueued {
		runner.Return(trial, u)
		if !trial.Fits().OK() {
			runner.Remove(trial, u)
			out = append(out, u)
		}
	}
	return out, true
}
