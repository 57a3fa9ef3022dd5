package lists

import (
	"math"
	"slices"
)

// Lists are lists of numbers by position.
type Lists struct {
	pages  []*[pageSize]int32 // by position: where its list is; nil: at 0
	lists  [][]int32          // the first is empty
	longer map[step]int32     // where the list is that a step leads to
	last   step               // the latest, and where it leads to
	to     int32
	filled []int
}

const (
	pageSize   = 64
	mostShared = 8 // how long a list may be that several positions share
)

// step is a number added to a list that is shared.
type step struct{ at, number int32 }

// New returns lists at n positions, all empty.
func New(n int) Lists {
	return Lists{pages: make([]*[pageSize]int32, (n+pageSize-1)/pageSize), lists: [][]int32{nil}, longer: map[step]int32{}}
}

// Of is the list at position k. It belongs to l.
func (l *Lists) Of(k int) []int32 {
	if p := l.pages[k/pageSize]; p != nil {
		return l.lists[p[k%pageSize]]
	}
	return nil
}

// Filled are the positions with lists that are not empty, in the order in which they got them. They belong to l.
func (l *Lists) Filled() []int { return l.filled }

// Add appends a number to the list at position k.
func (l *Lists) Add(k int, number int32) {
	page := &l.pages[k/pageSize]
	if *page == nil {
		*page = new([pageSize]int32)
	}
	at := &(*page)[k%pageSize]
	list := l.lists[*at]
	switch {
	case len(list) == 0:
		l.filled = append(l.filled, k)
	case len(list) == mostShared: // from here on it has its own
		*at = l.put(append(slices.Clip(list), number))
		return
	case len(list) > mostShared:
		l.lists[*at] = append(list, number)
		return
	}
	if s := (step{*at, number}); s != l.last || l.to == 0 {
		to, known := l.longer[s]
		if !known {
			to = l.put(append(slices.Clip(list), number))
			l.longer[s] = to
		}
		l.last, l.to = s, to
	}
	*at = l.to
}

// put keeps a list and returns where.
func (l *Lists) put(list []int32) int32 {
	l.lists = append(l.lists, list)
	return int32(len(l.lists) - 1)
}

// Blocks has numbers, in order, each once and none below zero, bit by bit, 64 to a block, in the memory of dst, which is empty, and says
// which block is the first.
func Blocks[N ~int32](dst []uint64, numbers []N) (blocks []uint64, first int) {
	if len(numbers) == 0 {
		return dst, 0
	}
	first = int(numbers[0] / 64)
	num := int(numbers[len(numbers)-1]/64) + 1 - first
	blocks = slices.Grow(dst, num)[:num]
	clear(blocks)
	if last := numbers[len(numbers)-1]; int(last-numbers[0]) == len(numbers)-1 { // all between
		for i := range blocks {
			blocks[i] = math.MaxUint64
		}
		blocks[0] &= math.MaxUint64 << (numbers[0] % 64)
		blocks[num-1] &= math.MaxUint64 >> (63 - last%64)
		return blocks, first
	}
	for _, n := range numbers {
		blocks[int(n/64)-first] |= 1 << (n % 64)
	}
	return blocks, first
}

// Nonzero remembers of rows of numbers where they are not zero. The zero Nonzero remembers nothing yet.
type Nonzero struct{ of map[int][]int }

// Of lists where row, which is the one of that number, is not zero, in order. The slice belongs to z.
func (z *Nonzero) Of(number int, row []int64) []int {
	list, known := z.of[number]
	if known {
		return list
	}
	for i, v := range row {
		if v != 0 {
			list = append(list, i)
		}
	}
	if z.of == nil {
		z.of = map[int][]int{}
	}
	z.of[number] = list
	return list
}

// Reversed is a copy of list from its last to its first.
func Reversed[E any](list []E) []E {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
