package answer

// DomainTrace is what happened in one domain.
type DomainTrace struct {
	Domain string `json:"domain"`
	Steps  []Step `json:"steps"`
}

// Step is one decision.
type Step struct {
	Action   string  `json:"action"` // ActionPotential, ActionReturn, ...
	Unit     string  `json:"unit,omitempty"`
	Violates bool    `json:"violates,omitempty"` // Unit is tried early, since its loss would violate a budget
	Reason   *Reason `json:"reason,omitempty"`
	Text     string  `json:"text"` // the decision in words
}

// The actions of a Step.
const (
	ActionReject     = "reject"      // the domain is ruled out, Reason says why
	ActionPotential  = "potential"   // Unit may be evicted and is taken out
	ActionKeep       = "keep"        // a guard keeps Unit, Reason says which
	ActionFree       = "free"        // Unit costs nothing; see Options.BrokenGroupsFree
	ActionPlace      = "place"       // Unit, a member of the preemptor, gets a place
	ActionLevel      = "level"       // nobody above a level has to go
	ActionReturn     = "return"      // Unit comes back: the preemptor fits all the same
	ActionReturnPart = "return part" // Unit comes back but for its surplus
	ActionKeepOut    = "keep out"    // Unit stays out, Reason says what its return fails
	ActionCompare    = "compare"     // several placements of a gang were tried
	ActionScore      = "score"       // the domain helps; Text has its score
	ActionChoose     = "choose"      // the domain is the best
	ActionFlavor     = "flavor"      // a pod set of a workload takes a flavor
	ActionAttempt    = "attempt"     // Text says how victims are looked for
)

// Target is what WhyNot asks about: a node or a unit. NodeTarget and UnitTarget of package preemption make one.
type Target struct {
	Node string // name of a node, or
	Unit string // namespace/name of a running pod, or of a group that goes as a whole
}

// Why is the answer to WhyNot.
type Why struct {
	Chosen bool    `json:"chosen"`           // it is the answer: the node is chosen, the unit is a victim
	Text   string  `json:"text"`             // the answer, a sentence
	Reason *Reason `json:"reason,omitempty"` // the first check that fails, if it is one

	// Criterion is set if preemption helps there, but disrupts more: the first
	// number of the score that decides against it.
	Criterion string `json:"criterion,omitempty"`
}
