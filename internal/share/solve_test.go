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
			require.Equal(t, want, NewSolver(seats, 3, places, nil).Solve(p).Least)
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
		s := NewSolver(seats, items, places, nil)
		mostItems = 12
		s.large = seed%3 == 0
		a := s.Solve(p)
		value := s.find(p.Barred)
		s.large = !s.large
		require.Equal(t, value, s.find(p.Barred), "seed %d", seed)
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

// sums are what many searches come to and take; one number that is another one is noticed.
type sums struct{ steps, polls, least, wanted, items int64 }

// add adds an answer, of which the seed tells apart what the others might make up for.
func (s *sums) add(seed uint64, a Answer) {
	s.steps += int64(a.Steps)
	if s.least += a.Least % 1_000_003 * int64(1+seed%7); a.Set != nil {
		s.wanted++
	}
	for item, in := range a.Set {
		if in {
			s.items += int64(item+1) * int64(1+seed%11)
		}
	}
}

// crowded is a problem with so many items, seats and places, of which each item stands in a few.
func crowded(r *rand.Rand, items, places int) ([]Place, *Problem) {
	list := make([]Place, places)
	for i := range list {
		list[i] = Place{Ask: []int64{4, 2}, Free: []int64{int64(r.IntN(4)), int64(r.IntN(9))}, Frees: make([][]int64, 2)}
	}
	p := &Problem{AtMost: math.MaxInt64, Barred: make([]bool, items)}
	for item := range items {
		p.Price = append(p.Price, int64(1+r.IntN(1_000)))
		for range 1 + r.IntN(3) {
			i := r.IntN(places)
			if slices.Contains(list[i].Items, item) {
				continue
			}
			list[i].Items = append(list[i].Items, item)
			list[i].Frees[0] = append(list[i].Frees[0], int64(1+r.IntN(6)))
			list[i].Frees[1] = append(list[i].Frees[1], int64(r.IntN(3)))
		}
	}
	for i := range list {
		if items := list[i].Items; len(items) > 1 && slices.Contains(items[1:], items[0]) {
			list[i] = Place{}
		}
	}
	return slices.DeleteFunc(list, func(p Place) bool { return p.Ask == nil }), p
}

// TestSolveTakesTheseSteps: bounds and orders of the search decide what it takes, and what it comes to
// where it is cut short, never what is true. A change that makes it better changes the numbers here.
func TestSolveTakesTheseSteps(t *testing.T) {
	var small, cut, large sums
	for seed := range uint64(1_000) {
		r := rand.New(rand.NewPCG(seed, 33))
		seats, items, places, p := drawn(r)
		p.Poll = func() { small.polls++ }
		if seed%4 == 0 {
			mostItems = 1
		}
		s := NewSolver(seats, items, places, nil)
		mostItems = 12
		if seed%3 == 0 {
			p.AtMost = r.Int64N(40)
		}
		small.add(seed, s.Solve(p))
		p.Steps, p.Poll = int(seed%5)*8, func() { cut.polls++ }
		cut.add(seed, s.Solve(p))
	}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 34))
		places, p := crowded(r, 20+10*int(seed%5), 6+int(seed%7))
		p.Steps, p.Poll = 400, func() { large.polls++ }
		large.add(seed, NewSolver(6+int(seed%3)*10, len(p.Price), places, nil).Solve(p))
	}
	places, p := crowded(rand.New(rand.NewPCG(1, 35)), 120, 12) // so large that prices are shared out less often
	for i := range places {
		for _, frees := range places[i].Frees {
			for k := range frees {
				frees[k] *= 100
			}
		}
	}
	p.Steps, p.Poll = 20_000, func() { large.polls++ }
	large.add(0, NewSolver(300, len(p.Price), places, nil).Solve(p))
	require.Equal(t, [3]sums{
		{steps: 1328, polls: 6656, least: 1163965454, wanted: 557, items: 12531},
		{steps: 1024, polls: 6388, least: 1156817336, wanted: 557, items: 12585},
		{steps: 26364, polls: 4304, least: 4927395, wanted: 30, items: 30574},
	}, [3]sums{small, cut, large})
}

// TestARingIsProved: 100 places in a ring, of which any 16 need 19 items at least: 16 in a row, although a bound that shares prices out
// comes to 16.
func TestARingIsProved(t *testing.T) {
	places, p := make([]Place, 100), &Problem{AtMost: math.MaxInt64, Steps: 20_000}
	for i := range places {
		places[i] = Place{Ask: []int64{4}, Free: []int64{0}, Frees: [][]int64{{1, 1, 1, 1}}}
		for k := range 4 {
			places[i].Items = append(places[i].Items, (i+k)%len(places))
		}
		p.Price = append(p.Price, 1)
	}
	require.EqualValues(t, 16, NewSolver(16, len(places), places, nil).Solve(&Problem{Price: p.Price, Barred: make([]bool, 100), AtMost: p.AtMost}).Least)
	p.Barred = make([]bool, len(places))
	require.EqualValues(t, 19, NewSolver(16, len(places), places, nil).Solve(p).Least)
}

// TestSetsAreLookedAtInFewPlaces: those with few items first, as long as that is little work; the others
// are bounded by parts. The caller may stop it.
func TestSetsAreLookedAtInFewPlaces(t *testing.T) {
	many := func(places, items int) (list []Place) {
		for range places {
			p := Place{Ask: []int64{1}, Free: []int64{0}, Frees: make([][]int64, 1)}
			for k := range items {
				p.Items, p.Frees[0] = append(p.Items, k), append(p.Frees[0], 80)
			}
			list = append(list, p)
		}
		return list
	}
	for _, tt := range []struct {
		places []Place
		want   int
	}{
		{many(25, 12), 25},
		{many(500, 12), 8388608 / (80 << 12)},
		{slices.Concat(many(500, 12), many(10, 3)), 10 + (8388608-10*80<<3)/(80<<12)},
		{many(3, 13), 0},
	} {
		polls, found := 0, 0
		s := NewSolver(80, 13, tt.places, func() { polls++ })
		for i := range s.places {
			if s.places[i].ways != nil {
				found++
			}
		}
		require.Equal(t, tt.want, found)
		require.Equal(t, tt.want, polls)
	}
	require.Panics(t, func() { NewSolver(1, 3, many(1, 3), func() { panic("stopped") }) })
}

// TestWhoPanicsLeavesNothingShut: a solver that was stopped while a place was shut answers like a new one.
func TestWhoPanicsLeavesNothingShut(t *testing.T) {
	stopped := 0
	for seed := range uint64(20_000) {
		seats, items, places, p := drawn(rand.New(rand.NewPCG(seed, 9)))
		s := NewSolver(seats, items, places, nil)
		isShut := func() bool { return slices.ContainsFunc(s.places, func(p place) bool { return p.shut }) }
		stop := *p
		stop.Poll = func() {
			if isShut() {
				panic("stopped")
			}
		}
		func() {
			defer func() { _ = recover() }()
			s.Solve(&stop)
		}()
		if !isShut() {
			continue
		}
		stopped++
		require.Equal(t, NewSolver(seats, items, places, nil).Solve(p).Least, s.Solve(p).Least, "seed %d", seed)
	}
	require.Greater(t, stopped, 20)
}
