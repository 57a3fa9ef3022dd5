package proof

import (
	"fmt"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption"
)

// Domain is where members of a gang may run.
type Domain struct {
	Bound []preemption.Criterion // as of a [Node]
	Seats int64                  // so many members are to have places
	Sites map[string]*Site       // by name; on other nodes none may run

	Room func(of Kind, name string) (room int64, hard, ok bool) // as of a [Node]
}

// Site is a node of a domain. What is missing there is a matter of how many members run on it.
type Site struct {
	*Node
	Most int64            // so many may run there, as far as there is room
	Each map[string]int64 // what each of them asks for at least; above zero
	Free map[string]int64 // of these, as things are; may be below zero
}

// Claim is what is told of a domain for one criterion.
type Claim struct {
	Criterion    string
	Price, Times int64
	Budgets      []string // of overruns: whose charges count
	Nodes        []Nodes
}

// Nodes is what is told of some of its nodes.
type Nodes struct {
	Nodes []string
	Spare int64
	Steps []preemption.ProofStep
}

// ClaimsOf lists what p tells of each domain; false if prices or budgets differ, or what belongs together stands apart.
func ClaimsOf(p *preemption.Proof) (claims map[string][]Claim, ok bool) {
	claims = map[string][]Claim{}
	for i, n := range p.Nodes {
		list := claims[n.Domain]
		if i == 0 || p.Nodes[i-1].Domain != n.Domain || p.Nodes[i-1].Criterion != n.Criterion {
			if slices.ContainsFunc(list, func(c Claim) bool { return c.Criterion == n.Criterion }) {
				return nil, false
			}
			list = append(list, Claim{Criterion: n.Criterion, Price: n.Price, Times: n.Times, Budgets: n.Budgets})
		}
		c := &list[len(list)-1]
		if c.Price != n.Price || c.Times != n.Times || !slices.Equal(c.Budgets, n.Budgets) {
			return nil, false
		}
		if len(n.Nodes)+len(n.Steps) > 0 {
			c.Nodes = append(c.Nodes, Nodes{Nodes: n.Nodes, Spare: n.Spare, Steps: n.Steps})
		}
		claims[n.Domain] = list
	}
	return claims, true
}

// Shows is what is wrong with a list about this domain, in order of the bound; empty: it shows that nobody has
// less than that, or where it is empty that no victims make room.
func (d *Domain) Shows(list []Claim) string {
	if len(d.Bound) == 0 {
		if len(list) != 1 || list[0].Criterion != "" {
			return "it is not shown that nobody's eviction helps"
		}
		return d.follow(&list[0], none, 0)
	}
	for k, c := range d.Bound {
		if len(list) == 0 || list[0].Criterion != c.Name {
			if c.Value > leastOf(c.Name) {
				return "nothing is shown of " + c.Name
			}
			continue
		}
		if d.follow(&list[0], k, c.Value) == "" {
			return "" // no victims there are as good
		}
		if text := d.follow(&list[0], k, minus(c.Value, 1)); text != "" {
			return text
		}
		list = list[1:]
	}
	if len(list) > 0 {
		return "it is about " + list[0].Criterion + ", which is not what comes next"
	}
	return ""
}

// follow is what is wrong; empty: no victims have at most so much of criterion k where so many members
// have places.
func (d *Domain) follow(of *Claim, k int, most int64) string {
	if of.Price < 0 || of.Times < 0 || of.Times > 0 && (k == none || d.Bound[k].Name == highest || d.Bound[k].Name == started || most < 0) {
		return "a price is below zero, or of what is no sum"
	}
	left, text := int64(0), ""
	for _, s := range d.Sites {
		s.charges = nil
	}
	if of.Times > 0 {
		if left, text = d.charged(of, k, most); text != "" {
			return text
		}
		left = times(of.Times, left)
	}
	told := map[string]bool{}
	for i := range of.Nodes {
		nodes := &of.Nodes[i]
		for _, name := range nodes.Nodes {
			site := d.Sites[name]
			if site == nil || told[name] || nodes.Spare < 0 {
				return name + " is no node where members may run, or told of twice, or spared less than nothing"
			}
			told[name] = true
			if text := d.costs(site, nodes, of, k, most); text != "" {
				return text
			}
			left = plus(left, nodes.Spare)
		}
	}
	for name, site := range d.Sites {
		if !told[name] {
			left = plus(left, times(of.Price, d.room(site, k, most)))
		}
	}
	if left >= times(of.Price, d.Seats) || left == math.MaxInt64 {
		return "the members may cost so little"
	}
	return ""
}

// charged is what victims may have on all sites together who have at most so much of criterion k: of overruns, what the budgets are
// charged that count.
func (d *Domain) charged(of *Claim, k int, most int64) (sum int64, wrong string) {
	if d.Bound[k].Name != overruns {
		return most, ""
	}
	for i, name := range of.Budgets {
		room, _, ok := d.Room(Budget, name)
		if !ok || slices.Contains(of.Budgets[:i], name) {
			return 0, fmt.Sprintf("there is no budget %q, or it is named twice", name)
		}
		most = plus(most, room)
	}
	for _, s := range d.Sites {
		s.charges = func(it *Item) (sum int64) {
			for _, name := range of.Budgets {
				sum = plus(sum, it.adds(Charges, name))
			}
			return sum
		}
	}
	return most, ""
}

// room is for how many members there is room on a site with everybody gone who may have at most so much of criterion k.
func (d *Domain) room(s *Site, k int, most int64) int64 {
	seats := s.Most
	for name, free := range s.Free {
		for i := range s.Items {
			if it := &s.Items[i]; !s.bars(it, k, most) {
				free += min(it.adds(Resource, name), math.MaxInt64-max(free, 0))
			}
		}
		seats = min(seats, max(free, 0)/s.Each[name])
	}
	return seats
}

// costs is what is wrong with what is told of a site; empty: members there cost no less than their price but for what
// is spared.
func (d *Domain) costs(s *Site, nodes *Nodes, of *Claim, k int, most int64) string {
	room, from := d.room(s, k, most), int64(1)
	for i := range len(nodes.Steps) + 1 {
		until, shown := room, func(int64) string { return "nothing is shown of members" }
		if i < len(nodes.Steps) {
			until = min(nodes.Steps[i].Members-1, room)
		}
		if i > 0 {
			step := &nodes.Steps[i-1]
			if step.Members < from || step.Criterion != of.Criterion || len(step.Cases) != 1 {
				return "steps are not in order, or tell cases apart"
			}
			from = step.Members
			s.need(from)
			shown = func(most int64) string { return s.Node.follow(step, k, most) }
		}
		if until < from {
			continue
		}
		if missing := minus(times(of.Price, until), nodes.Spare); missing > 0 {
			if of.Times == 0 {
				return "what members cost is no matter of what they do"
			}
			if text := shown((missing - 1) / of.Times); text != "" {
				return text
			}
		}
	}
	return ""
}

// need lets so many members run on a site.
func (s *Site) need(members int64) {
	s.Need = map[string]int64{}
	for name, free := range s.Free {
		s.Need[name] = max(minus(times(members, s.Each[name]), max(free, 0)), 0)
		if free < 0 {
			s.Need[name] = plus(times(members, s.Each[name]), -max(free, -math.MaxInt64))
		}
	}
}
