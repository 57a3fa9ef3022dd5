package onepod

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/heaps"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// surelyOutdone reports whether giving back would find nothing better on node n than the best so
// far, where resources alone decide and the pod fits with all potential victims gone.
func (s *Search) surelyOutdone(n cluster.NodeID, potential []victims.UnitID) bool {
	if s.q.Bounded() || len(s.q.States) > 0 || len(s.Member.Pod.Ports) > 0 || len(s.q.Index.Nominees(n)) > 0 {
		return false
	}
	beat := s.beat()
	if len(beat) == 0 {
		return false
	}
	g := s.ground(n, potential)
	return g.frees(math.MaxInt64) && s.behind(n, g.atLeast(), beat)
}

// outdone reports whether no set of the potential victims of node n is better than beat. It says no
// where it can't tell.
func (s *Search) outdone(n cluster.NodeID, potential []victims.UnitID, beat []int64) bool {
	switch {
	case len(beat) == 0:
		return false
	case s.low != nil:
		return s.behind(n, slices.Values(s.low), beat)
	}
	return s.behind(n, s.ground(n, potential).atLeast(), beat)
}

// behind is outdone where at least so much is at stake, as far as that is known.
func (s *Search) behind(n cluster.NodeID, least iter.Seq[int64], beat []int64) bool {
	k := 0
	for v := range least {
		if v != beat[k] {
			return v > beat[k] && v < math.MaxInt64 // else nothing helps there, and a trial says why
		}
		k++
	}
	return k == len(beat) && !s.q.Prefers() && n > s.Best.Node // the first node wins ties
}

// stake is what victims on a node have at least, by criterion as far as is known.
type stake struct {
	node  cluster.NodeID
	rough bool // it may be more; see roughly
	least []int64
}

func compareStakes(x, y *stake) int {
	return cmp.Or(slices.Compare(x.least, y.least), cmp.Compare(x.node, y.node))
}

// inOrder yields the nodes of a chunk. Where the least is looked for, and who is behind the best so far is left alone, those come first where there
// is least at stake, until all others are behind.
func (s *Search) inOrder(nodes chunk) iter.Seq[cluster.NodeID] {
	if s.q.Effort == ask.Greedy && !s.q.Lands() || !s.bounds() {
		return s.q.Index.NodesBetween(nodes.from, nodes.to)
	}
	s.stakes, s.leasts = s.stakes[:0], s.leasts[:0]
	for n := range s.q.Index.NodesBetween(nodes.from, nodes.to) {
		at, first := stake{node: n}, len(s.leasts)
		if !s.Status[n].Unresolvable {
			units := s.q.Evictable(n)
			if s.leasts, at.rough = s.roughly(s.leasts, n, units); !at.rough {
				s.leasts = slices.AppendSeq(s.leasts[:first], s.ground(n, units).atLeast())
			}
		}
		at.least = s.leasts[first:]
		s.stakes = append(s.stakes, at)
	}
	slices.SortFunc(s.stakes, func(x, y stake) int { return compareStakes(&x, &y) })
	return func(yield func(cluster.NodeID) bool) {
		rough, exact, beat := s.stakes, s.exact[:0], s.beat() // exact is a heap
		defer func() { s.low, s.exact = nil, exact }()
		for len(rough)+len(exact) > 0 {
			next := &rough
			if len(rough) == 0 || len(exact) > 0 && compareStakes(&exact[0], &rough[0]) < 0 {
				next = &exact
			}
			at := (*next)[0]
			if len(beat) > 0 && s.behind(at.node, slices.Values(at.least), beat) {
				break
			}
			if next == &exact {
				exact = heaps.Pop(exact, compareStakes)
			} else if rough = rough[1:]; at.rough {
				first := len(s.leasts)
				s.leasts = slices.AppendSeq(s.leasts, s.ground(at.node, s.q.Evictable(at.node)).atLeast())
				exact = heaps.Push(exact, stake{node: at.node, least: s.leasts[first:]}, compareStakes)
				continue
			}
			if s.low = at.least; !yield(at.node) {
				return
			}
			beat = s.beat()
		}
		for _, rest := range [][]stake{rough, exact} {
			for _, at := range rest {
				if s.low = at.least; !yield(at.node) {
					return
				}
			}
		}
	}
}

// roughly appends to dst a bound from below for what [ground.atLeast] comes to, by the least of the units of node n: somebody has to go. ok says that it is
// one, and that there is room once all of them are gone.
func (s *Search) roughly(dst []int64, n cluster.NodeID, units []victims.UnitID) (least []int64, ok bool) {
	ix := s.q.Index
	if len(units) != len(ix.PodsOn(n)) || slices.ContainsFunc(units, func(u victims.UnitID) bool { return s.q.Units.Unit(u).Elastic }) {
		return dst, false
	}
	lacks, free, offers := false, ix.Free(n), ix.Allocatable(n)
	for r, v := range s.Member.Request() {
		if v > offers[r] {
			return dst, false
		}
		lacks = lacks || v > max(free[r], 0)
	}
	s.rows = ask.DeviceRows(s.rows[:0], ix, n, s.Member.Pod, 1, 0, nil)
	for _, row := range s.rows {
		if row.Asks > row.Offers {
			return dst, false
		}
		lacks = lacks || row.Free < row.Asks
	}
	if !lacks {
		return dst, false
	}
	var most func(victims.UnitID) int64
	top := int64(0)
	for k, c := range s.q.Ranking.Criteria()[:s.q.Known(units)] {
		a, least := &s.aimsOf()[k], int64(math.MaxInt64)
		if c == victims.CriterionViolations || a.Sum == nil && a.Most == nil || a.Kin != nil {
			dst = append(dst, a.Base)
			continue
		}
		for _, u := range units {
			switch {
			case most != nil && most(u) > top:
			case a.Most != nil:
				least = min(least, a.Most(u))
			default:
				least = min(least, checked.Add(a.Base, a.Sum(u, s.q.Units.Unit(u).Pods)))
			}
		}
		if a.Most != nil && !a.Among {
			most, top = a.Most, least
		}
		dst = append(dst, least)
	}
	return dst, true
}

// ground are the units of a node that may go.
type ground struct {
	s       *Search
	units   []victims.UnitID
	missing []ask.Row                  // what the pod asks for that is not free
	most    func(victims.UnitID) int64 // that of nobody may be above top; nil: all may go
	top     int64
}

// ground is that of node n.
func (s *Search) ground(n cluster.NodeID, units []victims.UnitID) *ground {
	g := &ground{s: s, units: units}
	ix, free := s.q.Index, s.q.Index.Free(n)
	for r, v := range s.Member.Request() {
		if v == 0 || v <= free[r] {
			continue
		}
		row := ask.Row{Asks: v, Free: free[r], Frees: make([]int64, len(units))}
		for i, u := range units {
			for _, p := range s.q.PodsOn(u, n) {
				if ix.NodeOf(p) == n {
					row.Frees[i] = checked.Add(row.Frees[i], ix.Request(p)[r])
				}
			}
		}
		g.missing = append(g.missing, row)
	}
	pods := func(i int) []cluster.PodID { return s.q.PodsOn(units[i], n) }
	g.missing = ask.DeviceRows(g.missing, ix, n, s.Member.Pod, 1, len(units), pods)
	g.missing = slices.DeleteFunc(g.missing, func(row ask.Row) bool { return row.Free >= row.Asks })
	return g
}

// atLeast yields what sets of the units that free what is missing have at least of each criterion that is known, among those who have the least of the ones
// before: by what each resource, and each kind of devices, asks for, one by one. It ends with [math.MaxInt64] where all of them don't free it.
func (g *ground) atLeast() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		s := g.s
		if !g.frees(math.MaxInt64) {
			yield(math.MaxInt64)
			return
		}
		for k, c := range s.q.Ranking.Criteria()[:s.q.Known(g.units)] {
			a, least := &s.aimsOf()[k], int64(0)
			switch {
			case c == victims.CriterionViolations || a.Sum == nil && a.Most == nil:
			case a.Most != nil && !a.Among:
				least = g.lowest(a.Most)
			default:
				least = a.Base + g.least(a)
			}
			if !yield(least) {
				return
			}
		}
	}
}

// aimsOf are those of the question, without violations.
func (s *Search) aimsOf() []reprieve.Aim {
	if s.aims == nil {
		s.aims = s.q.Aims(s.Runner, nil, nil)
	}
	return s.aims
}

// lowest is the least that the units have at most who free what is missing, as all of them do. From now on nobody has more.
func (g *ground) lowest(most func(victims.UnitID) int64) int64 {
	tops := g.s.tops[:0]
	for i, u := range g.units {
		if v := most(u); i == 0 || v != tops[len(tops)-1] {
			tops = append(tops, v)
		}
	}
	slices.Sort(tops)
	g.s.tops, g.most, g.top = tops, most, math.MinInt64
	if len(g.missing) > 0 {
		g.top = tops[sort.Search(len(tops)-1, func(i int) bool { return g.frees(tops[i]) })]
	}
	return g.top
}

// frees reports whether the units of which most is no more than top free what is missing.
func (g *ground) frees(top int64) bool {
	for _, row := range g.missing {
		missing := checked.Sub(row.Asks, row.Free)
		for i, u := range g.units {
			if missing > 0 && (g.most == nil || g.most(u) <= top) {
				missing -= row.Frees[i]
			}
		}
		if missing > 0 {
			return false
		}
	}
	return true
}

// least is what units have of an aim at least that free what is missing.
func (g *ground) least(a *reprieve.Aim) (least int64) {
	if a.Kin != nil {
		return 0 // what one unit adds another may have added already
	}
	if a.Among {
		least = math.MaxInt64
		for _, u := range g.units {
			if g.most(u) == g.top {
				least = min(least, a.Most(u))
			}
		}
		return least
	}
	for _, row := range g.missing {
		missing, cheapest := checked.Sub(row.Asks, row.Free), int64(math.MaxInt64)
		gains, prices := g.s.gains[:0], g.s.prices[:0]
		for i, u := range g.units {
			frees := row.Frees[i]
			if frees == 0 || g.most != nil && g.most(u) > g.top {
				continue
			}
			price, unit := int64(0), g.s.q.Units.Unit(u)
			if !unit.Elastic { // a member may be cheaper for what it frees
				price = a.Sum(u, unit.Pods)
			}
			gains, prices = append(gains, frees), append(prices, price)
			if frees < missing {
				of, rest := checked.MulDiv(missing, price, frees)
				if price = of; rest {
					price = checked.Add(price, 1)
				}
			}
			cheapest = min(cheapest, price)
		}
		least = max(least, cheapest, fewest(missing, gains, prices))
		g.s.gains, g.s.prices = gains, prices
	}
	return least
}

// fewest is what as few units cost at least as free what is missing, where each of them is one of the cheapest. It sorts both lists.
func fewest(missing int64, gains, prices []int64) (least int64) {
	slices.Sort(gains)
	slices.Sort(prices)
	for k := 0; missing > 0 && k < len(gains); k++ {
		missing -= gains[len(gains)-1-k]
		least = checked.Add(least, prices[k])
	}
	return least
}
