package preemption

import (
	"time"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// The methods of this file change the planner's cluster. What a change costs:
//
//	a pod                what changes; with a queue, a look at all that have one; of a group that goes
//	                     whole, for all that have changed since the last question together, the nodes of its pods
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
func (pl *Planner) change(f func(h *live.Held) error) error {
	pl.gate.RLock()
	defer pl.gate.RUnlock()
	return pl.changeHeld(f)
}

// changeHeld is change for a caller that holds the gate.
func (pl *Planner) changeHeld(f func(h *live.Held) error) (err error) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	notes, c := pl.changed(), pl.held.Ready
	var before *Planner
	if h := pl.options.Hooks; h != nil && (h.Order != nil || h.Cost != nil) { // which are asked on the way
		before = pl.forkHeld()
	}
	if c != nil {
		c = pl.alone(c)
		c.Notes = notes
	}
	done := false
	defer func() {
		if before != nil && !done {
			pl.restore(before)
		}
		pl.show()
		if c != nil { // last, as who waits for it looks at what is shown then
			c.Use.Unlock()
		}
	}()
	defer caught(&err)
	err = f(&pl.held)
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
	pl.held.Restore(&before.held)
	pl.quota, pl.quotaShared, pl.spent = before.quota, true, before.spent
}

// SetTime moves the model's time; see [cluster.Snapshot]. A time that JSON cannot hold
// is refused.
func (pl *Planner) SetTime(now time.Time) error {
	if err := (cluster.Objects{Time: now}).Validate(); err != nil {
		return err
	}
	return pl.change(func(h *live.Held) error {
		if !pl.quota.Idle() {
			_ = pl.editQuota(func(m *workload.Model) error { m.SetTime(cluster.Nanos(now)); return nil })
		}
		h.SetTime(now)
		return nil
	})
}

// set adds o, which err says is no good, or puts it in place of the object of its name.
func set[T any](pl *Planner, k *live.Kind[T], o *T, err error) error {
	if err != nil {
		return err
	}
	return pl.change(func(h *live.Held) error { k.Set(h, o); return nil })
}

// remove takes the object of the name of o away.
func remove[T any](pl *Planner, k *live.Kind[T], o *T, namespace, name string) error {
	return pl.change(func(h *live.Held) error { return missing(k.Remove(h, o), k.Name, namespace, name) })
}

// SetNode adds n or replaces the node of its name.
func (pl *Planner) SetNode(n cluster.Node) error { return set(pl, &live.Nodes, &n, n.Validate()) }

// RemoveNode takes a node away; its pods stay, on a node that is unknown, and count for budgets
// and groups only. [Planner.RemoveNodeAndPods] takes them away, too.
func (pl *Planner) RemoveNode(name string) error {
	return remove(pl, &live.Nodes, &Node{Name: name}, "", name)
}

// SetPod adds p or replaces the pod of its namespace and name; binding a pending
// pod is setting it with a node.
func (pl *Planner) SetPod(p Pod) error { return set(pl, &live.Pods, &p, p.Validate()) }

// Remove takes a pod away and frees its room.
func (pl *Planner) Remove(pod PodRef) error {
	return remove(pl, &live.Pods, &Pod{Namespace: pod.Namespace, Name: pod.Name}, pod.Namespace, pod.Name)
}

// SetPodGroup adds g or replaces the group of its namespace and name.
func (pl *Planner) SetPodGroup(g PodGroup) error { return set(pl, &live.PodGroups, &g, g.Validate()) }

// RemovePodGroup takes a group away; its pods stay by themselves.
func (pl *Planner) RemovePodGroup(namespace, name string) error {
	return remove(pl, &live.PodGroups, &PodGroup{Namespace: namespace, Name: name}, namespace, name)
}

// SetCompositePodGroup adds g or replaces the group of its namespace and name.
func (pl *Planner) SetCompositePodGroup(g cluster.CompositePodGroup) error {
	return set(pl, &live.CompositePodGroups, &g, g.Validate())
}

// RemoveCompositePodGroup takes a group away; its children become roots.
func (pl *Planner) RemoveCompositePodGroup(namespace, name string) error {
	return remove(pl, &live.CompositePodGroups, &CompositePodGroup{Namespace: namespace, Name: name}, namespace, name)
}

// SetBudget adds b or replaces the budget of its namespace and name.
func (pl *Planner) SetBudget(b Budget) error {
	return set(pl, &live.Budgets, &b, cluster.Objects{Budgets: []Budget{b}}.Validate())
}

// RemoveBudget takes a budget away.
func (pl *Planner) RemoveBudget(namespace, name string) error {
	return remove(pl, &live.Budgets, &Budget{Namespace: namespace, Name: name}, namespace, name)
}

// SetPriorityClass adds c or replaces the class of its name.
func (pl *Planner) SetPriorityClass(c PriorityClass) error { return set(pl, &live.Classes, &c, nil) }

// RemovePriorityClass takes a class away.
func (pl *Planner) RemovePriorityClass(name string) error {
	return remove(pl, &live.Classes, &PriorityClass{Name: name}, "", name)
}

// SetNamespace adds n or replaces the namespace of its name, whose labels the namespace
// selectors of affinity terms look at.
func (pl *Planner) SetNamespace(n cluster.Namespace) error {
	var err error
	if n.Name == "" {
		err = &cluster.FieldError{Kind: string(cluster.KindNamespace), Field: "Name", Value: `""`, Want: "a name"}
	}
	return set(pl, &live.Namespaces, &n, err)
}

// RemoveNamespace takes a namespace away; its pods stay, in a namespace without labels.
func (pl *Planner) RemoveNamespace(name string) error {
	return remove(pl, &live.Namespaces, &cluster.Namespace{Name: name}, "", name)
}

// Snapshot returns a copy of the cluster as it is, in order of names.
func (pl *Planner) Snapshot() *Snapshot {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	s := pl.held.Snapshot()
	pl.quota.AddTo(s, pl.held.First)
	return s
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
