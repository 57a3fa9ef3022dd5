package domain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
