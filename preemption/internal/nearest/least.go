package nearest

import (
	"math"
	"slices"
)

// least looks for changes of which no part helps, and none helps with less.
type least struct {
	// ask reports whether the preemptor gets in with a list of changes, and what of
	// them it needs then, or all of them where it seems to need more; or whether it is proved that it does not.
	ask func([]Change) (need []Change, in, proved bool)

	present int32               // the preemptor's priority
	left    int                 // how often ask may be asked; 0: as often as it takes
	dear    func(asks int) bool // if set, whether ask may not be asked so many times more
	known   []answer

	unproved bool // less than what was found may help, too
}

// answer is what ask said about a list.
type answer struct {
	list, need []Change
	sum        int64 // by which list is looked up; equal ones are compared
	in, proved bool
}

// mostAsks is how often the whole question is asked again to find out what would help.
const mostAsks = 100

// find returns the least of list that does, or where the asks that are left do not tell, of which it takes one for each of list
// at least, the least that is known to; ok is false if not even all of it does.
func (l *least) find(list []Change) (need []Change, ok bool) {
	if len(list) == 0 || l.dear != nil && l.dear(len(list)) {
		return nil, false // it was refused as things are
	}
	if need, ok = l.in(list); !ok {
		return nil, false
	}
	for {
		before := slices.Clone(need)
		l.unproved = false // this may be the last round
		need = l.lower(l.drop(need))
		if slices.Equal(need, before) {
			l.unproved = l.unproved || l.left < 0
			return need, true
		}
	}
}

// mostParts is how many changes are looked at in every combination.
const mostParts = 4

// smallest is find for what need not help more the more there is of it: the fewest of
// list that help come first.
func (l *least) smallest(list []Change) (need []Change, ok bool) {
	list = l.fewest(list)
	unproved := l.unproved
	need, ok = l.find(list)
	l.unproved = l.unproved || unproved
	return need, ok
}

// fewest are the first of list that help; all of it if no fewer do.
func (l *least) fewest(list []Change) []Change {
	for size := 1; size < len(list) && len(list) <= mostParts; size++ {
		for set := range uint(1) << len(list) {
			var part []Change
			for i, r := range list {
				if set>>i&1 == 1 {
					part = append(part, r)
				}
			}
			if len(part) != size {
				continue
			}
			if _, in := l.in(part); in {
				return part
			}
		}
	}
	return list
}

// in is ask, about what was not asked before.
func (l *least) in(list []Change) ([]Change, bool) {
	if l.known == nil && l.left == 0 {
		l.left = math.MaxInt
	}
	sum := int64(len(list)) // wraps
	for i := range list {
		sum = 31*sum + 7*int64(list[i].Bound.Budget) + list[i].Amount
	}
	if i := slices.IndexFunc(l.known, func(a answer) bool { return a.sum == sum && slices.Equal(a.list, list) }); i >= 0 {
		return l.told(&l.known[i])
	}
	if l.dear != nil && l.dear(1) {
		l.left, l.unproved = -1, true
		return nil, false
	}
	a := answer{list: slices.Clone(list), sum: sum}
	if l.left--; l.left >= 0 {
		if a.need, a.in, a.proved = l.ask(list); a.in && !within(a.need, list) {
			a.need = a.list
		}
	}
	l.known = append(l.known, a)
	return l.told(&a)
}

// within reports whether list has each of need, or more of it.
func within(need, list []Change) bool {
	return !slices.ContainsFunc(need, func(n Change) bool {
		return !slices.ContainsFunc(list, func(c Change) bool {
			most := c.Amount
			c.Amount = n.Amount
			return c == n && n.Amount <= most
		})
	})
}

// told is what was said, and notes whether a no is proved.
func (l *least) told(a *answer) ([]Change, bool) {
	l.unproved = l.unproved || !a.in && !a.proved
	return a.need, a.in
}

// drop leaves out what is not needed.
func (l *least) drop(list []Change) []Change {
	for i := 0; i < len(list) && len(list) > 1; { // without the last one it is the question that was refused
		if fewer, in := l.in(slices.Delete(slices.Clone(list), i, i+1)); in && len(fewer) > 0 {
			list = fewer
		} else {
			l.unproved = l.unproved || in
			i++
		}
	}
	return list
}

// lower makes each amount as small as it may be.
func (l *least) lower(list []Change) []Change {
	for i := 0; i < len(list); i++ {
		low := int64(0) // it does not do with so much
		if list[i].Kind == Priority {
			low = int64(l.present)
		}
		for try := list[i].Amount - 1; i < len(list) && try > low; {
			less := slices.Clone(list)
			less[i].Amount = try
			switch need, in := l.in(less); {
			case !in || len(need) != len(list):
				l.unproved = l.unproved || in
				low = try
			case need[i].Amount < try: // perhaps the least
				list, try = need, need[i].Amount-1
				continue
			default:
				list = need
			}
			try = low + (list[i].Amount-low)/2
		}
	}
	return list
}
