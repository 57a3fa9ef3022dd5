package preemption

import (
	"context"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Decision is the short form of a [Result]: what is decided, without who has to go by
// name, and why.
type Decision struct {
	Verdict Verdict `json:"verdict"`

	// Domain is the chosen one, for a single pod the node's name; empty where nothing
	// is chosen.
	Domain string `json:"domain,omitempty"`

	Violations int   `json:"violations,omitempty"` // upstream's count of budget violations
	Highest    int32 `json:"highest,omitempty"`    // priority of the most important victim; 0 without victims
	Pods       int   `json:"pods,omitempty"`       // of all victims

	// Needs is how many further pods have to run beside a pod that is asked about by itself before
	// its group has its minCount, and the groups above it have theirs: ask for the topmost
	// instead. 0 where they have, where the pod is in no group or only in a basic one, and for groups.
	Needs int `json:"needs,omitempty"`
}

// Decide answers as [Planner.Preempt] does, in short: verdict, domain and size of
// the disruption are the same. Errors are the same too.
//
// About a large gang most of an answer's time is the telling of its victims, which a
// decision goes without. Members that nothing tells apart are counted, not placed,
// where nothing but resources and budgets decides: a pass over the columns of the nodes,
// and O(k) for each node of k pods where the highest priority that has to go is as low
// as anywhere. Units of several pods are counted where there are too many potential
// victims, 50,000 in all domains, to look for placements around the best.
//
// For a pod without constraints of its own, in a cluster where nobody has
// anti-affinity terms, it costs a lookup, which allocates nothing, once questions about the
// shape of the pod have looked at as many nodes as there are, and then the nodes that have
// changed since: those where a guard has ended or a price has grown, too, and where Search
// says so the 512 around each. That holds under all Options but Sampling, BrokenGroupsFree,
// Limits.OnlyMoves, an Objective that reads more than a node by itself (who finds no other place,
// who preempts in turn, pods by level, nodes in use), and Hooks other than a Filter, a [domain.Colocation] and constraints that do not concern the pod ([domain.Concerned]), and for pods without a
// node affinity or a nomination. Everything else is searched for as by Preempt, and not told.
func (pl *Planner) Decide(p Preemptor) (Decision, error) {
	return pl.DecideContext(context.Background(), p)
}

// DecideContext is Decide that is stopped as [Planner.PreemptContext] is.
func (pl *Planner) DecideContext(ctx context.Context, p Preemptor) (d Decision, err error) {
	defer caughtAnswer(&d, &err)
	a := pl.options.asks(ctx, "Decide", &p)
	if a != nil {
		defer func() { a.end(PhaseSearch, d.Verdict, d.Pods, 0, err) }()
	}
	if err := a.stopped(); err != nil {
		return Decision{}, err
	}
	now, err := pl.hold()
	if err != nil {
		return Decision{}, err
	}
	defer now.release()
	a.passed(PhaseCompile)
	if d, ok := decideAtOnce(now.ready, &p); ok {
		return d, nil
	}
	return decide(now.ready, p, now.quota, a)
}

// decide is the way of every question that is not decided at once.
func decide(c *live.Cluster, p Preemptor, quota *workload.Model, a *asking) (_ Decision, err error) {
	defer caught(&err)
	if p.Kind != cluster.KindWorkload && !c.Index.AnyQueued() {
		q, err := newBrief(c, p, a)
		if err != nil {
			return Decision{}, err
		}
		if q.Tree == nil && q.queue() == "" {
			s := q.searchPod()
			plan, score := s.Decide()
			if q.BrokenFree && plan.Verdict == ask.Feasible { // who costs nothing is in no score
				score = q.Units.ScoreParts(s.Best.Victims, s.Best.Parts, score.Violations)
			}
			s.Close()
			d := decision(c, plan, score)
			d.Needs = q.needs
			return d, nil
		}
		if q.Tree != nil && q.queue() == "" && !q.BrokenFree {
			return q.decideGang()
		}
	}
	r, needs, err := preempt(c, p, quota, a)
	if err != nil {
		return Decision{}, err
	}
	var score victims.Score
	for i, v := range r.Victims {
		score.Pods += len(v.Pods)
		if i == 0 && len(v.Pods) > 0 {
			score.Highest = v.Pods[0].Priority
		}
	}
	score.Violations = r.Violations
	d := decisionOf(r, score)
	d.Needs = needs
	return d, nil
}

func (q *question) decideGang() (Decision, error) {
	s := q.countGang()
	s.Brief = true
	r, err := s.run()
	s.Close()
	if err != nil {
		return Decision{}, err
	}
	var score victims.Score
	if s.Best != nil {
		score = s.Best.Score
	}
	return decisionOf(r, score), nil
}

func decisionOf(r *Result, score victims.Score) Decision {
	d := Decision{Verdict: r.Verdict, Domain: r.Domain}
	if r.Verdict == Feasible {
		d.Violations, d.Highest, d.Pods = score.Violations, score.Highest, score.Pods
	}
	return d
}

// decision is plan p for a lone pod, in short.
func decision(c *live.Cluster, p onepod.Plan, score victims.Score) Decision {
	d := Decision{Verdict: verdicts[p.Verdict]}
	if p.Node != cluster.NoNode {
		d.Domain = c.Index.Node(p.Node).Name
	}
	if p.Verdict == ask.Feasible {
		d.Violations, d.Highest, d.Pods = score.Violations, score.Highest, score.Pods
	}
	return d
}

// decideAtOnce answers where the ranking of the pod's shape tells everything; ok is
// false where it does not.
func decideAtOnce(c *live.Cluster, p *Preemptor) (d Decision, ok bool) {
	const untold = ask.TraitCandidates | ask.TraitTrace // to a decision
	if !ask.AtOnce.Leads(c.Traits) || p.Group != nil || p.Workload != nil || p.Placement != nil || c.Index.AntiTerms().Len() > 0 {
		return d, false
	}
	pod, s := lone(c, p), c.PodUnits()
	if pod == nil {
		return d, false
	}
	q := ask.Question{
		Settings: &c.Ask, Index: c.Index, Hard: c.Hard, Limits: c.Limits, Traits: c.Traits &^ untold,
		Units: s.Units, Budgets: s.Budgets, Columns: s.Columns, Protections: s.Protections,
	}
	traits := q.ClusterTraits() | c.Ask.TraitsOf(pod)
	if !ask.AtOnce.Leads(traits) || q.Protections != nil && !q.Protections.Bare(victims.Claim{RanSeconds: pod.RanSeconds}) {
		return d, false
	}
	e, err := c.Index.Classes().Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
	if err != nil || e.Policy == priority.Never {
		return d, false
	}
	var amounts [16]int64
	request := append(amounts[:0], make([]int64, c.Index.NumResources())...)
	if !c.Index.RequestRow(request, pod.Requests) || slices.Min(request) < 0 {
		return d, false
	}
	q.Priority = e.Priority
	plan, score, ok := onepod.AtOnce(&q, c.Tools, &s.Shapes, pod, request, traits)
	if !ok {
		return d, false
	}
	return decision(c, plan, score), true
}

// lone returns the pending pod that p names or holds, nil if it can't be found or read.
func lone(c *live.Cluster, p *Preemptor) *cluster.Pod {
	if p.Name == "" {
		if len(p.Pods) != 1 || p.Kind != "" && p.Kind != cluster.KindPod {
			return nil
		}
		pod := &p.Pods[0]
		if !sound(pod) && pod.Validate() != nil || c.Index.PodByName(pod.Namespace, pod.Name) != cluster.NoPod {
			return nil
		}
		if c.Settings.Strict || pod.PreemptionPriority != nil || pod.Cost != nil { // which may not go with the cluster
			return nil
		}
		return pod
	}
	if p.Kind != cluster.KindPod || len(p.Pods) > 0 {
		return nil
	}
	if id := c.Index.PodByName(p.Namespace, p.Name); id != cluster.NoPod {
		return c.Index.Pod(id)
	}
	return nil
}

// sound reports whether pod, without traits of its own, can't be malformed but for its
// requests.
func sound(pod *cluster.Pod) bool {
	return pod.Name != "" && pod.Policy == "" && len(pod.Tolerations) == 0 && pod.NodeAffinity == nil && pod.Cost == nil && pod.RanSeconds == 0
}
