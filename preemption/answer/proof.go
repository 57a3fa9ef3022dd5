package answer

// Proof shows that no evictions have less than Bound, in numbers that anybody can add up who has the snapshot, the
// options and the preemptor: a pod, a group or a tree of groups, pods that are planned together, or a workload. For a pod it
// tells of each node by itself, criterion by criterion: no victims there have less of it than Bound says, if they have no more of those before it.
//
// The items of a node are the units that the preemptor may evict there; of an elastic unit, each of its pods on
// the node. Those are left out that have too much by themselves: of a criterion before the step's more than Bound, and by the worst
// victim of the step's own as much as Bound. By the highest priority, an item has the lowest that a pod
// has of the units that are as important as it, or more: any of them may be the first victim. By the earliest
// start, it has that of its first pod, if it has the highest priority of Bound and all pods have the priority of their
// units; of overruns, what it alone is charged beyond the rooms of budgets. An item that holds a host port for which the preemptor asks goes in any case. For victims among the items these hold:
//
//	a resource        they free at least what is missing, with pods nominated there that count
//	devices           likewise, of a kind whose pods all say what they hold and of which a pod asks for one thing
//	the count         they are at least as many as free what is missing of the resource that takes most,
//	                  if those go who free most of it
//	a criterion       before the step's: they have at most Bound
//	the step's own    they have at most one less than Bound
//	a hard budget     they charge at most its room; so with a limit
//	other budgets     they charge at most their rooms and the overruns, taken together
//
// An item has of a criterion and of a limit what it adds to them: of violations what it is charged where all units of the
// node are, most important first; of a pod of an elastic unit what it adds if it goes alone, and nothing where
// pods together may add less than each of them. A bound or a limit of the largest int64, where sums end, says nothing.
//
// Devices are counted in 2^20ths, rounded up for an item: a whole device is free once all who hold it have gone, each of whom frees an equal
// part of it; before one more fraction fits on a device, what is missing there has to be freed, and who holds so much of that frees
// so much of its place. Nobody frees more than the pod, or all members, ask for.
//
// Each of these is taken as often as its multiplier says. They contradict each other if
//
//	sum of multiplier x missing > sum of multiplier x room + sum over items of max(0, what it frees - what it takes)
//
// where what an item frees and takes are sums by the same multipliers, of each resource no more than is missing.
// So there are no such victims. Where that is so with Bound in place of one less, the node has none that are as
// good, and no further step. Every sum fits an int64.
//
// Constraints between pods are not in it: they leave fewer victims, and what holds of more holds of them.
//
// For a gang it tells of each domain what members cost there, criterion by criterion: of victims on a node with which so many of them have
// places there, and who have no more of the criteria before than Bound,
//
//	Times x criterion >= Price x members - Spare
//
// A step shows it of so many members or more, each of whom counts as if it asked for the least that any asks for; a
// unit adds to the criterion on the first of its nodes by name, and nothing on others. Host ports are left out, and so are devices where members do not all
// ask for the same, or their placement is given. On nodes that are not named,
// all is spared for as many members as there is room for with everybody gone who may go. So there are no victims with less
// than Bound in the domain, for as many members as have places, or as are needed, if
//
//	Price x members > Times x (Bound - 1) + sum of Spare
//
// Where that is so with Bound in place of one less, the domain has none that are as good, and nothing more is told of it. Of the
// highest priority, the earliest start and no criterion, Times is 0: there is not enough room. Violations are charged
// where all units of the domain are. In place of overruns count the charges of Budgets: a unit adds its own, on the first of its nodes, and Bound - 1 is raised
// by the rooms of these budgets. Of limits and hard budgets the gang's proof knows one thing: a unit that goes beyond one by itself is left out.
//
// As many members of a tree of groups are needed as the groups that run with the fewest. Where the placement is given, those who are to go to a node are
// one member, who asks for all that they ask for; there is room for it there alone, and each of these nodes needs its own.
//
// For a workload it tells of each attempt of its queue, in the flavors and for the pods that the answer names, as of a node: whether
// the queue may borrow. The items are the workloads that the queue's policies let go if nobody goes before them: of its own, and of queues
// that borrow some of what is contested, as does every cohort around them that is not around the preemptor's queue, too. What has to become free has
// the name flavor/resource/number: as far as the holder so many above the preemptor's queue has a say, 0 the queue itself, with what it may
// borrow; or flavor/resource/own: of the queue's own quota, where it must not borrow. An item of the queue frees all that it uses;
// another one what reaches the lowest holder around both, and nothing of what is for holders below that. An item that frees nothing is
// left out, and so is what is of a flavor with a slash in its name. Who has been told to stop already adds nothing. The bound ends before the cost
// where items have pods, whose price others can't tell. That queues give no more than they borrow leaves fewer victims, as constraints do.
type Proof struct {
	// Bound is what any evictions have at least, in the order of Score, as Result.Bound tells it. It may be
	// less than that, or end before it where sums on a node do not tell: the search knows more than sums, and of
	// how many cases a proof has there is an end. Equal to Score, it is proved that nothing disrupts less. Empty where
	// the verdict is Infeasible: each node has one step, about no criterion, and there are no victims at all.
	Bound []Criterion `json:"bound,omitempty"`

	// Nodes tells of each node once, for a gang once for a criterion, for a workload of each attempt. Those that it does not name keep a pod away, whoever goes: by
	// themselves, or it does not fit with all units gone that it may evict there, or there are none.
	Nodes []ProofNodes `json:"nodes,omitempty"`
}

// ProofNodes are nodes for which the same steps do.
type ProofNodes struct {
	Nodes []string    `json:"nodes,omitempty"` // names, in order
	Steps []ProofStep `json:"steps,omitempty"` // in order of Bound, none about a criterion that can't be less than that; for a gang of Members

	// For a gang: what members cost on each of these nodes, of one domain. Those of a domain come in order of Bound, and those of
	// one criterion have one price.
	Domain    string `json:"domain,omitempty"`
	Criterion string `json:"criterion,omitempty"`
	Price     int64  `json:"price,omitempty"`
	Times     int64  `json:"times,omitempty"`
	Spare     int64  `json:"spare,omitempty"`

	Borrowing bool `json:"borrowing,omitempty"` // for a workload, without nodes: of the attempt in which its queue may borrow

	Budgets []string `json:"budgets,omitempty"` // of overruns: namespace/name of those whose charges count
}

// ProofStep shows that victims have no less of a criterion than Bound says, if they have no more of those before it.
type ProofStep struct {
	Criterion string `json:"criterion,omitempty"` // empty: there are no victims at all
	Members   int64  `json:"members,omitempty"`   // for a gang: where so many or more have places on the node

	// Cases are one, a contradiction, or a tree of them: a case that names a pod is followed by those in which
	// it goes and then by those in which it stays.
	Cases []ProofCase `json:"cases"`
}

// ProofCase is a contradiction, or with Pod or Workload set the two cases that come next. In a case in which some
// go and others stay, what those who go free is not missing any more, what they take is taken from the
// room, which may be below zero then, and the sums are over the other items. Where somebody goes who is left out there
// is nothing to contradict, and no multipliers.
//
// Multipliers are whole and not below zero; what is not named has 0. Amounts of a resource are in its own unit.
type ProofCase struct {
	Pod       *PodRef          `json:"pod,omitempty"`       // stands for its unit, of an elastic one for itself; nil: a contradiction
	Workload  *PodRef          `json:"workload,omitempty"`  // likewise, the name of one whose pods are not known
	Resources map[string]int64 `json:"resources,omitempty"` // by name, devices as "devices NAME"; for a workload as told of Proof
	Count     int64            `json:"count,omitempty"`     // of how many have to go
	Criteria  map[string]int64 `json:"criteria,omitempty"`  // by name; of overruns at least that of any budget that is not hard
	Budgets   map[string]int64 `json:"budgets,omitempty"`   // by namespace/name
	Limits    map[string]int64 `json:"limits,omitempty"`    // as Relaxation names them
}
