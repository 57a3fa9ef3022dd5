package gang

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/allot"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// TestFewestGroupsAreTouched: whose pods are on several nodes counts once, which no sum over nodes tells.
func TestFewestGroupsAreTouched(t *testing.T) {
	settled, fewer := 0, 0
	for seed := range uint64(150) {
		draw := rand.New(rand.NewPCG(seed, 8))
		s := crowded(draw, 3, seed%3 == 0, true)
		for i := range 3 {
			level := int32(5*i - 10)
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("g", i), Basic: true, Priority: &level})
		}
		for i := range s.Pods {
			if p := &s.Pods[i]; p.Node != "" && *p.Priority < 5 {
				p.Group, p.Priority = fmt.Sprint("g", draw.IntN(3)), nil
			}
		}
		found := map[ask.Effort]int64{}
		for _, effort := range []ask.Effort{ask.Greedy, ask.Improved, ask.Exact} {
			q := asks(t, s, &ask.Settings{
				Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: true, Checks: 100_000, Effort: effort,
				Ranking: victims.Ranking{victims.CriterionGroups, victims.CriterionPods},
			})
			domains := seating.Split(q.Index, nil)
			search := NewCounting(q, &sync.Pool{})
			answer := search.Run([][]domain.Domain{domains})
			search.Close()
			if answer.Verdict != ask.Feasible {
				continue
			}
			touched := func(out []cluster.PodID) []int64 {
				groups := map[cluster.GroupID]bool{}
				for _, p := range out {
					groups[q.Index.GroupOf(p)] = true
				}
				return []int64{int64(len(groups)), int64(len(out))}
			}
			var out []cluster.PodID
			for _, u := range answer.Plan.Victims {
				out = append(out, q.Units.Unit(u).Pods...)
			}
			have, want := touched(out), fewest(q, &domains[0], len(q.Members), 100, touched)
			found[effort] = have[0]
			if search.Open {
				require.LessOrEqual(t, slices.Compare(search.Least, want), 0, "seed %d", seed)
			}
			if effort != ask.Exact || search.Open {
				continue
			}
			require.Equal(t, want, have, "seed %d", seed)
			settled++
			if found[ask.Exact] < found[ask.Greedy] {
				fewer++
			}
		}
	}
	require.Greater(t, settled, 50)
	require.Positive(t, fewer)
}

// drawPlace is a node on which up to six members are to run, of one shape or several, and who may go from it.
func drawPlace(draw *rand.Rand, several bool) *place {
	p := &place{mixes: allot.NewMixes([]int{6}, 0), closed: []bool{false}, level: math.MaxInt64, numSums: 1 + draw.IntN(3)}
	if several {
		p.mixes, p.closed = allot.NewMixes([]int{2, 1, 3}, 1000), []bool{false, draw.IntN(4) == 0, false}
	}
	for range 1 + draw.IntN(2) {
		asks := []int64{1 + draw.Int64N(4)}
		if several {
			asks = append(asks, draw.Int64N(3), draw.Int64N(4))
		}
		p.asks, p.free = append(p.asks, asks), append(p.free, draw.Int64N(5)-2)
	}
	for range draw.IntN(8) {
		it := item{number: draw.Int64N(4)}
		for range p.asks {
			it.frees = append(it.frees, draw.Int64N(4))
		}
		for j := range p.numSums {
			it.price[j] = draw.Int64N(6)
			if draw.IntN(9) == 0 {
				it.price[j] = []int64{1 << 31, 1 << 40, 1 << 61}[draw.IntN(3)]
			}
		}
		p.items = append(p.items, it)
	}
	for several && p.caps < 2 && draw.IntN(2) == 0 {
		p.caps, p.mixes = p.caps+1, p.mixes.With(draw.IntN(4-2*p.caps), 100_000)
		for i := range p.items {
			p.items[i].uses = append(p.items[i].uses, draw.Int64N(3))
		}
	}
	p.measure(p.mixes.Len() - 1)
	return p
}

// cheapest is what mix k costs with any set of items that may go; false if there is none.
func (p *place) cheapest(k int, level int64) (least allot.Price, ok bool) {
	for set := range uint(1) << len(p.items) {
		if price, enough := p.cost(set, k, level); enough && (!ok || price.Compare(&least) < 0) {
			least, ok = price, true
		}
	}
	return least, ok
}

// cost is the price of a set of items, and whether they may go and free the room for mix k.
func (p *place) cost(set uint, k int, level int64) (price allot.Price, enough bool) {
	enough = true
	for i, closed := range p.closed {
		enough = enough && !(closed && p.mixes.Count(k, i) > 0)
	}
	for r, asks := range p.asks {
		free := p.free[r]
		for i := range p.items {
			if set>>i&1 != 0 {
				free += p.items[i].frees[r]
			}
		}
		asked := int64(0)
		for i, v := range asks {
			asked += v * int64(p.mixes.Count(k, i))
		}
		enough = enough && free >= asked || asked == 0 && enough
	}
	uses := make([]int64, p.caps)
	for i := range p.items {
		if set>>i&1 == 0 {
			continue
		}
		for c := range uses {
			uses[c] += p.items[i].uses[c]
			enough = enough && uses[c] <= int64(p.mixes.Count(k, len(p.closed)+c))
		}
		enough = enough && p.items[i].number <= level
		for j := range p.numSums {
			price[j] += p.items[i].price[j]
		}
	}
	return price, enough
}

// priced are what so many numbers of a price are.
func (p *place) priced(price allot.Price) []int64 { return price[:p.numSums] }

// TestAPlaceCostsTheLeastOfAllSets: for each mix of members, whoever may go, and what is known
// of all holds where fewer may.
func TestAPlaceCostsTheLeastOfAllSets(t *testing.T) {
	looked, kept, only, tight, never := 0, 0, 0, 0, 0
	for seed := range uint64(400) {
		draw := rand.New(rand.NewPCG(seed, 1))
		p := drawPlace(draw, seed%2 == 0)
		for _, level := range []int64{math.MaxInt64, 2, 1, 0} {
			p = p.within(level)
			require.Len(t, p.found, p.seats)
			for k := 1; k < p.mixes.Len(); k++ {
				want, ok := p.cheapest(k, level)
				if require.Equal(t, ok || p.caps > 0 && p.may(k), p.may(k), "seed %d, level %d, mix %d", seed, level, k); !p.may(k) {
					continue
				}
				bound := p.least(k)
				if !ok { // of what keeps within caps a look alone tells
					f, _ := p.look(k, 10_000, nil)
					require.Nil(t, f, "seed %d, level %d, mix %d", seed, level, k)
					p.holds[k] = false
					never++
					continue
				}
				require.LessOrEqual(t, bound.Compare(&want), 0, "seed %d, level %d, mix %d", seed, level, k)
				if bound == want {
					tight++
				}
				f := p.found[k-1]
				if f != nil {
					kept++
				} else if draw.IntN(4) > 0 {
					f, _ = p.look(k, 10_000, nil)
					p.found[k-1] = f
					looked++
				} else {
					continue
				}
				require.True(t, f.proved)
				require.Equal(t, p.priced(want), p.priced(f.price), "seed %d, level %d, mix %d", seed, level, k)
				set := uint(0)
				for _, i := range f.items {
					set |= 1 << i
				}
				require.Equal(t, len(f.items), bits.OnesCount(set))
				price, enough := p.cost(set, k, level)
				require.True(t, enough)
				require.Equal(t, p.priced(want), p.priced(price))
			}
			if few := p.only(); few != p {
				only++
				require.Len(t, few.items, len(p.eligible()))
				require.Len(t, few.found, len(p.found))
				for k, f := range p.found {
					if f == nil {
						require.Nil(t, few.found[k])
						continue
					}
					require.Equal(t, f.price, few.found[k].price)
					for at, i := range f.items {
						require.Equal(t, p.items[i], few.items[few.found[k].items[at]])
					}
				}
			}
		}
	}
	require.GreaterOrEqual(t, tight, 1073)
	require.Greater(t, looked, 200)
	require.Greater(t, kept, 200)
	require.Greater(t, only, 200)
	require.Greater(t, never, 100)
}

// TestALookThatIsCutShortSaysSo: those that it has found free the room within the caps, nobody is
// cheaper than it says, and it says no only where there are none.
func TestALookThatIsCutShortSaysSo(t *testing.T) {
	short, none := 0, 0
	for seed := range uint64(600) {
		p := drawPlace(rand.New(rand.NewPCG(seed, 2)), seed%3 > 0)
		for k := 1; k <= p.seats; k++ {
			if !p.may(k) {
				continue
			}
			f, steps := p.look(k, int(seed%2), nil)
			want, ok := p.cheapest(k, math.MaxInt64)
			if f == nil {
				require.False(t, ok, "seed %d, mix %d", seed, k)
				continue
			}
			require.True(t, !ok || f.price.Compare(&want) <= 0, "seed %d, mix %d", seed, k)
			if f.none {
				require.False(t, f.proved)
				none++
				continue
			}
			set := uint(0)
			for _, i := range f.items {
				set |= 1 << i
			}
			price, enough := p.cost(set, k, math.MaxInt64)
			require.True(t, enough)
			require.GreaterOrEqual(t, price.Compare(&want), 0)
			if f.proved {
				require.Equal(t, p.priced(want), p.priced(price))
			} else {
				short += min(steps, 1)
			}
		}
	}
	require.Positive(t, short)
	require.Positive(t, none)
}

// TestMergedNumbersAreSplit: sums of any items of numbers that were made one are those of each, and
// come in their order.
func TestMergedNumbersAreSplit(t *testing.T) {
	alone := 0
	for seed := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed, 3))
		p := drawPlace(draw, false)
		who := p.eligible()
		for first := range p.numSums {
			m := p.merge(who, first)
			if len(m.radix) < p.numSums-first {
				alone++
			}
			var sum int64
			var want, have allot.Price
			for at, i := range who {
				if draw.IntN(2) == 0 {
					continue
				}
				require.GreaterOrEqual(t, m.price[at], int64(0))
				sum += m.price[at]
				for j := range m.radix {
					want[j] += p.items[i].price[first+j]
				}
			}
			if sum >= 0 && want[0] >= 0 { // one number alone may be beyond an int64, and is summed with checks
				m.split(sum, have[:])
				require.Equal(t, want, have, "seed %d", seed)
			}
		}
	}
	require.Positive(t, alone)
}

// TestColumnsTellWhatTrialsDo: a gang goes where it goes, for whom it goes, if everybody who may go is taken out of trials and
// no domain and no placement is left out because of its price.
func TestColumnsTellWhatTrialsDo(t *testing.T) {
	feasible, unlike, violating, asked, checks := 0, 0, 0, [2]int{}, [2]int{}
	for seed := range uint64(400) {
		draw := rand.New(rand.NewPCG(seed, 31))
		s := crowded(draw, 1+draw.IntN(90), draw.IntN(3) > 0, true)
		large := 1 + 9*draw.Int64N(2) // with many sizes
		for i := range s.Nodes {
			s.Nodes[i].Allocatable[cluster.CPU] *= large
		}
		for i := range s.Pods {
			s.Pods[i].Requests[cluster.CPU] *= large
		}
		for range draw.IntN(4 + 8*int(large/3)) {
			p := s.Pods[len(s.Pods)-1]
			p.Name += "+"
			if draw.IntN(2) == 0 {
				p.Requests = cluster.Resources{cluster.CPU: 1 + draw.Int64N(5*large)}
			}
			s.Pods = append(s.Pods, p)
			*s.PodGroups[0].MinCount++
		}
		if seed%5 == 0 { // some pods are under a budget
			of := map[string]string{"a": ""}
			for i := range s.Pods {
				if draw.IntN(9) == 0 {
					s.Pods[i].Labels = of
				}
			}
			s.Budgets = []disruption.Budget{{Namespace: "default", Name: "a", Allowed: draw.Int32N(2), Selector: &disruption.Selector{MatchLabels: of}}}
		}
		settings := &ask.Settings{
			Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: draw.IntN(3) == 0, Checks: 2_000,
		}
		var limits []ask.Bound
		if draw.IntN(6) == 0 {
			limits = []ask.Bound{{Of: ask.NumPods, Left: 1 + draw.Int64N(9)}}
		}
		parts := 1 + draw.IntN(6)
		var answers [2]Answer
		var rejected [2][]Rejected
		var room [2]int
		for i := range answers {
			q := asks(t, s, settings, limits...)
			var domains []domain.Domain
			for k, all := 0, seating.Split(q.Index, nil)[0].Nodes; k < parts; k++ {
				if nodes := all[k*len(all)/parts : (k+1)*len(all)/parts]; len(nodes) > 0 {
					domains = append(domains, domain.Domain{Name: fmt.Sprint(k), Nodes: nodes})
				}
			}
			search := New(q)
			if f := search.firstSeats(); i == 0 {
				require.Equal(t, limits == nil, f.vacates)
			} else {
				f.seats, f.vacates = nil, false
			}
			answers[i] = search.Run([][]domain.Domain{domains})
			if notes := search.notes; notes != nil { // of which the next question expects that
				require.False(t, slices.Contains(notes.inside, true))
				require.False(t, slices.ContainsFunc(notes.charged, func(c int32) bool { return c != 0 }))
			}
			if answers[i].Verdict != ask.Fits {
				require.Empty(t, search.Trial.Placed())
			}
			rejected[i], room[i] = search.Rejected, search.Room
			search.Close()
			asked[i] += search.Asked()
			checks[i] += search.Checks()
			if !search.Trial.Interchangeable() {
				unlike++
			}
		}
		require.Equal(t, answers[1].Verdict, answers[0].Verdict, "seed %d", seed)
		if answers[1].Verdict == ask.Infeasible {
			require.Equal(t, rejected[1], rejected[0], "seed %d", seed)
			require.Equal(t, room[1], room[0], "seed %d", seed)
		}
		if answers[1].Plan == nil {
			continue
		}
		feasible++
		want, got := answers[1].Plan, answers[0].Plan
		require.Equal(t, want.Domain.Name, got.Domain.Name, "seed %d", seed)
		require.Equal(t, want.Places, got.Places, "seed %d", seed)
		require.Equal(t, want.Victims, got.Victims, "seed %d", seed)
		require.Equal(t, want.Score, got.Score, "seed %d", seed)
		violating += min(want.Score.Violations, 1)
	}
	require.Greater(t, feasible, 270)
	require.Greater(t, unlike, 300)
	require.Positive(t, violating)
	require.Equal(t, [2]int{2_271_155, 2_493_298}, asked, "what is left out need not be asked about; a search that asks less changes it")
	require.Equal(t, [2]int{76_978, 77_939}, checks)
}

// TestPlacesCostTheLeastOfAllSets: for members that are alike, whoever is asked about, in whatever order and
// one after the other.
func TestPlacesCostTheLeastOfAllSets(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(150) {
		draw := rand.New(rand.NewPCG(seed, 9))
		q := asks(t, crowded(draw, 3, false, true), &ask.Settings{})
		d := seating.Split(q.Index, nil)[0]
		trial := domain.NewGangTrial(q.Index, q.Members, nil, func(cluster.PodID) bool { return false })
		size, members := q.Members[0].Pod.Requests[cluster.CPU], len(q.Members)
		s := seating.NewSums(trial, trial, &d, members, q.Members[0].Request(), make([]int, q.Index.NumNodes()))
		var pods []cluster.PodID
		for _, n := range d.Nodes {
			pods = append(pods, q.Index.PodsOn(n)...)
		}
		for range 4 {
			draw.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			asked := pods[:1+draw.IntN(len(pods))]
			var items [][]cluster.PodID
			var price []int64
			sum := int64(0)
			for _, p := range asked {
				items, price = append(items, []cluster.PodID{p}), append(price, 1+draw.Int64N(9))
				sum += price[len(price)-1]
			}
			want := int64(math.MaxInt64)
			for set := range uint(1) << len(items) {
				cost, left := int64(0), make([]int64, q.Index.NumNodes())
				for _, n := range d.Nodes {
					left[n] = q.Index.Node(n).Allocatable[cluster.CPU]
					for _, p := range q.Index.PodsOn(n) {
						left[n] -= q.Index.Pod(p).Requests[cluster.CPU]
					}
				}
				for rest := set; rest != 0; rest &= rest - 1 {
					i := bits.TrailingZeros(rest)
					cost += price[i]
					left[q.Index.NodeOf(items[i][0])] += q.Index.Pod(items[i][0]).Requests[cluster.CPU]
				}
				seats := int64(0)
				for _, free := range left {
					seats += free / size
				}
				if seats >= int64(members) {
					want = min(want, cost)
				}
			}
			got, _, _ := s.Least(items, price, make([]bool, len(items)), math.MaxInt64-1, 1<<20)
			if want == math.MaxInt64 {
				require.Greater(t, got, sum, "seed %d", seed)
				none++
				continue
			}
			require.Equal(t, want, got, "seed %d", seed)
			found++
		}
	}
	require.Greater(t, found, 100)
	require.Greater(t, none, 10)
}

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
