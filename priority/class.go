package priority

// Policy says whether a preemptor may evict others. The empty Policy means
// "as the class says", and [PreemptLowerPriority] where no class says anything.
type Policy string

// The two policies of KEP-902.
const (
	PreemptLowerPriority Policy = "PreemptLowerPriority" // may evict what is less important
	Never                Policy = "Never"                // waits ahead of others, evicts nobody
)

// Valid reports whether p is one of the two policies or empty.
func (p Policy) Valid() bool {
	return p == "" || p == PreemptLowerPriority || p == Never
}

// orDefault is the policy in force where p is the last word.
func (p Policy) orDefault() Policy {
	if p == Never {
		return Never
	}
	return PreemptLowerPriority
}

// Class is a named priority level.
type Class struct {
	Name          string            `json:"name"`
	Value         int32             `json:"value"`                      // higher is more important
	GlobalDefault bool              `json:"globalDefault,omitempty"`    // used by objects that name no class; at most one class
	Policy        Policy            `json:"preemptionPolicy,omitempty"` // empty: PreemptLowerPriority
	Annotations   map[string]string `json:"annotations,omitempty"`      // [ParseToleration] reads two of them

	// GuaranteedSeconds is how long an object of the class runs, once started, before
	// it may be evicted; WaitSeconds how long one waits, once created, before it
	// evicts others. 0: no time. The object itself may say otherwise.
	GuaranteedSeconds int64 `json:"guaranteedSeconds,omitempty"`
	WaitSeconds       int64 `json:"waitSeconds,omitempty"`
}

// The bounds of a class's value. A class of a user may be as low as an int32 goes;
// what lies above MaxUserValue is for the system classes.
const (
	defaultValue int32 = 0             // of an object without a class, where no class is the default
	MaxUserValue int32 = 1_000_000_000 // the highest value of a class that is no system class
)

// The system classes, which exist in every cluster and in every [Classes].
const (
	SystemClusterCritical            = "system-cluster-critical" // must run, but may move
	SystemClusterCriticalValue int32 = 2_000_000_000

	SystemNodeCritical            = "system-node-critical" // must run where it is
	SystemNodeCriticalValue int32 = 2_000_001_000
)

// systemPrefix begins the names that are reserved for system classes.
const systemPrefix = "system-"

// systemClasses is in order of name.
var systemClasses = [...]Class{
	{Name: SystemClusterCritical, Value: SystemClusterCriticalValue},
	{Name: SystemNodeCritical, Value: SystemNodeCriticalValue},
}

// systemClass returns the system class of that name.
func systemClass(name string) (Class, bool) {
	for _, c := range systemClasses {
		if c.Name == name {
			return c, true
		}
	}
	return Class{}, false
}
