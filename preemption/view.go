package preemption

import (
	"iter"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// View reads the cluster of a planner as it is at one moment. It is good until the
// function that was given to [Planner.View] returns. What it returns belongs to the planner
// and must not be changed; lists are in order of name, unless they say otherwise.
type View struct {
	ix         *cluster.Index
	composites bool // the rules know composite groups
}

// View lets read look at the cluster as it is. Changes that come meanwhile are not seen,
// and neither wait for read nor it for them; read may ask and change the planner itself.
// An error says that the cluster has problems, as a question would.
//
// It costs what is read: nothing is copied.
func (pl *Planner) View(read func(v View)) error {
	now, err := pl.holdFor(false)
	if err != nil {
		return err
	}
	defer now.release()
	read(View{now.ready.Index, now.ready.Ask.Composites})
	return nil
}

// Time is the time of the model; see [Planner.SetTime].
func (v View) Time() time.Time { return v.ix.Time() }

// Pod returns a pod; nil if there is none of that name.
func (v View) Pod(pod PodRef) *Pod {
	if p := v.ix.PodByName(pod.Namespace, pod.Name); p != cluster.NoPod {
		return v.ix.Pod(p)
	}
	return nil
}

// Node returns a node; nil if there is none of that name.
func (v View) Node(name string) *Node {
	if n := v.ix.NodeByName(name); n != cluster.NoNode {
		return v.ix.Node(n)
	}
	return nil
}

// PodGroup returns a pod group; nil if there is none of that name.
func (v View) PodGroup(namespace, name string) *PodGroup {
	if g := v.ix.GroupByName(cluster.KindPodGroup, namespace, name); g != cluster.NoGroup {
		return v.ix.Group(g).PodGroup
	}
	return nil
}

// Members are the pods of a pod group, those that run and those that wait.
func (v View) Members(namespace, group string) iter.Seq[*Pod] {
	g := v.ix.GroupByName(cluster.KindPodGroup, namespace, group)
	if g == cluster.NoGroup {
		return v.list(nil)
	}
	return v.list(v.ix.Group(g).Pods)
}

// Whole names whom to ask about for a pod to run with all that it is of no use without: the
// highest composite group above its pod group, if the rules know composite groups, or else its pod
// group, or the pod itself where it has none. The zero Preemptor if there is no such pod.
func (v View) Whole(pod PodRef) Preemptor {
	p := v.ix.PodByName(pod.Namespace, pod.Name)
	if p == cluster.NoPod {
		return Preemptor{}
	}
	g := v.ix.GroupOf(p)
	if g == cluster.NoGroup {
		return Preemptor{Kind: KindPod, Namespace: pod.Namespace, Name: pod.Name}
	}
	if v.composites {
		g = v.ix.Root(g)
	}
	of := v.ix.Group(g)
	return Preemptor{Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}
}

// PodsOf are the pods that a preemptor, named as [View.Whole] does, is about: the pod, or all that
// belong to the group, those that run and those that wait.
func (v View) PodsOf(p Preemptor) iter.Seq[*Pod] {
	if p.Kind == KindPod {
		if one := v.ix.PodByName(p.Namespace, p.Name); one != cluster.NoPod {
			return v.list([]cluster.PodID{one})
		}
		return v.list(nil)
	}
	if p.Kind == KindPodGroup {
		return v.Members(p.Namespace, p.Name)
	}
	var pods []cluster.PodID
	if g := v.ix.GroupByName(p.Kind, p.Namespace, p.Name); g != cluster.NoGroup {
		pods = v.below(nil, g, cluster.MaxTreeDepth)
	}
	slices.SortFunc(pods, v.ix.ComparePods)
	return v.list(pods)
}

// below appends the pods of a group and of those beneath it, so many levels deep.
func (v View) below(pods []cluster.PodID, g cluster.GroupID, levels int) []cluster.PodID {
	of := v.ix.Group(g)
	pods = append(pods, of.Pods...)
	for _, child := range of.Children {
		if levels > 1 {
			pods = v.below(pods, child, levels-1)
		}
	}
	return pods
}

// Priority is what a pod's priority or class resolves to; 0 if there is none of that name.
func (v View) Priority(pod PodRef) int32 {
	if p := v.ix.PodByName(pod.Namespace, pod.Name); p != cluster.NoPod {
		return v.ix.Priority(p)
	}
	return 0
}

// Budgets are all disruption budgets, in the order in which they were given.
func (v View) Budgets() iter.Seq[*Budget] {
	return func(yield func(*Budget) bool) {
		for b := range cluster.BudgetID(v.ix.NumBudgets()) {
			if !yield(v.ix.Budget(b)) {
				return
			}
		}
	}
}

// Nodes are all nodes.
func (v View) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for n := range v.ix.Nodes() {
			if !yield(v.ix.Node(n)) {
				return
			}
		}
	}
}

// Pods are all pods.
func (v View) Pods() iter.Seq[*Pod] {
	return v.those(func(*Pod) bool { return true })
}

// Pending are the pods that run nowhere. It looks at every pod.
func (v View) Pending() iter.Seq[*Pod] {
	return v.those(func(p *Pod) bool { return p.Node == "" })
}

// Terminating are the pods that have to leave and still run: victims of answers that were
// applied among them, with Preempted set. It looks at every pod.
func (v View) Terminating() iter.Seq[*Pod] {
	return v.those(func(p *Pod) bool { return p.Terminating })
}

func (v View) those(is func(*Pod) bool) iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		for p := range v.ix.Pods() {
			if pod := v.ix.Pod(p); is(pod) && !yield(pod) {
				return
			}
		}
	}
}

// PodsOn are the pods that run on a node.
func (v View) PodsOn(node string) iter.Seq[*Pod] {
	n := v.ix.NodeByName(node)
	if n == cluster.NoNode {
		return v.list(nil)
	}
	return v.list(v.ix.PodsOn(n))
}

// NominatedTo are the pending pods that are nominated to a node.
func (v View) NominatedTo(node string) iter.Seq[*Pod] {
	n := v.ix.NodeByName(node)
	if n == cluster.NoNode {
		return v.list(nil)
	}
	return v.list(v.ix.Nominees(n))
}

func (v View) list(pods []cluster.PodID) iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		for _, p := range pods {
			if !yield(v.ix.Pod(p)) {
				return
			}
		}
	}
}

// Free is what a node offers beyond what the pods that run there ask for, by resource, with
// [Pods] for how many more pods; what is overcommitted is below zero. Room that is held for
// nominated pods is free. Nil if there is no such node.
func (v View) Free(node string) Resources {
	n := v.ix.NodeByName(node)
	if n == cluster.NoNode {
		return nil
	}
	free := Resources{}
	for r, amount := range v.ix.Free(n) {
		name := v.ix.Resource(cluster.ResourceID(r))
		if _, offered := v.ix.Node(n).Allocatable[name]; offered || amount != 0 && name != cluster.Pods {
			free[name] = amount
		}
	}
	return free
}
