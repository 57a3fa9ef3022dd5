package hashed

import (
	"hash/maphash"
	"maps"
	"math/bits"
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
