package gen_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func ExampleRandom() {
	q := gen.Random(7, gen.Profile{MaxNodes: 2, MaxPods: 3})
	for _, n := range q.Snapshot.Nodes {
		fmt.Println(n.Name, n.Allocatable[cluster.CPU])
	}
	for _, p := range append(q.Snapshot.Pods, q.Preemptor.Pods...) {
		fmt.Println(p.Name, *p.Priority, p.Requests[cluster.CPU])
	}
	// Output:
	// n0 2000
	// p00 10 1000
	// p01 10 1500
	// p02 10 1000
	// web 100 1000
}

func TestEqualSeedsGiveEqualQuestions(t *testing.T) {
	for seed := range uint64(50) {
		if diff := cmp.Diff(gen.Random(seed, gen.Everything()), gen.Random(seed, gen.Everything())); diff != "" {
			t.Fatalf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
	if cmp.Equal(gen.Random(1, gen.Everything()), gen.Random(2, gen.Everything())) {
		t.Fatal("two seeds gave the same question")
	}
}

func TestACloneIsEqualAndItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := gen.Draw(gen.Everything()).Draw(t, "question")
		c := gen.Clone(q)
		if diff := cmp.Diff(q, c); diff != "" {
			t.Fatalf("(-question +clone):\n%s", diff)
		}
		c.Snapshot.Nodes[0].Allocatable[cluster.CPU]++
		if cmp.Equal(q, c) {
			t.Fatal("the clone shares a map")
		}
	})
}

func TestShuffleKeepsEveryObject(t *testing.T) {
	moved := 0
	for seed := range uint64(100) {
		q := gen.Random(seed, gen.Everything())
		before := gen.Clone(q)
		s := gen.Shuffled(seed, q)
		require.Equal(t, before, gen.Clone(q), "what is given stays")
		if !cmp.Equal(q.Snapshot.Pods, s.Snapshot.Pods) {
			moved++
		}
		require.ElementsMatch(t, names(q.Snapshot.Pods), names(s.Snapshot.Pods))
		require.ElementsMatch(t, q.Snapshot.PodGroups, s.Snapshot.PodGroups)
		require.Len(t, s.Snapshot.Nodes, len(q.Snapshot.Nodes))
		require.Len(t, s.Snapshot.Budgets, len(q.Snapshot.Budgets))
	}
	require.Greater(t, moved, 50, "most shuffles should change the order of pods")
}

func names(pods []cluster.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	return out
}

func TestAFleetIsFull(t *testing.T) {
	for _, shape := range gen.Shapes() {
		t.Run(string(shape), func(t *testing.T) {
			const nodes, pods = 24, 30
			s := gen.Fleet(nodes, pods, 1, shape)
			require.Len(t, s.Nodes, nodes)
			require.Len(t, s.Pods, nodes*pods)
			used := map[string]cluster.Resources{}
			priorities := map[int32]bool{}
			for _, p := range s.Pods {
				if used[p.Node] == nil {
					used[p.Node] = cluster.Resources{}
				}
				for name, v := range p.Requests {
					used[p.Node][name] += v
				}
				priorities[*p.Priority] = true
			}
			for _, n := range s.Nodes {
				free := n.Allocatable[cluster.CPU] - used[n.Name][cluster.CPU]
				require.True(t, 0 <= free && free < 1000, "%s has %d of cpu free", n.Name, free)
				require.Less(t, used[n.Name][cluster.Memory], n.Allocatable[cluster.Memory])
			}
			want := map[gen.Shape]int{gen.Uniform: 10, gen.Tied: 1, gen.Distinct: nodes * pods, gen.Budgeted: 10, gen.Equal: 1, gen.Skewed: 9}
			require.Len(t, priorities, want[shape])
			require.Equal(t, shape == gen.Budgeted, len(s.Budgets) > 0)
		})
	}
}

func TestEachRoundDrawsAnew(t *testing.T) {
	given := flag.Lookup("rapid.seed").Value.String()
	defer func() { require.NoError(t, flag.Set("rapid.seed", given)) }()
	for _, seed := range []string{"0", "7"} {
		require.NoError(t, flag.Set("rapid.seed", seed))
		drawn, met := map[[4]uint64]bool{}, 0
		gen.CheckUntil(t, func(t *rapid.T) {
			var v [4]uint64
			for i := range v {
				v[i] = rapid.Uint64().Draw(t, "v")
			}
			if drawn[v] = true; len(drawn) > 500 { // more than a round draws
				met = 1
			}
		}, &met)
		require.Equal(t, seed, flag.Lookup("rapid.seed").Value.String())
	}
}
