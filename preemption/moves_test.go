package preemption_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
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

// memory is what some values can be changed through: where it is, and the way there.
type memory map[uintptr]string

// note adds all that v leads to.
func (m memory) note(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			m.note(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range v.Len() {
			m.note(v.Index(i), path+"[]")
		}
	case reflect.Interface:
		if !v.IsNil() {
			m.note(v.Elem(), path)
		}
	case reflect.Pointer, reflect.Map, reflect.Slice:
		m.follow(v, path)
	}
}

func (m memory) follow(v reflect.Value, path string) {
	if v.IsNil() || v.Kind() == reflect.Slice && v.Cap() == 0 {
		return
	}
	if at := v.Pointer(); v.Kind() != reflect.Pointer || v.Type().Elem().Size() > 0 {
		if m[at] != "" && v.Kind() == reflect.Pointer {
			return // been there
		}
		m[at] = path
	}
	switch v.Kind() {
	case reflect.Pointer:
		m.note(v.Elem(), path)
	case reflect.Slice:
		for i := range v.Len() {
			m.note(v.Index(i), path+"[]")
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			m.note(it.Value(), path+"[]")
		}
	}
}

func memoryOf(v any, path string) memory {
	m := memory{}
	m.note(reflect.ValueOf(v), path)
	return m
}

// TestResultsShareNothing: with what was given, with each other, or with what Apply keeps of them.
func TestResultsShareNothing(t *testing.T) {
	together := 0
	eachKind(t, 60, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		o.Proof = true
		s, heads := twoHeads(s)
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		given := memoryOf(s, "snapshot")
		given.note(reflect.ValueOf(p), "preemptor")
		var results []memory
		var alive []any // so that no memory is given out again
		apart := func(answer any, kept *preemption.Planner) {
			mine := memoryOf(answer, "result")
			for _, others := range append(results, given, memoryOf(kept, "planner")) {
				for at, path := range others {
					require.Empty(t, mine[at], "%s is %s", path, mine[at])
				}
			}
			results, alive = append(results, mine), append(alive, answer, kept)
		}
		list := append(others(s), p)
		for _, p := range append(list, p) {
			r, err := pl.Preempt(p)
			if err != nil {
				continue
			}
			kept := pl.Fork()
			_ = kept.Apply(r)
			if len(results)%2 == 0 {
				_ = kept.Evict(r)
			}
			apart(r, kept)
			if why, err := pl.WhyNot(p, preemption.NodeTarget("n0")); err == nil {
				apart(why, pl)
			}
		}
		several, _ := pl.PreemptAll(list)
		cycle, err := pl.Cycle(heads)
		require.NoError(t, err)
		if len(cycle) > 1 {
			together++
		}
		g := pl.Gather()
		for _, p := range list {
			if r, err := g.Preempt(p); err == nil {
				several = append(several, r)
			}
		}
		for range 2 {
			if plan, err := g.Plan(); err == nil {
				several = append(several, plan)
			}
		}
		for _, r := range append(several, cycle...) {
			apart(r, pl)
		}
		runtime.KeepAlive(alive)
	})
	require.Positive(t, together)
}

// twoHeads is s where each workload that asks for quota is there twice, and those workloads.
func twoHeads(s *preemption.Snapshot) (*preemption.Snapshot, []preemption.Preemptor) {
	twice := *s
	twice.Workloads = slices.Clone(s.Workloads)
	for _, w := range s.Workloads {
		if w.Admission == nil {
			w.Name += "-2"
			twice.Workloads = append(twice.Workloads, w)
		}
	}
	var heads []preemption.Preemptor
	for i := range twice.Workloads {
		if w := &twice.Workloads[i]; w.Admission == nil {
			heads = append(heads, preemption.Preemptor{Kind: preemption.KindWorkload, Namespace: w.Namespace, Name: w.Name})
		}
	}
	return &twice, heads
}

// eachKind calls check with random questions of every kind: of pods, gangs, workloads,
// and pods and groups of a queue.
func eachKind(t *testing.T, n uint64, check func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot)) {
	for seed := range seeds(n) {
		o := seededOptions(seed)
		switch seed % 4 {
		case 1:
			o.HardBudgets.All = true
		case 2:
			o.Limits.Window = preemption.Window{Seconds: 600, Victims: 3}
		case 3:
			o.BrokenGroupsFree = true
		}
		pod := gen.Random(seed, gen.Everything())
		gang := sound(o, gen.RandomGang(seed, gen.EverythingForGangs()))
		quota, queued := seededQuota(seed), seededQueued(seed)
		check(t, o, pod.Preemptor, &pod.Snapshot)
		if asksSomething(gang) {
			check(t, o, gang.Preemptor, &gang.Snapshot)
		}
		check(t, quota.options, quotaPreemptor, quota.snapshot)
		check(t, queued.options, queued.preemptor, queued.snapshot)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// reads are all questions that can be asked of a planner about p; last is an answer.
func reads(p preemption.Preemptor, s *preemption.Snapshot, last *preemption.Result) []func(pl *preemption.Planner) {
	list := []func(pl *preemption.Planner){
		func(pl *preemption.Planner) { _, _ = pl.Preempt(p) },
		func(pl *preemption.Planner) { _, _ = pl.Decide(p) },
		func(pl *preemption.Planner) { _, _ = pl.StillValid(last) },
		func(pl *preemption.Planner) { _, _ = pl.Cycle([]preemption.Preemptor{p}) },
		func(pl *preemption.Planner) { _ = pl.Snapshot() },
		func(pl *preemption.Planner) {
			g := pl.Gather()
			_, _ = g.Preempt(p)
			_, _ = g.Plan()
		},
	}
	for i := range s.Nodes {
		list = append(list, func(pl *preemption.Planner) { _, _ = pl.WhyNot(p, preemption.NodeTarget(s.Nodes[i].Name)) })
	}
	for i := range s.Pods {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Pods[i].Namespace+"/"+s.Pods[i].Name))
		})
	}
	for i := range s.Workloads {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Workloads[i].Namespace+"/"+s.Workloads[i].Name))
		})
	}
	return list
}

// others are preemptors of every other kind that s has.
func others(s *preemption.Snapshot) []preemption.Preemptor {
	var list []preemption.Preemptor
	if len(s.PodGroups) > 0 {
		g := &s.PodGroups[0]
		list = append(list, preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name})
	}
	return append(list, preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "other", Priority: prio(7), Requests: preemption.Resources{cluster.CPU: 1}}}})
}

// TestQuestionsOnlyRead: whatever is asked, later answers are the same, of forks too.
func TestQuestionsOnlyRead(t *testing.T) {
	eachKind(t, 60, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		fork := pl.Fork()
		asked := append(others(s), p)
		answers := func(pl *preemption.Planner) (text string) {
			for _, p := range asked {
				r, err := pl.Preempt(p)
				if text += string(toJSON(&named{T: t}, r)); err != nil {
					text += err.Error()
				}
			}
			return text
		}
		before := answers(pl)
		last, _ := pl.Preempt(p)
		for i, read := range reads(p, s, last) {
			read(pl)
			require.Equal(t, before, answers(pl), "read %d", i)
		}
		require.Equal(t, before, answers(fork))
	})
}

// TestQuestionsMayBeAskedAtOnce is for the race detector.
func TestQuestionsMayBeAskedAtOnce(t *testing.T) {
	eachKind(t, 12, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		last, _ := pl.Preempt(p)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for _, read := range reads(p, s, last) {
					read(pl)
				}
			})
		}
		wg.Wait()
	})
}

// twoZones has eight nodes of four CPUs, in the zones a and b in turn; full, if asked,
// with a pod on each.
func twoZones(full bool) *preemption.Snapshot {
	snap := &preemption.Snapshot{}
	for i := range 8 {
		node := fmt.Sprintf("n%d", i)
		snap.Nodes = append(snap.Nodes, cluster.Node{
			Name: node, Labels: map[string]string{"zone": string(rune('a' + i%2))}, Allocatable: cluster.Resources{"cpu": 4},
		})
		if full {
			snap.Pods = append(snap.Pods, cluster.Pod{Name: fmt.Sprintf("p%d", i), Node: node, Requests: cluster.Resources{"cpu": 4}})
		}
	}
	return snap
}

// zonal asks for a pod in a zone.
func zonal(zone string) preemption.Preemptor {
	prio := int32(10)
	return preemption.Preemptor{Pods: []cluster.Pod{{
		Name: "x", Priority: &prio, Requests: cluster.Resources{"cpu": 2}, NodeSelector: map[string]string{"zone": zone},
	}}}
}

// TestWhatWasAskedInlineMayBeChangedAfterwards: also where the planner remembers how the
// nodes stand for the pod's shape.
func TestWhatWasAskedInlineMayBeChangedAfterwards(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	for range 4 {
		r, err := pl.Preempt(p)
		require.NoError(t, err)
		require.Equal(t, "n0", r.Domain)
	}
	p.Pods[0].NodeSelector["zone"] = "b"
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "p4"})) // looked at anew, for a pod in zone a
	d, err := pl.Decide(zonal("a"))
	require.NoError(t, err)
	require.Equal(t, preemption.Decision{Verdict: preemption.Fits, Domain: "n4"}, d)
}

// TestWhyNotTellsNothingOfOtherPlanners: where a pod fits, nodes after that are not
// looked at, and what another search has left of its own must not be told of them.
func TestWhyNotTellsNothingOfOtherPlanners(t *testing.T) {
	sampled, err := preemption.NewPlanner(twoZones(true), preemption.Options{Sampling: &preemption.Sampling{Percent: 10, Minimum: 1}})
	require.NoError(t, err)
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	for range 20 { // memory is used again at the runtime's pleasure
		_, err := sampled.Preempt(zonal("a"))
		require.NoError(t, err)
		why, err := pl.WhyNot(zonal("a"), preemption.NodeTarget("n4"))
		require.NoError(t, err)
		require.Equal(t, "it fits on n4 too, but n0 comes first", why.Text)
	}
}

// TestWarningsThatHaveGoneLeaveNothing: not even an empty list.
func TestWarningsThatHaveGoneLeaveNothing(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	require.NoError(t, pl.SetPod(cluster.Pod{Name: "lost", Node: "nowhere"}))
	r, err := pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "lost"}))
	fresh, err := preemption.Preempt(zonal("a"), pl.Snapshot())
	require.NoError(t, err)
	r, err = pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(fresh, r))
}

// TestWarningsOfALargeClusterAreCounted: the first 1,000, and how many others; what is odd about the question is said beside.
func TestWarningsOfALargeClusterAreCounted(t *testing.T) {
	s := twoZones(false)
	for i := range 1_234 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("lost-%04d", i), Node: "nowhere"})
	}
	r, err := preemption.Preempt(zonal("a"), s)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1_001)
	require.Equal(t, "lost-0999", r.Warnings[999].Name)
	require.Equal(t, cluster.Warning{Kind: cluster.KindSnapshot, Field: "Warnings", Value: "1234", Text: "234 more are not listed"}, r.Warnings[1_000])
	_, err = preemption.Options{Strict: true}.Preempt(zonal("a"), s)
	require.ErrorContains(t, err, "234 more")
}

// TestAGangThatFitsGoesElsewhere: where it fits, nobody may be told that it goes nowhere.
func TestAGangThatFitsGoesElsewhere(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	p.Group = &preemption.PodGroup{Name: "gang"}
	p.Pods[0].Group = "gang"
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	why, err := pl.WhyNot(p, preemption.NodeTarget("n4"))
	require.NoError(t, err)
	require.Equal(t, "it goes elsewhere: "+r.Message, why.Text)
}

// bounds are the bounds of a question, in the words of the options.
type bounds struct {
	preemption.Options
	q *gen.Question
}

// randomBounds adds hard budgets or limits by seed.
func randomBounds(seed uint64, o preemption.Options, q gen.Question) preemption.Options {
	r := rand.New(rand.NewPCG(seed, 9))
	o.Guards = preemption.Guards{}
	switch r.IntN(3) {
	case 0:
		o.HardBudgets.All = true
	case 1:
		for _, b := range q.Snapshot.Budgets {
			if r.IntN(2) == 0 {
				o.HardBudgets.Names = append(o.HardBudgets.Names, b.Namespace+"/"+b.Name)
			}
		}
	}
	if r.IntN(2) == 0 {
		o.Limits.Victims = int64(1 + r.IntN(3))
	}
	if r.IntN(3) == 0 {
		o.Limits.Pods = int64(1 + r.IntN(4))
	}
	return o
}

// within says whether units keep within all bounds.
func (b bounds) within(units []naive.Unit) bool {
	pods := int64(0)
	for _, u := range units {
		pods += int64(len(u.Pods))
	}
	if l := b.Limits; l.Victims > 0 && int64(len(units)) > l.Victims || l.Pods > 0 && pods > l.Pods {
		return false
	}
	o := plain(b.Options)
	if b.Rules == preemption.KEP5710Alpha {
		o.Rules = naive.Kubernetes137 // it has the same budgets
	}
	for _, budget := range b.q.Snapshot.Budgets {
		hard := b.HardBudgets.All || slices.Contains(b.HardBudgets.Names, budget.Namespace+"/"+budget.Name)
		if hard && naive.Charges(o, &b.q.Snapshot, budget, units) > max(0, int64(budget.Allowed)) {
			return false
		}
	}
	return true
}

// victimsWithin says the same of an answer's victims.
func (b bounds) victimsWithin(list []preemption.Victim) bool {
	var units []naive.Unit
	for _, v := range list {
		u := naive.Unit{}
		for _, p := range v.Pods {
			i := slices.IndexFunc(b.q.Snapshot.Pods, func(x preemption.Pod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })
			u.Pods = append(u.Pods, &b.q.Snapshot.Pods[i])
		}
		units = append(units, u)
	}
	return b.within(units)
}

// subsets calls yield with every subset of units until it returns false.
func subsets(units []naive.Unit, yield func([]naive.Unit) bool) {
	for set := range 1 << len(units) {
		var some []naive.Unit
		for i, u := range units {
			if set>>i&1 == 1 {
				some = append(some, u)
			}
		}
		if !yield(some) {
			return
		}
	}
}

// TestBoundsHoldAndNothingIsMissed: the victims on every candidate keep within the
// bounds, and a node is a candidate if and only if some set of its units does.
func TestBoundsHoldAndNothingIsMissed(t *testing.T) {
	t.Parallel()
	bounded, candidates, searched := 0, 0, 0
	for seed := range seeds(2500) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: true, Ports: true})
		o := randomBounds(seed, preemption.Options{Candidates: true, Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]}, q)
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Infeasible {
			continue
		}
		require.True(t, r.Stats.Exact, "seed %d: small nodes are searched to the end", seed)
		b := bounds{o, &q}
		searched += r.Stats.Searched
		for _, n := range q.Snapshot.Nodes {
			units, err := naive.Potential(plain(o), q.Preemptor, &q.Snapshot, n.Name)
			require.NoError(t, err)
			if len(units) > 10 {
				continue
			}
			helps := false
			subsets(units, func(some []naive.Unit) bool {
				helps = len(some) > 0 && b.within(some) && fit(&named{t, seed}, o, q, n.Name, naive.Gone(some)).OK()
				return !helps
			})
			i := slices.IndexFunc(r.Candidates, func(c preemption.Candidate) bool { return c.Domain == n.Name })
			require.Equal(t, helps, i >= 0, "seed %d: %s", seed, n.Name)
			if i >= 0 {
				candidates++
				require.True(t, b.victimsWithin(r.Candidates[i].Victims), "seed %d: %s", seed, n.Name)
			}
			bounded++
		}
	}
	require.Greater(t, candidates, int(seeds(500)))
	require.Greater(t, searched, int(seeds(300)))
	require.Greater(t, bounded, 2*candidates)
}

// TestBoundsThatHoldChangeNothing: where the greedy answer is within the bounds on
// every node, it is the answer.
func TestBoundsThatHoldChangeNothing(t *testing.T) {
	same := 0
	for seed := range seeds(1000) {
		q := gen.Random(seed, gen.Profile{Budgets: true, Groups: true})
		o := preemption.Options{Candidates: true, Explain: true}
		soft := ask(&named{t, seed}, o, q)
		if slices.ContainsFunc(soft.Candidates, func(c preemption.Candidate) bool { return c.Overruns > 0 }) || soft.Verdict == preemption.Infeasible {
			continue
		}
		o.HardBudgets.All = true
		hard := ask(&named{t, seed}, o, q)
		soft.Stats, hard.Stats = preemption.Stats{}, preemption.Stats{}
		if diff := cmp.Diff(soft, hard); diff != "" {
			t.Fatalf("seed %d (-soft +hard):\n%s", seed, diff)
		}
		same++
	}
	require.Greater(t, same, int(seeds(300)))
}

// TestTheNearestBoundsAreEnoughAndNoLess: with all that Nearest names the preemptor
// gets in, with any part of it it does not.
func TestTheNearestBoundsAreEnoughAndNoLess(t *testing.T) {
	t.Parallel()
	kinds := map[preemption.RelaxationKind]int{}
	for seed := range seeds(2500) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, Budgets: true, Groups: true, Placement: seed%2 == 0, Ports: true})
		o := randomBounds(seed, preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]}, q)
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Infeasible {
			continue
		}
		require.NotNil(t, r.Nearest, "seed %d", seed)
		all := r.Nearest.Relaxations
		for part := range 1 << len(all) {
			var some []preemption.Relaxation
			for i, x := range all {
				if part>>i&1 == 1 {
					some = append(some, x)
				}
			}
			wider, relaxed := widen(o, q, some)
			got := ask(&named{t, seed}, wider, relaxed)
			in := got.Verdict == preemption.Feasible || got.Verdict == preemption.Fits
			require.Equal(t, len(some) == len(all), in, "seed %d: nearest is %+v; with %+v: %s", seed, r.Nearest, some, got.Message)
		}
		for _, x := range all {
			kinds[x.Kind]++
		}
	}
	for _, kind := range []preemption.RelaxationKind{preemption.RelaxBudget, preemption.RelaxLimit, preemption.RelaxResource, preemption.RelaxPriority} {
		require.NotZero(t, kinds[kind], kind)
	}
}

// widen makes relaxations of every kind.
func widen(o preemption.Options, q gen.Question, list []preemption.Relaxation) (preemption.Options, gen.Question) {
	var rest []preemption.Relaxation
	q = gen.Clone(q)
	for _, x := range list {
		switch x.Kind {
		case preemption.RelaxBudget:
			for i := range q.Snapshot.Budgets {
				if b := &q.Snapshot.Budgets[i]; b.Namespace+"/"+b.Name == x.Name {
					b.Allowed += int32(x.Amount)
				}
			}
		case preemption.RelaxLimit:
			if x.Name == "pods without a place" { // any number of them then
				o.Limits.OnlyMoves = false
				continue
			}
			limit := map[string]*int64{
				"victims": &o.Limits.Victims, "pods": &o.Limits.Pods, "cost": &o.Limits.Cost,
				"victims in the window": &o.Limits.Window.Victims, "pods in the window": &o.Limits.Window.Pods, "cost in the window": &o.Limits.Window.Cost,
			}[x.Name]
			*limit += x.Amount
		case preemption.RelaxMinCount:
			g := groupOf(&q)
			fewer := *g.MinCount - int32(x.Amount)
			g.MinCount = &fewer
		default:
			if g := groupOf(&q); x.Kind == preemption.RelaxPriority && (g != nil || q.Preemptor.Kind == cluster.KindCompositePodGroup) {
				raise(&q, prio(int32(x.Amount)))
				continue
			}
			rest = append(rest, x)
		}
	}
	if len(rest) == 0 {
		return o, q
	}
	return o, apply(&testing.T{}, q, rest)
}

// raise gives the group that asks another priority, the groups below it, and the members that say theirs.
func raise(q *gen.Question, to *int32) {
	var tree []string
	in := func(namespace, name, parent string) bool {
		if namespace != q.Preemptor.Namespace || name != q.Preemptor.Name && !slices.Contains(tree, parent) {
			return false
		}
		tree = append(tree, name)
		return true
	}
	for range q.Snapshot.CompositePodGroups { // in no order
		for i := range q.Snapshot.CompositePodGroups {
			if g := &q.Snapshot.CompositePodGroups[i]; in(g.Namespace, g.Name, g.Parent) {
				g.Priority = to
			}
		}
	}
	for i := range q.Snapshot.PodGroups {
		if g := &q.Snapshot.PodGroups[i]; in(g.Namespace, g.Name, g.Parent) {
			g.Priority = to
		}
	}
	if g := q.Preemptor.Group; g != nil {
		g.Priority, tree = to, append(tree, g.Name)
	}
	for _, pods := range [][]preemption.Pod{q.Snapshot.Pods, q.Preemptor.Pods} {
		for i := range pods {
			if p := &pods[i]; p.Node == "" && p.Priority != nil && slices.Contains(tree, p.Group) {
				p.Priority = to
			}
		}
	}
}

// groupOf is the pod group that asks, nil if a pod does or a composite group.
func groupOf(q *gen.Question) *preemption.PodGroup {
	if q.Preemptor.Group != nil {
		return q.Preemptor.Group
	}
	i := slices.IndexFunc(q.Snapshot.PodGroups, func(g preemption.PodGroup) bool {
		return q.Preemptor.Kind == cluster.KindPodGroup && g.Namespace == q.Preemptor.Namespace && g.Name == q.Preemptor.Name
	})
	if i < 0 {
		return nil
	}
	return &q.Snapshot.PodGroups[i]
}

// priced gives every pod a price by seed.
func priced(seed uint64, q *gen.Question) {
	r := rand.New(rand.NewPCG(seed, 4))
	for i := range q.Snapshot.Pods {
		q.Snapshot.Pods[i].Cost = &cluster.Cost{Fixed: int64(r.IntN(6))}
		if r.IntN(50) == 0 {
			q.Snapshot.Pods[i].Cost.Fixed = math.MaxInt64
		}
	}
}

func priceOf(units []naive.Unit) int64 {
	sum := int64(0)
	for _, u := range units {
		for _, p := range u.Pods {
			sum = checked.Add(sum, p.Cost.Fixed)
		}
	}
	return sum
}

// TestTheObjectiveIsTheCheapest: of all sets on all nodes, none is cheaper.
func TestTheObjectiveIsTheCheapest(t *testing.T) {
	t.Parallel()
	asked := 0
	for seed := range seeds(1500) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: true})
		priced(seed, &q)
		o := preemption.Options{Candidates: true, Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}, Objective: true}}
		if seed%3 == 0 {
			o = randomBounds(seed, o, q)
		}
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible {
			continue
		}
		b := bounds{o, &q}
		best, complete := int64(math.MaxInt64), true
		for _, n := range q.Snapshot.Nodes {
			units, err := naive.Potential(plain(o), q.Preemptor, &q.Snapshot, n.Name)
			require.NoError(t, err)
			if complete = complete && len(units) <= 10; !complete {
				break
			}
			subsets(units, func(some []naive.Unit) bool {
				if len(some) > 0 && b.within(some) && priceOf(some) < best && fit(&named{t, seed}, o, q, n.Name, naive.Gone(some)).OK() {
					best = priceOf(some)
				}
				return true
			})
		}
		if complete {
			require.Equal(t, best, r.Cost, "seed %d", seed)
			asked++
		}
	}
	require.Greater(t, asked, int(seeds(300)))
}

// TestBoundsHoldForGangs: a gang's victims keep within the bounds; and if it is
// proved that none do, then no placement has any that do.
func TestBoundsHoldForGangs(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(3000) {
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 8, Budgets: true, Groups: true}})
		if !asksSomething(q) {
			continue
		}
		o := preemption.Options{Rules: []preemption.Rules{"", "", preemption.Kubernetes136, preemption.KEP5710Alpha}[seed%4]}
		q = sound(o, q)
		o = randomBounds(seed, o, q)
		r := ask(&named{t, seed}, o, q)
		b := bounds{o, &q}
		repaired(t, b, r, seen)
		switch {
		case r.Verdict == preemption.Feasible:
			require.True(t, b.victimsWithin(r.Victims), "seed %d", seed)
			if r.Stats.Searched > 0 {
				seen["searched"]++
			}
		case r.Verdict == preemption.Infeasible && len(r.Rejected) > 0:
			helps := gangBruteForce(t, b)
			if r.Stats.Exact {
				seen["proved"]++
				require.False(t, helps, "seed %d: %s", seed, r.Message)
			} else if helps {
				seen["missed"]++
			} else {
				seen["not proved"]++
			}
			if near := r.Nearest; near != nil {
				wider, relaxed := widen(o, q, near.Relaxations)
				require.Equal(t, preemption.Feasible, ask(&named{t, seed}, wider, relaxed).Verdict, "seed %d: %+v", seed, near)
				seen["nearest"]++
			}
		}
	}
	t.Log(seen)
	for _, what := range []string{"searched", "proved", "nearest", "repaired"} {
		require.Greater(t, seen[what], int(seeds(20)), what)
	}
	require.LessOrEqual(t, seen["missed"], seen["proved"]/20, "the search finds nearly all")
	require.LessOrEqual(t, seen["not repaired"], seen["repaired"]/2, "the repair finds most")
}

// repaired asks without the walk over all placements: what is found keeps within the
// bounds, and what is not is not called proved.
func repaired(t *testing.T, b bounds, whole *preemption.Result, seen map[string]int) {
	t.Helper()
	r, err := b.PreemptSearching(b.q.Preemptor, &b.q.Snapshot, 0)
	require.NoError(t, err)
	switch {
	case r.Verdict == preemption.Feasible:
		require.True(t, b.victimsWithin(r.Victims))
		if r.Stats.Searched > 0 {
			seen["repaired"]++
		}
	case whole.Verdict == preemption.Feasible:
		require.False(t, r.Stats.Exact, "%s: %s", whole.Message, r.Message)
		seen["not repaired"]++
	}
}

// gangBruteForce looks at every set of victims and every placement.
func gangBruteForce(t *testing.T, b bounds) bool {
	t.Helper()
	g, err := naive.NewGang(gangOptions(b.Options), b.q.Preemptor, &b.q.Snapshot)
	require.NoError(t, err)
	nodes := nodeNames(*b.q)
	helps := false
	subsets(g.Potential(nodes), func(some []naive.Unit) bool {
		helps = len(some) > 0 && b.within(some) && g.Placement(nodes, naive.Gone(some)) != nil
		return !helps
	})
	return helps
}

func TestBoundOptionsThatCannotBeFollowed(t *testing.T) {
	tariff := disruption.Tariff{Fixed: 1}
	for want, o := range map[string]preemption.Options{
		`preemption: Options.Limits.Victims: -1 is not >= 0`:                                                      {Limits: preemption.Limits{Victims: -1}},
		`preemption: Options.Limits.Window.Pods: -1 is not >= 0`:                                                  {Limits: preemption.Limits{Window: preemption.Window{Seconds: 1, Pods: -1}}},
		`preemption: Options.Limits.Window.Seconds: 0 is not >= 1, as the window has limits`:                      {Limits: preemption.Limits{Window: preemption.Window{Pods: 1}}},
		`preemption: Options.HardBudgets.Names[0]: "web" is not namespace/name`:                                   {HardBudgets: preemption.HardBudgets{Names: []string{"web"}}},
		`preemption: Options.Chain: -1 is not >= 0`:                                                               {Chain: -1},
		`preemption: Options.Chain: 5 is not at most 4`:                                                           {Chain: 5},
		`preemption: Options.SearchSteps: -1 is not >= 0`:                                                         {SearchSteps: -1},
		`preemption: Options.Cost.Criterion: 7 is not at most 6`:                                                  {Cost: preemption.CostOptions{Criterion: 7, Tariff: tariff}},
		`preemption: Options.Cost.Criterion: 2 is not 0 or 1, as the cost is the objective`:                       {Cost: preemption.CostOptions{Criterion: 2, Objective: true, Tariff: tariff}},
		`preemption: Options.Cost.Tariff: empty is not set, as the cost is asked for`:                             {Cost: preemption.CostOptions{Objective: true}},
		`preemption: Options.Cost.Tariff: disruption: tariff: work[cpu].price: -1 is not >= 0 is not prices >= 0`: {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: -1}}}}},
	} {
		_, err := o.Preempt(preemption.Preemptor{}, &preemption.Snapshot{})
		var oe *preemption.OptionError
		require.ErrorAs(t, err, &oe)
		require.EqualError(t, oe, want)
	}
}

// TestAWindowKeepsWhatIsInIt: by moments, not by the seconds that they fall into.
func TestAWindowKeepsWhatIsInIt(t *testing.T) {
	s := twoNodes()
	s.Time = s.Time.Add(time.Second / 10)
	s.Disruptions = []cluster.Disruption{{Time: s.Time.Add(-59200 * time.Millisecond), Pods: 1}}
	pl, err := preemption.NewPlanner(s, preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 2}}})
	require.NoError(t, err)
	r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"})
	require.NoError(t, err)
	require.NoError(t, pl.Evict(r))
	require.Len(t, pl.Snapshot().Disruptions, 2)
}

// TestAWindowCountsWhatWasApplied: the planner notes what it evicts.
func TestAWindowCountsWhatWasApplied(t *testing.T) {
	low, high := int32(1), int32(10)
	pod := func(name, node string, p *int32) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: p, Requests: preemption.Resources{"cpu": 1}}
	}
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  now,
		Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 2}}},
		Pods:  []preemption.Pod{pod("a", "n1", &low), pod("b", "n1", &low), pod("p", "", &high), pod("q", "", &high)},
	}, preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 1}}})
	require.NoError(t, err)
	p := preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}
	r, err := planner.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.NoError(t, planner.Evict(r))
	require.NoError(t, planner.Bind(preemption.PodRef{Name: "p"}, "n1"))
	require.Equal(t, []cluster.Disruption{{Time: now, Victims: 1, Pods: 1}}, planner.Snapshot().Disruptions)

	q := preemption.Preemptor{Kind: cluster.KindPod, Name: "q"}
	r, err = planner.Preempt(q)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, []preemption.Relaxation{{Kind: preemption.RelaxLimit, Name: "pods in the window", Amount: 1}}, r.Nearest.Relaxations)

	planner.SetTime(now.Add(time.Minute))
	r, err = planner.Preempt(q)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
}

// fewTerms refuses to look at more pods than so many together, as if they had more terms than are counted.
type fewTerms struct{ at int }

func (fewTerms) Name() domain.Check { return "few terms" }

func (c fewTerms) Prepare(_ *cluster.Index, pods []*cluster.Pod) (domain.State, error) {
	if len(pods) > c.at {
		return nil, &cluster.FieldError{Kind: "Pod", Name: pods[0].Name, Field: "Affinity", Want: "fewer"}
	}
	return nil, nil
}

// TestWhoCannotBeLookedAtTogetherDoesNotLand: that is no error of the question.
func TestWhoCannotBeLookedAtTogetherDoesNotLand(t *testing.T) {
	low, high, both := int32(1), int32(9), int32(2)
	one, two := preemption.Resources{cluster.CPU: 1}, preemption.Resources{cluster.CPU: 2}
	s := preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n", Allocatable: two, Labels: map[string]string{"disk": "fast"}}, {Name: "other", Allocatable: two}},
		Pods:  []preemption.Pod{{Name: "p", Node: "n", Priority: &low, Requests: one}, {Name: "q", Node: "n", Priority: &low, Requests: one}},
	}
	asks := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: &high, MinCount: &both}}
	for i := range 2 {
		asks.Pods = append(asks.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Requests: one, NodeSelector: map[string]string{"disk": "fast"}})
	}
	for at, want := range map[int]preemption.Verdict{3: preemption.Infeasible, 4: preemption.Feasible} {
		r, err := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Hooks: &preemption.Hooks{Constraints: []domain.Constraint{fewTerms{at}}}}.Preempt(asks, &s)
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict)
	}
}
