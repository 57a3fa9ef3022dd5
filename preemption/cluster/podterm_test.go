package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
)

func TestPodTermSelects(t *testing.T) {
	type labels = map[string]string
	web := &disruption.Selector{MatchLabels: labels{"app": "web"}}
	everyNamespace := &disruption.Selector{}
	teamX := &disruption.Selector{MatchLabels: labels{"team": "x"}}
	notTeamX := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "team", Operator: disruption.NotIn, Values: []string{"x"}}}}
	withoutTeam := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "team", Operator: disruption.DoesNotExist}}}
	snapshot := Snapshot{Namespaces: []Namespace{{Name: "x", Labels: labels{"team": "x"}}, {Name: "bare"}}}
	for _, c := range []struct {
		name              string
		term              AffinityTerm
		namespace         string
		labels            labels
		asPending, asRuns bool // as a term of a pending pod, and of a running one
	}{
		{"its own namespace without a word on namespaces", AffinityTerm{Selector: web}, "own", labels{"app": "web"}, true, true},
		{"labels that differ", AffinityTerm{Selector: web}, "own", labels{"app": "db"}, false, false},
		{"another namespace", AffinityTerm{Selector: web}, "x", labels{"app": "web"}, false, false},
		{"a named namespace", AffinityTerm{Selector: web, Namespaces: []string{"y", "x"}}, "x", labels{"app": "web"}, true, true},
		{"its own, which is not among those named", AffinityTerm{Selector: web, Namespaces: []string{"x"}}, "own", labels{"app": "web"}, false, false},
		{"every namespace, known", AffinityTerm{Selector: web, NamespaceSelector: everyNamespace}, "x", labels{"app": "web"}, true, true},
		{"every namespace, unknown", AffinityTerm{Selector: web, NamespaceSelector: everyNamespace}, "unknown", labels{"app": "web"}, true, true},
		{"a selected namespace", AffinityTerm{Selector: web, NamespaceSelector: teamX}, "x", labels{"app": "web"}, true, true},
		{"its own, which is not selected", AffinityTerm{Selector: web, NamespaceSelector: teamX}, "own", labels{"app": "web"}, false, false},
		{"named or selected: named", AffinityTerm{Selector: web, Namespaces: []string{"own"}, NamespaceSelector: teamX}, "own", labels{"app": "web"}, true, true},
		{"named or selected: selected", AffinityTerm{Selector: web, Namespaces: []string{"own"}, NamespaceSelector: teamX}, "x", labels{"app": "web"}, true, true},
		{"a namespace that lacks the label", AffinityTerm{Selector: web, NamespaceSelector: withoutTeam}, "bare", labels{"app": "web"}, true, true},
		{"an unknown namespace lacks every label for running pods only", AffinityTerm{Selector: web, NamespaceSelector: withoutTeam}, "unknown", labels{"app": "web"}, false, true},
		{"a namespace that has the label with the value", AffinityTerm{Selector: web, NamespaceSelector: notTeamX}, "x", labels{"app": "web"}, false, false},
		{"a nil selector selects nothing", AffinityTerm{}, "own", labels{"app": "web"}, false, false},
		{"an empty selector selects everything", AffinityTerm{Selector: &disruption.Selector{}}, "own", nil, true, true},
		{"match label keys: equal value", AffinityTerm{Selector: web, MatchLabelKeys: []string{"v"}}, "own", labels{"app": "web", "v": "1"}, true, true},
		{"match label keys: another value", AffinityTerm{Selector: web, MatchLabelKeys: []string{"v"}}, "own", labels{"app": "web", "v": "2"}, false, false},
		{"match label keys: no value", AffinityTerm{Selector: web, MatchLabelKeys: []string{"v"}}, "own", labels{"app": "web"}, false, false},
		{"match label keys that the owner lacks", AffinityTerm{Selector: web, MatchLabelKeys: []string{"w"}}, "own", labels{"app": "web"}, true, true},
		{"mismatch label keys: equal value", AffinityTerm{Selector: web, MismatchLabelKeys: []string{"v"}}, "own", labels{"app": "web", "v": "1"}, false, false},
		{"mismatch label keys: another value", AffinityTerm{Selector: web, MismatchLabelKeys: []string{"v"}}, "own", labels{"app": "web", "v": "2"}, true, true},
		{"mismatch label keys: no value", AffinityTerm{Selector: web, MismatchLabelKeys: []string{"v"}}, "own", labels{"app": "web"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := indexOf(t, snapshot)
			term, err := c.term.Compile(&Pod{Namespace: "own", Name: "owner", Labels: labels{"v": "1"}})
			require.NoError(t, err)
			require.Equal(t, c.asRuns, term.Selects(c.namespace, ix.NamespaceLabels(c.namespace), c.labels), "of a running pod")
			require.Equal(t, c.asPending, term.Resolve(ix).Selects(c.namespace, nil, c.labels), "of a pending pod")
			loose := c.term.NamespaceSelector == withoutTeam || c.term.NamespaceSelector == notTeamX
			require.Equal(t, c.asPending || loose, term.Resolve136(ix).Selects(c.namespace, nil, c.labels),
				"of a pending pod in v1.36, where a selector that holds without labels selects every namespace")
		})
	}
}

// The API server merges the keys when the pod is created; the labels may have
// changed since.
func TestLabelKeysThatAreMergedAlreadyStayAsTheyAre(t *testing.T) {
	merged := AffinityTerm{
		Selector: &disruption.Selector{MatchExpressions: []disruption.Requirement{
			{Key: "v", Operator: disruption.In, Values: []string{"1"}},
			{Key: "w", Operator: disruption.NotIn, Values: []string{"1"}},
		}},
		MatchLabelKeys: []string{"v"}, MismatchLabelKeys: []string{"w"},
	}
	relabelled := &Pod{Labels: map[string]string{"v": "2", "w": "2"}}
	term, err := merged.Compile(relabelled)
	require.NoError(t, err)
	require.True(t, term.Selects("", nil, map[string]string{"v": "1", "w": "2"}))
	require.False(t, term.Selects("", nil, map[string]string{"v": "2", "w": "2"}))
	require.Equal(t, []string{"v", "w"}, term.Reads())
	require.Len(t, merged.Selector.MatchExpressions, 2, "the input is not changed")
}

func TestATermWithABadSelectorDoesNotCompile(t *testing.T) {
	bad := &disruption.Selector{MatchLabels: map[string]string{"-": ""}}
	for _, term := range []AffinityTerm{{Selector: bad}, {NamespaceSelector: bad}} {
		_, err := term.Compile(&Pod{})
		require.ErrorIs(t, err, disruption.ErrSelector)
	}
}
