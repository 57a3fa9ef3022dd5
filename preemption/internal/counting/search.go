package counting

import (
	"runtime"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// Question is what is asked, and about which cluster. Nothing of it is changed.
type Question struct {
	Index   *cluster.Index
	Units   *victims.Units
	Budgets *victims.Budgets
	Columns *columns.NodeColumns

	Gang     *seating.Group   // a lone pod group
	Members  []*domain.Member // equal ones
	Priority int32

	Placers  []domain.Placer // to try; the first one wins ties
	Improves bool            // placements beyond those of the placers are looked at
	Mobile   bool            // members may move while victims come back
	Fewest   bool            // as few members as are needed, not as many as fit

	Checks     int        // for better placements, as trials would count them
	Goroutines int        // at most so many; 0: GOMAXPROCS
	Tools      *sync.Pool // of buffers, of which each question borrows some
	Poll       func()     // as in a question of the searches; may be nil
}

// Search is the search for a lone pod group whose members nothing tells apart,
// where nothing but resources and budgets decides. What has to go on a node is then a
// matter of the node and of how many members go there, and where units have several
// pods of who goes elsewhere: members are counted and nobody leaves a trial.
type Search struct {
	Question
	Brief bool // only verdict, domain and score are asked for

	member  *domain.Member
	held    map[cluster.NodeID][]int64 // what nominated pods hold; most nodes have none
	tools   *tools
	domains int // among which the checks for better placements are shared out, and
	shares  int // so many of them, those where a member could be at all
}

// tools are the buffers of a search; they are reused.
type tools struct {
	seats  *columns.Seats
	sorter victims.Sorter
	tally  *disruption.Ledger

	stretches []stretch // of the domain that is looked at
	parts     []stretch // of the domain that is tried
	slots     []int64   // by position in the domain: room for so many members with every potential victim gone
	odd       []int32   // positions of those with room of which the columns don't tell everything
	count     []int32   // by position: members there; zero in between
	costs     []nodeCost
	firsts    []columns.Cost // by position, where it is known: what the first member there costs
	row       []int64
	harm      []columns.PositionSet // by node: the loss violates a budget
	charging  []int64               // by budget: potential victims that it covers
	contests  []contest             // by budget
	contested []victims.Marked      // by budgets that not all of them can have, marked with
	places    []place               // where they are
	offers    domain.SeatQueue      // to the members
	order     []int32
	touched   []int32
	seq       []int32 // a placement to be tried
	moving    movingTools
	joint     jointTools
}

// New returns the search for q; nil if the columns can't tell of its members. Close ends
// it.
func New(q Question) *Search {
	f := &Search{Question: q, member: q.Members[0], shares: 1}
	f.tools = f.borrow()
	f.findHeld()
	if !f.tools.seats.Ask(f.member, f.Priority, f.heldOn) {
		f.Close()
		return nil
	}
	return f
}

// Close gives the buffers back. The search is over. It is not called where a filter or Poll
// has panicked: what is half done is not reused.
func (f *Search) Close() { f.Tools.Put(f.tools) }

// borrow returns buffers that nobody else uses.
func (f *Search) borrow() *tools {
	if t, ok := f.Tools.Get().(*tools); ok && t.seats.Over(f.Columns) {
		return t
	}
	return &tools{seats: columns.NewSeats(f.Columns), tally: f.Budgets.NewLedger()}
}

// findHeld adds up what nominated pods hold that count as running.
func (f *Search) findHeld() {
	own := func(p cluster.PodID) bool {
		return slices.ContainsFunc(f.Members, func(m *domain.Member) bool { return m.ID == p })
	}
	if f.Columns.Levels().NumOdd() == 0 { // nobody is nominated
		return
	}
	for n := range f.Index.Nodes() {
		for _, p := range f.Index.Nominees(n) {
			if f.Index.Priority(p) < f.Priority || own(p) {
				continue
			}
			if f.held == nil {
				f.held = map[cluster.NodeID][]int64{}
			}
			if f.held[n] == nil {
				f.held[n] = make([]int64, f.Index.NumResources())
			}
			for r, v := range f.Index.Request(p) {
				f.held[n][r] += v
			}
		}
	}
}

func (f *Search) heldOn(n cluster.NodeID) []int64 {
	if f.held == nil {
		return nil
	}
	return f.held[n]
}

// Admits reports whether the checks that no eviction changes let members onto node n.
func (f *Search) Admits(n cluster.NodeID) bool {
	return f.Index.Open(n) && f.member.Anywhere() || f.member.Static(f.Index.Node(n)).OK()
}

// Refusal is why nobody is evicted in a domain; the zero Refusal says that there is a plan.
type Refusal int

const (
	NoVictims   Refusal = iota + 1 // there is no potential victim
	NoPlacement                    // there is room for too few, whoever goes
)

// Outcome is what came of a domain.
type Outcome struct {
	ByTrials bool // it is for trials, and nothing else is said
	Plan     *Plan
	Refusal  Refusal
	Room     int // for so many members, if there is room for too few
	Checks   int // that counting stands for
}

// goOn is called in whatever may take long.
func (f *Search) goOn() {
	if f.Poll != nil {
		f.Poll()
	}
}

// Evaluate looks for the plan in each of domains that disrupts least; among shares of
// them the checks for better placements are shared out. Many nodes in several domains are
// shared out among goroutines, none of which outlives the call.
func (f *Search) Evaluate(domains []domain.Domain, shares int) []Outcome {
	f.domains, f.shares = len(domains), shares
	outs := make([]Outcome, len(domains))
	nodes := 0
	for i := range domains {
		nodes += len(domains[i].Nodes)
	}
	f.share(len(domains), nodes >= parallelNodes, func(tools *tools, i int) {
		f.goOn()
		t := &attempt{Search: f, tools: tools, domain: &domains[i]}
		outs[i] = t.run()
	})
	return outs
}

// From how many nodes and prices on goroutines pay: below a tenth of a millisecond there is
// nothing to share.
const (
	parallelNodes = 1000
	parallelCosts = 2000
)

// share calls do once for each of 0 to n-1, on several goroutines if that pays; each
// has tools of its own.
func (f *Search) share(n int, pays bool, do func(tools *tools, i int)) {
	workers := min(f.Goroutines, n)
	if f.Goroutines == 0 {
		workers = min(runtime.GOMAXPROCS(0), n)
	}
	if !pays || workers < 2 {
		for i := range n {
			do(f.tools, i)
		}
		return
	}
	each := make([]*tools, workers)
	each[0] = f.tools
	ranges.Take(n, workers, func(worker, i int) {
		if each[worker] == nil {
			each[worker] = f.borrow()
			each[worker].seats.Ask(f.member, f.Priority, f.heldOn)
		}
		do(each[worker], i)
	})
	for _, t := range each[1:] {
		if t != nil {
			f.Tools.Put(t)
		}
	}
}
