package gang

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

var lessAsUpstream = victims.Ranking{victims.CriterionViolations, victims.CriterionHighest, victims.CriterionSum, victims.CriterionPods}

// crowded is a cluster of some nodes that are full, and a gang, whose members ask for as much
// unless they are unlike; with exactly it needs all of them.
func crowded(draw *rand.Rand, nodes int, unlike, exactly bool) *cluster.Snapshot {
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	priority, need := int32(5), int32(1+draw.IntN(3))
	members := int(need) + draw.IntN(2)
	if exactly {
		members = int(need)
	}
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Namespace: "default", Name: "job", MinCount: &need, Priority: &priority}}}
	for i := range nodes {
		n := cluster.Node{Name: fmt.Sprintf("n%d", i), Allocatable: cpu(4 + draw.Int64N(3))}
		s.Nodes = append(s.Nodes, n)
		for k, left := 0, n.Allocatable[cluster.CPU]-draw.Int64N(2); k < 4 && left > 0; k++ {
			size, level := min(left, 1+draw.Int64N(3)), int32(5*draw.IntN(4)-10)
			left -= size
			s.Pods = append(s.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Priority: &level, Requests: cpu(size)})
		}
	}
	size := 2 + draw.Int64N(3)
	for i := range members {
		if unlike {
			size = 1 + draw.Int64N(4)
		}
		s.Pods = append(s.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprintf("job-%d", i), Group: "job", Requests: cpu(size)})
	}
	return s
}

// seats reports whether members of these sizes find room, one on a node if they are alone there.
func seats(free []int64, sizes []int64, alone bool) bool {
	if len(sizes) == 0 {
		return true
	}
	for n := range free {
		if free[n] < sizes[0] {
			continue
		}
		taken := sizes[0]
		if alone {
			taken = free[n] + 1
		}
		free[n] -= taken
		ok := seats(free, sizes[1:], alone)
		free[n] += taken
		if ok {
			return true
		}
	}
	return false
}

// fewest is what the best set of at most so many victims comes to that makes room for the first
// members in a domain; nil if there is none.
func fewest(q *ask.Question, d *domain.Domain, members, most int, comesTo func(out []cluster.PodID) []int64) (best []int64) {
	var lower []cluster.PodID
	alone, taken := len(q.Members[0].Pod.Ports) > 0, int64(1<<40) // as much as a port of members
	free := make([]int64, q.Index.NumNodes())
	for _, n := range d.Nodes {
		free[n] = q.Index.Node(n).Allocatable[cluster.CPU]
		for _, p := range q.Index.PodsOn(n) {
			free[n] -= q.Index.Pod(p).Requests[cluster.CPU] + taken*int64(len(q.Index.Pod(p).Ports))
			if q.Index.Priority(p) < q.Priority {
				lower = append(lower, p)
			}
		}
	}
	var sizes []int64
	for _, m := range q.Members[:members] {
		sizes = append(sizes, m.Pod.Requests[cluster.CPU])
	}
	for set := range uint(1) << len(lower) {
		var out []cluster.PodID
		left := slices.Clone(free)
		for i, p := range lower {
			if set>>i&1 != 0 {
				left[q.Index.NodeOf(p)] += q.Index.Pod(p).Requests[cluster.CPU] + taken*int64(len(q.Index.Pod(p).Ports))
				out = append(out, p)
			}
		}
		if values := comesTo(out); len(out) <= most && (best == nil || slices.Compare(values, best) < 0) && seats(left, sizes, alone) {
			best = values
		}
	}
	return best
}

// halves are two domains.
func halves(ix *cluster.Index) []domain.Domain {
	all := seating.Split(ix, nil)[0].Nodes
	return []domain.Domain{{Name: "one", Nodes: all[:len(all)/2]}, {Name: "two", Nodes: all[len(all)/2:]}}
}

// least is the best that any set of victims comes to in one of domains, and for how many members:
// as many as there is a set for, or as few as are needed.
func least(q *ask.Question, domains []domain.Domain, most int) (best []int64, members int) {
	asUpstream := func(out []cluster.PodID) []int64 {
		values := []int64{0, math.MinInt64, 0, int64(len(out))}
		for _, p := range out {
			values[1] = max(values[1], int64(q.Index.Priority(p)))
			values[2] += int64(q.Index.Priority(p)) + 1<<31
		}
		return values
	}
	for i := range domains {
		n := len(q.Members)
		if q.Fewest {
			n = q.Tree.Need()
		}
		for n > q.Tree.Need() && fewest(q, &domains[i], n, 100, asUpstream) == nil {
			n--
		}
		if values := fewest(q, &domains[i], n, most, asUpstream); values != nil && (best == nil || slices.Compare(values, best) < 0) {
			best, members = values, n
		}
	}
	return best, members
}

// full reports whether no other member fits beside those of p.
func full(q *ask.Question, p *Plan) bool {
	free, out := make([]int64, q.Index.NumNodes()), map[domain.MemberID]bool{}
	for _, n := range p.Domain.Nodes {
		free[n] = q.Index.Node(n).Allocatable[cluster.CPU]
		for _, p := range q.Index.PodsOn(n) {
			free[n] -= q.Index.Pod(p).Requests[cluster.CPU]
		}
	}
	for _, u := range p.Victims {
		for _, v := range q.Units.Unit(u).Pods {
			free[q.Index.NodeOf(v)] += q.Index.Pod(v).Requests[cluster.CPU]
		}
	}
	for _, at := range p.Places {
		free[at.Node] -= q.Members[at.Member].Pod.Requests[cluster.CPU]
		out[at.Member] = true
	}
	for i, m := range q.Members {
		if !out[domain.MemberID(i)] && seats(free, []int64{m.Pod.Requests[cluster.CPU]}, false) {
			return false
		}
	}
	return true
}

// TestGangsAreBruteForce: whoever is searched for with more effort disrupts no more, and with all
// of it as little as any set of victims does; a gang that has no place has none. Cut short, a
// search says how good another plan may be; so does one that has looked into too many domains, or at too many sums.
func TestGangsAreBruteForce(t *testing.T) {
	for _, x := range []struct {
		name                  string
		unlike, fewest, split bool
		ports                 bool   // members keep off a node where one is, or somebody else who has their port
		settled               int    // so many were; none is open
		work                  [3]int // asked, evaluated and searched, as much as before
	}{
		{name: "alike", settled: 308, work: [3]int{216_686, 1920, 1266}}, {name: "unlike", unlike: true, settled: 324, work: [3]int{243_096, 1712, 1183}}, {name: "fewest", fewest: true, settled: 344, work: [3]int{210_582, 1920, 779}},
		{name: "alike in halves", split: true, settled: 330, work: [3]int{146_902, 3800, 637}}, {name: "unlike in halves", unlike: true, split: true, settled: 324, work: [3]int{274_860, 3308, 1075}},
		{name: "ports", ports: true, settled: 229, work: [3]int{377_011, 1920, 1251}}, {name: "unlike with ports", unlike: true, ports: true, settled: 268, work: [3]int{385_892, 1872, 1169}},
	} {
		t.Run(x.name, func(t *testing.T) {
			told, settled, better, open, cut, sums, work := map[ask.Verdict]int{}, 0, 0, 0, 0, 0, [3]int{}
			for seed := range uint64(120) {
				nodes := 3
				if x.split {
					nodes = 4
				}
				s := crowded(rand.New(rand.NewPCG(seed, 4)), nodes, x.unlike, x.unlike || x.split)
				for i := range s.Pods {
					if p := &s.Pods[i]; x.ports && (p.Node == "" || i%3 == 0) {
						p.Ports = []cluster.HostPort{{Port: 80}}
					}
				}
				for _, most := range []int{2, 100} {
					var greedy, best []int64
					members := -1
					for _, by := range []struct {
						effort               ask.Effort
						steps, begun, summed int
					}{{ask.Greedy, 0, 0, 0}, {ask.Improved, 0, 0, 0}, {ask.Exact, 1, 0, 0}, {ask.Exact, 0, 0, 0}, {ask.Exact, 0, mostBegun + 1, 0}, {ask.Exact, 0, 0, mostSums - 80}, {ask.Exact, 0, 0, mostSums - 10}, {ask.Exact, 0, 0, mostSums}} {
						settings := &ask.Settings{
							Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: true, Checks: 100_000,
							Fewest: x.fewest, Effort: by.effort, Steps: by.steps, Ranking: lessAsUpstream,
						}
						var limits []ask.Bound
						if most < 100 {
							limits = []ask.Bound{{Of: ask.NumPods, Left: int64(most)}}
						}
						q := asks(t, s, settings, limits...)
						domains := seating.Split(q.Index, nil)
						if x.split {
							domains = halves(q.Index)
						}
						search := NewCounting(q, &sync.Pool{})
						search.begun, search.summed = by.begun, by.summed
						answer := search.Run([][]domain.Domain{domains})
						sums += search.summed - by.summed
						if by.summed == 0 {
							work[0] += search.Asked()
						}
						work[1], work[2] = work[1]+search.Stats.Evaluated, work[2]+search.Stats.Searched
						search.Close()
						if members < 0 {
							best, members = least(q, domains, most) // whatever the effort
						}
						at := fmt.Sprintf("seed %d, %+v, at most %d", seed, by, most)
						told[answer.Verdict]++
						switch {
						case answer.Verdict == ask.Fits:
						case answer.Verdict == ask.Infeasible:
							require.True(t, best == nil || !search.Proved, at)
						default:
							require.LessOrEqual(t, len(answer.Plan.Victims), most, at)
							if x.fewest {
								require.True(t, full(q, answer.Plan), at)
							}
							if best == nil || len(answer.Plan.Places) < members {
								require.Less(t, most, 100, at)
								break // fewer of them keep within the bound
							}
							require.True(t, x.fewest || len(answer.Plan.Places) == members, at)
							have := lessAsUpstream.Values(answer.Plan.Score)
							switch {
							case by.begun > 0 || by.summed == mostSums:
								require.True(t, search.Open, at)
								require.Nil(t, search.Least, at)
							case by.effort == ask.Exact && !search.Open:
								require.Equal(t, best, have, at)
								if by.summed == 0 {
									settled++
								}
							case search.Open: // the best is it, or as good as what is said to be open
								require.True(t, slices.Equal(have, best) || slices.Compare(search.Least, best) <= 0, at)
								if by.summed == 0 {
									open++
								} else {
									cut++
								}
							}
							switch {
							case by.effort == ask.Greedy:
								greedy = have
							case greedy != nil:
								require.LessOrEqual(t, slices.Compare(have, greedy), 0, at)
								if slices.Compare(have, greedy) < 0 {
									better++
								}
							}
						}
					}
				}
			}
			require.Greater(t, told[ask.Feasible], 100)
			require.GreaterOrEqual(t, settled, x.settled)
			require.Equal(t, !x.ports, better > 0) // alone on a node members are not in the way of each other
			require.Positive(t, sums)
			require.Equal(t, x.ports, open > 0)
			require.Equal(t, x.split, cut > 0)
			require.Equal(t, x.work, work)
		})
	}
}
