package review

import (
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// Check complains of what no plan has, whatever the cluster: an answer may come from a
// file or a network. The error joins a [*cluster.FieldError]
// for each problem.
func Check(r *answer.Result) error {
	if r == nil {
		return errors.New("it is nil")
	}
	a := answerCheck{Result: r}
	a.asked()
	if r.Preemptor.Kind == cluster.KindWorkload {
		a.workload()
	} else {
		a.pods()
	}
	if a.wrongVerdict {
		return errors.New("the verdict is " + quoted(r.Verdict))
	}
	a.victims()
	a.moves()
	if len(a.errs) > 0 {
		return errors.Join(a.errs...)
	}
	return nil
}

// answerCheck collects what is wrong with an answer, in the order of its fields.
type answerCheck struct {
	*answer.Result
	errs         []error
	wrongVerdict bool
}

func (a *answerCheck) bad(want, value, format string, args ...any) {
	a.errs = append(a.errs, &cluster.FieldError{
		Kind: "Result", Namespace: a.Preemptor.Namespace, Name: a.Preemptor.Name,
		Field: fmt.Sprintf(format, args...), Value: value, Want: want,
	})
}

func quoted[T ~string](s T) string { return words.Quoted(string(s)) }

// asked checks who asks.
func (a *answerCheck) asked() {
	p := &a.Preemptor
	switch p.Kind {
	case cluster.KindPod, cluster.KindPodGroup, cluster.KindCompositePodGroup, cluster.KindWorkload:
	default:
		a.bad("Pod, PodGroup, CompositePodGroup or Workload", quoted(p.Kind), "Preemptor.Kind")
	}
	gathered := len(p.Gathered) > 0
	if (p.Name == "") != gathered {
		a.bad("a name, or Gathered given", quoted(p.Name), "Preemptor.Name")
	}
	if gathered && (p.Kind != cluster.KindPod || p.Inline != nil) {
		a.bad("absent, as the preemptor is not pods of the cluster", words.Count(len(p.Gathered), "pod"), "Preemptor.Gathered")
	}
	if p.Inline == nil {
		return
	}
	if err := p.Inline.Validate(); err != nil {
		a.errs = append(a.errs, err)
		return
	}
	if p.Inline.Name != "" {
		a.bad("empty: what is inline is given, not named", quoted(p.Inline.Name), "Preemptor.Inline.Name")
		return
	}
	var same answer.Asked
	if p.Inline.Kind == cluster.KindWorkload {
		same = tell.AskedByWorkload(*p.Inline)
	} else {
		same = tell.AskedBy(p.Inline)
	}
	if same.Kind != p.Kind || same.Namespace != p.Namespace || same.Name != p.Name {
		a.bad(fmt.Sprintf("that of the %s", p.Kind), fmt.Sprintf("%s %q", same.Kind, words.Key(same.Namespace, same.Name)), "Preemptor.Inline")
	}
}

// pods checks what is only in answers about pods, and the verdict.
func (a *answerCheck) pods() {
	if !a.Verdict.IsPlan() {
		a.wrongVerdict = true
		return
	}
	p := &a.Preemptor
	of := map[answer.PodRef]bool{}
	switch {
	case len(p.Gathered) > 0:
		for _, ref := range p.Gathered {
			of[ref] = true
		}
		if len(of) < len(p.Gathered) {
			a.bad("each pod once", words.Count(len(p.Gathered), "pod"), "Preemptor.Gathered")
		}
	case p.Kind == cluster.KindPod:
		of[answer.PodRef{Namespace: p.Namespace, Name: p.Name}] = true
	}
	if len(a.Nominations) == 0 || len(of) > 0 && len(a.Nominations) != len(of) {
		a.bad("one for each pod of the preemptor", words.Count(len(a.Nominations), "nomination"), "Nominations")
	}
	seen := map[answer.PodRef]bool{}
	for i, n := range a.Nominations {
		switch {
		case n.Node == "":
			a.bad("the name of a node", quoted(n.Node), "Nominations[%d].Node", i)
		case seen[n.Pod]:
			a.bad("nominated once", quoted(words.Key(n.Pod.Namespace, n.Pod.Name)), "Nominations[%d].Pod", i)
		case len(of) > 0 && !of[n.Pod]:
			a.bad("a pod of the preemptor", quoted(words.Key(n.Pod.Namespace, n.Pod.Name)), "Nominations[%d].Pod", i)
		}
		seen[n.Pod] = true
	}
	if a.Quota != nil {
		a.flavors("Quota.Flavors", a.Quota.Flavors)
		if len(a.Quota.Counts) > 0 || len(a.Quota.Reserved) > 0 {
			a.bad("without Counts and Reserved, as the preemptor is not a workload", "set", "Quota")
		}
	}
}

// workload checks what is only in answers about workloads, and the verdict.
func (a *answerCheck) workload() {
	q := a.Quota
	switch a.Verdict {
	case answer.Feasible, answer.Fits, answer.Waiting:
	case answer.Infeasible, answer.NotEligible:
		a.wrongVerdict = q == nil || len(q.Reserved) == 0
	default:
		a.wrongVerdict = true
	}
	if a.wrongVerdict {
		return
	}
	if len(a.Preemptor.Gathered) > 0 {
		a.bad("absent, as the preemptor is a workload", words.Count(len(a.Preemptor.Gathered), "pod"), "Preemptor.Gathered")
	}
	if len(a.Nominations) > 0 || len(a.Cleared) > 0 {
		a.bad("absent, as the preemptor is a workload", words.Count(len(a.Nominations), "nomination"), "Nominations")
	}
	if q == nil {
		a.bad("set, as the preemptor is a workload", "absent", "Quota")
		return
	}
	a.flavors("Quota.Flavors", q.Flavors)
	a.flavors("Quota.Reserved", q.Reserved)
	for i, n := range q.Counts {
		if n < 0 {
			a.bad(">= 0", fmt.Sprint(n), "Quota.Counts[%d]", i)
		}
	}
	if plan := a.Verdict == answer.Feasible || a.Verdict == answer.Fits || a.Verdict == answer.Waiting; plan && len(q.Reserved) > 0 {
		a.bad(fmt.Sprintf("absent, as the verdict is %q", a.Verdict), words.Count(len(q.Reserved), "amount"), "Quota.Reserved")
	}
}

// flavors checks a list of amounts.
func (a *answerCheck) flavors(field string, list []answer.FlavorChoice) {
	type spot struct{ set, resource, flavor string }
	seen := map[spot]bool{}
	for i, f := range list {
		at := spot{f.PodSet, f.Resource, ""}
		if field == "Quota.Reserved" {
			at.flavor = f.Flavor
		}
		switch {
		case seen[at]:
			a.bad("listed once", fmt.Sprintf("%q, %q", f.PodSet, f.Resource), "%s[%d]", field, i)
		case f.Flavor == "":
			a.bad("the name of a flavor", quoted(f.Flavor), "%s[%d].Flavor", field, i)
		case field == "Quota.Reserved" && f.PodSet != "":
			a.bad("empty: what is reserved is of the workload", quoted(f.PodSet), "%s[%d].PodSet", field, i)
		case f.Amount < 0 || f.Amount > cluster.MaxUsage:
			a.bad("from 0 to 2^62-1", fmt.Sprint(f.Amount), "%s[%d].Amount", field, i)
		}
		seen[at] = true
	}
}

// moves checks who is to move.
func (a *answerCheck) moves() {
	if a.Verdict != answer.Feasible && len(a.Moves) > 0 {
		a.bad(fmt.Sprintf("absent, as the verdict is %q", a.Verdict), words.Count(len(a.Moves), "move"), "Moves")
	}
	seen := map[answer.PodRef]bool{}
	for _, n := range a.Nominations {
		seen[n.Pod] = true
	}
	for i, m := range a.Moves {
		switch {
		case m.Node == "":
			a.bad("the name of a node", quoted(m.Node), "Moves[%d].Node", i)
		case seen[m.Pod]:
			a.bad("told once where it goes", quoted(words.Key(m.Pod.Namespace, m.Pod.Name)), "Moves[%d].Pod", i)
		}
		seen[m.Pod] = true
	}
}

// victims checks who is to go.
func (a *answerCheck) victims() {
	if (a.Verdict == answer.Feasible) != (len(a.Victims) > 0) {
		a.bad(fmt.Sprintf("what goes with the verdict %q", a.Verdict), words.Count(len(a.Victims), "victim"), "Victims")
	}
	if a.Verdict != answer.Feasible && len(a.Cleared) > 0 {
		a.bad(fmt.Sprintf("absent, as the verdict is %q", a.Verdict), words.Count(len(a.Cleared), "pod"), "Cleared")
	}
	own := map[answer.PodRef]bool{}
	for _, n := range a.Nominations {
		own[n.Pod] = true
	}
	pods, workloads := map[answer.PodRef]bool{}, map[answer.PodRef]bool{}
	for i, v := range a.Victims {
		if v.Kind == cluster.KindWorkload {
			ref := answer.PodRef{Namespace: v.Namespace, Name: v.Name}
			switch {
			case v.Quota == nil || a.Quota == nil:
				a.bad("Pod, PodGroup or CompositePodGroup, as it holds no quota", quoted(v.Kind), "Victims[%d].Kind", i)
			case len(v.Pods) > 0:
				a.bad("absent, as the victim is a workload", words.Count(len(v.Pods), "pod"), "Victims[%d].Pods", i)
			case workloads[ref]:
				a.bad("a victim once", quoted(words.Key(ref.Namespace, ref.Name)), "Victims[%d].Name", i)
			}
			workloads[ref] = true
			continue
		}
		switch {
		case v.Kind != cluster.KindPod && v.Kind != cluster.KindPodGroup && v.Kind != cluster.KindCompositePodGroup:
			a.bad("Pod, PodGroup, CompositePodGroup or Workload", quoted(v.Kind), "Victims[%d].Kind", i)
		case len(v.Pods) == 0:
			a.bad("its pods", "none", "Victims[%d].Pods", i)
		case v.Quota == nil && a.Preemptor.Kind == cluster.KindWorkload:
			a.bad("set, as the preemptor is a workload", "absent", "Victims[%d].Quota", i)
		case v.Quota != nil && a.Quota == nil:
			a.bad("absent, as the preemptor needs no quota", "set", "Victims[%d].Quota", i)
		}
		for k, ref := range v.Pods {
			switch {
			case pods[ref.PodRef]:
				a.bad("evicted once", quoted(words.Key(ref.Namespace, ref.Name)), "Victims[%d].Pods[%d]", i, k)
			case own[ref.PodRef]:
				a.bad("nobody whom the answer nominates", quoted(words.Key(ref.Namespace, ref.Name)), "Victims[%d].Pods[%d]", i, k)
			}
			pods[ref.PodRef] = true
		}
	}
}
