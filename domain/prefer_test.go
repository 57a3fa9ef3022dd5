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
	for _, k := range []struct {
		constraint domain.Constraint
		change     func(p *cluster.Pod, name string)
		field      string
	}{{domain.TopologySpread(), spreads, "Spread"}, {domain.InterPodAffinity(), keepsApart, "Affinity, AntiAffinity"}} {
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
