package convert

import (
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// PodGroup converts a pod group of Kubernetes 1.37 (v1beta1; v1alpha3 has the same
// fields). A group whose policy says nothing is read as Basic.
func PodGroup(g *schedulingv1beta1.PodGroup) (cluster.PodGroup, error) {
	f := groupFields(cluster.KindPodGroup, &g.ObjectMeta)
	out := cluster.PodGroup{
		Namespace: namespaceOf(&g.ObjectMeta), Name: g.Name, UID: string(g.UID), Labels: g.Labels,
		Parent: deref(g.Spec.ParentCompositePodGroupName),
		Basic:  g.Spec.SchedulingPolicy.Basic != nil,
		Class:  g.Spec.PriorityClassName, Priority: g.Spec.Priority, Policy: policy(g.Spec.PreemptionPolicy),
	}
	if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
		out.MinCount = &gang.MinCount
	}
	if m := g.Spec.DisruptionMode; m != nil {
		out.Mode = mode(&f, m.Single != nil, m.All != nil)
	}
	if c := g.Spec.SchedulingConstraints; c != nil {
		for _, t := range c.Topology {
			out.Topology = append(out.Topology, cluster.TopologyConstraint{Key: t.Key})
		}
	}
	return out, f.err()
}

// CompositePodGroup converts a composite pod group (v1alpha3). Under the basic
// policy any one child group is of use.
func CompositePodGroup(g *schedulingv1alpha3.CompositePodGroup) (cluster.CompositePodGroup, error) {
	f := groupFields(cluster.KindCompositePodGroup, &g.ObjectMeta)
	out := cluster.CompositePodGroup{
		Namespace: namespaceOf(&g.ObjectMeta), Name: g.Name, UID: string(g.UID), Labels: g.Labels,
		Parent: deref(g.Spec.ParentCompositePodGroupName),
		Class:  g.Spec.PriorityClassName, Priority: g.Spec.Priority, Policy: policy(g.Spec.PreemptionPolicy),
	}
	switch p := g.Spec.SchedulingPolicy; {
	case p.Basic != nil && p.Gang != nil:
		f.bad("spec.schedulingPolicy", "basic and gang", "one of them")
	case p.Gang != nil:
		out.MinGroupCount = &p.Gang.MinGroupCount
	default:
		one := int32(1)
		out.MinGroupCount = &one
	}
	if m := g.Spec.DisruptionMode; m != nil {
		out.Mode = mode(&f, m.Single != nil, m.All != nil)
	}
	if c := g.Spec.SchedulingConstraints; c != nil {
		for _, t := range c.Topology {
			out.Topology = append(out.Topology, cluster.TopologyConstraint{Key: t.Key})
		}
	}
	return out, f.err()
}

// mode reads the union of disruption modes; an empty one is the default.
func mode(f *fields, single, all bool) disruption.Mode {
	switch {
	case single && all:
		f.bad("spec.disruptionMode", "single and all", "one of them")
	case all:
		return disruption.All
	case single:
		return disruption.Single
	}
	return ""
}

// alphaPodGroup is a pod group of Kubernetes 1.36 (v1alpha2), of which k8s.io/api
// v0.37 has no type.
type alphaPodGroup struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		SchedulingPolicy struct {
			Basic *struct{} `json:"basic"`
			Gang  *struct {
				MinCount int32 `json:"minCount"`
			} `json:"gang"`
		} `json:"schedulingPolicy"`
		SchedulingConstraints *struct {
			Topology []struct {
				Key string `json:"key"`
			} `json:"topology"`
		} `json:"schedulingConstraints"`
		DisruptionMode    *string `json:"disruptionMode"`
		PriorityClassName string  `json:"priorityClassName"`
		Priority          *int32  `json:"priority"`
	} `json:"spec"`
}

func (g *alphaPodGroup) convert() (cluster.PodGroup, error) {
	f := groupFields(cluster.KindPodGroup, &g.ObjectMeta)
	out := cluster.PodGroup{
		Namespace: namespaceOf(&g.ObjectMeta), Name: g.Name, UID: string(g.UID), Labels: g.Labels,
		Basic: g.Spec.SchedulingPolicy.Basic != nil,
		Class: g.Spec.PriorityClassName, Priority: g.Spec.Priority,
	}
	if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
		out.MinCount = &gang.MinCount
	}
	if m := g.Spec.DisruptionMode; m != nil {
		switch *m {
		case "PodGroup":
			out.Mode = disruption.All
		case "Pod":
			out.Mode = disruption.Single
		case "":
		default:
			f.bad("spec.disruptionMode", quote(*m), "Pod or PodGroup")
		}
	}
	if c := g.Spec.SchedulingConstraints; c != nil {
		for _, t := range c.Topology {
			out.Topology = append(out.Topology, cluster.TopologyConstraint{Key: t.Key})
		}
	}
	return out, f.err()
}

func groupFields(kind cluster.Kind, m *metav1.ObjectMeta) fields {
	return fields{kind: string(kind), namespace: namespaceOf(m), name: m.Name}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// preemptionPriority resolves the annotation; nil without one.
func preemptionPriority(f *fields, annotations map[string]string, classes *priority.Classes) *int32 {
	name, ok := annotations[PreemptionPriorityAnnotation]
	if !ok {
		return nil
	}
	class, ok := classes.Lookup(name)
	if !ok {
		f.bad("metadata.annotations["+PreemptionPriorityAnnotation+"]", quote(name), "a priority class of the input")
		return nil
	}
	return &class.Value
}
