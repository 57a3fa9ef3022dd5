package nearest

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// TestNothingIsAskedInVain: where not each change can be asked about, nothing is asked; where each can, the least is found, and
// that less of it does as far as asks are left.
func TestNothingIsAskedInVain(t *testing.T) {
	list := []Change{{Name: "a", Amount: 1}, {Name: "b", Amount: 1}, {Name: "c", Amount: 2}}
	for _, c := range []struct {
		asks, asked int
		least       int64
	}{{0, 0, 0}, {2, 0, 0}, {3, 3, 2}, {4, 4, 1}, {9, 4, 1}} {
		asked := 0
		l := least{
			dear: func(asks int) bool { return asked+asks > c.asks },
			ask:  func(list []Change) ([]Change, bool, bool) { asked++; return list, list[len(list)-1].Name == "c", true },
		}
		need, ok := l.find(list)
		require.Equal(t, c.asked, asked, "%d asks", c.asks)
		if require.Equal(t, c.asked > 0, ok); ok {
			require.Equal(t, []Change{{Name: "c", Amount: c.least}}, need)
			require.Equal(t, c.least > 1, l.unproved)
		}
	}
}

// TestWhatIsNeededIsLess: where it is told that much less does, that is asked about first.
func TestWhatIsNeededIsLess(t *testing.T) {
	asked := 0
	l := least{ask: func(list []Change) ([]Change, bool, bool) {
		if asked++; list[0].Amount == 1000 {
			return list, true, false
		}
		return []Change{{Amount: 700}}, list[0].Amount >= 700, true
	}}
	need, ok := l.find([]Change{{Amount: 1000}})
	require.True(t, ok)
	require.Equal(t, []Change{{Amount: 700}}, need)
	require.Equal(t, 3, asked)
}

// TestNoLessHelps: of changes that help together by so much each, those that are found do; none of them can be left out or
// be any smaller, which is told unproved where that is so, nor do fewer help where these are asked for. No list is asked about twice, nor more lists than may be.
func TestNoLessHelps(t *testing.T) {
	const present = 3
	for seed := range uint64(400) {
		draw := rand.New(rand.NewPCG(seed, 3))
		var list []Change
		for i := range 1 + draw.IntN(5) {
			c := Change{Name: fmt.Sprint(i), Amount: 1 + draw.Int64N(9)}
			if i == 0 && draw.IntN(2) == 0 {
				c.Kind, c.Amount = Priority, c.Amount+present
			}
			list = append(list, c)
		}
		weight, missing, tells := []int64{draw.Int64N(4), draw.Int64N(4), draw.Int64N(4), draw.Int64N(4), draw.Int64N(4)}, 1+draw.Int64N(40), draw.IntN(2) == 0
		helps := func(list []Change) bool {
			sum := int64(0)
			for i := range list {
				c := &list[i]
				by := weight[int(c.Name[0]-'0')] * c.Amount
				if c.Kind == Priority {
					by = weight[0] * (c.Amount - present)
				}
				sum += by
			}
			return sum >= missing
		}
		for _, fewest := range []bool{false, true} {
			proves := func(list []Change) bool { return (seed+uint64(len(list))+uint64(list[0].Amount))%3 > 0 }
			unproved, refused := false, false // refused: and it was not proved
			find := func(left int) (need []Change, ok bool, asked int) {
				known := map[string]bool{}
				l := least{present: present, left: left, ask: func(list []Change) ([]Change, bool, bool) {
					require.NotContains(t, known, fmt.Sprint(list))
					known[fmt.Sprint(list)] = true
					require.True(t, list[0].Kind != Priority || list[0].Amount > present)
					refused = refused || !helps(list) && !proves(list)
					need := list
					if tells {
						need = slices.DeleteFunc(slices.Clone(list), func(c Change) bool { return weight[int(c.Name[0]-'0')] == 0 })
					}
					return need, helps(list), proves(list)
				}}
				if need, ok = l.find(list); fewest {
					l.known, l.left, l.unproved, known = nil, left, false, map[string]bool{}
					need, ok = l.smallest(list)
				}
				unproved = l.unproved
				return need, ok, len(known)
			}
			need, ok, asked := find(0)
			require.Equal(t, helps(list), ok, seed)
			if !ok {
				continue
			}
			require.True(t, helps(need), seed)
			doubts := false
			for i := range need {
				if part := slices.Delete(slices.Clone(need), i, i+1); len(part) > 0 {
					require.False(t, helps(part), seed)
					doubts = doubts || !proves(part)
				}
				less := slices.Clone(need)
				if less[i].Amount--; less[i].Amount > 0 && (less[i].Kind != Priority || less[i].Amount > present) {
					require.False(t, helps(less), seed)
					doubts = doubts || !proves(less)
				}
			}
			require.True(t, unproved == doubts || fewest && unproved && refused, "%d: less of it is refused, which is proved or not", seed)
			first := false // of the sets of so few that help it is the first one
			for set := range uint(1) << len(list) {
				var part []Change
				for i, c := range list {
					if set>>i&1 != 0 {
						part = append(part, c)
					}
				}
				if fewest && len(list) <= mostParts && len(part) > 0 && len(part) < len(need) && !proves(part) {
					require.True(t, unproved, seed)
				}
				if !fewest || len(list) > mostParts || bits.OnesCount(set) > len(need) || !helps(part) {
					continue
				}
				require.Len(t, part, len(need), seed)
				for i := 0; i < len(part) && !first; i++ {
					require.Equal(t, part[i].Name, need[i].Name, seed)
				}
				first = true
			}
			told := unproved
			same, ok, _ := find(asked)
			require.True(t, ok, seed)
			require.Equal(t, need, same)
			require.Equal(t, told, unproved)
			if asked > 1 {
				some, ok, n := find(asked - 1)
				require.True(t, !ok || unproved && helps(some), seed)
				require.Equal(t, asked-1, n)
			}
		}
	}
}

// TestNobodyNeedsMoreThanDoes: where it is told that more is needed than did, that is not believed, and there is an end; where
// nothing is, it is told that less may do.
func TestNobodyNeedsMoreThanDoes(t *testing.T) {
	for _, x := range []struct {
		list, needs, want []Change
	}{
		{[]Change{{Amount: 9}}, []Change{{Amount: 2}, {Name: "of another kind", Amount: 1}}, []Change{{Amount: 1}}},
		{[]Change{{Amount: 9}}, []Change{{Amount: 2}}, []Change{{Amount: 1}}},
		{[]Change{{Amount: 2}}, nil, []Change{{Amount: 2}}},
		{[]Change{{Amount: 1}, {Name: "b", Amount: 1}}, nil, []Change{{Amount: 1}, {Name: "b", Amount: 1}}},
	} {
		first := true
		l := least{ask: func(list []Change) ([]Change, bool, bool) {
			if x.needs == nil && first {
				first = false
				return list, true, true
			}
			return x.needs, true, false
		}}
		need, ok := l.find(x.list)
		require.True(t, ok)
		require.Equal(t, x.want, need)
		require.Equal(t, x.needs == nil, l.unproved)
	}
}

// TestWindowsComeLast of limits on the same.
func TestWindowsComeLast(t *testing.T) {
	limit, window := Change{Kind: Limit, Bound: ask.Bound{Of: ask.NumUnits}}, Change{Kind: Limit, Bound: ask.Bound{Of: ask.NumUnits, Window: true}}
	require.Equal(t, []Change{limit, window}, sorted([]Change{window, limit}))
	require.Equal(t, []Change{limit, window}, sorted([]Change{limit, window}))
}

// TestFewTriesWhereEachIsLarge: as many as may be asked about so many bounds, those that go least beyond, but one in any case; and as often
// as pods may move, but a few times in any case.
func TestFewTriesWhereEachIsLarge(t *testing.T) {
	nodes := func(units, caps, bounds int) (nodes []int) {
		var tries []try
		for n, beyond := range []int64{3, 1, 2, 1} {
			tries = append(tries, try{node: cluster.NodeID(n), bounds: 1, over: beyond, units: units, caps: caps})
		}
		for _, t := range nearly(tries, bounds) {
			nodes = append(nodes, int(t.node))
		}
		return nodes
	}
	require.Equal(t, []int{0, 1, 2, 3}, nodes(100, 10, 10))
	require.Equal(t, []int{1}, nodes(1<<20, 10, 10))
	require.Equal(t, []int{1, 3}, nodes(1<<13, 2, 6))  // they come to mostTried
	require.Equal(t, []int{1, 3}, nodes(1<<11, 18, 6)) // likewise
	require.Equal(t, 8, asksFor([]try{{moved: mostMoved / 16}, {moved: mostMoved / 16}}))
	require.Equal(t, fewestAsks, asksFor([]try{{moved: mostMoved}}))
}
