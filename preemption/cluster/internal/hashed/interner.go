package hashed

import (
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
)

// Interner numbers values by their hash; values of equal hash are told apart. The zero
// interner is empty.
type Interner struct {
	first map[uint64]int32   // by hash
	more  map[uint64][]int32 // of values with the hash of another one
}

// Find returns the id of the value of that hash for which same holds.
func (in *Interner) Find(hash uint64, same func(id int32) bool) (int32, bool) {
	id, ok := in.first[hash]
	if !ok || same(id) {
		return id, ok
	}
	for _, id := range in.more[hash] {
		if same(id) {
			return id, true
		}
	}
	return 0, false
}

// ID is find, or else the id that add returns.
func (in *Interner) ID(hash uint64, same func(id int32) bool, add func() int32) int32 {
	if id, ok := in.Find(hash, same); ok {
		return id
	}
	id := add()
	if in.first == nil {
		in.Reserve(0)
	}
	if _, ok := in.first[hash]; ok {
		in.more[hash] = append(in.more[hash], id)
	} else {
		in.first[hash] = id
	}
	return id
}

// Reserve gets room for n values before there are any.
func (in *Interner) Reserve(n int) {
	in.first, in.more = make(map[uint64]int32, n), map[uint64][]int32{}
}

// Clone returns an independent copy.
func (in *Interner) Clone() Interner {
	c := Interner{maps.Clone(in.first), maps.Clone(in.more)}
	for h, ids := range c.more {
		c.more[h] = slices.Clone(ids)
	}
	return c
}

// seed differs from run to run; ids come from the order of pods, never from hashes.
var seed = maphash.MakeSeed()

// String is a hash of s.
func String(s string) uint64 { return maphash.String(seed, s) }

// Mix combines two hashes such that their order matters.
func Mix(a, b uint64) uint64 {
	a ^= b*0x9e3779b97f4a7c15 + a<<6 + a>>2
	return a * 0xff51afd7ed558ccd
}

// Name is a hash of a name in a namespace.
func Name(namespace, name string) uint32 { return In(Namespace(namespace), name) }

// Namespace is a hash of a namespace.
func Namespace(namespace string) uint64 {
	return bits.RotateLeft64(String(namespace), 32)
}

// In is hashName in a namespace of that hash.
func In(namespace uint64, name string) uint32 {
	h := String(name) + namespace
	return uint32(h ^ h>>32)
}

// Node is hashName of a node.
func Node(name string) uint32 { return In(0, name) }

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
