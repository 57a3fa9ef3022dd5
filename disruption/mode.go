package disruption

// Mode says how the pods of a group may go. The zero Mode is Single.
type Mode string

// The disruption modes of KEP-5710.
const (
	Single Mode = "Single" // each pod by itself
	All    Mode = "All"    // every pod of the group or none
)

// Valid reports whether m is Single, All or empty.
func (m Mode) Valid() bool { return m == "" || m == Single || m == All }
