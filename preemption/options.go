package preemption

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Rules names the generation of upstream rules that an answer follows: units,
// importance, budgets, reprieval and policy.
type Rules string

// The generations. The empty Rules is Kubernetes137.
const (
	Kubernetes137 Rules = "Kubernetes137" // units of KEP-5710 (beta), budgets evaluated a pod at a time
	Kubernetes136 Rules = "Kubernetes136" // as kube-scheduler v1.36 answers
	KEP5710Alpha  Rules = "KEP5710Alpha"  // the early text of KEP-5710
)

// Options choose how a question is answered. The zero value is the documented
// default. Options are data: but for Hooks they survive a round trip through JSON.
type Options struct {
	Rules Rules `json:"rules,omitempty"` // empty: Kubernetes137

	// Strict turns warnings about odd but real input into errors, and so the question about
	// one pod of a gang that needs more of them to run. A [Planner] takes
	// changes that lead to some, and gives them as the error of every question until
	// nothing is odd any more.
	Strict bool `json:"strict,omitempty"`

	// Sampling examines a part of the nodes, as kube-scheduler does. nil: all.
	Sampling *Sampling `json:"sampling,omitempty"`

	// Members says for how many members of a gang room is made. Empty: by the rules,
	// AllThatFit under Kubernetes137 and KEP5710Alpha, MinCount under Kubernetes136.
	Members Members `json:"members,omitempty"`

	// Prefer says which node a lone pod goes to, of those on which it fits, or where the
	// least disruption ties. Empty: the first by name.
	Prefer Preference `json:"prefer,omitempty"`

	// Placement says where a gang goes, among the places that evictions would open or,
	// if it fits, among those that are free. Empty: LeastDisruption. A placement that finds
	// room for fewer members than another does gives way to that one. A gang
	// that needs quota follows it where it fits; evictions for it make room for Pack or Spread.
	Placement Placement `json:"placement,omitempty"`

	// RepeatReprieve makes further passes over the remaining victims until one
	// changes nothing, which only constraints that are not monotone need. Empty: on
	// for groups under Kubernetes137 and KEP5710Alpha, otherwise off.
	RepeatReprieve Switch `json:"repeatReprieve,omitempty"`

	// LowestLevel looks, after the budgets, for the lowest priority such that nobody
	// above it has to go, which bounds cascades. KEP5710Alpha always does, on each node
	// and in each domain by itself. With LowestLevel the criteria of budgets come first, then the
	// highest priority of a victim, also where the Objective does not list it, then the others, each in
	// the order of the Objective.
	LowestLevel bool `json:"lowestLevel,omitempty"`

	// BrokenGroupsFree prices the pods of a gang that runs below its minCount at
	// zero: they are of no use as it is.
	BrokenGroupsFree bool `json:"brokenGroupsFree,omitempty"`

	// Candidates asks for every domain on which preemption helps, not only the best; where
	// nobody has to go, for every one in which the preemptor fits, whatever Sampling says. Preemptors of a queue have none.
	// Where a large group would be listed for too many of them, [Victim].Unlisted counts its pods elsewhere.
	Candidates bool `json:"candidates,omitempty"`

	// Proof asks for [Result.Proof]: numbers with which anybody can add up for himself that no evictions
	// disrupt less than they say, or that none help. It takes a search over all nodes. Of a workload it
	// reaches what Search has found, without fair sharing.
	Proof bool `json:"proof,omitempty"`

	// Explain asks for the trace: each decision in words.
	Explain bool `json:"explain,omitempty"`

	// Guards keep units from being evicted. Tolerations of priority classes, and what
	// pods, groups and classes say themselves, count without any of it.
	Guards Guards `json:"guards,omitzero"`

	// PreemptionPriority says where preemption priorities count.
	PreemptionPriority PreemptionPriority `json:"preemptionPriority,omitzero"`

	// WaitSeconds is how long a preemptor waits, once created, before it evicts
	// anybody: an autoscaler may come first. Its class, group or pod may say
	// otherwise. One whose creation is unknown does not wait.
	WaitSeconds int64 `json:"waitSeconds,omitempty"`

	// NoCascade keeps whoever was itself evicted from evicting others: it waits for
	// room.
	NoCascade bool `json:"noCascade,omitempty"`

	// Cost prices evictions.
	Cost CostOptions `json:"cost,omitzero"`

	// PreferMovable makes pods that can run on no other node (a DaemonSet's) more
	// important than others of their priority: those can come back elsewhere.
	PreferMovable bool `json:"preferMovable,omitempty"`

	// HardBudgets must not be overrun; without it budgets are kept where possible.
	HardBudgets HardBudgets `json:"hardBudgets,omitzero"`

	// Limits bound what is evicted.
	Limits Limits `json:"limits,omitzero"`

	// Objective lists what makes one set of victims disrupt less than another, the first
	// that differs decides. Empty: upstream's criteria, as [Result.Score] has them;
	// CriterionLevels is one for each priority there, and CriterionDomains is followed by a
	// node label. Search
	// says whether it chooses among domains alone, or the victims too.
	Objective []CriterionName `json:"objective,omitempty"`

	// Chain is how many moves may follow from one another where [CriterionStranded], [CriterionCascade] and
	// Limits.OnlyMoves ask who has another place. 0: a victim moves where there is room as things
	// stand; 1: or where room is made by those whom it may evict and who move in turn as things stand; and so
	// on, at most 4. Each is asked about by itself, under Limits.OnlyMoves also where all of them go. Under NoCascade it has no say.
	Chain int `json:"chain,omitempty"`

	// Search says how hard the least disruption is looked for. Empty: Greedy, or with
	// Cost.Objective Exact. Of what needs quota, [QuotaOptions] tells what is looked for.
	Search Search `json:"search,omitempty"`

	// SearchSteps is how many units a search for victims may decide on, for each node
	// or placement, or workloads for one that asks for quota, where hard budgets, limits or a cost as the objective ask for a
	// search; in all domains of a gang together, which share them, and of 512 nodes on which
	// Search looks for the least, at most five times as many, or 40,000, or twice as many if these are more; an eighth more to find any set where the least was
	// not found. Members of a gang that are
	// searched for by node have so many in each domain. A decision for which more than 128 amounts
	// are looked at, that units free, cost and charge, counts as several, ten such are the bound before the first one; so do a set that is
	// guessed among 64 units, and a search among thousands, or under hundreds of budgets; 256 pods that leave or come back on the way, or questions about members on nodes, are as much as one.
	// Steps, not seconds: the same answer everywhere. 0: 20,000.
	SearchSteps int `json:"searchSteps,omitempty"`

	// Quota is about workloads in queues with quota.
	Quota QuotaOptions `json:"quota,omitzero"`

	// Hooks replace parts of the decision by the user's own. nil: the defaults.
	Hooks *Hooks `json:"-"`
}

// PreemptionPriority says where the priority that counts against eviction is told
// apart from the priority itself.
type PreemptionPriority struct {
	// Apart makes who may be evicted a matter of preemption priority, static or by
	// milestones, under every generation of rules; KEP5710Alpha always does.
	Apart bool `json:"apart,omitempty"`

	// MaxLead bounds how far it may lie above the priority: more is a typed error.
	// 0: no bound. Source: KEP-5710 (early text), risks, "Blocking preemptions".
	MaxLead int32 `json:"maxLead,omitempty"`
}

// Search says how hard the least disruption is looked for. None finds anything worse than the
// one before it on the same node, for members of a gang in the same domain where they are equal or
// of few shapes, or where another gang has the same places.
type Search string

// The searches. The empty Search is Greedy.
const (
	// Greedy gives back whom it can, the most important first, as upstream does. No single
	// victim could stay; another set may disrupt less.
	Greedy Search = "Greedy"

	// Improved looks for victims that disrupt less around the bounds of what is possible, in at most 256 steps
	// where Exact takes SearchSteps.
	Improved Search = "Improved"

	// Exact looks for the victims that disrupt least, by branch and bound, in at most SearchSteps
	// steps: for a lone pod on every node; for a gang wherever its members may then go, where every unit
	// lies on one node and constraints look at single nodes: of equal members in domains of any size, of
	// few shapes in as large ones as there are few mixes of them (a launcher and 11 workers on up to 8,900
	// nodes, or 140 with constraints; budgets and limits take from that), and in as many domains as 16 million sums of mixes reach, in
	// the others as Greedy; else in domains of at most 512 units, and
	// of unlike members at most 8 on 128 nodes with room.
	// Otherwise it looks where the gang is placed. [Result.Optimal] says whether it came to the end.
	Exact Search = "Exact"
)

// Members says for how many members of a gang room is made.
type Members string

// The ways to count members. The empty Members is as the rules say.
const (
	MinCount Members = "MinCount" // as few as the gang needs, others only where that evicts nobody more

	// AllThatFit: as many as fit with every potential victim gone, before the score:
	// the domain with most members wins, and in it the placements that seat as many.
	// As many as any placement seats where members are alike, in groups without places of their own (up
	// to 4 million groups times seats), or there are at most 10,000 placements; otherwise as many as are
	// seated large members, and the first groups, first, or small ones first. What fits without evicting
	// goes at once, be there fewer, and then as many as fit so; the placements of all domains count together there, and where
	// constraints look at others as many as 262,144 nodes allow for. Of a gang that needs quota the score comes first, and then the members.
	AllThatFit Members = "AllThatFit"
)

// Placement says where a gang goes.
type Placement string

// The placements; see [domain.LeastDisruption], [domain.Pack] and [domain.Spread].
const (
	// PlaceLeastDisruption tries all three, and as far as 50,000 checks go every
	// placement or those around the best one, and takes what disrupts least. A gang that
	// fits disrupts nobody: it is packed.
	PlaceLeastDisruption Placement = "LeastDisruption"
	PlacePack            Placement = "Pack"
	PlaceSpread          Placement = "Spread"
)

// Switch turns something on or off. The empty Switch leaves it as it is.
type Switch string

// The settings of a Switch.
const (
	On  Switch = "on"
	Off Switch = "off"
)

// Sampling limits how many candidates are looked for, by kube-scheduler's rule:
// of n potential nodes at least max(n*Percent/100, Minimum) candidates are wanted,
// at most n, and at least one, where kube-scheduler finds none; the scan starts at Offset and goes on until they are found and at
// least one of them violates no budget.
type Sampling struct {
	Percent int32 `json:"percent"` // 0 to 100; kube-scheduler's default is 10
	Minimum int32 `json:"minimum"` // at least 0, not 0 together with Percent; kube-scheduler's default is 100
	Offset  int32 `json:"offset"`  // where the scan starts among the potential nodes in order of name, modulo their number
}

// Hooks holds what a user replaces. A nil field means the default.
//
// Hooks may ask the planner, and change it: the question goes on about the cluster as it
// was when it began. While [Planner.Apply] or [Planner.Evict] runs they must not change
// it, nor wait for somebody who does: the change would wait for itself. One that names nodes, members, resources or ports that there
// are not, or panics, makes the question or the change fail with a [*HookError].
type Hooks struct {
	// Constraints are checked after the built-in ones, in order. What a [domain.Colocation] says, of
	// a node or of those that share a label's value, is remembered, and one that is [domain.Concerned] is nothing to other pods.
	//
	// Where Prepare refuses pods that move together, by an error that matches [cluster.ErrInvalid], they do not land.
	Constraints []domain.Constraint

	// Filter says whether a pod may run on a node, whoever else does; it comes after the
	// built-in checks of the node. It is shown what pods of one template share, and no more:
	// see [domain.FilterView]. What it says is remembered for such pods until the node
	// changes: it is asked about all nodes in the first questions, later about those that were
	// set anew or whose pods have changed. It must not call the planner.
	Filter func(pod *Pod, node *Node) bool

	// Placer chooses where a gang goes, among the places that evictions would open or, if it
	// fits, among those that are free; Options.Placement does not count then. It proposes:
	// where it finds no place for as many members as are needed, others are tried.
	Placer domain.Placer

	// Eligible says who may be evicted; Options.Guards narrow it further. nil:
	// [victims.LowerPriority], with Guards.EqualAfterSeconds.
	Eligible victims.Eligible

	// Order decides about importance before the rules do. nil: it is theirs.
	Order victims.Order

	// Compare says which domain disrupts less. nil: [victims.Ranking], with
	// Options.Cost. Scores are shown as that one orders them.
	Compare victims.Comparison

	// Prefer says how much a pod likes a node, in place of Options.Prefer; more is better,
	// and equals go by name. It may read the index, where victims still run, and says the
	// same as long as nothing changes.
	Prefer func(ix *cluster.Index, pod *Pod, n cluster.NodeID) int64

	// Cost prices evictions in place of Options.Cost.Tariff. nil: [victims.Tariff].
	Cost victims.Cost

	// Splitter divides the cluster into the domains that a gang may go to; the
	// topology constraints of its group do not count then.
	Splitter domain.Splitter

	// Observer is told of every question, and how long it took. It is no part of the
	// decision: [Stats].Hooks does not say that it is set.
	Observer Observer
}
