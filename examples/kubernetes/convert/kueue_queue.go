package convert

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preempt-go/preempt/preemption/cluster"
)

func (q *kueueClusterQueue) convert() (cluster.ClusterQueue, error) {
	f := fields{kind: string(cluster.KindClusterQueue), name: q.Name}
	p, g := &q.Spec.Preemption, &q.Spec.FlavorFungibility
	out := cluster.ClusterQueue{
		Name: q.Name, Cohort: q.Spec.CohortName,
		Groups: q.Spec.ResourceGroups.convert(&f),
		Preemption: cluster.QueuePreemption{
			WithinClusterQueue:  cluster.QueuePolicy(p.WithinClusterQueue),
			ReclaimWithinCohort: cluster.QueuePolicy(p.ReclaimWithinCohort),
		},
		Fungibility: cluster.Fungibility{
			WhenCanBorrow:  choice(g.WhenCanBorrow),
			WhenCanPreempt: choice(g.WhenCanPreempt),
			Preference:     cluster.FlavorPreference(g.Preference),
		},
		Weight:  q.Spec.FairSharing.convert(&f),
		Stopped: stops(q.Spec.StopPolicy),
	}
	if out.Cohort == "" {
		out.Cohort = q.Spec.Cohort
	}
	if while := p.BorrowWithinCohort; while != nil {
		switch while.Policy {
		case "", "Never":
		case "LowerPriority":
			out.Preemption.BorrowWithinCohort = &cluster.BorrowWithinCohort{MaxPriority: while.MaxPriorityThreshold}
		default:
			f.bad("spec.preemption.borrowWithinCohort.policy", quote(while.Policy), "Never or LowerPriority")
		}
	}
	return out, f.err()
}

// choice reads both generations of names: v1beta1 says Borrow and Preempt where
// v1beta2 says MayStopSearch.
func choice(c string) cluster.FlavorChoice {
	if c == "Borrow" || c == "Preempt" {
		return cluster.StopSearch
	}
	return cluster.FlavorChoice(c)
}

func (groups kueueGroups) convert(f *fields) []cluster.ResourceGroup {
	var out []cluster.ResourceGroup
	for i, g := range groups {
		var group cluster.ResourceGroup
		for j, flavor := range g.Flavors {
			quotas := cluster.FlavorQuotas{Flavor: flavor.Name}
			for k, r := range flavor.Resources {
				field := func(name string) string {
					return fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].resources[%d].%s", i, j, k, name)
				}
				quotas.Resources = append(quotas.Resources, cluster.ResourceQuota{
					Resource:  string(r.Name),
					Nominal:   *quotaAmount(f, field("nominalQuota"), r.Name, &r.NominalQuota),
					Borrowing: quotaAmount(f, field("borrowingLimit"), r.Name, r.BorrowingLimit),
					Lending:   quotaAmount(f, field("lendingLimit"), r.Name, r.LendingLimit),
				})
			}
			group.Flavors = append(group.Flavors, quotas)
		}
		out = append(out, group)
	}
	return out
}

// quotaAmount is q in the unit of the resource; what does not fit into 64 bits is
// without limit.
func quotaAmount(f *fields, field string, name corev1.ResourceName, q *resource.Quantity) *int64 {
	if q == nil {
		return nil
	}
	n, want := whole(name, *q)
	switch {
	case q.Sign() < 0:
		f.bad(field, q.String(), want)
	case want != "":
		n = cluster.Unlimited
	}
	return &n
}

// convert reads a weight; nil stays nil.
func (s *kueueFairSharing) convert(f *fields) *cluster.Weight {
	if s == nil || s.Weight == nil {
		return nil
	}
	const want = "from 0 to 9223372036, with at most nine decimals"
	nano := s.Weight.ScaledValue(resource.Nano)
	if s.Weight.Sign() < 0 || s.Weight.Cmp(*resource.NewScaledQuantity(nano, resource.Nano)) != 0 {
		f.bad("spec.fairSharing.weight", s.Weight.String(), want)
		return nil
	}
	w := cluster.Weight(nano)
	return &w
}
