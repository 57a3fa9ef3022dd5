package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// quotaPlace is the place that a preemptor looks for in one domain while workloads
// leave and come back for its quota: [reprieve.QuotaPlace]. Pods of the domain that
// hold no quota, and that the node rule lets go, are out of the way.
type quotaPlace struct {
	*queueSearch
	domain domain.Domain
	loose  []victims.UnitID // those pods, most important first
	alone  bool             // the preemptor is one pod

	crossNode bool // pods outside the domain may matter
	inside    []*cluster.Reservation
}

// newPlace takes the loose pods of d out of the trial; close puts them back.
func (s *queueSearch) newPlace(d domain.Domain) *quotaPlace {
	p := &quotaPlace{queueSearch: s, domain: d, alone: s.tree == nil, crossNode: s.gang.trial.CrossNode()}
	for _, n := range d.Nodes {
		for _, u := range s.evictable(n) {
			if !slices.Contains(p.loose, u) && (p.alone || !s.gang.ownUnit(s.units.Unit(u))) {
				p.loose = append(p.loose, u)
			}
		}
	}
	slices.SortFunc(p.loose, s.units.Compare)
	p.inside = s.jobsIn(p)
	if p.inside == nil {
		p.inside = []*cluster.Reservation{} // known: none
	}
	for _, u := range p.loose {
		s.gang.runner.Remove(s.gang.trial, u)
	}
	return p
}

func (p *quotaPlace) close() {
	p.gang.trial.UnplaceTo(0)
	for _, u := range p.loose {
		if p.gang.trial.Gone(p.units.Unit(u).Pods[0]) {
			p.gang.runner.Return(p.gang.trial, u)
		}
	}
	p.gang.trial.Settle()
}

// Remove takes the pods of a workload away; one that has none frees quota only.
func (p *quotaPlace) Remove(r *cluster.Reservation) {
	for _, pod := range p.model.Pods.Of[r] {
		p.gang.trial.Remove(pod)
	}
}

// Return puts them back.
func (p *quotaPlace) Return(r *cluster.Reservation) {
	for _, pod := range p.model.Pods.Of[r] {
		p.gang.trial.Return(pod)
	}
	p.gang.trial.Settle()
}

// Helps reports whether a pod of r is in the domain, or might matter from outside.
func (p *quotaPlace) Helps(r *cluster.Reservation) bool {
	pods := p.model.Pods.Of[r]
	return len(pods) > 0 && (p.crossNode || slices.ContainsFunc(pods, p.holds))
}

// Jobs lists the jobs with a pod in the domain, unless others might matter too.
func (p *quotaPlace) Jobs() []*cluster.Reservation {
	if p.crossNode {
		return nil
	}
	return p.inside
}

// holds reports whether pod is in the domain.
func (p *quotaPlace) holds(pod cluster.PodID) bool {
	_, in := slices.BinarySearch(p.domain.Nodes, p.ix.NodeOf(pod))
	return in
}

// Fits reports whether the preemptor has a place as things stand.
func (p *quotaPlace) Fits() bool {
	ok := p.seat(domain.Pack{}) || !p.alone && p.seat(domain.Spread{})
	p.gang.trial.UnplaceTo(0)
	return ok
}

// seat places the preemptor, by that placer if it is a group whose places are not
// given, or leaves it without any.
func (p *quotaPlace) seat(placer domain.Placer) bool {
	if p.given != nil && !p.alone {
		return p.gang.placeGiven().OK()
	}
	if !p.alone {
		if p.gang.place(&p.domain, placer, nil, false) {
			return true
		}
		p.gang.trial.UnplaceTo(0)
		return false
	}
	for _, n := range p.domain.Nodes {
		if p.gang.trial.CanPlace(0, n).OK() {
			p.gang.trial.Place(0, n)
			return true
		}
	}
	return false
}

// giveBackLoose seats the preemptor with everybody in out and every loose pod gone,
// by that placer, and gives back whom it can of the loose ones, most important
// first. It returns those that stay out, and leaves the preemptor seated.
func (p *quotaPlace) giveBackLoose(placer domain.Placer) (out []victims.UnitID, ok bool) {
	trial, runner := p.gang.trial, p.gang.runner
	for _, u := range p.loose { // all back, if that will do
		runner.Return(trial, u)
	}
	trial.Settle()
	if p.seat(placer) {
		return nil, true
	}
	for _, u := range p.loose {
		runner.Remove(trial, u)
	}
	if !p.seat(placer) {
		return nil, false
	}
	for _, u := range p.loose {
		runner.Return(trial, u)
		if !trial.Fits().OK() {
			runner.Remove(trial, u)
			trial.Settle()
			out = append(out, u)
		}
	}
	return out, true
}
