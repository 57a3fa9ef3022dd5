package preemption

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// QuotaLack is what a preemptor that needs quota and a place cannot have.
type QuotaLack string

// The lacks, the first that holds is named.
const (
	LackQuota     QuotaLack = "no quota"                                    // not even by evictions, wherever it goes
	LackPlace     QuotaLack = "quota but no place"                          // not even if all less important pods went
	LackProtected QuotaLack = "place only at the cost of a protected queue" // the pods in the way are not its queue's to evict
)

// queueSearch is the search for a preemptor that needs quota and a place: over the
// flavors of its queue, and for each over the domains among the flavor's nodes.
type queueSearch struct {
	*question
	model *workload.Model
	local string
	w     *Workload // the preemptor as a workload
	queue cluster.QuotaID
	gang  *gangSearch // its trial and placement

	offers []workload.Offer
	best   *queuePlan
	counts map[string]int // why a flavor or domain was rejected
	tried  *[]queueTry    // told of every domain that was tried, for WhyNot; nil: nobody asks

	own map[*cluster.Reservation]bool // members that run already, and what a guard keeps: no victims

	anyQuota     bool // some flavor has enough quota, by evictions if need be
	anyProtected bool // some domain has a place if queued pods of lower priority went too
}

// queuePlan is a domain in which preemption helps, with its victims.
type queuePlan struct {
	offer  *workload.Offer
	domain domain.Domain
	places []domain.Assignment
	quota  []reprieve.QuotaVictim
	loose  []victims.UnitID
	units  []victims.UnitID // of all victims that are pods, most important first
	score  victims.Score
	level  int
}

// queue returns the LocalQueue of the preemptor; empty: it needs no quota.
func (q *question) queue() string {
	pod := q.members[0].Pod
	if q.group != nil && q.group.PodGroup != nil && q.group.PodGroup.Queue != "" {
		return q.group.PodGroup.Queue
	}
	if id := q.members[0].ID; id != cluster.NoPod {
		return q.ix.QueueOf(id)
	}
	return pod.Queue
}

func newQueueSearch(q *question, m *workload.Model, local string) *queueSearch {
	s := &queueSearch{question: q, model: m, local: local, gang: newGangSearch(q), counts: map[string]int{}}
	s.gang.runner.Whole = true // a workload goes whole
	return s
}

// run is the whole road: flavors, does it fit, may it preempt, whom, and where.
func (s *queueSearch) run() (*Result, error) {
	if r, err := s.enter(); r != nil || err != nil {
		return r, err
	}
	levels, err := s.domains()
	if err != nil {
		return nil, err
	}
	if err := s.choose(); err != nil {
		return nil, err
	}
	for i := range s.offers {
		if r := s.fits(&s.offers[i], levels); r != nil {
			return r, nil
		}
	}
	if r := s.refuse(); r != nil {
		return r, nil
	}
	for i := range s.offers {
		s.tryOffer(&s.offers[i], levels)
	}
	if s.best == nil {
		return s.infeasible(), nil
	}
	return s.feasible(), nil
}

// enter finds the ClusterQueue of the preemptor. The result is not nil if it cannot
// be admitted there.
func (s *queueSearch) enter() (*Result, error) {
	if s.tree != nil {
		if text := s.hopeless(); text != "" {
			return s.result(Infeasible, text), nil
		}
	}
	first := s.members[0].Pod
	s.w = &Workload{Namespace: first.Namespace, Name: first.Name, Queue: s.local, Priority: s.priority}
	for _, m := range s.members {
		s.w.Created = workload.Earliest(s.w.Created, m.Pod.Created)
	}
	q, refused, err := s.model.QueueOf(s.w)
	if err != nil {
		return nil, err
	}
	if refused != workload.NotRefused {
		return s.result(NotEligible, refusal(s.model, s.w, refused)), nil
	}
	s.queue = q
	return nil, nil
}

func (s *queueSearch) result(v Verdict, message string) *Result {
	r := &Result{
		Verdict: v, Message: message, Preemptor: s.asked,
		Warnings: slices.Concat(s.ix.Warnings(), s.model.Warnings(), s.model.Pods.Odd), Stats: s.gang.stats,
	}
	r.Stats.Exact, r.Stats.Trials = false, s.gang.trial.Checks
	if s.w != nil && s.queue != cluster.NoQuota && v != NotEligible {
		r.Quota = &QuotaResult{ClusterQueue: s.model.Index.Name(s.queue)}
	}
	return r
}

// domains lists the domains to try, in rounds; of one pod every node is a domain.
func (s *queueSearch) domains() ([][]domain.Domain, error) {
	if s.tree != nil {
		return s.levels()
	}
	var list []domain.Domain
	for n := range cluster.NodeID(s.ix.NumNodes()) {
		list = append(list, domain.Domain{Name: s.ix.Node(n).Name, Nodes: []cluster.NodeID{n}})
	}
	return [][]domain.Domain{list}, nil
}

// search returns a search over usage of its own; what the preemptor's own pods
// expect does not count.
func (s *queueSearch) search() *workload.Search {
	qs := s.model.Search(s.w, s.queue)
	own := map[cluster.PodID]bool{}
	for _, m := range s.members {
		own[m.ID] = true
	}
	for _, e := range s.model.Pods.Expected {
		if own[e.Pods[0]] {
			qs.Usage.Remove(e.Queue, e.Usage)
		}
	}
	spare := func(pods []cluster.PodID) bool { // members that run already, and what a guard keeps, are no victims
		return s.tree != nil && s.tree.ID != cluster.NoGroup && s.model.Pods.GroupOf(pods[0]) == s.tree.ID ||
			slices.ContainsFunc(pods, s.guardsPod)
	}
	if s.own == nil {
		s.own = map[*cluster.Reservation]bool{}
		for r, pods := range s.model.Pods.Of {
			if spare(pods) {
				s.own[r] = true
			}
		}
	}
	if qs.Gone == nil {
		qs.Gone = s.own
	} else {
		maps.Copy(qs.Gone, s.own)
	}
	return qs
}

// guardsPod reports whether a guard keeps the unit of pod p.
func (s *queueSearch) guardsPod(p cluster.PodID) bool {
	if s.protections == nil {
		return false
	}
	u, runs := s.units.UnitOf(p)
	return runs && s.protections.Guarded(u, s.claim)
}

// fits answers if the preemptor has quota and a place as things are; else nil.
func (s *queueSearch) fits(o *workload.Offer, levels [][]domain.Domain) *Result {
	qs := s.search()
	defer s.model.Keep(qs)
	if !qs.Usage.Fits(s.queue, o.Request, true) {
		return nil
	}
	s.anyQuota = true
	for _, domains := range levels {
		for _, d := range domains {
			p := &quotaPlace{queueSearch: s, domain: s.within(d, o), alone: s.tree == nil}
			if !p.seat(domain.Pack{}) && !p.seat(domain.Spread{}) {
				s.gang.trial.UnplaceTo(0)
				continue
			}
			r := s.result(Fits, "fits in "+d.Name+" and in the quota of "+s.model.Index.Name(s.queue)+" without preemption")
			s.settle(r, &queuePlan{offer: o, domain: d, places: s.gang.trial.Assignments(), level: qs.Level(s.queue, o.Request)})
			return r
		}
	}
	return nil
}

// refuse answers for a preemptor that may not preempt; nil if it may.
func (s *queueSearch) refuse() *Result {
	if s.policy == priority.Never {
		return s.result(NotEligible, "its preemption policy is Never")
	}
	if s.tree != nil {
		if r := s.gang.refuse(); r != nil {
			return r
		}
	} else if text := s.patience(); text != "" {
		return s.result(NotEligible, text)
	}
	if wait := s.model.Waits(s.w, s.queue); wait > 0 {
		return s.result(NotEligible, waiting(wait))
	}
	return nil
}

// question is what is asked of the quota: every resource is contested, since room
// may be short where quota is not.
func (s *queueSearch) quotaQuestion(o *workload.Offer) *reprieve.QuotaQuestion {
	q := workload.Question(s.w, s.queue, o.Request, o.Columns)
	return &q
}

// tryOffer looks for the plan that disrupts least among the domains of the first
// round that has one.
func (s *queueSearch) tryOffer(o *workload.Offer, levels [][]domain.Domain) {
	qs := s.search()
	defer s.model.Keep(qs)
	if !qs.Usage.Fits(s.queue, o.Request, true) && len(qs.Victims(s.quotaQuestion(o))) == 0 {
		s.counts["no quota in "+s.flavorNames(o)]++
		return
	}
	s.anyQuota = true
	for _, domains := range levels {
		found := false
		for _, d := range domains {
			d = s.within(d, o)
			if len(d.Nodes) == 0 {
				continue
			}
			found = s.tryDomain(o, d) || found
		}
		if found {
			return
		}
	}
}

// tryDomain looks for a plan in d, and keeps it if it is the best so far.
func (s *queueSearch) tryDomain(o *workload.Offer, d domain.Domain) bool {
	p := s.newPlace(d)
	defer p.close()
	s.gang.stats.Domains++
	s.gang.stats.Evaluated++
	if !s.hopeful(o, p) {
		return false
	}
	qs := s.search()
	defer s.model.Keep(qs)
	qs.Place = p
	var list []reprieve.QuotaVictim
	if !qs.Usage.Fits(s.queue, o.Request, true) || !p.Fits() {
		if list = slices.Clone(qs.Victims(s.quotaQuestion(o))); len(list) == 0 {
			s.reject(o, p, "nobody that the queue may evict")
			s.noteProtected(o, p)
			return false
		}
	}
	for _, v := range list {
		qs.Usage.Remove(v.Queue, v.Usage)
		p.Remove(v.Reservation)
	}
	found := false
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
		found = s.consider(o, p, placer, list, qs) || found
		s.gang.trial.UnplaceTo(0)
		for _, u := range p.loose {
			if !s.gang.trial.Gone(s.units.Unit(u).Pods[0]) {
				s.gang.runner.Remove(s.gang.trial, u)
			}
		}
	}
	for _, v := range list {
		p.Return(v.Reservation)
	}
	return found
}
