package domain_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
