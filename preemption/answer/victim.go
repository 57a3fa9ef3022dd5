package answer

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Victim is a unit that has to go.
type Victim struct {
	Kind      cluster.Kind    `json:"kind"` // Pod, or the group that goes as a whole
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Mode      disruption.Mode `json:"disruptionMode,omitempty"` // of a group
	Priority  int32           `json:"priority"`
	Pods      []VictimPod     `json:"pods"`
	Unlisted  int             `json:"unlisted,omitempty"` // how many more pods of the group go, of a [Candidate]'s victim
	Surplus   bool            `json:"surplus,omitempty"`  // the group goes on without Pods
	Cost      int64           `json:"cost,omitempty"`     // by Options.Cost

	// Reason is the check that fails if this unit alone came back: the victims are
	// irreducible.
	Reason Reason `json:"reason"`

	Budgets  []string `json:"budgets,omitempty"` // namespace/name of the budgets that it charges
	Violates bool     `json:"violates,omitempty"`

	Quota *QuotaVictim `json:"quota,omitempty"` // of a workload
}

// VictimPod is one pod of a victim.
type VictimPod struct {
	PodRef
	Node     string    `json:"node"`
	Priority int32     `json:"priority"`
	Started  time.Time `json:"started,omitzero"`
}

// Reason is why a pod does not fit, in words and numbers.
type Reason struct {
	Node         string       `json:"node,omitempty"`
	Check        domain.Check `json:"check"`
	Resource     string       `json:"resource,omitempty"`
	Missing      int64        `json:"missing,omitempty"` // in the resource's unit
	Detail       string       `json:"detail,omitempty"`
	Unresolvable bool         `json:"unresolvable,omitempty"`
}

// String is the reason in words: where, which check, and what is missing.
func (r Reason) String() string {
	text := string(r.Check)
	switch {
	case r.Check == "":
		text = "fits"
	case r.Check == domain.CheckResource:
		text = fmt.Sprintf("%s short by %d", r.Resource, r.Missing)
	case r.Check == domain.CheckSlots:
		text = fmt.Sprintf("no room for %s anywhere", words.Count(int(r.Missing), "member"))
	case r.Detail != "":
		text += " " + r.Detail
	}
	if r.Node != "" {
		return r.Node + ": " + text
	}
	return text
}

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
