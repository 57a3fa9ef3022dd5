package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Toucher is an optional part of a State: it tells which pods it looks at. Where it
// looks at nobody the answers stay as they are, whoever is evicted, and the search
// need not ask again for every pod.
type Toucher interface {
	// Touches reports whether any pod that runs on node n may matter, TouchesPod
	// whether pod p does, which runs on n. Where it is false, removing such a pod and
	// returning it changes no answer of Fits, for whatever node, whoever else is gone.
	// Neither answer changes.
	Touches(n cluster.NodeID) bool
	TouchesPod(p cluster.PodID, n cluster.NodeID) bool
}

// Touch tells how far the constraints of a question look at the pods of one node.
type Touch int8

// The degrees of Touch.
const (
	Touched       Touch = iota // a constraint does not tell
	TouchedInPart              // NodeTrial.Leave and Admit know which pods matter
	Untouched                  // nobody on the node matters
)

// Touched tells how far the constraints look at the pods that run on node n.
func (t *NodeTrial) Touched(n cluster.NodeID) Touch {
	touch := Untouched
	for _, s := range t.states {
		toucher, ok := s.(Toucher)
		if !ok {
			return Touched
		}
		if toucher.Touches(n) {
			touch = TouchedInPart
		}
	}
	return touch
}

// Settle returns every removed pod and moves the trial to node n for Leave, Admit
// and Constrained alone, which look at constraints and at nothing else. Before
// anything else is asked the trial has to be Reset.
func (t *NodeTrial) Settle(n cluster.NodeID) {
	t.Restore()
	t.node = n
}

// Leave removes pod p, which runs on the node, if it matters to a constraint.
func (t *NodeTrial) Leave(p cluster.PodID) {
	if t.matters(p) {
		t.out = append(t.out, p)
		t.move(p, true)
	}
}

// Admit returns pod p if the constraints let the member be beside it, and says
// whether they do. It relies on that they do before.
func (t *NodeTrial) Admit(p cluster.PodID) bool {
	if !t.matters(p) {
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
			return r
		}
	}
	return Reason{}
}

func (t *NodeTrial) matters(p cluster.PodID) bool { return touchedBy(t.states, p, t.node) }

// touchedBy reports whether pod p, which runs on node n, may matter to one of states.
func touchedBy(states []State, p cluster.PodID, n cluster.NodeID) bool {
	for _, s := range states {
		if toucher, ok := s.(Toucher); !ok || toucher.Touches(n) && toucher.TouchesPod(p, n) {
			return true
		}
	}
	return false
}
