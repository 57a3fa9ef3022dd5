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
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// question is a preemptor that was found and checked.
type question struct {
	*compiled
	*sides
	borrowed *podTools
	mates    []*question // the same question, asked by the rest of a crew

	members  []*domain.Member // one for a lone pod
	tree     *seating.Group   // nil for a lone pod
	group    *cluster.Group   // nil for a lone pod
	given    []domain.Assignment
	priority int32
	claim    victims.Claim // what eligibility reads of the preemptor
	policy   priority.Policy
	relaxed  []Relaxation // bounds that are taken as wider, to see what would help
	loose    bool         // or not at all
	probing  bool         // it is looked for what would help: the price is no matter
	decided  int          // what searches had decided on before
	states   []domain.State
	asked    Asked
	gathered []*question // what each member asked by itself, of a gathering's plan; else nil

	one struct { // room for what is a list, where a lone pod asks
		members [1]*domain.Member
		pods    [1]*cluster.Pod
	}
	budgetNames []string // by budget, once it was needed
	brokenGangs []int8   // by group: 1 if it runs below its minCount, -1 if not, 0 if nobody asked
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
	q := &question{compiled: c, asked: askedBy(&p)}
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
	if q.tree == nil && len(q.given) > 0 { // one pod: it may go nowhere else
		pod := *q.members[0].Pod
		pod.RequiredNode = q.ix.Node(q.given[0].Node).Name
		q.members[0] = domain.NewMember(q.ix, &pod, q.members[0].ID)
	}
	return q, q.prepare()
}

func (q *question) namedPod(p Preemptor) error {
	id := q.ix.PodByName(p.Namespace, p.Name)
	if id == cluster.NoPod {
		return unknownPreemptor(p, "a pod of the snapshot")
	}
	pod := q.ix.Pod(id)
	if pod.Node != "" {
		return problems.Pod(pod, "Node", fmt.Sprintf("%q", pod.Node), "empty: the preemptor runs already", nil)
	}
	return q.lonePod(pod, id)
}

func (q *question) lonePod(pod *cluster.Pod, id cluster.PodID) error {
	q.sides = q.podUnits()
	e, err := q.resolve(pod)
	q.members = append(q.one.members[:0], domain.NewMember(q.ix, pod, id))
	q.priority, q.policy = e.Priority, e.Policy
	if q.rules.membersWait && pod.Group != "" &&
		q.ix.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group) == cluster.NoGroup {
		err = errors.Join(err, problems.Pod(pod, "Group", fmt.Sprintf("%q", pod.Group), "a pod group of the snapshot", nil))
	}
	return err
}

// resolve settles what is in force for a pod of the preemptor.
func (q *question) resolve(pod *cluster.Pod) (priority.Effective, error) {
	e, err := q.ix.Classes().Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
	if err != nil {
		return e, problems.Pod(pod, "Class", fmt.Sprintf("%q", pod.Class), "a priority class of the snapshot", err)
	}
	return e, nil
}

func (q *question) namedGroup(p Preemptor) error {
	q.sides = q.groupUnits()
	g := q.ix.GroupByName(p.Kind, p.Namespace, p.Name)
	if g == cluster.NoGroup {
		return unknownPreemptor(p, "a "+string(p.Kind)+" of the snapshot")
	}
	q.group = q.ix.Group(g)
	q.priority, q.policy = q.group.Priority, q.group.Policy
	class := q.checkClass(q.group)
	members := domain.NewMembers(q.ix, len(q.group.Pods))
	q.tree = seating.NewGroup(q.ix, g, func(p cluster.PodID) domain.MemberID {
		q.members = append(q.members, members.Add(q.ix.Pod(p), p))
		return domain.MemberID(len(q.members) - 1)
	})
	if len(q.members) == 0 {
		return errors.Join(class, unknownPreemptor(p, "a group with a pending pod"))
	}
	q.tree.AskForMore()
	return errors.Join(class, q.checkMembers())
}

// checkMembers complains about every member whose class is not in the snapshot.
func (q *question) checkMembers() error {
	var errs []error
	for _, m := range q.members {
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
	if _, err := q.ix.Classes().Resolve(priority.Spec{Class: class}); err != nil {
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
	q.given = []domain.Assignment{}
	var errs []error
	left := maps.Clone(placement)
	for i, m := range q.members {
		name := key(m.Pod.Namespace, m.Pod.Name)
		node, ok := placement[name]
		if !ok {
			continue
		}
		delete(left, name)
		n := q.ix.NodeByName(node)
		if n == cluster.NoNode {
			errs = append(errs, problems.Pod(m.Pod, "Placement", fmt.Sprintf("%q", node), "a node of the snapshot", nil))
			continue
		}
		q.given = append(q.given, domain.Assignment{Member: domain.MemberID(i), Node: n})
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
