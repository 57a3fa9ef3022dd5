package tell

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Decide is the way of every question that is not decided at once.
func Decide(c *live.Cluster, p cluster.Preemptor, m *workload.Model, a Caller) (answer.Decision, error) {
	if p.Kind != cluster.KindWorkload && !c.Index.AnyQueued() {
		q, err := ReadBriefly(c, p, a)
		if err != nil {
			return answer.Decision{}, err
		}
		if q.Tree == nil && q.Queue() == "" {
			s := q.SearchPod()
			plan, score := s.Decide()
			if q.BrokenFree && plan.Verdict == ask.Feasible { // who costs nothing is in no score
				score = q.Units.ScoreParts(s.Best.Victims, s.Best.Parts, score.Violations)
			}
			s.Close()
			d := decision(c, plan, score)
			d.Needs = q.needs
			return d, nil
		}
		if q.Tree != nil && q.Queue() == "" && !q.BrokenFree {
			return q.decideGang()
		}
	}
	r, needs, err := Answer(c, p, m, a)
	if err != nil {
		return answer.Decision{}, err
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

func (q *Inquiry) decideGang() (answer.Decision, error) {
	s := q.CountGang()
	s.Brief = true
	r, err := s.Answer()
	s.Close()
	if err != nil {
		return answer.Decision{}, err
	}
	var score victims.Score
	if s.Best != nil {
		score = s.Best.Score
	}
	return decisionOf(r, score), nil
}

func decisionOf(r *answer.Result, score victims.Score) answer.Decision {
	d := answer.Decision{Verdict: r.Verdict, Domain: r.Domain}
	if r.Verdict == answer.Feasible {
		d.Violations, d.Highest, d.Pods = score.Violations, score.Highest, score.Pods
	}
	return d
}

// decision is plan p for a lone pod, in short.
func decision(c *live.Cluster, p onepod.Plan, score victims.Score) answer.Decision {
	d := answer.Decision{Verdict: verdicts[p.Verdict]}
	if p.Node != cluster.NoNode {
		d.Domain = c.Index.Node(p.Node).Name
	}
	if p.Verdict == ask.Feasible {
		d.Violations, d.Highest, d.Pods = score.Violations, score.Highest, score.Pods
	}
	return d
}

// AtOnce answers where the ranking of the pod's shape tells everything; ok is
// false where it does not.
func AtOnce(c *live.Cluster, p *cluster.Preemptor) (d answer.Decision, ok bool) {
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
func lone(c *live.Cluster, p *cluster.Preemptor) *cluster.Pod {
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
