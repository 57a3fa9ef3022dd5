package seating

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Seating seats the members of a gang on a trial.
type Seating struct {
	Trial *domain.GangTrial
	Gang  *Group

	// OwnPlacer: the placer is the user's, and Place asks no other.
	OwnPlacer bool

	// Wide lets every placement be looked at on up to WideNodes.
	Wide bool

	// Looks bounds, if above zero, what [domain.GangTrial.Allow] does for Fit: the domains share
	// them evenly, and have FewestLooks at least.
	Looks int

	// Unproved is set when somebody found no place although not every placement was
	// looked at.
	Unproved bool

	again int     // how often Again has asked about a member on a node
	left  *int    // steps that looking at every placement may take; see Allow; nil: no bound but that of each time
	least []int64 // by resource: what as many members as are needed ask for at least; nil: not known yet

	missing []int64 // buffer of mayHold
}

// FewestLooks is how often placers may ask about a member on a node in one of many domains.
const FewestLooks = 512

// mostExact is how many steps looking at every placement may take for one gang, each time that it is done added up.
const mostExact = 1 << 19

// Allow gives one of so many domains its part of the steps that looking at every placement may take.
func (s *Seating) Allow(domains int) {
	left := max(mostExact/max(domains, 1), FewestLooks)
	s.left = &left
}

// Prices are offers that follow a placement which is taken back.
type Prices interface {
	domain.Offers
	Reset() // the trial has changed otherwise than by what was Taken

	// Untaken is Reset where members have lost their places on some nodes, each listed once, and nothing
	// else has changed since.
	Untaken(nodes []cluster.NodeID)
	Total() domain.Price // of everybody who has a place

	// Apart reports whether what has to go on nodes, on which nobody is placed, has to go for whoever
	// is placed there alone, and for nobody elsewhere.
	Apart(nodes []cluster.NodeID) bool

	// On is what has to go on nodes for those who are placed there; it has no pods on others.
	On(nodes []cluster.NodeID) domain.Price
}

// Fit seats the gang in the one of domains where most of it has a place as things stand,
// and returns that domain; nil if enough of it fits in none. It goes where placer, by
// itself, puts it; where it finds no place for enough, or others one for more, it is
// packed or spread. Where OwnPlacer is set, what others find does not count if placer
// finds a place for enough in any of domains. A nil placer packs.
func (s *Seating) Fit(domains []domain.Domain, placer domain.Placer) *domain.Domain {
	by := func(d *domain.Domain) bool { return placer != nil && s.PlaceBy(d, placer) }
	pack := func(d *domain.Domain) bool { return s.Place(d, domain.Pack{}, nil, false) }
	spread := func(d *domain.Domain) bool { return s.Place(d, domain.Spread{}, nil, false) }
	rounds := [][]func(*domain.Domain) bool{{by, pack, spread}}
	if s.OwnPlacer {
		rounds = [][]func(*domain.Domain) bool{{by}, {pack, spread}}
	}
	var best []domain.Assignment
	var at *domain.Domain
	for _, ways := range rounds {
		for i := range domains {
			if s.Looks > 0 {
				s.Trial.Allow(max(s.Looks/len(domains), FewestLooks))
				s.Allow(len(domains))
			}
			for _, seats := range ways {
				if len(best) < s.Trial.Members() && seats(&domains[i]) && len(s.Trial.Placed()) > len(best) {
					best, at = s.Trial.Assignments(), &domains[i]
				}
				s.Trial.UnplaceTo(0)
			}
		}
		if at != nil {
			break
		}
	}
	s.Trial.PlaceAll(best)
	return at
}

// PlaceBy is Place by placer alone, with everybody in place, so that room is free: as many
// members as it finds a place for, if they are enough.
func (s *Seating) PlaceBy(d *domain.Domain, placer domain.Placer) bool {
	w := &placing{Seating: s, placer: placer, prices: free{}}
	defer s.noteHurry()
	return w.seatGang(d)
}

// free are the prices where nobody has to go.
type free struct{}

func (free) Price(domain.MemberID, cluster.NodeID) domain.Price     { return domain.Free }
func (free) Highest() int64                                         { return domain.Free.Highest }
func (free) Taken(domain.MemberID, cluster.NodeID) []cluster.NodeID { return nil }
func (free) Reset()                                                 {}
func (free) Untaken([]cluster.NodeID)                               {}
func (free) Total() domain.Price                                    { return domain.Free }
func (free) Apart([]cluster.NodeID) bool                            { return true }
func (free) On([]cluster.NodeID) domain.Price                       { return domain.Free }

// Place seats the gang on nodes of d as things stand, as many members as fit or with
// fewest as few as are needed, and reports whether it could. Prices are nil where room is
// free. Where placer does not find a place for enough, others may, and then every
// placement is tried if they are not too many. A placement that is [domain.GangTrial.Vain] is
// none, and ends the search.
func (s *Seating) Place(d *domain.Domain, placer domain.Placer, prices Prices, fewest bool) bool {
	w := &placing{Seating: s, placer: placer, prices: prices, fewest: fewest}
	defer s.noteHurry()
	if s.least == nil {
		s.least = s.leastAsked(s.Gang)
	}
	if !s.mayHold(d, s.least) || !w.seatGang(d) && !s.Trial.Vain && !w.seatOtherwise(d) && !w.seatExactly(d) || s.Trial.Vain {
		return false
	}
	for _, leaf := range s.Gang.Leaves() {
		leaf.Seated = s.SeatedOf(leaf)
	}
	return true
}

// noteHurry notes that places were not looked for everywhere.
func (s *Seating) noteHurry() { s.Unproved = s.Unproved || s.Trial.Hurried }

// mayHold reports whether the nodes of d have as much room, added up, as is asked for, by resource.
func (s *Seating) mayHold(d *domain.Domain, asked []int64) bool {
	missing := append(s.missing[:0], asked...)
	s.missing = missing
	for _, n := range d.Nodes {
		if slices.Max(missing) <= 0 {
			break
		}
		for r, v := range s.Trial.Free(n) {
			if missing[r] > 0 {
				missing[r] -= max(v, 0)
			}
		}
	}
	return slices.Max(missing) <= 0
}

// LeastOf adds up, for each resource, the smallest requests of so many members.
func (s *Seating) LeastOf(needed int) []int64 {
	members := make([]domain.MemberID, s.Trial.Members())
	for m := range members {
		members[m] = domain.MemberID(m)
	}
	return s.leastOf(members, needed)
}

// leastAsked is LeastOf as many members of t as have to get a place.
func (s *Seating) leastAsked(t *Group) []int64 {
	return s.leastOf(t.pending(), t.Fewest())
}

func (s *Seating) leastOf(members []domain.MemberID, needed int) []int64 {
	sums := make([]int64, s.Trial.Index().NumResources())
	asked := make([]int64, len(members))
	for r := range sums {
		for i, m := range members {
			asked[i] = s.Trial.Member(m).Request()[r]
		}
		if needed < len(asked) {
			slices.Sort(asked)
		}
		for _, v := range asked[:min(needed, len(asked))] {
			sums[r] = checked.Add(sums[r], v)
		}
	}
	return sums
}

// Adopt takes the placement of the trial, which another search found in d, for the
// gang's own.
func (s *Seating) Adopt(d *domain.Domain) {
	for _, leaf := range s.Gang.Leaves() {
		leaf.Seated = s.SeatedOf(leaf)
		if leaf.Within = nil; leaf.Seated > 0 {
			leaf.Within = d
		}
	}
	s.settle(d)
}

// leaveOutVain leaves out the groups of t that do not run with those who have a place.
func (s *Seating) leaveOutVain(t *Group) {
	if !s.Runs(t) {
		t.leaveOut()
		return
	}
	for _, c := range t.Children {
		s.leaveOutVain(c)
	}
}

// MostAgain is how often a gang that moves is asked about a member on a node,
// taking one off and placing it anew counted too: after that it stays where it is.
const MostAgain = 1 << 22

// Again seats as many members of each group that has a place as wanted says, anywhere in
// d as things stand, and reports whether it could: at any placement where they are few or
// alike, beyond that at what Pack and Spread find. Nobody is placed. All calls together ask [MostAgain] times whether a member fits
// on a node, and as often more as the last of them does.
// Once [Seating.Stays], it is of no use.
func (s *Seating) Again(d *domain.Domain, wanted func(leaf *Group) int) bool {
	var leaves []*Group
	for _, leaf := range s.Gang.Leaves() {
		if leaf.Within != nil {
			leaves = append(leaves, leaf)
		}
	}
	before := s.Trial.Asked
	defer func() {
		s.again += s.Trial.Asked - before + 2*s.Trial.Members()
		s.Unproved = s.Unproved || s.Stays()
	}()
	seated, proved := s.seatEach(d, leaves, wanted)
	for _, leaf := range leaves {
		leaf.Within = d
	}
	if seated || proved {
		return seated
	}
	s.Unproved = true
	if s.Stays() {
		return false
	}
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
		w := &placing{Seating: s, placer: placer}
		all := true
		for _, leaf := range leaves {
			all = all && w.fill(leaf, d, wanted(leaf)) >= wanted(leaf)
		}
		if all {
			return true
		}
		s.Trial.UnplaceTo(0)
	}
	return false
}

// Stays reports whether [Seating.Again] has asked as often as it may, so that the gang stays where
// it is.
func (s *Seating) Stays() bool { return s.again >= MostAgain }

// Rest seats further members in d as things stand: beside the others of their group, and
// groups that were left out wherever there is room for them.
func (s *Seating) Rest(d *domain.Domain) {
	w := &placing{Seating: s, placer: domain.Pack{}}
	w.seatRest(s.Gang, d)
}

// SeatedOf counts the members of a pod group that have a place.
func (s *Seating) SeatedOf(leaf *Group) int {
	n := 0
	for _, m := range leaf.Members {
		if s.Trial.At(m) != cluster.NoNode {
			n++
		}
	}
	return n
}

// Runs reports whether t may run with the members that have a place.
func (s *Seating) Runs(t *Group) bool {
	return t.Satisfied(func(leaf *Group) bool { return s.SeatedOf(leaf) >= leaf.Need() })
}

// Suffices reports whether somebody has a place, enough for the gang, nobody in a group
// that may not run, and every group where its topology wants it.
func (s *Seating) Suffices() bool {
	return len(s.Trial.Placed()) > 0 && s.Runs(s.Gang) && !s.inVain(s.Gang) &&
		(!s.Gang.PartsHaveTopology() || s.Gang.Stray(s.Trial.Index(), s.Trial.At) == nil)
}

// otherPlacers are those that are tried after one that has found no place for enough.
var otherPlacers = [...]domain.Placer{
	domain.Pack{SmallFirst: true},
	domain.FirstFit{}, domain.FirstFit{LastMemberFirst: true}, domain.FirstFit{LastNodeFirst: true}, domain.FirstFit{LastMemberFirst: true, LastNodeFirst: true},
}

// placing seats by one placer.
type placing struct {
	*Seating
	placer domain.Placer
	prices Prices // nil: room is free
	fewest bool   // groups and members beyond what is needed are left out
	tries  map[tryOf][]try
	left   []domain.MemberID // of fill, reused
}

// seatOtherwise is seat by other placers: with unlike members, a large one may stand in
// the way of as many as are needed, or small ones may take the nodes that it needs.
func (w *placing) seatOtherwise(d *domain.Domain) bool {
	if w.OwnPlacer || w.Trial.Interchangeable() || w.PlacersAgree() {
		return false
	}
	for _, placer := range otherPlacers {
		other := placing{Seating: w.Seating, placer: placer, prices: w.prices, fewest: w.fewest}
		if other.seatGang(d) {
			return true
		}
	}
	return w.seatAtOnce(d)
}

// seatAtOnce seats members of groups one after the other wherever they fit, and leaves out those whose group does not run then: who
// needs room most may be in a group that comes late.
func (w *placing) seatAtOnce(d *domain.Domain) bool {
	if len(w.Gang.Children) == 0 || w.fewest {
		return false
	}
	members := w.Gang.pending()
	for _, placer := range otherPlacers[1:] { // those that take members in order
		placer.Place(w.Trial, d, nil, members, len(members))
		if seated, _ := w.dropVain(w.Runs(w.Gang), false); seated && w.Suffices() {
			w.Adopt(d)
			if w.prices != nil {
				w.prices.Reset()
			}
			return true
		}
		w.Trial.UnplaceTo(0)
	}
	return false
}

// PlacersAgree reports whether no placer seats enough of a lone pod group where one has not, nor fewer where one has
// seated all: see [domain.GangTrial.PlacersAgree].
func (s *Seating) PlacersAgree() bool {
	return len(s.Gang.Children) == 0 && !s.OwnPlacer && !s.Trial.Hurried && s.Trial.PlacersAgree()
}

// seatGang seats enough of the gang in d and, unless there are to be as few as possible,
// whoever else fits; or nobody, and reports whether it could. Where what runs is enough,
// more is what is asked for.
func (w *placing) seatGang(d *domain.Domain) bool {
	if !w.seat(w.Gang, d) {
		return false
	}
	if !w.fewest {
		w.fillUp(w.Gang)
	}
	if len(w.Trial.Placed()) == 0 {
		w.seatRest(w.Gang, d)
	}
	return len(w.Trial.Placed()) > 0
}

// seat seats as many members of t in d as t needs, or none, and reports whether it
// could. A lone pod group gets all its members placed at once.
func (w *placing) seat(t *Group, d *domain.Domain) bool {
	if t == w.Gang || len(t.Topology) == 0 {
		return w.seatIn(t, d)
	}
	rounds := t.regions(w.Trial.Index(), d)
	for i, round := range rounds {
		if w.seatBest(t, round, i == len(rounds)-1) {
			return true
		}
	}
	t.leaveOut()
	return w.Runs(t) // with those that run already
}

// seatBest seats t in one of its regions: where most of it could go, then where that
// costs least, then the first by name; once places are not looked for everywhere, in the first
// that takes it. Where nobody of it could go, although enough of it runs, it does so only if this is
// the last resort.
func (w *placing) seatBest(t *Group, regions []domain.Domain, last bool) bool {
	var best *domain.Domain
	most, least := 0, domain.Free
	before := domain.Free
	if w.prices != nil {
		before = w.prices.Total()
	}
	known, told, asked := w.triesOf(t, regions), 0, w.leastAsked(t)
	for i := range regions {
		if best != nil && w.Trial.Hurried || w.Trial.Spent() && !w.OwnPlacer {
			break
		}
		var of *try
		if known != nil {
			if of = &known[i]; of.known {
				told++
			}
		}
		if now := w.tryIn(t, &regions[i], asked, before, of); now.seated && (best == nil || now.count > most || now.count == most && now.price.Compare(least) < 0) {
			best, most, least = &regions[i], now.count, now.price
		}
	}
	w.Trial.Asked += told / knownAsks
	return best != nil && (most > 0 || last) && w.seatIn(t, best)
}

func (w *placing) seatIn(t *Group, d *domain.Domain) bool {
	t.Within = nil
	before := len(w.Trial.Placed())
	if len(t.Children) == 0 {
		most := t.Need()
		if t == w.Gang && !w.fewest {
			most = len(t.Members)
		}
		if !t.Enough() {
			return false
		}
		if w.fill(t, d, most) < t.Need() {
			w.unseat(before)
			return false
		}
		t.Within = d
		return true
	}
	for children := range t.choices() {
		t.leaveOut()
		seated := w.seatEachOf(t, children, d)
		if seated >= t.MinChildren {
			return true
		}
		w.unseat(before)
	}
	t.leaveOut()
	return false
}

// seatEachOf seats children of t, and returns how many it could. Where constraints look at others, those that found no place are
// tried once more beside those that came later.
func (w *placing) seatEachOf(t *Group, children []*Group, d *domain.Domain) (seated int) {
	beyond := w.Trial.CrossNode()
	for range 2 {
		var left []*Group
		for _, c := range children {
			if w.fewest && seated == t.MinChildren {
				return seated
			}
			if w.seat(c, d) {
				seated++
			} else if beyond {
				left = append(left, c)
			}
		}
		if children = left; seated == 0 || len(left) == 0 {
			return seated
		}
	}
	return seated
}

// seatRest seats further members of t, see Rest; with fewest, once nobody has a place,
// as few as go on with those that run.
func (w *placing) seatRest(t *Group, d *domain.Domain) {
	leftOut := true
	for _, leaf := range t.Leaves() {
		leftOut = leftOut && leaf.Within == nil
	}
	further := w.fillUp
	if w.fewest {
		further = w.fillOne
	}
	switch {
	case w.fewest && len(w.Trial.Placed()) > 0:
	case leftOut:
		if w.seat(t, d) {
			further(t)
		}
	case len(t.Children) == 0:
		further(t)
	default:
		if t != w.Gang { // d is the gang's
			if d = w.regionOf(t, d); d == nil {
				return
			}
		}
		for _, c := range t.Children {
			w.seatRest(c, d)
		}
	}
}

// fillUp places what members of t are left, where it has its place.
func (w *placing) fillUp(t *Group) {
	for _, leaf := range t.Leaves() {
		if leaf.Within != nil {
			w.fill(leaf, leaf.Within, len(leaf.Members))
		}
	}
}

// fillOne places one member of t where it has its place, if nobody has one.
func (w *placing) fillOne(t *Group) {
	for _, leaf := range t.Leaves() {
		if leaf.Within != nil && len(w.Trial.Placed()) == 0 {
			w.fill(leaf, leaf.Within, 1)
		}
	}
}

// fill places members of a pod group that have no place yet until most of them have
// one, and returns how many have.
func (w *placing) fill(leaf *Group, d *domain.Domain, most int) int {
	left := w.left[:0]
	for _, m := range leaf.Members {
		if w.Trial.At(m) == cluster.NoNode {
			left = append(left, m)
		}
	}
	w.left = left
	have := len(leaf.Members) - len(left)
	if more := most - have; more > 0 {
		have += w.placer.Place(w.Trial, d, w.prices, left, more)
	}
	return have
}

// unseat takes places back until so many are left.
func (w *placing) unseat(to int) {
	if len(w.Trial.Placed()) == to {
		return
	}
	nodes := w.nodesOf(to)
	w.Trial.UnplaceTo(to)
	if w.prices != nil {
		w.prices.Untaken(nodes)
	}
}

// nodesOf are the nodes of the members that were placed after so many, each once.
func (w *placing) nodesOf(from int) (nodes []cluster.NodeID) {
	for _, m := range w.Trial.Placed()[from:] {
		if n := w.Trial.At(m); !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
