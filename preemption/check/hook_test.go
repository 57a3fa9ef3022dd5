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
