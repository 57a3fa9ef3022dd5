package allot

import (
	"cmp"
	"slices"
)

// choice is another number of seats of a place than the relaxed answer has, and what it costs
// beyond what seats cost there, in parts of a number: not below zero.
type choice struct {
	place, more int
	price       Price
}

// sum is a few choices, each of another place.
type sum struct {
	seats int // more than in the relaxed answer
	price Price
	last  choice
	rest  int32 // the sum without the last choice
}

const none = -1

// maxSums is how many sums are looked at in one completion.
const maxSums = 1_000_000

// completion looks for the cheapest sum that makes up for the seats that are missing.
type completion struct {
	*solver
	sums   []sum   // first that of none
	of     []int32 // by seats, from -solver.seats: the cheapest sum of so many; none
	before []int32 // those that there were before a place
	best   choice  // with the sum found it makes up, at this price
	found  int32
	price  Price
	looked int
}

// complete makes the relaxed answer whole. It also returns the choices that came into
// question, the cheapest first.
func (s *solver) complete() (a Answer, list []Part) {
	c := completion{solver: s, sums: make([]sum, 1), of: make([]int32, 2*s.seats+1)}
	for i := range c.of {
		c.of[i] = none
	}
	c.of[s.seats] = 0
	c.best = s.cost(s.next.place, s.at[s.next.place]+s.rest)
	c.price = c.best.price
	groups := s.choices(c.price)
	a.Proved = c.try(groups)
	at := slices.Clone(s.at)
	at[c.best.place] += c.best.more
	for k := c.found; k != 0; k = c.sums[k].rest {
		at[c.sums[k].last.place] += c.sums[k].last.more
	}
	for i, k := range at {
		if k > 0 {
			a.Parts = append(a.Parts, Part{i, k})
			a.Bound = a.Bound.Add(s.price(i, k))
		}
	}
	if !a.Proved {
		a.Bound = s.bound()
	}
	for _, g := range groups {
		for _, c := range g.choices {
			if k := s.at[c.place] + c.more; k > 0 {
				list = append(list, Part{c.place, k})
			}
		}
	}
	return a, list
}

// try takes one place after the other; of those that are alike as many as make a difference.
// It reports whether it came to the end.
func (c *completion) try(groups []group) bool {
	changed := true
	for i := range groups {
		if changed || !groups[i].alike(&groups[i-1]) {
			changed = c.add(groups[i].choices)
		}
		if c.looked > maxSums {
			return false
		}
	}
	return true
}

// add adds the choices of one place, and reports whether that made a difference.
func (c *completion) add(choices []choice) (changed bool) {
	c.before = c.before[:0]
	for _, k := range c.of {
		if k != none && c.sums[k].price.Compare(&c.price) < 0 {
			c.before = append(c.before, k)
		}
	}
	for _, k := range c.before {
		if c.looked += len(choices); c.looked > maxSums {
			return true
		}
		for _, x := range choices {
			n := sum{c.sums[k].seats + x.more, c.sums[k].price.Add(x.price), x, k}
			switch {
			case n.seats > c.seats || n.seats < -c.seats || n.price.Compare(&c.price) >= 0:
			case n.seats == c.rest:
				c.best, c.found, c.price = x, k, n.price
				changed = true
			default:
				at := &c.of[n.seats+c.seats]
				if *at == none || n.price.Compare(&c.sums[*at].price) < 0 {
					c.sums = append(c.sums, n)
					*at = int32(len(c.sums) - 1)
					changed = true
				}
			}
		}
	}
	return changed
}

// cost is the choice of so many seats of a place.
func (s *solver) cost(place, seats int) choice {
	more := seats - s.at[place]
	price := s.price(place, seats).minus(s.price(place, s.at[place])).times(s.next.seats)
	return choice{place, more, price.minus(s.next.price.times(int64(more)))}
}

// group are the choices of a place.
type group struct {
	choices []choice
	least   Price
}

// compare says which group comes first: that with the cheapest choice. Those that are alike stand
// together.
func (g *group) compare(o *group) int {
	return cmp.Or(g.least.Compare(&o.least), slices.CompareFunc(g.choices, o.choices, choice.compare), cmp.Compare(g.choices[0].place, o.choices[0].place))
}

// alike reports whether the places are.
func (g *group) alike(o *group) bool {
	return slices.CompareFunc(g.choices, o.choices, choice.compare) == 0
}

func (c choice) compare(o choice) int {
	return cmp.Or(cmp.Compare(c.more, o.more), c.price.Compare(&o.price))
}

// choices are those that cost less than most, by place.
func (s *solver) choices(most Price) (list []group) {
	for i := range s.at {
		var g group
		from, to := s.span(i, most)
		for k := from; k <= to; k++ {
			if k == s.at[i] {
				continue
			}
			if c := s.cost(i, k); c.price.Compare(&most) < 0 {
				if len(g.choices) == 0 || c.price.Compare(&g.least) < 0 {
					g.least = c.price
				}
				g.choices = append(g.choices, c)
			}
		}
		if len(g.choices) > 0 {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b group) int { return a.compare(&b) })
	return list
}

// span says between which numbers of seats those of a place are that may cost less than most: from one on that a corner
// has, the hull costs more and more.
func (s *solver) span(place int, most Price) (from, to int) {
	for _, c := range *s.Hull(place) {
		switch x := s.cost(place, c.Seats); {
		case x.price.Compare(&most) < 0:
			to = c.Seats
		case x.more < 0:
			from = c.Seats + 1
		default:
			return from, c.Seats - 1
		}
	}
	return from, to
}
