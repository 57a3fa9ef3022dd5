package verify

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
)

// readElastic: what stays of an elastic unit goes on, and no further pod of it could stay.
// Victims are out, and the members placed. Where bounds or a price choose who goes, or
// constraints are not monotone, more may have to go.
func (a *answer) readElastic(v *victim) {
	if !v.unit.elastic {
		return
	}
	out := map[*pod]bool{}
	for _, p := range v.pods {
		out[p] = true
	}
	if len(v.pods) < len(v.unit.pods) && !goesOn(v.unit.group, out) {
		a.wrong(found.Whole, v.Victim, "what stays of it is of no use")
	}
	if a.bounded() || !a.monotone || a.rules.moves {
		return
	}
	if len(v.pods) == len(v.unit.pods) {
		a.readRest(v, out)
		return
	}
	for _, p := range v.pods {
		delete(out, p)
		a.comeBack(p)
		if len(a.failures([]*pod{p})) == 0 && goesOn(v.unit.group, out) {
			a.wrong(found.Whole, v.Victim, "its pod %s/%s could stay, too", p.Namespace, p.Name)
		}
		a.leave(p)
		out[p] = true
	}
}

// readRest: a unit that goes whole has no pods that could stay, if they are taken as they
// fit, one after the other.
func (a *answer) readRest(v *victim, out map[*pod]bool) {
	var back []*pod
	for _, p := range v.pods {
		a.comeBack(p)
		if len(a.failures([]*pod{p})) > 0 {
			a.leave(p)
			continue
		}
		delete(out, p)
		back = append(back, p)
	}
	if slices.ContainsFunc(back, counts) && goesOn(v.unit.group, out) {
		a.wrong(found.Whole, v.Victim, "%d of its %d pods could stay, and it would go on", len(back), len(v.pods))
	}
	a.leave(back...)
}

// counts: p is not on its way out, so that its group counts on it.
func counts(p *pod) bool { return p.Node != "" && !p.Terminating }

// goesOn: group g is of use without those who are out, or has nobody left.
func goesOn(g *group, out map[*pod]bool) bool {
	_, _, ok := staying(g, out)
	return ok
}

// staying says whether all of g stay, or some so that it goes on; not ok: those who stay
// are of no use. A pod group needs its minCount and its leader, one of mode All all of
// its pods; a composite group as many groups as minGroupCount says, or all.
func staying(g *group, out map[*pod]bool) (all, some, ok bool) {
	have, stay, intact, need := 0, 0, 0, 1
	leaderless := false
	if len(g.children) == 0 {
		for _, p := range g.pods() {
			if !counts(p) {
				continue
			}
			if have++; !out[p] {
				stay++
			} else if p.Name == g.Leader {
				leaderless = true
			}
		}
		intact = stay
	} else {
		for _, c := range g.children {
			if !slices.ContainsFunc(c.under(), counts) {
				continue
			}
			have++
			whole, part, fine := staying(c, out)
			if !fine {
				return false, false, false
			}
			if whole {
				intact++
			}
			if whole || part {
				stay++
			}
		}
		need = have
	}
	if g.MinCount != nil {
		need = int(*g.MinCount)
	}
	switch {
	case have == 0 || stay == 0:
		return false, false, true
	case intact == have:
		return true, true, true
	case g.Mode == disruption.All || leaderless:
		return false, false, false
	}
	return false, true, stay >= need
}
