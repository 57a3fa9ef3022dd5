// Package lists keeps a list of numbers at each of many positions, most of which have none.
//
// Positions with equal lists share one as long as it is short, and those without a list take
// hardly any room. Blocks, Nonzero and Reversed make plain lists of others.
package lists
