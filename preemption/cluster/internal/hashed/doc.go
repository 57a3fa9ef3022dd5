// Package hashed finds the numbers of what has a name, or a value, by its hash.
//
// A [Table] finds numbers by name, in pages that forks share; an [Interner] numbers values, each once. Hashes
// differ from run to run; numbers come from the order in which they are given, never from hashes.
package hashed
