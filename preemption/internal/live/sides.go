package live

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/victims"
)

// Sides are the units, their columns and the budgets of one kind of preemptor, formed when first asked.
type Sides struct {
	formed  atomic.Bool // everything is there
	mu      sync.Mutex  // held while something is formed
	Units   *victims.Units
	Budgets *victims.Budgets
	Columns *columns.NodeColumns // nil: to be formed anew
	Shapes  onepod.Shapes

	guards      *victims.Protections
	Protections *victims.Protections // guards; nil as long as nobody is kept beyond what priorities say

	changed []victims.Shift // since the units were settled
}

// of returns s, formed.
func (s *Sides) of(c *Cluster, r Rule) *Sides {
	if s.formed.Load() {
		return s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Units == nil {
		formed := victims.NewUnits(c.Index, r.Units, c.Settings.Worth) // hooks may panic
		s.guards = formed.Protect(c.Settings.Guards, c.Settings.Eligible)
		s.Units, s.Budgets = formed, victims.NewBudgets(c.Index, r.Budgets)
		if c.Follows {
			s.Units.Follow(s.guards)
		}
		s.protect()
	}
	if s.Columns == nil {
		s.Columns = columns.NewNodeColumns(s.Units, s.Budgets)
	}
	s.formed.Store(true)
	return s
}

// protect lets questions heed guards as long as there are any.
func (s *Sides) protect() {
	if s.Protections = nil; s.guards.Any() {
		s.Protections = s.guards
	}
}

// PodUnits are what a lone pod meets.
func (c *Cluster) PodUnits() *Sides {
	return c.pods.of(c, c.Settings.Pods)
}

// GroupUnits are what a group meets.
func (c *Cluster) GroupUnits() *Sides {
	if c.Settings.Pods == c.Settings.Groups {
		return c.PodUnits()
	}
	return c.groups.of(c, c.Settings.Groups)
}

// forkOf makes s a fork of another, over ix.
func (s *Sides) forkOf(of *Sides, ix *cluster.Index) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.Units != nil {
		s.Units, s.Budgets = of.Units.Fork(ix), of.Budgets.Fork()
		s.guards, s.changed = s.Units.Protections(), slices.Clone(of.changed)
		s.protect()
	}
	if of.Columns != nil {
		s.Columns = of.Columns.Fork(s.Units, s.Budgets)
		s.Shapes.Inherit(&of.Shapes)
	}
}
