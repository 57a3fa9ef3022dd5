package cover

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
)

// Multipliers weigh rows, sides and prices against each other. Whatever they are, if none is
// below zero, a set within the hard sides that frees enough has
//
//	Price x what it costs, fines included >= sum of Rows[r] x Need[r] - sum of Sides[k] x Room[k]
//	    + sum over items of min(0, Price x Price[i] + sum of Sides[k] x Weight[i] - sum of Rows[r] x what i frees)
//
// where an item frees no more than Need[r], and Sides[k] is at most Price x Fine unless that is Hard.
type Multipliers struct {
	Rows, Sides []int64
	Price       int64
}

// Relax looks for multipliers that say much: of the sets that cost at most p.AtMost that there are
// none, or else how little they cost. All sums of products with them fit an int64 where
// those of amounts, weights and prices do. Steps, Any, Trial and Guess are not read.
func Relax(p *Problem) Multipliers {
	q := finer(p)
	m := Multipliers{Rows: make([]int64, len(p.Need)), Sides: make([]int64, len(p.Sides))}
	for r, row := range p.Frees {
		sum := int64(0)
		for _, c := range row {
			sum = checked.Add(sum, c.Amount)
		}
		if sum < p.Need[r] {
			m.Rows[r] = 1
			return m
		}
	}
	s := idle.Get().(*solver)
	defer s.end()
	s.begin(q)
	s.blind = true
	s.ascend(0, rootRounds)
	s.unscale(p, &m)
	return m
}

// finer is p with all that sets cost taken fourfold, so that a bound is looked for that is not just
// beyond AtMost: what is lost when multipliers are rounded does not take it back there.
func finer(p *Problem) *Problem {
	q := &Problem{
		Items: p.Items, Need: p.Need, Frees: p.Frees, Sides: slices.Clone(p.Sides),
		AtMost: checked.Add(checked.Mul(max(p.AtMost, 0), fourfold), fourfold-1),
	}
	if p.Price != nil {
		q.Price = make([]int64, p.Items)
	}
	for i, v := range p.Price {
		q.Price[i] = checked.Mul(v, fourfold)
	}
	for k := range q.Sides {
		if side := &q.Sides[k]; side.Fine != Hard {
			side.Fine = min(checked.Mul(side.Fine, fourfold), Hard-1)
		}
	}
	return q
}

const fourfold, fourfoldBits = 4, 2

// factor is a multiplier of an amount that was shifted, and how large sums of such amounts are.
type factor struct {
	to    *int64
	value int64
	shift scale
	sum   int64
}

// unscale turns the multipliers of the latest bound into those of amounts as they are. What
// is lost where they are far apart makes them say less, and what they say is true nevertheless.
func (s *solver) unscale(p *Problem, m *Multipliers) {
	list := []factor{{&m.Price, 1, s.scale + fourfoldBits, p.total()}}
	for j := range s.work.lines {
		l, value := &s.work.lines[j], s.multiplier[0][j]
		if l.side {
			list = append(list, factor{&m.Sides[l.of], value, l.shift, p.Sides[l.of].sum()})
			continue
		}
		sum := int64(0)
		for _, c := range s.Frees[l.of] {
			sum = checked.Add(sum, min(c.Amount, s.Need[l.of]))
		}
		list = append(list, factor{&m.Rows[l.of], value, l.shift, max(sum, s.Need[l.of])})
	}
	if s.work.costless {
		list = list[1:]
	}
	width, room := -1<<10, 62-bits.Len(uint(len(list)))
	for _, f := range list {
		if f.value > 0 {
			width = max(width, bits.Len64(uint64(f.value))+int(f.shift)+bits.Len64(uint64(f.sum)))
		}
	}
	for _, f := range list {
		if by := int(f.shift) + room - width; by >= 0 {
			*f.to = f.value << by
		} else {
			*f.to = f.value >> -by
		}
	}
	for k := range p.Sides {
		if fine := p.Sides[k].Fine; fine != Hard {
			m.Sides[k] = min(m.Sides[k], checked.Mul(m.Price, fine))
		}
	}
	common := int64(0)
	for _, f := range list {
		common = checked.GCD(*f.to, common)
	}
	for _, f := range list {
		*f.to /= max(common, 1)
	}
}

// total is what all items and fines cost at most, or AtMost if that is more.
func (p *Problem) total() (sum int64) {
	for i := range p.Items {
		sum = checked.Add(sum, p.priceOf(i))
	}
	for k := range p.Sides {
		if side := &p.Sides[k]; side.Fine != Hard {
			sum = checked.Add(sum, checked.Mul(side.sum(), side.Fine))
		}
	}
	if p.AtMost < math.MaxInt64 {
		sum = max(sum, p.AtMost)
	}
	return sum
}

// sum is what all items weigh, or the room for them if that is more.
func (s *Side) sum() (sum int64) {
	for _, c := range s.Weight {
		sum = checked.Add(sum, c.Amount)
	}
	return max(sum, s.Room)
}
