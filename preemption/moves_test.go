package preemption_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// roomy is a question in a small cluster with some room beside, of one pod or of several that all have to run: they go to
// fast nodes, running pods to any but for a few.
func roomy(seed uint64) gen.Question {
	r := rand.New(rand.NewPCG(seed, 29))
	var s preemption.Snapshot
	cores := func(n int) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * int64(n)} }
	fast, high, two := map[string]string{"disk": "fast"}, int32(100), int32(2)
	numFast := 1 + r.IntN(2)
	for n := range numFast + 1 + r.IntN(3) {
		node := preemption.Node{Name: fmt.Sprint("n", n), Allocatable: cores(2 + r.IntN(4))}
		if n < numFast {
			node.Labels = fast
		}
		s.Nodes = append(s.Nodes, node)
	}
	free := make([]int, len(s.Nodes))
	for i := range free {
		free[i] = int(s.Nodes[i].Allocatable[cluster.CPU] / 1_000)
	}
	groups := 0
	for range 3 + r.IntN(6) {
		n, size, level := r.IntN(len(free)), 1+r.IntN(2), int32(r.IntN(4))
		if r.IntN(2) == 0 {
			n = r.IntN(numFast)
		}
		p := preemption.Pod{Name: fmt.Sprint("p", len(s.Pods)), Node: s.Nodes[n].Name, Priority: &level, Requests: cores(size)}
		if r.IntN(6) == 0 && n < numFast {
			p.NodeSelector = fast
		}
		if free[n] < size {
			continue
		}
		free[n] -= size
		if m := r.IntN(len(free)); r.IntN(4) == 0 && free[m] > 0 {
			free[m]--
			group := fmt.Sprint("g", groups)
			groups++
			s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: group, Mode: disruption.All, Priority: &level, MinCount: &two})
			p.Group = group
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", len(s.Pods), "-2"), Node: s.Nodes[m].Name, Priority: &level, Requests: cores(1), Group: group})
		}
		s.Pods = append(s.Pods, p)
	}
	q := gen.Question{Snapshot: s, Preemptor: preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Name: "web", Priority: &high}}}
	members, size := int32(1+r.IntN(2)), 1+r.IntN(4)
	q.Preemptor.Group.MinCount = &members
	for i := range members {
		q.Preemptor.Pods = append(q.Preemptor.Pods, preemption.Pod{Name: fmt.Sprint("web-", i), Priority: &high, Requests: cores(size), NodeSelector: fast})
	}
	if members == 1 {
		q.Preemptor.Kind, q.Preemptor.Group = cluster.KindPod, nil
	}
	return q
}

// lander looks in every way, in a cluster as of roomy.
type lander struct {
	q     gen.Question
	units [][]*preemption.Pod
	free  map[string]int64

	stranded []bool // by unit: some pod of it has no place as things stand
}

func newLander(q gen.Question) *lander {
	l := &lander{q: q, free: map[string]int64{}}
	for _, n := range q.Snapshot.Nodes {
		l.free[n.Name] = n.Allocatable[cluster.CPU]
	}
	groups := map[string]int{}
	for i := range q.Snapshot.Pods {
		p := &q.Snapshot.Pods[i]
		l.free[p.Node] -= p.Requests[cluster.CPU]
		if at, known := groups[p.Group]; known && p.Group != "" {
			l.units[at] = append(l.units[at], p)
			continue
		}
		groups[p.Group] = len(l.units)
		l.units = append(l.units, []*preemption.Pod{p})
	}
	for _, unit := range l.units {
		l.stranded = append(l.stranded, slices.ContainsFunc(unit, func(p *preemption.Pod) bool { return !l.land([]*preemption.Pod{p}) }))
	}
	return l
}

func (l *lander) admits(p *preemption.Pod, n *preemption.Node) bool {
	return len(p.NodeSelector) == 0 || n.Labels["disk"] == "fast"
}

// finds reports whether somewhere there are places for the members from the i-th on, and victims for them all of whom are needed and land.
func (l *lander) finds(i int) bool {
	if i == len(l.q.Preemptor.Pods) {
		return l.choose(0, nil)
	}
	p := &l.q.Preemptor.Pods[i]
	for k := range l.q.Snapshot.Nodes {
		if n := &l.q.Snapshot.Nodes[k]; l.admits(p, n) {
			l.free[n.Name] -= p.Requests[cluster.CPU]
			found := l.finds(i + 1)
			if l.free[n.Name] += p.Requests[cluster.CPU]; found {
				return true
			}
		}
	}
	return false
}

// choose reports whether victims from the u-th unit on are such beside those of out, each of whose pods also has a place as
// things stand.
func (l *lander) choose(u int, out [][]*preemption.Pod) bool {
	if u == len(l.units) {
		return len(out) > 0 && l.fits() && !slices.ContainsFunc(out, l.spares) && l.land(slices.Concat(out...))
	}
	if l.choose(u+1, out) {
		return true
	}
	if l.stranded[u] {
		return false
	}
	l.book(l.units[u], +1)
	defer l.book(l.units[u], -1)
	return l.choose(u+1, append(slices.Clone(out), l.units[u]))
}

func (l *lander) fits() bool {
	for _, v := range l.free {
		if v < 0 {
			return false
		}
	}
	return true
}

func (l *lander) spares(unit []*preemption.Pod) bool {
	l.book(unit, -1)
	defer l.book(unit, +1)
	return l.fits()
}

func (l *lander) book(unit []*preemption.Pod, sign int64) {
	for _, p := range unit {
		l.free[p.Node] += sign * p.Requests[cluster.CPU]
	}
}

func (l *lander) land(pods []*preemption.Pod) bool {
	if len(pods) == 0 {
		return true
	}
	p := pods[0]
	for k := range l.q.Snapshot.Nodes {
		n := &l.q.Snapshot.Nodes[k]
		if n.Name == p.Node || !l.admits(p, n) || l.free[n.Name] < p.Requests[cluster.CPU] {
			continue
		}
		l.free[n.Name] -= p.Requests[cluster.CPU]
		landed := l.land(pods[1:])
		if l.free[n.Name] += p.Requests[cluster.CPU]; landed {
			return true
		}
	}
	return false
}

// TestMovesAreBruteForce: where room is made by moves alone the victims of every answer have places together, as Verify reads
// of each, and nobody is told that nothing helps, as proved, where some set of victims does. How often that is missed without
// a proof is counted.
func TestMovesAreBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(12_000) {
		q, o := roomy(seed), preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Members: preemption.AllThatFit}
		o.Search = []preemption.Search{preemption.Greedy, preemption.Exact}[seed%2]
		kind := "pod"
		if q.Preemptor.Group != nil {
			kind = "gang"
		}
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Infeasible {
			continue
		}
		apart := slices.ContainsFunc(r.Rejected, func(x preemption.Rejection) bool {
			return x.Reason == "the victims have other places one by one, not together"
		})
		finds := newLander(q).finds(0)
		switch {
		case r.Verdict == preemption.Feasible:
			require.True(t, finds, "seed %d: nobody moves so", seed)
			if seen[kind+" lands"]++; len(r.Moves) > 1 {
				seen[kind+" lands, several"]++
			}
		case finds:
			require.False(t, r.Stats.Exact, "seed %d: it is proved that nothing helps", seed)
			seen[kind+" missed"]++
		case apart:
			seen[kind+" not together"]++
		}
		o.Chain = 1 + int(seed%4)
		chained := ask(&named{t, seed}, o, q)
		if r.Verdict == preemption.Infeasible && chained.Verdict == preemption.Feasible {
			seen[kind+" lands in a chain"]++
		}
	}
	t.Log(seen)
	for _, kind := range []string{"pod", "gang"} {
		require.Greater(t, seen[kind+" lands, several"], int(seeds(12_000))/200)
		require.Positive(t, seen[kind+" not together"])
		require.Positive(t, seen[kind+" lands in a chain"])
	}
	require.Zero(t, seen["pod missed"])
}

// TestWhoMovesIsTheSameHoweverMuchIsTold: that victims are to have places together is asked of each node and domain where some might be
// less, and not of those alone where giving back leaves less: a large one may free what several small ones do, who have no place.
func TestWhoMovesIsTheSameHoweverMuchIsTold(t *testing.T) {
	t.Parallel()
	moving, kinds := 0, [][]int{{2, 2}, {3, 1, 1, 1}, {2, 1, 1}, {3, 2}}
	for seed := range sparse(2_000) {
		r := rand.New(rand.NewPCG(seed, 31))
		asks := func(cpu, memory int) preemption.Resources {
			return preemption.Resources{cluster.CPU: int64(cpu), cluster.Memory: int64(memory)}
		}
		s := preemption.Snapshot{Time: time.Unix(5_000, 0)}
		for _, sizes := range [][]int{kinds[r.IntN(4)], kinds[r.IntN(4)], kinds[r.IntN(4)], nil, nil} { // of who runs there
			n := preemption.Node{Name: fmt.Sprint("n", len(s.Nodes)), Allocatable: asks(2+r.IntN(3), r.IntN(2))}
			if sizes != nil {
				n.Allocatable = asks(0, 100)
			}
			for _, size := range sizes {
				n.Allocatable[cluster.CPU] += int64(size)
				s.Pods = append(s.Pods, preemption.Pod{
					Name: fmt.Sprint("p", len(s.Pods)), Node: n.Name, Priority: new(int32), Started: time.Unix(int64(r.IntN(2)), 0), Requests: asks(size, r.IntN(2)),
				})
			}
			n.Labels = map[string]string{"host": n.Name, "full": fmt.Sprint(sizes != nil)}
			s.Nodes = append(s.Nodes, n)
		}
		high := int32(10)
		p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: asks(3, 1), NodeSelector: map[string]string{"full": "true"}}}}
		if r.IntN(2) == 0 {
			p.Group = &preemption.PodGroup{Name: "gang", Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "host"}}}
		}
		var want *preemption.Result
		for _, o := range []preemption.Options{{}, {Candidates: true}, {Explain: true}} {
			o.Limits.OnlyMoves = true
			got, err := o.Preempt(p, &s)
			require.NoError(t, err)
			if want == nil {
				want = got
			}
			require.Equal(t, want.Score, got.Score, "seed %d", seed)
			require.Equal(t, want.Moves, got.Moves, "seed %d", seed)
		}
		if len(want.Moves) > 0 {
			moving++
		}
	}
	require.Greater(t, moving, int(sparse(2_000))/20)
}

// TestMovesAreLookedAtAgain: an answer holds as long as those who have not gone yet have their places; several answers in a row, and
// the plan of a gathering, let nobody count on the place of another one. A trip through JSON leaves it as it is.
func TestMovesAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	low, high := int32(0), int32(100)
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: n} }
	s := preemption.Snapshot{}
	for _, n := range []string{"n1", "n2", "spare1", "spare2"} {
		s.Nodes = append(s.Nodes, preemption.Node{Name: n, Allocatable: cores(2)})
	}
	for _, p := range []string{"a", "b"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: p, Node: map[string]string{"a": "n1", "b": "n2"}[p], Priority: &low, Requests: cores(1)})
	}
	for _, p := range []string{"s1", "s2"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: p, Node: map[string]string{"s1": "spare1", "s2": "spare2"}[p], Priority: &high, Requests: cores(1)})
	}
	var web []preemption.Preemptor
	for _, p := range []string{"web1", "web2"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: p, Priority: &high, Requests: cores(2)})
		web = append(web, preemption.Preemptor{Kind: cluster.KindPod, Name: p})
	}
	pl, err := preemption.NewPlanner(&s, preemption.Options{Limits: preemption.Limits{OnlyMoves: true}})
	require.NoError(t, err)
	move := func(name, node string) preemption.Nomination {
		return preemption.Nomination{Pod: preemption.PodRef{Name: name}, Node: node}
	}
	list, err := pl.PreemptAll(web)
	require.NoError(t, err)
	require.Equal(t, []preemption.Nomination{move("a", "n2")}, list[0].Moves, "beside b")
	require.Equal(t, []preemption.Nomination{move("a", "spare1"), move("b", "spare2")}, list[1].Moves, "which both have to leave then")

	g := pl.Gather()
	_, err = g.Preempt(web[0])
	require.NoError(t, err)
	plan, err := g.Plan()
	require.NoError(t, err)
	require.Equal(t, []preemption.Nomination{move("a", "n2")}, plan.Moves)
	_, err = g.Preempt(web[1])
	require.ErrorIs(t, err, preemption.ErrGangFailed, "it moves a once more")

	r, err := pl.Preempt(web[0])
	require.NoError(t, err)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	again := &preemption.Result{}
	require.NoError(t, json.Unmarshal(text, again))
	require.Equal(t, r, again)
	advice := func(pl *preemption.Planner) preemption.Validity {
		v, err := pl.StillValid(r)
		require.NoError(t, err)
		return v
	}
	require.Equal(t, preemption.Keep, advice(pl).Advice)
	full := pl.Fork()
	require.NoError(t, full.SetPod(preemption.Pod{Name: "new", Node: "n2", Priority: &low, Requests: cores(1)}))
	require.Equal(t, preemption.Validity{Advice: preemption.Replan, Reason: "a cannot move to n2 any more: n2: cpu short by 1"}, advice(full))
	require.NoError(t, full.RemoveNode("n2"))
	require.Equal(t, preemption.Validity{Advice: preemption.Replan, Reason: "node n2 is gone"}, advice(full))
	require.NoError(t, pl.Apply(r))
	require.Equal(t, preemption.Keep, advice(pl).Advice)

	for want, moves := range map[string][]preemption.Nomination{
		"Moves[1].Pod": {move("a", "n2"), move("a", "spare1")}, "Moves[0].Pod": {move("web1", "n2")}, "Moves[0].Node": {move("a", "")},
	} {
		bad := *r
		bad.Moves = moves
		_, err := pl.StillValid(&bad)
		require.ErrorContains(t, err, want)
	}
}

// TestOthersLandWhereTheGreedyOnesDoNot: on n1 giving back leaves three victims for whom there is no place together, and one who has
// one is less than what has to leave n0, whether more is told of it or not.
func TestOthersLandWhereTheGreedyOnesDoNot(t *testing.T) {
	zero, high, start := int32(0), int32(10), time.Unix(1_700_000_000, 0)
	asks := func(cpu, memory int64) preemption.Resources {
		return preemption.Resources{cluster.CPU: cpu, cluster.Memory: memory}
	}
	s := preemption.Snapshot{Nodes: []preemption.Node{
		{Name: "n0", Allocatable: asks(4, 100)}, {Name: "n1", Allocatable: asks(6, 100)}, {Name: "n2", Allocatable: asks(3, 1)}, {Name: "n3", Allocatable: asks(4, 0)},
	}}
	runs := func(node string, requests preemption.Resources, started time.Time, names ...string) {
		for _, name := range names {
			s.Pods = append(s.Pods, preemption.Pod{Name: name, Node: node, Priority: &zero, Started: started, Requests: requests})
		}
	}
	runs("n0", asks(2, 0), start.Add(time.Second), "d", "e")
	runs("n1", asks(3, 0), start, "big")
	runs("n1", asks(1, 1), start.Add(time.Second), "a", "b", "c")
	s.Time = start.Add(time.Hour)
	for i := range s.Nodes {
		s.Nodes[i].Labels = map[string]string{"host": s.Nodes[i].Name}
	}
	web := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: asks(3, 2)}}}
	alone := web
	alone.Group = &preemption.PodGroup{Name: "gang", Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "host"}}}
	for _, p := range []preemption.Preemptor{web, alone} {
		for _, o := range []preemption.Options{{}, {Candidates: true}, {Explain: true}} {
			o.Limits.OnlyMoves = true
			r, err := o.Preempt(p, &s)
			require.NoError(t, err)
			require.Equal(t, []preemption.Nomination{{Pod: preemption.PodRef{Name: "big"}, Node: "n2"}}, r.Moves)
		}
	}
}

// Room is made by those who can move, or not at all; what would help is said, and a parked
// preemptor is told when somebody can move, on whatever node.
func TestOnlyMoves(t *testing.T) {
	t.Parallel()
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	low, high := int32(0), int32(1_000)
	fast := map[string]string{"disk": "fast"}
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(4), Labels: fast}, {Name: "b", Allocatable: cores(2), Labels: fast}, {Name: "c", Allocatable: cores(2)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "large", Node: "a", Priority: &low, Requests: cores(3)},
			{Namespace: "shop", Name: "small", Node: "b", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "other", Node: "c", Priority: &high, Requests: cores(1)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(2), NodeSelector: fast},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}
	pl, err := preemption.NewPlanner(&s, preemption.Options{Limits: preemption.Limits{OnlyMoves: true}})
	require.NoError(t, err)
	r, err := pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict, "nobody has another place")
	require.NotNil(t, r.Nearest)
	require.Equal(t, []preemption.Relaxation{{Kind: preemption.RelaxLimit, Name: "pods without a place", Amount: 1}}, r.Nearest.Relaxations)

	_, err = pl.Park(web)
	require.NoError(t, err)
	require.Empty(t, pl.Wake())
	require.NoError(t, pl.Remove(preemption.PodRef{Namespace: "shop", Name: "other"}))
	require.Equal(t, []preemption.Preemptor{web}, pl.Wake(), "there is room on c, where it cannot go itself")
	r, err = pl.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Equal(t, "small", r.Victims[0].Name)

	d, err := pl.Decide(web)
	require.NoError(t, err)
	require.Equal(t, "b", d.Domain)
	require.NoError(t, pl.SetPod(preemption.Pod{Namespace: "shop", Name: "other", Node: "c", Priority: &high, Requests: cores(1)}))
	for range 3 { // nothing that was found before is taken for what is
		d, err = pl.Decide(web)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, d.Verdict)
	}
}

// TestNobodyIsSearchedForWhereAllIsFull: each of four could move to the one core that is free, and two have to. No set is looked for beside a placement.
func TestNobodyIsSearchedForWhereAllIsFull(t *testing.T) {
	t.Parallel()
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	low, high, two, fast := int32(0), int32(1_000), int32(2), map[string]string{"disk": "fast"}
	var s preemption.Snapshot
	for i, labels := range []map[string]string{fast, fast, nil} {
		s.Nodes = append(s.Nodes, preemption.Node{Name: fmt.Sprint(i), Allocatable: cores(2), Labels: labels})
		for k := range min(2, 3-i) {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: "shop", Name: fmt.Sprint(i, k), Node: fmt.Sprint(i), Priority: &low, Requests: cores(1)})
		}
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "shop", Name: fmt.Sprint("job", i), Group: "job", Requests: cores(1), NodeSelector: fast})
	}
	s.PodGroups = []preemption.PodGroup{{Namespace: "shop", Name: "job", MinCount: &two, Priority: &high}}
	r, err := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "shop", Name: "job"}, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, 1, r.Stats.Searched) // for those with whom gone there is a place somewhere
}

// Where pods could move is found out once for all that are alike, whatever their annotations
// where no filter reads them; and a question that nobody waits for any more stops on the way.
func TestOnlyMovesLooksOnceForAlikePods(t *testing.T) {
	t.Parallel()
	low, high, need := int32(0), int32(1_000), int32(2)
	polls := func(annotated, filtered bool) int64 {
		var s preemption.Snapshot
		for n := range 50 {
			node := fmt.Sprint("n", n)
			s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: preemption.Resources{cluster.CPU: 1_500}})
			for k := range 4 {
				ip := "unknown"
				if annotated {
					ip = fmt.Sprint(n, ".", k)
				}
				s.Pods = append(s.Pods, preemption.Pod{
					Namespace: "shop", Name: fmt.Sprint("p", n, "-", k), Node: node, Priority: &low,
					Requests: preemption.Resources{cluster.CPU: 300}, Annotations: map[string]string{"ip": ip},
				})
			}
		}
		p := preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Namespace: "shop", Name: "gang", Priority: &high, MinCount: &need}}
		for _, name := range []string{"gang-0", "gang-1"} {
			p.Pods = append(p.Pods, preemption.Pod{
				Namespace: "shop", Name: name, Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_100},
			})
		}
		o := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}
		if filtered {
			o.Hooks = &preemption.Hooks{Filter: func(pod *preemption.Pod, node *preemption.Node) bool { return pod.Annotations["ip"] != "nobody's" }}
		}
		pl, err := preemption.NewPlanner(&s, o)
		require.NoError(t, err)
		ctx := waits(1 << 40)
		r, err := pl.PreemptContext(ctx, p)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
		return ctx.asked.Load()
	}
	require.Equal(t, polls(false, false), polls(true, false))
	require.GreaterOrEqual(t, polls(true, true), polls(false, true)+199, "a filter reads annotations")
}

// Either of two pods would make room for one that wants a fast disk. One is small enough for a
// node that has room, the other would be left without a place. Upstream's criteria do not tell
// them apart, and the first node by name is taken.
func ExampleCriterionName_stranded() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	fast := map[string]string{"disk": "fast"}
	low, high := int32(0), int32(1_000)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(4), Labels: fast}, {Name: "b", Allocatable: cores(2), Labels: fast}, {Name: "c", Allocatable: cores(2)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "large", Node: "a", Priority: &low, Requests: cores(3)},
			{Namespace: "shop", Name: "small", Node: "b", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(2), NodeSelector: fast},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}
	returns := func(*preemption.Pod) bool { return true } // who is evicted wants to run again
	for _, least := range [][]preemption.CriterionName{nil, {preemption.CriterionStranded, preemption.CriterionPods}} {
		planner, err := preemption.NewPlanner(&s, preemption.Options{Objective: least})
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := planner.Preempt(web)
		if err != nil {
			fmt.Println(err)
			return
		}
		after, err := cascade.Of(planner, r, cascade.Options{Returns: returns})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s goes, then %s %v\n", r.Victims[0].Name, after.Outcomes[1].Status, after.Outcomes[1].Places)
	}
	// Output:
	// large goes, then waits []
	// small goes, then fits [{{shop small} c}]
}

// Room for a pod that wants a whole node is made by moves alone. On a either pod finds another place, but not both at once; those
// on b do: the answer says where each goes.
func ExampleLimits() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	low, high := int32(0), int32(1_000)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(4)}, {Name: "b", Allocatable: cores(4)}, {Name: "c", Allocatable: cores(2)}, {Name: "d", Allocatable: cores(1)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "a1", Node: "a", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "a2", Node: "a", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "b1", Node: "b", Priority: &low, Requests: cores(1)},
			{Namespace: "shop", Name: "b2", Node: "b", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(4)},
		},
	}
	r, err := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}, &s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Message)
	for _, m := range r.Moves {
		fmt.Println(m.Pod.Name, "moves to", m.Node)
	}
	for _, x := range r.Rejected {
		fmt.Println("elsewhere:", x.Reason)
	}
	// Output:
	// fits on b once 2 pods are evicted
	// b2 moves to c
	// b1 moves to d
	// elsewhere: not enough cpu
	// elsewhere: the victims have other places one by one, not together
}

// Either of two pods would make room for one that wants a fast disk, and neither fits elsewhere as things stand. With Chain, batch
// does: cron, which is in its way and less important, moves in turn. The trace says what becomes of each.
func ExampleOptions_chain() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	disk := func(kind string) map[string]string { return map[string]string{"disk": kind} }
	low, mid, high := int32(0), int32(10), int32(1_000)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(2), Labels: disk("fast")}, {Name: "b", Allocatable: cores(2), Labels: disk("fast")},
			{Name: "c", Allocatable: cores(2), Labels: disk("slow")}, {Name: "d", Allocatable: cores(1)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "db", Node: "a", Priority: &low, Requests: cores(2), NodeSelector: disk("fast")},
			{Namespace: "shop", Name: "batch", Node: "b", Priority: &mid, Requests: cores(2)},
			{Namespace: "shop", Name: "cron", Node: "c", Priority: &low, Requests: cores(1)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(2), NodeSelector: disk("fast")},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}
	for chain := range 2 {
		r, err := preemption.Options{
			Objective: []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionHighest}, Chain: chain, Explain: true,
		}.Preempt(web, &s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Victims[0].Name, "goes")
		for _, d := range r.Trace {
			for _, step := range d.Steps {
				if step.Action == "score" {
					fmt.Println(" ", d.Domain, step.Text)
				}
			}
		}
	}
	// Output:
	// db goes
	//   a score pods without a place 1, highest priority 0; shop/db has no other place
	//   b score pods without a place 1, highest priority 10; shop/batch would evict others in turn
	// batch goes
	//   a score pods without a place 1, highest priority 0; shop/db has no other place
	//   b score pods without a place 0, highest priority 10; shop/batch can move after 1 other move
}

// TestSearchesOfManyNodesShareTheirSteps: where whoever leaves could move, but no two of them, no node's search takes as many steps as
// it may alone, and what is told of the nodes not many more.
func TestSearchesOfManyNodesShareTheirSteps(t *testing.T) {
	const nodes, steps = 64, 2000
	var s preemption.Snapshot
	for n := range nodes {
		name := fmt.Sprintf("n%03d", n)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: preemption.Resources{cluster.CPU: 1000}})
		for i := range 18 {
			priority := int32(i)
			if n > 0 || i > 0 {
				s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint(name, "-", i), Node: name, Priority: &priority, Requests: preemption.Resources{cluster.CPU: 55 - int64(i%3)}})
			}
		}
	}
	high := int32(100)
	web := preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 500}}}}
	for _, explain := range []bool{false, true} {
		r, err := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, SearchSteps: steps, Explain: explain}.Preempt(web, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.False(t, r.Stats.Exact)
		require.Less(t, r.Stats.Trials, nodes*steps)
	}
}
