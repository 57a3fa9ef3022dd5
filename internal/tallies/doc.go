// Package tallies counts things of many kinds and knows the least number at any time.
//
// Numbers move by one at a time, and then the least is known in constant time. A [Crowd] are many that count the same who come and go.
package tallies
