package preemption_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// refuses expects a change that fails and leaves the planner as it was.
func refuses(t require.TestingT, pl *preemption.Planner, change func() error) error {
	before := asJSON(t, pl.Snapshot())
	err := change()
	require.Error(t, err)
	require.Equal(t, before, asJSON(t, pl.Snapshot()), "after %v", err)
	return err
}

// TestAPreemptorThatCannotAskAnyMoreCancels: its group, composite group or class is gone.
func TestAPreemptorThatCannotAskAnyMoreCancels(t *testing.T) {
	start := func() *preemption.Snapshot {
		return &preemption.Snapshot{
			Nodes:              []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1}}},
			PriorityClasses:    []preemption.PriorityClass{{Name: "high", Value: 10}},
			PodGroups:          []preemption.PodGroup{{Name: "g", Priority: prio(10), MinCount: prio(1), Parent: "c"}},
			CompositePodGroups: []cluster.CompositePodGroup{{Name: "c", Priority: prio(10)}},
			Pods: []preemption.Pod{
				{Name: "low", Node: "n1", Priority: prio(0), Requests: preemption.Resources{cluster.CPU: 1}},
				{Name: "g1", Group: "g", Requests: preemption.Resources{cluster.CPU: 1}},
				{Name: "web", Class: "high", Requests: preemption.Resources{cluster.CPU: 1}},
			},
		}
	}
	ungrouped := func() *preemption.Snapshot {
		s := start()
		s.PodGroups[0].Parent, s.CompositePodGroups = "", nil
		return s
	}
	for name, c := range map[string]struct {
		snapshot *preemption.Snapshot
		asks     preemption.Preemptor
		change   func(pl *preemption.Planner) error
		why      string
	}{
		"group": {
			ungrouped(), preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "g"},
			func(pl *preemption.Planner) error { return pl.RemovePodGroup("", "g") },
			`it cannot be asked again: cluster: Preemptor "g": Name: "g" is not a PodGroup of the snapshot`,
		},
		"composite group": {
			start(), preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Name: "c"},
			func(pl *preemption.Planner) error { return pl.RemoveCompositePodGroup("", "c") },
			`it cannot be asked again: cluster: Preemptor "c": Name: "c" is not a CompositePodGroup of the snapshot`,
		},
		"class": {
			start(), preemption.Preemptor{Kind: cluster.KindPod, Name: "web"},
			func(pl *preemption.Planner) error { return pl.RemovePriorityClass("high") },
			`it cannot be asked again: cluster: Pod "web": Class: "high" is not a priority class of the snapshot`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := preemption.NewPlanner(c.snapshot, preemption.Options{})
			require.NoError(t, err)
			r, err := pl.Preempt(c.asks)
			require.NoError(t, err)
			require.Equal(t, preemption.Feasible, r.Verdict)
			require.NoError(t, c.change(pl))
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Validity{Advice: preemption.Cancel, Reason: c.why}, v)
			require.ErrorIs(t, refuses(t, pl, func() error { return pl.Apply(r) }), preemption.ErrNotApplicable)
		})
	}
}

// apart is two nodes of one core with a pod each, and two pods that may go to one of them
// each; one pod may be evicted within the window.
func apart(t *testing.T) (pl *preemption.Planner, r1, r2 *preemption.Result) {
	s := &preemption.Snapshot{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, n := range []string{"1", "2"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: "n" + n, Allocatable: preemption.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods,
			preemption.Pod{Name: "v" + n, Node: "n" + n, Priority: prio(0), Requests: preemption.Resources{cluster.CPU: 1}},
			preemption.Pod{Name: "w" + n, RequiredNode: "n" + n, Priority: prio(10), Requests: preemption.Resources{cluster.CPU: 1}})
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 100, Pods: 1}}})
	require.NoError(t, err)
	var results []*preemption.Result
	for _, name := range []string{"w1", "w2"} {
		r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: name})
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		results = append(results, r)
	}
	return pl, results[0], results[1]
}

func TestTheWindowIsLookedAtAgain(t *testing.T) {
	pl, r1, r2 := apart(t)
	require.NoError(t, pl.Apply(r1))
	v, err := pl.StillValid(r2)
	require.NoError(t, err)
	require.Equal(t, preemption.Validity{Advice: preemption.Replan, Reason: "it evicts more than pods in the window allows: 1 of 0"}, v)
	require.ErrorIs(t, refuses(t, pl, func() error { return pl.Apply(r2) }), preemption.ErrNotApplicable)
	pl.SetTime(pl.Snapshot().Time.Add(100 * time.Second))
	require.NoError(t, pl.Apply(r2))
}

// TestWhoHasBeenToldToGoIsCountedOnce: in the window, and by a budget that has counted him since.
func TestWhoHasBeenToldToGoIsCountedOnce(t *testing.T) {
	pod := func(name, node string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{cluster.CPU: cpu}}
	}
	s := &preemption.Snapshot{
		Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Nodes: []cluster.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 2}}},
		Budgets: []preemption.Budget{{Name: "all", Selector: &preemption.Selector{}, Allowed: 2}},
		Pods:    []preemption.Pod{pod("a", "n", 0, 1), pod("b", "n", 0, 1), pod("w", "", 9, 2)},
	}
	o := preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 100, Pods: 2}}}
	r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "w"}, s)
	require.NoError(t, err)
	require.Len(t, r.Victims, 2)
	s.Pods[0].Terminating, s.Pods[0].Preempted = true, true
	s.Disruptions = []cluster.Disruption{{Time: s.Time, Victims: 1, Pods: 1}}
	for allowed, want := range map[int32]preemption.Advice{1: preemption.Keep, 0: preemption.Replan} {
		s.Budgets[0].Allowed = allowed
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		advice(t, pl, r, want)
		if want == preemption.Keep {
			require.NoError(t, pl.Apply(r))
			require.EqualValues(t, 1, pl.Snapshot().Disruptions[1].Pods)
		}
	}
}

// TestAPodIsNotedOnce: however often the answer that evicts it is applied.
func TestAPodIsNotedOnce(t *testing.T) {
	pl, r1, _ := apart(t)
	require.NoError(t, pl.Apply(r1))
	noted := pl.Snapshot().Disruptions
	require.Len(t, noted, 1)
	require.NoError(t, pl.Apply(r1))
	require.NoError(t, pl.Evict(r1))
	require.Equal(t, noted, pl.Snapshot().Disruptions)
	require.NoError(t, pl.Bind(preemption.PodRef{Name: "w1"}, "n1"))
}

// TestHardBudgetsAreLookedAtAgain: what is still to be evicted keeps within them.
func TestHardBudgetsAreLookedAtAgain(t *testing.T) {
	pl, err := preemption.NewPlanner(twoNodes(), preemption.Options{HardBudgets: preemption.HardBudgets{All: true}})
	require.NoError(t, err)
	r, err := pl.Preempt(web)
	require.NoError(t, err)
	require.NotEmpty(t, r.Budgets)
	r.Budgets = nil // as if nothing had been counted on
	b := twoNodes().Budgets[0]
	b.Allowed = 0
	require.NoError(t, pl.SetBudget(b))
	v, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, preemption.Validity{Advice: preemption.Replan, Reason: "it evicts more than ns/low-budget allows: 1 of 0"}, v)
	b.Selector = &preemption.Selector{MatchLabels: map[string]string{"a": "b"}}
	require.NoError(t, pl.SetBudget(b))
	require.Equal(t, b, pl.Snapshot().Budgets[0])
}

// TestAGangIsCarriedOutPodByPod: what runs where it was to go is done.
func TestAGangIsCarriedOutPodByPod(t *testing.T) {
	pl, _ := planned(t)
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "job", MinCount: prio(2), Priority: prio(20)}}
	for _, name := range []string{"j0", "j1"} {
		gang.Pods = append(gang.Pods, preemption.Pod{Namespace: "ns", Name: name, Priority: prio(20), Requests: preemption.Resources{cluster.CPU: 4000}})
	}
	r, err := pl.Preempt(gang)
	require.NoError(t, err)
	require.Len(t, r.Victims, 2)
	require.NoError(t, pl.Apply(r))
	for _, v := range r.Victims {
		advice(t, pl, r, preemption.Keep)
		ref := v.Pods[0]
		require.NoError(t, pl.Remove(ref.PodRef))
		for _, n := range r.Nominations {
			if n.Node == ref.Node {
				require.NoError(t, pl.Bind(n.Pod, n.Node))
			}
		}
	}
	advice(t, pl, r, preemption.Cancel)
}

// TestWhoWaitsAgainIsNotEvictedAgain: a victim that has left and was resubmitted.
func TestWhoWaitsAgainIsNotEvictedAgain(t *testing.T) {
	pl, err := preemption.NewPlanner(twoNodes(), preemption.Options{})
	require.NoError(t, err)
	r, err := pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{
		Namespace: "ns", Name: "two", Priority: prio(10), RequiredNode: "n1", Requests: preemption.Resources{cluster.CPU: 4000},
	}}})
	require.NoError(t, err)
	require.NoError(t, pl.SetPod(preemption.Pod{Namespace: "ns", Name: "late", Node: "n1", Priority: prio(2), Requests: preemption.Resources{cluster.CPU: 500}}))
	r, err = pl.Preempt(preemption.Preemptor{Pods: r.Preemptor.Inline.Pods})
	require.NoError(t, err)
	require.Len(t, r.Victims, 2)
	low := twoNodes().Pods[0]
	low.Node = ""
	require.NoError(t, pl.SetPod(low))
	require.NoError(t, pl.Evict(r))
	for _, p := range pl.Snapshot().Pods {
		require.False(t, p.Terminating)
		if p.Name == "low" {
			return
		}
	}
	t.Fatal("low waits, and was removed")
}

// TestAnInlinePreemptorTakesThePlaceOfItsName: a pending pod of the same name was nominated to
// the same node, and its nomination is withdrawn.
func TestAnInlinePreemptorTakesThePlaceOfItsName(t *testing.T) {
	pl, _ := planned(t)
	late := twoNodes().Pods[3]
	late.NominatedNode = "n1"
	require.NoError(t, pl.SetPod(late))
	late.NominatedNode, late.Priority = "", prio(10)
	r, err := pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{late}})
	require.NoError(t, err)
	require.Equal(t, "n1", r.Domain)
	require.NotEmpty(t, r.Cleared)
	require.NoError(t, pl.Apply(r))
	for _, p := range pl.Snapshot().Pods {
		if p.Name == "late" {
			require.Equal(t, "n1", p.NominatedNode)
			require.Equal(t, late.Priority, p.Priority)
		}
	}
}

// TestNomineesOfOtherNodesStay: who was nominated elsewhere since the plan keeps that.
func TestNomineesOfOtherNodesStay(t *testing.T) {
	pl, _ := planned(t)
	late := twoNodes().Pods[3]
	late.NominatedNode = "n1"
	require.NoError(t, pl.SetPod(late))
	r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"})
	require.NoError(t, err)
	require.NotEmpty(t, r.Cleared)
	late.NominatedNode = "n2"
	require.NoError(t, pl.SetPod(late))
	require.NoError(t, pl.Apply(r))
	require.Contains(t, pl.Snapshot().Pods, late)
}

// TestPoliciesAreLookedAtAgain: who may not evict any more evicts nobody.
func TestPoliciesAreLookedAtAgain(t *testing.T) {
	pl, r := planned(t)
	pod := twoNodes().Pods[2]
	pod.Policy = "Never"
	require.NoError(t, pl.SetPod(pod))
	v, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, preemption.Validity{Advice: preemption.Replan, Reason: "its preemption policy is Never"}, v)
}

func TestBindTellsWhatIsWrong(t *testing.T) {
	live, _ := planned(t)
	changed, _ := planned(t)
	require.NoError(t, changed.SetNamespace(cluster.Namespace{Name: "ns"})) // it will be compiled anew
	for want, c := range map[string][2]string{
		`cluster: Pod "ns/web": Node: "n9" is not a node of the planner's cluster`: {"web", "n9"},
		`cluster: Pod "ns/web": Node: "" is not a node of the planner's cluster`:   {"web", ""},
		`cluster: Pod "ns/low": Node: "n1" is not empty: the pod runs already`:     {"low", "n2"},
		`cluster: Pod "ns/none": Name: "none" is not in the planner's cluster`:     {"none", "n1"},
	} {
		for _, pl := range []*preemption.Planner{live, changed} {
			bind := func() error { return pl.Bind(preemption.PodRef{Namespace: "ns", Name: c[0]}, c[1]) }
			require.EqualError(t, refuses(t, pl, bind), want)
		}
	}
}

// TestForgedAnswersAreRefused: answers about pods of which one field was changed, as if they
// came from a file.
func TestForgedAnswersAreRefused(t *testing.T) {
	victim := func(r *preemption.Result) *preemption.Victim { return &r.Victims[0] }
	for want, forge := range map[string]func(r *preemption.Result){
		`the verdict is "maybe"`: func(r *preemption.Result) { r.Verdict = "maybe" },
		`the verdict is "aaaa`:   func(r *preemption.Result) { r.Verdict = preemption.Verdict(strings.Repeat("a", 1<<20)) },
		`Result "ns/web": Preemptor.Kind: "Job" is not Pod, PodGroup, CompositePodGroup or Workload`: func(r *preemption.Result) { r.Preemptor.Kind = "Job" },
		`Preemptor.Name: "" is not a name, or Gathered given`:                                        func(r *preemption.Result) { r.Preemptor.Name = "" },
		`Nominations: 0 nominations is not one for each pod of the preemptor`:                        func(r *preemption.Result) { r.Nominations = nil },
		`Nominations: 2 nominations is not one for each pod of the preemptor`: func(r *preemption.Result) {
			r.Nominations = append(r.Nominations, r.Nominations[0])
		},
		`Nominations[0].Pod: "ns/late" is not a pod of the preemptor`:     func(r *preemption.Result) { r.Nominations[0].Pod.Name = "late" },
		`Nominations[0].Node: "" is not the name of a node`:               func(r *preemption.Result) { r.Nominations[0].Node = "" },
		`replan: node n9 is gone`:                                         func(r *preemption.Result) { r.Nominations[0].Node = "n9" },
		`replan: ns/web does not fit any more`:                            func(r *preemption.Result) { r.Nominations[0].Node = "n2" },
		`Victims: 0 victims is not what goes with the verdict "feasible"`: func(r *preemption.Result) { r.Victims = nil },
		`Victims: 1 victim is not what goes with the verdict "fits without preemption"`: func(r *preemption.Result) {
			r.Verdict = preemption.Fits
		},
		`Victims[1].Pods[0]: "ns/low" is not evicted once`: func(r *preemption.Result) { r.Victims = append(r.Victims, r.Victims[0]) },
		`Victims[0].Pods[0]: "ns/web" is not nobody whom the answer nominates`: func(r *preemption.Result) {
			victim(r).Pods = []preemption.VictimPod{{PodRef: preemption.PodRef{Namespace: "ns", Name: "web"}, Node: "n1"}}
		},
		`Victims[0].Pods: none is not its pods`:                                      func(r *preemption.Result) { victim(r).Pods = nil },
		`Victims[0].Kind: "Job" is not Pod, PodGroup, CompositePodGroup or Workload`: func(r *preemption.Result) { victim(r).Kind = "Job" },
		`Victims[0].Kind: "Workload" is not Pod, PodGroup or CompositePodGroup, as it holds no quota`: func(r *preemption.Result) {
			victim(r).Kind = cluster.KindWorkload
		},
		`replan: ns/low runs elsewhere by now`: func(r *preemption.Result) { victim(r).Pods[0].Node = "n2" },
		`Victims[0].Quota: set is not absent, as the preemptor needs no quota`: func(r *preemption.Result) {
			victim(r).Quota = &preemption.QuotaVictim{}
		},
		`replan: it belongs to no queue by now`: func(r *preemption.Result) { r.Quota = &preemption.QuotaResult{ClusterQueue: "q"} },
		`Cleared: 1 pod is not absent, as the verdict is "fits `: func(r *preemption.Result) {
			r.Verdict, r.Victims, r.Cleared = preemption.Fits, nil, make([]preemption.PodRef, 1)
		},
		`replan: the nomination of ns/vip may not be withdrawn: it is not less important`: func(r *preemption.Result) { r.Cleared = []preemption.PodRef{{Namespace: "ns", Name: "vip"}} },
		`Preemptor.Gathered: 1 pod is not absent`: func(r *preemption.Result) {
			r.Preemptor = preemption.Asked{Kind: cluster.KindPodGroup, Gathered: []preemption.PodRef{{Namespace: "ns", Name: "web"}}}
		},
		`Preemptor.Gathered: 2 pods is not each pod once`: func(r *preemption.Result) {
			web := preemption.PodRef{Namespace: "ns", Name: "web"}
			r.Preemptor = preemption.Asked{Kind: cluster.KindPod, Gathered: []preemption.PodRef{web, web}}
		},
		`Preemptor.Name: "web" is not a name, or Gathered given`: func(r *preemption.Result) {
			r.Preemptor.Gathered = []preemption.PodRef{{Namespace: "ns", Name: "web"}}
		},
		`cluster: Preemptor: Name: "" is not a name, or Pods given`: func(r *preemption.Result) { r.Preemptor.Inline = &preemption.Preemptor{} },
		`Preemptor.Inline.Name: "web" is not empty`: func(r *preemption.Result) {
			r.Preemptor.Inline = &preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"}
		},
		`Preemptor.Inline: Pod "ns/other" is not that of the Pod`: func(r *preemption.Result) {
			r.Preemptor.Inline = &preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "other"}}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			pl, r := planned(t)
			require.NoError(t, pl.SetPod(preemption.Pod{Namespace: "ns", Name: "vip", NominatedNode: "n1", Priority: prio(10)}))
			refusesForged(t, pl, r, forge, want)
		})
	}
}

// refusesForged checks that pl carries r out as it is, after a trip through JSON too, and not
// once forge has changed it; want is in the errors.
func refusesForged(t *testing.T, pl *preemption.Planner, r *preemption.Result, forge func(*preemption.Result), want string) {
	t.Helper()
	var forged preemption.Result
	require.NoError(t, json.Unmarshal([]byte(asJSON(t, r)), &forged))
	require.NoError(t, pl.Fork().Apply(&forged), "after a trip through JSON")
	forge(&forged)
	for _, carryOut := range []func(*preemption.Result) error{pl.Apply, pl.Evict} {
		err := refuses(t, pl, func() error { return carryOut(&forged) })
		require.ErrorIs(t, err, preemption.ErrNotApplicable)
		require.ErrorContains(t, err, want)
		require.Less(t, len(err.Error()), 1_000)
	}
	if v, err := pl.StillValid(&forged); err != nil {
		require.ErrorIs(t, err, preemption.ErrNotApplicable)
	} else {
		require.NotEqual(t, preemption.Keep, v.Advice)
	}
	require.NoError(t, pl.Apply(r), "the planner is as it was")
}

// TestAnswersThatEvictPartOfAUnitAreRefused: a group of mode All goes whole, and an elastic
// one whole or by what it can do without, whoever says otherwise.
func TestAnswersThatEvictPartOfAUnitAreRefused(t *testing.T) {
	for _, mode := range []disruption.Mode{disruption.All, disruption.SurplusFirst} {
		s := twoNodes()
		s.PodGroups = []preemption.PodGroup{{Namespace: "ns", Name: "g", Mode: mode, MinCount: prio(2), Priority: prio(1)}}
		s.Pods[0].Group, s.Pods[1].Group = "g", "g"
		s.Pods[0].Priority, s.Pods[1].Priority = prio(1), prio(1)
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		r, err := pl.Preempt(web)
		require.NoError(t, err)
		require.Len(t, r.Victims[0].Pods, 2)
		r.Victims[0].Pods, r.Victims[0].Surplus = r.Victims[0].Pods[:1], true
		err = refuses(t, pl, func() error { return pl.Apply(r) })
		require.ErrorIs(t, err, preemption.ErrNotApplicable)
		require.ErrorContains(t, err, "goes with ns/g by now")
	}
}

// forged is r after a trip through JSON on which one field was changed; nil if that is no
// result any more.
func forged(t *rapid.T, m *gen.Maker, r *preemption.Result) *preemption.Result {
	var fields map[string]any
	if json.Unmarshal([]byte(asJSON(t, r)), &fields) != nil {
		return nil
	}
	for _, key := range []string{"score", "message", "stats", "candidates", "trace", "warnings", "rejected", "kept"} {
		delete(fields, key) // nobody reads them
	}
	forge(m, fields)
	var out preemption.Result
	if json.Unmarshal([]byte(asJSON(t, fields)), &out) != nil {
		return nil
	}
	return &out
}

// forge changes something in v and returns it.
func forge(m *gen.Maker, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
		key := gen.One(m, slices.Sorted(maps.Keys(v)))
		if m.N(6) == 5 {
			delete(v, key)
		} else {
			v[key] = forge(m, v[key])
		}
		return v
	case []any:
		if len(v) == 0 {
			return nil
		}
		i := m.N(len(v))
		switch m.N(6) {
		case 0:
			return slices.Delete(v, i, i+1)
		case 1:
			return append(v, v[i])
		}
		v[i] = forge(m, v[i])
		return v
	case string:
		return gen.One(m, []string{"", "nobody", "n0", "n1", "Pod", "PodGroup", "Workload", "feasible", "fits without preemption", v + "x"})
	case float64:
		return gen.One(m, []float64{-1, 0, v + 1, 1 << 31, -1 << 31})
	case bool:
		return !v
	}
	return "something"
}

// evicted lists the pods that run in before and in after have been told to go, or have left.
func evicted(before, after *preemption.Snapshot) []preemption.Pod {
	stay := map[preemption.PodRef]bool{}
	for _, p := range after.Pods {
		stay[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] = p.Node != "" && !(p.Terminating && p.Preempted)
	}
	var list []preemption.Pod
	for _, p := range before.Pods {
		if p.Node != "" && !(p.Terminating && p.Preempted) && !stay[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] {
			list = append(list, p)
		}
	}
	return list
}

// keepsBounds looks whether an answer that was accepted took more than there was.
func keepsBounds(t require.TestingT, o preemption.Options, gone []preemption.Pod, budgets []preemption.Budget) {
	if o.Limits.Pods > 0 {
		require.LessOrEqual(t, int64(len(gone)), o.Limits.Pods)
	}
	if !o.HardBudgets.All {
		return
	}
	rule := disruption.Rule137
	if o.Rules == preemption.Kubernetes136 {
		rule = disruption.PodRule136
	}
	for _, b := range budgets {
		selects, err := b.Selector.Compile()
		require.NoError(t, err)
		covered := 0
		for _, p := range gone {
			if rule.Covers(&b, selects, p.Namespace, p.Name, p.Labels) {
				covered++
			}
		}
		require.LessOrEqual(t, covered, int(max(b.Allowed, 0)), "budget %s of %s", asJSON(t, b), asJSON(t, gone))
	}
}

// answersLive is what answers have to keep, however late, often or forged they are carried
// out: an error changes nothing, and what is accepted keeps all bounds.
func answersLive(t *rapid.T) {
	m, q := gen.NewMaker(t, gen.AnyProfile(t))
	o := preemption.Options{HardBudgets: preemption.HardBudgets{All: m.N(3) == 0}}
	o.Rules = []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha}[m.N(3)]
	o.Limits.Pods = int64(m.N(4))
	if m.N(3) == 0 {
		o.Limits.Window = preemption.Window{Seconds: 600, Pods: int64(1 + m.N(3))}
	}
	q.Snapshot.Time, q.Snapshot.Disruptions = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	if err != nil {
		t.SkipNow()
	}
	var answers []*preemption.Result
	inWindow := int64(0)
	for range rapid.IntRange(1, 10).Draw(t, "steps") {
		m.See(pl.Snapshot())
		for i := range m.N(4) {
			p := q.Preemptor
			if i > 0 {
				p = m.Preemptor()
			}
			if r, err := pl.Preempt(p); err == nil && (r.Verdict == preemption.Feasible || m.N(4) == 0) {
				answers = append(answers, r)
			}
		}
		if len(answers) == 0 {
			continue
		}
		r := gen.One(m, answers)
		somethingElse(m, pl)
		if m.N(2) == 0 {
			inline := r.Preemptor.Inline
			if r = forged(t, m, r); r == nil {
				continue
			}
			r.Preemptor.Inline = inline
		}
		before := pl.Snapshot()
		v, validErr := pl.StillValid(r)
		carryOut := pl.Apply
		if m.N(2) == 0 {
			carryOut = pl.Evict
		}
		err := carryOut(r)
		after := pl.Snapshot()
		if err != nil {
			require.ErrorIs(t, err, preemption.ErrNotApplicable)
			require.Equal(t, asJSON(t, before), asJSON(t, after))
			require.False(t, validErr == nil && v.Advice == preemption.Keep, "%v", err)
			continue
		}
		require.NoError(t, validErr)
		require.Equal(t, preemption.Keep, v.Advice)
		gone := evicted(before, after)
		if r.Preemptor.Kind != cluster.KindWorkload { // these are not bounded
			keepsBounds(t, o, gone, before.Budgets)
			if inWindow += int64(len(gone)); o.Limits.Window.Pods > 0 && len(gone) > 0 {
				require.LessOrEqual(t, inWindow, o.Limits.Window.Pods)
			}
		}
		for _, n := range r.Nominations {
			i := slices.IndexFunc(after.Pods, func(p preemption.Pod) bool { return p.Namespace == n.Pod.Namespace && p.Name == n.Pod.Name })
			require.GreaterOrEqual(t, i, 0)
			require.Contains(t, []string{after.Pods[i].Node, after.Pods[i].NominatedNode}, n.Node)
		}
		if m.N(2) == 0 {
			again := carryOut(r) // twice: it is done, or has become needless
			if again != nil {
				require.ErrorIs(t, again, preemption.ErrNotApplicable)
			}
			require.Empty(t, evicted(after, pl.Snapshot()))
			require.Equal(t, len(after.Disruptions), len(pl.Snapshot().Disruptions))
		}
	}
}

// somethingElse changes something, or nothing; a change that is refused changes nothing.
func somethingElse(m *gen.Maker, pl *preemption.Planner) {
	s := pl.Snapshot()
	switch p := gen.One(m, s.Pods); m.N(12) {
	case 0, 1:
		_ = pl.SetPod(m.Pod())
	case 2:
		_ = pl.Remove(preemption.PodRef{Namespace: p.Namespace, Name: p.Name})
	case 3:
		_ = pl.Bind(preemption.PodRef{Namespace: p.Namespace, Name: p.Name}, gen.One(m, s.Nodes).Name)
	case 4:
		_ = pl.SetNode(m.Node())
	case 5:
		_ = pl.SetPodGroup(m.PodGroup())
	case 6:
		_ = pl.SetWorkload(m.Workload())
	case 7, 8:
		b := gen.One(m, s.Budgets)
		b.Allowed = 0
		_ = pl.SetBudget(b)
	}
}

func TestAnswersLive(t *testing.T) { rapid.Check(t, answersLive) }

func FuzzAnswersLive(f *testing.F) { f.Fuzz(rapid.MakeFuzz(answersLive)) }

// TestAnAnswerIsReviewedAtItsNodeAsInTheWholeCluster: whether a pod fits as things are,
// and whether its place still fits after the cluster has changed, is the same looked up
// and looked at.
func TestAnAnswerIsReviewedAtItsNodeAsInTheWholeCluster(t *testing.T) {
	fits, kept, lost := 0, 0, 0
	for seed := range seeds(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		q, o := gen.Random(seed, gen.Everything()), seededOptions(seed)
		o.Sampling = nil
		if seed%2 == 0 { // what is swept
			o = preemption.Options{}
		}
		answer, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			continue
		}
		quick, plain, err := o.FitsBothWays(q.Preemptor, &q.Snapshot)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, plain, quick, "seed %d: fits as things are", seed)
		if plain {
			fits++
		}
		if len(answer.Nominations) != 1 {
			continue
		}
		for range r.IntN(3) { // others come to where it goes, or anywhere
			p := cluster.Pod{Namespace: "late", Name: string(rune('a' + r.IntN(26))), Node: answer.Nominations[0].Node}
			p.Requests = cluster.Resources{cluster.CPU: int64(r.IntN(3000))}
			if r.IntN(3) == 0 {
				high := int32(1 << 30)
				p.Node, p.NominatedNode, p.Priority = "", p.Node, &high
			}
			q.Snapshot.Pods = append(q.Snapshot.Pods, p)
		}
		alone, whole, err := o.ReviewBothWays(answer, &q.Snapshot)
		if err != nil {
			continue // two came by one name
		}
		require.Equal(t, whole, alone, "seed %d: still fits", seed)
		if whole {
			kept++
		} else {
			lost++
		}
	}
	t.Log(fits, "fit as things are;", kept, "places kept,", lost, "lost")
	require.Greater(t, min(fits, kept, lost), 50)
}

// TestAReviewTellsOfTheMemberThatHasNoPlace: it is not the first one that lacks a port.
func TestAReviewTellsOfTheMemberThatHasNoPlace(t *testing.T) {
	port := []cluster.HostPort{{Port: 80}}
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 4}}}}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	r, err := pl.Preempt(preemption.Preemptor{
		Group: &preemption.PodGroup{Name: "g", MinCount: prio(2)}, Pods: []preemption.Pod{{Name: "a"}, {Name: "b", Ports: port}},
	})
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "late", Node: "n1", Ports: port}))
	v, err := pl.StillValid(r)
	require.NoError(t, err)
	require.Equal(t, preemption.Replan, v.Advice)
	require.Contains(t, v.Reason, "b does not fit any more: ")
	require.Contains(t, v.Reason, "80")
}

// curious is a constraint that looks at the planner while a question is prepared.
type curious struct{ look func() }

func (c curious) Name() domain.Check { return "curious" }

func (c curious) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.look()
	return nil, nil
}

// TestParkCallsNoHookUnderTheLock: a hook may ask the planner, and change it. Whose question never ends before the next change is woken at once.
func TestParkCallsNoHookUnderTheLock(t *testing.T) {
	var pl *preemption.Planner
	looks, woken := 0, 1
	hooks := &preemption.Hooks{Constraints: []domain.Constraint{curious{func() {
		if looks++; pl != nil {
			pl.Snapshot()
			if woken > 0 {
				require.NoError(t, pl.SetTime(time.Time{}))
			}
		}
	}}}}
	snap := three(8, 8)
	snap.Pods = append(snap.Pods, preemption.Pod{Name: "waits", Requests: cpus(2)})
	pl, err := preemption.NewPlanner(snap, preemption.Options{Hooks: hooks})
	require.NoError(t, err)
	for ; woken >= 0; woken-- {
		d, err := pl.Park(preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"})
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, d.Verdict)
		require.Positive(t, looks)
		require.Len(t, pl.Wake(), woken)
	}
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "n1-0"}))
	require.Len(t, pl.Wake(), 1, "any change may matter to a hook")
	require.True(t, pl.WakeAt().IsZero())
}

// TestABrokenGangWakesWhoCouldNotAffordIt: what is left of it costs nothing, on nodes where
// nothing else has changed.
func TestABrokenGangWakesWhoCouldNotAffordIt(t *testing.T) {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "n1", Allocatable: cpus(1)}, {Name: "n2", Allocatable: cpus(1)}},
		PodGroups: []preemption.PodGroup{{Name: "g", MinCount: prio(2), Priority: prio(0), Mode: preemption.Single}},
		Pods: []preemption.Pod{
			{Name: "a", Node: "n1", Group: "g", Priority: prio(0), Requests: cpus(1)},
			{Name: "b", Node: "n2", Group: "g", Priority: prio(0), Requests: cpus(1)},
			{Name: "waits", RequiredNode: "n1", Priority: prio(9), Requests: cpus(1)},
		},
	}, preemption.Options{
		BrokenGroupsFree: true, Limits: preemption.Limits{Cost: 5}, Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 10}},
	})
	require.NoError(t, err)
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"}
	d, err := pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "b"}))
	d, err = pl.Decide(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, d.Verdict)
	require.Equal(t, []preemption.Preemptor{ask}, pl.Wake())
}

// TestWakeAtIsWhenSomebodyHasWaited: and then he is returned.
func TestWakeAtIsWhenSomebodyHasWaited(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snap := three(8)
	snap.Time = noon
	snap.Pods = append(snap.Pods, preemption.Pod{Name: "waits", Created: noon, Priority: prio(9), Requests: cpus(2)})
	pl, err := preemption.NewPlanner(snap, preemption.Options{WaitSeconds: 60})
	require.NoError(t, err)
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"}
	d, err := pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.NotEligible, d.Verdict)
	require.Equal(t, noon.Add(time.Minute), pl.WakeAt())
	require.NoError(t, pl.SetTime(noon.Add(59*time.Second)))
	require.Empty(t, pl.Wake())
	require.NoError(t, pl.SetTime(pl.WakeAt()))
	require.Equal(t, []preemption.Preemptor{ask}, pl.Wake())
	d, err = pl.Decide(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, d.Verdict)
}

// TestWakeAtIsWhenAGuardEnds: who might be evicted then wakes the one who waits for that.
func TestWakeAtIsWhenAGuardEnds(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snap := &preemption.Snapshot{Time: noon, Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(2)}, {Name: "n2", Allocatable: cpus(2)}}}
	for i := range 2 {
		snap.Pods = append(snap.Pods, preemption.Pod{
			Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", i+1), Priority: prio(1), Requests: cpus(2), Started: noon.Add(time.Duration(-10*i) * time.Second),
		})
	}
	pl, err := preemption.NewPlanner(snap, preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}})
	require.NoError(t, err)
	ask := preemption.Preemptor{Pods: []preemption.Pod{{Name: "asks", Priority: prio(9), Requests: cpus(2)}}}
	d, err := pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	at := pl.WakeAt()
	require.Equal(t, noon.Add(50*time.Second), at)
	require.NoError(t, pl.SetTime(at.Add(-time.Nanosecond)))
	pl.Wake() // perhaps in vain: it is the last second
	d, err = pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.Equal(t, at, pl.WakeAt())
	require.NoError(t, pl.SetTime(at))
	require.Len(t, pl.Wake(), 1)
	d, err = pl.Decide(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, d.Verdict)
}

// TestTimeWakesWhoWaitsForIt: be it that its equals have run long enough, that it was evicted long
// enough ago, or that others were.
func TestTimeWakesWhoWaitsForIt(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	runs := preemption.Pod{Name: "runs", Node: "n1", Priority: prio(9), Started: noon, Requests: cpus(1)}
	waits := preemption.Pod{Name: "waits", Priority: prio(9), Requests: cpus(1)}
	for change, o := range map[string]preemption.Options{
		"equals": {Guards: preemption.Guards{EqualAfterSeconds: 60}}, "evicted": {Guards: preemption.Guards{EqualAfterSeconds: 60}},
		"window": {Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 1}}},
	} {
		runs, waits, before := runs, waits, []cluster.Disruption(nil)
		switch change {
		case "evicted":
			runs.Started, waits.Evictions = noon.Add(-time.Hour), []time.Time{noon}
		case "window":
			runs.Priority, before = prio(1), []cluster.Disruption{{Time: noon, Pods: 1}}
		}
		pl, err := preemption.NewPlanner(&preemption.Snapshot{
			Time: noon, Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(1)}}, Pods: []preemption.Pod{runs, waits}, Disruptions: before,
		}, o)
		require.NoError(t, err)
		ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"}
		d, err := pl.Park(ask)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, d.Verdict)
		require.NoError(t, pl.SetTime(noon.Add(time.Minute)))
		d, err = pl.Decide(ask)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, d.Verdict)
		require.Equal(t, []preemption.Preemptor{ask}, pl.Wake(), change)
	}
	runs.Priority, runs.Started = prio(1), time.Time{}
	r, err := preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 1}}}.Preempt(preemption.Preemptor{Pods: []preemption.Pod{waits}},
		&preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(1)}}, Pods: []preemption.Pod{runs}, Disruptions: []cluster.Disruption{{Time: noon, Pods: 1}}})
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, "nobody knows the time")
}

// TestWakeAtIsATime: a guard that ends after all times ends never.
func TestWakeAtIsATime(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	last := time.Unix(math.MaxInt64-62_135_596_800, 0) // whose seconds since the year 1 are an int64
	for _, c := range []struct {
		seconds int64
		want    time.Time
	}{
		{math.MaxInt64 - 62_135_596_800 - noon.Unix(), last.UTC()},
		{math.MaxInt64 - 62_135_596_800 - noon.Unix() + 1, time.Time{}},
		{math.MaxInt64 - noon.Unix(), time.Time{}},
		{math.MaxInt64, time.Time{}},
	} {
		pl, err := preemption.NewPlanner(&preemption.Snapshot{
			Time: noon, Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(2)}},
			Pods: []preemption.Pod{{Name: "p", Node: "n1", Priority: prio(1), Requests: cpus(2), Started: noon}},
		}, preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: c.seconds}})
		require.NoError(t, err)
		_, err = pl.Park(preemption.Preemptor{Pods: []preemption.Pod{{Name: "asks", Priority: prio(9), Requests: cpus(2)}}})
		require.NoError(t, err)
		require.Equal(t, c.want, pl.WakeAt(), "%d", c.seconds)
	}
}

// TestNothingIsAnotherBeforeWakeAt: the verdict on whoever is parked is the same as long as WakeAt has not come.
func TestNothingIsAnotherBeforeWakeAt(t *testing.T) {
	t.Parallel()
	asked, due, other := 0, 0, 0
	for seed := range seeds(4_000) {
		o := preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: int64(seed%5) * 3_600}}
		if seed%2 == 0 {
			o = seededOptions(seed)
			o.Limits.Window = preemption.Window{}
		}
		question := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 12, Guards: true, Groups: seed%2 == 0})
		pl, err := preemption.NewPlanner(&question.Snapshot, o)
		if err != nil || question.Snapshot.Time.IsZero() {
			continue
		}
		before, err := pl.Park(question.Preemptor)
		if err != nil || before.Verdict != preemption.Infeasible && before.Verdict != preemption.NotEligible {
			continue
		}
		asked++
		for range 8 { // guards end one after the other
			pl.Wake()
			_, err = pl.Park(question.Preemptor)
			require.NoError(t, err)
			from := pl.Snapshot().Time
			at, until := pl.WakeAt(), from.Add(1_000*time.Hour)
			if !at.IsZero() {
				due++
				require.True(t, at.After(from), "seed %d", seed)
				until = at.Add(-time.Nanosecond)
			}
			for part := range 3 { // on the way, and right before
				require.NoError(t, pl.SetTime(until.Add(-until.Sub(from)*time.Duration(2-part)/3)))
				now, err := pl.Decide(question.Preemptor)
				require.NoError(t, err)
				require.Equal(t, before.Verdict, now.Verdict, "seed %d: at %v, before %v", seed, pl.Snapshot().Time, at)
			}
			if at.IsZero() {
				break
			}
			require.NoError(t, pl.SetTime(at))
			now, err := pl.Decide(question.Preemptor)
			require.NoError(t, err)
			if now.Verdict != before.Verdict {
				require.Len(t, pl.Wake(), 1, "seed %d", seed)
				other++
				break
			}
		}
	}
	t.Logf("%d were asked, %d times time might have changed the verdict, %d times it did", asked, due, other)
	require.Greater(t, due, asked/2)
	require.Greater(t, other, 0)
}

// TestTimeMovesForQueuesToo: a workload that has to wait may evict once the planner's
// time has moved on, as in a snapshot of that time.
func TestTimeMovesForQueuesToo(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := func(name string, priority int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Queue: "team", Priority: priority, Created: start,
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 8}}},
		}
	}
	runs := job("runs", 0)
	runs.Admission = &cluster.Admission{ClusterQueue: "all"}
	runs.PodSets[0].Flavors = map[string]string{"cpu": "any"}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:            start,
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "any"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "all",
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 10}},
			}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: "LowerPriority", WaitSeconds: 600},
		}},
		LocalQueues: []preemption.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Workloads:   []preemption.Workload{runs, job("waits", 5)},
	}, preemption.Options{})
	require.NoError(t, err)

	ask := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "waits"}
	for _, c := range []struct {
		passed time.Duration
		want   preemption.Verdict
	}{{0, preemption.NotEligible}, {599 * time.Second, preemption.NotEligible}, {600 * time.Second, preemption.Feasible}} {
		planner.SetTime(start.Add(c.passed))
		got, err := planner.Preempt(ask)
		require.NoError(t, err)
		require.Equal(t, c.want, got.Verdict, "after %s: %s", c.passed, got.Message)

		fresh, err := preemption.Preempt(ask, planner.Snapshot())
		require.NoError(t, err)
		require.Equal(t, fresh, got)
	}
}

// TestQuotaHeldSinceNobodyKnowsWhen counts as held since the time that it is, also when
// that has moved on: the newest goes first.
func TestQuotaHeldSinceNobodyKnowsWhen(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := func(name string, admission *cluster.Admission) preemption.Workload {
		w := preemption.Workload{
			Name: name, Queue: "team", Admission: admission,
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 1}}},
		}
		if admission != nil {
			w.PodSets[0].Flavors = map[string]string{"cpu": "any"}
		}
		return w
	}
	pending := job("pending", nil)
	pending.Priority = 1
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:            start,
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "any"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "all",
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 2}},
			}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		}},
		LocalQueues: []preemption.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Workloads:   []preemption.Workload{job("unknown", &cluster.Admission{ClusterQueue: "all"}), pending},
	}, preemption.Options{})
	require.NoError(t, err)
	known := &cluster.Admission{ClusterQueue: "all", Reserved: start.Add(10 * time.Second)}
	require.NoError(t, planner.SetWorkload(job("known", known)))
	early := planner.Fork()
	planner.SetTime(start.Add(20 * time.Second))

	for _, c := range []struct {
		planner *preemption.Planner
		victim  string
	}{{early, "known"}, {planner, "unknown"}, {planner.Fork(), "unknown"}} {
		ask := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "pending"}
		got, err := c.planner.Preempt(ask)
		require.NoError(t, err)
		require.Equal(t, []string{c.victim}, names(got))
		fresh, err := preemption.Preempt(ask, c.planner.Snapshot())
		require.NoError(t, err)
		require.Equal(t, fresh, got)
	}
}

// TestTimeOfQuotaThatComesLater: without quota a clock's tick changes no model of it, and costs
// nothing; what comes later has the time that it is.
func TestTimeOfQuotaThatComesLater(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time: start, Workloads: []preemption.Workload{{Name: "early", Queue: "team", PodSets: []cluster.PodSet{{Name: "main", Count: 1}}}},
	}, preemption.Options{})
	require.NoError(t, err)
	now := start
	tick := func() {
		now = now.Add(time.Second)
		require.NoError(t, planner.SetTime(now))
	}
	tick()
	require.LessOrEqual(t, testing.AllocsPerRun(598, tick), 4.0)
	require.Equal(t, start.Add(600*time.Second), now)

	require.NoError(t, planner.SetResourceFlavor(preemption.ResourceFlavor{Name: "any"}))
	require.NoError(t, planner.SetClusterQueue(preemption.ClusterQueue{
		Name: "all",
		Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 10}},
		}}}},
		Preemption: cluster.QueuePreemption{WithinClusterQueue: "LowerPriority", WaitSeconds: 600},
	}))
	require.NoError(t, planner.SetLocalQueue(preemption.LocalQueue{Name: "team", ClusterQueue: "all"}))
	job := func(name string, priority int32) preemption.Workload {
		return preemption.Workload{Name: name, Queue: "team", Priority: priority, Created: start, PodSets: []cluster.PodSet{{
			Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 8},
		}}}
	}
	runs := job("runs", 0)
	runs.Admission, runs.PodSets[0].Flavors = &cluster.Admission{ClusterQueue: "all"}, map[string]string{"cpu": "any"}
	require.NoError(t, planner.SetWorkload(runs))
	require.NoError(t, planner.SetWorkload(job("waited", 5)))
	ask := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "waited"}
	got, err := planner.Preempt(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, got.Verdict, got.Message)
	fresh, err := preemption.Preempt(ask, planner.Snapshot())
	require.NoError(t, err)
	require.Equal(t, fresh, got)
}

// theEnd is the last second that a snapshot can be saved with.
var theEnd = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// TestTheEndsOfTimeAndCost: nothing wraps where times, seconds and prices are as large
// as there are.
func TestTheEndsOfTimeAndCost(t *testing.T) {
	begin := time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC) // the zero time is unknown
	forever, low, high := int64(math.MaxInt64), int32(1), int32(10)
	pod := func(name, node string, p *int32) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: p, Requests: preemption.Resources{"cpu": 1}}
	}
	for name, c := range map[string]struct {
		change func(s *preemption.Snapshot, o *preemption.Options)
		kept   victims.KeptRule
		cost   int64
	}{
		"guaranteed to the end": {kept: victims.KeptRunning, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started, o.Guards.GuaranteedSeconds = theEnd, theEnd, forever
		}},
		"guaranteed, and long ago": {change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started, o.Guards.GuaranteedSeconds = theEnd, begin, 315_000_000_000
		}},
		"a toleration to the end": {kept: victims.KeptToleration, change: func(s *preemption.Snapshot, _ *preemption.Options) {
			s.Time, s.Pods[0].Scheduled, s.Pods[0].Class = theEnd, theEnd.Add(-time.Hour), "tolerant"
			s.PriorityClasses = []priority.Class{{Name: "tolerant", Value: 1, Annotations: map[string]string{
				priority.MinimumPreemptableAnnotation: "2147483647", priority.TolerationSecondsAnnotation: "9223372036854775807",
			}}}
		}},
		"cooling down for ever": {kept: victims.KeptCooldown, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Evictions = theEnd, []time.Time{begin}
			o.Guards.Cooldown = victims.Cooldown{Evictions: 1, Seconds: forever}
		}},
		"work of all time": {cost: math.MaxInt64, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started = theEnd, begin
			o.Cost = preemption.CostOptions{Criterion: 1, Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: math.MaxInt64}}}}
		}},
		"all prices at once": {cost: math.MaxInt64, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started = theEnd, begin
			s.Pods[0].Cost = &cluster.Cost{
				Fixed: forever, RestartSeconds: forever, Milestones: []cluster.Milestone{{Seconds: forever, Value: forever}},
			}
			o.Cost = preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: forever, Milestones: forever, Restart: forever, Pods: forever}}
		}},
		"a curve over all seconds": {change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started = theEnd, theEnd
			s.Pods[0].Guard = &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: forever, Value: math.MaxInt32}}}
			o.PreemptionPriority.Apart = true
		}},
		"limits and a window without end": {cost: math.MaxInt64, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Cost = theEnd, &cluster.Cost{Fixed: forever}
			s.Disruptions = []cluster.Disruption{{Time: theEnd, Victims: forever - 1, Pods: forever - 1}}
			o.Cost.Tariff = disruption.Tariff{Fixed: 1}
			o.Limits = preemption.Limits{Victims: forever, Pods: forever, Cost: forever, Window: preemption.Window{Seconds: forever, Victims: forever, Pods: forever, Cost: forever}}
		}},
		"equals, never": {change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started, s.Pods[0].RanSeconds, o.Guards.EqualAfterSeconds = theEnd, theEnd, forever, forever
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := preemption.Snapshot{
				Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 1}}},
				Pods:  []preemption.Pod{pod("v", "n1", &low), pod("p", "", &high)},
			}
			o := preemption.Options{Candidates: true}
			c.change(&s, &o)
			r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}, &s)
			require.NoError(t, err)
			if c.kept != "" {
				require.Equal(t, preemption.Infeasible, r.Verdict)
				require.Equal(t, c.kept, r.Kept[0].Rule)
				return
			}
			require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
			require.Equal(t, c.cost, r.Cost)
		})
	}
}

// TestWhoIsParkedByWhichName: workloads given inline are told apart, and who runs or is gone by then is forgotten.
func TestWhoIsParkedByWhichName(t *testing.T) {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes:           []preemption.Node{{Name: "n", Allocatable: cpus(1)}},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []preemption.ClusterQueue{{Name: "q", Groups: []cluster.ResourceGroup{{
			Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu"}}}},
		}}}},
		LocalQueues: []preemption.LocalQueue{{Name: "q", ClusterQueue: "q"}},
		PodGroups:   []preemption.PodGroup{{Name: "g", Priority: prio(0)}, {Name: "stays", Priority: prio(0)}},
		Pods: []preemption.Pod{
			{Name: "stays", Requests: cpus(2)}, {Name: "runs", Requests: cpus(2)}, {Name: "m", Group: "g", Priority: prio(0), Requests: cpus(2)},
			{Name: "m2", Group: "stays", Priority: prio(0), Requests: cpus(2)},
		},
	}, preemption.Options{})
	require.NoError(t, err)
	list := []preemption.Preemptor{
		{Kind: preemption.KindWorkload, Workload: ptr(waiting("a", "q", 1, 1))}, {Kind: preemption.KindWorkload, Workload: ptr(waiting("b", "q", 1, 1))},
		{Kind: preemption.KindPod, Name: "stays"}, {Kind: preemption.KindPodGroup, Name: "stays"},
		{Kind: preemption.KindPod, Name: "runs"}, {Kind: preemption.KindPodGroup, Name: "g"},
	}
	for _, p := range list {
		d, err := pl.Park(p)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, d.Verdict)
	}
	require.NoError(t, pl.SetNode(preemption.Node{Name: "n", Allocatable: cpus(9)}))
	require.NoError(t, pl.Bind(preemption.PodRef{Name: "runs"}, "n"))
	require.NoError(t, pl.RemovePodGroup("", "g"))
	require.Equal(t, list[:4], pl.Wake())
}

// TestWhoIsKeptOffFromAfarIsWoken: whom somebody on another node keeps off, which itself is too small.
func TestWhoIsKeptOffFromAfarIsWoken(t *testing.T) {
	zone, app := map[string]string{"zone": "a"}, map[string]string{"app": "x"}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Labels: zone, Allocatable: cpus(1)}, {Name: "n2", Labels: zone, Allocatable: cpus(4)}},
		Pods: []preemption.Pod{{Name: "x", Node: "n1", Labels: app, Priority: prio(9)}, {
			Name: "waits", Requests: cpus(2),
			AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: app}}},
		}},
	}, preemption.Options{})
	require.NoError(t, err)
	d, err := pl.Park(preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "x"}))
	require.Len(t, pl.Wake(), 1)
}

// TestAnyMemberThatHasRoomWakesItsGroup, be it not the first.
func TestAnyMemberThatHasRoomWakesItsGroup(t *testing.T) {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(1)}}, Pods: []preemption.Pod{{Name: "x", Node: "n1", Requests: cpus(1)}},
	}, preemption.Options{})
	require.NoError(t, err)
	d, err := pl.Park(preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", MinCount: prio(1)}, Pods: []preemption.Pod{
		{Name: "y", Requests: preemption.Resources{cluster.CPU: 1, "gpu": 1}}, {Name: "z", Requests: cpus(1)},
	}})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "x"}))
	require.Len(t, pl.Wake(), 1)
}

// TestWhatCannotBeFollowedWakesEverybody, also once it has been compiled anew.
func TestWhatCannotBeFollowedWakesEverybody(t *testing.T) {
	s := twoNodes()
	s.Pods[2].Priority = prio(0)
	pl, err := preemption.NewPlanner(s, preemption.Options{Strict: true})
	require.NoError(t, err)
	d, err := pl.Park(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.NoError(t, pl.SetPod(preemption.Pod{Name: "lost", Node: "none"}))
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "low"}))
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "lost"}))
	r, err := pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	require.Equal(t, []preemption.Preemptor{web}, pl.Wake())
}

func ptr[T any](v T) *T { return &v }
