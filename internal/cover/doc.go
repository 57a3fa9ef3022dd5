// Package cover finds the cheapest set of items that frees enough.
//
// A [Problem] says how much of each resource has to be freed, what each item frees, what it
// costs, and what sums over the chosen must not, or should not, go beyond. [Solve] is branch
// and bound on Lagrangean bounds: for any multipliers of the rows and sides, what is left of
// the prices at these multipliers bounds the price of every set from below. Multipliers are
// found by a subgradient ascent, and decide how tight a bound is, never whether it is true.
// Everything is integers: the same input takes the same steps everywhere.
//
// Source: Held, Wolfe and Crowder, "Validation of subgradient optimization" (1974); Beasley,
// "An algorithm for set covering problem" (1987), reduced-cost fixing.
package cover
