package domain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
