package preemption_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
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
			require.Empty(t, cmp.Diff(r, then))
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
	if diff := cmp.Diff(r, same); diff != "" {
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
			if diff := cmp.Diff(before, pl.Snapshot()); diff != "" {
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
	require.Empty(t, cmp.Diff(before, pl.Snapshot()))
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
	require.Empty(t, cmp.Diff(before, pl.Snapshot()))
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
