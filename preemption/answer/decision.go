package answer

// Decision is the short form of a [Result]: what is decided, without who has to go by
// name, and why.
type Decision struct {
	Verdict Verdict `json:"verdict"`

	// Domain is the chosen one, for a single pod the node's name; empty where nothing
	// is chosen.
	Domain string `json:"domain,omitempty"`

	Violations int   `json:"violations,omitempty"` // upstream's count of budget violations
	Highest    int32 `json:"highest,omitempty"`    // priority of the most important victim; 0 without victims
	Pods       int   `json:"pods,omitempty"`       // of all victims

	// Needs is how many further pods have to run beside a pod that is asked about by itself before
	// its group has its minCount, and the groups above it have theirs: ask for the topmost
	// instead. 0 where they have, where the pod is in no group or only in a basic one, and for groups.
	Needs int `json:"needs,omitempty"`
}

// Advice says what to do with an answer that is not carried out yet.
type Advice string

// The pieces of advice.
const (
	Keep   Advice = "keep"   // go on
	Replan Advice = "replan" // ask again
	Cancel Advice = "cancel" // evict nobody: it is not needed any more
)

// Validity is advice with its reason.
type Validity struct {
	Advice Advice `json:"advice"`
	Reason string `json:"reason"` // a sentence
}
