package preemption

import "github.com/preempt-go/preempt/preemption/internal/live"

// HardBudgets names the disruption budgets that a preemption must not overrun, be it
// for one node or many: what the final victims charge a hard budget is at most what
// it allows; below zero it allows none. The others only say who comes back first.
//
// Source: asked for in kubernetes #91492 and KEP-3280.
type HardBudgets struct {
	All   bool     `json:"all,omitempty"`   // every budget of the snapshot
	Names []string `json:"names,omitempty"` // or these, as namespace/name
}

// Limits bound what one preemption evicts, and what all of them do within a window
// of time, by the earlier ones that [cluster.Snapshot] lists. 0: no limit.
type Limits struct {
	Victims int64 `json:"victims,omitempty"` // units
	Pods    int64 `json:"pods,omitempty"`
	Cost    int64 `json:"cost,omitempty"` // by Options.Cost; with a tariff of work alone, wasted work

	// OnlyMoves lets nobody go who would find no other place: room is made by moves alone. Each pod
	// has to have one by itself as things stand, as [CriterionStranded] counts them, and all of them
	// together once the preemptor has its own: [Result.Moves] says where they go. The most important goes
	// first, to the first node by name that takes it; where that leaves somebody without a place it is tried anew, these
	// first, and of few in every way. Another order might find places where this one does not, so that a no
	// for that reason is never proved. With Options.Chain more pods move, which nothing else counts.
	OnlyMoves bool `json:"onlyMoves,omitempty"`

	Window Window `json:"window,omitzero"`
}

// Window bounds what preemptions evict within the last Seconds, this one included. Where earlier
// ones have taken more, there is no room left, as of a hard budget below zero: who adds nothing may go.
type Window struct {
	Seconds int64 `json:"seconds,omitempty"` // 0: no window, and then no limits
	Victims int64 `json:"victims,omitempty"` // likewise 0: no limit
	Pods    int64 `json:"pods,omitempty"`
	Cost    int64 `json:"cost,omitempty"`
}

// settings are the limits in integers.
func (l *Limits) settings() live.Limits {
	w := l.Window
	return live.Limits{
		Victims: live.Limit{Once: l.Victims, Window: w.Victims}, Pods: live.Limit{Once: l.Pods, Window: w.Pods}, Cost: live.Limit{Once: l.Cost, Window: w.Cost},
		Seconds: w.Seconds, OnlyMoves: l.OnlyMoves,
	}
}
