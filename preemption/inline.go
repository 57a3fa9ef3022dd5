package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// inlineRuns refuses pods given inline whose name a running pod has: an answer
// could not tell the two apart. A pending pod of the name is what Apply adds.
func (q *question) inlineRuns(pods []cluster.Pod) error {
	for i := range pods {
		pod := &pods[i]
		if p := q.ix.PodByName(pod.Namespace, pod.Name); p != cluster.NoPod && q.ix.Pod(p).Node != "" {
			return &cluster.FieldError{
				Kind: string(cluster.KindPod), Namespace: pod.Namespace, Name: pod.Name,
				Field: "Name", Value: fmt.Sprintf("%q", pod.Name), Want: "a name that no running pod has",
			}
		}
	}
	return nil
}

// inlineOrder is placingOrder for pods that the snapshot does not have.
func (q *question) inlineOrder(pods []cluster.Pod) []*cluster.Pod {
	list := make([]*cluster.Pod, len(pods))
	for i := range pods {
		list[i] = &pods[i]
	}
	priorityOf := func(p *cluster.Pod) int32 {
		e, _ := q.resolve(p)
		return e.Priority
	}
	slices.SortStableFunc(list, func(a, b *cluster.Pod) int {
		return cmp.Or(
			cmp.Compare(priorityOf(b), priorityOf(a)),
			cmp.Compare(cluster.Nanos(a.Created), cluster.Nanos(b.Created)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// inlineGroup takes a group and its pods from p. Pods of the snapshot that run and
// name the same group count as running.
func (q *question) inlineGroup(p Preemptor) error {
	q.sides = q.groupUnits()
	g := p.Group
	group := &cluster.Group{
		Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name, UID: g.UID,
		Mode: g.Mode, PodGroup: g, Parent: cluster.NoGroup,
	}
	if err := q.checkClass(group); err != nil {
		return err
	}
	group.Parent = q.ix.GroupByName(cluster.KindCompositePodGroup, g.Namespace, g.Parent)
	spec := priority.Spec{Class: g.Class, Priority: g.Priority, Policy: g.Policy}
	if g.Class == "" && g.Priority == nil {
		spec.Priority = new(int32) // the global default is for pods
	}
	e, _ := q.ix.Classes().Resolve(spec)
	group.Priority, group.Policy = e.Priority, e.Policy
	q.group, q.priority, q.policy = group, e.Priority, e.Policy
	q.tree = &seating.Group{ID: cluster.NoGroup, Name: key(g.Namespace, g.Name), Min: 1, Topology: g.Topology}
	if g.MinCount != nil {
		q.tree.Min = int(*g.MinCount)
	}
	if id := q.ix.GroupByName(cluster.KindPodGroup, g.Namespace, g.Name); id != cluster.NoGroup {
		q.tree.ID = id
		for _, pod := range q.ix.Group(id).Pods {
			if q.ix.Pod(pod).Node != "" {
				q.tree.Running++
			}
		}
	}
	members := domain.NewMembers(q.ix, len(p.Pods))
	for _, pod := range q.inlineOrder(p.Pods) {
		q.tree.Members = append(q.tree.Members, domain.MemberID(len(q.members)))
		q.members = append(q.members, members.Add(pod, cluster.NoPod))
	}
	if err := q.checkMembers(); err != nil {
		return err
	}
	if len(q.members) == 0 {
		return unknownPreemptor(p, "a group with a pending pod")
	}
	q.tree.AskForMore()
	return nil
}
