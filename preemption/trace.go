package preemption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// trace tells, node by node, who was taken out, who came back and why not the
// others.
func (s *podAnswer) trace() []DomainTrace {
	list := make([]DomainTrace, 0, s.Index.CountNodes())
	for n := range s.Index.Nodes() {
		list = append(list, DomainTrace{Domain: s.Index.Node(n).Name, Steps: s.traceNode(n)})
	}
	return list
}

func (s *podAnswer) traceNode(n cluster.NodeID) []Step {
	if why := s.Status[n]; why.Check == ask.NotSampled {
		return []Step{s.step(ActionReject, "", n, why, "enough candidates were found")}
	}
	s.Trial.Reset(n)
	if why := s.Trial.Fits(); why.Unresolvable {
		return []Step{s.step(ActionReject, "", n, why, "no eviction helps")}
	}
	steps := s.keepSteps([]cluster.NodeID{n})
	potential := s.Evictable(n)
	for _, u := range potential {
		steps = append(steps, Step{Action: ActionPotential, Unit: s.unitName(u), Text: "potential " + s.unitName(u)})
	}
	steps = append(steps, s.freeSteps(potential)...)
	note := func(step ask.Step) { steps = append(steps, s.stepOf(n, step)) }
	s.Runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) { note(ask.Returning(u, violates, why)) }
	s.Runner.ObservePart = func(u victims.UnitID, out []cluster.PodID) {
		note(ask.Step{Action: ask.ReturnsInPart, Unit: u, Pods: out})
	}
	s.ObserveLevel = func(level, below int32, lower bool, why domain.Reason) {
		note(ask.Step{Action: ask.Settles, Level: level, Below: below, Lower: lower, Why: why})
	}
	c, why := s.Best, domain.Reason{}
	if n == c.Node && s.Effort != ask.Greedy {
		s.Watch(&c) // as they were found: there may be others that are as good
	} else {
		c, why = s.Evaluate(n)
	}
	s.Runner.Observe, s.Runner.ObservePart, s.ObserveLevel = nil, nil, nil
	if !why.OK() {
		return append(steps, s.step(ActionReject, "", n, why, "with every potential victim gone"))
	}
	note(ask.Step{Action: ask.Scores, Score: c.Score})
	if n == s.Best.Node {
		steps = append(steps, Step{Action: ActionChoose, Text: "chosen"})
	}
	return steps
}

// stepOf puts a step about node n, or with NoNode about a domain of several, into words.
func (q *question) stepOf(n cluster.NodeID, s ask.Step) Step {
	switch s.Action {
	case ask.Rejects:
		return Step{Action: ActionReject, Text: q.rejection(s.Why)}
	case ask.TakesOut:
		return Step{Action: ActionPotential, Text: "potential " + q.unitNames(s.Units)}
	case ask.Places:
		name := q.memberName(s.Member)
		return Step{Action: ActionPlace, Unit: name, Text: "place " + name + " on " + q.Index.Node(s.Node).Name}
	case ask.Settles:
		text := fmt.Sprintf("level %d is enough, and there is none below", s.Level)
		if s.Lower {
			text = fmt.Sprintf("level %d is enough, %d is not (%s)", s.Level, s.Below, q.rejection(s.Why))
		}
		return Step{Action: ActionLevel, Text: text}
	case ask.Compares:
		return Step{Action: ActionCompare, Text: fmt.Sprintf("of %d placements tried, none disrupts less", s.Count)}
	case ask.Scores:
		return Step{Action: ActionScore, Text: "score " + q.scoreText(s.Score)}
	}
	return q.returnStep(n, s)
}

// returnStep puts the attempt to return a unit into words.
func (q *question) returnStep(n cluster.NodeID, s ask.Step) Step {
	name, budget := q.unitName(s.Unit), ""
	if s.Violates {
		budget = ", its loss violates a budget"
	}
	switch s.Action {
	case ask.ReturnsInPart:
		var names []string
		for _, p := range s.Pods {
			names = append(names, q.Index.Pod(p).Name)
		}
		pods := words.Count(len(q.Units.Unit(s.Unit).Pods), "pod")
		return Step{
			Action: ActionReturnPart, Unit: name,
			Text: fmt.Sprintf("reprieve %s but for %d of %s: %s", name, len(s.Pods), pods, strings.Join(names, " ")),
		}
	case ask.Returns:
		return Step{Action: ActionReturn, Unit: name, Violates: s.Violates, Text: "reprieve " + name + " yes" + budget}
	}
	why := q.reason(n, s.Why)
	return Step{
		Action: ActionKeepOut, Unit: name, Violates: s.Violates, Reason: &why,
		Text: fmt.Sprintf("reprieve %s no (%s)%s", name, why, budget),
	}
}

// unitNames joins the names of units, most important first.
func (q *question) unitNames(list []victims.UnitID) string {
	list = slices.Clone(list)
	slices.SortFunc(list, q.Units.Compare)
	names := make([]string, len(list))
	for i, u := range list {
		names[i] = q.unitName(u)
	}
	return strings.Join(names, " ")
}

func (s *podAnswer) step(action, unit string, n cluster.NodeID, why domain.Reason, text string) Step {
	r := s.reason(n, why)
	if why.Check == ask.NoVictims {
		return Step{Action: action, Unit: unit, Reason: &r, Text: s.rejection(why)}
	}
	return Step{Action: action, Unit: unit, Reason: &r, Text: fmt.Sprintf("%s (%s)", text, r)}
}
