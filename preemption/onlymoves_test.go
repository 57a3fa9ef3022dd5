package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Room is made by those who can move, or not at all; what would help is said, and a parked
// preemptor is told when somebody can move, on whatever node.
func TestOnlyMoves(t *testing.T) {
	t.Parallel()
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	low, high := int32(0), int32(1_000)
	fast := map[string]string{"disk": "fast"}
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(4), Labels: fast}, {Name: "b", Allocatable: cores(2), Labels: fast}, {Name: "c", Allocatable: cores(2)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "large", Node: "a", Priority: &low, Requests: cores(3)},
			{Namespace: "shop", Name: "small", Node: "b", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "other", Node: "c", Priority: &high, Requests: cores(1)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(2), NodeSelector: fast},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}
	pl, err := preemption.NewPlanner(&s, preemption.Options{Limits: preemption.Limits{OnlyMoves: true}})
	require.NoError(t, err)
	r, err := pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict, "nobody has another place")
	require.NotNil(t, r.Nearest)
	require.Equal(t, []preemption.Relaxation{{Kind: preemption.RelaxLimit, Name: "pods without a place", Amount: 1}}, r.Nearest.Relaxations)

	_, err = pl.Park(web)
	require.NoError(t, err)
	require.Empty(t, pl.Wake())
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "shop", Name: "other"}))
	require.Equal(t, []preemption.Preemptor{web}, pl.Wake(), "there is room on c, where it cannot go itself")
	r, err = pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Equal(t, "small", r.Victims[0].Name)

	d, err := pl.Decide(web)
	require.NoError(t, err)
	require.Equal(t, "b", d.Domain)
	require.NoError(t, pl.SetPod(preemption.Pod{Namespace: "shop", Name: "other", Node: "c", Priority: &high, Requests: cores(1)}))
	for range 3 { // nothing that was found before is taken for what is
		d, err = pl.Decide(web)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, d.Verdict)
	}
}

// TestNobodyIsSearchedForWhereAllIsFull: each of four could move to the one core that is free, and two have to. No set is looked for beside a placement.
func TestNobodyIsSearchedForWhereAllIsFull(t *testing.T) {
	t.Parallel()
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	low, high, two, fast := int32(0), int32(1_000), int32(2), map[string]string{"disk": "fast"}
	var s preemption.Snapshot
	for i, labels := range []map[string]string{fast, fast, nil} {
		s.Nodes = append(s.Nodes, preemption.Node{Name: fmt.Sprint(i), Allocatable: cores(2), Labels: labels})
		for k := range min(2, 3-i) {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: "shop", Name: fmt.Sprint(i, k), Node: fmt.Sprint(i), Priority: &low, Requests: cores(1)})
		}
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "shop", Name: fmt.Sprint("job", i), Group: "job", Requests: cores(1), NodeSelector: fast})
	}
	s.PodGroups = []preemption.PodGroup{{Namespace: "shop", Name: "job", MinCount: &two, Priority: &high}}
	r, err := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "shop", Name: "job"}, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, 1, r.Stats.Searched) // for those with whom gone there is a place somewhere
}

// Where pods could move is found out once for all that are alike, whatever their annotations
// where no filter reads them; and a question that nobody waits for any more stops on the way.
func TestOnlyMovesLooksOnceForAlikePods(t *testing.T) {
	t.Parallel()
	low, high, need := int32(0), int32(1_000), int32(2)
	polls := func(annotated, filtered bool) int64 {
		var s preemption.Snapshot
		for n := range 50 {
			node := fmt.Sprint("n", n)
			s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: preemption.Resources{cluster.CPU: 1_500}})
			for k := range 4 {
				ip := "unknown"
				if annotated {
					ip = fmt.Sprint(n, ".", k)
				}
				s.Pods = append(s.Pods, preemption.Pod{
					Namespace: "shop", Name: fmt.Sprint("p", n, "-", k), Node: node, Priority: &low,
					Requests: preemption.Resources{cluster.CPU: 300}, Annotations: map[string]string{"ip": ip},
				})
			}
		}
		p := preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Namespace: "shop", Name: "gang", Priority: &high, MinCount: &need}}
		for _, name := range []string{"gang-0", "gang-1"} {
			p.Pods = append(p.Pods, preemption.Pod{
				Namespace: "shop", Name: name, Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_100},
			})
		}
		o := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}
		if filtered {
			o.Hooks = &preemption.Hooks{Filter: func(pod *preemption.Pod, node *preemption.Node) bool { return pod.Annotations["ip"] != "nobody's" }}
		}
		pl, err := preemption.NewPlanner(&s, o)
		require.NoError(t, err)
		ctx := waits(1 << 40)
		r, err := pl.PreemptContext(ctx, p)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
		return ctx.asked.Load()
	}
	require.Equal(t, polls(false, false), polls(true, false))
	require.GreaterOrEqual(t, polls(true, true), polls(false, true)+199, "a filter reads annotations")
}
