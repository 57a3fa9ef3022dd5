package preemption_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestWhatIsAnsweredInlineCanBeApplied: what a cluster may not have is refused when it is asked about, not when it is
// to come, or after that.
func TestWhatIsAnsweredInlineCanBeApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.AnyProfile(t)
		p.Queues, p.Extremes, p.Guards, p.Odd = false, false, true, true // extremes: sums beyond an int64 are seen once pods are nominated
		m, q := gen.NewMaker(t, p)
		o := genopts.Any().Draw(t, "options")
		o.Hooks, o.Sampling = nil, nil
		o.PreemptionPriority.MaxLead = int32(m.N(2000))
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		if err != nil {
			t.SkipNow()
		}
		for range 10 {
			asked := m.Preemptor()
			asked.Placement = nil
			if len(asked.Pods) == 0 {
				continue
			}
			fork := pl.Fork()
			r, err := fork.Preempt(asked)
			if err != nil || r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
				continue
			}
			t.Logf("options %v, snapshot %v, asked %v", told{o}, told{q.Snapshot}, told{asked})
			require.NoError(t, fork.Apply(r))
			_, err = fork.StillValid(r)
			require.NoError(t, err)
		}
	})
}

func TestWhatAClusterMayNotHaveIsRefusedInline(t *testing.T) {
	lead, two := prio(30), int32(2)
	pod := func(name string, guard *cluster.Guard) preemption.Pod {
		return preemption.Pod{Namespace: "ns", Name: name, Priority: prio(10), Guard: guard}
	}
	climbs := &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 5, Value: 16}}}
	bounded := preemption.Options{PreemptionPriority: preemption.PreemptionPriority{MaxLead: 5}}
	for name, c := range map[string]struct {
		options preemption.Options
		asked   preemption.Preemptor
		want    string
	}{
		"a milestone": {
			bounded, preemption.Preemptor{Pods: []preemption.Pod{pod("p", climbs)}},
			`cluster: Pod "ns/p": Guard.Milestones[0].Value: 16 is not at most 5 above the priority 10`,
		},
		"a group's lead": {
			bounded, preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Priority: prio(10), PreemptionPriority: lead}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": PreemptionPriority: 30 is not at most 5 above the priority 10`,
		},
		"less than the priority": {
			preemption.Options{}, preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: prio(10), PreemptionPriority: prio(9)}}},
			`cluster: Pod "p": PreemptionPriority: 9 is not >= the priority 10`,
		},
		"all of a basic group": {
			preemption.Options{Rules: preemption.KEP5710Alpha},
			preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Mode: preemption.All}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": Mode: All is not Single: the group is basic`,
		},
		"odd, under Strict": {
			preemption.Options{Strict: true},
			preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Priority: prio(10), MinCount: &two}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": MinCount: 2 is not accepted under Strict (the group has 1 pods)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := preemption.NewPlanner(twoNodes(), c.options)
			require.NoError(t, err)
			_, err1 := pl.Preempt(c.asked)
			_, err2 := pl.Decide(c.asked)
			_, err3 := pl.PreemptAll([]preemption.Preemptor{c.asked})
			_, err4 := pl.WhyNot(c.asked, preemption.NodeTarget("n1"))
			_, err5 := pl.Park(c.asked)
			for _, err := range []error{err1, err2, err3, err4, err5} {
				require.ErrorContains(t, err, c.want)
				var field *cluster.FieldError
				require.ErrorAs(t, err, &field)
			}
		})
	}
}

// TestAGivenPlacementGoesWithTheAnswer: what a named group was asked about is asked again, not where
// else it might go; also of an answer from JSON, and once a member runs.
func TestAGivenPlacementGoesWithTheAnswer(t *testing.T) {
	zero, high := int32(0), int32(1000)
	for _, namespace := range []string{"", "default"} {
		ref := func(name string) preemption.PodRef { return preemption.PodRef{Namespace: namespace, Name: name} }
		s := &preemption.Snapshot{
			Nodes:     []preemption.Node{{Name: "n0", Allocatable: cpus(2)}, {Name: "n1", Allocatable: cpus(2)}},
			PodGroups: []preemption.PodGroup{{Namespace: namespace, Name: "gang", Basic: true, Priority: &high}},
		}
		for _, name := range []string{"v0", "v1"} {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: namespace, Name: name, Node: "n0", Priority: &zero, Requests: cpus(1)})
		}
		asks := preemption.Preemptor{Kind: preemption.KindPodGroup, Namespace: namespace, Name: "gang", Placement: map[string]string{}}
		for _, name := range []string{"m0", "m1"} {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: namespace, Name: name, Group: "gang", Priority: &high, Requests: cpus(1)})
			asks.Placement[strings.TrimPrefix(namespace+"/"+name, "/")] = "n0"
		}
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		r, err := pl.Preempt(asks)
		require.NoError(t, err)
		require.Len(t, r.Victims, 2)
		text, err := json.Marshal(r)
		require.NoError(t, err)
		read := &preemption.Result{}
		require.NoError(t, json.Unmarshal(text, read))
		for _, r := range []*preemption.Result{r, read} {
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Keep, v.Advice, "%s", v.Reason)
			fork := pl.Fork()
			require.NoError(t, fork.Apply(r))
			for _, name := range []string{"v0", "v1"} {
				require.NoError(t, fork.Remove(ref(name)))
			}
			require.NoError(t, fork.Bind(ref("m0"), "n0"))
			v, err = fork.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Cancel, v.Advice)
			require.Equal(t, "it fits without evicting anybody", v.Reason)
		}
	}
}
