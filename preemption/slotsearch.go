package preemption

import (
	"runtime"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/seating"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// slotSearch is the search for a lone pod group whose members nothing tells apart,
// where nothing but resources and budgets decides. What has to go on a node is then a
// matter of the node and of how many members go there, and where units have several
// pods of who goes elsewhere, see slotJoint: members are counted and nobody leaves a
// trial. It comes to what gangSearch comes to, which answers wherever something else
// has a say.
type slotSearch struct {
	*gangSearch
	leaf   *seating.Group
	member *domain.Member
	held   map[cluster.NodeID][]int64 // what nominated pods hold; most nodes have none
	tools  *slotTools
}

// slotTools are the buffers of a slotSearch; they are used again.
type slotTools struct {
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
	harm      []columns.RungSet // by node: the loss violates a budget
	charging  []int64           // by budget: potential victims that it covers
	contests  []contest         // by budget
	contested []victims.Marked  // by budgets that not all of them can have, marked with
	places    []place           // where they are
	offers    domain.SeatQueue  // to the members
	order     []int32
	touched   []int32
	moving    movingTools
	joint     jointTools
}

// newSlotSearch returns the search for the question of s, nil if it is not one that
// can be answered by counting.
func (s *gangSearch) newSlotSearch() *slotSearch {
	if !s.countable() {
		return nil
	}
	f := &slotSearch{gangSearch: s, leaf: s.tree, member: s.members[0], tools: s.borrowSlots()}
	f.findHeld()
	if !f.tools.seats.Ask(f.member, s.priority, f.heldOn) {
		s.question.slotTools.Put(f.tools)
		return nil
	}
	return f
}

// countable reports whether members can be counted.
func (s *gangSearch) countable() bool {
	t := s.question.traits()
	if byCounting.leads(t) {
		t.set(traitUnequal, !domain.Equal(s.members))
		t.set(traitOwn, s.ownVictims())
	}
	return byCounting.leads(t)
}

// ownVictims reports whether a running pod of the gang might be evicted for it.
func (s *gangSearch) ownVictims() bool {
	if s.tree.ID == cluster.NoGroup {
		return false
	}
	return slices.ContainsFunc(s.ix.PodsUnder(nil, s.tree.ID), func(p cluster.PodID) bool {
		u, runs := s.units.UnitOf(p)
		return runs && s.units.Unit(u).Level < s.priority
	})
}

// borrowSlots returns buffers that nobody else uses.
func (q *question) borrowSlots() *slotTools {
	if t, ok := q.slotTools.Get().(*slotTools); ok && t.seats.Over(q.ladder) {
		return t
	}
	return &slotTools{seats: columns.NewSeats(q.ladder), tally: q.budgets.NewLedger()}
}

// findHeld adds up what nominated pods hold that count as running.
func (f *slotSearch) findHeld() {
	own := func(p cluster.PodID) bool {
		return slices.ContainsFunc(f.members, func(m *domain.Member) bool { return m.ID == p })
	}
	if f.ladder.Levels().NumOdd() == 0 { // nobody is nominated
		return
	}
	for n := range cluster.NodeID(f.ix.NumNodes()) {
		for _, p := range f.ix.Nominees(n) {
			if f.ix.Priority(p) < f.priority || own(p) {
				continue
			}
			if f.held == nil {
				f.held = map[cluster.NodeID][]int64{}
			}
			if f.held[n] == nil {
				f.held[n] = make([]int64, f.ix.NumResources())
			}
			for r, v := range f.ix.Request(p) {
				f.held[n][r] += v
			}
		}
	}
}

func (f *slotSearch) heldOn(n cluster.NodeID) []int64 {
	if f.held == nil {
		return nil
	}
	return f.held[n]
}

// admits reports whether the checks that no eviction changes let members onto node n.
func (f *slotSearch) admits(n cluster.NodeID) bool {
	return f.ix.Open(n) && f.member.Anywhere() || f.member.Static(f.ix.Node(n)).OK()
}

// slotOutcome is what came of a domain.
type slotOutcome struct {
	counted   bool // otherwise it is for trials
	plan      *plan
	why       domain.Reason
	evaluated bool
	room      int
	checks    int
}

// evaluate looks for the plan in each of domains that disrupts least. Many nodes in
// several domains are shared out among goroutines, none of which outlives the call.
func (f *slotSearch) evaluate(domains []domain.Domain) []slotOutcome {
	outs := make([]slotOutcome, len(domains))
	nodes := 0
	for i := range domains {
		nodes += len(domains[i].Nodes)
	}
	f.share(len(domains), nodes >= parallelNodes, func(tools *slotTools, i int) {
		outs[i] = f.evaluateOne(&domains[i], tools)
	})
	return outs
}

// From how many nodes, prices and victims on goroutines pay: below a tenth of a millisecond
// there is nothing to share.
const (
	parallelNodes   = 1000
	parallelCosts   = 2000
	parallelVictims = 4000
)

// share calls do once for each of 0 to n-1, on several goroutines if that pays; each
// has tools of its own.
func (f *slotSearch) share(n int, pays bool, do func(tools *slotTools, i int)) {
	workers := min(f.goroutines, n)
	if f.goroutines == 0 {
		workers = min(runtime.GOMAXPROCS(0), n)
	}
	if !pays || workers < 2 {
		for i := range n {
			do(f.tools, i)
		}
		return
	}
	tools := make([]*slotTools, workers)
	tools[0] = f.tools
	ranges.Take(n, workers, func(worker, i int) {
		if tools[worker] == nil {
			tools[worker] = f.borrowSlots()
			tools[worker].seats.Ask(f.member, f.priority, f.heldOn)
		}
		do(tools[worker], i)
	})
	for _, t := range tools[1:] {
		if t != nil {
			f.question.slotTools.Put(t)
		}
	}
}

func (f *slotSearch) evaluateOne(d *domain.Domain, tools *slotTools) slotOutcome {
	t := &slotTry{slotSearch: f, slotTools: tools, domain: d}
	out, counted := t.run()
	out.counted = counted
	return out
}

// adopt notes what came of domain d.
func (f *slotSearch) adopt(d *domain.Domain, out slotOutcome) {
	f.counted += out.checks
	f.room = max(f.room, out.room)
	if out.evaluated {
		f.stats.Evaluated++
	}
	if !out.why.OK() {
		f.rejected = append(f.rejected, rejectedDomain{*d, out.why})
		return
	}
	f.keepPlan(out.plan)
}

// putSlotsBack ends the use of what borrowSlots returned. The question is over.
func (s *gangSearch) putSlotsBack() {
	if s.slots != nil {
		s.question.slotTools.Put(s.slots.tools)
	}
}
