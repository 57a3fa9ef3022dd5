package answer

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
