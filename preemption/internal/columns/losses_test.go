package columns

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestLossesAreThoseOfTheUnits: found out, then remembered.
func TestLossesAreThoseOfTheUnits(t *testing.T) {
	high := int32(7)
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n"}},
		PodGroups: []cluster.PodGroup{{Name: "w", Mode: disruption.All, Priority: &high}},
		Pods: []cluster.Pod{
			{Name: "a", Node: "n"}, {Name: "w0", Node: "n", Group: "w", Priority: &high}, {Name: "w1", Node: "n", Group: "w", Priority: &high},
		},
	})
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	require.Equal(t, 2, us.Len())
	losses := NewLosses(us)
	losses.Forget()
	pods := int64(0)
	for range 2 {
		for u := range victims.UnitID(us.Len()) {
			require.Equal(t, us.Loss(u), *losses.Of(u))
			pods += losses.Of(u).Price.Pods
		}
	}
	require.Equal(t, int64(6), pods)
}

// tournamentsHaveTheBest: whatever is set, the root is the first of the best; a clone and
// what it was made of go their own ways, once that is not changed any more.
func tournamentsHaveTheBest(t *rapid.T) {
	const none = 9
	nodes := rapid.IntRange(0, 3*BlockSize).Draw(t, "nodes")
	at := slices.Repeat([]int{none}, nodes)
	of := NewTournament(func(x, y *int) bool { return *x < *y })
	of.Reset(nodes, none)
	of.PlayAll()
	best := func() {
		n, s := of.Root()
		if nodes == 0 {
			require.Equal(t, cluster.NoNode, n)
			return
		}
		require.Equal(t, slices.Min(at), *s)
		require.Equal(t, slices.Index(at, *s), int(n))
	}
	best()
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		if nodes == 0 {
			return
		}
		n, s := rapid.IntRange(0, nodes-1).Draw(t, "node"), rapid.IntRange(0, none).Draw(t, "stands")
		before := of
		if rapid.Bool().Draw(t, "clone") {
			was := slices.Clone(at)
			of = before.Clone()
			defer func() {
				for n, s := range was {
					require.Equal(t, s, *before.At(cluster.NodeID(n)))
				}
			}()
		}
		at[n], *of.Edit(cluster.NodeID(n)) = s, s
		of.Play(cluster.NodeID(n))
		best()
	}
}

func TestTournamentsHaveTheBest(t *testing.T) { rapid.Check(t, tournamentsHaveTheBest) }

// journalsTell: whoever reads on finds what was noted since, each once, in turn, of a fork too,
// as long as it is not too much.
func journalsTell(t *rapid.T) {
	type reader struct {
		journal
		all  []cluster.NodeID // everything noted
		seen int
	}
	list := []*reader{{}}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		r := rapid.SampledFrom(list).Draw(t, "of")
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0:
			list = append(list, &reader{r.journal.fork(), append([]cluster.NodeID(nil), r.all...), r.seen})
		case 1:
			l := &NodeColumns{journal: r.journal}
			if l.Forgot(r.seen) {
				require.Greater(t, len(r.all)-r.seen, 4, "at least half of what it is long")
				r.seen = l.Changes()
				continue
			}
			var told []cluster.NodeID
			var want []cluster.NodeID
			for _, n := range r.all[r.seen:] {
				if !slices.Contains(want, n) {
					want = append(want, n)
				}
			}
			l.Since(&r.seen, 0, func(n cluster.NodeID) { told = append(told, n) })
			require.Equal(t, want, told)
			require.Equal(t, len(r.all), r.seen)
		default:
			n := cluster.NodeID(rapid.SampledFrom([]int{0, 1, 5, 63, 64, 200}).Draw(t, "node"))
			r.note(n, 8)
			r.all = append(r.all, n)
		}
	}
}

func TestJournalsTell(t *testing.T) { rapid.Check(t, journalsTell) }

// lanesOf lays out lanes of these widths, guards included.
func lanesOf(widths ...int) *Lanes {
	grains := make([]int64, len(widths))
	for r := range grains {
		grains[r] = 1
	}
	return layOut(grains, widths)
}

// TestSpansBoundTheirRows changes the nodes of a block at random, some of them odd in
// between, and compares what it says with every node by itself.
func TestSpansBoundTheirRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := lanesOf(9, 5, 30, 12, 9, 34) // two words, as the fifth would end one bit beyond the first
	require.Equal(t, 2, l.words)
	const columns = 3
	b := newBlock(new(owner), columns, l.guards)
	narrowed := 0
	for step := range 3 * mostChanges {
		i := rng.IntN(BlockSize)
		if b.close(i, true); rng.IntN(8) > 0 {
			rows := make([][]uint64, columns)
			for c := range rows {
				rows[c] = randomRoom(rng, l, step)
			}
			for c := range rows { // higher ones have no less
				for w := range l.words {
					most := empty(l.guards[w])
					for _, row := range rows[:c+1] {
						most.widen(row[w], l.guards[w])
					}
					rows[c][w] = most.most
				}
				b.put(c, i, rows[c], l.guards)
			}
			b.offer(i, randomRoom(rng, l, step), l.guards)
			b.open(i, nil, nil, nil, nil, l.guards)
			if b.changed(l.guards); b.changes == 0 {
				narrowed++
				for at := range b.columns {
					set := b.Plain
					if at < l.words {
						set |= b.measured
					}
					require.Equal(t, narrow(&b.columns[at], l.guards[at%l.words], set), b.spans[at])
				}
			}
		} else {
			b.put(0, i, randomRoom(rng, l, step), l.guards)
			b.measured |= 1 << i
		}
		sameByNode(t, rng, l, b, columns)
	}
	require.Positive(t, narrowed)
}

// TestPositionSets: a set of positions says what a list of them does.
func TestPositionSets(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var s PositionSet
		in := make([]bool, mostPositions)
		for range rng.IntN(4) {
			from, k := rng.IntN(mostPositions), 1+rng.IntN(150)
			for g := from; g < min(from+k, mostPositions); g++ {
				s.Add(victims.Position(g))
				in[g] = true
			}
		}
		first := slices.Index(in, true)
		require.Equal(t, first < 0, s.Empty())
		if first < 0 {
			first = mostPositions
		}
		require.Equal(t, victims.Position(first), s.First())
		from := rng.IntN(mostPositions)
		end := from + rng.IntN(mostPositions-from+1)
		require.Equal(t, !slices.Contains(in[from:end], false), s.Covers(victims.Position(from), victims.Position(end)))
		for g, is := range in {
			require.True(t, is == s.Has(victims.Position(g)))
			if w := g / 64; from/64 <= w && w*64 < end {
				set := between(victims.Position(w), victims.Position(from), victims.Position(end))
				require.True(t, (from <= g && g < end) == (set>>(g%64)&1 != 0))
			}
		}
	}
}

// TestTheMostOfALaneIsNoRoom: it stands for asks beyond what any node offers. Two lanes that fill a word share it.
func TestTheMostOfALaneIsNoRoom(t *testing.T) {
	require.Equal(t, []int{1, 2}, []int{lanesOf(32, 32).words, lanesOf(32, 33, 31).words})
	l, room := lanesOf(9), make([]uint64, 1)
	require.False(t, l.packRoom(room, []int64{255}))
	require.True(t, l.packRoom(room, []int64{254}))
	require.True(t, l.packRequest(make([]uint64, 1), []int64{255}))
	require.False(t, l.packRequest(make([]uint64, 1), []int64{256}))
	for v, fits := range map[int64]bool{254: true, 255: false, 1000: false} {
		var a Ask
		l.Pack(&a, []int64{v})
		require.Equal(t, fits, a.Fits(room))
	}
	var slots Slots
	require.True(t, slots.Set(l, []int64{255}))
	require.False(t, slots.Set(l, []int64{256}))
}

// randomRoom is free room of all lanes; for some steps, much the same on all nodes.
func randomRoom(rng *rand.Rand, l *Lanes, step int) []uint64 {
	row := make([]int64, len(l.lane))
	for r := range row {
		most := l.lane[r].most
		if row[r] = rng.Int64N(most + 1); step/mostChanges == 1 {
			row[r] = most - row[r]/16
		}
	}
	room := make([]uint64, l.words)
	l.packRoom(room, row)
	return room
}

// sameByNode asks the block about a random pod, and each of its plain nodes.
func sameByNode(t *testing.T, rng *rand.Rand, l *Lanes, b *Block, columns int) {
	t.Helper()
	row := make([]int64, len(l.lane))
	for r := range row {
		if rng.IntN(3) > 0 {
			row[r] = rng.Int64N(l.lane[r].most + 1)
			row[r] >>= rng.IntN(6)
		}
	}
	row[0] = max(row[0], 1)
	var ask Ask
	l.Pack(&ask, row)
	within := b.Plain & (rng.Uint64() | -(rng.Uint64() & 1))
	c := rng.IntN(columns)
	var fits uint64
	short, tooSmall := make([]int, len(row)), make([]int, len(row))
	for set := within; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		switch {
		case b.fitOne(&ask, c, i):
			fits |= 1 << i
		case b.TooSmall(&ask, i) && !b.fitOne(&ask, 0, i):
			tooSmall[b.Short(&ask, l, 0, i)]++
		case b.TooSmall(&ask, i): // only in this test is less free than there is
			within &^= 1 << i
		default:
			short[b.Short(&ask, l, c, i)]++
		}
	}
	require.Equal(t, fits&within, b.Fit(&ask, c, within))
	var slots Slots
	for set := within & (rng.Uint64() & rng.Uint64()); set != 0; set &= set - 1 {
		i, shorts, most, lowest := bits.TrailingZeros64(set), 0, int64(mostSlots), c+1
		for r, v := range row {
			at := l.lane[r]
			free := int64(b.columns[c*l.words+at.word][i] >> at.shift & uint64(at.most))
			require.True(t, free == b.FreeAtMost(l, c, i, cluster.ResourceID(r)))
			if v > 0 {
				most = min(most, free/v)
			}
			if v > free {
				shorts++
			}
		}
		for column := c; column >= 0 && b.fitOne(&ask, column, i); column-- {
			lowest = column
		}
		require.True(t, lowest == b.Lowest(&ask, c, i) && shorts == b.Shorts(&ask, c, i))
		require.True(t, slots.Set(l, row) && most == slots.inColumn(b, c, i, l.words))
	}
	for set := b.measured; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		require.Equal(t, b.fitOne(&ask, 0, i), b.Fit(&ask, 0, 1<<i) != 0)
	}
	haveShort, haveSmall := make([]int, len(row)), make([]int, len(row))
	nobody := b.Explain(&ask, l, c, within&^fits, 1<<30, haveShort, haveSmall)
	require.Equal(t, bits.OnesCount64(within&^fits), nobody+sum(haveSmall), "no node has a unit")
	require.Equal(t, tooSmall, haveSmall)
	b.countShort(&ask, l, c, within&^fits&^small(b, &ask, within), haveShort)
	require.Equal(t, short, haveShort)
}

func small(b *Block, ask *Ask, set uint64) (small uint64) {
	for ; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); b.TooSmall(ask, i) {
			small |= 1 << i
		}
	}
	return small
}

func sum(counts []int) (all int) {
	for _, n := range counts {
		all += n
	}
	return all
}

// laid is everything that the columns keep of a node.
func (l *NodeColumns) laid(n cluster.NodeID) string {
	b, i := l.levels.blocks[n/BlockSize], int(n%BlockSize)
	s := fmt.Sprint(b.Plain>>i&1, b.Odd>>i&1, b.Open>>i&1, l.levels.odd)
	if at := l.node(n); at.plain {
		s += fmt.Sprint(at.level, at.data, at.several, at.uneven, at.budgeted, at.elastic)
	}
	if b.Plain>>i&1 == 0 {
		return s
	}
	s += fmt.Sprint(" lowest ", b.lowest[i], b.latest[i], b.spans, b.offered)
	for _, rows := range [][]row{b.columns, b.offers} {
		for r := range rows {
			s += fmt.Sprint(" ", rows[r][i])
		}
	}
	return s
}

// anyPod runs on one of the nodes, of which some have more than fits. With many there are more levels than columns, and more
// resources than fit into a word.
func anyPod(t *rapid.T, name string, many bool) *cluster.Pod {
	n := func(n int) int64 { return int64(rapid.IntRange(0, n-1).Draw(t, "")) }
	priority := int32(n(3) * 10)
	p := &cluster.Pod{
		Name: name, Node: fmt.Sprint("n", n(3)), Priority: &priority,
		Requests: cluster.Resources{cluster.CPU: (1 + n(4)) * 100, cluster.Memory: n(3) << 20},
	}
	if many {
		priority = int32(n(40))
		for i := range 6 {
			p.Requests[fmt.Sprint("res", i)] = n(900)
		}
	}
	if n(8) == 0 {
		p.Labels = map[string]string{"app": "kept"}
	}
	if n(30) == 0 {
		p.Requests[cluster.CPU] = 12345 // in no grain, or more than a node offers
	}
	if n(30) == 0 {
		priority = int32(n(50))
	}
	return p
}

// followIsRefresh: what the columns keep of a node after a shift is what laying it out
// anew comes to, and so is who violates a budget; a fork stays as it is.
func followIsRefresh(t *rapid.T) {
	s := &cluster.Snapshot{Budgets: []disruption.Budget{{Name: "b", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "kept"}}}}}
	many := rapid.Bool().Draw(t, "many")
	for n := range 3 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", n), Allocatable: cluster.Resources{cluster.CPU: int64(n+1) * 2000, cluster.Memory: 1 << 30}})
		for i := range 6 {
			s.Nodes[n].Allocatable[fmt.Sprint("res", i)] = 9000
		}
	}
	for p := range rapid.IntRange(0, 50).Draw(t, "pods") {
		s.Pods = append(s.Pods, *anyPod(t, fmt.Sprint("p", p), many))
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	us, b := victims.NewUnits(ix, victims.UnitRule{}, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule{})
	l := NewNodeColumns(us, b)
	for range rapid.IntRange(1, 20).Draw(t, "steps") {
		kept := *l.Violating(20)
		kept.any, kept.all = slices.Clone(kept.any), slices.Clone(kept.all)
		p := anyPod(t, fmt.Sprint("p", rapid.IntRange(0, 55).Draw(t, "pod")), many)
		old := ix.PodByName("", p.Name)
		var shifts []victims.Shift
		switch remove := rapid.IntRange(0, 3).Draw(t, "remove") == 0; {
		case remove && old != cluster.NoPod && ix.MayRemovePod(old):
			shifts = us.Remove(nil, old)
			ix.RemovePod(old)
		case remove || !ix.MaySetPod(p, old):
			continue
		case old != cluster.NoPod:
			from := ix.NodeOf(old)
			b.Set(ix, ix.SetPod(p, old))
			shifts = us.Replace(nil, old, from)
		default:
			id := ix.SetPod(p, cluster.NoPod)
			b.Set(ix, id)
			shifts = us.Add(nil, id, b)
		}
		fork := l.Fork(us, b)
		if rapid.Bool().Draw(t, "the fork goes on") {
			l, fork = fork, l
		}
		before := []string{l.laid(0), l.laid(1), l.laid(2)}
		anew := l.Fork(us, b)
		could := !slices.ContainsFunc(shifts, func(s victims.Shift) bool { return !anew.refresh(s.Node) })
		require.Equal(t, could, l.Follow(shifts))
		if !could { // no more than where that lays out other columns
			lanes, bounds := l.lanes, l.levels.bounds
			l = NewNodeColumns(us, b)
			require.False(t, reflect.DeepEqual(lanes, l.lanes) && slices.Equal(bounds, l.levels.bounds))
			continue
		}
		for below := range rapid.IntRange(0, 1).Draw(t, "forget") * (mostCuts + 1) {
			l.Violating(int32(100 + below))
		}
		plain := NewNodeColumns(us, b)
		for _, below := range []int32{1, 20, 50} {
			have, want := l.Violating(below), plain.Violating(below)
			require.Equal(t, want.Any(0), have.Any(0), "below %d", below)
			require.Equal(t, want.All(0), have.All(0), "below %d", below)
			for n := range cluster.NodeID(3) {
				require.Equal(t, want.Of(n), have.Of(n), "below %d", below)
				first, end := plain.Positions(n, below)
				several := 0
				ledger := b.NewLedger()
				for g := first; plain.Plain(n) && g < end; g++ {
					if b.Charge(ledger, us.Unit(us.On(n)[g])) > 0 {
						several++
						require.True(t, have.Of(n).Has(g))
					}
				}
				require.Equal(t, several > 0, !have.Of(n).Empty())
				require.Equal(t, several > 0, have.Any(0)>>n&1 == 1)
				require.Equal(t, several > 0 && several == int(end-first), have.All(0)>>n&1 == 1)
			}
		}
		for n := range cluster.NodeID(3) {
			require.Equal(t, anew.laid(n), l.laid(n))
			require.Equal(t, before[n], fork.laid(n), "the fork is left alone")
		}
		require.Equal(t, kept.any, fork.Violating(20).any)
		require.Equal(t, kept.all, fork.Violating(20).all)
	}
}

// TestLargeUnitsAreLookedAtAnew: whether nothing tells the pods of a unit apart is noted until they are others.
func TestLargeUnitsAreLookedAtAnew(t *testing.T) {
	one, two := int32(1), int32(2)
	pod := func(i int, priority *int32, label string) *cluster.Pod {
		return &cluster.Pod{Name: fmt.Sprintf("p%02d", i), Node: "n", Group: "g", Priority: priority, Labels: map[string]string{"app": label}, Requests: cluster.Resources{cluster.CPU: 1}}
	}
	s := &cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 100, cluster.Pods: 100}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.All, Priority: &one}},
		Budgets:   []disruption.Budget{{Name: "b", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "kept"}}}},
	}
	for i := range 2 * manyPods {
		s.Pods = append(s.Pods, *pod(i, &one, ""))
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	us, b := victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137)
	l := NewNodeColumns(us, b)
	laid := []bool{l.Laid(0)}
	for _, p := range []*cluster.Pod{pod(30, &one, ""), pod(31, &two, ""), pod(32, &one, "kept")} {
		id := ix.SetPod(p, cluster.NoPod)
		b.Set(ix, id)
		require.True(t, l.Follow(us.Settle(us.Add(nil, id, b))))
		laid = append(laid, l.Laid(0))
		if id := ix.PodByName("", p.Name); !l.Laid(0) {
			shifts := us.Remove(nil, id)
			ix.RemovePod(id)
			require.True(t, l.Follow(us.Settle(shifts)))
			laid = append(laid, l.Laid(0))
		}
	}
	require.Equal(t, []bool{true, true, false, true, false, true}, laid)
}

func TestFollowIsRefresh(t *testing.T) { rapid.Check(t, followIsRefresh) }

func FuzzFollowIsRefresh(f *testing.F) { f.Fuzz(rapid.MakeFuzz(followIsRefresh)) }

// Alike reports whether two columns of one index are the same in every part.
func Alike(a, b *NodeColumns) bool {
	return reflect.DeepEqual(a.levels, b.levels) && reflect.DeepEqual(a.lanes, b.lanes) && reflect.DeepEqual(a.journal, b.journal)
}

// PickSharing is Pick by a number of goroutines, however few the nodes.
func (s *Scan) PickSharing(below int32, workers int) (cluster.NodeID, victims.Score) {
	return s.pick(below, workers)
}

// Bounds are the priorities that have a column.
func (v *Levels) Bounds() []int32 { return v.bounds }

// Grain is what amounts of a resource are multiples of.
func (l *Lanes) Grain(r cluster.ResourceID) int64 { return l.lane[r].grain }
