package answer

// Proof shows that no evictions for a lone pod have less than Bound, by numbers that are added up
// for each node. For a node whose step is about a criterion, take the units that the preemptor may
// evict there, and leave out who cannot be among victims with less of that criterion and no more
// than Bound of those before it, as far as these are numbers of the worst victim: the highest
// priority, the earliest start. Sums are left:
//
//	of each resource     what the units that go free is at least what is missing
//	how many             those who go are at least as many as free what is missing of some resource, if
//	                     those go who free most of it
//	of each criterion    before the step's: what they have is at most Bound
//	of the step's own    what they have is less than Bound
//	budgets, limits      of a hard budget, or a limit: what they charge is at most its room;
//	                     of overruns: the same for any budgets, with what is overrun beyond it
//
// Each is taken as often as its multiplier says, and all are added up to one. It is a contradiction:
//
//	sum of multiplier x missing - sum of multiplier x room - sum over units of max(0, what it frees - what it takes) > 0
//
// where what a unit frees and takes are sums with multipliers as well, of a resource no more than is missing.
// So there are no such victims. Where that is so with just Bound of the criterion in place of less,
// the node has none that are as good, and no further step. Every sum fits an int64.
//
// Of an elastic unit each pod is taken by itself, at what it has of a criterion if it alone goes, and at
// nothing where pods together may have less than each of them. A unit, or such a pod, goes in any case if
// it holds a host port that the preemptor asks for. Constraints between pods are not in it: they leave fewer victims.
type Proof struct {
	// Bound is what any evictions have at least, in the order of Score, as Result.Bound tells it. It may be
	// less than that, or end before it where sums on a node do not tell: the search knows more than sums, and of
	// how many cases a proof has there is an end. Equal to Score, it is proved that nothing disrupts less. Empty where
	// the verdict is Infeasible: each node has one step, about no criterion, and there are no victims at all.
	Bound []Criterion `json:"bound,omitempty"`

	// Nodes tells of each node once. On those that it does not name the preemptor does not fit with all of
	// those gone whom it may evict there, or there is nobody.
	Nodes []ProofNodes `json:"nodes,omitempty"`
}

// ProofNodes are nodes for which the same steps do.
type ProofNodes struct {
	Nodes []string    `json:"nodes"`           // names, in order
	Steps []ProofStep `json:"steps,omitempty"` // in order of Bound; none about a criterion that can't be less than that
}

// ProofStep shows that victims have no less of a criterion than Bound says, if they have no more of those before it.
type ProofStep struct {
	Criterion string `json:"criterion,omitempty"` // empty: there are no victims at all

	// Cases are one, a contradiction, or a tree of them: a case that names a pod is followed by those in which
	// it goes and then by those in which it stays.
	Cases []ProofCase `json:"cases"`
}

// ProofCase is a contradiction, or with Pod set the two cases that come next. In a case in which some
// go and others stay, what those who go free is not missing any more, and what they take is taken
// from the room; sums are over the others. One in which somebody goes who has been left out, or who
// stays, needs no multipliers.
//
// The multipliers are whole and not below zero; what is not named has 0. A resource is in its own unit.
type ProofCase struct {
	Pod       *PodRef          `json:"pod,omitempty"`       // stands for its unit, of an elastic one for itself; nil: a contradiction
	Resources map[string]int64 `json:"resources,omitempty"` // by name
	Count     int64            `json:"count,omitempty"`     // of how many have to go
	Criteria  map[string]int64 `json:"criteria,omitempty"`  // by name; of overruns at least that of any budget that is not hard
	Budgets   map[string]int64 `json:"budgets,omitempty"`   // by namespace/name
	Limits    map[string]int64 `json:"limits,omitempty"`    // as Relaxation names them
}
