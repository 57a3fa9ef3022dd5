package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"
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
	return row.runs && row.node == NoNode || p.Group != "" || p.Class != "" || p.Cost != nil || len(p.Evictions) > 0
}

// oddities lists what is odd about a pod.
func (ix *Index) oddities(row *podRow) (list []Warning) {
	if row.runs && row.node == NoNode {
		list = append(list, nodeless(row.pod))
	}
	if row.group == NoGroup {
		return ix.oddPod(list, row.pod, row.priority, nil)
	}
	return ix.oddPod(list, row.pod, row.priority, ix.groups.At(int(row.group)))
}

// OddInline lists what will be odd about the pods and the group that p holds inline, once they
// are part of the cluster, sorted.
func (ix *Index) OddInline(p *Preemptor) (list []Warning) {
	var given *Group
	if g := p.Group; g != nil {
		given = &Group{Kind: KindPodGroup, Namespace: g.Namespace, Name: g.Name, Mode: g.Mode, PodGroup: g}
		e, _ := ix.classes.Resolve(given.spec())
		given.Priority = e.Priority
		if id := ix.GroupByName(KindPodGroup, g.Namespace, g.Name); id != NoGroup {
			given.Pods = slices.DeleteFunc(slices.Clone(ix.Group(id).Pods), func(old PodID) bool {
				return slices.ContainsFunc(p.Pods, func(q Pod) bool { return q.Namespace == g.Namespace && q.Name == ix.Pod(old).Name })
			})
		}
		list = ix.oddGroup(given, p.Pods)
	}
	for i := range p.Pods {
		pod, of := p.Pods[i], given
		if of != nil {
			pod.Group = of.Name
		} else if id := ix.GroupByName(KindPodGroup, pod.Namespace, pod.Group); id != NoGroup {
			of = ix.Group(id)
		}
		e, _ := ix.classes.Resolve(pod.spec())
		list = ix.oddPod(list, &pod, e.Priority, of)
	}
	sortWarnings(list)
	return list
}

// oddPod appends what is odd about p, of that priority and group, wherever it is.
func (ix *Index) oddPod(list []Warning, p *Pod, prio int32, of *Group) []Warning {
	warn := func(field, value, text string) {
		list = append(list, Warning{KindPod, p.Namespace, p.Name, field, value, text})
	}
	if p.Group != "" && of == nil {
		warn("Group", p.Group, "no such group: the pod is taken by itself")
	}
	if p.Class != "" {
		if named, known := ix.classes.Lookup(p.Class); !known {
			warn("Class", p.Class, "no such priority class")
		} else if p.Priority != nil && named.Value != *p.Priority {
			warn("Priority", number(*p.Priority), fmt.Sprintf("its class says %d: the pod's own priority counts", named.Value))
		}
	}
	if of != nil && of.Priority != prio {
		warn("Priority", number(prio), fmt.Sprintf("its group %q has %d", of.Name, of.Priority))
	}
	return ix.oddMoments(list, Warning{Kind: KindPod, Namespace: p.Namespace, Name: p.Name}, p.Cost, p.Evictions)
}

const textAhead = "after the snapshot's time: no time has passed since"

// oddMoments appends, as warnings like w, what has happened after the snapshot's time: clocks
// differ, and a planner's stands still between two changes.
func (ix *Index) oddMoments(list []Warning, w Warning, cost *Cost, evictions []time.Time) []Warning {
	look := func(at time.Time, field func() string) {
		if ix.isAhead(at) {
			w.Field, w.Value, w.Text = field(), at.Format(time.RFC3339Nano), textAhead
			list = append(list, w)
		}
	}
	if cost != nil {
		look(cost.Checkpoint, func() string { return "Cost.Checkpoint" })
	}
	for i, at := range evictions {
		look(at, func() string { return fmt.Sprintf("Evictions[%d]", i) })
	}
	return list
}

// OddDisruptions lists the earlier preemptions that lie after the snapshot's time.
func (ix *Index) OddDisruptions() (list []Warning) {
	for i, d := range ix.disruptions {
		if ix.isAhead(d.Time) {
			list = append(list, Warning{Kind: KindSnapshot, Field: fmt.Sprintf("Disruptions[%d].Time", i), Value: d.Time.Format(time.RFC3339Nano), Text: textAhead})
		}
	}
	return list
}

func (ix *Index) isAhead(at time.Time) bool { return !ix.time.IsZero() && at.After(ix.time) }

// ahead is the moment that w is about, if it is one of oddMoments.
func (w *Warning) ahead() (at time.Time, ok bool) {
	if w.Text != textAhead {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, w.Value)
	return at, err == nil
}

// nodeless is the warning of a pod on a node that is unknown.
func nodeless(p *Pod) Warning {
	return Warning{KindPod, p.Namespace, p.Name, "Node", p.Node, "no such node: the pod counts for budgets and groups only"}
}

func sortWarnings(ws []Warning) { slices.SortFunc(ws, Warning.Compare) }

// Compare orders warnings by what they are about.
func (w Warning) Compare(o Warning) int {
	return cmp.Or(
		cmp.Compare(w.Kind, o.Kind), cmp.Compare(w.Namespace, o.Namespace), cmp.Compare(w.Name, o.Name),
		cmp.Compare(w.Field, o.Field), cmp.Compare(w.Value, o.Value), cmp.Compare(w.Text, o.Text))
}
