package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// question is a preemptor that was found and checked: one pod, for now.
type question struct {
	*Planner
	member   *domain.Member
	priority int32
	policy   priority.Policy
	states   []domain.State
}

// newQuestion finds the preemptor, settles its priority and prepares the
// constraints.
func (pl *Planner) newQuestion(p Preemptor) (*question, error) {
	pod, id, err := pl.findPod(p)
	if err != nil {
		return nil, err
	}
	e, err := pl.ix.Classes().Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
	if err != nil {
		return nil, fieldError(pod, "Class", fmt.Sprintf("%q", pod.Class), "a priority class of the snapshot", err)
	}
	q := &question{Planner: pl, member: domain.NewMember(pl.ix, pod, id), priority: e.Priority, policy: e.Policy}
	for _, c := range pl.constraints() {
		s, err := c.Prepare(pl.ix, []*cluster.Pod{pod})
		if err != nil {
			return nil, fmt.Errorf("preemption: constraint %q: %w", c.Name(), err)
		}
		if s != nil {
			q.states = append(q.states, s)
		}
	}
	return q, nil
}

// findPod returns the one pod that p names or holds.
func (pl *Planner) findPod(p Preemptor) (*cluster.Pod, cluster.PodID, error) {
	if err := p.Validate(); err != nil {
		return nil, 0, err
	}
	if p.Name == "" {
		return &p.Pods[0], cluster.NoPod, nil
	}
	id := pl.ix.PodByName(p.Namespace, p.Name)
	if id == cluster.NoPod {
		return nil, 0, &cluster.FieldError{
			Kind: "Preemptor", Namespace: p.Namespace, Name: p.Name,
			Field: "Name", Value: fmt.Sprintf("%q", p.Name), Want: "a pod of the snapshot",
		}
	}
	pod := pl.ix.Pod(id)
	if pod.Node != "" {
		return nil, 0, fieldError(pod, "Node", fmt.Sprintf("%q", pod.Node), "empty: the preemptor runs already", nil)
	}
	return pod, id, nil
}

func fieldError(pod *cluster.Pod, field, value, want string, err error) error {
	return &cluster.FieldError{
		Kind: string(cluster.KindPod), Namespace: pod.Namespace, Name: pod.Name,
		Field: field, Value: value, Want: want, Err: err,
	}
}

// group returns the group that the preemptor belongs to, and whether the snapshot
// has it.
func (q *question) group() (string, bool) {
	pod := q.member.Pod
	if pod.Group == "" {
		return "", false
	}
	g := q.ix.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group)
	return pod.Group, g != cluster.NoGroup
}
