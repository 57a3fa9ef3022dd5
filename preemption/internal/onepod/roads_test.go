package onepod_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
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
