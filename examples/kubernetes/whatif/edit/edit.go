package edit

import (
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Set adds all of s to the cluster of a planner, in place of what has the same name. An error
// is that of the first object that cannot be set; those before it are.
func Set(pl *preemption.Planner, s *cluster.Snapshot) error {
	return first(
		func() error { return each(s.PriorityClasses, pl.SetPriorityClass) },
		func() error { return each(s.Namespaces, pl.SetNamespace) },
		func() error { return each(s.Nodes, pl.SetNode) },
		func() error { return each(s.CompositePodGroups, pl.SetCompositePodGroup) },
		func() error { return each(s.PodGroups, pl.SetPodGroup) },
		func() error { return each(s.Budgets, pl.SetBudget) },
		func() error { return each(s.ResourceFlavors, pl.SetResourceFlavor) },
		func() error { return each(s.Cohorts, pl.SetCohort) },
		func() error { return each(s.ClusterQueues, pl.SetClusterQueue) },
		func() error { return each(s.LocalQueues, pl.SetLocalQueue) },
		func() error { return each(s.Workloads, pl.SetWorkload) },
		func() error { return each(s.Pods, pl.SetPod) },
	)
}

// first is the first error of steps; those behind it are not taken.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func each[T any](list []T, set func(T) error) error {
	for _, x := range list {
		if err := set(x); err != nil {
			return err
		}
	}
	return nil
}
