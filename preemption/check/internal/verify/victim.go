package verify

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// victim is a victim as it was found in the world.
type victim struct {
	*preemption.Victim
	unit *unit
	pods []*pod // those that go
}

// readVictims finds the victims of an answer, or of a candidate that was not chosen, in the world, and says of each what is not so by itself.
func (a *answer) readVictims(list []preemption.Victim, other bool) {
	a.victims = a.victims[:0]
	seen := map[*pod]bool{}
	for i := range list {
		v := victim{Victim: &list[i]}
		if v.Kind == cluster.KindWorkload && a.queued() {
			continue // it gives up quota, and no place
		}
		for _, ref := range v.Pods {
			p := a.podNamed(ref.Namespace, ref.Name, ref.Node)
			if p == nil || ref.Node == "" || seen[p] {
				a.wrong(found.Form, v.Victim, "its pod %s/%s does not run on %q, or goes twice", ref.Namespace, ref.Name, ref.Node)
				continue
			}
			seen[p] = true
			v.pods = append(v.pods, p)
			if ref.Priority != p.priority || !ref.Started.Equal(p.Started) {
				a.wrong(found.Form, v.Victim, "the priority or the start of its pod %s/%s is another", ref.Namespace, ref.Name)
			}
		}
		if len(v.pods) == 0 {
			if v.Kind != cluster.KindWorkload { // one may hold quota without any
				a.wrong(found.Form, v.Victim, "no pod of it runs")
			}
			continue
		}
		v.unit = a.unitOf(v.pods[0])
		a.readUnlisted(&v, other)
		if v.Unlisted == 0 && !a.queued() {
			a.readVictim(&v)
		}
		a.victims = append(a.victims, v)
	}
}

// readUnlisted: it lists all of its pods, or of a large group those in the domain where candidates would list too many elsewhere.
func (a *answer) readUnlisted(v *victim, other bool) {
	u, elsewhere, within := v.unit, 0, v.unit.pods
	if len(a.nodes) == 1 {
		within = a.nodes[0].pods()
	}
	if other && !v.Surplus && len(u.pods) > fewPods {
		elsewhere = len(u.pods)
		for _, p := range within {
			if p.at != nil && a.inside[p.at.number] && a.unitOf(p) == u {
				elsewhere--
			}
		}
	}
	left := elsewhere > 0 && a.listed+elsewhere > 262_144
	if !left {
		a.listed += elsewhere
	}
	known := v.Kind == u.kind && v.Namespace == u.namespace && v.Name == u.name && v.Unlisted == elsewhere && len(v.pods) == len(u.pods)-elsewhere
	if left != (v.Unlisted != 0) || left && !(known && a.mayEvict(u)) {
		a.wrong(found.Whole, v.Victim, "it may not go, or lists %d of its %d pods, and leaves out %d, where %d run elsewhere", len(v.pods), len(u.pods), v.Unlisted, elsewhere)
	}
}

// wrong notes a problem with a victim.
func (a *answer) wrong(rule found.Rule, v *preemption.Victim, format string, args ...any) {
	a.About(rule, v.Kind, v.Namespace, v.Name, format, args...)
}

// readVictim: it is the unit that it says, whole unless it is elastic, and may go.
func (a *answer) readVictim(v *victim) {
	u, mode := v.unit, disruption.Mode("")
	if u.group != nil {
		mode = u.group.Mode
	}
	if v.Kind != u.kind || v.Namespace != u.namespace || v.Name != u.name || v.Mode != mode {
		a.wrong(found.Whole, v.Victim, "its pods go with %s %s/%s", u.kind, u.namespace, u.name)
	}
	if slices.ContainsFunc(v.pods, func(p *pod) bool { return a.unitOf(p) != u }) {
		a.wrong(found.Whole, v.Victim, "it has pods of another unit")
	}
	if part := len(v.pods) < len(u.pods); part != v.Surplus {
		a.wrong(found.Whole, v.Victim, "%d of its %d pods go, and surplus is %t", len(v.pods), len(u.pods), v.Surplus)
	} else if part && !u.elastic {
		a.wrong(found.Whole, v.Victim, "a part of it goes, and it is not elastic")
	}
	if v.Priority != u.priority {
		a.wrong(found.Form, v.Victim, "its priority is %d, not %d", u.priority, v.Priority)
	}
	if k := a.kept(u); k.rule != "" {
		a.wrong(found.Eligible, v.Victim, "it may not be evicted: %s", k.rule)
	}
	if a.owns(u) {
		a.wrong(found.Eligible, v.Victim, "it belongs to the preemptor")
	}
	inside := func(p *pod) bool { return p.at != nil && a.inside[p.at.number] }
	if !slices.ContainsFunc(v.pods, inside) && !slices.ContainsFunc(u.pods, inside) {
		a.wrong(found.Eligible, v.Victim, "none of its pods runs in the domain")
	}
	if cost := a.counted(u, v.pods); a.priced() && v.Cost != cost {
		a.wrong(found.Cost, v.Victim, "its eviction costs %d, not %d", cost, v.Cost)
	}
	var names []string
	for _, p := range v.pods {
		for _, b := range a.covering(p) {
			names = append(names, b.Told)
		}
	}
	slices.Sort(names)
	if !slices.Equal(slices.Compact(names), v.Budgets) {
		a.wrong(found.Budgets, v.Victim, "the budgets that it charges are %q", slices.Compact(names))
	}
}

// out are the pods of all victims.
func (a *answer) out() (pods []*pod) {
	for _, v := range a.victims {
		pods = append(pods, v.pods...)
	}
	return pods
}

// readKept: the units are listed that guards keep in the domain, or with candidates everywhere.
func (a *answer) readKept() {
	if a.ownEligible() || a.r.Verdict == preemption.NotEligible || a.r.Verdict == preemption.Waiting {
		return
	}
	nodes := a.nodes
	if a.o.Candidates {
		nodes = a.all()
	} else if a.r.Verdict != preemption.Feasible {
		nodes = nil
	}
	listed, on := map[*unit]bool{}, map[*node]map[groupKey]*unit{}
	for _, k := range a.r.Kept {
		n := a.byNode[k.Node]
		if n != nil && on[n] == nil {
			on[n] = map[groupKey]*unit{}
			for _, p := range n.pods() {
				x := a.unitOf(p)
				on[n][groupKey{x.kind, x.namespace, x.name}] = x
			}
		}
		u := on[n][groupKey{k.Kind, k.Namespace, k.Name}]
		if u == nil || listed[u] {
			a.About(found.Kept, k.Kind, k.Namespace, k.Name, "there is no such unit on %q, or it is listed twice", k.Node)
			continue
		}
		listed[u] = true
		want, below := a.kept(u), int32(0)
		if k.Below != nil {
			below = *k.Below
		}
		if want.rule != string(k.Rule) || want.seconds != k.Seconds || want.below != below || k.Priority != u.level || k.Node != homeOf(u) {
			a.About(found.Kept, k.Kind, k.Namespace, k.Name, "what keeps it is %q for %d seconds, not %q for %d, or its priority or node is another",
				want.rule, want.seconds, k.Rule, k.Seconds)
		}
	}
	if len(listed) == 0 && !a.guards() {
		return
	}
	for _, u := range a.unitsOn(nodes) {
		if k := a.kept(u); k.rule != "" && k.rule != keptPriority && !listed[u] {
			a.About(found.Kept, u.kind, u.namespace, u.name, "it is kept, and not listed: %s", k.rule)
		}
		delete(listed, u)
	}
	for u := range listed {
		a.About(found.Kept, u.kind, u.namespace, u.name, "it is listed, and not where it could be evicted")
	}
}

// homeOf is the first node, by name, that a unit has pods on.
func homeOf(u *unit) string { return firstNode(u, func(*node) bool { return true }) }

// firstNode is the first by name of those nodes of a unit that count.
func firstNode(u *unit, counts func(*node) bool) (name string) {
	for _, p := range u.pods {
		if p.at != nil && counts(p.at) && (name == "" || p.at.Name < name) {
			name = p.at.Name
		}
	}
	return name
}
