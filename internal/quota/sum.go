package quota

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
