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
		if p := q.Index.PodByName(pod.Namespace, pod.Name); p != cluster.NoPod && q.Index.Pod(p).Node != "" {
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
		e, _ := q.Effective(p)
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
	q.of(q.c.groupUnits())
	g := p.Group
	group := &cluster.Group{
		Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name, UID: g.UID,
		Mode: g.Mode, PodGroup: g, Parent: cluster.NoGroup,
	}
	if err := q.checkClass(group); err != nil {
		return err
	}
	group.Parent = q.Index.GroupByName(cluster.KindCompositePodGroup, g.Namespace, g.Parent)
	spec := priority.Spec{Class: g.Class, Priority: g.Priority, Policy: g.Policy}
	if g.Class == "" && g.Priority == nil {
		spec.Priority = new(int32) // the global default is for pods
	}
	e, _ := q.Index.Classes().Resolve(spec)
	group.Priority, group.Policy = e.Priority, e.Policy
	q.Group, q.Priority, q.Policy = group, e.Priority, e.Policy
	q.Tree = &seating.Group{ID: cluster.NoGroup, Name: key(g.Namespace, g.Name), Min: 1, Topology: g.Topology}
	if g.MinCount != nil {
		q.Tree.Min = int(*g.MinCount)
	}
	if id := q.Index.GroupByName(cluster.KindPodGroup, g.Namespace, g.Name); id != cluster.NoGroup {
		q.Tree.ID = id
		for _, pod := range q.Index.Group(id).Pods {
			if q.Index.Pod(pod).Node != "" {
				q.Tree.Running++
			}
		}
	}
	members := domain.NewMembers(q.Index, len(p.Pods))
	for _, pod := range q.inlineOrder(p.Pods) {
		q.Tree.Members = append(q.Tree.Members, domain.MemberID(len(q.Members)))
		q.Members = append(q.Members, members.Add(pod, cluster.NoPod))
	}
	if err := q.checkMembers(); err != nil {
		return err
	}
	if len(q.Members) == 0 {
		return unknownPreemptor(p, "a group with a pending pod")
	}
	q.Tree.AskForMore()
	return nil
}
