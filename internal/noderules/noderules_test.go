package noderules_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestPodsSayTheSame: of pods of which each says something else no two are the same; the order of lists does not matter.
func TestPodsSayTheSame(t *testing.T) {
	in := func(key string, values ...string) cluster.NodeRequirement {
		return cluster.NodeRequirement{Key: key, Operator: cluster.NodeIn, Values: values}
	}
	terms := func(list ...cluster.NodeTerm) *cluster.NodeAffinity { return &cluster.NodeAffinity{Terms: list} }
	labels := func(list ...cluster.NodeRequirement) cluster.NodeTerm { return cluster.NodeTerm{Labels: list} }
	pods := []cluster.Pod{
		{},
		{RequiredNode: "a"},
		{NodeSelector: map[string]string{"a": "b"}},
		{NodeSelector: map[string]string{"a": "c"}},
		{Tolerations: []cluster.Toleration{{Key: "a"}}},
		{Tolerations: []cluster.Toleration{{Key: "a", Value: "b"}}},
		{Tolerations: []cluster.Toleration{{Key: "a", Operator: cluster.TolerationExists}}},
		{Tolerations: []cluster.Toleration{{Key: "a", Effect: cluster.NoExecute}, {Key: "b"}}},
		{NodeAffinity: terms()},
		{NodeAffinity: terms(labels(in("a", "b", "c")))},
		{NodeAffinity: terms(labels(in("a", "b")), labels(in("c", "d")))},
		{NodeAffinity: terms(labels(in("a", "b"), in("c", "d")))},
		{NodeAffinity: terms(cluster.NodeTerm{Fields: []cluster.NodeRequirement{in("a", "b", "c")}})},
	}
	for i := range pods {
		for j := range pods {
			require.Equal(t, i == j, noderules.Same(&pods[i], &pods[j]), "%d, %d", i, j)
			require.Equal(t, i == j, noderules.Text(&pods[i]) == noderules.Text(&pods[j]), "%d, %d", i, j)
		}
	}
	alike := []cluster.Pod{
		{Tolerations: []cluster.Toleration{{Key: "b"}, {Key: "a", Effect: cluster.NoExecute}}},
		{NodeAffinity: terms(labels(in("a", "c", "b")))},
		{NodeAffinity: terms(labels(in("c", "d")), labels(in("a", "b")))},
	}
	for i, j := range []int{7, 9, 10} {
		require.True(t, noderules.Same(&alike[i], &pods[j]), i)
		require.Equal(t, noderules.Text(&pods[j]), noderules.Text(&alike[i]), i)
	}
}

// TestKindsAreThoseOfPodsThatSayTheSame: whether there are few or many.
func TestKindsAreThoseOfPodsThatSayTheSame(t *testing.T) {
	for _, many := range []int{3, 40} {
		var kinds noderules.Kinds
		for i := range 200 {
			p := &cluster.Pod{Tolerations: []cluster.Toleration{{Key: fmt.Sprint(i * 7 % many)}}}
			want := i % many // their order
			require.Equal(t, want, kinds.Of(p), "%d of %d", i, many)
		}
	}
}
