package gang

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// everywhere is the walk over the placements of a gang in an empty cluster: members of two sizes
// at most, on nodes that have room for some.
func everywhere(t *testing.T, draw *rand.Rand, small, large int, optional bool) *every {
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	priority, one := int32(9), int32(1)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Namespace: "default", Name: "job", MinCount: &one, Priority: &priority}}}
	for i := range 1 + draw.IntN(4) {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%d", i), Allocatable: cpu(draw.Int64N(5)), Unschedulable: draw.IntN(5) == 0})
	}
	for i := range small + large {
		pod := cluster.Pod{Namespace: "default", Name: fmt.Sprintf("job-%d", i), Group: "job", Requests: cpu(1)}
		if i >= small {
			pod.Requests = cpu(2)
		}
		s.Pods = append(s.Pods, pod)
	}
	q := asks(t, s, &ask.Settings{Placers: []domain.Placer{domain.LeastDisruption{}}, Fewest: optional})
	search := New(q)
	a := &attempt{Search: search, domain: &seating.Split(q.Index, nil)[0]}
	if !optional {
		a.top = &Plan{Places: make([]domain.Assignment, len(q.Members))}
	}
	return a.newEvery()
}

// asks is the question of gang "job".
func asks(t *testing.T, s *cluster.Snapshot, settings *ask.Settings, limits ...ask.Bound) *ask.Question {
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	worth := victims.Worth{}
	if slices.Contains(settings.Ranking, victims.CriterionCost) {
		worth.Cost = victims.Tariff{Tariff: disruption.Tariff{Fixed: 1}}
	}
	units, budgets := victims.NewUnits(ix, victims.Units137, worth), victims.NewBudgets(ix, disruption.Rule137)
	g := ix.GroupByName(cluster.KindPodGroup, "default", "job")
	q := &ask.Question{
		Settings: settings, Index: ix, Units: units, Budgets: budgets, Columns: columns.NewNodeColumns(units, budgets),
		Limits: limits, Traits: settings.Traits(), Group: ix.Group(g), Priority: ix.Group(g).Priority,
	}
	q.Tree = seating.NewGroup(ix, g, func(p cluster.PodID) domain.MemberID {
		q.Members = append(q.Members, q.NewMember(ix.Pod(p), p))
		return domain.MemberID(len(q.Members) - 1)
	})
	var shown []*cluster.Pod
	for _, m := range q.Members {
		shown = append(shown, m.Pod)
	}
	for _, c := range []domain.Constraint{domain.TopologySpread(), domain.InterPodAffinity()} {
		state, err := c.Prepare(ix, shown)
		if require.NoError(t, err); state != nil {
			q.States = append(q.States, state)
		}
	}
	q.SettleClaim()
	return q
}

// placementsOf counts in how many ways so many small and large members fit beside each other, all of them unless some may be left out.
func placementsOf(rooms []int64, small, large int, optional bool) (ways int) {
	if len(rooms) == 0 {
		if optional || small+large == 0 {
			return 1
		}
		return 0
	}
	for a := range small + 1 {
		for b := range large + 1 {
			if int64(a+2*b) <= rooms[0] {
				ways += placementsOf(rooms[1:], small-a, large-b, optional)
			}
		}
	}
	return ways
}

// TestEveryPlacementIsWalkedOnce: all that there are, and as many as are said to be, where members of one size are placed,
// and no more where sizes share nodes; too many are said to be too many.
func TestEveryPlacementIsWalkedOnce(t *testing.T) {
	placements := 0
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 1))
		small, large, optional := 1+draw.IntN(4), draw.IntN(3), draw.IntN(2) == 0
		e := everywhere(t, draw, small, large, optional)
		require.Equal(t, optional, e.optional)
		seen := map[string]bool{}
		all := e.each(1_000_000, func() {
			key := ""
			for _, n := range e.domain.Nodes { // equals are told apart by nobody
				sizes := [2]int{}
				for _, m := range e.Trial.On(n) {
					if int(m) >= small {
						sizes[1]++
					} else {
						sizes[0]++
					}
				}
				key += fmt.Sprint(sizes)
			}
			require.False(t, seen[key], "seed %d: %s", seed, key)
			require.True(t, optional || len(e.Trial.Placed()) == small+large)
			seen[key] = true
		})
		require.True(t, all)
		require.Empty(t, e.Trial.Placed())
		var rooms []int64
		for _, n := range e.domain.Nodes {
			if node := e.q.Index.Node(n); node.Unschedulable {
				rooms = append(rooms, 0)
			} else {
				rooms = append(rooms, node.Allocatable[cluster.CPU])
			}
		}
		require.Len(t, seen, placementsOf(rooms, small, large, optional), "seed %d", seed)
		ways := e.ways(1000)
		if large == 0 {
			require.Equal(t, len(seen), ways, "seed %d", seed)
		}
		require.GreaterOrEqual(t, ways, len(seen))
		if ways > 0 {
			require.Equal(t, ways, e.ways(20*ways))
			require.Equal(t, math.MaxInt32, e.ways(ways-1))
		}
		placements += len(seen)
	}
	require.Greater(t, placements, 1000)
}

// TestRepairsOfLargeGangsAreFew: what a question about thousands of members on thousands of nodes takes
// does not grow with their product times all the repairs that a small one may have.
func TestRepairsOfLargeGangsAreFew(t *testing.T) {
	for _, tt := range []struct{ asked, pods, domains, want int }{ // asked by each
		{0, 0, 1, 16}, {3 * 8 * 5_000, 0, 1, 16}, {3 * 64 * 16, 0, 250, 6}, {3 * 64 * 16, 0, 4_000, 1}, {3 * 64 * 5_000, 0, 1, 5},
		{3 * 1_000 * 1_000, 0, 1, 2}, {3 * 2_000 * 2_000, 0, 1, 1}, {3 * 4_000 * 20, 0, 250, 1}, {mostAsked / 2, 0, 1, 3}, {mostAsked / 8, 0, 4, 3},
		{0, 8_000, 1, 16}, {0, 18_000, 1, 8}, {0, 150_000, 1, 1}, {0, 300, 250, 2}, {0, mostMoved, 1, 2}, {0, mostMoved + 1, 1, 1},
	} {
		times := 0
		for repairsOn(times, int64(times*tt.asked), tt.pods, tt.domains) {
			times++
		}
		require.Equal(t, tt.want, times, "%+v", tt)
	}
}

// TestDomainsShareTheSteps: what one of them has taken the others have, too.
func TestDomainsShareTheSteps(t *testing.T) {
	for _, tt := range []struct {
		shares, steps, taken, want int
		helps                      bool // it is asked what would help
	}{
		{1, 100, 0, 100, false}, {1, 100, 450, 50, false}, {1, 100, 500, 0, false}, {1, 100, 599, 0, false}, {1, 100, 600, 0, false},
		{4, 100, 0, 100, false}, {4, 100, 25, 100, false}, {4, 100, 100, 25, false}, {4, 100, 125, 0, false},
		{50, 100, 0, 10, false}, {50, 100, 4, 6, false}, {50, 100, 10, 0, false},
		{1, 100, 20, 100, true}, {1, 100, 80, 45, true}, {1, 100, 125, 0, true}, {50, 100, 0, 2, true},
		{1, 4 * helpSteps, 0, 4 * helpSteps, true}, {1, 8 * helpSteps, helpSteps, 4 * helpSteps, true}, {1, 8 * helpSteps, 5 * helpSteps, 0, true}, {1, 8 * helpSteps, 5 * helpSteps, 8 * helpSteps, false},
	} {
		q := &ask.Question{Settings: &ask.Settings{}, NoBounds: tt.helps}
		a := &attempt{Search: &Search{q: q, shares: tt.shares, Runner: &reprieve.Runner{Decided: 7 + tt.taken}}, decided: 7}
		w := reprieve.Within{AimSteps: tt.steps - 1}
		w.Steps = tt.steps
		a.shareSteps(&w)
		require.Equal(t, tt.want, w.Steps, "%+v", tt)
		if aims := min(tt.want, tt.steps-1); tt.shares*tt.taken < 6*tt.steps {
			require.Equal(t, aims, w.AimSteps, "%+v", tt)
		} else {
			require.Equal(t, -1, w.AimSteps, "%+v", tt)
		}
	}
}

// TestDomainsOfSmallNodesShareNothing: nor do those that take nobody, whether members are counted or placed.
func TestDomainsOfSmallNodesShareNothing(t *testing.T) {
	s := crowded(rand.New(rand.NewPCG(1, 1)), 4, false, true)
	s.Nodes[1].Unschedulable, s.Nodes[2].Allocatable, s.Nodes[3].Allocatable = true, cluster.Resources{cluster.CPU: 1}, cluster.Resources{cluster.CPU: 1}
	q := asks(t, s, &ask.Settings{Placers: []domain.Placer{domain.LeastDisruption{}}})
	all := seating.Split(q.Index, nil)[0].Nodes
	counting := NewCounting(q, &sync.Pool{})
	require.NotNil(t, counting.Counting)
	for _, search := range []*Search{New(q), counting} {
		for _, tt := range []struct{ first, want int }{{0, 1}, {1, 2}, {4, 2}} { // nodes of the first domain
			require.Equal(t, tt.want, search.numUsable([]domain.Domain{{Nodes: all[:tt.first]}, {Nodes: all[:1]}, {Nodes: all[1:2]}, {Nodes: all[2:]}}), "%+v", tt)
		}
		require.Equal(t, 1, search.numUsable([]domain.Domain{{Nodes: all[2:]}, {Nodes: all[1:2]}}))
	}
}

// TestWhatIsAskedAddsUp over the searches that are to tell of it.
func TestWhatIsAskedAddsUp(t *testing.T) {
	total, want := 0, 0
	for seed := range uint64(3) {
		q := asks(t, crowded(rand.New(rand.NewPCG(seed, 1)), 4, true, true), &ask.Settings{Placers: []domain.Placer{domain.LeastDisruption{}}, Ranking: lessAsUpstream, Asked: &total})
		search := New(q)
		search.Run([][]domain.Domain{seating.Split(q.Index, nil)})
		want += search.Asked()
		require.Positive(t, want)
		require.Equal(t, want, total)
	}
}

// TestPodsBeyondTheDomainStay: of a large group that goes as a whole those leave that matter on a few nodes, and whoever left returns.
func TestPodsBeyondTheDomainStay(t *testing.T) {
	s, low, one := crowded(rand.New(rand.NewPCG(1, 1)), 60, false, true), int32(0), int32(1)
	s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: "all", Mode: disruption.All, MinCount: &one, Priority: &low})
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" {
			p.Group, p.Priority = "all", nil
		}
	}
	q := asks(t, s, &ask.Settings{Ranking: lessAsUpstream})
	all := seating.Split(q.Index, nil)[0].Nodes
	for _, first := range []int{0, 20, 40, 58, 59} {
		a := &attempt{Search: New(q), domain: &domain.Domain{Nodes: all[first:]}}
		a.takeOut()
		for at, n := range all {
			for _, p := range q.Index.PodsOn(n) {
				require.Equal(t, at >= first || first < 40, a.Trial.Gone(p))
			}
		}
		a.bringBack()
		for _, n := range all {
			require.False(t, slices.ContainsFunc(q.Index.PodsOn(n), a.Trial.Gone))
		}
		require.NotContains(t, a.inside, true)
	}
}

// TestSeatsWithinBoundsAreFallenBackOn: where repairs have kept those who would have to go, and found nothing, seats of which
// nothing but the bounds is known are a plan. One that is there stays.
func TestSeatsWithinBoundsAreFallenBackOn(t *testing.T) {
	taken := 0
	for seed := range uint64(60) {
		limit := ask.Bound{Of: ask.NumPods, Left: 2}
		q := asks(t, crowded(rand.New(rand.NewPCG(seed, 12)), 3, seed%2 == 0, true), &ask.Settings{
			Placers: []domain.Placer{domain.LeastDisruption{}}, Improves: true, Checks: 100_000, Ranking: lessAsUpstream,
		}, limit)
		a := &attempt{Search: New(q), domain: &seating.Split(q.Index, nil)[0]}
		a.takeOut()
		a.charge(a.potential)
		s := a.newAllotting(ask.FewSteps)
		if s == nil || s.some == nil {
			continue
		}
		for i, u := range a.potential {
			if i%2 == 0 {
				a.keep(u)
			}
		}
		a.potential = slices.DeleteFunc(a.potential, func(u victims.UnitID) bool { return !a.inside[u] })
		a.fallBack(s)
		require.NotNil(t, a.top, "seed %d", seed)
		require.Len(t, a.top.Places, len(q.Members))
		require.LessOrEqual(t, len(a.top.Victims), 2)
		require.NotNil(t, fewest(q, a.domain, len(q.Members), 2, func([]cluster.PodID) []int64 { return []int64{} }))
		before := a.tried
		a.fallBack(s)
		require.Equal(t, before, a.tried)
		taken++
	}
	require.Greater(t, taken, 20)
}

// TestALimitThatIsFarTooLowIsKnownAtOnce: the gang fills six nodes, of which one is empty. Where so
// few pods may go that others are left full, or too little room in sum, one placement tells before anybody returns, else many are looked
// at, but for those of the placers none once repairs in other domains have come to too much. Small nodes have room in sum alone.
func TestALimitThatIsFarTooLowIsKnownAtOnce(t *testing.T) {
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	low, high, six := int32(0), int32(9), int32(6)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Namespace: "default", Name: "job", MinCount: &six, Priority: &high}}}
	for i := range 24 {
		node := fmt.Sprint("n", i/4)
		if i%4 == 0 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cpu(4)})
			s.Pods = append(s.Pods, cluster.Pod{Namespace: "default", Name: "job-" + node, Group: "job", Requests: cpu(4 - int64(i/20))})
		}
		s.Pods = append(s.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", i), Node: node, Priority: &low, Requests: cpu(1)})
	}
	s.Nodes = append(s.Nodes, cluster.Node{Name: "empty", Allocatable: cpu(4)})
	for _, tt := range []struct {
		most                    int64
		small, mended, searched int
		also                    ask.Bound // another limit
	}{
		{most: 0, small: 10}, {most: 4, small: 10}, {most: 5, small: 10, searched: 12}, {most: 5, small: 10, mended: mostMended + 1, searched: 3}, {most: 18},
		{most: 90, small: 10, also: ask.Bound{Of: ask.NumPods, Window: true, Left: 4}},
	} {
		s := *s
		for i := range tt.small {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("small", i), Allocatable: cpu(2)})
		}
		settings := &ask.Settings{Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Ranking: lessAsUpstream}
		limits := []ask.Bound{{Of: ask.NumPods, Left: tt.most}}
		if tt.also != (ask.Bound{}) {
			limits = append(limits, tt.also)
		}
		q := asks(t, &s, settings, limits...)
		search := New(q)
		search.mended = tt.mended
		require.Equal(t, ask.Infeasible, search.Run([][]domain.Domain{seating.Split(q.Index, nil)}).Verdict)
		require.Equal(t, tt.searched, search.Stats.Searched, "%+v", tt)
		require.Equal(t, tt.searched == 0, search.Proved, "%+v", tt)
		require.Equal(t, tt.searched == 0 && len(limits) == 1, search.Trial.Checks == 0, "%+v", tt)
		require.Equal(t, tt.searched == 12, search.mended > tt.mended+9*bounding, "%+v", tt)
	}
}

// TestTracesTellThePlan: of each domain that helps who is placed where and who stays out, each once and as in
// the plan, however many placements were tried; and that what was not traced comes to the same.
func TestTracesTellThePlan(t *testing.T) {
	compared, fits, sum := map[ask.Effort]int{}, 0, fnv.New64a()
	note := func(a Answer, s *Search) {
		fmt.Fprintln(sum, a.Verdict, s.Rejected, s.Room, s.Proved, s.Open, s.Least, s.Stats, s.Asked(), s.Checks())
		if p := a.Plan; p != nil {
			fmt.Fprintln(sum, p.Domain, p.Places, p.Victims, p.Parts, p.Charged, p.Score)
		}
	}
	place := func(q *ask.Question, seed uint64) { // some are to go where they are told
		for m := range q.Members {
			if seed > 120 && seed%7 == 0 {
				q.Given = append(q.Given, domain.Assignment{Member: domain.MemberID(m), Node: cluster.NodeID((seed/7 + uint64(m)*seed) % 4)})
			}
		}
	}
	for seed := range uint64(900) {
		draw := rand.New(rand.NewPCG(seed, 6))
		s := crowded(draw, 4+int(seed/300), seed%2 == 0, seed < 120)
		for i := range s.Nodes { // of some clusters there is room in one half or in both
			s.Nodes[i].Allocatable[cluster.CPU] += []int64{0, 0, 0, 0, 2 + int64(seed%4)}[seed%5]
		}
		all := ask.Settings{
			Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: true, Checks: 100_000,
			Ranking: lessAsUpstream, Trace: true, Candidates: true,
		}
		var limits []ask.Bound
		var hard []bool
		if seed%4 < 2 { // then members of any shapes are not allotted
			limits = []ask.Bound{{Of: ask.NumStranded, Left: 100}}
		}
		if seed >= 120 {
			limits, hard = mix(draw, s, &all)
		}
		for _, effort := range []ask.Effort{ask.Greedy, ask.Improved, ask.Exact} {
			settings := all
			settings.Effort = effort
			q := asks(t, s, &settings, limits...)
			q.Hard = hard
			place(q, seed)
			begun := 0
			if effort != ask.Greedy && seed%3 == 2 { // then it is looked for less hard
				begun = mostBegun + 1
			}
			search := NewCounting(q, &sync.Pool{})
			search.begun = begun
			answer := search.Run([][]domain.Domain{halves(q.Index)})
			at := fmt.Sprint("seed ", seed, ", effort ", effort)
			note(answer, search)
			if answer.Verdict == ask.Fits && seed < 120 {
				var fitting []Fitting
				for _, d := range halves(q.Index) {
					if fewest(q, &d, len(q.Members), 0, func([]cluster.PodID) []int64 { return []int64{0} }) != nil {
						fitting = append(fitting, Fitting{d.Name, len(q.Members)})
					}
				}
				require.Equal(t, fitting, answer.Fitting, at)
				fits += len(fitting)
			}
			helps := map[string]*Plan{}
			for i := range search.Found {
				helps[search.Found[i].Domain.Name] = &search.Found[i]
			}
			for _, trace := range search.Traces {
				placed, out, back, scores := []domain.Assignment(nil), []victims.UnitID(nil), 0, 0
				for _, step := range trace.Steps {
					switch step.Action {
					case ask.Places:
						placed = append(placed, domain.Assignment{Member: step.Member, Node: step.Node})
					case ask.Settles: // all of it begins anew
						placed, out = nil, nil
					case ask.StaysOut, ask.ReturnsInPart:
						out = append(out, step.Unit)
					case ask.Returns:
						back++
						out = slices.DeleteFunc(out, func(u victims.UnitID) bool { return u == step.Unit }) // in another pass
					case ask.Scores:
						scores++
						require.Equal(t, helps[trace.Domain.Name].Score, step.Score, at)
					case ask.Compares:
						compared[effort]++
					}
				}
				plan := helps[trace.Domain.Name]
				if plan == nil {
					require.Zero(t, scores, at)
					continue
				}
				require.Equal(t, 1, scores, at)
				for u := range plan.Parts { // of no other domain
					require.Contains(t, plan.Victims, u, at)
				}
				if seed < 120 { // else some may move, or come in addition, or are told twice
					require.ElementsMatch(t, plan.Places, placed, at)
				}
				require.Equal(t, plan.Victims, slices.Compact(q.Units.Sorted(out)), at)
				require.True(t, seed >= 120 || back+len(out) <= q.Units.Len(), at)
			}
			search.Close()
			plain := settings
			plain.Trace = false
			q = asks(t, s, &plain, limits...)
			q.Hard = hard
			place(q, seed)
			search = NewCounting(q, &sync.Pool{})
			search.begun = begun
			untold := search.Run([][]domain.Domain{halves(q.Index)})
			require.Equal(t, answer.Verdict, untold.Verdict, at)
			note(untold, search)
			if answer.Verdict == ask.Feasible {
				require.Equal(t, all.Ranking.Values(answer.Plan.Score), all.Ranking.Values(untold.Plan.Score), at)
			}
			search.Close()
		}
	}
	require.Greater(t, compared[ask.Improved], 20)
	require.Greater(t, fits, 60)
	require.Equal(t, uint64(0x9ba327da8f320a82), sum.Sum64(), "they are the same answers, for as much work")
}

// mix lets pods go together, unequal, in part, or as what is left of a gang, under budgets and limits, by any rules, before members who have terms.
func mix(draw *rand.Rand, s *cluster.Snapshot, all *ask.Settings) (limits []ask.Bound, hard []bool) {
	yes := func() bool { return draw.IntN(2) == 0 }
	for i, mode := range []disruption.Mode{disruption.All, disruption.All, disruption.SurplusFirst} {
		level, need := int32(5*draw.IntN(3)), []int32{1, 99, 1}[i]
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint(i), Mode: mode, MinCount: &need, Priority: &level})
	}
	for _, of := range []string{"a", "b"} {
		s.Budgets = append(s.Budgets, disruption.Budget{Namespace: "default", Name: of, Allowed: draw.Int32N(3), Selector: &disruption.Selector{MatchLabels: map[string]string{of: ""}}})
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" {
			if k := draw.IntN(6); k < 3 {
				p.Group = fmt.Sprint(k)
			}
			p.Labels, p.Cost = map[string]string{[]string{"a", "b", "c"}[draw.IntN(3)]: ""}, &cluster.Cost{Fixed: draw.Int64N(9)}
		}
	}
	of, job := &disruption.Selector{MatchLabels: map[string]string{"job": ""}}, len(s.Pods)-1
	switch s.Pods[job].Labels = of.MatchLabels; draw.IntN(6) {
	case 0: // the last one is unlike, and keeps away from others
		s.Pods[job].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: map[string]string{"a": ""}}}}
	case 1, 2:
		for i := range s.Pods {
			if p := &s.Pods[i]; p.Node == "" {
				p.Labels, p.Spread = of.MatchLabels, []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: of}}
			}
		}
	}
	for i := range s.Nodes {
		s.Nodes[i].Labels = map[string]string{"zone": fmt.Sprint(i % 3)}
	}
	all.Ranking = []victims.Ranking{
		lessAsUpstream, {victims.CriterionGroups, victims.CriterionPods}, {victims.CriterionOverruns, victims.CriterionSum}, {victims.CriterionUnits, victims.CriterionHighest, victims.CriterionStarted},
		{victims.CriterionPods, victims.CriterionNodes}, {victims.CriterionStranded, victims.CriterionPods}, {victims.CriterionCost},
	}[draw.IntN(7)]
	all.Checks, all.Steps = 100_000/(1+999*draw.IntN(2)), 20*draw.IntN(3)
	all.Fewest, all.BrokenFree, all.Lowest, all.Mobile, all.RepeatOfGang = yes(), yes(), draw.IntN(4) == 0, yes(), yes()
	if yes() {
		limits = []ask.Bound{{Of: []ask.Measure{ask.NumUnits, ask.NumPods, ask.NumStranded}[draw.IntN(3)], Left: 1 + draw.Int64N(5)}}
	}
	if draw.IntN(3) == 0 {
		hard = []bool{true, yes()}
	}
	return limits, hard
}

// TestToBeginASearchIsStepsToo: not for the first ones.
func TestToBeginASearchIsStepsToo(t *testing.T) {
	a := &attempt{Search: &Search{q: &ask.Question{Settings: &ask.Settings{}}, Runner: &reprieve.Runner{Decided: 30}, shares: 1}, decided: 20}
	for begins, taken := range map[int]int{0: 10, free: 10, free + 1: 10 + begun, free + 3: 10 + 3*begun} {
		a.begins = begins
		require.Equal(t, ask.StepsLeft(1000, taken), a.stepsLeft(1000), begins)
	}
}
