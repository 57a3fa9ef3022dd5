package cluster

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
)

// What is refused is refused before memory is taken for it.
func TestLimitsAreKept(t *testing.T) {
	const n = 10_000
	for name, fill := range map[string]func(s *Snapshot, i int){
		`at most 623 for as many nodes and pods`: func(s *Snapshot, i int) {
			s.Nodes = append(s.Nodes, Node{Name: fmt.Sprint("n", i), Allocatable: Resources{fmt.Sprint("r", i): 1}})
			s.Pods = append(s.Pods, Pod{Name: fmt.Sprint("p", i)})
		},
		`Resources: 10000 names is not at most 1741 for`: func(s *Snapshot, i int) {
			s.Pods = append(s.Pods, Pod{Name: fmt.Sprint("p", i), Requests: Resources{fmt.Sprint("r", i): 1}})
		},
		`Devices: 10240000 on all nodes is not at most 4194304`: func(s *Snapshot, i int) {
			s.Nodes = append(s.Nodes, Node{Name: fmt.Sprint("n", i), Devices: map[string]DevicePool{"gpu": {Count: 1024, Capacity: 1}}})
		},
		`Devices: 10000 names is not at most 1677 for as many nodes`: func(s *Snapshot, i int) {
			s.Nodes = append(s.Nodes, Node{Name: fmt.Sprint("n", i), Devices: map[string]DevicePool{fmt.Sprint("gpu", i): {Count: 1, Capacity: 1}}})
		},
	} {
		s := &Snapshot{}
		for i := range n {
			fill(s, i)
		}
		_, err := takes(t, 32<<20, func() (*Index, error) { return NewIndex(s) })
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, name)
	}
}

// takes asserts that f allocates fewer bytes than most.
func takes[T any](t *testing.T, most uint64, f func() (T, error)) (T, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := f()
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, most)
	return v, err
}

// A live index takes nobody for whom there would be no room, so that it is compiled anew.
func TestLimitsHoldForChanges(t *testing.T) {
	require.True(t, amountsFit(1_000_000, 1_000_000, fewResources), "rows are no larger than objects")
	require.True(t, amountsFit(10_000, 500_000, 90))
	require.False(t, amountsFit(1<<20, 1<<20, fewResources+6))
	ix, err := NewIndex(&Snapshot{Nodes: []Node{{Name: "a", Devices: map[string]DevicePool{"gpu": {Count: 1024, Capacity: 1}}}}})
	require.NoError(t, err)
	ix.devices.free = make([]int64, mostDevices-1023)
	require.False(t, ix.MaySetNode(&Node{Name: "b", Devices: map[string]DevicePool{"gpu": {Count: 1024, Capacity: 1}}}))
	require.True(t, ix.MaySetNode(&Node{Name: "b", Devices: map[string]DevicePool{"gpu": {Count: 1023, Capacity: 1}}}))
}

// Many resources are counted by name, few by column: both find the same.
func TestManyResourcesAreCounted(t *testing.T) {
	many := Resources{}
	for i := range 2 * fewResources {
		many[fmt.Sprint("r", i)] = int64(i)
	}
	s := &Snapshot{
		Nodes: []Node{{Name: "n", Allocatable: many}, {Name: "o", Allocatable: Resources{Pods: 3, "r1": 2, "r0": 0}}},
		Pods:  []Pod{{Name: "p", Node: "n", Requests: Resources{"r5": 1, "r0": 0}}, {Name: "q", Node: "n", Requests: Resources{"other": 1}}},
	}
	ix, err := NewIndex(s)
	require.NoError(t, err)
	for name, want := range map[string]int32{Pods: 4, "r0": 3, "r1": 2, "r5": 2, "r7": 1, "other": 1} {
		require.Equal(t, want, ix.named[ix.column[name]], name)
	}
	require.Equal(t, int64(4), ix.Free(0)[ix.column["r5"]])
	_, err = NewIndex(&Snapshot{Nodes: s.Nodes, Pods: []Pod{{Name: "p", Requests: Resources{Pods: 1}}}})
	require.ErrorContains(t, err, "Requests[pods]: 1 is not absent")
}

// More budgets of a namespace than a pod can be compared with are refused.
func TestCrowdedBudgetsAreRefused(t *testing.T) {
	s := &Snapshot{}
	for i := range mostBudgets + 1 {
		s.Budgets = append(s.Budgets, disruption.Budget{Namespace: "shop", Name: fmt.Sprint(i), Selector: &disruption.Selector{}})
	}
	_, err := NewIndex(s)
	require.EqualError(t, err, `cluster: Namespace "shop": Budgets: 513 is not at most 512 of a namespace that ask for no label`)
	for i := range s.Budgets {
		s.Budgets[i].Selector = &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}
	}
	_, err = NewIndex(s)
	require.EqualError(t, err, `cluster: Namespace "shop": Budgets: 513 is not at most 512 of a namespace that ask for no label that is rarer than "app=web"`)
	s.Budgets[0].Namespace = "other"
	ix, err := NewIndex(s)
	require.NoError(t, err)
	s.Budgets[0].Namespace = "shop"
	require.False(t, ix.SetBudgets(s.Budgets))
	require.Equal(t, "other", ix.Budget(0).Namespace, "nothing has changed")
}

// Lists that nobody writes so long are refused with their object.
func TestLongListsAreRefused(t *testing.T) {
	term := AffinityTerm{TopologyKey: "zone", Selector: &disruption.Selector{}}
	pod := func(p Pod) *Snapshot { p.Name = "p"; return &Snapshot{Pods: []Pod{p}} }
	for want, s := range map[string]*Snapshot{
		`Pod "p": Affinity: 129 terms is not at most 128`:              pod(Pod{Affinity: slices.Repeat([]AffinityTerm{term}, mostTerms+1)}),
		`Pod "p": AntiAffinity: 129 terms is not at most 128`:          pod(Pod{AntiAffinity: slices.Repeat([]AffinityTerm{term}, mostTerms+1)}),
		`Pod "p": Spread: 129 terms is not at most 128`:                pod(Pod{Spread: make([]Spread, mostTerms+1)}),
		`PodGroup "g": Topology: 33 levels is not at most 32`:          {PodGroups: []PodGroup{{Name: "g", Topology: make([]TopologyConstraint, mostLevels+1)}}},
		`CompositePodGroup "g": Topology: 33 levels is not at most 32`: {CompositePodGroups: []CompositePodGroup{{Name: "g", Topology: make([]TopologyConstraint, mostLevels+1)}}},
	} {
		_, err := NewIndex(s)
		require.EqualError(t, err, "cluster: "+want)
	}
	_, err := NewIndex(pod(Pod{Affinity: slices.Repeat([]AffinityTerm{term}, mostTerms)}))
	require.NoError(t, err)
}

// Terms that differ in any field have different hashes, so that they are not compared one
// with the other.
func TestTermsAreToldApartByHash(t *testing.T) {
	owner, other := &Pod{Labels: map[string]string{"a": "1"}}, &Pod{Labels: map[string]string{"a": "2"}}
	selector := func(v string) *disruption.Selector {
		return &disruption.Selector{MatchLabels: map[string]string{"app": v}}
	}
	seen := map[uint64]bool{}
	for _, term := range []ownedTerm{
		{owner, &AffinityTerm{}},
		{owner, &AffinityTerm{TopologyKey: "zone"}},
		{owner, &AffinityTerm{Selector: selector("x")}},
		{owner, &AffinityTerm{Namespaces: []string{"x"}}},
		{owner, &AffinityTerm{NamespaceSelector: selector("x")}},
		{owner, &AffinityTerm{NamespaceSelector: selector("y")}},
		{owner, &AffinityTerm{MatchLabelKeys: []string{"a"}}},
		{other, &AffinityTerm{MatchLabelKeys: []string{"a"}}},
		{owner, &AffinityTerm{MatchLabelKeys: []string{"b"}}},
	} {
		require.False(t, seen[term.hash()])
		seen[term.hash()] = true
	}
}
