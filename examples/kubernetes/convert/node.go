package convert

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Node converts a node. Its allocatable amounts are those of status.allocatable, or
// of status.capacity where the former is missing altogether, as the API server has
// it; a node that does not say how many pods it takes takes none.
//
// The error joins an [*Error] for each amount that is negative or does not fit into
// 64 bits.
func Node(node *corev1.Node) (cluster.Node, error) {
	f := fields{kind: string(cluster.KindNode), name: node.Name}
	list, field := node.Status.Allocatable, "status.allocatable"
	if list == nil {
		list, field = node.Status.Capacity, "status.capacity"
	}
	amounts := quantities{}
	amounts.add(list)
	out := cluster.Node{
		Name: node.Name, Labels: node.Labels, Annotations: node.Annotations,
		Allocatable:   amounts.resources(&f, field),
		Unschedulable: node.Spec.Unschedulable,
	}
	if out.Allocatable == nil {
		out.Allocatable = cluster.Resources{}
	}
	if _, ok := out.Allocatable[cluster.Pods]; !ok {
		out.Allocatable[cluster.Pods] = 0
	}
	for i, t := range node.Spec.Taints {
		switch t.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			f.bad(fmt.Sprintf("spec.taints[%d].effect", i), quote(t.Effect), "NoSchedule, PreferNoSchedule or NoExecute")
		}
		out.Taints = append(out.Taints, cluster.Taint{Key: t.Key, Value: t.Value, Effect: cluster.Effect(t.Effect)})
	}
	return out, f.err()
}

func quote[S ~string](s S) string { return fmt.Sprintf("%q", string(s)) }
