package answer

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// KeptUnit is a unit that a guard keeps, although it is less important than the
// preemptor.
type KeptUnit struct {
	Kind      cluster.Kind     `json:"kind"` // Pod, or the group that would go as a whole
	Namespace string           `json:"namespace,omitempty"`
	Name      string           `json:"name"`
	Node      string           `json:"node,omitempty"` // the first of its nodes, by name
	Priority  int32            `json:"priority"`
	Rule      victims.KeptRule `json:"rule"`

	// Below is set where the rule keeps it from preemptors below that priority only,
	// Seconds where it does so for that much longer.
	Below   *int32 `json:"below,omitempty"`
	Seconds int64  `json:"seconds,omitempty"`

	Text string `json:"text"` // the reason, in words
}
