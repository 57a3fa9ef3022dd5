package proving_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/preemption/internal/proving"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// A world is a question about a lone pod, of whose less important pods every set can be tried.
type world struct {
	*ask.Question
	criteria []victims.Criterion
	members  int64                    // for so many there has to be room
	given    map[cluster.NodeID]int64 // so many of them are to go there; nil: anywhere
	counting []cluster.BudgetID       // of overruns, what these are charged counts instead
	mixed    bool                     // units go whole, within bounds, and members are not alike
}

var rankings = []victims.Ranking{
	{victims.CriterionHighest, victims.CriterionSum, victims.CriterionPods},
	{victims.CriterionPods, victims.CriterionSum},
	{victims.CriterionOverruns, victims.CriterionPods},
	{victims.CriterionPods, victims.CriterionOverruns, victims.CriterionSum},
	{victims.CriterionOverruns, victims.CriterionHighest, victims.CriterionStarted, victims.CriterionUnits},
	{victims.CriterionHighest, victims.CriterionOverruns, victims.CriterionPods},
	{victims.CriterionHighest, victims.CriterionStarted, victims.CriterionSum},
	{victims.AtLevel(20), victims.AtLevel(10), victims.CriterionPods},
}

// anyCluster has full nodes, with so many pods each at most, under budgets.
func anyCluster(draw *rand.Rand, nodes, pods int) *cluster.Snapshot {
	s := &cluster.Snapshot{}
	for _, of := range []string{"a", "b", "c"} {
		s.Budgets = append(s.Budgets, disruption.Budget{
			Namespace: "default", Name: of, Allowed: int32(draw.IntN(3)), Selector: &disruption.Selector{MatchLabels: map[string]string{of: "yes"}},
		})
	}
	for i := range nodes {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 12, cluster.Memory: 12}}
		s.Nodes = append(s.Nodes, n)
		cpu, memory := int64(12), int64(12)
		for k := range 1 + draw.IntN(pods) {
			level := int32(10 * draw.IntN(4))
			p := cluster.Pod{
				Namespace: "default", Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Priority: &level, Started: time.Unix(int64(draw.IntN(4)), 0), Labels: map[string]string{},
				Requests: cluster.Resources{cluster.CPU: min(cpu, draw.Int64N(5)), cluster.Memory: min(memory, draw.Int64N(5))},
			}
			cpu, memory = cpu-p.Requests[cluster.CPU], memory-p.Requests[cluster.Memory]
			for _, of := range []string{"a", "b", "c"} {
				if draw.IntN(3) == 0 {
					p.Labels[of] = "yes"
				}
			}
			s.Pods = append(s.Pods, p)
		}
	}
	return s
}

// elastic lets some pods belong to a group that goes on as long as one of them is left: any of them may go.
func elastic(draw *rand.Rand, s *cluster.Snapshot) {
	level, one := int32(10*draw.IntN(3)), int32(1)
	s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: "some", Mode: disruption.SurplusFirst, MinCount: &one, Priority: &level})
	for i := range s.Pods {
		if p := &s.Pods[i]; *p.Priority == level && draw.IntN(3) > 0 {
			p.Group = "some"
		}
	}
}

func ofCluster(t *testing.T, s *cluster.Snapshot, settings *ask.Settings) *world {
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	units, budgets := victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137)
	return &world{Question: &ask.Question{
		Settings: settings, Index: ix, Units: units, Budgets: budgets, Columns: columns.NewNodeColumns(units, budgets), Traits: settings.Traits(),
	}, criteria: settings.Ranking, members: 1}
}

func newWorld(t *testing.T, draw *rand.Rand) *world {
	s, ranking := anyCluster(draw, 1+draw.IntN(3), 7), rankings[draw.IntN(len(rankings))]
	if !slices.Contains(ranking, victims.CriterionStarted) && draw.IntN(3) == 0 {
		elastic(draw, s)
	}
	w := ofCluster(t, s, &ask.Settings{Ranking: ranking, Effort: ask.Exact})
	w.Priority = int32(25 + 10*draw.IntN(2))
	pod := &cluster.Pod{Namespace: "default", Name: "in", Priority: &w.Priority, Requests: cluster.Resources{cluster.CPU: 4 + draw.Int64N(6), cluster.Memory: draw.Int64N(9)}}
	w.Traits |= w.TraitsOf(pod)
	if draw.IntN(3) == 0 {
		w.Limits = []ask.Bound{{Of: ask.NumPods, Left: draw.Int64N(4)}}
	}
	if draw.IntN(3) == 0 {
		w.Hard = []bool{true, draw.IntN(2) == 0, false}
	}
	w.Members = []*domain.Member{w.NewMember(pod, cluster.NoPod)}
	w.SettleClaim()
	return w
}

// A set is some of the less important pods of a node: by position in them.
type set = uint

func has(s set, i int) bool { return s>>i&1 != 0 }

// lower lists the less important pods of node n.
func (w *world) lower(n cluster.NodeID) (list []cluster.PodID) {
	for _, p := range w.Index.PodsOn(n) {
		if w.Index.Priority(p) < w.Priority {
			list = append(list, p)
		}
	}
	return list
}

// charged is how many of the pods of a set budget b covers.
func (w *world) charged(list []cluster.PodID, s set, b cluster.BudgetID) (sum int64) {
	for i, p := range list {
		if has(s, i) && slices.Contains(w.Budgets.Of(p), b) {
			sum++
		}
	}
	return sum
}

func (w *world) room(b cluster.BudgetID) int64 { return max(int64(w.Index.Budget(b).Allowed), 0) }

// value is what a set has of a criterion.
func (w *world) value(list []cluster.PodID, s set, c victims.Criterion) (v int64) {
	level, leveled := c.Level()
	highest := int64(math.MinInt32)
	for i, p := range list {
		if has(s, i) {
			highest = max(highest, int64(w.Index.Priority(p)))
		}
	}
	v = map[victims.Criterion]int64{victims.CriterionHighest: highest, victims.CriterionStarted: math.MinInt64}[c]
	for i, p := range list {
		own := w.Index.Priority(p)
		switch {
		case !has(s, i) || c == victims.CriterionHighest || c == victims.CriterionOverruns:
		case c == victims.CriterionStarted:
			if int64(own) == highest {
				v = max(v, -w.Index.Started(p))
			}
		case c == victims.CriterionSum:
			v += int64(own) + 1<<31
		case !leveled || own == level:
			v++
		}
	}
	if c == victims.CriterionOverruns {
		for b := range cluster.BudgetID(3) {
			v += max(w.charged(list, s, b)-w.room(b), 0)
		}
	}
	return v
}

// need is what is missing of a resource on node n.
func (w *world) need(n cluster.NodeID, r int) int64 {
	return w.members*w.together(n)*w.Members[0].Request()[r] - w.Index.Free(n)[r]
}

// together is how many members count as one on node n.
func (w *world) together(n cluster.NodeID) int64 { return max(w.given[n], 1) }

func (w *world) frees(list []cluster.PodID, s set, r int) (sum int64) {
	for i, p := range list {
		if has(s, i) {
			sum += w.Index.Request(p)[r]
		}
	}
	return sum
}

// makesRoom reports whether there is room once a set has gone from node n.
func (w *world) makesRoom(n cluster.NodeID, list []cluster.PodID, s set) bool {
	for r, v := range w.Members[0].Request() {
		if v > 0 && w.frees(list, s, r) < w.need(n, r) {
			return false
		}
	}
	return true
}

// helps reports whether a set makes room that may go.
func (w *world) helps(n cluster.NodeID, list []cluster.PodID, s set) bool {
	if !w.makesRoom(n, list, s) {
		return false
	}
	for _, b := range w.Limits {
		if w.value(list, s, victims.CriterionPods) > b.Left {
			return false
		}
	}
	for b, hard := range w.Hard {
		if id := cluster.BudgetID(b); hard && w.charged(list, s, id) > w.room(id) {
			return false
		}
	}
	return true
}

// least is the least that a set has which helps, by criterion; nil: none does.
func (w *world) least() (best []int64) {
	for n := range w.Index.Nodes() {
		list := w.lower(n)
		for s := range set(1) << len(list) {
			if w.helps(n, list, s) {
				var values []int64
				for _, c := range w.criteria {
					values = append(values, w.value(list, s, c))
				}
				if best == nil || slices.Compare(values, best) < 0 {
					best = values
				}
			}
		}
	}
	return best
}

// A reading reads what is shown of a node: no set has at most so much of criterion k, and no more than
// bound of those before it.
type reading struct {
	*world
	node  cluster.NodeID
	list  []cluster.PodID
	open  set // those of whom it is not known that they go or stay
	never set // those who have too much
	bound []int64
	k     int
	most  int64
	cases []proving.Case
}

// reads reports whether the steps show it. Nobody goes who has too much by himself.
func (w *world) reads(n cluster.NodeID, step proving.Step, bound []int64, most int64) bool {
	r := &reading{world: w, node: n, list: w.lower(n), bound: bound, k: step.Criterion, most: most, cases: step.Cases}
	r.open = 1<<len(r.list) - 1
	for i := range r.list {
		if w.barred(r.list, i, bound, r.k, most) {
			r.never |= 1 << i
		}
	}
	return r.read(0) && len(r.cases) == 0
}

// barred reports whether the i-th of list has by itself more than bound of a criterion before number k, or more than most of that,
// if it is one of the worst victim.
func (w *world) barred(list []cluster.PodID, i int, bound []int64, k int, most int64) (barred bool) {
	for at := range k + 1 {
		limit := most
		if at < k {
			limit = bound[at]
		}
		v := w.value(list, 1<<i, w.criteria[at])
		switch c := w.criteria[at]; {
		case c == victims.CriterionStarted:
			top := slices.Index(w.criteria, victims.CriterionHighest)
			barred = barred || w.value(list, 1<<i, victims.CriterionHighest) == bound[top] && v > limit
		case c == victims.CriterionHighest || at < k:
			barred = barred || v > limit
		}
	}
	return barred
}

// complete reports whether the steps for node n are of every criterion of which sets may have less than the bound, up to
// one of which none has as little.
func (w *world) complete(n cluster.NodeID, steps []proving.Step, bound []int64) bool {
	list := w.lower(n)
	for k := range bound {
		if len(steps) > 0 && steps[0].Criterion == k {
			if w.reads(n, steps[0], bound, bound[k]) {
				return true
			}
			steps = steps[1:]
			continue
		}
		for s := range set(1) << len(list) {
			if w.value(list, s, w.criteria[k]) < bound[k] {
				return false
			}
		}
	}
	return len(steps) == 0
}

func (r *reading) read(goes set) bool {
	c := r.cases[0]
	r.cases = r.cases[1:]
	if c.Pod == cluster.NoPod {
		return goes&r.never != 0 || r.contradicts(goes, c.Weights)
	}
	i := slices.Index(r.list, c.Pod)
	if i < 0 || !has(r.open, i) {
		return false
	}
	r.open &^= 1 << i
	defer func() { r.open |= 1 << i }()
	return r.read(goes|1<<i) && r.read(goes)
}

// contradicts reports whether for every set of a case what it frees beyond what is needed is less than what it takes
// beyond what it may.
func (r *reading) contradicts(goes set, weights []proving.Weight) bool {
	overruns := int64(0)
	for _, x := range weights {
		if x.Of.Kind == proving.Criterion && r.criteria[x.Of.Number] == victims.CriterionOverruns {
			overruns = x.Value
		}
	}
	for s := range set(1) << len(r.list) {
		if s&^(r.open&^r.never|goes) != 0 || goes&^s != 0 {
			continue
		}
		freed, taken := int64(0), int64(0)
		for _, x := range weights {
			switch number := x.Of.Number; x.Of.Kind {
			case proving.Resource:
				freed += x.Value * r.freed(goes, s, number)
			case proving.Count:
				freed += x.Value * (r.value(r.list, s&^goes, victims.CriterionPods) - r.fewest(goes))
			case proving.Criterion:
				limit := r.most
				if number < r.k {
					limit = r.bound[number]
				}
				switch c := r.criteria[number]; {
				case c == victims.CriterionOverruns && r.counting != nil:
					for _, b := range r.counting {
						taken += x.Value * r.charged(r.list, s, b)
					}
					taken -= x.Value * limit
				case c == victims.CriterionOverruns:
					taken -= x.Value * limit
				default:
					taken += x.Value * (r.value(r.list, s, c) - limit)
				}
			case proving.Budget:
				b := cluster.BudgetID(number)
				if hard := r.Hard != nil && r.Hard[b]; !hard && x.Value > overruns {
					return false
				}
				taken += x.Value * (r.charged(r.list, s, b) - r.room(b))
			case proving.Limit:
				taken += x.Value * (r.value(r.list, s, victims.CriterionPods) - max(r.Limits[number].Left, 0))
			}
		}
		if freed >= taken {
			return false
		}
	}
	return true
}

// freed is how much more than is missing s frees, beside those who go in any case, nobody of them more than that.
func (r *reading) freed(goes, s set, resource int) int64 {
	missing := max(r.need(r.node, resource)-r.frees(r.list, goes, resource), 0)
	sum := -missing
	for i, p := range r.list {
		if has(s&^goes, i) {
			sum += min(r.Index.Request(p)[resource], missing)
		}
	}
	return sum
}

// fewest is how many have to go beside some.
func (r *reading) fewest(goes set) (most int64) {
	for resource, v := range r.Members[0].Request() {
		var amounts []int64
		for i, p := range r.list {
			if has(r.open&^r.never, i) {
				amounts = append(amounts, r.Index.Request(p)[resource])
			}
		}
		slices.Sort(amounts)
		count := int64(0)
		for missing := r.need(r.node, resource) - r.frees(r.list, goes, resource); v > 0 && missing > 0; count++ {
			if len(amounts) == 0 {
				count++
				break
			}
			missing, amounts = missing-amounts[len(amounts)-1], amounts[:len(amounts)-1]
		}
		most = max(most, count)
	}
	return most
}

// TestProofsOfAPod: what the best of all sets has is shown to be the least, by numbers that add up; of more no more
// is shown than is so. That none helps is shown where none does.
func TestProofsOfAPod(t *testing.T) {
	proved, refuted, weights, cases, sum := 0, 0, 0, 0, fnv.New64a()
	for seed := range uint64(1200) {
		w := newWorld(t, rand.New(rand.NewPCG(seed, 8)))
		search := onepod.New(w.Question, &sync.Pool{}, new(onepod.Shapes))
		best, polls := w.least(), 0
		if w.Poll = func() { polls++ }; search.Filter() != cluster.NoNode {
			continue
		}
		checks := search.Trial.Checks
		at := fmt.Sprint("seed ", seed, " ", w.criteria, best)
		refutation, ok := proving.Refute(w.Question, search.Trial, search.Runner)
		require.Equal(t, best == nil, ok, at)
		fmt.Fprintln(sum, refutation, polls)
		if best == nil {
			refuted++
			for _, nodes := range refutation.Nodes {
				for _, n := range nodes.Nodes {
					require.Len(t, nodes.Steps, 1)
					require.True(t, w.reads(n, nodes.Steps[0], nil, 0), at)
				}
			}
			continue
		}
		for k := range best {
			for _, more := range []int64{0, 1, 1000} {
				bound := slices.Clone(best[:k+1])
				bound[k] += more
				proof := proving.Prove(w.Question, search.Trial, search.Runner, bound)
				require.LessOrEqual(t, slices.Compare(proof.Bound, best), 0, at)
				fmt.Fprintln(sum, proof, polls)
				require.Equal(t, checks, search.Trial.Checks, at)
				if more == 0 {
					require.Equal(t, bound, proof.Bound, at)
					proved++
				}
				told := map[cluster.NodeID]bool{}
				for i, nodes := range proof.Nodes {
					for _, other := range proof.Nodes[:i] {
						require.False(t, reflect.DeepEqual(other.Steps, nodes.Steps), "%s: told twice", at)
					}
					for _, n := range nodes.Nodes {
						told[n] = true
						require.True(t, w.complete(n, nodes.Steps, proof.Bound), at)
						for _, step := range nodes.Steps {
							cases += len(step.Cases)
							for _, c := range step.Cases {
								weights += len(c.Weights)
							}
							require.True(t, w.reads(n, step, proof.Bound, proof.Bound[step.Criterion]-1), "%s: node %d: %+v of %v", at, n, step, proof.Bound)
						}
					}
				}
				for n := range w.Index.Nodes() {
					if list := w.lower(n); !told[n] {
						require.False(t, w.makesRoom(n, list, 1<<len(list)-1), at)
					}
				}
			}
		}
	}
	t.Log(proved, refuted, weights, cases)
	require.Equal(t, []int{1475, 17_455, 10_159}, []int{proved, weights, cases}, "what is shown, and in how many words")
	require.Equal(t, uint64(0xac56bb698e368392), sum.Sum64(), "they are the same proofs")
	require.Greater(t, refuted, 100)
}

// TestAProofReadsSoMuch: of too many units under too many budgets nothing is shown, where budgets differ.
func TestAProofReadsSoMuch(t *testing.T) {
	for _, of := range []struct {
		pods  int
		equal bool
		shown bool
	}{{4097, true, true}, {4097, false, false}, {1024, false, true}} {
		s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: int64(of.pods)}}}}
		for i := range of.pods {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: "n", Requests: cluster.Resources{cluster.CPU: 1}, Labels: map[string]string{"i": fmt.Sprint(i % 1024)}})
		}
		for i := range 512 {
			b := disruption.Budget{Name: fmt.Sprint(i), Selector: &disruption.Selector{}}
			if !of.equal {
				b.Selector.MatchExpressions = []disruption.Requirement{{Key: "i", Operator: disruption.NotIn, Values: []string{fmt.Sprint(i)}}}
			}
			s.Budgets = append(s.Budgets, b)
		}
		w := ofCluster(t, s, &ask.Settings{Ranking: victims.Ranking{victims.CriterionPods}})
		w.Hard, w.Priority = slices.Repeat([]bool{true}, len(s.Budgets)), 1
		w.SettleClaim()
		w.Members = []*domain.Member{w.NewMember(&cluster.Pod{Name: "in", Requests: cluster.Resources{cluster.CPU: 1}}, cluster.NoPod)}
		search := onepod.New(w.Question, &sync.Pool{}, new(onepod.Shapes))
		_, ok := proving.Refute(w.Question, search.Trial, search.Runner)
		require.Equal(t, of.shown, ok)
	}
}

// newGang is a world in which a gang of equal members asks for room, in one domain or in one of two, or each of them on a node.
func newGang(t *testing.T, draw *rand.Rand) (w *world, domains []domain.Domain) {
	s, ranking, mixed := anyCluster(draw, 2+draw.IntN(2), 4), rankings[draw.IntN(len(rankings))], draw.IntN(3) == 0
	if mixed {
		mix(draw, s)
	} else if !slices.Contains(ranking, victims.CriterionStarted) && draw.IntN(3) == 0 {
		elastic(draw, s)
	}
	high, one := int32(25+10*draw.IntN(2)), int32(1)
	s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: "job", MinCount: &one, Priority: &high})
	requests := cluster.Resources{cluster.CPU: 1 + draw.Int64N(5), cluster.Memory: draw.Int64N(5)}
	for i := range 1 + draw.IntN(5) {
		if mixed {
			requests = cluster.Resources{cluster.CPU: 1 + draw.Int64N(5), cluster.Memory: draw.Int64N(5)}
		}
		s.Pods = append(s.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprint("job-", i), Group: "job", Requests: requests})
	}
	w = ofCluster(t, s, &ask.Settings{Ranking: ranking, Effort: ask.Exact, BrokenFree: mixed})
	if w.mixed = mixed; mixed && draw.IntN(2) == 0 {
		w.Limits, w.Hard = []ask.Bound{{Of: ask.NumUnits, Left: 1 + draw.Int64N(3)}}, []bool{draw.IntN(2) == 0, false, draw.IntN(2) == 0}
	}
	g := w.Index.GroupByName(cluster.KindPodGroup, "default", "job")
	w.Group, w.Priority = w.Index.Group(g), high
	w.Tree = seating.NewGroup(w.Index, g, func(p cluster.PodID) domain.MemberID {
		w.Members = append(w.Members, w.NewMember(w.Index.Pod(p), p))
		return domain.MemberID(len(w.Members) - 1)
	})
	w.SettleClaim()
	domains = seating.Split(w.Index, nil)
	if all := domains[0].Nodes; draw.IntN(2) == 0 {
		domains = []domain.Domain{{Name: "one", Nodes: all[:1]}, {Name: "two", Nodes: all[1:]}}
	}
	if !mixed && draw.IntN(4) == 0 {
		w.given = map[cluster.NodeID]int64{}
		for m := range w.Members {
			n := cluster.NodeID(draw.IntN(w.Index.NumNodes()))
			w.Given, w.given[n] = append(w.Given, domain.Assignment{Member: domain.MemberID(m), Node: n}), w.given[n]+1
		}
		domains = seating.Split(w.Index, nil)
	}
	return w, domains
}

// mix lets pods go together, unequal, or as what is left of a gang.
func mix(draw *rand.Rand, s *cluster.Snapshot) {
	for i, need := range []int32{1, 99, 1} {
		level := int32(10 * draw.IntN(4))
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint(i), Mode: disruption.All, MinCount: &need, Priority: &level})
	}
	for i := range s.Pods {
		if k := draw.IntN(6); k < 3 {
			s.Pods[i].Group = fmt.Sprint(k)
		}
	}
}

// leastOfUnits is leastOfGang where units go whole, by their scores.
func (w *world) leastOfUnits(domains []domain.Domain, seats int64) (best []int64, parts victims.Parts) {
	for _, d := range domains {
		var units []victims.UnitID
		for _, n := range d.Nodes {
			units = append(units, w.Evictable(n)...)
		}
		slices.Sort(units)
		units = slices.Compact(units)
		for s := range set(1) << len(units) {
			gone := victims.Parts{}
			for i, u := range units {
				if has(s, i) {
					gone[u] = w.Units.Unit(u).Pods
				}
			}
			room, out := int64(0), w.Units.Sorted(slices.Collect(maps.Keys(gone)))
			for _, n := range d.Nodes {
				at, list := set(0), w.Index.PodsOn(n)
				for i, p := range list {
					if u, ok := w.Units.UnitOf(p); ok && gone[u] != nil {
						at |= 1 << i
					}
				}
				room += w.slots(n, list, at)
			}
			if room < seats || len(w.Overruns(out, nil)) > 0 {
				continue
			}
			if values := w.Ranking.Values(w.Score(out, nil, 0)); best == nil || slices.Compare(values, best) < 0 {
				best, parts = values, gone
			}
		}
	}
	return best, parts
}

// asks is what every member asks for at least of a resource.
func (w *world) asks(r int) int64 {
	least := w.Members[0].Request()[r]
	for _, m := range w.Members {
		least = min(least, m.Request()[r])
	}
	return least
}

// slots is for how many members there is room on node n once a set has gone; those who are to go there count as one.
func (w *world) slots(n cluster.NodeID, list []cluster.PodID, s set) int64 {
	most := int64(len(w.Members))
	if w.given != nil {
		most = min(w.given[n], 1)
	}
	for r := range w.Members[0].Request() {
		if v := w.asks(r) * w.together(n); v > 0 {
			most = min(most, max(w.Index.Free(n)[r]+w.frees(list, s, r), 0)/v)
		}
	}
	return most
}

// fits reports whether so many members have places with nobody gone.
func (w *world) fits(domains []domain.Domain, seats int64) bool {
	return slices.ContainsFunc(domains, func(d domain.Domain) bool {
		room := int64(0)
		for _, n := range d.Nodes {
			room += w.slots(n, nil, 0)
		}
		return room >= seats
	})
}

// leastOfGang is the least that a set of pods of one domain has with which so many members have places, by criterion, and the first
// such set; nil: there is none.
func (w *world) leastOfGang(domains []domain.Domain, seats int64) (best []int64, parts victims.Parts) {
	for _, d := range domains {
		var list []cluster.PodID
		for _, n := range d.Nodes {
			list = append(list, w.lower(n)...)
		}
		for s := range set(1) << len(list) {
			room := int64(0)
			for _, n := range d.Nodes {
				at := set(0)
				for i, p := range list {
					if has(s, i) && w.Index.NodeOf(p) == n {
						at |= 1 << slices.Index(w.lower(n), p)
					}
				}
				room += w.slots(n, w.lower(n), at)
			}
			if room < seats {
				continue
			}
			var values []int64
			for _, c := range w.criteria {
				values = append(values, w.value(list, s, c))
			}
			if best == nil || slices.Compare(values, best) < 0 {
				best, parts = values, victims.Parts{}
				for i, p := range list {
					if u, ok := w.Units.UnitOf(p); ok && has(s, i) {
						parts[u] = append(parts[u], p)
					}
				}
			}
		}
	}
	return best, parts
}

// shown is how much of a criterion so many members cost on node n at least, by steps.
func (w *world) shown(n cluster.NodeID, steps []proving.Step, bound []int64, members int64) (most int64) {
	for _, step := range steps {
		if w.members = step.Members; step.Members <= members {
			low, high := int64(0), int64(1)<<36 // the first of which they don't
			for low < high {
				if mid := (low + high) / 2; w.reads(n, step, bound, mid) {
					low = mid + 1
				} else {
					high = mid
				}
			}
			most = max(most, low)
		}
	}
	return most
}

// TestProofsOfAGang: what the best of all sets has is shown to be the least, or less, by numbers that add up; of the
// highest priority all of it is shown. That none helps is shown where none does.
func TestProofsOfAGang(t *testing.T) {
	exact, less, refuted, weights, sum := 0, 0, 0, 0, fnv.New64a()
	for seed := range uint64(1400) {
		w, domains := newGang(t, rand.New(rand.NewPCG(seed, 9)))
		runner := reprieve.NewRunner(w.Units, w.Budgets)
		polls := 0
		w.Poll = func() { polls++ }
		for seats := range len(w.Members) {
			if seats++; w.fits(domains, int64(seats)) || w.given != nil && seats != len(w.given) {
				continue
			}
			best, parts := w.leastOfGang(domains, int64(seats))
			if w.mixed {
				best, parts = w.leastOfUnits(domains, int64(seats))
			}
			at := fmt.Sprint("seed ", seed, ", ", seats, " members ", w.criteria)
			polls = 0
			proof, ok := proving.RefuteGang(w.Question, runner, domains, seats)
			require.True(t, best == nil || !ok, at)
			fmt.Fprintln(sum, proof, polls)
			if best == nil {
				if !ok {
					require.True(t, w.Limits != nil, at)
					continue
				}
				require.Len(t, proof.Domains, len(domains))
				require.GreaterOrEqual(t, polls, w.Index.NumNodes(), at)
				refuted++
				continue
			}
			for _, more := range []int64{0, 1} {
				bound := slices.Clone(best)
				bound[0] += more
				proof = proving.ProveGang(w.Question, runner, domains, seats, bound, slices.Sorted(maps.Keys(parts)), parts)
				require.LessOrEqual(t, slices.Compare(proof.Bound, best), 0, at)
				fmt.Fprintln(sum, proof, polls)
				if w.criteria[0] == victims.CriterionHighest && !w.mixed {
					require.Equal(t, best[0], proof.Bound[0], at)
				}
				if len(proof.Bound) > 0 && slices.Equal(proof.Bound, best[:len(proof.Bound)]) {
					exact++
				} else {
					less++
				}
				for _, d := range proof.Domains {
					if w.mixed {
						break
					}
					w.addsUp(t, &domains[d.Domain], d, proof.Bound, int64(seats), at)
					for i, nodes := range d.Nodes {
						for _, other := range d.Nodes[:i] {
							require.False(t, nodes.Spare == other.Spare && reflect.DeepEqual(nodes.Steps, other.Steps), "%s: told twice", at)
						}
						for _, step := range nodes.Steps {
							for _, c := range step.Cases {
								weights += len(c.Weights)
							}
						}
					}
				}
			}
		}
	}
	t.Log(exact, less, refuted, weights)
	require.Equal(t, []int{777, 3_081}, []int{exact, weights}, "what is shown, and in how many words")
	require.Equal(t, uint64(0xa19464c373aa907), sum.Sum64(), "they are the same proofs")
	require.Greater(t, refuted, 50)
}

// addsUp: members on each node cost no less than their price but for what is spared, and all together as much as the
// bound says; of overruns, what some budgets are charged costs, and there is room for as much.
func (w *world) addsUp(t *testing.T, d *domain.Domain, shown proving.Domain, bound []int64, seats int64, at string) {
	k := shown.Criterion
	if shown.Times == 0 { // so few have room where nobody goes who has more
		require.EqualValues(t, 1, shown.Price, at)
		return
	}
	steps, spare := map[cluster.NodeID][]proving.Step{}, map[cluster.NodeID]int64{}
	for _, nodes := range shown.Nodes {
		for _, n := range nodes.Nodes {
			steps[n], spare[n] = nodes.Steps, nodes.Spare
		}
	}
	left, most := shown.Price*seats, bound[k]-1
	if w.counting = nil; w.criteria[k] == victims.CriterionOverruns {
		w.counting = shown.Budgets
		for _, b := range shown.Budgets {
			most += w.room(b)
		}
	}
	for _, n := range d.Nodes {
		list := w.lower(n)
		may := set(0)
		for i := range list {
			if !w.barred(list, i, bound, k, 1<<62) {
				may |= 1 << i
			}
		}
		room := min(w.slots(n, list, may), seats)
		if steps[n] == nil {
			left -= shown.Price * room
			continue
		}
		left -= spare[n]
		for m := range room + 1 {
			require.LessOrEqual(t, shown.Price*m-shown.Times*w.shown(n, steps[n], bound, m), spare[n], "%s: %d on node %d", at, m, n)
		}
	}
	require.Greater(t, left, shown.Times*most, at)
}
