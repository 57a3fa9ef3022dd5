package preemption

import (
	"slices"
	"sync"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// The methods of this file let a compiled cluster follow changes at the cost of what
// changes. They need exclusive use of it. What they cannot follow they refuse, and
// then nothing has changed: the cluster is compiled anew.

// fork returns an independent copy of a live c. It may run beside questions.
func (c *compiled) fork() *compiled {
	f := &compiled{
		options: c.options, rules: c.rules, settings: c.settings, traits: c.traits, ix: c.ix.Fork(), live: true,
		hard: c.hard, unknown: c.unknown, limits: c.limits, spent: c.spent, quota: c.quota,
		tools: &sync.Pool{}, countTools: &sync.Pool{},
	}
	f.queued.ForkOf(&c.queued)
	f.pods.forkOf(&c.pods, f.ix)
	f.groups.forkOf(&c.groups, f.ix)
	return f
}

func (s *sides) forkOf(of *sides, ix *cluster.Index) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.units != nil {
		s.units, s.budgets = of.units.Fork(ix), of.budgets.Fork()
		s.guards = s.units.Protections()
		s.protect()
	}
	if of.columns != nil {
		s.columns = of.columns.Fork(s.units, s.budgets)
		s.shapes.Inherit(&of.shapes)
	}
}

// each calls f with the sides that are formed.
func (c *compiled) each(f func(s *sides)) {
	for _, s := range [...]*sides{&c.pods, &c.groups} {
		if s.units != nil {
			f(s)
		}
	}
}

// setPod adds p or puts it in place of the pod of its name.
func (c *compiled) setPod(p *cluster.Pod) bool {
	ix := c.ix
	before := ix.PodByName(p.Namespace, p.Name)
	if !ix.MaySetPod(p, before) {
		return false
	}
	queued := before != cluster.NoPod && ix.QueueOf(before) != ""
	c.notes.Pod(p)
	if before != cluster.NoPod && alone(ix.Pod(before)) && alone(p) {
		c.replace(p, before)
	} else {
		before = c.add(p, before)
	}
	if queued || ix.QueueOf(before) != "" {
		c.look()
	}
	return true
}

// add lets p come in place of pod before, or with NoPod adds it.
func (c *compiled) add(p *cluster.Pod, before cluster.PodID) cluster.PodID {
	c.leave(before)
	id := c.ix.SetPod(p, before)
	c.each(func(s *sides) {
		s.budgets.Set(c.ix, id)
		s.changed = s.units.Add(s.changed, id)
		s.touch(c.ix.NominatedTo(id))
		c.refresh(s)
	})
	return id
}

// alone reports whether p runs, and is of no group.
func alone(p *cluster.Pod) bool { return p.Node != "" && p.Group == "" }

// replace puts p in place of pod id. Both are alone.
func (c *compiled) replace(p *cluster.Pod, id cluster.PodID) {
	from := c.ix.NodeOf(id)
	c.ix.SetPod(p, id)
	c.each(func(s *sides) {
		s.budgets.Set(c.ix, id)
		s.changed = s.units.Replace(s.changed[:0], id, from)
		c.refresh(s)
	})
}

// leave takes pod p, if it is there, out of its unit, and notes where that matters.
func (c *compiled) leave(p cluster.PodID) {
	if p != cluster.NoPod {
		c.notes.Pod(c.ix.Pod(p))
	}
	c.each(func(s *sides) {
		s.changed = s.changed[:0]
		if p != cluster.NoPod {
			s.changed = s.units.Remove(s.changed, p)
			s.touch(c.ix.NominatedTo(p))
		}
	})
}

// touch notes that something has changed on node n, unless it is NoNode.
func (s *sides) touch(n cluster.NodeID) {
	if n != cluster.NoNode {
		s.changed = append(s.changed, victims.Shift{Node: n, Anew: true})
	}
}

// removePod removes pod p.
func (c *compiled) removePod(p cluster.PodID) bool {
	if !c.ix.MayRemovePod(p) {
		return false
	}
	queued := c.ix.QueueOf(p) != ""
	if c.remove(p); queued {
		c.look()
	}
	return true
}

func (c *compiled) remove(p cluster.PodID) {
	c.leave(p)
	c.ix.RemovePod(p)
	c.each(c.refresh)
}

// refresh settles what has changed, and lets the columns of s follow.
func (c *compiled) refresh(s *sides) {
	if c.notes != nil {
		c.notes.Nodes(s.units.Stale())
	}
	s.changed = s.units.Settle(s.changed)
	for _, shift := range s.changed {
		c.notes.Node(shift.Node)
	}
	s.protect()
	if s.columns == nil {
		return
	}
	if !s.columns.Follow(s.changed) {
		s.dropColumns()
		c.anew(s)
	}
}

// dropColumns lets the next question make the columns anew.
func (s *sides) dropColumns() {
	s.columns = nil
	s.formed.Store(false)
}

// anew forgets what was remembered of the columns and the budgets of s.
func (c *compiled) anew(s *sides) {
	s.shapes.Reset()
	c.tools, c.countTools = &sync.Pool{}, &sync.Pool{}
}

// setNode adds n or puts it in place of the node of its name.
func (c *compiled) setNode(n *cluster.Node) bool {
	if !c.ix.MaySetNode(n) {
		return false
	}
	there := c.ix.NodeByName(n.Name) != cluster.NoNode
	if c.moved = c.ix.SetNode(c.moved[:0], n); !there {
		c.renumber(c.ix.PodsOn(c.ix.NodeByName(n.Name)))
		return true
	}
	c.each(func(s *sides) {
		s.changed = s.changed[:0]
		s.touch(c.moved[0])
		s.units.SetNode(c.moved[0])
		c.refresh(s)
	})
	c.lookAtQueues()
	return true
}

// lookAtQueues follows a change of nodes: they say which flavors pods hold.
func (c *compiled) lookAtQueues() {
	if len(c.ix.Queued()) > 0 {
		c.look()
	}
}

// setClass puts k in place of the class of that name, adds it, or with nil removes it.
func (c *compiled) setClass(name string, k *PriorityClass) bool {
	pods, ok := c.ix.SetClass(name, k)
	if !ok {
		return false
	}
	c.notes.All()
	c.each(func(s *sides) {
		s.changed = s.changed[:0]
		for _, p := range pods {
			s.touch(c.ix.NodeOf(p))
			s.touch(c.ix.NominatedTo(p))
		}
		s.units.Reconsider(pods)
		c.refresh(s)
	})
	c.look()
	return true
}

// removeNode removes node n.
func (c *compiled) removeNode(n cluster.NodeID) bool {
	if !c.ix.MayRemoveNode(n) {
		return false
	}
	pods := c.ix.PodsOn(n)
	c.ix.RemoveNode(n)
	c.moved = append(c.moved[:0], n)
	c.renumber(pods)
	return true
}

// renumber follows nodes that have come, gone or moved, and pods that were on none, or are
// now.
func (c *compiled) renumber(pods []cluster.PodID) {
	c.each(func(s *sides) {
		s.changed = s.changed[:0]
		for _, n := range c.moved {
			s.touch(n)
		}
		s.units.Renumber(c.moved, pods)
		if s.columns != nil && s.columns.Grow() {
			c.anew(s)
		}
		c.refresh(s)
	})
	c.lookAtQueues()
}

// setTime moves the time.
func (c *compiled) setTime(now time.Time) bool {
	if !c.ix.MaySetTime(now) {
		return false
	}
	before := c.ix.Time()
	c.ix.SetTime(now)
	if c.options.Limits.Window.Seconds > 0 || before.IsZero() || now.Before(before) {
		c.notes.All()
	}
	c.limits = c.options.limits(c.ix, c.spent)
	c.each(func(s *sides) {
		s.changed = s.changed[:0]
		s.units.SetTime(before)
		c.refresh(s)
	})
	return true
}

// setDisruptions sets the earlier preemptions.
func (c *compiled) setDisruptions(list []cluster.Disruption) {
	c.ix.SetDisruptions(list)
	c.notes.All()
	c.limits = c.options.limits(c.ix, c.spent)
}

// setBudget adds b or puts it in place of the budget of its name.
func (c *compiled) setBudget(b *Budget) bool {
	c.noteBudgets()
	list := c.ix.Budgets()
	i, found := slices.BinarySearchFunc(list, *b, disruption.Compare)
	if !found {
		return c.setBudgets(slices.Insert(list, i, *b))
	}
	if old := list[i]; old.Selector.Equal(b.Selector) && slices.Equal(old.Disrupted, b.Disrupted) {
		c.ix.SetAllowed(cluster.BudgetID(i), b)
		c.each(func(s *sides) {
			s.budgets.Follow(c.ix)
			if s.columns != nil {
				s.columns.Reconsider()
			}
			c.anew(s)
		})
		return true
	}
	list[i] = *b
	return c.setBudgets(list)
}

// removeBudget removes a budget, if it is there.
func (c *compiled) removeBudget(b *Budget) (found, removed bool) {
	list := c.ix.Budgets()
	i, found := slices.BinarySearchFunc(list, *b, disruption.Compare)
	return found, found && c.setBudgets(slices.Delete(list, i, i+1))
}

// setBudgets lets the budgets be those of list: who is covered is found out anew.
func (c *compiled) setBudgets(list []Budget) bool {
	c.noteBudgets()
	if !c.ix.SetBudgets(list) {
		return false
	}
	c.hard, c.unknown = c.options.hardBudgets(c.ix)
	c.each(func(s *sides) {
		s.budgets = victims.NewBudgets(c.ix, s.budgets.Rule)
		s.dropColumns()
		c.anew(s)
	})
	return true
}

// noteBudgets notes that budgets change: where they are not hard they keep nobody in place.
func (c *compiled) noteBudgets() {
	if h := c.options.HardBudgets; h.All || len(h.Names) > 0 {
		c.notes.All()
	}
}

// setGroup puts g in place of the group of that kind and name, adds it, or with nil
// removes it: the pods of its tree leave, and come back to what the group is then.
func (c *compiled) setGroup(kind cluster.Kind, namespace, name string, g *cluster.Group) bool {
	if g != nil && c.rules.refuseBasicAll && basicAll(g) {
		return false
	}
	members, ok := c.ix.MaySetGroup(kind, namespace, name, g)
	if !ok {
		return false
	}
	c.notes.All()
	pods := make([]*cluster.Pod, len(members))
	for i, p := range members {
		pods[i] = c.ix.Pod(p)
	}
	for _, p := range members {
		c.remove(p)
	}
	if g != nil {
		c.ix.SetGroup(g)
	} else {
		c.ix.RemoveGroup(kind, namespace, name)
	}
	c.each(func(s *sides) { s.protect() })
	for _, p := range pods {
		if !c.ix.MaySetPod(p, cluster.NoPod) {
			panic("preemption: a pod that was there does not come back")
		}
		c.add(p, cluster.NoPod)
	}
	c.look()
	return true
}

// basicAll reports whether g is a group of mode All that is no gang.
func basicAll(g *cluster.Group) bool {
	return g.PodGroup != nil && g.PodGroup.MinCount == nil && g.Mode == disruption.All
}
