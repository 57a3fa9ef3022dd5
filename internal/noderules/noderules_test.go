package noderules

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
	text := func(p *cluster.Pod) string {
		rule := NewRule(p)
		require.Equal(t, rule.Text(), rule.Text())
		return rule.Text()
	}
	for i := range pods {
		for j := range pods {
			require.Equal(t, i == j, text(&pods[i]) == text(&pods[j]), "%d, %d", i, j)
		}
	}
	alike := []cluster.Pod{
		{Tolerations: []cluster.Toleration{{Key: "b"}, {Key: "a", Effect: cluster.NoExecute}}},
		{NodeAffinity: terms(labels(in("a", "c", "b")))},
		{NodeAffinity: terms(labels(in("c", "d")), labels(in("a", "b")))},
	}
	for i, j := range []int{7, 9, 10} {
		require.Equal(t, text(&pods[j]), text(&alike[i]), i)
	}
}

// A table allows each pod the nodes that the rule of the pod does, one pod after the other.
func aTableAllowsWhatRulesDo(t *rapid.T) {
	words := []string{"", "a", "b", "1", "2", "30", "-7", "x1"}
	for i := range 40 {
		words = append(words, fmt.Sprint(i*3))
	}
	word, key := rapid.SampledFrom(words), rapid.SampledFrom([]string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "keys")])
	s := &cluster.Snapshot{}
	for i := range rapid.SampledFrom([]int{0, 5, 70, 200}).Draw(t, "nodes") {
		n := cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{}}
		for range rapid.IntRange(0, 2).Draw(t, "labels") {
			n.Labels[key.Draw(t, "key")] = word.Draw(t, "value")
		}
		for range rapid.IntRange(0, 2).Draw(t, "taints") {
			n.Taints = append(n.Taints, cluster.Taint{
				Key: key.Draw(t, "key"), Value: word.Draw(t, "value"),
				Effect: rapid.SampledFrom([]cluster.Effect{cluster.NoSchedule, cluster.NoExecute, cluster.PreferNoSchedule}).Draw(t, "effect"),
			})
		}
		s.Nodes = append(s.Nodes, n)
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	table, allowed := NewTable(ix), Nodes(nil)
	for range rapid.IntRange(1, 4).Draw(t, "pods") {
		pod := &cluster.Pod{NodeSelector: map[string]string{}}
		if rapid.IntRange(0, 3).Draw(t, "selects") == 0 {
			pod.NodeSelector[key.Draw(t, "key")] = word.Draw(t, "value")
		}
		for range rapid.IntRange(0, 4).Draw(t, "tolerations") {
			pod.Tolerations = append(pod.Tolerations, cluster.Toleration{
				Key: rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "key"), Value: word.Draw(t, "value"),
				Operator: rapid.SampledFrom([]cluster.TolerationOperator{"", cluster.TolerationEqual, cluster.TolerationExists, cluster.TolerationLt, cluster.TolerationGt}).Draw(t, "operator"),
				Effect:   rapid.SampledFrom([]cluster.Effect{"", cluster.NoSchedule, cluster.NoExecute}).Draw(t, "effect"),
			})
		}
		if rapid.Bool().Draw(t, "affinity") {
			pod.NodeAffinity = &cluster.NodeAffinity{}
			for range rapid.IntRange(0, 3).Draw(t, "terms") {
				pod.NodeAffinity.Terms = append(pod.NodeAffinity.Terms, drawTerm(t, key, word, rapid.SampledFrom([]string{"n0", "n1", "n2", "n70", "none"})))
			}
			if rapid.Bool().Draw(t, "many") { // so many that a Rule of the table has the nodes
				pod.NodeAffinity.Terms = slices.Repeat(pod.NodeAffinity.Terms, 17)
			}
			if terms := pod.NodeAffinity.Terms; len(terms) > 0 && rapid.Bool().Draw(t, "long") { // likewise
				terms[0].Labels = slices.Repeat(terms[0].Labels, 65)
			}
		}
		known, shared := table.Rule(pod), table.Next(pod)
		allowed = table.Allowed(allowed[:0], pod)
		rule, next := NewRule(pod), allowed.Next(0)
		require.Equal(t, rule.Text(), shared.Text())
		elsewhere := *pod
		elsewhere.RequiredNode = "n0"
		bound := table.Next(&elsewhere)
		require.NotEqual(t, rule.Text(), bound.Text())
		for n := range ix.Nodes() {
			changed := *ix.Node(0)
			changed.Name = ix.Node(n).Name
			for _, node := range []*cluster.Node{ix.Node(n), &changed} {
				require.Equal(t, rule.Matches(node), known.Matches(node), "%+v, %+v", pod, node)
				require.Equal(t, rule.Matches(node), shared.Matches(node), "%+v, %+v", pod, node)
			}
			want := rule.Matches(ix.Node(n)) && rule.Untolerated(ix.Node(n)) == nil
			require.Equal(t, want, allowed.Has(n), "%+v, %+v", pod, ix.Node(n))
			if want {
				require.Equal(t, n, next)
				allowed.Drop(n)
				require.False(t, allowed.Has(n))
				next = allowed.Next(n + 1)
			}
		}
		require.Equal(t, cluster.NoNode, next)
	}
}

func drawTerm(t *rapid.T, key, word, name *rapid.Generator[string]) (term cluster.NodeTerm) {
	operator := rapid.SampledFrom([]cluster.NodeOperator{cluster.NodeIn, cluster.NodeNotIn, cluster.NodeExists, cluster.NodeDoesNotExist, cluster.NodeGt, cluster.NodeLt})
	for range rapid.IntRange(0, 3).Draw(t, "requirements") {
		r := cluster.NodeRequirement{Key: key.Draw(t, "key"), Operator: operator.Draw(t, "operator")}
		switch r.Operator {
		case cluster.NodeIn, cluster.NodeNotIn:
			r.Values = rapid.SliceOfN(word, 1, manyListed+2).Draw(t, "values")
		case cluster.NodeGt, cluster.NodeLt:
			r.Values = []string{word.Draw(t, "bound")}
		}
		term.Labels = append(term.Labels, r)
	}
	if rapid.IntRange(0, 4).Draw(t, "named") == 0 {
		names := rapid.SliceOfN(name, 1, 3).Draw(t, "names")
		term.Fields = []cluster.NodeRequirement{{Key: "metadata.name", Operator: rapid.SampledFrom([]cluster.NodeOperator{cluster.NodeIn, cluster.NodeNotIn}).Draw(t, "operator"), Values: names}}
	}
	return term
}

func TestATableAllowsWhatRulesDo(t *testing.T) { rapid.Check(t, aTableAllowsWhatRulesDo) }
