package answer

import (
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Verdict is the kind of an answer.
type Verdict string

// The verdicts.
const (
	Feasible    Verdict = "feasible"                // evict Victims, then the preemptor fits at Nominations
	Fits        Verdict = "fits without preemption" // at Nominations; nobody has to go
	NotEligible Verdict = "not eligible"            // the preemptor may not preempt
	Waiting     Verdict = "waiting"                 // victims of an earlier answer are still terminating
	Infeasible  Verdict = "infeasible"              // no evictions help
)

// IsPlan reports whether an answer of that verdict is a plan: it says where the preemptor goes.
func (v Verdict) IsPlan() bool { return v == Feasible || v == Fits }

// Result is the answer to one question.
type Result struct {
	Verdict Verdict `json:"verdict"`
	Message string  `json:"message"` // the verdict's reason, a sentence

	Preemptor Asked `json:"preemptor"` // who asked, so that the answer can be applied and checked later

	Domain      string       `json:"domain,omitempty"` // the chosen domain; for a single pod the node's name
	Nominations []Nomination `json:"nominations,omitempty"`
	Victims     []Victim     `json:"victims,omitempty"` // most important first

	// Moves says where each pod of Victims goes, and with Options.Chain whoever moves for one of them: in an order in which each fits,
	// as a pod by itself, once the preemptor is where Nominations say, all of them are gone from theirs, and those before it are where
	// they go. Nobody goes to the node that it comes from; it may go to one that another leaves, or that
	// the preemptor goes to, where it fits beside. Only with Limits.OnlyMoves where the verdict is Feasible.
	Moves []Nomination `json:"moves,omitempty"`

	Score      []Criterion `json:"score,omitempty"` // in the order in which they are compared
	Violations int         `json:"violations"`      // upstream's count of budget violations
	Overruns   int64       `json:"overruns"`        // how far the victims take budgets below zero, summed
	Cost       int64       `json:"cost,omitempty"`  // of the victims, by Options.Cost

	// Optimal says that no evictions disrupt less, wherever the preemptor goes: the Score is
	// proved to be the least; of a workload, in the flavors and for the pods that its queue chooses. Only with Options.Search.
	Optimal bool `json:"optimal,omitempty"`

	// Bound is what any evictions have at least, in the order of Score: of the first
	// criterion that differs from Score's it says how far that may be from the least, of
	// those behind it nothing is known. Equal to Score where that is Optimal. Only with
	// Options.Search; nil where nothing is known.
	Bound []Criterion `json:"bound,omitempty"`

	// Proof shows what any evictions have at least, or where the verdict is Infeasible that none help, for whoever
	// would see for himself: check.Verify reads it, too. Only with Options.Proof, without Options.Sampling and hooks
	// that have a say, of pods and groups without quota, and of the victims of a workload that have a Score, but under fair sharing; nil otherwise, and
	// where it can't be shown.
	Proof *Proof `json:"proof,omitempty"`

	Quota *QuotaResult `json:"quota,omitempty"` // where a workload is admitted

	// Budgets lists the budgets that cover victims, with the room that was counted on.
	Budgets []BudgetRoom `json:"budgets,omitempty"`

	// Cleared lists pods of lower priority that were nominated to the chosen node:
	// their nomination is to be withdrawn.
	Cleared []PodRef `json:"cleared,omitempty"`

	// Kept lists the units that guards keep in the chosen domain, or with
	// Options.Candidates everywhere, by name.
	Kept []KeptUnit `json:"kept,omitempty"`

	// Rejected counts the domains for each reason why preemption does not help
	// there, most frequent first. Beside a Feasible answer some may be missing where no victims would be
	// better and not room but a constraint, a host port, devices or somebody who is nominated keeps the preemptor away.
	Rejected []Rejection `json:"rejected,omitempty"`

	// Unplaced tells which members of a gang find no node where most of them would, and why;
	// only where the verdict is Infeasible for lack of places.
	Unplaced []Unplaced `json:"unplaced,omitempty"`

	// Nearest is what would have to change where the verdict is Infeasible, if that is
	// known; nil otherwise.
	Nearest *Nearest `json:"nearest,omitempty"`

	Candidates []Candidate   `json:"candidates,omitempty"` // by name; only with Options.Candidates
	Trace      []DomainTrace `json:"trace,omitempty"`      // by name; only with Options.Explain

	// Warnings lists what is odd about the snapshot, the options or the question, as that a
	// pod is asked about by itself whose group needs more pods to run: of the cluster the first 1,000, and how many others there are.
	Warnings []cluster.Warning `json:"warnings,omitempty"`

	Stats Stats `json:"stats"`
}

// Gap is how far Score may be from the least: by so much of the first criterion in which Bound differs; of none where Optimal. known is
// false where r has no Bound.
func (r *Result) Gap() (gap Criterion, known bool) {
	for i, least := range r.Bound {
		if i < len(r.Score) && r.Score[i].Value != least.Value {
			return Criterion{Name: least.Name, Value: checked.Sub(r.Score[i].Value, least.Value)}, true
		}
	}
	return Criterion{}, len(r.Bound) > 0
}

// Asked names the preemptor of an answer.
type Asked struct {
	Kind      cluster.Kind `json:"kind"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name"`

	// Placement is what was given for members of a group, by namespace/name; nil: nothing.
	Placement map[string]string `json:"placement,omitempty"`

	// Gathered names the pods of a Gathering's plan, or those that Planner.PreemptAll
	// answers for together; Name is empty then.
	Gathered []PodRef `json:"gathered,omitempty"`

	// Inline is what was given inline, nil if the snapshot had it. It is not
	// marshalled: set it again to apply such an answer after a trip through JSON.
	Inline *cluster.Preemptor `json:"-"`
}

// PodRef names a pod.
type PodRef struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// BudgetRoom is what a budget allowed when it was counted on.
type BudgetRoom struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Allowed   int32  `json:"disruptionsAllowed"`
}

// Nomination says where a pod of the preemptor goes, or one that makes room for it.
type Nomination struct {
	Pod  PodRef `json:"pod"`
	Node string `json:"node"`
}

// Criterion is one number of a score. Smaller is better.
type Criterion struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// Rejection counts the domains that were rejected for one reason.
type Rejection struct {
	Reason  string `json:"reason"`
	Domains int    `json:"domains"`
}

// Unplaced are members of a gang that find no node in Domain for the same reasons: the one that takes most of
// the gang, of a composite group the first, once every potential victim is gone there and others of the
// gang are packed. Members whose requests are equal stand together; not all kinds are told where there are many.
type Unplaced struct {
	Domain   string      `json:"domain"`
	Pods     []PodRef    `json:"pods"`
	Rejected []Rejection `json:"rejected"` // the nodes of Domain, by why they take none of Pods, most frequent first
}

// Candidate is a domain on which preemption helps; in an answer that the preemptor Fits, one
// in which it does, with no victims and no score. Where a large group is a victim of several
// candidates, these share its Pods and Budgets. All of them but the one that was chosen list, in order, at most 262,144 pods that run
// outside their domains: a group of more than 8 pods that would pass this lists those inside, by node, and counts the others as Victim.Unlisted.
type Candidate struct {
	Domain     string      `json:"domain"`
	Victims    []Victim    `json:"victims,omitempty"`
	Violations int         `json:"violations"`
	Overruns   int64       `json:"overruns"`
	Score      []Criterion `json:"score,omitempty"`
	Best       bool        `json:"best"` // ties with the best before the domain's name decides
}

// Stats tells what a search cost, and whether a no is proved: it is not where the search
// gave up or left domains out, as Rejected tells, nor, whatever the answer, where Greedy ran out of steps before it was found who of
// a group that may go in part might stay, nor where a constraint that is not monotone, such as affinity to a potential
// victim, says no with all of them gone. As upstream, they are all taken out first; that
// the preemptor might fit beside some of them is not looked at. Trials are fewer in a Planner that has followed
// nodes down to less than their pods ask for than in a new one: it goes on checking
// these by the columns that it has. Nothing else depends on what was before.
type Stats struct {
	Domains   int  `json:"domains"`            // looked at
	Pruned    int  `json:"pruned"`             // ruled out without a trial
	Evaluated int  `json:"evaluated"`          // tried: victims removed and given back
	Searched  int  `json:"searched,omitempty"` // where victims were searched for, since giving back did not do
	Trials    int  `json:"trials"`             // feasibility checks
	Exact     bool `json:"exact"`              // what is infeasible is proved so; false: no way was found
	Hooks     bool `json:"hooks"`              // a hook has a say: JSON alone does not replay the question
}

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
// first, and then those. Searches for it are bounded by five times Options.SearchSteps, where that is above 8,000 by 40,000, or by twice as many,
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
