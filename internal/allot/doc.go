// Package allot allots seats to places at the least price, where a place's price for so many seats
// may grow in any way: a knapsack of multiple choices. See [Solve].
//
// Prices that are not known yet count as what they are at least, and are found out where the
// cheapest allotment has them: most never are.
package allot
