package allot_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/allot"
)

// curves are places with prices by seats, of which some are not known at first.
type curves struct {
	prices  [][]allot.Price
	bounds  [][]allot.Price
	known   [][]bool
	hulls   []allot.Hull
	most    allot.Price
	learned int
}

func (c *curves) Hull(place int) *allot.Hull { return &c.hulls[place] }

// anew forgets the hulls.
func (c *curves) anew() { c.hulls = make([]allot.Hull, len(c.prices)) }

func (c *curves) Len() int            { return len(c.prices) }
func (c *curves) Seats(place int) int { return len(c.prices[place]) }
func (c *curves) Most() allot.Price   { return c.most }

func (c *curves) Price(place, seats int) (allot.Price, bool) {
	if !c.known[place][seats-1] {
		return c.bounds[place][seats-1], false
	}
	return c.prices[place][seats-1], true
}

func (c *curves) Learn(list []allot.Part) {
	for _, p := range list {
		c.known[p.Place][p.Seats-1] = true
		c.learned++
	}
}

// solve is Solve without the hulls of an earlier one.
func solve(c interface {
	allot.Places
	anew()
}, seats int, atMost *allot.Price) allot.Answer {
	c.anew()
	return allot.Solve(c, seats, atMost)
}

// draw draws curves that rise, by small numbers so that many are equal.
func draw(r *rand.Rand) *curves {
	c := &curves{}
	for range 1 + r.IntN(5) {
		var prices, bounds []allot.Price
		var p allot.Price
		for range 1 + r.IntN(5) {
			bound := p
			for j := r.IntN(3); j < 2; j++ {
				if d := int64(r.IntN(4)); r.IntN(3) > 0 {
					p[j] += d
				}
			}
			if r.IntN(3) == 0 {
				bound = p
			}
			bounds = append(bounds, bound)
			prices = append(prices, p)
		}
		c.prices, c.bounds = append(c.prices, prices), append(c.bounds, bounds)
		c.known = append(c.known, make([]bool, len(prices)))
		c.most = c.most.Add(p)
	}
	return c
}

// least is the price of the cheapest allotment, by all of them.
func (c *curves) least(place, seats int) (p allot.Price, ok bool) {
	if place == len(c.prices) {
		return p, seats == 0
	}
	for k := range min(seats, len(c.prices[place])) + 1 {
		rest, in := c.least(place+1, seats-k)
		if !in {
			continue
		}
		if k > 0 {
			rest = rest.Add(c.prices[place][k-1])
		}
		if !ok || rest.Compare(&p) < 0 {
			p, ok = rest, true
		}
	}
	return p, ok
}

// TestSolveIsBruteForce: no allotment costs less, and prices that do not matter are not asked for.
func TestSolveIsBruteForce(t *testing.T) {
	parts, learned, all, early := 0, 0, 0, 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := draw(r)
		seats := 1 + r.IntN(8)
		wanted := seats
		least, ok := c.least(0, seats)
		a := solve(c, seats, nil)
		require.Equal(t, ok, a.Parts != nil, "seed %d", seed)
		require.Equal(t, !ok, a.None, "seed %d", seed)
		if !ok {
			continue
		}
		require.True(t, a.Proved, "seed %d", seed)
		require.Equal(t, least, a.Bound, "seed %d", seed)
		var price allot.Price
		for _, p := range a.Parts {
			price, seats = price.Add(c.prices[p.Place][p.Seats-1]), seats-p.Seats
		}
		require.Equal(t, least, price, "seed %d", seed)
		require.Zero(t, seats, "seed %d", seed)
		a = allot.Solve(c, wanted, &least) // with the hulls of before
		require.True(t, a.Proved, "seed %d", seed)
		require.Equal(t, least, a.Bound, "seed %d", seed)
		for i, list := range c.prices { // and with fewer seats
			c.prices[i] = list[:max(1, len(list)-1)]
		}
		if least, ok := c.least(0, wanted); ok {
			require.Equal(t, least, allot.Solve(c, wanted, nil).Bound, "seed %d", seed)
		}
		less := least
		if less[0]--; less[0] >= 0 {
			a = solve(draw(rand.New(rand.NewPCG(seed, 1))), wanted, &less)
			if a.Parts == nil {
				early++
			}
			require.Positive(t, a.Bound.Compare(&less), "seed %d", seed)
			require.LessOrEqual(t, a.Bound.Compare(&least), 0, "seed %d", seed)
		}
		parts, learned = parts+len(a.Parts), learned+c.learned
		for _, list := range c.prices {
			all += len(list)
		}
	}
	t.Logf("%d parts, %d prices of %d found out", parts, learned, all)
	require.Less(t, learned, all*3/4)
	require.Greater(t, early, 1000)
}

// shaped are places with a price for each mix that they hold.
type shaped struct {
	*curves
	mixes *allot.Mixes
	holds [][]bool
	seems [][]bool // as far as is known
}

func (s *shaped) Holds(place, mix int) bool { return s.seems[place][mix] }
func (s *shaped) Poll()                     {}

// Learn finds out which mixes don't hold, too.
func (s *shaped) Learn(list []allot.Part) {
	s.curves.Learn(list)
	for _, p := range list {
		s.seems[p.Place][p.Seats] = s.holds[p.Place][p.Seats]
	}
}

// drawShaped draws places whose prices rise with each member of a shape.
func drawShaped(r *rand.Rand) *shaped {
	s := &shaped{curves: &curves{}, mixes: allot.NewMixes([]int{1 + r.IntN(3), 1 + r.IntN(3)}, 1000)}
	if s.mixes = s.mixes.With(r.IntN(2), 1000); r.IntN(3) == 0 {
		s.mixes = allot.NewMixes([]int{1 + r.IntN(3), 1 + r.IntN(3), r.IntN(2)}, 1000)
	}
	for range 1 + r.IntN(4) {
		each := [3]allot.Price{}
		for i := range each {
			each[i] = allot.Price{r.Int64N(4), r.Int64N(4)}
		}
		var prices, bounds []allot.Price
		holds, seems := []bool{true}, []bool{true}
		room, asks := r.IntN(7), [3]int{1 + r.IntN(3), r.IntN(3), 1 + r.IntN(4)}
		for mix := 1; mix < s.mixes.Len(); mix++ {
			var price allot.Price
			asked := 0
			for i, v := range each {
				for range s.mixes.Count(mix, i) {
					price, asked = price.Add(v), asked+asks[i]
				}
			}
			bound := price
			if bound[0] > 0 && r.IntN(2) == 0 {
				bound[0]--
			}
			prices, bounds, holds = append(prices, price), append(bounds, bound), append(holds, asked <= room)
			seems = append(seems, asked <= room || r.IntN(4) == 0)
		}
		s.prices, s.bounds, s.holds = append(s.prices, prices), append(s.bounds, bounds), append(s.holds, holds)
		s.seems, s.known = append(s.seems, seems), append(s.known, make([]bool, len(prices)))
		s.most = s.most.Add(prices[len(prices)-1])
	}
	return s
}

// least is the price of the cheapest mix of so many members on the places from k on, by all ways to divide it.
func (s *shaped) least(k, mix, members int) (best allot.Price, ok bool) {
	if k == len(s.prices) {
		return best, s.mixes.Total(mix) == members
	}
	for here, holds := range s.holds[k] {
		fits := holds
		for i := range s.mixes.Kinds() {
			fits = fits && s.mixes.Count(mix, i)+s.mixes.Count(here, i) <= s.mixes.Count(s.mixes.Len()-1, i)
		}
		if !fits {
			continue
		}
		price, enough := s.least(k+1, mix+here, members)
		if here > 0 {
			price = price.Add(s.prices[k][here-1])
		}
		if enough && (!ok || price.Compare(&best) < 0) {
			best, ok = price, true
		}
	}
	return best, ok
}

// TestSolveMixedIsBruteForce: no division of so many members of several shapes costs less.
func TestSolveMixedIsBruteForce(t *testing.T) {
	learned, all, early, left := 0, 0, 0, math.MaxInt
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := drawShaped(r)
		members := 1 + r.IntN(s.mixes.Total(s.mixes.Len()-1))
		least, ok := s.least(0, 0, members)
		a := allot.SolveMixed(s, s.mixes, members, nil, &left)
		require.Equal(t, ok, a.Parts != nil, "seed %d", seed)
		require.Equal(t, !ok, a.None, "seed %d", seed)
		if !ok {
			continue
		}
		require.True(t, a.Proved, "seed %d", seed)
		require.Equal(t, least, a.Bound, "seed %d", seed)
		var price allot.Price
		mix := 0
		for _, p := range a.Parts {
			require.True(t, s.holds[p.Place][p.Seats])
			price, mix = price.Add(s.prices[p.Place][p.Seats-1]), mix+p.Seats
		}
		require.Equal(t, least, price, "seed %d", seed)
		require.Equal(t, members, s.mixes.Total(mix), "seed %d", seed)
		learned += s.learned
		for _, list := range s.prices {
			all += len(list)
		}
		if least[0]--; least[0] >= 0 {
			if a = allot.SolveMixed(drawShaped(rand.New(rand.NewPCG(seed, 4))), s.mixes, members, &least, &left); a.Parts == nil {
				early++
			}
			require.Positive(t, a.Bound.Compare(&least), "seed %d", seed)
		}
	}
	t.Logf("%d prices of %d found out", learned, all)
	require.Less(t, learned, all/3)
	require.Greater(t, early, 100)
}

// TestSolveMixedGivesUp: where nothing is known of too many places, it ends with parts that are known
// and a bound below their price.
func TestSolveMixedGivesUp(t *testing.T) {
	s := &shaped{curves: &curves{}, mixes: allot.NewMixes([]int{3, 3}, 100)}
	for place := range 3_000 {
		var prices []allot.Price
		for mix := 1; mix < s.mixes.Len(); mix++ {
			prices = append(prices, allot.Price{int64(10*s.mixes.Total(mix) + place%7)})
		}
		s.prices, s.bounds = append(s.prices, prices), append(s.bounds, make([]allot.Price, len(prices)))
		s.known, s.holds = append(s.known, make([]bool, len(prices))), append(s.holds, slices.Repeat([]bool{true}, s.mixes.Len()))
	}
	s.seems = s.holds
	s.most = allot.Price{1 << 40}
	left := 1 << 20
	a := allot.SolveMixed(s, s.mixes, 6, nil, &left)
	require.False(t, a.Proved)
	price := allot.Price{}
	for _, p := range a.Parts {
		known, ok := s.Price(p.Place, p.Seats)
		require.True(t, ok)
		price = price.Add(known)
	}
	require.Positive(t, price.Compare(&a.Bound))
}

// TestMixesAreNumbered: each number is one mix, up to as many as there may be.
func TestMixesAreNumbered(t *testing.T) {
	m := allot.NewMixes([]int{2, 0, 3}, 60)
	seen := map[[3]int]bool{}
	for mix := range m.Len() {
		k := [3]int{m.Count(mix, 0), m.Count(mix, 1), m.Count(mix, 2)}
		require.Equal(t, k[0]+k[1]+k[2], m.Total(mix))
		seen[k] = true
	}
	require.Len(t, seen, 12)
	require.Nil(t, allot.NewMixes([]int{2, 0, 3}, 59), "6 sums of the first, 10 of the last")
	require.Nil(t, allot.NewMixes([]int{math.MaxInt - 1, 1}, 1<<21))
	require.Nil(t, m.With(1<<16-1, 1<<21))
	require.Equal(t, math.MaxInt, allot.NewMixes([]int{math.MaxInt - 1}, 0).Len())
	room := m.With(4, 60*15)
	require.Equal(t, 12*5, room.Len())
	require.Equal(t, 5, room.Total(12*5-1), "what is used up of a room is no member")
	require.Equal(t, 4, room.Count(12*5-1, 3))
}

func TestSolveTooLarge(t *testing.T) {
	c := &curves{prices: [][]allot.Price{{{1 << 60}}}, bounds: [][]allot.Price{{{}}}, known: [][]bool{{false}}, most: allot.Price{1 << 61}}
	require.Equal(t, allot.Answer{}, solve(c, 1, nil))
	c.most = allot.Price{1 << 60}
	require.Equal(t, allot.Answer{Parts: []allot.Part{{0, 1}}, Bound: allot.Price{1 << 60}, Proved: true}, solve(c, 1, nil))
	require.Equal(t, allot.Answer{}, solve(c, 2, nil), "twice as much is too large")
	for _, most := range []int64{-1, -1 << 63, 1 << 61, 1 << 62} {
		for _, seats := range []int{1, 2, 8} {
			c.most = allot.Price{0, most}
			require.Equal(t, allot.Answer{}, solve(c, seats, nil), "%d, %d seats", most, seats)
		}
	}
}

// order counts what is found out, and in which order.
type order struct {
	*curves
	calls, places int64
}

func (o *order) Learn(list []allot.Part) {
	o.calls++
	for i, p := range list {
		o.places += int64(p.Place*7+p.Seats) * int64(i+1)
	}
	o.curves.Learn(list)
}

// TestSolveTakesTheseRounds: which prices are found out, how many at a time, and which of equally cheap
// allotments it is, decide nothing about what is least. A change that makes it better changes the numbers here.
func TestSolveTakesTheseRounds(t *testing.T) {
	var calls, places, learned, parts, bounds int64
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := &order{curves: draw(r)}
		for range r.IntN(20) {
			more := draw(r)
			c.prices, c.bounds, c.known, c.most = append(c.prices, more.prices...), append(c.bounds, more.bounds...), append(c.known, more.known...), c.most.Add(more.most)
		}
		a := solve(c, 1+r.IntN(30), nil)
		for i, p := range a.Parts {
			parts += int64(p.Place*7+p.Seats) * int64(i+1)
		}
		for part := range int64(4) { // not all that it costs: what is known then of the bound
			half := allot.Price{a.Bound[0] * part / 4, a.Bound[1] / 2}
			for j, v := range solve(c, 1+int(seed%30), &half).Bound {
				bounds += v * int64(j+1)
			}
		}
		calls, places, learned = calls+c.calls, places+c.places, learned+int64(c.learned)
	}
	require.Equal(t, []int64{7664, 21733171, 43209, 9376812, 13530}, []int64{calls, places, learned, parts, bounds})
}
