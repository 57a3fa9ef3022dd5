package convert

import (
	"bytes"
	"cmp"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// PodGroup converts a PodGroup of scheduling.k8s.io, the typed object of any version
// from v1alpha2 (Kubernetes 1.36) on or its unstructured content: it is read as JSON,
// since no version of k8s.io/api has the types of all. A group whose policy says
// nothing is read as Basic.
func PodGroup(g metav1.Object) (cluster.PodGroup, error) {
	var group groupObject
	if err := reread(cluster.KindPodGroup, g, &group); err != nil {
		return cluster.PodGroup{}, err
	}
	return group.convert()
}

// CompositePodGroup converts a composite pod group (from v1alpha3 on), given as
// [PodGroup] takes a pod group. Under the basic policy any one child group is of use.
func CompositePodGroup(g metav1.Object) (cluster.CompositePodGroup, error) {
	var group compositeObject
	if err := reread(cluster.KindCompositePodGroup, g, &group); err != nil {
		return cluster.CompositePodGroup{}, err
	}
	return group.convert()
}

// reread reads into target what from is as JSON.
func reread(kind cluster.Kind, from metav1.Object, target any) error {
	o := &Object{Kind: string(kind), Namespace: from.GetNamespace(), Name: from.GetName()}
	var err error
	if o.JSON, err = json.Marshal(from); err != nil {
		return &Error{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Want: "readable", Err: err}
	}
	return decode(o, target)
}

// groupObject is a PodGroup of any version.
type groupObject struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ParentCompositePodGroupName string `json:"parentCompositePodGroupName"`
		SchedulingPolicy            struct {
			Basic *struct{} `json:"basic"`
			Gang  *struct {
				MinCount int32 `json:"minCount"`
			} `json:"gang"`
		} `json:"schedulingPolicy"`
		SchedulingConstraints groupConstraints `json:"schedulingConstraints"`
		DisruptionMode        groupMode        `json:"disruptionMode"`
		PriorityClassName     string           `json:"priorityClassName"`
		Priority              *int32           `json:"priority"`
		PreemptionPolicy      priority.Policy  `json:"preemptionPolicy"`
	} `json:"spec"`
}

func (g *groupObject) convert() (cluster.PodGroup, error) {
	f := groupFields(cluster.KindPodGroup, &g.ObjectMeta)
	out := cluster.PodGroup{
		Namespace: namespaceOf(&g.ObjectMeta), Name: g.Name, UID: string(g.UID), Labels: g.Labels,
		Parent: g.Spec.ParentCompositePodGroupName, Mode: g.Spec.DisruptionMode.mode(&f),
		Basic: g.Spec.SchedulingPolicy.Basic != nil,
		Class: g.Spec.PriorityClassName, Priority: g.Spec.Priority, Policy: g.Spec.PreemptionPolicy,
		Topology: g.Spec.SchedulingConstraints.topology(),
	}
	if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
		out.MinCount = &gang.MinCount
	}
	return out, f.err()
}

// compositeObject is a CompositePodGroup of any version.
type compositeObject struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ParentCompositePodGroupName string `json:"parentCompositePodGroupName"`
		SchedulingPolicy            struct {
			Basic *struct{} `json:"basic"`
			Gang  *struct {
				MinGroupCount int32 `json:"minGroupCount"`
			} `json:"gang"`
		} `json:"schedulingPolicy"`
		SchedulingConstraints groupConstraints `json:"schedulingConstraints"`
		DisruptionMode        groupMode        `json:"disruptionMode"`
		PriorityClassName     string           `json:"priorityClassName"`
		Priority              *int32           `json:"priority"`
		PreemptionPolicy      priority.Policy  `json:"preemptionPolicy"`
	} `json:"spec"`
}

func (g *compositeObject) convert() (cluster.CompositePodGroup, error) {
	f := groupFields(cluster.KindCompositePodGroup, &g.ObjectMeta)
	out := cluster.CompositePodGroup{
		Namespace: namespaceOf(&g.ObjectMeta), Name: g.Name, UID: string(g.UID), Labels: g.Labels,
		Parent: g.Spec.ParentCompositePodGroupName, Mode: g.Spec.DisruptionMode.mode(&f),
		Class: g.Spec.PriorityClassName, Priority: g.Spec.Priority, Policy: g.Spec.PreemptionPolicy,
		Topology: g.Spec.SchedulingConstraints.topology(),
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
	return out, f.err()
}

// groupConstraints are the levels of a topology that a group is packed into.
type groupConstraints struct {
	Topology []struct {
		Key string `json:"key"`
	} `json:"topology"`
}

func (c *groupConstraints) topology() (list []cluster.TopologyConstraint) {
	for _, t := range c.Topology {
		list = append(list, cluster.TopologyConstraint{Key: t.Key})
	}
	return list
}

// groupMode is a disruption mode: in v1alpha2 a name, later a union.
type groupMode struct {
	name  string
	union struct {
		Single *struct{} `json:"single"`
		All    *struct{} `json:"all"`
	}
}

// UnmarshalJSON reads either form.
func (m *groupMode) UnmarshalJSON(doc []byte) error {
	if bytes.HasPrefix(doc, []byte(`"`)) {
		return Unmarshal(doc, &m.name)
	}
	return Unmarshal(doc, &m.union)
}

// mode is the mode that m names; none is the default.
func (m *groupMode) mode(f *fields) disruption.Mode {
	single, all := m.name == "Pod" || m.union.Single != nil, m.name == "PodGroup" || m.union.All != nil
	switch {
	case m.name != "" && !single && !all:
		f.bad("spec.disruptionMode", quote(m.name), "Pod or PodGroup")
	case single && all:
		f.bad("spec.disruptionMode", "single and all", "one of them")
	case all:
		return disruption.All
	case single:
		return disruption.Single
	}
	return ""
}

func groupFields(kind cluster.Kind, m *metav1.ObjectMeta) fields {
	return fields{kind: string(kind), namespace: namespaceOf(m), name: m.Name}
}

// PreemptionPriority is the value of the class that [PreemptionPriorityAnnotation] of a
// pod or pod group names; nil without the annotation. The error is an [*Error] if the
// class is not among classes.
func PreemptionPriority(kind cluster.Kind, o metav1.Object, classes *priority.Classes) (*int32, error) {
	f := fields{kind: string(kind), namespace: cmp.Or(o.GetNamespace(), metav1.NamespaceDefault), name: o.GetName()}
	value := preemptionPriority(&f, o.GetAnnotations(), classes)
	return value, f.err()
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
