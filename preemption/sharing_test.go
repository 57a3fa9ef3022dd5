package preemption_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// memory is what some values can be changed through: where it is, and the way there.
type memory map[uintptr]string

// note adds all that v leads to.
func (m memory) note(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			m.note(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range v.Len() {
			m.note(v.Index(i), path+"[]")
		}
	case reflect.Interface:
		if !v.IsNil() {
			m.note(v.Elem(), path)
		}
	case reflect.Pointer, reflect.Map, reflect.Slice:
		m.follow(v, path)
	}
}

func (m memory) follow(v reflect.Value, path string) {
	if v.IsNil() || v.Kind() == reflect.Slice && v.Cap() == 0 {
		return
	}
	if at := v.Pointer(); v.Kind() != reflect.Pointer || v.Type().Elem().Size() > 0 {
		if m[at] != "" && v.Kind() == reflect.Pointer {
			return // been there
		}
		m[at] = path
	}
	switch v.Kind() {
	case reflect.Pointer:
		m.note(v.Elem(), path)
	case reflect.Slice:
		for i := range v.Len() {
			m.note(v.Index(i), path+"[]")
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			m.note(it.Value(), path+"[]")
		}
	}
}

func memoryOf(v any, path string) memory {
	m := memory{}
	m.note(reflect.ValueOf(v), path)
	return m
}

// TestResultsShareNothing: with what was given, with each other, or with what Apply keeps of them.
func TestResultsShareNothing(t *testing.T) {
	together := 0
	eachKind(t, 60, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		o.Proof = true
		s, heads := twoHeads(s)
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		given := memoryOf(s, "snapshot")
		given.note(reflect.ValueOf(p), "preemptor")
		var results []memory
		var alive []any // so that no memory is given out again
		apart := func(answer any, kept *preemption.Planner) {
			mine := memoryOf(answer, "result")
			for _, others := range append(results, given, memoryOf(kept, "planner")) {
				for at, path := range others {
					require.Empty(t, mine[at], "%s is %s", path, mine[at])
				}
			}
			results, alive = append(results, mine), append(alive, answer, kept)
		}
		list := append(others(s), p)
		for _, p := range append(list, p) {
			r, err := pl.Preempt(p)
			if err != nil {
				continue
			}
			kept := pl.Fork()
			_ = kept.Apply(r)
			if len(results)%2 == 0 {
				_ = kept.Evict(r)
			}
			apart(r, kept)
			if why, err := pl.WhyNot(p, preemption.NodeTarget("n0")); err == nil {
				apart(why, pl)
			}
		}
		several, _ := pl.PreemptAll(list)
		cycle, err := pl.Cycle(heads)
		require.NoError(t, err)
		if len(cycle) > 1 {
			together++
		}
		g := pl.Gather()
		for _, p := range list {
			if r, err := g.Preempt(p); err == nil {
				several = append(several, r)
			}
		}
		for range 2 {
			if plan, err := g.Plan(); err == nil {
				several = append(several, plan)
			}
		}
		for _, r := range append(several, cycle...) {
			apart(r, pl)
		}
		runtime.KeepAlive(alive)
	})
	require.Positive(t, together)
}

// twoHeads is s where each workload that asks for quota is there twice, and those workloads.
func twoHeads(s *preemption.Snapshot) (*preemption.Snapshot, []preemption.Preemptor) {
	twice := *s
	twice.Workloads = slices.Clone(s.Workloads)
	for _, w := range s.Workloads {
		if w.Admission == nil {
			w.Name += "-2"
			twice.Workloads = append(twice.Workloads, w)
		}
	}
	var heads []preemption.Preemptor
	for i := range twice.Workloads {
		if w := &twice.Workloads[i]; w.Admission == nil {
			heads = append(heads, preemption.Preemptor{Kind: preemption.KindWorkload, Namespace: w.Namespace, Name: w.Name})
		}
	}
	return &twice, heads
}

// eachKind calls check with random questions of every kind: of pods, gangs, workloads,
// and pods and groups of a queue.
func eachKind(t *testing.T, n uint64, check func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot)) {
	for seed := range seeds(n) {
		o := seededOptions(seed)
		switch seed % 4 {
		case 1:
			o.HardBudgets.All = true
		case 2:
			o.Limits.Window = preemption.Window{Seconds: 600, Victims: 3}
		case 3:
			o.BrokenGroupsFree = true
		}
		pod := gen.Random(seed, gen.Everything())
		gang := sound(o, gen.RandomGang(seed, gen.EverythingForGangs()))
		quota, queued := seededQuota(seed), seededQueued(seed)
		check(t, o, pod.Preemptor, &pod.Snapshot)
		if asksSomething(gang) {
			check(t, o, gang.Preemptor, &gang.Snapshot)
		}
		check(t, quota.options, quotaPreemptor, quota.snapshot)
		check(t, queued.options, queued.preemptor, queued.snapshot)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// reads are all questions that can be asked of a planner about p; last is an answer.
func reads(p preemption.Preemptor, s *preemption.Snapshot, last *preemption.Result) []func(pl *preemption.Planner) {
	list := []func(pl *preemption.Planner){
		func(pl *preemption.Planner) { _, _ = pl.Preempt(p) },
		func(pl *preemption.Planner) { _, _ = pl.Decide(p) },
		func(pl *preemption.Planner) { _, _ = pl.StillValid(last) },
		func(pl *preemption.Planner) { _, _ = pl.Cycle([]preemption.Preemptor{p}) },
		func(pl *preemption.Planner) { _ = pl.Snapshot() },
		func(pl *preemption.Planner) {
			g := pl.Gather()
			_, _ = g.Preempt(p)
			_, _ = g.Plan()
		},
	}
	for i := range s.Nodes {
		list = append(list, func(pl *preemption.Planner) { _, _ = pl.WhyNot(p, preemption.NodeTarget(s.Nodes[i].Name)) })
	}
	for i := range s.Pods {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Pods[i].Namespace+"/"+s.Pods[i].Name))
		})
	}
	for i := range s.Workloads {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Workloads[i].Namespace+"/"+s.Workloads[i].Name))
		})
	}
	return list
}

// others are preemptors of every other kind that s has.
func others(s *preemption.Snapshot) []preemption.Preemptor {
	var list []preemption.Preemptor
	if len(s.PodGroups) > 0 {
		g := &s.PodGroups[0]
		list = append(list, preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name})
	}
	return append(list, preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "other", Priority: prio(7), Requests: preemption.Resources{cluster.CPU: 1}}}})
}

// TestQuestionsOnlyRead: whatever is asked, later answers are the same, of forks too.
func TestQuestionsOnlyRead(t *testing.T) {
	eachKind(t, 60, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		fork := pl.Fork()
		asked := append(others(s), p)
		answers := func(pl *preemption.Planner) (text string) {
			for _, p := range asked {
				r, err := pl.Preempt(p)
				if text += string(toJSON(&named{T: t}, r)); err != nil {
					text += err.Error()
				}
			}
			return text
		}
		before := answers(pl)
		last, _ := pl.Preempt(p)
		for i, read := range reads(p, s, last) {
			read(pl)
			require.Equal(t, before, answers(pl), "read %d", i)
		}
		require.Equal(t, before, answers(fork))
	})
}

// TestQuestionsMayBeAskedAtOnce is for the race detector.
func TestQuestionsMayBeAskedAtOnce(t *testing.T) {
	eachKind(t, 12, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		last, _ := pl.Preempt(p)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for _, read := range reads(p, s, last) {
					read(pl)
				}
			})
		}
		wg.Wait()
	})
}

// twoZones has eight nodes of four CPUs, in the zones a and b in turn; full, if asked,
// with a pod on each.
func twoZones(full bool) *preemption.Snapshot {
	snap := &preemption.Snapshot{}
	for i := range 8 {
		node := fmt.Sprintf("n%d", i)
		snap.Nodes = append(snap.Nodes, cluster.Node{
			Name: node, Labels: map[string]string{"zone": string(rune('a' + i%2))}, Allocatable: cluster.Resources{"cpu": 4},
		})
		if full {
			snap.Pods = append(snap.Pods, cluster.Pod{Name: fmt.Sprintf("p%d", i), Node: node, Requests: cluster.Resources{"cpu": 4}})
		}
	}
	return snap
}

// zonal asks for a pod in a zone.
func zonal(zone string) preemption.Preemptor {
	prio := int32(10)
	return preemption.Preemptor{Pods: []cluster.Pod{{
		Name: "x", Priority: &prio, Requests: cluster.Resources{"cpu": 2}, NodeSelector: map[string]string{"zone": zone},
	}}}
}

// TestWhatWasAskedInlineMayBeChangedAfterwards: also where the planner remembers how the
// nodes stand for the pod's shape.
func TestWhatWasAskedInlineMayBeChangedAfterwards(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	for range 4 {
		r, err := pl.Preempt(p)
		require.NoError(t, err)
		require.Equal(t, "n0", r.Domain)
	}
	p.Pods[0].NodeSelector["zone"] = "b"
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "p4"})) // looked at anew, for a pod in zone a
	d, err := pl.Decide(zonal("a"))
	require.NoError(t, err)
	require.Equal(t, preemption.Decision{Verdict: preemption.Fits, Domain: "n4"}, d)
}

// TestWhyNotTellsNothingOfOtherPlanners: where a pod fits, nodes after that are not
// looked at, and what another search has left of its own must not be told of them.
func TestWhyNotTellsNothingOfOtherPlanners(t *testing.T) {
	sampled, err := preemption.NewPlanner(twoZones(true), preemption.Options{Sampling: &preemption.Sampling{Percent: 10, Minimum: 1}})
	require.NoError(t, err)
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	for range 20 { // memory is used again at the runtime's pleasure
		_, err := sampled.Preempt(zonal("a"))
		require.NoError(t, err)
		why, err := pl.WhyNot(zonal("a"), preemption.NodeTarget("n4"))
		require.NoError(t, err)
		require.Equal(t, "it fits on n4 too, but n0 comes first", why.Text)
	}
}

// TestWarningsThatHaveGoneLeaveNothing: not even an empty list.
func TestWarningsThatHaveGoneLeaveNothing(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	require.NoError(t, pl.SetPod(cluster.Pod{Name: "lost", Node: "nowhere"}))
	r, err := pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "lost"}))
	fresh, err := preemption.Preempt(zonal("a"), pl.Snapshot())
	require.NoError(t, err)
	r, err = pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(fresh, r))
}

// TestWarningsOfALargeClusterAreCounted: the first 1,000, and how many others; what is odd about the question is said beside.
func TestWarningsOfALargeClusterAreCounted(t *testing.T) {
	s := twoZones(false)
	for i := range 1_234 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("lost-%04d", i), Node: "nowhere"})
	}
	r, err := preemption.Preempt(zonal("a"), s)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1_001)
	require.Equal(t, "lost-0999", r.Warnings[999].Name)
	require.Equal(t, cluster.Warning{Kind: cluster.KindSnapshot, Field: "Warnings", Value: "1234", Text: "234 more are not listed"}, r.Warnings[1_000])
	_, err = preemption.Options{Strict: true}.Preempt(zonal("a"), s)
	require.ErrorContains(t, err, "234 more")
}

// TestAGangThatFitsGoesElsewhere: where it fits, nobody may be told that it goes nowhere.
func TestAGangThatFitsGoesElsewhere(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	p.Group = &preemption.PodGroup{Name: "gang"}
	p.Pods[0].Group = "gang"
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	why, err := pl.WhyNot(p, preemption.NodeTarget("n4"))
	require.NoError(t, err)
	require.Equal(t, "it goes elsewhere: "+r.Message, why.Text)
}

// bounds are the bounds of a question, in the words of the options.
type bounds struct {
	preemption.Options
	q *gen.Question
}

// randomBounds adds hard budgets or limits by seed.
func randomBounds(seed uint64, o preemption.Options, q gen.Question) preemption.Options {
	r := rand.New(rand.NewPCG(seed, 9))
	o.Guards = preemption.Guards{}
	switch r.IntN(3) {
	case 0:
		o.HardBudgets.All = true
	case 1:
		for _, b := range q.Snapshot.Budgets {
			if r.IntN(2) == 0 {
				o.HardBudgets.Names = append(o.HardBudgets.Names, b.Namespace+"/"+b.Name)
			}
		}
	}
	if r.IntN(2) == 0 {
		o.Limits.Victims = int64(1 + r.IntN(3))
	}
	if r.IntN(3) == 0 {
		o.Limits.Pods = int64(1 + r.IntN(4))
	}
	return o
}

// within says whether units keep within all bounds.
func (b bounds) within(units []naive.Unit) bool {
	pods := int64(0)
	for _, u := range units {
		pods += int64(len(u.Pods))
	}
	if l := b.Limits; l.Victims > 0 && int64(len(units)) > l.Victims || l.Pods > 0 && pods > l.Pods {
		return false
	}
	o := plain(b.Options)
	if b.Rules == preemption.KEP5710Alpha {
		o.Rules = naive.Kubernetes137 // it has the same budgets
	}
	for _, budget := range b.q.Snapshot.Budgets {
		hard := b.HardBudgets.All || slices.Contains(b.HardBudgets.Names, budget.Namespace+"/"+budget.Name)
		if hard && naive.Charges(o, &b.q.Snapshot, budget, units) > max(0, int64(budget.Allowed)) {
			return false
		}
	}
	return true
}

// victimsWithin says the same of an answer's victims.
func (b bounds) victimsWithin(list []preemption.Victim) bool {
	var units []naive.Unit
	for _, v := range list {
		u := naive.Unit{}
		for _, p := range v.Pods {
			i := slices.IndexFunc(b.q.Snapshot.Pods, func(x preemption.Pod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })
			u.Pods = append(u.Pods, &b.q.Snapshot.Pods[i])
		}
		units = append(units, u)
	}
	return b.within(units)
}

// subsets calls yield with every subset of units until it returns false.
func subsets(units []naive.Unit, yield func([]naive.Unit) bool) {
	for set := range 1 << len(units) {
		var some []naive.Unit
		for i, u := range units {
			if set>>i&1 == 1 {
				some = append(some, u)
			}
		}
		if !yield(some) {
			return
		}
	}
}

// TestBoundsHoldAndNothingIsMissed: the victims on every candidate keep within the
// bounds, and a node is a candidate if and only if some set of its units does.
func TestBoundsHoldAndNothingIsMissed(t *testing.T) {
	t.Parallel()
	bounded, candidates, searched := 0, 0, 0
	for seed := range seeds(2500) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: true, Ports: true})
		o := randomBounds(seed, preemption.Options{Candidates: true, Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]}, q)
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Infeasible {
			continue
		}
		require.True(t, r.Stats.Exact, "seed %d: small nodes are searched to the end", seed)
		b := bounds{o, &q}
		searched += r.Stats.Searched
		for _, n := range q.Snapshot.Nodes {
			units, err := naive.Potential(plain(o), q.Preemptor, &q.Snapshot, n.Name)
			require.NoError(t, err)
			if len(units) > 10 {
				continue
			}
			helps := false
			subsets(units, func(some []naive.Unit) bool {
				helps = len(some) > 0 && b.within(some) && fit(&named{t, seed}, o, q, n.Name, naive.Gone(some)).OK()
				return !helps
			})
			i := slices.IndexFunc(r.Candidates, func(c preemption.Candidate) bool { return c.Domain == n.Name })
			require.Equal(t, helps, i >= 0, "seed %d: %s", seed, n.Name)
			if i >= 0 {
				candidates++
				require.True(t, b.victimsWithin(r.Candidates[i].Victims), "seed %d: %s", seed, n.Name)
			}
			bounded++
		}
	}
	require.Greater(t, candidates, int(seeds(500)))
	require.Greater(t, searched, int(seeds(300)))
	require.Greater(t, bounded, 2*candidates)
}

// TestBoundsThatHoldChangeNothing: where the greedy answer is within the bounds on
// every node, it is the answer.
func TestBoundsThatHoldChangeNothing(t *testing.T) {
	same := 0
	for seed := range seeds(1000) {
		q := gen.Random(seed, gen.Profile{Budgets: true, Groups: true})
		o := preemption.Options{Candidates: true, Explain: true}
		soft := ask(&named{t, seed}, o, q)
		if slices.ContainsFunc(soft.Candidates, func(c preemption.Candidate) bool { return c.Overruns > 0 }) || soft.Verdict == preemption.Infeasible {
			continue
		}
		o.HardBudgets.All = true
		hard := ask(&named{t, seed}, o, q)
		soft.Stats, hard.Stats = preemption.Stats{}, preemption.Stats{}
		if diff := cmp.Diff(soft, hard); diff != "" {
			t.Fatalf("seed %d (-soft +hard):\n%s", seed, diff)
		}
		same++
	}
	require.Greater(t, same, int(seeds(300)))
}

// TestTheNearestBoundsAreEnoughAndNoLess: with all that Nearest names the preemptor
// gets in, with any part of it it does not.
func TestTheNearestBoundsAreEnoughAndNoLess(t *testing.T) {
	t.Parallel()
	kinds := map[preemption.RelaxationKind]int{}
	for seed := range seeds(2500) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, Budgets: true, Groups: true, Placement: seed%2 == 0, Ports: true})
		o := randomBounds(seed, preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]}, q)
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Infeasible {
			continue
		}
		require.NotNil(t, r.Nearest, "seed %d", seed)
		all := r.Nearest.Relaxations
		for part := range 1 << len(all) {
			var some []preemption.Relaxation
			for i, x := range all {
				if part>>i&1 == 1 {
					some = append(some, x)
				}
			}
			wider, relaxed := widen(o, q, some)
			got := ask(&named{t, seed}, wider, relaxed)
			in := got.Verdict == preemption.Feasible || got.Verdict == preemption.Fits
			require.Equal(t, len(some) == len(all), in, "seed %d: nearest is %+v; with %+v: %s", seed, r.Nearest, some, got.Message)
		}
		for _, x := range all {
			kinds[x.Kind]++
		}
	}
	for _, kind := range []preemption.RelaxationKind{preemption.RelaxBudget, preemption.RelaxLimit, preemption.RelaxResource, preemption.RelaxPriority} {
		require.NotZero(t, kinds[kind], kind)
	}
}

// widen makes relaxations of every kind.
func widen(o preemption.Options, q gen.Question, list []preemption.Relaxation) (preemption.Options, gen.Question) {
	var rest []preemption.Relaxation
	q = gen.Clone(q)
	for _, x := range list {
		switch x.Kind {
		case preemption.RelaxBudget:
			for i := range q.Snapshot.Budgets {
				if b := &q.Snapshot.Budgets[i]; b.Namespace+"/"+b.Name == x.Name {
					b.Allowed += int32(x.Amount)
				}
			}
		case preemption.RelaxLimit:
			if x.Name == "pods without a place" { // any number of them then
				o.Limits.OnlyMoves = false
				continue
			}
			limit := map[string]*int64{
				"victims": &o.Limits.Victims, "pods": &o.Limits.Pods, "cost": &o.Limits.Cost,
				"victims in the window": &o.Limits.Window.Victims, "pods in the window": &o.Limits.Window.Pods, "cost in the window": &o.Limits.Window.Cost,
			}[x.Name]
			*limit += x.Amount
		case preemption.RelaxMinCount:
			g := groupOf(&q)
			fewer := *g.MinCount - int32(x.Amount)
			g.MinCount = &fewer
		default:
			if g := groupOf(&q); x.Kind == preemption.RelaxPriority && (g != nil || q.Preemptor.Kind == cluster.KindCompositePodGroup) {
				raise(&q, prio(int32(x.Amount)))
				continue
			}
			rest = append(rest, x)
		}
	}
	if len(rest) == 0 {
		return o, q
	}
	return o, apply(&testing.T{}, q, rest)
}

// raise gives the group that asks another priority, the groups below it, and the members that say theirs.
func raise(q *gen.Question, to *int32) {
	var tree []string
	in := func(namespace, name, parent string) bool {
		if namespace != q.Preemptor.Namespace || name != q.Preemptor.Name && !slices.Contains(tree, parent) {
			return false
		}
		tree = append(tree, name)
		return true
	}
	for range q.Snapshot.CompositePodGroups { // in no order
		for i := range q.Snapshot.CompositePodGroups {
			if g := &q.Snapshot.CompositePodGroups[i]; in(g.Namespace, g.Name, g.Parent) {
				g.Priority = to
			}
		}
	}
	for i := range q.Snapshot.PodGroups {
		if g := &q.Snapshot.PodGroups[i]; in(g.Namespace, g.Name, g.Parent) {
			g.Priority = to
		}
	}
	if g := q.Preemptor.Group; g != nil {
		g.Priority, tree = to, append(tree, g.Name)
	}
	for _, pods := range [][]preemption.Pod{q.Snapshot.Pods, q.Preemptor.Pods} {
		for i := range pods {
			if p := &pods[i]; p.Node == "" && p.Priority != nil && slices.Contains(tree, p.Group) {
				p.Priority = to
			}
		}
	}
}

// groupOf is the pod group that asks, nil if a pod does or a composite group.
func groupOf(q *gen.Question) *preemption.PodGroup {
	if q.Preemptor.Group != nil {
		return q.Preemptor.Group
	}
	i := slices.IndexFunc(q.Snapshot.PodGroups, func(g preemption.PodGroup) bool {
		return q.Preemptor.Kind == cluster.KindPodGroup && g.Namespace == q.Preemptor.Namespace && g.Name == q.Preemptor.Name
	})
	if i < 0 {
		return nil
	}
	return &q.Snapshot.PodGroups[i]
}

// priced gives every pod a price by seed.
func priced(seed uint64, q *gen.Question) {
	r := rand.New(rand.NewPCG(seed, 4))
	for i := range q.Snapshot.Pods {
		q.Snapshot.Pods[i].Cost = &cluster.Cost{Fixed: int64(r.IntN(6))}
		if r.IntN(50) == 0 {
			q.Snapshot.Pods[i].Cost.Fixed = math.MaxInt64
		}
	}
}

func priceOf(units []naive.Unit) int64 {
	sum := int64(0)
	for _, u := range units {
		for _, p := range u.Pods {
			sum = checked.Add(sum, p.Cost.Fixed)
		}
	}
	return sum
}

// TestTheObjectiveIsTheCheapest: of all sets on all nodes, none is cheaper.
func TestTheObjectiveIsTheCheapest(t *testing.T) {
	t.Parallel()
	asked := 0
	for seed := range seeds(1500) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: true})
		priced(seed, &q)
		o := preemption.Options{Candidates: true, Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}, Objective: true}}
		if seed%3 == 0 {
			o = randomBounds(seed, o, q)
		}
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible {
			continue
		}
		b := bounds{o, &q}
		best, complete := int64(math.MaxInt64), true
		for _, n := range q.Snapshot.Nodes {
			units, err := naive.Potential(plain(o), q.Preemptor, &q.Snapshot, n.Name)
			require.NoError(t, err)
			if complete = complete && len(units) <= 10; !complete {
				break
			}
			subsets(units, func(some []naive.Unit) bool {
				if len(some) > 0 && b.within(some) && priceOf(some) < best && fit(&named{t, seed}, o, q, n.Name, naive.Gone(some)).OK() {
					best = priceOf(some)
				}
				return true
			})
		}
		if complete {
			require.Equal(t, best, r.Cost, "seed %d", seed)
			asked++
		}
	}
	require.Greater(t, asked, int(seeds(300)))
}

// TestBoundsHoldForGangs: a gang's victims keep within the bounds; and if it is
// proved that none do, then no placement has any that do.
func TestBoundsHoldForGangs(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(3000) {
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 8, Budgets: true, Groups: true}})
		if !asksSomething(q) {
			continue
		}
		o := preemption.Options{Rules: []preemption.Rules{"", "", preemption.Kubernetes136, preemption.KEP5710Alpha}[seed%4]}
		q = sound(o, q)
		o = randomBounds(seed, o, q)
		r := ask(&named{t, seed}, o, q)
		b := bounds{o, &q}
		repaired(t, b, r, seen)
		switch {
		case r.Verdict == preemption.Feasible:
			require.True(t, b.victimsWithin(r.Victims), "seed %d", seed)
			if r.Stats.Searched > 0 {
				seen["searched"]++
			}
		case r.Verdict == preemption.Infeasible && len(r.Rejected) > 0:
			helps := gangBruteForce(t, b)
			if r.Stats.Exact {
				seen["proved"]++
				require.False(t, helps, "seed %d: %s", seed, r.Message)
			} else if helps {
				seen["missed"]++
			} else {
				seen["not proved"]++
			}
			if near := r.Nearest; near != nil {
				wider, relaxed := widen(o, q, near.Relaxations)
				require.Equal(t, preemption.Feasible, ask(&named{t, seed}, wider, relaxed).Verdict, "seed %d: %+v", seed, near)
				seen["nearest"]++
			}
		}
	}
	t.Log(seen)
	for _, what := range []string{"searched", "proved", "nearest", "repaired"} {
		require.Greater(t, seen[what], int(seeds(20)), what)
	}
	require.LessOrEqual(t, seen["missed"], seen["proved"]/20, "the search finds nearly all")
	require.LessOrEqual(t, seen["not repaired"], seen["repaired"]/2, "the repair finds most")
}

// repaired asks without the walk over all placements: what is found keeps within the
// bounds, and what is not is not called proved.
func repaired(t *testing.T, b bounds, whole *preemption.Result, seen map[string]int) {
	t.Helper()
	r, err := b.PreemptSearching(b.q.Preemptor, &b.q.Snapshot, 0)
	require.NoError(t, err)
	switch {
	case r.Verdict == preemption.Feasible:
		require.True(t, b.victimsWithin(r.Victims))
		if r.Stats.Searched > 0 {
			seen["repaired"]++
		}
	case whole.Verdict == preemption.Feasible:
		require.False(t, r.Stats.Exact, "%s: %s", whole.Message, r.Message)
		seen["not repaired"]++
	}
}

// gangBruteForce looks at every set of victims and every placement.
func gangBruteForce(t *testing.T, b bounds) bool {
	t.Helper()
	g, err := naive.NewGang(gangOptions(b.Options), b.q.Preemptor, &b.q.Snapshot)
	require.NoError(t, err)
	nodes := nodeNames(*b.q)
	helps := false
	subsets(g.Potential(nodes), func(some []naive.Unit) bool {
		helps = len(some) > 0 && b.within(some) && g.Placement(nodes, naive.Gone(some)) != nil
		return !helps
	})
	return helps
}

func TestBoundOptionsThatCannotBeFollowed(t *testing.T) {
	tariff := disruption.Tariff{Fixed: 1}
	for want, o := range map[string]preemption.Options{
		`preemption: Options.Limits.Victims: -1 is not >= 0`:                                                      {Limits: preemption.Limits{Victims: -1}},
		`preemption: Options.Limits.Window.Pods: -1 is not >= 0`:                                                  {Limits: preemption.Limits{Window: preemption.Window{Seconds: 1, Pods: -1}}},
		`preemption: Options.Limits.Window.Seconds: 0 is not >= 1, as the window has limits`:                      {Limits: preemption.Limits{Window: preemption.Window{Pods: 1}}},
		`preemption: Options.HardBudgets.Names[0]: "web" is not namespace/name`:                                   {HardBudgets: preemption.HardBudgets{Names: []string{"web"}}},
		`preemption: Options.Chain: -1 is not >= 0`:                                                               {Chain: -1},
		`preemption: Options.Chain: 5 is not at most 4`:                                                           {Chain: 5},
		`preemption: Options.SearchSteps: -1 is not >= 0`:                                                         {SearchSteps: -1},
		`preemption: Options.Cost.Criterion: 7 is not at most 6`:                                                  {Cost: preemption.CostOptions{Criterion: 7, Tariff: tariff}},
		`preemption: Options.Cost.Criterion: 2 is not 0 or 1, as the cost is the objective`:                       {Cost: preemption.CostOptions{Criterion: 2, Objective: true, Tariff: tariff}},
		`preemption: Options.Cost.Tariff: empty is not set, as the cost is asked for`:                             {Cost: preemption.CostOptions{Objective: true}},
		`preemption: Options.Cost.Tariff: disruption: tariff: work[cpu].price: -1 is not >= 0 is not prices >= 0`: {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: -1}}}}},
	} {
		_, err := o.Preempt(preemption.Preemptor{}, &preemption.Snapshot{})
		var oe *preemption.OptionError
		require.ErrorAs(t, err, &oe)
		require.EqualError(t, oe, want)
	}
}

// TestAWindowKeepsWhatIsInIt: by moments, not by the seconds that they fall into.
func TestAWindowKeepsWhatIsInIt(t *testing.T) {
	s := twoNodes()
	s.Time = s.Time.Add(time.Second / 10)
	s.Disruptions = []cluster.Disruption{{Time: s.Time.Add(-59200 * time.Millisecond), Pods: 1}}
	pl, err := preemption.NewPlanner(s, preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 2}}})
	require.NoError(t, err)
	r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"})
	require.NoError(t, err)
	require.NoError(t, pl.Evict(r))
	require.Len(t, pl.Snapshot().Disruptions, 2)
}

// TestAWindowCountsWhatWasApplied: the planner notes what it evicts.
func TestAWindowCountsWhatWasApplied(t *testing.T) {
	low, high := int32(1), int32(10)
	pod := func(name, node string, p *int32) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: p, Requests: preemption.Resources{"cpu": 1}}
	}
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  now,
		Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 2}}},
		Pods:  []preemption.Pod{pod("a", "n1", &low), pod("b", "n1", &low), pod("p", "", &high), pod("q", "", &high)},
	}, preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 1}}})
	require.NoError(t, err)
	p := preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}
	r, err := planner.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.NoError(t, planner.Evict(r))
	require.NoError(t, planner.Bind(preemption.PodRef{Name: "p"}, "n1"))
	require.Equal(t, []cluster.Disruption{{Time: now, Victims: 1, Pods: 1}}, planner.Snapshot().Disruptions)

	q := preemption.Preemptor{Kind: cluster.KindPod, Name: "q"}
	r, err = planner.Preempt(q)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, []preemption.Relaxation{{Kind: preemption.RelaxLimit, Name: "pods in the window", Amount: 1}}, r.Nearest.Relaxations)

	planner.SetTime(now.Add(time.Minute))
	r, err = planner.Preempt(q)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
}
