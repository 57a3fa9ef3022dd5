package workload

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Offer is one choice of flavors: one for each resource group of which something is asked.
type Offer struct {
	Flavors []quota.FlavorID
	Taken   []Taken // of no set in particular
	Request []quota.ColumnAmount
	Columns []quota.ColumnID // of all that is asked, in order
}

// Offers lists the choices of flavors that queue q has for total, by resource, in its order
// and without those that can never be had, and the objections to these.
func (m *Model) Offers(q quota.HolderID, total map[string]int64) ([]Offer, []Objection) {
	groups := m.Index.Groups(q)
	var asked []*quota.Group
	for i := range groups {
		if slices.ContainsFunc(groups[i].Resources, func(r string) bool { _, named := total[r]; return named }) {
			asked = append(asked, &groups[i])
		}
	}
	for _, r := range slices.Sorted(maps.Keys(total)) {
		if r != cluster.Pods && total[r] > 0 && m.groupOf(q, r) == nil {
			return nil, []Objection{{Kind: NoQuota, Resource: r}}
		}
	}
	c := combiner{m: m, queue: q, total: total}
	c.combine(asked, Offer{})
	return c.offers, c.objections
}

// combiner combines the flavors of resource groups.
type combiner struct {
	m          *Model
	queue      quota.HolderID
	total      map[string]int64
	offers     []Offer
	objections []Objection
}

// combine extends offer by a flavor of each of groups.
func (c *combiner) combine(groups []*quota.Group, offer Offer) {
	if len(groups) == 0 {
		slices.SortFunc(offer.Request, func(a, b quota.ColumnAmount) int { return cmp.Compare(a.Column, b.Column) })
		slices.Sort(offer.Columns)
		c.offers = append(c.offers, offer)
		return
	}
	for f, id := range groups[0].Flavors {
		next := Offer{append(slices.Clone(offer.Flavors), id), slices.Clone(offer.Taken), slices.Clone(offer.Request), slices.Clone(offer.Columns)}
		if c.take(&next, groups[0], f) {
			c.combine(groups[1:], next)
		}
	}
}

// take lets o take flavor f of g, and reports whether it can be had.
func (c *combiner) take(o *Offer, g *quota.Group, f int) bool {
	for k, r := range g.Resources {
		v, named := c.total[r]
		if !named {
			continue
		}
		column := g.Column(f, k)
		if most := c.m.Tree.Potential(c.queue, column); v > most {
			c.objections = append(c.objections, Objection{Kind: TooMuch, Column: column, Amount: v, Most: most})
			return false
		}
		o.Columns = append(o.Columns, column)
		if v > 0 {
			o.Request = append(o.Request, quota.ColumnAmount{Column: column, Amount: v})
		}
		o.Taken = append(o.Taken, Taken{Resource: r, Column: column, Amount: v})
	}
	return true
}

// Suits reports whether node n is of the flavors of an offer.
func (m *Model) Suits(n *cluster.Node, o *Offer) bool {
	return !slices.ContainsFunc(o.Flavors, func(f quota.FlavorID) bool { return !n.HasLabels(m.Index.Flavor(f).NodeLabels) })
}

// Level is how far up the quota of request comes from, as usage stands.
func (s *Search) Level(q quota.HolderID, request []quota.ColumnAmount) int {
	level := 0
	for _, c := range request {
		h, _ := s.Usage.BorrowHeight(q, c.Column, c.Amount)
		level = max(level, h)
	}
	return level
}
