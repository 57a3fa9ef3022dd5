package queued_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/priority"
)

// anyQueue is a queue with quota for what its pods hold, more or less, on nodes which others share that have no queue.
func anyQueue(draw *rand.Rand) *cluster.Snapshot {
	s := full(0)
	held := int64(0)
	for i := range 1 + draw.IntN(3) {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 5 + draw.Int64N(4)}}
		s.Nodes = append(s.Nodes, n)
		for k, left := 0, n.Allocatable[cluster.CPU]; k < 2+draw.IntN(3) && left > 0; k++ {
			prio, size := int32(1+draw.IntN(4)*3), min(left, 1+draw.Int64N(4))
			p := cluster.Pod{Name: fmt.Sprint(n.Name, "-", k), Node: n.Name, Priority: &prio, Requests: cluster.Resources{cluster.CPU: size}}
			if left -= size; draw.IntN(3) > 0 {
				p.Queue, held = "team", held+size
			}
			s.Pods = append(s.Pods, p)
		}
	}
	s.Pods[0].Requests[cluster.CPU] = 1 + draw.Int64N(5)
	s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = max(held-2+draw.Int64N(6), 1)
	return s
}

// A tally is what there is on each node, and of quota, once some pods have gone.
type tally struct {
	free  map[string]int64
	quota int64
}

func tallyOf(s *cluster.Snapshot, gone func(p *cluster.Pod) bool) tally {
	t := tally{map[string]int64{}, s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal}
	for i := range s.Nodes {
		t.free[s.Nodes[i].Name] = s.Nodes[i].Allocatable[cluster.CPU]
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" && !gone(p) {
			if t.free[p.Node] -= p.Requests[cluster.CPU]; p.Queue != "" {
				t.quota -= p.Requests[cluster.CPU]
			}
		}
	}
	return t
}

// least is the least that a set of less important pods has with which the pod has a place and quota: the highest priority,
// the sum of them, and pods. Who has no queue goes from the pod's node alone. nil: there is none.
func least(s *cluster.Snapshot) (best []int64) {
	var lower []*cluster.Pod
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" && *p.Priority < 9 {
			lower = append(lower, p)
		}
	}
	for set := range uint(1) << len(lower) {
		values, from := []int64{-1 << 31, 0, int64(bits.OnesCount(set))}, map[string]bool{}
		gone := map[string]bool{}
		for i, p := range lower {
			if set>>i&1 != 0 {
				values[0], values[1] = max(values[0], int64(*p.Priority)), values[1]+priority.Raised(*p.Priority)
				gone[p.Name] = true
				if p.Queue == "" {
					from[p.Node] = true
				}
			}
		}
		t, asks := tallyOf(s, func(p *cluster.Pod) bool { return gone[p.Name] }), s.Pods[0].Requests[cluster.CPU]
		for node, free := range t.free {
			if free >= asks && t.quota >= asks && (len(from) == 0 || len(from) == 1 && from[node]) && (best == nil || slices.Compare(values, best) < 0) {
				best = values
			}
		}
	}
	return best
}

// TestAQueuesPlanAmongAllSets: there is a plan where some set of less important pods makes room and frees quota, none
// else. It disrupts no less than the best of them, and no more where it is searched for. Of each victim it
// is told what would be lacking if it alone came back.
func TestAQueuesPlanAmongAllSets(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(400) {
		s := anyQueue(rand.New(rand.NewPCG(seed, 10)))
		best, asks := least(s), s.Pods[0].Requests[cluster.CPU]
		var before []int64
		for _, effort := range []ask.Effort{ask.Greedy, ask.Improved} {
			at := fmt.Sprint("seed ", seed, ", effort ", effort)
			search := searchOf(s)
			search.Effort = effort
			domains := each(search.Pods.Index)
			if plan := search.Fits(domains); plan != nil {
				require.Equal(t, int64(0), best[2], at)
				require.GreaterOrEqual(t, tallyOf(s, func(*cluster.Pod) bool { return false }).free[plan.Domain.Name], asks, at)
				told["fits"]++
				break
			}
			search.Run(domains)
			if best == nil {
				require.Nil(t, search.Best, at)
				told["none"]++
				continue
			}
			require.NotNil(t, search.Best, at)
			require.Positive(t, best[2], at)
			score := search.Best.Score
			have := []int64{int64(score.Highest), score.Sum, int64(score.Pods)}
			require.LessOrEqual(t, slices.Compare(best, have), 0, at)
			if before == nil {
				before = have
			}
			require.LessOrEqual(t, slices.Compare(have, before), 0, at)
			if slices.Equal(have, best) {
				told["least"]++
			} else {
				told["more"]++
			}
			lacks(t, s, search, have, at)
		}
	}
	t.Log(told)
	require.Greater(t, told["fits"], 20)
	require.Greater(t, told["none"], 20)
	require.Greater(t, told["least"], 5*told["more"])
}

// lacks holds of the victims that are told that they come to the numbers of the plan, and of each what would be lacking.
func lacks(t *testing.T, s *cluster.Snapshot, search *queued.Search, values []int64, at string) {
	gone, ix, asks := map[string]*cluster.Pod{}, search.Pods.Index, s.Pods[0].Requests[cluster.CPU]
	list, sum := search.Spell(search.Best), int64(0)
	name := func(v *queued.Victim) string {
		if v.Reservation == nil {
			return ix.Pod(search.Pods.Units.Unit(v.Unit).Pods[0]).Name
		}
		return v.Workload.Name
	}
	for i := range list {
		p := ix.Pod(ix.PodByName("", name(&list[i])))
		gone[p.Name], sum = p, sum+priority.Raised(*p.Priority)
	}
	require.Len(t, gone, int(values[2]), at)
	require.Equal(t, values[1], sum, at)
	for i := range list {
		v, back := &list[i], name(&list[i])
		left := tallyOf(s, func(p *cluster.Pod) bool { return p.Name != back && gone[p.Name] != nil })
		if v.Reservation == nil {
			require.Equal(t, search.Best.Places[0].Node, v.Node, at)
		} else if missing := asks - max(left.quota, 0); missing > 0 {
			require.Equal(t, missing, v.Lack.Missing, at)
			continue
		}
		require.Equal(t, asks-left.free[search.Best.Domain.Name], v.Why.Missing, "%s: %s", at, back)
		require.Positive(t, v.Why.Missing, at)
	}
}
