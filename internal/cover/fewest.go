package cover

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
)

// fewest bounds what items weigh, or cost, by how many it takes at least to free what is missing of a row: as many of
// those who free most. So many weigh at least what the lightest ones do. Rows without an item in common add up. Bounds by
// multipliers let a part of an item do.
type fewest struct {
	sums  []sum
	parts [][]int // rows; no item is in rows of two parts
	all   []int   // rows that all items are in, which would make them one part
	most  []Row   // by row: those who free most first
}

// sum is what chosen items add up to, within a bound: the weight on a side, or the price.
type sum struct {
	side  int   // ofPrice: the price
	light []Row // by row: what its items add, the least first
}

const ofPrice = -1

// newFewest is about the sides on which every item weighs, and the price; nil if it bounds nothing.
func (s *solver) newFewest() *fewest {
	f := &fewest{}
	for k, side := range s.Sides {
		if side.Fine == Hard && len(side.Weight) == s.n {
			f.sums = append(f.sums, sum{k, s.lightest(func(i int) int64 { return side.Weight[i].Amount })})
		}
	}
	if slices.ContainsFunc(s.Price, func(v int64) bool { return v > 0 }) {
		f.sums = append(f.sums, sum{ofPrice, s.lightest(s.priceOf)})
	}
	if len(f.sums) == 0 || len(s.Need) == 0 {
		return nil
	}
	f.divide(s)
	for _, row := range s.Frees {
		f.most = append(f.most, inOrder(slices.Clone(row), func(a, b Cell) int { return cmp.Compare(b.Amount, a.Amount) }))
	}
	return f
}

// lightest lists by row what its items add, the least first.
func (s *solver) lightest(of func(i int) int64) (rows []Row) {
	for _, frees := range s.Frees {
		row := make(Row, len(frees))
		for k, c := range frees {
			row[k] = Cell{c.Item, of(c.Item)}
		}
		rows = append(rows, inOrder(row, func(a, b Cell) int { return cmp.Compare(a.Amount, b.Amount) }))
	}
	return rows
}

// inOrder sorts row, of which amounts are often equal, and returns it.
func inOrder(row Row, compare func(a, b Cell) int) Row {
	if !slices.IsSortedFunc(row, compare) {
		slices.SortStableFunc(row, compare)
	}
	return row
}

// divide makes the parts.
func (f *fewest) divide(s *solver) {
	first := slices.Repeat([]int{-1}, s.n) // by item: a row that it is in; -1: not seen yet
	root := make([]int, len(s.Need))       // by row: another one of its part, or itself
	of := func(r int) int {
		for root[r] != r {
			root[r] = root[root[r]]
			r = root[r]
		}
		return r
	}
	for r, row := range s.Frees {
		if root[r] = r; len(row) == s.n {
			continue
		}
		for _, c := range row {
			if first[c.Item] < 0 {
				first[c.Item] = r
			} else {
				root[of(r)] = of(first[c.Item])
			}
		}
	}
	at := map[int]int{}
	for r, row := range s.Frees {
		if len(row) == s.n {
			f.all = append(f.all, r)
			continue
		}
		i, known := at[of(r)]
		if !known {
			i = len(f.parts)
			at[of(r)], f.parts = i, append(f.parts, nil)
		}
		f.parts[i] = append(f.parts[i], r)
	}
}

// tooFew reports whether what is missing takes more items than the sides or the price leave room for.
func (s *solver) tooFew() bool {
	if s.fewest == nil {
		return false
	}
	for i := range s.fewest.sums {
		sum := &s.fewest.sums[i]
		taken, room := checked.Add(s.price, s.fines), s.atMost
		if sum.side != ofPrice {
			taken, room = 0, s.left[sum.side]
		}
		if checked.Add(taken, s.takes(sum)) > room {
			return true
		}
	}
	return false
}

// takes is what the free items add at least.
func (s *solver) takes(of *sum) (total int64) {
	for _, rows := range s.fewest.parts {
		total = checked.Add(total, s.takesOf(of, rows))
	}
	return max(total, s.takesOf(of, s.fewest.all))
}

// takesOf is what those of some rows add at least.
func (s *solver) takesOf(of *sum, rows []int) (most int64) {
	for _, r := range rows {
		need, light, sum := s.need[r], of.light[r], int64(0)
		for _, c := range s.fewest.most[r] {
			if need <= 0 {
				break
			}
			if s.state[c.Item] != free {
				continue
			}
			for s.state[light[0].Item] != free {
				light = light[1:]
			}
			need, sum, light = need-c.Amount, checked.Add(sum, light[0].Amount), light[1:]
		}
		most = max(most, sum)
	}
	return most
}
