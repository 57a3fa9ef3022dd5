package domain

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Misuse is what a trial panics with where a Placer or a Constraint breaks its contract; package preemption turns it into an error.
type Misuse struct {
	By    string // Placer or Constraint
	Value string // what it did
	Want  string
}

// Error says what was done, and what was expected.
func (m *Misuse) Error() string { return "domain: " + m.By + ": " + m.Value + " is not " + m.Want }

// checkReason panics if r, which a constraint has given, speaks of a resource or port that there is not.
func checkReason(ix *cluster.Index, m *Member, r Reason) {
	switch {
	case r.Check == CheckResource && (r.Resource < 0 || int(r.Resource) >= ix.NumResources()):
		panic(&Misuse{"Constraint", fmt.Sprintf("a reason with resource %d", r.Resource), fmt.Sprintf("from 0 to %d", ix.NumResources()-1)})
	case r.Check == CheckPorts && (r.Port < 0 || r.Port >= len(m.ports)):
		panic(&Misuse{"Constraint", fmt.Sprintf("a reason with port %d", r.Port), fmt.Sprintf("the position of one of the %d ports of the pod", len(m.ports))})
	}
}

// checkPlace panics if member m cannot be put on node n.
func (t *GangTrial) checkPlace(m MemberID, n cluster.NodeID) {
	switch {
	case m < 0 || int(m) >= len(t.members):
		panic(&Misuse{"Placer", fmt.Sprintf("member %d", m), fmt.Sprintf("from 0 to %d", len(t.members)-1)})
	case n < 0 || int(n) >= len(t.on):
		panic(&Misuse{"Placer", fmt.Sprintf("node %d", n), fmt.Sprintf("from 0 to %d", len(t.on)-1)})
	case t.at[m] != cluster.NoNode:
		panic(&Misuse{"Placer", fmt.Sprintf("member %d, placed on %s already", m, t.ix.Node(t.at[m]).Name), "a member without a place"})
	}
}
