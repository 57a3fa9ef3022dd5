// Package pack writes plain structs to a file that is read again fast: many objects that have much
// in common.
//
// What a pointer, map or slice leads to is written once, however often it occurs, and a string
// that occurs twice too; what was read shares them, and is not to be changed. Slices of structs in
// the outermost struct are read on several processors. A file begins with a magic word, a mark
// of the types that it was written from, its length and a checksum: one that differs by a byte, is
// cut off or goes on is refused.
//
// Types may have bools, integers, strings, times, structs with exported fields only, and pointers,
// slices and maps of these; not types that contain themselves. A time is in UTC, and as exact as
// it was.
package pack
