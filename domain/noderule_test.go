package domain

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// A pod with long lists, which are looked up, is told the same as pods with one entry each.
func longListsAreAnyOfTheirs(t *rapid.T) {
	word := rapid.SampledFrom([]string{"", "a", "b", "1", "2", "30"})
	effect := rapid.SampledFrom([]cluster.Effect{cluster.NoSchedule, cluster.NoExecute, cluster.PreferNoSchedule})
	n := rapid.IntRange(manyListed-2, manyListed+4).Draw(t, "entries")
	pod := &cluster.Pod{NodeAffinity: &cluster.NodeAffinity{}}
	for range n {
		pod.Tolerations = append(pod.Tolerations, cluster.Toleration{
			Key: word.Draw(t, "key"), Value: word.Draw(t, "value"),
			Operator: rapid.SampledFrom([]cluster.TolerationOperator{"", cluster.TolerationEqual, cluster.TolerationExists, cluster.TolerationLt, cluster.TolerationGt}).Draw(t, "operator"),
			Effect:   rapid.SampledFrom([]cluster.Effect{"", cluster.NoSchedule, cluster.NoExecute}).Draw(t, "effect"),
		})
		pod.NodeAffinity.Terms = append(pod.NodeAffinity.Terms, drawTerm(t, word))
	}
	node := &cluster.Node{Name: word.Draw(t, "name"), Labels: map[string]string{}}
	for range rapid.IntRange(0, 3).Draw(t, "labels") {
		node.Labels[word.Draw(t, "key")] = word.Draw(t, "value")
		node.Taints = append(node.Taints, cluster.Taint{Key: word.Draw(t, "key"), Value: word.Draw(t, "value"), Effect: effect.Draw(t, "effect")})
	}

	matches := false
	for _, term := range pod.NodeAffinity.Terms {
		matches = matches || MatchesNode(&cluster.Pod{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{term}}}, node)
	}
	require.Equal(t, matches, MatchesNode(pod, node))
	var kept []cluster.Taint
	for _, taint := range node.Taints {
		tolerated := taint.Effect == cluster.PreferNoSchedule
		for _, toleration := range pod.Tolerations {
			tolerated = tolerated || toleratesTaint(toleration, &taint)
		}
		if !tolerated {
			kept = append(kept, taint)
		}
	}
	require.Equal(t, kept, AllUntolerated(pod, node))

	one := &cluster.Pod{NodeAffinity: &cluster.NodeAffinity{Terms: pod.NodeAffinity.Terms[:1]}}
	f := NewNodeRule(one)
	if key, values, ok := f.OneOf(); ok && f.Matches(node) {
		require.Contains(t, values, node.Labels[key])
	}
}

// Lists that share memory are told apart.
func TestListsOfOneArray(t *testing.T) {
	var all []string
	for i := range manyListed + 10 {
		all = append(all, fmt.Sprint("v", i))
	}
	in := func(key string, values []string) cluster.NodeTerm {
		return cluster.NodeTerm{Labels: []cluster.NodeRequirement{{Key: key, Operator: cluster.NodeIn, Values: values}}}
	}
	last := len(all) - 1
	f := NewNodeRule(&cluster.Pod{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{in("k", all[:last]), in("other", all)}}})
	require.False(t, f.Matches(&cluster.Node{Name: "n", Labels: map[string]string{"k": all[last]}}))
	require.True(t, f.Matches(&cluster.Node{Name: "n", Labels: map[string]string{"k": all[0]}}))
	require.True(t, f.Matches(&cluster.Node{Name: "n", Labels: map[string]string{"other": all[last]}}))
}

func drawTerm(t *rapid.T, word *rapid.Generator[string]) (term cluster.NodeTerm) {
	for range rapid.IntRange(0, 2).Draw(t, "requirements") {
		r := cluster.NodeRequirement{Key: word.Draw(t, "key")}
		r.Operator = rapid.SampledFrom([]cluster.NodeOperator{cluster.NodeIn, cluster.NodeNotIn, cluster.NodeExists, cluster.NodeDoesNotExist, cluster.NodeGt, cluster.NodeLt}).Draw(t, "operator")
		switch r.Operator {
		case cluster.NodeIn, cluster.NodeNotIn:
			r.Values = rapid.SliceOfN(word, 1, manyListed+2).Draw(t, "values")
		case cluster.NodeGt, cluster.NodeLt:
			r.Values = []string{"2"}
		}
		term.Labels = append(term.Labels, r)
	}
	if rapid.IntRange(0, 4).Draw(t, "field") == 0 {
		term.Fields = []cluster.NodeRequirement{{Key: cluster.FieldName, Operator: rapid.SampledFrom([]cluster.NodeOperator{cluster.NodeIn, cluster.NodeNotIn}).Draw(t, "operator"), Values: []string{word.Draw(t, "name")}}}
	}
	return term
}

func TestLongListsAreAnyOfTheirs(t *testing.T) { rapid.Check(t, longListsAreAnyOfTheirs) }

// Long lists of host ports conflict where two of their ports do.
func longPortsConflict(t *rapid.T) {
	draw := func(label string) (list []cluster.HostPort) {
		for range rapid.IntRange(0, manyListed+4).Draw(t, label) {
			list = append(list, cluster.HostPort{
				Port: rapid.Int32Range(1, 40).Draw(t, "port"), Protocol: rapid.SampledFrom([]string{"", "TCP", "UDP"}).Draw(t, "protocol"),
				IP: rapid.SampledFrom([]string{"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}).Draw(t, "address"),
			})
		}
		return list
	}
	want, have := draw("want"), draw("have")
	at, held := -1, newHeldPorts(have)
	for i, w := range want {
		require.Equal(t, portTaken(w, have), held.take(w))
		if at < 0 && portTaken(w, have) {
			at = i
		}
	}
	i, conflict := PortsConflict(want, have)
	require.Equal(t, at >= 0, conflict)
	if conflict {
		require.Equal(t, at, i)
	}
}

func TestLongPortsConflict(t *testing.T) { rapid.Check(t, longPortsConflict) }
