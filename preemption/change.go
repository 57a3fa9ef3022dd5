package preemption

import (
	"time"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// The methods of this file change the planner's cluster. What a change costs:
//
//	a pod                what changes; with a queue, a look at all that have one
//	a node               its pods; one that comes moves some of its neighbours by name, too
//	a budget             what it allows, all budgets; whom it covers, a look at all pods
//	a group              the pods of its tree
//	a class              the pods and groups that name it, and a look at the others
//	a namespace          all namespaces
//	the time             the units for which a guard ends, a price or a preemption priority
//	                     changes, or which have not started and count as started now
//
// Under an order or prices of the user's own each costs a [Planner.Fork] beside, which is what is left
// where they panic. All units are looked at again where the time goes back or was not known, and where it
// moves under an order or prices of the user's own. All nodes move where no number is free
// near a node that comes: once, and seldom afterwards. The next question compiles the
// cluster anew where a resource is named for the first time or by nobody any more, and after
// changes of groups in a chain that is too long or a cycle.
//
// What is set is copied one level deep: its slices and maps must not be changed
// afterwards. A malformed object is refused with a [*cluster.FieldError] and changes
// nothing.

// change runs f, which changes the cluster or fails and changes nothing.
func (pl *Planner) change(f func(e edit) error) error {
	pl.gate.RLock()
	defer pl.gate.RUnlock()
	return pl.changeHeld(f)
}

// changeHeld is change for a caller that holds the gate.
func (pl *Planner) changeHeld(f func(e edit) error) (err error) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	notes, done := pl.changed(), false
	if h := pl.options.Hooks; h != nil && (h.Order != nil || h.Cost != nil) { // which are asked on the way
		before := pl.forkHeld()
		defer func() {
			if !done {
				pl.restore(before)
			}
			pl.show()
		}()
	} else {
		defer pl.show()
	}
	if c := (edit{pl}).live(); c != nil {
		if !exclude(&c.Use) {
			c = c.Fork()
			c.Use.Lock()
			pl.ready = c
		}
		defer c.Use.Unlock()
		c.Notes = notes
	}
	defer caught(&err)
	err = f(edit{pl})
	done = true
	return err
}

// restore makes the cluster as it was when before was forked: a hook has panicked in the middle
// of a change.
func (pl *Planner) restore(before *Planner) {
	if pl.quotaHeld { // it is a clone, as before shares the other one
		pl.quotaHeld = false
		pl.quota.Mu.Unlock()
	}
	pl.ready, pl.model, pl.quota, pl.quotaShared, pl.spent = before.ready, before.model, before.quota, true, before.spent
	pl.notes().All()
}

// SetTime moves the model's time; see [cluster.Snapshot]. A time that JSON cannot hold
// is refused.
func (pl *Planner) SetTime(now time.Time) error {
	if err := cluster.ValidateTime(now); err != nil {
		return err
	}
	return pl.change(func(e edit) error {
		if !pl.quota.Idle() {
			_ = pl.editQuota(func(m *workload.Model) error { m.SetTime(cluster.Nanos(now)); return nil })
		}
		e.setTime(now)
		return nil
	})
}

// SetNode adds n or replaces the node of its name.
func (pl *Planner) SetNode(n cluster.Node) error {
	if err := n.Validate(); err != nil {
		return err
	}
	return pl.change(func(e edit) error { e.setNode(&n); return nil })
}

// RemoveNode takes a node away; its pods stay, on a node that is unknown, and count for budgets
// and groups only. [Planner.RemoveNodeAndPods] takes them away, too.
func (pl *Planner) RemoveNode(name string) error {
	return pl.change(func(e edit) error { return missing(e.removeNode(name), cluster.KindNode, "", name) })
}

// SetPod adds p or replaces the pod of its namespace and name; binding a pending
// pod is setting it with a node.
func (pl *Planner) SetPod(p Pod) error {
	if err := p.Validate(); err != nil {
		return err
	}
	return pl.change(func(e edit) error { e.setPod(&p); return nil })
}

// Remove takes a pod away and frees its room.
func (pl *Planner) Remove(pod PodRef) error {
	return pl.change(func(e edit) error { return missing(e.removePod(pod), cluster.KindPod, pod.Namespace, pod.Name) })
}

// SetPodGroup adds g or replaces the group of its namespace and name.
func (pl *Planner) SetPodGroup(g PodGroup) error {
	if err := g.Validate(); err != nil {
		return err
	}
	return pl.change(func(e edit) error { e.setGroup(&g); return nil })
}

// RemovePodGroup takes a group away; its pods stay by themselves.
func (pl *Planner) RemovePodGroup(namespace, name string) error {
	return pl.change(func(e edit) error {
		return missing(e.removeGroup(cluster.KindPodGroup, namespace, name), cluster.KindPodGroup, namespace, name)
	})
}

// SetCompositePodGroup adds g or replaces the group of its namespace and name.
func (pl *Planner) SetCompositePodGroup(g cluster.CompositePodGroup) error {
	if err := g.Validate(); err != nil {
		return err
	}
	return pl.change(func(e edit) error { e.setComposite(&g); return nil })
}

// RemoveCompositePodGroup takes a group away; its children become roots.
func (pl *Planner) RemoveCompositePodGroup(namespace, name string) error {
	return pl.change(func(e edit) error {
		return missing(e.removeGroup(cluster.KindCompositePodGroup, namespace, name), cluster.KindCompositePodGroup, namespace, name)
	})
}

// SetBudget adds b or replaces the budget of its namespace and name.
func (pl *Planner) SetBudget(b Budget) error {
	if err := cluster.ValidateBudget(&b); err != nil {
		return err
	}
	return pl.change(func(e edit) error { e.setBudget(&b); return nil })
}

// RemoveBudget takes a budget away.
func (pl *Planner) RemoveBudget(namespace, name string) error {
	return pl.change(func(e edit) error {
		return missing(e.removeBudget(&Budget{Namespace: namespace, Name: name}), cluster.KindBudget, namespace, name)
	})
}

// SetPriorityClass adds c or replaces the class of its name.
func (pl *Planner) SetPriorityClass(c PriorityClass) error {
	return pl.change(func(e edit) error { e.setClass(&c); return nil })
}

// RemovePriorityClass takes a class away.
func (pl *Planner) RemovePriorityClass(name string) error {
	return pl.change(func(e edit) error { return missing(e.removeClass(name), cluster.KindPriorityClass, "", name) })
}

// SetNamespace adds n or replaces the namespace of its name, whose labels the namespace
// selectors of affinity terms look at.
func (pl *Planner) SetNamespace(n cluster.Namespace) error {
	if n.Name == "" {
		return &cluster.FieldError{Kind: string(cluster.KindNamespace), Field: "Name", Value: `""`, Want: "a name"}
	}
	return pl.change(func(e edit) error { e.setNamespace(&n); return nil })
}

// RemoveNamespace takes a namespace away; its pods stay, in a namespace without labels.
func (pl *Planner) RemoveNamespace(name string) error {
	return pl.change(func(e edit) error {
		return missing(e.removeNamespace(name), cluster.KindNamespace, "", name)
	})
}

// Snapshot returns a copy of the cluster as it is, in order of names.
func (pl *Planner) Snapshot() *Snapshot {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	s := pl.snapshot()
	pl.quota.AddTo(s, pl.first)
	return s
}

// snapshot is Snapshot without quota. The lock is held.
func (pl *Planner) snapshot() *Snapshot {
	if pl.ready == nil || !pl.ready.Follows {
		return pl.open().snapshot()
	}
	o := pl.ready.Index.Objects()
	nodes, pods := o.Nodes, o.Pods // in order of name already
	o.Nodes, o.Pods = nil, nil
	s := newModel(o).snapshot()
	s.Nodes, s.Pods = copies(nodes), copies(pods)
	return s
}

func copies[T any](list []*T) []T {
	c := make([]T, len(list))
	for i, v := range list {
		c[i] = *v
	}
	return c
}

func missing(ok bool, kind cluster.Kind, namespace, name string) error {
	if ok {
		return nil
	}
	return &cluster.FieldError{
		Kind: string(kind), Namespace: namespace, Name: name,
		Field: "Name", Value: words.Quoted(name), Want: "in the planner's cluster",
	}
}
