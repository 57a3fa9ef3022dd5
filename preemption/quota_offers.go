package preemption

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// choose lists the choices of flavors, in the queue's order, without those that can
// never be had.
func (s *queueSearch) choose() error {
	total, err := s.totals()
	if err != nil {
		return err
	}
	total[cluster.Pods] = int64(len(s.members))
	var objections []workload.Objection
	s.offers, objections = s.model.Offers(s.queue, total)
	for _, o := range objections {
		s.counts[objection(s.model, o)]++
	}
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

// within is d without the nodes that are not of the flavors of an offer.
func (s *queueSearch) within(d domain.Domain, o *workload.Offer) domain.Domain {
	return domain.Domain{Name: d.Name, Nodes: slices.DeleteFunc(slices.Clone(d.Nodes), func(n cluster.NodeID) bool {
		return !s.model.Suits(s.ix.Node(n), o)
	})}
}

func (s *queueSearch) flavorNames(o *workload.Offer) string {
	var names []string
	for _, f := range o.Flavors {
		names = append(names, s.model.Index.FlavorName(f))
	}
	return strings.Join(names, ", ")
}
