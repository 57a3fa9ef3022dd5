package preemption_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

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
	pl, g := gatherFrom(t, 4000)
	for _, name := range []string{"j0", "j1"} {
		r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: name})
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
	}
	plan, err := g.Plan()
	require.NoError(t, err)
	require.Len(t, plan.Victims, 2)
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
