package naive

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// The generations of rules, by the names that the library gives them.
const (
	Kubernetes136 = "Kubernetes136"
	Kubernetes137 = "Kubernetes137"
)

// The verdicts, by the names that the library gives them.
const (
	Feasible    = "feasible"
	Fits        = "fits without preemption"
	NotEligible = "not eligible"
	Waiting     = "waiting"
	Infeasible  = "infeasible"
)

// Options choose how a question is answered.
type Options struct {
	Rules    string // empty: Kubernetes137
	Sampling *Sampling
	Guards   victims.Guards // but for the document's rule of toleration
}

// Sampling looks at the potential nodes from Offset on until enough candidates are found.
type Sampling struct{ Percent, Minimum, Offset int }

// PodKey names a pod.
type PodKey struct{ Namespace, Name string }

func (k PodKey) compare(o PodKey) int {
	return cmp.Or(cmp.Compare(k.Namespace, o.Namespace), cmp.Compare(k.Name, o.Name))
}

// Answer is what is to be done, and everything that led there.
type Answer struct {
	Verdict    string
	Statuses   map[string]Status    // of every node, with everybody in place
	Rejected   map[string]Status    // why preemption does not help on a node
	Candidates map[string]Candidate // by node
	Found      []string             // the candidates' nodes in the order in which the scan ended up with them
	Best       []string             // nodes that tie after the six rules, sorted
	Chosen     string
	Cleared    []PodKey // nominations to withdraw, sorted
}

// Candidate is a node on which preemption helps.
type Candidate struct {
	Victims    []Unit // in the order of the result
	Violations int
	Overruns   int64
	Score      Score
}

// Score is what the six rules compare, in their order. Smaller is better, but for Start.
type Score struct {
	Violations      int
	HighestPriority int32
	PrioritySum     int64
	Pods            int
	Start           time.Time // later is better
}

// question is one preemptor in one snapshot.
type question struct {
	options  Options
	snapshot *cluster.Snapshot
	pod      *cluster.Pod // the preemptor
	priority int32        // its own
}

// Preempt answers for a single pod. The snapshot is not changed. The error tells
// that there is no such preemptor.
func Preempt(o Options, p cluster.Preemptor, s *cluster.Snapshot) (Answer, error) {
	q, err := newQuestion(o, p, s)
	if err != nil {
		return Answer{}, err
	}
	return q.answer(), nil
}

func newQuestion(o Options, p cluster.Preemptor, s *cluster.Snapshot) (*question, error) {
	if o.Rules == "" {
		o.Rules = Kubernetes137
	}
	q := &question{options: o, snapshot: s}
	if len(p.Pods) == 1 {
		q.pod = &p.Pods[0]
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if len(p.Pods) == 0 && pod.Namespace == p.Namespace && pod.Name == p.Name && pod.Node == "" {
			q.pod = pod
		}
	}
	if q.pod == nil {
		return nil, fmt.Errorf("naive: no pending pod %s/%s", p.Namespace, p.Name)
	}
	q.priority = q.priorityOf(q.pod)
	return q, nil
}

func (q *question) units() bool { return q.options.Rules == Kubernetes137 }

func (q *question) answer() Answer {
	a := Answer{Statuses: map[string]Status{}, Rejected: map[string]Status{}, Candidates: map[string]Candidate{}}
	fits := false
	for _, n := range q.snapshot.Nodes {
		st := q.fits(n.Name, nil)
		a.Statuses[n.Name] = st
		fits = fits || st.OK()
	}
	if fits {
		a.Verdict = Fits
		return a
	}
	if a.Verdict = q.eligible(a.Statuses); a.Verdict != "" {
		return a
	}
	q.scan(&a)
	a.Verdict = Infeasible
	if len(a.Candidates) > 0 {
		a.Verdict = Feasible
		a.Best = best(a.Candidates)
		a.Chosen = a.Best[0]
		a.Cleared = q.cleared(a.Chosen)
	}
	return a
}

// eligible returns the verdict that ends the question, or "" if the preemptor may preempt.
func (q *question) eligible(statuses map[string]Status) string {
	if q.units() && q.pod.Group != "" {
		return NotEligible // its group preempts
	}
	if q.never(q.pod) {
		return NotEligible
	}
	if st, known := statuses[q.pod.NominatedNode]; !known || st.Unresolvable {
		return ""
	}
	for _, u := range q.potential(q.pod.NominatedNode) {
		for _, p := range u.Pods {
			if p.Node == q.pod.NominatedNode && p.Terminating && p.Preempted {
				return Waiting
			}
		}
	}
	return ""
}

// scan tries the potential nodes in order of name: all of them, or as many as sampling wants.
func (q *question) scan(a *Answer) {
	var potential []string
	for n, st := range a.Statuses {
		if st.Unresolvable {
			a.Rejected[n] = st
		} else {
			potential = append(potential, n)
		}
	}
	slices.Sort(potential)
	total, wanted, offset := len(potential), len(potential), 0
	if s := q.options.Sampling; s != nil && total > 0 {
		wanted = min(max(total*s.Percent/100, s.Minimum), total)
		offset = s.Offset % total
	}
	var clean, violating []string // each holds as many as wanted; the surplus is dropped
	enough := false
	for i := range total {
		n := potential[(offset+i)%total]
		if enough {
			a.Rejected[n] = Status{Check: NotSampled}
			continue
		}
		c, st := q.try(n)
		if !st.OK() {
			a.Rejected[n] = st
			continue
		}
		switch {
		case c.Violations == 0 && len(clean) < wanted:
			clean = append(clean, n)
			a.Candidates[n] = c
		case c.Violations > 0 && len(violating) < wanted:
			violating = append(violating, n)
			a.Candidates[n] = c
		}
		enough = q.options.Sampling != nil && len(clean) > 0 && len(clean)+len(violating) >= wanted
	}
	a.Found = append(clean, violating...)
}

// try removes every potential victim from a node and gives back whom it can.
func (q *question) try(node string) (Candidate, Status) {
	units := q.potential(node)
	if len(units) == 0 {
		return Candidate{}, Status{Check: NoVictims}
	}
	gone := map[PodKey]bool{}
	for _, u := range units {
		u.leave(gone)
	}
	if st := q.fits(node, gone); !st.OK() {
		return Candidate{}, st
	}
	slices.SortFunc(units, q.moreImportant)
	violating, clean := q.partition(units)
	var c Candidate
	for _, u := range slices.Concat(violating, clean) {
		u.comeBack(gone)
		if st := q.fits(node, gone); !st.OK() {
			u.leave(gone)
			u.Reason = st
			c.Victims = append(c.Victims, u)
			c.Violations += u.Violations
		}
	}
	slices.SortFunc(c.Victims, q.moreImportant)
	c.Overruns = q.overruns(c.Victims)
	c.Score = q.score(c)
	return c, Status{}
}

// cleared lists whose nomination to a node is withdrawn: pending pods of lower priority.
func (q *question) cleared(node string) []PodKey {
	var out []PodKey
	for _, p := range q.nominees(node) {
		if q.priorityOf(p) < q.priority {
			out = append(out, key(p))
		}
	}
	slices.SortFunc(out, PodKey.compare)
	return out
}

func key(p *cluster.Pod) PodKey { return PodKey{p.Namespace, p.Name} }

// Fit says whether the preemptor fits on a node once some pods are gone.
func Fit(o Options, p cluster.Preemptor, s *cluster.Snapshot, node string, gone map[PodKey]bool) (Status, error) {
	q, err := newQuestion(o, p, s)
	if err != nil {
		return Status{}, err
	}
	return q.fits(node, gone), nil
}

// Potential lists the units with a pod on a node that the preemptor may evict, most
// important first.
func Potential(o Options, p cluster.Preemptor, s *cluster.Snapshot, node string) ([]Unit, error) {
	q, err := newQuestion(o, p, s)
	if err != nil {
		return nil, err
	}
	units := q.potential(node)
	slices.SortFunc(units, q.moreImportant)
	return units, nil
}

// Charges counts the pods of units that a budget is charged for.
func Charges(o Options, s *cluster.Snapshot, b disruption.Budget, units []Unit) int64 {
	o.Rules = cmp.Or(o.Rules, Kubernetes137)
	q := &question{options: o, snapshot: s}
	sum := int64(0)
	for _, u := range units {
		for _, p := range u.Pods {
			if q.charges(b, p) {
				sum++
			}
		}
	}
	return sum
}

// Priority is the preemptor's own, resolved; 0 if there is no preemptor.
func Priority(p cluster.Preemptor, s *cluster.Snapshot) int32 {
	q, err := newQuestion(Options{}, p, s)
	if err != nil {
		return 0
	}
	return q.priority
}

// Sets calls yield with each set of units with a pod on a node after which the preemptor fits
// there, most important first, and what the set comes to. There must be few units.
func Sets(o Options, p cluster.Preemptor, s *cluster.Snapshot, node string, yield func(Candidate)) error {
	q, err := newQuestion(o, p, s)
	if err != nil {
		return err
	}
	units := q.potential(node)
	slices.SortFunc(units, q.moreImportant)
	violating, clean := q.partition(units)
	all := slices.Concat(violating, clean)
	slices.SortFunc(all, q.moreImportant)
	for set := 1; set < 1<<len(all); set++ {
		c, gone := Candidate{}, map[PodKey]bool{}
		for i, u := range all {
			if set>>i&1 == 1 {
				u.leave(gone)
				c.Victims = append(c.Victims, u)
				c.Violations += u.Violations
			}
		}
		if q.fits(node, gone).OK() {
			c.Overruns, c.Score = q.overruns(c.Victims), q.score(c)
			yield(c)
		}
	}
	return nil
}
