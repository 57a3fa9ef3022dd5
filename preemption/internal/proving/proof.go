package proving

import "github.com/preempt-go/preempt/preemption/cluster"

// Proof shows that no evictions have less than Bound.
type Proof struct {
	Bound   []int64 // by criterion, as far as it goes
	Nodes   []Nodes
	Domains []Domain // of a gang, in place of nodes
}

// Domain shows of a domain, for one criterion, that so many members cost no less.
type Domain struct {
	Domain       int // by position
	Criterion    int // as of a step
	Price, Times int64
	Budgets      []cluster.BudgetID // of overruns: whose charges count
	Nodes        []Nodes

	room int64 // of the budgets
}

// Nodes are nodes for which the same steps do, by number.
type Nodes struct {
	Nodes []cluster.NodeID
	Spare int64 // of a gang
	Steps []Step
}

// Step shows that no victims have less of a criterion than Bound says, and no more of those
// before it.
type Step struct {
	Criterion int // by position; -1: that there are no victims
	Members   int64
	Cases     []Case
}

// Case is a case that is shown to be none, or splits those that are left into two: those in which
// the unit of Pod goes, or of an elastic one Pod itself, and then those in which it stays. What
// tells of the first ends where every split in it has two ends.
type Case struct {
	Pod     cluster.PodID // NoPod: no such set is in this case
	Weights []Weight      // why
}

// Weight is how much one thing weighs in a sum.
type Weight struct {
	Of    Term
	Value int64 // above zero
}

// Term is what a sum is about.
type Term struct {
	Kind   Kind
	Number int // of the resource (beyond these: of the device request of the first member), the criterion by position, the budget, or the limit by position
}

// Kind is a kind of terms.
type Kind int8

// The kinds.
const (
	Resource Kind = iota
	Criterion
	Budget
	Limit
	Count // how many have to go: as many as free enough of some resource if those go that free most of it
)
