package hashed

import (
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
)

// Table finds the numbers of pods, or of nodes, by name: an open-addressing table with
// linear probing, whose slots hold a number and a piece of the hash of its name. In
// pages, so that forks share it.
type Table struct {
	slots paged.Column[nameSlot]
	shift int // of a hash, to its slot
	used  int
}

type nameSlot struct {
	id   int32 // and 1; 0: empty
	hash uint32
}

// mostAlike is how many numbers of one hash a new table takes. More have one name, and what has that is refused: one by one they would
// be compared with each other.
const mostAlike = 16

// NewTable returns a table of all numbers, by the hashes of their names.
func NewTable(hashes []uint32, parts int) Table {
	size := bits.Len(uint(max(len(hashes), 8) * 4 / 3)) // at most three quarters full
	t := Table{slots: paged.Make[nameSlot](1 << size), shift: 32 - size, used: len(hashes)}
	beyond := make([][]nameSlot, parts)
	ranges.Each(t.slots.Len(), parts, func(part, first, end int) {
		for id, hash := range hashes {
			i := t.home(hash)
			if i < first || i >= end {
				continue
			}
			alike := 0
			for ; i < end && t.slots.At(i).id != 0 && alike < mostAlike; i++ {
				if t.slots.At(i).hash == hash {
					alike++
				}
			}
			switch s := (nameSlot{int32(id) + 1, hash}); {
			case alike == mostAlike:
			case i < end:
				*t.slots.Edit(i) = s
			default:
				beyond[part] = append(beyond[part], s)
			}
		}
	})
	for _, s := range slices.Concat(beyond...) {
		alike := 0
		t.Find(s.hash, func(int) bool { alike++; return alike == mostAlike })
		if alike < mostAlike {
			t.put(s)
		}
	}
	return t
}

// home is the slot where the search for a hash begins.
func (t *Table) home(hash uint32) int { return int(hash >> t.shift) }

func (t *Table) next(i int) int { return (i + 1) & (t.slots.Len() - 1) }

// Find returns the number of that hash that is the one, or -1.
func (t *Table) Find(hash uint32, is func(id int) bool) int {
	for i := t.home(hash); ; i = t.next(i) {
		s := t.slots.At(i)
		if s.id == 0 {
			return -1
		}
		if s.hash == hash && is(int(s.id-1)) {
			return int(s.id - 1)
		}
	}
}

// Add notes a number, whose name is not there yet.
func (t *Table) Add(id int, hash uint32) {
	if t.used++; t.used*4 > t.slots.Len()*3 {
		t.double()
	}
	t.put(nameSlot{int32(id) + 1, hash})
}

func (t *Table) put(s nameSlot) {
	i := t.home(s.hash)
	for t.slots.At(i).id != 0 {
		i = t.next(i)
	}
	*t.slots.Edit(i) = s
}

func (t *Table) double() {
	old := t.slots
	t.slots, t.shift = paged.Make[nameSlot](2*old.Len()), t.shift-1
	for i := range old.Len() {
		if s := *old.At(i); s.id != 0 {
			t.put(s)
		}
	}
}

// slot is where the number of that hash stands, which is there.
func (t *Table) slot(id int, hash uint32) int {
	i := t.home(hash)
	for t.slots.At(i).id != int32(id)+1 {
		i = t.next(i)
	}
	return i
}

// Renumber notes that what had one number has another one.
func (t *Table) Renumber(from, to int, hash uint32) {
	t.slots.Edit(t.slot(from, hash)).id = int32(to) + 1
}

// Drop forgets a number. The slots behind it move up, as if it had never been there.
func (t *Table) Drop(id int, hash uint32) {
	t.used--
	hole := t.slot(id, hash)
	for i := t.next(hole); ; i = t.next(i) {
		s := *t.slots.At(i)
		if s.id == 0 {
			break
		}
		if size := t.slots.Len() - 1; (i-t.home(s.hash))&size >= (i-hole)&size {
			*t.slots.Edit(hole) = s
			hole = i
		}
	}
	*t.slots.Edit(hole) = nameSlot{}
}

// Fork returns a copy that shares its pages.
func (t *Table) Fork() Table { return Table{t.slots.Fork(), t.shift, t.used} }
