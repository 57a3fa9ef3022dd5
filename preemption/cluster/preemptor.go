package cluster

// Kind is the kind of an object that can be named.
type Kind string

// The kinds of objects.
const (
	KindPod               Kind = "Pod"
	KindPodGroup          Kind = "PodGroup"
	KindCompositePodGroup Kind = "CompositePodGroup"
	KindWorkload          Kind = "Workload"
)

// Preemptor is the pod or group that wants to run: either the name of a pending
// object of the snapshot, or pods (and a group) given inline for a what-if. Both
// or neither is an error.
type Preemptor struct {
	Kind      Kind   `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`

	Pods  []Pod     `json:"pods,omitempty"`
	Group *PodGroup `json:"group,omitempty"`

	Workload *Workload `json:"workload,omitempty"` // with KindWorkload, in place of Name

	// Placement gives the nodes of a gang's members instead of searching for them:
	// from namespace/name of the pod to the node's name. Members that it does not
	// name get no place. nil: searched.
	Placement map[string]string `json:"placement,omitzero"`
}

// Validate checks p by itself: that it names an object or holds pods, and what it
// holds. The error joins a [*FieldError] for each problem.
func (p *Preemptor) Validate() error {
	if p == nil {
		return nilProblem("Preemptor")
	}
	var ps problems
	o := p.object(&ps)
	if p.Kind == KindWorkload {
		return p.validateWorkload(&ps, o)
	}
	if p.Workload != nil {
		o.bad("Workload", "set", "absent, as Kind is not Workload")
	}
	named, inline := p.Name != "", len(p.Pods) > 0 || p.Group != nil
	switch {
	case named && inline:
		o.bad("Pods", "set", "absent, as the preemptor is named")
	case !named && !inline:
		o.bad("Name", quote(""), "a name, or Pods given")
	case named:
		switch p.Kind {
		case KindPod, KindPodGroup, KindCompositePodGroup:
		default:
			o.bad("Kind", quote(string(p.Kind)), "Pod, PodGroup, CompositePodGroup or Workload")
		}
	case p.Group == nil && len(p.Pods) > 1:
		o.bad("Pods", number(len(p.Pods)), "one pod, or a Group given")
	case p.Group == nil && p.Kind != "" && p.Kind != KindPod:
		o.bad("Kind", quote(string(p.Kind)), "Pod or empty, as no Group is given")
	case p.Group != nil && p.Kind != "" && p.Kind != KindPodGroup:
		o.bad("Kind", quote(string(p.Kind)), "PodGroup or empty, as a Group is given")
	}
	seen := make(map[PodKey]bool, len(p.Pods))
	for i := range p.Pods {
		pod := &p.Pods[i]
		validatePod(&ps, pod)
		validatePodTimes(&ps, pod)
		if pod.Node != "" {
			ps.object(KindPod, pod.Namespace, pod.Name).bad("Node", quote(pod.Node), "empty: the preemptor runs already")
		}
		if k := (PodKey{pod.Namespace, pod.Name}); seen[k] {
			ps.object(KindPod, pod.Namespace, pod.Name).bad("Name", quote(pod.Name), "unique among the preemptor's pods")
		} else {
			seen[k] = true
		}
		if g := p.Group; g != nil {
			validateMember(&ps, pod, g)
		}
	}
	if g := p.Group; g != nil {
		validateGroup(&ps, g)
		validatePast(ps.object(KindPodGroup, g.Namespace, g.Name), g.Cost, g.Evictions)
	}
	return ps.err()
}

// object is what a complaint about p names: what p names, or else what it holds.
func (p *Preemptor) object(ps *problems) object {
	namespace, name := p.Namespace, p.Name
	switch {
	case name != "":
	case p.Workload != nil:
		namespace, name = p.Workload.Namespace, p.Workload.Name
	case p.Group != nil:
		namespace, name = p.Group.Namespace, p.Group.Name
	case len(p.Pods) > 0:
		namespace, name = p.Pods[0].Namespace, p.Pods[0].Name
	}
	return ps.object("Preemptor", namespace, name)
}

// validateWorkload checks a preemptor of kind Workload.
func (p *Preemptor) validateWorkload(ps *problems, o object) error {
	if len(p.Pods) > 0 || p.Group != nil {
		o.bad("Pods", "set", "absent, as the preemptor is a workload")
	}
	if p.Placement != nil {
		o.bad("Placement", "set", "absent, as the preemptor is a workload")
	}
	switch {
	case p.Workload != nil && p.Name != "":
		o.bad("Workload", "set", "absent, as the preemptor is named")
	case p.Workload == nil && p.Name == "":
		o.bad("Name", quote(""), "a name, or Workload given")
	}
	if p.Workload != nil {
		p.Workload.validate(ps)
	}
	return ps.err()
}

// validateMember checks that an inline pod does not say that it is of another group.
func validateMember(ps *problems, pod *Pod, g *PodGroup) {
	o := ps.object(KindPod, pod.Namespace, pod.Name)
	if pod.Group != "" && pod.Group != g.Name {
		o.bad("Group", quote(pod.Group), "empty or that of the preemptor, "+quote(g.Name))
	}
	if pod.Namespace != "" && g.Namespace != "" && pod.Namespace != g.Namespace {
		o.bad("Namespace", quote(pod.Namespace), "that of its group, "+quote(g.Namespace))
	}
}
