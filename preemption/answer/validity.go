package answer

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
