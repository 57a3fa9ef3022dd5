package preemption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// The actions of a Step.
const (
	ActionReject     = "reject"      // the domain is ruled out, Reason says why
	ActionPotential  = "potential"   // Unit may be evicted and is taken out
	ActionKeep       = "keep"        // a guard keeps Unit, Reason says which
	ActionFree       = "free"        // Unit costs nothing; see Options.BrokenGroupsFree
	ActionPlace      = "place"       // Unit, a member of the preemptor, gets a place
	ActionLevel      = "level"       // nobody above a level has to go
	ActionReturn     = "return"      // Unit comes back: the preemptor fits all the same
	ActionReturnPart = "return part" // Unit comes back but for its surplus
	ActionKeepOut    = "keep out"    // Unit stays out, Reason says what its return fails
	ActionCompare    = "compare"     // several placements of a gang were tried
	ActionScore      = "score"       // the domain helps; Text has its score
	ActionChoose     = "choose"      // the domain is the best
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
	if why := s.status[n]; why.Check == notSampled {
		return []Step{s.step(ActionReject, "", n, why, "enough candidates were found")}
	}
	s.trial.Reset(n)
	if why := s.trial.Fits(); why.Unresolvable {
		return []Step{s.step(ActionReject, "", n, why, "no eviction helps")}
	}
	steps := s.keepSteps([]cluster.NodeID{n})
	potential := s.evictable(n)
	for _, u := range potential {
		steps = append(steps, Step{Action: ActionPotential, Unit: s.unitName(u), Text: "potential " + s.unitName(u)})
	}
	steps = append(steps, s.freeSteps(potential)...)
	s.runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
		steps = append(steps, s.reprieveStep(u, violates, s.reason(n, why)))
	}
	s.runner.ObservePart = func(u victims.UnitID, out []cluster.PodID) { steps = append(steps, s.partStep(u, out)) }
	s.notes = func(step Step) { steps = append(steps, step) }
	c, why := s.evaluate(n)
	s.runner.Observe, s.runner.ObservePart, s.notes = nil, nil, nil
	if !why.OK() {
		return append(steps, s.step(ActionReject, "", n, why, "with every potential victim gone"))
	}
	steps = append(steps, Step{Action: ActionScore, Text: "score " + s.scoreText(c.score)})
	if n == s.best.node {
		steps = append(steps, Step{Action: ActionChoose, Text: "chosen"})
	}
	return steps
}

// partStep tells that elastic unit u returns but for some of its pods.
func (q *question) partStep(u victims.UnitID, out []cluster.PodID) Step {
	var names []string
	for _, p := range out {
		names = append(names, q.ix.Pod(p).Name)
	}
	name := q.unitName(u)
	return Step{
		Action: ActionReturnPart, Unit: name,
		Text: fmt.Sprintf("reprieve %s but for %d of %s: %s", name, len(out), count(len(q.units.Unit(u).Pods), "pod"), strings.Join(names, " ")),
	}
}

// reprieveStep is the attempt to return unit u; an empty reason says that it stays.
func (q *question) reprieveStep(u victims.UnitID, violates bool, why Reason) Step {
	name, budget := q.unitName(u), ""
	if violates {
		budget = ", its loss violates a budget"
	}
	if why.Check == "" {
		return Step{Action: ActionReturn, Unit: name, Violates: violates, Text: "reprieve " + name + " yes" + budget}
	}
	return Step{
		Action: ActionKeepOut, Unit: name, Violates: violates, Reason: &why,
		Text: fmt.Sprintf("reprieve %s no (%s)%s", name, why, budget),
	}
}

// unitNames joins the names of units, most important first.
func (q *question) unitNames(list []victims.UnitID) string {
	list = slices.Clone(list)
	slices.SortFunc(list, q.units.Compare)
	names := make([]string, len(list))
	for i, u := range list {
		names[i] = q.unitName(u)
	}
	return strings.Join(names, " ")
}

func (s *podSearch) step(action, unit string, n cluster.NodeID, why domain.Reason, text string) Step {
	r := s.reason(n, why)
	if why.Check == noVictims {
		return Step{Action: action, Unit: unit, Reason: &r, Text: s.rejection(why)}
	}
	return Step{Action: action, Unit: unit, Reason: &r, Text: fmt.Sprintf("%s (%s)", text, r)}
}
