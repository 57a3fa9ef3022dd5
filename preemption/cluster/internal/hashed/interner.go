package hashed

import (
	"maps"
	"slices"
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
