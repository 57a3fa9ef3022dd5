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
}

// newPlace takes the pods of d without a queue out of the trial; close puts them back.
func (s *Search) newPlace(d domain.Domain) *place {
	p := &place{Search: s, domain: d, crossNode: s.Gang.Trial.CrossNode()}
	for _, n := range d.Nodes {
		for _, u := range s.evictable(n) {
			if !slices.Contains(p.unqueued, u) {
				p.unqueued = append(p.unqueued, u)
			}
		}
	}
	slices.SortFunc(p.unqueued, s.Pods.Units.Compare)
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
	p.Gang.Trial.UnplaceTo(0)
	for _, u := range p.unqueued {
		if p.Gang.Trial.Gone(p.Pods.Units.Unit(u).Pods[0]) {
			p.Gang.Runner.Return(p.Gang.Trial, u)
		}
	}
	p.Gang.Trial.Settle()
}

// Remove takes the pods of a workload away; one that has none frees quota only.
func (p *place) Remove(r *quota.Reservation) {
	for _, pod := range p.Model.Pods.Of[r] {
		p.Gang.Trial.Remove(pod)
	}
}

// Return puts them back.
func (p *place) Return(r *quota.Reservation) {
	p.back(r)
	p.Gang.Trial.Settle()
}

func (p *place) back(r *quota.Reservation) {
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

// mostLooks is how often all looks for a place together ask about a member on a node.
const mostLooks = 1 << 28

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
	trial.Settle()
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
			trial.Settle()
			out = append(out, u)
		}
	}
	return out, true
}
