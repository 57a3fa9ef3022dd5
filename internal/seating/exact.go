package seating

import (
	"encoding/binary"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// seatExactly seats as many members as are needed if it finds any way to do so, and
// notes if that they cannot be seated is not proved.
func (w *placing) seatExactly(d *domain.Domain) bool {
	seated, proved := w.Exactly(d)
	w.Unproved = w.Unproved || !seated && !proved
	if !seated {
		return false
	}
	if w.prices != nil {
		w.prices.Reset()
	}
	if !w.fewest {
		w.fillUp(w.Gang)
	}
	return true
}

// Exactly looks at every placement in d of as many members as are needed where they
// are few or alike. It says whether it seated them, and whether a no is proved.
func (s *Seating) Exactly(d *domain.Domain) (seated, proved bool) {
	leaves := s.Gang.Leaves()
	if s.Trial.Interchangeable() && !s.Gang.PartsHaveTopology() { // who gets a place does not matter, only how many do
		leaves, _, _ = s.Gang.cheapest(nil)
	}
	s.Gang.leaveOut()
	seated, proved = s.dropVain(s.seatParts(d, leaves, (*Group).Need, s.Gang.Satisfied))
	if seated && len(s.Trial.Placed()) == 0 { // what runs is enough: one more is what is asked for
		seated, proved = s.dropVain(s.seatOneMore(d))
	}
	if seated {
		s.settle(d)
	}
	return seated, proved
}

// ExactlySo is Exactly for as many members of each group that may run as wanted says.
func (s *Seating) ExactlySo(d *domain.Domain, wanted func(leaf *Group) int) (seated, proved bool) {
	s.Gang.leaveOut()
	return s.seatEach(d, s.Gang.Able(), wanted)
}

// seatEach looks for a placement of as many members of each of leaves as wanted says.
func (s *Seating) seatEach(d *domain.Domain, leaves []*Group, wanted func(leaf *Group) int) (seated, proved bool) {
	return s.seatParts(d, leaves, wanted, func(in func(*Group) bool) bool {
		return !slices.ContainsFunc(leaves, func(leaf *Group) bool { return !in(leaf) })
	})
}

// seatOneMore is Exactly where those that run are enough: of one group somebody gets a
// place all the same.
func (s *Seating) seatOneMore(d *domain.Domain) (seated, proved bool) {
	proved = true
	for _, more := range s.Gang.Leaves() {
		need := func(leaf *Group) int {
			if leaf == more {
				return max(1, leaf.Need())
			}
			return leaf.Need()
		}
		seated, known := s.seatParts(d, s.Gang.Leaves(), need, func(ok func(*Group) bool) bool { return s.Gang.runsWith(more, ok) })
		if seated {
			return true, known
		}
		proved = proved && known
	}
	return false, proved
}

// settle says where members that get a place later go: where the others of their group are, and nowhere if it does not run.
func (s *Seating) settle(d *domain.Domain) {
	for _, c := range s.Gang.Children {
		s.narrow(c, d)
	}
	s.leaveOutVain(s.Gang)
}

// narrow keeps the members of t that get a place later in the region where the others
// are, and if there are none in the first one.
func (s *Seating) narrow(t *Group, d *domain.Domain) {
	if d = s.regionOf(t, d); d == nil {
		t.leaveOut()
		return
	}
	if len(t.Children) == 0 && t.Within != nil {
		t.Within = d
	}
	for _, c := range t.Children {
		s.narrow(c, d)
	}
}

// regionOf is the region of d that t requires and that holds every member of it with a
// place: d where it requires none, nil if there is no such region.
func (s *Seating) regionOf(t *Group, d *domain.Domain) *domain.Domain {
	if len(t.Topology) == 0 {
		return d
	}
	regions := t.required(s.Trial.Index(), d)
	for i := range regions {
		outside := func(m domain.MemberID) bool {
			n := s.Trial.At(m)
			return n != cluster.NoNode && !slices.Contains(regions[i].Nodes, n)
		}
		if !slices.ContainsFunc(t.Leaves(), func(leaf *Group) bool { return slices.ContainsFunc(leaf.Members, outside) }) {
			return &regions[i]
		}
	}
	return nil
}

// seatParts looks for a placement of need members of each of leaves, or of none of a
// leaf, that is enough.
func (s *Seating) seatParts(d *domain.Domain, leaves []*Group, need func(*Group) int, enough func(func(*Group) bool) bool) (seated, proved bool) {
	groups := map[*Group][]*Together{}
	for _, c := range s.Gang.Children {
		s.together(c, d, nil, groups)
	}
	parts := make([]Part, len(leaves))
	for i, leaf := range leaves {
		parts[i] = Part{Members: leaf.Members, Need: need(leaf), Groups: groups[leaf]}
	}
	nodes := ExactNodes
	if s.Wide {
		nodes = WideNodes
	}
	return SeatExact(s.Trial, d, parts, nodes, func(in []bool) bool {
		for i, leaf := range leaves {
			leaf.Within = nil
			if in[i] {
				leaf.Within = d
			}
		}
		return enough(func(leaf *Group) bool { return leaf.Within != nil })
	}, s.left)
}

// together notes for each pod group beneath t which groups, those above and t's own, keep
// its members in one region of d.
func (s *Seating) together(t *Group, d *domain.Domain, above []*Together, groups map[*Group][]*Together) {
	if len(t.Topology) > 0 {
		ix := s.Trial.Index()
		g := &Together{Region: slices.Repeat([]int32{-1}, ix.NumNodes())}
		for i, region := range t.required(ix, d) {
			for _, n := range region.Nodes {
				g.Region[n] = int32(i)
			}
		}
		for _, leaf := range t.Leaves() {
			g.Members = append(g.Members, leaf.Members...)
		}
		above = append(slices.Clip(above), g)
	}
	if len(t.Children) == 0 {
		groups[t] = above
	}
	for _, c := range t.Children {
		s.together(c, d, above, groups)
	}
}

// inVain reports whether a member beneath t has a place in a group that may not run.
func (s *Seating) inVain(t *Group) bool {
	if s.Runs(t) {
		return slices.ContainsFunc(t.Children, s.inVain)
	}
	return slices.ContainsFunc(t.Leaves(), func(leaf *Group) bool { return s.SeatedOf(leaf) > 0 })
}

// dropVain takes members off again that are seated in a group that may not run. It is
// given whether a search has seated the gang and whether a no is proved, and returns
// the same of what is left: the others may not fit without them.
func (s *Seating) dropVain(seated, proved bool) (bool, bool) {
	if !seated || !s.inVain(s.Gang) {
		return seated, proved
	}
	list := s.Trial.Assignments()
	var drop func(t *Group)
	drop = func(t *Group) {
		if s.Runs(t) {
			for _, c := range t.Children {
				drop(c)
			}
			return
		}
		for _, leaf := range t.Leaves() {
			list = slices.DeleteFunc(list, func(a domain.Assignment) bool { return slices.Contains(leaf.Members, a.Member) })
		}
	}
	drop(s.Gang)
	s.Trial.UnplaceTo(0)
	if _, why := s.Trial.PlaceInTurn(list); !why.OK() {
		return false, false
	}
	return true, proved
}

// try is what seating a pod group in a region came to.
type try struct {
	known  bool
	seated bool
	count  int          // so many members
	price  domain.Price // what has to go for them alone, or for everybody who has a place then
}

// tryOf is what tells tries of regions apart in which nobody of the gang is.
type tryOf struct {
	regions *domain.Domain // the first of them
	shapes  string         // of the members, and how many are needed
	highest int64          // priority of the most important pod that has to go for others
}

// triesOf returns what seating groups like t in regions came to, one each, to be filled in; nil where
// that is not a function of the region alone, as long as nobody of the gang is there.
func (w *placing) triesOf(t *Group, regions []domain.Domain) []try {
	placed := func(m domain.MemberID) bool { return w.Trial.At(m) != cluster.NoNode }
	if len(regions) == 0 || len(t.Children) > 0 || w.OwnPlacer || !w.Trial.OnlyRoom() || slices.ContainsFunc(t.Members, placed) {
		return nil
	}
	shapes := binary.AppendUvarint(nil, uint64(t.Need()))
	for _, m := range t.Members {
		shapes = binary.AppendUvarint(shapes, uint64(w.Trial.Shape(m)))
	}
	key := tryOf{regions: &regions[0], shapes: string(shapes)}
	if w.prices != nil {
		key.highest = w.prices.Highest()
	}
	if w.tries[key] == nil && !w.Trial.Hurried { // else the first region will do
		if w.tries == nil {
			w.tries = map[tryOf][]try{}
		}
		w.tries[key] = make([]try, len(regions))
	}
	return w.tries[key]
}

// Trying a region stands for so many questions about a member on a node, and so many regions of which it is known stand for one.
const (
	regionAsks = 16
	knownAsks  = 4
)

// tryIn seats t, which asks for so much at least, in a region and takes it off again. The price is that of everybody who has a place then;
// before is that of those who have one now. Known is filled in, or tells, what that comes to; nil: nothing does.
func (w *placing) tryIn(t *Group, region *domain.Domain, asked []int64, before domain.Price, known *try) try {
	taken := slices.ContainsFunc(region.Nodes, func(n cluster.NodeID) bool { return len(w.Trial.On(n)) > 0 })
	if taken && !w.OwnPlacer && !w.mayHold(region, asked) {
		w.Trial.Asked++
		return try{}
	}
	if taken || known != nil && !known.known && w.prices != nil && !w.prices.Apart(region.Nodes) {
		known = nil
	}
	if known == nil || !known.known {
		w.Trial.Asked += regionAsks
		from, now := len(w.Trial.Placed()), try{known: true, price: domain.Free}
		if now.seated = w.seatIn(t, region); now.seated {
			w.fillUp(t)
			now.count = len(w.Trial.Placed()) - from
			switch {
			case w.prices == nil:
			case known == nil:
				now.price = w.prices.Total()
			default:
				now.price = w.prices.On(w.nodesOf(from))
			}
			w.unseat(from)
		}
		if known == nil {
			return now
		}
		*known = now
	}
	result := *known
	result.price = before
	result.price.Add(known.price)
	return result
}
