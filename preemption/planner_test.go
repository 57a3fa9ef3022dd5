package preemption_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

func prio(p int32) *int32 { return &p }

// twoNodes is a cluster of two nodes with 4 cores each: low runs on n1, mid on n2,
// and web, which asks for 2 cores, is pending.
func twoNodes() *preemption.Snapshot {
	pod := func(name, node string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{
			Namespace: "ns", Name: name, Node: node, Priority: prio(priority), Labels: map[string]string{"app": name},
			Requests: preemption.Resources{cluster.CPU: cpu},
		}
	}
	return &preemption.Snapshot{
		Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Nodes: []cluster.Node{
			{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4000}},
			{Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 4000}},
		},
		Pods: []preemption.Pod{
			pod("low", "n1", 1, 3000), pod("mid", "n2", 5, 3000), pod("web", "", 10, 2000), pod("late", "", 2, 2000),
		},
		Budgets: []preemption.Budget{{
			Namespace: "ns", Name: "low-budget", Allowed: 1,
			Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "low"}},
		}},
	}
}

var web = preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"}

func planned(t *testing.T) (*preemption.Planner, *preemption.Result) {
	t.Helper()
	pl, err := preemption.NewPlanner(twoNodes(), preemption.Options{})
	require.NoError(t, err)
	r, err := pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Equal(t, "n1", r.Domain)
	return pl, r
}

func advice(t *testing.T, pl *preemption.Planner, r *preemption.Result, want preemption.Advice) {
	t.Helper()
	v, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, want, v.Advice, v.Reason)
}

func TestApplyHoldsTheRoomUntilVictimsLeave(t *testing.T) {
	pl, r := planned(t)
	require.NoError(t, pl.Apply(r))
	again, err := pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Waiting, again.Verdict)
	advice(t, pl, r, preemption.Keep)
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "low"}))
	again, err = pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, again.Verdict)
	require.Equal(t, "n1", again.Domain)
	advice(t, pl, r, preemption.Cancel)
	late, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "late"})
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, late.Verdict, "4 cores, web is nominated and asks for 2")
}

func TestEvictFreesTheRoomAtOnce(t *testing.T) {
	pl, r := planned(t)
	require.NoError(t, pl.Evict(r))
	require.NoError(t, pl.Bind(preemption.PodRef{Namespace: "ns", Name: "web"}, "n1"))
	snapshot := pl.Snapshot()
	for _, p := range snapshot.Pods {
		require.NotEqual(t, "low", p.Name)
		if p.Name == "web" {
			require.Equal(t, "n1", p.Node)
		}
	}
	advice(t, pl, r, preemption.Cancel)
}

// TestAnswersAreAppliedOneAfterTheOther: two preemptors want the same room, and both
// answers hold before either is carried out; only one of them is.
func TestAnswersAreAppliedOneAfterTheOther(t *testing.T) {
	for range 20 {
		s := twoNodes()
		rival := s.Pods[2]
		rival.Name = "rival"
		s.Pods = append(s.Pods, rival)
		s.Nodes, s.Pods = s.Nodes[:1], append(s.Pods[:1:1], s.Pods[2:]...)
		s.Nodes[0].Allocatable = preemption.Resources{cluster.CPU: 3000}
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		answers := make([]*preemption.Result, 2)
		for i, name := range []string{"web", "rival"} {
			answers[i], err = pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: name})
			require.NoError(t, err)
			require.Equal(t, preemption.Feasible, answers[i].Verdict)
		}
		errs := make(chan error, len(answers))
		for _, r := range answers {
			go func() { errs <- pl.Evict(r) }()
		}
		failed := 0
		for range answers {
			if err := <-errs; err != nil {
				require.ErrorIs(t, err, preemption.ErrNotApplicable)
				failed++
			}
		}
		require.Equal(t, 1, failed, "3 cores, each asks for 2")
	}
}

// TestChangesAndQuestionsDoNotWaitForEachOther: while a question is in progress, every
// change is made, later questions see it, and that one does not.
func TestChangesAndQuestionsDoNotWaitForEachOther(t *testing.T) {
	ref := func(name string) preemption.PodRef { return preemption.PodRef{Namespace: "ns", Name: name} }
	changes := map[string]func(pl *preemption.Planner, r *preemption.Result) error{
		"pod": func(pl *preemption.Planner, _ *preemption.Result) error { return pl.Remove(ref("low")) },
		"bind": func(pl *preemption.Planner, _ *preemption.Result) error {
			return errors.Join(pl.Remove(ref("low")), pl.Bind(ref("late"), "n1"))
		},
		"apply":  func(pl *preemption.Planner, r *preemption.Result) error { return pl.Apply(r) },
		"evict":  func(pl *preemption.Planner, r *preemption.Result) error { return pl.Evict(r) },
		"budget": func(pl *preemption.Planner, _ *preemption.Result) error { return pl.RemoveBudget("ns", "low-budget") },
		"remove": func(pl *preemption.Planner, _ *preemption.Result) error { return pl.RemoveNode("n1") },
		"class": func(pl *preemption.Planner, _ *preemption.Result) error {
			return pl.SetPriorityClass(preemption.PriorityClass{Name: "new", Value: 1})
		},
		"node": func(pl *preemption.Planner, _ *preemption.Result) error {
			return pl.SetNode(cluster.Node{Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 9000}})
		},
		"group": func(pl *preemption.Planner, _ *preemption.Result) error {
			return pl.SetPodGroup(preemption.PodGroup{Namespace: "ns", Name: "new", Basic: true})
		},
		"time": func(pl *preemption.Planner, _ *preemption.Result) error {
			return pl.SetTime(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
		},
		"workload": func(pl *preemption.Planner, _ *preemption.Result) error {
			return pl.SetWorkload(waiting("new", "q", 0, 1))
		},
		"flavor": func(pl *preemption.Planner, _ *preemption.Result) error {
			return pl.SetResourceFlavor(preemption.ResourceFlavor{Name: "new"})
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			pl, r := planned(t)
			askThen, end := preemption.Begin(pl)
			before := asJSON(t, pl.Snapshot())
			require.NoError(t, change(pl, r))
			require.NotEqual(t, before, asJSON(t, pl.Snapshot()))
			h := &history{Planner: pl}
			h.ask(t, web)
			fork := &history{Planner: pl.Fork()}
			fork.ask(t, web)
			then, err := askThen(web)
			require.NoError(t, err)
			require.Empty(t, gocmp.Diff(r, then))
			end()
			h.ask(t, web)
		})
	}
}

func TestForksDoNotSeeEachOther(t *testing.T) {
	pl, r := planned(t)
	fork := pl.Fork()
	require.NoError(t, fork.Evict(r))
	same, err := pl.Preempt(web)
	require.NoError(t, err)
	if diff := gocmp.Diff(r, same); diff != "" {
		t.Fatalf("the fork's eviction reached the planner (-before +after):\n%s", diff)
	}
	other, err := fork.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, other.Verdict)
}

func TestStillValidTellsWhatChanged(t *testing.T) {
	pod := func(name string, change func(*preemption.Pod)) func(*preemption.Planner) error {
		return func(pl *preemption.Planner) error {
			for _, p := range pl.Snapshot().Pods {
				if p.Name == name {
					change(&p)
					return pl.SetPod(p)
				}
			}
			return errors.New("no such pod")
		}
	}
	cases := map[string]struct {
		change func(*preemption.Planner) error
		want   preemption.Advice
	}{
		"nothing": {func(*preemption.Planner) error { return nil }, preemption.Keep},
		"another pod takes the room": {func(pl *preemption.Planner) error {
			return pl.SetPod(preemption.Pod{Namespace: "ns", Name: "new", Node: "n1", Priority: prio(100), Requests: preemption.Resources{cluster.CPU: 3000}})
		}, preemption.Replan},
		"the victim became too important": {pod("low", func(p *preemption.Pod) { p.Priority = prio(50) }), preemption.Replan},
		"the victim moved":                {pod("low", func(p *preemption.Pod) { p.Node = "n2" }), preemption.Cancel},
		"the preemptor is gone":           {func(pl *preemption.Planner) error { return pl.Remove(preemption.PodRef{Namespace: "ns", Name: "web"}) }, preemption.Cancel},
		"the preemptor runs":              {pod("web", func(p *preemption.Pod) { p.Node = "n2" }), preemption.Cancel},
		"the node is gone":                {func(pl *preemption.Planner) error { return pl.RemoveNode("n1") }, preemption.Replan},
		"the node is cordoned": {func(pl *preemption.Planner) error {
			return pl.SetNode(cluster.Node{Name: "n1", Unschedulable: true, Allocatable: preemption.Resources{cluster.CPU: 4000}})
		}, preemption.Replan},
		"the budget has less room":         {func(pl *preemption.Planner) error { b := twoNodes().Budgets[0]; b.Allowed = 0; return pl.SetBudget(b) }, preemption.Replan},
		"the preemptor fits by itself":     {func(pl *preemption.Planner) error { return pl.Remove(preemption.PodRef{Namespace: "ns", Name: "mid"}) }, preemption.Cancel},
		"something else changes elsewhere": {pod("mid", func(p *preemption.Pod) { p.Priority = prio(7) }), preemption.Keep},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pl, r := planned(t)
			require.NoError(t, c.change(pl))
			advice(t, pl, r, c.want)
			before := pl.Snapshot()
			err := pl.Apply(r)
			if c.want == preemption.Keep {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, preemption.ErrNotApplicable)
			if diff := gocmp.Diff(before, pl.Snapshot()); diff != "" {
				t.Fatalf("a result that is not valid changed the cluster (-before +after):\n%s", diff)
			}
		})
	}
}

// TestStillValidOfWhatIsGiven inline, not there or added as it was given; and of what is gone.
func TestStillValidOfWhatIsGiven(t *testing.T) {
	pl, r := planned(t)
	inline := pl.Snapshot().Pods[3]
	inline.Name, inline.Labels, inline.Requests = "inline", nil, preemption.Resources{cluster.CPU: 3000}
	require.Equal(t, "web", pl.Snapshot().Pods[3].Name)
	given, err := pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{inline}})
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, given.Verdict)
	advice(t, pl, given, preemption.Keep)
	inline.NominatedNode = given.Domain
	require.NoError(t, pl.SetPod(inline))
	advice(t, pl, given, preemption.Keep)
	require.NoError(t, pl.Apply(given))
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "web"}))
	v, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, preemption.Validity{Advice: preemption.Cancel, Reason: "the preemptor is gone or runs"}, v)
}

// TestAGatheringEvictsForAnyOfItsPods: whom the most important may, whichever is asked about first.
func TestAGatheringEvictsForAnyOfItsPods(t *testing.T) {
	s := twoNodes()
	s.Pods[3].Requests, s.Pods[0].Priority = preemption.Resources{cluster.CPU: 500}, prio(4)
	s.Pods[1].Requests = preemption.Resources{cluster.CPU: 3500}
	late := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "late"}
	for _, list := range [][]preemption.Preemptor{{web, late}, {late, web}} {
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		g := pl.Gather()
		for _, p := range list {
			_, err := g.Preempt(p)
			require.NoError(t, err)
		}
		plan, err := g.Plan()
		require.NoError(t, err)
		require.Len(t, plan.Victims, 1)
		advice(t, pl, plan, preemption.Keep)
	}
}

func TestAnswersThatAreNoPlansAreNotApplied(t *testing.T) {
	pl, _ := planned(t)
	r, err := pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "huge", Requests: preemption.Resources{cluster.CPU: 9000}}}})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.ErrorIs(t, pl.Apply(r), preemption.ErrNotApplicable)
	_, err = pl.StillValid(r)
	require.ErrorIs(t, err, preemption.ErrNotApplicable)
}

func TestChangesAreChecked(t *testing.T) {
	pl, _ := planned(t)
	before := pl.Snapshot()
	for _, err := range []error{
		pl.SetPod(preemption.Pod{Name: "p", Requests: preemption.Resources{cluster.CPU: -1}}),
		pl.SetNode(cluster.Node{}),
		pl.SetPodGroup(preemption.PodGroup{Name: "g", Basic: true, MinCount: prio(2)}),
		pl.SetCompositePodGroup(cluster.CompositePodGroup{Name: "c", Mode: "Some"}),
		pl.SetBudget(preemption.Budget{}),
		pl.RemoveNode("n9"), pl.Remove(preemption.PodRef{Name: "p9"}), pl.RemovePodGroup("ns", "g9"),
		pl.RemoveCompositePodGroup("ns", "c9"), pl.RemoveBudget("ns", "b9"), pl.RemovePriorityClass("x9"),
		pl.Bind(preemption.PodRef{Namespace: "ns", Name: "low"}, "n2"),
	} {
		var field *cluster.FieldError
		require.ErrorAs(t, err, &field)
	}
	require.Empty(t, gocmp.Diff(before, pl.Snapshot()))
}

// TestGroupsAboveWhatIsReadAreFollowed: a chain of composite groups may be longer than what a pod reads of it, beside pods further up.
func TestGroupsAboveWhatIsReadAreFollowed(t *testing.T) {
	one := int32(1)
	s := &preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 4}}},
		Pods:      []preemption.Pod{{Name: "a", Node: "n", Group: "g", Requests: preemption.Resources{"cpu": 4}}},
		PodGroups: []preemption.PodGroup{{Name: "g", Parent: "t1", MinCount: &one}},
	}
	for i := range 5 {
		s.CompositePodGroups = append(s.CompositePodGroups, cluster.CompositePodGroup{Name: fmt.Sprint("t", i), Parent: fmt.Sprint("t", i-1)})
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	high := int32(9)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "in", Priority: &high, Requests: preemption.Resources{"cpu": 1}}}}
	for _, change := range []cluster.CompositePodGroup{{Name: "t4", Parent: "t0"}, {Name: "t0", Mode: disruption.All}, {Name: "t2", Parent: "t4", Priority: &high}, {Name: "t1", Parent: "t2"}} {
		require.NoError(t, pl.SetCompositePodGroup(change))
		got, err := pl.Preempt(p)
		require.NoError(t, err)
		want, err := preemption.Preempt(p, pl.Snapshot())
		require.NoError(t, err)
		require.Equal(t, want.Victims, got.Victims, change.Name)
	}
}

func TestInlinePreemptorsAreAdopted(t *testing.T) {
	pl, _ := planned(t)
	r, err := pl.Preempt(preemption.Preemptor{
		Group: &preemption.PodGroup{Namespace: "ns", Name: "job", MinCount: prio(2), Priority: prio(20)},
		Pods: []preemption.Pod{
			{Namespace: "ns", Name: "j0", Priority: prio(20), Requests: preemption.Resources{cluster.CPU: 4000}},
			{Namespace: "ns", Name: "j1", Priority: prio(20), Requests: preemption.Resources{cluster.CPU: 4000}},
		},
	})
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.NoError(t, pl.Apply(r))
	job := preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "ns", Name: "job"}
	r, err = pl.Preempt(job)
	require.NoError(t, err)
	require.Equal(t, preemption.Waiting, r.Verdict)
	require.Len(t, r.Nominations, 2)
}

// gang is a group of two pods of which the second fits nowhere if big.
func gatherFrom(t *testing.T, cpu int64) (*preemption.Planner, *preemption.Gathering) {
	t.Helper()
	s := twoNodes()
	s.PodGroups = []preemption.PodGroup{{Namespace: "ns", Name: "job", MinCount: prio(2), Priority: prio(20)}}
	for i, cpu := range []int64{4000, cpu} {
		s.Pods = append(s.Pods, preemption.Pod{
			Namespace: "ns", Name: fmt.Sprintf("j%d", i), Group: "job", Priority: prio(20), Requests: preemption.Resources{cluster.CPU: cpu},
		})
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	return pl, pl.Gather()
}

func TestGatheringCollectsTheVictimsOfAllPods(t *testing.T) {
	pl, _ := gatherFrom(t, 4000)
	for i, p := range twoNodes().Pods[2:] {
		p.NominatedNode = twoNodes().Nodes[i].Name
		require.NoError(t, pl.SetPod(p))
	}
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "cannot be followed", Requests: preemption.Resources{"new": 1}}))
	g := pl.Gather()
	for _, name := range []string{"j0", "j1"} {
		r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: name})
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
	}
	plan, err := g.Plan()
	require.NoError(t, err)
	require.Len(t, plan.Victims, 2)
	require.Len(t, plan.Cleared, 2)
	require.NoError(t, pl.Apply(plan))
	advice(t, pl, plan, preemption.Keep)
}

func TestGatheringDropsEverythingWhenOnePodFails(t *testing.T) {
	pl, g := gatherFrom(t, 5000)
	before := pl.Snapshot()
	for name, want := range map[string]preemption.Verdict{"j0": preemption.Feasible, "j1": preemption.Infeasible} {
		r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: name})
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict)
	}
	_, err := g.Plan()
	require.ErrorIs(t, err, preemption.ErrGangFailed)
	require.Empty(t, gocmp.Diff(before, pl.Snapshot()))
}

// lives is the plain model of the table of states in lifecycle.go: what a planner of a few
// nodes and pods, which ask for cores alone, has to be.
type lives struct {
	now   int64
	cores map[string]int64 // by node that is there
	pods  map[string]plainPod

	planner *preemption.Planner
	results []*preemption.Result
}

// plainPod is one pod as the table sees it: pending without node or nominee.
type plainPod struct {
	cores, priority     int64
	node, nominee       string
	leaving             bool
	started, ran        int64 // 0: unknown, none
	evictions           int
	terminatesOtherwise bool
}

func (l *lives) free(node string) int64 {
	free := l.cores[node]
	for _, p := range l.pods {
		if p.node == node {
			free -= p.cores
		}
	}
	return free
}

// runs and waits are the two kinds of pods that a call may be about.
func (l *lives) runs(pod string) bool  { p, ok := l.pods[pod]; return ok && p.node != "" }
func (l *lives) waits(pod string) bool { p, ok := l.pods[pod]; return ok && p.node == "" }

// call makes a change that the table allows or forbids; then the model makes it, too.
func (l *lives) call(t *rapid.T, allowed bool, change func() error, model func()) {
	before := asJSON(t, l.planner.Snapshot())
	if err := change(); allowed {
		require.NoError(t, err)
		model()
		return
	} else {
		var field *cluster.FieldError
		require.ErrorAs(t, err, &field)
		require.Equal(t, before, asJSON(t, l.planner.Snapshot()), "after %v", err)
	}
}

// set changes one pod of the model.
func (l *lives) set(pod string, change func(p *plainPod)) func() {
	return func() {
		p := l.pods[pod]
		change(&p)
		l.pods[pod] = p
	}
}

// evict is what carrying out a result does to its victims.
func (l *lives) evict(r *preemption.Result, remove bool) {
	for _, v := range r.Victims {
		for _, ref := range v.Pods {
			if p := l.pods[ref.Name]; p.node != "" && remove {
				delete(l.pods, ref.Name)
			} else if p.node != "" {
				l.set(ref.Name, func(p *plainPod) { p.leaving = true })()
			}
		}
	}
}

// carryOut applies an answer: one that was just given is applied.
func (l *lives) carryOut(t *rapid.T, remove bool) {
	if len(l.results) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.results)-1).Draw(t, "result")
	r, before := l.results[i], asJSON(t, l.planner.Snapshot())
	v, validErr := l.planner.StillValid(r)
	apply := l.planner.Apply
	if remove {
		apply = l.planner.Evict
	}
	if err := apply(r); err != nil {
		require.ErrorIs(t, err, preemption.ErrNotApplicable)
		require.False(t, validErr == nil && v.Advice == preemption.Keep)
		require.Equal(t, before, asJSON(t, l.planner.Snapshot()))
		return
	}
	require.NotEmpty(t, r.Nominations)
	l.evict(r, remove)
	for _, ref := range r.Cleared {
		if l.waits(ref.Name) && l.pods[ref.Name].nominee == r.Nominations[0].Node {
			l.set(ref.Name, func(p *plainPod) { p.nominee = "" })()
		}
	}
	for _, n := range r.Nominations {
		require.True(t, l.waits(n.Pod.Name), "an answer is for who waits")
		l.set(n.Pod.Name, func(p *plainPod) { p.nominee = n.Node })()
	}
}

func (l *lives) actions() map[string]func(t *rapid.T) {
	pl := l.planner
	pod := func(t *rapid.T) (string, preemption.PodRef) {
		name := fmt.Sprint("p", rapid.IntRange(0, 6).Draw(t, "pod"))
		return name, preemption.PodRef{Name: name}
	}
	node := func(t *rapid.T) string { return fmt.Sprint("n", rapid.IntRange(0, 3).Draw(t, "node")) }
	return map[string]func(t *rapid.T){
		"Preempt": func(t *rapid.T) {
			if name, _ := pod(t); l.waits(name) {
				r, err := pl.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: name})
				require.NoError(t, err)
				if r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits {
					l.results = append(l.results, r)
				}
			}
		},
		"Apply": func(t *rapid.T) { l.carryOut(t, false) },
		"Evict": func(t *rapid.T) { l.carryOut(t, true) },
		"Bind": func(t *rapid.T) {
			name, ref := pod(t)
			to := node(t)
			_, there := l.cores[to]
			allowed := l.waits(name) && there && l.pods[name].cores <= l.free(to)
			l.call(t, allowed, func() error { return pl.Bind(ref, to) }, l.set(name, func(p *plainPod) {
				p.node, p.nominee, p.started = to, "", l.now
			}))
		},
		"Withdraw": func(t *rapid.T) {
			name, ref := pod(t)
			allowed := l.waits(name) && l.pods[name].nominee != ""
			l.call(t, allowed, func() error { return pl.Withdraw(ref) }, l.set(name, func(p *plainPod) { p.nominee = "" }))
		},
		"Spare": func(t *rapid.T) {
			name, ref := pod(t)
			l.call(t, l.pods[name].leaving, func() error { return pl.Spare(ref) }, l.set(name, func(p *plainPod) { p.leaving = false }))
		},
		"Requeue": func(t *rapid.T) {
			name, ref := pod(t)
			l.call(t, l.runs(name), func() error { return pl.Requeue(ref) }, l.set(name, func(p *plainPod) {
				if p.leaving {
					p.evictions, p.ran = p.evictions+1, max(0, l.now-p.started)
				}
				p.node, p.leaving, p.started = "", false, 0
			}))
		},
		"Remove": func(t *rapid.T) {
			name, ref := pod(t)
			_, there := l.pods[name]
			l.call(t, there, func() error { return pl.Remove(ref) }, func() { delete(l.pods, name) })
		},
		"RemoveNode": func(t *rapid.T) {
			name := node(t)
			_, there := l.cores[name]
			l.call(t, there, func() error { return pl.RemoveNode(name) }, func() { delete(l.cores, name) })
		},
		"RemoveNodeAndPods": func(t *rapid.T) {
			name := node(t)
			_, there := l.cores[name]
			var gone []string
			l.call(t, there, func() error {
				pods, err := pl.RemoveNodeAndPods(name)
				for _, p := range pods {
					gone = append(gone, p.Name)
				}
				return err
			}, func() {
				delete(l.cores, name)
				var want []string
				for _, p := range slices.Sorted(maps.Keys(l.pods)) {
					if l.pods[p].node == name {
						want = append(want, p)
						delete(l.pods, p)
					}
				}
				require.Equal(t, want, gone)
			})
		},
		"SetNode": func(t *rapid.T) {
			name, cores := node(t), rapid.Int64Range(1, 5).Draw(t, "cores")
			l.call(t, true, func() error {
				return pl.SetNode(preemption.Node{Name: name, Allocatable: preemption.Resources{cluster.CPU: cores}})
			}, func() { l.cores[name] = cores })
		},
		"SetPod": func(t *rapid.T) {
			name, _ := pod(t)
			p := plainPod{cores: rapid.Int64Range(1, 3).Draw(t, "cores"), priority: rapid.Int64Range(0, 3).Draw(t, "priority")}
			if rapid.Bool().Draw(t, "runs") {
				p.node, p.started = node(t), rapid.Int64Range(1, l.now).Draw(t, "started")
			}
			priority := int32(p.priority)
			set := preemption.Pod{
				Name: name, Node: p.node, Priority: &priority, Requests: preemption.Resources{cluster.CPU: p.cores},
			}
			if p.started > 0 {
				set.Started = time.Unix(p.started, 0)
			}
			l.call(t, true, func() error { return pl.SetPod(set) }, func() { l.pods[name] = p })
		},
		"SetTime": func(t *rapid.T) {
			l.now += rapid.Int64Range(0, 100).Draw(t, "seconds")
			require.NoError(t, pl.SetTime(time.Unix(l.now, 0)))
		},
		"": l.compare,
	}
}

// compare holds the planner against the model.
func (l *lives) compare(t *rapid.T) {
	got := map[string]plainPod{}
	require.NoError(t, l.planner.View(func(v preemption.View) {
		for p := range v.Pods() {
			one := plainPod{
				cores: p.Requests[cluster.CPU], priority: int64(*p.Priority), node: p.Node, nominee: p.NominatedNode,
				leaving: p.Preempted, ran: p.RanSeconds, evictions: len(p.Evictions), terminatesOtherwise: p.Terminating != p.Preempted,
			}
			if !p.Started.IsZero() {
				one.started = p.Started.Unix()
			}
			got[p.Name] = one
		}
		for name := range l.cores {
			require.Equal(t, l.free(name), v.Free(name)[cluster.CPU], "room on %s", name)
		}
	}))
	require.Equal(t, l.pods, got)
}

func statesAreThoseOfTheTable(t *rapid.T) {
	l := &lives{now: 1000, cores: map[string]int64{}, pods: map[string]plainPod{}}
	var err error
	l.planner, err = preemption.NewPlanner(&preemption.Snapshot{Time: time.Unix(l.now, 0)}, preemption.Options{})
	require.NoError(t, err)
	actions := l.actions()
	for i, name := range strings.Fields("SetNode SetPod SetPod Preempt Preempt Apply Apply Bind Bind") {
		actions[fmt.Sprint(name, " too ", i)] = actions[name]
	}
	t.Repeat(actions)
}

func TestStatesAreThoseOfTheTable(t *testing.T) { rapid.Check(t, statesAreThoseOfTheTable) }

func FuzzStatesAreThoseOfTheTable(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(statesAreThoseOfTheTable))
}

// TestBindNeedsRoom: of everything that a node has so much of.
func TestBindNeedsRoom(t *testing.T) {
	node := preemption.Node{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 4, cluster.Pods: 2}}
	runs := preemption.Pod{Name: "a", Node: "n", Requests: preemption.Resources{cluster.CPU: 1}, Ports: []cluster.HostPort{{Port: 80}}}
	for want, waits := range map[string]preemption.Pod{
		`(cpu short by 2)`:           {Requests: preemption.Resources{cluster.CPU: 5}},
		`(gpu short by 1)`:           {Requests: preemption.Resources{"gpu": 1}},
		`(host port 80/TCP)`:         {Ports: []cluster.HostPort{{Port: 81}, {Port: 80}}},
		``:                           {Requests: preemption.Resources{cluster.CPU: 3}},
		`(device nvidia/x: 1 whole)`: {Devices: []cluster.DeviceRequest{{Resource: "nvidia/x", Count: 1}}},
	} {
		waits.Name = "b"
		pl, err := preemption.NewPlanner(&preemption.Snapshot{Nodes: []preemption.Node{node}, Pods: []preemption.Pod{runs, waits}}, preemption.Options{})
		require.NoError(t, err)
		bind := func() error { return pl.Bind(preemption.PodRef{Name: "b"}, "n") }
		if want == "" {
			require.NoError(t, bind())
			require.NoError(t, pl.SetPod(preemption.Pod{Name: "c"}))
			full := refuses(t, pl, func() error { return pl.Bind(preemption.PodRef{Name: "c"}, "n") })
			require.EqualError(t, full, `cluster: Pod "c": Node: "n" is not a node with room for it (pods short by 1)`)
			continue
		}
		require.EqualError(t, refuses(t, pl, bind), `cluster: Pod "b": Node: "n" is not a node with room for it `+want)
	}
}

// history is a planner that changes.
type history struct {
	*preemption.Planner
	options preemption.Options // its own
	last    *preemption.Result
}

func asJSON(t require.TestingT, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// ask compares the answer of the planner with that of a fresh compile of its snapshot.
func (h *history) ask(t require.TestingT, p preemption.Preemptor) {
	want, wantErr := h.options.Preempt(p, h.Snapshot())
	got, err := h.Planner.Preempt(p)
	require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err))
	require.Empty(t, gocmp.Diff(want, got)) // to the last empty list
	short, err2 := h.Decide(p)
	require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
	if err == nil {
		require.Equal(t, got.Verdict, short.Verdict)
		require.Equal(t, got.Domain, short.Domain)
		require.Equal(t, got.Violations, short.Violations)
		h.last = got
	}
}

// TestQuestionsMayBeAskedDuringChanges is for the race detector.
func TestQuestionsMayBeAskedDuringChanges(t *testing.T) {
	s := gen.Fleet(30, 10, 1, gen.Uniform)
	s.Budgets = []preemption.Budget{{Namespace: s.Pods[0].Namespace, Name: "b", Selector: &disruption.Selector{}}}
	s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: s.Pods[0].Namespace, Name: "whole", Mode: disruption.All})
	for i := range s.Pods {
		if s.Pods[i].Namespace == s.Pods[0].Namespace && i%3 == 0 {
			s.Pods[i].Group, s.Pods[i].Priority = "whole", new(int32)
		}
	}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	p := gen.FleetPod(1)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 30 {
				_, err := pl.Preempt(p)
				require.NoError(t, err)
				require.NoError(t, pl.View(func(v preemption.View) {
					for pod := range v.Pods() {
						_ = v.Priority(preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name})
					}
				}))
				fork := pl.Fork()
				r, err := fork.Preempt(p)
				require.NoError(t, err)
				_ = fork.Evict(r)
			}
		})
	}
	wg.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			pod := s.Pods[random.IntN(len(s.Pods))]
			switch random.IntN(4) {
			case 0:
				_ = pl.Remove(preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name})
			case 1:
				b := s.Budgets[0]
				b.Allowed = int32(random.IntN(3))
				require.NoError(t, pl.SetBudget(b))
			default:
				require.NoError(t, pl.SetPod(pod))
			}
		}
	})
	wg.Wait()
	h := &history{Planner: pl}
	h.ask(t, p)
}

// TestChangesOfPodsAreFollowed: no question compiles the cluster anew.
func TestChangesOfPodsAreFollowed(t *testing.T) {
	s := gen.Fleet(30, 10, 1, gen.Uniform)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	p := gen.FleetPod(1)
	compiled := pl.Compiled()
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	for _, pod := range slices.Clone(s.Pods[:40]) {
		require.NoError(t, pl.Remove(preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name}))
		pod.Name += "-again"
		require.NoError(t, pl.SetPod(pod))
		pod.Name += "-pending"
		pod.Node = ""
		require.NoError(t, pl.SetPod(pod))
	}
	require.NoError(t, pl.SetBudget(preemption.Budget{Namespace: s.Pods[0].Namespace, Name: "b", Selector: &disruption.Selector{}}))
	node := s.Nodes[3]
	node.Unschedulable = true
	require.NoError(t, pl.SetNode(node))
	r, err = pl.Preempt(p)
	require.NoError(t, err)
	require.NoError(t, pl.Apply(r))
	(&history{Planner: pl}).ask(t, preemption.Preemptor{Kind: cluster.KindPod, Namespace: r.Preemptor.Namespace, Name: r.Preemptor.Name})
	require.Same(t, compiled, pl.Compiled())
}

// TestChangesOfNodesAreFollowed: no question compiles the cluster anew.
func TestChangesOfNodesAreFollowed(t *testing.T) {
	t.Parallel()
	s := gen.Fleet(100, 10, 1, gen.Uniform)
	gpu := cluster.Node{Name: "node-000001-gpu", Allocatable: preemption.Resources{"gpu": 8}, Devices: map[string]cluster.DevicePool{"device": {Count: 4, Capacity: 1}}}
	s.Nodes = append(s.Nodes, gpu)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	h, compiled := &history{Planner: pl}, pl.Compiled()
	p := gen.FleetPod(1)
	h.ask(t, p)
	for i, n := range slices.Clone(s.Nodes[:80]) {
		require.NoError(t, pl.RemoveNode(n.Name))
		h.ask(t, p)
		n.Name = []string{"a", "node-000050-", "z"}[i%3] + n.Name
		require.NoError(t, pl.SetNode(n))
		h.ask(t, p)
		if n.Name = s.Nodes[i].Name; i%2 == 0 { // and its pods are there
			n.Allocatable, n.Devices = preemption.Resources{cluster.CPU: 64_000, "gpu": 1}, gpu.Devices
			require.NoError(t, pl.SetNode(n))
			h.ask(t, p)
		}
	}
	require.Same(t, compiled, pl.Compiled())
}

// TestGroupsThatGoWholeAreFollowed: their pods come and go on several nodes.
func TestGroupsThatGoWholeAreFollowed(t *testing.T) {
	member := func(name, node string) preemption.Pod {
		return preemption.Pod{Namespace: "ns", Name: name, Group: "whole", Node: node, Requests: preemption.Resources{cluster.CPU: 1000}}
	}
	s := preemption.Snapshot{
		PodGroups: []preemption.PodGroup{{Namespace: "ns", Name: "whole", Mode: disruption.All, MinCount: prio(1), Priority: prio(0)}},
		Pods:      []preemption.Pod{member("b", "n1"), member("d", "n2")},
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Allocatable: preemption.Resources{cluster.CPU: 2000}})
	}
	s.Pods = append(s.Pods, preemption.Pod{Namespace: "ns", Name: "top", Node: "n3", Priority: prio(9000), Requests: preemption.Resources{cluster.CPU: 2000}})
	h := &history{options: preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}}}
	pl, err := preemption.NewPlanner(&s, h.options)
	require.NoError(t, err)
	h.Planner = pl
	compiled := pl.Compiled()
	web := preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "web", Priority: prio(100), Requests: preemption.Resources{cluster.CPU: 2000}}}}
	pods := func(want ...string) {
		t.Helper()
		h.ask(t, web)
		var got []string
		for _, v := range h.last.Victims {
			for _, p := range v.Pods {
				got = append(got, p.Name)
			}
		}
		require.Equal(t, want, got)
	}
	pods("b", "d")
	require.NoError(t, pl.SetPod(member("a", "n2")))
	pods("a", "b", "d")
	require.NoError(t, pl.SetPod(member("c", "n1")))
	group := s.PodGroups[0]
	group.Mode = disruption.Single
	require.NoError(t, pl.SetPodGroup(group))
	pods("b", "c")
	require.NoError(t, pl.RemovePodGroup("ns", "whole"))
	require.Error(t, pl.RemovePodGroup("ns", "whole"))
	pods("b", "c")
	require.NoError(t, pl.SetPodGroup(s.PodGroups[0]))
	pods("a", "b", "c", "d")
	require.NoError(t, pl.SetCompositePodGroup(cluster.CompositePodGroup{Namespace: "ns", Name: "above", Mode: disruption.All}))
	group = s.PodGroups[0]
	group.Parent = "above"
	require.NoError(t, pl.SetPodGroup(group))
	for fixed := range int64(3) { // what nobody is in costs, too
		require.NoError(t, pl.SetPodGroup(preemption.PodGroup{Namespace: "ns", Name: "empty", Parent: "above", Cost: &cluster.Cost{Fixed: 3 - fixed}}))
		pods("a", "b", "c", "d")
	}
	require.NoError(t, pl.RemovePodGroup("ns", "empty"))
	pods("a", "b", "c", "d")
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "a"}))
	pods("b", "c", "d")
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "b"}))
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "c"}))
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "d"}))
	pods()
	require.Same(t, compiled, pl.Compiled())
}

// TestALeaderThatLeavesIsMissed: the answer warns of it.
func TestALeaderThatLeavesIsMissed(t *testing.T) {
	s := preemption.Snapshot{
		PodGroups: []preemption.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: prio(1), Leader: "a"}},
		Pods:      []preemption.Pod{{Name: "a", Group: "g", Node: "n1"}, {Name: "b", Group: "g", Node: "n1"}},
		Nodes:     []cluster.Node{{Name: "n1"}},
	}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	h, web := &history{Planner: pl}, preemption.Preemptor{Pods: []preemption.Pod{{Name: "web"}}}
	h.ask(t, web)
	require.Empty(t, h.last.Warnings)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "a"}))
	h.ask(t, web)
	require.Len(t, h.last.Warnings, 1)
	require.NoError(t, pl.SetPod(s.Pods[0]))
	h.ask(t, web)
	require.Empty(t, h.last.Warnings)
}

// TestDevicesAreFollowed: pods that hold some come and go, and keep their node.
func TestDevicesAreFollowed(t *testing.T) {
	half := []cluster.DeviceRequest{{Resource: gpu, Fraction: 5}}
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Devices: map[string]cluster.DevicePool{gpu: {Count: 1, Capacity: 10}}}}}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	h, compiled := &history{Planner: pl}, pl.Compiled()
	web := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: prio(100), Devices: half, Tokens: []string{"lock"}}}}
	for _, step := range []struct {
		change func() error
		want   preemption.Verdict
	}{
		{func() error { return pl.SetPod(preemption.Pod{Name: "a", Node: "n1", Devices: half}) }, preemption.Fits},
		{func() error { return pl.SetPod(preemption.Pod{Name: "b", Node: "n1", Devices: half}) }, preemption.Feasible},
		{func() error { return pl.Remove(preemption.PodRef{Name: "a"}) }, preemption.Fits},
		{func() error { return pl.SetPod(preemption.Pod{Name: "a", Node: "n1", Tokens: []string{"lock"}}) }, preemption.Feasible},
		{func() error { n := s.Nodes[0]; n.Unschedulable = true; return pl.SetNode(n) }, preemption.Infeasible},
	} {
		require.NoError(t, step.change())
		h.ask(t, web)
		require.Equal(t, step.want, h.last.Verdict)
	}
	require.Same(t, compiled, pl.Compiled())
}

// TestWhatIsRememberedFollowsBudgetsAndClasses: a shape of pod that was asked about before is
// told what budgets allow now.
func TestWhatIsRememberedFollowsBudgetsAndClasses(t *testing.T) {
	s := twoNodes()
	s.Pods = append(s.Pods, preemption.Pod{Name: "promised", NominatedNode: "n1", Class: "k", Requests: cpus(4000)})
	s.PriorityClasses = []priority.Class{{Name: "k"}}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	h := &history{Planner: pl}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "p", Priority: prio(1000), Requests: preemption.Resources{cluster.CPU: 4000}}}}
	compiled := pl.Compiled()
	for _, allowed := range []int32{1, 0, 2, 0} {
		b := twoNodes().Budgets[0]
		b.Allowed = allowed
		require.NoError(t, pl.SetBudget(b))
		for i := range int32(6) {
			require.NoError(t, pl.SetPriorityClass(priority.Class{Name: "k", Value: i / 3 * 2000}))
			h.ask(t, p)
		}
	}
	require.Same(t, compiled, pl.Compiled())
}

// TestChangesAreFollowedUnderEveryOption: nor does a question compile anew where units are
// kept, ordered or priced, and time moves on.
func TestChangesAreFollowedUnderEveryOption(t *testing.T) {
	long := int64(3600)
	for name, o := range map[string]preemption.Options{
		"guards":     {Guards: victims.Guards{GuaranteedSeconds: 3600 * 900, Cooldown: victims.Cooldown{Evictions: 1, Seconds: 7200}}},
		"toleration": {Guards: victims.Guards{Toleration: priority.TolerationDesign}},
		"movable":    {PreferMovable: true},
		"prices":     {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1, Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}, Importance: true}},
		"apart":      {PreemptionPriority: preemption.PreemptionPriority{Apart: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gen.Fleet(20, 6, 1, gen.Uniform)
			pl, err := preemption.NewPlanner(&s, o)
			require.NoError(t, err)
			h, compiled, p := &history{Planner: pl, options: o}, pl.Compiled(), gen.FleetPod(1)
			for i := range 12 {
				pod := s.Pods[6*i] // one of each node
				node := pod.Node
				ref := preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name}
				require.NoError(t, pl.Remove(ref))
				pod.Class, pod.Started, pod.Node = []string{"", "gone"}[i%2], time.Time{}, ""
				pod.Guard = &cluster.Guard{GuaranteedSeconds: &long, Milestones: []cluster.Milestone{{Seconds: 10, Value: 50}}}
				pod.Evictions = []time.Time{s.Time}
				require.NoError(t, pl.SetPod(pod))
				require.NoError(t, pl.Bind(ref, node))
				h.ask(t, p)
				require.NoError(t, pl.SetTime(s.Time.Add(time.Duration(i*i)*time.Minute)))
				h.ask(t, p)
			}
			node := s.Nodes[3]
			node.Taints = []cluster.Taint{{Key: "full", Effect: cluster.NoSchedule}}
			require.NoError(t, pl.SetNode(node))
			h.ask(t, p)
			require.Same(t, compiled, pl.Compiled())
		})
	}
}

// TestBindBeginsNow: a pod starts when it is bound, unless somebody has said otherwise.
func TestBindBeginsNow(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, model := range []time.Time{{}, now} {
		pl, err := preemption.NewPlanner(&preemption.Snapshot{
			Time: model, Nodes: []cluster.Node{{Name: "n1"}}, Pods: []preemption.Pod{{Name: "a"}, {Name: "b", Started: now.Add(-time.Hour)}},
		}, preemption.Options{})
		require.NoError(t, err)
		require.NoError(t, pl.Bind(preemption.PodRef{Name: "a"}, "n1"))
		require.NoError(t, pl.Bind(preemption.PodRef{Name: "b"}, "n1"))
		got := pl.Snapshot().Pods
		require.Equal(t, model, got[0].Started)
		require.Equal(t, now.Add(-time.Hour), got[1].Started)
	}
}

// TestOddChangesAreAnsweredAsByAFreshPlanner: where groups come to stand beneath themselves, or what is set together makes no sense.
func TestOddChangesAreAnsweredAsByAFreshPlanner(t *testing.T) {
	composite := func(name, parent string) preemption.CompositePodGroup {
		return preemption.CompositePodGroup{Namespace: "ns", Name: name, Parent: parent, Mode: disruption.All}
	}
	for name, change := range map[string]func(pl *preemption.Planner) error{
		"a group is its own parent":         func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("a", "a")) },
		"a new group is its own parent":     func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("c", "c")) },
		"a group is beneath its child":      func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("a", "b")) },
		"a new group is beneath its child":  func(pl *preemption.Planner) error { return pl.SetCompositePodGroup(composite("top", "b")) },
		"a class rises above a pod's level": func(pl *preemption.Planner) error { return pl.SetPriorityClass(priority.Class{Name: "k", Value: 9}) },
		"pods of a node ask for too much":   func(pl *preemption.Planner) error { return pl.SetNode(preemption.Node{Name: "late"}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := twoNodes()
			s.CompositePodGroups = []preemption.CompositePodGroup{composite("a", "top"), composite("b", "a")}
			s.PodGroups = []preemption.PodGroup{{Namespace: "ns", Name: "g", Parent: "b", Priority: prio(1)}}
			s.Pods[0].Group = "g"
			s.PriorityClasses = []priority.Class{{Name: "k", Value: 3}}
			for i := range 2 {
				s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("large", i), Node: "late", Requests: preemption.Resources{cluster.CPU: math.MaxInt64}})
			}
			s.Pods = append(s.Pods, preemption.Pod{Name: "led", Class: "k", PreemptionPriority: prio(4)})
			pl, err := preemption.NewPlanner(s, preemption.Options{})
			require.NoError(t, err)
			_, err = pl.Preempt(web)
			require.NoError(t, err)
			changed := change(pl)
			want, wanted := preemption.Preempt(web, pl.Snapshot())
			got, err := pl.Preempt(web)
			require.Equal(t, fmt.Sprint(wanted), fmt.Sprint(err), changed)
			require.Equal(t, asJSON(t, want), asJSON(t, got))
		})
	}
}

// seen is everything that a View tells.
type seen struct {
	Time                            time.Time
	Nodes                           []preemption.Node
	Pods, Pending, Terminating      []preemption.Pod
	On, Nominated                   map[string][]preemption.Pod
	Free                            map[string]preemption.Resources
	Groups                          []preemption.PodGroup
	Members                         map[string][]preemption.Pod
	Priorities                      map[preemption.PodRef]int32
	Wholes                          map[preemption.PodRef]preemption.Preemptor
	Of                              map[preemption.PodRef][]preemption.PodRef // the pods of the whole
	Budgets                         []preemption.Budget
	NoPod, NoNode, NoGroup, Nowhere bool
}

func gather[T any](list iter.Seq[*T]) (out []T) {
	for range list { // who breaks off is told no more, or this panics
		break
	}
	for v := range list {
		out = append(out, *v)
	}
	return out
}

// look is what the planner's View tells of those whom s names.
func look(pl *preemption.Planner, s *preemption.Snapshot) (out seen, err error) {
	err = pl.View(func(v preemption.View) {
		out = seen{
			Time: v.Time(), Nodes: gather(v.Nodes()), Pods: gather(v.Pods()), Pending: gather(v.Pending()), Terminating: gather(v.Terminating()),
			On: map[string][]preemption.Pod{}, Nominated: map[string][]preemption.Pod{}, Free: map[string]preemption.Resources{},
			NoPod: v.Pod(preemption.PodRef{Name: "nobody"}) == nil, NoNode: v.Node("nowhere") == nil && v.Free("nowhere") == nil,
			Members: map[string][]preemption.Pod{}, Priorities: map[preemption.PodRef]int32{}, Budgets: gather(v.Budgets()),
			Wholes: map[preemption.PodRef]preemption.Preemptor{}, Of: map[preemption.PodRef][]preemption.PodRef{},
			NoGroup: v.PodGroup("", "nobody") == nil && v.Members("", "nobody") != nil && v.Priority(preemption.PodRef{Name: "nobody"}) == 0, Nowhere: len(gather(v.PodsOn("nowhere")))+len(gather(v.NominatedTo("nowhere"))) == 0,
		}
		for _, n := range s.Nodes {
			out.On[n.Name], out.Nominated[n.Name], out.Free[n.Name] = gather(v.PodsOn(n.Name)), gather(v.NominatedTo(n.Name)), v.Free(n.Name)
		}
		for _, g := range s.PodGroups {
			out.Groups = append(out.Groups, *v.PodGroup(g.Namespace, g.Name))
			out.Members[g.Namespace+"/"+g.Name] = gather(v.Members(g.Namespace, g.Name))
		}
		for i, n := range out.Nodes {
			out.Nodes[i] = *v.Node(n.Name)
		}
		for i, p := range out.Pods {
			ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
			out.Pods[i], out.Priorities[ref], out.Wholes[ref] = *v.Pod(ref), v.Priority(ref), v.Whole(ref)
			for member := range v.PodsOf(out.Wholes[ref]) {
				out.Of[ref] = append(out.Of[ref], preemption.PodRef{Namespace: member.Namespace, Name: member.Name})
			}
		}
	})
	return out, err
}

// wholeOf is whom to ask about for p to run, under rules that know composite groups or do not.
func wholeOf(s *preemption.Snapshot, p *preemption.Pod, composites bool) preemption.Preemptor {
	of := preemption.Preemptor{Kind: preemption.KindPod, Namespace: p.Namespace, Name: p.Name}
	i := slices.IndexFunc(s.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == p.Namespace && g.Name == p.Group })
	if i < 0 {
		return of
	}
	of.Kind, of.Name = preemption.KindPodGroup, p.Group
	parent := s.PodGroups[i].Parent
	for range cluster.MaxTreeDepth - 1 {
		i := slices.IndexFunc(s.CompositePodGroups, func(g preemption.CompositePodGroup) bool { return g.Namespace == p.Namespace && g.Name == parent })
		if i < 0 || !composites || onCycle(s, p.Namespace, parent) {
			break
		}
		of.Kind, of.Name, parent = preemption.KindCompositePodGroup, parent, s.CompositePodGroups[i].Parent
	}
	return of
}

// onCycle reports whether a composite group is above itself.
func onCycle(s *preemption.Snapshot, namespace, name string) bool {
	at := name
	for range len(s.CompositePodGroups) {
		i := slices.IndexFunc(s.CompositePodGroups, func(g preemption.CompositePodGroup) bool { return g.Namespace == namespace && g.Name == at })
		if i < 0 {
			return false
		}
		if at = s.CompositePodGroups[i].Parent; at == name {
			return true
		}
	}
	return false
}

// read is what look has to tell, read from a snapshot.
func read(s *preemption.Snapshot, composites bool) seen {
	out := seen{
		Time: s.Time, Nodes: append([]preemption.Node(nil), s.Nodes...), Pods: append([]preemption.Pod(nil), s.Pods...),
		Groups: append([]preemption.PodGroup(nil), s.PodGroups...), Budgets: append([]preemption.Budget(nil), s.Budgets...),
		Members: map[string][]preemption.Pod{}, Priorities: map[preemption.PodRef]int32{},
		Wholes: map[preemption.PodRef]preemption.Preemptor{}, Of: map[preemption.PodRef][]preemption.PodRef{}, NoPod: true, NoNode: true, NoGroup: true, Nowhere: true,
	}
	slices.SortFunc(out.Nodes, func(a, b preemption.Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(out.Pods, func(a, b preemption.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out.On, out.Nominated, out.Free = map[string][]preemption.Pod{}, map[string][]preemption.Pod{}, map[string]preemption.Resources{}
	for _, n := range out.Nodes {
		free := maps.Clone(n.Allocatable)
		if free == nil {
			free = preemption.Resources{}
		}
		var on, nominated []preemption.Pod
		for _, p := range out.Pods {
			switch {
			case p.Node == n.Name:
				on = append(on, p)
				for name, amount := range p.Requests {
					if free[name] -= amount; free[name] == 0 && n.Allocatable[name] == 0 {
						if _, offered := n.Allocatable[name]; !offered {
							delete(free, name)
						}
					}
				}
				if _, counted := n.Allocatable[cluster.Pods]; counted {
					free[cluster.Pods]--
				}
			case p.Node == "" && p.NominatedNode == n.Name:
				nominated = append(nominated, p)
			}
		}
		out.On[n.Name], out.Nominated[n.Name], out.Free[n.Name] = on, nominated, free
	}
	for _, g := range out.Groups {
		var members []preemption.Pod
		for _, p := range out.Pods {
			if p.Namespace == g.Namespace && p.Group == g.Name {
				members = append(members, p)
			}
		}
		out.Members[g.Namespace+"/"+g.Name] = members
	}
	defer func() {
		for ref, of := range out.Wholes {
			for _, p := range out.Pods {
				if other := (preemption.PodRef{Namespace: p.Namespace, Name: p.Name}); reflect.DeepEqual(out.Wholes[other], of) {
					out.Of[ref] = append(out.Of[ref], other)
				}
			}
		}
	}()
	classes, err := priority.NewClasses(s.PriorityClasses)
	if err != nil {
		panic(err)
	}
	for _, p := range out.Pods {
		resolved, _ := classes.Resolve(priority.Spec{Class: p.Class, Priority: p.Priority, Policy: p.Policy}) // an unknown class: what it has
		ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
		out.Priorities[ref], out.Wholes[ref] = resolved.Priority, wholeOf(s, &p, composites)
		if p.Node == "" {
			out.Pending = append(out.Pending, p)
		}
		if p.Terminating {
			out.Terminating = append(out.Terminating, p)
		}
	}
	return out
}

// View shows one moment, also to a reader who changes the planner while he looks, and
// while others do.
func TestViewShowsOneMoment(t *testing.T) {
	pod := preemption.Pod{Name: "p", Requests: preemption.Resources{cluster.CPU: 1}}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 2}}}, Pods: []preemption.Pod{pod},
	}, preemption.Options{})
	require.NoError(t, err)
	ref := preemption.PodRef{Name: "p"}
	require.NoError(t, pl.View(func(v preemption.View) {
		require.NoError(t, pl.Bind(ref, "n1"))
		require.Len(t, gather(v.Pending()), 1, "as it was when the look began")
		require.NoError(t, pl.View(func(v preemption.View) {
			require.Equal(t, preemption.Resources{cluster.CPU: 1}, v.Free("n1"))
			require.Len(t, gather(v.PodsOn("n1")), 1)
		}))
	}))

	var changes sync.WaitGroup
	changes.Go(func() {
		for range 200 {
			_ = errors.Join(pl.Remove(ref), pl.SetPod(pod), pl.Bind(ref, "n1")) // each moment has the pod on n1, pending, or not at all
		}
	})
	for range 200 {
		require.NoError(t, pl.View(func(v preemption.View) {
			on, used := len(gather(v.PodsOn("n1"))), 2-v.Free("n1")[cluster.CPU]
			require.EqualValues(t, on, used)
			require.Equal(t, len(gather(v.Pods())), on+len(gather(v.Pending())))
		}))
	}
	changes.Wait()
}

func ExamplePlanner_View() {
	two := preemption.Resources{cluster.CPU: 2000}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4000}}},
		Pods:  []preemption.Pod{{Name: "batch", Node: "n1", Requests: two}, {Name: "web", Requests: two}},
	}, preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = planner.View(func(v preemption.View) {
		for pod := range v.Pending() {
			fmt.Println(pod.Name, "waits;", v.Free("n1")[cluster.CPU], "milli-CPU of n1 are free")
		}
		for pod := range v.PodsOn("n1") {
			fmt.Println(pod.Name, "runs on n1")
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// web waits; 2000 milli-CPU of n1 are free
	// batch runs on n1
}

// TestForksOfWhatCannotBeFollowed are independent: of a planner that refuses what is odd until nothing is.
func TestForksOfWhatCannotBeFollowed(t *testing.T) {
	pl, err := preemption.NewPlanner(twoNodes(), preemption.Options{Strict: true})
	require.NoError(t, err)
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "lost", Node: "none"}))
	_, err = pl.Preempt(web)
	require.Error(t, err)
	before := pl.Snapshot()
	f := pl.Fork()
	require.NoError(t, f.SetPod(preemption.Pod{Name: "new"}))
	require.NoError(t, f.Remove(preemption.PodRef{Name: "lost"}))
	require.Equal(t, before, pl.Snapshot())
	_, err = f.Preempt(web)
	require.NoError(t, err)
}
