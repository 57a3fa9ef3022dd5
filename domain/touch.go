package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

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
