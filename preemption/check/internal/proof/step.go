package proof

import (
	"fmt"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption"
)

// step is what a step tells of, where victims would have at most so much of criterion k.
type step struct {
	*Node
	cases []preemption.ProofCase
	next  int
	k     int
	most  int64
	vain  int // how many of those who go in this case are left out
}

// follow is what is wrong with a step; empty: no victims have at most so much of criterion k.
func (n *Node) follow(of *preemption.ProofStep, k int, most int64) string {
	s := &step{Node: n, cases: of.Cases, k: k, most: most}
	for i := range n.Items {
		it := &n.Items[i]
		it.state, it.barred = open, n.bars(it, k, most)
		if it.Must {
			s.decide(it, goes)
		}
	}
	if text := s.read(); text != "" {
		return text
	}
	if s.next < len(s.cases) {
		return "a step has cases that no other one leads to"
	}
	return ""
}

func (s *step) decide(it *Item, is state) {
	if it.barred && it.state == goes {
		s.vain--
	}
	if it.state = is; it.barred && is == goes {
		s.vain++
	}
}

// read reads the next case, and those that it leads to.
func (s *step) read() string {
	if s.next == len(s.cases) {
		return "a step lacks a case"
	}
	c := &s.cases[s.next]
	s.next++
	var about name
	switch {
	case c.Pod != nil:
		about = name{*c.Pod, false}
	case c.Workload != nil:
		about = name{*c.Workload, true}
	case s.vain > 0:
		return ""
	default:
		return s.contradicts(c)
	}
	it, known := s.itemOf(about)
	if !known || it.state != open {
		return fmt.Sprintf("a case is about %s/%s, which may not go, or is known to go or to stay", about.Namespace, about.Name)
	}
	for _, is := range []state{goes, stays} {
		s.decide(it, is)
		if text := s.read(); text != "" {
			return text
		}
	}
	s.decide(it, open)
	return ""
}

// part is one sum of a contradiction, as often as it is taken.
type part struct {
	by   int64
	room int64 // what is left of it; for what has to be freed, what is missing
	adds func(it *Item) int64
}

// contradicts is what is wrong with a case in which there are to be no victims; empty: nothing is.
func (s *step) contradicts(c *preemption.ProofCase) string {
	frees, text := s.freed(c)
	if text != "" {
		return text
	}
	takes, text := s.taken(c)
	if text != "" {
		return text
	}
	up, down := int64(0), int64(0)
	for _, p := range frees {
		up = plus(up, times(p.by, p.room))
	}
	for _, p := range takes {
		if p.room < 0 {
			up = plus(up, times(p.by, -p.room))
		} else {
			down = plus(down, times(p.by, p.room))
		}
	}
	for i := range s.Items {
		it := &s.Items[i]
		if it.state != open || it.barred {
			continue
		}
		gain, price := int64(0), int64(0)
		for _, p := range frees {
			gain = plus(gain, times(p.by, min(p.adds(it), p.room)))
		}
		for _, p := range takes {
			price = plus(price, times(p.by, p.adds(it)))
		}
		if gain == math.MaxInt64 {
			return "a sum does not fit an int64"
		}
		down = plus(down, max(gain-price, 0))
	}
	if down == math.MaxInt64 || up <= down {
		about := "victims"
		if s.k != none {
			about = s.Bound[s.k].Name
		}
		return fmt.Sprintf("of %s no contradiction is shown: %d is not more than %d", about, up, down)
	}
	return ""
}

// freed lists what is to be freed, as often as a case takes it.
func (s *step) freed(c *preemption.ProofCase) (list []part, wrong string) {
	for name, by := range c.Resources {
		if _, asked := s.Need[name]; !asked || by < 0 {
			return nil, fmt.Sprintf("resource %q is not asked for, or its multiplier is below zero", name)
		}
		list = append(list, part{by, s.missing(name), func(it *Item) int64 { return it.adds(Resource, name) }})
	}
	if c.Count < 0 {
		return nil, "the multiplier of the count is below zero"
	} else if c.Count > 0 {
		list = append(list, part{c.Count, s.fewest(), func(*Item) int64 { return 1 }})
	}
	return list, ""
}

// missing is what is still to be freed of a resource in this case.
func (s *step) missing(name string) int64 {
	return max(minus(s.Need[name], s.going(func(it *Item) int64 { return it.adds(Resource, name) })), 0)
}

// fewest is how many of those who may go have to, for the resource of which that is most.
func (s *step) fewest() (most int64) {
	for name := range s.Need {
		var amounts []int64
		for i := range s.Items {
			if it := &s.Items[i]; it.state == open && !it.barred {
				amounts = append(amounts, it.adds(Resource, name))
			}
		}
		slices.Sort(amounts)
		missing, count := s.missing(name), int64(0)
		for _, v := range slices.Backward(amounts) {
			if missing <= 0 {
				break
			}
			count++
			missing = minus(missing, v)
		}
		if missing > 0 {
			count++ // more than there are
		}
		most = max(most, count)
	}
	return most
}

// taken lists what must not go beyond room, as often as a case takes it.
func (s *step) taken(c *preemption.ProofCase) (list []part, wrong string) {
	take := func(of Kind, name string, by, room int64) {
		adds := func(it *Item) int64 { return it.adds(of, name) }
		list = append(list, part{by, minus(room, s.going(adds)), adds})
	}
	for name, by := range c.Criteria {
		k := slices.IndexFunc(s.Bound[:s.k+1], func(c preemption.Criterion) bool { return c.Name == name })
		if k < 0 || by < 0 || name == highest || name == started {
			return nil, fmt.Sprintf("criterion %q is no sum that is bounded here, or its multiplier is below zero", name)
		}
		most := s.Bound[k].Value
		if k == s.k {
			most = s.most
		}
		if most == math.MaxInt64 {
			return nil, fmt.Sprintf("nothing has more of criterion %q than it may, where sums end", name)
		}
		switch {
		case name == overruns && s.charges != nil:
			list = append(list, part{by, minus(most, s.going(s.charges)), s.charges})
		case name == overruns: // what budgets charge beyond their room is no more
			list = append(list, part{by, most, func(*Item) int64 { return 0 }})
		default:
			take(Criterion, name, by, most)
		}
	}
	for name, by := range c.Budgets {
		room, hard, ok := s.Room(Budget, name)
		if !ok || by < 0 || !hard && (by > c.Criteria[overruns] || s.charges != nil) {
			return nil, fmt.Sprintf("there is no budget %q, or its multiplier is below zero, or above that of overruns, which alone forbid it", name)
		}
		take(Budget, name, by, room)
	}
	for name, by := range c.Limits {
		room, _, ok := s.Room(Limit, name)
		if !ok || by < 0 || room == math.MaxInt64 {
			return nil, fmt.Sprintf("there is no limit of %q that is a sum and may be reached, or its multiplier is below zero", name)
		}
		take(Limit, name, by, room)
	}
	return list, ""
}

// How many cases a proof may tell apart, for one step and in all.
const (
	casesOfStep = 1_000
	casesInAll  = 20_000
)

// TooMany reports whether p tells more cases apart.
func TooMany(p *preemption.Proof) bool {
	cases := 0
	for i := range p.Nodes {
		of := &p.Nodes[i]
		for _, step := range of.Steps {
			if len(step.Cases) > 1 {
				cases += len(step.Cases) * max(len(of.Nodes), 1)
			}
			if cases > casesInAll || len(step.Cases) > casesOfStep {
				return true
			}
		}
	}
	return false
}
