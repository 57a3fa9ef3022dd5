// Package ranges divides the work on a long list among goroutines, by position.
//
// Each part is a range of positions, or a position that a worker takes, so that whoever
// writes what belongs to a position gets the same result however many there are. No
// goroutine outlives the call.
package ranges
