package preemption

import (
	"fmt"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// The actions of a Step.
const (
	ActionReject    = "reject"    // the domain is ruled out, Reason says why
	ActionPotential = "potential" // Unit may be evicted and is taken out
	ActionReturn    = "return"    // Unit comes back: the preemptor fits all the same
	ActionKeepOut   = "keep out"  // Unit stays out, Reason says what its return fails
	ActionScore     = "score"     // the domain helps; Text has its score
	ActionChoose    = "choose"    // the domain is the best
)

// trace tells, node by node, who was taken out, who came back and why not the
// others.
func (s *podSearch) trace() []DomainTrace {
	list := make([]DomainTrace, s.ix.NumNodes())
	for n := range cluster.NodeID(s.ix.NumNodes()) {
		list[n] = DomainTrace{Domain: s.ix.Node(n).Name, Steps: s.traceNode(n)}
	}
	return list
}

func (s *podSearch) traceNode(n cluster.NodeID) []Step {
	s.trial.Reset(n)
	if why := s.trial.Fits(); why.Unresolvable {
		return []Step{s.step(ActionReject, "", n, why, "no eviction helps")}
	}
	var steps []Step
	potential := s.units.Potential(n, s.priority)
	for _, u := range potential {
		steps = append(steps, Step{Action: ActionPotential, Unit: s.unitName(u), Text: "potential " + s.unitName(u)})
	}
	s.runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
		name := s.unitName(u)
		budget := ""
		if violates {
			budget = ", its loss violates a budget"
		}
		if why.OK() {
			steps = append(steps, Step{Action: ActionReturn, Unit: name, Text: "reprieve " + name + " yes" + budget})
			return
		}
		r := s.reason(n, why)
		steps = append(steps, Step{
			Action: ActionKeepOut, Unit: name, Reason: &r,
			Text: fmt.Sprintf("reprieve %s no (%s)%s", name, r, budget),
		})
	}
	c, why := s.evaluate(n)
	s.runner.Observe = nil
	if !why.OK() {
		return append(steps, s.step(ActionReject, "", n, why, "with every potential victim gone"))
	}
	steps = append(steps, Step{Action: ActionScore, Text: "score " + scoreText(c.score)})
	if n == s.best.node {
		steps = append(steps, Step{Action: ActionChoose, Text: "chosen"})
	}
	return steps
}

func (s *podSearch) step(action, unit string, n cluster.NodeID, why domain.Reason, text string) Step {
	r := s.reason(n, why)
	if why.Check == noVictims {
		return Step{Action: action, Unit: unit, Reason: &r, Text: s.rejection(why)}
	}
	return Step{Action: action, Unit: unit, Reason: &r, Text: fmt.Sprintf("%s (%s)", text, r)}
}

// unitName is the namespace and name of the pod or group that goes as a whole.
func (pl *Planner) unitName(u victims.UnitID) string {
	unit := pl.units.Unit(u)
	if unit.Group != cluster.NoGroup {
		g := pl.ix.Group(unit.Group)
		return key(g.Namespace, g.Name)
	}
	pod := pl.ix.Pod(unit.Pods[0])
	return key(pod.Namespace, pod.Name)
}

func key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func scoreText(score victims.Score) string {
	var parts []string
	for _, c := range criteria(score) {
		parts = append(parts, fmt.Sprintf("%s %d", c.Name, c.Value))
	}
	return strings.Join(parts, ", ")
}
