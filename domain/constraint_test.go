package domain_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// builtin are the constraints of this package with what their worlds are full of.
var builtin = []struct {
	constraint domain.Constraint
	features   features
	fromStart  bool
}{
	{domain.ExclusiveTokens(), features{tokens: true, maxMembers: 3}, false},
	{domain.Devices(), features{devices: true, maxMembers: 3}, true},
	{domain.TopologySpread(), features{spread: true, maxMembers: 3}, false},
	{domain.TopologySpread(), features{spread: true, terminating: true}, true},
	{domain.TopologySpread(), features{spread: true, terminating: true, maxMembers: 3}, true},
	{domain.Anew(domain.TopologySpread()), features{spread: true, terminating: true}, true}, // who is nominated counts for an empty selector, who runs does not
	{domain.Anew(domain.TopologySpread()), features{spread: true, terminating: true, unnominated: true}, false},
	{domain.InterPodAffinity(), features{affinity: true}, false},
	{domain.InterPodAffinity(), features{affinity: true, maxMembers: 3}, false},
	{domain.InterPodAffinity136(), features{affinity: true, maxMembers: 3}, false},
	{domain.Anew(domain.InterPodAffinity()), features{affinity: true, maxMembers: 3}, true}, // who is nominated counts beside others alone
	{domain.Anew(domain.InterPodAffinity136()), features{affinity: true, maxMembers: 3, unnominated: true}, false},
}

func keepsTheContract(t *rapid.T) {
	b := builtin[rapid.IntRange(0, len(builtin)-1).Draw(t, "constraint")]
	w := drawWorld(t, b.features)
	require.NoError(t, constrainttest.Check(b.constraint, &w.snapshot, w.members, constrainttest.Options{
		Seed: rapid.Uint64().Draw(t, "seed"), Histories: 2, Steps: 20, FromStart: b.fromStart,
	}))
}

func TestBuiltinConstraintsKeepTheContract(t *testing.T) { rapid.Check(t, keepsTheContract) }
func FuzzBuiltinConstraintsKeepTheContract(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(keepsTheContract))
}

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

// Once warm, a constraint follows removals, returns and placements and answers
// without allocating.
func TestConstraintsDoNotAllocate(t *testing.T) {
	share := func(p *cluster.Pod) { p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: 400}} }
	var s cluster.Snapshot
	for i := range 8 {
		n := node(fmt.Sprintf("n%d zone=z%d", i, i%3))
		n.Devices = map[string]cluster.DevicePool{"gpu": {Count: 4, Capacity: 1000}}
		s.Nodes = append(s.Nodes, n)
		s.Pods = append(s.Pods,
			pod(fmt.Sprintf("w%d@n%d", i, i), labelled("app=web"), tokens("t"), share),
			pod(fmt.Sprintf("x%d@n%d", i, i), apart("zone", app("web")), share))
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	member := func(name string) *cluster.Pod {
		p := pod(name, labelled("app=web"), near("zone", app("web")), apart("host", app("web")), tokens("t"), share,
			spread(cluster.Spread{MaxSkew: 1, TopologyKey: "zone", Selector: app("web")}))
		return &p
	}
	members := []*cluster.Pod{member("m0"), member("m1")}
	for _, c := range []domain.Constraint{
		domain.InterPodAffinity(), domain.TopologySpread(), domain.ExclusiveTokens(), domain.Devices(),
	} {
		state, err := c.Prepare(ix, members)
		require.NoError(t, err)
		use := func() {
			for n := range cluster.NodeID(ix.NumNodes()) {
				for _, p := range ix.PodsOn(n) {
					state.Remove(p, n)
				}
				state.Fits(0, n)
				state.Place(0, n)
				state.Fits(1, n)
				state.Unplace(0, n)
				for _, p := range ix.PodsOn(n) {
					state.Return(p, n)
				}
				state.Fits(0, n)
			}
		}
		use()
		require.Zero(t, testing.AllocsPerRun(10, use), "%s", c.Name())
	}
}

func TestPreferencesAreSharesOfWhatIsAsked(t *testing.T) {
	const huge = math.MaxInt64
	for name, c := range map[string]struct {
		free, offers cluster.Resources // of the node
		asks         cluster.Resources
		least, most  int64
	}{
		"a half is left":                  {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 500_000, -500_000},
		"nothing is left":                 {cluster.Resources{"cpu": 1}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 0, 0},
		"rounded down":                    {cluster.Resources{"cpu": 2}, cluster.Resources{"cpu": 3}, cluster.Resources{"cpu": 1}, 333_333, -333_333},
		"on average":                      {cluster.Resources{"cpu": 4, "memory": 2}, cluster.Resources{"cpu": 6, "memory": 2}, cluster.Resources{"cpu": 1, "memory": 1}, 500_000, -500_000},
		"what it does not ask for":        {cluster.Resources{"cpu": 4, "memory": 0}, cluster.Resources{"cpu": 6, "memory": 9}, cluster.Resources{"cpu": 1}, 500_000, -500_000},
		"it asks for nothing":             {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, nil, 0, 0},
		"overcommitted counts as full":    {cluster.Resources{"cpu": -4}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 0, 0},
		"nobody offers it":                {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, cluster.Resources{"gpu": 1}, 0, 0},
		"amounts as large as they can be": {cluster.Resources{"cpu": huge}, cluster.Resources{"cpu": huge}, cluster.Resources{"cpu": huge / 2}, 500_000, -500_000},
	} {
		t.Run(name, func(t *testing.T) {
			used := cluster.Resources{}
			for r, v := range c.offers {
				used[r] = v - c.free[r]
			}
			ix, err := cluster.NewIndex(&cluster.Snapshot{
				Nodes: []cluster.Node{{Name: "n", Allocatable: c.offers}},
				Pods:  []cluster.Pod{{Name: "runs", Node: "n", Requests: used}},
			})
			require.NoError(t, err)
			m, n := domain.NewMember(ix, &cluster.Pod{Requests: c.asks}, cluster.NoPod), ix.NodeByName("n")
			require.Equal(t, c.least, domain.LeastAllocated.Of(m, ix.Free(n), ix.Allocatable(n)))
			require.Equal(t, c.most, domain.MostAllocated.Of(m, ix.Free(n), ix.Allocatable(n)))
			require.Zero(t, domain.FirstByName.Of(m, ix.Free(n), ix.Allocatable(n)))
		})
	}
	require.True(t, domain.FirstByName.Valid() && domain.LeastAllocated.Valid() && domain.MostAllocated.Valid())
	require.False(t, domain.Preference("Best").Valid())
}

func ExamplePreference() {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 4000}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: 1000}}, cluster.NoPod)
	n := ix.NodeByName("n")
	fmt.Println(domain.LeastAllocated.Of(m, ix.Free(n), ix.Allocatable(n)), "millionths of it are left")
	// Output: 750000 millionths of it are left
}

func TestMain(m *testing.M) { gen.Tests(m) }

// TestColocationKeepsTheLaws: of every constraint, and that it reads nothing of another node.
func TestColocationKeepsTheLaws(t *testing.T) {
	web := func(p *cluster.Pod) bool { return p.Labels["app"] == "web" }
	count := func(others []*cluster.Pod) (n int) {
		for _, o := range others {
			if web(o) {
				n++
			}
		}
		return n
	}
	asked := 0
	for name, c := range map[string]domain.Colocation{
		"at most one": {Check: "few", Of: web, Monotone: true, Allows: func(_ *cluster.Pod, _ *cluster.Node, others []*cluster.Pod) bool {
			asked++
			return count(others) <= 1
		}},
		"company": {Check: "company", Allows: func(p *cluster.Pod, n *cluster.Node, others []*cluster.Pod) bool {
			return n.Labels["zone"] != "a" || web(p) || count(others) > 0
		}},
	} {
		for seed := range uint64(60) {
			q := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 14})
			members := append([]cluster.Pod{}, q.Preemptor.Pods...)
			for i := range 2 {
				members = append(members, cluster.Pod{Namespace: "default", Name: fmt.Sprint("m", i), Labels: map[string]string{"app": "web"}})
			}
			if err := constrainttest.Check(c, &q.Snapshot, members, constrainttest.Options{Seed: seed}); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
	if asked == 0 {
		t.Error("nobody was asked about")
	}
}

// unlike are n pods, of which each has labels and terms of its own.
func unlike(n int, change func(p *cluster.Pod, name string)) (list []*cluster.Pod) {
	for i := range n {
		p := pod(fmt.Sprint("m", i), labelled(fmt.Sprint("app=a", i)))
		change(&p, fmt.Sprint("a", i))
		list = append(list, &p)
	}
	return list
}

func TestTermsThatDifferAreRefusedWhereTheyAreTooMany(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n"}}})
	require.NoError(t, err)
	spreads := func(p *cluster.Pod, name string) {
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: app(name)}}
	}
	keepsApart := func(p *cluster.Pod, name string) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: app(name)}}
	}
	keepsAllAway := func(p *cluster.Pod, _ string) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.Exists}}}}}
	}
	for _, k := range []struct {
		constraint domain.Constraint
		change     func(p *cluster.Pod, name string)
		field      string
	}{
		{domain.TopologySpread(), spreads, "Spread"},
		{domain.InterPodAffinity(), keepsApart, "Affinity, AntiAffinity"},
		{domain.InterPodAffinity(), keepsAllAway, "Affinity, AntiAffinity"},
	} {
		_, err := k.constraint.Prepare(ix, unlike(300, k.change))
		require.NoError(t, err)
		_, err = k.constraint.Prepare(ix, unlike(4_100, k.change))
		var field *cluster.FieldError
		require.ErrorAs(t, err, &field)
		require.ErrorIs(t, err, cluster.ErrInvalid)
		require.Equal(t, k.field, field.Field)
		_, err = k.constraint.Prepare(ix, unlike(4_100, func(p *cluster.Pod, _ string) { k.change(p, "a0"); p.Labels["app"], p.Labels["i"] = "a", p.Name }))
		require.NoError(t, err, "a label that no term reads tells nobody apart")
	}
}

// TestPlacersMakeDoWithTheNextPlace: members of sizes 3, 2 and 1 go to three nodes; to find the best one
// for a member, Pack asks about each.
func TestPlacersMakeDoWithTheNextPlace(t *testing.T) {
	const none = cluster.NoNode
	for _, c := range []struct {
		name  string
		nodes []int64
		looks int // 0: not bounded
		want  []cluster.NodeID
	}{
		{"without a bound each gets the best", []int64{3, 6, 6}, 0, []cluster.NodeID{1, 1, 1}},
		{"while half of the looks are left, too", []int64{3, 6, 6}, 14, []cluster.NodeID{1, 1, 1}},
		{"the last one gets the next node", []int64{3, 6, 6}, 12, []cluster.NodeID{1, 1, 0}},
		{"the second one too, and the last one none", []int64{3, 6, 6}, 4, []cluster.NodeID{1, 0, none}},
		{"the next one that has room", []int64{1, 3, 6}, 6, []cluster.NodeID{2, 1, 1}},
		{"all get the next, from where the last one went on", []int64{2, 3, 6}, 1, []cluster.NodeID{none, none, none}},
		{"nobody but the first one gets any", []int64{3, 6, 6}, 3, []cluster.NodeID{1, none, none}},
	} {
		w := newGangWorld(t, c.nodes, nil, []int64{3, 2, 1})
		if c.looks > 0 {
			w.trial.Allow(c.looks)
		}
		placed := domain.Pack{}.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2}, 3)
		require.Equal(t, c.want, []cluster.NodeID{w.trial.At(0), w.trial.At(1), w.trial.At(2)}, c.name)
		require.Len(t, w.trial.Placed(), placed, c.name)
		require.Equal(t, c.looks > 0 && c.looks < 14, w.trial.Hurried, c.name)
	}

	w := newGangWorld(t, []int64{6, 6, 6}, nil, []int64{2, 2, 2})
	for w.trial.Allow(8); w.trial.Asked < 4; { // half of them
		w.trial.CanPlace(0, 0)
	}
	require.Equal(t, 2, domain.Pack{}.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2}, 2), "no more than are wanted")
	require.Len(t, w.trial.Placed(), 2)

	w, members := fourOrders(t)
	w.trial.Allow(2)
	require.Equal(t, 2, domain.FirstFit{}.Place(w.trial, &w.whole, nil, members, 3), "as many as were looked at")
	require.True(t, w.trial.Hurried)
}

// splitPlainly groups the nodes by what the domain's name would be.
func splitPlainly(keys domain.Topology, ix *cluster.Index) []domain.Domain {
	of := map[string][]cluster.NodeID{}
	for n := range cluster.NodeID(ix.NumNodes()) {
		var parts []string
		for _, key := range keys {
			if value, ok := ix.Node(n).Labels[key]; ok {
				parts = append(parts, key+"="+value)
			}
		}
		if len(parts) == len(keys) {
			name := strings.Join(parts, ",")
			of[name] = append(of[name], n)
		}
	}
	var list []domain.Domain
	for name, nodes := range of {
		list = append(list, domain.Domain{Name: name, Nodes: nodes})
	}
	slices.SortFunc(list, func(a, b domain.Domain) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// TestSplitGroupsByName: whatever the labels are, nodes are in one domain if and only
// if it has one name for them.
func TestSplitGroupsByName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := []string{"a", "b", "", "a,rack=1", "1", "1,rack=1"}
		var s cluster.Snapshot
		for i := range rapid.IntRange(0, 12).Draw(t, "nodes") {
			node := cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{}}
			for _, key := range []string{"zone", "rack"} {
				if rapid.IntRange(0, 5).Draw(t, "has") > 0 {
					node.Labels[key] = rapid.SampledFrom(values).Draw(t, key)
				}
			}
			s.Nodes = append(s.Nodes, node)
		}
		ix, err := s.Objects().Index()
		require.NoError(t, err)
		for _, keys := range []domain.Topology{{"zone"}, {"zone", "rack"}, {"rack", "zone"}, {"zone", "rack", "rack"}, {"nowhere"}} {
			list := keys.Split(nil, ix)
			require.Equal(t, splitPlainly(keys, ix), list, "%v", keys)
			for _, d := range list { // they are the caller's
				_ = append(d.Nodes, cluster.NoNode)
				clear(d.Nodes)
			}
			require.Equal(t, splitPlainly(keys, ix), keys.Split(nil, ix), "%v", keys)
		}
	})
}
