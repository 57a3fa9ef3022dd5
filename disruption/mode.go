package disruption

// Mode says how the pods of a group may go. The zero Mode is Single.
type Mode string

// The disruption modes of KEP-5710.
const (
	Single Mode = "Single" // each pod by itself
	All    Mode = "All"    // every pod of the group or none

	// SurplusFirst lets pods go one by one as long as the group has what it needs to
	// go on, and then all of the rest or none. Source: KEP-5710, future modes.
	SurplusFirst Mode = "SurplusFirst"
)

// Valid reports whether m is one of the modes or empty.
func (m Mode) Valid() bool { return m == "" || m == Single || m == All || m == SurplusFirst }

// Whole reports whether the pods of a group of mode m are one unit.
func (m Mode) Whole() bool { return m == All || m == SurplusFirst }
