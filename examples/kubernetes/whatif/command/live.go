package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/whatif/edit"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// changes are what a line of a batch changes before its question, in this order.
type changes struct {
	Reset  bool              `json:"reset"`  // begin with the cluster of -f anew
	Set    []json.RawMessage `json:"set"`    // objects, in place of those of the same name
	Remove []object          `json:"remove"` // a node with its pods
	Cordon []string          `json:"cordon"` // nodes
	Bind   map[string]string `json:"bind"`   // namespace/name of pending pods → node

	// What becomes of answers that were applied, each by namespace/name.
	Spare    []string `json:"spare"`    // pods that were told to go run on
	Requeue  []string `json:"requeue"`  // pods that ran wait again
	Withdraw []string `json:"withdraw"` // pods are nominated no more
	Release  []string `json:"release"`  // no quota is held for Workloads any more
}

// object names one.
type object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (ch *changes) any() bool {
	return ch.Reset || len(ch.Set)+len(ch.Remove)+len(ch.Cordon)+len(ch.Bind) > 0 ||
		len(ch.Spare)+len(ch.Requeue)+len(ch.Withdraw)+len(ch.Release) > 0
}

// live is the cluster of -f as the lines of a batch change it.
type live struct {
	dump    *convert.Dump
	options preemption.Options // of planner
	begin   *preemption.Planner
	planner *preemption.Planner

	others map[string]*preemption.Planner // of the cluster as it is now, under other options, as JSON

	parking *preemption.Planner    // likewise, with everybody who is parked; nil: nobody is
	earlier map[string]*keptAnswer // answers by the names of their lines; nil: they are not kept
}

// keptAnswer is an answer that may be asked about once more.
type keptAnswer struct {
	result  *preemption.Result
	options preemption.Options
}

// keep keeps an answer, if answers are kept and its line has a name.
func (l *live) keep(name string, r *preemption.Result, o preemption.Options) {
	if l.earlier != nil && name != "" {
		l.earlier[name] = &keptAnswer{r, o}
	}
}

func newLive(dump *convert.Dump, o preemption.Options) (*live, error) {
	planner, err := preemption.NewPlanner(&dump.Snapshot, o)
	if err != nil {
		return nil, dump.Locate(err)
	}
	return &live{dump: dump, options: o, begin: planner, planner: planner.Fork(), others: map[string]*preemption.Planner{}}, nil
}

// change makes changes of the cluster as it is now, all of them or none.
func (l *live) change(f func(planner *preemption.Planner) error) error {
	planner := l.planner.Fork()
	if err := f(planner); err != nil {
		return err
	}
	l.planner = planner
	clear(l.others)
	if l.parking != nil { // a fork begins with nobody parked
		return f(l.parking)
	}
	return nil
}

// under is the cluster as it is now, asked under o.
func (l *live) under(o preemption.Options) (*preemption.Planner, error) {
	key, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if own, err := json.Marshal(l.options); err != nil || string(own) == string(key) {
		return l.planner, err
	}
	if l.others[string(key)] == nil {
		if l.others[string(key)], err = preemption.NewPlanner(l.planner.Snapshot(), o); err != nil {
			return nil, err
		}
	}
	return l.others[string(key)], nil
}

// make makes the changes of a line, all of them or none; "now" is one, too.
func (l *live) make(q *testCase, reading convert.Options) error {
	if !q.any() && q.Now == "" {
		return nil
	}
	before := *l
	if q.Reset {
		l.planner, l.parking = l.begin, nil
	}
	err := l.change(func(planner *preemption.Planner) error {
		if q.Now != "" {
			if err := planner.SetTime(reading.Now); err != nil {
				return fmt.Errorf("now: %w", err)
			}
		}
		return q.on(planner, reading)
	})
	if err != nil {
		*l = before
	}
	return err
}

func (ch *changes) on(planner *preemption.Planner, reading convert.Options) error {
	objects, err := convert.Split(ch.Set)
	if err != nil {
		return fmt.Errorf("set: %w", err)
	}
	dump, err := reading.Dump(objects)
	if err == nil && len(objects) > 0 {
		err = recognized(dump)
	}
	if err == nil {
		err = dump.Locate(edit.Set(planner, dump))
	}
	if err != nil {
		return fmt.Errorf("set: %w", err)
	}
	for _, o := range ch.Remove {
		if err := edit.Remove(planner, o.Kind, o.Namespace, o.Name); err != nil {
			return fmt.Errorf("remove: %w", err)
		}
	}
	for _, name := range ch.Cordon {
		if err := edit.Cordon(planner, name); err != nil {
			return fmt.Errorf("cordon: %w", err)
		}
	}
	for pod, node := range sorted(ch.Bind) {
		if err := planner.Bind(podRef(pod), node); err != nil {
			return fmt.Errorf("bind: %w", err)
		}
	}
	for _, of := range []struct {
		field string
		names []string
		call  func(ref preemption.PodRef) error
	}{
		{"spare", ch.Spare, planner.Spare},
		{"requeue", ch.Requeue, planner.Requeue},
		{"withdraw", ch.Withdraw, planner.Withdraw},
		{"release", ch.Release, func(w preemption.PodRef) error { return planner.Release(w.Namespace, w.Name) }},
	} {
		for _, name := range of.names {
			if err := of.call(podRef(name)); err != nil {
				return fmt.Errorf("%s: %w", of.field, err)
			}
		}
	}
	return nil
}

// carryOut evicts the victims of an answer and lets the preemptor run.
func (l *live) carryOut(r *preemption.Result) error {
	if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
		return nil
	}
	return l.change(func(planner *preemption.Planner) error {
		if r.Verdict == preemption.Feasible {
			if err := planner.Evict(r); err != nil {
				return err
			}
		}
		for _, n := range r.Nominations {
			if err := planner.Bind(n.Pod, n.Node); err != nil {
				return err
			}
		}
		return nil
	})
}

// carryOutAll is carryOut for answers of PreemptAll, one after the other, with a call before
// each: budgets are charged for who goes, as the next of the answers has it.
func carryOutAll(planner *preemption.Planner, answers []*preemption.Result, before func(r *preemption.Result)) error {
	carried, err := cascade.New(planner, cascade.Options{Returns: func(*preemption.Pod) bool { return false }})
	if err != nil {
		return err
	}
	for _, r := range answers {
		before(r)
		if r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits {
			if err := carried.Add(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// answerAll answers for several preemptors, each with the answers before it carried out.
func (c *config) answerAll(l *live, q *testCase, o preemption.Options, planner *preemption.Planner) (*Answer, error) {
	asking, err := q.several()
	if err != nil {
		return nil, err
	}
	results, err := planner.PreemptAll(asking)
	if err != nil {
		return nil, l.dump.Locate(err)
	}
	whole := blank(q.Name)
	for _, r := range results {
		a := answered(strings.Join(askedAbout(r.Preemptor), ", "), r.Preemptor.Kind, r)
		whole.Answers = append(whole.Answers, a)
		whole.Victims = append(whole.Victims, a.Victims...)
		maps.Copy(whole.Nominations, a.Nominations)
	}
	slices.Sort(whole.Victims)
	whole.Status = "answered"
	whole.Message = fmt.Sprintf("pods that get a place: %d; pods that are evicted: %d", len(whole.Nominations), len(whole.Victims))
	if c.verify {
		at, number := planner.Fork(), 0
		whole.Problems = []string{}
		if err := carryOutAll(at, results, func(r *preemption.Result) {
			whole.Answers[number].Problems = c.problems(o, preemptorOf(r), at.Snapshot(), r)
			whole.Problems = append(whole.Problems, whole.Answers[number].Problems...)
			number++
		}); err != nil {
			return nil, err
		}
	}
	if q.Apply {
		if err := l.change(func(planner *preemption.Planner) error {
			return carryOutAll(planner, results, func(*preemption.Result) {})
		}); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// preemptorOf is who asked for r, by name.
func preemptorOf(r *preemption.Result) preemption.Preemptor {
	of := r.Preemptor
	return preemption.Preemptor{Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}
}

// askedAbout names whom an answer is about.
func askedAbout(a preemption.Asked) []string {
	if len(a.Gathered) == 0 {
		return []string{a.Namespace + "/" + a.Name}
	}
	var names []string
	for _, p := range a.Gathered {
		names = append(names, podName(p))
	}
	return names
}

// podRef reads namespace/name, or a name in the default namespace.
func podRef(text string) preemption.PodRef {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok {
		return preemption.PodRef{Namespace: metav1.NamespaceDefault, Name: text}
	}
	return preemption.PodRef{Namespace: namespace, Name: name}
}

// answerLive answers a line about the cluster of -f.
func (c *config) answerLive(l *live, q *testCase) (*Answer, error) {
	rules, now, err := c.defaults(q)
	if err != nil {
		return nil, err
	}
	if len(q.Preemptors) > 0 && (q.Preemptor != object{} || q.Placement != nil || len(q.WhyNot) > 0) {
		return nil, errors.New("preemptors: preemptor, placement and whyNot do not go with it")
	}
	if len(q.Preemptors) == 0 && q.Preemptor == (object{}) {
		if q.Placement != nil || len(q.WhyNot) > 0 || q.Apply || !q.any() && q.Now == "" {
			return nil, errors.New("preemptor: nobody asks")
		}
	}
	if err := l.make(q, c.reading(now)); err != nil {
		return nil, err
	}
	o := c.asked(rules, q.FairSharing)
	planner, err := l.under(o)
	if err != nil {
		return nil, err
	}
	switch {
	case len(q.Preemptors) > 0:
		return c.answerAll(l, q, o, planner)
	case q.Preemptor == object{}:
		a := blank(q.Name)
		a.Status, a.Message = "changed", "the cluster is changed"
		return a, nil
	}
	preemptor, err := q.preemptor()
	if err != nil {
		return nil, err
	}
	r, err := planner.Preempt(preemptor)
	if err != nil {
		return nil, l.dump.Locate(err)
	}
	l.keep(q.Name, r, o)
	a := answered(q.Name, preemptor.Kind, r)
	if c.verify {
		a.Problems = c.problems(o, preemptor, planner.Snapshot(), r)
	}
	if a.WhyNot, err = askWhyNot(q.WhyNot, planner, preemptor); err != nil {
		return nil, fmt.Errorf("whyNot: %w", err)
	}
	if q.Apply && preemptor.Kind != cluster.KindWorkload {
		err = l.carryOut(r)
	} else if q.Apply {
		err = l.admit(r)
	}
	return a, err
}

// admit lets a Workload have its quota and its victims give theirs up.
func (l *live) admit(r *preemption.Result) error {
	if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
		return nil
	}
	return l.change(func(planner *preemption.Planner) error { return planner.Evict(r) })
}
