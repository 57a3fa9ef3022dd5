package preemption_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// optimum is the least disruption by which so many equal members get a place: the
// highest priority that has to go, and then the smallest sum of raised priorities, over
// every placement and every set of victims. It is for pods that go one by one.
func optimum(q gen.Question, members int) (highest, sum int64) {
	ask := q.Preemptor.Pods[0].Requests[cluster.CPU]
	for highest = range int64(10) {
		least := make([]int64, members+1) // by members seated so far: the smallest sum
		for k := 1; k <= members; k++ {
			least[k] = math.MaxInt64
		}
		for _, n := range q.Snapshot.Nodes {
			node := cheapestOn(q, n, ask, highest, members)
			next := make([]int64, members+1)
			for k := range next {
				next[k] = math.MaxInt64
				for here := range k + 1 {
					if least[k-here] < math.MaxInt64 && node[here] < math.MaxInt64 {
						next[k] = min(next[k], least[k-here]+node[here])
					}
				}
			}
			least = next
		}
		if least[members] < math.MaxInt64 {
			return highest, least[members]
		}
	}
	return 0, 0
}

// cheapestOn is, by how many members get a place on node n, the smallest sum of raised
// priorities, over every set of its pods up to a priority.
func cheapestOn(q gen.Question, n cluster.Node, ask, highest int64, members int) []int64 {
	var pods []cluster.Pod
	free := n.Allocatable[cluster.CPU]
	for _, p := range q.Snapshot.Pods {
		if p.Node == n.Name {
			pods = append(pods, p)
			free -= p.Requests[cluster.CPU]
		}
	}
	least := make([]int64, members+1)
	for k := range least {
		least[k] = math.MaxInt64
	}
	for set := range 1 << len(pods) {
		room, sum, may := free, int64(0), true
		for i, p := range pods {
			if set>>i&1 == 1 {
				room, sum, may = room+p.Requests[cluster.CPU], sum+int64(*p.Priority)+1<<31, may && int64(*p.Priority) <= highest
			}
		}
		for k := range least {
			if may && int64(k)*ask <= room {
				least[k] = min(least[k], sum)
			}
		}
	}
	return least
}

// equalGang is a question about a gang of equal members in a full cluster of a few nodes
// with pods of that many sizes and priorities.
func equalGang(seed uint64, sizes, levels int) (q gen.Question, members int) {
	r := rand.New(rand.NewPCG(seed, 3))
	number := 0
	for i := range 3 + r.IntN(4) {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: int64(6 + r.IntN(6))}}
		q.Snapshot.Nodes = append(q.Snapshot.Nodes, n)
		for free := n.Allocatable[cluster.CPU] - int64(r.IntN(2)); free > 0 && number < 8*(i+1); number++ {
			size, priority := min(free, int64(1+r.IntN(sizes))), int32(r.IntN(levels))
			q.Snapshot.Pods = append(q.Snapshot.Pods, cluster.Pod{
				Name: fmt.Sprint("p", number), Node: n.Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: size},
			})
			free -= size
		}
	}
	members = 2 + r.IntN(5)
	q.Preemptor = fleetGang(members, int64(1+r.IntN(5)))
	return q, members
}

// TestTheOptimumIsNear compares with the least disruption over every placement and every
// set of victims. Victims are given back one by one, the most important first, so that
// it need not be reached: the sum of raised priorities, which counts pods first of all,
// is held to a bound, and so is how often it is the least. The highest priority always
// is. With no checks the placers alone decide, as in large clusters. Measured over 2,000
// seeds, in turn: 1.000, 0.986, 0.727 and 0.759, at worst 1.00, 1.25, 2.00 and 3.00 times
// the sum; with checks 1.000, 1.000, 0.875 and 0.910, at worst 1, 1, 2 and 2 times.
func TestTheOptimumIsNear(t *testing.T) {
	for _, c := range []struct {
		sizes, levels, checks int
		share, bound          float64
	}{
		{1, 1, 0, 1, 1}, {1, 4, 0, 0.97, 1.5}, {4, 1, 0, 0.68, 2}, {4, 4, 0, 0.7, 3},
		{1, 1, 50_000, 1, 1}, {1, 4, 50_000, 1, 1}, {4, 1, 50_000, 0.83, 2}, {4, 4, 50_000, 0.87, 2},
	} {
		t.Run(fmt.Sprintf("sizes=%d/levels=%d/checks=%d", c.sizes, c.levels, c.checks), func(t *testing.T) {
			t.Parallel()
			asked, reached, worst := 0, 0, 1.0
			for seed := range uint64(400) { // with -short too: a share of fewer means nothing
				q, members := equalGang(seed, c.sizes, c.levels)
				r, err := preemption.Options{}.PreemptSearching(q.Preemptor, &q.Snapshot, c.checks)
				require.NoError(t, err)
				if r.Verdict != preemption.Feasible {
					continue
				}
				require.Len(t, r.Nominations, members)
				highest, sum := optimum(q, members)
				got := resultDecision(r).Score
				require.Equal(t, highest, got[1], "seed %d", seed)
				require.GreaterOrEqual(t, got[2], sum, "seed %d", seed)
				if asked++; got[2] == sum {
					reached++
				}
				worst = max(worst, float64(got[2])/float64(sum))
			}
			share := float64(reached) / float64(asked)
			t.Logf("the optimum in %d of %d (%.3f); at worst %.2f times its sum", reached, asked, share, worst)
			require.GreaterOrEqual(t, share, c.share)
			require.LessOrEqual(t, worst, c.bound)
		})
	}
}
