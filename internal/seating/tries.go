package seating

import (
	"encoding/binary"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
