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
