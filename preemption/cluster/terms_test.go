package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
)

func TestBadTermsAreReportedByFieldAndValue(t *testing.T) {
	web := &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}
	bad := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.In}}}
	for _, c := range []struct {
		name string
		pod  Pod
		want []string // "field: value is not", in order
	}{
		{"a good term", Pod{Affinity: []AffinityTerm{{TopologyKey: "zone", Selector: web, MatchLabelKeys: []string{"v"}}}}, nil},
		{"no topology key", Pod{Affinity: []AffinityTerm{{Selector: web}}}, []string{`Affinity[0].TopologyKey: "" is not`}},
		{"a topology key that is no label key", Pod{AntiAffinity: []AffinityTerm{{TopologyKey: "a b"}}}, []string{`AntiAffinity[0].TopologyKey: "a b" is not`}},
		{"selectors", Pod{AntiAffinity: []AffinityTerm{{TopologyKey: "zone", Selector: bad, NamespaceSelector: bad}}}, []string{
			"AntiAffinity[0].NamespaceSelector.matchExpressions[0].values: [] is not",
			"AntiAffinity[0].Selector.matchExpressions[0].values: [] is not",
		}},
		{"a namespace without a name", Pod{Namespace: "a", Affinity: []AffinityTerm{{TopologyKey: "zone", Namespaces: []string{"a", ""}}}}, []string{`Affinity[0].Namespaces[1]: "" is not`}},
		{"label keys", Pod{Affinity: []AffinityTerm{{TopologyKey: "zone", Selector: web, MatchLabelKeys: []string{"v", "-"}, MismatchLabelKeys: []string{"v"}}}}, []string{
			`Affinity[0].MatchLabelKeys[1]: "-" is not`, `Affinity[0].MismatchLabelKeys[0]: "v" is not absent from MatchLabelKeys`,
		}},
		{"label keys without a selector", Pod{Affinity: []AffinityTerm{{TopologyKey: "zone", MatchLabelKeys: []string{"v"}}}}, []string{"Affinity[0].MatchLabelKeys: set is not"}},
		{"a label value that a key reads", Pod{
			Labels:       map[string]string{"v": "no value", "w": "\xff", "x": "-", "other": "not read"},
			Affinity:     []AffinityTerm{{TopologyKey: "zone", Selector: web, MatchLabelKeys: []string{"w", "absent"}}},
			AntiAffinity: []AffinityTerm{{TopologyKey: "zone", Selector: web, MismatchLabelKeys: []string{"v"}}},
			Spread:       []Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: web, MatchLabelKeys: []string{"x"}}},
		}, []string{`Labels[v]: "no value" is not a label value`, `Labels[w]: "\xff" is not a label value`, `Labels[x]: "-" is not a label value`}},
		{"a good spread", Pod{Spread: []Spread{{MaxSkew: 1, TopologyKey: "zone", NodeTaintsPolicy: Honor, NodeAffinityPolicy: Ignore}}}, nil},
		{"a spread", Pod{Spread: []Spread{{MinDomains: -1, NodeTaintsPolicy: "honor", NodeAffinityPolicy: "x", Selector: bad}}}, []string{
			"Spread[0].MaxSkew: 0 is not >= 1", "Spread[0].MinDomains: -1 is not >= 0",
			`Spread[0].NodeAffinityPolicy: "x" is not`, `Spread[0].NodeTaintsPolicy: "honor" is not`,
			"Spread[0].Selector.matchExpressions[0].values: [] is not", `Spread[0].TopologyKey: "" is not`,
		}},
		{"good tolerations", Pod{Tolerations: []Toleration{{Operator: TolerationExists}, {Key: "a", Operator: TolerationGt, Value: "-1"}}}, nil},
		{"tolerations", Pod{Tolerations: []Toleration{
			{Value: "v"}, {Operator: TolerationExists, Value: "v"}, {Operator: TolerationLt, Value: "1"}, {Key: "a", Operator: TolerationLt, Value: "1.5"}, {Key: "a", Operator: "In"}, {Key: "a", Effect: "No"},
		}}, []string{
			`Tolerations[0].Operator: "" is not Exists, as the key is empty`, `Tolerations[1].Value: "v" is not empty, as the operator is Exists`,
			`Tolerations[2].Key: "" is not a key`, `Tolerations[3].Value: "1.5" is not an integer`,
			`Tolerations[4].Operator: "In" is not Equal, Exists, Lt, Gt or empty`, `Tolerations[5].Effect: "No" is not`,
		}},
		{"node requirements", Pod{NodeAffinity: &NodeAffinity{Terms: []NodeTerm{{Labels: []NodeRequirement{
			{Key: "a", Operator: NodeIn}, {Key: "a", Operator: NodeExists, Values: []string{"v"}}, {Key: "a", Operator: NodeDoesNotExist, Values: []string{"v", "w"}},
			{Key: "a", Operator: NodeGt, Values: []string{"1", "2"}}, {Key: "a", Operator: NodeLt, Values: []string{"x"}}, {Key: "a", Operator: "Like"}, {Operator: NodeExists},
		}}}}}, []string{
			"NodeAffinity.Terms[0].Labels[0].Values: 0 is not at least one value", "NodeAffinity.Terms[0].Labels[1].Values: 1 is not no value",
			"NodeAffinity.Terms[0].Labels[2].Values: 2 is not no value", "NodeAffinity.Terms[0].Labels[3].Values: 2 is not one value",
			`NodeAffinity.Terms[0].Labels[4].Values[0]: "x" is not an integer`,
			`NodeAffinity.Terms[0].Labels[5].Operator: "Like" is not In, NotIn, Exists, DoesNotExist, Gt or Lt`, `NodeAffinity.Terms[0].Labels[6].Key: "" is not a label`,
		}},
		{"a token without a name", Pod{Tokens: []string{"a", ""}}, []string{`Tokens[1]: "" is not a name`}},
		{"good devices", Pod{Devices: []DeviceRequest{{Resource: "gpu", Count: 2, Assigned: []int32{0, 3}}, {Resource: "gpu", Fraction: 1, Assigned: []int32{1}}}}, nil},
		{"no resource, nothing asked", Pod{Devices: []DeviceRequest{{}}}, []string{"Devices[0].Count: 0 is not", `Devices[0].Resource: "" is not`}},
		{"negative amounts", Pod{Devices: []DeviceRequest{{Resource: "gpu", Count: -1}, {Resource: "gpu", Fraction: -1}}}, []string{"Devices[0].Count: -1 is not >= 0", "Devices[1].Fraction: -1 is not >= 0"}},
		{"too many", Pod{Devices: []DeviceRequest{{Resource: "gpu", Count: 1025}}}, []string{"Devices[0].Count: 1025 is not <= 1024"}},
		{"whole ones and a fraction", Pod{Devices: []DeviceRequest{{Resource: "gpu", Count: 1, Fraction: 1}}}, []string{"Devices[0].Fraction: 1 is not 0"}},
		{"assigned others than asked", Pod{Devices: []DeviceRequest{{Resource: "gpu", Count: 2, Assigned: []int32{0}}, {Resource: "gpu", Fraction: 2, Assigned: []int32{0, 1}}}}, []string{
			"Devices[0].Assigned: 1 is not as many as it asks for, 2", "Devices[1].Assigned: 2 is not as many as it asks for, 1",
		}},
		{"assigned twice or below zero", Pod{Devices: []DeviceRequest{{Resource: "gpu", Count: 3, Assigned: []int32{1, 1, -1}}}}, []string{
			"Devices[0].Assigned[1]: 1 is not listed once", "Devices[0].Assigned[2]: -1 is not >= 0",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.pod.Name = "p"
			_, err := NewIndex(&Snapshot{Pods: []Pod{c.pod}})
			requireFields(t, err, c.want)
		})
	}
}

func TestBadPreemptorsAreReported(t *testing.T) {
	pod := Pod{Name: "p"}
	for _, c := range []struct {
		name string
		p    Preemptor
		want []string // as in TestBadTermsAreReportedByFieldAndValue
	}{
		{"a good pod", Preemptor{Kind: KindPod, Pods: []Pod{pod}}, nil},
		{"a good gang", Preemptor{Kind: KindPodGroup, Group: &PodGroup{Name: "g"}, Pods: []Pod{{Name: "p", Group: "g"}, {Name: "q"}}}, nil},
		{"named and given", Preemptor{Kind: KindPod, Name: "p", Pods: []Pod{pod}}, []string{"Pods: set is not absent, as the preemptor is named"}},
		{"neither", Preemptor{Kind: KindPod}, []string{`Name: "" is not a name, or Pods given`}},
		{"an unknown kind", Preemptor{Kind: "Job", Name: "p"}, []string{`Kind: "Job" is not Pod, PodGroup, CompositePodGroup or Workload`}},
		{"a workload with another kind", Preemptor{Kind: KindPod, Name: "p", Workload: &Workload{}}, []string{"Workload: set is not absent, as Kind is not Workload"}},
		{"two pods without a group", Preemptor{Pods: []Pod{pod, {Name: "q"}}}, []string{"Pods: 2 is not one pod, or a Group given"}},
		{"a group that is not given", Preemptor{Kind: KindPodGroup, Pods: []Pod{pod}}, []string{`Kind: "PodGroup" is not Pod or empty, as no Group is given`}},
		{"a pod with a group", Preemptor{Kind: KindPod, Group: &PodGroup{Name: "g"}, Pods: []Pod{pod}}, []string{`Kind: "Pod" is not PodGroup or empty, as a Group is given`}},
		{"a pod that runs", Preemptor{Pods: []Pod{{Name: "p", Node: "n"}}}, []string{`Node: "n" is not empty: the preemptor runs already`}},
		{"a pod twice", Preemptor{Group: &PodGroup{Name: "g"}, Pods: []Pod{pod, pod}}, []string{`Name: "p" is not unique among the preemptor's pods`}},
		{"pods of others", Preemptor{Group: &PodGroup{Namespace: "a", Name: "g"}, Pods: []Pod{{Namespace: "b", Name: "p", Group: "h"}}}, []string{
			`Group: "h" is not empty or that of the preemptor, "g"`, `Namespace: "b" is not that of its group, "a"`,
		}},
		{"a level without a label", Preemptor{Group: &PodGroup{Name: "g", Topology: []TopologyConstraint{{Key: "zone"}, {}}}, Pods: []Pod{pod}}, []string{
			`Topology[1].Key: "" is not a node label`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) { requireFields(t, c.p.Validate(), c.want) })
	}
}

func TestNamesAndTextsCanBeToldApart(t *testing.T) {
	_, err := NewIndex(&Snapshot{
		Nodes: []Node{{Name: "a/b"}, {Name: "\xff"}}, // a node has no namespace
		Pods: []Pod{{
			Namespace: "a/b", Name: "c/d", NodeSelector: map[string]string{"k": "\xfe"}, Tolerations: []Toleration{{Key: "\xfd", Value: "\xfc"}},
			NodeAffinity: &NodeAffinity{Terms: []NodeTerm{{Labels: []NodeRequirement{{Key: "\xfb", Operator: NodeIn, Values: []string{"x", "\xfa"}}}}}},
		}},
	})
	requireFields(t, err, []string{
		`Name: "\xff" is not UTF-8`, `Name: "c/d" is not a name without '/'`, `Namespace: "a/b" is not a name without '/'`,
		`NodeAffinity.Terms[0].Labels[0].Key: "\xfb" is not UTF-8`, `NodeAffinity.Terms[0].Labels[0].Values: "\xfa" is not UTF-8`,
		`NodeSelector: "\xfe" is not UTF-8`, `Tolerations[0].Key: "\xfd" is not UTF-8`, `Tolerations[0].Value: "\xfc" is not UTF-8`,
	})
}

func TestBadDevicePoolsAreReported(t *testing.T) {
	_, err := NewIndex(&Snapshot{Nodes: []Node{{Name: "n", Devices: map[string]DevicePool{
		"": {1, 1}, "a": {-1, 1}, "b": {1025, 1}, "c": {1, 0}, "d": {1, 1<<40 + 1}, "e": {0, 1},
	}}}})
	requireFields(t, err, []string{
		`Devices: "" is not a resource name`, "Devices[a].Count: -1 is not", "Devices[b].Count: 1025 is not",
		"Devices[c].Capacity: 0 is not", "Devices[d].Capacity: 1099511627777 is not",
	})
}

// requireFields checks that err complains about those fields and values, in order.
func requireFields(t *testing.T, err error, want []string) {
	if len(want) == 0 {
		require.NoError(t, err)
		return
	}
	require.ErrorIs(t, err, ErrInvalid)
	var all interface{ Unwrap() []error }
	require.True(t, errors.As(err, &all))
	got := all.Unwrap()
	require.Len(t, got, len(want), "%v", err)
	for i := range want {
		require.Contains(t, strings.SplitN(got[i].Error(), ": ", 3)[2], want[i])
	}
}

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

// TestCandidatesOfForks: the terms that may select a pod are found, each once and in order, whatever forks have added or changed.
func TestCandidatesOfForks(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		pod := func(i int) *Pod {
			value := func() string { return fmt.Sprint(r.IntN(3)) }
			p := &Pod{Name: fmt.Sprint("p", i), Labels: map[string]string{"a": value(), "b": value()}}
			for range r.IntN(3) {
				s := &disruption.Selector{MatchLabels: map[string]string{}}
				for _, key := range []string{"a", "b"} {
					if r.IntN(2) == 0 {
						s.MatchLabels[key] = value()
					}
				}
				p.AntiAffinity = append(p.AntiAffinity, AffinityTerm{TopologyKey: "h", Selector: s})
			}
			return p
		}
		ix, err := NewIndex(&Snapshot{Pods: []Pod{*pod(0), *pod(1), *pod(2)}})
		require.NoError(t, err)
		forks := []*Index{ix}
		for i := range 30 {
			at := forks[r.IntN(len(forks))]
			if p := pod(i + 3); len(forks) < 5 && r.IntN(4) == 0 {
				forks = append(forks, at.Fork())
			} else if at.MaySetPod(p, NoPod) {
				at.SetPod(p, NoPod)
			}
			for _, ix := range forks {
				asks, all := pod(99), ix.AntiTerms()
				list := all.Candidates(asks)
				require.True(t, slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list), "seed %d", seed)
				for n := range TermID(all.Len()) {
					require.True(t, slices.Contains(list, n) || !all.Term(n).Selects("", nil, asks.Labels), "seed %d", seed)
				}
				require.False(t, len(list) > 0 && int(list[len(list)-1]) >= all.Len(), "seed %d", seed)
			}
		}
	}
}
