package check_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

var errHook = errors.New("the hook has had enough")

// fuse panics when it has been called so many times.
type fuse struct{ left int }

func (f *fuse) burn() {
	if f.left--; f.left == 0 {
		panic(errHook)
	}
}

// tired is a constraint that lets everybody in, until it has had enough.
type tired struct{ *fuse }

func (tired) Name() domain.Check { return "tired" }

func (c tired) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.burn()
	return c, nil
}

func (c tired) Remove(cluster.PodID, cluster.NodeID)    { c.burn() }
func (c tired) Return(cluster.PodID, cluster.NodeID)    { c.burn() }
func (c tired) Place(domain.MemberID, cluster.NodeID)   { c.burn() }
func (c tired) Unplace(domain.MemberID, cluster.NodeID) { c.burn() }
func (c tired) Clone() domain.State                     { return c }

func (c tired) Fits(domain.MemberID, cluster.NodeID) domain.Reason {
	c.burn()
	return domain.Reason{}
}

func (c tired) Scope() domain.Scope {
	c.burn()
	return domain.Scope{NodeLocal: true, Monotone: true}
}

// TestAHookThatPanicsIsTheProblem: whenever it does, and nothing else is said then.
func TestAHookThatPanicsIsTheProblem(t *testing.T) {
	low, high := int32(1), int32(9)
	cpu := preemption.Resources{cluster.CPU: 1}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "a", Allocatable: cpu}, {Name: "b", Allocatable: cpu}},
		Pods: []preemption.Pod{
			{Name: "p", Node: "a", Priority: &low, Requests: cpu}, {Name: "q", Node: "b", Priority: &low, Requests: cpu},
			{Name: "web", Priority: &high, Requests: cpu},
		},
	}
	web := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	f := &fuse{}
	for name, hooks := range map[string]*preemption.Hooks{
		"Constraints": {Constraints: []domain.Constraint{tired{f}}},
		"Filter":      {Filter: func(*preemption.Pod, *preemption.Node) bool { f.burn(); return true }},
	} {
		o := preemption.Options{Hooks: hooks}
		f.left = 0
		r, err := o.Preempt(web, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		panics := 0
		for f.left = 1; ; panics++ {
			burns := f.left
			problems := check.Verify(s, o, web, r)
			if f.left > 0 { // it was called less often
				require.Empty(t, problems)
				break
			}
			require.Len(t, problems, 1)
			require.Equal(t, check.RuleHook, problems[0].Rule)
			var hook *preemption.HookError
			require.ErrorAs(t, problems[0].Err, &hook)
			require.ErrorIs(t, hook, errHook)
			require.Equal(t, name, hook.Hook)
			require.Contains(t, string(hook.Stack), "burn")
			f.left = burns + 1
		}
		require.Greater(t, panics, 2, name)
	}
}

// TestForgedMovesAreFound: where room is made by moves alone, what is said of where they go is read, move by move.
func TestForgedMovesAreFound(t *testing.T) {
	t.Parallel()
	levels := []int32{1, 5, 100}
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	pod := func(name, node string, level *int32, size int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: level, Requests: cores(size)}
	}
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: cores(5)}, {Name: "n2", Allocatable: cores(3)}, {Name: "n3", Allocatable: cores(1)},
			{Name: "n4", Allocatable: cores(1)}, {Name: "n5", Allocatable: cores(1)},
		},
		Pods: []preemption.Pod{
			pod("a", "n1", &levels[1], 3), pod("b", "n1", &levels[0], 1), pod("c", "n2", &levels[0], 1), pod("d", "n3", &levels[0], 1), pod("web", "", &levels[2], 5),
		},
	}
	o, web := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 1}, preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	r, err := o.Preempt(web, &s)
	require.NoError(t, err)
	move := func(name, node string) preemption.Nomination {
		return preemption.Nomination{Pod: preemption.PodRef{Name: name}, Node: node}
	}
	true1 := []preemption.Nomination{move("b", "n4"), move("a", "n2"), move("c", "n5")}
	verified := func(o preemption.Options, moves []preemption.Nomination) []check.Problem {
		forged := *r
		forged.Moves = moves
		return check.Verify(&s, o, web, &forged)
	}
	require.Empty(t, verified(o, r.Moves), r.Moves)
	require.Empty(t, verified(o, true1))
	require.Empty(t, verified(o, []preemption.Nomination{move("a", "n2"), move("c", "n4"), move("b", "n5")}), "in any order in which each fits")
	for name, moves := range map[string][]preemption.Nomination{
		"none":                              nil,
		"a victim dropped":                  true1[1:],
		"who moves for another dropped":     true1[:2],
		"twice":                             append(true1[:2:2], move("b", "n4"), move("c", "n5")),
		"to where there is no room":         {move("b", "n4"), move("a", "n5"), move("c", "n5")},
		"to the same room":                  {move("b", "n4"), move("a", "n2"), move("c", "n4")},
		"to the preemptor's room":           {move("b", "n4"), move("a", "n2"), move("c", "n1")},
		"to where it comes from":            {move("b", "n4"), move("a", "n2"), move("c", "n2")},
		"back beside the preemptor":         {move("b", "n1"), move("a", "n2"), move("c", "n5")},
		"to nowhere":                        {move("b", "n9"), move("a", "n2"), move("c", "n5")},
		"nobody":                            append(true1[:3:3], move("x", "n9")),
		"the preemptor":                     append(true1[:3:3], move("web", "n1")),
		"who moves for nobody":              append([]preemption.Nomination{move("d", "n5")}, true1...),
		"before whom it moves for":          {move("c", "n5"), move("b", "n4"), move("a", "n2")},
		"for one who may not move it":       {move("a", "n2"), move("c", "n5"), move("b", "n3"), move("d", "n4")},
		"for one who moves for another one": {move("b", "n4"), move("a", "n2"), move("c", "n3"), move("d", "n5")},
	} {
		require.NotEmpty(t, verified(o, moves), name)
	}
	o.Chain = 0
	require.NotEmpty(t, verified(o, true1), "nobody moves for another")
	o.Chain, o.NoCascade = 1, true
	require.NotEmpty(t, verified(o, true1), "nobody moves for another")
	require.NotEmpty(t, verified(preemption.Options{}, true1), "nobody asked for it")
}
