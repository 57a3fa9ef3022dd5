package hashed

import (
	"hash/maphash"
	"math/bits"
)

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
