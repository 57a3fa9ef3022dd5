package domain

import "github.com/preempt-go/preempt/preemption/cluster"

// MemberID is a position among the preemptor's pods of one question.
type MemberID int32

// Constraint is a rule about whether a pod fits on a node, beyond the built-in checks: one that looks at other pods, or a user's own.
//
// A Constraint is immutable and may be used by many questions at once.
type Constraint interface {
	// Name is the Check of the reasons that this constraint gives.
	Name() Check

	// Prepare is called once for a question, before anything is removed: every running pod is on its node, no member is placed. members are
	// the pods of the preemptor, in order of MemberID; they need not be in ix. A nil State says that the constraint has no say in this
	// question, which costs nothing. Neither ix nor members may be changed.
	Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error)
}

// State is a Constraint's view of one what-if. Its answer is a function of which pods are where, never of the order in which they came and went.
type State interface {
	// Remove takes pod p off node n. Return puts it (back) on node n and is the exact inverse; pods that are nominated to n come with
	// Return too. Pods come back in any order.
	Remove(p cluster.PodID, n cluster.NodeID)
	Return(p cluster.PodID, n cluster.NodeID)

	// Place puts member m of the preemptor on node n for the members after it; Unplace is the exact inverse.
	Place(m MemberID, n cluster.NodeID)
	Unplace(m MemberID, n cluster.NodeID)

	// Fits says whether member m fits on node n as things stand. It must not change the answer of any other call.
	Fits(m MemberID, n cluster.NodeID) Reason

	// Clone returns an independent copy, for domains that are evaluated in parallel.
	Clone() State

	// Scope tells which shortcuts the search may take. It must not change.
	Scope() Scope
}

// Scope describes a State. The zero Scope is the cautious one: every shortcut that it speaks of is off. What a [Bounder] or a [Toucher]
// says holds whatever the Scope.
type Scope struct {
	// NodeLocal: whether a member fits on a node depends on that node's pods only.
	NodeLocal bool
	// Monotone: removing a pod never turns a fit into a misfit.
	Monotone bool
	counted  bool              // see Counted
	topology *cluster.Topology // see Topology
}

// Counted reports whether the State, one of ours, counts pods by topology value: see [NodeTrial.Foresee].
func (s Scope) Counted() bool { return s.counted }

// Topology is what divides the nodes where the State, one of ours, looks at who is on nodes of the member's value and at nobody else; else nil.
func (s Scope) Topology() *cluster.Topology { return s.topology }

// Anew is c, one of ours, for a gang, be it of one member: upstream prepares it anew for each member, whenever it is tried.
func Anew(c Constraint) Constraint {
	switch c := c.(type) {
	case topologySpread:
		return topologySpread{anew: true}
	case interPodAffinity:
		return interPodAffinity{c.resolve, true}
	}
	return c
}

// sameFitter is an optional part of a State of ours.
type sameFitter interface {
	// fitsSame reports whether Fits says the same of members a and b wherever they are asked about as things stand.
	fitsSame(a, b MemberID) bool
}

// Bounder is an optional part of a State: a cheap proof that evictions are useless.
type Bounder interface {
	// Hopeless returns a reason if member m does not fit on node n whatever is evicted anywhere, and the zero Reason if that is not known.
	Hopeless(m MemberID, n cluster.NodeID) Reason
}

// Orderer is an optional part of a State that is monotone: it tells whether members that fit one after the other may not fit in another
// order. Where it is not there they do. States that are not monotone are taken to mind the order.
type Orderer interface {
	// OrderMatters must not change.
	OrderMatters() bool
}
