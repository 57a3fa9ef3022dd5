package onepod_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/victims"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// least is the best that any set of victims on any node comes to, of at most so many pods: the
// highest priority, the sum of priorities, pods, and the node; nil if none makes room.
func (w *world) least(pod *cluster.Pod, most int) (best []int64) {
	for n := range w.ix.Nodes() {
		if w.ix.Node(n).Unschedulable {
			continue
		}
		var lower []cluster.PodID
		for _, p := range w.ix.PodsOn(n) {
			if w.ix.Priority(p) < *pod.Priority {
				lower = append(lower, p)
			}
		}
		for set := uint(1); set < 1<<len(lower); set++ {
			free := w.ix.Node(n).Allocatable[cluster.CPU]
			for _, p := range w.ix.PodsOn(n) {
				free -= w.ix.Pod(p).Requests[cluster.CPU]
			}
			highest, sum, pods := int64(0), int64(0), int64(bits.OnesCount(set))
			for i, p := range lower {
				if set>>i&1 != 0 {
					free += w.ix.Pod(p).Requests[cluster.CPU]
					highest = max(highest, int64(w.ix.Priority(p)))
					sum += int64(w.ix.Priority(p)) + 1<<31
				}
			}
			values := []int64{0, highest, sum, pods, int64(n)}
			if free >= pod.Requests[cluster.CPU] && int(pods) <= most && (best == nil || slices.Compare(values, best) < 0) {
				best = values
			}
		}
	}
	return best
}

// TestSearchesAreBruteForce: within limits, somebody goes wherever that is possible at all, and
// the best of all sets is found where it is asked for.
func TestSearchesAreBruteForce(t *testing.T) {
	decided := 0
	for _, x := range []struct {
		name   string
		effort ask.Effort
		steps  int
	}{{"greedy", ask.Greedy, 0}, {"improved", ask.Improved, 0}, {"improved in one step", ask.Improved, 1}, {"exact", ask.Exact, 0}, {"exact in one step", ask.Exact, 1}, {"greedy in one step", ask.Greedy, 1}} {
		t.Run(x.name, func(t *testing.T) {
			feasible, searched, missed, open := 0, 0, 0, 0
			for seed := range uint64(300) {
				draw := rand.New(rand.NewPCG(seed, 3))
				s := fleet(draw, 12)
				s.Budgets = nil
				if seed%5 > 0 { // of few nodes none may do within limits what the greedy way comes to
					s.Nodes = s.Nodes[:1+draw.IntN(2)]
					s.Pods = slices.DeleteFunc(s.Pods, func(p cluster.Pod) bool { return p.Node > s.Nodes[len(s.Nodes)-1].Name })
				}
				w, pod := newWorld(t, s), asker(draw, 6)
				for range 8 {
					w.change(draw)
				}
				for _, most := range []int{2, 3, 4, 100} {
					settings := ask.Settings{Effort: x.effort, Steps: x.steps, ChunkSize: 7, Goroutines: 1}
					if x.effort != ask.Greedy {
						settings.Ranking = lessAsUpstream
					}
					var limits []ask.Bound
					if most < 100 {
						limits = []ask.Bound{{Of: ask.NumPods, Left: int64(most)}}
					}
					greedy := settings
					greedy.Effort = ask.Greedy
					first := onepod.New(w.question(&greedy, limits, pod), &sync.Pool{}, new(onepod.Shapes))
					given := first.Run().Verdict == ask.Feasible
					search := onepod.New(w.question(&settings, limits, pod), &sync.Pool{}, new(onepod.Shapes))
					plan, best := search.Run(), w.least(pod, most)
					searched += search.Stats.Searched
					decided += search.Runner.Decided
					switch {
					case plan.Verdict == ask.Fits:
					case best == nil:
						require.Equal(t, ask.Infeasible, plan.Verdict, "seed %d, at most %d", seed, most)
						require.True(t, search.Stats.Exact || x.steps > 0)
					default:
						feasible++
						if x.steps > 0 && plan.Verdict == ask.Infeasible {
							require.False(t, search.Stats.Exact)
							break
						}
						require.Equal(t, ask.Feasible, plan.Verdict, "seed %d, at most %d", seed, most)
						require.LessOrEqual(t, search.Best.Score.Pods, most)
						if given {
							require.LessOrEqual(t, lessAsUpstream.Compare(search.Best.Score, first.Best.Score), 0, "whatever the steps, it is no worse than without a search")
						}
						have := append(lessAsUpstream.Values(search.Best.Score), int64(plan.Node))
						if slices.Compare(have, best) != 0 {
							missed++
						}
						if search.Open {
							require.NotEmpty(t, search.Bound)
							open++
						}
					}
					first.Close()
					search.Close()
				}
			}
			require.Greater(t, feasible, 100)
			require.Greater(t, searched, 100)
			require.Equal(t, x.effort != ask.Greedy && x.steps > 0, open > 0)
			if x.effort != ask.Greedy {
				require.Zero(t, missed, "none is missed where so few go from a node")
			}
		})
	}
	require.Equal(t, 101, decided, "as many as before")
}

// TestOutdoneNodesAreNotTheBest: a node that is left alone because it is outdone would not have been the best one.
func TestOutdoneNodesAreNotTheBest(t *testing.T) {
	criteria := victims.Ranking{
		victims.CriterionViolations, victims.CriterionOverruns, victims.CriterionHighest, victims.CriterionSum, victims.CriterionPods,
		victims.CriterionUnits, victims.CriterionStarted, victims.CriterionGroups,
	}
	feasible, spared, counted := 0, 0, 0
	for seed := range uint64(400) {
		draw := rand.New(rand.NewPCG(seed, 8))
		s, pod := crowded(draw, 3+draw.IntN(6), false)
		near := func(priority **int32) { // those that are neighbours are told apart
			level := (**priority + 5) / 10
			*priority = &level
		}
		near(&pod.Priority)
		near(&s.PodGroups[0].Priority)
		for i := range s.Pods {
			near(&s.Pods[i].Priority)
		}
		w := newWorld(t, s)
		settings := ask.Settings{Effort: ask.Exact, Steps: 1 << 20, Goroutines: 1, ChunkSize: 1 + draw.IntN(6)}
		for _, i := range draw.Perm(len(criteria))[:1+draw.IntN(4)] {
			if c := criteria[i]; c != victims.CriterionStarted || slices.Contains(settings.Ranking, victims.CriterionHighest) {
				settings.Ranking = append(settings.Ranking, c)
			}
		}
		if draw.IntN(4) == 0 {
			settings.Ranking = victims.Ranking{victims.CriterionHighest, victims.CriterionStarted, victims.CriterionPods}
		}
		run := func(all bool) *onepod.Search {
			settings.Candidates = all
			search := onepod.New(w.question(&settings, nil, pod), &sync.Pool{}, new(onepod.Shapes))
			t.Cleanup(search.Close)
			search.Run()
			return search
		}
		have, all := run(false), run(true)
		if len(all.Found) == 0 {
			continue
		}
		feasible++
		best := all.Found[0]
		for _, c := range all.Found {
			if order := settings.Ranking.Compare(c.Score, best.Score); order < 0 || order == 0 && c.Node < best.Node {
				best = c
			}
		}
		require.LessOrEqual(t, refused(have), refused(all), "seed %d, %v: none is said not to help that does", seed, settings.Ranking)
		if len(pod.Ports) == 0 && !slices.ContainsFunc(s.Pods, func(p cluster.Pod) bool { return p.NominatedNode != "" }) {
			require.Equal(t, refused(all), refused(have), "seed %d, %v: where room alone decides, all are said that don't help", seed, settings.Ranking)
			counted++
		}
		require.Equal(t, best.Node, have.Best.Node, "seed %d, %v", seed, settings.Ranking)
		require.Equal(t, settings.Ranking.Values(best.Score), settings.Ranking.Values(have.Best.Score), "seed %d, %v", seed, settings.Ranking)
		if have.Stats.Searched < all.Stats.Searched {
			spared++
		}
	}
	require.Greater(t, feasible, 200)
	require.Greater(t, spared, 60)
	require.Greater(t, counted, 60)
}

// TestWhatIsRoughlyAtStakeIsNoMore than what is at stake, and where that is known roughly the pod fits without the victims.
func TestWhatIsRoughlyAtStakeIsNoMore(t *testing.T) {
	rough, devices := 0, 0
	for seed := range uint64(1600) {
		draw := rand.New(rand.NewPCG(seed, 12))
		s, pod := crowded(draw, 6, false)
		request := func(p *cluster.Pod) {
			if p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1 + draw.Int32N(2)}}; draw.IntN(2) == 0 {
				p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: 1 + draw.Int64N(5)}}
			}
		}
		for i := range s.Nodes {
			if draw.IntN(4) > 0 {
				s.Nodes[i].Devices = map[string]cluster.DevicePool{"gpu": {Count: 1 + draw.Int32N(3), Capacity: 4}}
			}
		}
		for i := range s.Pods {
			if p := &s.Pods[i]; draw.IntN(3) == 0 && p.Node != "" {
				request(p)
				p.Devices[0].Assigned = []int32{0, 1}[:max(1, p.Devices[0].Count)]
			}
		}
		if draw.IntN(2) == 0 {
			request(pod)
		}
		w := newWorld(t, s)
		settings := ask.Settings{Effort: ask.Exact, Goroutines: 1, Ranking: []victims.Ranking{
			{victims.CriterionOverruns, victims.CriterionHighest, victims.CriterionSum, victims.CriterionPods},
			{victims.CriterionHighest, victims.CriterionStarted, victims.CriterionPods},
			{victims.CriterionGroups, victims.CriterionSum}, {victims.CriterionPods, victims.CriterionHighest, victims.CriterionUnits},
		}[seed%4]}
		search := onepod.New(w.question(&settings, nil, pod), &sync.Pool{}, new(onepod.Shapes))
		for n := range w.ix.Nodes() {
			least, about, ok := search.Stakes(n)
			if !ok {
				continue
			}
			rough++
			devices += len(pod.Devices)
			require.LessOrEqual(t, slices.Compare(about, least), 0, "seed %d, node %d: %v, %v", seed, n, about, least)
			require.NotContains(t, least, int64(math.MaxInt64), "seed %d, node %d: the pod does not fit there", seed, n)
			require.NotContains(t, about, int64(math.MaxInt64))
		}
		search.Close()
	}
	require.Greater(t, rough, 500)
	require.Greater(t, devices, 100)
}

// TestNodesOfAChunkShareSteps: beside the few of each node the nodes of one chunk take the steps of five searches and of one
// that has begun, those of the next chunk as many again, and nodes by themselves what each of them needs.
func TestNodesOfAChunkShareSteps(t *testing.T) {
	const steps = 400
	draw := rand.New(rand.NewPCG(1, 9))
	amounts := func() cluster.Resources {
		return cluster.Resources{cluster.CPU: 100 + draw.Int64N(900), cluster.Memory: 100 + draw.Int64N(900), "disk": 100 + draw.Int64N(900)}
	}
	s, priority := &cluster.Snapshot{}, int32(9)
	for i := range 24 {
		n := cluster.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: cluster.Resources{}}
		for k := range 50 {
			level := int32(draw.IntN(8))
			p := cluster.Pod{Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Priority: &level, Requests: amounts()}
			for r, v := range p.Requests {
				n.Allocatable[r] += v
			}
			s.Pods = append(s.Pods, p)
		}
		s.Nodes = append(s.Nodes, n)
	}
	pod := &cluster.Pod{Name: "asks", Priority: &priority, Requests: cluster.Resources{cluster.CPU: 5000, cluster.Memory: 5000, "disk": 5000}}
	decided := func(chunk int) int {
		settings := ask.Settings{
			Effort: ask.Exact, Steps: steps, Candidates: true, Goroutines: 1, ChunkSize: chunk, Ranking: victims.Ranking{victims.CriterionSum},
		}
		search := onepod.New(newWorld(t, s).question(&settings, nil, pod), &sync.Pool{}, new(onepod.Shapes))
		defer search.Close()
		require.Equal(t, ask.Feasible, search.Run().Verdict)
		return search.Runner.Decided
	}
	together := decided(24)
	require.Less(t, together, 24*ask.FewSteps+6*steps)
	require.Greater(t, decided(12), together+4*steps)
	require.Greater(t, decided(1), together+10*steps)
}

// refused is on how many nodes evictions do not help.
func refused(s *onepod.Search) (nodes int) {
	for _, r := range s.Rejected() {
		nodes += r.Nodes
	}
	return nodes
}
