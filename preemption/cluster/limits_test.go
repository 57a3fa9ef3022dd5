package cluster

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
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

// However often a name stands, it is told once, and no two are compared.
func TestANameThatStandsOften(t *testing.T) {
	b := disruption.Budget{Name: "b"}
	s := &Snapshot{Nodes: make([]Node, 200_000), Pods: make([]Pod, 200_000), Budgets: []disruption.Budget{b, b, b}}
	for i := range s.Pods {
		s.Nodes[i].Name, s.Pods[i].Name = "n", "p"
	}
	_, err := NewIndex(s)
	require.EqualError(t, err, "cluster: Node \"n\": Name: \"n\" is not unique\ncluster: Pod \"p\": Name: \"p\" is not unique\ncluster: PodDisruptionBudget \"b\": Name: \"b\" is not unique")
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
	require.True(t, amountsFit(1<<19, 0, fewResources+16))
	require.False(t, amountsFit(0, 1<<20, fewResources+17))
	require.True(t, amountsFit(0, 0, fewResources+mostAmounts))
	nodes := slices.Repeat([]*Node{{}}, 1<<20)
	nodes[0] = &Node{Devices: map[string]DevicePool{"": {Count: mostDevices}}}
	for i := range 16 {
		var ps problems
		checkDevices(&ps, nodes)
		require.Empty(t, ps)
		nodes[0].Devices[fmt.Sprint(i)] = DevicePool{}
	}
	nodes[1] = &Node{Devices: map[string]DevicePool{"": {Count: 1}}}
	var ps problems
	checkDevices(&ps, nodes)
	require.Len(t, ps, 2)
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
		`Pod "p": Tokens: 129 is not at most 128`:                      pod(Pod{Tokens: make([]string, mostTokens+1)}),
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
	require.Equal(t, []PodID{0}, ts.Holders(ts.ByName("x")))
	require.Equal(t, []PodID{0, 2}, ts.Holders(ts.ByName("y")))
	require.Equal(t, 2, ts.Len())
}

func TestDevicesThatPodsHold(t *testing.T) {
	whole := func(n int32, assigned ...int32) DeviceRequest {
		return DeviceRequest{Resource: "gpu", Count: n, Assigned: assigned}
	}
	part := func(f int64, assigned ...int32) DeviceRequest {
		return DeviceRequest{Resource: "gpu", Fraction: f, Assigned: assigned}
	}
	type held map[string][]Holding
	for _, c := range []struct {
		name string
		pods map[string][]DeviceRequest
		free []int64
		held held
		odd  []string // pods and texts of the warnings

		loose int32
		sizes []int64 // of loose fractions
	}{
		{
			"nobody holds anything",
			nil, []int64{10, 10, 10}, held{}, nil, 0, nil,
		}, {
			"only what is said is held for certain",
			map[string][]DeviceRequest{"a": {part(4)}, "b": {whole(1)}, "c": {part(7, 1)}},
			[]int64{10, 3, 10}, held{"c": {{1, 7}}}, nil, 2, []int64{4},
		}, {
			"the largest fraction first, each where it fits best",
			map[string][]DeviceRequest{"a": {part(3)}, "b": {part(6)}, "c": {part(3)}, "d": {part(5)}, "e": {part(4), part(7)}},
			[]int64{10, 10, 10}, held{}, nil, 6, []int64{3, 4, 5, 6, 7},
		}, {
			"several requests of one pod",
			map[string][]DeviceRequest{"a": {part(6, 2), whole(2, 0, 1)}},
			[]int64{0, 0, 4}, held{"a": {{2, 6}, {0, 10}, {1, 10}}}, nil, 0, nil,
		}, {
			"too many whole devices",
			map[string][]DeviceRequest{"a": {whole(2)}, "b": {whole(2)}},
			[]int64{10, 10, 10}, held{},
			[]string{"b: not enough devices are wholly free on its node: none there counts as free"}, 2, nil,
		}, {
			"too large a fraction",
			map[string][]DeviceRequest{"a": {part(6)}, "b": {part(6)}, "c": {part(6)}, "d": {part(5)}},
			[]int64{10, 10, 10}, held{},
			[]string{"d: no device on its node has that much room: none there counts as free"}, 4, []int64{5, 6},
		}, {
			"whole devices first",
			map[string][]DeviceRequest{"a": {part(6)}, "b": {part(6)}, "c": {part(6)}, "d": {whole(1)}},
			[]int64{10, 10, 10}, held{},
			[]string{"c: no device on its node has that much room: none there counts as free"}, 4, []int64{6},
		}, {
			"however many",
			map[string][]DeviceRequest{"a": {whole(1)}, "b": {whole(3)}},
			[]int64{10, 10, 10}, held{},
			[]string{"b: not enough devices are wholly free on its node: none there counts as free"}, 2, nil,
		}, {
			"of which nothing is left",
			map[string][]DeviceRequest{"a": {whole(3)}, "b": {part(1)}},
			[]int64{10, 10, 10}, held{},
			[]string{"b: no device on its node has that much room: none there counts as free"}, 2, []int64{1},
		}, {
			"two pods say that they hold the same",
			map[string][]DeviceRequest{"a": {whole(1, 0)}, "b": {part(6, 0)}},
			[]int64{-6, 10, 10}, held{"a": {{0, 10}}, "b": {{0, 6}}},
			[]string{"b: device 0 is held by more than it has"}, 0, nil,
		}, {
			"a device that is not there, and a fraction above what a device has",
			map[string][]DeviceRequest{"a": {whole(2, 2, 3)}, "b": {part(11, 1)}},
			[]int64{10, 0, 0}, held{"a": {{2, 10}}, "b": {{1, 10}}},
			[]string{"a: device 3 is not on its node: it does not hold that one"}, 0, nil,
		}, {
			"a resource that the node does not have",
			map[string][]DeviceRequest{"a": {{Resource: "fpga", Count: 1}}, "b": {{Resource: "npu", Count: 1, Assigned: []int32{0}}}},
			[]int64{10, 10, 10}, held{},
			[]string{"a: no such devices on its node: it holds none", "b: no such devices on its node: it holds none"}, 0, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Snapshot{Nodes: []Node{
				{Name: "n1", Devices: map[string]DevicePool{"gpu": {3, 10}}},
				{Name: "n2", Devices: map[string]DevicePool{"fpga": {1, 1}}},
			}}
			for name, requests := range c.pods {
				s.Pods = append(s.Pods, Pod{Name: name, Node: "n1", Devices: requests})
			}
			s.Pods = append(s.Pods, Pod{Name: "pending", Devices: []DeviceRequest{whole(1)}},
				Pod{Name: "lost", Node: "n3", Devices: []DeviceRequest{whole(1)}})
			ix := indexOf(t, s)
			d := ix.Devices()
			require.Equal(t, append(c.free, 1), d.Free())
			got := held{}
			for p := range PodID(ix.NumPods()) {
				if h := d.Held(nil, ix.Pod(p), ix.NodeOf(p)); len(h) > 0 {
					got[ix.Pod(p).Name] = h
				}
			}
			if diff := cmp.Diff(c.held, got); diff != "" {
				t.Errorf("holdings (-want +got):\n%s", diff)
			}
			check := func(odd []string, loose int32, sizes []int64) {
				var told []string
				for _, w := range ix.Warnings() {
					if w.Field != "Node" { // of the pod on no node
						require.Equal(t, "Devices[0]", w.Field)
						told = append(told, w.Name+": "+w.Text)
					}
				}
				require.Equal(t, odd, told)
				require.EqualValues(t, loose, d.Loose(d.Pools("gpu")[0]))
				require.ElementsMatch(t, sizes, d.LooseFractions("gpu"))
				require.Empty(t, d.LooseFractions("fpga"))
			}
			check(c.odd, c.loose, c.sizes)
			require.Equal(t, []PoolID{0, NoPool}, d.Pools("gpu"))
			require.Equal(t, Pool{1, 3, 1, 1}, d.Pool(d.Pools("fpga")[1]))
			require.Nil(t, d.Pools("npu"))
			for name := range c.pods {
				ix.RemovePod(ix.PodByName("", name))
			}
			check(nil, 0, nil)
			require.Equal(t, []int64{10, 10, 10, 1}, d.Free())
			require.Zero(t, indexOf(t, Snapshot{Nodes: s.Nodes}).Devices().Loose(0))
			one := indexOf(t, Snapshot{Nodes: s.Nodes, Pods: []Pod{{Name: "a", Node: "n1", Devices: []DeviceRequest{part(4, 0)}}}})
			require.Equal(t, []int64{6, 10, 10, 1}, one.Devices().Free())
		})
	}
}

// TestForksKeepTheirPendingPods: who goes in a fork stays in the other.
func TestForksKeepTheirPendingPods(t *testing.T) {
	var s Snapshot
	for _, name := range []string{"a", "b", "c"} {
		s.Pods = append(s.Pods, Pod{Namespace: "ns", Name: name, Devices: []DeviceRequest{{Resource: "gpu", Count: 1}}})
	}
	ix, err := NewIndex(&s)
	require.NoError(t, err)
	fork := ix.Fork()
	ids := []PodID{ix.PodByName("ns", "a"), ix.PodByName("ns", "b"), ix.PodByName("ns", "c")}
	fork.RemovePod(ids[0])
	require.ElementsMatch(t, ids, ix.Devices().Pending())
	require.ElementsMatch(t, ids[1:], fork.Devices().Pending())
}

func TestBestFit(t *testing.T) {
	require.Equal(t, 1, BestFit([]int64{9, 4, 4, 3}, 4))
	require.Equal(t, 0, BestFit([]int64{9, 4, 4, 3}, 5))
	require.Equal(t, 0, BestFit([]int64{4, 9}, 4))
	require.Equal(t, -1, BestFit([]int64{9}, 10))
	require.Equal(t, -1, BestFit(nil, 0))
}

// Every group is on a cycle from which the chain of its parents comes back to it.
func TestOnCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "groups")
		parents := rapid.SliceOfN(rapid.IntRange(-1, max(n-1, 0)), n, n).Draw(t, "parents")
		parent := func(g GroupID) GroupID { return GroupID(parents[g]) }
		for i, got := range onCycles(n, parent) {
			at := parent(GroupID(i))
			for range n {
				if at == NoGroup || at == GroupID(i) {
					break
				}
				at = parent(at)
			}
			require.Equal(t, at == GroupID(i), got, "group %d of %d", i, parents)
		}
	})
}

func TestOnCyclesAsksForEachParentTwice(t *testing.T) {
	const n = 10_000
	for name, parent := range map[string]func(GroupID) GroupID{
		"a chain down": func(g GroupID) GroupID { return g - 1 },
		"a chain up":   func(g GroupID) GroupID { return (g+2)%(n+1) - 1 },
		"a cycle":      func(g GroupID) GroupID { return (g + 1) % n },
		"into a cycle": func(g GroupID) GroupID { return min(g+1, n-1) },
	} {
		asked := 0
		onCycles(n, func(g GroupID) GroupID { asked++; return parent(g) })
		require.LessOrEqual(t, asked, 2*n, name)
	}
}

// However long what they are about, messages are short.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	s := &Snapshot{
		Pods: []Pod{{
			Name: "a/" + long, Namespace: long, Requests: Resources{long: -1}, Policy: "no",
			Ports:       []HostPort{{Port: -1, Protocol: long}},
			Tolerations: []Toleration{{Operator: TolerationOperator(long)}},
		}},
		Budgets: []disruption.Budget{{Name: long, Selector: &disruption.Selector{MatchLabels: map[string]string{long: long}}}},
	}
	_, err := NewIndex(s)
	require.ErrorIs(t, err, ErrInvalid)
	for _, line := range strings.Split(err.Error(), "\n") {
		require.Less(t, len(line), 1_200)
	}
}

// Compile is Objects.Index by a number of goroutines.
var Compile = compile

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
		Nodes: []Node{{Name: "a/b"}, {Name: "\xff"}, {}}, // a node has no namespace
		Pods: []Pod{{
			Namespace: "a/b\xf9", Name: "c/d", NodeSelector: map[string]string{"k": "\xfe"}, Tolerations: []Toleration{{Key: "\xfd", Value: "\xfc"}},
			NodeAffinity: &NodeAffinity{Terms: []NodeTerm{{Labels: []NodeRequirement{{Key: "\xfb", Operator: NodeIn, Values: []string{"x", "\xfa"}}}}}},
		}},
	})
	requireFields(t, err, []string{
		`Name: "" is not a name`, `Name: "\xff" is not UTF-8`, `Name: "c/d" is not a name without '/'`,
		`Namespace: "a/b\xf9" is not UTF-8`, `Namespace: "a/b\xf9" is not a name without '/'`,
		`NodeAffinity.Terms[0].Labels[0].Key: "\xfb" is not UTF-8`, `NodeAffinity.Terms[0].Labels[0].Values: "\xfa" is not UTF-8`,
		`NodeSelector: "\xfe" is not UTF-8`, `Tolerations[0].Key: "\xfd" is not UTF-8`, `Tolerations[0].Value: "\xfc" is not UTF-8`,
	})
	for more, told := range []string{"UTF-8", "1 more problems"} { // beyond 1,000
		s := &Snapshot{Nodes: []Node{{Name: "\xff"}}}
		for i := range 999 + more {
			s.Nodes = append(s.Nodes, Node{Name: fmt.Sprintf("%03d/\xff", i)})
		}
		_, err := NewIndex(s)
		require.ErrorIs(t, err, ErrInvalid)
		require.Regexp(t, told+"$", err.Error())
	}
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
