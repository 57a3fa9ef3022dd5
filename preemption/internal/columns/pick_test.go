package columns_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
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
	for range 20 * draw.IntN(2) {
		list := slices.Collect(c.ix.Pods())
		if len(list) == 0 {
			break
		}
		id := list[draw.IntN(len(list))]
		var shifts []victims.Shift
		if p := *c.ix.Pod(id); draw.IntN(3) == 0 && c.ix.MayRemovePod(id) {
			shifts = c.units.Remove(nil, id)
			c.ix.RemovePod(id)
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
		if !packed.Follow(c.units.Settle(shifts)) {
			packed = columns.NewNodeColumns(c.units, c.budgets)
		}
	}
	return packed
}

// TestScansAreOneNodeAfterTheOther: where a pod fits, whom it evicts from each node and from the best one, and what is
// short elsewhere, as counted one unit and one resource after the other; however many goroutines share the nodes.
func TestScansAreOneNodeAfterTheOther(t *testing.T) {
	picked, budgeted, beaten, short, fits, closed, seeds := 0, 0, 0, 0, 0, 0, 300
	if testing.Short() {
		seeds = 100
	}
	for seed := range uint64(seeds) {
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
		ix, err := cluster.NewIndex(&q.Snapshot)
		require.NoError(t, err)
		units, budgets := victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137)
		units.Follow(nil)
		pod := &q.Preemptor.Pods[0]
		c := &cell{ix, units, budgets, nil, *pod.Priority}
		packed := c.change(draw, columns.NewNodeColumns(units, budgets))
		if packed.Levels() == nil {
			continue
		}
		sweep, member := columns.NewSweep(packed), domain.NewMember(ix, pod, cluster.NoPod)
		scan := columns.NewScan(sweep)
		sweep.Ask(member, c.below)
		c.need = member.Request()
		barred := make([]uint64, len(packed.Levels().Blocks()))
		for i := range barred {
			barred[i] = draw.Uint64() & draw.Uint64() & -(draw.Uint64() & 1)
		}
		scan.Run(c.below, barred)

		first, best, bestScore, helped, nobody := cluster.NoNode, cluster.NoNode, victims.Score{}, 0, 0
		lacks, small := make([]int, ix.NumResources()), make([]int, ix.NumResources())
		var bound *victims.Score
		for n := range ix.Nodes() {
			block, i := packed.Levels().Blocks()[n/columns.BlockSize], n%columns.BlockSize
			require.Equal(t, ix.Open(n), block.Open>>i&1 != 0)
			if sweep.Short(block)>>i&1 != 0 {
				require.True(t, block.Odd>>i&1 != 0 && ix.Open(n) && len(ix.Nominees(n)) == 0 && c.lacks(c.left(n)) >= 0)
				closed++
			}
			if (block.Plain&^barred[n/columns.BlockSize])>>i&1 == 0 {
				continue
			}
			now := c.lacks(c.left(n))
			if now < 0 && first == cluster.NoNode {
				first = n
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
			if helped++; best == cluster.NoNode || score.Compare(bestScore) < 0 {
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
		require.Equal(t, first, scan.Fits, "seed %d", seed)
		if first != cluster.NoNode {
			fits++
			continue
		}
		require.Equal(t, []any{helped, nobody, lacks, small}, []any{scan.Helped, scan.Nobody, scan.Short, scan.TooSmall}, "seed %d", seed)
		for _, v := range lacks {
			short += v
		}
		budgeted += len(scan.Budgeted)
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
