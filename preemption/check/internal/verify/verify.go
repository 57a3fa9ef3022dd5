package verify

import (
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
	landed  int       // likewise: looks
	looks   int       // see fillUp
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

// Together adds to l what is not true of r as the answer of PreemptAll about the pods that it names.
// Where they get no place, it is what each would hear. The plan of a gathering, which names no
// domain, is made of several answers, and is not read.
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
