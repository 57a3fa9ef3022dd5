package columns_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

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
