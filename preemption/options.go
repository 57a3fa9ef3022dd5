package preemption

import "github.com/preempt-go/preempt/domain"

// Rules names the generation of upstream rules that an answer follows: units,
// importance, budgets, reprieval and policy.
type Rules string

// The generations. The empty Rules is Kubernetes137.
const (
	Kubernetes137 Rules = "Kubernetes137" // units of KEP-5710 (beta), budgets evaluated a pod at a time
	Kubernetes136 Rules = "Kubernetes136" // as kube-scheduler v1.36 answers
	KEP5710Alpha  Rules = "KEP5710Alpha"  // the early text of KEP-5710
)

// Options choose how a question is answered. The zero value is the documented
// default. Options are data: but for Hooks they survive a round trip through JSON.
type Options struct {
	Rules Rules `json:"rules,omitempty"` // empty: Kubernetes137

	// Strict turns warnings about odd but real input into errors.
	Strict bool `json:"strict,omitempty"`

	// Sampling examines a part of the nodes, as kube-scheduler does. nil: all.
	Sampling *Sampling `json:"sampling,omitempty"`

	// Candidates asks for every domain on which preemption helps, not only the best.
	Candidates bool `json:"candidates,omitempty"`

	// Explain asks for the trace: each decision in words.
	Explain bool `json:"explain,omitempty"`

	// Hooks replace parts of the decision by the user's own. nil: the defaults.
	Hooks *Hooks `json:"-"`
}

// Sampling limits how many candidates are looked for, by kube-scheduler's rule:
// of n potential nodes at least max(n*Percent/100, Minimum) candidates are wanted,
// at most n; the scan starts at Offset and goes on until they are found and at
// least one of them violates no budget.
type Sampling struct {
	Percent int32 `json:"percent"` // 0 to 100; kube-scheduler's default is 10
	Minimum int32 `json:"minimum"` // at least 0, not 0 together with Percent; kube-scheduler's default is 100
	Offset  int32 `json:"offset"`  // where the scan starts among the potential nodes in order of name, modulo their number
}

// Hooks holds what a user replaces. A nil field means the default.
type Hooks struct {
	// Constraints are checked after the built-in ones, in order.
	Constraints []domain.Constraint
}
