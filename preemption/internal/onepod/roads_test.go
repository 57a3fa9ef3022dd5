package onepod_test

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// crowded is a cluster of what nodes and pods may have, and a pod that asks.
func crowded(draw *rand.Rand, nodes int, ties bool) (*cluster.Snapshot, *cluster.Pod) {
	rarely := func(n int) bool { return draw.IntN(n) == 0 }
	web, key := &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}, []string{"rack", "host"}[draw.IntN(2)]
	apart := []cluster.AffinityTerm{{Selector: web, TopologyKey: key}}
	level, one := int32(10*draw.IntN(4)), int32(1)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Namespace: "default", Name: "whole", Mode: disruption.All, MinCount: &one, Priority: &level}}}
	if rarely(2) {
		s.Budgets = fleet(draw, 1).Budgets
		s.Budgets[0].Allowed = int32(draw.IntN(2))
	}
	odd, covered, tied := rarely(2), rarely(4), 2+draw.IntN(5)
	if rarely(3) {
		s.PodGroups[0].Mode = disruption.SurplusFirst
	}
	for i := range nodes {
		n := cluster.Node{
			Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{"rack": fmt.Sprint(i % 5), "host": fmt.Sprint(i)}, Unschedulable: rarely(12),
			Allocatable: cluster.Resources{cluster.CPU: 4 + draw.Int64N(3), cluster.Memory: 12, cluster.Pods: 9},
		}
		if rarely(12) {
			n.Labels = nil
		}
		for left, k := n.Allocatable[cluster.CPU]-draw.Int64N(2), 0; left > 0; k++ {
			p := runner(draw, fmt.Sprintf("p%02d-%d", i, k), n.Name)
			p.Requests = cluster.Resources{cluster.CPU: min(1+draw.Int64N(3), left), cluster.Memory: 1 + draw.Int64N(3)}
			p.Started = time.Unix(int64(draw.IntN(3)), 0)
			left -= p.Requests[cluster.CPU]
			if covered && !rarely(9) { // by a budget, so that whoever goes violates it
				p.Labels = map[string]string{"app": "web"}
			}
			if odd && rarely(6) {
				if p.Group = "whole"; !rarely(9) {
					p.Priority = &level
				}
			}
			if odd && rarely(9) {
				p.Ports = []cluster.HostPort{{Port: 80}}
			}
			if ties && rarely(tied) {
				p.AntiAffinity = apart
			}
			p.Preempted = odd && rarely(9)
			p.Terminating = p.Preempted
			s.Pods = append(s.Pods, p)
		}
		if odd && rarely(6) {
			waits := int32(10 * draw.IntN(5))
			s.Pods = append(s.Pods, cluster.Pod{
				Namespace: "default", Name: "waits-" + n.Name, NominatedNode: n.Name, Priority: &waits, Requests: cluster.Resources{cluster.CPU: 1 + draw.Int64N(2)},
			})
		}
		s.Nodes = append(s.Nodes, n)
	}
	pod := asker(draw, 1+draw.Int64N(6)*draw.Int64N(2))
	pod.Requests[cluster.Memory] = 1 + draw.Int64N(5)
	if rarely(2) {
		pod.Labels = map[string]string{"app": "web"}
	}
	if ties && rarely(2) {
		pod.AntiAffinity = apart
	}
	if ties && rarely(4) { // so that who leaves may be missed
		pod.Affinity = apart
	}
	if ties && rarely(3) {
		pod.Spread = []cluster.Spread{{Selector: web, TopologyKey: key, MaxSkew: 1 + draw.Int32N(2)}}
	}
	if rarely(6) {
		pod.NodeSelector = map[string]string{"rack": "1"}
	}
	if rarely(6) {
		pod.NominatedNode = "n01"
	}
	if odd && rarely(6) {
		pod.Ports = []cluster.HostPort{{Port: 80}}
	}
	return s, pod
}

// helps reports whether the pod of q fits somewhere once any set of who may go has gone, of at most so many pods. Elastic groups
// may lose whom they like.
func (w *world) helps(q *ask.Question, most int) bool {
	trial := domain.NewNodeTrial(w.ix, q.Members[0], q.Clone().States, domain.Nominees{Self: cluster.NoPod, Priority: q.Priority})
	for n := range w.ix.Nodes() {
		var list [][]cluster.PodID // who goes together
		for _, u := range q.Evictable(n) {
			unit := w.units.Unit(u)
			if !unit.Elastic {
				list = append(list, unit.Pods)
				continue
			}
			for i, p := range unit.Pods {
				if w.ix.NodeOf(p) == n {
					list = append(list, unit.Pods[i:i+1])
				}
			}
		}
		for set := range uint(1) << len(list) {
			trial.Reset(n)
			pods := 0
			for i, together := range list {
				for _, p := range together {
					if set>>i&1 != 0 {
						trial.Remove(p)
						pods++
					}
				}
			}
			if pods <= most && trial.Fits().OK() {
				return true
			}
		}
	}
	return false
}

// TestEveryRoadIsThePlainOne: what is told by columns, of many nodes at once or of each, is what comes of taking pods
// out of a trial and giving them back. That nothing helps is said to be proved only if no set of victims does.
func TestEveryRoadIsThePlainOne(t *testing.T) {
	type told struct {
		plan     onepod.Plan
		best     []onepod.Candidate
		found    []onepod.Candidate
		rejected []string
		stats    ask.Stats
	}
	verdicts, scanned, swept, cut, proved, checks := map[ask.Verdict]int{}, 0, 0, 0, [2]int{}, [2]int{}
	for seed := range uint64(2000) {
		draw := rand.New(rand.NewPCG(seed, 7))
		nodes := 3 + draw.IntN(10)
		if seed%50 == 0 {
			nodes += 160
		}
		s, pod := crowded(draw, nodes, seed%2 == 0)
		w := newWorld(t, s)
		for range 9 * draw.IntN(2) {
			if w.change(draw); draw.IntN(9) == 0 {
				w = w.fork()
			}
		}
		settings := ask.Settings{
			Candidates: draw.IntN(3) == 0, Prefer: []domain.Preference{domain.FirstByName, domain.LeastAllocated, domain.MostAllocated}[draw.IntN(5)*draw.IntN(2)%3],
			RepeatOfPod: draw.IntN(8) == 0, Goroutines: 1, Steps: []int{0, 0, 1, 5}[draw.IntN(4)],
		}
		if draw.IntN(8) == 0 {
			settings.Sampling = &ask.Sampling{Percent: 40, Minimum: 2, Offset: int32(draw.IntN(9))}
		}
		most, limits := 100, []ask.Bound(nil)
		if draw.IntN(5) == 0 {
			most = 1 + draw.IntN(3)
			limits = []ask.Bound{{Of: ask.NumPods, Left: int64(most)}}
		}
		asks := func() *ask.Question {
			q := w.question(&settings, limits, pod)
			for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
				state, err := c.Prepare(w.ix, []*cluster.Pod{pod})
				require.NoError(t, err)
				if state != nil {
					q.States = append(q.States, state)
				}
			}
			return q
		}
		run := func(plainly bool) (all told) {
			q, pool := asks(), w.tools
			if plainly {
				pool, q.Traits = &sync.Pool{}, q.Traits|ask.TraitColumns
			} else {
				another := onepod.New(w.question(&ask.Settings{Steps: 1}, nil, asker(draw, 3)), pool, new(onepod.Shapes))
				another.Run() // with the same tools
				another.Close()
				if ask.ByScan.Leads(q.AllTraits()) {
					scanned++
				}
				if ask.BySweep.Leads(q.AllTraits()) {
					swept++
				}
			}
			search := onepod.New(q, pool, new(onepod.Shapes))
			defer search.Close()
			search.Unbounded = plainly
			all.plan = search.Run()
			if all.plan.Verdict == ask.Feasible {
				all.best = []onepod.Candidate{candidate(&search.Best)}
			}
			for i := range search.Found {
				all.found = append(all.found, candidate(&search.Found[i]))
			}
			if all.plan.Verdict != ask.Fits && all.plan.Verdict != ask.Waiting { // which need no reasons
				all.rejected = reasons(search)
			}
			all.stats = search.Stats
			if settings.Steps > 0 && all.plan.Verdict == ask.Feasible { // who looks at more nodes runs out of steps
				if !all.stats.Exact {
					cut++
				}
				all.stats.Exact = false
			}
			if checks[0] += search.Checks(); plainly {
				checks[1] += search.Checks()
			}
			return all
		}
		want, have := run(true), run(false)
		verdicts[have.plan.Verdict]++
		require.LessOrEqual(t, have.stats.Pruned+have.stats.Evaluated, have.stats.Domains)
		require.Equal(t, want, have, "seed %d, %+v", seed, settings)
		switch {
		case have.plan.Verdict != ask.Infeasible || settings.Sampling != nil:
		case have.stats.Exact:
			require.False(t, w.helps(asks(), most), "seed %d, %+v", seed, settings)
			proved[1]++
		default:
			proved[0]++
		}
	}
	t.Log(verdicts, scanned, swept, cut, proved)
	require.Len(t, verdicts, 4)
	require.Greater(t, verdicts[ask.Feasible], 500)
	require.Greater(t, scanned, 300)
	require.Greater(t, swept, 800)
	require.Equal(t, 42, cut, "as many as before, as are the next")
	require.Equal(t, [2]int{111, 518}, proved)
	require.Equal(t, [2]int{85_841, 43_689}, checks, "as many as before, all and plainly; a search that needs fewer changes them")
}

func candidate(c *onepod.Candidate) onepod.Candidate {
	all := onepod.Candidate{Node: c.Node, Score: c.Score}
	all.Victims = append([]victims.UnitID{}, c.Victims...)
	all.Score.Units = len(c.Victims)
	return all
}

// TestASampleIsAsLargeAsIsWanted: from the offset on, and the other nodes are told not to be of it.
func TestASampleIsAsLargeAsIsWanted(t *testing.T) {
	s := &cluster.Snapshot{}
	low, high := int32(1), int32(9)
	for i := range 7 {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 1}, Unschedulable: i == 4}
		s.Nodes = append(s.Nodes, n)
		s.Pods = append(s.Pods, cluster.Pod{Name: "on" + n.Name, Node: n.Name, Priority: &low, Requests: n.Allocatable})
	}
	w := newWorld(t, s)
	settings := &ask.Settings{Candidates: true, Sampling: &ask.Sampling{Minimum: 2, Offset: 3}}
	search := onepod.New(w.question(settings, nil, &cluster.Pod{Name: "in", Priority: &high, Requests: s.Nodes[0].Allocatable}), &sync.Pool{}, new(onepod.Shapes))
	require.Equal(t, ask.Feasible, search.Run().Verdict)
	var found []cluster.NodeID
	for _, c := range search.Found {
		found = append(found, c.Node)
	}
	require.Equal(t, []cluster.NodeID{3, 5}, found)
	others := 0
	for _, r := range search.Rejected() {
		if r.Why.Check == ask.NotSampled {
			others += r.Nodes
		}
	}
	require.Equal(t, 4, others)
	require.Equal(t, 1, search.Stats.Pruned)
	require.Equal(t, 2, search.Stats.Evaluated)
}

// TestWhoWaits: the pod waits for who is leaving its node for another pod, if it may evict him, wherever the rest of his group runs.
func TestWhoWaits(t *testing.T) {
	for _, x := range []struct {
		name                   string
		node                   string
		terminating, preempted bool
		level                  int32
		want                   ask.Verdict
	}{
		{name: "he leaves", node: "n1", terminating: true, preempted: true, want: ask.Waiting},
		{name: "nobody leaves", node: "n1", preempted: true, want: ask.Feasible},
		{name: "he leaves of himself", node: "n1", terminating: true, want: ask.Feasible},
		{name: "he leaves another node", node: "n0", terminating: true, preempted: true, want: ask.Feasible},
		{name: "he is as important", node: "n1", terminating: true, preempted: true, level: 9, want: ask.Feasible},
	} {
		t.Run(x.name, func(t *testing.T) {
			high, one := int32(9), int32(1)
			full := cluster.Resources{cluster.CPU: 1}
			s := &cluster.Snapshot{
				Nodes:     []cluster.Node{{Name: "n0", Allocatable: full}, {Name: "n1", Allocatable: full}, {Name: "n2", Allocatable: full}},
				PodGroups: []cluster.PodGroup{{Namespace: "default", Name: "whole", Mode: disruption.All, MinCount: &one, Priority: &x.level}},
				Pods:      []cluster.Pod{{Namespace: "default", Name: "free", Node: "n2", Priority: &one, Requests: full}},
			}
			for _, n := range []string{"n0", "n1"} {
				leaves := n == x.node
				s.Pods = append(s.Pods, cluster.Pod{
					Namespace: "default", Name: "on-" + n, Group: "whole", Node: n, Priority: &x.level, Requests: full,
					Terminating: leaves && x.terminating, Preempted: leaves && x.preempted,
				})
			}
			w := newWorld(t, s)
			pod := &cluster.Pod{Namespace: "default", Name: "asks", NominatedNode: "n1", Priority: &high, Requests: full}
			search := onepod.New(w.question(&ask.Settings{WaitsForVictims: true}, nil, pod), w.tools, &w.shapes)
			defer search.Close()
			require.Equal(t, x.want, search.Run().Verdict)
		})
	}
}

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

// TestWhatIsRoughlyAtStakeIsNoMore than what is at stake, and where that is known roughly there is room without the victims.
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
// that has begun, those of the next chunk as many again, and those of many chunks what 8 searches take.
func TestNodesOfAChunkShareSteps(t *testing.T) {
	const steps = 500
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
	require.Greater(t, decided(12), together+2*steps)
	require.Less(t, decided(12), together+4*steps)
	require.Less(t, decided(1), 24*ask.FewSteps+9*steps)
}

// refused is on how many nodes evictions do not help.
func refused(s *onepod.Search) (nodes int) {
	for _, r := range s.Rejected() {
		nodes += r.Nodes
	}
	return nodes
}

// A world is a live cluster, and what is remembered of shapes in it.
type world struct {
	ix      *cluster.Index
	units   *victims.Units
	budgets *victims.Budgets
	columns *columns.NodeColumns
	shapes  onepod.Shapes
	tools   *sync.Pool
	polls   atomic.Int64
}

func newWorld(t *testing.T, s *cluster.Snapshot) *world {
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	w := &world{ix: ix, units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), budgets: victims.NewBudgets(ix, disruption.Rule137), tools: &sync.Pool{}}
	w.units.Follow(nil)
	w.columns = columns.NewNodeColumns(w.units, w.budgets)
	return w
}

func (w *world) fork() *world {
	f := &world{ix: w.ix.Fork(), budgets: w.budgets.Fork(), tools: &sync.Pool{}}
	f.units = w.units.Fork(f.ix)
	f.columns = w.columns.Fork(f.units, f.budgets)
	f.shapes.Inherit(&w.shapes)
	return f
}

// follow lets everything follow some shifts.
func (w *world) follow(changed []victims.Shift) {
	if !w.columns.Follow(w.units.Settle(changed)) {
		w.columns = columns.NewNodeColumns(w.units, w.budgets)
		w.tools = &sync.Pool{}
		w.shapes.Reset()
	}
}

func (w *world) set(p *cluster.Pod) {
	id := w.ix.PodByName(p.Namespace, p.Name)
	if !w.ix.MaySetPod(p, id) {
		return
	}
	var changed []victims.Shift
	if id != cluster.NoPod {
		changed = w.units.Remove(changed, id)
	}
	id = w.ix.SetPod(p, id)
	w.budgets.Set(w.ix, id)
	w.follow(w.units.Add(changed, id, w.budgets))
}

func (w *world) remove(id cluster.PodID) {
	if !w.ix.MayRemovePod(id) {
		return
	}
	changed := w.units.Remove(nil, id)
	w.ix.RemovePod(id)
	w.follow(changed)
}

// cordon opens a node to pods or closes it.
func (w *world) cordon(id cluster.NodeID) {
	w.setNode(id, func(n *cluster.Node) { n.Unschedulable = !n.Unschedulable })
}

func (w *world) setNode(id cluster.NodeID, change func(*cluster.Node)) {
	n := *w.ix.Node(id)
	change(&n)
	if !w.ix.MaySetNode(&n) {
		return
	}
	w.ix.SetNode(nil, &n)
	w.units.SetNode(id)
	w.follow([]victims.Shift{{Node: id, Anew: true}})
}

// question is that of pod, who is below no rule but settings and limits.
func (w *world) question(settings *ask.Settings, limits []ask.Bound, pod *cluster.Pod) *ask.Question {
	q := &ask.Question{
		Settings: settings, Index: w.ix, Units: w.units, Budgets: w.budgets, Columns: w.columns,
		Limits: limits, Traits: settings.Traits(), Priority: *pod.Priority, Policy: pod.Policy, Poll: func() { w.polls.Add(1) },
	}
	q.Traits |= settings.TraitsOf(pod)
	q.Members = []*domain.Member{q.NewMember(pod, cluster.NoPod)}
	q.SettleClaim()
	return q
}

// An answer is what a search comes to, as far as decisions tell it.
type answer struct {
	verdict ask.Verdict
	node    cluster.NodeID
	score   [3]int
}

func answerOf(p onepod.Plan, score victims.Score) answer {
	a := answer{verdict: p.Verdict, node: p.Node}
	if p.Verdict == ask.Feasible {
		a.score = [3]int{score.Violations, int(score.Highest), score.Pods}
	}
	return a
}

// plainly is the answer of a search that remembers nothing and looks at nodes one by one, and why the others do not help.
func (w *world) plainly(q *ask.Question) (answer, []string) {
	var none onepod.Shapes
	s := onepod.New(q, &sync.Pool{}, &none)
	defer s.Close()
	s.Each = true
	return answerOf(s.Run(), s.Best.Score), reasons(s)
}

// reasons are why nodes do not help.
func reasons(s *onepod.Search) (list []string) {
	for _, r := range s.Rejected() {
		list = append(list, fmt.Sprint(r))
	}
	slices.Sort(list)
	return list
}

var lessAsUpstream = victims.Ranking{victims.CriterionViolations, victims.CriterionHighest, victims.CriterionSum, victims.CriterionPods}

// remembered are settings of which something is remembered: by columns alone, or by standings.
var remembered = []struct {
	name     string
	settings ask.Settings
	limits   []ask.Bound
}{
	{name: "columns"},
	{name: "columns, preferring", settings: ask.Settings{Prefer: domain.LeastAllocated}},
	{name: "lowest", settings: ask.Settings{Lowest: true}},
	{name: "lowest, preferring", settings: ask.Settings{Lowest: true, Prefer: domain.MostAllocated}},
	{name: "limits", limits: []ask.Bound{{Of: ask.NumPods, Left: 2}}},
	{name: "cheapest", settings: ask.Settings{Ranking: victims.Ranking{victims.CriterionViolations, victims.CriterionPods, victims.CriterionHighest}}},
	{name: "search", settings: ask.Settings{Effort: ask.Improved, Ranking: lessAsUpstream, ChunkSize: 6}},
	{name: "exact, preferring", settings: ask.Settings{Effort: ask.Exact, Ranking: lessAsUpstream, Prefer: domain.LeastAllocated, ChunkSize: 9, Steps: 40}},
}

// TestWhatIsRememberedIsWhatIsFound: whatever happens, and whoever is forked, a decision from
// what is remembered of a shape is that of a search which knows nothing, also once that pod is another. It looks at few nodes.
func TestWhatIsRememberedIsWhatIsFound(t *testing.T) {
	looks := 0
	for _, x := range remembered {
		t.Run(x.name, func(t *testing.T) {
			told := map[ask.Verdict]int{}
			atOnce := 0
			for seed := range uint64(15) {
				x.settings.Goroutines = int(seed % 2) // by one alone, the looks can be counted
				draw := rand.New(rand.NewPCG(seed, 1))
				snapshot := fleet(draw, 4)
				if seed > 6 { // groups, which a search looks at anew where one of their pods comes or goes
					snapshot = grouped(draw, snapshot)
				}
				worlds := []*world{newWorld(t, snapshot)}
				pods := []*cluster.Pod{asker(draw, 4), asker(draw, 4)}
				picky := seed%4 > 0 && x.settings.Effort == ask.Greedy // a search shares steps with many, wherever the pod may go
				if picky {
					pods[0].Tolerations = []cluster.Toleration{{Key: "old"}}
					pods[1].NodeSelector = map[string]string{"disk": "new"}
				}
				for step := range 60 {
					if step%20 == 10 {
						worlds = append(worlds[max(0, len(worlds)-2):], worlds[draw.IntN(len(worlds))].fork())
					}
					w, pod := worlds[draw.IntN(len(worlds))], new(cluster.Pod)
					*pod = *pods[draw.IntN(len(pods))]
					pod.NodeSelector, pod.Tolerations = maps.Clone(pod.NodeSelector), slices.Clone(pod.Tolerations)
					if draw.IntN(12) == 0 {
						pod.Policy = priority.Never
					}
					for range draw.IntN(3) {
						w.change(draw)
					}
					if picky && draw.IntN(4) == 0 {
						w.mark(draw)
					}
					traits := w.question(&x.settings, x.limits, pod).AllTraits()
					require.True(t, ask.AtOnce.Leads(traits))
					want, why := w.plainly(w.question(&x.settings, x.limits, pod))
					w.polls.Store(0)
					told[want.verdict]++
					q := w.question(&x.settings, x.limits, pod)
					if plan, score, ok := onepod.AtOnce(q, w.tools, &w.shapes, pod, q.Members[0].Request(), traits); ok && pod.Policy == "" {
						require.Equal(t, want, answerOf(plan, score), "seed %d, step %d", seed, step)
						atOnce++
					}
					s := onepod.New(q, w.tools, &w.shapes)
					plan, score := s.Decide()
					s.Close()
					require.Equal(t, want, answerOf(plan, score), "seed %d, step %d", seed, step)
					if seed%2 == 1 {
						looks += int(w.polls.Load())
					}
					if ask.ByScan.Leads(traits) && draw.IntN(4) == 0 { // with reasons
						s := onepod.New(w.question(&x.settings, x.limits, pod), w.tools, &w.shapes)
						require.Equal(t, want, answerOf(s.Run(), s.Best.Score), "seed %d, step %d", seed, step)
						if want.verdict != ask.Fits && want.verdict != ask.NotEligible {
							require.Equal(t, why, reasons(s), "seed %d, step %d", seed, step)
						}
						s.Close()
					}
					clear(pod.NodeSelector) // the pod is the caller's
					clear(pod.Tolerations)
				}
			}
			require.Greater(t, told[ask.Feasible], 60)
			require.Greater(t, told[ask.Infeasible]+told[ask.Fits], 10)
			require.Greater(t, told[ask.NotEligible], 10)
			require.Greater(t, atOnce, 60)
		})
	}
	require.Equal(t, 85_233, looks, "as many as before")
}

// TestTheFirstOfEqualNodesIsTheAnswer: also of those that were found to be no better than an answer which does not hold
// any more.
func TestTheFirstOfEqualNodesIsTheAnswer(t *testing.T) {
	low, high := int32(1), int32(2)
	s := &cluster.Snapshot{}
	on := func(node int) cluster.Pod {
		return cluster.Pod{
			Namespace: "default", Name: fmt.Sprint("p", node), Node: fmt.Sprint("n", node), Priority: &low, Requests: cluster.Resources{cluster.CPU: 1},
		}
	}
	for i := range 20 { // and so many that not each change lets all of them be looked at
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods, on(i))
	}
	for _, x := range remembered {
		if len(x.limits) > 0 || x.settings.Effort != ask.Greedy || x.settings.Prefer != domain.FirstByName {
			continue
		}
		w := newWorld(t, s)
		pod := &cluster.Pod{Namespace: "default", Name: "asks", Priority: &high, Requests: cluster.Resources{cluster.CPU: 1}}
		decide := func() cluster.NodeID {
			search := onepod.New(w.question(&x.settings, x.limits, pod), w.tools, &w.shapes)
			defer search.Close()
			plan, _ := search.Decide()
			require.Equal(t, ask.Feasible, plan.Verdict)
			return plan.Node
		}
		for range 3 { // until the shape is known
			require.Equal(t, w.ix.NodeByName("n0"), decide(), x.name)
		}
		again := on(1)
		w.remove(w.ix.PodByName(again.Namespace, again.Name))
		w.set(&again)
		require.Equal(t, w.ix.NodeByName("n0"), decide(), x.name)
		w.cordon(w.ix.NodeByName("n0"))
		require.Equal(t, w.ix.NodeByName("n1"), decide(), x.name)
	}
}

// fleet are nodes of three shapes, of size and a bit, all full.
func fleet(draw *rand.Rand, size int64) *cluster.Snapshot {
	s := &cluster.Snapshot{Budgets: []disruption.Budget{{
		Namespace: "default", Name: "web", Allowed: 1, Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "web"}},
	}}}
	for i := range 16 + draw.IntN(16) {
		n := cluster.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: cluster.Resources{cluster.CPU: size + int64(i%3)}, Unschedulable: draw.IntN(9) == 0}
		s.Nodes = append(s.Nodes, n)
		for left, k := n.Allocatable[cluster.CPU], 0; left > 0; k++ {
			p := runner(draw, fmt.Sprintf("p%02d-%d", i, k), n.Name)
			p.Requests[cluster.CPU] = min(p.Requests[cluster.CPU], left)
			left -= p.Requests[cluster.CPU]
			s.Pods = append(s.Pods, p)
		}
	}
	return s
}

func runner(draw *rand.Rand, name, node string) cluster.Pod {
	priority := int32(10 * draw.IntN(5))
	return cluster.Pod{ // of storage there is none, and who asks for none needs none
		Namespace: "default", Name: name, Node: node, Priority: &priority,
		Requests: cluster.Resources{cluster.CPU: int64(1 + draw.IntN(3)), "storage": int64(draw.IntN(2))},
		Labels:   map[string]string{"app": []string{"web", "db"}[draw.IntN(2)]},
	}
}

// grouped lets some pods of s be of groups that go whole.
func grouped(draw *rand.Rand, s *cluster.Snapshot) *cluster.Snapshot {
	for i := range 8 {
		level := int32(10 * (1 + i%2))
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("g", i), Mode: disruption.All, Priority: &level})
	}
	for i := range s.Pods {
		join(draw, &s.Pods[i])
	}
	return s
}

// join lets p be of one of those groups, perhaps, and mostly of its priority and, but for two of them, under no budget. The first is large.
func join(draw *rand.Rand, p *cluster.Pod) {
	if i := max(0, draw.IntN(20)-4); i < 8 {
		if p.Group = fmt.Sprint("g", i); draw.IntN(5) > 0 {
			p.Labels = []map[string]string{nil, nil, nil, {"app": "web"}}[i%4]
		}
		if level := int32(10 * (1 + i%2)); draw.IntN(5) > 0 {
			p.Priority = &level
		}
	}
}

// asker is a pod of size or a bit more.
func asker(draw *rand.Rand, size int64) *cluster.Pod {
	priority := int32(15 + 10*draw.IntN(2))
	return &cluster.Pod{Namespace: "default", Name: "asks", Priority: &priority, Requests: cluster.Resources{cluster.CPU: size + draw.Int64N(3)}}
}

// mark opens a node to some pods, or closes it to others.
func (w *world) mark(draw *rand.Rand) {
	w.setNode(cluster.NodeID(draw.IntN(w.ix.NumNodes())), func(n *cluster.Node) {
		n.Labels = map[string]string{"disk": []string{"new", "old"}[draw.IntN(2)]}
		if n.Taints = nil; draw.IntN(2) == 0 {
			n.Taints = []cluster.Taint{{Key: "old", Effect: cluster.NoSchedule}}
		}
	})
}

// change lets a pod come, go or be another, or opens or closes a node.
func (w *world) change(draw *rand.Rand) {
	n := cluster.NodeID(draw.IntN(w.ix.NumNodes()))
	if draw.IntN(8) == 0 {
		w.cordon(n)
		return
	}
	on := w.ix.PodsOn(n)
	if len(on) > 0 && draw.IntN(4) == 0 {
		w.remove(on[draw.IntN(len(on))])
		return
	}
	p := runner(draw, fmt.Sprintf("new-%d", draw.IntN(1000)), w.ix.Node(n).Name)
	if w.ix.NumGroups() > 0 {
		join(draw, &p)
	}
	w.set(&p)
}

// TestHoweverManyShareTheNodes: what is found and counted is the same, and with everybody given
// back as far as the pod fits it does not depend on the chunks either.
func TestHoweverManyShareTheNodes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3)) // so that one does not take them all
	type found struct {
		answer
		all      []onepod.Candidate
		rejected []onepod.Rejected
		stats    ask.Stats
		checks   int
		open     bool
		bound    []int64
	}
	opened := 0
	short := remembered[len(remembered)-1]
	short.name, short.settings.Steps = "exact, in one step", 1
	for _, x := range append(slices.Clip(remembered), short) {
		t.Run(x.name, func(t *testing.T) {
			seeds, room, size := uint64(20), int64(4), int64(4)
			if x.settings.Steps == 1 { // of many pods some have to go
				seeds, room, size = 6, 12, 6
			}
			for seed := range seeds {
				draw := rand.New(rand.NewPCG(seed, 2))
				w := newWorld(t, fleet(draw, room))
				for range 10 {
					w.change(draw)
				}
				for range draw.IntN(3) { // holes
					if n := cluster.NodeID(draw.IntN(w.ix.NumNodes())); w.ix.IsNode(n) && len(w.ix.PodsOn(n)) == 0 && w.ix.MayRemoveNode(n) {
						w.ix.RemoveNode(n)
					}
				}
				pod := asker(draw, size)
				run := func(goroutines, size int, all bool) (f found) {
					settings := x.settings
					settings.Goroutines, settings.ChunkSize, settings.Candidates = goroutines, size, all
					s := onepod.New(w.question(&settings, x.limits, pod), w.tools, new(onepod.Shapes))
					defer s.Close()
					s.Each = true
					f.answer = answerOf(s.Run(), s.Best.Score)
					for _, c := range s.Found {
						c.Victims = slices.Clone(c.Victims)
						f.all = append(f.all, c)
					}
					slices.SortFunc(f.all, func(a, b onepod.Candidate) int { return int(a.Node - b.Node) })
					if f.verdict != ask.Fits { // nodes after the first where it does are looked at by chance
						f.rejected = slices.Clone(s.Rejected())
					}
					f.stats, f.checks, f.open, f.bound = s.Stats, s.Checks(), s.Open, s.Bound
					return f
				}
				for _, size := range []int{1, 5, 8} {
					for _, all := range []bool{false, true} {
						want := run(1, size, all)
						if want.open {
							opened++
						}
						for goroutines := 2; goroutines <= 3; goroutines++ {
							require.Equal(t, want, run(goroutines, size, all), "seed %d, %d goroutines, chunks of %d", seed, goroutines, size)
						}
						if x.settings.Effort == ask.Greedy {
							require.Equal(t, run(1, 100, false).answer, want.answer, "seed %d, chunks of %d", seed, size)
						}
					}
				}
			}
		})
	}
	require.Positive(t, opened)
}

// counting counts what moves in a constraint and in its clones.
type counting struct {
	domain.State
	moves *int
}

func (c counting) Remove(p cluster.PodID, n cluster.NodeID) { *c.moves++; c.State.Remove(p, n) }
func (c counting) Return(p cluster.PodID, n cluster.NodeID) { *c.moves++; c.State.Return(p, n) }
func (c counting) Clone() domain.State                      { return counting{c.State.Clone(), c.moves} }

// TestTrialsMoveLargeUnitsAtOnce: whether a pod fits where units of many pods leave and return at once, in part or one pod after
// the other, beside pods that do by themselves, is what a trial says in which all do one by one.
func TestTrialsMoveLargeUnitsAtOnce(t *testing.T) {
	const nodes, groups, numLarge = 5, 10, 64
	r := rand.New(rand.NewPCG(1, 1))
	s := &cluster.Snapshot{}
	for i := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"host": fmt.Sprint(i)}, Allocatable: cluster.Resources{cluster.CPU: 60}})
	}
	for g := range groups {
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: fmt.Sprint("g", g), Mode: disruption.All})
		for i := range []int{numLarge, 3}[g%2] {
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprint("p", g, "-", i), Group: fmt.Sprint("g", g), Labels: map[string]string{"app": fmt.Sprint(i % 2)},
				Node: []string{"n0", "n1", "n2", "n3", "n4", "gone"}[r.IntN(6)], Requests: cluster.Resources{cluster.CPU: 1},
			})
		}
	}
	w := newWorld(t, s)
	high, app := int32(9), &disruption.Selector{MatchLabels: map[string]string{"app": "1"}}
	fits := map[bool]int{}
	for _, pod := range []cluster.Pod{
		{Affinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: app}}},
		{Spread: []cluster.Spread{{MaxSkew: 2, TopologyKey: "host", Selector: app}}},
	} {
		pod.Name, pod.Priority, pod.Labels, pod.Requests = "in", &high, app.MatchLabels, cluster.Resources{cluster.CPU: 10}
		q, moves := w.question(&ask.Settings{}, nil, &pod), 0
		for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
			state, err := c.Prepare(w.ix, []*cluster.Pod{&pod})
			require.NoError(t, err)
			if state != nil {
				q.States = append(q.States, counting{state, &moves})
			}
		}
		var trial onepod.Trial
		trial.Ask(q, domain.Nominees{Self: cluster.NoPod})
		plain := domain.NewNodeTrial(w.ix, q.Members[0], q.Clone().States, domain.Nominees{Self: cluster.NoPod})
		out := map[cluster.PodID]bool{}
		var atOnce []victims.UnitID // those that do, of which there are states
		moved := func(list ...victims.UnitID) {
			for _, u := range list {
				if len(w.units.Unit(u).Pods) == numLarge && !slices.Contains(atOnce, u) && len(atOnce) < 4 {
					atOnce = append(atOnce, u)
				}
			}
		}
		for range 3_000 {
			if r.IntN(50) == 0 && trial.Node() != cluster.NoNode {
				var list, want, others []victims.UnitID
				for i, g := range r.Perm(groups) {
					u, _ := w.units.UnitOf(w.ix.PodByName("", fmt.Sprint("p", g, "-0")))
					switch large := g%2 == 0; {
					case i < 7 && large && len(want) < 4:
						want = append(want, u)
					case large:
						others = append(others, u)
					}
					if i < 7 {
						list = append(list, u)
					}
				}
				require.Equal(t, want, trial.Favor(list))
				if moved(want...); slices.ContainsFunc(want, func(u victims.UnitID) bool { return !slices.Contains(atOnce, u) }) {
					atOnce = slices.Clone(want) // others make room for them, for which everybody is there
					plain.Reset(plain.Node())
				}
				require.Equal(t, plain.Fits(), trial.Fits())
				trial.Reset(trial.Node())
				plain.Reset(plain.Node())
				clear(out)
				for _, list := range [][]victims.UnitID{others, want, want} {
					moves = 0
					for _, u := range list {
						moved(u)
						trial.RemoveUnit(u, w.units.Unit(u).Pods)
						trial.ReturnUnit(u, w.units.Unit(u).Pods)
						for _, p := range w.units.Unit(u).Pods {
							if w.ix.NodeOf(p) == trial.Node() {
								moves -= 4
							}
						}
					}
				}
				require.LessOrEqual(t, moves, 0, "once there are states for it only those on the node move")
			}
			if r.IntN(20) == 0 || trial.Node() == cluster.NoNode {
				n := cluster.NodeID(r.IntN(nodes))
				trial.Reset(n)
				plain.Reset(n)
				clear(out)
			}
			p := cluster.PodID(r.IntN(w.ix.NumPods()))
			u, _ := w.units.UnitOf(p)
			all := w.units.Unit(u).Pods
			if r.IntN(3) == 0 {
				all = []cluster.PodID{p}
			}
			if moveAll(&trial, plain, out, u, all) && len(all) > 1 {
				moved(u)
			}
			why := plain.Fits()
			fits[why.OK()]++
			require.Equal(t, why, trial.Fits())
		}
	}
	require.Greater(t, fits[true], 300)
	require.Greater(t, fits[false], 300)
}

// moveAll lets pods of unit u leave if the first of them is there, else return: those of them who are not away, or there, already. It
// reports whether all do at once.
func moveAll(trial *onepod.Trial, plain *domain.NodeTrial, out map[cluster.PodID]bool, u victims.UnitID, pods []cluster.PodID) bool {
	away, mixed := !out[pods[0]], false
	for _, p := range pods {
		mixed = mixed || out[p] == away
	}
	if !mixed && away {
		trial.RemoveUnit(u, pods)
	} else if !mixed {
		trial.ReturnUnit(u, pods)
	}
	for _, p := range pods {
		if out[p] == away {
			continue
		}
		if out[p] = away; away {
			plain.Remove(p)
		} else {
			plain.Return(p)
		}
		if mixed && away {
			trial.Remove(p)
		} else if mixed {
			trial.Return(p)
		}
	}
	return !mixed
}

// TestEachTryIsALookMore: whoever waits may go away between two nodes that are tried one by one, also where
// little is tried.
func TestEachTryIsALookMore(t *testing.T) {
	const nodes = 40
	s := &cluster.Snapshot{}
	low, high := int32(1), int32(9)
	for i := range nodes {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cluster.Resources{cluster.CPU: 4}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "low" + node, Node: node, Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "high" + node, Node: node, Priority: &high, Requests: cluster.Resources{cluster.CPU: 3}})
	}
	w := newWorld(t, s)
	pod := &cluster.Pod{Name: "in", Priority: &high, Requests: cluster.Resources{cluster.CPU: 2}}
	answer, _ := w.plainly(w.question(&ask.Settings{}, nil, pod))
	require.Equal(t, ask.Infeasible, answer.verdict)
	require.GreaterOrEqual(t, w.polls.Load(), int64(2*nodes), "each is looked at, and tried")
}
