package onepod

import (
	"math"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// surelyOutdone reports whether giving back would find nothing better on node n than the best so
// far, where resources alone decide and the pod fits with all potential victims gone.
func (s *Search) surelyOutdone(n cluster.NodeID, potential []victims.UnitID) bool {
	if s.q.Bounded() || len(s.q.States) > 0 || len(s.Member.Pod.Ports) > 0 || len(s.Member.Unknown()) > 0 || len(s.q.Index.Nominees(n)) > 0 {
		return false
	}
	beat := s.beat()
	if len(beat) == 0 {
		return false
	}
	g := ground{s: s, node: n, units: potential, most: func(victims.UnitID) int64 { return 0 }}
	return g.frees(0) && s.outdone(n, potential, beat)
}

// outdone reports whether no set of the potential victims of node n is better than beat: by
// what each resource asks for at least, one by one. It says no where it can't tell.
func (s *Search) outdone(n cluster.NodeID, potential []victims.UnitID, beat []int64) bool {
	known := s.q.Known(potential)
	if known < len(beat) {
		beat = beat[:known]
	}
	if len(beat) == 0 {
		return false
	}
	if s.aims == nil {
		s.aims = s.q.Aims(s.Runner, nil, nil)
	}
	g := ground{s: s, node: n, units: potential}
	for k, most := range beat {
		a := &s.aims[k]
		switch {
		case s.q.Ranking.Criteria()[k] == victims.CriterionViolations || a.Sum == nil && a.Most == nil:
			if most > 0 {
				return false
			}
			continue
		case a.Most != nil && !a.Among:
			if g.most = a.Most; !g.frees(most) {
				return true
			}
			if most == math.MinInt64 || g.frees(most-1) {
				return false
			}
			g.top, g.bounded = most, true
			continue
		}
		if least := a.Base + g.least(a); least != most {
			return least > most
		}
	}
	return known == len(s.aims) && !s.q.Prefers() && n > s.Best.Node // the first node wins ties
}

// ground are the units of a node that may go.
type ground struct {
	s       *Search
	node    cluster.NodeID
	units   []victims.UnitID
	most    func(victims.UnitID) int64 // with bounded, that of nobody may be above top
	top     int64
	bounded bool
}

// asked calls yield with how much is missing of each resource that the pod asks for.
func (g *ground) asked(yield func(r int, missing int64) bool) {
	free := g.s.q.Index.Free(g.node)
	for r, v := range g.s.Member.Request() {
		if missing := checked.Sub(v, free[r]); v > 0 && missing > 0 && !yield(r, missing) {
			return
		}
	}
}

// gain is what the node gains of resource r when unit u leaves.
func (g *ground) gain(u victims.UnitID, r int) (sum int64) {
	ix := g.s.q.Index
	for _, p := range g.s.q.PodsOn(u, g.node) {
		if ix.NodeOf(p) == g.node {
			sum = checked.Add(sum, ix.Request(p)[r])
		}
	}
	return sum
}

// frees reports whether the units of which most is no more than top free what is missing.
func (g *ground) frees(top int64) bool {
	enough := true
	g.asked(func(r int, missing int64) bool {
		for _, u := range g.units {
			if missing > 0 && g.most(u) <= top {
				missing -= g.gain(u, r)
			}
		}
		enough = missing <= 0
		return enough
	})
	return enough
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
	g.asked(func(r int, missing int64) bool {
		cheapest := int64(math.MaxInt64)
		for _, u := range g.units {
			gain := g.gain(u, r)
			if gain == 0 || g.bounded && g.most(u) > g.top {
				continue
			}
			price, unit := int64(0), g.s.q.Units.Unit(u)
			if !unit.Elastic { // a member may be cheaper for what it frees
				price = a.Sum(u, unit.Pods)
			}
			if gain < missing {
				of, rest := checked.MulDiv(missing, price, gain)
				if price = of; rest {
					price = checked.Add(price, 1)
				}
			}
			cheapest = min(cheapest, price)
		}
		least = max(least, cheapest)
		return true
	})
	return least
}
