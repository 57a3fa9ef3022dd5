package preemption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// quotaOffer is one choice of flavors: one for each resource group of which the
// preemptor asks something.
type quotaOffer struct {
	flavors []FlavorChoice
	request []cluster.ColumnAmount
	columns []cluster.ColumnID
	names   []cluster.FlavorID
}

// choose lists the choices of flavors, in the queue's order, without those that can
// never be had.
func (s *queueSearch) choose() error {
	total, err := s.totals()
	if err != nil {
		return err
	}
	total[cluster.Pods] = int64(len(s.members))
	groups := s.model.Index.Groups(s.queue)
	covered := map[string]bool{}
	var asked []*cluster.QuotaGroup
	for i := range groups {
		asks := false
		for _, r := range groups[i].Resources {
			covered[r] = true
			_, named := total[r]
			asks = asks || named
		}
		if asks {
			asked = append(asked, &groups[i])
		}
	}
	for _, r := range slices.Sorted(maps.Keys(total)) {
		if !covered[r] && r != cluster.Pods && total[r] > 0 {
			s.counts["the queue has no quota of "+r]++
			return nil
		}
	}
	s.combine(asked, total, quotaOffer{})
	return nil
}

// totals is what the members ask for together. It complains about every resource of
// which that cannot be counted, at the member that is too much.
func (s *queueSearch) totals() (map[string]int64, error) {
	total := map[string]int64{}
	var errs []error
	for _, m := range s.members {
		for _, r := range slices.Sorted(maps.Keys(m.Pod.Requests)) {
			before, v := total[r], m.Pod.Requests[r]
			total[r] = quota.Add(before, v)
			if before <= cluster.MaxUsage && total[r] > cluster.MaxUsage {
				errs = append(errs, problems.Pod(m.Pod, "Requests["+r+"]", fmt.Sprint(v), "at most 2^62-1 in all", nil))
			}
		}
	}
	return total, problems.Join(errs)
}

// combine extends offer by a flavor of each of groups.
func (s *queueSearch) combine(groups []*cluster.QuotaGroup, total map[string]int64, offer quotaOffer) {
	if len(groups) == 0 {
		slices.SortFunc(offer.request, func(a, b cluster.ColumnAmount) int { return cmp.Compare(a.Column, b.Column) })
		slices.Sort(offer.columns)
		s.offers = append(s.offers, offer)
		return
	}
	g, m := groups[0], s.model
	for f, id := range g.Flavors {
		next := quotaOffer{
			slices.Clone(offer.flavors), slices.Clone(offer.request), slices.Clone(offer.columns),
			append(slices.Clone(offer.names), id),
		}
		possible := true
		for k, r := range g.Resources {
			v, named := total[r]
			if !named {
				continue
			}
			c := g.Column(f, k)
			if most := m.Tree.Potential(s.queue, c); v > most {
				s.counts[fmt.Sprintf("flavor %s: %d %s asked, at most %d to be had", m.Index.FlavorName(id), v, r, most)]++
				possible = false
				break
			}
			next.columns = append(next.columns, c)
			if v > 0 {
				next.request = append(next.request, cluster.ColumnAmount{Column: c, Amount: v})
			}
			next.flavors = append(next.flavors, FlavorChoice{Resource: r, Flavor: m.Index.FlavorName(id), Amount: v})
		}
		if possible {
			s.combine(groups[1:], total, next)
		}
	}
}

// within is d without the nodes that are not of the flavors of an offer.
func (s *queueSearch) within(d domain.Domain, o *quotaOffer) domain.Domain {
	return domain.Domain{Name: d.Name, Nodes: slices.DeleteFunc(slices.Clone(d.Nodes), func(n cluster.NodeID) bool {
		return !s.suits(n, o)
	})}
}

// suits reports whether node n is of the flavors of an offer.
func (s *queueSearch) suits(n cluster.NodeID, o *quotaOffer) bool {
	return !slices.ContainsFunc(o.names, func(f cluster.FlavorID) bool {
		return !cluster.HasLabels(s.ix.Node(n), s.model.Index.Flavor(f).NodeLabels)
	})
}

func (s *queueSearch) flavorNames(o *quotaOffer) string {
	text := ""
	for i, f := range o.names {
		if i > 0 {
			text += ", "
		}
		text += s.model.Index.FlavorName(f)
	}
	return text
}
