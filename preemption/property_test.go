package preemption_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quotatext"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
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

// seeds is how many of n clusters to try: all with -long 100, a tenth at least.
func seeds(n uint64) uint64 { return n * max(*long, 10) / 100 }

// sparse is how many of n clusters to try where each of them takes long: all with -long 100, a twentieth at least.
func sparse(n uint64) uint64 { return n * max(*long, 5) / 100 }

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

// holdGang checks a property on random questions about groups: many by seed, some by
// rapid, which makes a failing one small.
func holdGang(t *testing.T, profile gen.GangProfile, p property) {
	t.Helper()
	t.Parallel()
	for seed := range seeds(400) {
		o := gangOptionsBySeed(seed)
		if q := sound(o, gen.RandomGang(seed, profile)); asksSomething(q) {
			p(&named{t, seed}, o, q, seed)
		}
		if t.Failed() {
			return
		}
	}
	rapid.Check(t, drawnGang(profile, p))
}

// drawnGang makes a property of rapid's of p.
func drawnGang(profile gen.GangProfile, p property) func(t *rapid.T) {
	return func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		o := gangOptionsBySeed(seed)
		if q := sound(o, gen.DrawGang(profile).Draw(t, "question")); asksSomething(q) {
			p(t, o, q, seed)
		}
	}
}

// gangOptionsBySeed varies what bears on groups.
func gangOptionsBySeed(seed uint64) preemption.Options {
	return preemption.Options{
		Rules:            []preemption.Rules{"", preemption.Kubernetes136, preemption.KEP5710Alpha, preemption.Kubernetes137}[seed%4],
		Members:          []preemption.Members{"", "", preemption.MinCount, preemption.AllThatFit}[seed/4%4],
		LowestLevel:      seed/16%5 == 4,
		BrokenGroupsFree: seed/80%4 == 3,
		Placement:        []preemption.Placement{"", "", "", preemption.PlacePack, preemption.PlaceSpread}[seed/320%5],
		Candidates:       seed/3%2 == 0,
		Explain:          seed/5%2 == 0,
	}
}

// smallGangs are questions that the twin can check; tied ones have constraints, which
// it does not know.
func smallGangs() gen.GangProfile { return gen.EverythingForGangs() }
func tiedGangs() gen.GangProfile {
	p := gen.EverythingForGangs()
	p.Ties, p.Wishes = true, true
	return p
}

func TestTheOrderOfGangsDoesNotMatter(t *testing.T) { holdGang(t, tiedGangs(), orderDoesNotMatter) }
func FuzzTheOrderOfGangsDoesNotMatter(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(tiedGangs(), orderDoesNotMatter)))
}

func TestGangInputIsNotChanged(t *testing.T) { holdGang(t, tiedGangs(), inputIsNotChanged) }

func TestGangJSONKeepsEverything(t *testing.T) { holdGang(t, tiedGangs(), jsonKeepsEverything) }

// gangIsWholeOrNothing: a group that goes as a whole does; nobody goes unless the
// gang gets what it needs; nobody of its own goes.
func gangIsWholeOrNothing(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	r := ask(t, o, q)
	if r.Verdict != preemption.Feasible {
		if len(r.Victims) > 0 {
			t.Fatalf("%s, and yet %d units go", r.Verdict, len(r.Victims))
		}
		return
	}
	g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	if !g.Useful(placesOf(r)) {
		t.Fatalf("%v is not enough for the gang", placesOf(r))
	}
	gone := goneWith(r.Victims...)
	for _, u := range g.Potential(nodeNames(q)) {
		out := 0
		for _, p := range u.Pods {
			if k := (naive.PodKey{Namespace: p.Namespace, Name: p.Name}); gone[k] {
				out++
				delete(gone, k)
			}
		}
		if out != 0 && out != len(u.Pods) {
			t.Fatalf("%d of the %d pods of %s go", out, len(u.Pods), u.Name)
		}
	}
	if len(gone) > 0 {
		t.Fatalf("%v go, which the gang may not evict", gone)
	}
}
func TestGangIsWholeOrNothing(t *testing.T) { holdGang(t, tiedGangs(), gangIsWholeOrNothing) }
func FuzzGangIsWholeOrNothing(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(tiedGangs(), gangIsWholeOrNothing)))
}

// gangIsIrreducible: the gang fits at its nominations once the victims are gone, and
// not if any one of them stays. Where the twin knows every check it is the judge.
func gangIsIrreducible(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	r := ask(t, o, q)
	if r.Verdict != preemption.Feasible {
		return
	}
	g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	places := placesOf(r)
	if m, st := g.Misfit(places, goneWith(r.Victims...)); !st.OK() {
		t.Fatalf("%v does not fit at %v: %+v", m, places, st)
	}
	for i, v := range r.Victims {
		others := slices.Delete(slices.Clone(r.Victims), i, i+1)
		if _, st := g.Misfit(places, goneWith(others...)); st.OK() {
			t.Fatalf("%s could stay", v.Name)
		}
	}
}
func TestGangIsIrreducible(t *testing.T) { holdGang(t, smallGangs(), gangIsIrreducible) }
func FuzzGangIsIrreducible(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(smallGangs(), gangIsIrreducible)))
}

// tiedGangIsIrreducible is gangIsIrreducible with constraints: whether the gang fits
// is asked of a cluster without the victims, for the placement that is given. Without
// repeated passes a victim may be able to stay once a later one did.
func tiedGangIsIrreducible(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.RepeatReprieve = preemption.On
	r := ask(t, o, q)
	if r.Verdict != preemption.Feasible || o.Rules == preemption.Kubernetes136 {
		return // there the gang may move, and a unit that cannot stay now could with another placement
	}
	if !fitsAtItsNominations(t, o, q, r, r.Victims...) {
		t.Fatalf("it does not fit at %v once the victims are gone", placesOf(r))
	}
	for i, v := range r.Victims {
		if fitsAtItsNominations(t, o, q, r, slices.Delete(slices.Clone(r.Victims), i, i+1)...) {
			t.Fatalf("%s could stay", v.Name)
		}
	}
}

// fitsAtItsNominations asks a cluster without some units whether the gang fits at the
// nominations of r.
func fitsAtItsNominations(t fatal, o preemption.Options, q gen.Question, r *preemption.Result, gone ...preemption.Victim) bool {
	left := gen.Clone(q)
	pods := goneWith(gone...)
	left.Snapshot.Pods = slices.DeleteFunc(left.Snapshot.Pods, func(p preemption.Pod) bool {
		return pods[naive.PodKey{Namespace: p.Namespace, Name: p.Name}]
	})
	left.Preemptor.Placement = map[string]string{}
	for _, n := range r.Nominations {
		left.Preemptor.Placement[n.Pod.Namespace+"/"+n.Pod.Name] = n.Node
	}
	return ask(t, o, left).Verdict == preemption.Fits
}

// tiedGangWithinBoundsFits: with hard budgets, limits or the cheapest victims asked for,
// the gang fits at its nominations once the victims are gone, too.
func tiedGangWithinBoundsFits(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	o = randomBounds(seed, o, q)
	if seed%3 > 0 {
		o.Cost = preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}, Objective: true}
		for i := range q.Snapshot.Pods {
			q.Snapshot.Pods[i].Cost = &cluster.Cost{Fixed: int64(i*7%5 + 1)}
		}
	}
	if r := ask(t, o, q); r.Verdict == preemption.Feasible && !fitsAtItsNominations(t, o, q, r, r.Victims...) {
		t.Fatalf("it does not fit at %v once the victims are gone", placesOf(r))
	}
}
func TestTiedGangWithinBoundsFits(t *testing.T) { holdGang(t, tiedGangs(), tiedGangWithinBoundsFits) }

func TestTiedGangIsIrreducible(t *testing.T) { holdGang(t, tiedGangs(), tiedGangIsIrreducible) }
func FuzzTiedGangIsIrreducible(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(tiedGangs(), tiedGangIsIrreducible)))
}

// gangTwinAgrees: see gangAgrees. Members other than by the rules are not the twin's.
func gangTwinAgrees(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.Members, o.Placement = "", ""
	gangAgrees(t, o, q)
}
func TestGangTwinAgrees(t *testing.T) { holdGang(t, smallGangs(), gangTwinAgrees) }

// amongLarge is a property of questions where a running group has many pods, which are in every domain.
func amongLarge(p property) property {
	return func(t fatal, o preemption.Options, q gen.Question, seed uint64) {
		if q = sound(o, gen.Enlarge(q, seed)); asksSomething(q) {
			p(t, o, q, seed)
		}
	}
}

func TestGangTwinAgreesOnLargeGroups(t *testing.T) {
	holdGang(t, smallGangs(), amongLarge(gangTwinAgrees))
}
func TestGangsAmongLargeGroupsAreIrreducible(t *testing.T) {
	holdGang(t, smallGangs(), amongLarge(gangIsIrreducible))
}
func TestTiedGangsAmongLargeGroupsAreIrreducible(t *testing.T) {
	holdGang(t, tiedGangs(), amongLarge(tiedGangIsIrreducible))
}

func FuzzGangTwinAgrees(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(smallGangs(), gangTwinAgrees)))
}

// strangersDoNotMatter: who runs outside of a domain, in no unit with a pod inside,
// does not change whom the gang would evict there.
func strangersDoNotMatter(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	o.Candidates = true
	before := ask(t, o, q)
	if before.Verdict != preemption.Feasible {
		return
	}
	g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	for _, c := range before.Candidates {
		var inside []string
		for _, round := range g.Rounds() {
			for _, r := range round {
				if r.Name == c.Domain {
					inside = r.Nodes
				}
			}
		}
		changed := gen.Clone(q)
		keep := goneWith() // pods of units inside, and the gang's own
		for _, u := range g.Potential(inside) {
			for _, p := range u.Pods {
				keep[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] = true
			}
		}
		changed.Snapshot.Pods = slices.DeleteFunc(changed.Snapshot.Pods, func(p preemption.Pod) bool {
			stranger := p.Node != "" && p.Group == "" && !slices.Contains(inside, p.Node)
			seed = seed*6364136223846793005 + 1442695040888963407
			return stranger && !keep[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] && seed>>63 == 0
		})
		after := ask(t, o, changed)
		i := slices.IndexFunc(after.Candidates, func(x preemption.Candidate) bool { return x.Domain == c.Domain })
		if after.Verdict != preemption.Feasible || i < 0 {
			continue // it fits elsewhere now, or in a narrower region
		}
		c.Best = after.Candidates[i].Best
		if diff := cmp.Diff(c, after.Candidates[i]); diff != "" {
			t.Fatalf("%s (-before +after pods elsewhere left):\n%s", c.Domain, diff)
		}
	}
}
func TestStrangersDoNotMatter(t *testing.T) {
	p := smallGangs()
	p.MaxNodes = 8
	holdGang(t, p, strangersDoNotMatter)
}

// anEmptyNodeDoesNotHurt: with resources only, one more node never takes away the
// gang's place.
func anEmptyNodeDoesNotHurt(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	before := ask(t, o, q)
	n := cluster.Node{Name: []string{"a-first", "z-last"}[seed%2], Allocatable: cluster.Resources{cluster.CPU: int64(seed % 5 * 1000), cluster.Memory: 4 << 30}}
	n.Labels = q.Snapshot.Nodes[seed%uint64(len(q.Snapshot.Nodes))].Labels
	q.Snapshot.Nodes = append(q.Snapshot.Nodes, n)
	after := ask(t, o, q)
	placed := func(v preemption.Verdict) bool { return v == preemption.Feasible || v == preemption.Fits }
	if placed(before.Verdict) && !placed(after.Verdict) {
		t.Fatalf("%s, but with one more node %s: %s", before.Verdict, after.Verdict, after.Message)
	}
}
func TestAnEmptyNodeDoesNotHurt(t *testing.T) {
	p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 14, Groups: true}, Running: true, Composite: true}
	holdGang(t, p, anEmptyNodeDoesNotHurt)
}
func FuzzAnEmptyNodeDoesNotHurt(f *testing.F) {
	p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 14, Groups: true}, Running: true, Composite: true}
	f.Fuzz(rapid.MakeFuzz(drawnGang(p, anEmptyNodeDoesNotHurt)))
}

// anUnusableNodeChangesNothing: a node on which no member may be, however large, in a
// region that is there or in one of its own, changes neither places nor victims.
func anUnusableNodeChangesNothing(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	o.Candidates, o.Explain = false, false
	before := ask(t, o, q)
	n := cluster.Node{
		Name:        []string{"a-first", "z-last"}[seed%2],
		Allocatable: cluster.Resources{cluster.CPU: int64(seed % 7 * 100_000), cluster.Memory: int64(seed%5) << 42, cluster.Pods: 0},
	}
	n.Labels = q.Snapshot.Nodes[seed%uint64(len(q.Snapshot.Nodes))].Labels
	if seed%3 == 0 {
		n.Labels = map[string]string{"zone": "elsewhere", "rack": "elsewhere"}
	}
	q.Snapshot.Nodes = append(q.Snapshot.Nodes, n)
	after := ask(t, o, q)
	places := func(r *preemption.Result) string {
		return fmt.Sprint(r.Verdict, placesOf(r), victimsText(r.Victims), r.Score)
	}
	if diff := cmp.Diff(places(before), places(after)); diff != "" {
		t.Fatalf("(-before +with a node more)\n%s", diff)
	}
}
func TestAnUnusableNodeChangesNothing(t *testing.T) {
	p := gen.EverythingForGangs()
	p.MaxNodes, p.MaxPods, p.MaxMembers, p.Wishes = 9, 40, 9, true
	holdGang(t, p, anUnusableNodeChangesNothing)
}

// nothingIsEvictedInVain: under the rules of v1.36 nobody goes where trying every
// placement on nodes without anybody below the gang proves that it has no place.
func nothingIsEvictedInVain(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.Rules = preemption.Kubernetes136
	r := ask(t, o, q)
	g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	if nodes := nodeNames(q); len(r.Victims) > 0 && g.Placement(nodes, naive.Gone(g.Potential(nodes))) == nil {
		t.Fatalf("%d units go, and the gang has no place even without all of them", len(r.Victims))
	}
}
func TestNothingIsEvictedInVain(t *testing.T) { holdGang(t, smallGangs(), nothingIsEvictedInVain) }

// askingMoreOfGangsSaysTheSame: candidates, trace and what is nearest come on top of the answer.
func askingMoreOfGangsSaysTheSame(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.Candidates, o.Explain = false, false
	brief := ask(t, o, q)
	o.Candidates, o.Explain = true, true
	full := ask(t, o, q)
	if brief.Verdict == preemption.Feasible {
		i := slices.IndexFunc(full.Candidates, func(c preemption.Candidate) bool { return c.Domain == full.Domain })
		if i < 0 {
			t.Fatalf("the choice is not among the candidates")
		}
		if diff := cmp.Diff(full.Victims, full.Candidates[i].Victims); diff != "" {
			t.Fatalf("the choice and its candidate differ (-choice +candidate):\n%s", diff)
		}
	}
	if brief.Nearest == nil {
		full.Nearest = nil
	}
	full.Candidates, full.Trace, full.Kept, full.Stats.Trials = nil, nil, brief.Kept, brief.Stats.Trials
	if diff := cmp.Diff(brief, full); diff != "" {
		t.Fatalf("(-brief +full):\n%s", diff)
	}
}
func TestAskingMoreOfGangsSaysTheSame(t *testing.T) {
	holdGang(t, tiedGangs(), askingMoreOfGangsSaysTheSame)
}

// TestAnExplainedGangIsAnsweredTheSame: a trace, which keeps nodes from being looked at by columns alone, changes nothing but how many
// trials there are, where searches end before they know as well; and so does a proof.
func TestAnExplainedGangIsAnsweredTheSame(t *testing.T) {
	more, cut := 0, 0                               // gangs that get more than are needed, and searches that end early
	apart := []uint64{1136, 1458, 1501, 1522, 2367} // where more than a trace may tell two searches apart, or room is left
	for seed := range sparse(5000) {
		if seed < uint64(len(apart)) {
			seed = apart[seed]
		}
		r := rand.New(rand.NewPCG(seed, 9))
		p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 2 + r.IntN(12), MaxPods: 10 + r.IntN(50), Groups: r.IntN(2) == 0, Budgets: r.IntN(2) == 0}}
		p.Composite, p.Running, p.MaxMembers = r.IntN(3) == 0, r.IntN(2) == 0, 3+r.IntN(28)
		q := gen.RandomGang(seed, p)
		if !asksSomething(q) {
			continue
		}
		if r.IntN(2) == 0 {
			elasticGroups(seed, &q)
		}
		o := preemption.Options{Rules: []preemption.Rules{"", preemption.Kubernetes136, preemption.KEP5710Alpha}[r.IntN(3)], LowestLevel: r.IntN(4) == 0}
		o.Members = []preemption.Members{preemption.MinCount, preemption.AllThatFit}[r.IntN(2)]
		o.Search = []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact, preemption.Exact}[r.IntN(4)]
		o.SearchSteps = []int{1, 5, 20, 100, 400, 2000}[r.IntN(6)]
		if r.IntN(4) == 0 {
			o.Limits.Pods = 1 + r.Int64N(12)
		}
		q = sound(o, q)
		brief := ask(t, o, q)
		if brief.Verdict == preemption.Feasible && o.Members == preemption.MinCount && len(brief.Nominations) > 1 {
			more++
		}
		if brief.Verdict == preemption.Feasible && o.Search == preemption.Exact && !brief.Optimal {
			cut++
		}
		for _, o.Explain = range []bool{true, false} {
			o.Proof = !o.Explain
			full := ask(t, o, q)
			require.True(t, !o.Explain || o.Members == preemption.MinCount || brief.Verdict != preemption.Feasible || toldOf(full), "seed %d", seed)
			if brief.Nearest == nil { // which a trace asks for
				full.Nearest = nil
			}
			full.Trace, full.Proof, full.Stats.Trials = nil, nil, brief.Stats.Trials
			require.Empty(t, cmp.Diff(brief, full), "seed %d: with %+v (-without +with)", seed, o)
		}
	}
	require.Greater(t, more, int(sparse(300)))
	require.Greater(t, cut, int(sparse(100)))
}

// toldOf reports whether the trace of r tells of everybody who is nominated or has to go.
func toldOf(r *preemption.Result) bool {
	told := map[string]bool{}
	for _, d := range r.Trace {
		for _, step := range d.Steps {
			key := strings.ReplaceAll(step.Action, "return part", "keep out") + " " + step.Unit
			told[key] = told[key] || d.Domain == r.Domain
		}
	}
	return !slices.ContainsFunc(r.Nominations, func(n preemption.Nomination) bool { return !told["place "+n.Pod.Namespace+"/"+n.Pod.Name] }) &&
		!slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool { return !told["keep out "+v.Namespace+"/"+v.Name] })
}

// whyNotAnswersForGangs: about every node and every pod there is something to say,
// and what is chosen is said to be.
func whyNotAnswersForGangs(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	planner, err := preemption.NewPlanner(&q.Snapshot, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r := ask(t, o, q)
	for _, n := range q.Snapshot.Nodes {
		why, err := planner.WhyNot(q.Preemptor, preemption.NodeTarget(n.Name))
		if err != nil || why.Text == "" {
			t.Fatalf("%s: %+v, %v", n.Name, why, err)
		}
		nominated := slices.ContainsFunc(r.Nominations, func(x preemption.Nomination) bool { return x.Node == n.Name })
		if r.Verdict != preemption.Waiting && why.Chosen != nominated {
			t.Fatalf("%s: nominated %t, but: %+v", n.Name, nominated, why)
		}
	}
	gone := goneWith(r.Victims...)
	for _, p := range q.Snapshot.Pods {
		if p.Node == "" {
			continue
		}
		why, err := planner.WhyNot(q.Preemptor, preemption.UnitTarget(p.Namespace+"/"+p.Name))
		if err != nil || why.Text == "" {
			t.Fatalf("%s: %+v, %v", p.Name, why, err)
		}
		if k := (naive.PodKey{Namespace: p.Namespace, Name: p.Name}); why.Chosen != gone[k] {
			t.Fatalf("%s: goes %t, but: %+v", p.Name, gone[k], why)
		}
	}
}
func TestWhyNotAnswersForGangs(t *testing.T) { holdGang(t, tiedGangs(), whyNotAnswersForGangs) }

// FuzzGangQuestionJSON reads any text as a question about a group: it is refused with
// an error or answered, and the answer to its own JSON is the same.
func FuzzGangQuestionJSON(f *testing.F) {
	for seed := range uint64(40) {
		q := gen.RandomGang(seed, tiedGangs())
		text, err := json.Marshal(q)
		require.NoError(f, err)
		f.Add(text, seed)
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		var q gen.Question
		if json.Unmarshal(text, &q) != nil || len(q.Snapshot.Nodes) > 50 || len(q.Snapshot.Pods) > 200 {
			return
		}
		o := gangOptionsBySeed(seed)
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			require.ErrorIs(t, err, cluster.ErrInvalid)
			return
		}
		require.Equal(t, string(toJSON(t, r)), string(toJSON(t, ask(t, o, gen.Clone(q)))))
	})
}

// theTrialIsRolledBack: what was tried leaves no trace in room, pods, members and
// constraints.
func theTrialIsRolledBack(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	after, before, err := o.Trials(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("%v", err)
	}
	state := func(trial *domain.GangTrial) (out struct {
		Free   [][]int64
		Gone   []bool
		Placed []domain.MemberID
		Fits   [][]domain.Reason
	}) {
		ix := trial.Index()
		for n := range cluster.NodeID(ix.NumNodes()) {
			out.Free = append(out.Free, slices.Clone(trial.Free(n)))
			var row []domain.Reason
			for m := range domain.MemberID(trial.Members()) {
				row = append(row, trial.CanPlace(m, n))
			}
			out.Fits = append(out.Fits, row)
		}
		for p := range cluster.PodID(ix.NumPods()) {
			out.Gone = append(out.Gone, trial.Gone(p))
		}
		out.Placed = append(out.Placed, trial.Placed()...)
		return out
	}
	if diff := cmp.Diff(state(before), state(after)); diff != "" {
		t.Fatalf("the trial has changed (-before +after):\n%s", diff)
	}
}
func TestTheTrialIsRolledBack(t *testing.T) { holdGang(t, tiedGangs(), theTrialIsRolledBack) }
func FuzzTheTrialIsRolledBack(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(tiedGangs(), theTrialIsRolledBack)))
}

// placementsMoveWhoFits: a gang that fits, fits whatever the placement or the placer, which
// moves its members and nothing else; a placer of the user's may leave some out that are not
// needed. Counting and trials agree.
func placementsMoveWhoFits(t fatal, o preemption.Options, q gen.Question, _ uint64) {
	o.Placement = ""
	packed := ask(t, o, q)
	for _, p := range []preemption.Placement{preemption.PlaceLeastDisruption, preemption.PlacePack, preemption.PlaceSpread} {
		o.Placement = p
		r := ask(t, o, q)
		if (r.Verdict == preemption.Fits) != (packed.Verdict == preemption.Fits) {
			t.Fatalf("%s: %s, %s otherwise", p, r.Message, packed.Message)
		}
		if r.Verdict != preemption.Fits {
			continue
		}
		if d := decideOn(t, o, q); r.Message != packed.Message || d.Verdict != r.Verdict || d.Domain != r.Domain {
			t.Fatalf("%s: %q, decided %+v; %q otherwise", p, r.Message, d, packed.Message)
		}
		if diff := cmp.Diff(packed.Nominations, r.Nominations); diff != "" && p != preemption.PlaceSpread {
			t.Fatalf("%s (-default +placed):\n%s", p, diff)
		}
	}
	o.Placement = ""
	for _, p := range []domain.Placer{domain.LeastDisruption{}, domain.Spread{}, domain.FirstFit{LastNodeFirst: true}, nobody{}} {
		o.Hooks = &preemption.Hooks{Placer: p}
		if r := ask(t, o, q); r.Verdict != packed.Verdict && (r.Verdict == preemption.Fits || packed.Verdict == preemption.Fits) {
			t.Fatalf("%T: %s, %s otherwise", p, r.Message, packed.Message)
		}
	}
}

// nobody is a placer that places nobody.
type nobody struct{}

func (nobody) Place(*domain.GangTrial, *domain.Domain, domain.Offers, []domain.MemberID, int) int {
	return 0
}

func decideOn(t fatal, o preemption.Options, q gen.Question) preemption.Decision {
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	d, err := pl.Decide(q.Preemptor)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return d
}

func TestPlacementsMoveWhoFits(t *testing.T) { holdGang(t, tiedGangs(), placementsMoveWhoFits) }

// long asks for more clusters: 100 for all on which a property is tried. Without it these are a tenth of them, or a twentieth.
var long = flag.Uint64("long", 0, "the percentage of clusters to try")

// TestMain lets every answer that a test is given be verified, whatever else the test
// looks at.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := fmt.Sprint(30 + *long*7/10)
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(err)
		}
	}
	preemption.Answered(verified)
	gen.Tests(m)
}

// counting are the hooks that count who calls them, which the verification is not to do.
var counting sync.Map

// verified panics, with the question, if something is not true of an answer.
func verified(s *preemption.Snapshot, o preemption.Options, p preemption.Preemptor, r *preemption.Result) {
	if _, counts := counting.Load(o.Hooks); counts {
		return
	}
	problems := check.Verify(s, o, p, r)
	if len(problems) == 0 {
		return
	}
	text := fmt.Sprintf("%s: %s\n", r.Verdict, r.Message)
	for _, problem := range problems {
		text += problem.String() + "\n"
	}
	if s == nil || len(s.Pods) < 1000 {
		question, _ := json.Marshal(map[string]any{"snapshot": s, "options": o, "preemptor": p}) // plain structs
		text += string(question)
	}
	panic(text)
}

// What 1,000 questions come to, whatever the processor, their number and the order of the input:
// the first sum is of the answers, the second of what they cost (Result.Stats, and what searches for gangs ask by trials), which a faster
// search may change where the first one stays.
const (
	sumOfAnswers = "4484aaad2ef2ccadd2ad216d32d8acb20fa90d8606e7806f6d97ed0c62cf2048"
	sumOfStats   = "90538215a6ac0bb3b9d11aa54c7a1caaa9b9128b5e8171d795899eca2989e5da"

	sumOfFew      = "14c77a508784966edd9642c9e4944dd7a30a14bef381ad902c368d0e2de52e3e" // likewise of 2,000 questions about few kinds of things, which are answered the fast way
	sumOfFewStats = "ff5e448349a3513f6f017c7fd87abe76bd3f3cca133cd42321ac3c8c7534e5c5"
)

// answersTo names a file for the answers themselves, to compare those of two machines or commits.
var answersTo = flag.String("answers", "", "write the answers to the 1,000 questions to this file, one a line")

// thousand is the i-th question, of every kind that there is.
func thousand(i int) (preemption.Options, gen.Question) {
	seed := uint64(i)
	o := genopts.Random(seed)
	o.SearchSteps = min(max(o.SearchSteps, 100), 1000)
	switch i % 8 {
	case 0, 1:
		return o, gen.Random(seed, gen.Everything())
	case 2, 3:
		return o, gen.RandomGang(seed, gen.EverythingForGangs())
	case 4:
		return o, gen.Crowd(seed)
	case 5:
		q, o := genopts.RandomQuota(seed)
		o.Search = []preemption.Search{"", preemption.Improved, preemption.Exact}[i/8%3]
		return o, q
	}
	return o, gen.RandomWorld(seed)
}

// answerOf is all that comes of a question, but for the statistics of the search: of a planner
// whose nodes are shared out among goroutines in small parts.
func answerOf(t *testing.T, o preemption.Options, q gen.Question) (answer, stats []byte) {
	t.Helper()
	var told struct {
		Result   *preemption.Result
		Decision preemption.Decision
		Why      *preemption.Why
		Err      string
	}
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	if err == nil {
		require.NoError(t, pl.Tune(0, 3, 2000))
		told.Result, err = pl.Preempt(q.Preemptor)
	}
	var costs struct {
		preemption.Stats
		Work [2]int // of a gang, by trials
	}
	if err == nil {
		costs.Stats, told.Result.Stats = told.Result.Stats, preemption.Stats{}
		costs.Work, err = pl.Work(q.Preemptor)
		require.NoError(t, err)
		told.Decision, err = pl.Decide(q.Preemptor)
		require.NoError(t, err)
		told.Why, err = pl.WhyNot(q.Preemptor, oneTarget(&q))
	}
	if err != nil {
		told.Err = err.Error()
	}
	answer, err = json.Marshal(told)
	require.NoError(t, err)
	stats, err = json.Marshal(costs)
	require.NoError(t, err)
	return answer, stats
}

// fewThings is the i-th question in a cluster of few kinds of things.
func fewThings(i int) (o preemption.Options, q gen.Question) {
	seed := uint64(i)
	if i%4 == 3 {
		o = genopts.Random(seed)
	}
	o.Search, o.SearchSteps = []preemption.Search{"", preemption.Improved, preemption.Exact}[i/2%3], 200
	o.Candidates = i%5 == 0
	if p := gen.FewThings(seed); i%3 == 0 {
		q = gen.Random(seed, p.Profile)
	} else {
		q = gen.RandomGang(seed, p)
	}
	return o, q
}

// TestFewThingsComeToTheSameBytes: where everything is there at once, the simple cases hide.
func TestFewThingsComeToTheSameBytes(t *testing.T) {
	answers, stats := sha256.New(), sha256.New()
	for i := range 2000 {
		o, q := fewThings(i)
		answer, costs := answerOf(t, o, q)
		answers.Write(answer)
		stats.Write(costs)
	}
	require.Equal(t, sumOfFew, hex.EncodeToString(answers.Sum(nil)), "answers")
	require.Equal(t, sumOfFewStats, hex.EncodeToString(stats.Sum(nil)), "statistics")
}

// oneTarget is a node of the question, or a unit where it has an odd number of pods; whatever the
// order of the lists.
func oneTarget(q *gen.Question) preemption.Target {
	node, pod, isWorkload := "", "", q.Preemptor.Kind == preemption.KindWorkload
	for _, n := range q.Snapshot.Nodes {
		node = max(node, n.Name)
	}
	for _, p := range q.Snapshot.Pods {
		if name := p.Namespace + "/" + p.Name; p.Node != "" {
			pod = max(pod, name)
		}
	}
	for _, w := range q.Snapshot.Workloads {
		if name := w.Namespace + "/" + w.Name; isWorkload && w.Admission != nil {
			pod = max(pod, name)
		}
	}
	if pod != "" && (isWorkload || len(q.Snapshot.Pods)%2 == 1) {
		return preemption.UnitTarget(pod)
	}
	return preemption.NodeTarget(node)
}

// TestTheSameBytesEverywhere: 1,000 questions of all kinds come to the bytes of the checksums above,
// for input in another order on 2 processors and, with -long, on 1 and 8. Nothing of an answer is left out.
func TestTheSameBytesEverywhere(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var lines strings.Builder
	met := map[string]int{}
	for i, way := range []struct {
		name       string
		processors int
		shuffled   bool
	}{{"shuffled, 2 processors", 2, true}, {"as given, 1 processor", 1, false}, {"as given, 8 processors", 8, false}} {
		first := i == 0
		if !first && *long == 0 {
			break
		}
		runtime.GOMAXPROCS(way.processors)
		answers, stats := sha256.New(), sha256.New()
		for i := range 1000 {
			o, q := thousand(i)
			if way.shuffled {
				q = gen.Shuffled(uint64(i), q)
			}
			answer, costs := answerOf(t, o, q)
			answers.Write(answer)
			stats.Write(costs)
			if first {
				fmt.Fprintf(&lines, "%d %s %s\n", i, answer, costs)
				for _, word := range []string{"feasible", "fits without preemption", "infeasible", "not eligible", "waiting"} {
					if strings.Contains(string(answer), fmt.Sprintf(`"verdict":%q`, word)) {
						met[word]++
					}
				}
			}
		}
		sum := func(b []byte) string { return hex.EncodeToString(b) }
		if *answersTo != "" && first {
			require.NoError(t, os.WriteFile(*answersTo, []byte(lines.String()), 0o644))
		}
		t.Logf("%s: %v", way.name, met)
		const why = "%s: where this is meant to be, the sum in this file becomes the actual one; with -answers FILE two commits can be compared"
		if got := sum(answers.Sum(nil)); got != sumOfAnswers {
			t.Errorf(why+"\nanswers: %s", way.name, got)
		}
		if got := sum(stats.Sum(nil)); got != sumOfStats {
			t.Errorf(why+"\nstatistics: %s", way.name, got)
		}
	}
	for _, word := range []string{"feasible", "fits without preemption", "infeasible", "not eligible", "waiting"} {
		require.Positive(t, met[word], word)
	}
}

// TestAnswersOfGangsAreTrue: of gangs of every kind, whatever is asked for, nothing is untrue that can be verified. They are the same answers, for
// as much work: which of several that are true a search comes to, and what it looks at on the way, changes on purpose only.
func TestAnswersOfGangsAreTrue(t *testing.T) {
	told, sum := map[preemption.Verdict]int{}, fnv.New64a()
	for seed := range uint64(1600) {
		o, q := genopts.Random(seed), gen.RandomWorld(seed)
		if seed%3 > 0 {
			q = gen.RandomGang(seed, gen.FewThings(seed))
		}
		if seed%2 == 0 { // what is asked for closes most roads
			o = preemption.Options{Rules: o.Rules, Members: o.Members, Explain: o.Explain, Candidates: o.Candidates, LowestLevel: seed%5 == 0}
		}
		if seed%4 == 0 { // bounds that weigh alike, or in units of 3
			o.Limits = preemption.Limits{Victims: int64(seed % 3), Pods: int64(1 + seed%7), Cost: int64(seed % 20)}
			o.Cost.Tariff.Pods = 3
		}
		if g, err := naive.NewGang(naive.GangOptions{}, q.Preemptor, &q.Snapshot); err == nil && seed%9 == 0 {
			var nodes []string
			for _, n := range q.Snapshot.Nodes {
				nodes = append(nodes, n.Name)
			}
			q.Preemptor.Placement = gen.RandomPlacement(seed, g.Members, nodes)
		}
		o.Strict, o.WaitSeconds, o.SearchSteps = false, 0, 200
		o.Search = []preemption.Search{o.Search, preemption.Improved, preemption.Exact}[seed/2%3]
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			continue
		}
		require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d", seed)
		told[r.Verdict]++
		fmt.Fprintln(sum, r.Verdict, r.Domain, r.Nominations, r.Score, r.Bound, r.Rejected, r.Unplaced, r.Stats)
		for _, c := range append(r.Candidates, preemption.Candidate{Victims: r.Victims}) {
			fmt.Fprintln(sum, c.Domain, c.Score, c.Best)
			for _, v := range c.Victims {
				fmt.Fprintln(sum, v.Name, len(v.Pods), v.Violates)
			}
		}
		for _, d := range r.Trace {
			for _, s := range d.Steps {
				fmt.Fprintln(sum, s.Action, s.Unit)
			}
		}
	}
	require.Greater(t, told[preemption.Feasible], 250)
	require.Greater(t, told[preemption.Infeasible], 250)
	require.Greater(t, told[preemption.Fits], 250)
	require.Equal(t, uint64(0x722b3a56a469fa3a), sum.Sum64())
}

// workersDoNotMatter: nodes that are shared out among several searches give what one
// search gives, to the last count; in chunks of another size, all but the count of
// checks. It returns the answer, nil if the question can't be asked.
func workersDoNotMatter(t fatal, o preemption.Options, q gen.Question) *preemption.Result {
	t.Helper()
	whole, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return nil
	}
	one, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, 1, 2)
	if err != nil {
		t.Fatalf("in chunks: %v", err)
	}
	for _, goroutines := range []int{2, 5} {
		several, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, goroutines, 2)
		if err != nil {
			t.Fatalf("%d goroutines: %v", goroutines, err)
		}
		if diff := cmp.Diff(one, several); diff != "" {
			t.Fatalf("(-one goroutine +%d):\n%s", goroutines, diff)
		}
	}
	one.Stats.Trials, whole.Stats.Trials = 0, 0
	if diff := cmp.Diff(whole, one); diff != "" {
		t.Fatalf("(-at once +in chunks):\n%s", diff)
	}
	return one
}

func TestWorkersDoNotMatter(t *testing.T) {
	profile := gen.Everything()
	profile.Guards, profile.MaxNodes, profile.MaxPods = true, 12, 60
	seen, refused := map[preemption.Verdict]int{}, 0
	for seed := range uint64(300) {
		o := seededOptions(seed)
		o.Cost.Objective = seed%4 == 0
		if r := workersDoNotMatter(&named{t, seed}, o, gen.Random(seed, profile)); r != nil {
			seen[r.Verdict]++
		} else {
			refused++
		}
	}
	for _, v := range []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.Infeasible} {
		require.Greater(t, seen[v], 20, v)
	}
	require.Less(t, refused, 100, "questions that can't be asked")
}

// workersWithConstraints is the same where pods have terms about each other.
func workersWithConstraints(t *rapid.T) {
	q := gen.Draw(gen.Profile{MaxNodes: 9, MaxPods: 30, Budgets: true, Nominations: true}).Draw(t, "question")
	tie(t, &q)
	o := preemption.Options{
		Rules:      rapid.SampledFrom([]preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}).Draw(t, "rules"),
		Candidates: rapid.Bool().Draw(t, "candidates"),
	}
	if workersDoNotMatter(t, o, q) == nil {
		t.Fatalf("the question can't be asked")
	}
}

func TestWorkersDoNotMatterToConstraints(t *testing.T) { rapid.Check(t, workersWithConstraints) }
func FuzzWorkersDoNotMatterToConstraints(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(workersWithConstraints))
}

// TestALargeClusterByManyIsByOne: constraints that prepare at once, and workers of their
// own accord, give what one goroutine gives.
func TestALargeClusterByManyIsByOne(t *testing.T) {
	snap := gen.Fleet(2100, 3, 1, gen.Uniform)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{"host": snap.Nodes[i].Name, "zone": string(rune('a' + i%7))}
	}
	for i := range snap.Pods {
		if i%5 == 0 {
			snap.Pods[i].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-01"}}}}
		}
	}
	p := gen.FleetPod(1)
	p.Pods[0].Labels = map[string]string{"app": "app-01"}
	p.Pods[0].Spread = []cluster.Spread{{MaxSkew: 3, TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-01"}}}}
	p.Pods[0].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-02"}}}}
	many, err := preemption.Preempt(p, &snap)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, many.Verdict)
	one, err := preemption.Options{Hooks: &preemption.Hooks{}}.Preempt(p, &snap) // hooks are asked by one goroutine
	require.NoError(t, err)
	one.Stats.Hooks = false
	require.Empty(t, cmp.Diff(one, many))
}

// TestWhoMovesAtOnceDependsOnTheNode: on the first nodes run four groups of 100 that go as a whole, on one far behind a fifth, where only a search keeps
// within the limit: it takes one pod there, whoever gives back a group takes 101. Whether it may begin does not depend on who looked at the first.
func TestWhoMovesAtOnceDependsOnTheNode(t *testing.T) {
	const nodes, helps = 2048, 1650
	low, high, higher := int32(1), int32(5), int32(100)
	app := map[string]string{"app": "web"}
	s := &preemption.Snapshot{}
	add := func(name, group string, node int, cpu int64, priority *int32) {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: name, Group: group, Node: s.Nodes[node].Name, Labels: app, Priority: priority, Requests: preemption.Resources{cluster.CPU: cpu},
		})
	}
	for n := range nodes {
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: fmt.Sprintf("n%04d", n), Labels: map[string]string{"zone": "a"}, Allocatable: preemption.Resources{cluster.CPU: 6},
		})
		switch {
		case n == helps:
			add("high", "", n, 4, &high)
			add("low", "", n, 1, &low)
		case n >= 100:
			add(fmt.Sprint("stays", n), "", n, 5, &higher)
		default:
			add(fmt.Sprint("stays", n), "", n, 2, &higher)
		}
	}
	for g := range 5 {
		name, first := fmt.Sprint("group", g), 0
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: name, Mode: disruption.All, Priority: &low})
		if g == 4 {
			first = 1600
		}
		for i := range 100 {
			add(fmt.Sprint(name, "-", i), name, first+i, 1, &low)
		}
	}
	preemptor := preemption.Preemptor{Pods: []preemption.Pod{{
		Name: "web", Labels: app, Priority: prio(10), Requests: preemption.Resources{cluster.CPU: 2},
		Spread: []cluster.Spread{{MaxSkew: 10_000, TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: app}}},
	}}}
	o := preemption.Options{Limits: preemption.Limits{Pods: 2}}
	for _, goroutines := range []int{1, 2, 8} {
		r, err := o.PreemptInChunks(preemptor, s, goroutines, 50)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, "%d goroutines: %s", goroutines, r.Message)
		require.Len(t, r.Victims, 1)
		require.Equal(t, "high", r.Victims[0].Name)
		require.Empty(t, check.Verify(s, o, preemptor, r))
	}
}

// racked are racks of 20 nodes, full of groups that go as a whole and run over several nodes.
func racked(racks int) (s preemption.Snapshot) {
	low := int32(0)
	for n := range racks * 20 {
		node := preemption.Node{
			Name: fmt.Sprintf("n%03d", n), Labels: map[string]string{"rack": fmt.Sprint(n / 20)},
			Allocatable: preemption.Resources{cluster.CPU: 16_000, cluster.Pods: 110},
		}
		s.Nodes = append(s.Nodes, node)
		for i := range 8 {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("p%03d-%d", n, i), Group: fmt.Sprintf("g%04d", n/20*40+(n*8+i*7)%40), Node: node.Name,
				Priority: &low, Requests: preemption.Resources{cluster.CPU: 2_000},
			})
		}
	}
	for g := range racks * 40 {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ml", Name: fmt.Sprintf("g%04d", g), Mode: disruption.All, Priority: &low})
	}
	return s
}

// A limit that no placement of as many members as fit keeps is kept with fewer of them, however hard is
// looked, and racks share the steps of a question: of ten times as many none takes as many.
func TestRacksShareSteps(t *testing.T) {
	t.Parallel()
	high, one := int32(1_000), int32(1)
	gang := preemption.Preemptor{
		Kind: cluster.KindPodGroup,
		Group: &preemption.PodGroup{
			Namespace: "ml", Name: "gang", Priority: &high, MinCount: &one, Topology: []preemption.TopologyConstraint{{Key: "rack"}},
		},
	}
	for i := range 20 {
		gang.Pods = append(gang.Pods, preemption.Pod{
			Namespace: "ml", Name: fmt.Sprintf("gang-%02d", i), Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 5_000},
		})
	}
	few, many := racked(1), racked(10)
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
		o := preemption.Options{Search: search, Limits: preemption.Limits{Victims: 3}}
		r, err := o.Preempt(gang, &few)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, "%s", search)
		require.Len(t, r.Nominations, 4, "%s", search)
		require.Len(t, r.Victims, 3, "%s", search)
		require.True(t, r.Optimal || search == preemption.Greedy)

		o.Limits = preemption.Limits{}
		r, err = o.Preempt(gang, &few)
		require.NoError(t, err)
		all, err := o.Preempt(gang, &many)
		require.NoError(t, err)
		require.Less(t, all.Stats.Trials, 10*max(r.Stats.Trials, 100), "%s", search)
	}
}

// Domains that are alike get alike parts of the steps for who of an elastic group may stay, wherever they stand in
// order: as few as one by one takes, or as many as it takes to find that two small members may stay rather than a large one.
func TestDomainsShareStepsEvenly(t *testing.T) {
	t.Parallel()
	high, low, one := int32(1_000), int32(0), int32(1)
	gang := preemption.Preemptor{
		Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{
			Namespace: "ml", Name: "gang", Priority: &high, Topology: []preemption.TopologyConstraint{{Key: "host"}},
		},
		Pods: []preemption.Pod{{Namespace: "ml", Name: "gang-0", Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 6}}},
	}
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Namespace: "ml", Name: "large", Mode: disruption.SurplusFirst, MinCount: &one, Priority: &low}}}
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Labels: map[string]string{"host": name}, Allocatable: preemption.Resources{cluster.CPU: 12}})
		for k, size := range []int64{6, 3, 3} {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("%s-%d", name, k), Node: name, Group: "large", Priority: &low, Requests: preemption.Resources{cluster.CPU: size},
			})
		}
	}
	stay := map[int]int{}
	for _, steps := range []int{1, 4, 8, 10, 12, 20, 0} {
		o := preemption.Options{Candidates: true, SearchSteps: steps}
		r, err := o.Preempt(gang, &s)
		require.NoError(t, err)
		require.Len(t, r.Candidates, 20)
		pods := len(r.Candidates[0].Victims[0].Pods)
		for _, c := range r.Candidates {
			require.Len(t, c.Victims, 1)
			require.Len(t, c.Victims[0].Pods, pods, "%s of %d steps", c.Domain, steps)
		}
		stay[3-pods]++
	}
	require.Equal(t, map[int]int{1: 3, 2: 4}, stay)
}

// TestChildGroupsStayInTheirRegions: each child group that requires a zone or a rack is in one of them, in clusters so
// plain that columns price its members, and nodes are vacant until somebody looks.
func TestChildGroupsStayInTheirRegions(t *testing.T) {
	feasible, several := 0, 0
	for seed := range seeds(1000) {
		p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 4 + int(seed%3)*4, MaxPods: 30}, Composite: true, Topology: true, Wishes: true, MaxMembers: 8}
		q := gen.RandomGang(seed, p)
		o := preemption.Options{Members: []preemption.Members{"", preemption.MinCount}[seed%2]}
		if !asksSomething(q) || len(q.Snapshot.CompositePodGroups) == 0 {
			continue
		}
		r := ask(t, o, q)
		require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d", seed)
		if r.Verdict == preemption.Feasible {
			if feasible++; len(r.Nominations) > 2 {
				several++
			}
		}
	}
	require.Greater(t, feasible, int(seeds(100)))
	require.Greater(t, several, int(seeds(50)))
}

var update = flag.Bool("update", false, "rewrite the transcripts of the scenarios")

// TestScenarios answers every scenario as its transcript says, and as the plain
// twin does.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var now []string
		for name, text := range scenario.Sections(string(text)) {
			now = append(now, "== "+name+"\n"+text) // of those that -run leaves out, as it is
			t.Run(name, func(t *testing.T) {
				s, err := scenario.Parse(name, text)
				require.NoError(t, err)
				got := s.Transcript()
				now[len(now)-1] = "== " + name + "\n" + s.File(got)
				if diff := cmp.Diff(s.Want, got); diff != "" && !*update {
					t.Errorf("(-want +got):\n%s", diff)
				}
				for _, q := range s.Questions() {
					agrees(t, s, q)
				}
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(now, "\n")), 0o644))
		}
	}
}

// agrees asks the twin what a scenario asks, if it is one that the twin answers.
func agrees(t *testing.T, s *scenario.Scenario, q scenario.Question) {
	t.Helper()
	if _, err := q.Options.Preempt(q.Preemptor, q.Snapshot); err != nil || beyondTheTwin(s, q) {
		return
	}
	asked := gen.Question{Snapshot: *q.Snapshot, Preemptor: q.Preemptor}
	if q.Preemptor.Kind != cluster.KindPod {
		gangScenarioAgrees(t, q.Options, asked)
	} else if diff, _ := disagreement(q.Options, asked); diff != "" {
		t.Errorf("%s: %s", q.Title, diff)
	}
}

// beyondTheTwin reports whether a question is about more than the twin knows:
// constraints between pods, patience, and for single pods the early text's rules.
func beyondTheTwin(s *scenario.Scenario, q scenario.Question) bool {
	between := func(p preemption.Pod) bool {
		return len(p.Affinity)+len(p.AntiAffinity)+len(p.Spread)+len(p.Tokens)+len(p.Devices) > 0
	}
	single := q.Options.Rules == preemption.KEP5710Alpha || q.Options.LowestLevel || q.Options.BrokenGroupsFree
	return q.Preemptor.Kind == cluster.KindPod && single || q.Options.Members != "" ||
		q.Options.Guards.Toleration == priority.TolerationDesign || q.Options.PreemptionPriority.Apart ||
		q.Options.NoCascade || q.Options.WaitSeconds > 0 || q.Options.PreferMovable ||
		q.Options.HardBudgets.All || len(q.Options.HardBudgets.Names) > 0 ||
		q.Options.Limits != preemption.Limits{} || !q.Options.Cost.Tariff.Free() ||
		slices.ContainsFunc(s.Snapshot.PodGroups, func(g cluster.PodGroup) bool { return g.Mode == disruption.SurplusFirst }) ||
		slices.ContainsFunc(s.Snapshot.Pods, between) || slices.ContainsFunc(q.Preemptor.Pods, between)
}

// refuseAll is a constraint that lets nobody in, and counts how often it was asked.
type refuseAll struct{ asked *int }

func (refuseAll) Name() domain.Check { return "refuse all" }
func (r refuseAll) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	return r, nil
}
func (refuseAll) Remove(cluster.PodID, cluster.NodeID)    {}
func (refuseAll) Return(cluster.PodID, cluster.NodeID)    {}
func (refuseAll) Place(domain.MemberID, cluster.NodeID)   {}
func (refuseAll) Unplace(domain.MemberID, cluster.NodeID) {}
func (r refuseAll) Clone() domain.State                   { return r }
func (refuseAll) Scope() domain.Scope                     { return domain.Scope{NodeLocal: true, Monotone: true} }
func (r refuseAll) Fits(domain.MemberID, cluster.NodeID) domain.Reason {
	*r.asked++
	return domain.Reason{Check: "refuse all"}
}

// TestAConstraintThatRefusesEverything: rows 1 to 3 of upstream's dry run. The
// constraint is asked once for each node with everybody in place, and once with
// the potential victims gone.
func TestAConstraintThatRefusesEverything(t *testing.T) {
	s, err := scenario.Parse("x.txt", "# Two nodes with room after evictions.\nnodes n1 cpu=5 n2 cpu=5\n"+
		"pods a@n1 prio=0 cpu=1 b@n2 prio=0 cpu=1\npreempt p prio=1000 cpu=1\n")
	require.NoError(t, err)
	asked := 0
	r, err := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{refuseAll{&asked}}}}.
		Preempt(s.Preemptors[0], &s.Snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, []preemption.Rejection{{Reason: "refuse all", Domains: 2}}, r.Rejected)
	require.Nil(t, r.Nearest, "nothing that can be relaxed would do")
	require.True(t, r.Stats.Hooks)
	require.GreaterOrEqual(t, asked, 4)
}

// TestQuotaScenarios answers every scenario as its transcript says, with shares as
// fractions and as Kueue's floats, and so does the twin.
func TestQuotaScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/quota/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			scenarios, err := quotatext.Parse(string(text))
			require.NoError(t, err)
			answers := map[string]string{}
			for _, s := range scenarios {
				require.NotContains(t, answers, s.Name, "two scenarios of one name")
				got, err := s.Answer()
				require.NoError(t, err, s.Name)
				answers[s.Name] = got
				if !*update {
					require.Equal(t, s.Want, got, s.Name)
				}
				if twin, ok := twinText(s); ok {
					require.Equal(t, twin, got, "%s: the twin differs", s.Name)
				}
				s.Options.Quota.KueueFloat = true
				float, err := s.Answer()
				require.NoError(t, err)
				require.Equal(t, got, float, "%s: with Kueue's floats", s.Name)
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(quotatext.Rewrite(string(text), answers)), 0o644))
			}
		})
	}
}

// twinText is the twin's transcript of a search for victims.
func twinText(s *quotatext.Scenario) (string, bool) {
	if s.Evict == nil {
		return "", false
	}
	w := naivequota.NewWorld(&s.Snapshot)
	q := &naivequota.Question{
		W: s.Evict, Queue: w.Queues[s.Evict.Queue], Request: naivequota.Amounts{}, Contested: map[naivequota.FR]bool{},
	}
	set := s.Evict.PodSets[0]
	for resource, flavor := range set.Flavors {
		fr := naivequota.FR{Flavor: flavor, Resource: resource}
		if v := set.Requests[resource]; v > 0 {
			q.Request[fr] = v
		}
		q.Contested[fr] = true
		for _, free := range s.Free {
			if free == resource {
				delete(q.Contested, fr)
			}
		}
	}
	c := quotaCase{&s.Snapshot, preemption.Options{Quota: s.Options.Quota}}
	grounds := map[string]string{}
	for _, v := range w.Search(q, twinOptions(c)) {
		grounds[v.W.Name] = v.Reason
	}
	return quotatext.RenderVictims(grounds), true
}
