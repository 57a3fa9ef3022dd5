package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/priority"
)

// The kinds of objects that complaints and warnings name beside those of Preemptor.
const (
	KindNode          Kind = "Node"
	KindNamespace     Kind = "Namespace"
	KindBudget        Kind = "PodDisruptionBudget"
	KindPriorityClass Kind = "PriorityClass"
	KindSnapshot      Kind = "Snapshot"
)

func validateBudget(ps *problems, b *disruption.Budget) {
	o := ps.object(KindBudget, b.Namespace, b.Name)
	o.named()
	validateSelector(o, place{field: "Selector"}, b.Selector)
}

func validateNode(ps *problems, n *Node) {
	validateAllocatable(ps, n)
	validateNodeBesides(ps, n)
}

func validateAllocatable(ps *problems, n *Node) {
	validateAmounts(ps.object(KindNode, "", n.Name), "Allocatable", n.Allocatable)
}

// validateNodeBesides checks everything but amounts.
func validateNodeBesides(ps *problems, n *Node) {
	o := ps.object(KindNode, "", n.Name)
	o.named()
	validateTaints(o, "Taints", n.Taints)
	validatePools(o, n.Devices)
}

func validateAmounts(o object, field string, r Resources) {
	for name, v := range r {
		if name == "" {
			o.bad(field, quote(""), "a resource name")
		}
		if v < 0 {
			o.bad(field+"["+words.Short(name)+"]", number(v), ">= 0")
		}
	}
}

// validatePod checks one pod of a snapshot or of a preemptor.
func validatePod(ps *problems, p *Pod) {
	validateRequests(ps, p)
	validateBesides(ps, p)
}

// validateRequests checks what a pod asks for.
func validateRequests(ps *problems, p *Pod) {
	o := ps.object(KindPod, p.Namespace, p.Name)
	validateAmounts(o, "Requests", p.Requests)
	if v, ok := p.Requests[Pods]; ok {
		o.bad("Requests["+Pods+"]", number(v), "absent: a pod counts as one by itself")
	}
}

// validateBesides checks everything but requests.
func validateBesides(ps *problems, p *Pod) {
	o := ps.object(KindPod, p.Namespace, p.Name)
	o.named()
	for key, value := range p.NodeSelector {
		o.text(place{field: "NodeSelector"}, key, value)
	}
	validatePolicy(o, p.Policy)
	validatePorts(o, p.Ports)
	validateTolerations(o, p.Tolerations)
	validateNodeAffinity(o, p.NodeAffinity)
	validateConstraints(o, p)
	validateGuarded(o, p.Guard, p.Cost, p.RanSeconds)
}

func validatePolicy(o object, policy priority.Policy) {
	switch policy {
	case "", priority.Never, priority.PreemptLowerPriority:
	default:
		o.bad("Policy", quote(string(policy)), "PreemptLowerPriority, Never or empty")
	}
}

func validatePorts(o object, ports []HostPort) {
	for i, port := range ports {
		field := place{list: "Ports", i: i}
		if port.Port < 1 || port.Port > 65535 {
			o.bad(field.dot(".Port"), number(port.Port), "from 1 to 65535")
		}
		switch port.Protocol {
		case "", "TCP", "UDP", "SCTP":
		default:
			o.bad(field.dot(".Protocol"), quote(port.Protocol), "TCP, UDP, SCTP or empty")
		}
	}
}

func validateTolerations(o object, tolerations []Toleration) {
	for i, t := range tolerations {
		field := place{list: "Tolerations", i: i}
		o.text(field.at(".Key"), t.Key)
		o.text(field.at(".Value"), t.Value)
		switch t.Operator {
		case "", TolerationEqual:
			if t.Key == "" {
				o.bad(field.dot(".Operator"), quote(string(t.Operator)), "Exists, as the key is empty")
			}
		case TolerationExists:
			if t.Value != "" {
				o.bad(field.dot(".Value"), quote(t.Value), "empty, as the operator is Exists")
			}
		case TolerationLt, TolerationGt:
			if _, err := strconv.ParseInt(t.Value, 10, 64); err != nil {
				o.bad(field.dot(".Value"), quote(t.Value), "an integer")
			}
			if t.Key == "" {
				o.bad(field.dot(".Key"), quote(""), "a key")
			}
		default:
			o.bad(field.dot(".Operator"), quote(string(t.Operator)), "Equal, Exists, Lt, Gt or empty")
		}
		switch t.Effect {
		case "", NoSchedule, PreferNoSchedule, NoExecute:
		default:
			o.bad(field.dot(".Effect"), quote(string(t.Effect)), "NoSchedule, PreferNoSchedule, NoExecute or empty")
		}
	}
}

func validateNodeAffinity(o object, a *NodeAffinity) {
	if a == nil {
		return
	}
	for i, term := range a.Terms {
		for j, r := range term.Labels {
			validateNodeRequirement(o, place{list: "NodeAffinity.Terms", i: i, inner: ".Labels", j: j}, r)
		}
		for j, r := range term.Fields {
			field := place{list: "NodeAffinity.Terms", i: i, inner: ".Fields", j: j}
			if r.Key != fieldName {
				o.bad(field.dot(".Key"), quote(r.Key), fieldName)
			}
			if r.Operator != NodeIn && r.Operator != NodeNotIn {
				o.bad(field.dot(".Operator"), quote(string(r.Operator)), "In or NotIn")
			}
			if len(r.Values) != 1 {
				o.bad(field.dot(".Values"), number(len(r.Values)), "one value")
			}
			o.text(field.at(".Values"), r.Values...)
		}
	}
}

// fieldName is the only field of a node that NodeTerm.Fields may select on.
const fieldName = "metadata.name"

func validateNodeRequirement(o object, field place, r NodeRequirement) {
	if r.Key == "" {
		o.bad(field.dot(".Key"), quote(""), "a label")
	}
	o.text(field.at(".Key"), r.Key)
	o.text(field.at(".Values"), r.Values...)
	switch r.Operator {
	case NodeIn, NodeNotIn:
		if len(r.Values) == 0 {
			o.bad(field.dot(".Values"), number(0), "at least one value")
		}
	case NodeExists, NodeDoesNotExist:
		if len(r.Values) != 0 {
			o.bad(field.dot(".Values"), number(len(r.Values)), "no value")
		}
	case NodeGt, NodeLt:
		if len(r.Values) != 1 {
			o.bad(field.dot(".Values"), number(len(r.Values)), "one value")
		} else if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			o.bad(field.dot(".Values[0]"), quote(r.Values[0]), "an integer")
		}
	default:
		o.bad(field.dot(".Operator"), quote(string(r.Operator)), "In, NotIn, Exists, DoesNotExist, Gt or Lt")
	}
}

func validateGroup(ps *problems, g *PodGroup) {
	o := ps.object(KindPodGroup, g.Namespace, g.Name)
	o.named()
	if g.Basic && g.MinCount != nil {
		o.bad("Basic", "true", "false, as MinCount makes the group a gang")
	}
	if g.MinCount != nil && *g.MinCount < 1 {
		o.bad("MinCount", number(*g.MinCount), ">= 1")
	}
	validateMode(o, g.Mode)
	if g.Mode == disruption.SurplusFirst && g.MinCount == nil {
		o.bad("Mode", quote(string(g.Mode)), "Single or All: without MinCount there is no surplus to count")
	}
	validatePolicy(o, g.Policy)
	validateTopology(o, g.Topology)
	validateGuarded(o, g.Guard, g.Cost, g.RanSeconds)
}

func validateComposite(ps *problems, g *CompositePodGroup) {
	o := ps.object(KindCompositePodGroup, g.Namespace, g.Name)
	o.named()
	if g.MinGroupCount != nil && *g.MinGroupCount < 1 {
		o.bad("MinGroupCount", number(*g.MinGroupCount), ">= 1")
	}
	validateMode(o, g.Mode)
	validatePolicy(o, g.Policy)
	validateTopology(o, g.Topology)
	validateGuarded(o, g.Guard, g.Cost, g.RanSeconds)
}

func validateMode(o object, mode disruption.Mode) {
	if !mode.Valid() {
		o.bad("Mode", quote(string(mode)), "Single, All, SurplusFirst or empty")
	}
}

func validateTopology(o object, levels []TopologyConstraint) {
	if len(levels) > mostLevels {
		o.bad("Topology", number(len(levels))+" levels", "at most "+number(mostLevels))
		return
	}
	for i, level := range levels {
		if level.Key == "" {
			o.bad(fmt.Sprintf("Topology[%d].Key", i), quote(""), "a node label")
		}
	}
}

// sortedNames returns the keys of m in order.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// nilProblem is the error about a nil object that is to be validated.
func nilProblem(kind Kind) error {
	return &FieldError{Kind: string(kind), Field: "Name", Value: "nil", Want: "an object"}
}

// Validate checks n by itself. The error joins a [*FieldError] for each problem.
func (n *Node) Validate() error {
	if n == nil {
		return nilProblem(KindNode)
	}
	var ps problems
	validateNode(&ps, n)
	return ps.err()
}

// Validate checks p by itself. The error joins a [*FieldError] for each problem.
func (p *Pod) Validate() error {
	if p == nil {
		return nilProblem(KindPod)
	}
	var ps problems
	validatePod(&ps, p)
	validatePodTimes(&ps, p)
	return ps.err()
}

// Validate checks g by itself. The error joins a [*FieldError] for each problem.
func (g *PodGroup) Validate() error {
	if g == nil {
		return nilProblem(KindPodGroup)
	}
	var ps problems
	validateGroup(&ps, g)
	validatePast(ps.object(KindPodGroup, g.Namespace, g.Name), g.Cost, g.Evictions)
	return ps.err()
}

// Validate checks g by itself. The error joins a [*FieldError] for each problem.
func (g *CompositePodGroup) Validate() error {
	if g == nil {
		return nilProblem(KindCompositePodGroup)
	}
	var ps problems
	validateComposite(&ps, g)
	validatePast(ps.object(KindCompositePodGroup, g.Namespace, g.Name), g.Cost, g.Evictions)
	return ps.err()
}

// addClassProblems turns what package priority complains about into FieldErrors.
func addClassProblems(ps *problems, err error) {
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		var fe *priority.FieldError
		if errors.As(err, &fe) {
			ps.object(KindPriorityClass, "", fe.Class).wrap(err, fe.Field, fe.Value, fe.Want)
			continue
		}
		ps.object(KindPriorityClass, "", "").wrap(err, "", err.Error(), "valid")
	}
}
