package preemption

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/seating"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/priority"
)

// question is a question of the searches, with what it takes to read and to tell it.
type question struct {
	*ask.Question
	c        *compiled
	sides    *sides
	asked    Asked
	gathered []*question // what each member asked by itself, of a gathering's plan; else nil

	one struct { // room for what is a list, where a lone pod asks
		question ask.Question
		members  [1]*domain.Member
		pods     [1]*cluster.Pod
	}
	budgetNames []string // by budget, once it was needed
}

// blank is a question that nobody asks yet.
func (c *compiled) blank() *question {
	q := &question{c: c}
	q.one.question = ask.Question{Settings: &c.settings, Index: c.ix, Hard: c.hard, Limits: c.limits, Traits: c.traits}
	q.Question = &q.one.question
	return q
}

// of lets the preemptor meet the units of s.
func (q *question) of(s *sides) {
	q.sides, q.Units, q.Budgets, q.Columns, q.Protections = s, s.units, s.budgets, s.ladder, s.protections
}

// searchPod returns the search for a lone pod, which is to be closed.
func (q *question) searchPod() *podAnswer {
	return &podAnswer{question: q, Search: onepod.New(q.Question, q.c.tools, &q.sides.shapes)}
}

// searchGang returns the search for a gang by trials.
func (q *question) searchGang() *gangAnswer {
	return &gangAnswer{question: q, Search: gang.New(q.Question)}
}

// countGang returns the search that counts members where it can, which is to be closed.
func (q *question) countGang() *gangAnswer {
	return &gangAnswer{question: q, Search: gang.NewCounting(q.Question, q.c.countTools)}
}

// newQuestion finds the preemptor, settles its priority and prepares the
// constraints.
func (c *compiled) newQuestion(p Preemptor) (*question, error) {
	q, err := c.newBrief(p)
	if err == nil {
		q.asked = q.asked.with(p)
	}
	return q, err
}

// newBrief is newQuestion for an answer that does not tell who asked: what was given
// inline is not copied.
func (c *compiled) newBrief(p Preemptor) (*question, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	q := c.blank()
	q.asked = askedBy(&p)
	if err := q.inlineRuns(p.Pods); err != nil {
		return nil, err
	}
	var err error
	switch {
	case p.Group != nil:
		err = q.inlineGroup(p)
	case p.Name == "":
		err = q.lonePod(&p.Pods[0], cluster.NoPod)
	case p.Kind == cluster.KindPod:
		err = q.namedPod(p)
	default:
		err = q.namedGroup(p)
	}
	if err != nil {
		return nil, err
	}
	if err := q.give(p.Placement); err != nil {
		return nil, err
	}
	if q.Tree == nil && len(q.Given) > 0 { // one pod: it may go nowhere else
		pod := *q.Members[0].Pod
		pod.RequiredNode = q.Index.Node(q.Given[0].Node).Name
		q.Members[0] = domain.NewMember(q.Index, &pod, q.Members[0].ID)
	}
	return q, q.prepare()
}

func (q *question) namedPod(p Preemptor) error {
	id := q.Index.PodByName(p.Namespace, p.Name)
	if id == cluster.NoPod {
		return unknownPreemptor(p, "a pod of the snapshot")
	}
	pod := q.Index.Pod(id)
	if pod.Node != "" {
		return problems.Pod(pod, "Node", fmt.Sprintf("%q", pod.Node), "empty: the preemptor runs already", nil)
	}
	return q.lonePod(pod, id)
}

func (q *question) lonePod(pod *cluster.Pod, id cluster.PodID) error {
	q.of(q.c.podUnits())
	e, err := q.resolve(pod)
	q.Members = append(q.one.members[:0], domain.NewMember(q.Index, pod, id))
	q.Priority, q.Policy = e.Priority, e.Policy
	if q.MembersWait && pod.Group != "" &&
		q.Index.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group) == cluster.NoGroup {
		err = errors.Join(err, problems.Pod(pod, "Group", fmt.Sprintf("%q", pod.Group), "a pod group of the snapshot", nil))
	}
	return err
}

// resolve settles what is in force for a pod of the preemptor.
func (q *question) resolve(pod *cluster.Pod) (priority.Effective, error) {
	e, err := q.Index.Classes().Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
	if err != nil {
		return e, problems.Pod(pod, "Class", fmt.Sprintf("%q", pod.Class), "a priority class of the snapshot", err)
	}
	return e, nil
}

func (q *question) namedGroup(p Preemptor) error {
	q.of(q.c.groupUnits())
	g := q.Index.GroupByName(p.Kind, p.Namespace, p.Name)
	if g == cluster.NoGroup {
		return unknownPreemptor(p, "a "+string(p.Kind)+" of the snapshot")
	}
	q.Group = q.Index.Group(g)
	q.Priority, q.Policy = q.Group.Priority, q.Group.Policy
	class := q.checkClass(q.Group)
	members := domain.NewMembers(q.Index, len(q.Group.Pods))
	q.Tree = seating.NewGroup(q.Index, g, func(p cluster.PodID) domain.MemberID {
		q.Members = append(q.Members, members.Add(q.Index.Pod(p), p))
		return domain.MemberID(len(q.Members) - 1)
	})
	if len(q.Members) == 0 {
		return errors.Join(class, unknownPreemptor(p, "a group with a pending pod"))
	}
	q.Tree.AskForMore()
	return errors.Join(class, q.checkMembers())
}

// checkMembers complains about every member whose class is not in the snapshot.
func (q *question) checkMembers() error {
	var errs []error
	for _, m := range q.Members {
		if _, err := q.resolve(m.Pod); err != nil {
			errs = append(errs, err)
		}
	}
	return problems.Join(errs)
}

// checkClass complains if the group's class is not in the snapshot.
func (q *question) checkClass(g *cluster.Group) error {
	class := ""
	if g.PodGroup != nil {
		class = g.PodGroup.Class
	} else {
		class = g.Composite.Class
	}
	if _, err := q.Index.Classes().Resolve(priority.Spec{Class: class}); err != nil {
		return &cluster.FieldError{
			Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
			Field: "Class", Value: fmt.Sprintf("%q", class), Want: "a priority class of the snapshot", Err: err,
		}
	}
	return nil
}

// give reads a placement that the caller gives.
func (q *question) give(placement map[string]string) error {
	if placement == nil {
		return nil
	}
	q.Given = []domain.Assignment{}
	var errs []error
	left := maps.Clone(placement)
	for i, m := range q.Members {
		name := key(m.Pod.Namespace, m.Pod.Name)
		node, ok := placement[name]
		if !ok {
			continue
		}
		delete(left, name)
		n := q.Index.NodeByName(node)
		if n == cluster.NoNode {
			errs = append(errs, problems.Pod(m.Pod, "Placement", fmt.Sprintf("%q", node), "a node of the snapshot", nil))
			continue
		}
		q.Given = append(q.Given, domain.Assignment{Member: domain.MemberID(i), Node: n})
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		errs = append(errs, &cluster.FieldError{
			Kind: "Preemptor", Namespace: q.asked.Namespace, Name: q.asked.Name, Field: "Placement", Value: fmt.Sprintf("%q", name),
			Want: "a pending pod of the preemptor, as namespace/name",
		})
	}
	return problems.Join(errs)
}

func unknownPreemptor(p Preemptor, want string) error {
	return &cluster.FieldError{
		Kind: "Preemptor", Namespace: p.Namespace, Name: p.Name,
		Field: "Name", Value: fmt.Sprintf("%q", p.Name), Want: want,
	}
}
