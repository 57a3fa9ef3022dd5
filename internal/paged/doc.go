// Package paged holds long columns in pages that forks share until one of them writes.
//
// A [Column] is a growing list of values, a [Matrix] one of rows of int64. Fork
// copies nothing; whoever changes an element afterwards copies the list of pages, once,
// and the page. So a fork costs next to nothing, and memory only for the pages that are
// changed and for the lists of columns in which some are.
//
// Reading is safe from many goroutines. A change or a fork needs exclusive use of the
// column that it is asked of, and leaves its forks alone.
package paged
