package tell

import (
	"fmt"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// trace tells, node by node, who was taken out, who came back and why not the
// others. To tell of the node that is chosen may take as much as the nodes of a chunk, and so may the others together.
func (s *podAnswer) trace() []answer.DomainTrace {
	var chosen []answer.Step
	if s.Best.Node != cluster.NoNode {
		chosen = s.traceNode(s.Best.Node)
	}
	s.Refill()
	list := make([]answer.DomainTrace, 0, s.Index.CountNodes())
	for n := range s.Index.Nodes() {
		steps := chosen
		if n != s.Best.Node {
			steps = s.traceNode(n)
		}
		list = append(list, answer.DomainTrace{Domain: s.Index.Node(n).Name, Steps: steps})
	}
	return list
}

func (s *podAnswer) traceNode(n cluster.NodeID) []answer.Step {
	if why := s.Status[n]; why.Check == ask.NotSampled {
		return []answer.Step{s.step(answer.ActionReject, "", n, why, "enough candidates were found")}
	}
	s.Trial.Reset(n)
	if why := s.Trial.Fits(); why.Unresolvable {
		return []answer.Step{s.step(answer.ActionReject, "", n, why, "no eviction helps")}
	}
	steps := s.keepSteps([]cluster.NodeID{n})
	potential := s.Evictable(n)
	for _, u := range potential {
		steps = append(steps, answer.Step{Action: answer.ActionPotential, Unit: s.UnitName(u), Text: "potential " + s.UnitName(u)})
	}
	steps = append(steps, s.freeSteps(potential)...)
	note := func(step ask.Step) { steps = append(steps, s.stepOf(n, step)) }
	s.Runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) { note(ask.Returning(u, violates, why)) }
	s.Runner.ObservePart = func(u victims.UnitID, out []cluster.PodID) {
		note(ask.Step{Action: ask.ReturnsInPart, Unit: u, More: &ask.More{Pods: out}})
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
		return append(steps, s.step(answer.ActionReject, "", n, why, "with every potential victim gone"))
	}
	note(ask.Step{Action: ask.Scores, More: &ask.More{Score: c.Score, Units: c.Victims, Parts: c.Parts}})
	if n == s.Best.Node {
		steps = append(steps, answer.Step{Action: answer.ActionChoose, Text: "chosen"})
	}
	return steps
}

// stepOf puts a step about node n, or with NoNode about a domain of several, into words.
func (q *Inquiry) stepOf(n cluster.NodeID, s ask.Step) answer.Step {
	switch s.Action {
	case ask.Rejects:
		return answer.Step{Action: answer.ActionReject, Text: q.rejection(s.Why)}
	case ask.TakesOut:
		return answer.Step{Action: answer.ActionPotential, Text: "potential " + q.unitNames(s.Units)}
	case ask.Places:
		name := q.memberName(s.Member)
		return answer.Step{Action: answer.ActionPlace, Unit: name, Text: "place " + name + " on " + q.Index.Node(s.Node).Name}
	case ask.Settles:
		text := fmt.Sprintf("level %d is enough, and there is none below", s.Level)
		if s.Lower {
			text = fmt.Sprintf("level %d is enough, %d is not (%s)", s.Level, s.Below, q.rejection(s.Why))
		}
		return answer.Step{Action: answer.ActionLevel, Text: text}
	case ask.Compares:
		return answer.Step{Action: answer.ActionCompare, Text: fmt.Sprintf("of %d placements tried, none disrupts less", s.Count)}
	case ask.Scores:
		return answer.Step{Action: answer.ActionScore, Text: "score " + q.scoreText(s.Score) + q.movesText(s.Units, s.Parts)}
	}
	return q.returnStep(n, s)
}

// movesText says what becomes of each of some victims, where that is asked for.
func (q *Inquiry) movesText(list []victims.UnitID, parts victims.Parts) string {
	if !q.AsksWhoMoves() {
		return ""
	}
	var b strings.Builder
	told := 0
	for _, u := range list {
		for _, p := range parts.Of(q.Units, u) {
			if told++; told > mostMoves {
				return b.String() + "; and so on"
			}
			fmt.Fprintf(&b, "; %s %s", words.Key(q.Index.Pod(p).Namespace, q.Index.Pod(p).Name), q.fateText(p))
		}
	}
	return b.String()
}

// moves says where some victims go, and who moves for them, where it is asked for that they do.
func (q *Inquiry) moves(at []domain.Assignment, out []victims.UnitID, parts victims.Parts) (list []answer.Nomination) {
	if !q.Lands() {
		return nil
	}
	q.Landed = 0
	moves, _ := q.Land(at, out, parts)
	for _, m := range moves {
		list = append(list, answer.Nomination{Pod: RefTo(q.Index.Pod(m.Pod)), Node: q.Index.Node(m.Node).Name})
	}
	return list
}

// mostMoves is of how many victims a trace says what becomes of each.
const mostMoves = 100

// fateText says what becomes of running pod p if it has to leave its node.
func (q *Inquiry) fateText(p cluster.PodID) string {
	switch moves, evicts, ok := q.Follows(p); {
	case ok && moves == 0:
		return "can move"
	case ok:
		return "can move after " + words.Count(moves, "other move")
	case evicts:
		return "would evict others in turn"
	}
	return "has no other place"
}

// returnStep puts the attempt to return a unit into words.
func (q *Inquiry) returnStep(n cluster.NodeID, s ask.Step) answer.Step {
	name, budget := q.UnitName(s.Unit), ""
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
		return answer.Step{
			Action: answer.ActionReturnPart, Unit: name,
			Text: fmt.Sprintf("reprieve %s but for %d of %s: %s", name, len(s.Pods), pods, strings.Join(names, " ")),
		}
	case ask.Returns:
		return answer.Step{Action: answer.ActionReturn, Unit: name, Violates: s.Violates, Text: "reprieve " + name + " yes" + budget}
	}
	why := q.Reason(n, s.Why)
	return answer.Step{
		Action: answer.ActionKeepOut, Unit: name, Violates: s.Violates, Reason: &why,
		Text: fmt.Sprintf("reprieve %s no (%s)%s", name, why, budget),
	}
}

// unitNames joins the names of units, most important first.
func (q *Inquiry) unitNames(list []victims.UnitID) string {
	names := make([]string, len(list))
	for i, u := range q.Units.Sorted(list) {
		names[i] = q.UnitName(u)
	}
	return strings.Join(names, " ")
}

func (s *podAnswer) step(action, unit string, n cluster.NodeID, why domain.Reason, text string) answer.Step {
	r := s.Reason(n, why)
	if why.Check == ask.NoVictims {
		return answer.Step{Action: action, Unit: unit, Reason: &r, Text: s.rejection(why)}
	}
	return answer.Step{Action: action, Unit: unit, Reason: &r, Text: fmt.Sprintf("%s (%s)", text, r)}
}
