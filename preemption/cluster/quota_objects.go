package cluster

import "time"

// QuotaObjects are the objects of quota, by reference. Their order says nothing.
type QuotaObjects struct {
	Time            time.Time
	ResourceFlavors []*ResourceFlavor
	ClusterQueues   []*ClusterQueue
	Cohorts         []*Cohort
	LocalQueues     []*LocalQueue
	Workloads       []*Workload
	QuotaHolds      []*QuotaHold
}

// QuotaObjects returns the objects of quota of s; they still belong to s. A nil s
// has none.
func (s *Snapshot) QuotaObjects() QuotaObjects {
	if s == nil {
		return QuotaObjects{}
	}
	return QuotaObjects{
		Time: s.Time, ResourceFlavors: pointers(s.ResourceFlavors), ClusterQueues: pointers(s.ClusterQueues),
		Cohorts: pointers(s.Cohorts), LocalQueues: pointers(s.LocalQueues), Workloads: pointers(s.Workloads),
		QuotaHolds: pointers(s.QuotaHolds),
	}
}
