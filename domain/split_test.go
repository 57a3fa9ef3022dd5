package domain_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
