package convert

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Class converts a priority class, of any version of scheduling.k8s.io: they have
// the same fields.
func Class(c *schedulingv1.PriorityClass) priority.Class {
	return priority.Class{
		Name: c.Name, Value: c.Value, GlobalDefault: c.GlobalDefault,
		Policy: policy(c.PreemptionPolicy), Annotations: c.Annotations,
	}
}

// Namespace converts a namespace.
func Namespace(n *corev1.Namespace) cluster.Namespace {
	return cluster.Namespace{Name: n.Name, Labels: n.Labels}
}
