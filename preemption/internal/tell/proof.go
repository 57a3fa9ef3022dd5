package tell

import (
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/proving"
)

// provable reports whether a proof is asked for, and can be given.
func (s *podAnswer) provable() bool { return s.Question.Proof && s.Sampling == nil && !s.Hooks }

// proof proves bound, or the score where none is known, if that was asked for.
func (s *podAnswer) proof(bound []answer.Criterion) *answer.Proof {
	if !s.provable() {
		return nil
	}
	values, names := s.Ranking.Values(s.Best.Score), s.criteria(s.Best.Score)
	if bound != nil {
		values = values[:0]
		for _, c := range bound {
			values = append(values, c.Value)
		}
	}
	shown := proving.Prove(s.Question, s.Trial, s.Runner, values)
	if len(shown.Bound) == 0 {
		return nil
	}
	return s.tellProof(shown, names)
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

// tellProof names what a proof is about.
func (s *podAnswer) tellProof(shown proving.Proof, names []answer.Criterion) *answer.Proof {
	p := &answer.Proof{}
	for k, v := range shown.Bound {
		p.Bound = append(p.Bound, answer.Criterion{Name: names[k].Name, Value: v})
	}
	for _, n := range shown.Nodes {
		of := answer.ProofNodes{}
		for _, node := range n.Nodes {
			of.Nodes = append(of.Nodes, s.Index.Node(node).Name)
		}
		for _, step := range n.Steps {
			told := answer.ProofStep{}
			if step.Criterion >= 0 {
				told.Criterion = names[step.Criterion].Name
			}
			for i := range step.Cases {
				told.Cases = append(told.Cases, s.proofCase(&step.Cases[i], names))
			}
			of.Steps = append(of.Steps, told)
		}
		p.Nodes = append(p.Nodes, of)
	}
	return p
}

// proofCase names what a case is about.
func (s *podAnswer) proofCase(of *proving.Case, names []answer.Criterion) (c answer.ProofCase) {
	if of.Pod != cluster.NoPod {
		ref := RefTo(s.Index.Pod(of.Pod))
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
			name = s.Index.Resource(cluster.ResourceID(at))
		case proving.Criterion:
			to, name = &c.Criteria, names[at].Name
		case proving.Budget:
			to, name = &c.Budgets, s.budgetName(cluster.BudgetID(at))
		default:
			to, name = &c.Limits, s.BoundName(s.Limits[at])
		}
		if *to == nil {
			*to = map[string]int64{}
		}
		(*to)[name] = w.Value
	}
	return c
}
