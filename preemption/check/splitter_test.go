package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// each is a splitter with a domain for each node, of its name.
type each struct{}

func (each) Split(dst []domain.Domain, ix *cluster.Index) []domain.Domain {
	for n := range cluster.NodeID(ix.NumNodes()) {
		dst = append(dst, domain.Domain{Name: ix.Node(n).Name, Nodes: []cluster.NodeID{n}})
	}
	return dst
}

// TestTheDomainsOfASplitterAreKnown: who is kept in another domain is not to be listed, a
// member is not to go there, and nobody says that nothing helps where something does.
func TestTheDomainsOfASplitterAreKnown(t *testing.T) {
	low, high, two := int32(0), int32(9), int32(2)
	s := &preemption.Snapshot{Nodes: nodes(2, 2)}
	for _, n := range []string{"n1", "n2"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: "on-" + n, Node: n, Priority: &low, Requests: preemption.Resources{cluster.CPU: 2}})
	}
	s.Pods[0].Guard = &cluster.Guard{Standby: true}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &two, Priority: &high}}
	for _, name := range []string{"a", "b"} {
		gang.Pods = append(gang.Pods, preemption.Pod{Name: name, Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1}})
	}
	o := preemption.Options{Hooks: &preemption.Hooks{Splitter: each{}}}
	rules := func(forge func(r *preemption.Result)) (list []check.Rule) {
		r, err := o.Preempt(gang, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Equal(t, "n2", r.Domain)
		forge(r)
		for _, p := range check.Verify(s, o, gang, r) {
			list = append(list, p.Rule)
		}
		return list
	}
	require.Empty(t, rules(func(*preemption.Result) {}))
	require.Contains(t, rules(func(r *preemption.Result) { r.Nominations[0].Node = "n1" }), check.RuleFits)
	require.Contains(t, rules(func(r *preemption.Result) { r.Domain = "cluster" }), check.RuleForm)
	require.Contains(t, rules(func(r *preemption.Result) {
		*r = preemption.Result{Verdict: preemption.Infeasible, Preemptor: r.Preemptor, Stats: r.Stats}
	}), check.RuleInfeasible)
}
