package tell

import (
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/proving"
	"github.com/preempt-go/preempt/preemption/internal/workload"
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
		of := answer.ProofNodes{Spare: n.Spare, Steps: tellSteps(n.Steps, names, q)}
		for _, node := range n.Nodes {
			of.Nodes = append(of.Nodes, q.Index.Node(node).Name)
		}
		list = append(list, of)
	}
	return list
}

// proofNames says what the numbers of a proof mean.
type proofNames interface {
	split(p cluster.PodID, c *answer.ProofCase) // whose going or staying makes two cases
	termName(t proving.Term) string             // of a term that is neither a criterion nor the count
}

func tellSteps(steps []proving.Step, names []answer.Criterion, of proofNames) (list []answer.ProofStep) {
	for _, step := range steps {
		told := answer.ProofStep{Members: step.Members}
		if step.Criterion >= 0 {
			told.Criterion = names[step.Criterion].Name
		}
		for i := range step.Cases {
			told.Cases = append(told.Cases, tellCase(&step.Cases[i], names, of))
		}
		list = append(list, told)
	}
	return list
}

func tellCase(shown *proving.Case, names []answer.Criterion, of proofNames) (c answer.ProofCase) {
	if shown.Pod != cluster.NoPod {
		of.split(shown.Pod, &c)
	}
	for _, w := range shown.Weights {
		to := map[proving.Kind]*map[string]int64{
			proving.Resource: &c.Resources, proving.Criterion: &c.Criteria, proving.Budget: &c.Budgets, proving.Limit: &c.Limits,
		}[w.Of.Kind]
		if to == nil {
			c.Count = w.Value
			continue
		}
		if *to == nil {
			*to = map[string]int64{}
		}
		if w.Of.Kind == proving.Criterion {
			(*to)[names[w.Of.Number].Name] = w.Value
		} else {
			(*to)[of.termName(w.Of)] = w.Value
		}
	}
	return c
}

func (q *Inquiry) split(p cluster.PodID, c *answer.ProofCase) {
	ref := RefTo(q.Index.Pod(p))
	c.Pod = &ref
}

func (q *Inquiry) termName(t proving.Term) string {
	switch t.Kind {
	case proving.Resource:
		if beyond := t.Number - q.Index.NumResources(); beyond >= 0 {
			return "devices " + q.Members[0].Pod.Devices[beyond].Resource
		}
		return q.Index.Resource(cluster.ResourceID(t.Number))
	case proving.Budget:
		return q.budgetName(cluster.BudgetID(t.Number))
	}
	return q.BoundName(q.Limits[t.Number])
}

// shownNames are those of a proof about quota, of one attempt.
type shownNames struct {
	*quotasearch.Ground
	m *workload.Model
}

// tellShown names what a proof about quota is about.
func tellShown(m *workload.Model, s *workload.Shown, names []answer.Criterion) *answer.Proof {
	p := &answer.Proof{}
	for k, v := range s.Bound {
		p.Bound = append(p.Bound, answer.Criterion{Name: names[k].Name, Value: v})
	}
	for i, n := range s.Nodes {
		g := &s.Grounds[i]
		p.Nodes = append(p.Nodes, answer.ProofNodes{Borrowing: g.Borrow, Steps: tellSteps(n.Steps, names, shownNames{g, m})})
	}
	return p
}

func (n shownNames) split(p cluster.PodID, c *answer.ProofCase) {
	v := n.Victims[p]
	if pods := n.m.Pods.Of[v.Reservation]; len(pods) > 0 {
		ref := RefTo(n.m.Pods.Cluster.Pod(pods[0]))
		c.Pod = &ref
		return
	}
	c.Workload = &answer.PodRef{Namespace: v.Workload.Namespace, Name: v.Workload.Name}
}

// termName is that of a row.
func (n shownNames) termName(t proving.Term) string {
	row, whose := n.Rows[t.Number], "own"
	if row.Up != quotasearch.OwnQuota {
		whose = strconv.Itoa(row.Up)
	}
	return FlavorOf(n.m, row.Column) + "/" + n.m.Index.ResourceName(row.Column) + "/" + whose
}
