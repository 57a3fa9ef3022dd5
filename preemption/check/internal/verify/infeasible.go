package verify

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// readInfeasible: the preemptor fits in no domain with everybody gone who may be evicted
// there, and what is called proved is so.
func (a *answer) readInfeasible() {
	a.readNearest()
	a.readUnplaced()
	a.readProof()
	if a.o.Hooks != nil && (a.o.Hooks.Eligible != nil || a.o.Hooks.Placer != nil) {
		return // who may go, and where to, is the hook's to say
	}
	if l := a.o.Limits; !a.priced() && (l.Cost > 0 || l.Window.Cost > 0) {
		return // and what a limit of cost forbids, where the price is
	}
	if a.team != nil {
		if a.bounded() || !a.r.Stats.Exact {
			return // what bounds forbid is searched for, and not every placement is
		}
		if at := a.gangFits(func(r region) []*unit { return a.potential(r.nodes...) }); at != "" {
			a.Add(found.Infeasible, "it fits in %s with everybody gone who may be evicted there", at)
		}
		return
	}
	m, left := a.members[0], []*node(nil)
	for _, n := range a.all() {
		switch {
		case a.admits(n.Node, m.Pod) != "":
		case !a.hopeless(m, n) && a.helps(n):
			a.Add(found.Infeasible, "it fits on %s once those are gone who may be evicted there", n.Name)
		case a.r.Stats.Exact && (a.bounded() || !a.monotone):
			left = append(left, n)
		}
	}
	a.readExact(left)
}

// readExact: it is not proved that no evictions help on nodes where that of a single unit does.
func (a *answer) readExact(nodes []*node) {
	var units []*unit
	on := map[*unit][]*node{}
	for _, n := range nodes {
		for _, u := range a.potential(n) {
			if on[u] == nil {
				units = append(units, u)
			}
			on[u] = append(on[u], n)
		}
	}
	for _, u := range units {
		for _, n := range on[u] {
			there := a.near(n, a.part([]*unit{u})...)
			a.leave(there...)
			fits := len(a.misfits(a.members[0], n)) == 0
			a.comeBack(there...)
			if fits && len(a.beyond([]victim{{unit: u, pods: u.pods}})) == 0 {
				a.About(found.Exact, u.kind, u.namespace, u.name, "to evict it alone from %s would do, which is said to be proved useless", n.Name)
			}
		}
	}
	a.part(nil)
}

// readUnplaced: members without a place are told of once, with a reason for every node of the domain. What
// keeps the first of them off a node by itself, whoever is there, is among what is counted.
func (a *answer) readUnplaced() {
	told := map[preemption.PodRef]bool{}
	for _, u := range a.r.Unplaced {
		nodes := a.domainNamed(u.Domain)
		if len(nodes) == 0 || len(u.Pods) == 0 {
			a.Add(found.Infeasible, "members find no place in %q, which is no domain, or they are nobody", u.Domain)
			continue
		}
		first := a.named[u.Pods[0]]
		for _, p := range u.Pods {
			if m := a.named[p]; m == nil || told[p] {
				a.About(found.Infeasible, cluster.KindPod, p.Namespace, p.Name, "it finds no place, and is no member, or told of twice")
				return
			}
			told[p] = true
		}
		counted, barred := 0, map[domain.Check]int{}
		for _, r := range u.Rejected {
			if counted += r.Domains; r.Reason == "" {
				a.About(found.Infeasible, cluster.KindPod, first.Namespace, first.Name, "it finds no place, for no reason")
			}
		}
		if counted != len(nodes) {
			a.Add(found.Infeasible, "%d nodes of %s take none of its members, and it has %d", counted, u.Domain, len(nodes))
		}
		for _, n := range nodes {
			if check := a.admits(n.Node, first.Pod); check != "" {
				barred[check]++
			}
		}
		for check, want := range barred {
			i := slices.IndexFunc(u.Rejected, func(r preemption.Rejection) bool { return r.Reason == string(check) })
			if i < 0 || u.Rejected[i].Domains != want {
				a.About(found.Infeasible, cluster.KindPod, first.Namespace, first.Name, "%d nodes of %s keep it off by %s, which is not what is counted", want, u.Domain, check)
			}
		}
	}
}

// readNearest: relaxations are of what there is. Whether they help is not looked at.
func (a *answer) readNearest() {
	if near := a.r.Nearest; near != nil {
		if a.domainNamed(near.Domain) == nil {
			a.Add(found.Nearest, "there is no domain %q", near.Domain)
		}
		a.Relaxations(near.Relaxations, a.priority, func(name string) bool { return a.byNode[name] != nil })
	}
}
