package preemption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/priority"
)

// queueSearch is the search for a preemptor that needs quota and a place.
type queueSearch struct {
	*question
	search *queued.Search // its workload is nil until its queue is known
	model  *workload.Model
	local  string
	gang   *gangAnswer // its trial and placement

	counts map[string]int // why a flavor was rejected
}

// queue returns the LocalQueue of the preemptor; empty: it needs no quota.
func (q *question) queue() string {
	pod := q.Members[0].Pod
	if q.Group != nil && q.Group.PodGroup != nil && q.Group.PodGroup.Queue != "" {
		return q.Group.PodGroup.Queue
	}
	if id := q.Members[0].ID; id != cluster.NoPod {
		return q.Index.QueueOf(id)
	}
	return pod.Queue
}

func newQueueSearch(q *question, m *workload.Model, local string) *queueSearch {
	s := &queueSearch{question: q, model: m, local: local, gang: q.searchGang(), counts: map[string]int{}}
	s.gang.Runner.Whole = true // a workload goes whole
	s.search = queued.New(queued.Question{Model: m, Pods: q.Question, Gang: s.gang.Search})
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
	if p := s.search.Fits(levels); p != nil {
		if !s.search.FitsNow(p.Offer) {
			return s.result(Waiting, "fits in "+p.Domain.Name+" and in the quota of "+s.model.Index.Name(s.search.Queue)+leftLater), nil
		}
		r := s.result(Fits, s.fitsIn(p))
		s.settle(r, p)
		return r, nil
	}
	if r := s.refuse(); r != nil {
		return r, nil
	}
	s.search.Run(levels)
	if s.search.Best == nil {
		return s.infeasible(), nil
	}
	return s.feasible(), nil
}

// enter finds the ClusterQueue of the preemptor. The result is not nil if it cannot
// be admitted there.
func (s *queueSearch) enter() (*Result, error) {
	if s.Tree != nil {
		if text := s.hopeless(); text != "" {
			return s.result(Infeasible, text), nil
		}
	}
	first := s.Members[0].Pod
	w := &Workload{Namespace: first.Namespace, Name: first.Name, Queue: s.local, Priority: s.Priority}
	for _, m := range s.Members {
		w.Created = workload.Earliest(w.Created, m.Pod.Created)
	}
	q, refused, err := s.model.QueueOf(w)
	if err != nil {
		return nil, err
	}
	if refused != workload.NotRefused {
		return s.result(NotEligible, refusal(s.model, w, refused)), nil
	}
	s.search.Workload, s.search.Queue = w, q
	return nil, nil
}

// fitsIn says of a plan without victims where it is.
func (s *queueSearch) fitsIn(p *queued.Plan) string {
	return "fits in " + p.Domain.Name + " and in the quota of " + s.model.Index.Name(s.search.Queue) + " without preemption"
}

func (s *queueSearch) result(v Verdict, message string) *Result {
	r := &Result{
		Verdict: v, Message: message, Preemptor: s.asked,
		Warnings: slices.Concat(s.Index.Warnings(), s.model.Warnings(), s.model.Pods.Odd, s.oddAsked()), Stats: Stats(s.gang.Stats),
	}
	r.Stats.Exact, r.Stats.Trials = false, s.gang.Trial.Checks
	if s.search.Workload == nil {
		return r
	}
	r.Stats.Domains += s.search.Tried
	r.Stats.Evaluated += s.search.Tried
	if v != NotEligible {
		r.Quota = &QuotaResult{ClusterQueue: s.model.Index.Name(s.search.Queue)}
	}
	return r
}

// domains lists the domains to try, in rounds; of one pod every node is a domain.
func (s *queueSearch) domains() ([][]domain.Domain, error) {
	if s.Tree != nil {
		return s.levels()
	}
	var list []domain.Domain
	for n := range s.Index.Nodes() {
		list = append(list, domain.Domain{Name: s.Index.Node(n).Name, Nodes: []cluster.NodeID{n}})
	}
	return [][]domain.Domain{list}, nil
}

// choose lists the choices of flavors, in the queue's order, without those that can
// never be had.
func (s *queueSearch) choose() error {
	total, err := s.totals()
	if err != nil {
		return err
	}
	total[cluster.Pods] = int64(len(s.Members))
	var objections []workload.Objection
	s.search.Offers, objections = s.model.Offers(s.search.Queue, total)
	for _, o := range objections {
		s.counts[objection(s.model, o)]++
	}
	return nil
}

// totals is what the members ask for together. It complains about every resource of
// which that cannot be counted, at the member that is too much.
func (s *queueSearch) totals() (map[string]int64, error) {
	total := map[string]int64{}
	var errs []error
	for _, m := range s.Members {
		for _, r := range slices.Sorted(maps.Keys(m.Pod.Requests)) {
			before, v := total[r], m.Pod.Requests[r]
			total[r] = quota.Add(before, v)
			if before <= cluster.MaxUsage && total[r] > cluster.MaxUsage {
				errs = append(errs, problems.Pod(m.Pod, "Requests["+r+"]", fmt.Sprint(v), "at most 2^62-1 in all", nil))
			}
		}
	}
	return total, problems.Join(errs)
}

func (s *queueSearch) flavorNames(o *workload.Offer) string {
	var names []string
	for _, f := range o.Flavors {
		names = append(names, s.model.Index.FlavorName(f))
	}
	return strings.Join(names, ", ")
}

// refuse answers for a preemptor that may not preempt; nil if it may.
func (s *queueSearch) refuse() *Result {
	if s.Policy == priority.Never {
		return s.result(NotEligible, "its preemption policy is Never")
	}
	if s.Tree != nil {
		if a := s.gang.Refuse(); a.Verdict != ask.Feasible {
			return s.gang.refused(a)
		}
	} else if text := s.refusal(s.RefusalOfPod()); text != "" {
		return s.result(NotEligible, text)
	}
	if wait := s.model.Waits(s.search.Workload, s.search.Queue); wait > 0 {
		return s.result(NotEligible, waiting(wait))
	}
	return nil
}

// infeasible answers that no evictions help, and what it is that cannot be had.
func (s *queueSearch) infeasible() *Result {
	lack := LackQuota
	if s.search.Quota {
		if lack = LackPlace; s.search.Protected {
			lack = LackProtected
		}
	}
	r := s.result(Infeasible, string(lack))
	r.Quota.Lack = lack
	for why, n := range s.search.Rejected {
		s.counts[s.rejection(why)] += n
	}
	for reason, n := range s.counts {
		r.Rejected = append(r.Rejected, Rejection{Reason: reason, Domains: n})
	}
	slices.SortFunc(r.Rejected, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Domains, a.Domains), cmp.Compare(a.Reason, b.Reason))
	})
	return r
}

// rejection says why there is no plan.
func (s *queueSearch) rejection(r queued.Rejection) string {
	switch r.Why {
	case queued.NoQuota:
		return "no quota in " + s.flavorNames(r.Offer)
	case queued.NoPlace:
		return "no place"
	case queued.Nobody:
		return "nobody that the queue may evict"
	}
	return "more than " + s.boundName(r.Bound) + " allows"
}

// feasible answers with the best plan.
func (s *queueSearch) feasible() *Result {
	p := s.search.Best
	list := s.spell(p)
	if len(list) == 0 {
		r := s.result(Fits, s.fitsIn(p))
		s.settle(r, p)
		return r
	}
	r := s.result(Feasible, fmt.Sprintf("fits in %s and in the quota of %s once %s evicted",
		p.Domain.Name, s.model.Index.Name(s.search.Queue), are(len(list), "unit")))
	s.settle(r, p)
	r.Victims = list
	r.Score = s.criteria(p.Score)
	r.Violations = p.Score.Violations
	r.Overruns = s.Budgets.Overruns(s.Units, p.Units, nil, s.gang.Tally)
	r.Budgets = s.roomOf(p.Units, nil)
	return r
}

// settle says where the preemptor goes and in which flavors.
func (s *queueSearch) settle(r *Result, p *queued.Plan) {
	r.Domain, r.Nominations = p.Domain.Name, s.gang.nominate(p.Places)
	r.Quota.Borrowing = p.Level
	qs := s.search.Usage()
	defer s.model.Keep(qs)
	for _, t := range p.Offer.Taken {
		r.Quota.Flavors = append(r.Quota.Flavors, FlavorChoice{
			Resource: t.Resource, Flavor: flavorOf(s.model, t.Column), Amount: t.Amount, Contested: t.Amount > qs.Usage.Available(s.search.Queue, t.Column),
		})
	}
}

// spell lists the victims, most important first: units without a queue, then
// workloads. Each has what the preemptor would lack if it alone came back.
func (s *queueSearch) spell(p *queued.Plan) []Victim {
	var list []Victim
	for _, v := range s.search.Spell(p) {
		if v.Reservation == nil {
			told := s.victim(v.Unit, s.Units.Unit(v.Unit).Pods, attempt{v.Violates, v.Why}, cluster.NoNode, nil)
			if v.Node != cluster.NoNode {
				told.Reason.Node = s.Index.Node(v.Node).Name
			}
			list = append(list, told)
			continue
		}
		told := Victim{Violates: v.Violates, Reason: s.reason(cluster.NoNode, v.Why)}
		victimOf(s.model, &told, new(QuotaVictim), &v.QuotaVictim)
		for _, pod := range s.model.Pods.Of[v.Reservation] {
			for _, b := range s.Budgets.Of(pod) {
				told.Budgets = append(told.Budgets, s.budgetName(b))
			}
		}
		slices.Sort(told.Budgets)
		told.Budgets = slices.Compact(told.Budgets)
		if v.Why.OK() {
			told.Reason = lacking(s.model, v.Lack)
		}
		list = append(list, told)
	}
	return list
}
