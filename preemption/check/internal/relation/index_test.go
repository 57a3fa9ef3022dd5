package relation

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestAnIndexLeavesOutNobody: affinity says the same of each node whether it reads the running pods by an index or all of them.
func TestAnIndexLeavesOutNobody(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(2_000) {
		draw := rand.New(rand.NewPCG(seed, 1))
		labels := func() map[string]string {
			return map[string]string{fmt.Sprint("k", draw.IntN(2)): fmt.Sprint(draw.IntN(2))}
		}
		selector := func() *disruption.Selector {
			return []*disruption.Selector{nil, {}, {MatchLabels: labels()}, {MatchLabels: labels()}}[draw.IntN(4)]
		}
		pod := func(terms int) *cluster.Pod {
			p := &cluster.Pod{Namespace: fmt.Sprint("ns", draw.IntN(3)), Labels: labels()}
			for range draw.IntN(terms) {
				term := cluster.AffinityTerm{TopologyKey: "host", Selector: selector(), NamespaceSelector: selector()}
				if draw.IntN(2) == 0 {
					term.Namespaces = []string{fmt.Sprint("ns", draw.IntN(3))}
				}
				if p.AntiAffinity = append(p.AntiAffinity, term); draw.IntN(4) == 0 {
					p.Affinity = append(p.Affinity, term)
				}
			}
			return p
		}
		s := &cluster.Snapshot{}
		q := Question{
			Snapshot: s, Spaces: map[string]map[string]string{"ns0": labels(), "ns1": labels()}, Repelling: true, Old: draw.IntN(2) == 0,
			Members: []*cluster.Pod{pod(2)}, Placed: func(int) *cluster.Node { return nil },
		}
		for i := range 4 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint(i), Labels: map[string]string{"host": fmt.Sprint(i)}})
			p := pod(3)
			p.Node = fmt.Sprint(i)
			s.Pods = append(s.Pods, *p)
		}
		q.Running = func(yield func(*cluster.Pod, *cluster.Node) bool) {
			for i := 0; i < len(s.Pods) && yield(&s.Pods[i], &s.Nodes[i]); i++ {
			}
		}
		by := q
		by.Index = NewIndex(nil, iter.Seq2[*cluster.Pod, *cluster.Node](q.Running))
		whole, indexed := newAffinity(&q), newAffinity(&by)
		require.Equal(t, whole == nil, indexed == nil, "seed %d", seed)
		for i := 0; whole != nil && i < len(s.Nodes); i++ {
			check, never := whole.Misfit(0, &s.Nodes[i])
			other, too := indexed.Misfit(0, &s.Nodes[i])
			require.Equal(t, check, other, "seed %d, node %d", seed, i)
			require.Equal(t, never, too, "seed %d, node %d", seed, i)
			count[string(check)]++
		}
	}
	require.Len(t, count, 3)
	for check, n := range count {
		require.Greater(t, n, 200, check)
	}
}
