package share

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawn is a problem with items that stand in several places.
func drawn(r *rand.Rand) (seats, items int, places []Place, p *Problem) {
	items = 1 + r.IntN(10)
	places = make([]Place, 1+r.IntN(5))
	resources := 1 + r.IntN(2)
	for i := range places {
		for range resources {
			places[i].Ask = append(places[i].Ask, int64(1+r.IntN(4)))
			places[i].Free = append(places[i].Free, int64(r.IntN(8)-3))
		}
		places[i].Frees = make([][]int64, resources)
	}
	p = &Problem{AtMost: math.MaxInt64, Steps: math.MaxInt, Barred: make([]bool, items)}
	huge := r.IntN(8) == 0 // all prices together are close to what an int64 holds
	for item := range items {
		p.Price = append(p.Price, int64(r.IntN(6))<<r.IntN(3))
		if huge {
			p.Price[item] = p.Price[item]<<55 + int64(r.IntN(2))
		}
		p.Barred[item] = r.IntN(12) == 0
		for i := range places {
			if r.IntN(3) > 0 {
				continue
			}
			places[i].Items = append(places[i].Items, item)
			for k := range resources {
				places[i].Frees[k] = append(places[i].Frees[k], int64(r.IntN(5)))
			}
		}
	}
	return 1 + r.IntN(4), items, places, p
}

// least is the price of the cheapest of all sets that open the seats, [math.MaxInt64] if none does.
func least(seats, items int, places []Place, p *Problem) int64 {
	best := int64(math.MaxInt64)
	for bits := range 1 << items {
		set, price := make([]bool, items), int64(0)
		for i := range set {
			if set[i] = bits>>i&1 == 1; set[i] {
				price += p.Price[i]
			}
		}
		if price < best && opens(seats, places, set, p.Barred) {
			best = price
		}
	}
	return best
}

func opens(seats int, places []Place, set, barred []bool) bool {
	for i := range set {
		if set[i] && barred[i] {
			return false
		}
	}
	for _, place := range places {
		room := int64(math.MaxInt64)
		for r, free := range place.Free {
			for k, item := range place.Items {
				if set[item] {
					free += place.Frees[r][k]
				}
			}
			room = min(room, max(free, 0)/place.Ask[r])
		}
		seats -= int(min(room, int64(seats)))
	}
	return seats == 0
}

// Prices whose sum just fits are no matter.
func TestSolveOfDearItems(t *testing.T) {
	places := []Place{
		{Items: []int{0, 1}, Ask: []int64{2}, Free: []int64{0}, Frees: [][]int64{{1, 2}}},
		{Items: []int{0, 2}, Ask: []int64{2}, Free: []int64{1}, Frees: [][]int64{{1, 1}}},
	}
	p := &Problem{Price: []int64{math.MaxInt64 / 2, math.MaxInt64/4 - 1, math.MaxInt64 / 8}, Barred: make([]bool, 3), AtMost: math.MaxInt64, Steps: 1_000}
	for seats, want := range []int64{1: p.Price[2], 2: p.Price[1] + p.Price[2]} {
		if seats > 0 {
			require.Equal(t, want, NewSolver(seats, 3, places).Solve(p).Least)
		}
	}
}

// Solve finds what all sets together come to, whatever items stand where; cut short, what it says
// is at least spent is not more.
func TestSolveIsBruteForce(t *testing.T) {
	solved, none, cut, shared := 0, 0, 0, 0
	for seed := range uint64(4_000) {
		r := rand.New(rand.NewPCG(seed, 31))
		seats, items, places, p := drawn(r)
		if seed%4 == 0 { // as if there were too many to tell them apart
			mostItems = 1
		}
		want := least(seats, items, places, p)
		s := NewSolver(seats, items, places)
		mostItems = 12
		a := s.Solve(p)
		if p.AtMost = want - int64(r.IntN(2)); want < math.MaxInt64 { // nothing is wanted, or the best alone
			b := s.Solve(p)
			require.LessOrEqual(t, b.Least, want, "seed %d", seed)
			require.Equal(t, p.AtMost == want, b.Set != nil, "seed %d", seed)
		}
		p.AtMost, p.Steps = math.MaxInt64, r.IntN(40)
		short := s.Solve(p)
		require.LessOrEqual(t, short.Least, want, "seed %d", seed)
		if short.Least < want {
			cut++
		}
		require.LessOrEqual(t, a.Least, want, "seed %d", seed)
		if want == math.MaxInt64 {
			none++
			require.Nil(t, a.Set, "seed %d", seed)
			continue
		}
		require.Equal(t, want, a.Least, "seed %d", seed)
		price := int64(0)
		for i, in := range a.Set {
			if in {
				price += p.Price[i]
			}
		}
		require.Equal(t, want, price, "seed %d", seed)
		require.True(t, opens(seats, places, a.Set, p.Barred), "seed %d", seed)
		solved++
		if slices.ContainsFunc(s.at, func(spots []spot) bool { return len(spots) > 1 }) && want > 0 {
			shared++
		}
	}
	t.Log(solved, none, cut, shared)
	require.Greater(t, min(none, cut), 100)
	require.Greater(t, shared, 500)
}
