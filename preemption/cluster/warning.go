package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// Warning is about input that is odd but occurs in live clusters: it was answered
// by the rule that upstream follows.
type Warning struct {
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Field     string `json:"field"`
	Value     string `json:"value"`
	Text      string `json:"text"` // what is odd, and what was done
}

func (ix *Index) warnGroup(g *Group, field, value, text string) {
	ix.warnings = append(ix.warnings, Warning{g.Kind, g.Namespace, g.Name, field, value, text})
}

// oddity reports whether anything may be odd about a pod.
func oddity(row *podRow) bool {
	p := row.pod
	return row.runs && row.node == NoNode || p.Group != "" || p.Class != ""
}

// oddities lists what is odd about a pod.
func (ix *Index) oddities(row *podRow) []Warning {
	var list []Warning
	p := row.pod
	warn := func(field, value, text string) {
		list = append(list, Warning{KindPod, p.Namespace, p.Name, field, value, text})
	}
	if row.runs && row.node == NoNode {
		list = append(list, nodeless(p))
	}
	if p.Group != "" && row.group == NoGroup {
		warn("Group", p.Group, "no such group: the pod is taken by itself")
	}
	if p.Class != "" {
		if named, known := ix.classes.Lookup(p.Class); !known {
			warn("Class", p.Class, "no such priority class")
		} else if p.Priority != nil && named.Value != *p.Priority {
			warn("Priority", number(*p.Priority), fmt.Sprintf("its class says %d: the pod's own priority counts", named.Value))
		}
	}
	if row.group != NoGroup {
		if of := ix.groups.At(int(row.group)); of.Priority != row.priority {
			warn("Priority", number(row.priority), fmt.Sprintf("its group %q has %d", of.Name, of.Priority))
		}
	}
	return list
}

// nodeless is the warning of a pod on a node that is unknown.
func nodeless(p *Pod) Warning {
	return Warning{KindPod, p.Namespace, p.Name, "Node", p.Node, "no such node: the pod counts for budgets and groups only"}
}

func sortWarnings(ws []Warning) { slices.SortFunc(ws, compareWarnings) }

func compareWarnings(a, b Warning) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Field, b.Field), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Text, b.Text))
}
