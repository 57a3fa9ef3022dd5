package preemption_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// objective draws criteria; none every now and then, which are upstream's.
func objective(r *rand.Rand) []preemption.CriterionName {
	list := slices.DeleteFunc(slices.Clone(genopts.Criteria), preemption.CriterionName.InUse)
	list = append(list, preemption.CriterionNodes)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:r.IntN(len(list)+1)]
	started, highest := slices.Index(list, preemption.CriterionStarted), slices.Index(list, preemption.CriterionHighest)
	switch {
	case started >= 0 && highest < 0:
		list = slices.Delete(list, started, started+1)
	case started >= 0 && highest > started:
		list[started], list[highest] = list[highest], list[started]
	}
	if at := slices.Index(list, preemption.CriterionNodes); at >= 0 { // or others of what is in use, without a draw: seeds keep their options
		used := slices.DeleteFunc(slices.Clone(genopts.Criteria), func(c preemption.CriterionName) bool { return !c.InUse() })
		first := at % len(used)
		used = slices.Concat(used[first:], used[:first])
		list = slices.Replace(list, at, at+1, used[:1+len(list)%3]...)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// values are the numbers of a set of victims, in the order of the criteria, where some pods come.
func values(of []preemption.CriterionName, c naive.Candidate, fates fates, come arrivals) (values []int64) {
	s := victims.Score{
		Violations: c.Score.Violations, Highest: c.Score.HighestPriority, Sum: c.Score.PrioritySum, Pods: c.Score.Pods,
		Started: c.Score.Start.UnixNano(), Cost: priceOf(c.Victims), Units: len(c.Victims),
	}
	groups, out := map[string]bool{}, map[string]bool{}
	levels := map[int32]int64{}
	for _, u := range c.Victims {
		for _, p := range u.Pods {
			out[p.Namespace+"/"+p.Name] = true
			if levels[fates.priority(p)]++; p.Group != "" {
				groups[p.Namespace+"/"+p.Group] = true
			}
		}
	}
	for _, name := range of {
		switch name {
		case preemption.CriterionStranded:
			values = append(values, fates.stranded(c.Victims...))
		case preemption.CriterionCascade:
			values = append(values, fates.inTurn(c.Victims...))
		case preemption.CriterionOverruns:
			values = append(values, c.Overruns)
		case preemption.CriterionGroups:
			values = append(values, int64(len(groups)))
		case preemption.CriterionLevels:
			for _, level := range fates.levels {
				values = append(values, levels[level])
			}
		default:
			if name.InUse() {
				values = append(values, fates.inUse(name, out, come))
			} else {
				values = append(values, s.Value(name))
			}
		}
	}
	if len(of) == 0 {
		return victims.Ranking(of).Values(s)
	}
	return values
}

// arrivals are the pods that come to nodes.
type arrivals map[string][]preemption.Pod

// fates tell of a snapshot what becomes of it without some units.
type fates struct {
	stranded, inTurn func(...naive.Unit) int64
	priority         func(*cluster.Pod) int32
	levels           []int32
	inUse            func(c preemption.CriterionName, out map[string]bool, come arrivals) int64
}

func fatesIn(t *testing.T, o preemption.Options, q *gen.Question) fates {
	t.Helper()
	s := &q.Snapshot
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	priorities := map[preemption.PodRef]int32{}
	f := fates{priority: func(p *cluster.Pod) int32 { return priorities[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] }}
	require.NoError(t, pl.View(func(v preemption.View) {
		for i := range s.Pods {
			p := &s.Pods[i]
			ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
			priorities[ref] = v.Priority(ref)
			if p.Node != "" && !slices.Contains(f.levels, f.priority(p)) {
				f.levels = append(f.levels, f.priority(p))
			}
		}
	}))
	moves := f.moverIn(t, cmp.Or(o.Rules, preemption.Kubernetes137), q)
	f.stranded = countIn(func(u naive.Unit, p *cluster.Pod) bool { return !moves(u, p, o.Chain) })
	f.inTurn = countIn(func(u naive.Unit, p *cluster.Pod) bool { return !moves(u, p, o.Chain) && moves(u, p, -1) })
	slices.SortFunc(f.levels, func(a, b int32) int { return cmp.Compare(b, a) })
	f.inUse = func(c preemption.CriterionName, out map[string]bool, come arrivals) (n int64) {
		seen := map[string]bool{}
		for _, node := range s.Nodes {
			var stay []preemption.Pod
			for _, p := range s.Pods {
				if p.Node == node.Name && !out[p.Namespace+"/"+p.Name] {
					stay = append(stay, p)
				}
			}
			switch label, byLabel := c.Label(); {
			case c == preemption.CriterionDevices:
				n += held(node, stay, come[node.Name])
			case len(stay)+len(come[node.Name]) == 0:
			case !byLabel:
				seen[node.Name] = true
			case node.Labels[label] != "":
				seen[node.Labels[label]] = true
			}
		}
		return n + int64(len(seen))
	}
	return f
}

// held is how many devices of a node are held, wholly or in part, by who stays and who comes.
func held(node preemption.Node, stay, come []preemption.Pod) (n int64) {
	for resource, pool := range node.Devices {
		left, whole, parts := slices.Repeat([]int64{pool.Capacity}, int(pool.Count)), 0, []int64{}
		for i, p := range slices.Concat(stay, come) {
			for _, r := range p.Devices {
				switch {
				case r.Resource != resource:
				case i < len(stay) && len(r.Assigned) > 0:
					for _, at := range r.Assigned {
						if at < pool.Count && r.Count > 0 {
							left[at] -= pool.Capacity
						} else if at < pool.Count {
							left[at] -= min(r.Fraction, pool.Capacity)
						}
					}
				case r.Count > 0:
					whole += int(r.Count)
				default:
					parts = append(parts, r.Fraction)
				}
			}
		}
		slices.Sort(parts)
		for _, part := range slices.Backward(parts) {
			for room := part; room <= pool.Capacity; room++ {
				if at := slices.Index(left, room); at >= 0 {
					left[at] -= part
					break
				}
			}
		}
		for _, room := range left {
			if room == pool.Capacity {
				if whole--; whole < 0 {
					continue
				}
			}
			n++
		}
	}
	return n
}

// deviced gives the nodes of q so many devices that they keep nobody away, and its pods some of them.
func deviced(seed uint64, q *gen.Question) {
	r := rand.New(rand.NewPCG(seed, 41))
	size := max(0, int64(r.IntN(8))-3) // 0: fractions differ
	request := func(runs bool) []cluster.DeviceRequest {
		d := cluster.DeviceRequest{Resource: "dev", Count: int32(r.IntN(3) / 2 * (1 + r.IntN(2)))}
		if d.Count == 0 {
			if d.Fraction = size; size == 0 {
				d.Fraction = 1 + r.Int64N(4)
			}
		}
		if runs && r.IntN(3) == 0 {
			for i := range max(d.Count, 1) {
				d.Assigned = append(d.Assigned, int32(r.IntN(4))+4*i)
			}
		}
		return []cluster.DeviceRequest{d}
	}
	for i := range q.Snapshot.Nodes {
		q.Snapshot.Nodes[i].Devices = map[string]cluster.DevicePool{"dev": {Count: 60, Capacity: 4}}
	}
	for i := range q.Snapshot.Pods {
		if p := &q.Snapshot.Pods[i]; p.Node != "" && r.IntN(3) > 0 {
			p.Devices = request(true)
		}
	}
	if size > 0 && r.IntN(2) == 0 {
		preemptorOf(q).Devices = request(false)
	}
}

// moverIn tells of a snapshot whether a pod of a unit fits on another node within so many moves in a row, each of
// those whom the one before may evict under rules; below zero it may evict anybody. It asks about each node as if there
// were no other. Beside a gang pods meet the units that a gang does.
func (f *fates) moverIn(t *testing.T, rules preemption.Rules, q *gen.Question) func(own naive.Unit, p *cluster.Pod, within int) bool {
	t.Helper()
	type asked struct {
		name   string
		within int
	}
	s, gang := &q.Snapshot, q.Preemptor.Group != nil || q.Preemptor.Kind != "" && q.Preemptor.Kind != cluster.KindPod
	known := map[asked]bool{}
	of := func(u naive.Unit) func(preemption.Pod) bool {
		return func(o preemption.Pod) bool {
			return slices.ContainsFunc(u.Pods, func(p *cluster.Pod) bool { return p.Namespace == o.Namespace && p.Name == o.Name })
		}
	}
	var moves func(own naive.Unit, p *cluster.Pod, within int) bool
	goes := func(own naive.Unit, p *cluster.Pod, node string, within int) bool {
		alone := *s
		alone.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(n preemption.Node) bool { return n.Name != node })
		alone.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(o preemption.Pod) bool { return o.Namespace == p.Namespace && o.Name == p.Name })
		high := int32(math.MaxInt32)
		stay := func(u naive.Unit) {
			for i, is := 0, of(u); i < len(alone.Pods); i++ {
				if o := &alone.Pods[i]; is(*o) {
					o.Group, o.Priority = "", &high
				}
			}
		}
		stay(own) // what is in its own unit goes for it no more
		mover, priority := *p, f.priority(p)
		mover.Node, mover.Group, mover.Priority, mover.Started, mover.Terminating = "", "", &priority, time.Time{}, false
		asks := preemption.Preemptor{Pods: []preemption.Pod{mover}}
		if one := int32(1); gang {
			asks.Group = &preemption.PodGroup{Namespace: p.Namespace, Name: "mover", MinCount: &one, Priority: &priority}
			asks.Pods[0].Group = "mover"
		}
		if within > 0 {
			units, err := naive.Potential(plain(preemption.Options{Rules: rules}), asks, &alone, node)
			require.NoError(t, err)
			for _, u := range units {
				if slices.ContainsFunc(u.Pods, func(p *cluster.Pod) bool { return !moves(u, p, within-1) }) {
					stay(u)
				}
			}
		}
		r, err := preemption.Options{Rules: rules}.Preempt(asks, &alone)
		require.NoError(t, err)
		return r.Verdict == preemption.Fits || within != 0 && r.Verdict == preemption.Feasible
	}
	moves = func(own naive.Unit, p *cluster.Pod, within int) bool {
		key := asked{p.Namespace + "/" + p.Name, within}
		can, found := known[key]
		if !found {
			for _, n := range s.Nodes {
				can = can || n.Name != p.Node && goes(own, p, n.Name, within)
			}
			can = can || within > 0 && moves(own, p, within-1)
			known[key] = can
		}
		return can
	}
	return moves
}

// countIn counts the pods of units that it is so of.
func countIn(is func(naive.Unit, *cluster.Pod) bool) func(...naive.Unit) int64 {
	return func(units ...naive.Unit) (n int64) {
		for _, u := range units {
			for _, p := range u.Pods {
				if is(u, p) {
					n++
				}
			}
		}
		return n
	}
}

// unchained is o, with no move that follows from another.
func unchained(o preemption.Options) preemption.Options {
	o.Chain = 0
	return o
}

func said(list []preemption.Criterion) (values []int64) {
	for _, c := range list {
		values = append(values, c.Value)
	}
	return values
}

// TestExactIsBruteForce: of all sets of victims on all nodes none disrupts less than the one
// that is called optimal, whatever the criteria. Improved finds nothing worse than Greedy,
// Exact nothing worse than Improved, and no bound is above the least.
func TestExactIsBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range sparse(3000) {
		r := rand.New(rand.NewPCG(seed, 15))
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: seed%2 == 0, Ports: seed%3 == 0})
		priced(seed, &q)
		if seed%5 < 2 {
			deviced(seed, &q)
		}
		o := preemption.Options{Objective: objective(r), Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}}
		o.Rules = []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed/2%2]
		o.LowestLevel = seed%6 == 5
		if o.Chain = int(seed / 4 % 3); o.Chain == 2 {
			o.Objective = append(o.Objective[:0:0], preemption.CriterionStranded, preemption.CriterionLevels, preemption.CriterionPods)
		}
		if seed%4 == 0 {
			o.SearchSteps = 1 + r.IntN(3)
		}
		greedy := ask(&named{t, seed}, o, q)
		if greedy.Verdict != preemption.Feasible {
			continue
		}
		var least []int64
		few, fates := true, fatesIn(t, o, &q)
		for _, n := range q.Snapshot.Nodes {
			units, err := naive.Potential(plain(o), q.Preemptor, &q.Snapshot, n.Name)
			require.NoError(t, err)
			if few = few && len(units) <= 10; !few {
				break
			}
			require.NoError(t, naive.Sets(plain(o), q.Preemptor, &q.Snapshot, n.Name, func(c naive.Candidate) {
				if v := values(counted(o), c, fates, arrivals{n.Name: {*preemptorOf(&q)}}); least == nil || slices.Compare(v, least) < 0 {
					least = v
				}
			}))
		}
		if !few {
			continue
		}
		worse := said(greedy.Score)
		for _, o.Search = range []preemption.Search{preemption.Improved, preemption.Exact} {
			r := ask(&named{t, seed}, o, q)
			require.Equal(t, preemption.Feasible, r.Verdict, "seed %d", seed)
			score, bound := said(r.Score), said(r.Bound)
			require.LessOrEqual(t, slices.Compare(score, worse), 0, "seed %d: %s finds %v, worse than %v", seed, o.Search, score, worse)
			require.GreaterOrEqual(t, slices.Compare(score, least), 0, "seed %d: %v of %v is better than the best, %v", seed, score, o.Objective, least)
			require.LessOrEqual(t, slices.Compare(bound, least), 0, "seed %d: %s says at least %v, of %v there are %v", seed, o.Search, bound, o.Objective, least)
			if r.Optimal {
				if o.Chain > 0 && slices.Compare(score, said(ask(&named{t, seed}, unchained(o), q).Score)) < 0 {
					seen["better for moves in a row"]++
				}
				if o.LowestLevel && slices.Compare(score, said(greedy.Score)) < 0 {
					seen["better at the lowest level"]++
				}
				require.Equal(t, least, score, "seed %d: %s, %v", seed, o.Search, o.Objective)
				require.Equal(t, r.Score, r.Bound, "seed %d", seed)
			}
			switch {
			case !r.Optimal && o.SearchSteps > 0:
				seen[string(o.Search)+" cut short"]++
			case !r.Optimal:
				saturated := slices.Contains(score, math.MaxInt64) // sums that are too large are not told apart
				open := len(q.Snapshot.PodGroups) > 0 || slices.Contains(o.Objective, preemption.CriterionDevices)
				require.True(t, o.Search == preemption.Improved || open || saturated, "seed %d: pods by themselves are searched to the end: %v %v %v",
					seed, o.Objective, score, bound)
				seen[string(o.Search)+" not proved"]++
			case slices.Compare(score, said(greedy.Score)) < 0:
				seen[string(o.Search)+" better than greedy"]++
			default:
				seen[string(o.Search)+" as good as greedy"]++
			}
			worse = score
		}
	}
	t.Log(seen)
	require.Greater(t, seen["better at the lowest level"], int(sparse(3000))/200)
	for _, what := range []string{"Improved better than greedy", "Exact better than greedy", "Exact as good as greedy", "Improved not proved", "Exact cut short"} {
		require.Greater(t, seen[what], int(sparse(10)), what)
	}
	require.Positive(t, seen["better for moves in a row"])
}

// One old pod of two cores or two young ones of one core each have to go, all of one
// priority: giving back keeps the old one, the search for the least lets two stay.
func ExampleOptions_search() {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := func(name, node string, priority int32, cores int64, started time.Time) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": 1000 * cores}, Started: started}
	}
	snapshot := &preemption.Snapshot{
		Time:  day.AddDate(0, 0, 2),
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}},
		Pods: []preemption.Pod{
			pod("old", "n1", 10, 2, day), pod("young-1", "n1", 10, 1, day.AddDate(0, 0, 1)), pod("young-2", "n1", 10, 1, day.AddDate(0, 0, 1)),
			pod("web", "", 100, 2, time.Time{}),
		},
	}
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
		r, err := preemption.Options{Search: search}.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}, snapshot)
		must(err)
		fmt.Printf("%s: web %s, optimal %t\n", search, r.Message, r.Optimal)
		for _, v := range r.Victims {
			fmt.Println("  evict", v.Name)
		}
	}
	// Output:
	// Greedy: web fits on n1 once 2 pods are evicted, optimal false
	//   evict young-1
	//   evict young-2
	// Exact: web fits on n1 once 1 pod is evicted, optimal true
	//   evict old
}

// The trace tells of the victims that were chosen, and of what others would have been.
func TestTheTraceOfASearch(t *testing.T) {
	t.Parallel()
	traced := 0
	for seed := range seeds(600) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: seed%2 == 0})
		o := preemption.Options{Search: preemption.Exact}
		plain := ask(&named{t, seed}, o, q)
		o.Explain = true
		r := ask(&named{t, seed}, o, q)
		require.Equal(t, plain.Victims, r.Victims, "seed %d", seed)
		if r.Verdict != preemption.Feasible {
			continue
		}
		for _, d := range r.Trace {
			out := map[string]bool{}
			for _, step := range d.Steps {
				if step.Action == answer.ActionKeepOut {
					out[step.Unit] = true
				}
			}
			last := d.Steps[len(d.Steps)-1]
			require.Equal(t, d.Domain == r.Domain, last.Action == answer.ActionChoose, "seed %d", seed)
			if last.Action == answer.ActionReject {
				continue
			}
			require.NotEmpty(t, out, "seed %d: %s helps", seed, d.Domain)
			if d.Domain == r.Domain {
				require.Len(t, out, len(r.Victims), "seed %d", seed)
				for _, v := range r.Victims {
					require.Contains(t, out, v.Namespace+"/"+v.Name, "seed %d", seed)
				}
				traced++
			}
		}
	}
	require.Greater(t, traced, int(seeds(200)))
}

// What cannot be followed is told by name.
func TestObjectivesThatCannotBeFollowed(t *testing.T) {
	cost := preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1}}
	for want, o := range map[string]preemption.Options{
		`preemption: Options.Search: "Best" is not Greedy, Improved, Exact or empty`:                                  {Search: "Best"},
		`preemption: Options.Search: "Greedy" is not Exact, Improved or empty, as the cost is the objective`:          {Search: preemption.Greedy, Cost: cost},
		`preemption: Options.Objective: [pods] is not empty, as Cost says where the cost stands`:                      {Objective: []preemption.CriterionName{"pods"}, Cost: cost},
		`preemption: Options.Objective[1]: "pods" is not named once`:                                                  {Objective: []preemption.CriterionName{"pods", "pods"}},
		`preemption: Options.Objective[0]: "earliest start" is not behind "highest priority", of whose victims it is`: {Objective: []preemption.CriterionName{"earliest start", "highest priority"}},
		`preemption: Options.Cost.Tariff: empty is not set, as the cost is asked for`:                                 {Objective: []preemption.CriterionName{"cost"}},
		`preemption: Options.Objective[1]: "domains in use by " is not followed by a node label`:                      {Objective: []preemption.CriterionName{"domains in use by rack", "domains in use by "}},
		`preemption: Options.Objective: of 65 criteria is not of at most 64`:                                          {Objective: make([]preemption.CriterionName, 65)},
		`preemption: Options.Objective[1]: "domains in use by rack" is not named once`:                                {Objective: []preemption.CriterionName{"domains in use by rack", "domains in use by rack"}},
		fmt.Sprintf(`preemption: Options.Objective[0]: "prestige" is not one of %q, or "domains in use by " and a node label`, victims.AllCriteria): {
			Objective: []preemption.CriterionName{"prestige"},
		},
	} {
		_, err := o.Preempt(preemption.Preemptor{}, &preemption.Snapshot{})
		var oe *preemption.OptionError
		require.ErrorAs(t, err, &oe)
		require.EqualError(t, oe, want)
		require.Equal(t, 1, strings.Count(err.Error(), "Options."))
	}
	for _, at := range []int{-1, 7} {
		_, err := preemption.Options{Cost: preemption.CostOptions{Criterion: at}}.Preempt(preemption.Preemptor{}, &preemption.Snapshot{})
		var oe *preemption.OptionError
		require.ErrorAs(t, err, &oe, "out of range, and no tariff")
	}
	s := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "any"}},
		ClusterQueues: []preemption.ClusterQueue{{Name: "all", Groups: []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{
			Flavor: "any", Resources: []preemption.ResourceQuota{{Resource: "cpu", Nominal: 5}},
		}}}}}},
		LocalQueues: []preemption.LocalQueue{{Name: "team", ClusterQueue: "all"}},
	}
	pod := preemption.Pod{Name: "p", Queue: "team", Requests: preemption.Resources{"cpu": 1}}
	s.Nodes = []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 1}}}
	r, err := preemption.Options{Search: preemption.Exact}.Preempt(preemption.Preemptor{Pods: []preemption.Pod{pod}}, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
}

// Whatever else the options ask for, each search finds nothing worse than the one before,
// nothing that is called optimal is beaten, and bounds are neither below zero nor above what
// was found. Verify reads every answer: nobody goes in vain.
func TestSearchesBesideOtherOptions(t *testing.T) {
	t.Parallel()
	asked, better := 0, 0
	for seed := range seeds(3000) {
		r := rand.New(rand.NewPCG(seed, 16))
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: seed%3 > 0, Placement: seed%5 == 0})
		if seed%3 == 2 {
			elasticGroups(seed, &q)
		}
		priced(seed, &q)
		o := preemption.Options{Objective: objective(r), Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}}
		o.BrokenGroupsFree, o.HardBudgets.All = seed%4 == 1, seed%7 == 0
		if seed%6 == 0 {
			o.SearchSteps = 1 + r.IntN(30)
		}
		if seed%11 == 0 {
			o.Sampling = &preemption.Sampling{Percent: 100}
		}
		greedy := ask(&named{t, seed}, o, q)
		worse, optimal := greedy, false
		for _, o.Search = range []preemption.Search{preemption.Improved, preemption.Exact} {
			r := ask(&named{t, seed}, o, q)
			if greedy.Verdict != preemption.Infeasible { // with hard budgets a search may find what giving back does not
				require.Equal(t, greedy.Verdict, r.Verdict, "seed %d", seed)
			}
			if r.Verdict != preemption.Feasible || greedy.Verdict != preemption.Feasible {
				continue
			}
			order := slices.Compare(said(r.Score), said(worse.Score))
			require.LessOrEqual(t, order, 0, "seed %d: %s finds %v, worse than %v", seed, o.Search, r.Score, worse.Score)
			require.False(t, order < 0 && optimal, "seed %d: what was called optimal is beaten", seed)
			require.LessOrEqual(t, slices.Compare(said(r.Bound), said(r.Score)), 0, "seed %d", seed)
			for _, c := range r.Bound {
				require.True(t, c.Value >= 0 || c.Name == "earliest start" || c.Name == "highest priority", "seed %d: %v", seed, r.Bound)
			}
			if worse, optimal = r, r.Optimal; order < 0 {
				better++
			}
		}
		asked++
	}
	t.Log(asked, better)
	require.Greater(t, better, int(seeds(60)))
}

// A planner's answer does not depend on what was asked before.
func TestASearchForgetsWhatWasAsked(t *testing.T) {
	q := gen.Random(3, gen.Profile{MaxNodes: 4, MaxPods: 40, Budgets: true})
	priced(3, &q)
	o := preemption.Options{
		Search: preemption.Exact, SearchSteps: 2, Sampling: &preemption.Sampling{Percent: 100},
		Objective: []preemption.CriterionName{preemption.CriterionCost}, Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
	}
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	require.NoError(t, err)
	first, err := pl.Preempt(q.Preemptor)
	require.NoError(t, err)
	require.NotEmpty(t, first.Victims)
	for range 50 {
		again, err := pl.Preempt(q.Preemptor)
		require.NoError(t, err)
		require.Equal(t, first.Victims, again.Victims)
		require.Equal(t, first.Optimal, again.Optimal)
	}
}

// Of a gang the victims are searched for where it is placed: they are valid, and it pays.
func TestExactForGangs(t *testing.T) {
	t.Parallel()
	better, worse, asked := 0, 0, 0
	for seed := range seeds(1500) {
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 12, Budgets: true, Groups: seed%2 == 0}, MaxMembers: 4})
		if !asksSomething(q) {
			continue
		}
		o := preemption.Options{Rules: []preemption.Rules{"", preemption.Kubernetes136, preemption.KEP5710Alpha}[seed%3]}
		q = sound(o, q)
		greedy := ask(&named{t, seed}, o, q)
		o.Search = preemption.Exact
		exact := ask(&named{t, seed}, o, q)
		require.Equal(t, greedy.Verdict, exact.Verdict, "seed %d", seed)
		if greedy.Verdict != preemption.Feasible || len(greedy.Nominations) != len(exact.Nominations) {
			continue
		}
		switch asked++; slices.Compare(said(exact.Score), said(greedy.Score)) {
		case -1:
			better++
		case 1:
			worse++
		}
	}
	t.Logf("of %d better %d, worse %d", asked, better, worse)
	require.Greater(t, better, asked/100)
	require.Zero(t, worse)
}

// TestExactGangsAreBruteForce: of all sets of victims none that makes room for as many members
// disrupts less than the one that is called optimal, wherever they go, and no bound is above
// the least. What is small is searched for to the end.
func TestExactGangsAreBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(3000) {
		r := rand.New(rand.NewPCG(seed, 17))
		q := gen.RandomGang(seed, gen.GangProfile{
			Profile:  gen.Profile{MaxNodes: 1 + int(seed%5), MaxPods: 10, Budgets: seed%3 == 0, Groups: seed%5 < 2, Ports: seed%7 == 0, Nominations: seed%4 == 0},
			Topology: seed%4 == 1, Composite: seed%9 == 0, Ties: seed%8 == 3, MaxMembers: 4,
		})
		priced(seed, &q)
		o := preemption.Options{Objective: objective(r), Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}}
		first := preemption.CriterionOverruns
		if seed%6 == 3 { // then nobody who is over his budget goes if that can be had
			o.Objective = slices.Insert(slices.DeleteFunc(o.Objective, func(c preemption.CriterionName) bool { return c == first }), 0, first)
		}
		o.Rules = []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed/2%2]
		if seed%4 == 0 || seed%12 == 9 {
			o.SearchSteps = 1 + r.IntN(3)
		}
		if seed%5 > 0 { // nothing behind it is searched for
			o.Objective = slices.DeleteFunc(o.Objective, preemption.CriterionName.InUse)
		}
		o.Members, o.LowestLevel = []preemption.Members{preemption.MinCount, preemption.AllThatFit}[seed%2], seed/2%6 == 5
		q = sound(o, q)
		tied := seed%8 == 3 // which the plain twin knows nothing about
		greedy := ask(&named{t, seed}, o, q)
		if greedy.Verdict != preemption.Feasible {
			continue
		}
		seats := len(greedy.Nominations)
		least, few := leastGang(t, o, q, seats, func(out []naive.Unit, seats int) bool { return !tied || fitsWithout(t, o, q, out, seats) })
		if !few {
			continue
		}
		worse := said(greedy.Score)
		for _, o.Search = range []preemption.Search{preemption.Improved, preemption.Exact} {
			r := ask(&named{t, seed}, o, q)
			require.Equal(t, preemption.Feasible, r.Verdict, "seed %d", seed)
			require.True(t, len(r.Nominations) == seats || o.Members == preemption.MinCount, "seed %d", seed)
			score, bound := said(r.Score), said(r.Bound)
			require.LessOrEqual(t, slices.Compare(score, worse), 0, "seed %d: %s finds %v, worse than %v", seed, o.Search, score, worse)
			require.GreaterOrEqual(t, slices.Compare(score, least), 0, "seed %d: %v of %v is better than the best, %v", seed, score, o.Objective, least)
			require.LessOrEqual(t, slices.Compare(bound, least), 0, "seed %d: %s says at least %v, of %v there are %v", seed, o.Search, bound, o.Objective, least)
			if r.Optimal {
				require.Equal(t, least, score, "seed %d: %s, %v", seed, o.Search, o.Objective)
			}
			switch {
			case r.Optimal && slices.Compare(score, said(greedy.Score)) < 0:
				seen[string(o.Search)+" better than greedy"]++
				if o.LowestLevel {
					seen["better at the lowest level"]++
				}
			case r.Optimal:
				seen[string(o.Search)+" as good as greedy"]++
			default:
				seen[string(o.Search)+" not proved"]++
			}
			worse = score
		}
	}
	t.Log(seen)
	require.Greater(t, seen["better at the lowest level"], int(seeds(3000))/300)
	for _, search := range []string{"Improved", "Exact"} {
		require.Greater(t, seen[search+" better than greedy"], int(seeds(3000))/100)
		require.Greater(t, seen[search+" as good as greedy"], int(seeds(3000))/20)
	}
}

// What sums come to at the end of what an int64 holds takes no plan from what is looked for: groups
// that run on one node each are cheaper one by one, the one that runs on two is cheaper for both
// members.
func TestExactGangsOfHugeNumbers(t *testing.T) {
	t.Parallel()
	const huge = int64(1) << 60
	low, high, both := int32(0), int32(1_000), int32(2)
	for _, x := range []struct{ each, shared, ask, price int64 }{
		{each: 4, shared: 4, ask: 4, price: 1},
		{each: 6 * huge, shared: huge / 2, ask: 1, price: 1},              // what they request together
		{each: 6 * huge, shared: 6 * huge, ask: 6 * huge, price: 1},       // what one of them requests and a member asks for
		{each: 4, shared: 4, ask: 4, price: 1<<58 + 1},                    // what they cost together
		{each: 6 * huge, shared: huge / 2, ask: huge / 4, price: 1 << 57}, // both
	} {
		var s preemption.Snapshot
		group := func(name string, price, memory int64, nodes ...string) {
			s.PodGroups = append(s.PodGroups, preemption.PodGroup{
				Namespace: "ml", Name: name, Mode: disruption.All, Priority: &low, Cost: &cluster.Cost{Fixed: price},
			})
			for _, node := range nodes {
				s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: preemption.Resources{cluster.Memory: memory, cluster.CPU: 10}})
				s.Pods = append(s.Pods, preemption.Pod{
					Namespace: "ml", Name: name + "-" + node, Group: name, Node: node, Priority: &low, Requests: preemption.Resources{cluster.Memory: memory},
				})
			}
		}
		group("first", 5*x.price, x.each, "a")
		group("second", 5*x.price, x.each, "b")
		group("wide", 8*x.price, x.shared, "c", "d")
		p := preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Namespace: "ml", Name: "gang", Priority: &high, MinCount: &both}}
		for _, name := range []string{"gang-0", "gang-1"} {
			p.Pods = append(p.Pods, preemption.Pod{
				Namespace: "ml", Name: name, Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.Memory: x.ask, cluster.CPU: 10},
			})
		}
		for _, search := range []preemption.Search{preemption.Improved, preemption.Exact} {
			o := preemption.Options{
				Search: search, Objective: []preemption.CriterionName{preemption.CriterionCost}, Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
			}
			r, err := o.Preempt(p, &s)
			require.NoError(t, err)
			require.Equal(t, preemption.Feasible, r.Verdict)
			require.LessOrEqual(t, slices.Compare(said(r.Bound), []int64{8 * x.price}), 0, "%s: %+v", search, x)
			require.True(t, search != preemption.Exact || r.Optimal, "%+v", x)
			require.True(t, !r.Optimal || r.Score[0].Value == 8*x.price, "%s: %+v", search, x)
		}
	}
}

// TestUnlikeMembersAreProved: on 20 full nodes, more than have room for anybody once few have gone.
func TestUnlikeMembersAreProved(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]int64{"four sizes": {4, 8, 12, 16}, "launcher": {16, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}} {
		all, high, beaten := int32(len(sizes)), int32(100), 0
		for seed := range uint64(20) {
			s := gen.Fleet(20, 10, seed, gen.Uniform)
			p := preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Namespace: "ml", Name: "gang", Priority: &high, MinCount: &all}}
			for i, size := range sizes {
				p.Pods = append(p.Pods, preemption.Pod{
					Namespace: "ml", Name: fmt.Sprint("gang-", i), Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000 * size},
				})
			}
			var before []int64 // the score with less search
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
				r, err := preemption.Options{Search: search}.Preempt(p, &s)
				require.NoError(t, err)
				require.Equal(t, preemption.Feasible, r.Verdict)
				if before != nil && slices.Compare(said(r.Score), before) < 0 {
					beaten++
				}
				require.True(t, before == nil || slices.Compare(said(r.Score), before) <= 0, "%s, seed %d", name, seed)
				before = said(r.Score)
				require.True(t, search == preemption.Greedy || r.Optimal, "%s, seed %d", name, seed)
			}
		}
		require.Positive(t, beaten, name)
	}
}

// TestFewStepsProveNothingWrong: with few steps, who keeps within budgets is not always found; what is
// said to be the least, or a bound of it, holds all the same.
func TestFewStepsProveNothingWrong(t *testing.T) {
	t.Parallel()
	less := 0
	for seed := range sparse(240) {
		r := rand.New(rand.NewPCG(seed, 41))
		asks := func(most int) preemption.Resources {
			return preemption.Resources{cluster.CPU: int64(1 + r.IntN(most)), cluster.Memory: int64(1 + r.IntN(most)), "disk": int64(r.IntN(most))}
		}
		var s preemption.Snapshot
		budgets, pods := 2+r.IntN(3), 5+r.IntN(10)
		for b := range budgets {
			s.Budgets = append(s.Budgets, disruption.Budget{
				Name: fmt.Sprint("b", b), Allowed: r.Int32N(4), Selector: &disruption.Selector{MatchLabels: map[string]string{fmt.Sprint("b", b): "1"}},
			})
		}
		for n := range 2 + r.IntN(2) {
			node := preemption.Node{Name: fmt.Sprint("n", n), Allocatable: preemption.Resources{}}
			for i := range pods {
				p := preemption.Pod{Name: fmt.Sprint("p", n, "-", i), Node: node.Name, Priority: new(r.Int32N(2)), Requests: asks(30), Labels: map[string]string{}}
				for b := range budgets {
					p.Labels[fmt.Sprint("b", b)] = fmt.Sprint(r.IntN(2))
				}
				for name, v := range p.Requests {
					node.Allocatable[name] += v
				}
				p.Cost = &cluster.Cost{Fixed: int64(1 + r.IntN(20))}
				s.Pods = append(s.Pods, p)
			}
			s.Nodes = append(s.Nodes, node)
		}
		shapes := []preemption.Resources{asks(60), asks(60)}[:1+r.IntN(2)]
		members := len(shapes) + r.IntN(2)
		p := preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Name: "gang", Priority: new(int32(100)), MinCount: new(int32(members))}}
		for i := range members {
			p.Pods = append(p.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: p.Group.Priority, Requests: shapes[i%len(shapes)]})
		}
		o := preemption.Options{
			Objective: []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost},
			Cost:      preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}, Search: preemption.Exact,
		}
		if seed%2 == 0 {
			o.Objective = slices.Delete(o.Objective, 1, 2)
		}
		best, err := o.Preempt(p, &s)
		require.NoError(t, err)
		if best.Verdict != preemption.Feasible || !best.Optimal {
			continue
		}
		for o.SearchSteps = 1; o.SearchSteps <= 32; o.SearchSteps *= 2 {
			got, err := o.Preempt(p, &s)
			require.NoError(t, err)
			require.LessOrEqual(t, slices.Compare(said(got.Bound), said(best.Score)), 0, "seed %d, %d steps", seed, o.SearchSteps)
			if !got.Optimal {
				less++
				continue
			}
			require.Equal(t, said(best.Score), said(got.Score), "seed %d, %d steps", seed, o.SearchSteps)
		}
	}
	require.Positive(t, less)
}

// counted is what counts under o, in order: of the lowest level right after the budgets.
func counted(o preemption.Options) []preemption.CriterionName {
	if !o.LowestLevel || len(o.Objective) == 0 { // upstream's begin so
		return o.Objective
	}
	list := []preemption.CriterionName{preemption.CriterionHighest}
	for _, c := range slices.Backward(o.Objective) {
		if c == preemption.CriterionViolations || c == preemption.CriterionOverruns {
			list = slices.Insert(list, 0, c)
		}
	}
	for _, c := range o.Objective {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// fitsWithout reports whether so many members of the gang fit with the pods of list gone.
func fitsWithout(t *testing.T, o preemption.Options, q gen.Question, list []naive.Unit, seats int) bool {
	t.Helper()
	without := q.Snapshot
	without.Pods = slices.DeleteFunc(slices.Clone(without.Pods), func(p preemption.Pod) bool {
		return slices.ContainsFunc(list, func(u naive.Unit) bool {
			return slices.ContainsFunc(u.Pods, func(v *cluster.Pod) bool { return v.Namespace == p.Namespace && v.Name == p.Name })
		})
	})
	p, need := q.Preemptor, int32(seats)
	without.PodGroups = slices.Clone(without.PodGroups)
	for i := range without.PodGroups {
		if g := &without.PodGroups[i]; g.Name == p.Name {
			g.MinCount, g.Basic = &need, false
		}
	}
	if p.Group != nil {
		g := *p.Group
		g.MinCount, g.Basic, p.Group = &need, false, &g
	}
	r, err := o.Preempt(p, &without)
	require.NoError(t, err)
	return r.Verdict == preemption.Fits
}

// What a search has not proved of a node in its steps is no reason to let nobody of a higher
// priority go: five pods of priority 0 or less cost as much as four with one of priority 10.
func TestImprovedKnowsWhatItHasNotProved(t *testing.T) {
	t.Parallel()
	high, one := int32(100), int32(1)
	s := preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "n0", Allocatable: preemption.Resources{cluster.CPU: 3_000, cluster.Pods: 4}}},
		PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &one, Priority: &high}},
		Pods:      []preemption.Pod{{Name: "m1", Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_500}}},
	}
	for i, p := range []struct {
		priority  int32
		cpu, cost int64
	}{{-10, 1_000, 3}, {0, 500, 2}, {10, 1_000, 4}, {0, 500, 2}, {100, 500, 0}, {0, 1_500, 0}, {0, 500, 2}} {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprintf("p%d", i), Node: "n0", Priority: &p.priority,
			Requests: preemption.Resources{cluster.CPU: p.cpu}, Cost: &cluster.Cost{Fixed: p.cost},
		})
	}
	least := []int64{9, 4, 10, 4, 4 << 31}
	for steps, search := range []preemption.Search{preemption.Exact, preemption.Improved} {
		o := preemption.Options{
			Objective: []preemption.CriterionName{
				preemption.CriterionCost, preemption.CriterionPods, preemption.CriterionHighest, preemption.CriterionUnits, preemption.CriterionSum,
			},
			Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}, Search: search, SearchSteps: steps,
		}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "gang"}, &s)
		require.NoError(t, err)
		require.LessOrEqual(t, slices.Compare(said(r.Bound), least), 0, "%s", search)
		require.True(t, !r.Optimal || slices.Equal(said(r.Score), least), "%s: %v", search, r.Score)
		require.True(t, r.Optimal || search != preemption.Exact)
	}
}

// TestSearchedGangsHold: whatever is searched for, in any cluster and under any options, with elastic units
// and where the gang moves, the answer can be carried out; every answer is verified.
func TestSearchedGangsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.AnyProfile(t)
		p.Devices, p.Queues, p.Elastic = false, false, rapid.Bool().Draw(t, "elastic")
		m, q := gen.NewMaker(t, p)
		o := genopts.Any().Draw(t, "options")
		o.Strict, o.Hooks = false, nil
		o.LowestLevel = rapid.Bool().Draw(t, "lowest")
		high, one := int32(1_000), int32(1)
		gang := preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "default", Name: "several", Priority: &high, MinCount: &one}}
		for i := range 2 + m.N(3) {
			gang.Pods = append(gang.Pods, preemption.Pod{
				Namespace: "default", Name: fmt.Sprint("several-", i), Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000},
			})
		}
		for _, o.Search = range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
			pl, err := preemption.NewPlanner(&q.Snapshot, o)
			if err != nil {
				return // the options don't go together
			}
			r, err := pl.Preempt(gang)
			if err != nil || r.Verdict != preemption.Feasible {
				return
			}
			require.NoError(t, pl.Evict(r), "%s", o.Search)
		}
	})
}

// TestSearchedTreesHold: no search gives a place to members of a group that cannot run; every
// answer is verified.
func TestSearchedTreesHold(t *testing.T) {
	t.Parallel()
	short := 0
	for seed := range seeds(4000) {
		profile := smallGangs()
		if seed%2 == 0 {
			profile = tiedGangs()
		}
		o := gangOptionsBySeed(seed)
		o.Search = []preemption.Search{preemption.Improved, preemption.Exact}[seed/2%2]
		q := sound(o, gen.RandomGang(seed, profile))
		if !asksSomething(q) {
			continue
		}
		if r := ask(&named{t, seed}, o, q); q.Preemptor.Kind == cluster.KindCompositePodGroup && r.Verdict == preemption.Feasible && len(r.Nominations) < pendingUnder(&q) {
			short++
		}
	}
	require.Positive(t, short)

	high, one, two := int32(100), int32(1), int32(2)
	s := &preemption.Snapshot{
		Nodes:              []preemption.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 2}}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "tree", Priority: &high, MinGroupCount: &one}},
		PodGroups: []preemption.PodGroup{
			{Name: "short", Parent: "tree", Priority: &high, MinCount: &two}, {Name: "able", Parent: "tree", Priority: &high, MinCount: &one},
		},
		Pods: []preemption.Pod{
			{Name: "low", Node: "n", Requests: preemption.Resources{cluster.CPU: 1}}, {Name: "lower", Node: "n", Requests: preemption.Resources{cluster.CPU: 1}},
			{Name: "a", Group: "able", Requests: preemption.Resources{cluster.CPU: 1}}, {Name: "s", Group: "short", Requests: preemption.Resources{cluster.CPU: 1}},
		},
	}
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
		r, err := preemption.Options{Search: search}.Preempt(preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Name: "tree"}, s)
		require.NoError(t, err)
		require.Equal(t, []preemption.Nomination{{Pod: preemption.PodRef{Name: "a"}, Node: "n"}}, r.Nominations, search)
		require.Len(t, r.Victims, 1, search)
	}
}

// pendingUnder counts the pending pods of the tree that asks.
func pendingUnder(q *gen.Question) (n int) {
	leaf := map[string]bool{}
	for _, g := range q.Snapshot.PodGroups {
		leaf[g.Name] = g.Parent == q.Preemptor.Name
	}
	for _, p := range q.Snapshot.Pods {
		if p.Node == "" && leaf[p.Group] {
			n++
		}
	}
	return n
}

// TestExactGangsWithinBoundsAreBruteForce: of all sets of victims that keep within hard budgets and limits none that makes room
// for as many members disrupts less than the one that is called optimal, and no bound is above the least.
func TestExactGangsWithinBoundsAreBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[preemption.Search]int{}
	for seed := range seeds(3000) {
		q := gen.RandomGang(seed, gen.GangProfile{
			Profile: gen.Profile{MaxNodes: 1 + int(seed%4), MaxPods: 10, Budgets: true, Groups: seed%5 == 0}, MaxMembers: 4, Ties: seed%8 == 3,
		})
		if !asksSomething(q) {
			continue
		}
		priced(seed, &q)
		o := preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}}
		o.Rules = []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed/2%2]
		o.Objective = [][]preemption.CriterionName{
			nil, {preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionPods}, {preemption.CriterionCost}, {preemption.CriterionLevels},
		}[seed%4]
		q = sound(o, q)
		o = randomBounds(seed, o, q)
		o.Members = []preemption.Members{preemption.MinCount, preemption.AllThatFit}[seed%2]
		b, found := bounds{o, &q}, false
		for _, o.Search = range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
			r := ask(&named{t, seed}, o, q)
			require.True(t, o.Search == preemption.Greedy || (r.Verdict == preemption.Feasible) == found, "seed %d: %s", seed, o.Search)
			if found = r.Verdict == preemption.Feasible; !found {
				continue
			}
			require.True(t, b.victimsWithin(r.Victims), "seed %d", seed)
			least, few := leastGang(t, o, q, len(r.Nominations), func(out []naive.Unit, seats int) bool {
				return b.within(out) && fitsWithout(t, o, q, out, seats)
			})
			if !few {
				continue
			}
			require.NotNil(t, least, "seed %d", seed)
			score, bound := said(r.Score), said(r.Bound)
			require.GreaterOrEqual(t, slices.Compare(score, least), 0, "seed %d: %v is better than the best, %v", seed, score, least)
			require.LessOrEqual(t, slices.Compare(bound, least), 0, "seed %d: %s says at least %v, there are %v", seed, o.Search, bound, least)
			if r.Optimal {
				require.Equal(t, least, score, "seed %d: %s", seed, o.Search)
				seen[o.Search]++
			}
		}
	}
	t.Log(seen)
	require.Greater(t, seen[preemption.Improved], int(seeds(400)))
	require.Greater(t, seen[preemption.Exact], int(seeds(400)))
}

// leastGang is the least that makes room for so many members, of sets that may go; few is false where there are too many sets.
func leastGang(t *testing.T, o preemption.Options, q gen.Question, seats int, may func(out []naive.Unit, seats int) bool) (least []int64, few bool) {
	g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	if o.Members == preemption.MinCount { // others come along where that costs nothing
		seats = 1
	}
	fates := fatesIn(t, o, &q)
	for _, round := range g.Rounds() {
		for _, region := range round {
			if len(g.Potential(region.Nodes)) > 8 {
				return nil, false
			}
			g.Sets(region.Nodes, seats, func(p naive.Plan) {
				c := naive.Candidate{Victims: p.Victims, Violations: p.Violations, Overruns: p.Overruns, Score: p.Score}
				if v := values(counted(o), c, fates, nil); (least == nil || slices.Compare(v, least) < 0) && may(p.Victims, seats) {
					least = v
				}
			})
		}
		if least != nil {
			return least, true
		}
	}
	return least, true
}

// TestGreedyAllotsWithinLimits: where one pod fewer may go than upstream's pass takes, members are allotted anew, and if there is no
// plan, that is proved, with a launcher among them, too.
func TestGreedyAllotsWithinLimits(t *testing.T) {
	t.Parallel()
	high, all := int32(100), int32(4)
	p := preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Namespace: "ml", Name: "gang", Priority: &high, MinCount: &all}}
	for i := range all {
		p.Pods = append(p.Pods, preemption.Pod{Namespace: "ml", Name: fmt.Sprint("gang-", i), Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 8000}})
	}
	for seed := range uint64(12) {
		s := gen.Fleet(60, 10, seed, gen.Uniform)
		p.Pods[0].Requests[cluster.CPU] = 8000 << (seed % 2)
		r, err := preemption.Preempt(p, &s)
		require.NoError(t, err)
		var o preemption.Options
		for _, v := range r.Victims {
			o.Limits.Pods += int64(len(v.Pods))
		}
		for first := o.Limits.Pods; r.Verdict == preemption.Feasible; {
			require.LessOrEqual(t, int64(len(r.Victims)), o.Limits.Pods, "seed %d", seed)
			o.Limits.Pods--
			r, err = o.Preempt(p, &s)
			require.NoError(t, err)
			require.True(t, r.Verdict == preemption.Feasible || o.Limits.Pods < first-1 && r.Stats.Exact, "seed %d: %s", seed, r.Message)
		}
	}
}

// TestSeatsWithinHardBudgetsAreTaken: where the cheapest are not known, since sums of mixes have run out, seats that keep
// within the budgets are a plan all the same.
func TestSeatsWithinHardBudgetsAreTaken(t *testing.T) {
	t.Parallel()
	high, all := int32(100), int32(4)
	p := preemption.Preemptor{Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{Namespace: "ml", Name: "gang", Priority: &high, MinCount: &all}}
	for i := range all {
		p.Pods = append(p.Pods, preemption.Pod{Namespace: "ml", Name: fmt.Sprint("gang-", i), Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: int64(8000 << min(i, 1))}})
	}
	for _, seed := range []uint64{0, 2} {
		s := gen.Fleet(20, 10, seed, gen.Uniform)
		for i := range s.Pods {
			s.Pods[i].Labels = map[string]string{"team": fmt.Sprint(i % 12)}
		}
		for i := range 12 {
			s.Budgets = append(s.Budgets, disruption.Budget{Namespace: "default", Name: fmt.Sprint("budget", i), Allowed: int32(i % 2),
				Selector: &disruption.Selector{MatchLabels: map[string]string{"team": fmt.Sprint(i)}}})
		}
		r := ask(&named{t, seed}, preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}, gen.Question{Preemptor: p, Snapshot: s})
		require.Equal(t, preemption.Feasible, r.Verdict, "seed %d: %s", seed, r.Message)
	}
}
