package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// liveLine is one line of -questions: a line of a batch about the cluster of -f, and how it asks.
type liveLine struct {
	testCase

	Ask string `json:"ask"` // a name of ways; empty: preempt
	Of  string `json:"of"`  // the name of an earlier line
}

// askWay is one way of asking, and what a line that asks so has.
type askWay struct {
	ask func(c *config, t *turn) (*Answer, error)

	one, several bool // it may have a preemptor, preemptors; one of them, if it may have any
	apply        bool // it may have its answer carried out
	of           bool // it is about an earlier answer
	fixed        bool // the options are those of the command line, or of the earlier answer
}

// ways are the ways of asking, beside that of a batch, which is preempt.
var ways = map[string]askWay{
	"apply":      {ask: (*config).applyEarlier, of: true, fixed: true},
	"cycle":      {ask: (*config).cycle, several: true, apply: true},
	"decide":     {ask: (*config).decide, one: true, several: true},
	"evict":      {ask: (*config).applyEarlier, of: true, fixed: true},
	"gather":     {ask: (*config).gather, several: true, apply: true},
	"park":       {ask: (*config).park, one: true, several: true, fixed: true},
	"stillValid": {ask: (*config).stillValid, of: true, fixed: true},
	"wake":       {ask: (*config).wake, fixed: true},
}

// answerQuestion answers one line of -questions. What is wrong with it is part of the answer.
func (c *config) answerQuestion(l *live, number int, line []byte) *Answer {
	var q liveLine
	unknown, err := kjson.UnmarshalStrict(line, &q, kjson.DisallowDuplicateFields, kjson.DisallowUnknownFields)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return refused(nameIn(line), fmt.Errorf("line %d: %s", number, strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	own, err := c.with(q.Options)
	if err != nil {
		return refused(q.Name, fmt.Errorf("line %d: options: %w", number, err))
	}
	a, err := own.askLive(l, &q)
	if err != nil {
		return refused(q.Name, fmt.Errorf("line %d: %w", number, err))
	}
	return a
}

// askLive asks about the cluster as it is, with the changes of the line.
func (c *config) askLive(l *live, q *liveLine) (*Answer, error) {
	if q.Objects != nil || q.Nominated {
		return nil, errors.New("objects, nominated: they are for lines of -batch, with a cluster of their own")
	}
	if q.Ask == "" || q.Ask == "preempt" {
		if q.Of != "" {
			return nil, errors.New(`of: it goes with "ask": "apply", "evict" or "stillValid"`)
		}
		if q.Ask != "" && len(q.Preemptors) == 0 && q.Preemptor == (object{}) {
			return nil, errors.New("preemptor: nobody asks")
		}
		return c.answerLive(l, &q.testCase)
	}
	w, ok := ways[q.Ask]
	if !ok {
		return nil, fmt.Errorf("ask: %q is not apply, cycle, decide, evict, gather, park, preempt, stillValid or wake", q.Ask)
	}
	if err := w.allows(q); err != nil {
		return nil, err
	}
	who, err := q.askers()
	if err != nil {
		return nil, err
	}
	rules, now, err := c.defaults(&q.testCase)
	if err != nil {
		return nil, err
	}
	if err := l.make(&q.testCase, c.reading(now)); err != nil {
		return nil, err
	}
	return w.ask(c, &turn{l, q, who, c.asked(rules, q.FairSharing)})
}

// turn is a line whose changes are made.
type turn struct {
	*live
	*liveLine
	who     []preemption.Preemptor
	options preemption.Options
}

// allows complains about what a line has that its way of asking does not take, or lacks.
func (w askWay) allows(q *liveLine) error {
	one, several := q.Preemptor != object{}, len(q.Preemptors) > 0
	for _, field := range []struct {
		name        string
		given, goes bool
	}{
		{"preemptor", one, w.one && !several},
		{"preemptors", several, w.several},
		{"placement", q.Placement != nil, one},
		{"whyNot", len(q.WhyNot) > 0, false},
		{"apply", q.Apply, w.apply},
		{"of", q.Of != "", w.of},
		{"options", q.Options != nil, !w.fixed},
		{"rules", q.Rules != "", !w.fixed},
		{"fairSharing", q.FairSharing != nil, !w.fixed},
	} {
		if field.given && !field.goes {
			return fmt.Errorf("%s: does not go with the rest of a line that asks %s", field.name, q.Ask)
		}
	}
	switch {
	case w.of && q.Of == "":
		return errors.New("of: names no earlier line")
	case w.one && !one && !several:
		return errors.New("preemptor: nobody asks")
	case w.several && !one && !several:
		return errors.New("preemptors: nobody asks")
	}
	return nil
}

// askers are those who ask, one or several.
func (q *liveLine) askers() ([]preemption.Preemptor, error) {
	if (q.Preemptor == object{}) {
		return q.several()
	}
	p, err := q.preemptor()
	return []preemption.Preemptor{p}, err
}

// decide answers in short form, each as things are.
func (c *config) decide(t *turn) (*Answer, error) {
	planner, err := t.under(t.options)
	if err != nil {
		return nil, err
	}
	return c.each(t, planner, planner.Decide)
}

// park answers in short form, too, and has who has to wait remembered.
func (c *config) park(t *turn) (*Answer, error) {
	if t.parking == nil {
		t.parking = t.planner.Fork()
	}
	return c.each(t, t.planner, func(p preemption.Preemptor) (preemption.Decision, error) {
		return t.parking.Park(p)
	})
}

// each answers for each of those who ask; for one of them the line is that answer.
func (c *config) each(t *turn, planner *preemption.Planner, ask func(preemption.Preemptor) (preemption.Decision, error)) (*Answer, error) {
	whole := blank(t.Name)
	whole.Status, whole.Message = "answered", "each by itself, as things are"
	if c.verify {
		whole.Problems = []string{}
	}
	for _, p := range t.who {
		d, err := ask(p)
		if err != nil {
			return nil, t.dump.Locate(err)
		}
		a := blank(p.Namespace + "/" + p.Name)
		a.Status, a.Message, a.Decision = statusOf(p.Kind, d.Verdict), decided(p.Kind, d), &d
		if a.Status == "fits" || a.Status == "preempt" {
			a.Chosen = d.Domain
		}
		if c.verify {
			r, err := planner.Preempt(p)
			if err != nil {
				return nil, t.dump.Locate(err)
			}
			a.Problems = c.problems(t.options, p, planner.Snapshot(), r)
			if r.Verdict != d.Verdict || r.Domain != d.Domain || len(podNames(r.Victims)) != d.Pods {
				a.Problems = append(a.Problems, "the short form differs: "+r.Message)
			}
			whole.Problems = append(whole.Problems, a.Problems...)
		}
		whole.Answers = append(whole.Answers, a)
	}
	if len(t.Preemptors) > 0 {
		return whole, nil
	}
	a := whole.Answers[0]
	a.Name = t.Name
	return a, nil
}

// decided is a decision about a preemptor of a kind in words.
func decided(kind cluster.Kind, d preemption.Decision) string {
	where := " in " + d.Domain
	switch {
	case kind == cluster.KindPod:
		where = " on " + d.Domain
	case d.Domain == "": // of a Workload
		where = ""
	}
	switch d.Verdict {
	case preemption.Fits:
		return "fits" + where + " without preemption"
	case preemption.Feasible:
		return "fits" + where + " once " + pods(d.Pods, " is evicted", " are evicted")
	}
	return string(d.Verdict)
}

// gather plans pods one by one; nobody is evicted before all have a place.
func (c *config) gather(t *turn) (*Answer, error) {
	planner, err := t.under(t.options)
	if err != nil {
		return nil, err
	}
	gathering := planner.Gather()
	var steps []*Answer
	none := func(why string) *Answer {
		a := blank(t.Name)
		a.Status, a.Message, a.Answers = "unschedulable", why, steps
		return a
	}
	for _, p := range t.who {
		r, err := gathering.Preempt(p)
		if errors.Is(err, preemption.ErrGangFailed) {
			return none(strings.TrimPrefix(err.Error(), "preemption: ")), nil
		}
		if err != nil {
			return nil, t.dump.Locate(err)
		}
		steps = append(steps, answered(p.Namespace+"/"+p.Name, p.Kind, r))
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
			return none(fmt.Sprintf("%s/%s finds no place beside those before it: nobody is to be evicted", p.Namespace, p.Name)), nil
		}
	}
	plan, err := gathering.Plan()
	if err != nil {
		return nil, err
	}
	t.keep(t.Name, plan, t.options)
	a := answered(t.Name, plan.Preemptor.Kind, plan)
	a.Answers = steps
	a.Problems = c.problems(t.options, preemption.Preemptor{Kind: plan.Preemptor.Kind}, planner.Snapshot(), plan)
	if t.Apply {
		err = t.carryOut(plan)
	}
	return a, err
}

// held is the earlier answer that a line is about.
func (t *turn) held() (*keptAnswer, error) {
	held := t.earlier[t.Of]
	if held == nil {
		return nil, fmt.Errorf("of: no line before has the name %q and one answer", t.Of)
	}
	return held, nil
}

// stillValid asks whether an earlier answer still holds, under the options that it was given under.
func (c *config) stillValid(t *turn) (*Answer, error) {
	held, err := t.held()
	if err != nil {
		return nil, err
	}
	planner, err := t.under(held.options)
	if err != nil {
		return nil, err
	}
	v, err := planner.StillValid(held.result)
	if err != nil {
		return nil, fmt.Errorf("of: %w", t.dump.Locate(err))
	}
	a := blank(t.Name)
	a.Status, a.Message, a.Validity = "answered", fmt.Sprintf("%s: %s", v.Advice, v.Reason), &v
	return a, nil
}

// applyEarlier has the victims of an earlier answer told to go, or with "evict" gone, and the preemptor
// nominated; of a Workload the quota held, or taken if it fits.
func (c *config) applyEarlier(t *turn) (*Answer, error) {
	held, err := t.held()
	if err != nil {
		return nil, err
	}
	r := held.result
	call, how := (*preemption.Planner).Apply, "told to go"
	if t.Ask == "evict" {
		call, how = (*preemption.Planner).Evict, "gone"
	}
	if err := t.change(func(planner *preemption.Planner) error { return call(planner, r) }); err != nil {
		return nil, fmt.Errorf("of: %w", t.dump.Locate(err))
	}
	a := answered(t.Name, r.Preemptor.Kind, r)
	a.Candidates, a.Best, a.Status = []Candidate{}, []string{}, "changed"
	a.Message = fmt.Sprintf("%s: %d; nominated: %d", how, len(a.Victims), len(a.Nominations))
	return a, nil
}

// cycle answers for Workloads in the order in which a cycle takes them, each with those before it carried out.
func (c *config) cycle(t *turn) (*Answer, error) {
	planner, err := t.under(t.options)
	if err != nil {
		return nil, err
	}
	results, err := planner.Cycle(t.who)
	if err != nil {
		return nil, t.dump.Locate(err)
	}
	whole := blank(t.Name)
	whole.Status, whole.Message = "answered", "in the order of the cycle, each with those before it carried out"
	at := planner.Fork()
	if c.verify {
		whole.Problems = []string{}
	}
	for i, r := range results {
		a := answered(askedAbout(r.Preemptor)[0], r.Preemptor.Kind, r)
		whole.Answers = append(whole.Answers, a)
		whole.Victims = append(whole.Victims, a.Victims...)
		if c.verify {
			a.Problems = c.problems(t.options, preemptorOf(r), at.Snapshot(), r)
			whole.Problems = append(whole.Problems, a.Problems...)
			if err := applyAll(at, results[i:i+1]); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(whole.Victims)
	whole.Victims = slices.Compact(whole.Victims)
	if t.Apply {
		err = t.change(func(planner *preemption.Planner) error { return applyAll(planner, results) })
	}
	return whole, err
}

// applyAll applies the answers of a cycle that there is anything of to apply.
func applyAll(planner *preemption.Planner, results []*preemption.Result) error {
	for _, r := range results {
		plan := r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits || r.Verdict == preemption.Waiting
		if !plan && (r.Quota == nil || len(r.Quota.Reserved) == 0) {
			continue
		}
		if err := planner.Apply(r); err != nil {
			return err
		}
	}
	return nil
}

// wake tells who is to be asked again.
func (c *config) wake(t *turn) (*Answer, error) {
	a := blank(t.Name)
	a.Status, a.Wake = "answered", []object{}
	if t.parking != nil {
		for _, p := range t.parking.Wake() {
			a.Wake = append(a.Wake, object{string(p.Kind), p.Namespace, p.Name})
		}
	}
	a.Message = fmt.Sprintf("to be asked again: %d", len(a.Wake))
	return a, nil
}
