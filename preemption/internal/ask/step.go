package ask

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Step is one decision, for the trace.
type Step struct {
	Action   Action
	Unit     victims.UnitID  // of Returns, ReturnsInPart and StaysOut
	Violates bool            // Unit is tried early, since its loss would violate a budget
	Lower    bool            // there is a level below
	Why      domain.Reason   // of Rejects, StaysOut, and of Settles: what the level below lacks
	Member   domain.MemberID // of Places
	Node     cluster.NodeID  // likewise
	Level    int32           // of Settles: it is enough
	Below    int32           // the one below it, which is not
	*More
}

// More is what few steps tell: of most there are as many as of units.
type More struct {
	Units []victims.UnitID // of TakesOut, and of Scores: those that go
	Pods  []cluster.PodID  // of ReturnsInPart: those that stay out
	Score victims.Score    // of Scores
	Parts victims.Parts    // likewise
	Count int              // of Compares: placements that were tried
}

// Action is the kind of a step.
type Action int

// The actions.
const (
	Rejects       Action = iota // the domain is ruled out
	TakesOut                    // Units may be evicted
	Places                      // Member gets a place
	Settles                     // nobody above Level has to go
	Returns                     // Unit comes back: the preemptor fits all the same
	ReturnsInPart               // but for its surplus
	StaysOut                    // Unit does
	Compares                    // several placements of a gang were tried
	Scores                      // the domain helps
)

// Returning is the attempt to return unit u; an empty reason says that it comes back.
func Returning(u victims.UnitID, violates bool, why domain.Reason) Step {
	s := Step{Action: Returns, Unit: u, Violates: violates, Why: why}
	if !why.OK() {
		s.Action = StaysOut
	}
	return s
}
