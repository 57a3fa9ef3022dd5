package gang

import (
	"math"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/counting"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Search is the search for a group: a domain is the whole cluster or a region
// of it, and in each several placements are tried.
type Search struct {
	q      *ask.Question
	Trial  *domain.GangTrial // nil as long as members are counted
	Runner *reprieve.Runner  // likewise
	Tally  *disruption.Ledger
	seater *seating.Seating
	offers *losses.Offers

	*notes
	removed []victims.UnitID // those of which inside or charged tell something
	harmful bool             // some loss adds to them
	alike   *likeness        // nil: not asked
	firsts  *firstSeats
	near    ask.Near
	row     []int64 // buffer of lacks and outdone
	freeing []int64 // buffer of promise
	scarce  []int   // buffer of sums; nil: none yet
	moved   int     // how many pods of removed left the trial

	less       *Search          // that looks less hard for the least disruption; nil for Greedy
	placements []placement      // by placer: what placing comes to in the domain that was looked at last, as far as that was asked
	Counting   *counting.Search // nil if members can't be counted
	counted    int              // checks that counting stands for
	beside     int64            // work that is not counted; see aside
	given      int              // what giving victims back beside placements is counted as
	summed     int              // sums of mixes of members that were looked at
	mended     int              // see mostMended
	shares     int              // among so many domains the checks for better placements are shared out
	begun      int              // see mostBegun
	begins     int              // of searches beside placements in the domain
	back       int64            // what giving back has come to in the domain, where one looks less hard, too; see comeBack

	Brief bool // only verdict, domain and score are asked for
	Each  bool // the plan of every domain is asked for

	turn     int       // position of the domain that is looked at
	promises []promise // by domain; none: they are not kept

	Best     *Plan
	Room     int                 // for so many members at most there would be room, where it is not enough,
	roomiest domain.Domain       // in the first such domain
	packed   []domain.Assignment // who has a place there then, with every potential victim gone; nil: not known
	Rejected []Rejected
	Found    []Plan // of each domain, where these are asked for
	Proved   bool   // every "no" so far is proved
	Open     bool   // in some domain a plan may disrupt as little as Least, by aim; nil: who knows
	Least    []int64
	Traces   []Trace // where these are asked for
	Stats    ask.Stats

	steps *[]ask.Step // of the domain that is looked at; nil: not asked for
}

// Plan is a domain in which preemption helps, with a placement and its victims.
type Plan struct {
	Domain  domain.Domain
	Places  []domain.Assignment
	Victims []victims.UnitID
	Parts   victims.Parts // of those that go in part; may be nil
	Charged []int32       // by victim: what its loss adds to the violations
	Score   victims.Score

	Counted *counting.Plan // that it was made of; nil if trials found it

	steps []ask.Step // how it came about, for the trace
	turn  int        // of its domain
}

// Rejected is a domain in which preemption does not help.
type Rejected struct {
	Domain domain.Domain
	Why    domain.Reason
}

// Trace is what happened in one domain.
type Trace struct {
	Domain *domain.Domain
	Steps  []ask.Step
}

// Answer is what a search comes to.
type Answer struct {
	Verdict ask.Verdict
	Refusal ask.Refusal    // of NotEligible
	Node    cluster.NodeID // of Waiting: where victims terminate
	Plan    *Plan          // of Feasible and Fits
	Fitting []Fitting      // of Fits, where candidates are asked for
}

// Fitting is a domain in which the gang fits with nobody gone.
type Fitting struct {
	Domain string
	Seats  int
}

// New returns the search by trials.
func New(q *ask.Question) *Search {
	s := bare(q)
	s.Equip()
	return s
}

// NewCounting returns the search that counts members where that comes to the same. Its
// buffers come from tools, which is of the units as they are: see Close.
func NewCounting(q *ask.Question, tools *sync.Pool) *Search {
	s := bare(q)
	if s.Counting = s.newCount(tools); s.Counting == nil {
		s.Equip()
	}
	return s
}

func bare(q *ask.Question) *Search {
	return &Search{q: q, Tally: q.Budgets.NewLedger(), Proved: true, shares: 1, Stats: ask.Stats{Hooks: q.Hooks}}
}

// Equip makes what trials need, once.
func (s *Search) Equip() {
	if s.Trial != nil {
		return
	}
	q := s.q
	if q.Effort != ask.Greedy {
		s.less = bare(q.LessHard())
	}
	s.Trial = q.GangTrial()
	s.Trial.Allow(s.looks())
	s.seater = &seating.Seating{Trial: s.Trial, Gang: q.Tree, OwnPlacer: q.OwnPlacer, Looks: s.looks(), Wide: q.Effort != ask.Greedy}
	s.seater.Allow(1)
	s.Runner = reprieve.NewRunner(q.Units, q.Budgets)
	s.Runner.Repeat = q.RepeatOfGang && (q.Mobile || !q.Monotone())
	s.near = ask.NearOf(q, 1)
	s.Runner.Aside = s.aside
	s.Runner.Here, s.Runner.Wholes = s.near.Moving, q.Wholes()
	s.Runner.Doubtful, s.Runner.Constrained, s.Runner.Steps = !q.Monotone(), len(q.States) > 0, q.Steps
}

// notes are what is noted of each unit where victims are looked for. They are reused: between domains nobody is inside or charged.
type notes struct {
	lists   int32   // how many lists of units were made
	seen    []int32 // the number of the list in which it stands
	inside  []bool  // potential victim of the domain that is looked at
	charged []int32 // what its loss adds to the violations
	seats   seatNotes
}

// noted are notes out of use, of any planner.
var noted sync.Pool

// prepare borrows notes, once.
func (s *Search) prepare() {
	if s.notes != nil {
		return
	}
	units := s.q.Units.Len()
	if n, ok := noted.Get().(*notes); ok && len(n.seen) >= units {
		if s.notes = n; n.lists > math.MaxInt32/2 {
			n.lists = 0
			clear(n.seen)
		}
		return
	}
	s.notes = &notes{seen: make([]int32, units), inside: make([]bool, units), charged: make([]int32, units)}
}

// mostLooks is what placers ask about members on nodes, in questions about room: with everybody in place, and then with
// the potential victims gone, in all domains together.
const mostLooks = 1 << 23

// looks is mostLooks, or less.
func (s *Search) looks() int {
	if s.helping() {
		return mostLooks / helping
	}
	return mostLooks
}

// helping reports whether the question is one of several about what would help, for which there is one of so many parts of looks and steps,
// and helpSteps of a search at most on the average, of a few.
func (s *Search) helping() bool { return s.q.NoBounds || s.q.Asked != nil }

const helping, helpSteps = 4, 1 << 10

// allow gives the placers of one domain its part of so many looks.
func (s *Search) allow(looks int) {
	s.Trial.Allow(max(looks/max(s.shares, 1), seating.FewestLooks))
	s.seater.Allow(s.shares)
}

// Close gives the buffers back. The question is over.
func (s *Search) Close() {
	if s.Counting != nil {
		s.Counting.Close()
	}
	if s.less != nil {
		s.less.Close()
	}
	if s.offers != nil && !s.q.Hooks { // which may have kept them
		s.offers.Close()
	}
	if s.Trial != nil && !s.q.Hooks {
		s.Trial.Close()
	}
	if s.notes != nil {
		s.notes.seats.spans, s.notes.seats.beside = s.notes.seats.spans[:0], s.notes.seats.beside[:0]
		noted.Put(s.notes)
		s.notes, s.firsts = nil, nil
	}
}

// Near tells which pods matter where a domain is looked at.
func (s *Search) Near() *ask.Near { return &s.near }

// Count adds so many feasibility checks that somebody counted otherwise.
func (s *Search) Count(checks int) { s.counted += checks }

// Checks counts the feasibility checks so far.
func (s *Search) Checks() int {
	if s.Trial == nil {
		return s.counted
	}
	return s.counted + s.Trial.Checks
}

// What questions are counted as: about a member on a node, a decision of a search, a look of a landing, who comes back beside
// a placement, and who may at least stay out.
const (
	looked   = 2
	decision = 64
	landed   = 8
	given    = 128
	chosen   = 384
	sumsAsk  = 8 // sums of mixes of members are one
)

// aside is called before something is asked for the trace alone, and back after it: it is not counted, so that searches end
// where they do without a trace.
func (s *Search) aside() (back func()) {
	checks, asked, again, moved, work := s.Trial.Checks, s.Trial.Asked, s.Trial.Again, s.near.Moved(), s.Trial.Work()
	return func() {
		s.Trial.Checks, s.Trial.Asked, s.Trial.Again = checks, asked, again
		s.beside += s.Trial.Work() - work
		s.near.Charge(moved - s.near.Moved())
	}
}

// work is that of the trial, but for what is not counted.
func (s *Search) work() int64 { return s.Trial.Work() - s.beside }

// Asked counts what was asked so far, about a member on a node and else.
func (s *Search) Asked() int {
	if s.Trial == nil {
		return 0
	}
	return looked*int(s.work()) + decision*s.Runner.Decided + landed*s.q.Landed + s.given + s.near.Moved() + s.summed/sumsAsk
}

// Run is the whole road: does it fit, may it preempt, whom, and where. The domains come
// in rounds: the first round that has a plan decides.
func (s *Search) Run(rounds [][]domain.Domain) Answer {
	if s.q.Asked != nil {
		defer func() { *s.q.Asked += s.Asked() }()
	}
	for _, domains := range rounds {
		if d := s.FitsIn(domains); d != nil {
			a := Answer{Verdict: ask.Fits, Plan: &Plan{Domain: *d, Places: s.Trial.Assignments()}}
			if s.q.Candidates {
				a.Fitting = s.fitting(domains)
			}
			return a
		}
	}
	if a := s.Refuse(); a.Verdict != ask.Feasible {
		return a
	}
	for _, domains := range rounds {
		s.Rejected, s.Traces, s.Room, s.roomiest, s.packed = nil, nil, 0, domain.Domain{}, nil
		s.Stats.Domains, s.shares = len(domains), s.numUsable(domains)
		s.evaluateAll(domains)
		s.settleAll()
		switch {
		case s.Best == nil:
		case len(s.Best.Victims) == 0 && (!s.Brief || s.Best.Score.Pods == 0):
			a := Answer{Verdict: ask.Fits, Plan: s.Best}
			for i := range s.Found {
				if p := &s.Found[i]; s.q.Candidates && len(p.Victims) == 0 {
					a.Fitting = append(a.Fitting, Fitting{p.Domain.Name, len(p.Places)})
				}
			}
			return a
		default:
			return Answer{Verdict: ask.Feasible, Plan: s.Best}
		}
	}
	return Answer{Verdict: ask.Infeasible}
}

// fitting lists those of domains in which the gang fits as things stand. It takes off who is
// placed.
func (s *Search) fitting(domains []domain.Domain) (list []Fitting) {
	proved := s.Proved
	s.seater.Looks = s.looks() / len(domains)
	for i := range domains {
		s.Trial.UnplaceTo(0)
		if s.FitsIn(domains[i:i+1]) != nil {
			list = append(list, Fitting{domains[i].Name, len(s.Trial.Placed())})
		}
	}
	s.Proved = proved
	return list
}

// Refuse answers for a gang that may not preempt; its verdict is Feasible if it may.
//
// Source: kube-scheduler v1.36 and v1.37, pod group preemption.
func (s *Search) Refuse() Answer {
	if why := s.q.Barred(); why.Why != ask.Willing {
		return Answer{Verdict: ask.NotEligible, Refusal: why}
	}
	if s.q.WaitsForVictims {
		if n := s.waitsFor(); n != cluster.NoNode {
			return Answer{Verdict: ask.Waiting, Node: n}
		}
	}
	if why := s.q.Unwilling(); why.Why != ask.Willing {
		return Answer{Verdict: ask.NotEligible, Refusal: why}
	}
	return Answer{}
}

// waitsFor returns a node to which a member is nominated and on which a pod below
// the gang's priority is terminating by preemption, or NoNode.
func (s *Search) waitsFor() cluster.NodeID {
	for _, m := range s.q.Members {
		n := s.q.Index.NodeByName(m.Pod.NominatedNode)
		if n == cluster.NoNode {
			continue
		}
		for _, p := range s.q.Index.PodsOn(n) {
			u, _ := s.q.Units.UnitOf(p)
			if pod := s.q.Index.Pod(p); pod.Terminating && pod.Preempted && s.q.May(u, s.q.Claim) {
				return n
			}
		}
	}
	return cluster.NoNode
}

// numUsable is how many of domains have a node that some member could be on if it were
// empty; at least 1.
func (s *Search) numUsable(domains []domain.Domain) int {
	if len(domains) == 1 {
		return 1
	}
	usable := func(n cluster.NodeID) bool {
		if s.Counting == nil {
			return s.Trial.Usable(n)
		}
		offers := s.q.Index.Allocatable(n)
		return s.Counting.Admits(n) && s.q.Members[0].Resources(offers, offers).OK()
	}
	num := 0
	for i := range domains {
		if slices.ContainsFunc(domains[i].Nodes, usable) {
			num++
		}
	}
	return max(num, 1)
}

// evaluateAll looks for the plan that disrupts least; among equals that of the first domain.
func (s *Search) evaluateAll(domains []domain.Domain) {
	var outs []counting.Outcome
	if s.Counting != nil {
		s.Counting.Brief = s.Brief && s.q.Effort == ask.Greedy
		outs = s.Counting.Evaluate(domains, s.shares)
	}
	turns, sorted := make([]int, len(domains)), false
	for i := range turns {
		turns[i] = i
	}
	s.promises = nil
	for k := range turns {
		if !sorted && s.full(s.Best) {
			s.sortTurns(turns[k:], domains)
			sorted = true
		}
		i := turns[k]
		s.turn = i
		switch {
		case outs == nil || outs[i].ByTrials:
			s.evaluate(&domains[i], nil)
		case s.q.Effort == ask.Greedy || outs[i].Refusal != 0:
			s.adopt(&domains[i], &outs[i])
		default:
			p := s.planOf(&outs[i])
			s.settle(p)
			s.tellOf(p)
			s.evaluate(&domains[i], p)
		}
	}
}

// evaluate looks by trials for the plan in domain d that disrupts least. counted is what
// counting makes of it; nil: nothing.
func (s *Search) evaluate(d *domain.Domain, counted *Plan) {
	s.Equip()
	var steps []ask.Step
	if s.q.Trace {
		s.steps = &steps
	}
	why := s.tryDomain(d, counted)
	s.steps = nil
	if !why.OK() {
		s.reject(d, why, steps)
	} else if s.q.Trace {
		s.Traces = append(s.Traces, Trace{d, steps})
	}
}

// reject notes that preemption does not help in domain d, after so many steps.
func (s *Search) reject(d *domain.Domain, why domain.Reason, steps []ask.Step) {
	s.Rejected = append(s.Rejected, Rejected{*d, why})
	if s.q.Trace {
		s.Traces = append(s.Traces, Trace{d, append(steps, ask.Step{Action: ask.Rejects, Why: why})})
	}
}

// lessHard is the plan in domain d that is found where the least disruption is looked for less hard, so that whoever looks
// harder never finds worse; nil: none, for that reason. counted is what counting makes of d. It leaves a fourth of the looks at least.
func (s *Search) lessHard(d *domain.Domain, counted *Plan) (p *Plan, why domain.Reason) {
	switch {
	case s.q.Effort == ask.Greedy:
		return nil, why
	case s.q.Effort == ask.Improved && counted != nil:
		s.less.placements = nil
		return counted, why
	}
	s.less.Equip() // its question was taken when everybody was in place
	before, moved, asked := s.less.Checks(), s.less.near.Moved(), s.less.Trial.Asked
	s.less.shares, s.less.Best, s.less.Found = s.shares, nil, nil
	s.less.Room, s.less.roomiest, s.less.packed = 0, domain.Domain{}, nil
	why = s.less.tryDomain(d, counted)
	s.counted += s.less.Checks() - before
	s.near.Charge(s.less.near.Moved() - moved)
	s.back += s.less.back
	s.allow(max(s.looks()-s.shares*(s.less.Trial.Asked-asked), s.looks()/4))
	return s.less.Best, why
}

// mostBegun is up to which sum the least disruption is searched for, to which each domain adds how many there are. In the others
// victims are given back, as where it is not asked for; so they are once mostSums sums of mixes were looked at, or once it has asked mostHarder
// questions, as Asked counts.
const mostBegun, mostHarder = 1 << 25, 1 << 22

// lookLessHard is tryDomain in these.
func (s *Search) lookLessHard(d *domain.Domain, counted *Plan) domain.Reason {
	s.less.steps = s.steps
	p, why := s.lessHard(d, counted)
	s.less.steps = nil
	s.Stats.Evaluated++
	s.leaveOpen(nil)
	if s.Proved = s.Proved && s.less.Proved; s.less.Room > s.Room {
		s.hasRoom(d, s.less.Room)
		s.packed = s.less.packed
	}
	if p != nil {
		if p == counted { // else the steps to it are noted
			s.note(p.steps...)
			s.noteScore(p)
		}
		s.keepPlan(p)
	}
	return why
}

// doubt notes that a domain may be of use that is left out, with whatever victims, unless that is refuted. It does not ask where that is known.
func (s *Search) doubt(refuted func() bool) {
	known := !s.Proved && (s.q.Effort == ask.Greedy || s.Open && len(s.Least) == 0)
	if !known && !refuted() {
		s.Proved = false
		s.leaveOpen(nil)
	}
}

// leaveOpen notes that in some domain a plan may disrupt as little as least.
func (s *Search) leaveOpen(least []int64) {
	if !s.Open || slices.Compare(least, s.Least) < 0 {
		s.Open, s.Least = true, least
	}
}

// note notes a step, if they are asked for.
func (s *Search) note(steps ...ask.Step) {
	if s.steps != nil {
		*s.steps = append(*s.steps, steps...)
	}
}
