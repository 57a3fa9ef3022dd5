package priority

// Policy says whether a preemptor may evict others. The empty Policy means
// "as the class says", and [PreemptLowerPriority] where no class says anything.
type Policy string

// The two policies of KEP-902.
const (
	PreemptLowerPriority Policy = "PreemptLowerPriority" // may evict what is less important
	Never                Policy = "Never"                // waits ahead of others, evicts nobody
)

// Class is a named priority level.
type Class struct {
	Name          string            `json:"name"`
	Value         int32             `json:"value"`                   // higher is more important
	GlobalDefault bool              `json:"globalDefault,omitempty"` // used by objects that name no class; at most one class
	Policy        Policy            `json:"preemptionPolicy,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}
