package edit

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Set adds all of d to the cluster of a planner, in place of what has the same name. An error
// is that of the first object that cannot be set; those before it are. Pods of d may become
// members of groups; see [convert.Dump.JoinPods].
func Set(pl *preemption.Planner, d *convert.Dump) error {
	s := &d.Snapshot
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
		func() error { return pl.View(func(v preemption.View) { d.JoinPods(groups(v)) }) },
		func() error { return each(s.Pods, pl.SetPod) },
	)
}

// Join makes pods members of the groups of the planner's cluster that they name as other
// schedulers have it; see [convert.Join].
func Join(pl *preemption.Planner, pods []cluster.Pod) error {
	return pl.View(func(v preemption.View) {
		for i := range pods {
			convert.Join(&pods[i], groups(v))
		}
	})
}

// groups reports which pod groups there are.
func groups(v preemption.View) func(namespace, name string) bool {
	return func(namespace, name string) bool { return v.PodGroup(namespace, name) != nil }
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

// Remove takes an object away, a node with the pods that run there. kind is that of
// Kubernetes or of Kueue.
func Remove(pl *preemption.Planner, kind, namespace, name string) error {
	if namespaced(kind) && namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	switch kind {
	case "Pod":
		return pl.Remove(preemption.PodRef{Namespace: namespace, Name: name})
	case "Node":
		_, err := pl.RemoveNodeAndPods(name)
		return err
	case "PodGroup":
		return pl.RemovePodGroup(namespace, name)
	case "CompositePodGroup":
		return pl.RemoveCompositePodGroup(namespace, name)
	case "PodDisruptionBudget":
		return pl.RemoveBudget(namespace, name)
	case "PriorityClass":
		return pl.RemovePriorityClass(name)
	case "Namespace":
		return pl.RemoveNamespace(name)
	case "ResourceFlavor":
		return pl.RemoveResourceFlavor(name)
	case "ClusterQueue":
		return pl.RemoveClusterQueue(name)
	case "Cohort":
		return pl.RemoveCohort(name)
	case "LocalQueue":
		return pl.RemoveLocalQueue(namespace, name)
	case "Workload":
		return pl.RemoveWorkload(namespace, name)
	}
	return fmt.Errorf("kind: %q is not a kind that can be removed", kind)
}

func namespaced(kind string) bool {
	switch kind {
	case "Node", "PriorityClass", "Namespace", "ResourceFlavor", "ClusterQueue", "Cohort":
		return false
	}
	return true
}

// Cordon lets nobody new on a node.
func Cordon(pl *preemption.Planner, name string) error {
	var node *cluster.Node
	if err := pl.View(func(v preemption.View) {
		if n := v.Node(name); n != nil {
			copied := *n
			node = &copied
		}
	}); err != nil {
		return err
	}
	if node == nil {
		return fmt.Errorf("there is no node %s", name)
	}
	node.Unschedulable = true
	return pl.SetNode(*node)
}
