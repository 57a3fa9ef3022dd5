package answer

// Nearest is a domain and what would have to change for the preemptor to get in: with
// all of it the same question is answered Feasible or Fits, with no part of it, nor
// with one amount smaller by one, but where it is Unproved.
//
// For a pod without hard budgets and limits it is, over all nodes, the fewest changes;
// then the least sum of what they ask for, a resource in millionths of the request, a
// priority in millionths too, one for each step that it is raised and at most a whole
// request, anything else as one request; then the lowest priority; then the first node. So
// a priority higher by 100 comes before a core more for a pod of four, and room for the
// last hundredth of the request before a priority higher by a million.
//
// Hard budgets and limits come first: where the preemptor would fit without them, only
// these are named, as many as stand in its way, none needlessly; fewer that would have
// to be wider by more are not looked for. Otherwise what would help without them comes
// first, and then those. Searches for it are bounded by five times Options.SearchSteps,
// and what is not found within these counts as no help.
//
// It is nil where nothing of what can be relaxed helps, where constraints decide if
// none of the nearest 16 ways does, and where nothing was found within 100 questions, about a
// gang within 2,097,152 looks at a member on a node.
// Of gangs it knows hard budgets and limits, and with Options.Explain, which lets it ask the
// gang's question a few more times, a higher priority or a lower minCount of the group, whichever is the
// lesser change: a pod fewer is as much as its share of those that are needed.
type Nearest struct {
	Domain      string       `json:"domain"`
	Relaxations []Relaxation `json:"relaxations"` // by kind and name

	// Unproved says that less may help as well: of a part of it, or of a smaller amount, it is not proved that it does not. Questions about
	// that are cut short earlier than those that are asked by themselves. That nothing has to change at all is proved by Stats.Exact, not here.
	Unproved bool `json:"unproved,omitempty"`
}

// RelaxationKind says what would have to change.
type RelaxationKind string

// The kinds of relaxations.
const (
	RelaxResource RelaxationKind = "resource"      // Amount more of Name allocatable on Node
	RelaxTaint    RelaxationKind = "taint"         // the taint Name (key=value:effect) gone from Node
	RelaxCordon   RelaxationKind = "unschedulable" // Node uncordoned, which takes its taint away
	RelaxSelector RelaxationKind = "node affinity" // nodeSelector and required node affinity dropped
	RelaxNodeName RelaxationKind = "node name"     // the required node dropped
	RelaxPort     RelaxationKind = "host port"     // the host port Name dropped
	RelaxPriority RelaxationKind = "priority"      // the preemptor's priority raised to Amount, and that of members of a gang who say theirs
	RelaxBudget   RelaxationKind = "budget"        // budget Name (namespace/name) allows Amount more
	RelaxLimit    RelaxationKind = "limit"         // the limit Name raised by Amount
	RelaxMinCount RelaxationKind = "min count"     // the minCount of the group lowered by Amount
)

// Relaxation is one thing that would have to change.
type Relaxation struct {
	Kind   RelaxationKind `json:"kind"`
	Node   string         `json:"node,omitempty"`
	Name   string         `json:"name,omitempty"`
	Amount int64          `json:"amount,omitempty"`
}
