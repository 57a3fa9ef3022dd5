package quota

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

const unlimited = cluster.Unlimited

// Add is a plus b. Unlimited plus anything is Unlimited; a sum beyond int64 stays
// at its end.
func Add(a, b int64) int64 {
	if a == unlimited || b == unlimited {
		return unlimited
	}
	return checked.Add(a, b)
}

// Sub is a minus b. Unlimited minus a bounded amount is Unlimited, a bounded
// amount minus Unlimited is the least int64, and Unlimited minus itself is 0.
func Sub(a, b int64) int64 {
	switch {
	case a == unlimited && b == unlimited:
		return 0
	case a == unlimited:
		return unlimited
	case b == unlimited:
		return math.MinInt64
	}
	return checked.Sub(a, b)
}

// Above is how far a is above b; 0 if it is not.
func Above(a, b int64) int64 { return max(0, Sub(a, b)) }

// wide is an unsigned integer of 192 bits, the most significant word first: the
// product of three amounts.
type wide [3]uint64

func product(a, b, c uint64) wide {
	hi, lo := bits.Mul64(a, b)
	mid, low := bits.Mul64(lo, c)
	high, add := bits.Mul64(hi, c)
	mid, carry := bits.Add64(mid, add, 0)
	return wide{high + carry, mid, low}
}

func (w wide) compare(o wide) int {
	return cmp.Or(cmp.Compare(w[0], o[0]), cmp.Compare(w[1], o[1]), cmp.Compare(w[2], o[2]))
}

// ceilDiv divides by the 128-bit number hi, lo and rounds up; at most the largest
// int64. For reports: decisions compare products.
func (w wide) ceilDiv(hi, lo uint64) int64 {
	num, den := wordsToInt(w[0], w[1], w[2]), wordsToInt(hi, lo)
	quotient, rest := num.DivMod(num, den, new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	if !quotient.IsInt64() {
		return math.MaxInt64
	}
	return quotient.Int64()
}

func wordsToInt(words ...uint64) *big.Int {
	n := new(big.Int)
	for _, w := range words {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(w))
	}
	return n
}

// Sum adds up amounts by queue, so that those of many workloads are added to a Usage
// or removed from it at once: the outcome is that of one after the other, in any
// order. It is not safe for concurrent use.
type Sum struct {
	t      *Tree
	rows   []int64 // queue-major
	queues []HolderID
	in     []bool // by queue: it is in queues
}

// NewSum returns a sum of nothing, for usages of t.
func (t *Tree) NewSum() *Sum {
	return &Sum{t: t, rows: make([]int64, t.numQueues*t.numColumns), in: make([]bool, t.numQueues)}
}

// Take adds the amounts of queue q.
func (s *Sum) Take(q HolderID, amounts []ColumnAmount) {
	if !s.in[q] {
		s.in[q] = true
		s.queues = append(s.queues, q)
	}
	row := s.row(q)
	for _, a := range amounts {
		row[a.Column] = Add(row[a.Column], a.Amount)
	}
}

// Clear makes s the sum of nothing. O(queues that have a part) × columns.
func (s *Sum) Clear() {
	for _, q := range s.queues {
		s.in[q] = false
		clear(s.row(q))
	}
	s.queues = s.queues[:0]
}

func (s *Sum) row(q HolderID) []int64 {
	return s.rows[int(q)*s.t.numColumns:][:s.t.numColumns]
}

// AddSum adds what is in s.
func (u *Usage) AddSum(s *Sum) {
	for _, q := range s.queues {
		for c, v := range s.row(q) {
			u.add(q, ColumnID(c), v)
		}
	}
}

// RemoveSum is the exact inverse of AddSum.
func (u *Usage) RemoveSum(s *Sum) {
	for _, q := range s.queues {
		for c, v := range s.row(q) {
			u.remove(q, ColumnID(c), v)
		}
	}
}
