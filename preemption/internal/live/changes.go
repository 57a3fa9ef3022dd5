package live

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// The methods of this file let a cluster follow changes at the cost of what changes. They need
// exclusive use of it. What they cannot follow they refuse, and then nothing has changed: the
// cluster is compiled anew.

// Fork returns an independent copy of a c that follows changes. It may run beside questions.
func (c *Cluster) Fork() *Cluster {
	f := &Cluster{
		Settings: c.Settings, Ask: c.Ask, Traits: c.Traits, Index: c.Index.Fork(), Follows: true,
		Hard: c.Hard, unknown: c.unknown, Limits: c.Limits, Spent: c.Spent, Quota: c.Quota,
		Tools: &sync.Pool{}, CountTools: &sync.Pool{},
	}
	f.Queued.ForkOf(&c.Queued)
	f.pods.forkOf(&c.pods, f.Index)
	f.groups.forkOf(&c.groups, f.Index)
	return f
}

// each calls f with the sides that are formed.
func (c *Cluster) each(f func(s *Sides)) {
	for _, s := range [...]*Sides{&c.pods, &c.groups} {
		if s.Units != nil {
			f(s)
		}
	}
}

// SetPod adds p or puts it in place of the pod of its name.
func (c *Cluster) SetPod(p *cluster.Pod) bool {
	ix := c.Index
	before := ix.PodByName(p.Namespace, p.Name)
	if !ix.MaySetPod(p, before) {
		return false
	}
	queued := before != cluster.NoPod && c.holds(before)
	c.Notes.Pod(p)
	if before != cluster.NoPod && alone(ix.Pod(before)) && alone(p) {
		c.replace(p, before)
	} else {
		before = c.add(p, before)
	}
	if queued || c.holds(before) {
		c.look()
	}
	return true
}

// holds reports whether who holds quota depends on pod p: it has a queue, or goes as a whole with others, which may hold as one.
func (c *Cluster) holds(p cluster.PodID) bool {
	g := c.Index.GroupOf(p)
	return c.Index.QueueOf(p) != "" || g != cluster.NoGroup && c.Index.HighestAll(g) != cluster.NoGroup && len(c.Index.Queued()) > 0
}

// add lets p come in place of pod before, or with NoPod adds it.
func (c *Cluster) add(p *cluster.Pod, before cluster.PodID) cluster.PodID {
	c.leave(before)
	id := c.Index.SetPod(p, before)
	c.each(func(s *Sides) {
		s.Budgets.Set(c.Index, id)
		growing := s.Budgets
		if c.Notes != nil {
			growing = nil
		}
		s.changed = s.Units.Add(s.changed, id, growing)
		s.touch(c.Index.NominatedTo(id))
		c.refresh(s)
	})
	return id
}

// alone reports whether p runs, and is of no group.
func alone(p *cluster.Pod) bool { return p.Node != "" && p.Group == "" }

// replace puts p in place of pod id. Both are alone.
func (c *Cluster) replace(p *cluster.Pod, id cluster.PodID) {
	from := c.Index.NodeOf(id)
	c.Index.SetPod(p, id)
	c.each(func(s *Sides) {
		s.Budgets.Set(c.Index, id)
		s.changed = s.Units.Replace(s.changed, id, from)
		c.refresh(s)
	})
}

// leave takes pod p, if it is there, out of its unit, and notes where that matters.
func (c *Cluster) leave(p cluster.PodID) {
	if p == cluster.NoPod {
		return
	}
	c.Notes.Pod(c.Index.Pod(p))
	c.each(func(s *Sides) {
		s.changed = s.Units.Remove(s.changed, p)
		s.touch(c.Index.NominatedTo(p))
	})
}

// touch notes that something has changed on node n, unless it is NoNode.
func (s *Sides) touch(n cluster.NodeID) {
	if n != cluster.NoNode {
		s.changed = append(s.changed, victims.Shift{Node: n, Anew: true})
	}
}

// RemovePod removes pod p.
func (c *Cluster) RemovePod(p cluster.PodID) bool {
	if !c.Index.MayRemovePod(p) {
		return false
	}
	queued := c.holds(p)
	if c.remove(p); queued {
		c.look()
	}
	return true
}

func (c *Cluster) remove(p cluster.PodID) {
	c.leave(p)
	c.Index.RemovePod(p)
	c.each(c.refresh)
}

// refresh settles what has changed of s, unless units of several pods can wait for the next question.
func (c *Cluster) refresh(s *Sides) {
	_, tariff := c.Settings.Worth.Cost.(victims.Tariff)
	own := c.Settings.Worth.Order != nil || c.Settings.Worth.Cost != nil && !tariff // it may panic, and then nothing has changed
	if !s.Units.Apart() || own || c.Notes != nil || len(s.changed) > c.Index.NumNodes() {
		c.settle(s)
	}
}

// Unsettled reports whether Settle has to be called before a question.
func (c *Cluster) Unsettled() (unsettled bool) {
	c.each(func(s *Sides) { unsettled = unsettled || s.Units.Apart() })
	return unsettled
}

// Settle settles what has changed.
func (c *Cluster) Settle() {
	if c.Unsettled() {
		c.each(c.settle)
	}
}

// settle lets the units and the columns of s follow what has changed.
func (c *Cluster) settle(s *Sides) {
	defer func() { s.changed = s.changed[:0] }()
	if c.Notes != nil {
		c.Notes.Nodes(s.Units.Stale())
	}
	s.changed = s.Units.Settle(s.changed)
	for _, shift := range s.changed {
		if c.Notes.Node(shift.Node); shift.Node == cluster.NoNode { // a unit has grown, wherever it is
			c.Notes.All()
		}
	}
	s.protect()
	if s.Columns == nil {
		return
	}
	if !s.Columns.Follow(s.changed) {
		s.dropColumns()
		c.anew(s)
	}
}

// dropColumns lets the next question make the columns anew.
func (s *Sides) dropColumns() {
	s.Columns = nil
	s.formed.Store(false)
}

// anew forgets what was remembered of the columns and the budgets of s.
func (c *Cluster) anew(s *Sides) {
	s.Shapes.Reset()
	c.Tools, c.CountTools = &sync.Pool{}, &sync.Pool{}
}

// SetNode adds n or puts it in place of the node of its name.
func (c *Cluster) SetNode(n *cluster.Node) bool {
	if !c.Index.MaySetNode(n) {
		return false
	}
	c.Settle()
	there := c.Index.NodeByName(n.Name) != cluster.NoNode
	if c.moved = c.Index.SetNode(c.moved[:0], n); !there {
		c.renumber(c.Index.PodsOn(c.Index.NodeByName(n.Name)))
		return true
	}
	c.each(func(s *Sides) {
		s.touch(c.moved[0])
		s.Units.SetNode(c.moved[0])
		c.refresh(s)
	})
	c.lookAtQueues()
	return true
}

// lookAtQueues follows a change of nodes: they say which flavors pods hold.
func (c *Cluster) lookAtQueues() {
	if len(c.Index.Queued()) > 0 {
		c.look()
	}
}

// SetClass puts k in place of the class of that name, adds it, or with nil removes it.
func (c *Cluster) SetClass(name string, k *priority.Class) bool {
	c.Settle()
	pods, ok := c.Index.SetClass(name, k)
	if !ok {
		return false
	}
	c.Notes.All()
	c.each(func(s *Sides) {
		for _, p := range pods {
			s.touch(c.Index.NodeOf(p))
			s.touch(c.Index.NominatedTo(p))
		}
		s.Units.Reconsider(pods)
		c.refresh(s)
	})
	c.look()
	return true
}

// RemoveNode removes node n.
func (c *Cluster) RemoveNode(n cluster.NodeID) bool {
	if !c.Index.MayRemoveNode(n) {
		return false
	}
	c.Settle()
	pods := c.Index.PodsOn(n)
	c.Index.RemoveNode(n)
	c.moved = append(c.moved[:0], n)
	c.renumber(pods)
	return true
}

// renumber follows nodes that have come, gone or moved, and pods that were on none, or are
// now.
func (c *Cluster) renumber(pods []cluster.PodID) {
	c.each(func(s *Sides) {
		for _, n := range c.moved {
			s.touch(n)
		}
		s.Units.Renumber(c.moved, pods)
		if s.Columns != nil && s.Columns.Grow() {
			c.anew(s)
		}
		c.refresh(s)
	})
	c.lookAtQueues()
}

// SetTime moves the time.
func (c *Cluster) SetTime(now time.Time) bool {
	if !c.Index.MaySetTime(now) {
		return false
	}
	c.Settle()
	before := c.Index.Time()
	c.Index.SetTime(now)
	if c.Settings.Limits.Seconds > 0 || before.IsZero() || now.Before(before) {
		c.Notes.All()
	}
	c.SetSpent(c.Spent)
	c.each(func(s *Sides) {
		s.Units.SetTime(before)
		c.refresh(s)
	})
	return true
}

// SetDisruptions sets the earlier preemptions.
func (c *Cluster) SetDisruptions(list []cluster.Disruption) {
	c.Index.SetDisruptions(list)
	c.Notes.All()
	c.SetSpent(c.Spent)
}

// SetBudget adds b or puts it in place of the budget of its name.
func (c *Cluster) SetBudget(b *disruption.Budget) bool {
	c.noteBudgets()
	i, found := c.budget(b)
	if !found {
		return c.setBudgets(slices.Insert(c.Index.Budgets(), i, *b), i, nil, b)
	}
	old := *c.Index.Budget(cluster.BudgetID(i))
	if old.Selector.Equal(b.Selector) && slices.Equal(old.Disrupted, b.Disrupted) {
		c.Index.SetAllowed(cluster.BudgetID(i), b)
		same := max(0, old.Allowed) == max(0, b.Allowed) && !c.Settings.Hard.any() // below zero is as good as zero to who is not bounded
		c.each(func(s *Sides) {
			if s.Budgets.Follow(c.Index); same {
				return
			}
			if s.Columns != nil {
				s.Columns.Reconsider()
			}
			c.anew(s)
		})
		return true
	}
	list := c.Index.Budgets()
	list[i] = *b
	return c.setBudgets(list, i, &old, b)
}

// budget is where the budget of the name of b is or would be, and whether it is there.
func (c *Cluster) budget(b *disruption.Budget) (i int, found bool) {
	return sort.Find(c.Index.NumBudgets(), func(i int) int { return b.Compare(*c.Index.Budget(cluster.BudgetID(i))) })
}

// RemoveBudget removes the budget of the name of b.
func (c *Cluster) RemoveBudget(b *disruption.Budget) bool {
	i, _ := c.budget(b)
	old := *c.Index.Budget(cluster.BudgetID(i))
	return c.setBudgets(slices.Delete(c.Index.Budgets(), i, i+1), i, &old, nil)
}

// setBudgets lets the budgets be those of list, where the i-th was another one and is now; nil if it has come or gone.
func (c *Cluster) setBudgets(list []disruption.Budget, i int, was, is *disruption.Budget) bool {
	c.noteBudgets()
	if !c.Index.SetBudgets(list) {
		return false
	}
	c.Hard, c.unknown = c.Settings.Hard.in(c.Index)
	c.each(func(s *Sides) {
		if s.Budgets.Change(c.Index, cluster.BudgetID(i), was, is) {
			s.dropColumns()
		} else if s.Columns != nil {
			s.Columns.Reconsider()
		}
		c.anew(s)
	})
	return true
}

// noteBudgets notes that budgets change: where they are not hard they keep nobody in place.
func (c *Cluster) noteBudgets() {
	if c.Settings.Hard.any() {
		c.Notes.All()
	}
}

func (c *Cluster) hasGroup(g cluster.Group) bool {
	return c.Index.GroupByName(g.Kind, g.Namespace, g.Name) != cluster.NoGroup
}

// setGroup puts g in place of the group of its kind and name or adds it, if it is there from now on, or
// else removes it: the pods of its tree leave, and come back to what the group is then.
func (c *Cluster) setGroup(g cluster.Group, there bool) bool {
	next := &g
	if !there {
		next = nil
	} else if c.Settings.NoBasicAll && basicAll(next) {
		return false
	}
	members, ok := c.Index.MaySetGroup(g.Kind, g.Namespace, g.Name, next)
	if !ok {
		return false
	}
	c.Notes.All()
	slices.SortFunc(members, func(a, b cluster.PodID) int { return c.Index.ComparePods(b, a) })
	pods := make([]*cluster.Pod, len(members))
	for i, p := range members {
		pods[i] = c.Index.Pod(p)
	}
	c.Index.AtOnce(func() {
		for _, p := range members { // the last one first, so that lists lose their ends
			c.remove(p)
		}
		if there {
			c.Index.SetGroup(next)
		} else {
			c.Index.RemoveGroup(g.Kind, g.Namespace, g.Name)
		}
		c.each(func(s *Sides) { s.protect() })
		for _, p := range slices.Backward(pods) {
			if !c.Index.MaySetPod(p, cluster.NoPod) {
				panic("live: a pod that was there does not come back")
			}
			c.add(p, cluster.NoPod)
		}
	})
	c.look()
	return true
}

// basicAll reports whether g is a group of mode All that is no gang.
func basicAll(g *cluster.Group) bool {
	return g.PodGroup != nil && g.PodGroup.MinCount == nil && g.Mode == disruption.All
}
