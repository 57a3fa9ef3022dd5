package preemption

import (
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
)

// edit is a change of a planner's cluster, whose lock is held: of the compiled cluster if
// that can follow. Else it is one of the model, which holds what cannot be compiled, or
// not as it is: the next question compiles it, or says why it cannot.
type edit struct{ pl *Planner }

// live returns the live form, nil if the cluster is a model.
func (e edit) live() *live.Cluster {
	if c := e.pl.ready; c != nil && c.Follows {
		return c
	}
	return nil
}

// model returns the model, which is the cluster from now on.
func (e edit) model() *model {
	e.pl.notes().All()
	e.pl.model = e.pl.open()
	e.pl.ready = nil
	return e.pl.model
}

// done is called after the live form has followed a change. Where warnings are
// errors, the next question has to give them.
func (e edit) done(c *live.Cluster) {
	if c.Settings.Strict && len(c.Warnings()) > 0 {
		e.model()
	}
}

// pod returns the pod of that name, nil if there is none.
func (e edit) pod(ref PodRef) *cluster.Pod {
	if c := e.live(); c != nil {
		return c.Pod(ref.Namespace, ref.Name)
	}
	return e.pl.open().pod(ref)
}

// pending returns a pod that runs nowhere, or an error.
func (e edit) pending(ref PodRef) (*cluster.Pod, error) {
	p := e.pod(ref)
	switch {
	case p == nil:
		return nil, missing(false, cluster.KindPod, ref.Namespace, ref.Name)
	case p.Node != "":
		return nil, problems.Pod(p, "Node", words.Quoted(p.Node), "empty: the pod runs already", nil)
	}
	return p, nil
}

// running returns a pod that runs, or an error.
func (e edit) running(ref PodRef) (*cluster.Pod, error) {
	p := e.pod(ref)
	switch {
	case p == nil:
		return nil, missing(false, cluster.KindPod, ref.Namespace, ref.Name)
	case p.Node == "":
		return nil, problems.Pod(p, "Node", `""`, "a node: the pod is pending", nil)
	}
	return p, nil
}

// podsOn lists the pods that run on a node, in order of name.
func (e edit) podsOn(node string) (list []*cluster.Pod) {
	if c := e.live(); c != nil {
		return slices.Collect(View{ix: c.Index}.PodsOn(node))
	}
	e.pl.open().pods.Ascend(func(p *cluster.Pod) bool {
		if p.Node == node {
			list = append(list, p)
		}
		return true
	})
	return list
}

// compiled returns the live form, compiled anew if it has to be.
func (e edit) compiled() (*live.Cluster, error) {
	if err := e.pl.compileHeld(); err != nil {
		return nil, err
	}
	e.pl.ready.Notes = e.pl.notes()
	return e.pl.ready, nil
}

// hasNode reports whether there is a node of that name.
func (e edit) hasNode(name string) bool {
	if c := e.live(); c != nil {
		return c.Index.NodeByName(name) != cluster.NoNode
	}
	return e.pl.open().nodes.Has(&cluster.Node{Name: name})
}

func (e edit) setPod(p *cluster.Pod) {
	if c := e.live(); c != nil && c.SetPod(p) {
		e.done(c)
		return
	}
	e.model().pods.ReplaceOrInsert(p)
}

// removePod removes a pod, and reports whether it was there.
func (e edit) removePod(ref PodRef) bool {
	if c := e.live(); c != nil {
		p := c.Index.PodByName(ref.Namespace, ref.Name)
		if p == cluster.NoPod {
			return false
		}
		if c.RemovePod(p) {
			e.done(c)
			return true
		}
	}
	if e.pl.open().pod(ref) == nil {
		return false
	}
	e.model().pods.Delete(&cluster.Pod{Namespace: ref.Namespace, Name: ref.Name})
	return true
}

func (e edit) setNode(n *cluster.Node) {
	if c := e.live(); c != nil && c.SetNode(n) {
		e.done(c)
		return
	}
	e.model().nodes.ReplaceOrInsert(n)
}

// removeNode removes a node, and reports whether it was there.
func (e edit) removeNode(name string) bool {
	if c := e.live(); c != nil {
		n := c.Index.NodeByName(name)
		if n == cluster.NoNode {
			return false
		}
		if c.RemoveNode(n) {
			e.done(c)
			return true
		}
	}
	if !e.hasNode(name) {
		return false
	}
	e.model().nodes.Delete(&cluster.Node{Name: name})
	return true
}

// time is the model's.
func (e edit) time() time.Time {
	if c := e.live(); c != nil {
		return c.Index.Time()
	}
	return e.pl.open().time
}

func (e edit) setTime(now time.Time) {
	if c := e.live(); c != nil && c.SetTime(now) {
		e.done(c)
		return
	}
	e.model().time = now
}

func (e edit) setBudget(b *Budget) {
	if c := e.live(); c != nil && c.SetBudget(b) {
		e.done(c)
		return
	}
	e.model().budgets.ReplaceOrInsert(b)
}

// removeBudget removes the budget of the name of b, and reports whether it was there.
func (e edit) removeBudget(b *Budget) bool {
	if c := e.live(); c != nil {
		found, removed := c.RemoveBudget(b)
		if removed {
			e.done(c)
		}
		if removed || !found {
			return found
		}
	}
	m := e.pl.open()
	if !m.budgets.Has(b) {
		return false
	}
	e.model().budgets.Delete(b)
	return true
}

// setGroup adds a group or replaces the one of its name.
func (e edit) setGroup(g *PodGroup) {
	of := cluster.GroupOfPods(g)
	if c := e.live(); c != nil && c.SetGroup(of.Kind, g.Namespace, g.Name, &of) {
		e.done(c)
		return
	}
	e.model().groups.ReplaceOrInsert(g)
}

// setComposite adds a composite group or replaces the one of its name.
func (e edit) setComposite(g *cluster.CompositePodGroup) {
	of := cluster.GroupOfGroups(g)
	if c := e.live(); c != nil && c.SetGroup(of.Kind, g.Namespace, g.Name, &of) {
		e.done(c)
		return
	}
	e.model().composites.ReplaceOrInsert(g)
}

// removeGroup removes a group of that kind, and reports whether it was there.
func (e edit) removeGroup(kind cluster.Kind, namespace, name string) bool {
	if c := e.live(); c != nil {
		if c.Index.GroupByName(kind, namespace, name) == cluster.NoGroup {
			return false
		}
		if c.SetGroup(kind, namespace, name, nil) {
			e.done(c)
			return true
		}
	}
	m := e.pl.open()
	if kind == cluster.KindPodGroup {
		if _, ok := m.groups.Delete(&PodGroup{Namespace: namespace, Name: name}); !ok {
			return false
		}
	} else if _, ok := m.composites.Delete(&cluster.CompositePodGroup{Namespace: namespace, Name: name}); !ok {
		return false
	}
	e.pl.notes().All()
	e.pl.model, e.pl.ready = m, nil
	return true
}

// setClass adds a class or replaces the one of its name.
func (e edit) setClass(k *PriorityClass) {
	if c := e.live(); c != nil && c.SetClass(k.Name, k) {
		e.done(c)
		return
	}
	e.model().classes.ReplaceOrInsert(k)
}

// removeClass removes a class, and reports whether it was there.
func (e edit) removeClass(name string) bool {
	if c := e.live(); c != nil {
		if !c.Index.HasClass(name) {
			return false
		}
		if c.SetClass(name, nil) {
			e.done(c)
			return true
		}
	}
	if !e.pl.open().classes.Has(&PriorityClass{Name: name}) {
		return false
	}
	e.model().classes.Delete(&PriorityClass{Name: name})
	return true
}

// setNamespace adds a namespace or replaces the one of its name.
func (e edit) setNamespace(n *cluster.Namespace) {
	if c := e.live(); c != nil {
		c.Index.SetNamespace(n)
		return
	}
	e.model().namespaces.ReplaceOrInsert(n)
}

// removeNamespace removes a namespace, and reports whether it was there.
func (e edit) removeNamespace(name string) bool {
	if c := e.live(); c != nil {
		return c.Index.RemoveNamespace(name)
	}
	if !e.pl.open().namespaces.Has(&cluster.Namespace{Name: name}) {
		return false
	}
	e.model().namespaces.Delete(&cluster.Namespace{Name: name})
	return true
}

// remember notes what a preemption takes, for limits over a window, and forgets those that
// have left it. The pods of a gathering are one preemption: what they take adds up.
func (e edit) remember(taken cluster.Disruption, w Window) {
	if taken.Victims == 0 {
		return
	}
	c := e.live()
	if e.pl.lone {
		e.pl.spent = live.Sum(e.pl.spent, taken)
		if c != nil {
			c.SetSpent(e.pl.spent)
		}
		return
	}
	if w.Seconds == 0 {
		return
	}
	if c != nil {
		if list, ok := remembered(c.Index.Time(), c.Index.Disruptions(), taken, w); ok {
			c.SetDisruptions(list)
		}
		return
	}
	now := e.pl.open()
	if list, ok := remembered(now.time, now.disruptions, taken, w); ok {
		e.model().disruptions = list
	}
}

// remembered is list with what was taken at now, and without those that have left the
// window; ok is false if nobody needs to know.
func remembered(now time.Time, list []cluster.Disruption, taken cluster.Disruption, w Window) (_ []cluster.Disruption, ok bool) {
	if now.IsZero() {
		return nil, false
	}
	var kept []cluster.Disruption
	for _, d := range list {
		if now.Unix()-d.Time.Unix() <= w.Seconds {
			kept = append(kept, d)
		}
	}
	taken.Time = now
	return append(kept, taken), true
}
