package onepod_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

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
