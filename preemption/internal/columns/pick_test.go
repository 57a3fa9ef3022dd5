package columns_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// A cell is a cluster, of which a pod is asked that needs so much and may evict whoever is below a level.
type cell struct {
	ix      *cluster.Index
	units   *victims.Units
	budgets *victims.Budgets
	need    []int64
	below   int32
}

// lacks is the first resource that is short where row is what is left, -1 if there is none.
func (c *cell) lacks(row []int64) int {
	for r, v := range row {
		if v < 0 && c.need[r] > 0 {
			return r
		}
	}
	return -1
}

// left is what is left on node n beside the pod.
func (c *cell) left(n cluster.NodeID) []int64 {
	row := slices.Clone(c.ix.Free(n))
	for r, v := range c.need {
		row[r] -= v
	}
	return row
}

// tooSmall reports whether node n offers too little of something, of which pods are none.
func (c *cell) tooSmall(n cluster.NodeID) bool {
	for r, v := range c.ix.Allocatable(n) {
		if c.need[r] > v && r != int(cluster.PodsColumn) {
			return true
		}
	}
	return false
}

// move adds what unit u asks for on node n to row, or with sign -1 takes it off.
func (c *cell) move(row []int64, n cluster.NodeID, u victims.UnitID, sign int64) {
	for _, p := range c.units.Unit(u).Pods {
		for r, v := range c.ix.Request(p) {
			if c.ix.NodeOf(p) == n {
				row[r] += sign * v
			}
		}
	}
}

// reprieve is what comes of node n where everybody leaves who may, and whoever finds room returns, the violating first, if
// admit lets him; lacks is what is short even so.
func (c *cell) reprieve(n cluster.NodeID, admit func(victims.UnitID) bool) (out []victims.UnitID, score victims.Score, lacks int) {
	row, ledger, violations := c.left(n), c.budgets.NewLedger(), 0
	var violating, rest []victims.UnitID
	for _, u := range c.units.On(n) {
		if unit := c.units.Unit(u); unit.Level >= c.below {
			continue
		} else if c.budgets.Charge(ledger, unit) > 0 {
			violating = append(violating, u)
		} else {
			rest = append(rest, u)
		}
		c.move(row, n, u, +1)
	}
	if lacks = c.lacks(row); lacks >= 0 {
		return nil, score, lacks
	}
	for i, u := range slices.Concat(violating, rest) {
		if c.move(row, n, u, -1); c.lacks(row) < 0 && admit(u) {
			continue
		}
		c.move(row, n, u, +1)
		if out = append(out, u); i < len(violating) {
			violations++
		}
	}
	slices.SortFunc(out, c.units.Compare)
	return out, c.units.Score(out, violations), lacks
}

// change lets pods come and go, and returns columns that have followed.
func (c *cell) change(draw *rand.Rand, packed *columns.NodeColumns) *columns.NodeColumns {
	list, numChanges := slices.Collect(c.ix.Pods()), 0
	var all []victims.Shift
	if often := draw.IntN(4); often > 0 && len(list) > 0 {
		numChanges = min(20*often, len(list)-1)
	}
	atOnce := 1 + draw.IntN(2)*draw.IntN(50)
	for change := range numChanges {
		i := draw.IntN(len(list))
		id := list[i]
		var shifts []victims.Shift
		if p := *c.ix.Pod(id); draw.IntN(3) == 0 && p.Node != "" && c.ix.MayRemovePod(id) { // a nomination that ends is no shift
			shifts = c.units.Remove(nil, id)
			c.ix.RemovePod(id)
			list = slices.Delete(list, i, i+1)
		} else {
			p.Name += "+"
			p.NominatedNode, p.Node = "", c.ix.Node(cluster.NodeID(draw.IntN(c.ix.NumNodes()))).Name
			if !c.ix.MaySetPod(&p, cluster.NoPod) {
				continue
			}
			id = c.ix.SetPod(&p, cluster.NoPod)
			c.budgets.Set(c.ix, id)
			shifts = c.units.Add(nil, id, c.budgets)
		}
		if all = append(all, c.units.Settle(shifts)...); change%atOnce != 0 {
			continue
		}
		if !packed.Follow(all) {
			packed = columns.NewNodeColumns(c.units, c.budgets)
		}
		all = all[:0]
	}
	if !packed.Follow(all) {
		packed = columns.NewNodeColumns(c.units, c.budgets)
	}
	return packed
}

var preferences = []domain.Preference{domain.FirstByName, domain.LeastAllocated, domain.MostAllocated}

// crowd is a cell of one seed, with columns that have followed some changes, and the pod that asks.
func crowd(t *testing.T, seed uint64) (*cell, *columns.NodeColumns, *cluster.Pod, *rand.Rand) {
	q, draw := gen.Crowd(seed), rand.New(rand.NewPCG(seed, 1))
	if draw.IntN(2) == 0 { // levels next to each other
		for i := range q.Snapshot.Pods {
			*q.Snapshot.Pods[i].Priority /= 10
		}
		*q.Preemptor.Pods[0].Priority /= 10
	}
	if draw.IntN(2) == 0 { // with twenty of them, whoever goes violates one
		for i := range q.Snapshot.Budgets {
			q.Snapshot.Budgets[i].Allowed = 0
		}
	}
	if seed%3 == 0 {
		q.Snapshot.Nodes[0].Allocatable[cluster.Pods] = 0
	}
	ix, err := cluster.NewIndex(&q.Snapshot)
	require.NoError(t, err)
	c := &cell{ix, victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137), nil, *q.Preemptor.Pods[0].Priority}
	c.units.Follow(nil)
	return c, c.change(draw, columns.NewNodeColumns(c.units, c.budgets)), &q.Preemptor.Pods[0], draw
}

// TestScansAreOneNodeAfterTheOther: where a pod fits, whom it evicts from each node and from the best one, and what is
// short elsewhere, as counted one unit and one resource after the other; however many goroutines share the nodes.
func TestScansAreOneNodeAfterTheOther(t *testing.T) {
	picked, budgeted, beaten, short, fits, closed, seeds := 0, 0, 0, 0, 0, 0, 300
	if testing.Short() {
		seeds = 100
	}
	for seed := range uint64(seeds) {
		c, packed, pod, draw := crowd(t, seed)
		if packed.Levels() == nil {
			continue
		}
		ix := c.ix
		sweep, member := columns.NewSweep(packed), domain.NewMember(ix, pod, cluster.NoPod)
		scan, prefer := columns.NewScan(sweep), preferences[draw.IntN(3)]
		if prefer != domain.FirstByName {
			scan.Likings = &columns.Likings{Prefer: prefer, Member: member, Index: ix}
		}
		sweep.Ask(member, c.below)
		c.need = member.Request()
		barred := make([]uint64, len(packed.Levels().Blocks()))
		for i := range barred {
			barred[i] = draw.Uint64() & draw.Uint64() & -(draw.Uint64() & 1)
		}
		scan.Run(c.below, barred)

		odd := 0
		for _, b := range packed.Levels().Blocks() {
			require.Zero(t, b.Plain&b.Odd)
			odd += bits.OnesCount64(b.Odd)
		}
		require.Equal(t, odd, packed.Levels().NumOdd())
		first, best, bestScore, helped, nobody := cluster.NoNode, cluster.NoNode, victims.Score{}, 0, 0
		liked, most := cluster.NoNode, int64(0) // of those that are as good
		like := func(n cluster.NodeID, better bool, out []victims.UnitID) {
			row := slices.Clone(ix.Free(n))
			for _, u := range out {
				c.move(row, n, u, +1)
			}
			if l := prefer.Of(member, row, ix.Allocatable(n)); better || l > most {
				liked, most = n, l
			}
		}
		lacks, small := make([]int, ix.NumResources()), make([]int, ix.NumResources())
		var bound *victims.Score
		for n := range ix.Nodes() {
			block, i := packed.Levels().Blocks()[n/columns.BlockSize], n%columns.BlockSize
			require.Equal(t, ix.Open(n), block.Open>>i&1 != 0)
			shut := block.Odd>>i&1 != 0 && ix.Open(n) && len(ix.Nominees(n)) == 0 && c.lacks(c.left(n)) >= 0
			switch known := sweep.Short(block)>>i&1 != 0; {
			case known:
				require.True(t, shut)
				closed++
			case shut: // free room of others may be in no lane
				require.False(t, packed.Laid(n) || packed.Joint(n))
			}
			if (block.Plain&^barred[n/columns.BlockSize])>>i&1 == 0 {
				continue
			}
			now := c.lacks(c.left(n))
			if now < 0 {
				if like(n, first == cluster.NoNode, nil); first == cluster.NoNode {
					first = n
				}
			}
			begin, end := packed.Positions(n, c.below)
			out, score, lack := c.reprieve(n, func(victims.UnitID) bool { return true })
			switch {
			case c.tooSmall(n):
				small[now]++
				continue
			case begin == end:
				nobody++
				continue
			case lack >= 0:
				lacks[lack]++
				require.False(t, sweep.Fits(n, begin))
				continue
			}
			require.True(t, sweep.Fits(n, begin))
			helped++
			better := best == cluster.NoNode || score.Compare(bestScore) < 0
			if first == cluster.NoNode && (better || score.Compare(bestScore) == 0) {
				like(n, better, out)
			}
			if better {
				best, bestScore = n, score
			}
			var gate *columns.Gate
			if draw.IntN(3) == 0 {
				gate = &columns.Gate{Admit: func(u victims.UnitID) bool { return u%3 > 0 }}
				minded := map[victims.UnitID]bool{}
				often := 1 + draw.IntN(40)
				for g := begin; g < end; g++ {
					if draw.IntN(often) == 0 {
						gate.Minds.Add(g)
						minded[packed.Unit(n, g)] = true
					}
				}
				out, score, _ = c.reprieve(n, func(u victims.UnitID) bool { return !minded[u] || u%3 > 0 })
			}
			have, ok := sweep.Node(n, begin, end, bound, gate)
			require.Equal(t, bound == nil || score.Compare(*bound) <= 0, ok, "seed %d, node %d", seed, n)
			if ok {
				var went []victims.UnitID
				for _, g := range sweep.Victims() {
					went = append(went, packed.Unit(n, g))
				}
				require.Equal(t, out, went, "seed %d, node %d", seed, n)
				require.Zero(t, score.Compare(have), "seed %d, node %d", seed, n)
			} else {
				beaten++
			}
			if bound = nil; draw.IntN(3) > 0 {
				bound = &score
				bound.Started += draw.Int64N(3) - 1
			}
		}
		if first != cluster.NoNode {
			require.Equal(t, liked, scan.Fits, "seed %d", seed)
			fits++
			continue
		}
		require.Equal(t, cluster.NoNode, scan.Fits, "seed %d", seed)
		require.Equal(t, []any{helped, nobody, lacks, small}, []any{scan.Helped, scan.Nobody, scan.Short, scan.TooSmall}, "seed %d", seed)
		for _, v := range lacks {
			short += v
		}
		budgeted += len(scan.Budgeted)
		preferred, score := scan.Pick(c.below)
		require.Equal(t, liked, preferred, "seed %d", seed)
		require.True(t, best == cluster.NoNode || bestScore.Compare(score) == 0, "seed %d", seed)
		for _, workers := range []int{1, 2, 3, 8} {
			have, score := scan.PickSharing(c.below, workers)
			require.Equal(t, best, have, "seed %d, %d goroutines", seed, workers)
			if best != cluster.NoNode {
				picked++
				require.Zero(t, bestScore.Compare(score), "seed %d, %d goroutines", seed, workers)
			}
		}
	}
	t.Log(picked, budgeted, beaten, short, fits, closed)
	require.Greater(t, picked, seeds/2)
	require.Greater(t, budgeted, seeds/6)
	require.Greater(t, beaten, seeds)
	require.Greater(t, short, seeds)
	require.Greater(t, fits, seeds/9)
	require.Greater(t, closed, seeds/9)
}

// TestPicksInSmallCells: the best of some nodes with few pods each, of a few levels or of more than have a column, some of whom violate
// a budget, is the least of what is counted on each, however many goroutines share them.
func TestPicksInSmallCells(t *testing.T) {
	picked := map[bool]int{} // whether a budget is violated there, though not everywhere
	for seed := range uint64(1200) {
		draw := rand.New(rand.NewPCG(seed, 7))
		levels, covered := []int{2, 5, 60}[draw.IntN(3)], draw.IntN(6)
		s := cluster.Snapshot{Budgets: []disruption.Budget{{Name: "b", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "kept"}}}}}
		for i := range 1 + draw.IntN(24) {
			name := fmt.Sprint("n", i)
			s.Nodes = append(s.Nodes, cluster.Node{Name: name, Allocatable: cluster.Resources{cluster.CPU: 6}})
			for k := range 2 + draw.IntN(3) {
				p := cluster.Pod{Name: fmt.Sprint(name, "p", k), Node: name, Priority: new(int32), Requests: cluster.Resources{cluster.CPU: 1 + draw.Int64N(4)}}
				if *p.Priority = int32(draw.IntN(levels)); draw.IntN(5) < covered {
					p.Labels = map[string]string{"app": "kept"}
				}
				p.Started, p.Cost = time.Unix(draw.Int64N(3), 0), &cluster.Cost{Fixed: draw.Int64N(2)}
				s.Pods = append(s.Pods, p)
			}
		}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		c := &cell{ix, victims.NewUnits(ix, victims.Units137, victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Fixed: 1}}, ByCost: seed%2 > 0}), victims.NewBudgets(ix, disruption.Rule137), nil, 0}
		packed := columns.NewNodeColumns(c.units, c.budgets)
		sweep := columns.NewSweep(packed)
		for scan := columns.NewScan(sweep); c.below < 3*int32(levels)/2; c.below += 1 + draw.Int32N(int32(levels)) {
			member := domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: 3 + draw.Int64N(4)}}, cluster.NoPod)
			c.need = member.Request()
			sweep.Ask(member, c.below)
			if scan.Run(c.below, make([]uint64, 1)); scan.Fits != cluster.NoNode {
				continue
			}
			best, least, violates := cluster.NoNode, victims.Score{}, 0
			for n := range ix.Nodes() {
				_, score, lack := c.reprieve(n, func(victims.UnitID) bool { return true })
				if lack >= 0 {
					continue
				}
				one := victims.Score{Violations: score.Violations, Highest: draw.Int32N(int32(levels)), Pods: 1, Started: time.Unix(draw.Int64N(3), 0).UnixNano()}
				one.Sum = priority.Raised(one.Highest)
				for _, ties := range []bool{false, true} {
					if order := score.Compare(one); order < 0 || order == 0 && ties {
						require.True(t, packed.Levels().Blocks()[0].Beats(&one, int(n), ties), "seed %d, node %d", seed, n)
					}
				}
				if score.Violations > 0 {
					violates++
				}
				if best == cluster.NoNode || score.Compare(least) < 0 {
					best, least = n, score
				}
			}
			for workers := 1; workers <= 3; workers++ {
				n, score := scan.PickSharing(c.below, workers)
				require.Equal(t, best, n, "seed %d, %d goroutines", seed, workers)
				require.True(t, n == cluster.NoNode || score.Compare(least) == 0, "seed %d, %d goroutines", seed, workers)
			}
			if best != cluster.NoNode && violates > 0 {
				picked[least.Violations > 0]++
			}
		}
	}
	require.Greater(t, picked[false], 100)
	require.Greater(t, picked[true], 100)
}

// TestRankingsAreScans: what is remembered of a shape of pod comes to what a scan finds, and costs nothing anew where nothing has changed;
// copies that do not follow stay as they are.
func TestRankingsAreScans(t *testing.T) {
	fits, helps, barredOn := 0, 0, 0
	for seed := range uint64(40) {
		c, packed, pod, draw := crowd(t, seed)
		member, prefer := domain.NewMember(c.ix, pod, cluster.NoPod), preferences[draw.IntN(3)]
		var ranking *columns.ShapeRanking
		for range 3 {
			of := packed
			if packed = c.change(draw, packed); packed != of || packed.Levels() == nil {
				break
			}
			sweep := columns.NewSweep(packed)
			sweep.Ask(member, c.below)
			if ranking == nil {
				ranking = columns.NewShapeRanking(member, c.below, prefer)
				require.True(t, ranking.Member() == member && ranking.Below() == c.below)
			}
			was := ranking.Clone()
			stood, stoodFor := was.Best()
			ranking = ranking.Clone()
			ranking.Update(sweep, c.ix)
			require.False(t, ranking.Behind(packed))
			n, now := was.Best()
			require.Equal(t, []any{stood, stoodFor}, []any{n, now}, "seed %d", seed)

			scan, barred, checks := columns.NewScan(sweep), make([]uint64, len(packed.Levels().Blocks())), make([]int, len(domain.StaticChecks))
			if prefer != domain.FirstByName {
				scan.Likings = &columns.Likings{Prefer: prefer, Member: member, Index: c.ix}
			}
			for n := range c.ix.Nodes() {
				why, plain := member.Static(c.ix.Node(n)), packed.Levels().Blocks()[n/columns.BlockSize].Plain>>(n%columns.BlockSize)&1 != 0
				if !why.OK() && plain {
					barred[n/columns.BlockSize] |= 1 << (n % columns.BlockSize)
					checks[why.Check.Static()]++
					barredOn++
				}
			}
			for i, want := range checks {
				require.Equal(t, want, ranking.Barred(i), "seed %d", seed)
			}
			scan.Run(c.below, barred)
			if n, now = ranking.Best(); scan.Fits != cluster.NoNode {
				require.Equal(t, []any{scan.Fits, true}, []any{n, now}, "seed %d", seed)
				fits++
				continue
			}
			best, score := scan.Pick(c.below)
			require.Equal(t, []any{best, false}, []any{n, now}, "seed %d", seed)
			if best != cluster.NoNode {
				require.Equal(t, score, ranking.Score(), "seed %d", seed)
				helps++
			}
			counted := columns.NewScan(sweep)
			ranking.Counts(counted)
			require.Equal(t, []any{scan.Helped, scan.Nobody, scan.Short, scan.TooSmall}, []any{counted.Helped, counted.Nobody, counted.Short, counted.TooSmall}, "seed %d", seed)
		}
	}
	require.Greater(t, fits, 20)
	require.Greater(t, helps, 20)
	require.Greater(t, barredOn, 100)
}

// TestTheNumberOfProcessorsDoesNotMatter forms units and lays them out on one and on
// three goroutines: with groups that go as a whole, pods nominated, a crowded node, and
// pods in budgets.
func TestTheNumberOfProcessorsDoesNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed, shape := range gen.Shapes() {
		s := gen.Fleet(300, 50, uint64(seed), shape)
		three := int32(3)
		for i := range s.Pods {
			p := &s.Pods[i]
			switch {
			case i%100 == 7:
				p.Node, p.NominatedNode = "", s.Nodes[i%len(s.Nodes)].Name
			case i%1000 < 3:
				p.Group = "everywhere"
			case i%77 == 1:
				p.Node = s.Nodes[5].Name
			}
		}
		s.PodGroups = []cluster.PodGroup{{Namespace: "default", Name: "everywhere", Mode: "All", MinCount: &three}}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		var packed []*columns.NodeColumns
		var units []*victims.Units
		var covered []*victims.Budgets
		for _, processors := range []int{1, 3} {
			runtime.GOMAXPROCS(processors)
			us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
			budgets := victims.NewBudgets(ix, disruption.Rule137)
			packed, units, covered = append(packed, columns.NewNodeColumns(us, budgets)), append(units, us), append(covered, budgets)
			for n := range cluster.NodeID(ix.NumNodes()) {
				require.True(t, slices.IsSortedFunc(us.On(n), us.Compare))
				want := map[victims.UnitID]bool{}
				for _, p := range ix.PodsOn(n) {
					u, _ := us.UnitOf(p)
					want[u] = true
				}
				require.Len(t, us.On(n), len(want))
			}
		}
		require.True(t, columns.Alike(packed[0], packed[1]), shape)
		require.Equal(t, units[0].Len(), units[1].Len())
		for u := range victims.UnitID(units[0].Len()) {
			require.Equal(t, units[0].Unit(u), units[1].Unit(u))
		}
		for p := range ix.Pods() {
			require.Equal(t, covered[0].Of(p), covered[1].Of(p))
		}
		require.Positive(t, packed[0].Levels().NumOdd())
	}
}

// seated is a cell with members who all need the same: what has to go for them, one unit and one resource after the other.
type seated struct {
	*cell
	packed *columns.NodeColumns
	held   map[cluster.NodeID][]int64
	harm   map[cluster.NodeID]*columns.PositionSet
	gone   []int32 // by unit: 1 if it is gone already
	seats  *columns.Seats
	t      *testing.T
	draw   *rand.Rand
	seen   map[string]int
}

// free is what is left on node n beside k members and what is held, with the potential victims from a position on gone.
func (c *seated) free(n cluster.NodeID, k int64, from victims.Position) []int64 {
	row := slices.Clone(c.ix.Free(n))
	for r, v := range c.need {
		if row[r] -= k * v; c.held[n] != nil {
			row[r] -= c.held[n][r]
		}
	}
	for _, u := range c.units.On(n)[from:] {
		c.move(row, n, u, +1)
	}
	return row
}

// mostTold stands for more slots, too, where rooms are packed.
const mostTold = 1 << 30

// times is how many members fit into row.
func (c *seated) times(row []int64) int64 {
	most := int64(math.MaxInt64)
	for r, v := range c.need {
		if v > 0 {
			most = min(most, max(row[r], 0)/v)
		}
	}
	return most
}

func (c *seated) several(u victims.UnitID) bool { return len(c.units.Unit(u).Pods) > 1 }

func (c *seated) harms(n cluster.NodeID, g victims.Position) bool {
	return c.harm[n] != nil && c.harm[n].Has(g)
}

// give gives back into row, the harmful first, and says who stays out. alone: nobody lacked two resources; lacks is the least that
// somebody did, by resource.
func (c *seated) give(n cluster.NodeID, row []int64) (out []victims.Position, lacks []int64, alone bool) {
	lacks, alone = slices.Repeat([]int64{math.MaxInt64}, len(row)), true
	first, end := c.packed.Positions(n, c.below)
	for _, harmful := range []bool{true, false} {
		for g := first; g < end; g++ {
			u := c.packed.Unit(n, g)
			if c.harms(n, g) != harmful {
				continue
			}
			if c.gone[u] > 0 {
				out = append(out, g)
				continue
			}
			if c.move(row, n, u, -1); c.lacks(row) >= 0 {
				numLacks := 0
				for r, v := range row {
					if c.need[r] > 0 && v < 0 {
						lacks[r], numLacks = min(lacks[r], -v), numLacks+1
					}
				}
				c.move(row, n, u, +1)
				out, alone = append(out, g), alone && numLacks == 1
			}
		}
	}
	slices.Sort(out)
	return out, lacks, alone
}

// loss is what the loss of a unit costs, wherever its pods are.
func (c *seated) loss(n cluster.NodeID, g victims.Position) victims.Loss {
	l := c.units.Loss(c.packed.Unit(n, g))
	if c.harms(n, g) {
		l.Price.Violations++
	}
	return l
}

// losses is the sum over those who are not gone already.
func (c *seated) losses(n cluster.NodeID, out []victims.Position) victims.Loss {
	sum := victims.Loss{Price: domain.Free, Started: math.MaxInt64}
	for _, g := range out {
		if c.gone[c.packed.Unit(n, g)] == 0 {
			addLoss(&sum, c.loss(n, g))
		}
	}
	return sum
}

func addLoss(sum *victims.Loss, l victims.Loss) {
	if l.Price.Highest > sum.Price.Highest {
		sum.Started = math.MaxInt64
	}
	if sum.Price.Add(l.Price); l.Price.Highest == sum.Price.Highest {
		sum.Started = min(sum.Started, l.Started)
	}
}

// atLeast is the bound that columns up to last tell for those who ask for k times the need: as if each unit freed as much as the
// largest one does, and had the least level that the column leaves open.
func (c *seated) atLeast(n cluster.NodeID, k int64, last int) domain.Price {
	bounds := c.packed.Levels().Bounds()
	up := func(level int32, f func(u victims.UnitID)) {
		for _, u := range c.units.On(n) {
			if c.units.Unit(u).Level <= level {
				f(u)
			}
		}
	}
	price, before := domain.Free, int64(math.MinInt32)
	for column := range last {
		row, units := slices.Clone(c.ix.Free(n)), int64(0)
		if column > 0 {
			up(bounds[column-1], func(u victims.UnitID) { c.move(row, n, u, +1) })
		}
		for r, v := range c.need {
			if lacks := k*v - max(row[r], 0); v > 0 && lacks > 0 {
				frees := int64(1)
				up(bounds[last-1], func(u victims.UnitID) { frees = max(frees, c.asked(n, u)[r]) })
				units = max(units, (lacks+frees-1)/frees)
			}
		}
		if units == 0 {
			break
		}
		level := int64(c.packed.Levels().Above(column + 1))
		if price.Highest, price.Sum = level, price.Sum+units*(level-before); column == 0 {
			price.Pods = units
		}
		before = level
	}
	return price
}

// asked is what unit u asks for on node n.
func (c *seated) asked(n cluster.NodeID, u victims.UnitID) []int64 {
	row := make([]int64, c.ix.NumResources())
	c.move(row, n, u, +1)
	return row
}

// member asks for some of what a running pod asks for, so that the grains suit.
func (c *seated) member(draw *rand.Rand) *domain.Member {
	list := slices.Collect(c.ix.Pods())
	p := cluster.Pod{Name: "member", Requests: cluster.Resources{}}
	often, times := 1+draw.IntN(4), 1+draw.Int64N(4)
	of := c.ix.Request(list[draw.IntN(len(list))])
	for r := 1; r < len(of); r++ {
		if draw.IntN(often) == 0 {
			p.Requests[c.ix.Resource(cluster.ResourceID(r))] = of[r] * times
		}
	}
	return domain.NewMember(c.ix, &p, cluster.NoPod)
}

// short is the first resource of which unit u lacks something in row.
func (c *seated) short(row []int64, n cluster.NodeID, u victims.UnitID) columns.Shortage {
	for r, v := range c.asked(n, u) {
		if c.need[r] > 0 && v > row[r] {
			return columns.Shortage{Resource: cluster.ResourceID(r), Missing: v - row[r]}
		}
	}
	return columns.Shortage{Resource: domain.NoResource}
}

// TestSeatsAreOneUnitAfterTheOther: how many members fit on a node, who goes for them, at what price, and what is short if somebody
// comes back, is what is counted one unit and one resource after the other.
func TestSeatsAreOneUnitAfterTheOther(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(90) {
		cell, packed, _, draw := crowd(t, 1000+seed)
		if packed.Levels() == nil || cell.ix.NumPods() == 0 {
			continue
		}
		seats, losses, harmed := columns.NewSeats(packed), columns.NewLosses(cell.units), draw.IntN(2) == 0
		c := &seated{cell, packed, map[cluster.NodeID][]int64{}, map[cluster.NodeID]*columns.PositionSet{}, make([]int32, cell.units.Len()), seats, t, draw, seen}
		giving := columns.NewJoint(seats, c.units, losses)
		losses.Forget()
		require.True(t, seats.Over(packed))
		for range 2 {
			member := c.member(draw)
			c.need = member.Request()
			if !seats.Ask(member, c.below, func(n cluster.NodeID) []int64 { return c.held[n] }) {
				continue
			}
			clear(c.held)
			clear(c.harm)
			if harmed {
				seats.Charge(func(n cluster.NodeID) *columns.PositionSet { return c.harm[n] })
			}
			var with []cluster.NodeID // several nodes at once
			for n := range c.ix.Nodes() {
				if draw.IntN(c.ix.NumNodes()) >= 8 || !packed.Joint(n) {
					continue
				}
				first, end := packed.Positions(n, c.below)
				if harmed {
					c.harm[n] = new(columns.PositionSet)
					for g, often := first, draw.IntN(3); g < end && often < 2; g++ {
						if often*draw.IntN(3) == 0 && !c.several(packed.Unit(n, g)) {
							c.harm[n].Add(g)
						}
					}
				}
				if draw.IntN(4) == 0 {
					c.held[n] = slices.Clone(c.need)
					for r := range c.need {
						c.held[n][r] *= draw.Int64N(3)
					}
				}
				c.onNode(losses, n)
				if slots := c.times(c.free(n, 0, first)); slots > 0 && len(with) < 4 {
					with = append(with, n)
				}
			}
			c.onNodes(giving, with)
		}
	}
	for _, often := range []string{"walked", "many", "paid", "tight", "shared"} {
		require.Greater(t, seen[often], 10, often)
	}
}

// onNode asks seats about node n.
func (c *seated) onNode(losses *columns.Losses, n cluster.NodeID) {
	t, seats, draw, seen, packed, levels := c.t, c.seats, c.draw, c.seen, c.packed, c.packed.Levels()
	first, end := seats.Positions(n)
	harmed, plain := c.harm[n] != nil, levels.Blocks()[n/columns.BlockSize].Plain>>(n%columns.BlockSize)&1 != 0
	units, simple := packed.NumBelow(n, c.below)
	require.Equal(t, packed.Plain(n) && packed.Even(n), simple)
	require.Equal(t, !slices.ContainsFunc(c.units.On(n)[first:end], c.several), seats.Single(n))
	if simple {
		require.Equal(t, int(end-first), units)
		var want []int64
		for _, u := range c.units.On(n)[first:] {
			want = append(append(want, int64(c.units.Unit(u).Level)), c.asked(n, u)...)
		}
		require.Equal(t, want, packed.Asks(nil, n, units))
	}
	slots := c.times(c.free(n, 0, first))
	require.Equal(t, slots, seats.Slots(n))
	for _, u := range c.units.On(n)[first:] {
		highest, row := c.units.Unit(u).Level, c.free(n, 0, end)
		for _, v := range c.units.On(n)[first:] {
			if c.units.Unit(v).Level <= highest {
				c.move(row, n, v, +1)
			}
		}
		upTo, want := seats.SlotsUpTo(n, int64(highest)), min(c.times(row), mostTold)
		if _, exact := levels.Column(highest + 1); !exact || !plain || c.held[n] != nil {
			require.True(t, want <= upTo && upTo <= slots)
		} else {
			require.Equal(t, want, upTo)
		}
	}
	g := first
	if end > first {
		g += victims.Position(draw.IntN(int(end-first) + 1))
	}
	opened := c.free(n, 0, g)
	if room := seats.Room(n, g); room == nil {
		require.GreaterOrEqual(t, c.lacks(opened), 0)
	} else {
		require.Equal(t, min(c.times(opened), mostTold), seats.SlotsOf(room))
		if k := c.times(opened); k > 0 && g < end {
			seats.Beside(n, min(k, 20), room)
			require.Equal(t, c.short(c.free(n, min(k, 20), g), n, packed.Unit(n, g)), seats.Short(g))
			if row := c.free(n, 0, g+1); c.lacks(row) < 0 {
				seats.Take(room, n, g)
				require.Equal(t, min(c.times(row), mostTold), seats.SlotsOf(room))
				seats.Leave(room, n, g)
				require.Equal(t, min(k, mostTold), seats.SlotsOf(room))
			}
		}
	}
	if slots == 0 {
		return
	}
	slots = min(slots, 40)
	for _, k := range []int64{1, slots, 1 + draw.Int64N(slots)} {
		clear(c.gone)
		row := c.free(n, k, first)
		left := slices.Clone(row)
		out, _, _ := c.give(n, left)
		loss := c.losses(n, out)
		price := loss.Price
		if k >= 16 {
			seen["many"]++
		}
		require.Equal(t, out, append([]victims.Position(nil), seats.Victims(n, k)...))
		for g := first; g < end; g++ {
			require.Equal(t, c.short(left, n, packed.Unit(n, g)), seats.Short(g))
		}
		if simple {
			have := seats.Cost(n, k)
			require.Equal(t, price, have.Price())
			other := seats.Cost(n, 1)
			for _, highest := range []int64{domain.Free.Highest, price.Highest, other.Price().Highest} { // who goes already
				a, b := price, other.Price()
				for _, p := range []*domain.Price{&a, &b} {
					if p.Highest <= highest {
						p.Highest = domain.Free.Highest
					}
				}
				require.Equal(t, a.Compare(b), have.Adds(highest).Compare(other.Adds(highest)))
			}
			require.Equal(t, loss.Started, seats.Started(n, k))
			if k < slots {
				more, _, _ := c.give(n, c.free(n, k+1, first))
				require.Equal(t, c.losses(n, more).Price.Minus(price), seats.More(n, k))
			}
			if !harmed {
				c.alone(n, k, out)
			}
		}
		if !harmed {
			stops := end
			if len(out) > 0 {
				stops = out[0]
			}
			require.Equal(t, stops, seats.Stops(n, k))
		} else if len(out) > 0 && price.Violations < price.Pods {
			seen["walked"]++
		}
		for _, broken := range [][]int32{nil, c.gone} {
			var set columns.PositionSet
			for _, g := range out {
				set.Add(g)
			}
			have, went := seats.Evict(n, k, losses, broken, nil)
			require.Equal(t, []any{price, set}, []any{have, went})
			require.Equal(t, price, seats.Lost(n, &went, losses, broken))
			most := domain.Price{Violations: draw.Int64N(price.Violations + 2), Highest: price.Highest, Sum: price.Sum + draw.Int64N(3) - 1, Pods: price.Pods}
			have, _ = seats.Evict(n, k, losses, broken, &most)
			if price.Compare(most) <= 0 {
				require.Equal(t, price, have)
			} else {
				require.Positive(t, have.Compare(most))
			}
			for u := range c.gone {
				if c.several(victims.UnitID(u)) {
					c.gone[u] = draw.Int32N(2)
				}
			}
			out, _, _ = c.give(n, slices.Clone(row))
			if price = c.losses(n, out).Price; price.Pods < int64(len(out)) {
				seen["paid"]++
			}
		}
	}
	clear(c.gone)
}

// alone asks about node n, whose units are pods of which nobody's loss does harm.
func (c *seated) alone(n cluster.NodeID, k int64, out []victims.Position) {
	t, seats, draw := c.t, c.seats, c.draw
	first, _ := seats.Positions(n)
	price, row, levels := c.losses(n, out).Price, c.free(n, k, first), c.packed.Levels()
	needed := make([]bool, len(row))
	asked := make([]int64, len(row))
	for r, v := range c.need {
		needed[r], asked[r] = v > 0, k*v
	}
	var want []victims.UnitID
	for _, g := range out {
		want = append(want, c.packed.Unit(n, g))
	}
	have, cost, ok := seats.Out(nil, n, row, needed, true)
	require.Equal(t, []any{want, price, true}, []any{have, cost, ok})
	if k == 1 {
		if draw.IntN(2) == 0 {
			require.Equal(t, price, seats.CostSettled(n).Price())
		}
		span := make([]uint64, 2*len(seats.One().Words))
		seats.Span(span)
		c.span(n, span)
	}
	row[draw.IntN(len(row))] = -1
	if have, cost, ok = seats.Out(nil, n, row, needed, false); c.lacks(row) >= 0 {
		require.False(t, ok)
	} else {
		require.Equal(t, []any{want, price, true}, []any{have, cost, ok})
	}
	if last, _ := levels.Column(c.below); levels.Blocks()[n/columns.BlockSize].Plain>>(n%columns.BlockSize)&1 == 0 {
		_, room := seats.AtLeastFor(n, asked, last)
		require.False(t, room)
	} else if c.held[n] == nil {
		bound := c.atLeast(n, k, last)
		require.LessOrEqual(t, bound.Compare(price), 0)
		require.Equal(t, bound, seats.AtLeast(n, k, last).Price())
		low := 0
		for row := c.free(n, k, victims.Position(len(c.units.On(n)))); c.lacks(row) >= 0; low++ {
			row = c.free(n, k, victims.Position(len(c.units.On(n))))
			for _, u := range c.units.On(n) {
				if c.units.Unit(u).Level <= levels.Bounds()[low] {
					c.move(row, n, u, +1)
				}
			}
		}
		cost, room := seats.AtLeastFor(n, asked, last)
		require.Equal(t, []any{c.atLeast(n, k, low), true}, []any{cost.Price(), room})
		if low > 0 {
			_, room = seats.AtLeastFor(n, asked, low-1)
			require.False(t, room)
		}
	}
}

// span asks for a little more and less of each resource: within the span the same units go, and beyond it others, as far as that is promised.
func (c *seated) span(n cluster.NodeID, span []uint64) {
	t := c.t
	first, _ := c.seats.Positions(n)
	row := c.free(n, 1, first)
	left := slices.Clone(row)
	out, lacks, alone := c.give(n, left)
	require.True(t, c.seats.Within(span))
	held := c.held[n]
	for r := 1; r < len(row); r++ {
		name, grain := c.ix.Resource(cluster.ResourceID(r)), c.packed.Lanes().Grain(cluster.ResourceID(r))
		if c.need[r] == 0 {
			continue
		}
		for _, d := range []int64{left[r], left[r] + grain, -min(lacks[r], c.need[r]) + grain, -lacks[r]} {
			if d <= -c.need[r] {
				continue
			}
			p := cluster.Pod{Requests: cluster.Resources{}}
			for i, v := range c.need[1:] {
				p.Requests[c.ix.Resource(cluster.ResourceID(i+1))] = v
			}
			p.Requests[name] += d
			other := columns.NewSeats(c.packed)
			if !other.Ask(domain.NewMember(c.ix, &p, cluster.NoPod), c.below, func(cluster.NodeID) []int64 { return held }) {
				continue
			}
			changed := slices.Clone(row)
			changed[r] -= d
			went, _, _ := c.give(n, slices.Clone(changed))
			same := c.lacks(changed) < 0 && slices.Equal(out, went)
			if within := other.Within(span); within {
				require.True(t, same, "%d more of %s", d, name)
			} else if d > 0 || alone {
				require.False(t, same, "%d more of %s", d, name)
				c.seen["tight"]++
			}
		}
	}
}

// onNodes puts members on several nodes at once, where a unit returns with all its pods there or with none.
func (c *seated) onNodes(giving *columns.Joint, with []cluster.NodeID) {
	giving.Reset()
	rows, on := map[cluster.NodeID][]int64{}, map[victims.UnitID][]cluster.NodeID{}
	harmful := map[victims.UnitID]bool{}
	var line []victims.UnitID
	for _, n := range with {
		first, end := c.packed.Positions(n, c.below)
		k := 1 + c.draw.Int64N(min(c.times(c.free(n, 0, first)), 40))
		giving.Add(n, k)
		rows[n] = c.free(n, k, first)
		for g := first; g < end; g++ {
			u := c.packed.Unit(n, g)
			if harmful[u] = c.harms(n, g); on[u] == nil {
				line = append(line, u)
			}
			on[u] = append(on[u], n)
		}
	}
	giving.GiveBack()
	slices.SortFunc(line, c.units.Compare)
	var lost []victims.Marked
	sum := victims.Loss{Price: domain.Free, Started: math.MaxInt64}
	for _, harms := range []bool{true, false} {
		for _, u := range line {
			if harmful[u] != harms {
				continue
			}
			fits := true
			for _, n := range on[u] {
				c.move(rows[n], n, u, -1)
				fits = fits && c.lacks(rows[n]) < 0
			}
			if len(on[u]) > 1 {
				c.seen["shared"]++
			}
			if fits {
				continue
			}
			for _, n := range on[u] {
				c.move(rows[n], n, u, +1)
			}
			mark := int32(0)
			if harms {
				mark = 1
			}
			lost = append(lost, victims.Marked{Unit: u, Mark: mark})
			n := on[u][0]
			addLoss(&sum, c.loss(n, victims.Position(slices.Index(c.units.On(n), u))))
		}
	}
	require.ElementsMatch(c.t, lost, giving.Lost)
	require.Equal(c.t, []any{sum.Price, sum.Started, len(line)}, []any{giving.Price, giving.Started, giving.Tried})
}
