// Package paged holds long columns in pages that forks share until one of them writes.
//
// A [Column] is a growing list of values, a [Matrix] one of rows of int64. Pages are
// listed in folders. Fork copies nothing; whoever changes an element afterwards copies
// its page and its folder, once, and the list of folders. So a fork costs next to
// nothing, and then memory only for the pages that are changed.
//
// Reading is safe from many goroutines. A change or a fork needs exclusive use of the
// column that it is asked of, and leaves its forks alone.
package paged
