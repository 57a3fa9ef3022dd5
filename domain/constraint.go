package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

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
		return interPodAffinity{resolve: c.resolve, anew: true}
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

// Trial is a what-if over one domain: running pods leave and return, and it tells whether the preemptor fits. Which pods leave is not its business.
//
// Pods that run outside the domain may be removed and returned too; they change the answer through constraints that look across nodes only.
type Trial interface {
	// Remove takes running pod p away; Return puts it back where it ran.
	Remove(p cluster.PodID)
	Return(p cluster.PodID)

	// Fits says whether the preemptor fits as things stand. The zero Reason: it does.
	Fits() Reason
}

// Doubter is an optional part of a Trial whose Fits relies on its latest answer.
type Doubter interface {
	// Doubt lets the next Fits rely on nothing, and says how many members that looks at.
	Doubt() (members int)
}

// metered is a State that changes many counts for a pod.
type metered interface {
	changed() int64 // so many so far
}

// Toucher is an optional part of a State: it tells which pods it looks at. Where it looks at nobody the answers stay as they are, whoever
// is evicted, and the search need not ask again for every pod.
type Toucher interface {
	// Touches reports whether any pod that runs on node n may matter, TouchesPod whether pod p does, which runs on n. Where it is false,
	// removing such a pod and returning it changes no answer of Fits, for whatever node, whoever else is gone. Neither answer changes.
	Touches(n cluster.NodeID) bool
	TouchesPod(p cluster.PodID, n cluster.NodeID) bool
}

// Touched reports whether a constraint looks at some of the pods that run on node n, which LeaveAll and Admit know; it is not known where a
// constraint is no [Toucher].
func (t *NodeTrial) Touched(n cluster.NodeID) (some, known bool) {
	for _, s := range t.states {
		toucher, ok := s.(Toucher)
		if !ok {
			return true, false
		}
		some = some || toucher.Touches(n)
	}
	return some, true
}

// foreseer is an optional part of a Toucher.
type foreseer interface {
	// foresee says why member m does not fit on node n, nil if it does, whichever of the pods that are touched there leave, or with all of
	// them gone; sure is false if that depends on who does, or is not known.
	foresee(m MemberID, n cluster.NodeID, all bool) (why *Reason, sure bool)
}

// Foresee says why the constraints, which are [Scope.Counted], keep the member off node n, nil if they do not, whichever of its pods leave,
// or once all have, and nobody elsewhere; sure is false if that depends on who does, or is not known. Nobody may be removed.
func (t *NodeTrial) Foresee(n cluster.NodeID, all bool) (why *Reason, sure bool) {
	for _, s := range t.states {
		if why, sure = s.(foreseer).foresee(0, n, all); why != nil || !sure {
			return why, sure
		}
	}
	return nil, true
}

// Settle returns every removed pod and moves the trial to node n for LeaveAll, Admit and Constrained alone, which look at constraints and
// at nothing else. Before anything else is asked the trial has to be Reset.
func (t *NodeTrial) Settle(n cluster.NodeID) {
	t.Restore()
	t.node = n
}

// LeaveAll removes those pods of the node that matter to a constraint and that goes selects, and returns them. Nobody may be removed
// already. The slice is good until the next change of the trial.
func (t *NodeTrial) LeaveAll(goes func(cluster.PodID) bool) []cluster.PodID {
	for _, p := range t.ix.PodsOn(t.node) {
		if goes(p) && touchedBy(t.states, p, t.node) {
			t.out = append(t.out, p)
			t.move(p, true)
		}
	}
	return t.out
}

// Admit returns pod p if the constraints let the member be beside it, and says whether they do. It relies on that they do before.
func (t *NodeTrial) Admit(p cluster.PodID) bool {
	if !touchedBy(t.states, p, t.node) {
		return true
	}
	t.move(p, false)
	if !t.Constrained().OK() {
		t.move(p, true)
		return false
	}
	i := slices.Index(t.out, p)
	t.out = slices.Delete(t.out, i, i+1)
	return true
}

// Constrained says what the constraints say of the member on the node.
func (t *NodeTrial) Constrained() Reason {
	for _, s := range t.states {
		if r := s.Fits(0, t.node); !r.OK() {
			checkReason(t.ix, t.member, r)
			return r
		}
	}
	return Reason{}
}

// touchedBy reports whether pod p, which runs on node n, may matter to one of states.
func touchedBy(states []State, p cluster.PodID, n cluster.NodeID) bool {
	return n != cluster.NoNode && slices.ContainsFunc(states, func(s State) bool {
		toucher, ok := s.(Toucher)
		return !ok || toucher.Touches(n) && toucher.TouchesPod(p, n)
	})
}

// Check names what a pod failed on a node. The empty Check means that it fits.
type Check string

// The built-in checks, in the order in which they are made.
const (
	CheckUnschedulable Check = "unschedulable" // the node is cordoned
	CheckNodeName      Check = "node name"     // the pod may only go elsewhere
	CheckTaint         Check = "taint"         // a taint is not tolerated
	CheckNodeAffinity  Check = "node affinity" // nodeSelector or required node affinity
	CheckFilter        Check = "filter"        // the user's own check of the node
	CheckPorts         Check = "host port"     // a host port is taken
	CheckResource      Check = "resource"      // not enough of a resource
	CheckSlots         Check = "slots"         // room for fewer members than have to be placed
	CheckToken         Check = "token"         // an exclusive thing is held by another pod
	CheckDevice        Check = "device"        // no device with enough room
	CheckSpread        Check = "topology spread"
	CheckAffinity      Check = "pod affinity"
	CheckAntiAffinity  Check = "pod anti-affinity"
)

// Reason says why a pod does not fit on a node. The zero Reason says that it fits.
type Reason struct {
	Check Check

	// Unresolvable says that no eviction on the node can help.
	Unresolvable bool

	Resource cluster.ResourceID // for CheckResource
	Missing  int64              // for CheckResource: how much more must be free, in the resource's unit; for CheckSlots: of how many members
	Port     int                // for CheckPorts: position in the pod's ports

	// Detail names what stands in the way (a taint, a port, a term); for people.
	Detail string
}

// OK reports whether the pod fits.
func (r Reason) OK() bool { return r.Check == "" }

// orOK is r, or that the pod fits where r is nil.
func (r *Reason) orOK() Reason {
	if r == nil {
		return Reason{}
	}
	return *r
}
