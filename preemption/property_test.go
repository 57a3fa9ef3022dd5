package preemption_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// property is something that holds for every question. seed is for choices of its
// own.
type property func(t fatal, o preemption.Options, q gen.Question, seed uint64)

// hold checks a property on random clusters: many by seed, some by rapid, which
// makes a failing one small.
func hold(t *testing.T, p property) {
	t.Helper()
	t.Parallel()
	for seed := range seeds(500) {
		p(&named{t, seed}, seededOptions(seed), gen.Random(seed, gen.Everything()), seed)
		if t.Failed() {
			break
		}
	}
	rapid.Check(t, drawn(p))
}

// seeds is how many of n clusters to try: all with -long, else a tenth.
func seeds(n uint64) uint64 {
	if *long {
		return n
	}
	return n / 10
}

// drawn makes a property of rapid's of p.
func drawn(p property) func(t *rapid.T) {
	return func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		p(t, seededOptions(seed), gen.Draw(gen.Everything()).Draw(t, "question"), seed)
	}
}

// named is a test that says which seed failed.
type named struct {
	*testing.T
	seed uint64
}

func (t *named) Fatalf(format string, args ...any) {
	t.Helper()
	t.T.Fatalf("seed %d: "+format, append([]any{t.seed}, args...)...)
}

// seededOptions are options by seed: rules, candidates, trace and sampling.
func seededOptions(seed uint64) preemption.Options {
	o := preemption.Options{
		Rules:      []preemption.Rules{"", preemption.Kubernetes136, preemption.Kubernetes137}[seed%3],
		Candidates: seed/3%2 == 0,
		Explain:    seed/6%2 == 0,
	}
	if seed/12%5 == 4 {
		o.Sampling = &preemption.Sampling{Percent: int32(seed / 60 % 101), Minimum: 1 + int32(seed/6060%5), Offset: int32(seed % 11)}
	}
	return o
}

// fatal is what tests and rapid's have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func ask(t fatal, o preemption.Options, q gen.Question) *preemption.Result {
	t.Helper()
	r, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("the question can't be read: %v", err)
	}
	return r
}

func toJSON(t fatal, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return text
}

// preemptorOf is the pod that wants to run.
func preemptorOf(q *gen.Question) *preemption.Pod {
	if len(q.Preemptor.Pods) > 0 {
		return &q.Preemptor.Pods[0]
	}
	i := slices.IndexFunc(q.Snapshot.Pods, func(p preemption.Pod) bool {
		return p.Namespace == q.Preemptor.Namespace && p.Name == q.Preemptor.Name
	})
	return &q.Snapshot.Pods[i]
}

func podsOf(victims ...preemption.Victim) map[naive.PodKey]bool {
	out := map[naive.PodKey]bool{}
	for _, v := range victims {
		for _, p := range v.Pods {
			out[naive.PodKey(p.PodRef)] = true
		}
	}
	return out
}

// fit asks the twin whether the preemptor fits where the answer puts it, with some
// pods gone.
func fit(t fatal, o preemption.Options, q gen.Question, node string, gone map[naive.PodKey]bool) naive.Status {
	t.Helper()
	st, err := naive.Fit(plain(o), q.Preemptor, &q.Snapshot, node, gone)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return st
}

func twinAgrees(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	if diff, _ := disagreement(o, q); diff != "" {
		t.Fatalf("%s", diff)
	}
}
func TestTwinAgrees(t *testing.T) { hold(t, twinAgrees) }
func FuzzTwinAgrees(f *testing.F) { f.Fuzz(rapid.MakeFuzz(drawn(twinAgrees))) }

func orderDoesNotMatter(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	want := toJSON(t, ask(t, o, q))
	got := toJSON(t, ask(t, o, gen.Shuffled(seed, q)))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Fatalf("another order, another answer (-given +shuffled):\n%s", diff)
	}
}
func TestOrderDoesNotMatter(t *testing.T) { hold(t, orderDoesNotMatter) }
func FuzzOrderDoesNotMatter(f *testing.F) { f.Fuzz(rapid.MakeFuzz(drawn(orderDoesNotMatter))) }

func inputIsNotChanged(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	before := gen.Clone(q)
	ask(t, o, q)
	if diff := cmp.Diff(before, q); diff != "" {
		t.Fatalf("the question has changed (-before +after):\n%s", diff)
	}
}
func TestInputIsNotChanged(t *testing.T) { hold(t, inputIsNotChanged) }

// askingForMoreSaysTheSame: candidates and trace come on top of the answer.
func askingForMoreSaysTheSame(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.Candidates, o.Explain = false, false
	brief := ask(t, o, q)
	o.Candidates, o.Explain = true, true
	full := ask(t, o, q)
	for _, c := range full.Candidates {
		if c.Domain != full.Domain {
			continue
		}
		asCandidate := preemption.Candidate{
			Domain: full.Domain, Victims: full.Victims, Violations: full.Violations, Overruns: full.Overruns, Score: full.Score, Best: true,
		}
		if diff := cmp.Diff(asCandidate, c); diff != "" {
			t.Fatalf("the choice and its candidate differ (-choice +candidate):\n%s", diff)
		}
	}
	full.Candidates, full.Trace, full.Stats.Trials = nil, nil, brief.Stats.Trials
	full.Stats.Evaluated = brief.Stats.Evaluated
	if diff := cmp.Diff(brief, full); diff != "" {
		t.Fatalf("(-brief +full):\n%s", diff)
	}
}
func TestAskingForMoreSaysTheSame(t *testing.T) { hold(t, askingForMoreSaysTheSame) }

// theAnswerHolds: the preemptor fits once the victims are gone, nobody of its
// priority is among them, units are whole, and none of them can be given back alone.
func theAnswerHolds(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	r := ask(t, o, q)
	if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
		return
	}
	if st := fit(t, o, q, r.Domain, podsOf(r.Victims...)); !st.OK() {
		t.Fatalf("%s, but on %s it fails: %+v", r.Message, r.Domain, st)
	}
	if (r.Verdict == preemption.Feasible) != (len(r.Victims) > 0) {
		t.Fatalf("%s with %d victims", r.Verdict, len(r.Victims))
	}
	priority := naive.Priority(q.Preemptor, &q.Snapshot)
	for i, v := range r.Victims {
		if v.Priority >= priority {
			t.Fatalf("%s has priority %d, the preemptor %d", v.Name, v.Priority, priority)
		}
		whole(t, o, q, v)
		others := slices.Delete(slices.Clone(r.Victims), i, i+1)
		st := fit(t, o, q, r.Domain, podsOf(others...))
		if st.OK() {
			t.Fatalf("%s could stay", v.Name)
		}
		if !saysTheSame(v.Reason, st) {
			t.Fatalf("%s can't stay because of %+v, not %+v", v.Name, st, v.Reason)
		}
	}
}
func TestTheAnswerHolds(t *testing.T) { hold(t, theAnswerHolds) }
func FuzzTheAnswerHolds(f *testing.F) { f.Fuzz(rapid.MakeFuzz(drawn(theAnswerHolds))) }

// whole checks that every running pod of a group of mode All goes with it.
func whole(t fatal, o preemption.Options, q gen.Question, v preemption.Victim) {
	if v.Mode != disruption.All {
		return
	}
	if o.Rules == preemption.Kubernetes136 {
		t.Fatalf("%s goes as a whole: a single pod does not see groups", v.Name)
	}
	gone := podsOf(v)
	for _, p := range q.Snapshot.Pods {
		if v.Kind == cluster.KindPodGroup && p.Node != "" && p.Namespace == v.Namespace && p.Group == v.Name &&
			!gone[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] {
			t.Fatalf("%s goes without %s", v.Name, p.Name)
		}
	}
}

// theChoiceIsABest: by the scores, and by name among equals.
func theChoiceIsABest(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.Candidates = true
	r := ask(t, o, q)
	if r.Verdict != preemption.Feasible {
		return
	}
	values := func(score []preemption.Criterion) (out []int64) {
		for _, c := range score {
			out = append(out, c.Value)
		}
		return out
	}
	for i, c := range r.Candidates {
		if i > 0 && r.Candidates[i-1].Domain >= c.Domain {
			t.Fatalf("candidates are not in order of name: %s before %s", r.Candidates[i-1].Domain, c.Domain)
		}
		order := slices.Compare(values(c.Score), values(r.Score))
		if order < 0 || order == 0 && c.Domain < r.Domain {
			t.Fatalf("%s is better than the choice %s: %v", c.Domain, r.Domain, c.Score)
		}
		if c.Best != (order == 0) {
			t.Fatalf("%s: best is %t, its score %v, the choice's %v", c.Domain, c.Best, c.Score, r.Score)
		}
	}
}
func TestTheChoiceIsABest(t *testing.T) { hold(t, theChoiceIsABest) }

// morePriorityHelps: a pod that nothing nominates never loses by more priority.
func morePriorityHelps(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	preemptorOf(&q).NominatedNode = ""
	before := ask(t, o, q)
	old := naive.Priority(q.Preemptor, &q.Snapshot)
	raised := int32(min(int64(old)+[]int64{1, 10, 100, 1000, math.MaxInt32}[seed%5], math.MaxInt32))
	preemptorOf(&q).Priority = &raised
	after := ask(t, o, q)
	helped := func(v preemption.Verdict) bool { return v == preemption.Feasible || v == preemption.Fits }
	if helped(before.Verdict) && !helped(after.Verdict) {
		t.Fatalf("%s at priority %d, but %s at %d", before.Verdict, old, after.Verdict, raised)
	}
}
func TestMorePriorityHelps(t *testing.T) { hold(t, morePriorityHelps) }
func FuzzMorePriorityHelps(f *testing.F) { f.Fuzz(rapid.MakeFuzz(drawn(morePriorityHelps))) }

// whyNotTellsTheFirstDifference: forcing a node that is not chosen gives a score
// that is worse in the criterion named.
func whyNotTellsTheFirstDifference(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	planner, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{Rules: o.Rules, Sampling: o.Sampling, Candidates: true})
	if err != nil {
		t.Fatalf("%v", err)
	}
	r, err := planner.Preempt(q.Preemptor)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, n := range q.Snapshot.Nodes {
		why, err := planner.WhyNot(q.Preemptor, preemption.NodeTarget(n.Name))
		if err != nil || why.Text == "" {
			t.Fatalf("%s: %+v, %v", n.Name, why, err)
		}
		want := preemption.Why{Chosen: n.Name == r.Domain, Text: why.Text, Reason: why.Reason}
		if o.Sampling != nil {
			want.Criterion = why.Criterion // a candidate that was seen but not kept is in no list
		}
		for _, c := range r.Candidates {
			if c.Domain != n.Name {
				continue
			}
			want.Reason, want.Criterion = nil, ""
			if i := slices.IndexFunc(c.Score, func(c preemption.Criterion) bool { return !slices.Contains(r.Score, c) }); i >= 0 {
				want.Criterion = c.Score[i].Name
			}
		}
		if diff := cmp.Diff(&want, why); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", n.Name, diff)
		}
	}
}
func TestWhyNotTellsTheFirstDifference(t *testing.T) {
	hold(t, whyNotTellsTheFirstDifference)
}

func roundTrip[T any](t fatal, v T) {
	t.Helper()
	var back T
	text := toJSON(t, v)
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatalf("%s can't be read back: %v", text, err)
	}
	if diff := cmp.Diff(v, back); diff != "" {
		t.Fatalf("(-value +read back):\n%s", diff)
	}
	if again := toJSON(t, back); !bytes.Equal(text, again) {
		t.Fatalf("written twice:\n%s\n%s", text, again)
	}
}

func jsonKeepsEverything(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	roundTrip(t, o)
	roundTrip(t, q.Snapshot)
	roundTrip(t, q.Preemptor)
	answer := *ask(t, o, q)
	answer.Preemptor.Inline = nil // documented: what was given inline is not marshalled
	roundTrip(t, answer)
}
func TestJSONKeepsEverything(t *testing.T) { hold(t, jsonKeepsEverything) }

// FuzzQuestionJSON reads any text as a question: it is refused with an error or
// answered, and what is answered can be asked again from its own JSON.
func FuzzQuestionJSON(f *testing.F) {
	for seed := range uint64(20) {
		text, err := json.Marshal(gen.Random(seed, gen.Everything()))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var q gen.Question
		if json.Unmarshal(text, &q) != nil {
			return
		}
		o := preemption.Options{Candidates: true, Explain: true}
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			require.ErrorIs(t, err, cluster.ErrInvalid)
			return
		}
		again := ask(t, o, gen.Clone(q))
		require.Equal(t, string(toJSON(t, r)), string(toJSON(t, again)))
	})
}
