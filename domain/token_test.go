package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestExclusiveTokensCorners(t *testing.T) {
	nodes := []string{"n1", "n2"}
	holder := pod("h@n1", tokens("own/claim"))
	for _, k := range []corner{
		{
			name: "nobody holds it", nodes: nodes, pods: []cluster.Pod{pod("h@n1", tokens("other"))},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, want: "--",
		}, {
			name: "the member asks for none", nodes: nodes, pods: []cluster.Pod{holder},
			members: []cluster.Pod{pod("m")}, want: "--",
		}, {
			name: "a holder keeps it from every node", nodes: nodes, pods: []cluster.Pod{holder},
			members: []cluster.Pod{pod("m", tokens("own/claim", "free"))}, want: "xx",
		}, {
			name: "its eviction frees it everywhere", nodes: nodes, pods: []cluster.Pod{holder},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, history: []string{"-h"}, want: "..",
		}, {
			name: "two holders, against the rules", nodes: nodes,
			pods:    []cluster.Pod{holder, pod("i@n2", tokens("own/claim"))},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, history: []string{"-h"}, want: "xx",
		}, {
			name: "named twice is held once", nodes: nodes, pods: []cluster.Pod{pod("h@n1", tokens("t", "t"))},
			members: []cluster.Pod{pod("m", tokens("t", "t"))}, history: []string{"-h"}, want: "..",
		}, {
			name: "a pending pod holds nothing", nodes: nodes, pods: []cluster.Pod{pod("h", tokens("t"))},
			members: []cluster.Pod{pod("m", tokens("t"))}, want: "--",
		}, {
			name: "a nominated one does once it is taken as there", nodes: nodes,
			pods:    []cluster.Pod{holder, pod("w", nominated("n2"), tokens("own/claim"))},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, history: []string{"-h", "+w"}, want: "xx",
		}, {
			name: "an earlier member takes it", nodes: nodes,
			members: []cluster.Pod{pod("m", tokens("t")), pod("n", tokens("t"))}, history: []string{"m0@n2"}, want: "xx",
		},
	} {
		k.run(t, domain.ExclusiveTokens())
	}
}

func TestTheReasonNamesTheToken(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{node("n1")}, Pods: []cluster.Pod{pod("h@n1", tokens("b"))},
	})
	require.NoError(t, err)
	m := pod("m", tokens("a", "b"))
	s, err := domain.ExclusiveTokens().Prepare(ix, []*cluster.Pod{&m})
	require.NoError(t, err)
	require.Equal(t, domain.Reason{Check: domain.CheckToken, Detail: "b"}, s.Fits(0, 0))
	require.Equal(t, domain.Scope{Monotone: true}, s.Scope())
}
