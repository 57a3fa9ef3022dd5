package cluster

// Warning is about input that is odd but occurs in live clusters: it was answered
// by the rule that upstream follows.
type Warning struct {
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Field     string `json:"field"`
	Value     string `json:"value"`
	Text      string `json:"text"` // what is odd, and what was done
}
