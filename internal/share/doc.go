// Package share bounds from below what it costs to open seats in places where items stand in the
// way, some of them in several places at once: minimum k-union is its core.
//
// The price of an item is shared out among its places. However that is done, each place by itself
// then costs no more than it does beside the others, so that the cheapest allotment of seats to
// places, a knapsack, costs no more than the cheapest set of items. Shares are moved to the
// places where the allotment has an item go from those where it lets it stay, which decides how
// tight a bound is, never whether it is true. Everything is integers: the same input takes the
// same rounds everywhere.
//
// Source: Held, Wolfe and Crowder, "Validation of subgradient optimization" (1974).
package share
