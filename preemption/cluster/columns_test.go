package cluster

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

func indexOf(t require.TestingT, s Snapshot) *Index {
	ix, err := NewIndex(&s)
	require.NoError(t, err)
	return ix
}

func labelled(namespace, name string, labels map[string]string) Pod {
	return Pod{Namespace: namespace, Name: name, Labels: labels}
}

func TestPodsShareALabelSetIfNamespaceAndLabelsAreEqual(t *testing.T) {
	web := map[string]string{"app": "web", "tier": "front"}
	ix := indexOf(t, Snapshot{Pods: []Pod{
		labelled("a", "1", web), labelled("a", "2", map[string]string{"app": "db"}), labelled("a", "3", maps.Clone(web)),
		labelled("b", "4", web), labelled("a", "5", nil), labelled("a", "6", map[string]string{}),
		labelled("a", "7", map[string]string{"web": "app", "front": "tier"}),
	}})
	sets := ix.LabelSets()
	of := func(namespace, name string) LabelSetID { return sets.Of(ix.PodByName(namespace, name)) }
	require.Equal(t, 5, sets.Len())
	require.Equal(t, of("a", "1"), of("a", "3"))
	require.Equal(t, of("a", "5"), of("a", "6"), "no labels and empty labels")
	require.NotEqual(t, of("a", "1"), of("b", "4"), "namespaces differ")
	require.NotEqual(t, of("a", "1"), of("a", "7"), "keys and values exchanged")
	require.Equal(t, web, sets.Pod(of("a", "3")).Labels)
	require.Same(t, sets, ix.LabelSets())
}

func TestLabelSetsWithEqualHashesAreToldApart(t *testing.T) {
	in := hashed.Interner{}
	names := []string{}
	id := func(name string) int32 {
		return in.ID(7, func(id int32) bool { return names[id] == name }, func() int32 {
			names = append(names, name)
			return int32(len(names) - 1)
		})
	}
	require.Equal(t, []int32{0, 1, 0, 1}, []int32{id("a"), id("b"), id("a"), id("b")})
}

func labelSetsAreAPartition(t *rapid.T) {
	keys := []string{"a", "b"}
	if rapid.Bool().Draw(t, "many keys") { // more than are looked up
		for i := range mostKeys {
			keys = append(keys, fmt.Sprint("key-", i))
		}
	}
	labels := rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom([]string{"a", "b", ""}), 0, len(keys))
	var s Snapshot
	for i := range rapid.IntRange(0, 12).Draw(t, "pods") {
		ns := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace")
		s.Pods = append(s.Pods, labelled(ns, fmt.Sprint(i), labels.Draw(t, "labels")))
	}
	ix := indexOf(t, s)
	sets := newLabelSets(ix, rapid.IntRange(1, 4).Draw(t, "goroutines"))
	next, carriers := LabelSetID(0), make([][]PodID, sets.Len())
	for p := range PodID(ix.NumPods()) {
		of := sets.Of(p)
		require.LessOrEqual(t, of, next, "in order of the first pod")
		next = max(next, of+1)
		carriers[of] = append(carriers[of], p)
		for key, value := range ix.Pod(p).Labels {
			require.Contains(t, sets.names.having(label{key, value}), of)
		}
		for q := range PodID(ix.NumPods()) {
			a, b := ix.Pod(p), ix.Pod(q)
			equal := a.Namespace == b.Namespace && maps.Equal(a.Labels, b.Labels)
			require.Equal(t, equal, sets.Of(p) == sets.Of(q))
		}
	}
	for s := range LabelSetID(sets.Len()) {
		require.Equal(t, carriers[s], sets.Carriers(s))
		require.Same(t, ix.Pod(carriers[s][0]), sets.Pod(s))
		require.True(t, slices.IsSorted(sets.names.having(label{"a", "a"})))
	}
}

func TestLabelSetsAreAPartition(t *testing.T) { rapid.Check(t, labelSetsAreAPartition) }

func TestTopologyNumbersTheValuesInOrderOfTheirFirstNode(t *testing.T) {
	zone := func(name string, labels map[string]string) Node { return Node{Name: name, Labels: labels} }
	ix := indexOf(t, Snapshot{Nodes: []Node{
		zone("n3", map[string]string{"zone": "a", "host": "n3"}),
		zone("n1", map[string]string{"zone": "b", "host": "n1"}),
		zone("n2", map[string]string{"host": "n2"}),
		zone("n4", map[string]string{"zone": "", "host": "n4"}),
		zone("n5", map[string]string{"zone": "b"}),
	}})
	topology := ix.Topology("zone")
	require.Equal(t, []ValueID{0, NoValue, 1, 2, 0}, topology.Column())
	require.Equal(t, "zone", topology.Key())
	require.Equal(t, 3, topology.Len())
	require.Equal(t, "", topology.Value(topology.Of(ix.NodeByName("n4"))), "an empty value is a value")
	require.False(t, topology.Unique())
	require.True(t, ix.Topology("host").Unique())
	require.Zero(t, ix.Topology("rack").Len())
	require.Same(t, topology, ix.Topology("zone"))
}

func TestReplicasShareTheirAntiAffinityTerms(t *testing.T) {
	term := func(app string) AffinityTerm {
		return AffinityTerm{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": app}}}
	}
	pod := func(namespace, name string, terms ...AffinityTerm) Pod {
		return Pod{Namespace: namespace, Name: name, AntiAffinity: terms, Labels: map[string]string{"app": "web", "v": name[:1]}}
	}
	byVersion := term("web")
	byVersion.MatchLabelKeys = []string{"v"}
	inB := term("web")
	inB.Namespaces = []string{"b"}
	ix := indexOf(t, Snapshot{Pods: []Pod{
		pod("a", "1", term("web"), term("db")), pod("a", "2", term("web")), pod("a", "3"),
		pod("b", "1", term("web")), pod("a", "4-x", byVersion), pod("a", "4-y", byVersion), pod("a", "5", byVersion),
		pod("a", "6", inB), pod("b", "6", inB),
	}})
	at := ix.AntiTerms()
	of := func(namespace, name string) []TermID { return at.Of(ix.PodByName(namespace, name)) }
	require.Equal(t, of("a", "1")[:1], of("a", "2"))
	require.Empty(t, of("a", "3"))
	require.NotEqual(t, of("a", "2"), of("b", "1"), "a term without namespaces is about the pod's own")
	require.Equal(t, of("a", "4-x"), of("a", "4-y"))
	require.NotEqual(t, of("a", "4-x"), of("a", "5"), "they match different versions")
	require.Equal(t, of("a", "6"), of("b", "6"), "the namespace is named")
	require.Equal(t, 6, at.Len())
	require.Len(t, at.Carriers(), 8)
	require.True(t, slices.IsSorted(at.Carriers()))
	require.True(t, at.Reads("app") && at.Reads("v"))
	require.False(t, at.Reads("tier"))
	require.Equal(t, "host", at.Term(0).TopologyKey())
}

func TestWithoutAntiAffinityThereAreNoTerms(t *testing.T) {
	at := indexOf(t, Snapshot{Pods: []Pod{{Name: "a"}}}).AntiTerms()
	require.Zero(t, at.Len())
	require.Empty(t, at.Of(0))
	require.False(t, at.Reads("app"))
}

func TestTokensAreNumberedAndListedOnceForEachPod(t *testing.T) {
	ix := indexOf(t, Snapshot{Pods: []Pod{
		{Name: "a", Tokens: []string{"x", "y", "x"}}, {Name: "b"}, {Name: "c", Tokens: []string{"y"}},
	}})
	ts := ix.Tokens()
	require.Equal(t, []TokenID{ts.ByName("x"), ts.ByName("y")}, ts.Of(0))
	require.Empty(t, ts.Of(1))
	require.Equal(t, []TokenID{ts.ByName("y")}, ts.Of(2))
	require.Equal(t, NoToken, ts.ByName("z"))
	require.Equal(t, []PodID{0, 2}, ts.Carriers())
	require.Equal(t, 2, ts.Len())
}
