package domain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
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
