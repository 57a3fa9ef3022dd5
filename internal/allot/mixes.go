package allot

import "slices"

// Mixes numbers how many there are of each of several kinds: members by shape and, beside them, what
// is used up of rooms. Numbers go from 0, for none, to Len-1, for all; of a single kind a number is how
// many there are.
type Mixes struct {
	most, stride []int
	shapes       int // so many of the kinds are members
	all          int
	totals       []int     // by mix: how many members; nil: not made yet, and so is beside
	beside       [][]int32 // by mix: those for which there are enough of each kind beside it, in order
}

// NewMixes numbers up to so many members of each shape, and returns nil if two mixes have more than
// limit sums; of a single shape there may be any number.
func NewMixes(most []int, limit int) *Mixes {
	if len(most) == 1 {
		return &Mixes{most: most, stride: []int{1}, shapes: 1, all: most[0] + 1}
	}
	m := &Mixes{all: 1}
	for _, n := range most {
		if m = m.With(n, limit); m == nil {
			return nil
		}
		m.shapes++
	}
	return m
}

// With is m with another kind, a room of which so much may be used up; nil if two mixes have more
// than limit sums then.
func (m *Mixes) With(room, limit int) *Mixes {
	sums := int64(1)
	for _, n := range append(slices.Clip(m.most), room) {
		if n >= limit {
			return nil
		}
		if sums *= int64(n+1) * int64(n+2) / 2; sums > int64(limit) {
			return nil
		}
	}
	return &Mixes{
		most: append(slices.Clip(m.most), room), stride: append(slices.Clip(m.stride), m.all),
		shapes: m.shapes, all: m.all * (room + 1),
	}
}

// Len is how many mixes there are.
func (m *Mixes) Len() int { return m.all }

// Kinds is how many kinds there are.
func (m *Mixes) Kinds() int { return len(m.most) }

// Count is how many of a kind are in a mix.
func (m *Mixes) Count(mix, kind int) int { return mix / m.stride[kind] % (m.most[kind] + 1) }

// Total is how many members are in a mix.
func (m *Mixes) Total(mix int) (n int) {
	for i := range m.shapes {
		n += m.Count(mix, i)
	}
	return n
}

// tell makes the tables of m.
func (m *Mixes) tell() {
	for mix := range m.all {
		list := []int32{0}
		for i, stride := range m.stride {
			own := list
			for k := range m.most[i] - m.Count(mix, i) {
				for _, o := range own {
					list = append(list, o+int32((k+1)*stride))
				}
			}
		}
		m.totals, m.beside = append(m.totals, m.Total(mix)), append(m.beside, list)
	}
}

// Mixed are places where who sits matters: seats of a place, and of a Part, are the number of a mix.
// Fewer members of any shape never cost more, and more of a room that may be used up neither.
type Mixed interface {
	Places
	Holds(place, mix int) bool // that mix may be had there, as far as is known: Learn may find out that it may not
	Poll()                     // is called for each place. It may panic, which ends the search
}

// SolveMixed is Solve for any mix of so many members, above zero. Sums of mixes are taken from left;
// where there are none any more it ends after one round.
//
// O(sums of mixes x places) a round.
func SolveMixed(places Mixed, m *Mixes, members int, atMost *Price, left *int) Answer {
	most := places.Most()
	if !most.fit(1) {
		return Answer{}
	}
	if m.totals == nil {
		m.tell()
	}
	s := mixing{Mixed: places, mixes: m, left: left, atMost: atMost, rows: make([]row, places.Len()+1)}
	for changed := 0; ; { // the place from which on rows are not what they were
		bound, parts := s.cheapest(changed, members)
		switch {
		case parts != nil:
		case s.dear:
			return Answer{Bound: atMost.Add(Price{len(Price{}) - 1: 1})}
		default:
			return Answer{None: true}
		}
		unknown := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool {
			_, known := s.Price(p.Place, p.Seats)
			return known
		})
		if len(unknown) == 0 {
			return Answer{Parts: parts, Bound: bound, Proved: true}
		}
		changed = unknown[0].Place // before it all rows are there
		if s.Learn(unknown); *s.left >= 0 {
			continue
		}
		if slices.ContainsFunc(unknown, func(p Part) bool { return !s.Holds(p.Place, p.Seats) }) {
			parts = nil
		}
		return Answer{Parts: parts, Bound: bound}
	}
}

// mixing is one call of SolveMixed.
type mixing struct {
	Mixed
	mixes  *Mixes
	atMost *Price
	dear   bool // some mix costs more
	left   *int
	rows   []row // by place, after that of none
}

// row says of each mix what it costs at least on the places so far.
type row struct {
	price []Price
	here  []int32 // what part of the mix is on the last of them; below zero: they don't hold the mix
}

func (r *row) reset(mixes int) {
	r.price = append(r.price[:0], make([]Price, mixes)...)
	r.here = append(r.here[:0], slices.Repeat([]int32{-1}, mixes)...)
}

// cheapest finds the mix of so many members that costs least as far as prices are known, place after
// place from that one on, until it costs nothing; no parts: there is none.
func (s *mixing) cheapest(from, members int) (bound Price, parts []Part) {
	if from == 0 {
		s.rows[0].reset(s.mixes.Len())
		s.rows[0].here[0] = 0
	}
	k, mix := from, -1
	for ; k < s.Len() && (mix < 0 || bound != Price{}); k++ {
		s.rows[k+1].reset(s.mixes.Len())
		s.Poll()
		s.add(k, members)
		if mix = s.best(&s.rows[k+1], members); mix >= 0 {
			bound = s.rows[k+1].price[mix]
		}
	}
	if mix < 0 {
		return bound, nil
	}
	for ; k > 0; k-- {
		if here := int(s.rows[k].here[mix]); here > 0 {
			parts = append(parts, Part{k - 1, here})
			mix -= here
		}
	}
	slices.Reverse(parts)
	return bound, parts
}

// best is the cheapest mix of so many members; below zero: there is none.
func (s *mixing) best(r *row, members int) int {
	best := -1
	*s.left -= len(r.here)
	for mix, total := range s.mixes.totals {
		if total == members && r.here[mix] >= 0 && (best < 0 || r.price[mix].Compare(&r.price[best]) < 0) {
			best = mix
		}
	}
	return best
}

// add adds a place to those before it.
func (s *mixing) add(place, members int) {
	before, after := &s.rows[place], &s.rows[place+1]
	for here := range min(s.Seats(place)+1, s.mixes.Len()) {
		price := Price{}
		if here > 0 {
			if s.mixes.totals[here] > members || !s.Holds(place, here) {
				continue
			}
			price, _ = s.Price(place, here)
		}
		*s.left -= len(s.mixes.beside[here])
		for _, mix := range s.mixes.beside[here] {
			at := int(mix) + here
			if before.here[mix] < 0 || s.mixes.totals[at] > members {
				continue
			}
			sum := before.price[mix].Add(price)
			if s.atMost != nil && sum.Compare(s.atMost) > 0 {
				s.dear = true
				continue
			}
			if after.here[at] < 0 || sum.Compare(&after.price[at]) < 0 {
				after.price[at], after.here[at] = sum, int32(here)
			}
		}
	}
}
