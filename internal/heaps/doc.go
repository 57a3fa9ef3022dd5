// Package heaps keeps slices in heap order, the least first by a comparison of the
// caller's: what container/heap does, without a call through an interface.
//
// Nothing here allocates, but for Push where the slice has to grow.
package heaps
