package seating

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/share"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rows tell in numbers what the members miss where they are placed: each resource that
// somebody asks for on each node with members.
type Rows struct {
	*domain.GangTrial
	list []row
	of   map[cluster.NodeID][]int // by node: its rows
}

type row struct {
	node     cluster.NodeID
	resource cluster.ResourceID
}

// NewRows returns the rows of the members that are placed.
func NewRows(t *domain.GangTrial) *Rows {
	s := &Rows{GangTrial: t, of: map[cluster.NodeID][]int{}}
	seen := map[row]bool{}
	for _, m := range t.Placed() {
		for r, v := range t.Member(m).Request() {
			if at := (row{t.At(m), cluster.ResourceID(r)}); v > 0 && !seen[at] {
				seen[at] = true
				s.of[at.node] = append(s.of[at.node], len(s.list))
				s.list = append(s.list, at)
			}
		}
	}
	return s
}

// Gap appends how far what is free of each row is below zero.
func (s *Rows) Gap(dst []int64) []int64 {
	for _, r := range s.list {
		dst = append(dst, checked.Sub(0, s.Free(r.node)[r.resource]))
	}
	return dst
}

// FreedBy lists the rows of the node of pod p.
func (s *Rows) FreedBy(p cluster.PodID) []int { return s.of[s.Index().NodeOf(p)] }

// Frees is what row r gains when pod p leaves.
func (s *Rows) Frees(r int, p cluster.PodID) int64 {
	if at := s.list[r]; s.Index().NodeOf(p) == at.node {
		return s.Index().Request(p)[at.resource]
	}
	return 0
}

// Decides reports whether members who miss nothing fit.
func (s *Rows) Decides() bool { return s.OnlyRoom() }

// Sums tell in numbers what members miss that may go anywhere in a domain: room, added up over
// its nodes, and where members are alike places.
type Sums struct {
	domain.Trial
	gang    *domain.GangTrial
	members int              // that want a place
	nodes   []cluster.NodeID // where somebody may run, in order
	scarce  []int            // by node, one more than the resource that leaves room for the fewest members; 0: nobody may run there
	list    []sum            // of room
	ask     []int64          // by resource: what each member asks for; nil: they differ
	places  int64            // that are missing with everybody back, where members are alike

	items  [][]cluster.PodID
	solver *share.Solver // of items; nil: not made yet
}

// sum is a resource.
type sum struct {
	resource int
	missing  int64 // with everybody back
}

// NewSums returns the sums of so many members on nodes of d, which ask for least at least. scarce is a
// buffer of 0 for each node, and is so again once they have been closed.
func NewSums(trial domain.Trial, gang *domain.GangTrial, d *domain.Domain, members int, least []int64, scarce []int) *Sums {
	s := &Sums{Trial: trial, gang: gang, members: members, places: int64(members), scarce: scarce}
	if gang.Interchangeable() {
		s.ask = gang.Member(0).Request()
	}
	total, free := make([]int64, len(least)), make([]int64, len(least))
	for _, n := range d.Nodes {
		if !gang.Usable(n) {
			continue
		}
		s.nodes = append(s.nodes, n)
		s.settle(n)
		for r, v := range gang.AtHome(n) {
			free[r] = checked.Add(free[r], max(v, 0))
		}
		for _, p := range gang.Index().PodsOn(n) {
			for r, v := range gang.Index().Request(p) {
				total[r] = checked.Add(total[r], v)
			}
		}
	}
	for r, v := range least {
		if v > free[r] && total[r] < math.MaxInt64 {
			s.list = append(s.list, sum{r, v - free[r]})
		}
	}
	return s
}

// Close ends their use.
func (s *Sums) Close() {
	for _, n := range s.nodes {
		s.scarce[n] = 0
	}
}

// settle finds the scarce resource of node n, and counts its places. There is one: every member
// asks for a place of [cluster.PodsColumn].
func (s *Sums) settle(n cluster.NodeID) {
	s.scarce[n] = 1
	if s.ask == nil {
		return
	}
	least := int64(math.MaxInt64)
	for r, v := range s.ask {
		if v == 0 {
			continue
		}
		if room := max(s.gang.AtHome(n)[r], 0) / v; room < least {
			s.scarce[n], least = r+1, room
		}
	}
	s.places = checked.Sub(s.places, least)
}

// Gap appends what is missing of each resource, and how many places.
func (s *Sums) Gap(dst []int64) []int64 {
	gap := make([]int64, 0, len(s.list)+1)
	for _, x := range s.list {
		gap = append(gap, x.missing)
	}
	if s.ask != nil {
		gap = append(gap, s.places)
	}
	for _, n := range s.nodes {
		for _, p := range s.gang.Index().PodsOn(n) {
			for r := range gap {
				if s.gang.Gone(p) {
					gap[r] = checked.Sub(gap[r], s.Frees(r, p))
				}
			}
		}
	}
	return append(dst, gap...)
}

// Frees is what there is more of the r-th of Gap when pod p leaves, at most.
func (s *Sums) Frees(r int, p cluster.PodID) int64 {
	n := s.gang.Index().NodeOf(p)
	if n == cluster.NoNode || s.scarce[n] == 0 {
		return 0
	}
	request := s.gang.Index().Request(p)
	if r < len(s.list) {
		return request[s.list[r].resource]
	}
	if at := s.scarce[n] - 1; request[at] > 0 {
		return min((request[at]-1)/s.ask[at]+1, int64(s.members)) // more count for no more
	}
	return 0
}

// Decides reports that there may be no place although nothing is missing.
func (s *Sums) Decides() bool { return false }

// Least bounds what it costs to open the places, as if members were alike that ask for the least
// of each resource that any of them asks for.
func (s *Sums) Least(items [][]cluster.PodID, price []int64, barred []bool, atMost int64, steps int) (least int64, set []bool, taken int) {
	if s.solver == nil || !slices.EqualFunc(items, s.items, slices.Equal) {
		s.items, s.solver = items, s.newSolver(items)
	}
	a := s.solver.Solve(&share.Problem{Price: price, Barred: barred, AtMost: atMost, Steps: steps, Poll: s.gang.Poll})
	return a.Least, a.Set, a.Steps
}

func (s *Sums) newSolver(items [][]cluster.PodID) *share.Solver {
	asked, least := s.asked()
	places := make([]share.Place, len(s.nodes))
	for i, n := range s.nodes {
		p := &places[i]
		p.Ask, p.Frees = least, make([][]int64, len(asked))
		for _, r := range asked {
			p.Free = append(p.Free, s.gang.AtHome(n)[r])
		}
	}
	for i, pods := range items {
		for _, pod := range pods {
			if n := s.gang.Index().NodeOf(pod); n != cluster.NoNode && s.scarce[n] != 0 {
				at, _ := slices.BinarySearch(s.nodes, n)
				stands(&places[at], i, asked, s.gang.Index().Request(pod))
			}
		}
	}
	return share.NewSolver(s.members, len(items), slices.DeleteFunc(places, func(p share.Place) bool { return len(p.Ask) == 0 }), s.gang.Poll)
}

// asked lists the resources that every member asks for, and how much at least: one place on a
// node, if nothing else.
func (s *Sums) asked() (list []int, least []int64) {
	for r := range s.gang.Index().NumResources() {
		v := int64(math.MaxInt64)
		for m := range s.gang.Members() {
			v = min(v, s.gang.Member(domain.MemberID(m)).Request()[r])
		}
		if v > 0 {
			list, least = append(list, r), append(least, v)
		}
	}
	return list, least
}

// stands adds to a place what a pod of item i requests there.
func stands(p *share.Place, i int, asked []int, request []int64) {
	if k := len(p.Items); k == 0 || p.Items[k-1] != i {
		p.Items = append(p.Items, i)
		for at := range p.Frees {
			p.Frees[at] = append(p.Frees[at], 0)
		}
	}
	for at, r := range asked {
		p.Frees[at][len(p.Items)-1] += request[r]
	}
}

// Doubt lets the next Fits rely on nothing.
func (s *Sums) Doubt() int { return s.gang.Doubt() }
