package verify

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// answer is a result that is read, and the what-if in which it is.
type answer struct {
	*found.List
	*scene
	r       *preemption.Result
	nodes   []*node // of the domain; of all where none is said
	inside  []bool  // by node: it is one of them
	victims []victim
	order   []*member // who is placed, each fitting beside those before it
	listed  int       // pods that candidates list and that run elsewhere
	plain   *landing  // see landsPlainly; nil: not made yet
	crowd   *bool     // see crowded; nil: not looked yet
	landed  int       // likewise: looks
	looks   int       // see fillUp
	shares  int       // see domains; 0: not counted yet
}

// Answer adds to l what is not true of r as the answer for p, a pod or a group of pods,
// in s under o, and says whether p needs quota too, which is not read here.
func Answer(l *found.List, s *preemption.Snapshot, o preemption.Options, p *preemption.Preemptor, r *preemption.Result) (queued bool) {
	q, err := newQuestion(s, &o, p)
	if err != nil {
		l.Add(found.Question, "%s", err)
		return false
	}
	return read(l, q, r)
}

// Together adds to l what is not true of r as the answer of PreemptAll about the pods that it names. Where they get no place, it is what each would
// hear. The plan of a gathering, which names no domain, is made of several answers, and is not read.
func Together(l *found.List, s *preemption.Snapshot, o preemption.Options, r *preemption.Result) {
	placed := r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits
	if placed && r.Domain == "" {
		return
	}
	asked := o
	if o.Members = preemption.AllThatFit; o.Search != preemption.Exact {
		o.Search = preemption.Improved
	}
	q, err := newTogether(s, &o, r.Preemptor.Gathered)
	if err != nil {
		l.Add(found.Question, "%s", err)
		return
	}
	if !placed {
		p := preemption.Preemptor{Kind: cluster.KindPod, Namespace: q.members[0].Namespace, Name: q.members[0].Name}
		Answer(l, s, asked, &p, r)
		return
	}
	read(l, q, r)
	if len(r.Nominations) != len(r.Preemptor.Gathered) {
		l.Add(found.Form, "%d pods are gathered, and %d of them get a place", len(r.Preemptor.Gathered), len(r.Nominations))
	}
}

// read is Answer for a question.
func read(l *found.List, q *question, r *preemption.Result) (queued bool) {
	queued = q.queued()
	if !queued && r.Quota != nil {
		l.Add(found.Quota, "it asks for no quota, and is told of some")
	}
	a := &answer{List: l, scene: newScene(q), r: r, looks: mostLooks}
	if !a.wellFormed() || !a.findDomain() {
		return queued
	}
	a.readVictims(r.Victims, false)
	a.readMoves()
	switch {
	case !queued:
		a.readVerdict()
	case r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits: // whom it evicts, and whether it may, is a matter of quota
		a.leave(a.out()...)
		a.placeMembers()
	}
	return queued
}

func (a *answer) readVerdict() {
	if a.asked.Kind == cluster.KindCompositePodGroup && a.rules.old {
		a.expect(preemption.NotEligible, "these rules know no composite groups")
		return
	}
	if a.team != nil && !a.team.runs(func(*member) bool { return true }) {
		a.expect(preemption.Infeasible, "it has too few pods or groups, whoever goes")
		return
	}
	if a.r.Verdict == preemption.Fits {
		if a.placeMembers() {
			a.readMore()
			a.readFilled()
		}
		a.keepsOrder()
		a.readFitting()
		return
	}
	if at := a.fitsNow(); at != "" {
		if a.team == nil || a.r.Stats.Exact || a.r.Verdict != preemption.Infeasible && !a.many() {
			a.Add(found.Verdict, "it fits in %s without preemption", at)
		}
		return
	}
	verdict, why := a.refusal(func(n *node) misfit { return first(a.misfits(a.members[0], n)) })
	if verdict == preemption.Waiting && a.ownEligible() {
		if a.r.Verdict == preemption.Waiting || a.r.Verdict == preemption.NotEligible {
			return // whether who is leaving may be evicted is the hook's to say
		}
		verdict = ""
	}
	switch {
	case verdict != "":
		a.expect(verdict, why)
		a.readWaiting()
	case a.r.Verdict == preemption.Feasible:
		a.readFeasible()
	case a.r.Verdict == preemption.Infeasible:
		a.readInfeasible()
	default:
		a.Add(found.Verdict, "it may preempt, and nothing is to be waited for")
	}
	a.readKept()
}

// expect says what the verdict has to be.
func (a *answer) expect(want preemption.Verdict, why string) {
	if a.r.Verdict != want {
		a.Add(found.Verdict, "%s, which is %q and not %q", why, want, a.r.Verdict)
	}
}

// ownEligible: who may be evicted is the user's to say.
func (q *question) ownEligible() bool { return q.o.Hooks != nil && q.o.Hooks.Eligible != nil }

// readInfeasible: the preemptor fits in no domain with everybody gone who may be evicted there, and what is called proved is so.
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
