package tell

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/proving"
	"github.com/preempt-go/preempt/victims"
)

// provable reports whether a proof is asked for, and can be given.
func (s *podAnswer) provable() bool { return s.Question.Proof && s.Sampling == nil && !s.Hooks }

// proof proves bound, or the score where none is known, if that was asked for.
func (s *podAnswer) proof(bound []answer.Criterion) *answer.Proof {
	if !s.provable() {
		return nil
	}
	names := s.criteria(s.Best.Score)
	return s.tellProof(proving.Prove(s.Question, s.Trial, s.Runner, s.toProve(s.Best.Score, bound)), names)
}

// toProve is bound, or the score where none is known.
func (q *Inquiry) toProve(score victims.Score, bound []answer.Criterion) (values []int64) {
	if bound == nil {
		return q.Ranking.Values(score)
	}
	for _, c := range bound {
		values = append(values, c.Value)
	}
	return values
}

// refutation proves that no evictions help, if that was asked for.
func (s *podAnswer) refutation() *answer.Proof {
	if !s.provable() {
		return nil
	}
	shown, ok := proving.Refute(s.Question, s.Trial, s.Runner)
	if !ok {
		return nil
	}
	return s.tellProof(shown, nil)
}

// provable is that of podAnswer.
func (s *gangAnswer) provable() bool {
	return s.Question.Proof && s.Sampling == nil && !s.Hooks
}

// proof proves of plan p that no evictions disrupt less, as podAnswer's.
func (s *gangAnswer) proof(p *gang.Plan, bound []answer.Criterion) *answer.Proof {
	if !s.provable() {
		return nil
	}
	at := slices.IndexFunc(s.rounds, func(round []domain.Domain) bool {
		return slices.ContainsFunc(round, func(d domain.Domain) bool { return d.Name == p.Domain.Name })
	})
	seats := len(p.Places)
	if s.Fewest { // others come along where that costs nothing
		seats = max(s.Tree.Fewest(), 1)
	}
	s.Equip()
	shown := proving.ProveGang(s.Question, s.Runner, s.rounds[at], seats, s.toProve(p.Score, bound), p.Victims, p.Parts)
	return s.tellDomains(s.rounds[at], shown, s.criteria(p.Score))
}

// refutation proves that no evictions help, in the last round: it has all nodes of those before.
func (s *gangAnswer) refutation() *answer.Proof {
	if !s.provable() || s.Group == nil { // each pod hears of itself
		return nil
	}
	s.Equip()
	last := s.rounds[len(s.rounds)-1]
	shown, ok := proving.RefuteGang(s.Question, s.Runner, last, max(s.Tree.Fewest(), 1))
	if !ok {
		return nil
	}
	return s.tellDomains(last, shown, nil)
}

// tellDomains names what a proof about a gang is about.
func (q *Inquiry) tellDomains(domains []domain.Domain, shown proving.Proof, names []answer.Criterion) *answer.Proof {
	p := q.tellProof(shown, names)
	for _, d := range shown.Domains {
		list := q.tellNodes(d.Nodes, names)
		if len(list) == 0 {
			list = []answer.ProofNodes{{}}
		}
		for i := range list {
			list[i].Domain, list[i].Price, list[i].Times = domains[d.Domain].Name, d.Price, d.Times
			for _, b := range d.Budgets {
				list[i].Budgets = append(list[i].Budgets, q.budgetName(b))
			}
			if d.Criterion >= 0 {
				list[i].Criterion = names[d.Criterion].Name
			}
		}
		p.Nodes = append(p.Nodes, list...)
	}
	return p
}

// tellProof names what a proof is about. nil: it shows nothing.
func (q *Inquiry) tellProof(shown proving.Proof, names []answer.Criterion) *answer.Proof {
	if len(names) > 0 && len(shown.Bound) == 0 {
		return nil
	}
	p := &answer.Proof{}
	for k, v := range shown.Bound {
		p.Bound = append(p.Bound, answer.Criterion{Name: names[k].Name, Value: v})
	}
	p.Nodes = q.tellNodes(shown.Nodes, names)
	return p
}

func (q *Inquiry) tellNodes(nodes []proving.Nodes, names []answer.Criterion) (list []answer.ProofNodes) {
	for _, n := range nodes {
		of := answer.ProofNodes{Spare: n.Spare}
		for _, node := range n.Nodes {
			of.Nodes = append(of.Nodes, q.Index.Node(node).Name)
		}
		for _, step := range n.Steps {
			told := answer.ProofStep{Members: step.Members}
			if step.Criterion >= 0 {
				told.Criterion = names[step.Criterion].Name
			}
			for i := range step.Cases {
				told.Cases = append(told.Cases, q.proofCase(&step.Cases[i], names))
			}
			of.Steps = append(of.Steps, told)
		}
		list = append(list, of)
	}
	return list
}

// proofCase names what a case is about.
func (q *Inquiry) proofCase(of *proving.Case, names []answer.Criterion) (c answer.ProofCase) {
	if of.Pod != cluster.NoPod {
		ref := RefTo(q.Index.Pod(of.Pod))
		c.Pod = &ref
	}
	for _, w := range of.Weights {
		if w.Of.Kind == proving.Count {
			c.Count = w.Value
			continue
		}
		to, name := &c.Resources, ""
		switch at := w.Of.Number; w.Of.Kind {
		case proving.Resource:
			name = q.Index.Resource(cluster.ResourceID(at))
		case proving.Criterion:
			to, name = &c.Criteria, names[at].Name
		case proving.Budget:
			to, name = &c.Budgets, q.budgetName(cluster.BudgetID(at))
		default:
			to, name = &c.Limits, q.BoundName(q.Limits[at])
		}
		if *to == nil {
			*to = map[string]int64{}
		}
		(*to)[name] = w.Value
	}
	return c
}
