package preemption_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// best is the most members that can have a place in one of the regions, and the
// least score at which they can, over every placement.
func best(g *naive.Gang, regions []naive.Region) (most int, score []int64) {
	for _, r := range regions {
		most = max(most, g.MostSeated(r.Nodes, naive.Gone(g.Potential(r.Nodes))))
	}
	for _, r := range regions {
		g.EachPlacement(r.Nodes, naive.Gone(g.Potential(r.Nodes)), func(p naive.Places) bool {
			if len(p) != most || !g.Useful(p) {
				return true
			}
			if plan, st := g.At(p, r.Nodes); st.OK() {
				if v := scoreValues(plan.Score); score == nil || slices.Compare(v, score) < 0 {
					score = v
				}
			}
			return true
		})
	}
	return most, score
}

// TestNoPlacementDisruptsLessInSmallClusters: where all placements can be looked at,
// the answer is the best of them: most members, then the lowest score.
func TestNoPlacementDisruptsLessInSmallClusters(t *testing.T) {
	for name, profile := range gangsAsked() {
		if profile.Wishes {
			continue // child groups that want a region of their own are placed one after the other
		}
		for rules, o := range map[string]preemption.Options{"Kubernetes137": {}, "broken": {BrokenGroupsFree: true}} {
			t.Run(name+"/"+rules, func(t *testing.T) {
				t.Parallel()
				asked := 0
				for seed := range seeds(600) {
					q := gen.RandomGang(seed, profile)
					if !asksSomething(q) {
						continue
					}
					g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					require.NoError(t, err)
					verdict, able := gangTwinVerdict(o, g, q.Preemptor)
					if verdict != naive.Feasible {
						continue
					}
					asked++
					most, score := best(g, able)
					r := ask(&named{t, seed}, o, q)
					require.Len(t, r.Nominations, most, "seed %d", seed)
					require.Equal(t, score, resultDecision(r).Score, "seed %d: %s", seed, r.Message)
				}
				require.NotZero(t, asked)
			})
		}
	}
}

// TestAllThatFitSeatsAll: whatever the rules and the placement, as many members get a
// place as fit anywhere with everybody gone whom the gang may evict.
func TestAllThatFitSeatsAll(t *testing.T) {
	for name, profile := range gangsAsked() {
		if profile.Wishes {
			continue
		}
		profile.MaxMembers = 6
		for _, o := range []preemption.Options{
			{}, {Rules: preemption.Kubernetes136}, {Rules: preemption.KEP5710Alpha}, {LowestLevel: true},
			{Placement: preemption.PlacePack}, {Placement: preemption.PlaceSpread},
		} {
			o.Members = preemption.AllThatFit
			t.Run(fmt.Sprint(name, "/", o.Rules, o.Placement, o.LowestLevel), func(t *testing.T) {
				t.Parallel()
				asked := 0
				for seed := range sparse(2800) {
					q := sound(o, gen.RandomGang(seed, profile))
					if !asksSomething(q) {
						continue
					}
					r := ask(&named{t, seed}, o, q)
					if r.Verdict != preemption.Feasible {
						continue
					}
					g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					require.NoError(t, err)
					verdict, able := gangTwinVerdict(o, g, q.Preemptor)
					require.Equal(t, naive.Feasible, verdict, "seed %d", seed)
					most := 0
					for _, region := range able {
						most = max(most, g.MostSeated(region.Nodes, naive.Gone(g.Potential(region.Nodes))))
					}
					require.Len(t, r.Nominations, most, "seed %d: %s", seed, r.Message)
					asked++
				}
				require.NotZero(t, asked)
			})
		}
	}
}

// TestTheFullestGroupsAreSeated: of groups of 1, 2, 2 and 2 members that run whole, the last three take six seats.
func TestTheFullestGroupsAreSeated(t *testing.T) {
	one, high := int32(1), int32(10)
	s := preemption.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{{Namespace: "x", Name: "job", Priority: &high, MinGroupCount: &one}}}
	core := cluster.Resources{cluster.CPU: 1000}
	for i := range 6 {
		n := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: n, Allocatable: core})
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "x", Name: "on-" + n, Node: n, Requests: core})
	}
	for i, size := range []int32{1, 2, 2, 2} {
		g := fmt.Sprint("g", i)
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "x", Name: g, Parent: "job", Priority: &high, MinCount: &size})
		for k := range size {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: "x", Name: fmt.Sprint(g, "-", k), Group: g, Priority: &high, Requests: core})
		}
	}
	r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Namespace: "x", Name: "job"}, &s)
	require.NoError(t, err)
	require.Len(t, r.Nominations, 6)
	require.False(t, slices.ContainsFunc(r.Nominations, func(n preemption.Nomination) bool { return n.Pod.Name == "g0-0" }))
}

// TestLeastDisruptionComesCloseToTheBest compares the answer in clusters of up to 20
// nodes with what looking at every placement gives, and holds how often it is the
// best. Measured over 1000 seeds, some 480 questions each that evictions answer: 474
// of 480 and 481 of 483; 386 and 382 without the search beyond the placers.
func TestLeastDisruptionComesCloseToTheBest(t *testing.T) {
	for name, profile := range map[string]gen.GangProfile{
		"8 nodes, 8 members":  {Profile: gen.Profile{MaxNodes: 8, MaxPods: 40, Groups: true}, MaxMembers: 8},
		"20 nodes, 4 members": {Profile: gen.Profile{MaxNodes: 20, MaxPods: 100, Groups: true}, MaxMembers: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, reached := 0, 0
			worseIn := map[victims.Criterion]int{}
			for seed := range uint64(150) { // with -short too: a share of fewer means nothing
				q := gen.RandomGang(seed, profile)
				r := ask(&named{t, seed}, preemption.Options{}, q)
				if r.Verdict != preemption.Feasible {
					continue
				}
				all, err := preemption.Options{}.PreemptSearching(q.Preemptor, &q.Snapshot, math.MaxInt32)
				require.NoError(t, err)
				asked++
				got, want := seatsAndScore(r), seatsAndScore(all)
				require.GreaterOrEqual(t, slices.Compare(got, want), 0, "seed %d: every placement was looked at", seed)
				if slices.Equal(got, want) {
					reached++
					continue
				}
				i := 0
				for got[i] == want[i] {
					i++
				}
				worseIn[append([]victims.Criterion{"seated"}, victims.Criteria[:]...)[i]]++
			}
			t.Logf("the best in %d of %d; the others are worse in %v", reached, asked, worseIn)
			require.GreaterOrEqual(t, float64(reached)/float64(asked), 0.95)
		})
	}
}

// seatsAndScore is what placements are compared by, smaller is better.
func seatsAndScore(r *preemption.Result) []int64 {
	return append([]int64{-int64(len(r.Nominations))}, resultDecision(r).Score...)
}

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
