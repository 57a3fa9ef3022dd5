package cover_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/cover"
)

// random draws a problem of so many items and rows.
func random(r *rand.Rand, items, rows int) *cover.Problem {
	p := &cover.Problem{Items: items, AtMost: math.MaxInt64, Steps: math.MaxInt}
	large := []int64{3, 50, 1 << 36}[r.IntN(3)]
	for range rows {
		row, sum := make([]int64, items), int64(0)
		for i := range row {
			if r.IntN(4) > 0 {
				row[i] = 1 + r.Int64N(large)
			}
			sum += row[i]
		}
		p.Frees, p.Need = append(p.Frees, cover.RowOf(row)), append(p.Need, 1+r.Int64N(sum/2+2))
	}
	if r.IntN(4) > 0 {
		p.Price = make([]int64, items)
		dear := []int64{3, 1000, 1 << 40, math.MaxInt64}[r.IntN(4)]
		for i := range p.Price {
			p.Price[i] = r.Int64N(dear)
			if r.IntN(20) == 0 {
				p.Price[i] = math.MaxInt64
			}
		}
	}
	for range r.IntN(4) {
		weights := make([]int64, items)
		side := cover.Side{Room: r.Int64N(4), Fine: cover.Hard}
		for i := range weights {
			weights[i] = r.Int64N(3)
		}
		side.Weight = cover.RowOf(weights)
		if r.IntN(2) == 0 {
			side.Fine = 1 + r.Int64N(1<<(1+r.IntN(40)))
		}
		p.Sides = append(p.Sides, side)
	}
	if r.IntN(3) == 0 {
		p.AtMost = r.Int64N(1 << (1 + r.IntN(44)))
	}
	return p
}

// brute looks at every set.
func brute(p *cover.Problem, items int, will func(chosen []bool) bool) (best []bool, least int64) {
sets:
	for set := range 1 << items { // bit i: the i-th from the end; smaller numbers leave out earlier items
		chosen, price := make([]bool, items), int64(0)
		for i := range chosen {
			chosen[i] = set>>(items-1-i)&1 == 1
		}
		for r, row := range p.Frees {
			sum := int64(0)
			for _, c := range row {
				if chosen[c.Item] {
					sum += c.Amount
				}
			}
			if sum < p.Need[r] {
				continue sets
			}
		}
		for _, side := range p.Sides {
			used := int64(0)
			for _, c := range side.Weight {
				if chosen[c.Item] {
					used += c.Amount
				}
			}
			if over := used - side.Room; over > 0 {
				if side.Fine == cover.Hard {
					continue sets
				}
				price = checked.Add(price, checked.Mul(over, side.Fine))
			}
		}
		for i, in := range chosen {
			if in && p.Price != nil {
				price = checked.Add(price, p.Price[i])
			}
		}
		if price <= p.AtMost && (best == nil || price < least) && will(chosen) {
			best, least = chosen, price
		}
	}
	return best, least
}

func TestSolveIsBruteForce(t *testing.T) {
	t.Parallel()
	found, refuted := 0, 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		items := 1 + r.IntN(9)
		p := random(r, items, r.IntN(4))
		if len(p.Frees)+len(p.Sides) == 0 && p.Price == nil {
			continue
		}
		want, price := brute(p, items, func([]bool) bool { return true })
		got := cover.Solve(p)
		require.True(t, got.Proved, "seed %d", seed)
		require.Equal(t, want, got.Chosen, "seed %d: %v", seed, p)
		if want == nil {
			require.Greater(t, got.Bound, min(p.AtMost, math.MaxInt64-1), "seed %d", seed)
			refuted++
			continue
		}
		require.Equal(t, price, got.Price, "seed %d", seed)
		require.Equal(t, price, got.Bound, "seed %d", seed)
		p.Least = max(0, price-r.Int64N(3))
		require.Equal(t, want, cover.Solve(p).Chosen, "seed %d: at least %d", seed, p.Least)
		p.Any, p.Guess, p.Least = true, want, price
		got = cover.Solve(p)
		require.Equal(t, cover.Answer{Chosen: want, Price: price, Bound: price, Proved: true}, got, "seed %d: nothing is left to look for", seed)
		found++
	}
	t.Log(found, refuted)
	require.Greater(t, found, 5000)
	require.Greater(t, refuted, 1000)
}

// quarrel is a trial in which some pairs of items must not both stay.
type quarrel struct {
	pairs   [][2]int
	back    []bool
	refused map[string]int // how often a set was
}

func (q *quarrel) Return(i int) { q.back[i] = true }
func (q *quarrel) Remove(i int) { q.back[i] = false }

func (q *quarrel) May() bool {
	for _, p := range q.pairs {
		if q.back[p[0]] && q.back[p[1]] {
			return false
		}
	}
	return true
}

func (q *quarrel) Will(chosen, _ []bool, price int64) (int64, bool) {
	ok := q.peace(chosen)
	if !ok {
		q.refused[fmt.Sprint(chosen)]++
	}
	return price, ok
}

func (q *quarrel) peace(chosen []bool) bool {
	for _, p := range q.pairs {
		if !chosen[p[0]] && !chosen[p[1]] {
			return false
		}
	}
	return true
}

// A trial has a say that the numbers do not know of. It is not asked about a set once more that it has refused.
func TestSolveAsksTheTrial(t *testing.T) {
	t.Parallel()
	found, refused := 0, 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 2))
		items := 2 + r.IntN(8)
		p := random(r, items, 1+r.IntN(2))
		p.Price = nil
		for i := range p.Sides {
			p.Sides[i].Fine = cover.Hard
		}
		q := &quarrel{back: make([]bool, items), refused: map[string]int{}}
		for range 1 + r.IntN(4) {
			if a, b := r.IntN(items), r.IntN(items); a != b {
				q.pairs = append(q.pairs, [2]int{a, b})
			}
		}
		want, _ := brute(p, items, q.peace)
		p.Trial, p.Alike = q, func(int, int) bool { return false }
		got := cover.Solve(p)
		require.True(t, got.Proved, "seed %d", seed)
		require.Equal(t, want, got.Chosen, "seed %d: %v %v", seed, p, q.pairs)
		require.NotContains(t, q.back, true, "seed %d: all are out again", seed)
		for set, times := range q.refused {
			require.Equal(t, 1, times, "seed %d: %s", seed, set)
			refused++
		}
		if want != nil {
			found++
		}
	}
	require.Greater(t, found, 1000)
	require.Greater(t, refused, 1000)
}

// What never may be chosen together is not, and what is best without it is found.
func TestSolveNeverChoosesSome(t *testing.T) {
	t.Parallel()
	found, refuted := 0, 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 4))
		items := 2 + r.IntN(8)
		p := random(r, items, 1+r.IntN(2))
		q := &quarrel{back: make([]bool, items)}
		for range 1 + r.IntN(4) {
			if a, b := r.IntN(items), r.IntN(items); a != b {
				q.pairs = append(q.pairs, [2]int{a, b})
			}
		}
		apart := func(chosen []bool) bool {
			return !slices.ContainsFunc(q.pairs, func(p [2]int) bool { return chosen[p[0]] && chosen[p[1]] })
		}
		want, price := brute(p, items, apart)
		p.Any, p.Trial, p.Alike = true, apartOnly(apart), func(int, int) bool { return false }
		p.Never = func(chosen []bool) bool { return !apart(chosen) }
		got := cover.Solve(p)
		require.True(t, got.Proved, "seed %d", seed)
		if want == nil {
			require.Nil(t, got.Chosen, "seed %d", seed)
			refuted++
			continue
		}
		require.True(t, apart(got.Chosen), "seed %d", seed)
		require.Equal(t, price, got.Price, "seed %d", seed)
		found++
	}
	require.Greater(t, found, 1000)
	require.Greater(t, refuted, 100)
}

// apartOnly is a trial that lets sets be of which it says so.
type apartOnly func(chosen []bool) bool

func (apartOnly) Return(int) {}
func (apartOnly) Remove(int) {}
func (apartOnly) May() bool  { return true }

func (a apartOnly) Will(chosen, _ []bool, price int64) (int64, bool) { return price, a(chosen) }

// A search that is cut short says what it found, and a bound that holds.
func TestSolveGivesUp(t *testing.T) {
	t.Parallel()
	cut := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 3))
		items := 6 + r.IntN(5)
		p := random(r, items, 2+r.IntN(3))
		want, price := brute(p, items, func([]bool) bool { return true })
		p.Steps = r.IntN(6)
		got := cover.Solve(p)
		if !got.Proved {
			cut++
		}
		if want == nil {
			require.Nil(t, got.Chosen)
			continue
		}
		require.LessOrEqual(t, got.Bound, price, "seed %d", seed)
		if got.Chosen != nil {
			require.GreaterOrEqual(t, got.Price, price, "seed %d", seed)
		}
	}
	t.Log(cut)
	require.Greater(t, cut, 100)
}

// What the trial has done counts as steps, and ends the search where it is more than Steps.
func TestWhatTheTrialHasDoneIsSteps(t *testing.T) {
	asked, cut := 0, 0
	for seed := range uint64(200) {
		p := random(rand.New(rand.NewPCG(seed, 5)), 12, 2)
		p.Steps, asked = 1_000, 0
		p.Trial = apartOnly(func(chosen []bool) bool { asked++; return chosen[0] != chosen[1] })
		p.Worked = func() int { return 500 * asked }
		got := cover.Solve(p)
		require.GreaterOrEqual(t, got.Steps, 500*asked, "seed %d", seed)
		if require.LessOrEqual(t, asked, 6, "seed %d", seed); !got.Proved {
			cut++
		}
	}
	require.Greater(t, cut, 20)
}

// Where a guess costs as little as a set may, its peer that comes first in the order is told all the same.
func TestTheFirstOfEquallyCheapSetsIsTold(t *testing.T) {
	p := &cover.Problem{Items: 2, Price: []int64{5, 5}, Least: 5, AtMost: 10, Steps: 100, Guess: []bool{true, false}}
	p.Trial = apartOnly(func(chosen []bool) bool { return chosen[0] || chosen[1] })
	a := cover.Solve(p)
	require.True(t, a.Proved)
	require.Equal(t, []bool{false, true}, a.Chosen)
	p.Any = true
	require.Equal(t, []bool{true, false}, cover.Solve(p).Chosen)
}

// Where each item is in one hard side, and nothing costs anything, the first bound tells
// whether there is a set: the largest items of each side free as much as can be.
func TestHardSidesApartTakeNoSearch(t *testing.T) {
	const items, sides = 110, 10
	r := rand.New(rand.NewPCG(1, 4))
	p := &cover.Problem{AtMost: math.MaxInt64, Steps: 20_000, Any: true, Items: items, Need: []int64{0}}
	frees := make([]int64, items)
	for k := range sides {
		p.Sides = append(p.Sides, cover.Side{Room: int64(1 + k%7), Fine: cover.Hard})
		var mine []int64
		for i := k; i < items; i += sides {
			p.Sides[k].Weight, frees[i] = append(p.Sides[k].Weight, cover.Cell{Item: i, Amount: 1}), 500+r.Int64N(500)
			mine = append(mine, frees[i])
		}
		slices.Sort(mine)
		for _, v := range mine[len(mine)-1-k%7:] {
			p.Need[0] += v
		}
	}
	p.Frees = []cover.Row{cover.RowOf(frees)}
	p.Poll = func() { t.Fatal("it decides") }
	a := cover.Solve(p)
	require.True(t, a.Proved && a.Chosen != nil)
	require.Equal(t, 20, a.Steps, "a first bound of 330 amounts and prices")
	p.Need[0]++
	a = cover.Solve(p)
	require.True(t, a.Proved && a.Chosen == nil)
	require.Equal(t, 20, a.Steps)
}

// BenchmarkSolve: the least sum of prices that frees a part of so many resources. p50 is the
// median over problems.
func BenchmarkSolve(b *testing.B) {
	for _, s := range []struct {
		items, rows int
		part        int64 // of all that the items free
	}{{30, 8, 10}, {110, 3, 10}, {110, 8, 10}, {30, 8, 3}, {110, 3, 3}, {110, 8, 3}} {
		b.Run(fmt.Sprintf("items=%d/rows=%d/part=%d", s.items, s.rows, s.part), func(b *testing.B) {
			const problems = 200
			var list []*cover.Problem
			for seed := range uint64(problems) {
				r := rand.New(rand.NewPCG(seed, 9))
				p := &cover.Problem{AtMost: math.MaxInt64, Steps: 20_000, Items: s.items, Price: make([]int64, s.items)}
				for range s.rows {
					row, sum := make([]int64, s.items), int64(0)
					for i := range row {
						row[i] = 100 * (1 + r.Int64N(40))
						sum += row[i]
					}
					p.Frees, p.Need = append(p.Frees, cover.RowOf(row)), append(p.Need, sum/s.part)
				}
				for i := range p.Price {
					p.Price[i] = 1 + r.Int64N(100_000)
				}
				list = append(list, p)
			}
			proved, gap := 0, 0.0
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				a := cover.Solve(list[len(took)%problems])
				if took = append(took, time.Since(start)); a.Proved {
					proved++
				} else {
					gap = max(gap, float64(a.Price-a.Bound)/float64(a.Bound))
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(proved)/float64(len(took)), "proved/op")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(100*gap, "%gap")
		})
	}
}

// sums are what many searches come to and take; one number that is another one is noticed.
type sums struct{ steps, polls, proved, found, bounds, prices, items int64 }

// add adds an answer, of which the seed tells apart what the others might make up for.
func (s *sums) add(seed uint64, a cover.Answer) {
	s.steps += int64(a.Steps)
	s.bounds += a.Bound % 1_000_003 * int64(1+seed%7)
	if a.Proved {
		s.proved++
	}
	if a.Chosen != nil {
		s.found++
		s.prices += a.Price % 1_000_003 * int64(1+seed%5)
	}
	for item, in := range a.Chosen {
		if in {
			s.items += int64(item+1) * int64(1+seed%11)
		}
	}
}

// TestSolveTakesTheseSteps: multipliers, guesses and orders decide what a search takes, and what it comes to
// where it is cut short, never what is true. A change that makes it better changes the numbers here.
func TestSolveTakesTheseSteps(t *testing.T) {
	t.Parallel()
	var small, costless, large, wide sums
	for seed := range uint64(1_500) {
		r := rand.New(rand.NewPCG(seed, 5))
		items := 6 + r.IntN(9)
		p := random(r, items, 1+r.IntN(3))
		p.Steps, p.Any, p.Poll = []int{0, 3, 30, math.MaxInt}[seed%4], seed%3 == 0, func() { small.polls++ }
		small.add(seed, cover.Solve(p))
		p.Price, p.Poll = nil, func() { costless.polls++ }
		costless.add(seed, cover.Solve(p))
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 6))
		p := random(r, 30+10*int(seed%5), 2+int(seed%4))
		p.Steps, p.Poll = 200, func() { large.polls++ }
		large.add(seed, cover.Solve(p))
		p = random(r, 400, 24) // what rows ask of the sides is most of the work
		p.Price, p.Steps, p.Poll = nil, 4_000, func() { wide.polls++ }
		wide.add(seed, cover.Solve(p))
	}
	require.Equal(t, [4]sums{
		{steps: 1491, polls: 1361, proved: 1397, found: 1007, bounds: 1604710756, prices: 674764762, items: 98915},
		{steps: 2177, polls: 1999, proved: 1357, found: 1131, bounds: 919723532, prices: 272162104, items: 132945},
		{steps: 1521, polls: 1088, proved: 16, found: 13, bounds: 35161531, prices: 19223085, items: 25456},
		{steps: 86736, polls: 5662, proved: 11, found: 12, bounds: 13845657, prices: 12495703, items: 3013741},
	}, [4]sums{small, costless, large, wide})
}

// says is what multipliers say of every set, times their price: what is given is exact.
func says(p *cover.Problem, m cover.Multipliers) *big.Int {
	sum := new(big.Int)
	times := func(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }
	left := make([]*big.Int, p.Items)
	for i := range left {
		left[i] = new(big.Int)
		if p.Price != nil {
			left[i] = times(m.Price, p.Price[i])
		}
	}
	for r, row := range p.Frees {
		sum.Add(sum, times(m.Rows[r], p.Need[r]))
		for _, c := range row {
			left[c.Item].Sub(left[c.Item], times(m.Rows[r], min(c.Amount, p.Need[r])))
		}
	}
	for k, side := range p.Sides {
		sum.Sub(sum, times(m.Sides[k], side.Room))
		for _, c := range side.Weight {
			left[c.Item].Add(left[c.Item], times(m.Sides[k], c.Amount))
		}
	}
	for _, v := range left {
		if v.Sign() < 0 {
			sum.Add(sum, v)
		}
	}
	return sum
}

// TestRelaxSaysWhatIsTrue: no set costs less than multipliers say, which are not below zero nor above what fines
// allow; and of many problems they say as much as there is, or that there is nothing.
func TestRelaxSaysWhatIsTrue(t *testing.T) {
	t.Parallel()
	tight, loose := 0, 0
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := random(r, 1+r.IntN(8), 1+r.IntN(3))
		m := cover.Relax(p)
		for _, v := range append(append([]int64{m.Price}, m.Rows...), m.Sides...) {
			require.GreaterOrEqual(t, v, int64(0), "seed %d", seed)
		}
		for k, side := range p.Sides {
			if side.Fine != cover.Hard {
				most := new(big.Int).Mul(big.NewInt(m.Price), big.NewInt(side.Fine))
				require.LessOrEqual(t, big.NewInt(m.Sides[k]).Cmp(most), 0, "seed %d", seed)
			}
		}
		least := says(p, m)
		want, price := brute(p, p.Items, func([]bool) bool { return true })
		switch {
		case want == nil:
			all := new(big.Int).Mul(big.NewInt(m.Price), big.NewInt(p.AtMost))
			if least.Cmp(all) > 0 {
				tight++
			} else {
				loose++
			}
		case price == math.MaxInt64: // sums that are too large
		default:
			have := new(big.Int).Mul(big.NewInt(m.Price), big.NewInt(price))
			require.LessOrEqual(t, least.Cmp(have), 0, "seed %d: %v", seed, p)
			if have.Sub(have, least); have.Cmp(big.NewInt(m.Price)) < 0 || have.Sign() == 0 {
				tight++
			} else {
				loose++
			}
		}
	}
	t.Log(tight, loose)
	require.Greater(t, tight, 3_850)
}

// TestSolveCountsWhatRowsTake: of each of eight rows of thirty items a small part is missing, so that none goes without
// an item, and by multipliers all of them together without two. Without a decision it is known that seven are too few.
func TestSolveCountsWhatRowsTake(t *testing.T) {
	p := &cover.Problem{Items: 240, AtMost: math.MaxInt64, Sides: []cover.Side{{Fine: cover.Hard}}}
	for i := range p.Items {
		if i%30 == 0 {
			p.Need, p.Frees = append(p.Need, 3), append(p.Frees, nil)
		}
		last := len(p.Frees) - 1
		p.Frees[last] = append(p.Frees[last], cover.Cell{Item: i, Amount: int64(10 + i%7)})
		p.Sides[0].Weight = append(p.Sides[0].Weight, cover.Cell{Item: i, Amount: 1})
	}
	p.Sides[0].Room = 7
	a := cover.Solve(p)
	require.True(t, a.Proved)
	require.Nil(t, a.Chosen)

	p.Price, p.AtMost, p.Sides = make([]int64, p.Items), 79, nil // as much is known of a price
	for i := range p.Price {
		p.Price[i] = int64(10 + i%3)
	}
	a = cover.Solve(p)
	require.True(t, a.Proved)
	require.Nil(t, a.Chosen)

	p.AtMost, p.Steps = 80, math.MaxInt
	require.EqualValues(t, 80, cover.Solve(p).Price)
}

// inRows draws a problem whose items are in one of a few rows each, and perhaps all in one more, and weigh on a
// side, or have a price, or both.
func inRows(r *rand.Rand) *cover.Problem {
	p := &cover.Problem{AtMost: math.MaxInt64}
	amounts, need := []int64{}, func(list []int64) {
		sum := int64(0)
		for _, v := range list {
			sum += v
		}
		p.Need = append(p.Need, 1+r.Int64N(sum))
	}
	for range 1 + r.IntN(3) {
		row, first := cover.Row{}, p.Items
		for range 1 + r.IntN(4) {
			amounts = append(amounts, 1+r.Int64N(5))
			row = append(row, cover.Cell{Item: p.Items, Amount: amounts[p.Items]})
			p.Items++
		}
		p.Frees = append(p.Frees, row)
		need(amounts[first:])
	}
	if r.IntN(2) == 0 {
		all := make([]int64, p.Items)
		for i := range all {
			all[i] = 1 + r.Int64N(5)
		}
		p.Frees = append(p.Frees, cover.RowOf(all))
		need(all)
	}
	kind := r.IntN(3)
	if kind > 0 {
		weights := make([]int64, p.Items)
		for i := range weights {
			weights[i] = 1 + r.Int64N(3)
		}
		p.Sides = []cover.Side{{Weight: cover.RowOf(weights), Room: r.Int64N(2 * int64(p.Items)), Fine: cover.Hard}}
	}
	if kind < 2 {
		p.Price = make([]int64, p.Items)
		for i := range p.Price {
			p.Price[i] = 1 + r.Int64N(3)
		}
		p.AtMost = r.Int64N(3 * int64(p.Items))
	}
	return p
}

// TestWhatRowsTakeIsTrue: what is said without a decision, or after a few, holds for all sets, and after enough of them the
// best one is found.
func TestWhatRowsTakeIsTrue(t *testing.T) {
	t.Parallel()
	atOnce := 0
	for seed := range uint64(4_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := inRows(r)
		want, price := brute(p, p.Items, func([]bool) bool { return true })
		for _, p.Steps = range []int{0, 3, math.MaxInt} {
			a := cover.Solve(p)
			switch {
			case want == nil:
				require.Nil(t, a.Chosen, "seed %d", seed)
			case a.Chosen == nil:
				require.False(t, a.Proved, "seed %d", seed)
			default:
				require.GreaterOrEqual(t, a.Price, price, "seed %d", seed)
			}
			if want != nil {
				require.LessOrEqual(t, a.Bound, price, "seed %d", seed)
			}
			if p.Steps == math.MaxInt {
				require.True(t, a.Proved)
				require.Equal(t, want, a.Chosen, "seed %d", seed)
			}
			if p.Steps == 0 && a.Proved && want == nil {
				atOnce++
			}
		}
	}
	require.Greater(t, atOnce, 1000)
}
