package queued

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// Question is which pods ask, for which quota.
type Question struct {
	Model    *workload.Model
	Workload *cluster.Workload // the pods as a workload
	Queue    quota.HolderID
	Pods     *ask.Question
	Gang     *gang.Search // of the same pods: its trial and its ways to seat them

	// Effort is how hard the least disruption is looked for: beyond ask.Greedy, other workloads are
	// tried than those of the queue's own pass, without a proof.
	Effort ask.Effort
}

// Search is the search for one question.
type Search struct {
	Question
	Offers []workload.Offer // the choices of flavors, to be set

	Best      *Plan             // so far; nil: none
	Quota     bool              // some flavor has enough quota, by evictions if need be
	Protected bool              // some domain has a place if queued pods of lower priority went too
	Cut       bool              // it was cut short: another plan, or any, may have been missed
	moved     int               // how often holders have left or come back
	Tried     int               // domains
	Improved  int               // of those, where other victims were tried
	Rejected  map[Rejection]int // flavors and domains without a plan, by why
	Note      bool              // Tries are asked for
	Tries     []Try

	steps int                         // that were taken to find other victims
	stay  map[*quota.Reservation]bool // who is no victim, whatever the queues say
}

// Plan is a domain in which preemption helps, with its victims.
type Plan struct {
	Offer    *workload.Offer
	Domain   domain.Domain
	Places   []domain.Assignment
	Quota    []quotasearch.Victim
	Unqueued []victims.UnitID // victims that hold no quota
	Units    []victims.UnitID // of all victims that are pods, most important first
	Score    victims.Score
	Level    int   // how far up the tree the quota comes from
	Liking   int64 // how much a lone pod prefers the node among equals
}

// Rejection is why there is no plan.
type Rejection struct {
	Why   Why
	Offer *workload.Offer // NoQuota: in these flavors
	Bound ask.Bound       // BeyondBound: this one; its Left does not count
}

// Why is what a [Rejection] is about.
type Why int

// The reasons.
const (
	NoQuota     Why = iota // in the flavors of an offer, not even by evictions
	NoPlace                // not even if everybody went whom the queue may evict
	Nobody                 // nobody goes that the queue may evict
	BeyondBound            // the victims go beyond a hard budget or limit
	NotTogether            // or find other places one by one, but not together
)

// Try is what came of a domain with the flavors of an offer: a plan, or why there is none.
type Try struct {
	Domain    domain.Domain
	Offer     *workload.Offer
	Plan      *Plan
	Rejection Rejection
}

// New returns a search that has tried nothing.
func New(q Question) *Search { return &Search{Question: q, Rejected: map[Rejection]int{}} }

// Usage returns a search for workloads over usage of its own; what the pods themselves
// expect does not count.
func (s *Search) Usage() *workload.Search {
	qs := s.Model.Search(s.Workload, s.Queue)
	for _, r := range s.expected() {
		qs.Usage.Remove(r.Queue, r.Usage)
	}
	if s.stay == nil {
		s.stay = map[*quota.Reservation]bool{}
		maps.Copy(s.stay, qs.Gone)
		for r := range s.Model.Pods.Of {
			if s.Spares(r) {
				s.stay[r] = true
			}
		}
	}
	qs.Gone = s.stay
	return qs
}

// expected is what the pods themselves expect, as they are nominated.
func (s *Search) expected() (own []*quota.Reservation) {
	for _, e := range s.Model.Pods.Expected {
		if slices.ContainsFunc(s.Pods.Members, func(m *domain.Member) bool { return m.ID == e.Pod }) {
			own = append(own, e.Reservation)
		}
	}
	return own
}

// FitsNow reports whether there is quota for o before victims of others have left.
func (s *Search) FitsNow(o *workload.Offer) bool {
	return s.Model.FitsNow(s.Queue, o.Request, s.expected()...)
}

// Guards reports whether a guard keeps the unit of pod p.
func (s *Search) Guards(p cluster.PodID) bool {
	if s.Pods.Protections == nil {
		return false
	}
	u, runs := s.Pods.Units.UnitOf(p)
	return runs && s.Pods.Protections.Guarded(u, s.Pods.Claim)
}

// evictable lists whom the node rule lets go from node n, the pods' own units aside.
func (s *Search) evictable(n cluster.NodeID) []victims.UnitID {
	list := s.Pods.Evictable(n)
	if s.Pods.Tree == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(u victims.UnitID) bool { return s.Pods.Own(s.Pods.Units.Unit(u)) })
}

// beyond returns a bound that units, and lone workloads without pods, go beyond. A
// workload without pods counts as a victim.
func (s *Search) beyond(units []victims.UnitID, lone int) (b ask.Bound, over bool) {
	for _, b := range s.Pods.Bounds(units) {
		sum := int64(0)
		for _, u := range units {
			sum = checked.Add(sum, s.Pods.Weight(b, u))
		}
		if b.Of == ask.NumUnits {
			sum = checked.Add(sum, int64(lone))
		}
		if sum > b.Room() {
			b.Left = 0
			return b, true
		}
	}
	return ask.Bound{}, false
}

// Spares reports whether r is held by members that run already, or kept by a guard.
func (s *Search) Spares(r *quota.Reservation) bool {
	pods := s.Model.Pods.Of[r]
	own := len(pods) > 0 && s.Pods.Tree != nil && s.Pods.OwnPod(pods[0])
	return own || slices.ContainsFunc(pods, s.Guards)
}

// Ask is what is asked of the quota: every resource is contested, since room may be
// short where quota is not.
func (s *Search) Ask(o *workload.Offer) *quotasearch.Question {
	q := workload.Question(s.Workload, s.Queue, o.Request, o.Columns)
	return &q
}

// within is d without the nodes that are not of the flavors of an offer.
func (s *Search) within(d domain.Domain, o *workload.Offer) domain.Domain {
	return domain.Domain{Name: d.Name, Nodes: slices.DeleteFunc(slices.Clone(d.Nodes), func(n cluster.NodeID) bool {
		return !s.Model.Suits(s.Pods.Index.Node(n), o)
	})}
}

// Fits is a plan without victims, in one of the domains of rounds: the pods have a place as
// things are, and quota, or will have it once the victims of others have left. nil if not.
func (s *Search) Fits(rounds [][]domain.Domain) *Plan {
	var later *Plan
	for i := range s.Offers {
		o := &s.Offers[i]
		now := s.FitsNow(o)
		if later != nil && !now {
			continue
		}
		if p := s.fits(o, rounds); p != nil && now {
			return p
		} else if p != nil {
			later = p
			s.Gang.Trial.UnplaceTo(0)
		}
	}
	if later != nil {
		s.Gang.Trial.PlaceAll(later.Places)
	}
	return later
}

func (s *Search) fits(o *workload.Offer, rounds [][]domain.Domain) *Plan {
	qs := s.Usage()
	defer s.Model.Keep(qs)
	if !qs.Usage.Fits(s.Queue, o.Request, true) {
		return nil
	}
	s.Quota = true
	for _, domains := range rounds {
		if best := s.fitsIn(o, domains, qs); best != nil {
			s.Gang.Trial.PlaceAll(best.Places)
			return best
		}
	}
	return nil
}

// fitsIn is fits in the first of domains that will do, or of those with places for most members where they
// count, or the one that a lone pod prefers.
func (s *Search) fitsIn(o *workload.Offer, domains []domain.Domain, qs *workload.Search) (best *Plan) {
	for _, d := range domains {
		p := &place{Search: s, domain: s.within(d, o)}
		if p.seatChosen() || p.seat(domain.Pack{}) || p.seat(domain.Spread{}) {
			if s.Pods.Tree != nil {
				s.Gang.FitMore([]domain.Domain{p.domain}, &p.domain)
			}
			plan := &Plan{Offer: o, Domain: d, Places: s.Gang.Trial.Assignments(), Level: qs.Level(s.Queue, o.Request)}
			if plan.Liking = s.liking(plan); best == nil || cmp.Or(s.moreMembers(plan, best), cmp.Compare(best.Liking, plan.Liking)) < 0 {
				best = plan
			}
		}
		s.Gang.Trial.UnplaceTo(0)
		if best != nil && s.settled(best) {
			break
		}
	}
	return best
}

// settled reports whether no other domain is better than that of p, where the pods fit.
func (s *Search) settled(p *Plan) bool {
	if s.Pods.Tree == nil {
		return !s.Pods.Prefers()
	}
	return s.Pods.Fewest || len(p.Places) == len(s.Pods.Members)
}

// moreMembers is below zero if a has places for more members than b, where they count.
func (s *Search) moreMembers(a, b *Plan) int {
	if s.Pods.Fewest {
		return 0
	}
	return cmp.Compare(len(b.Places), len(a.Places))
}

// liking is how much a lone pod prefers where p puts it.
func (s *Search) liking(p *Plan) int64 {
	if s.Pods.Tree != nil {
		return 0
	}
	return s.Pods.Liking(s.Pods.Members[0], p.Places[0].Node, p.Units, nil)
}

// Run looks for the plan that disrupts least, for each offer among the domains of the
// first of rounds that has one.
func (s *Search) Run(rounds [][]domain.Domain) {
	for i := range s.Offers {
		s.try(&s.Offers[i], rounds)
	}
}

func (s *Search) try(o *workload.Offer, rounds [][]domain.Domain) {
	qs := s.Usage()
	defer s.Model.Keep(qs)
	if qs.Hopeless(s.Ask(o)) {
		s.Rejected[Rejection{Why: NoQuota, Offer: o}]++
		return
	}
	s.Quota = true
	for _, domains := range rounds {
		found := false
		for _, d := range domains {
			d = s.within(d, o)
			if len(d.Nodes) > 0 {
				found = s.tryDomain(o, d) || found
			}
		}
		if found {
			return
		}
	}
}

// tryDomain looks for a plan in d, and keeps it if it is the best so far.
func (s *Search) tryDomain(o *workload.Offer, d domain.Domain) bool {
	if s.exhausted() {
		return false
	}
	p := s.newPlace(d)
	defer p.close()
	s.Tried++
	if !s.hopeful(o, p) {
		return false
	}
	qs := s.Usage()
	defer s.Model.Keep(qs)
	qs.Place = p
	var list []quotasearch.Victim
	if !qs.Usage.Fits(s.Queue, o.Request, true) || !p.Fits() {
		if list = slices.Clone(qs.Victims(s.Ask(o))); len(list) == 0 {
			s.reject(o, p, Rejection{Why: Nobody})
			s.noteProtected(o, p)
			return false
		}
	}
	best := s.evict(o, p, list, qs)
	if s.Effort != ask.Greedy && len(list) > 0 {
		best = s.improve(o, p, list, best, qs)
	}
	return best != nil
}

// evict looks for a plan in which those of list go, and returns the better one of two ways to seat
// the pods; nil if there is none.
func (s *Search) evict(o *workload.Offer, p *place, list []quotasearch.Victim, qs *workload.Search) (best *Plan) {
	for _, v := range list {
		qs.Usage.Remove(v.Queue, v.Usage)
		p.Remove(v.Reservation)
	}
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
		if plan := s.consider(o, p, placer, list, qs); plan != nil && (best == nil || s.compare(plan, best) < 0) {
			best = plan
		}
		s.Gang.Trial.UnplaceTo(0)
		for _, u := range p.unqueued {
			if !s.Gang.Trial.Gone(s.Pods.Units.Unit(u).Pods[0]) {
				s.Gang.Runner.Remove(s.Gang.Trial, u)
			}
		}
	}
	for _, v := range list {
		qs.Usage.Add(v.Queue, v.Usage)
		p.Return(v.Reservation)
	}
	return best
}

// improve looks for a plan that is better than best, which those of list go for; nil: they go
// beyond a bound. All domains together take what [ask.StepsLeft] leaves.
func (s *Search) improve(o *workload.Offer, p *place, list []quotasearch.Victim, best *Plan, qs *workload.Search) *Plan {
	most := s.Pods.NumSteps()
	if most = min(most, ask.StepsLeft(most, s.steps)); most == 0 {
		return best
	}
	s.Improved++
	note, rejected := s.Note, s.Rejected
	s.Note, s.Rejected = false, map[Rejection]int{}
	before := best
	_, taken := qs.Spare(s.Ask(o), list, most, s.Pods.Poll, func(other []quotasearch.Victim) bool {
		plan := s.evict(o, p, other, qs)
		if plan == nil || best != nil && s.compare(plan, best) >= 0 {
			return false
		}
		best = plan
		return true
	})
	s.steps += taken
	s.Note, s.Rejected = note, rejected
	if s.Note && best != before {
		s.Tries = append(s.Tries, Try{Domain: p.domain, Offer: o, Plan: best})
	}
	return best
}

// reject notes why there is no plan for p.
func (s *Search) reject(o *workload.Offer, p *place, why Rejection) {
	s.Rejected[why]++
	if s.Note {
		s.Tries = append(s.Tries, Try{Domain: p.domain, Offer: o, Rejection: why})
	}
}
