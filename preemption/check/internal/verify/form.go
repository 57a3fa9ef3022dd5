package verify

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// wellFormed: the parts of the answer are those of its verdict.
func (a *answer) wellFormed() bool {
	r, ok := a.r, true
	need := func(holds bool, text string) {
		if !holds {
			a.Add(found.Form, "%s", text)
			ok = false
		}
	}
	if !slices.Contains([]preemption.Verdict{preemption.Feasible, preemption.Fits, preemption.NotEligible, preemption.Waiting, preemption.Infeasible}, r.Verdict) {
		need(false, "its verdict is none")
		return false
	}
	placed := r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits
	need(placed == (len(r.Nominations) > 0) || r.Verdict == preemption.Waiting, "nominations are for who gets a place")
	need((r.Verdict == preemption.Feasible) == (len(r.Victims) > 0), "victims are for a preemptor that fits by evicting them")
	if r.Verdict != preemption.Feasible {
		need(len(r.Score)+len(r.Budgets)+len(r.Cleared) == 0 && r.Violations == 0 && r.Overruns == 0 && r.Cost == 0,
			"what nobody is evicted for costs nothing")
		need(len(r.Candidates) == 0 || r.Verdict == preemption.Fits && a.o.Candidates, "candidates are for who gets a place")
	}
	need(len(r.Unplaced) == 0 || r.Verdict == preemption.Infeasible && a.team != nil, "members without a place are told of a gang that does not fit")
	need(r.Nearest == nil || r.Verdict == preemption.Infeasible, "what is nearest is told of who does not fit")
	need(r.Stats.Hooks == a.o.Hooks.Decide(), "the statistics say whether hooks were set")
	if r.Proof != nil && !a.provable() {
		a.Add(found.Proof, "nobody asked for one, or none can be given")
		ok = false
	}
	return ok
}

// findDomain reads the domain that the answer names.
func (a *answer) findDomain() bool {
	name := a.r.Domain
	if name == "" {
		a.enter(a.all())
		if len(a.r.Nominations) > 0 && a.r.Verdict != preemption.Waiting {
			a.Add(found.Form, "it names no domain")
			return false
		}
		return true
	}
	if !a.enter(a.domainNamed(name)) {
		a.About(found.Form, cluster.KindNode, "", name, "there is no such domain for the preemptor")
		return false
	}
	return true
}

// enter makes list the domain that is read; false if there is none.
func (a *answer) enter(list []*node) bool {
	if a.inside == nil {
		a.inside = make([]bool, len(a.scene.nodes))
	}
	for _, n := range a.nodes {
		a.inside[n.number] = false
	}
	for _, n := range list {
		a.inside[n.number] = true
	}
	a.nodes = list
	return list != nil
}

// all are the nodes of the cluster.
func (w *world) all() []*node {
	list := make([]*node, len(w.nodes))
	for i := range w.nodes {
		list[i] = &w.nodes[i]
	}
	return list
}

// domainNamed returns the nodes of a domain; nil if there is none of that name.
func (q *question) domainNamed(name string) []*node {
	if n := q.byNode[name]; q.team == nil || q.queued() && n != nil {
		if n == nil {
			return nil
		}
		return []*node{n}
	}
	if q.domains == nil {
		q.domains = map[string][]*node{}
		for _, r := range slices.Concat(q.rounds()...) {
			if q.domains[r.name] == nil {
				q.domains[r.name] = r.nodes
			}
		}
	}
	return q.domains[name]
}

// placeMembers places the members where they are nominated: each fits there, in some
// order, beside those before it, they are enough, and together where they have to be.
func (a *answer) placeMembers() bool {
	at, ok := map[*member]*node{}, true
	var list []*member
	for _, n := range a.r.Nominations {
		m, to := a.named[n.Pod], a.byNode[n.Node]
		switch {
		case m == nil || at[m] != nil:
			a.About(found.Form, cluster.KindPod, n.Pod.Namespace, n.Pod.Name, "it is nominated, and is no pending pod of the preemptor, or twice")
			return false
		case to == nil || !a.inside[to.number]:
			a.About(found.Fits, cluster.KindPod, n.Pod.Namespace, n.Pod.Name, "it goes to %s, which is not in the domain", n.Node)
			return false
		}
		at[m] = to
		list = append(list, m)
	}
	slices.SortFunc(list, func(x, y *member) int { return x.number - y.number })
	for _, m := range a.seat(list, at) {
		a.About(found.Fits, cluster.KindPod, m.Namespace, m.Name, "it does not fit on %s: %s", at[m].Name, first(a.misfits(m, at[m])).check)
		ok = false
	}
	if a.team != nil && ok {
		ok = a.seated()
	}
	return ok
}

// seated: the members that are placed are enough, and where their groups require it.
func (a *answer) seated() bool {
	if !a.team.runs(isPlaced) {
		a.Add(found.Fits, "the members that get a place are too few for %s", a.team.name)
		return false
	}
	if vain := a.team.inVain(isPlaced); vain != nil && a.asked.Placement == nil {
		a.Add(found.Fits, "members of %s get a place, and it does not run with them", vain.name)
		return false
	}
	if name, key := a.team.strays(); name != "" && (a.o.Hooks == nil || a.o.Hooks.Splitter == nil || name != a.team.name) {
		a.Add(found.Fits, "the members of %s do not share one value of %s", name, key)
		return false
	}
	to := map[string]string{}
	for _, n := range a.r.Nominations {
		to[placedAs(n.Pod.Namespace, n.Pod.Name)] = n.Node
	}
	for m, node := range a.asked.Placement {
		if at, placed := to[m]; !placed || at != node {
			a.Add(found.Fits, "%s does not go to %s, as the placement given says", m, node)
			return false
		}
	}
	return true
}

// keepsOrder: a lone pod that fits goes to the node that it is nominated to, or else to the one that it prefers, or the first by name.
func (a *answer) keepsOrder() {
	if a.team != nil || len(a.r.Nominations) != 1 || a.ownLiking() {
		return
	}
	m := a.members[0]
	a.unplace(m)
	if want := a.fitsNow(); want != a.r.Nominations[0].Node {
		a.Add(found.Verdict, "it fits in %q, which comes first", want)
	}
}

// fitsNow is where the preemptor fits as things are; empty: nowhere, or, for a gang, not where its members are placed one after the other.
func (a *answer) fitsNow() string {
	if a.team != nil {
		return a.gangFits(func(region) []*unit { return nil })
	}
	m := a.members[0]
	if n := a.byNode[m.NominatedNode]; n != nil && len(a.misfits(m, n)) == 0 {
		return n.Name
	}
	var best *node
	for _, n := range a.all() {
		if len(a.misfits(m, n)) == 0 && (best == nil || a.liking(n, a.scene.usedOn(n)).Cmp(a.liking(best, a.scene.usedOn(best))) > 0) {
			best = n
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

// readWaiting: the nominations of who waits stand.
func (a *answer) readWaiting() {
	if a.r.Verdict != preemption.Waiting {
		return
	}
	var want []preemption.Nomination
	byName := func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}
	for _, m := range slices.SortedFunc(slices.Values(a.members), byName) {
		if a.byNode[m.NominatedNode] != nil {
			want = append(want, preemption.Nomination{Pod: preemption.PodRef{Namespace: m.Namespace, Name: m.Name}, Node: m.NominatedNode})
		}
	}
	if !slices.Equal(want, a.r.Nominations) {
		a.Add(found.Verdict, "the nominations of who waits are not those that stand")
	}
}
