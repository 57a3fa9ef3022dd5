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

// A pod with long lists, which are looked up, is told the same as pods with one entry each,
// whether all of them may matter or few.
func longListsAreAnyOfTheirs(t *rapid.T) {
	few := rapid.Bool().Draw(t, "few matter")
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
		pod.NodeAffinity.Terms = append(pod.NodeAffinity.Terms, drawTerm(t, word, word, word))
		if last := len(pod.Tolerations) - 1; few && rapid.IntRange(0, 7).Draw(t, "matters") > 0 {
			pod.Tolerations[last].Key = "unheard-of"
			pod.NodeAffinity.Terms[last].Labels = []cluster.NodeRequirement{{Key: "unheard-of", Operator: cluster.NodeExists}}
		}
	}
	node := &cluster.Node{Name: word.Draw(t, "name"), Labels: map[string]string{}}
	for range rapid.IntRange(0, 3).Draw(t, "labels") {
		node.Labels[word.Draw(t, "key")] = word.Draw(t, "value")
		node.Taints = append(node.Taints, cluster.Taint{Key: word.Draw(t, "key"), Value: word.Draw(t, "value"), Effect: effect.Draw(t, "effect")})
	}

	matches := false
	for _, term := range pod.NodeAffinity.Terms {
		matches = matches || matchesNode(&cluster.Pod{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{term}}}, node)
	}
	require.Equal(t, matches, matchesNode(pod, node))
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
	require.ElementsMatch(t, kept, ruleOf(pod).AllUntolerated(node))
}

// What a toleration or a requirement with a number says at its bound, and where there is no number.
func TestBoundsOfNumbers(t *testing.T) {
	for _, c := range []struct {
		have, bound  string
		less, larger bool
	}{
		{"1", "2", true, false}, {"2", "2", false, false}, {"3", "2", false, true}, {"10", "9", false, true}, {"10", "10", false, false}, {"10", "11", true, false}, {"-5", "2", true, false},
		{"many", "2", false, false}, {"", "2", false, false}, {"2", "many", false, false},
	} {
		taint := cluster.Taint{Key: "k", Value: c.have, Effect: cluster.NoSchedule}
		node := &cluster.Node{Name: "n", Labels: map[string]string{"k": c.have}, Taints: []cluster.Taint{taint}}
		for lt, want := range map[bool]bool{true: c.less, false: c.larger} {
			of, in := cluster.TolerationOperator(cluster.TolerationGt), cluster.NodeOperator(cluster.NodeGt)
			if lt {
				of, in = cluster.TolerationLt, cluster.NodeLt
			}
			toleration := cluster.Toleration{Key: "k", Operator: of, Value: c.bound}
			pod := &cluster.Pod{Tolerations: []cluster.Toleration{toleration}}
			require.Equal(t, want, ruleOf(pod).Untolerated(node) == nil, "%+v", c)
			for i := range manyListed { // looked up; other bounds do not narrow it
				pod.Tolerations = append(pod.Tolerations, cluster.Toleration{Key: fmt.Sprint(i), Operator: of, Value: "1"})
			}
			for _, worse := range []string{"-7", "77", "many"} {
				if wider := worse == "77" && lt || worse == "-7" && !lt; !wider {
					pod.Tolerations = append([]cluster.Toleration{{Key: "k", Operator: of, Value: worse}}, append(pod.Tolerations, cluster.Toleration{Key: "k", Operator: of, Value: worse})...)
				}
			}
			require.Equal(t, want, ruleOf(pod).Untolerated(node) == nil, "%+v, of many", c)
			if c.bound == "many" {
				continue // refused before
			}
			asks := &cluster.Pod{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{{Key: "k", Operator: in, Values: []string{c.bound}}}}}}}
			require.Equal(t, want, matchesNode(asks, node), "%+v", c)
			asks.NodeAffinity.Terms[0].Labels[0].Key = "none"
			require.False(t, matchesNode(asks, node))
		}
	}
}

// Whatever one term of many asks for, a node has to have, and no more.
func TestOneTermOfMany(t *testing.T) {
	requirement := func(op cluster.NodeOperator) (r cluster.NodeRequirement) {
		r = cluster.NodeRequirement{Key: "k", Operator: op}
		switch op {
		case cluster.NodeIn, cluster.NodeNotIn:
			r.Values = []string{"1", "3"}
		case cluster.NodeGt, cluster.NodeLt:
			r.Values = []string{"2"}
		}
		return r
	}
	for _, op := range []cluster.NodeOperator{cluster.NodeIn, cluster.NodeNotIn, cluster.NodeExists, cluster.NodeDoesNotExist, cluster.NodeGt, cluster.NodeLt} {
		for _, value := range []string{"", "1", "2", "3", "many"} {
			for _, field := range []cluster.NodeOperator{"", cluster.NodeIn, cluster.NodeNotIn} {
				node := &cluster.Node{Name: "n", Labels: map[string]string{"k": value}}
				if value == "" {
					node.Labels = nil
				}
				term := cluster.NodeTerm{Labels: []cluster.NodeRequirement{requirement(op)}}
				if field != "" {
					term.Fields = []cluster.NodeRequirement{{Key: "metadata.name", Operator: field, Values: []string{"m", "n"}}}
				}
				pod := &cluster.Pod{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{term}}}
				want := matchesNode(pod, node)
				for range manyListed {
					pod.NodeAffinity.Terms = append(pod.NodeAffinity.Terms, cluster.NodeTerm{})
				}
				require.Equal(t, want, matchesNode(pod, node), "%s %s, name %s", op, value, field)
				has := map[cluster.NodeOperator]bool{
					cluster.NodeIn: value == "1" || value == "3", cluster.NodeNotIn: value != "1" && value != "3", cluster.NodeExists: value != "",
					cluster.NodeDoesNotExist: value == "", cluster.NodeGt: value == "3", cluster.NodeLt: value == "1",
				}[op]
				require.Equal(t, has && field != cluster.NodeNotIn, want, "%s %s, name %s", op, value, field)
			}
		}
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
	f := NewRule(&cluster.Pod{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{in("k", all[:last]), in("other", all)}}})
	require.False(t, f.Matches(&cluster.Node{Name: "n", Labels: map[string]string{"k": all[last]}}))
	require.True(t, f.Matches(&cluster.Node{Name: "n", Labels: map[string]string{"k": all[0]}}))
	require.True(t, f.Matches(&cluster.Node{Name: "n", Labels: map[string]string{"other": all[last]}}))
}

func TestLongListsAreAnyOfTheirs(t *testing.T) { rapid.Check(t, longListsAreAnyOfTheirs) }

func ruleOf(pod *cluster.Pod) *Rule {
	rule := NewRule(pod)
	return &rule
}

func matchesNode(pod *cluster.Pod, node *cluster.Node) bool { return ruleOf(pod).Matches(node) }
