package tell

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/priority"
)

// QueueSearch is the search for a preemptor that needs quota and a place.
type QueueSearch struct {
	*Inquiry
	Search *queued.Search // its workload is nil until its queue is known
	Model  *workload.Model
	local  string
	Gang   *gangAnswer // its trial and placement

	counts map[string]int // why a flavor was rejected
}

// Queue returns the LocalQueue of the preemptor; empty: it needs no quota.
func (q *Inquiry) Queue() string {
	pod := q.Members[0].Pod
	if q.Group != nil && q.Group.PodGroup != nil && q.Group.PodGroup.Queue != "" {
		return q.Group.PodGroup.Queue
	}
	if id := q.Members[0].ID; id != cluster.NoPod {
		return q.Index.QueueOf(id)
	}
	return pod.Queue
}

// NewQueueSearch returns the search for q by LocalQueue local, with the quota as it is in m.
func NewQueueSearch(q *Inquiry, m *workload.Model, local string) *QueueSearch {
	effort, settings := q.Effort, *q.Settings
	settings.Effort = ask.Greedy // where pods are seated is looked for in one way
	q.Settings = &settings
	s := &QueueSearch{Inquiry: q, Model: m, local: local, Gang: q.SearchGang(), counts: map[string]int{}}
	s.Gang.Runner.Whole = true // a workload goes whole
	s.Search = queued.New(queued.Question{Model: m, Pods: q.Question, Gang: s.Gang.Search, Effort: effort})
	return s
}

// Answer is the whole road: flavors, does it fit, may it preempt, whom, and where.
func (s *QueueSearch) Answer() (*answer.Result, error) {
	if r, err := s.Enter(); r != nil || err != nil {
		return r, err
	}
	levels, err := s.Domains()
	if err != nil {
		return nil, err
	}
	if err := s.Choose(); err != nil {
		return nil, err
	}
	if p := s.Search.Fits(s.nominatedFirst(levels)); p != nil {
		if !s.Search.FitsNow(p.Offer) {
			return s.result(answer.Waiting, "fits in "+p.Domain.Name+" and in the quota of "+s.Model.Index.Name(s.Search.Queue)+LeftLater), nil
		}
		r := s.result(answer.Fits, s.fitsIn(p))
		s.settle(r, p)
		return r, nil
	}
	if r := s.refuse(); r != nil {
		return r, nil
	}
	s.Search.Run(levels)
	if s.Search.Best == nil {
		return s.infeasible(), nil
	}
	return s.feasible(), nil
}

// Enter finds the ClusterQueue of the preemptor. The result is not nil if it cannot
// be admitted there.
func (s *QueueSearch) Enter() (*answer.Result, error) {
	if s.Tree != nil {
		if text := s.hopeless(); text != "" {
			return s.result(answer.Infeasible, text), nil
		}
	}
	first := s.Members[0].Pod
	w := &cluster.Workload{Namespace: first.Namespace, Name: first.Name, Queue: s.local, Priority: s.Priority}
	for _, m := range s.Members {
		w.Created = workload.Earliest(w.Created, m.Pod.Created)
	}
	q, refused, err := s.Model.QueueOf(w)
	if err != nil {
		return nil, err
	}
	if refused != workload.NotRefused {
		return s.result(answer.NotEligible, RefusalText(s.Model, w, refused)), nil
	}
	s.Search.Workload, s.Search.Queue = w, q
	return nil, nil
}

// fitsIn says of a plan without victims where it is.
func (s *QueueSearch) fitsIn(p *queued.Plan) string {
	return "fits in " + p.Domain.Name + " and in the quota of " + s.Model.Index.Name(s.Search.Queue) + " without preemption"
}

func (s *QueueSearch) result(v answer.Verdict, message string) *answer.Result {
	r := &answer.Result{
		Verdict: v, Message: message, Preemptor: s.asked,
		Warnings: append(live.Few(s.Index.Warnings(), s.Model.Warnings(), s.Model.Pods.Odd), s.oddAsked()...), Stats: answer.Stats(s.Gang.Stats),
	}
	r.Stats.Exact, r.Stats.Trials = false, s.Gang.Trial.Checks
	if s.Search.Workload == nil {
		return r
	}
	r.Stats.Domains += s.Search.Tried
	r.Stats.Evaluated += s.Search.Tried
	r.Stats.Searched += s.Search.Improved
	if v != answer.NotEligible {
		r.Quota = &answer.QuotaResult{ClusterQueue: s.Model.Index.Name(s.Search.Queue)}
	}
	return r
}

// Domains lists the domains to try, in rounds; of one pod every node is a domain.
func (s *QueueSearch) Domains() ([][]domain.Domain, error) {
	if s.Tree != nil {
		return s.Levels()
	}
	var list []domain.Domain
	for n := range s.Index.Nodes() {
		list = append(list, s.single(n))
	}
	return [][]domain.Domain{list}, nil
}

// nominatedFirst has the node that a lone pod is nominated to as a round of its own before all others.
func (s *QueueSearch) nominatedFirst(rounds [][]domain.Domain) [][]domain.Domain {
	n := s.Index.NodeByName(s.Members[0].Pod.NominatedNode)
	if s.Tree != nil || n == cluster.NoNode {
		return rounds
	}
	return append([][]domain.Domain{{s.single(n)}}, rounds...)
}

func (s *QueueSearch) single(n cluster.NodeID) domain.Domain {
	return domain.Domain{Name: s.Index.Node(n).Name, Nodes: []cluster.NodeID{n}}
}

// Choose lists the choices of flavors, in the queue's order, without those that can
// never be had.
func (s *QueueSearch) Choose() error {
	total, err := s.totals()
	if err != nil {
		return err
	}
	total[cluster.Pods] = int64(len(s.Members))
	var objections []workload.Objection
	s.Search.Offers, objections = s.Model.Offers(s.Search.Queue, total)
	for _, o := range objections {
		s.counts[Objection(s.Model, o)]++
	}
	return nil
}

// totals is what the members ask for together. It complains about every resource of
// which that cannot be counted, at the member that is too much.
func (s *QueueSearch) totals() (map[string]int64, error) {
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

func (s *QueueSearch) flavorNames(o *workload.Offer) string {
	var names []string
	for _, f := range o.Flavors {
		names = append(names, s.Model.Index.FlavorName(f))
	}
	return strings.Join(names, ", ")
}

// refuse answers for a preemptor that may not preempt; nil if it may.
func (s *QueueSearch) refuse() *answer.Result {
	if s.Policy == priority.Never {
		return s.result(answer.NotEligible, "its preemption policy is Never")
	}
	if s.Tree != nil {
		if a := s.Gang.Refuse(); a.Verdict != ask.Feasible {
			return s.Gang.refused(a)
		}
	} else if text := s.Refusal(s.RefusalOfPod()); text != "" {
		return s.result(answer.NotEligible, text)
	}
	if wait := s.Model.Waits(s.Search.Workload, s.Search.Queue); wait > 0 {
		return s.result(answer.NotEligible, WaitsLonger(wait))
	}
	return nil
}

// infeasible answers that no evictions help, and what it is that cannot be had.
func (s *QueueSearch) infeasible() *answer.Result {
	lack := answer.LackQuota
	if s.Search.Quota {
		if lack = answer.LackPlace; s.Search.Protected {
			lack = answer.LackProtected
		}
	}
	text := string(lack)
	if s.Search.Cut {
		text = helpless(false)
	}
	r := s.result(answer.Infeasible, text)
	r.Quota.Lack = lack
	for why, n := range s.Search.Rejected {
		s.counts[s.rejection(why)] += n
	}
	for reason, n := range s.counts {
		r.Rejected = append(r.Rejected, answer.Rejection{Reason: reason, Domains: n})
	}
	slices.SortFunc(r.Rejected, func(a, b answer.Rejection) int {
		return cmp.Or(cmp.Compare(b.Domains, a.Domains), cmp.Compare(a.Reason, b.Reason))
	})
	return r
}

// rejection says why there is no plan.
func (s *QueueSearch) rejection(r queued.Rejection) string {
	switch r.Why {
	case queued.NoQuota:
		return "no quota in " + s.flavorNames(r.Offer)
	case queued.NoPlace:
		return "no place"
	case queued.Nobody:
		return "nobody that the queue may evict"
	case queued.NotTogether:
		return notTogether
	}
	return "more than " + s.BoundName(r.Bound) + " allows"
}

// feasible answers with the best plan.
func (s *QueueSearch) feasible() *answer.Result {
	p := s.Search.Best
	list := s.spell(p)
	if len(list) == 0 {
		r := s.result(answer.Fits, s.fitsIn(p))
		s.settle(r, p)
		return r
	}
	r := s.result(answer.Feasible, fmt.Sprintf("fits in %s and in the quota of %s once %s evicted",
		p.Domain.Name, s.Model.Index.Name(s.Search.Queue), are(len(list), "unit")))
	s.settle(r, p)
	r.Victims, r.Moves = list, s.moves(p.Places, p.Units, nil)
	r.Score = s.criteria(p.Score)
	r.Violations = p.Score.Violations
	r.Overruns = s.Wholes().Overruns(p.Units, nil, s.Gang.Tally)
	r.Budgets = s.roomOf(p.Units, nil)
	return r
}

// settle says where the preemptor goes and in which flavors.
func (s *QueueSearch) settle(r *answer.Result, p *queued.Plan) {
	r.Domain, r.Nominations = p.Domain.Name, s.Gang.nominate(p.Places)
	r.Quota.Borrowing = p.Level
	qs := s.Search.Usage()
	defer s.Model.Keep(qs)
	for _, t := range p.Offer.Taken {
		r.Quota.Flavors = append(r.Quota.Flavors, answer.FlavorChoice{
			Resource: t.Resource, Flavor: FlavorOf(s.Model, t.Column), Amount: t.Amount, Contested: t.Amount > qs.Usage.Available(s.Search.Queue, t.Column),
		})
	}
}

// spell lists the victims, most important first: units without a queue, then
// workloads. Each has what the preemptor would lack if it alone came back.
func (s *QueueSearch) spell(p *queued.Plan) []answer.Victim {
	var list []answer.Victim
	for _, v := range s.Search.Spell(p) {
		if v.Reservation == nil {
			told := s.victim(v.Unit, s.Units.Unit(v.Unit).Pods, attempt{v.Violates, v.Why}, cluster.NoNode, nil)
			if v.Node != cluster.NoNode {
				told.Reason.Node = s.Index.Node(v.Node).Name
			}
			list = append(list, told)
			continue
		}
		told := answer.Victim{Violates: v.Violates, Reason: s.Reason(cluster.NoNode, v.Why)}
		victimOf(s.Model, &told, new(answer.QuotaVictim), &v.Victim)
		for _, pod := range s.Model.Pods.Of[v.Reservation] {
			for _, b := range s.Budgets.Of(pod) {
				told.Budgets = append(told.Budgets, s.budgetName(b))
			}
		}
		slices.Sort(told.Budgets)
		told.Budgets = slices.Compact(told.Budgets)
		if v.Why.OK() {
			told.Reason = lacking(s.Model, v.Lack)
		}
		list = append(list, told)
	}
	return list
}
